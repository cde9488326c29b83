"""Small configurations of models of transformers, and the models with the same weights everywhere."""

import torch
import transformers
from fixed import fill

DECODER = {"vocab_size": 97, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
           "num_attention_heads": 4, "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1,
           "eos_token_id": 2}
ENCODER = {**DECODER, "num_labels": 5}
GROUPED = {**DECODER, "num_key_value_heads": 2}
BOTH = {"vocab_size": 97, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_ffn_dim": 48,
        "decoder_ffn_dim": 48, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "pad_token_id": 0,
        "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
IMAGES = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
          "image_size": 32, "patch_size": 8}
TOWER = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
GPT2 = {"vocab_size": 97, "n_positions": 64, "n_embd": 32, "n_layer": 2, "n_head": 4, "bos_token_id": 1,
        "eos_token_id": 2, "pad_token_id": 0}
HEADS = {**GROUPED, "head_dim": 8}
EXPERTS = {"moe_intermediate_size": 16, "num_experts": 4, "num_experts_per_tok": 2}
STATES = {"vocab_size": 97, "hidden_size": 32, "state_size": 8, "num_hidden_layers": 2, "bos_token_id": 1,
          "eos_token_id": 2, "pad_token_id": 0}
T5 = {"vocab_size": 97, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4,
      "decoder_start_token_id": 0}
BART = {**BOTH, "max_position_embeddings": 64, "forced_eos_token_id": None}
STAGES = {"hidden_sizes": [8, 8, 16, 16], "depths": [1, 1, 1, 1], "num_labels": 5}
CLIP = {"text_config": {**TOWER, "vocab_size": 97, "max_position_embeddings": 16, "eos_token_id": 2},
        "vision_config": {**TOWER, "image_size": 32, "patch_size": 8}, "projection_dim": 16}

#: The class that makes the model, and the configuration, by the type of the model.
MODELS = {
    "gpt2": ("CausalLM", GPT2),
    "llama": ("CausalLM", GROUPED),
    "qwen2": ("CausalLM", GROUPED),
    "qwen3": ("CausalLM", HEADS),
    "mistral": ("CausalLM", {**GROUPED, "sliding_window": 8}),
    "mixtral": ("CausalLM", {**GROUPED, "num_local_experts": 4, "num_experts_per_tok": 2}),
    "gemma": ("CausalLM", HEADS),
    "phi": ("CausalLM", DECODER),
    "opt": ("CausalLM", {**DECODER, "ffn_dim": 48, "word_embed_proj_dim": 32}),
    "gpt_neox": ("CausalLM", DECODER),
    "bert": ("MaskedLM", ENCODER),
    "roberta": ("TokenClassification", ENCODER),
    "distilbert": ("SequenceClassification", {**ENCODER, "dim": 32, "hidden_dim": 48, "n_layers": 2,
                                              "n_heads": 4}),
    "electra": ("MaskedLM", {**ENCODER, "embedding_size": 16}),
    "t5": ("Seq2SeqLM", T5),
    "bart": ("Seq2SeqLM", BART),
    "vit": ("ImageClassification", {**IMAGES, "num_labels": 5}),
    "clip": ("", CLIP),
    "whisper": ("SpeechSeq2Seq", {**BOTH, "num_mel_bins": 8, "max_source_positions": 20,
                                  "max_target_positions": 32, "begin_suppress_tokens": None,
                                  "suppress_tokens": None}),
    "falcon": ("CausalLM", DECODER),
    "bloom": ("CausalLM", {**DECODER, "n_layer": 2, "n_head": 4}),
    "gptj": ("CausalLM", {**GPT2, "rotary_dim": 4}),
    "gpt_bigcode": ("CausalLM", GPT2),
    "codegen": ("CausalLM", {**GPT2, "n_ctx": 64, "rotary_dim": 4}),
    "stablelm": ("CausalLM", GROUPED),
    "gemma2": ("CausalLM", HEADS),
    "gemma3_text": ("CausalLM", HEADS),
    "phi3": ("CausalLM", GROUPED),
    "olmo": ("CausalLM", GROUPED),
    "olmo2": ("CausalLM", GROUPED),
    "cohere": ("CausalLM", GROUPED),
    "starcoder2": ("CausalLM", GROUPED),
    "granite": ("CausalLM", GROUPED),
    "smollm3": ("CausalLM", GROUPED),
    "qwen2_moe": ("CausalLM", {**GROUPED, **EXPERTS, "shared_expert_intermediate_size": 16}),
    "qwen3_moe": ("CausalLM", {**HEADS, **EXPERTS}),
    "gpt_oss": ("CausalLM", {**HEADS, "num_local_experts": 4, "num_experts_per_tok": 2,
                             "sliding_window": 8}),
    "deepseek_v3": ("CausalLM", {**DECODER, "num_key_value_heads": 4, "moe_intermediate_size": 16,
                                 "n_routed_experts": 4, "num_experts_per_tok": 2, "n_group": 1,
                                 "topk_group": 1, "q_lora_rank": 8, "kv_lora_rank": 8, "qk_rope_head_dim": 4,
                                 "qk_nope_head_dim": 4, "v_head_dim": 8, "first_k_dense_replace": 1}),
    "mamba": ("CausalLM", STATES),
    "mamba2": ("CausalLM", {**STATES, "num_heads": 8, "head_dim": 8, "n_groups": 1, "chunk_size": 8}),
    "deberta": ("MaskedLM", {**ENCODER, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]}),
    "deberta-v2": ("MaskedLM", {**ENCODER, "relative_attention": True, "pos_att_type": ["p2c", "c2p"],
                                "position_biased_input": False}),
    "albert": ("MaskedLM", {**ENCODER, "embedding_size": 16}),
    "mpnet": ("MaskedLM", ENCODER),
    "xlnet": ("TokenClassification", {"vocab_size": 97, "d_model": 32, "n_layer": 2, "n_head": 4,
                                      "d_inner": 48, "num_labels": 5}),
    "camembert": ("MaskedLM", ENCODER),
    "longformer": ("MaskedLM", {**ENCODER, "attention_window": 4}),
    "big_bird": ("MaskedLM", {**ENCODER, "attention_type": "original_full"}),
    "funnel": ("MaskedLM", {"vocab_size": 97, "block_sizes": [1, 1], "d_model": 32, "n_head": 4, "d_head": 8,
                            "d_inner": 48}),
    "modernbert": ("MaskedLM", {**ENCODER, "cls_token_id": 3, "sep_token_id": 4}),
    "layoutlm": ("MaskedLM", ENCODER),
    "fnet": ("MaskedLM", ENCODER),
    "mbart": ("Seq2SeqLM", BART),
    "pegasus": ("Seq2SeqLM", BART),
    "marian": ("Seq2SeqLM", BART),
    "blenderbot": ("Seq2SeqLM", BART),
    "m2m_100": ("Seq2SeqLM", BART),
    "mt5": ("Seq2SeqLM", T5),
    "led": ("Seq2SeqLM", {**BOTH, "max_encoder_position_embeddings": 64,
                          "max_decoder_position_embeddings": 64, "attention_window": 4}),
    "swin": ("ImageClassification", {"image_size": 32, "patch_size": 4, "embed_dim": 16, "depths": [1, 1],
                                     "num_heads": [2, 2], "window_size": 4, "num_labels": 5}),
    "convnext": ("ImageClassification", STAGES),
    "convnextv2": ("ImageClassification", STAGES),
    "resnet": ("ImageClassification", {**STAGES, "embedding_size": 8, "layer_type": "basic"}),
    "regnet": ("ImageClassification", {**STAGES, "embedding_size": 8, "groups_width": 4}),
    "segformer": ("ImageClassification", STAGES),
    "deit": ("ImageClassification", {**IMAGES, "num_labels": 5,
                                     "architectures": ["DeiTForImageClassification"]}),
    "beit": ("ImageClassification", {**IMAGES, "num_labels": 5}),
    "dinov2": ("ImageClassification", {**IMAGES, "num_labels": 5}),
    "siglip": ("", CLIP),
}


def build(name, **options):
    """The model of that type, with small biases: large ones make all tokens generated the same."""
    kind, configuration = MODELS[name]
    make = getattr(transformers, f"AutoModelFor{kind}" if kind else "AutoModel")
    net = fill(make.from_config(transformers.AutoConfig.for_model(name, **configuration, **options)))
    with torch.no_grad():
        for path, parameter in net.named_parameters():
            if path.endswith("bias"):
                parameter.mul_(0.05)
    return net

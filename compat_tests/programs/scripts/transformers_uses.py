"""Uses of a transformers model beside plain training, one after the other: ``transformers_uses.py``."""

import copy
import warnings

import torch
import transformers
from fixed import integers
from transformers_table import build
from transformers_words import tokenizer

transformers.logging.set_verbosity_error()
warnings.filterwarnings("ignore", category=UserWarning)
tokens = integers(90, 3, 10) + 5
GREEDY = {"max_new_tokens": 6, "min_new_tokens": 6, "do_sample": False}


def losses(net, **inputs):
    """The losses of three steps of SGD."""
    optimizer = torch.optim.SGD(net.parameters(), 0.05, momentum=0.9, nesterov=True)
    for _ in range(3):
        loss = net(**inputs).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        yield round(loss.item(), 3)


def attention():
    """The ways to compute attention."""
    for way in ("eager", "sdpa"):
        for name in ("llama", "gpt2", "bert"):
            net = build(name).eval()
            net.set_attn_implementation(way)
            out = net(input_ids=tokens, labels=tokens, output_hidden_states=True,
                      output_attentions=way == "eager")
            print(way, name, f"{out.loss.item():.4f}", len(out.hidden_states),
                  [tuple(a.shape) for a in out.attentions or ()])


def caches():
    """The kinds of caches of keys and values."""
    for kind in ("dynamic", "static", "sliding_window", "quantized"):
        try:
            print(kind, build("llama").generate(tokens, **GREEDY, cache_implementation=kind).tolist())
        except (ImportError, ValueError) as error:
            print(kind, type(error).__name__)


def decoding():
    """Processors of scores, an assistant, several sequences, and what generate returns beside tokens."""
    net = build("gpt2").eval()
    for options in ({"repetition_penalty": 1.5}, {"bad_words_ids": [[70], [72]]},
                    {"num_beams": 4, "num_return_sequences": 2},
                    {"assistant_model": build("gpt2", layer_norm_epsilon=1e-3).eval()},
                    {"prompt_lookup_num_tokens": 2},
                    {"num_beams": 4, "length_penalty": 2.0, "early_stopping": True},
                    {"exponential_decay_length_penalty": (2, 1.5)},
                    {"guidance_scale": 1.5}, {"sequence_bias": {(7,): 3.0}},
                    {"suppress_tokens": [72, 70, 90]}):
        single = "assistant_model" in options or "prompt_lookup_num_tokens" in options
        given = tokens[:1] if single else tokens
        print(sorted(options), net.generate(given, **GREEDY, **options).tolist())
    found = net.generate(tokens, **GREEDY, return_dict_in_generate=True, output_scores=True,
                         output_logits=True)
    print(sorted(found), f"{torch.stack(found.scores).abs().mean().item():.3f}")
    chances = net.compute_transition_scores(found.sequences, found.scores, normalize_logits=True)
    print(f"{chances.mean().item():.3f}")
    stop = transformers.StoppingCriteriaList([transformers.MaxLengthCriteria(12)])
    print(net.generate(tokens, stopping_criteria=stop, do_sample=False).shape[1])
    torch.manual_seed(0)
    for options in ({"top_k": 3}, {"top_p": 0.5}, {"min_p": 0.1}, {"typical_p": 0.5},
                    {"epsilon_cutoff": 0.01}, {"eta_cutoff": 0.01}, {"num_beams": 2, "top_k": 5}):
        found = net.generate(tokens, max_new_tokens=3, min_new_tokens=3, do_sample=True, **options)
        print(sorted(options), found.shape)


def halves():
    """bfloat16 and float16 weights, and autocast."""
    for dtype in (torch.bfloat16, torch.float16):
        net = build("llama").to(dtype).eval()
        out = net(input_ids=tokens, labels=tokens)
        print(out.logits.dtype, out.loss.dtype, f"{out.loss.item():.1f}")
    net = build("bert")
    with torch.autocast("cpu", torch.bfloat16):
        out = net(input_ids=tokens, labels=tokens)
    out.loss.backward()
    gradients = [p.grad for p in net.parameters() if p.grad is not None]
    print(out.logits.dtype, f"{out.loss.item():.0f}", {gradient.dtype for gradient in gradients})
    net.save_pretrained("half", max_shard_size="20KB")
    again = transformers.AutoModelForMaskedLM.from_pretrained("half", dtype=torch.bfloat16)
    print(again.dtype, again.get_memory_footprint())


def compiling():
    """torch.compile of a whole model, as training and in generate; checkpointed activations."""
    net = build("llama").eval()
    plain = list(losses(copy.deepcopy(net), input_ids=tokens, labels=tokens))
    compiled = torch.compile(copy.deepcopy(net), backend="eager")
    print(plain, list(losses(compiled, input_ids=tokens, labels=tokens)))
    net.gradient_checkpointing_enable()
    net.enable_input_require_grads()
    print(list(losses(net.train(), input_ids=tokens, labels=tokens)))


def surgery():
    """Embeddings that grow, layers that are frozen, heads of other sizes, weights that are tied, hooks."""
    net = build("gpt2")
    net.resize_token_embeddings(101, mean_resizing=False)
    print(net.get_input_embeddings().weight.shape, net.lm_head.weight is net.transformer.wte.weight)
    for p in net.transformer.h[0].parameters():
        p.requires_grad_(False)
    print(net.num_parameters(), net.num_parameters(only_trainable=True))
    seen = []
    handle = net.transformer.h[1].register_forward_hook(lambda *given: seen.append(type(given[-1]).__name__))
    print(list(losses(net.eval(), input_ids=tokens, labels=tokens))[:1])
    handle.remove()
    print(seen)
    with torch.device("meta"):
        shell = transformers.AutoModelForCausalLM.from_config(net.config)
    print({p.device.type for p in shell.parameters()}, sum(p.numel() for p in shell.parameters()))


def pipelines():
    """A tokenizer made here, a collator, and pipelines of text."""
    letters = tokenizer()
    batch = letters(["a b c", "d e f g h"], padding=True, return_tensors="pt")
    print({k: v.tolist() for k, v in batch.items()})
    for collator in (transformers.DataCollatorForLanguageModeling(letters, mlm=False),
                     transformers.DataCollatorWithPadding(letters)):
        batch = collator([letters("a b c"), letters("d e")])
        print({k: v.tolist() for k, v in batch.items()})
    masking = transformers.DataCollatorForLanguageModeling(letters)
    batch = masking([letters("a b c d e f g"), letters("a")])
    print({k: tuple(v.shape) for k, v in batch.items()})
    generator = transformers.pipeline("text-generation", build("gpt2"), tokenizer=letters, device="cpu")
    print(generator("a b c", max_new_tokens=3, do_sample=False, suppress_tokens=list(range(15, 97))))
    sorter = transformers.pipeline("text-classification", build("distilbert").eval(), tokenizer=letters)
    print(sorter(["a b c", "d e"]))
    features = transformers.pipeline("feature-extraction", build("bert").eval(), tokenizer=letters)
    print(f"{sum(map(sum, features('a b')[0])):.2f}")


for use in (attention, caches, decoding, halves, compiling, surgery, pipelines):
    print(use.__name__, flush=True)
    use()

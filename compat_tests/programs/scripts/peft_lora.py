"""LoRA and its relatives by peft, on small models of transformers: trained, saved, loaded and merged."""

import sys
import warnings

import torch
import transformers
from fixed import integers
from peft import (
    AdaLoraConfig,
    IA3Config,
    LoraConfig,
    PeftModel,
    PrefixTuningConfig,
    PromptTuningConfig,
    get_peft_model,
    get_peft_model_state_dict,
)
from transformers_table import build

TARGETS = {"gpt2": ["c_attn"], "llama": ["q_proj", "v_proj", "down_proj"]}


def configurations(name):
    """What is put into the model, by its name; merged where that can be done."""
    common = {"task_type": "CAUSAL_LM"}
    lora = {**common, "r": 4, "lora_alpha": 8, "target_modules": TARGETS[name], "lora_dropout": 0.0,
            "fan_in_fan_out": name == "gpt2"}
    yield "lora", LoraConfig(**lora), True
    yield "dora", LoraConfig(**lora, use_dora=True, bias="all"), True
    yield "rslora", LoraConfig(**lora, use_rslora=True), True
    yield "adalora", AdaLoraConfig(**lora, init_r=4, target_r=2, total_step=10, tinit=1, tfinal=5), True
    yield "ia3", IA3Config(**common, target_modules=TARGETS[name], feedforward_modules=[TARGETS[name][-1]],
                           fan_in_fan_out=name == "gpt2"), True
    yield "prompt", PromptTuningConfig(**common, num_virtual_tokens=3), False
    yield "prefix", PrefixTuningConfig(**common, num_virtual_tokens=3), False


transformers.logging.set_verbosity_error()
warnings.filterwarnings("ignore", category=UserWarning)
tokens = integers(90, 3, 10) + 5
for name in sys.argv[1:]:
    for method, configuration, merges in configurations(name):
        torch.manual_seed(0)
        net = get_peft_model(build(name), configuration)
        with torch.no_grad():
            for seed, (_, p) in enumerate(sorted(net.named_parameters())):
                if p.requires_grad:
                    p.copy_(integers(100, *p.shape, seed=seed) / 500 - 0.1 if p.dim() > 1 else p * 0 + 1)
        trainable, all_of_them = net.get_nb_trainable_parameters()
        print(name, method, trainable, all_of_them)
        optimizer = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad], lr=1e-2)
        net.eval()
        for _ in range(4):
            loss = net(input_ids=tokens, labels=tokens).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            print(f"{loss.item():.4f}")
        print(len(get_peft_model_state_dict(net)))
        net.save_pretrained(f"{name}-{method}")
        again = PeftModel.from_pretrained(build(name), f"{name}-{method}").eval()
        with torch.no_grad():
            there, back = net(input_ids=tokens).logits, again(input_ids=tokens).logits
            print(f"{there.abs().mean().item():.4f}", torch.allclose(there, back, atol=1e-4))
            if merges:
                merged = again.merge_and_unload()
                back = merged(input_ids=tokens).logits
                print(type(merged).__name__, torch.allclose(there, back, atol=1e-3))
        print(net.generate(input_ids=tokens[:, :4], max_new_tokens=5, do_sample=False).tolist())

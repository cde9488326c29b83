"""Trainers of trl on a small GPT-2: supervised, by preferences, and by rewards."""

import warnings

import transformers
import trl
from datasets import Dataset
from transformers_table import build
from transformers_words import tokenizer

warnings.filterwarnings("ignore")
transformers.logging.set_verbosity_error()
COMMON = {"max_steps": 3, "report_to": [], "use_cpu": True, "disable_tqdm": True, "bf16": False,
          "per_device_train_batch_size": 4, "logging_steps": 1, "save_strategy": "no", "learning_rate": 1e-3,
          "gradient_checkpointing": False}
ORDER = {"train_sampling_strategy": "sequential"}
build("gpt2", resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0).save_pretrained("gpt2")
tokenizer().save_pretrained("gpt2")


def trained(trainer):
    """The losses of the steps."""
    trainer.remove_callback(transformers.PrinterCallback)
    trainer.train()
    return [round(line["loss"], 3) for line in trainer.state.log_history if "loss" in line]


texts = Dataset.from_dict({"text": ["a b c d", "e f g h", "a c e", "j i"] * 4})
print("sft", trained(trl.SFTTrainer("gpt2", trl.SFTConfig("out", **COMMON, **ORDER), train_dataset=texts)))

chosen = Dataset.from_dict({"prompt": ["a b", "c d"] * 8, "chosen": [" e f", " g h"] * 8,
                            "rejected": [" i j", " a a"] * 8})
for loss in ("sigmoid", "ipo", "hinge"):
    settings = trl.DPOConfig("out", loss_type=loss, **COMMON, **ORDER)
    print("dpo", loss, trained(trl.DPOTrainer("gpt2", args=settings, train_dataset=chosen)))

prompts = Dataset.from_dict({"prompt": ["a b", "c d"] * 8})
settings = trl.GRPOConfig("out", num_generations=4, max_completion_length=4, **COMMON)
trainer = trl.GRPOTrainer("gpt2", args=settings, train_dataset=prompts,
                          reward_funcs=lambda completions, **rest: [float(len(text)) for text in completions])
print("grpo", len(trained(trainer)), trainer.state.global_step)

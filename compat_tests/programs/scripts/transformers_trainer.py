"""Trainer of transformers: ten steps, evaluation, a checkpoint, and five more steps that resume from it."""

import warnings

import torch
import transformers
from fixed import integers
from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments
from transformers_table import build


class Rows(torch.utils.data.Dataset):
    """Sentences of random tokens, with a label each."""

    def __init__(self, count, seed):
        self.tokens, self.labels = integers(90, count, 10, seed=seed) + 5, integers(5, count, seed=seed + 1)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, at):
        return {"input_ids": self.tokens[at], "attention_mask": torch.ones(10, dtype=torch.int64),
                "labels": self.labels[at]}


def trainer_of(steps, **options):
    """A trainer of the same model and rows, for so many steps."""
    net = build("distilbert", dropout=0.0, attention_dropout=0.0, seq_classif_dropout=0.0)
    arguments = TrainingArguments(
        "out", max_steps=steps, per_device_train_batch_size=4, gradient_accumulation_steps=2,
        learning_rate=1e-3, warmup_steps=2, weight_decay=0.01, logging_steps=5, save_steps=5, report_to=[],
        use_cpu=True, disable_tqdm=True, train_sampling_strategy="sequential", **options)
    trainer = Trainer(net, arguments, train_dataset=Rows(80, 3), eval_dataset=Rows(16, 5),
                      compute_metrics=right)
    trainer.remove_callback(transformers.PrinterCallback)  # it prints times
    return trainer


def right(found):
    """The share of predictions that are the labels."""
    return {"right": (found.predictions.argmax(-1) == found.label_ids).mean()}


def logged(trainer):
    """The losses, norms and rates that were logged, without times."""
    for line in trainer.state.log_history:
        print({k: float(v) for k, v in line.items() if "runtime" not in k and "per_second" not in k
               and "flos" not in k})


transformers.logging.set_verbosity_error()
warnings.filterwarnings("ignore", category=UserWarning)
for choice in ({}, {"optim": "adafactor", "lr_scheduler_type": "cosine"},
               {"optim": "sgd", "label_smoothing_factor": 0.1}, {"gradient_checkpointing": True}):
    made = trainer_of(10, **choice)
    print(choice, made.train().global_step)
    made.evaluate()
    logged(made)
predictions = made.predict(Rows(6, 7))
print(predictions.predictions.shape, f"{abs(predictions.predictions).mean():.4f}")
made.save_model("saved")
again = AutoModelForSequenceClassification.from_pretrained("saved")
print(sum(float(p.detach().abs().sum()) for p in again.parameters()))

resumed = trainer_of(15)
print(resumed.train(resume_from_checkpoint="out/checkpoint-5").global_step)
logged(resumed)

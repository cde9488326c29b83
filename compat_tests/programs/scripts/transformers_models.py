"""Models of transformers with small configurations: ``transformers_models.py gpt2 bert ...``.

For each: the losses of three steps, gradients with dropout, what it generates, and whether it is the same
after it was saved and loaded.
"""

import sys
import warnings

import torch
import transformers
from fixed import integers, normal
from transformers_table import MODELS, build


def inputs_of(kind):
    """What the model is called with, labels included."""
    tokens = integers(90, 3, 10) + 5
    mask = torch.ones(3, 10, dtype=torch.int64)
    mask[1, :4] = 0
    if kind == "":
        return {"input_ids": tokens, "pixel_values": normal(3, 3, 32, 32), "return_loss": True}
    if kind == "ImageClassification":
        return {"pixel_values": normal(3, 3, 32, 32), "labels": integers(5, 3)}
    if kind == "SpeechSeq2Seq":
        return {"input_features": normal(3, 8, 40), "labels": integers(90, 3, 6) + 5}
    if kind == "Seq2SeqLM":
        return {"input_ids": tokens, "attention_mask": mask, "labels": integers(90, 3, 6) + 5}
    if kind == "SequenceClassification":
        return {"input_ids": tokens, "attention_mask": mask, "labels": integers(5, 3)}
    labels = integers(5, 3, 10) if kind == "TokenClassification" else tokens.clone()
    labels[mask == 0] = -100
    return {"input_ids": tokens, "attention_mask": mask, "labels": labels}


def train(net, inputs):
    """Three steps without dropout, whose losses are the same everywhere, and a backward pass with it."""
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    schedule = transformers.get_cosine_schedule_with_warmup(optimizer, 0, 4)
    net.eval()
    for _ in range(3):
        loss = net(**inputs).loss
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        print(f"{loss.item():.4f} {norm.item():.4f}")
    net.train()
    net(**inputs).loss.backward()
    print(all(bool(p.grad.isfinite().all()) for p in net.parameters() if p.grad is not None))
    net.eval()


def generate(net, inputs):
    """Tokens found greedily, with and without the cache of keys and values, and by beams."""
    given = {k: v for k, v in inputs.items() if k != "labels"}
    for options in ({}, {"use_cache": False}, {"num_beams": 3}, {"num_beams": 2, "no_repeat_ngram_size": 2}):
        found = net.generate(**given, max_new_tokens=8, min_new_tokens=4, do_sample=False, **options)
        print(options, found.tolist())
    torch.manual_seed(0)
    print(tuple(net.generate(**given, max_new_tokens=4, min_new_tokens=4, do_sample=True, top_k=5, top_p=0.9,
                             temperature=0.7).shape))


def outputs(net, inputs):
    with torch.no_grad():
        return [x for x in net(**inputs).values() if isinstance(x, torch.Tensor)]


transformers.logging.set_verbosity_error()
warnings.filterwarnings("ignore", category=UserWarning)
for name in sys.argv[1:]:
    model, batch = build(name), inputs_of(MODELS[name][0])
    print(name, type(model).__name__, sum(p.numel() for p in model.parameters()), flush=True)
    train(model, batch)
    for output in outputs(model, batch):
        print(tuple(output.shape), f"{output.abs().mean().item():.4f}")
    if hasattr(model, "generate") and model.can_generate() and "MaskedLM" not in type(model).__name__:
        generate(model, batch)
    model.save_pretrained(name)
    again = type(model).from_pretrained(name)
    pairs = zip(outputs(model, batch), outputs(again.eval(), batch), strict=True)
    print(all(torch.allclose(a, b, atol=1e-4) for a, b in pairs))

"""Models of transformers whose attention is a function of scores: ``transformers_flex.py llama ...``."""

import sys

import torch
from fixed import integers
from transformers_table import build

tokens = integers(90, 2, 10) + 5
for name in sys.argv[1:]:
    net = build(name).eval()
    net.set_attn_implementation("flex_attention")
    with torch.no_grad():
        print(name, f"{net(input_ids=tokens, labels=tokens).loss.item():.4f}")

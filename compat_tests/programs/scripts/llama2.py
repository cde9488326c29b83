"""karpathy/llama2.c's model: training steps by its own optimizer, generation of the likeliest tokens."""

import torch
from fixed import fill, integers
from model import ModelArgs, Transformer

torch.manual_seed(0)
net = fill(Transformer(ModelArgs(dim=64, n_layers=2, n_heads=4, n_kv_heads=2, vocab_size=97, max_seq_len=32,
                                 multiple_of=16, dropout=0.0)))
optimizer = net.configure_optimizers(0.1, 1e-3, (0.9, 0.95), "cpu")
x, y = integers(97, 4, 32), integers(97, 4, 32, seed=3)
for _ in range(5):
    net(x, y)
    net.last_loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    print(f"{net.last_loss.item():.4f}")
print(net.eval().generate(x[:1, :4], 12, temperature=0.0).tolist())

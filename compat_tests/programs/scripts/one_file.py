"""Models of single files: ``one_file.py clip|style|graph file``: losses of steps, by weights of NumPy."""

import importlib.util
import sys

import torch
from fixed import fill, integers, normal


def module_of(path):
    """The file as a module, without the package that it is in."""
    spec = importlib.util.spec_from_file_location("one_file_model", path)
    found = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = found
    spec.loader.exec_module(found)
    return found


def clip(file):
    """Both towers, with a transformer and with a ResNet for images."""
    for layers, width, patch in ((2, 64, 16), ((1, 1, 1, 1), 8, None)):
        net = fill(file.CLIP(32, 64, layers, width, patch, 12, 97, 32, 2, 2))
        optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4)
        for _ in range(3):
            images, texts = net(normal(3, 3, 64, 64), integers(97, 3, 12))
            loss = torch.nn.functional.cross_entropy(images, torch.arange(3)) + texts.square().mean() / 1e3
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            print(f"{loss.item():.4f}")


def style(file):
    """The network that transforms images."""
    net = fill(file.TransformerNet())
    optimizer = torch.optim.Adam(net.parameters(), 1e-4)
    for _ in range(2):
        loss = net(normal(1, 3, 64, 64)).square().mean()
        loss.backward()
        optimizer.step()
        print(f"{loss.item():.3e}")


def graph(file):
    """Attention over a graph with random edges."""
    net = fill(file.GAT(8, 16, 2, 4, dropout=0.0))
    edges = (integers(10, 20, 20) < 3).float() + torch.eye(20)
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3, weight_decay=5e-4)
    for _ in range(5):
        loss = torch.nn.functional.nll_loss(net(normal(20, 8), edges), integers(4, 20))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{loss.item():.4f}")


{"clip": clip, "style": style, "graph": graph}[sys.argv[1]](module_of(sys.argv[2]))

"""Models of single files: ``one_file.py clip|style|graph|gcn file``: losses of steps, by weights of NumPy."""

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


def gcn(file):
    """Convolutions over a graph of sparse tensors, which are read from files in the form of its data set."""
    nodes, words, kinds = 60, 24, 4
    with open("cora.content", "w", encoding="utf-8") as content:
        rows = zip(integers(2, nodes, words).tolist(), integers(kinds, nodes).tolist())
        for node, (row, kind) in enumerate(rows):
            content.write("\t".join(map(str, (1000 + node, *row, f"kind{kind}"))) + "\n")
    with open("cora.cites", "w", encoding="utf-8") as cites:
        for start, end in {tuple(pair) for pair in integers(nodes, 200, 2, seed=3).tolist()}:
            cites.write(f"{1000 + start}\t{1000 + end}\n")
    features, labels, adjacency = file.load_cora(".")
    print(features.layout, adjacency.layout, features._nnz(), adjacency._nnz())
    net = fill(file.GCN(words, 16, kinds, dropout_p=0.0))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2, weight_decay=5e-4)
    for _ in range(5):
        loss = torch.nn.functional.nll_loss(net(features, adjacency), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{loss.item():.4f}")


{"clip": clip, "style": style, "graph": graph, "gcn": gcn}[sys.argv[1]](module_of(sys.argv[2]))

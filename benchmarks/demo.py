"""The demo's GPT as a training step, on PyTorch or on jaxflow: the example file itself is run."""

import argparse
import importlib
import pathlib
import re
import sys
import time
import types

import numpy as np

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples"
VOCABULARY = 128


def example(name, library):
    """``examples/<name>.py`` as a module, its one import line changed to `library`."""
    if str(EXAMPLES) not in sys.path:
        sys.path.insert(0, str(EXAMPLES))
    path = EXAMPLES / f"{name}.py"
    source, changed = re.subn(
        r"^import jaxflow as torch.*$", f"import {library} as torch", path.read_text(), flags=re.M
    )
    if changed != 1:
        raise ValueError(f"{path} should have exactly one line to change, not {changed}")
    module = types.ModuleType(f"{name}_on_{library}")
    exec(compile(source, path, "exec"), module.__dict__)
    return module


def defaults(**changes):
    """The demo's arguments."""
    args = example("char_gpt", "jaxflow").parse([])
    return argparse.Namespace(**{**vars(args), "device": "cpu", **changes})


def corpus(size=1_000_000):
    return np.random.default_rng(0).integers(VOCABULARY, size=size)


def batches(count, args):
    """Fixed inputs and targets, for comparing losses."""
    random = np.random.default_rng(1)
    chunk = random.integers(VOCABULARY, size=(count, args.batch, args.block + 1))
    return [(part[:, :-1], part[:, 1:]) for part in chunk]


def weights(args):
    """Initial weights by parameter name, the same for every contender."""
    random = np.random.default_rng(2)
    width = args.width
    linear = {"qkv": (3 * width, width), "out": (width, width)}
    shapes = {"token.weight": (VOCABULARY, width), "position.weight": (args.block, width)}
    for i in range(args.layers):
        prefix = f"blocks.{i}."
        for name, shape in linear.items():
            shapes[f"{prefix}attention.{name}.weight"] = shape
            shapes[f"{prefix}attention.{name}.bias"] = shape[:1]
        for name in ("attention_norm", "mlp.0"):
            shapes[f"{prefix}{name}.weight"] = shapes[f"{prefix}{name}.bias"] = (width,)
        for name, shape in (("mlp.1", (4 * width, width)), ("mlp.3", (width, 4 * width))):
            shapes[f"{prefix}{name}.weight"], shapes[f"{prefix}{name}.bias"] = shape, shape[:1]
    shapes["norm.weight"] = shapes["norm.bias"] = (width,)
    made = {name: random.normal(0, 0.02, shape) for name, shape in shapes.items()}
    for name in made:
        if "norm.weight" in name or "mlp.0.weight" in name:
            made[name] += 1
    return {name: value.astype(np.float32) for name, value in made.items()}


class Contender:
    """Has ``prepare(dropout)``, ``losses(count)`` and ``run(steps)``; is timed like every other."""

    def start(self, dropout=None):
        """Make the model and do its first step; seconds that took."""
        began = time.perf_counter()
        self.prepare(dropout)
        self.run(1)
        return time.perf_counter() - began

    def time(self, steps):
        """Seconds a step, over `steps` in a row."""
        began = time.perf_counter()
        self.run(steps)
        return (time.perf_counter() - began) / steps


class Training(Contender):
    """The demo's training step in PyTorch's style, `library` being torch or jaxflow."""

    def __init__(self, library, compiled=False, **changes):
        self.torch = importlib.import_module(library)
        self.code = example("char_gpt", library)
        self.args = defaults(**changes)
        self.compiled = compiled
        self.corpus = self.torch.from_numpy(corpus())
        self.step = None

    def prepare(self, dropout=None):
        """A fresh model with the shared weights, its optimizer and schedule."""
        args, torch = self.args, self.torch
        torch.manual_seed(args.seed)
        shape = self.code.shape_of(args)
        if dropout is not None:
            shape["dropout"] = dropout
        self.model = self.code.GPT(VOCABULARY, **shape)
        made = {name: torch.from_numpy(value) for name, value in weights(args).items()}
        self.model.load_state_dict({**made, "head.weight": made["token.weight"]})
        self.optimizer, self.scheduler = self.code.optimizer_for(self.model, args)
        self.loss_of = self.code.loss_of
        if self.compiled:
            self.model = torch.compile(self.model)

    def train_step(self, inputs, targets):
        """What the demo does each step."""
        loss = self.loss_of(self.model, inputs, targets)
        self.optimizer.zero_grad()
        loss.backward()
        self.torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.args.clip)
        self.optimizer.step()
        self.scheduler.step()
        return loss

    def losses(self, count):
        """Losses of `count` steps on the fixed batches, without dropout."""
        self.prepare(dropout=0.0)
        pairs = batches(count, self.args)
        steps = (self.train_step(*map(self.torch.from_numpy, pair)) for pair in pairs)
        return [loss.item() for loss in steps]

    def run(self, steps):
        """`steps` steps on random windows; the last one has finished when this returns."""
        for _ in range(steps):
            batch = self.code.random_batch(self.corpus, self.args.batch, self.args.block)
            loss = self.train_step(*batch)
        loss.item()

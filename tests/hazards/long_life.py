"""Long life: a process that meets ever new shapes keeps a bounded amount of memory.

``python -m tests.hazards.long_life`` runs every part; ``--parts``, ``--sizes``, ``--steps`` and ``--seed``
choose. Each part is a process of its own, so a run that was cut short goes on with the parts that are left.
It ends with status 1 if a part grew by more than ``MOST`` megabytes after its first steps.

A part does the same small thing again and again, each time with another shape: forward and backward of one
expression (``sizes``), or steps of training of a small network by AdamW (``steps``); by default, with the
eager executor, and with every program compiled (``JAXFLOW_INTERPRET=0``). Or it makes networks that are
trained for a few steps by a function of their own, under ``jaxflow.compile``, and then dropped
(``models``). Compiling takes so long that such parts run fewer, under a smaller budget
(``JAXFLOW_KEEP_MB``) which those few spend many times.
"""

from __future__ import annotations

import argparse
import functools
import gc
import json
import os
import pathlib
import random
import subprocess
import sys
from collections.abc import Iterator
from typing import NamedTuple

MOST = 60  # megabytes
FIRST = 2000  # the repetitions that are free: what is loaded on first use, and the budget itself
ROOT = pathlib.Path(__file__).resolve().parents[2]


class Part(NamedTuple):
    """What a process repeats, with which environment, how often of 100,000 sizes or 20,000 steps."""

    work: str
    environment: dict[str, str]
    share: float


_COMPILED = {"JAXFLOW_INTERPRET": "0", "JAXFLOW_KEEP_MB": "32", "JAXFLOW_CACHE": "0"}
_EAGER = {"JAXFLOW_EXECUTION": "eager", "JAXFLOW_KEEP_MB": "32", "JAXFLOW_CACHE": "0"}
PARTS = {
    "sizes": Part("sizes", {}, 1),
    "sizes, compiled": Part("sizes", _COMPILED, 0.006),
    "sizes, eager": Part("sizes", _EAGER, 0.003),
    "steps": Part("steps", {}, 1),
    "steps, compiled": Part("steps", _COMPILED, 0.01),
    "models": Part("models", {**_COMPILED, "JAXFLOW_INTERPRET": "1"}, 0.01),
}


def resident() -> float:
    """Megabytes of memory of this process that are resident (Linux)."""
    gc.collect()
    pages = int(pathlib.Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 1e6


def sizes(count: int, seed: int) -> Iterator[None]:
    """Forward and backward of a small expression, each time for another number of elements."""
    import jaxflow as torch

    w = torch.ones(1, requires_grad=True)
    order = list(range(1, count + 1))
    random.Random(seed).shuffle(order)
    for n in order:
        (torch.ones(n) * w).relu().sum().backward()
        assert w.grad.item() == n
        w.grad = None
        yield


def steps(count: int, seed: int) -> Iterator[None]:
    """Training on sequences of ever other lengths, in batches of ever other sizes."""
    import jaxflow as torch

    torch.manual_seed(seed)
    draw = random.Random(seed)
    model = torch.nn.Sequential(
        torch.nn.Embedding(16, 8), torch.nn.Linear(8, 16), torch.nn.LayerNorm(16), torch.nn.GELU(),
        torch.nn.Linear(16, 16),
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(count):
        shape = draw.randint(1, 16), draw.randint(2, 400)
        tokens = torch.arange(shape[0] * shape[1]).reshape(shape) % 16
        optimizer.zero_grad()
        logits = model(tokens[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.reshape(-1, 16), tokens[:, 1:].reshape(-1))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        yield
    # Each token is followed by the next one, which is learnt at once.
    assert losses[0] > 2 and max(losses[-10:]) < 0.5, (losses[0], losses[-10:])


def train(model, optimizer, x):
    """One step towards outputs of zero."""
    optimizer.zero_grad()
    loss = model(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    return loss


def models(count: int, seed: int) -> Iterator[None]:
    """Networks of ever other widths, each trained by a compiled function of its own, and dropped."""
    import jaxflow as torch

    torch.manual_seed(seed)
    widths = [(n, m) for n in range(3, 67) for m in range(3, 67)]
    random.Random(seed).shuffle(widths)
    for n, m in widths[:count]:
        model = torch.nn.Sequential(torch.nn.Linear(n, m), torch.nn.Tanh(), torch.nn.Linear(m, 2))
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
        step = torch.compile(functools.partial(train, model, optimizer), name="train")
        x = torch.ones(4, n)
        losses = [step(x).item() for _ in range(4)]
        assert losses == sorted(losses, reverse=True), losses
        yield


def measure(work: str, count: int, first: int, seed: int) -> dict:
    """What a part's process prints: its memory after the first repetitions, at the end, and between."""
    found = []
    marks = {first, *(first + (count - first) * k // 4 for k in range(1, 5))}
    programs = []
    for done, _ in enumerate({"sizes": sizes, "steps": steps, "models": models}[work](count, seed), 1):
        if done in marks:
            import jax

            found.append((done, round(resident(), 1)))
            programs.append(len(jax.devices()[0].client.live_executables()))
    import jaxflow

    caches = jaxflow.explain().get("caches", {})
    return {"memory": found, "programs": programs,
            "kept": {name: row["count"] for name, row in caches.items()},
            "evicted": sum(row["evicted"] for row in caches.values())}


def run(name: str, count: int, first: int | None = None, seed: int = 0) -> dict:
    """Measure a part in a process of its own; with ``grown``, the megabytes by which it grew."""
    part = PARTS[name]
    first = min(FIRST, count // 5) if first is None else first
    command = [sys.executable, "-m", "tests.hazards.long_life", "--measure", part.work, str(count),
               str(first), str(seed)]
    environment = {"JAX_PLATFORMS": "cpu", **os.environ, **part.environment}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{name}: the process ended with {done.returncode}\n{done.stderr}")
    found = json.loads(done.stdout.splitlines()[-1])
    memory = [megabytes for _, megabytes in found["memory"]]
    found["grown"] = round(max(memory) - memory[0], 1)
    return found


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.hazards.long_life")
    parser.add_argument("--sizes", type=int, default=100_000)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)  # what the parts' processes do
    given = parser.parse_args()
    if given.measure:
        work, *numbers = given.measure
        print(json.dumps(measure(work, *map(int, numbers))))
        return 0
    failed = 0
    for name in given.parts:
        count = int(PARTS[name].share * (given.sizes if PARTS[name].work == "sizes" else given.steps))
        found = run(name, max(count, 10), seed=given.seed)
        fits = found["grown"] <= MOST
        failed += not fits
        print(f"{name}: {count} repetitions, grown by {found['grown']} MB"
              f" ({'fits' if fits else 'TOO MUCH'}); megabytes {found['memory']},"
              f" compiled programs alive {found['programs']};"
              f" {found['evicted']} evicted, kept {found['kept']}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""The programs in ``examples/``, trained from their seeds by jaxflow and by PyTorch, and held side by side.

    python -m compat_tests.random.examples            # a table: how far the losses are from each other

Each program runs in a process of its own: on PyTorch with one thread, on PyTorch with two, and on jaxflow.
A program that draws the same numbers sees the same losses up to rounding, and what rounding did grows as
training goes on: how far PyTorch is from itself with another number of threads says how much that may be.
"""

from __future__ import annotations

import math
import pathlib
import subprocess
import sys
import tempfile
from typing import NamedTuple

#: How far, as a share, an early loss may be from PyTorch's.
NEAR = 1e-6


class Example(NamedTuple):
    """A program of ``examples/``, with arguments that make it short and let it note each step's loss.

    Its first ``early`` losses have to be PyTorch's; with ``steady`` the others may be twice as far from them
    as PyTorch with two threads is.
    """

    title: str
    name: str
    arguments: str
    early: int = 20
    steady: bool = True


EXAMPLES = (
    Example("GPT, no dropout", "char_gpt", "--steps 100 --log-every 1 --eval-every 100 --dropout 0"),
    Example("GPT, dropout 0.1", "char_gpt", "--steps 100 --log-every 1 --eval-every 100"),
    Example("perceptron, by epochs", "mlp_digits", "--epochs 20"),
    # Its loss rises to 8 in the first steps: each step multiplies what rounding did to the one before.
    Example("CNN", "cnn", "--steps 100 --log-every 1", early=4, steady=False),
)

_RUN = """
import sys
from benchmarks.models.example import example
library, name, threads, *argv = sys.argv[1:]
if library == "torch":
    import torch
    torch.set_num_threads(int(threads))
example(name, library).main(argv)
"""
# The text is the last thing that the language model's program prints.
_SAMPLE = "-" * 30 + " sample " + "-" * 30 + "\n"


def ran(library: str, example: Example, out: pathlib.Path, *more: str, threads: int = 1) -> str:
    """What the program prints; its checkpoint lies in ``out`` afterwards."""
    argv = [*example.arguments.split(), "--out", str(out), *more]
    return subprocess.run([sys.executable, "-c", _RUN, library, example.name, str(threads), *argv],
                          check=True, capture_output=True, text=True).stdout


def losses(out: pathlib.Path) -> list[float]:
    """The training losses that the checkpoint in ``out`` tells of."""
    import torch

    history = torch.load(out / "checkpoint.pt", weights_only=True)["history"]
    return [loss for _, loss in history["training"]]


def state_of(out: pathlib.Path) -> bytes:
    """The state of the default generator after the last step, as the checkpoint in ``out`` has it."""
    import torch

    return bytes(torch.load(out / "checkpoint.pt", weights_only=True)["random"].numpy())


def apart(found: list[float], expected: list[float]) -> float:
    """The largest difference of losses, as a share."""
    return max(abs(a - b) / abs(b) for a, b in zip(found, expected, strict=True))


def text_of(printed: str) -> str:
    """The text that the language model continued."""
    return printed.partition(_SAMPLE)[2]


def compare(example: Example, folder: pathlib.Path) -> dict:
    """How the three runs differ, and what the two libraries make of PyTorch's checkpoint."""
    places = {name: folder / name for name in ("one", "two", "jaxflow")}
    ran("torch", example, places["one"])
    ran("torch", example, places["two"], threads=2)
    ran("jaxflow", example, places["jaxflow"])
    one, two, ours = (losses(place) for place in places.values())
    found = {
        "title": example.title,
        "losses": len(one),
        "first": example.early,
        "early": apart(ours[:example.early], one[:example.early]),
        "all": apart(ours, one),
        "threads": apart(two, one),
        "state": state_of(places["jaxflow"]) == state_of(places["one"]),
    }
    if example.name == "char_gpt":
        # A checkpoint of PyTorch's, with nothing left to train: both continue the prompt with its weights and
        # its generator's state.
        texts = [text_of(ran(library, example, places["one"], "--resume"))
                 for library in ("torch", "jaxflow")]
        found["text"] = len(texts[0]), texts[0] == texts[1]
    return found


def table(rows: list[dict]) -> str:
    """The rows in Markdown."""
    columns = "program", "losses", "the first", "all", "PyTorch, two threads", "generator", "text sampled"
    lines = [f"| {' | '.join(columns)} |", "| --- " * len(columns) + "|"]
    for row in rows:
        text = "" if "text" not in row else (
            f"{row['text'][0]} characters, " + ("the same" if row["text"][1] else "another one"))
        lines.append(
            f"| {row['title']} | {row['losses']} | {row['first']}: {row['early']:.1e} | {row['all']:.1e} "
            f"| {row['threads']:.1e} | {'the same' if row['state'] else 'another one'} | {text} |")
    return "\n".join(lines)


def main() -> int:
    """Print the table; 1 where losses are further apart than that, or a state or text differs."""
    rows, wrong = [], []
    for example in EXAMPLES:
        with tempfile.TemporaryDirectory() as folder:
            row = compare(example, pathlib.Path(folder))
        later = max(NEAR, 2 * row["threads"]) if example.steady else math.inf
        near = row["early"] <= NEAR and row["all"] <= later
        if not (near and row["state"] and row.get("text", (0, True))[1]):
            wrong.append(example.title)
        rows.append(row)
    print(table(rows))
    if wrong:
        print("apart: " + ", ".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

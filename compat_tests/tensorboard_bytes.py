"""``python -m compat_tests.tensorboard_bytes``: what PyTorch's SummaryWriter adds for the calls of a list.

Needs the package ``tensorboard`` beside PyTorch. The summaries are written to
``tests/tensorboard_bytes.txt``, a line a call, for tests that have neither.
"""

from __future__ import annotations

import pathlib
import tempfile

import numpy as np
import torch

TESTS = pathlib.Path(__file__).resolve().parent.parent / "tests"


def summaries() -> list[str]:
    """The step and the summary of each call, as text."""
    from torch.utils.tensorboard import SummaryWriter

    found = []
    for call in (TESTS / "tensorboard_calls.txt").read_text(encoding="utf-8").splitlines():
        with tempfile.TemporaryDirectory() as folder, SummaryWriter(folder) as writer:
            writer.file_writer.add_event = lambda event, step=None, walltime=None: found.append(
                f"{0 if step is None else int(step)} {event.summary.SerializeToString().hex()}")
            eval(f"writer.{call}", {"writer": writer, "t": torch.tensor, "np": np, "torch": torch})
    return found


if __name__ == "__main__":
    (TESTS / "tensorboard_bytes.txt").write_text("\n".join(summaries()) + "\n", encoding="utf-8")

"""The draws of `test_draws` of ten million numbers at once, which take too long for a test.

    python -m compat_tests.random.large            # what differs from PyTorch, by its bits
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import torch

from compat_tests.random.test_draws import DRAWS, bits, np_dtype
from jaxflow._random.cursor import Cursor
from jaxflow._random.place import bytes_of, start_of

SIZE, SEED = 10**7, 20261130


def differing(name: str, dtype: str) -> tuple[int, bool]:
    """How many bytes of the numbers differ, and whether the generators are in the same state afterwards."""
    _, theirs, ours = DRAWS[name]
    generator, cursor = torch.Generator().manual_seed(SEED), Cursor(start_of(SEED))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        expected = bits(theirs(generator, SIZE, dtype))
    wrong = int((expected != bits(ours(cursor, SIZE, np_dtype(dtype)))).sum())
    return wrong, np.array_equal(generator.get_state().numpy(), bytes_of(cursor.place(), SEED))


def main() -> int:
    """Print a line for each draw and dtype; 1 where one differs."""
    right = 0
    kinds = [(name, dtype) for name, row in DRAWS.items() for dtype in row[0]]
    for name, dtype in kinds:
        wrong, same_state = differing(name, dtype)
        right += not wrong and same_state
        state = "the same" if same_state else "another"
        print(f"{name} {dtype}: {wrong} bytes differ, {state} state", flush=True)
    print(f"{right} of {len(kinds)} draws of {SIZE:,} numbers are PyTorch's")
    return 0 if right == len(kinds) else 1


if __name__ == "__main__":
    sys.exit(main())

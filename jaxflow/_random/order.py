"""Where numbers go that are drawn in the order of memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def in_memory_order(flat: np.ndarray, shape: Sequence[int], strides: Sequence[int] | None) -> np.ndarray:
    """Numbers that were drawn one after another, as a tensor of these strides has them; None: contiguous."""
    if strides is None:
        return flat.reshape(shape)
    order = sorted(range(len(shape)), key=lambda d: (-strides[d], d))
    out = np.empty(shape, flat.dtype)
    out.transpose(order)[...] = flat.reshape([shape[d] for d in order])
    return out

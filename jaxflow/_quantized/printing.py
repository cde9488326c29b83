"""The text of a quantized tensor: the numbers that it stands for, and how it was quantized."""

from __future__ import annotations

import numpy as np

from jaxflow._core import printing
from jaxflow._core.tensor import Tensor
from jaxflow._views.values import value_of

from .parts import numbers, parts_of


def text(t: Tensor) -> str:
    """The repr of a quantized tensor."""
    parts, prefix = parts_of(t), "tensor("
    body = prefix + printing.contents_text(np.asarray(value_of(numbers(t)).get()), len(prefix))
    notes = [f"size={tuple(t._aval.shape)}"]
    if t._aval.device.type != "cpu":
        notes.append(f"device='{t._aval.device}'")
    notes += [f"dtype={parts.dtype}", f"quantization_scheme={parts.qscheme}", f"scale={parts.scale}",
              f"zero_point={parts.zero_point}"]
    if parts.axis is not None:
        notes.append(f"axis={parts.axis}")
    return printing.with_notes(body, notes, len(prefix))

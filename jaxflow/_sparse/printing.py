"""The text of a sparse tensor, as PyTorch prints it: its parts, its size, its number of entries."""

from __future__ import annotations

import numpy as np

from jaxflow._core import dtype as dtypes
from jaxflow._core import printing
from jaxflow._core.tensor import Tensor
from jaxflow._views.values import value_of

from .compressed import part_names


def _part(name: str, t: Tensor, indent: int) -> str:
    start = f"{name}=tensor("
    text = printing.contents_text(np.asarray(value_of(t).get()), indent + len(start))
    size = f", size={tuple(t.shape)}" if not t._aval.numel else ""
    return f"{start}{text}{size})"


def text(t: Tensor) -> str:
    """The repr of a sparse tensor."""
    parts = t._storage.parts
    prefix = ("tensor" if type(t) is Tensor else type(t).__dict__.get("_repr_name", type(t).__name__)) + "("
    indent = len(prefix)
    shown = [_part(name, part, indent) for name, part in zip(part_names(parts), parts[:-1])
             if isinstance(part, Tensor)]
    body = prefix + (",\n" + " " * indent).join(shown)
    nnz = parts.values.shape[0] if parts.layout.name == "sparse_coo" else parts.plain.shape[-1]
    notes = [f"size={tuple(t._aval.shape)}", f"nnz={nnz}"]
    if t._aval.device.type != "cpu":
        notes.append(f"device='{t._aval.device}'")
    default = dtypes.get_default_dtype()
    double = default is dtypes.float64
    if t._aval.dtype not in (default, dtypes.complex128 if double else dtypes.complex64, dtypes.int64,
                             dtypes.bool):
        notes.append(f"dtype={t._aval.dtype}")
    notes.append(f"layout={parts.layout}")
    node = t.grad_fn
    if node is not None:
        notes.append(f"grad_fn=<{node.name().rpartition(':')[2]}>")
    elif t.requires_grad:
        notes.append("requires_grad=True")
    # What is said of a tensor in coordinates as a whole begins a line.
    found = printing.with_notes(body, notes, indent, parts.layout.name == "sparse_coo")
    return f"Parameter({found})" if getattr(t, "_is_param", False) and prefix != "tensor(" else found

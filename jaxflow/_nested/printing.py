"""The text of a nested tensor, as PyTorch prints it."""

from __future__ import annotations

from jaxflow._core.tensor import Tensor

from .parts import is_jagged, parts_of


def text(t: Tensor) -> str:
    """The repr of a nested tensor."""
    return _jagged(t) if is_jagged(t) else _pieces(t)


def _jagged(t: Tensor) -> str:
    parts = parts_of(t)
    history = f", requires_grad={t.requires_grad}" if t.requires_grad else ""
    if t.grad_fn is not None:
        history = f", grad_fn={t.grad_fn}"
    return (f"NestedTensor(size={tuple(parts.shape)}, offsets={parts.ragged.offsets!r}{history}, "
            f"contiguous={t.is_contiguous()})")


def _pieces(t: Tensor) -> str:
    shown = []
    for row in t.detach().unbind():
        lines = repr(row.requires_grad_() if t.requires_grad else row).split("\n")
        shown.append("\n".join("  " + line for line in lines))
    end = ""
    if t.grad_fn is not None:
        end = f", grad_fn=<{t.grad_fn.name().rpartition(':')[2]}>"
    elif t.requires_grad:
        end = ", requires_grad=True"
    return "nested_tensor([\n" + ",\n".join(shown) + f"\n]{end})"

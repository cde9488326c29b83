"""The text of a tensor with a mask: its elements, and two dashes for what is masked."""

from __future__ import annotations

from jaxflow._core.tensor import Tensor


def _shown(number: object) -> str:
    return f"{number:8.4f}" if isinstance(number, float) else str(number)


def _row(numbers: list, counts: list) -> str:
    shown = [_shown(x) for x in numbers]
    width = max((len(x) if counted else 8 for x, counted in zip(shown, counts, strict=True)), default=0)
    return "[" + ", ".join(x if counted else "--".rjust(width) for x, counted in zip(shown, counts)) + "]"


def _nested(numbers: list, counts: list, depth: int) -> str:
    if depth == 1:
        return _row(numbers, counts)
    inner = (_nested(x, c, depth - 1) for x, c in zip(numbers, counts, strict=True))
    return "[\n" + ",\n".join(_indented(text) for text in inner) + "\n]"


def _indented(text: str) -> str:
    return "\n".join("  " + line for line in text.split("\n"))


def text(t: Tensor) -> str:
    """The repr of a masked tensor."""
    data, mask = (x.detach().to_dense().cpu() for x in t._storage.parts)
    if not data.dim():
        counted = mask.item()
        return f"MaskedTensor({_shown(data.item()) if counted else '--'}, {counted})"
    return f"MaskedTensor(\n{_indented(_nested(data.tolist(), mask.tolist(), data.dim()))}\n)"

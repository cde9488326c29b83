"""Functions with annotations that both libraries read."""

from typing import Optional, Sequence


def functions(lib):
    """Some functions, annotated with the tensors of a library."""
    tensor = lib.Tensor

    def plain(x: tensor, n: int = 1, flag: bool = False) -> tensor:
        return x

    def scaled(x: tensor, by: float, words: Optional[str] = None) -> tensor:
        return x * by

    def several(x: tensor, xs: Sequence[tensor], *, dtype: Optional[lib.dtype] = None) -> tuple[tensor, tensor]:
        return x, x

    def nothing(x: tensor, size: Sequence[int], other: Optional[tensor] = None) -> None:
        return None

    return plain, scaled, several, nothing

"""Functions with annotations that both libraries read."""

from collections.abc import Sequence


def functions(lib):
    """Some functions, annotated with the tensors of a library."""
    tensor = lib.Tensor

    def plain(x: tensor, n: int = 1, flag: bool = False) -> tensor:
        return x

    def scaled(x: tensor, by: float, words: str | None = None) -> tensor:
        return x * by

    def several(x: tensor, xs: Sequence[tensor], *, dtype: lib.dtype | None = None) -> tuple[tensor, tensor]:
        return x, x

    def nothing(x: tensor, size: Sequence[int], other: tensor | None = None) -> None:
        return None

    return plain, scaled, several, nothing

"""The scan with an associative function, in a number of calls that grows with the logarithm of the length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow._api.vmap import vmap
from jaxflow._core import tree
from jaxflow._core.tensor import Tensor
from jaxflow._functions import cat, stack

__all__ = ["associative_scan"]


def associative_scan(combine_fn: Callable[[Any, Any], Any], xs: Any, dim: int, reverse: bool = False,
                     combine_mode: str = "pointwise") -> Any:
    """Combine each slice along a dimension with all those before it.

    Args:
        combine_fn: an associative function of two trees of slices, such as ``lambda a, b: a + b``, which
            returns a tree like each of them.
        xs: a tensor, or a tree of tensors of the same size along ``dim``, which is not 0.
        dim: the dimension.
        reverse: from the end to the start.
        combine_mode: ``"generic"``; ``"pointwise"``, PyTorch's default, is for tensors on CUDA.

    Returns:
        A tree like ``xs``: ``y[0] = x[0]``, ``y[i] = combine_fn(y[i-1], x[i])`` (Blelloch, "Prefix sums and
        their applications", 1990: neighbours are combined; their scan is the odd half, then the even one).

    Raises:
        ValueError: for other arguments, and where ``combine_fn`` returns another number of tensors.
        RuntimeError: where ``reverse`` is no bool.
        IndexError: where ``xs`` has no dimension ``dim``.

    >>> from jaxflow._higher_order_ops.associative_scan import associative_scan
    >>> associative_scan(lambda a, b: a * b, torch.tensor([1., 2., 3.]), 0, combine_mode="generic")
    tensor([1., 2., 6.])
    """
    leaves, spec = tree.flatten(xs)
    dim = _check(combine_fn, leaves, dim, reverse, combine_mode)

    def combine(before: list[Tensor], after: list[Tensor]) -> list[Tensor]:
        found, shape = tree.flatten(vmap(combine_fn)(spec.unflatten(before), spec.unflatten(after)))
        if len(found) != len(leaves):
            raise ValueError(f"combine_fn has to return a tree like xs, of {len(leaves)} tensors, but it "
                             f"returned {shape}")
        return found

    rows = [x.movedim(dim, 0) for x in leaves]
    if reverse:
        rows = [x.flip(0) for x in rows]
    rows = _scan(combine, rows)
    if reverse:
        rows = [x.flip(0) for x in rows]
    return spec.unflatten([x.movedim(0, dim) for x in rows])


def _scan(combine: Callable[[list[Tensor], list[Tensor]], list[Tensor]], xs: list[Tensor]) -> list[Tensor]:
    """The scan along the first dimension."""
    count = xs[0].shape[0]
    if count < 2:
        return xs
    odd = _scan(combine, combine([x[:count - 1:2] for x in xs], [x[1::2] for x in xs]))
    even = [x[:1] for x in xs]
    if count > 2:
        later = combine([x[:(count - 1) // 2] for x in odd], [x[2::2] for x in xs])
        even = [cat([first, rest]) for first, rest in zip(even, later, strict=True)]
    return [_interleaved(a, b) for a, b in zip(even, odd, strict=True)]


def _interleaved(even: Tensor, odd: Tensor) -> Tensor:
    """The rows of both in turns; ``even`` may have one more."""
    pairs = stack([even[:len(odd)], odd], 1).flatten(0, 1)
    return pairs if len(even) == len(odd) else cat([pairs, even[len(odd):]])


def _check(combine_fn: Any, leaves: list[Any], dim: Any, reverse: Any, combine_mode: Any) -> int:
    """Refuse what PyTorch refuses; the dimension, counted from the front."""
    if not leaves:
        raise ValueError("Expected at least 1 xs leaf")
    if not all(isinstance(x, Tensor) for x in leaves):
        raise ValueError("xs leaves must be a Tensor")
    dims = leaves[0].ndim
    if not isinstance(dim, int):
        raise ValueError(f"Dim must be an int, but got {type(dim)}")
    if not -dims <= dim < dims:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-dims}, {dims - 1}], "
                         f"but got {dim})")
    dim %= dims
    if not callable(combine_fn):
        raise ValueError(f"Combine_fn must be a callable, but got {combine_fn}")
    if not isinstance(reverse, bool):
        raise RuntimeError(f"Reverse must be a bool, but got {type(reverse)}")
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError(f"Combine_mode must either 'pointwise' or 'generic', but got {combine_mode}")
    if combine_mode == "pointwise" and not all(x.is_cuda for x in leaves):
        raise ValueError("For combine_mode='pointwise', all input tensors need to be on CUDA: pass "
                         "combine_mode='generic'")
    if any(x.ndim <= dim or x.shape[dim] == 0 for x in leaves):
        raise ValueError("All xs leaves must at least have 'dim' number of dimensions and scan dimension > 0")
    return dim

"""The gradient of sampled values by finite differences."""

from __future__ import annotations

import functools
from typing import Any

from jaxflow._core import dtype as dtypes
from jaxflow._core.geometry import wrap_dim
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS
from jaxflow._publish.composite import composite

from .forms import invalid_combination
from .shape.combining import by_number

_NUMBERS = (bool, int, float, complex)


@composite("function")
def gradient(input: Tensor, *, spacing: Any = 1, dim: Any = None,
             edge_order: int = 1) -> tuple[Tensor, ...]:
    """Derivatives along each dimension, of the shape of ``input``: central differences, one-sided at edges.

    Args:
        input: samples of a function on a grid; unsigned integers and bools are refused.
        spacing: how far apart they lie: a number, a number per dimension, or the positions along each as
            a tensor.
        dim: along which dimensions; all by default.
        edge_order: 1, or 2 for edges as exact as the inside.

    Raises:
        TypeError: for numbers beside tensors of positions.
        RuntimeError: for a dimension of fewer than ``edge_order + 1`` samples, one named twice, and as many
            spacings as there are not dimensions, or positions that do not broadcast along theirs.
    """
    if not isinstance(input, Tensor):
        raise invalid_combination("gradient", (input,), {"spacing": spacing})
    if spacing is None:
        spacing = 1
    if isinstance(spacing, Tensor):
        if spacing._aval.ndim:
            raise invalid_combination("gradient", (input,), {"dim": dim, "spacing": spacing})
        spacing = spacing.item()
    several = isinstance(spacing, (list, tuple))
    if not (several or isinstance(spacing, _NUMBERS)):
        raise invalid_combination("gradient", (input,), {"spacing": spacing})
    if several and any(isinstance(step, Tensor) for step in spacing):
        for i, step in enumerate(spacing):
            if not isinstance(step, Tensor):
                kind = type(step).__name__
                raise TypeError(f"expected Tensor as element {i} in argument 1, but got {kind}")
    if input.dtype is dtypes.uint8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
    ndim = input._aval.ndim
    if several and dim is None and len(spacing) != ndim:
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to "
            f"'self.dim() = {ndim}', since dim argument was not given, but got a list of length "
            f"{len(spacing)}"
        )
    dims = tuple(range(ndim)) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    if several and len(spacing) != len(dims):
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim arguments "
            f"to have the same length, but got a spacing argument of length {len(spacing)} and a dim "
            f"argument of length {len(dims)}."
        )
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    given, dims = dims, tuple(wrap_dim(d, ndim) for d in dims)
    for d in dims:
        if dims.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    for d, asked in zip(dims, given, strict=True):
        wrap_dim(asked, ndim, wrap_scalar=False)
        if input._aval.shape[d] <= edge_order:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    steps = spacing if several else [spacing] * len(dims)
    for step in steps:
        if isinstance(step, Tensor) and step._aval.ndim != 1:
            raise RuntimeError("torch.gradient expected each element of spacing to have one dimension, "
                               f"but got an element with {step._aval.ndim} dimensions!")
    return tuple(_along(input, d, step, edge_order) for d, step in zip(dims, steps))


def _joined(first: Tensor, inside: Tensor, last: Tensor, d: int) -> Tensor:
    return apply(OPS["cat"], (first, inside, last), (d,))


def _along(x: Tensor, d: int, step: Any, edge_order: int) -> Tensor:
    """The derivative along one dimension."""
    n = x._aval.shape[d]

    def at(start: int, count: int = 1) -> Tensor:
        return x.narrow(d, start % n, count)

    times, over = (functools.partial(by_number, name) for name in ("mul", "div"))
    if isinstance(step, Tensor):
        return _uneven(at, n, d, x._aval.ndim, step, edge_order)
    inside = over(over(at(2, n - 2) - at(0, n - 2), step), 2)
    if edge_order == 1:
        first, last = at(1) - at(0), at(-1) - at(-2)
    else:
        first = times(at(0), -1.5) + times(at(1), 2) - times(at(2), 0.5)
        last = times(at(-3), 0.5) - times(at(-2), 2) + times(at(-1), 1.5)
    return _joined(over(first, step), inside, over(last, step), d)


def _uneven(at: Any, n: int, d: int, ndim: int, positions: Tensor, edge_order: int) -> Tensor:
    """The same for samples at these positions: derivatives of parabolas through three of them.

    B. Fornberg, "Generation of finite difference formulas on arbitrarily spaced grids" (1988).
    """
    widths = positions.diff()
    shape = [1] * ndim
    shape[d] = -1

    def parabola(weigh: Any, a: Tensor, b: Tensor, start: int, count: int = 1) -> Tensor:
        """Three samples from ``start``, as ``weigh`` makes weights of the widths ``a`` and ``b`` after it."""
        # One weight stays without dimensions: it does not widen what it multiplies.
        a, b, c = (w.reshape(shape) if w._aval.ndim else w for w in weigh(a, b))
        return a * at(start, count) + b * at(start + 1, count) + c * at(start + 2, count)

    # As many weights as there are places inside, or one of either: they broadcast.
    many = widths._aval.numel
    count, after = max(many - 1, 0), min(many, 1)
    inside = parabola(_at_second, widths.narrow(0, 0, count), widths.narrow(0, after, count), 0, n - 2)
    if edge_order == 1:
        first, last = (at(1) - at(0)) / widths.select(0, 0), (at(-1) - at(-2)) / widths.select(0, -1)
    else:
        second, before = widths.select(0, 1), widths.select(0, -2)
        first = parabola(_at_first, widths.select(0, 0), second, 0)
        last = parabola(_at_third, before, widths.select(0, -1), n - 3)
    return _joined(first, inside, last, d)


def _at_first(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The weights of three samples, ``a`` and ``b`` apart, in the slope at the first of them."""
    return -(2 * a + b) / (a * (a + b)), (a + b) / (a * b), -a / (b * (a + b))


def _at_second(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return -b / (a * (a + b)), (b - a) / (a * b), a / (b * (a + b))


def _at_third(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return b / (a * (a + b)), -(a + b) / (a * b), (2 * b + a) / (b * (a + b))

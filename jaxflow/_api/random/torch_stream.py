"""Draws from generators whose stream is PyTorch's: made on the host at once, in the order of memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jaxflow._api.creation.creation import strides_like
from jaxflow._api.creation.host_arrays import put_own
from jaxflow._core import dtype as dtypes
from jaxflow._core.aval import aval_of
from jaxflow._core.generator import Generator
from jaxflow._core.geometry import is_contiguous
from jaxflow._core.memory_errors import check_sizes
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.vmap_axes import MappedAxis, examples_apart, hidden_in
from jaxflow._exec.run import run
from jaxflow._random import (
    angles,
    categories,
    counts,
    gamma,
    integers,
    inversion,
    normal,
    permutation,
    uniform,
)
from jaxflow._random.cursor import Cursor
from jaxflow._random.order import in_memory_order
from jaxflow._random.rounding import narrow
from jaxflow._transforms import batching
from jaxflow._views.values import value_of

# What is drawn by numbers alone: the dtype of the result, how many, whether they lie side by side, the
# numbers.
_BY_NUMBERS: dict[str, Callable[..., np.ndarray]] = {
    "_uniform": lambda c, n, dtype, dense, low=0.0, high=1.0: uniform.uniform(c, n, dtype, low, high),
    "_normal": lambda c, n, dtype, dense, mean=0.0, std=1.0: normal.normal(c, n, dtype, mean, std, dense),
    "_log_normal": lambda c, n, dtype, dense, mean, std: inversion.log_normal(c, n, dtype, mean, std),
    "_cauchy": lambda c, n, dtype, dense, median, sigma: inversion.cauchy(c, n, dtype, median, sigma),
    "_exponential": lambda c, n, dtype, dense, rate: inversion.exponential(c, n, dtype, rate),
    "_geometric": lambda c, n, dtype, dense, chance: inversion.geometric(c, n, dtype, chance),
    "_coins": lambda c, n, dtype, dense, chance: inversion.coins(c, n, chance).astype(dtype, copy=False),
    "_randint": lambda c, n, dtype, dense, low, high: integers.integers(c, n, dtype, low, high),
    "_random": lambda c, n, dtype, dense: integers.any_integers(c, n, dtype),
    "_thresholds": lambda c, n, dtype, dense: inversion.thresholds(c, n, dtype),
}

#: One more than the largest int64.
_ENDLESS = 1 << 63

# What is drawn by the elements of tensors.
_BY_TENSORS: dict[str, Callable[..., np.ndarray]] = {
    "_poisson": counts.poisson,
    "_gamma": gamma.gamma,
    "_dirichlet": gamma.dirichlet,
    "_binomial": counts.binomial,
    "_multinomial": categories.with_replacement,
    "_von_mises": angles.von_mises,
}


def from_words(
    source: Generator, name: str, numbers: Sequence[Any], static: tuple, strides: Sequence[int] | None = None
) -> Tensor:
    """What the random op ``name`` is for a generator of this stream; arguments as for the op."""
    if name in _COMPOSED:
        return _COMPOSED[name](source, *numbers, *static, strides)
    if name in _BY_TENSORS:
        return _by_tensors(source, name, numbers, static)
    size, dtype, device, *options = static
    if name == "_randint" and options[0]:
        numbers = numbers[0], _ENDLESS
    elif numbers == (None, None):
        numbers = ()
    return _by_numbers(source, name, numbers, size, dtype, device, strides)


def _axes_apart(*tensors: Any) -> list[MappedAxis]:
    """The mapped axes whose examples draw other numbers.

    RuntimeError where examples of ``tensors`` would draw the same ones.
    """
    if not state.axes:
        return []
    apart = examples_apart(state.axes)
    for t in tensors:
        if isinstance(t, Tensor) and any(a.randomness == "same" for a in batching.axes_of(t._storage.value)):
            raise RuntimeError(
                "Vmap does not currently support same randomness with a batched tensor input. Please file an "
                "issue with functorch"
            )
    return apart


def leaf_drawn(source: Generator, draw: Callable[..., np.ndarray], args: tuple, device: Any) -> Tensor:
    """A new tensor of what ``draw(cursor, *args)`` gives for a generator; a capture notes it."""
    taken = source.take(draw, args)
    return put_own(_alone(taken.array), device)


def _alone(array: np.ndarray) -> np.ndarray:
    """The same contiguous, and in memory that holds little else: not among the words of a span."""
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    return np.array(array, order="C") if owner.nbytes > 2 * array.nbytes else np.asarray(array, order="C")


def _by_numbers(
    source: Generator, name: str, numbers: Sequence[float], size: Sequence[int], dtype: dtypes.dtype,
    device: Any, strides: Sequence[int] | None = None,
) -> Tensor:
    apart = _axes_apart()
    shape = (*(axis.size for axis in apart), *size)
    dense = strides is None or bool(apart) or is_contiguous(size, strides)
    check_sizes(name, [aval_of(shape, dtype, device)])
    args = name, shape, None if dense else tuple(strides), dtype.np, *numbers
    return hidden_in(leaf_drawn(source, _laid_out, args, device), apart)


def _permutations(source: Generator, n: int, dtype: dtypes.dtype, device: Any, strides: Any) -> Tensor:
    """The numbers 0 to n - 1 in an order of each example's own, or of all, one after another."""
    apart = _axes_apart()
    sizes = tuple(axis.size for axis in apart)
    check_sizes("_randperm", [aval_of((*sizes, n), dtype, device)])
    return hidden_in(leaf_drawn(source, _orders, (sizes, n, dtype.np), device), apart)


def _orders(cursor: Cursor, sizes: tuple[int, ...], n: int, dtype: np.dtype) -> np.ndarray:
    orders = [permutation.permutation(cursor, n, dtype) for _ in range(math.prod(sizes))]
    return np.array(orders, dtype).reshape(*sizes, n)


def _laid_out(
    cursor: Cursor, name: str, shape: tuple[int, ...], strides: tuple[int, ...] | None, dtype: np.dtype,
    *numbers: float,
) -> np.ndarray:
    flat = _BY_NUMBERS[name](cursor, math.prod(shape), dtype, strides is None, *numbers)
    return in_memory_order(flat, shape, strides)


def _by_tensors(source: Generator, name: str, tensors: Sequence[Tensor], options: Sequence[Any]) -> Tensor:
    """The elements of the tensors have to be known: how many words are used depends on them."""
    apart = _axes_apart(*tensors)
    values = [value_of(t) for t in tensors]
    for axis in reversed(apart):
        values = [batching.show(run, value, axis) for value in values]
    if name == "_multinomial":
        about = tensors[0]._aval
        check_sizes(name, [aval_of((*about.shape[:-1], options[0]), dtypes.int64, about.device)])
    args = *np.broadcast_arrays(*(value.host() for value in values)), *options
    return hidden_in(leaf_drawn(source, _BY_TENSORS[name], args, tensors[0]._aval.device), apart)


def _tossed(
    source: Generator, p: Tensor, dtype: dtypes.dtype, strides: Sequence[int] | None
) -> Tensor:
    """1 with the chances ``p``, else 0."""
    _axes_apart(p)
    kind, about = dtypes.float64 if p._aval.dtype is dtypes.float64 else dtypes.float32, p._aval
    drawn = _by_numbers(source, "_thresholds", (), about.shape, kind, about.device, strides)
    return (drawn < p.to(kind)).to(dtype)


def _normal_of(
    source: Generator, mean: Any, std: Any, dtype: dtypes.dtype, strides: Sequence[int] | None
) -> Tensor:
    """Normal numbers whose mean or deviation is a tensor: one of float numbers first, then the tensors'
    part."""
    _axes_apart(mean, std)
    given = [t for t in (mean, std) if isinstance(t, Tensor)]
    shape = np.broadcast_shapes(*(t._aval.shape for t in given))
    scale = 1.0 if isinstance(std, Tensor) else float(std)
    drawn = _by_numbers(source, "_normal", (0.0, scale), shape, dtype, given[0]._aval.device)
    return (drawn * std if isinstance(std, Tensor) else drawn) + mean


def _chosen(
    source: Generator, weights: Tensor, count: int, replacement: bool, strides: Sequence[int] | None
) -> Tensor:
    """Indices by weights: where these, divided by exponential numbers, are largest (Efraimidis and Spirakis
    2006); several with replacement are drawn by the elements."""
    if replacement and count > 1:
        return _by_tensors(source, "_multinomial", (weights,), (count, replacement))
    _axes_apart(weights)
    about = weights._aval
    noise = _by_numbers(source, "_exponential", (1.0,), about.shape, about.dtype, about.device,
                        strides_like(weights))
    scores = weights / noise
    if count == 1:
        return scores.argmax(-1, keepdim=True)
    order = scores.contiguous().sort(stable=True, dim=-1, descending=True).indices
    return order[..., :count].contiguous()


_COMPOSED = {
    "_bernoulli": _tossed, "_multinomial": _chosen, "_normal_of": _normal_of, "_randperm": _permutations,
}


def draw_slopes(source: Generator, input: Tensor, lower: float, upper: float) -> Tensor:
    """The slopes of a randomized leaky ReLU: a draw for each element that is not positive, 1 for the
    others."""
    if state.axes:
        raise RuntimeError("vmap: we do not yet support aten::rrelu. Please file an issue")
    return leaf_drawn(source, _slopes, (value_of(input).host(), lower, upper), input._aval.device)


def _slopes(cursor: Cursor, x: np.ndarray, lower: float, upper: float) -> np.ndarray:
    slopes = np.ones(x.shape, np.float64)
    where = x <= 0
    lower, upper = narrow(np.array([lower, upper]), x.dtype).tolist()
    # Rounded twice: this kernel of PyTorch's is built without fused multiply-adds.
    slopes[where] = uniform.double(cursor, int(np.count_nonzero(where))) * (upper - lower) + lower
    return narrow(slopes, x.dtype)

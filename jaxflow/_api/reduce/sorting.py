"""Sorting, distinct elements and counting, where arguments or result sizes need Python."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from types import NoneType
from typing import Any

import numpy as np

from jaxflow._api.creation.creation import dtype_of_number, filled
from jaxflow._api.creation.host_arrays import put
from jaxflow._api.forms import expect_int, expect_tensor, given_out, invalid_combination, refuse_recorded_into
from jaxflow._api.per_example import is_batched, per_example
from jaxflow._api.tensor.core import host
from jaxflow._core import dtype as dtypes
from jaxflow._core.arguments import fits
from jaxflow._core.geometry import moved_strides, wrap_dim
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._dispatch.not_derived import named, without_derivative
from jaxflow._dispatch.result_layout import unless_contiguous
from jaxflow._plans.op import OPS
from jaxflow._publish.bind import freeze
from jaxflow._publish.composite import composite
from jaxflow._publish.out import computed
from jaxflow._publish.value_checks import guarded
from jaxflow._transforms.batching import DYNAMIC, refuse_batched


def _by_name(function: Callable) -> Callable:
    """``function`` in PyTorch's two forms: ``stable`` is given by name, and then all but the tensor is."""

    @functools.wraps(function)
    def call(input: Tensor, *args: Any, **kwargs: Any) -> Any:
        if args and ("stable" in kwargs or len(args) > 2 or args[0].__class__ in (bool, NoneType)):
            raise invalid_combination(function.__name__, (input, *args), kwargs)
        dim = args[0] if args else kwargs.get("dim", kwargs.get("axis", -1))
        descending = args[1] if len(args) > 1 else kwargs.get("descending", False)
        if not fits("int", dim) or not fits("bool", descending):
            raise invalid_combination(function.__name__, (input, *args), kwargs)
        return function(input, *args, **kwargs)

    return call


@composite()
@_by_name
def sort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool | None = None,
         axis: int | None = None, out: Any = None):
    """The elements in order along ``dim``, and where they were; ties always keep their order.

    Args:
        input: a tensor of any shape, not complex. A nan counts as larger than every number.
        dim: the dimension along which is sorted.
        descending: whether the largest element comes first.
        stable: accepted by name; the order of equal elements is kept in any case.
        axis: another name of ``dim``.
        out: a pair of tensors, for the values and the indices.

    Returns:
        A named tuple ``(values, indices)``, new tensors of the shape of ``input``; the values have its
        dtype, the indices are int64.

    Raises:
        RuntimeError: for complex numbers.
        IndexError: for a dimension that is not there.

    Example:
        >>> values, indices = torch.sort(torch.tensor([[3, 1, 2], [4, 6, 5]]))
        >>> values
        tensor([[1, 2, 3],
                [4, 5, 6]])
        >>> indices
        tensor([[1, 2, 0],
                [0, 2, 1]])
        >>> torch.sort(torch.tensor([1, 3, 2]), descending=True).values
        tensor([3, 2, 1])
    """
    refuse_recorded_into(out, "sort", input)
    dim = dim if axis is None else axis
    op = OPS["sort" if stable is None else "_sort_stable"]
    return given_out("sort", out, apply(op, (input,), (freeze(dim), bool(descending))), (input,), op)


@composite()
@_by_name
def argsort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False,
            axis: int | None = None) -> Tensor:
    """The indices that sort ``input`` along ``dim``; ties keep their order.

    Args:
        input: of any shape, and any dtype but complex ones; nan counts as the largest number.
        dim: the dimension to sort along.
        descending: whether the largest comes first.
        stable: accepted; ties keep their order in any case.
        axis: another name of ``dim``.

    Returns:
        Indices in int64, of the shape of ``input``: ``input.gather(dim, indices)`` is sorted.

    Raises:
        RuntimeError: for complex numbers.
        IndexError: for a dimension that is not there.

    Example:
        >>> torch.argsort(torch.tensor([30, 10, 20, 10]))
        tensor([1, 3, 2, 0])
        >>> torch.argsort(torch.tensor([[3, 1], [2, 4]]), dim=0, descending=True)
        tensor([[0, 1],
                [1, 0]])
    """
    dim = dim if axis is None else axis
    return apply(OPS["sort"], (input,), (freeze(dim), bool(descending)))[1]


@composite()
def msort(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements in order along the first dimension."""
    refuse_recorded_into(out, "sort", input)
    op = OPS["sort"]
    return given_out("msort", out, apply(op, (input,), (0, False))[0], (input,), op)


# ----------------------------------------------------------------------------------------- distinct


def _numpy(t: Tensor) -> np.ndarray:
    array = host(t)
    return array.astype(np.float32) if t._aval.dtype.np.kind == "V" else array


def _starts(rows: np.ndarray) -> np.ndarray:
    """Where a row differs from the one before; ``rows`` is 2-D."""
    return np.flatnonzero(np.concatenate([[True], (rows[1:] != rows[:-1]).any(1)]))


def _grouped(input: Tensor, dim: int | None, ordered: bool):
    """Positions of the first row of each group, each row's group, and the groups' sizes.

    Sorting (``ordered``) makes equal rows neighbours; without it only neighbours are grouped.
    """
    array = _numpy(input)
    rows = array.reshape(-1, 1) if dim is None else np.moveaxis(array, dim, 0)
    count = rows.shape[0]
    rows = rows.reshape(count, math.prod(rows.shape[1:]))
    if count == 0:
        empty = np.zeros(0, np.int64)
        return empty, empty, empty
    order = np.arange(count)
    if ordered:
        order = np.lexsort(rows.T[::-1]) if rows.shape[1] else order
    sorted_rows = rows[order]
    starts = _starts(sorted_rows) if rows.shape[1] else np.zeros(1, np.int64)
    group = np.zeros(count, np.int64)
    group[starts[1:]] = 1
    inverse = np.empty(count, np.int64)
    inverse[order] = np.cumsum(group)
    return order[starts], inverse, np.diff(np.append(starts, count))


#: What PyTorch calls these where it says that they have no derivative, and their nodes.
_NODES = {
    "unique": ("_unique2", "Unique2Backward0"), "unique_dim": ("unique_dim", "UniqueDimBackward0"),
    "unique_consecutive": ("unique_consecutive", "UniqueConsecutiveBackward0"),
}


def _check_lines(shape: tuple[int, ...], dim: int) -> None:
    """Refuse slices along ``dim`` that have no elements: RuntimeError."""
    if shape.count(0) > 1:
        raise RuntimeError("Number of zero sized dimensions is more than one, so unique cannot be applied")
    if 0 in shape and shape[dim]:
        raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be "
                           "applied")


def _distinct(input: Tensor, dim: int | None, ordered: bool, return_inverse: bool,
              return_counts: bool):
    if dim is not None:
        what = "unique_dim" if ordered else "unique_consecutive"
        dim = expect_int(what, "dim", dim, 2 if ordered else 0)
    if input._aval.dtype.is_complex:
        kernel = "unique" if dim is None else "unique_dim"
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{input._aval.dtype.scalar_name}'")
    if dim is not None:
        dim = wrap_dim(dim, input.dim(), wrap_scalar=False)
        none = [d for d, n in enumerate(input._aval.shape) if n == 0]
        if dim in none and len(none) > 1:
            raise RuntimeError(
                "Number of zero sized dimensions is more than one, so unique cannot be applied ")
        if none and dim not in none:
            raise RuntimeError(
                "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    if dim is not None:
        _check_lines(input._aval.shape, dim)
    what, node = _NODES["unique_consecutive" if not ordered else "unique" if dim is None else "unique_dim"]
    refuse_batched(DYNAMIC.format(what), input)
    first, inverse, counts = _grouped(input, dim, ordered)
    where = input._aval.device
    if dim is None:
        values = apply(OPS["take_unique"], (input, put(first, where)))
        inverse = inverse.reshape(input._aval.shape)
    else:
        values = input.detach().index_select(dim, put(first, where))
        shape = values._aval.shape
        if shape[dim]:  # the kernel has the slices one after the other
            slices = moved_strides((shape[dim], *shape[:dim], *shape[dim + 1:]), 0, dim)
            values._stride = unless_contiguous(slices, shape)
    results = [without_derivative(values, what, input, node=named(node))]
    if return_inverse:
        results.append(put(inverse.astype(np.int64), where))
    if return_counts:
        results.append(put(counts.astype(np.int64), where))
    return results[0] if len(results) == 1 else tuple(results)


@composite()
def unique(input: Tensor, sorted: bool = True, return_inverse: bool = False,
           return_counts: bool = False, dim: Any = None):
    """The distinct elements in order, or the distinct slices along ``dim``; reads the data.

    Args:
        input: a tensor of any shape, not complex.
        sorted: accepted; the result is in ascending order in any case.
        return_inverse: whether to return also the place of each element in the result.
        return_counts: whether to return also how often each distinct element occurs.
        dim: compare the slices along this dimension, not the elements (default: None, the elements).

    Returns:
        The distinct elements, a new 1-D tensor of the dtype of ``input``, or with ``dim`` the distinct
        slices. With ``return_inverse`` or ``return_counts`` a tuple: the elements, then each one's group
        (``return_inverse``, int64, of the shape of ``input``, or one number a slice) and the groups' sizes
        (``return_counts``, int64, 1-D).

    Raises:
        NotImplementedError: for complex numbers.
        IndexError: for a dimension that is not there.

    Example:
        >>> torch.tensor([3, 1, 3]).unique(return_inverse=True, return_counts=True)
        (tensor([1, 3]), tensor([1, 0, 1]), tensor([1, 2]))
        >>> torch.tensor([[1, 2], [0, 5], [1, 2]]).unique(dim=0)
        tensor([[0, 5],
                [1, 2]])
    """
    return _distinct(input, dim, True, return_inverse, return_counts)


@composite()
def unique_consecutive(input: Tensor, return_inverse: bool = False, return_counts: bool = False,
                       dim: Any = None):
    """The elements without those that equal the one before; reads the data."""
    return _distinct(input, dim, False, return_inverse, return_counts)


# ----------------------------------------------------------------------------------------- counting


@composite()
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each non-negative integer occurs, or the sum of its weights; reads the data.

    ``out[i] = sum(weights[j] for all j with input[j] == i)``, where the weights are 1 if none are given.

    Args:
        input: one dimension, of an integer dtype; none is negative.
        weights: as many numbers as ``input`` has, of any dtype.
        minlength: the least length of the result; the elements of numbers that do not occur are 0.

    Returns:
        One dimension of length ``max(input.max() + 1, minlength)``: int64 without ``weights``, float32 for
        float32 weights, and float64 for others.

    Raises:
        RuntimeError: for negative numbers, more or fewer dimensions than one, weights of another shape, and
            a negative ``minlength``.
        NotImplementedError: for floating point numbers, complex ones and bools.

    Example:
        >>> torch.bincount(torch.tensor([1, 1, 3]))
        tensor([0, 2, 0, 1])
        >>> torch.bincount(torch.tensor([0, 1, 1]), weights=torch.tensor([1.0, 2.0, 3.0]), minlength=4)
        tensor([1., 5., 0., 0.])
    """
    aval = input._aval
    if aval.dtype.category != dtypes.INTEGER:
        raise NotImplementedError(f"\"bincount_cpu\" not implemented for '{aval.dtype.scalar_name}'")
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if aval.ndim == 1 and aval.numel == 0:
        return filled((minlength,), 0, dtypes.int64, aval.device)
    if is_batched(input, weights):
        return per_example(lambda input, weights: bincount(input, weights, minlength), input, weights)
    numbers = host(input)
    if aval.ndim != 1 or numbers.min() < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is not None and weights._aval.shape != aval.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    length = max(int(numbers.max()) + 1, minlength)
    if weights is None:
        return apply(OPS["bincount"], (input, None), (length,))
    amounts = weights.detach()
    if amounts.is_complex():
        amounts = amounts.to(dtypes.float64)  # which warns
    counts = apply(OPS["bincount"], (input, amounts), (length,))
    return without_derivative(counts, "aten::bincount", weights)


@composite("function")
def searchsorted(sorted_sequence: Tensor, input: Any, *, out_int32: bool = False,
                 right: bool = False, side: str | None = None, out: Tensor | None = None,
                 sorter: Tensor | None = None) -> Tensor:
    """Where each value would go in the sorted last dimension: before (``right``: after) its equals.

    For the index ``i`` of a value ``v``: ``sorted[i - 1] < v <= sorted[i]``, with ``right``
    ``sorted[i - 1] <= v < sorted[i]``.

    Args:
        sorted_sequence: ``(*, n)``, in increasing order along the last dimension; floating point or
            integers.
        input: the values: a number for a sequence of one dimension, or a tensor, of any shape for such a
            sequence, else ``(*, m)`` with the same dimensions before the last.
        out_int32: give int32 instead of int64.
        right: whether a value goes after its equals.
        side: ``"left"`` or ``"right"``, the same in words; not to contradict ``right``.
        out: where to put the result.
        sorter: int64, of the shape of ``sorted_sequence``: the indices that sort it (`argsort`), if it is
            not sorted itself.

    Returns:
        Indices from 0 to ``n``, of the shape of ``input``, in int64 or int32.

    Raises:
        RuntimeError: for shapes or dtypes that do not go together, and a wrong ``side``.
        TypeError: when ``sorted_sequence`` is no tensor, or ``input`` neither a tensor nor a number.

    Example:
        >>> row = torch.tensor([1, 3, 5, 7])
        >>> torch.searchsorted(row, torch.tensor([[0, 3], [6, 9]]))
        tensor([[0, 1],
                [3, 4]])
        >>> torch.searchsorted(row, 3, right=True)
        tensor(2)
    """
    static = (bool(out_int32), bool(right), side)
    if not isinstance(sorted_sequence, Tensor) or not isinstance(input, (Tensor, *_NUMBERS)):
        raise invalid_combination("searchsorted", (sorted_sequence, input), {})
    operands = (sorted_sequence, _number(input, sorted_sequence), sorter)
    run = functools.partial(guarded, apply)
    return given_out("searchsorted", out, computed(OPS["searchsorted"], out, run, operands, static))


@composite("function")
def bucketize(input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False,
              out: Tensor | None = None) -> Tensor:
    """The bucket of each value between sorted ``boundaries``; of a number there is no form with ``out``.

    The bucket ``i`` of a value ``v``: ``boundaries[i - 1] < v <= boundaries[i]``, with ``right``
    ``boundaries[i - 1] <= v < boundaries[i]``.

    Args:
        input: a tensor of any shape, or a number; floating point or integers.
        boundaries: one dimension, in increasing order.
        out_int32: give int32 instead of int64.
        right: whether a value that equals a boundary belongs to the bucket above it.
        out: where to put the result.

    Returns:
        Numbers from 0 to ``len(boundaries)``, of the shape of ``input``, in int64 or int32.

    Raises:
        RuntimeError: when ``boundaries`` has not one dimension.
        TypeError: when ``boundaries`` is no tensor, or ``input`` neither a tensor nor a number.

    Example:
        >>> boundaries = torch.tensor([1, 3, 5])
        >>> torch.bucketize(torch.tensor([[0, 3], [4, 9]]), boundaries)
        tensor([[0, 1],
                [2, 3]])
        >>> torch.bucketize(3, boundaries, right=True)
        tensor(2)
    """
    if not isinstance(boundaries, Tensor) or (
            not isinstance(input, Tensor) and (out is not None or not isinstance(input, _NUMBERS))):
        if out is not None and out_int32 and right:  # so many arguments fit one form only
            expect_tensor("bucketize", "input", input, 1)
        raise invalid_combination("bucketize", (input, boundaries), {} if out is None else {"out": out})
    result = apply(OPS["bucketize"], (_number(input, boundaries), boundaries),
                   (bool(out_int32), bool(right)))
    return given_out("bucketize", out, result)


_NUMBERS = (bool, int, float, complex, np.generic)


def _number(x: Any, like: Tensor) -> Tensor:
    """A Python number as a 0-d tensor of double precision, as it is; tensors as they are."""
    if isinstance(x, Tensor):
        return x
    dtype = dtype_of_number(x)
    wide = dtypes.complex128 if dtype.is_complex else dtypes.float64
    return filled((), x, wide if dtype.category >= dtypes.FLOATING else dtype, like._aval.device)


@composite("function")
def isin(elements: Any = None, test_elements: Any = None, *, assume_unique: bool = False,
         invert: bool = False, out: Tensor | None = None, element: Any = None,
         test_element: Any = None) -> Tensor:
    """Which elements occur in ``test_elements``; bool. One of the two may be a number, an ``element``.

    Args:
        elements: what is looked for: a tensor of any shape, or a number.
        test_elements: among what: a tensor of any shape, or a number.
        assume_unique: accepted for arguments without repeated elements; the result is the same.
        invert: give which elements do not occur.
        out: where to put the result.
        element: another name of ``elements`` that are a number.
        test_element: another name of ``test_elements`` that are a number.

    Returns:
        A bool tensor of the shape of ``elements``.

    Raises:
        TypeError: for two numbers, and for what is neither a tensor nor a number.
        RuntimeError: for bools and complex numbers.

    Example:
        >>> torch.isin(torch.tensor([[1, 2], [3, 4]]), torch.tensor([2, 3, 7]))
        tensor([[False,  True],
                [ True, False]])
        >>> torch.isin(torch.tensor([1, 2, 3]), 2, invert=True)
        tensor([ True, False,  True])
    """
    elements = element if elements is None else elements
    test_elements = test_element if test_elements is None else test_elements
    operands = elements, test_elements
    if not all(isinstance(x, (Tensor, *_NUMBERS)) for x in operands) or (
            not any(isinstance(x, Tensor) for x in operands)):
        raise invalid_combination("isin", operands, {} if out is None else {"out": out})
    for x in (elements, test_elements):
        if isinstance(x, (bool, complex)):
            raise RuntimeError("Unsupported input type encountered for isin(): "
                               f"{'Bool' if isinstance(x, bool) else 'ComplexDouble'}")
    if not isinstance(elements, Tensor):
        elements = _number(elements, test_elements)
    test_elements = _number(test_elements, elements)
    result = apply(OPS["isin"], (elements, test_elements), (bool(assume_unique), bool(invert)))
    return given_out("isin", out, result)

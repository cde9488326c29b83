"""Selecting by masks, writing by `scatter`, repeating: results whose size or form depends on arguments.

Functions whose result's size depends on the data read it, which is a sync point.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxflow._api.creation.host_arrays import put
from jaxflow._api.forms import expect_tensor, given_out, invalid_combination, refuse_recorded_into
from jaxflow._api.per_example import is_batched, per_example
from jaxflow._api.tensor.core import host
from jaxflow._core import dtype as dtypes
from jaxflow._core import geometry
from jaxflow._core.aval import aval_of
from jaxflow._core.device import CPU
from jaxflow._core.geometry import wrap_dim
from jaxflow._core.memory_errors import check_sizes
from jaxflow._core.numbers import check_fits
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._dispatch.viewing import apply_joint_view
from jaxflow._plans.op import EXACT, OPS, Op, Out, uncastable
from jaxflow._publish.bind import freeze
from jaxflow._publish.composite import composite
from jaxflow._publish.value_checks import Watch, check_call, run_under
from jaxflow._transforms.batching import DYNAMIC, refuse_batched
from jaxflow._writes.inplace import apply_inplace, check_recorded
from jaxflow._writes.parts import settle


@composite()
def masked_select(input: Tensor, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements where ``mask`` holds, as a vector; the two are broadcast.

    Its length depends on the elements of ``mask``, which are waited for.

    Args:
        input: a tensor of any dtype.
        mask: a bool tensor whose shape broadcasts with that of ``input``.
        out: a tensor of the dtype of ``input`` that is resized and written into.

    Returns:
        A new tensor of one dimension, with the elements row by row, through which gradients flow to
        ``input``.

    Raises:
        RuntimeError: for a mask that is not bool, or shapes that do not broadcast.

    Example:
        >>> t = torch.tensor([[1, 2, 3], [4, 5, 6]])
        >>> t.masked_select(t > 2)
        tensor([3, 4, 5, 6])
        >>> t.masked_select(torch.tensor([True, False, True]))
        tensor([1, 3, 4, 6])
    """
    refuse_recorded_into(out, "masked_select", input)
    if mask._aval.dtype is not dtypes.bool:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    refuse_batched("vmap: Attempted to vmap over `mask` in torch.masked_select(self, mask) We cannot support "
                   "this because for each batch this would return a differently shaped Tensor.", mask)
    shape = geometry.broadcast_shapes(mask._aval.shape, input._aval.shape)
    found = np.flatnonzero(np.broadcast_to(host(mask), shape))
    result = apply(OPS["take_positions"], (input, put(found, input._aval.device), mask), (shape,))
    return given_out("masked_select", out, result, (input, mask), OPS["take_positions"])


_NO_RULE = "Batching rule not implemented for aten::nonzero_numpy. We could not generate a fallback."


@composite()
def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: bool = False):
    """The indices of all nonzero elements: one row each, or one vector for each dimension.

    How many there are depends on the elements of ``input``, which are waited for.

    Args:
        input: a tensor of any shape and dtype.
        out: an int64 tensor that is resized and written into.
        as_tuple: True for vectors, which can be used as an index: ``input[input.nonzero(as_tuple=True)]``.

    Returns:
        An int64 tensor of shape ``(count, input.dim())``, row by row in the order of ``input``; with
        ``as_tuple`` a tuple of ``input.dim()`` tensors of shape ``(count,)`` (of one for a 0-d tensor).

    Raises:
        TypeError: for an ``out`` that is no tensor.
        RuntimeError: for an ``out`` of another dtype than int64, and beside ``as_tuple``.

    Example:
        >>> t = torch.tensor([[0, 5], [7, 0]])
        >>> t.nonzero()
        tensor([[0, 1],
                [1, 0]])
        >>> t.nonzero(as_tuple=True)
        (tensor([0, 1]), tensor([1, 0]))
    """
    if out is not None and not isinstance(out, Tensor):
        raise TypeError(f"nonzero(): argument 'out' must be Tensor, not {type(out).__name__}")
    if out is not None and as_tuple:
        raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
    refuse_batched(_NO_RULE if as_tuple else DYNAMIC.format("nonzero"), input)
    array = host(input)
    where = input._aval.device
    if as_tuple:
        array = np.atleast_1d(array)
    if array.ndim == 0:
        rows = np.zeros((int(bool(array)), 0), np.int64)
    else:
        rows = np.argwhere(array).astype(np.int64)
    t = put(rows, where)
    # Column by column in memory, as PyTorch lays them out, also where it resizes an ``out``.
    t._stride = (1, rows.shape[0])
    if as_tuple:
        return apply_joint_view([("select", (1, i)) for i in range(array.ndim)], t, "UnbindBackward0")
    rule = Out("nonzero: Expected out tensor to have scalar type Long but got scalar type{out}")
    return given_out("nonzero", out, t, rule=rule)


@composite()
def argwhere(input: Tensor) -> Tensor:
    """The indices of all nonzero elements, one row each."""
    if input._aval.numel:
        return per_example(nonzero, input) if is_batched(input) else nonzero(input)
    none = put(np.zeros((0, input._aval.ndim), np.int64), input._aval.device)  # also under vmap
    none._stride = (1, 0)
    return none


@composite("function")
def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """The coordinates, one int64 tensor for each dimension of ``shape``, of positions in a flattened tensor.

    Raises:
        TypeError: when ``indices`` holds no integers, or ``shape`` is none.
        ValueError: when an extent is negative.
    """
    if indices._aval.dtype.category != dtypes.INTEGER:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices._aval.dtype}")
    if isinstance(shape, int):
        shape = (shape,)
    elif not isinstance(shape, Sequence):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    for n in shape:
        if not isinstance(n, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(n)}")
    if any(n < 0 for n in shape):
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(shape)}")
    if not shape:
        return ()
    at, where = indices.to(dtypes.int64).unsqueeze(-1), indices._aval.device
    steps, extents = (put(np.array(numbers, np.int64), where)
                      for numbers in (geometry.contiguous_strides(tuple(shape)), shape))
    return at.div(steps, rounding_mode="floor").remainder(extents).unbind(-1)


# ------------------------------------------------------------------------------------------ scatter


def _scatter(run, input: Tensor, dim: int, index: Tensor, src: Any, reduce: str | None) -> Tensor:
    kind = "src" if isinstance(src, Tensor) and (src._aval.ndim or reduce is not None or (
        index._aval.ndim == 0)) else "value"
    if isinstance(src, Tensor) and kind == "value" and src._aval.ndim == 0:
        src = src.to(input._aval.dtype)
    args = (input, index, src)
    if reduce is None:
        op = OPS["scatter_" + kind]
        return _in_range(run, op, args, (freeze(dim),))
    if reduce not in ("add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    if kind == "src":
        warnings.warn(
            "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in "
            "a future PyTorch release. Use torch.scatter_reduce instead for more reduction options.",
            stacklevel=3,
        )
    return _in_range(run, OPS["scatter_reduce_" + kind], args, (freeze(dim), reduce))


def _in_range(run, op: Op, args: tuple, static: tuple) -> Tensor:
    input, index, src = args
    if run is apply_inplace:
        check_recorded(args)
        settle(args)
    watch = Watch()
    try:
        OPS["scatter_add"].guard(watch, args, static)
        if not isinstance(src, Tensor) and index._aval.numel:
            check_fits(src, input._aval.dtype)
    except Exception:
        check_call(run is apply_inplace, op, args, static)
        raise
    return run_under(watch, run, op, args, static)


def _source(name: str, args: tuple, kwargs: dict) -> Any:
    """The third argument of scatter: ``src`` or ``value``."""
    if args:
        return args[0]
    for key in ("src", "value"):
        if key in kwargs:
            return kwargs[key]
    raise TypeError(f"{name}() needs src or value")


@composite()
def scatter(input: Tensor, dim: int, index: Tensor, *args: Any, reduce: str | None = None,
            out: Tensor | None = None, **kwargs: Any) -> Tensor:
    """``input`` with ``src`` (a tensor) or ``value`` written where ``index`` points along ``dim``.

    Of two dimensions, with ``dim=0``: ``out[index[i, j], j] = src[i, j]``; with ``dim=1``:
    ``out[i, index[i, j]] = src[i, j]``. Where an index comes twice, it is not said which one is written.

    Args:
        input: a tensor of any dtype.
        dim: the dimension that ``index`` points along; negative counts from the last.
        index: an int64 or int32 tensor with as many dimensions as ``input`` and at most its extents, but
            for ``dim``; its elements are from 0 to ``input.size(dim) - 1``.
        args: ``src`` or ``value``, which may be given by name: a tensor of the dtype of ``input`` and at
            least the extents of ``index``, or a number.
        reduce: ``"add"`` or ``"multiply"`` to add to what is there, or multiply it, instead of replacing
            it. With a tensor ``src`` there is a warning: use ``scatter_add`` or ``scatter_reduce``.
        out: a tensor that the result is written into.
        kwargs: ``src`` or ``value``.

    Returns:
        A new tensor of the shape and dtype of ``input``. Gradients flow to ``input`` and ``src``; with
        ``reduce`` there is no derivative.

    Raises:
        RuntimeError: for an index that is out of range, another dtype of ``index`` or ``src``, shapes that
            do not fit, or another ``reduce``.
        TypeError: without ``src`` and ``value``.

    Example:
        >>> index = torch.tensor([[2], [0]])
        >>> torch.zeros(2, 3).scatter(1, index, torch.tensor([[4.0], [5.0]]))
        tensor([[0., 0., 4.],
                [5., 0., 0.]])
        >>> torch.ones(2).scatter(0, torch.tensor([0, 0]), 3, reduce="add")
        tensor([7., 1.])
    """
    src = _source("scatter", args, kwargs)
    if reduce is None:
        refuse_recorded_into(out, "scatter", input, src)
    result = _scatter(apply, input, dim, index, src, reduce)
    op = OPS["scatter_src" if reduce is None else "scatter_reduce_src"]
    return given_out("scatter", out, result, (input, index, src), op)


@composite("method")
def scatter_(self: Tensor, dim: int, index: Tensor, *args: Any, reduce: str | None = None,
             **kwargs: Any) -> Tensor:
    """`scatter` written into ``self``.

    Of two dimensions, with ``dim=0``: ``self[index[i, j], j] = src[i, j]``; with ``dim=1``:
    ``self[i, index[i, j]] = src[i, j]``. Where an index comes twice, it is not said which one is written.

    Args:
        dim: the dimension that ``index`` points along; negative counts from the last.
        index: an int64 or int32 tensor with as many dimensions as ``self`` and at most its extents, but for
            ``dim``; its elements are from 0 to ``self.size(dim) - 1``.
        args: ``src`` or ``value``, which may be given by name: a tensor of the dtype of ``self`` and at
            least the extents of ``index``, or a number.
        reduce: ``"add"`` or ``"multiply"`` to add to what is there, or multiply it, instead of replacing
            it. With a tensor ``src`` there is a warning: use ``scatter_add_`` or ``scatter_reduce_``.
        kwargs: ``src`` or ``value``.

    Returns:
        ``self``.

    Raises:
        RuntimeError: for an index that is out of range, another dtype of ``index`` or ``src``, shapes that
            do not fit, another ``reduce``, and when ``self`` is a leaf that requires grad.
        TypeError: without ``src`` and ``value``.

    Example:
        >>> labels = torch.tensor([2, 0])
        >>> torch.zeros(2, 3).scatter_(1, labels.unsqueeze(1), 1)
        tensor([[0., 0., 1.],
                [1., 0., 0.]])
    """
    return _scatter(apply_inplace, self, dim, index, _source("scatter_", args, kwargs), reduce)


# ------------------------------------------------------------------------------------------- repeat


@composite("method", name="_repeat_interleave", method_name="repeat_interleave")
def _repeat_interleave(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """`repeat_interleave` of this tensor.

    Args:
        args: ``repeats``, a number or a tensor of counts, then ``dim``.
        kwargs: ``repeats``, ``dim`` and ``output_size`` by name.

    Returns:
        A new tensor of the dtype of ``self``: of one dimension without ``dim``.

    Raises:
        TypeError: without ``repeats``.
        RuntimeError: for a negative count, or as many counts as neither 1 nor the extent.

    Example:
        >>> torch.tensor([1, 2]).repeat_interleave(2)
        tensor([1, 1, 2, 2])
        >>> torch.tensor([[1, 2], [3, 4]]).repeat_interleave(torch.tensor([1, 2]), dim=0)
        tensor([[1, 2],
                [3, 4],
                [3, 4]])
    """
    if not args and "repeats" not in kwargs:
        raise invalid_combination("repeat_interleave", (), kwargs)
    return repeat_interleave(self, *args, **kwargs)


@composite("function")
def repeat_interleave(input: Tensor | None = None, repeats: Any = None, dim: int | None = None, *,
                      output_size: int | None = None, axis: int | None = None) -> Tensor:
    """Each element (or slice along ``dim``) repeated ``repeats`` times in a row.

    With a tensor of counts the data is read; a lone tensor of counts gives each position that often.

    Args:
        input: a tensor of any dtype; or the tensor of counts, given alone.
        repeats: how often each is repeated: a number for all, or an int64 or int32 tensor with one count
            for each, or a single one.
        dim: the dimension along which slices are repeated; negative counts from the last. None for the
            elements of ``input``, row by row.
        output_size: the extent of the result along ``dim``, if known. It is checked.
        axis: another name of ``dim``.

    Returns:
        A new tensor of the dtype of ``input``, through which gradients flow: of one dimension without
        ``dim``.

    Raises:
        RuntimeError: for a negative count, as many counts as neither 1 nor the extent, or an
            ``output_size`` that is not the extent.
        NotImplementedError: for counts of another dtype.
        IndexError: for a dimension that is not there.

    Example:
        >>> t = torch.tensor([[1, 2], [3, 4]])
        >>> torch.repeat_interleave(t, 2, dim=1)
        tensor([[1, 1, 2, 2],
                [3, 3, 4, 4]])
        >>> torch.repeat_interleave(t, torch.tensor([2, 1]), dim=0)
        tensor([[1, 2],
                [1, 2],
                [3, 4]])
        >>> torch.repeat_interleave(torch.tensor([1, 0, 2]))
        tensor([0, 2, 2])
    """
    dim = axis if dim is None else dim
    if input is None:
        input, repeats = repeats, None
    if not isinstance(input, Tensor):
        expect_tensor("repeat_interleave", "repeats" if repeats is None else "input", input)
    if repeats is None:
        if dim is not None:
            raise invalid_combination("repeat_interleave", (input,), {"dim": dim})
        return _positions(input, None, output_size)
    if not isinstance(repeats, Tensor):
        found = apply(OPS["repeat_interleave_int"], (input,), (int(repeats), freeze(dim)))
        at = 0 if dim is None else wrap_dim(dim, max(input._aval.ndim, 1))
        if dim is not None and not input._aval.ndim:
            raise IndexError("Dimension out of range (expected to be in range of [-1, 0], but got 1)")
        shape = found._aval.shape
        count = shape[at] * shape[at + 1]
        if output_size is not None and output_size != count:
            raise RuntimeError(
                f"repeat_interleave: Invalid output_size, expected {count} but got {output_size}")
        return found.view((*shape[:at], count, *shape[at + 2 :]))
    if dim is None:
        input, dim = input.flatten(), 0
    if repeats._aval.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if not input._aval.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    size = input._aval.shape[wrap_dim(dim, input._aval.ndim)]
    count = repeats._aval.numel
    if count not in (1, size):
        raise RuntimeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{count} and input.size({dim}) = {size}"
        )
    return input.index_select(dim, _positions(repeats, size, output_size))


def _positions(repeats: Tensor, size: int | None, output_size: int | None) -> Tensor:
    """Each of ``size`` positions as often as ``repeats`` says of it, or of all of them.

    Without ``size`` there are as many positions as ``repeats`` has counts, and it has to be a vector.
    """
    def of_one(repeats):
        counts = _counts(repeats, size)
        found = _repeated(counts, output_size).astype(repeats._aval.dtype.np, copy=False)
        return put(found, repeats._aval.device)

    return per_example(of_one, repeats)


def _counts(repeats: Tensor, size: int | None) -> np.ndarray:
    if repeats._aval.dtype not in (dtypes.int64, dtypes.int32):
        raise NotImplementedError(
            f"\"repeat_interleave_cpu\" not implemented for '{repeats._aval.dtype.scalar_name}'"
        )
    if size is None and repeats._aval.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    counts = host(repeats)
    return counts if counts.size != 1 or size is None else np.broadcast_to(counts.reshape(-1), (size,))


def _repeated(counts: np.ndarray, output_size: int | None) -> np.ndarray:
    """Each position as often as its count says, ``output_size`` in all. Raises what `check_sizes` does.

    PyTorch allocates the result before it looks at the counts where the caller says how large it is, and
    looks at neither where there are no counts.
    """
    if not counts.size:
        return np.arange(0)
    total = int(counts.sum(dtype=np.float64))
    negative = bool((counts < 0).any())
    if output_size is None and negative:
        raise RuntimeError("repeats can not be negative")
    if output_size is not None and output_size < 0:
        raise RuntimeError(
            f"Trying to create tensor with negative dimension {output_size}: [{output_size}]")
    size = total if output_size is None else output_size
    check_sizes("repeat_interleave", [aval_of((size,), dtypes.int64, CPU)])
    if output_size not in (None, total):
        raise RuntimeError("allocated size does not match required size")
    if negative:
        raise RuntimeError("repeats can not be negative")
    return np.repeat(np.arange(counts.size), counts)


# --------------------------------------------------------------------------------- one-hot, diagonals


@composite("function", namespace="nn.functional")
def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """A last dimension of zeros with a one at each class index; int64.

    Without ``num_classes`` the largest index decides, which reads the data.

    Args:
        tensor: class indices, an int64 tensor of any shape ``(*)``.
        num_classes: how many classes there are; -1 for one more than the largest index.

    Returns:
        An int64 tensor of shape ``(*, num_classes)``.

    Raises:
        RuntimeError: for indices that are not int64, negative, or too large, and for no indices without
            ``num_classes``.

    Example:
        >>> F.one_hot(torch.tensor([0, 2]))
        tensor([[1, 0, 0],
                [0, 0, 1]])
        >>> F.one_hot(torch.tensor([[0, 1]]), num_classes=4).shape
        torch.Size([1, 2, 4])
    """
    if isinstance(num_classes, (bool, float)):
        raise TypeError(
            f"one_hot(): argument 'num_classes' (position 2) must be int, not {type(num_classes).__name__}")
    if tensor._aval.dtype is not dtypes.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if tensor._aval.numel == 0:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return apply(OPS["one_hot"], (tensor,), (num_classes,))
    watch, most = Watch(), np.iinfo(np.int64).max
    if num_classes == -1:
        refuse_batched("When vmap-ing torch.nn.functional.one_hot, please provide an explicit positive "
                       "num_classes argument.", tensor)
    largest = int(host(tensor).max()) if num_classes == -1 else None
    watch.within((tensor,), ((0, most),), lambda *_: RuntimeError(
        "Class values must be non-negative."))
    if largest is not None:
        num_classes = largest + 1
    watch.within((tensor,), ((-most - 1, num_classes - 1),), lambda *_: RuntimeError(
        "Class values must be smaller than num_classes."))
    return watch.over(apply(OPS["one_hot"], (tensor,), (num_classes,)))


_DIAG_OUT = Out("diag: result type {result} can't be cast to the desired out= type {out}",
                refuses=uncastable)


@composite()
def diag(input: Tensor, diagonal: int = 0, *, out: Tensor | None = None) -> Tensor:
    """A vector as the diagonal of a new matrix; of a matrix, its diagonal, copied.

    Args:
        input: a tensor of one or two dimensions, of any dtype.
        diagonal: which diagonal: 0 for the main one, positive for those above it, negative for those below.
        out: a tensor that the result is written into.

    Returns:
        A new tensor: of a vector of ``n`` elements a matrix with ``n + abs(diagonal)`` rows and columns; of
        a matrix a vector.

    Raises:
        RuntimeError: for another number of dimensions.

    Example:
        >>> torch.diag(torch.tensor([1, 2]), 1)
        tensor([[0, 1, 0],
                [0, 0, 2],
                [0, 0, 0]])
        >>> torch.diag(torch.tensor([[1, 2], [3, 4]]))
        tensor([1, 4])
    """
    ndim = input._aval.ndim
    if ndim == 1:
        name, before, result = "diag_embed", _DIAG_OUT, apply(OPS["diag_embed"], (input,), (diagonal, -2, -1))
    elif ndim == 2:
        name, before, result = "diagonal_copy", None, apply(OPS["diag_of"], (input,), (diagonal,))
    else:
        of = "" if out is not None else "diag(): "
        raise RuntimeError(f"{of}Supports 1D or 2D tensors. Got {ndim}D")
    return given_out(name, out, result, (input,), OPS["diag_of"], Out(EXACT.text, lost=True, before=before))

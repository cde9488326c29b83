"""Table look-ups: embeddings, and bags of them."""

from __future__ import annotations

import warnings

from jaxflow._api.creation.creation import arange
from jaxflow._core import dtype as dtypes
from jaxflow._core.layouts import handler
from jaxflow._core.modes import Changed
from jaxflow._core.promotion import promote_types
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply, share
from jaxflow._dispatch.held_operands import hold_also
from jaxflow._ops.gather import select_error
from jaxflow._ops.lookup import _embedding_renorm
from jaxflow._plans.op import OPS
from jaxflow._publish.composite import composite
from jaxflow._publish.value_checks import Watch, run_under
from jaxflow._writes.inplace import apply_inplace


def _row(padding_idx: int | None, rows: int) -> int | None:
    """``padding_idx`` counted from the start. Raises AssertionError when it is no row."""
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise AssertionError("Padding_idx must be within num_embeddings")
    return padding_idx % rows


def _renorm(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> None:
    """Scale down, in the table, the rows that are looked up."""
    Changed(state, grad=False).run(
        apply_inplace, _embedding_renorm, (weight, indices.detach(), float(max_norm)), (float(norm_type),)
    )


@composite("function", namespace="nn.functional")
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The rows of a table that integers name: ``(*input.shape, size of a row)``.

    ``out[...] = weight[input[...]]``

    Args:
        input: int32 or int64, of any shape.
        weight: ``(rows, size)``.
        padding_idx: a row that gets no gradient.
        max_norm: rows looked up are first scaled down, in ``weight``, to at most this norm.
        norm_type: which norm that is.
        scale_grad_by_freq: divide the gradient of a row by how often it was looked up.
        sparse: give the table a sparse gradient, of the rows that were looked up.

    Returns:
        A tensor of the dtype of ``weight``, not a view of it.

    Raises:
        AssertionError: when ``padding_idx`` is no row.
        IndexError: when an integer is no row.
        RuntimeError: for other dtypes, or a table that is not two-dimensional.

    Example:
        >>> table = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        >>> F.embedding(torch.tensor([2, 0, 2]), table)
        tensor([[5., 6.],
                [1., 2.],
                [5., 6.]])
        >>> F.embedding(torch.zeros(4, 7, dtype=torch.int64), table).shape
        torch.Size([4, 7, 2])
    """
    if padding_idx is not None:
        _row(padding_idx, weight.size(0))
    if weight.dim() != 2:
        raise RuntimeError("'weight' must be 2-D")
    kind, text = select_error(0, weight._aval.shape)
    found = _rows(input, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, kind, text, Watch(),
                  sparse)
    if weight._aval.dtype.is_complex and weight._requires_grad and state.grad:
        found._value_array()  # what is no row is said first
        raise RuntimeError(
            "embedding does not support automatic differentiation for outputs with complex dtype.")
    return found


def _rows(input: Tensor, weight: Tensor, padding_idx: int | None, max_norm: float | None, norm_type: float,
          scale_grad_by_freq: bool, kind: type[Exception], text: str, watch: Watch,
          sparse: bool = False) -> Tensor:
    """`embedding`, where ``kind`` of ``text`` refuses what is no row; ``watch`` may hold further checks."""
    rows = weight._aval.shape[0]
    padding_idx = _row(padding_idx, rows)
    if input._aval.dtype.name in ("int64", "int32"):
        if max_norm is not None:
            input._value_array()  # the table is written to: what is pending is computed first
        if input._aval.numel:
            watch.within((input,), ((0, rows - 1),), lambda value, _: kind(
                text.format(index=value, size=rows)))
        if max_norm is not None:
            _renorm(weight, input, max_norm, norm_type)
    if sparse and weight._requires_grad and state.grad:
        found = Changed(state, grad=False).run(
            run_under, watch, apply, OPS["_embedding"], (weight, input), (padding_idx, False))
        return handler("rows_with_gradient")(found, weight, input, padding_idx, bool(scale_grad_by_freq))
    static = (padding_idx, bool(scale_grad_by_freq))
    return run_under(watch, apply, OPS["_embedding"], (weight, input), static)


_NO_ROW = "An index of input takes value {index} which is not in the valid range [0, {size})"
_NO_ROW_OF_LARGEST = (
    "embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be {index}")


@composite("function", namespace="nn.functional")
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Sums, means or maxima of bags of rows of a table: ``(bags, size of a row)``.

    Args:
        input: ``(bags, n)`` integers, or ``(total,)`` with ``offsets``.
        weight: ``(rows, size)``.
        offsets: where each bag starts in ``input``.
        max_norm: rows looked up are first scaled down, in ``weight``, to at most this norm.
        norm_type: which norm that is.
        scale_grad_by_freq: divide the gradient of a row by how often it was looked up.
        mode: ``"sum"``, ``"mean"`` or ``"max"``; an empty bag is zero.
        sparse: give the table a sparse gradient, of the rows that were looked up.
        per_sample_weights: factors for the rows, with ``mode="sum"``, shaped like ``input``.
        include_last_offset: ``offsets`` also has the end of the last bag.
        padding_idx: a row left out of every bag.

    Raises:
        ValueError: for an unknown mode, or offsets that do not go with the input.
        NotImplementedError: for factors with another mode.
        IndexError: when an integer is no row.
    """
    if weight._aval.dtype is dtypes.int64 and input._aval.dtype.is_floating_point:
        warnings.warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, "
            "...)` is deprecated, and should now be `embedding_bag(input, weight, ...)`.", stacklevel=2,
        )
        input, weight = weight, input
    _check_bags(input, weight, offsets, mode, per_sample_weights, scale_grad_by_freq, sparse)
    watch = Watch()
    if input.dim() == 2:
        bags, length = input.shape
        if bags and not length:
            raise RuntimeError("step must be nonzero")
        if input._aval.dtype is dtypes.bool:
            raise NotImplementedError("\"arange_cpu\" not implemented for 'Bool'")
        bag = arange(bags, device=input.device).unsqueeze(1).expand(bags, length).reshape(-1)
    else:
        kind = promote_types(input._aval.dtype, offsets._aval.dtype)
        input, offsets = (t if t._aval.dtype is kind else t.to(kind) for t in (input, offsets))
        starts = offsets[:-1] if include_last_offset else offsets
        bags = starts.shape[0]
        position = arange(input.shape[0], device=input.device).unsqueeze(1)
        # An element belongs to the last bag that starts at or before it.
        bag = (position >= starts).sum(1) - 1
    _check_types(input, weight, per_sample_weights)
    if offsets is not None:
        _check_offsets(watch, input, offsets, include_last_offset)
    if padding_idx is not None and not -weight.shape[0] <= padding_idx < weight.shape[0]:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, {-weight.shape[0]} through "
            f"{weight.shape[0] - 1}, but got {padding_idx}"
        )
    index = input.reshape(-1)
    factors = per_sample_weights is not None and per_sample_weights.requires_grad
    saved = input, offsets, *((weight, per_sample_weights) if factors else ())  # by PyTorch's node
    rows = _rows(input, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, RuntimeError,
                 _NO_ROW_OF_LARGEST if mode == "max" else _NO_ROW, watch, sparse)
    counts_for = None if padding_idx is None else index != _row(padding_idx, weight.shape[0])
    size = weight.shape[1]
    if input.dim() != 1:
        rows = rows.reshape(index.shape[0], size)
    if mode == "max":
        if counts_for is not None:
            rows = rows.masked_fill(~counts_for.unsqueeze(1), float("-inf"))
        return _bagged(_largest(rows, bag, bags), *saved)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape(-1, 1)
    if counts_for is not None:
        rows = rows.masked_fill(~counts_for.unsqueeze(1), 0)  # whatever it holds: it may be nan
    total = rows.new_zeros((bags, size)).index_add(0, bag, rows)
    if mode == "sum":
        return _bagged(total, *saved)
    ones = rows.new_ones((index.shape[0],)) if counts_for is None else counts_for.to(rows.dtype)
    count = rows.new_zeros((bags,)).index_add(0, bag, ones)
    return _bagged(total / count.clamp_min(1).unsqueeze(1), *saved)


def _check_bags(input: Tensor, weight: Tensor, offsets: Tensor | None, mode: str, factors: Tensor | None,
                by_frequency: bool, sparse: bool) -> None:
    """What ``nn.functional.embedding_bag`` refuses before it looks at dtypes."""
    if factors is not None and factors.shape != input.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({factors.shape}) is not None, then it must have the same "
            f"shape as the input ({input.shape})"
        )
    if weight.dim() != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}")
    if input.dim() == 2 and offsets is not None:
        raise ValueError(
            "if input is 2D, then offsets has to be None, as input is treated is a mini-batch "
            f"of fixed length sequences. However, found offsets of type {type(offsets)}"
        )
    if input.dim() == 1:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got None")
        if offsets.dim() != 1:
            raise ValueError("offsets has to be a 1D Tensor")
    if input.dim() not in (1, 2):
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and by_frequency:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if factors is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only "
            f"supported for mode='sum' (got mode='{mode}'). Please open a feature request on "
            "GitHub."
        )


def _check_types(input: Tensor, weight: Tensor, factors: Tensor | None) -> None:
    for name, t, accepted in (("indices", input, ("Long", "Int")),
                              ("weight", weight, ("Half", "BFloat16", "Float", "Double"))):
        if t._aval.dtype.scalar_name not in accepted:
            raise RuntimeError(
                f"Expected tensor for argument #1 '{name}' to have one of the following scalar types: "
                f"{', '.join(accepted)}; but got {_type_name(t)} instead (while checking arguments for "
                "embedding_bag)"
            )
    if factors is not None and factors._aval.dtype is not weight._aval.dtype:
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 "
            f"'per_sample_weights'; but type {_type_name(weight)} does not equal {_type_name(factors)} "
            "(while checking arguments for embedding_bag)"
        )


def _type_name(t: Tensor) -> str:
    return dtypes.type_name(t._aval.dtype)


def _check_offsets(watch: Watch, input: Tensor, offsets: Tensor, include_last: bool) -> None:
    """The first bag starts at the first element, and none beyond the last."""
    if include_last and not offsets.shape[0]:
        raise RuntimeError("include_last_offset: number of offset should be at least 1")
    length = input.shape[0]

    def first_error(value, _=0):
        return RuntimeError("offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start "
                            f"from position 0. However, got {value}")

    def last_error(value, _=0):
        return RuntimeError(f"offsets[-1] can not be greater than input's length {length} but got "
                            f"offsets[-1] of {value}")

    values = watch.known(offsets)
    if values is None:
        watch.within((offsets[:1],), ((0, 0),), first_error)
        watch.within((offsets[-1:],), ((-(2**62), length),), last_error)
    elif len(values) and values[0] != 0:
        raise first_error(values[0])
    elif len(values) and values[-1] > length:
        raise last_error(values[-1])


def _largest(rows: Tensor, bag: Tensor, bags: int) -> Tensor:
    """The largest of each column in each bag, 0 in an empty one; the first of equal ones has the gradient."""
    count, size = rows.shape
    if not count:
        return rows.new_zeros((bags, size))
    numbers = rows.detach()
    where = bag.unsqueeze(1).expand(-1, size)
    best = numbers.new_full((bags, size), float("-inf")).scatter_reduce(0, where, numbers, "amax")
    number = arange(count, device=rows.device).unsqueeze(1)
    number = number.masked_fill(~((numbers == best[bag]) | numbers.isnan()), count - 1)
    first = number.new_full((bags, size), count - 1).scatter_reduce(0, where, number, "amin")
    return rows.gather(0, first).masked_fill(best == float("-inf"), 0)


def _bagged(result: Tensor, *saved: Tensor | None) -> Tensor:
    """The result under PyTorch's node, which saved these."""
    return hold_also(share(OPS["_bagged"], result), *saved)

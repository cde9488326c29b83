"""Making nested tensors of the jagged layout: of lists, of packed rows, of parts of dense rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxflow import _functions as F
from jaxflow._core import dtype as dtypes
from jaxflow._core.layout import jagged as jagged_layout
from jaxflow._core.layout import strided
from jaxflow._core.modes import Changed
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor

from . import strided as of_pieces
from .parts import is_nested, parts_of, view_of
from .ragged import Ragged


def _need_layout(layout: Any, what: str) -> None:
    if layout not in (strided, jagged_layout):
        raise RuntimeError(f"Specified layout is unsupported for {what}: {layout}")


def of_list(tensors: Sequence[Tensor], dtype: Any = None, device: Any = None) -> Tensor:
    """A nested tensor of the jagged layout whose rows are copies of tensors, with their history.

    Raises:
        RuntimeError: for rows of several dtypes, devices or numbers of dimensions, and for rows that differ
            in more than one extent.
    """
    if not tensors:
        raise RuntimeError("Cannot construct a nested tensor from an empty tensor list")
    for what, values in (("dtype", {t.dtype for t in tensors}), ("dim", {t.dim() for t in tensors})):
        if len(values) > 1:
            raise RuntimeError(
                f"When constructing a nested tensor, all tensors in list must have the same {what}")
    if len({str(t.device) for t in tensors}) > 1:
        raise RuntimeError("When constructing a nested tensor, all tensors in list must be on the same "
                           "device")
    if not tensors[0].dim():
        raise RuntimeError("Cannot construct a nested tensor from a list of zero-dim tensors")
    differing = [d for d, extents in enumerate(zip(*(t.shape for t in tensors), strict=True))
                 if len(set(extents)) > 1]
    if len(differing) > 1:
        raise RuntimeError(
            "Cannot represent given tensor list as a nested tensor with the jagged layout. Note that the "
            "jagged layout only allows for a single ragged dimension. For example: (B, *, D_0, D_1, ..., "
            "D_N), with ragged * dim.")
    at = differing[0] if differing else 0
    values = F.cat(list(tensors), at).to(dtype=dtype, device=device)
    ends, lengths = [0], [t.shape[at] for t in tensors]
    for n in lengths:
        ends.append(ends[-1] + n)
    offsets = F.tensor(ends, dtype=dtypes.int64, device=values.device)
    return view_of(values, Ragged(offsets, None, min(lengths), max(lengths)), at + 1)


def nested_tensor(tensor_list: Any, dtype: Any = None, layout: Any = None, device: Any = None,
                  requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """`torch.nested.nested_tensor`."""
    layout = strided if layout is None else layout
    _need_layout(layout, "nested tensors")
    if layout is strided:
        made = of_pieces.of_rows(tensor_list, dtype, device)
    else:
        tensors = [t if isinstance(t, Tensor) else F.as_tensor(t) for t in tensor_list]
        made = Changed(state, grad=False).run(of_list, tensors, dtype, device)
    return made.requires_grad_(requires_grad) if requires_grad else made


def as_nested_tensor(ts: Any, dtype: Any = None, device: Any = None, layout: Any = None) -> Tensor:
    """`torch.nested.as_nested_tensor`."""
    several = isinstance(ts, (list, tuple)) and all(isinstance(t, Tensor) for t in ts)
    if not isinstance(ts, Tensor) and not several:
        raise TypeError(
            "as_nested_tensor(): Expected first argument to be a tensor or a list / tuple of tensors ")
    if isinstance(ts, Tensor):
        if ts.dim() < 2:
            raise RuntimeError("as_nested_tensor(): Expected tensor argument to have dim() > 1")
        if is_nested(ts):
            if layout is not parts_of(ts).layout:
                raise RuntimeError(
                    "as_nested_tensor(): Converting between nested tensor layouts is not supported")
            return ts.to(device=device, dtype=dtype)
    layout = strided if layout is None else layout
    _need_layout(layout, "nested tensors")
    if layout is strided:
        return of_pieces.of_tensors(list(ts), dtype, device)
    if several:
        return of_list(ts, dtype, device)
    count, length = ts.shape[:2]
    values = ts.contiguous().flatten(0, 1).to(device=device, dtype=dtype)
    ends = [i * length for i in range(count + 1)]
    offsets = F.tensor(ends, dtype=dtypes.int64, device=values.device)
    return view_of(values, Ragged(offsets, None, length, length))


def nested_tensor_from_jagged(values: Tensor, offsets: Tensor | None = None, lengths: Tensor | None = None,
                              jagged_dim: int | None = None, min_seqlen: int | None = None,
                              max_seqlen: int | None = None) -> Tensor:
    """`torch.nested.nested_tensor_from_jagged`."""
    if offsets is None:
        if lengths is None:
            raise RuntimeError(
                "nested_tensor_from_jagged(): At least one of offsets or lengths is required.")
        offsets = F.cat([F.zeros(1, dtype=dtypes.int64, device=lengths.device), lengths.cumsum(0)])
        lengths = None
    dim = 1 if jagged_dim is None else jagged_dim
    if dim < 1:
        raise ValueError(f"Expected jagged_dim >=1, but got {dim}.")
    if offsets.dim() != 1:
        raise AssertionError(f"offsets must be 1D, but got {offsets.dim()}D")
    if values.device != offsets.device:
        raise AssertionError("values and offsets must be on the same device, but got "
                             f"values.device={values.device} and offsets.device={offsets.device}")
    if lengths is not None and lengths.shape[0] != offsets.shape[0] - 1:
        raise AssertionError("offsets and lengths batch sizes must match: offsets.shape[0] - 1 = "
                             f"{offsets.shape[0] - 1}, lengths.shape[0] = {lengths.shape[0]}")
    if dim > values.dim():
        raise IndexError(f"jagged_dim is {dim}, but the values have {values.dim()} dimensions")
    return view_of(values, Ragged(offsets, lengths, min_seqlen, max_seqlen), dim)


def narrow(tensor: Tensor, dim: int, start: Any, length: Any, layout: Any = strided) -> Tensor:
    """`torch.nested.narrow`."""
    for name, x in (("start", start), ("length", length)):
        if not isinstance(x, (int, Tensor)):
            raise RuntimeError(f"{name} must be an integer or a tensor")
    _need_layout(layout, "nested narrow")
    if layout is strided:
        if isinstance(start, Tensor) or isinstance(length, Tensor):
            raise RuntimeError("start and length must be integers for the strided layout NT impl")
        return as_nested_tensor(tensor.unbind(), layout=strided).narrow(dim, start, length)
    if dim != 1:
        raise RuntimeError("jagged layout only supports dim=1")
    count, extent = tensor.shape[:2]
    starts, lengths = (x if isinstance(x, Tensor) else F.tensor([x], dtype=dtypes.int64, device=tensor.device)
                       for x in (start, length))
    if any(x.dim() > 1 or x.numel() not in (1, count) for x in (starts, lengths)):
        raise RuntimeError("When constructing a jagged nested tensor using narrow(), your start and length "
                           "must be Tensors that broadcast to input.shape[0]")
    starts, lengths = starts.expand(count), lengths.expand(count)
    begins = starts + extent * F.arange(count, device=tensor.device)
    offsets = F.cat([begins, (begins[-1] + lengths[-1]).unsqueeze(0)])
    values = tensor.flatten(0, 1)
    numbers = lengths.tolist()
    least, most = min(numbers), max(numbers)
    ends = [a + n for a, n in zip(begins.tolist(), numbers, strict=True)]
    if ends[0] == extent and ends[:-1] == begins.tolist()[1:]:  # no holes
        first = int(begins[0].item())
        return view_of(values[first:ends[-1]], Ragged(offsets - first, None, least, most))
    return view_of(values, Ragged(offsets, lengths, least, most))


def masked_select(tensor: Tensor, mask: Tensor) -> Tensor:
    """`torch.nested.masked_select`."""
    for what, t in (("tensor, given ", tensor), ("mask, given: ", mask)):
        if t.layout is not strided:
            raise RuntimeError(f"torch.nested.masked_select requires a strided {what}{t.layout}")
    values = tensor.masked_select(mask)
    lengths = mask.expand(tensor.shape).sum(tensor.dim() - 1).reshape(-1)
    offsets = F.cat([F.zeros(1, dtype=dtypes.int64, device=lengths.device), lengths.cumsum(0)])
    return view_of(values, Ragged(offsets))

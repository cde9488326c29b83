"""The rows of entries as pointers to where each row starts, and back, as compressed tensors have them."""

from __future__ import annotations

from jaxflow._api.creation.creation import arange
from jaxflow._api.indexing.selecting import repeat_interleave
from jaxflow._api.reduce.sorting import searchsorted
from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS
from jaxflow._publish.composite import composite


def _need_integers(name: str, *given: Tensor) -> None:
    for t in given:
        if t._aval.dtype not in (dtypes.int64, dtypes.int32):
            raise NotImplementedError(f'"{name}_cpu" not implemented for \'{t._aval.dtype.scalar_name}\'')


@composite("function")
def _convert_indices_from_coo_to_csr(self: Tensor, size: int, *, out_int32: bool = False) -> Tensor:
    """Where each of ``size`` rows starts among entries, whose rows are in order, and where the last ends."""
    if self._aval.ndim > 1:
        raise RuntimeError(f"Input is supposed to be a vector, but got {self._aval.ndim} dimensional tensor.")
    _need_integers("convert_indices_from_coo_to_csr", self)
    starts = arange(size + 1, dtype=self._aval.dtype, device=self._aval.device)
    return searchsorted(self.reshape(-1), starts, out_int32=out_int32)


@composite("function")
def _convert_indices_from_csr_to_coo(crow_indices: Tensor, col_indices: Tensor, *, out_int32: bool = False,
                                     transpose: bool = False) -> Tensor:
    """Rows and columns of the entries, stacked, after the indices of their batches, if there are any."""
    ndim = crow_indices._aval.ndim
    if ndim < 1 or ndim != col_indices._aval.ndim:
        raise RuntimeError(
            "crow_indices and col_indices are supposed to have the same dimensionality, but got "
            f"{ndim} and {col_indices._aval.ndim} dimensional tensors, respectively.")
    _need_integers("convert_indices_from_csr_to_coo", crow_indices, col_indices)
    *batch, count = col_indices._aval.shape
    where = crow_indices._aval.device
    counts = (crow_indices[..., 1:] - crow_indices[..., :-1]).to(dtypes.int64)
    lines = arange(counts.shape[-1], device=where).expand(counts.shape)
    rows = repeat_interleave(lines.reshape(-1), counts.reshape(-1))
    pair = [rows, col_indices.reshape(-1).to(dtypes.int64)]
    before = [arange(extent, device=where).view(extent, *(1,) * (len(batch) - dim)).expand(*batch, count)
              for dim, extent in enumerate(batch)]
    lines = *(b.reshape(-1) for b in before), *(pair[::-1] if transpose else pair)
    found = apply(OPS["stack"], lines, (0,))
    return found.to(dtypes.int32) if out_int32 else found

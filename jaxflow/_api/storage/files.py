"""Storages of files and of buffers."""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np

from jaxflow._api.creation.host_arrays import finished, put
from jaxflow._api.creation.placing import need_memory
from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor
from jaxflow._memory.mappings import map_file
from jaxflow._publish.composite import composite


def mapped_file(filename: Any, shared: bool, nbytes: int) -> Tensor:
    """The bytes of a file as a tensor; see `UntypedStorage.from_file`."""
    if nbytes < 0:
        raise RuntimeError(f"from_file: a file has no {nbytes} bytes")
    return map_file(os.fspath(filename), bool(shared), nbytes)


@composite("function")
def from_file(filename: Any, shared: bool | None = None, size: int | None = 0, *, dtype: Any = None,
              layout: Any = None, device: Any = None, pin_memory: bool = False,
              requires_grad: bool = False) -> Tensor:
    """A tensor of ``size`` elements that is one memory with the beginning of a file.

    Args:
        filename: of a file; with ``shared`` it is made, or made as large, if need be.
        shared: whether what is written reaches the file.
        size: how many elements.
        dtype: of the elements, by default the default dtype.
        layout: strided, the only one.
        device: the CPU, the only one that has files.
        pin_memory: refused: the system decides where a file's memory lies.
        requires_grad: whether operations on the result are recorded.
    """
    if pin_memory is True:
        raise RuntimeError("tensors constructed from a file cannot be pinned")
    need_memory("from_file", layout, pin_memory, device)
    kind = dtypes.given_dtype(dtype) or dtypes.get_default_dtype()
    if device is not None and str(device) != "cpu":
        raise NotImplementedError(f"from_file: a file cannot be mapped to the memory of {device}")
    count = size or 0
    found = mapped_file(filename, bool(shared), count * kind.itemsize)
    if kind is not dtypes.uint8:
        found = found.view(kind).detach()
    return finished(found, requires_grad, "from_file")


def copied_buffer(buffer: Any, byte_order: str | None, count: int, offset: int,
                  dtype: dtypes.dtype | None) -> Tensor:
    """The bytes of a buffer in this machine's byte order; see `UntypedStorage.from_buffer`."""
    if dtype is None:
        raise RuntimeError("argument 'dtype' cannot be None")
    width = dtype.itemsize
    if byte_order is None:
        if width > 1:
            raise RuntimeError("function missing required argument 'byte_order' (pos 2)")
        byte_order = "native"
    if byte_order not in ("native", "little", "big"):
        raise ValueError(
            f"invalid byte_order '{byte_order}' (expected 'big', 'little', or 'native')")
    data = np.frombuffer(memoryview(buffer).cast("B"), np.uint8)
    n = data.nbytes
    if not 0 <= offset <= n:
        raise ValueError(
            f"offset must be non-negative and no greater than buffer length ({n}) , but got {offset}")
    if count < 0:
        if (n - offset) % width:
            raise ValueError(f"buffer size ({n}) must be a multiple of element size ({width})")
        count = (n - offset) // width
    if offset + count * width > n:
        raise ValueError(
            f"buffer has only {(n - offset) // width} elements after offset {offset}, but specified a size "
            f"of {count}")
    part = data[offset : offset + count * width]
    if byte_order not in ("native", sys.byteorder):
        each = width // 2 if dtype.is_complex else width
        part = part.reshape(-1, each)[:, ::-1].reshape(-1)
    return put(part.copy(), "cpu")

"""Storages: the memory behind tensors, as programs ask about it.

Arrays are immutable and have no address that lasts, so a storage is for looking at: who shares it, how large
it is, what it holds. Its bytes are those that PyTorch's would have, in the order that strides speak of.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from jaxflow._core import device as devices
from jaxflow._core import dtype as dtypes
from jaxflow._core.geometry import contiguous_strides
from jaxflow._core.tensor import Tensor
from jaxflow._core.warning import warn_once
from jaxflow._dispatch.addresses import address_of
from jaxflow._dispatch.composite import composite
from jaxflow._dispatch.door import plan_of

from .conjugates import as_marked


def _physical(tensor: Tensor) -> tuple[tuple, tuple, int]:
    """Shape and strides of the whole storage, and how many elements it spans."""
    root = plan_of(tensor).root.geometry
    shape, stride = tuple(root.root_size), tuple(root.root_stride)
    span = 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, stride))
    return shape, stride, span


def storage_nbytes(tensor: Tensor) -> int:
    """The size in bytes of a tensor's whole storage."""
    return _physical(tensor)[2] * plan_of(tensor).root.aval.dtype.itemsize


def physical_bytes(tensor: Tensor) -> np.ndarray:
    """The bytes of a tensor's whole storage, in the order that its strides speak of."""
    array = tensor._storage.value.host()
    shape, stride, span = _physical(tensor)
    if span == 0:
        return np.empty(0, np.uint8)
    if stride != contiguous_strides(shape):
        flat = np.zeros(span, array.dtype)
        strides = [s * array.itemsize for s in stride]
        np.lib.stride_tricks.as_strided(flat, shape, strides)[...] = array
        array = flat
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


class _Storage:
    """What both kinds of storages tell."""

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = as_marked(tensor.detach(), False, False).detach()

    @property
    def device(self) -> devices.device:
        """Where the storage lies."""
        return self._tensor._aval.device

    @property
    def is_cuda(self) -> bool:
        """Whether it lies on a GPU."""
        return self.device.type == "cuda"

    @property
    def _cdata(self) -> int:
        return id(self._tensor._storage)

    def data_ptr(self) -> int:
        """Where its first byte lies, 0 if there is none; see `Tensor.data_ptr`."""
        return address_of(self._tensor)

    def get_device(self) -> int:
        """The index of the device, -1 for the CPU."""
        return get_device(self._tensor)

    def nbytes(self) -> int:
        """The size in bytes."""
        return storage_nbytes(self._tensor)

    def is_shared(self) -> bool:
        """Whether other processes may see it: see `Tensor.is_shared`."""
        return False

    def is_pinned(self) -> bool:
        """Always False: XLA manages transfers."""
        return False

    def resize_(self, size: int) -> Any:
        """Refused: an array has the memory that its shape says. RuntimeError."""
        raise RuntimeError(
            "a storage's size cannot be changed: jaxflow's tensors are arrays of XLA, which frees their "
            "memory when nothing refers to them; use Tensor.resize_, or del the tensor"
        )

    def tensor(self, dtype: dtypes.dtype, offset: int, size: tuple, stride: tuple) -> Tensor:
        """The tensor of this geometry on the storage."""
        base = self._tensor
        if base.dtype is not dtype:
            base = base.as_strided((storage_nbytes(base) // base.itemsize,), (1,), 0).view(dtype)
        return base.as_strided(tuple(size), tuple(stride), offset).detach()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Storage) and self._tensor._storage is other._tensor._storage

    def __hash__(self) -> int:
        return id(self._tensor._storage)

    def __iter__(self) -> Iterator:
        return iter(self.tolist())

    def tolist(self) -> list:
        """All elements, as Python numbers."""
        return self._flat().tolist()

    def __getitem__(self, index: Any) -> Any:
        found = self._flat()[index]
        return found.item() if isinstance(found, np.generic) else found.tolist()


def _made(data: Any, dtype: dtypes.dtype, device: Any) -> Tensor:
    """What a new storage of so many elements, or of these, is the memory of."""
    from .construct import tensor
    from .creation import empty

    if isinstance(data, int):
        if data < 0:
            raise RuntimeError(f"Storage size is negative: {data}")
        return empty((data,), dtype=dtype, device=device)
    if not (hasattr(data, "__len__") and hasattr(data, "__getitem__")):
        raise TypeError(f"a storage is made of a size or a sequence, not of {type(data).__name__}")
    return tensor(data, dtype=dtype, device=device)


class UntypedStorage(_Storage):
    """A storage as a run of bytes.

    Args:
        data: how many bytes it shall have, or what they are; a tensor gives its own storage.
        device: where; by default on the CPU.
    """

    def __init__(self, data: Any = 0, *, device: Any = "cpu") -> None:
        super().__init__(data if isinstance(data, Tensor) else _made(data, dtypes.uint8, device))

    def _flat(self) -> np.ndarray:
        return physical_bytes(self._tensor)

    def size(self) -> int:
        """The size in bytes."""
        return self.nbytes()

    def __len__(self) -> int:
        return self.nbytes()

    def __repr__(self) -> str:
        return f"[torch.storage.UntypedStorage(device={self.device}) of size {len(self)}]"


class TypedStorage(_Storage):
    """A storage as a run of elements; PyTorch deprecates it.

    Args:
        data: how many elements it shall have, or what they are; a tensor gives its own storage.
        dtype: of the elements, by default the default dtype.
        wrap_storage: an untyped storage to show, instead of ``data``.
        device: where; by default on the CPU.
    """

    def __init__(self, data: Any = 0, *, dtype: Any = None, wrap_storage: Any = None,
                 device: Any = "cpu") -> None:
        kind = dtype or dtypes.get_default_dtype()
        if wrap_storage is not None:
            data = wrap_storage.tensor(kind, 0, (wrap_storage.nbytes() // kind.itemsize,), (1,))
        super().__init__(data if isinstance(data, Tensor) else _made(data, kind, device))

    def _flat(self) -> np.ndarray:
        return physical_bytes(self._tensor).view(self.dtype.np)

    @property
    def dtype(self) -> dtypes.dtype:
        """The type of the elements."""
        return self._tensor._aval.dtype

    def size(self) -> int:
        """How many elements there are."""
        return self.nbytes() // self.element_size()

    def __len__(self) -> int:
        return self.size()

    def element_size(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    def untyped(self) -> UntypedStorage:
        """The same storage as bytes."""
        return UntypedStorage(self._tensor)

    def __repr__(self) -> str:
        rows = "".join(f" {x}\n" for x in self.tolist())
        about = f"dtype={self.dtype}, device={self.device}"
        return f"{rows}[torch.storage.TypedStorage({about}) of size {len(self)}]"


@composite("method")
def untyped_storage(self: Tensor) -> UntypedStorage:
    """The storage of the tensor."""
    return UntypedStorage(self)


@composite("method")
def storage(self: Tensor) -> TypedStorage:
    """The storage of the tensor, as elements of its dtype; deprecated."""
    warn_once(
        "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only "
        "storage class. This should only matter to you if you are using storages directly.  To access "
        "UntypedStorage directly, use tensor.untyped_storage() instead of tensor.storage()"
    )
    return TypedStorage(self)


@composite("method")
def _typed_storage(self: Tensor) -> TypedStorage:
    return TypedStorage(self)


def elements_of(storage: _Storage, dtype: dtypes.dtype | None) -> np.ndarray:
    """A storage's bytes as elements of ``dtype``; a typed one has no others than its own."""
    kind = getattr(storage, "dtype", None)
    if kind is not None and dtype not in (None, kind):
        raise RuntimeError(
            f"Expected a Storage of type {dtype.scalar_name} or an UntypedStorage, but got {kind.scalar_name}"
        )
    found = dtype or kind or dtypes.int64
    data = physical_bytes(storage._tensor)
    return data[: len(data) // found.itemsize * found.itemsize].view(found.np).copy()


@composite("function")
def is_storage(obj: Any, /) -> bool:
    """Whether an object is a storage."""
    return isinstance(obj, _Storage)


@composite("function method")
def get_device(input: Tensor) -> int:
    """The index of the tensor's device, -1 for the CPU."""
    place = input._aval.device
    return -1 if place.type == "cpu" else place.index or 0


@composite("method")
def const_data_ptr(self: Tensor) -> int:
    """`data_ptr`: a number, through which nothing can be written anyhow."""
    return self.data_ptr()


@composite("method")
def share_memory_(self: Tensor) -> Tensor:
    """The tensor itself, with a warning: an array of XLA is nobody else's to see, so processes get copies.

    A model that several processes are to update has to send its changes.
    """
    warn_once(
        "share_memory_() has no effect in jaxflow: other processes get a copy of a tensor's values, and what "
        "they write to it is not seen here"
    )
    return self


@composite("method")
def is_shared(self: Tensor) -> bool:
    """False on the CPU: see `share_memory_`. True on a GPU, as PyTorch has it."""
    return self._aval.device.type == "cuda"


@composite("method")
def record_stream(self: Tensor, s: Any) -> None:
    """Nothing to do: XLA orders the work on a device, and frees memory when that is done."""
    if s is None:
        raise RuntimeError("unknown parameter type")


@composite("function method")
def is_distributed(input: Tensor) -> bool:
    """Always False: see ``torch.is_distributed``."""
    return False


@composite("method")
def dim_order(self: Tensor, ambiguity_check: bool | list = False) -> tuple[int, ...]:
    """The dimensions from the outermost to the innermost in memory."""
    stride, shape = self.stride(), self._aval.shape
    return tuple(sorted(range(len(shape)), key=lambda d: (-stride[d], d)))

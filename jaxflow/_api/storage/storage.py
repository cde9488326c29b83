"""The memory behind a tensor: its storage, where that is, who shares it."""

from __future__ import annotations

from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow._core.warning import warn_once
from jaxflow._memory import mappings
from jaxflow._publish.composite import composite

from .typed import TypedStorage
from .untyped import UntypedStorage, storage_of


@composite("method")
def untyped_storage(self: Tensor) -> UntypedStorage:
    """The storage of the tensor."""
    return storage_of(self)


@composite("method")
def storage(self: Tensor) -> TypedStorage:
    """The storage of the tensor, as elements of its dtype; deprecated.

    A view has the whole storage of the tensor that it is made of. Use `untyped_storage` instead.

    Returns:
        A storage of one dimension, which shares memory with the tensor.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     torch.tensor([1, 2, 3])[1:].storage().tolist()
        [1, 2, 3]
    """
    warn_once(
        "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only "
        "storage class. This should only matter to you if you are using storages directly.  To access "
        "UntypedStorage directly, use tensor.untyped_storage() instead of tensor.storage()"
    )
    return TypedStorage.of(self)


@composite("method")
def _typed_storage(self: Tensor) -> TypedStorage:
    return TypedStorage.of(self)


@composite("function")
def is_storage(obj: Any, /) -> bool:
    """Whether an object is a storage."""
    return isinstance(obj, UntypedStorage | TypedStorage)


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
    """Move the tensor's storage to memory that other processes may share with this one.

    Those that are forked from now on do, and those to which the tensor is given, by `multiprocessing`: as an
    argument, through a queue or a pipe. What either writes to it is seen by the other. On a GPU nothing is
    done.
    """
    mappings.share(self)
    return self


@composite("method")
def is_shared(self: Tensor) -> bool:
    """Whether other processes may have the memory: after `share_memory_`, of a mapped file, on a GPU."""
    return self._aval.device.type == "cuda" or mappings.is_mapped(self)


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

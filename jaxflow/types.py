"""Names for annotations: ``torch.types``.

There are no symbolic numbers here, so the types that admit them in PyTorch are those of plain numbers, and
``py_sym_types``, which is for ``isinstance``, is empty.
"""

import os
from builtins import bool as _bool
from builtins import bytes as _bytes
from builtins import complex as _complex
from builtins import float as _float
from builtins import int as _int
from builtins import str as _str
from collections.abc import Sequence
from typing import IO, Any, TypeAlias

from ._core.device import device as _device
from ._core.dtype import dtype as _dtype
from ._core.layout import layout as _layout
from ._core.size import Size
from ._core.tensor import Tensor
from .autograd.graph import GradientEdge as _GradientEdge

__all__ = ["Device", "FileLike", "Number", "Storage"]

_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]
_TensorOrOptionalTensors: TypeAlias = Tensor | Sequence[Tensor | None]
_TensorOrTensorsOrGradEdge: TypeAlias = Tensor | Sequence[Tensor] | _GradientEdge | Sequence[_GradientEdge]

_size: TypeAlias = Size | list[_int] | tuple[_int, ...]
_symsize: TypeAlias = Size | Sequence[_int]
_dispatchkey: TypeAlias = _str

IntLikeType: TypeAlias = _int
FloatLikeType: TypeAlias = _float
BoolLikeType: TypeAlias = _bool
py_sym_types: tuple[type, ...] = ()

Number: TypeAlias = _int | _float | _bool
_Number = (_int, _float, _bool)
FileLike: TypeAlias = _str | os.PathLike[_str] | IO[_bytes]
Device: TypeAlias = _device | _str | _int | None

_ = _complex, _dtype, _layout  # names of this module that it does not use itself


class Storage:
    """What an annotation may say of any storage; no storage is an instance of it, in PyTorch neither.

    Raises:
        NotImplementedError: by every method.

    Example:
        >>> isinstance(torch.ones(2).untyped_storage(), torch.types.Storage)
        False
    """

    _cdata: _int
    device: _device
    dtype: _dtype
    _torch_load_uninitialized: _bool

    def __deepcopy__(self, memo: dict) -> "Storage":
        raise NotImplementedError

    def _new_shared(self, size: _int) -> "Storage":
        raise NotImplementedError

    def _write_file(self, f: Any, is_real_file: _bool, save_size: _bool, element_size: _int) -> None:
        raise NotImplementedError

    def element_size(self) -> _int:
        """Bytes of an element."""
        raise NotImplementedError

    def is_shared(self) -> _bool:
        """Whether other processes see the memory."""
        raise NotImplementedError

    def share_memory_(self) -> "Storage":
        """Move the memory to where other processes see it."""
        raise NotImplementedError

    def nbytes(self) -> _int:
        """Bytes of the whole."""
        raise NotImplementedError

    def cpu(self) -> "Storage":
        """The same in the host's memory."""
        raise NotImplementedError

    def data_ptr(self) -> _int:
        """The address of the first byte."""
        raise NotImplementedError

    def from_file(self, filename: _str, shared: _bool = False, nbytes: _int = 0) -> "Storage":
        """The bytes of a file."""
        raise NotImplementedError

    def _new_with_file(self, f: Any, element_size: _int) -> "Storage":
        raise NotImplementedError

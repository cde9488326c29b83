"""Names that programs take from ``torch._tensor_str``: the text of a tensor in parts, and its settings."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from ._api.tensor.core import array_to_print as _array_to_print
from ._core import printing as _printing
from ._core.printing import set_printoptions as set_printoptions
from ._core.tensor import Tensor as _Tensor

#: What `set_printoptions` sets.
PRINT_OPTS = _printing.OPTIONS


def get_printoptions() -> dict[str, Any]:
    """What `set_printoptions` sets, by the names of its arguments."""
    return dataclasses.asdict(PRINT_OPTS)


@contextlib.contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """Print tensors by ``options``, the arguments of `set_printoptions`, and afterwards as before."""
    before = get_printoptions()
    set_printoptions(**options)
    try:
        yield
    finally:
        set_printoptions(**before)


def _tensor_str(self: _Tensor, indent: int) -> str:
    """The elements of a tensor, in brackets, for a line that has ``indent`` characters already."""
    if self.device.type == "meta":
        raise NotImplementedError("_tensor_str: a tensor on the meta device has no elements to print")
    return _printing.contents_text(_array_to_print(self), indent)


def _add_suffixes(tensor_str: str, suffixes: Sequence[str], indent: int, force_newline: bool) -> str:
    """A text and what is said of the tensor after it, each on the same line if it fits, and ``)``."""
    return _printing.with_notes(tensor_str, suffixes, indent, force_newline)


def _str(self: _Tensor, *, tensor_contents: str | None = None) -> str:
    """What ``repr`` gives, with ``tensor_contents`` in place of the elements."""
    return _Tensor.__repr__(self, tensor_contents=tensor_contents)


_str_intern = _str

"""Checkpoints in PyTorch's file format, written and read without PyTorch."""

from collections.abc import Callable as _Callable
from typing import Any as _Any
from typing import TypeAlias as _TypeAlias

from .._core.device import device as _device
from ._inspection import get_unsafe_globals_in_checkpoint as get_unsafe_globals_in_checkpoint
from ._inspection import location_tag as location_tag
from ._load import default_restore_location as default_restore_location
from ._load import load as load
from ._reader import PyTorchFileReader as PyTorchFileReader
from ._safe import add_safe_globals as add_safe_globals
from ._safe import clear_safe_globals as clear_safe_globals
from ._safe import get_safe_globals as get_safe_globals
from ._safe import safe_globals as safe_globals
from ._save import DEFAULT_PROTOCOL as DEFAULT_PROTOCOL
from ._save import save as save

#: What ``map_location`` of `load` may be, for annotations.
MAP_LOCATION: _TypeAlias = _Callable[[_Any, str], _Any] | _device | str | dict[str, str] | None

"""Looking at checkpoints and storages without loading anything."""

from __future__ import annotations

import pickletools
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from contextlib import nullcontext
from io import BytesIO
from os import PathLike
from typing import Any

from ._archive import Reader
from ._load import is_archive
from ._rebuild import known
from ._safe import allowed_by_name

# Opcodes that push a string, and those that leave the memo and the stack of strings as they are.
_STRINGS = frozenset(("SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "UNICODE", "STRING", "BINSTRING",
                      "SHORT_BINSTRING"))


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """Which functions and classes a file names that a ``weights_only`` load would refuse. Nothing is run.

    Args:
        f: a path, or an open, seekable binary file that `torch.save` wrote.

    Returns:
        Their full names, such as ``"my_package.Config"``, sorted. Names that a pickle puts together while it
        is read are not found.

    Raises:
        ValueError: for a file that is no archive of `torch.save`.

    Example:
        >>> import io, fractions
        >>> file = io.BytesIO()
        >>> torch.save({"x": torch.ones(2), "ratio": fractions.Fraction(1, 2)}, file)
        >>> start = file.seek(0)
        >>> torch.serialization.get_unsafe_globals_in_checkpoint(file)
        ['fractions.Fraction']
    """
    with open(f, "rb") if isinstance(f, str | PathLike) else nullcontext(f) as file:
        if not is_archive(file):
            raise ValueError("Expected input to be a checkpoint returned by torch.save")
        reader = Reader(file)
        if reader.has("constants.pkl"):
            raise ValueError("Expected input to be a checkpoint returned by torch.save but got a torchscript "
                             "checkpoint")
        names = _globals_in(bytes(reader.bytes("data.pkl")))
    allowed = allowed_by_name()
    return sorted(name for name in names if name not in allowed and not known(name)[0])


def _globals_in(pickled: bytes) -> set[str]:
    """The full names of all that a pickle names, by today's names of modules."""
    names, strings, memo = set(), [], {}
    last: str | None = None  # what was pushed last, if it is a string
    for opcode, argument, _ in pickletools.genops(BytesIO(pickled)):
        if opcode.name in _STRINGS:
            last = argument
            strings.append(argument)
        elif opcode.name in ("GET", "BINGET", "LONG_BINGET"):
            last = memo.get(int(argument))
            strings.append(last)
        elif opcode.name in ("PUT", "BINPUT", "LONG_BINPUT"):
            memo[int(argument)] = last
        elif opcode.name == "MEMOIZE":
            memo[len(memo)] = last
        elif opcode.name in ("GLOBAL", "STACK_GLOBAL"):
            module, name = argument.split(" ", 1) if opcode.name == "GLOBAL" else strings[-2:]
            module, name = NAME_MAPPING.get((module, name), (IMPORT_MAPPING.get(module, module), name))
            names.add(f"{module}.{name}")
            last = None
        else:
            last = None
    return names


def location_tag(storage: Any) -> str:
    """How a checkpoint names the device of a storage: ``"cpu"``, ``"meta"``, ``"cuda:0"``.

    Args:
        storage: a typed or untyped storage.

    Returns:
        The tag.
    """
    device = storage.device
    return device.type if device.type in ("cpu", "meta") else f"{device.type}:{device.index or 0}"

"""``save``: an object with all its tensors into one file."""

from __future__ import annotations

import io
import os
import pickle
from typing import Any

from jaxflow._memory.storage_bytes import physical_bytes

from . import _stream
from ._archive import ALIGNMENT, Writer, native_order, replacing
from ._pickler import Pickler

DEFAULT_PROTOCOL = 2


def save(
    obj: object,
    f: Any,
    pickle_module: Any = pickle,
    pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Write ``obj`` in PyTorch's file format; what it cannot pickle is not written at all.

    A storage is written whole and once, also when several tensors, or a small view, use it: save
    ``x.clone()`` to write only the elements of a view.

    Args:
        obj: anything that pickles, with tensors anywhere in it.
        f: a path, or an open binary file. A file at the path is replaced when all is written: a
            save that fails leaves it as it was.
        pickle_module: only the standard one is supported.
        pickle_protocol: of the pickle; PyTorch's ``weights_only`` reader needs 2.
        _use_new_zipfile_serialization: if false, the format that PyTorch wrote before version 1.6.
        _disable_byteorder_record: if true, the file does not say in which order the bytes of a number are.

    Returns:
        None.

    Raises:
        RuntimeError: when the folder is not there, or tensors see one storage as different dtypes.
        AttributeError: when ``f`` is neither a path nor a file.

    Example:
        >>> import io
        >>> x = torch.zeros(3)
        >>> file = io.BytesIO()
        >>> torch.save([x, x[1:]], file)
        >>> start = file.seek(0)
        >>> whole, part = torch.load(file)
        >>> part[0] = 7.0  # the two still share their memory
        >>> whole
        tensor([0., 7., 0.])
    """
    if pickle_module is not pickle:
        raise RuntimeError(
            "save() takes no pickle_module: tensors are written by names that only its own pickler "
            "knows. Reduce such objects to plain ones (a state_dict()) first"
        )
    is_path = isinstance(f, str | os.PathLike)
    if not is_path and not hasattr(f, "write"):
        raise AttributeError(
            "expected 'f' to be string, path, or a file-like object with a 'write' attribute"
        )
    pickled = io.BytesIO()
    pickler = Pickler(pickled, pickle_protocol, parts=not _use_new_zipfile_serialization)
    pickler.dump(obj)
    storages = [tensor._storage for tensor in pickler.storages]

    def write(file: Any, root: str) -> None:
        if _use_new_zipfile_serialization:
            _write(file, root, pickled, pickler.storages, not _disable_byteorder_record)
        else:
            _stream.write(file, pickled.getbuffer(), pickler.storages, pickle_protocol)

    if is_path:
        path = os.fspath(f)
        with replacing(path) as file:
            write(file, _stem(path))
    else:
        write(f, "archive")
    del storages  # kept until here: keys are identities, and an identity may be used again


def _stem(path: str) -> str:
    """The archive's folder: PyTorch names it after the file."""
    stem = os.path.splitext(os.path.basename(path))[0]
    return stem if stem.isascii() and stem else "archive"


def save_with_records(obj: object, f: Any, records: dict[str, bytes]) -> None:
    """Write ``obj`` as `save` does, and further records of the archive by name."""
    pickled = io.BytesIO()
    pickler = Pickler(pickled, DEFAULT_PROTOCOL, parts=False)
    pickler.dump(obj)
    storages = [tensor._storage for tensor in pickler.storages]
    if isinstance(f, str | os.PathLike):
        with replacing(os.fspath(f)) as file:
            _write(file, _stem(os.fspath(f)), pickled, pickler.storages, True, records)
    else:
        _write(f, "archive", pickled, pickler.storages, True, records)
    del storages


def _write(file: Any, root: str, pickled: io.BytesIO, tensors: list, byteorder: bool,
           records: dict[str, bytes] | None = None) -> None:
    with Writer(file, root) as writer:
        writer.write("data.pkl", pickled.getbuffer())
        writer.write(".format_version", b"1")
        writer.write(".storage_alignment", str(ALIGNMENT).encode())
        if byteorder:
            writer.write("byteorder", native_order().encode())
        for key, tensor in enumerate(tensors):
            writer.write(f"data/{key}", physical_bytes(tensor))
        for name, data in (records or {}).items():
            writer.write(name, data)

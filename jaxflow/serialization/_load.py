"""``load``: the object in a checkpoint, with its tensors where ``map_location`` wants them."""

from __future__ import annotations

import io
import mmap as memory_maps
import os
import pickle
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

import jaxflow
from jaxflow._core.device import accelerator, resolve

from ._archive import Reader, native_order
from ._names import StorageType
from ._storages import LoadedStorage
from ._unpickler import WeightsOnlyUnpickler, full_unpickler

_ZIP_MAGIC = b"PK\3\4"
_OLD_MAGIC = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."

_REFUSED = (
    "Weights only load failed. {0}\nload() reads tensors and plain containers only, unless told "
    "more: a file may otherwise run any code. If you trust its source, allow the types it needs as "
    "said above, or pass weights_only=False.\n\tWeightsUnpickler error: {0}"
)


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Read a file that ``save``, or PyTorch 1.6 or later, wrote.

    Args:
        f: a path, or an open, seekable binary file.
        map_location: a device for all storages; a dict from locations in the file to locations;
            or a function of (storage, location) that gives a storage, or None for the usual place.
        pickle_module: used when ``weights_only`` is false.
        weights_only: read only tensors, plain containers and allowed types (default, unless a
            ``pickle_module`` is given). Without it a file can run any code: trust its source.
        mmap: map the file into memory and read storages when they are used; needs a path.

    Raises:
        pickle.UnpicklingError: for what ``weights_only`` does not allow.
        RuntimeError: for a damaged file, the format before PyTorch 1.6, a device that is missing,
            or a kind of tensor that jaxflow does not have.
        EOFError: for an empty file.
    """
    if weights_only is None:
        weights_only = pickle_module is None
    if weights_only and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    if weights_only and pickle_load_args:
        warnings.warn("pickle_load_args only works if `weights_only=False`.", stacklevel=2)
    pickle_load_args.setdefault("encoding", "utf-8")
    is_path = isinstance(f, str | os.PathLike)
    if mmap and not is_path:
        raise ValueError("f must be a file path in order to use the mmap argument")
    if not is_path:
        _check_seekable(f)
    with open(f, "rb") if is_path else nullcontext(f) as file:
        _check_format(file)
        reader = Reader(file)
        if reader.has("constants.pkl"):
            raise RuntimeError(
                "the file is a TorchScript archive, which jaxflow cannot run; save a state_dict() "
                "in its place"
            )
        memory = None
        if mmap:
            memory = memory_maps.mmap(file.fileno(), 0, access=memory_maps.ACCESS_READ)
        storages = _Storages(reader, memory, restorer(map_location))
        data = io.BytesIO(reader.bytes("data.pkl"))
        if not weights_only:
            unpickler = full_unpickler(pickle_module or pickle)
            return unpickler(data, storages.persistent_load, **pickle_load_args).load()
        try:
            return WeightsOnlyUnpickler(
                data, storages.persistent_load, **pickle_load_args
            ).load()
        except pickle.UnpicklingError as error:
            raise pickle.UnpicklingError(_REFUSED.format(error)) from None


def _check_seekable(f: Any) -> None:
    for name in ("seek", "tell", "read"):
        if not hasattr(f, name):
            raise AttributeError(
                f"'{type(f).__name__}' object has no attribute '{name}'. You can only torch.load "
                "from a file that is seekable. Please pre-load the data into a buffer like "
                "io.BytesIO and try to load from it instead."
            )


def _check_format(file: Any) -> None:
    """Raise unless what follows in ``file`` is a zip archive."""
    start = file.tell()
    head = file.read(len(_OLD_MAGIC))
    file.seek(start)
    if head.startswith(_ZIP_MAGIC):
        return
    if not head:
        raise EOFError("the checkpoint is empty (or was read to its end already)")
    if head == _OLD_MAGIC:
        raise RuntimeError(
            "the checkpoint is in the format that PyTorch wrote before version 1.6; load it with "
            "PyTorch and save it again"
        )
    raise pickle.UnpicklingError(
        "Weights only load failed. The file is neither a checkpoint of jaxflow nor one of PyTorch: "
        f"it begins with {head[:8]!r}"
    )


class _Storages:
    """The storages of one archive, each read once."""

    def __init__(self, reader: Reader, memory: Any, restore: Callable) -> None:
        self._reader, self._memory, self._restore = reader, memory, restore
        self._loaded: dict[str, LoadedStorage] = {}
        self._swap = reader.text("byteorder", "little") != native_order()

    def persistent_load(self, pid: Any) -> LoadedStorage:
        """The storage that ``("storage", type, key, location, elements)`` refers to."""
        if not isinstance(pid, tuple) or len(pid) < 5 or pid[0] != "storage":
            raise pickle.UnpicklingError(
                f"Only persistent_load of storage is allowed, but got {type(pid)}"
            )
        _, kind, key, location, count = pid[:5]
        kind = StorageType.of(kind)
        if kind is None or not isinstance(key, str) or not isinstance(count, int) or count < 0:
            raise pickle.UnpicklingError(f"there is no storage {key!r} of {count!r} elements of {pid[1]}")
        if key not in self._loaded:
            untyped = kind.dtype is None
            nbytes = count if untyped else count * kind.dtype.itemsize
            self._loaded[key] = self._restore(
                LoadedStorage(
                    self._read(key, nbytes, kind.dtype), kind.dtype, resolve("cpu")[0], nbytes
                ),
                location,
            )
        return self._loaded[key]

    def _read(self, key: str, nbytes: int, dtype: Any) -> np.ndarray:
        name = f"data/{key}"
        if self._memory is not None and not self._swap:
            data = self._reader.mapped(name, self._memory)
        else:
            data = self._reader.bytes(name)
        if data.nbytes < nbytes:
            raise RuntimeError(
                f"the checkpoint's record {name} has {data.nbytes} bytes where {nbytes} are needed"
            )
        data = data[:nbytes]
        if self._swap:
            if dtype is None:
                raise RuntimeError(
                    "the checkpoint was written on a machine of the other byte order and holds a "
                    "storage without a dtype, which cannot be converted"
                )
            width = dtype.itemsize // (2 if dtype.is_complex else 1)
            data = np.ascontiguousarray(data.reshape(-1, width)[:, ::-1]).reshape(-1)
        return data


def restorer(map_location: Any) -> Callable[[LoadedStorage, str], LoadedStorage]:
    """The function (storage, location) that puts a storage where ``map_location`` wants it."""
    if map_location is None:
        return default_restore_location
    if isinstance(map_location, dict):
        return lambda storage, location: default_restore_location(
            storage, map_location.get(location, location)
        )
    if isinstance(map_location, str | bytes | jaxflow.device):
        place = map_location.decode() if isinstance(map_location, bytes) else str(map_location)
        return lambda storage, location: default_restore_location(storage, place)

    def restore(storage: LoadedStorage, location: str) -> LoadedStorage:
        placed = map_location(storage, location)
        return default_restore_location(storage, location) if placed is None else placed

    return restore


def default_restore_location(storage: LoadedStorage, location: str) -> LoadedStorage:
    """The storage on the device that ``location`` names.

    Raises:
        RuntimeError: when there is no such device here.
    """
    kind = location.partition(":")[0]
    if kind not in ("cpu", "meta", "cuda", "xla", "tpu"):
        raise RuntimeError(
            f"don't know how to restore data location of torch.storage.UntypedStorage (tagged with "
            f"{location})"
        )
    if kind == "cuda" and accelerator() != "cuda":
        raise RuntimeError(
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is "
            "False. If you are running on a CPU-only machine, please use torch.load with "
            "map_location=torch.device('cpu') to map your storages to the CPU."
        )
    return storage if kind == "cpu" else storage.to(location)



"""``load``: the object in a checkpoint, with its tensors where ``map_location`` says."""

from __future__ import annotations

import io
import mmap as memory_maps
import os
import pickle
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from jaxflow._core import device as devices
from jaxflow._core.device import accelerator

from . import _stream
from ._archive import Reader
from ._persistent import Records
from ._storages import LoadedStorage
from ._unpickler import WeightsOnlyUnpickler, full_unpickler

_ZIP_MAGIC = b"PK\3\4"

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
    """Read a file that ``save`` wrote, here or in PyTorch, in its format of today or that before 1.6.

    Args:
        f: a path, or an open, seekable binary file.
        map_location: a device for all storages; a dict from locations in the file to locations;
            or a function of (storage, location) that gives a storage, or None for the usual place.
        pickle_module: used when ``weights_only`` is false.
        weights_only: read only tensors, plain containers and allowed types (default, unless a
            ``pickle_module`` is given). Without it a file can run any code: trust its source.
        mmap: map the file into memory and read storages when they are used; needs a path. What is written
            to the tensors does not reach the file.
        **pickle_load_args: further arguments of the unpickler, for instance ``encoding`` (``"utf-8"``).

    Returns:
        The object that was saved. Tensors keep their dtype, shape and strides, and those that shared a
        storage share one again.

    Raises:
        pickle.UnpicklingError: for what ``weights_only`` does not allow.
        RuntimeError: for a damaged file, a device that is missing, or a kind of tensor that jaxflow does
            not have.
        EOFError: for an empty file.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> torch.save({"step": 3, "weight": torch.tensor([1.0, 2.0])}, file)
        >>> start = file.seek(0)
        >>> torch.load(file, map_location="cpu")
        {'step': 3, 'weight': tensor([1., 2.])}
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

    def unpickled(data: io.BytesIO, persistent_load: Callable) -> Any:
        if not weights_only:
            unpickler = full_unpickler(pickle_module or pickle)
            return unpickler(data, persistent_load, **pickle_load_args).load()
        try:
            return WeightsOnlyUnpickler(data, persistent_load, **pickle_load_args).load()
        except pickle.UnpicklingError as error:
            raise pickle.UnpicklingError(_REFUSED.format(error)) from None

    with open(f, "rb") if is_path else nullcontext(f) as file:
        if not is_archive(file):
            if mmap:
                raise RuntimeError(
                    "mmap can only be used with files saved with `torch.save(_use_new_zipfile_serialization="
                    "True)`: load the file without it, and save it again"
                )
            return _stream.read(file, restorer(map_location), unpickled, pickle_load_args["encoding"])
        reader = Reader(file)
        if reader.has("constants.pkl"):
            raise RuntimeError(
                "the file is a TorchScript archive, which jaxflow cannot run; save a state_dict() "
                "in its place"
            )
        memory = None
        if mmap:
            # Others may write to what they are given of it (`numpy`): that stays in this process.
            memory = memory_maps.mmap(file.fileno(), 0, access=memory_maps.ACCESS_COPY)
        storages = Records(reader, memory, restorer(map_location))
        result = unpickled(io.BytesIO(reader.bytes("data.pkl")), storages.persistent_load)
        storages.finish()
        return result


def _check_seekable(f: Any) -> None:
    for name in ("seek", "tell", "read"):
        if not hasattr(f, name):
            raise AttributeError(
                f"'{type(f).__name__}' object has no attribute '{name}'. You can only torch.load "
                "from a file that is seekable. Please pre-load the data into a buffer like "
                "io.BytesIO and try to load from it instead."
            )


def is_archive(file: Any) -> bool:
    """Whether what follows in ``file`` is a zip archive, and not the older stream. Raises for all else."""
    start = file.tell()
    head = file.read(_stream.HEAD)
    file.seek(start)
    if head.startswith(_ZIP_MAGIC):
        return True
    if not head:
        raise EOFError("the checkpoint is empty (or was read to its end already)")
    if _stream.is_stream(head):
        return False
    raise pickle.UnpicklingError(
        "Weights only load failed. The file is neither a checkpoint of jaxflow nor one of PyTorch: "
        f"it begins with {head[:8]!r}"
    )


def restorer(map_location: Any) -> Callable[[LoadedStorage, str], LoadedStorage]:
    """The function (storage, location) that puts a storage where ``map_location`` says."""
    if map_location is None:
        return default_restore_location
    if isinstance(map_location, dict):
        return lambda storage, location: default_restore_location(
            storage, map_location.get(location, location)
        )
    if isinstance(map_location, str | bytes | devices.device):
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



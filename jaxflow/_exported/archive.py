"""Archives: plain data with tensors as `jaxflow.save` writes them, with StableHLO and extra files."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from jaxflow.serialization._archive import Reader
from jaxflow.serialization._load import restorer
from jaxflow.serialization._persistent import Records
from jaxflow.serialization._save import save_with_records
from jaxflow.serialization._unpickler import WeightsOnlyUnpickler

#: The version of what `write` writes; `read` refuses those that came after it.
VERSION = 1
_MARK = "jaxflow program"


def write(f: Any, data: dict, codes: Sequence[bytes], extra_files: Mapping[str, str | bytes] | None) -> None:
    """Write an archive to a path or an open binary file."""
    records = {f"code_{i}.stablehlo": code for i, code in enumerate(codes)}
    for name, content in (extra_files or {}).items():
        if not isinstance(content, (str, bytes)):
            raise TypeError(f"the extra file {name!r} is a {type(content).__name__}, not str or bytes")
        records[f"extra/{name}"] = content.encode() if isinstance(content, str) else content
    save_with_records({"format": _MARK, "version": VERSION, "codes": len(codes), **data}, f, records)


def read(f: Any, map_location: Any, extra_files: dict | None) -> tuple[dict, list[bytes]]:
    """The data and the pieces of StableHLO of an archive; fills ``extra_files`` by their names, with bytes.

    Raises:
        RuntimeError: for what is no such archive; one of PyTorch's is named as what it is.
    """
    with open(f, "rb") if isinstance(f, str | os.PathLike) else nullcontext(f) as file:
        whole = io.BytesIO(file.read()) if not hasattr(file, "seek") else file
        reader = Reader(whole)
        _refuse_others(reader)
        storages = Records(reader, None, restorer(map_location))
        data = WeightsOnlyUnpickler(io.BytesIO(reader.bytes("data.pkl")), storages.persistent_load,
                                    encoding="utf-8").load()
        storages.finish()
        if not isinstance(data, dict) or data.get("format") != _MARK:
            raise RuntimeError("the file is a checkpoint without a program: read it with torch.load()")
        if data["version"] > VERSION:
            raise RuntimeError(f"the archive has version {data['version']}, and this jaxflow reads up to "
                               f"{VERSION}")
        codes = [bytes(reader.bytes(f"code_{i}.stablehlo")) for i in range(data["codes"])]
        for name in extra_files or ():
            record = f"extra/{name}"
            extra_files[name] = bytes(reader.bytes(record)) if reader.has(record) else b""
        return data, codes


def _refuse_others(reader: Reader) -> None:
    if reader.has("constants.pkl"):
        raise RuntimeError(
            "the file is a TorchScript archive of PyTorch, whose programs jaxflow cannot run. Build the "
            "module in Python and load its state_dict(), saved in PyTorch with "
            "torch.save(module.state_dict(), path)"
        )
    if reader.has("archive_format") or reader.has("serialized_exported_program.json"):
        raise RuntimeError(
            "the file is an archive of PyTorch's torch.export, whose graphs jaxflow cannot run. Build the "
            "module in Python and load its state_dict()"
        )
    if not reader.has("data.pkl"):
        raise RuntimeError("PytorchStreamReader failed locating file data.pkl: the file is no archive of a "
                           "module")


class Codes:
    """Pieces of StableHLO, numbered as they are added."""

    def __init__(self, codes: Sequence[bytes] = ()) -> None:
        self.codes = list(codes)

    def written(self, data: dict, codes: Sequence[bytes]) -> dict:
        """A program's data, with the numbers of its codes."""
        first = len(self.codes)
        self.codes.extend(codes)
        return {**data, "codes": list(range(first, first + len(codes)))}

    def read(self, data: dict, make: Callable[[dict, list[bytes]], Any]) -> Any:
        """What ``make`` makes of data that `written` gave, and of its codes."""
        data = dict(data)
        return make(data, [self.codes[i] for i in data.pop("codes")])

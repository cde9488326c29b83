"""``save`` and ``load``: modules in archives, with programs of StableHLO in the place of Python code."""

from __future__ import annotations

import os
from typing import Any

from jaxflow._exported import archive
from jaxflow._exported.modules import tree_from_data

from . import _saving
from ._modules import LoadedModule


def save(m: Any, f: Any, _extra_files: dict | None = None) -> None:
    """Write a scripted or traced module or function into an archive that runs without its Python code.

    The archive holds parameters, buffers, plain attributes, and programs of StableHLO made by
    ``jax.export``: of the traced methods, or of the ``forward`` of a scripted module in training and in
    evaluation mode. They are made for the shapes of the example inputs of a traced module, of the first call
    of a scripted one; the first dimension may have any size, where that is possible. PyTorch does not read
    it.

    Args:
        m: what `script`, `trace`, `freeze` or `load` returned.
        f: a path, or an open binary file.
        _extra_files: contents of further files in the archive, str or bytes, by their names.

    Returns:
        None.

    Raises:
        AttributeError: for what is no such module or function.
        RuntimeError: for a scripted module that was not called yet; for a forward that draws random numbers
            in all modes (dropout in training mode), or in that of the trace; for one that decides something
            by numbers of its tensors.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> torch.jit.save(torch.jit.trace(nn.Linear(3, 2), torch.ones(4, 3)), file)
        >>> start = file.seek(0)
        >>> torch.jit.load(file)(torch.ones(7, 3)).shape
        torch.Size([7, 2])
    """
    for name in ("save_to_buffer", "save"):
        if not hasattr(m, name):
            raise AttributeError(f"'{type(m).__name__}' object has no attribute '{name}': use "
                                 "torch.jit.trace or torch.jit.script first")
    m.save(f, _extra_files)


def load(f: Any, map_location: Any = None, _extra_files: dict | None = None,
         _restore_shapes: bool = False) -> Any:
    """Read a module from an archive that `save` wrote.

    Nothing of the file is run while it is read. The module has its parameters, buffers, modules and plain
    attributes by their names; it trains where its programs could be differentiated, once.

    Args:
        f: a path, or an open binary file.
        map_location: the device for its tensors; see `jaxflow.load`.
        _extra_files: by the names of further files, what is replaced by their contents, as bytes.
        _restore_shapes: accepted without effect: programs have the shapes that they were made for.

    Returns:
        A ScriptModule.

    Raises:
        ValueError: when there is no such file.
        RuntimeError: for another kind of file, such as an archive of TorchScript, which holds programs in a
            language that jaxflow does not run.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> torch.jit.trace(nn.Linear(3, 2), torch.ones(4, 3)).save(file, {"note": "first"})
        >>> start, files = file.seek(0), {"note": ""}
        >>> list(torch.jit.load(file, _extra_files=files).state_dict()), files
        (['weight', 'bias'], {'note': b'first'})
    """
    if isinstance(f, str | os.PathLike):
        if not os.path.exists(f):
            raise ValueError(f"The provided filename {f} does not exist")
        if os.path.isdir(f):
            raise ValueError(f"The provided filename {f} is a directory")
    data, codes = archive.read(f, map_location, _extra_files)
    if data["kind"] != "module":
        raise RuntimeError("the file is an archive of torch.export: read it with torch.export.load()")
    module = tree_from_data(data["tree"], LoadedModule)
    module.__dict__["_programs"] = _saving.read_programs(data["methods"], codes)
    return module

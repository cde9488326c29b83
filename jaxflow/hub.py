"""Checkpoints from the network, kept on disk; and the entry points of model repositories on disk."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import pathlib
import re
import sys
import tempfile
import urllib.request
from collections.abc import Callable
from typing import Any
from urllib.parse import urlparse

from ._core.modes import Restored
from .serialization import load as _load

__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir"]

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
_CHUNK = 1 << 17
_list = list

_chosen: str | None = None


def _get_torch_home() -> str:
    """``$TORCH_HOME``, or ``torch`` in ``$XDG_CACHE_HOME`` or ``~/.cache``."""
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.environ.get("TORCH_HOME", os.path.join(cache, "torch")))


def get_dir() -> str:
    """Where downloads are kept: what `set_dir` said, or ``hub`` in PyTorch's cache."""
    return os.path.join(_get_torch_home(), "hub") if _chosen is None else _chosen


def set_dir(d: str | os.PathLike) -> None:
    """Keep downloads in the folder ``d`` from now on."""
    global _chosen
    _chosen = os.path.expanduser(d)


def download_url_to_file(url: str, dst: str, hash_prefix: str | None = None, progress: bool = True) -> None:
    """Store what ``url`` answers in the file ``dst``, which is replaced once all of it is there.

    Args:
        url: of any kind that urllib opens.
        dst: the file's path.
        hash_prefix: what the SHA-256 of the content begins with.
        progress: show a bar, where tqdm is installed.

    Raises:
        RuntimeError: if the hash is another; ``dst`` is then as it was.
        urllib.error.URLError: if there is no answer.
    """
    dst = os.path.expanduser(dst)
    digest = hashlib.sha256()
    request = urllib.request.Request(url, headers={"User-Agent": "jaxflow"})
    with urllib.request.urlopen(request) as answer, tempfile.NamedTemporaryFile(
            dir=os.path.dirname(dst) or ".", suffix=".partial", delete=False) as part:
        try:
            size = int(answer.headers.get("Content-Length") or 0)
            with _Progress(size, progress) as advance:
                while chunk := answer.read(_CHUNK):
                    part.write(chunk)
                    digest.update(chunk)
                    advance(len(chunk))
            found = digest.hexdigest()
            if hash_prefix is not None and not found.startswith(hash_prefix):
                raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got "{found}")')
            part.close()
            os.replace(part.name, dst)
        except BaseException:
            part.close()
            os.unlink(part.name)
            raise


class _Progress:
    """A progress bar as a context whose value is called with the number of new bytes; silent without tqdm."""

    def __init__(self, size: int, shown: bool) -> None:
        self._tqdm = None
        if shown and importlib.util.find_spec("tqdm") is not None:
            from tqdm import tqdm

            self._tqdm = tqdm(total=size or None, unit="B", unit_scale=True, unit_divisor=1024)

    def __enter__(self) -> Callable[[int], Any]:
        return (lambda n: None) if self._tqdm is None else self._tqdm.update

    def __exit__(self, *exc: Any) -> None:
        if self._tqdm is not None:
            self._tqdm.close()


class _SearchPath(Restored):
    """A block in which modules are looked for in a folder first."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        self.folder = folder

    def noted(self) -> int:
        """How often the folder is in the path; what else the block adds to it stays there."""
        return sys.path.count(self.folder)

    def change(self) -> None:
        """Look there first."""
        sys.path.insert(0, self.folder)

    def put_back(self, before: int) -> None:
        """Look there no more."""
        if sys.path.count(self.folder) > before:
            sys.path.remove(self.folder)


def load_state_dict_from_url(url: str, model_dir: str | None = None, map_location: Any = None,
                             progress: bool = True, check_hash: bool = False, file_name: str | None = None,
                             weights_only: bool = False) -> dict[str, Any]:
    """What the checkpoint at ``url`` holds; downloaded unless a file of its name is there already.

    Args:
        url: the checkpoint's address; its last part is the file's name unless ``file_name`` is given.
        model_dir: the folder of files; default ``checkpoints`` in `get_dir`.
        map_location: see `jaxflow.load`.
        progress: see `download_url_to_file`.
        check_hash: whether a name ``model-<hash>.pt`` says what the content's SHA-256 begins with.
        file_name: the file's name on disk.
        weights_only: see `jaxflow.load`.

    Returns:
        What was saved, usually a dict of tensors by name.

    Raises:
        RuntimeError: if the hash is another; no file is kept then.
        urllib.error.URLError: if there is no answer.

    Example:
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     there = pathlib.Path(folder, "model.pt")
        ...     torch.save({"weight": torch.ones(2)}, there)
        ...     torch.hub.load_state_dict_from_url(there.as_uri(), folder + "/kept", progress=False)
        {'weight': tensor([1., 1.])}
    """
    folder = os.path.join(get_dir(), "checkpoints") if model_dir is None else model_dir
    os.makedirs(folder, exist_ok=True)
    name = file_name or os.path.basename(urlparse(url).path)
    kept = os.path.join(folder, name)
    if not os.path.exists(kept):
        sys.stderr.write(f'Downloading: "{url}" to {kept}\n')
        named = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, kept, named.group(1) if named else None, progress=progress)
    return _load(kept, map_location=map_location, weights_only=weights_only)


def _entries(repository: str | os.PathLike, source: str, call: str) -> Any:
    """The ``hubconf.py`` of a folder, as a module."""
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    if source == "github":
        raise NotImplementedError(
            f"torch.hub.{call}() from GitHub is not supported: clone the repository yourself and name its "
            "folder, with source='local' where that is an argument."
        )
    path = pathlib.Path(repository) / "hubconf.py"
    spec = importlib.util.spec_from_file_location("hubconf", path)
    module = importlib.util.module_from_spec(spec)
    _SearchPath(str(repository)).run(spec.loader.exec_module, module)
    absent = [name for name in getattr(module, "dependencies", ()) if importlib.util.find_spec(name) is None]
    if absent:
        raise RuntimeError(f"Missing dependencies: {', '.join(absent)}")
    return module


def _entry(module: Any, name: str) -> Callable:
    if not isinstance(name, str):
        raise ValueError("Invalid input: model should be a string of function name")
    found = getattr(module, name, None)
    if not callable(found):
        raise RuntimeError(f"Cannot find callable {name} in hubconf")
    return found


def load(repo_or_dir: str | os.PathLike, model: str, *args: Any, source: str = "github",
         trust_repo: Any = "check", force_reload: bool = False, verbose: bool = True,
         skip_validation: bool = False, **kwargs: Any) -> Any:
    """What the entry point ``model`` of a folder's ``hubconf.py`` returns for the further arguments.

    Raises:
        NotImplementedError: for ``source="github"``.
        ValueError: for another source than ``"local"``.
        RuntimeError: without such an entry point, or without a package it depends on.
    """
    return _entry(_entries(repo_or_dir, source, "load"), model)(*args, **kwargs)


def list(github: str | os.PathLike, force_reload: bool = False, skip_validation: bool = False,
         trust_repo: Any = "check", verbose: bool = True) -> _list[str]:
    """The names of the entry points of a folder's ``hubconf.py``. NotImplementedError for a GitHub name."""
    module = _entries(github, "local" if os.path.isdir(github) else "github", "list")
    return [n for n, f in vars(module).items() if callable(f) and not n.startswith("_")]


def help(github: str | os.PathLike, model: str, force_reload: bool = False, skip_validation: bool = False,
         trust_repo: Any = "check") -> str | None:
    """The docstring of an entry point. NotImplementedError for a GitHub name."""
    module = _entries(github, "local" if os.path.isdir(github) else "github", "help")
    return _entry(module, model).__doc__

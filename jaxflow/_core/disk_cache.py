"""The cache of compiled programs on disk: jax's own, with a folder, entries and a size that are looked after.

NOTE [Entries answer for themselves] What lies in the folder is machine code that will run in this process,
and jax does not check it: an entry under another program's name computes another program's numbers, and one
that was damaged stays. So an entry begins with a digest over its key and its content. One that does not match
is deleted and counts as missing, and the program is compiled and written anew. A digest proves nothing
against somebody who can write into the folder: that must be nobody but the user (`own`), and a file must be
the user's.

NOTE [Many processes, one folder] An entry is written under a name that no other writer has, and then
renamed: whoever reads sees the old one, the new one or none, and what an interrupt or the end of a process
leaves behind is swept later. There is no lock. A process looks at the folder's size when it has written an
eighth of the room that was left when it looked last, so that up to eight of them may write at once without
going over the bound. What two of them evict at once is deleted by one; what one evicts while another reads
it is read to its end or missing.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pathlib
import sys
import time
import warnings

import jax

from . import flags
from .jax_compat import CacheInterface, compilation_cache

ENTRY, UNFINISHED = ".program", ".unfinished"
_ABANDONED = 3600  # seconds after which nobody goes on writing a file
_DIGEST = 32
_DEFAULT_MB = 4096

# jax's settings that are changed unless the user has: (name, jax's default, what jaxflow sets). The
# programs of eager code are small and many, so that short compiles count. Where XLA is to keep tables of
# its own in a folder beside the entries, jax has that folder's path in the key of every program, and a
# moved one would never hit.
_PREFERRED = (
    ("jax_persistent_cache_min_compile_time_secs", 1.0, 0.0),
    ("jax_persistent_cache_enable_xla_caches", "xla_gpu_per_fusion_autotune_cache_dir", "none"),
)
_jax_opens = compilation_cache.get_file_cache


def set_up() -> None:
    """Let jax keep its compiled programs as described above; where that cannot be, warn and keep none."""
    folder = flags.cache_dir(jax.config.jax_compilation_cache_dir)
    if folder is None or not jax.config.jax_enable_compilation_cache:
        return
    for name, usual, ours in _PREFERRED:
        if name.upper() not in os.environ and getattr(jax.config, name) == usual:
            jax.config.update(name, ours)
    if not _is_remote(folder):
        try:
            own(pathlib.Path(folder), alone=folder == flags.cache_dir())
            folder = os.path.abspath(folder)  # the program may go elsewhere
        except OSError as error:
            warnings.warn(
                f"jaxflow runs without a cache of compiled programs on disk: {error}. JAXFLOW_CACHE_DIR "
                "names another folder for it, JAXFLOW_CACHE=0 asks for none.", stacklevel=3)
            folder = None
    compilation_cache.get_file_cache = opened
    compilation_cache.reset_cache()  # what ran before jaxflow was imported may have opened it
    jax.config.update("jax_compilation_cache_dir", folder)


def own(folder: pathlib.Path, *, alone: bool = False) -> None:
    """Make the folder, for this user alone; OSError where that fails, or others may write into one there is.

    One that others can read stays so unless it is jaxflow's `alone`.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.stat()
    if not _is_private(found):
        why = "others can write into it" if found.st_uid == os.geteuid() else "it belongs to another user"
        raise PermissionError(f"the folder {str(folder)!r} is not trusted, because {why}")
    if alone and os.name == "posix" and found.st_mode & 0o077:
        folder.chmod(0o700)


def bound(jax_bound: int) -> int:
    """How many bytes the folder may hold: jaxflow's setting, else jax's (-1: no bound), else the default."""
    if (chosen := flags.cache_mb()) is not None:
        return chosen << 20
    if jax_bound >= 0:
        return jax_bound
    return sys.maxsize if "JAX_COMPILATION_CACHE_MAX_SIZE" in os.environ else _DEFAULT_MB << 20


def opened(path: str) -> tuple[CacheInterface, str]:
    """What jax calls to get its cache, in place of its own function."""
    if _is_remote(path):
        return _jax_opens(path)
    own(pathlib.Path(path))
    cache = Checked(path, bound(jax.config.jax_compilation_cache_max_size))
    if jax.config.jax_compilation_cache_check_contents:
        return compilation_cache.VerificationCache(cache), path
    return cache, path


class Checked(CacheInterface):
    """Entries by key in a folder of at most `limit` bytes: the notes at the top of the file."""

    def __init__(self, folder: str | os.PathLike, limit: int) -> None:
        self._path = pathlib.Path(folder)
        self._limit = limit
        self._room = 0  # how much may be written before the folder is looked at again

    def get(self, key: str) -> bytes | None:
        path = self._entry(key)
        try:
            with path.open("rb") as file:
                private, found = _is_private(os.fstat(file.fileno())), file.read()
        except FileNotFoundError:
            return None
        except OSError:
            private, found = False, b""
        content = found[_DIGEST:]
        if private and found[:_DIGEST] == _digest(key, content):
            with contextlib.suppress(OSError):  # a folder that is only read has no order of use
                os.utime(path)
            return content
        with contextlib.suppress(OSError):
            path.unlink()
        return None

    def put(self, key: str, value: bytes) -> None:
        """Keep this entry in place of one there may be; OSError where the disk does not take it."""
        size = _DIGEST + len(value)
        if size > self._limit:
            return
        path = self._entry(key)
        try:
            own(self._path)
            self._room -= size
            if self._room < 0:
                self._room = self._sweep(size)
            _write(path, _digest(key, value), value)
        except OSError as error:
            # Named by the folder, not by the file, so that a full disk is reported once.
            raise OSError(error.errno, error.strerror or str(error), str(self._path)) from error

    def _entry(self, key: str) -> pathlib.Path:
        # Of any length and in any alphabet, keys make poor names.
        return self._path / (hashlib.sha256(key.encode()).hexdigest() + ENTRY)

    def _sweep(self, size: int) -> int:
        """Make room for so many bytes by least use; how many more may be written before the next look."""
        entries, total = [], size
        with os.scandir(self._path) as found:
            for each in found:
                with contextlib.suppress(FileNotFoundError):
                    if each.name.endswith(ENTRY):
                        status = each.stat()
                        entries.append((status.st_mtime_ns, status.st_size, each.path))
                        total += status.st_size
                    elif each.name.endswith(UNFINISHED) and each.stat().st_mtime < time.time() - _ABANDONED:
                        os.unlink(each.path)
        if total > self._limit * 7 // 8:
            for _, length, path in sorted(entries):
                if total <= self._limit * 3 // 4:
                    break
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path)
                total -= length
        return max(0, self._limit - total) // 8


def _write(path: pathlib.Path, *parts: bytes) -> None:
    """The file whole or not at all, for this user alone."""
    unfinished = path.with_suffix(f".{os.urandom(8).hex()}{UNFINISHED}")
    try:
        with unfinished.open("xb") as file:
            if os.name == "posix":
                os.fchmod(file.fileno(), 0o600)
            file.writelines(parts)
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def _digest(key: str, content: bytes) -> bytes:
    digest = hashlib.sha256(key.encode() + b"\0")
    digest.update(content)
    return digest.digest()


def _is_private(status: os.stat_result) -> bool:
    """Whether nobody but this user can write there; assumed on systems other than POSIX."""
    return os.name != "posix" or (status.st_uid == os.geteuid() and not status.st_mode & 0o022)


def _is_remote(path: str) -> bool:
    return "://" in path

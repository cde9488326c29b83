"""Files in memory that processes share, by names which are gone when nobody needs them.

NOTE [Names of shared memory]
    Memory that several processes are to have is a file in ``/dev/shm``, and each process maps it. A name is
    one process's or one message's, never shared: a process has one for memory that it has mapped, by which it
    can give the memory on, and takes it away when it lets go of the memory, or ends. A message has one of its
    own, and whoever receives it keeps that as its name, or takes it away. So the sender may be gone by then,
    and nobody counts. What a killed process leaves, or a message that nobody receives, is removed by the
    resource tracker of ``multiprocessing`` when the last of its processes has ended.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import secrets
from multiprocessing import resource_tracker, util
from typing import Any

_FOLDER = "/dev/shm"

#: Whether this system has such files; elsewhere tensors are sent as copies.
AVAILABLE = os.path.isdir(_FOLDER)


def _path(name: str) -> str:
    return os.path.join(_FOLDER, name)


def _new_name() -> str:
    name = f"jaxflow_{os.getpid()}_{secrets.token_hex(8)}"
    resource_tracker.register("/" + name, "shared_memory")
    return name


def _removed(name: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(_path(name))
    resource_tracker.unregister("/" + name, "shared_memory")


def made(nbytes: int) -> tuple[str, mmap.mmap]:
    """A new file of this size, which is not 0: its name, and the memory.

    RuntimeError where there is no room for it.
    """
    name = _new_name()
    try:
        file = os.open(_path(name), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.posix_fallocate(file, 0, nbytes)  # else the first write without room would end the process
            return name, mmap.mmap(file, nbytes)
        finally:
            os.close(file)
    except BaseException as error:
        _removed(name)
        if isinstance(error, OSError):
            raise RuntimeError(
                f"unable to allocate shared memory (shm) for file <{_path(name)}>: {error.strerror} "
                f"({error.errno})") from error
        raise


def let_go_with(owner: Any, name: str) -> None:
    """Take the name away when ``owner`` is gone, or this process ends."""
    util.Finalize(owner, _removed, (name,), exitpriority=-100)  # after what queues still have to send


def named_for_message(name: str) -> str:
    """Another name of the file, for one message."""
    other = _new_name()
    try:
        os.link(_path(name), _path(other))
    except BaseException:
        _removed(other)
        raise
    return other


def identity_of(name: str) -> tuple[int, int]:
    """What identifies the file, whatever its name."""
    about = os.stat(_path(name))
    return about.st_dev, about.st_ino


def mapped(name: str, nbytes: int) -> mmap.mmap:
    """The memory of a file that another process has made. The name is this process's from now on."""
    resource_tracker.register("/" + name, "shared_memory")  # of a process that is no relative, too
    file = os.open(_path(name), os.O_RDWR)
    try:
        return mmap.mmap(file, nbytes)
    finally:
        os.close(file)


def take_away(name: str) -> None:
    """Take away the name of a message whose memory this process has already."""
    _removed(name)

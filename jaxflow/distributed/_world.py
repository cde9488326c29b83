"""Groups of processes: the world, which is this process alone, and groups in it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

_UNINITIALIZED = (
    "Default process group has not been initialized, please make sure to call init_process_group."
)
_BACKENDS = ("gloo", "nccl", "ucc", "mpi", "xccl")


class Backend(str):
    """The name of what carries the messages, in lower case. There are none to carry: all are accepted."""

    UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL = "undefined", *_BACKENDS

    def __new__(cls, name: str) -> Backend:
        if not isinstance(name, str):
            raise ValueError(f"Backend constructor parameter must be string-ish: {name}")
        return super().__new__(cls, name.lower())


class ProcessGroup:
    """Some of the world's processes; here one, or none."""

    def __init__(self, ranks: tuple[int, ...], backend: Backend) -> None:
        self._ranks = ranks
        self._backend = backend

    def rank(self) -> int:
        """The number of this process in the group; -1 outside."""
        return 0 if self._ranks else -1

    def size(self) -> int:
        """How many processes are in the group."""
        return len(self._ranks)

    def name(self) -> str:
        """The name of the backend."""
        return str(self._backend)


class GroupMember:
    """What ``new_group`` returns to a process that is not in the group."""

    NON_GROUP_MEMBER = -100


class _Group(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:
        """The group of all processes; None before `init_process_group`."""
        return _world


class group(metaclass=_Group):
    """Where ``WORLD`` is found."""


_world: ProcessGroup | None = None


def is_available() -> bool:
    """False: there is no package of distributed programs, only what a world of one process needs.

    Libraries import sharded tensors, meshes of devices and remote checkpoints where this is True.
    `init_process_group` and the collectives of a world of one process work nevertheless.

    Returns:
        False.

    Example:
        >>> torch.distributed.is_available(), torch.distributed.is_initialized()
        (False, False)
    """
    return False


def is_initialized() -> bool:
    """Whether there is a world.

    Returns:
        True between `init_process_group` and `destroy_process_group`.

    Example:
        >>> torch.distributed.init_process_group("gloo", rank=0, world_size=1)
        >>> torch.distributed.is_initialized()
        True
        >>> torch.distributed.destroy_process_group()
        >>> torch.distributed.is_initialized()
        False
    """
    return _world is not None


def is_gloo_available() -> bool:
    """True: its name is accepted."""
    return True


def is_nccl_available() -> bool:
    """False: nothing here is made by it, though its name is accepted."""
    return False


def is_mpi_available() -> bool:
    """False: nothing here is made by it, though its name is accepted."""
    return False


def is_torchelastic_launched() -> bool:
    """Whether ``torchrun`` started this process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def init_process_group(backend: str | None = None, init_method: str | None = None, timeout: Any = None,
                       world_size: int = -1, rank: int = -1, store: Any = None, group_name: str = "",
                       pg_options: Any = None, device_id: Any = None, _ranks: Any = None) -> None:
    """Make the world, which is this process alone.

    Args:
        backend: ``"gloo"``, ``"nccl"``, ... (also ``"cpu:gloo,cuda:nccl"``), which `get_backend` then says.
        init_method: how processes find each other; ``env://`` (the default) looks for ``RANK`` and
            ``WORLD_SIZE`` in the environment where the arguments do not say them.
        timeout: accepted without effect.
        world_size: how many processes there are.
        rank: which of them this is.
        store: instead of ``init_method``; then ``world_size`` and ``rank`` have to be given.
        group_name: accepted without effect.
        pg_options: accepted without effect.
        device_id: accepted without effect.
        _ranks: accepted without effect.

    Returns:
        None.

    Raises:
        ValueError: if there is a world already, or nobody says how large it is.
        NotImplementedError: for more than one process.
        AssertionError: for a world size below 1, a rank other than 0, an unknown backend, or both an
            ``init_method`` and a ``store``.

    Example:
        >>> torch.distributed.init_process_group("gloo", rank=0, world_size=1)
        >>> torch.distributed.get_backend(), torch.distributed.get_world_size()
        ('gloo', 1)
        >>> torch.distributed.destroy_process_group()
    """
    global _world
    if _world is not None:
        raise ValueError("trying to initialize the default process group twice!")
    if store is not None and init_method is not None:
        raise AssertionError("Cannot specify both init_method and store.")
    if store is None and (init_method is None or init_method.startswith("env://")):
        rank = _from_environment("RANK") if rank < 0 else rank
        world_size = _from_environment("WORLD_SIZE") if world_size < 0 else world_size
    if world_size < 1:
        raise AssertionError("world_size must be positive if using store" if store is not None else
                             "world_size must be positive")
    if world_size > 1:
        raise NotImplementedError(
            f"init_process_group() with world_size={world_size}: jaxflow's torch.distributed is a world of "
            "one process. Start the program once; on several devices of one machine share the work by "
            "jax.sharding."
        )
    if rank != 0:
        raise AssertionError(f"rank must be 0 in a world of one process, got {rank}")
    found = Backend("undefined" if backend is None else backend)
    names = [part.rpartition(":")[2] for part in found.split(",")]
    unknown = [name for name in names if name not in (*_BACKENDS, Backend.UNDEFINED)]
    if unknown:
        raise AssertionError(f"Unknown backend type {unknown[0]}")
    _world = ProcessGroup((0,), found)


def _from_environment(name: str) -> int:
    found = os.environ.get(name)
    if found is None:
        raise ValueError("Error initializing torch.distributed using env:// rendezvous: environment "
                         f"variable {name} expected, but not set")
    return int(found)


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """End a group; without an argument, or for the world, all of them. AssertionError without a world.

    Args:
        group: what `new_group` returned; None for the world.

    Returns:
        None.

    Raises:
        AssertionError: without an argument, if there is no world.

    Example:
        >>> torch.distributed.init_process_group("gloo", rank=0, world_size=1)
        >>> torch.distributed.destroy_process_group()
        >>> torch.distributed.is_initialized()
        False
    """
    global _world
    if group is None and _world is None:
        raise AssertionError("Process group cannot be None")
    if group is None or group is _world:
        _world = None


def group_of(group: ProcessGroup | None) -> ProcessGroup:
    """The group that an argument means. ValueError without a world, and for what is no group."""
    if _world is None:
        raise ValueError(_UNINITIALIZED)
    if group is None:
        return _world
    if not isinstance(group, ProcessGroup):
        raise ValueError(
            f"Group {group} is not registered, please create group with torch.distributed.new_group API"
        )
    return group


def get_rank(group: ProcessGroup | int | None = None) -> int:
    """The number of this process: 0; -1 in a group it does not belong to.

    Args:
        group: what `new_group` returned; None for the world.

    Returns:
        0 or -1.

    Raises:
        ValueError: without a world, and for what is no group.

    Example:
        >>> torch.distributed.init_process_group("gloo", rank=0, world_size=1)
        >>> torch.distributed.get_rank()
        0
        >>> torch.distributed.destroy_process_group()
    """
    return -1 if outside(group) else group_of(group).rank()


def get_world_size(group: ProcessGroup | int | None = None) -> int:
    """How many processes the group has: 1; -1 for a group that this one does not belong to.

    Args:
        group: what `new_group` returned; None for the world.

    Returns:
        1 or -1.

    Raises:
        ValueError: without a world, and for what is no group.

    Example:
        >>> torch.distributed.init_process_group("gloo", rank=0, world_size=1)
        >>> torch.distributed.get_world_size()
        1
        >>> torch.distributed.destroy_process_group()
    """
    return -1 if outside(group) else group_of(group).size()


def get_backend(group: ProcessGroup | None = None) -> Backend:
    """The name that `init_process_group` was given.

    Args:
        group: a group of processes; None for the world.

    Returns:
        The name in lower case, a ``Backend``, which is a string; ``"undefined"`` if none was given.

    Raises:
        ValueError: without a world, and for what is no group.

    Example:
        >>> torch.distributed.init_process_group("NCCL", rank=0, world_size=1)
        >>> torch.distributed.get_backend()
        'nccl'
        >>> torch.distributed.destroy_process_group()
    """
    return group_of(group)._backend


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """``$LOCAL_RANK``, or ``fallback_rank``. RuntimeError without both."""
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is None:
        raise RuntimeError("LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow "
                           "`get_node_local_rank` to work, assuming you are not running in a multi-device "
                           "context and want the code to run locally instead.")
    return int(fallback_rank)


def get_process_group_ranks(group: ProcessGroup | None) -> list[int]:
    """The world's numbers of a group's processes."""
    return list(group_of(group)._ranks)


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """The world's number of a group's process. ValueError if the group has none of that number."""
    if group_of(group) is not _world and group_rank not in group._ranks:
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return group_rank


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """A group's number of one of the world's processes. ValueError if it does not belong to it."""
    if group_of(group) is not _world and global_rank not in group._ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return global_rank


def outside(group: Any) -> bool:
    """Whether this process is not in the group."""
    return group.__class__ is int and group == GroupMember.NON_GROUP_MEMBER


def new_group(ranks: Iterable[int] | None = None, timeout: Any = None, backend: str | None = None,
              pg_options: Any = None, use_local_synchronization: bool = False, group_desc: str | None = None,
              device_id: Any = None, sort_ranks: bool = True) -> ProcessGroup | int:
    """A group of some of the world's processes, or GroupMember.NON_GROUP_MEMBER.

    Raises:
        ValueError: for a process the world does not have, or one that is named twice.
    """
    world = group_of(None)
    chosen = list(world._ranks) if ranks is None else list(ranks)
    for rank in chosen:
        if rank not in world._ranks:
            raise ValueError(f"Rank {rank} is out of range. Valid ranks are 0 to 0 (world_size=1)")
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"ranks list must not contain duplicate entries, got {chosen}")
    if not chosen:
        return GroupMember.NON_GROUP_MEMBER
    return ProcessGroup(tuple(chosen), world._backend if backend is None else Backend(backend))

"""Python's ``multiprocessing``, and PyTorch's ``spawn``.

Tensors travel between processes by their memory, which both sides share from then on: `reductions`. Start
processes with ``spawn``: jax has threads of its own, which a forked child does not have.
"""

from __future__ import annotations

import multiprocessing as _multiprocessing
import sys
from multiprocessing import *  # noqa: F403 - all of its names, as torch.multiprocessing has them

from .reductions import init_reductions as init_reductions
from .spawn import ProcessContext as ProcessContext
from .spawn import ProcessException as ProcessException
from .spawn import ProcessExitedException as ProcessExitedException
from .spawn import ProcessRaisedException as ProcessRaisedException
from .spawn import SpawnContext as SpawnContext
from .spawn import spawn as spawn
from .spawn import start_processes as start_processes

__all__ = _multiprocessing.__all__ + [  # noqa: RUF005 - so that linters can read it
    "get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy", "spawn", "start_processes",
]


_STRATEGIES = {"file_descriptor", "file_system"}
_chosen: list[str] = []
_FIRST = "file_descriptor" if sys.platform == "linux" else "file_system"


def get_all_sharing_strategies() -> set[str]:
    """PyTorch's names for how processes find shared memory. Here files in memory are found by name."""
    return set(_STRATEGIES)


def get_sharing_strategy() -> str:
    """The strategy that was set, at first PyTorch's for this system."""
    return _chosen[0] if _chosen else _FIRST


def set_sharing_strategy(new_strategy: str) -> None:
    """Set one of PyTorch's two strategies, which makes no difference.

    Names are taken away as soon as nobody needs them, and nothing keeps descriptors open.
    """
    if new_strategy not in _STRATEGIES:
        raise AssertionError(f"invalid sharing strategy {new_strategy}")
    _chosen[:] = [new_strategy]


init_reductions()

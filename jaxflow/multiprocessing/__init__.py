"""Python's ``multiprocessing``, and PyTorch's ``spawn``.

Tensors travel between processes as copies of their values. Start processes with ``spawn``: jax has threads
of its own, which a forked child does not have.
"""

from __future__ import annotations

import multiprocessing as _multiprocessing
from multiprocessing import *  # noqa: F403 - all of its names, as torch.multiprocessing has them

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


def get_all_sharing_strategies() -> set[str]:
    """How tensors can be handed to another process: as copies, under PyTorch's name for files in memory."""
    return {"file_system"}


def get_sharing_strategy() -> str:
    """The strategy in use."""
    return "file_system"


def set_sharing_strategy(new_strategy: str) -> None:
    """Accepted for PyTorch's two strategies, without effect: tensors are copied."""
    if new_strategy not in ("file_system", "file_descriptor"):
        raise AssertionError(f"invalid sharing strategy {new_strategy}")

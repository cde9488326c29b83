"""``torch.distributed.rpc`` as in a build of PyTorch that has no remote calls: there is one process."""

from __future__ import annotations

from typing import NoReturn


def is_available() -> bool:
    """False: nothing can be called in another process.

    Returns:
        bool.

    Example:
        >>> torch.distributed.rpc.is_available()
        False
    """
    return False


def __getattr__(name: str) -> NoReturn:
    raise AttributeError(f"module 'torch.distributed.rpc' has no attribute '{name}': jaxflow runs in one "
                         "process and makes no remote calls; rpc.is_available() is False")

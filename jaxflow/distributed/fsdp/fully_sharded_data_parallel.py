"""Classes that cannot be made, as there is one process to spread parameters over."""

from __future__ import annotations

from typing import Any, NoReturn

from jaxflow.nn import Module

__all__ = ["FSDPModule", "FullyShardedDataParallel", "fully_shard"]


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(f"torch.distributed.fsdp.{name} is not supported: there is one process; use "
                              "the module itself")


class FullyShardedDataParallel(Module):
    """A module with its parameters spread over processes.

    Raises:
        NotImplementedError: when one is made.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:
        _refuse("FullyShardedDataParallel")


class FSDPModule:
    """What `fully_shard` makes of a module.

    Raises:
        NotImplementedError: when one is made.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        _refuse("FSDPModule")


def fully_shard(module: Module, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError: there is one process."""
    _refuse("fully_shard()")

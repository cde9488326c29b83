"""``fork`` and ``wait``: calls whose results come as futures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow.futures import Future


def fork(func: Callable, *args: Any, **kwargs: Any) -> Future:
    """A future of what ``func`` returns; it runs at once, as in PyTorch outside of scripted code.

    Args:
        func: a function or a module.
        args: its arguments.
        kwargs: its named arguments.

    Returns:
        A future that is done.

    Raises:
        Whatever ``func`` raises.

    Example:
        >>> future = torch.jit.fork(torch.add, torch.ones(2), 1)
        >>> torch.jit.wait(future)
        tensor([2., 2.])
    """
    future: Future = Future()
    future.set_result(func(*args, **kwargs))
    return future


def wait(future: Future) -> Any:
    """The result of a future. TypeError for what is none."""
    if not isinstance(future, Future):
        raise TypeError(f"wait(): incompatible function arguments: a Future, not {type(future).__name__}")
    return future.wait()

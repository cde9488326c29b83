"""What has little to do where programs are recorded: unwrapping, and functions without mutation."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from jaxflow._core.tensor import Tensor, make
from jaxflow._exec.run import run
from jaxflow._transforms import batching
from jaxflow._views.values import value_of


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Tensor:
    """Inside ``vmap`` all examples of a tensor, along first dimensions: for looking at, without a history.

    ``recurse`` takes it out of every vmap, not of the innermost alone. Elsewhere the tensor itself.
    """
    value = value_of(tensor)
    axes = sorted(batching.axes_of(value), key=lambda axis: axis.serial, reverse=True)
    if not axes:
        return tensor
    for axis in axes if recurse else axes[:1]:
        value = batching.show(run, value, axis)
    return make(value)


def functionalize(func: Callable, *, remove: str = "mutations") -> Callable:
    """``func`` as it is: what jaxflow records of it has neither mutations nor views.

    Raises:
        RuntimeError: for a ``remove`` other than ``mutations`` and ``mutations_and_views``.
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. Valid "
            "options are:\n     remove='mutations': in-place and out= operations are replaced\n     "
            "remove='mutations_and_views': views are replaced as well"
        )

    @functools.wraps(func)
    def functional(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return functional

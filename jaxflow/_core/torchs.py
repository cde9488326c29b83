"""Tensors of PyTorch itself, in programs that use both: recognised, read and refused; nothing is imported.

NOTE [Two kinds of tensors]
    Each side would call the other's ``__torch_function__``, and this would never end. A tensor of PyTorch is
    therefore no operand of anything here, nor ours one of anything there: both ways one TypeError says how to
    convert. What takes data (``tensor``, ``as_tensor``, ``asarray``, ``from_dlpack``, ``load_state_dict``)
    takes PyTorch's tensors as data, and copies them; ``asarray`` and ``from_dlpack`` share their memory. They
    are recognised by the names of their classes, so that a process without PyTorch never looks for it.

    Operations see them among their operands. Functions that are made of others do not look at what they are
    given, and would fail on some attribute. Where PyTorch is imported, an error that such a function raises
    is looked at on its way out (``jaxflow._publish.mixing``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from . import dtype as dtypes
from .inner import FORMER

#: Functions that take tensors of PyTorch as data or test what something is, and have errors of their own.
TAKE_ANYTHING = frozenset("tensor as_tensor asarray from_numpy from_dlpack new_tensor new __new__ is_tensor "
                          "is_storage typename".split())

#: What is to be done once, when PyTorch is seen in this process.
on_met: list[Callable[[], None]] = []


def look() -> None:
    """Do what is to be done once PyTorch is imported, if it is. Called where time does not matter."""
    there = getattr(sys.modules.get("torch"), "Tensor", None)
    if on_met and there not in FORMER and getattr(there, "__module__", None) == "torch":
        for each in list(on_met):  # all of them again, where an interrupt comes in between
            each()
        on_met.clear()


def is_torchs(x: Any) -> bool:
    """Whether ``x`` is a tensor of PyTorch."""
    for cls in type(x).__mro__:
        if cls.__name__ == "Tensor" and vars(cls).get("__module__") == "torch" and cls not in FORMER:
            return True
    return False


def has_torchs(values: Any) -> bool:
    """Whether one of the values, or of what is in lists and tuples among them, is a tensor of PyTorch."""
    return any(has_torchs(x) if x.__class__ in (list, tuple) else is_torchs(x) for x in values)


def is_function_of_torch(function: Any) -> bool:
    """Whether a function, method or accessor is PyTorch's own."""
    owner = getattr(function, "__objclass__", None)
    if owner is None:
        owner = getattr(getattr(function, "__self__", None), "__objclass__", function)
    module = getattr(owner, "__module__", None) or ""
    return module.partition(".")[0] == "torch" and owner not in FORMER


def refusal(name: str) -> TypeError:
    """The error of ``name``, which was given tensors of both kinds, or of the other one."""
    call = name if " " in name else f"{name if name.startswith('__') else name.lstrip('_')}()"
    return TypeError(
        f"{call} cannot take tensors of PyTorch together with jaxflow's. Convert what is PyTorch's first: "
        "torch.from_dlpack(x.detach()), or torch.as_tensor(x), where torch is jaxflow; a whole model by "
        "load_state_dict"
    )


def shows_memory(x: Any) -> bool:
    """Whether a tensor of PyTorch has elements in the host's memory and shows them as they are.

    Their dtype has to be one that jaxflow has.
    """
    return (x.device.type == "cpu" and str(x.layout) == "torch.strided" and x.numel() > 0
            and not (x.is_conj() or x.is_neg()) and str(x.dtype).removeprefix("torch.") in dtypes.ALL)


def array_of(x: Any) -> np.ndarray:
    """The elements of a tensor of PyTorch, in its order of memory; shared with it where that is possible.

    Raises:
        TypeError: for what has no elements one by one (sparse, nested, quantized, ``meta``), and for dtypes
            that jaxflow does not have.
    """
    name = str(x.dtype).removeprefix("torch.")
    dtype = dtypes.ALL.get(name)
    if dtype is None:
        raise TypeError(f"a tensor of PyTorch of {x.dtype} cannot be converted: jaxflow has no such dtype")
    if str(x.layout) != "torch.strided":
        raise TypeError(
            f"a tensor of PyTorch of layout {x.layout} cannot be converted: convert it to_dense() first")
    if x.device.type == "meta":
        raise TypeError("a tensor of PyTorch on the device meta cannot be converted: it has no elements")
    x = x.detach().cpu().resolve_conj().resolve_neg()
    if dtype.np.type.__module__ == "numpy":
        return x.numpy()
    # PyTorch's ``numpy()`` does not take this dtype, so its bytes go as integers of the same width.
    empty = x.new_empty(0)
    integers = empty.byte() if dtype.itemsize == 1 else empty.short()
    return x.view(integers.dtype).numpy().view(dtype.np)

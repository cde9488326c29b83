"""Running one program of shared memory on a library, and comparing what two libraries noted."""

from __future__ import annotations

import concurrent.futures
import copy
import gc
import warnings
from contextlib import nullcontext

import numpy as np
import torch

import jaxflow
from compat_tests.fuzz.machine import running

#: How jaxflow runs a program: those of random programs over all operators, and with functions compiled.
MODES = ("interpreter", "compiled", "eager", "at_once", "compile")


def _in_thread(work) -> None:
    with concurrent.futures.ThreadPoolExecutor(1) as other:
        other.submit(work).result()


#: Of more elements a hash is noted.
_FEW = 60


def _elements(array: np.ndarray):
    if array.dtype == bool:  # whose bytes may be any
        array = np.where(array, 1, 0)
    return array.tolist() if array.size <= _FEW else hash(array.tobytes())


def _noted(x, library):
    """What is seen of an object: plain numbers, with shape and dtype."""
    if isinstance(x, library.Tensor):
        copied = x.detach().clone().numpy()
        return "tensor", str(x.dtype).partition(".")[2], tuple(x.shape), _elements(copied)
    if isinstance(x, np.ndarray):
        return "array", str(x.dtype), x.shape, bool(x.flags.writeable), _elements(x)
    if isinstance(x, memoryview):
        return "buffer", _elements(np.frombuffer(x, np.uint8))
    if isinstance(x, tuple):
        return tuple(_noted(y, library) for y in x)
    return str(x).replace("jaxflow.", "torch.")


def noted(lines: list[str], library, compiled=lambda function: function) -> list:
    """What a program notes on a library: ``(line, what)``, errors by their type."""
    log: list = []
    space = {"T": library, "np": np, "gc": gc, "copy": copy, "compiled": compiled, "in_thread": _in_thread}
    space["look"] = lambda x: log.append((line, _noted(x, library)))
    space["space"] = space
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for line in lines:
            try:
                exec(line, space)
            except Exception as error:  # noqa: BLE001 - what is refused is part of the answer
                log.append((line, type(error).__name__, str(error)))
                if "not resizable" in str(error):  # PyTorch's tensor reaches beyond its memory from here on
                    break
    return log


def first_difference(lines: list[str], mode: str) -> str | None:
    """What a program first notes otherwise on jaxflow than on torch; None where all is equal."""
    expected = noted(lines, torch)
    whole = mode == "compile"
    with running("interpreter" if whole else mode) or nullcontext():
        found = noted(lines, jaxflow, jaxflow.compile if whole else lambda function: function)
    for theirs, ours in zip(expected, found):
        if str(theirs[:2]) != str(ours[:2]):  # by text: nan is equal to nan
            return f"{theirs[0]}\n  torch:   {str(theirs[1:])[:300]}\n  jaxflow: {str(ours[1:])[:300]}"
    return None if len(expected) == len(found) else "one of them noted more"

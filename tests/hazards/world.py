"""What a program can see of its state, written down as plain values, and two such states compared."""

from __future__ import annotations

import collections
import types
from typing import Any

import numpy as np

import jaxflow as torch

RTOL, ATOL = 1e-5, 1e-6  # between executors: XLA fuses what eager mode runs one kernel at a time


class World(types.SimpleNamespace):
    """The variables of a scenario. A name with an underscore in front is not part of its state."""


class Unreadable(str):
    """Stands for the values of a tensor whose reading raised; the text says what."""

    __slots__ = ()


def snapshot(world: World, *, start: dict[str, Any] | None = None) -> dict[str, Any]:
    """Every fact of the state by a dotted name: values, versions, flags, history, gradients, modes.

    Versions are counted from ``start``, an earlier snapshot, where that is given.
    """
    state: dict[str, Any] = {
        "mode:grad": torch.is_grad_enabled(),
        "mode:inference": torch.is_inference_mode_enabled(),
        "mode:dtype": str(torch.get_default_dtype()),
    }
    for name, value in list(vars(world).items()):
        if not name.startswith("_"):
            _describe(name, value, state)
    try:
        state["rng"] = np.asarray(torch.get_rng_state().tolist())
    except Exception as error:
        state["rng"] = Unreadable(f"{type(error).__name__}: {error}")
    if start is not None:
        for name, value in state.items():
            if name.endswith("._version") and value is not None and start.get(name) is not None:
                state[name] = value - start[name]
    return state


def _describe(name: str, value: Any, state: dict[str, Any]) -> None:
    if isinstance(value, torch.Tensor):
        _describe_tensor(name, value, state)
    elif isinstance(value, torch.nn.Module):
        state[name + ".training"] = value.training
        for inner, tensor in [*value.named_parameters(), *value.named_buffers()]:
            _describe_tensor(f"{name}.{inner}", tensor, state)
    elif isinstance(value, torch.optim.Optimizer):
        _describe_optimizer(name, value, state)
    elif isinstance(value, (list, tuple, collections.deque)):
        state[name + ".length"] = len(value)
        for i, item in enumerate(value):
            _describe(f"{name}.{i}", item, state)
    elif isinstance(value, np.ndarray):
        state[name] = value.copy()
    elif isinstance(value, (bool, int, float, str, complex, type(None))):
        state[name] = value
    else:
        raise TypeError(f"a scenario's state cannot hold {name} = {value!r}")


def _describe_tensor(name: str, tensor: torch.Tensor, state: dict[str, Any]) -> None:
    if not tensor.is_nested:
        state[name + ".shape"] = (*tensor.shape,)
    state[name + ".dtype"] = str(tensor.dtype)
    try:
        state[name + ".requires_grad"] = tensor.requires_grad
        state[name + ".grad_fn"] = tensor.grad_fn.name() if tensor.grad_fn is not None else None
        state[name + "._version"] = None if tensor.is_inference() else tensor._version
        grad = tensor.grad if tensor.is_leaf or tensor.retains_grad else None
    except Exception as error:
        state[name] = Unreadable(f"{type(error).__name__}: {error}")
        return
    try:
        if tensor.is_nested:
            _describe(name, tensor.detach().unbind(), state)
        elif tensor.is_quantized:
            state[name + ".scale"], state[name + ".zero_point"] = tensor.q_scale(), tensor.q_zero_point()
            _describe_tensor(name + ".int_repr", tensor.int_repr(), state)
        else:
            state[name] = np.asarray(tensor.detach().tolist())
    except Exception as error:
        state[name] = Unreadable(f"{type(error).__name__}: {error}")
    if grad is not None:
        _describe_tensor(name + ".grad", grad, state)


def _describe_optimizer(name: str, optimizer: torch.optim.Optimizer, state: dict[str, Any]) -> None:
    for g, group in enumerate(optimizer.param_groups):
        for option, value in group.items():
            if option != "params":
                state[f"{name}.{g}.{option}"] = repr(value)
        for p, parameter in enumerate(group["params"]):
            if parameter in optimizer.state:
                for key, value in optimizer.state[parameter].items():
                    _describe(f"{name}.{g}.{p}.{key}", value, state)


def differences(state: dict[str, Any], other: dict[str, Any], *, exact: bool) -> list[str]:
    """Names of the facts in which two states differ."""
    return [name for name in {**state, **other}
            if name not in state or name not in other or not _same(state[name], other[name], exact)]


def _same(a: Any, b: Any, exact: bool) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if a.shape != b.shape:
            return False
        if exact or a.dtype.kind not in "fc":
            return np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
        return np.allclose(a, b, rtol=RTOL, atol=ATOL, equal_nan=True)
    if isinstance(a, float) and isinstance(b, float) and not exact:
        return bool(np.isclose(a, b, rtol=RTOL, atol=ATOL, equal_nan=True))
    return type(a) is type(b) and bool(a == b)

"""Hooks on every module of the process: on calls, on gradients, and on what gets registered."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from jaxflow.utils.hooks import RemovableHandle

FORWARD_PRE: dict[int, Callable] = OrderedDict()
FORWARD: dict[int, Callable] = OrderedDict()
FORWARD_WITH_KWARGS: dict[int, bool] = OrderedDict()
FORWARD_ALWAYS: dict[int, bool] = OrderedDict()
BACKWARD_PRE: dict[int, Callable] = OrderedDict()
BACKWARD: dict[int, Callable] = OrderedDict()
BUFFER_REGISTRATION: dict[int, Callable] = OrderedDict()
MODULE_REGISTRATION: dict[int, Callable] = OrderedDict()
PARAMETER_REGISTRATION: dict[int, Callable] = OrderedDict()

_backward_is_full: bool | None = None


def backward_is_full() -> bool | None:
    """Whether the global backward hooks are of the full kind; None before the first one."""
    return _backward_is_full


def _add(hooks: dict, hook: Callable, extra_dict: list[dict] | None = None) -> RemovableHandle:
    handle = RemovableHandle(hooks, extra_dict=extra_dict)
    hooks[handle.id] = hook
    return handle


def register_module_forward_pre_hook(hook: Callable) -> RemovableHandle:
    """Call ``hook(module, args)`` before every ``forward``; what it returns replaces ``args``."""
    return _add(FORWARD_PRE, hook)


def register_module_forward_hook(
    hook: Callable, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call ``hook(module, args, output)`` after every ``forward``; what it returns replaces the
    output.

    Args:
        with_kwargs: call ``hook(module, args, kwargs, output)`` instead.
        always_call: call it even when ``forward`` raised.
    """
    handle = _add(FORWARD, hook, extra_dict=[FORWARD_WITH_KWARGS, FORWARD_ALWAYS])
    if with_kwargs:
        FORWARD_WITH_KWARGS[handle.id] = True
    if always_call:
        FORWARD_ALWAYS[handle.id] = True
    return handle


def register_module_full_backward_pre_hook(hook: Callable) -> RemovableHandle:
    """Call ``hook(module, grad_output)`` before the gradients of every module are computed."""
    return _add(BACKWARD_PRE, hook)


def register_module_full_backward_hook(hook: Callable) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` once the gradients of a module's inputs exist.

    Raises:
        RuntimeError: when a hook of the older kind is registered.
    """
    return _add_backward(hook, full=True)


def register_module_backward_hook(hook: Callable) -> RemovableHandle:
    """Like `register_module_full_backward_hook`, seeing only the last operation of the module.

    Raises:
        RuntimeError: when a full backward hook is registered.
    """
    return _add_backward(hook, full=False)


def _add_backward(hook: Callable, full: bool) -> RemovableHandle:
    global _backward_is_full
    if _backward_is_full is (not full):
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module "
            "hook. Please use only one of them."
        )
    _backward_is_full = full
    return _add(BACKWARD, hook)


def register_module_buffer_registration_hook(hook: Callable) -> RemovableHandle:
    """Call ``hook(module, name, buffer)`` when a buffer is registered; it may replace it."""
    return _add(BUFFER_REGISTRATION, hook)


def register_module_module_registration_hook(hook: Callable) -> RemovableHandle:
    """Call ``hook(module, name, submodule)`` when a submodule is registered; it may replace it."""
    return _add(MODULE_REGISTRATION, hook)


def register_module_parameter_registration_hook(hook: Callable) -> RemovableHandle:
    """Call ``hook(module, name, parameter)`` when a parameter is registered; it may replace it."""
    return _add(PARAMETER_REGISTRATION, hook)


def replaced(hooks: dict[int, Callable], module: object, name: str, value: object) -> object:
    """Show ``value`` to the registration ``hooks`` and return what they made of it."""
    for hook in hooks.values():
        answer = hook(module, name, value)
        if answer is not None:
            value = answer
    return value

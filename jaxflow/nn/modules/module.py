"""`Module`: the base of every layer and model.

How a module is called and printed is here; the rest comes from its bases, one idea a file:
`_registry` holds parameters, buffers and submodules, `_tree` walks them, `_hooks` registers hooks,
`_state` saves and loads, `_convert` moves and casts.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from jaxflow._exec import explain
from jaxflow._exec.run import flush
from jaxflow.autograd.grad_mode import is_grad_enabled
from jaxflow.nn.modules import _global_hooks
from jaxflow.nn.modules._backward_hooks import GradientWatch, watch_last_node
from jaxflow.nn.modules._convert import Convert as _Convert
from jaxflow.nn.modules._global_hooks import (
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from jaxflow.nn.modules._state import _EXTRA_STATE_KEY_SUFFIX as _EXTRA_STATE_KEY_SUFFIX
from jaxflow.nn.modules._state import StateDict as _StateDict
from jaxflow.nn.modules._state import _IncompatibleKeys as _IncompatibleKeys

__all__ = [
    "Module",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

T_destination = TypeVar("T_destination", bound=dict[str, Any])

_FORWARD_PRE, _FORWARD = _global_hooks.FORWARD_PRE, _global_hooks.FORWARD
_BACKWARD_PRE, _BACKWARD = _global_hooks.BACKWARD_PRE, _global_hooks.BACKWARD

# PyTorch's names of the tables, which tests empty and libraries look through.
_global_backward_pre_hooks = _BACKWARD_PRE
_global_backward_hooks = _BACKWARD
_global_forward_pre_hooks = _global_hooks.FORWARD_PRE
_global_forward_hooks = _global_hooks.FORWARD
_global_forward_hooks_always_called = _global_hooks.FORWARD_ALWAYS
_global_forward_hooks_with_kwargs = _global_hooks.FORWARD_WITH_KWARGS
_global_buffer_registration_hooks = _global_hooks.BUFFER_REGISTRATION
_global_module_registration_hooks = _global_hooks.MODULE_REGISTRATION
_global_parameter_registration_hooks = _global_hooks.PARAMETER_REGISTRATION


def _has_any_global_hook() -> bool:
    """Whether a hook is on the calls or the gradients of every module."""
    return bool(_BACKWARD_PRE or _BACKWARD or _global_forward_pre_hooks or _global_forward_hooks
                or _global_forward_hooks_always_called or _global_forward_hooks_with_kwargs)


def __getattr__(name: str) -> Any:
    if name == "_global_is_full_backward_hook":  # which changes
        return _global_hooks.backward_is_full()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")



class _Calls(threading.local):
    """Whether this thread is inside the call of some module, and which compiled one is to run as it is."""

    inside = False
    plain: Any = None


_calls = _Calls()


def _leave_outermost_call() -> None:
    """With grad off, the end of an outermost call is a natural boundary of the executor."""
    if not is_grad_enabled():
        flush(explain.MODULE)


class Module(_Convert, _StateDict):
    """Base class of layers and models.

    A subclass calls ``super().__init__()``, assigns parameters, buffers and submodules as
    attributes, and defines ``forward``, which runs when the module is called.

    Args:
        args, kwargs: none are taken, unless the class attribute ``call_super_init`` is true: then they are
            passed on to the next base class.

    Raises:
        TypeError: for an argument.

    Example:
        >>> class Affine(nn.Module):
        ...     def __init__(self, size):
        ...         super().__init__()
        ...         self.scale = nn.Parameter(torch.ones(size))
        ...         self.shift = nn.Parameter(torch.zeros(size))
        ...     def forward(self, x):
        ...         return self.scale * x + self.shift
        >>> model = nn.Sequential(Affine(2), nn.ReLU())
        >>> model(torch.tensor([-1.0, 2.0])).tolist()
        [0.0, 2.0]
        >>> [(name, p.shape) for name, p in model.named_parameters()]
        [('0.scale', torch.Size([2])), ('0.shift', torch.Size([2]))]
    """

    dump_patches: bool = False
    training: bool
    T_destination = T_destination
    _compiled_call_impl: Callable | None = None
    compile: Callable[..., None]  # jaxflow.compiler, which imports this class, defines it

    def forward(self, *input: Any) -> Any:
        """What the module computes; every subclass overrides it.

        Raises:
            NotImplementedError: when it does not.
        """
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if (
            self._backward_hooks
            or self._backward_pre_hooks
            or self._forward_hooks
            or self._forward_pre_hooks
            or _BACKWARD
            or _BACKWARD_PRE
            or _FORWARD
            or _FORWARD_PRE
            or self._compiled_call_impl is not None
        ):
            run = self._call_with_hooks
        else:
            run = self.forward
        if _calls.inside:
            return run(*args, **kwargs)
        try:
            _calls.inside = True
            result = run(*args, **kwargs)
            _calls.inside = False
        except BaseException:  # an interrupt, too: NOTE [Modes and interrupts]
            _calls.inside = False
            raise
        _leave_outermost_call()
        return result

    def _call_with_hooks(self, *args: Any, **kwargs: Any) -> Any:
        if self._compiled_call_impl is not None and _calls.plain is not self:
            return self._compiled_call_impl(*args, **kwargs)
        _calls.plain = None
        call = _HookedCall(self, args, kwargs)
        try:
            return call.run()
        except Exception:
            call.run_hooks_due_after_error()
            raise

    def _call_impl(self, *args: Any, **kwargs: Any) -> Any:
        """The call as it is without `compile`, hooks included."""
        _calls.plain = self
        return self(*args, **kwargs)

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What to print between the parentheses of ``repr``; subclasses override it."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        one_line = len(lines) <= 1 and not self._modules
        for name, module in self._modules.items():
            indented = repr(module).replace("\n", "\n  ")
            lines.append(f"({name}): {indented}")
        if one_line:
            return f"{self._get_name()}({extra})"
        body = "".join(f"  {line}\n" for line in lines)
        return f"{self._get_name()}(\n{body})"


class _HookedCall:
    """One call of a module that has hooks, or during which global hooks are set."""

    def __init__(self, module: Module, args: tuple, kwargs: dict) -> None:
        self.module, self.args, self.kwargs = module, args, kwargs
        self.result: Any = None
        self.ran: set[int] = set()

    def run(self) -> Any:
        """Pre-hooks, ``forward``, hooks; gradients are watched where there are backward hooks."""
        module = self.module
        full_pre = [*_BACKWARD_PRE.values(), *module._backward_pre_hooks.values()]
        full, last_node = [], []
        (full if _global_hooks.backward_is_full() else last_node).extend(_BACKWARD.values())
        (full if module._is_full_backward_hook else last_node).extend(
            module._backward_hooks.values()
        )
        self._run_pre_hooks()
        watch = GradientWatch(module, full, full_pre) if full or full_pre else None
        if watch is not None:
            self.args = watch.watch_inputs(self.args)
        self.result = module.forward(*self.args, **self.kwargs)
        for key, hook, with_kwargs, always in self._forward_hooks():
            if always:
                self.ran.add(key)
            self._run_forward_hook(hook, with_kwargs)
        if watch is not None:
            self.result = watch.watch_outputs(self.result)
        if last_node:
            watch_last_node(module, last_node, self.args, self.result)
        return self.result

    def _run_pre_hooks(self) -> None:
        module = self.module
        with_kwargs = module._forward_pre_hooks_with_kwargs
        for key, hook in [*_FORWARD_PRE.items(), *module._forward_pre_hooks.items()]:
            if key in with_kwargs:
                answer = hook(module, self.args, self.kwargs)
                if answer is None:
                    continue
                if not isinstance(answer, tuple) or len(answer) != 2:
                    raise RuntimeError(
                        "forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
                        f"but got {answer}."
                    )
                self.args, self.kwargs = answer
            else:
                answer = hook(module, self.args)
                if answer is not None:
                    self.args = answer if isinstance(answer, tuple) else (answer,)

    def _forward_hooks(self) -> list[tuple[int, Callable, bool, bool]]:
        module = self.module
        return [
            (key, hook, key in with_kwargs, key in always)
            for hooks, with_kwargs, always in (
                (_FORWARD, _global_hooks.FORWARD_WITH_KWARGS, _global_hooks.FORWARD_ALWAYS),
                (
                    module._forward_hooks,
                    module._forward_hooks_with_kwargs,
                    module._forward_hooks_always_called,
                ),
            )
            for key, hook in hooks.items()
        ]

    def _run_forward_hook(self, hook: Callable, with_kwargs: bool) -> None:
        extra = (self.kwargs,) if with_kwargs else ()
        answer = hook(self.module, self.args, *extra, self.result)
        if answer is not None:
            self.result = answer

    def run_hooks_due_after_error(self) -> None:
        """Run the hooks that are always called and have not run; their errors become warnings."""
        for key, hook, with_kwargs, always in self._forward_hooks():
            if not always or key in self.ran:
                continue
            try:
                self._run_forward_hook(hook, with_kwargs)
            except Exception as error:
                where = "global module" if key in _FORWARD else "module"
                warnings.warn(
                    f"{where} forward hook with ``always_call=True`` raised an exception that was "
                    f"silenced as another error was raised in forward: {error}",
                    stacklevel=2,
                )

"""The optimizer's shell: parameter groups, state, checkpoints and hooks; no mathematics."""

from __future__ import annotations

import functools
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any

from jaxflow import _functions as functions
from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor
from jaxflow._core.torchs import is_torchs, refusal
from jaxflow._exec import explain
from jaxflow.autograd.tensor import zero_grads
from jaxflow.utils.hooks import RemovableHandle

from . import _device_state
from ._hooks import HookTable

_global_pre_hooks = HookTable()
_global_post_hooks = HookTable()

_INSTANCE_HOOKS = (
    "_optimizer_step_pre_hooks",
    "_optimizer_step_post_hooks",
    "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks",
    "_optimizer_load_state_dict_post_hooks",
)


class _Required:
    """Marks a default that every parameter group has to give itself."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


def register_optimizer_step_pre_hook(hook: Callable) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` before every step of every optimizer."""
    return _global_pre_hooks.add(hook)


def register_optimizer_step_post_hook(hook: Callable) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` after every step of every optimizer."""
    return _global_post_hooks.add(hook)


def _with_hooks(step: Callable) -> Callable:
    """Surround a class's ``step`` with its hooks, and end the recorded program after it."""

    @functools.wraps(step)
    def wrapper(*args, **kwargs):
        self = args[0]
        for hook in chain(_global_pre_hooks.values(), self._optimizer_step_pre_hooks.values()):
            changed = hook(self, args, kwargs)
            if changed is None:
                continue
            if not (isinstance(changed, tuple) and len(changed) == 2):
                raise RuntimeError(
                    f"{step} must return None or a tuple of (new_args, new_kwargs), but got "
                    f"{changed}."
                )
            args, kwargs = changed
        result = step(*args, **kwargs)
        for hook in chain(self._optimizer_step_post_hooks.values(), _global_post_hooks.values()):
            hook(self, args, kwargs)
        _device_state.program_boundary(explain.STEP)
        return result

    wrapper.hooked = True
    return wrapper


class Optimizer:
    """Base of all optimizers: holds ``param_groups``, ``state`` and the ``defaults`` of a group.

    A subclass defines ``step``, which reads each parameter's ``.grad``. Each entry of ``param_groups`` is
    a dict of a list ``"params"`` and its options; ``state`` has a dict for each parameter.

    Args:
        params: tensors, ``(name, tensor)`` pairs, or dicts (one a group) with a ``params`` entry.
        defaults: option values for groups that do not give their own.

    Raises:
        TypeError: when ``params`` is a single tensor or a set, or holds something that is not a tensor.
        ValueError: when it is empty, holds a non-leaf, or holds a parameter in two groups.

    Example:
        >>> class SignDescent(torch.optim.Optimizer):
        ...     def __init__(self, params, lr=0.5):
        ...         super().__init__(params, {"lr": lr})
        ...     @torch.no_grad()
        ...     def step(self, closure=None):
        ...         for group in self.param_groups:
        ...             for p in group["params"]:
        ...                 p -= group["lr"] * p.grad.sign()
        >>> p, q = nn.Parameter(torch.tensor([1.0])), nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = SignDescent([{"params": [p]}, {"params": [q], "lr": 2.0}])
        >>> (3 * p - 7 * q).sum().backward()
        >>> optimizer.step()
        >>> p.tolist(), q.tolist()
        ([0.5], [3.0])
    """

    def __init__(self, params: Iterable, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self._prepare()
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                "but got " + _typename(params)
            )
        self.state: defaultdict = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)
        _device_state.program_boundary(explain.OPTIMIZER)  # NOTE [First states are known arrays]

    def _prepare(self) -> None:
        """What an instance needs besides its pickled state."""
        for name in _INSTANCE_HOOKS:
            if name not in self.__dict__:
                setattr(self, name, HookTable())
        cls = self.__class__
        if not getattr(cls.step, "hooked", False):
            cls.step = _with_hooks(cls.step)

    def __getstate__(self) -> dict[str, Any]:
        return {
            "defaults": self.defaults,
            "state": self.state,
            "param_groups": self.param_groups,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self) -> str:
        text = f"{self.__class__.__name__} ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n"
            for key in sorted(group):
                if key != "params":
                    text += f"    {key}: {group[key]}\n"
        return text + ")"

    # ----- Hooks -----

    def register_step_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before ``step``; it may return new ones."""
        return self._optimizer_step_pre_hooks.add(hook)

    def register_step_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after ``step``."""
        return self._optimizer_step_post_hooks.add(hook)

    def register_state_dict_pre_hook(
        self, hook: Callable, prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer)`` before ``state_dict``."""
        return self._optimizer_state_dict_pre_hooks.add(hook, prepend)

    def register_state_dict_post_hook(
        self, hook: Callable, prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` after ``state_dict``; it may return another dict."""
        return self._optimizer_state_dict_post_hooks.add(hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Callable, prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` before loading; it may return another dict."""
        return self._optimizer_load_state_dict_pre_hooks.add(hook, prepend)

    def register_load_state_dict_post_hook(
        self, hook: Callable, prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer)`` after loading."""
        return self._optimizer_load_state_dict_post_hooks.add(hook, prepend)

    # ----- Checkpoints -----

    def state_dict(self) -> dict[str, Any]:
        """State and options, with parameters replaced by their running index."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        index: dict[int, int] = {}
        groups, start = [], 0
        for group in self.param_groups:
            params = group["params"]
            new = {id(p): i for i, p in enumerate(params, start) if id(p) not in index}
            index.update(new)  # one listed twice in its group has its last place
            start += len(params)
            packed = {key: value for key, value in group.items() if key != "params"}
            packed["params"] = [index[id(param)] for param in params]
            groups.append(packed)
        state = {
            index[id(key)] if isinstance(key, Tensor) else key: value
            for key, value in self.state.items()
        }
        result = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            changed = hook(self, result)
            if changed is not None:
                result = changed
        return result

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a ``state_dict``; its tensors go to their parameter's dtype and device.

        Raises:
            ValueError: when groups or their sizes differ; the optimizer is then as it was.
        """
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            changed = hook(self, state_dict)
            if changed is not None:
                state_dict = changed
        groups, saved = self.param_groups, deepcopy(state_dict["param_groups"])
        if len(groups) != len(saved):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(g["params"]) != len(s["params"]) for g, s in zip(groups, saved)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )
        owner = {}  # saved index -> (parameter, options it was saved with)
        for group, loaded in zip(groups, saved):
            for key, param in zip(loaded["params"], group["params"]):
                owner[key] = (param, loaded)
        state: defaultdict = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in owner:
                param, options = owner[key]
                state[param] = _fit(param, options, value)
            else:
                state[key] = value
        for group, loaded in zip(groups, saved):
            loaded.update({key: functions.as_tensor(x) for key, x in loaded.items() if is_torchs(x)})
            loaded["params"] = group["params"]
            if "param_names" in group:
                loaded.setdefault("param_names", group["param_names"])
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    # ----- Gradients and groups -----

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop every parameter's ``.grad``, or fill it with zeros when ``set_to_none`` is false."""
        if set_to_none:
            zero_grads([param for group in self.param_groups for param in group["params"]])
            return
        for group in self.param_groups:
            for param in group["params"]:
                if param.grad is not None:
                    grad = param.grad
                    if grad.grad_fn is not None:
                        grad.detach_()
                    else:
                        grad.requires_grad_(False)
                    grad.zero_()

    def step(self, closure: Callable | None = None) -> Any:
        """Update the parameters; subclasses say how."""
        raise NotImplementedError

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters; options it does not give come from ``defaults``."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        _unpack_params(param_group)
        params = param_group["params"]
        for param in params:
            if not isinstance(param, Tensor):
                if is_torchs(param):
                    raise refusal(type(self).__name__)
                raise TypeError(
                    "optimizer can only optimize Tensors, but one of the params is "
                    + _typename(param)
                )
            if not self.defaults.get("differentiable") and not (
                param.is_leaf or param.retains_grad
            ):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(
                    "parameter group didn't specify a value of required optimization parameter "
                    + name
                )
            param_group.setdefault(name, default)
        ids = {id(param) for param in params}
        if len(ids) != len(params):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this "
                "will cause an error; see github.com/pytorch/pytorch/issues/40967 for more "
                "information",
                stacklevel=3,
            )
        for group in self.param_groups:
            if ("param_names" in param_group) != ("param_names" in group):
                named = "with names" if "param_names" in param_group else "without names"
                raise ValueError(
                    "all optimizer param groups should be with/without names. cannot add param "
                    f"group {named} to the optimizer"
                )
            if not ids.isdisjoint(map(id, group["params"])):
                raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)


def _unpack_params(group: dict[str, Any]) -> None:
    """Turn ``group["params"]`` into a list of tensors, moving names to ``"param_names"``."""
    params = group["params"]
    if isinstance(params, Tensor):
        params = [params]
    elif isinstance(params, set):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering of "
            "tensors in sets will change between runs. Please use a list instead."
        )
    params = list(params)
    names = [param[0] for param in params if isinstance(param, tuple)]
    group["params"] = [param[1] if isinstance(param, tuple) else param for param in params]
    if names and len(names) != len(params):
        raise ValueError(
            "all optimizer params should be with/without names. Some param names are missing"
        )
    if names:
        group["param_names"] = names


def _fit(param: Any, options: dict[str, Any], value: Any, key: Any = None) -> Any:
    """``value`` with every tensor in it moved to where, and cast to what, ``param`` needs."""
    if is_torchs(value):
        value = functions.as_tensor(value)
    if isinstance(value, Tensor):
        if key == "step":  # a count: never rounded to the parameter's dtype
            if options.get("capturable") or options.get("fused"):
                return value.to(dtype=dtypes.float32, device=param.device)
            return value
        if param.is_floating_point():
            return value.to(dtype=param.dtype, device=param.device)
        return value.to(device=param.device)
    if isinstance(value, dict):
        return {k: _fit(param, options, v, k) for k, v in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return type(value)(_fit(param, options, v) for v in value)
    return value


def _typename(value: Any) -> str:
    if isinstance(value, Tensor):
        return value.type()
    cls = type(value)
    name = cls.__qualname__
    return name if cls.__module__ == "builtins" else f"{cls.__module__}.{name}"

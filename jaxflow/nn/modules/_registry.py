"""What a module holds: parameters, buffers and submodules, distinguished when they are assigned."""

from __future__ import annotations

from collections import OrderedDict
from inspect import signature
from typing import Any

from jaxflow import _functions as functions
from jaxflow._core.tensor import Tensor
from jaxflow._core.torchs import is_torchs, refusal
from jaxflow.nn.modules import _global_hooks
from jaxflow.nn.parameter import Buffer, Parameter

# A module pickled before one of these tables existed gets it on loading.
_TABLES = ("_parameters", "_buffers", "_modules")
_HOOK_TABLES = (
    "_backward_pre_hooks",
    "_backward_hooks",
    "_forward_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
    "_state_dict_hooks",
    "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)


def _complete(held: dict[str, Any]) -> None:
    """Give a module's ``__dict__`` the tables it has not."""
    for table in _TABLES:
        if table not in held:
            held[table] = {}
    for table in _HOOK_TABLES:
        if table not in held:
            held[table] = OrderedDict()  # which a RemovableHandle can refer to weakly
    held.setdefault("_non_persistent_buffers_set", set())
    held.setdefault("_is_full_backward_hook", None)


class Registry:
    """Attribute access of a module, and the ``register_`` methods behind it."""

    call_super_init: bool = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Make a module that holds nothing yet, in training mode.

        A class that derives from this one calls ``super().__init__()`` before it assigns parameters or
        modules.

        Args:
            args: none, unless the class sets ``call_super_init``: then they go to the next class.
            kwargs: none, likewise.

        Returns:
            None.

        Raises:
            TypeError: for arguments, unless the class sets ``call_super_init``.

        Example:
            >>> class Scale(nn.Module):
            ...     def __init__(self):
            ...         super().__init__()
            ...         self.factor = nn.Parameter(torch.tensor(2.0))
            ...     def forward(self, x):
            ...         return self.factor * x
            >>> scale = Scale()
            >>> [name for name, _ in scale.named_parameters()], scale.training
            (['factor'], True)
        """
        if not self.call_super_init:
            if kwargs:
                raise TypeError(
                    f"{type(self).__name__}.__init__() got an unexpected keyword argument "
                    f"'{next(iter(kwargs))}'"
                )
            if args:
                raise TypeError(
                    f"{type(self).__name__}.__init__() takes 1 positional argument but "
                    f"{len(args) + 1} were given"
                )
        self.__dict__["training"] = True
        _complete(self.__dict__)
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state.pop("_compiled_call_impl", None)  # which is about the tensors of this very module
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        _complete(self.__dict__)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Keep ``tensor`` under ``name``: moved and saved with the module, but not trained.

        Args:
            name: attribute name.
            tensor: the buffer, or None to reserve the name.
            persistent: whether it is part of ``state_dict``.

        Raises:
            TypeError: when ``name`` is no string or ``tensor`` no tensor.
            KeyError: when the name is empty, has a dot, or is taken by something else.
        """
        self._check_name("buffer", name, "_buffers")
        if tensor is not None and not isinstance(tensor, Tensor):
            if is_torchs(tensor):
                raise refusal("register_buffer")
            raise TypeError(
                f"cannot assign '{functions.typename(tensor)}' object to buffer '{name}' "
                "(torch Tensor or None required)"
            )
        hooks = _global_hooks.BUFFER_REGISTRATION
        self._buffers[name] = _global_hooks.replaced(hooks, self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Keep ``param`` under ``name`` as something to train.

        Raises:
            TypeError: when ``name`` is no string or ``param`` no parameter.
            KeyError: when the name is empty, has a dot, or is taken by something else.
            ValueError: when ``param`` is the result of other operations.
        """
        self._check_name("parameter", name, "_parameters")
        if param is not None:
            if not isinstance(param, Parameter):
                if is_torchs(param):
                    raise refusal("register_parameter")
                raise TypeError(
                    f"cannot assign '{functions.typename(param)}' object to parameter '{name}' "
                    "(torch.nn.Parameter or None required)"
                )
            if param.grad_fn is not None:
                raise ValueError(
                    f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must "
                    f"be created explicitly. To express '{name}' as a function of another Tensor, "
                    "compute the value in the forward() method."
                )
        hooks = _global_hooks.PARAMETER_REGISTRATION
        self._parameters[name] = _global_hooks.replaced(hooks, self, name, param)

    def add_module(self, name: str, module: Registry | None) -> None:
        """Keep ``module`` under ``name`` as a child.

        Raises:
            TypeError: when ``module`` is no module or ``name`` no string.
            KeyError: when the name is empty, has a dot, or is taken by something else.
        """
        if module is not None and not isinstance(module, Registry):
            raise TypeError(f"{functions.typename(module)} is not a Module subclass")
        self._check_name("module", name, "_modules")
        self._set_module(name, module)

    def register_module(self, name: str, module: Registry | None) -> None:
        """Another name of `add_module`."""
        self.add_module(name, module)

    def _set_module(self, name: str, module: Registry | None) -> None:
        hooks = _global_hooks.MODULE_REGISTRATION
        self._modules[name] = _global_hooks.replaced(hooks, self, name, module)

    def _check_name(self, kind: str, name: str, table: str) -> None:
        if table not in self.__dict__:
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {functions.typename(name)}")
        taken = KeyError(f"attribute '{name}' already exists")
        if kind == "module":
            if hasattr(self, name) and name not in self._modules:
                raise taken
            if "." in name:
                raise KeyError(f'module name can\'t contain ".", got: {name}')
        elif "." in name:
            raise KeyError(f'{kind} name can\'t contain "."')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in self.__dict__[table]:
            raise taken

    def _forget(self, name: str) -> None:
        """Remove ``name`` wherever it is held."""
        held = self.__dict__
        held.pop(name, None)
        for table in ("_parameters", "_buffers", "_modules"):
            held[table].pop(name, None)
        held["_non_persistent_buffers_set"].discard(name)

    def __getattr__(self, name: str) -> Any:
        held = self.__dict__
        for table in ("_parameters", "_buffers", "_modules"):
            if table in held and name in held[table]:
                return held[table][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        held = self.__dict__
        started = "_parameters" in held
        is_tensor = isinstance(value, Tensor)
        if is_tensor and isinstance(value, Parameter):
            if not started:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            if name not in held["_parameters"]:
                self._forget(name)
            self.register_parameter(name, value)
        elif started and name in held["_parameters"]:
            self._check_kind(name, value, "parameter", "torch.nn.Parameter or None")
            self.register_parameter(name, value)
        elif isinstance(value, Registry):
            if not started:
                raise AttributeError("cannot assign module before Module.__init__() call")
            if name not in held["_modules"]:
                self._forget(name)
            self._set_module(name, value)
        elif started and name in held["_modules"]:
            self._check_kind(name, value, "child module", "torch.nn.Module or None")
            self._set_module(name, value)
        elif (is_tensor and isinstance(value, Buffer)) or (started and name in held["_buffers"]):
            if not is_tensor:
                self._check_kind(name, value, "buffer", "torch.nn.Buffer, torch.Tensor or None")
            self._set_buffer(name, value)
        else:
            super().__setattr__(name, value)

    def _check_kind(self, name: str, value: Any, kind: str, expected: str) -> None:
        if value is not None:
            if is_torchs(value):
                raise refusal(f"assigning the {kind} {name}")
            raise TypeError(
                f"cannot assign '{functions.typename(value)}' as {kind} '{name}' ({expected} "
                "expected)"
            )

    def _set_buffer(self, name: str, value: Tensor | None) -> None:
        held = self.__dict__
        if isinstance(value, Buffer):
            persistent = value.persistent
        else:
            persistent = name not in held["_non_persistent_buffers_set"]
        # A subclass may have overridden register_buffer without the argument that came later.
        register = self.register_buffer
        plain = getattr(register, "__func__", None) is Registry.register_buffer
        if plain or "persistent" in signature(register).parameters:
            self.register_buffer(name, value, persistent)
        elif persistent:
            self.register_buffer(name, value)
        else:
            raise RuntimeError(
                "Registering a non-persistent buffer on a Module subclass that implements "
                "register_buffer() without the persistent argument is not allowed."
            )

    def __delattr__(self, name: str) -> None:
        if name in self._parameters:
            del self._parameters[name]
        elif name in self._buffers:
            del self._buffers[name]
            self._non_persistent_buffers_set.discard(name)
        elif name in self._modules:
            del self._modules[name]
        else:
            super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = [*dir(type(self)), *self.__dict__]
        names += [*self._parameters, *self._modules, *self._buffers]
        return sorted(name for name in names if not name[0].isdigit())

"""Parameters and buffers that are computed from others: what shows under their name is a function of those.

A parametrized module is of a class of its own, made for it, whose base is its class before; there the
name is a property. What the values are computed from lies in ``module.parametrizations[name]``, under
``original`` (or ``original0``, ... where right_inverse returns several tensors). A parameter stays the
same object all the while, so an optimizer that holds it goes on.
"""

from __future__ import annotations

import contextlib
import copy
import threading
from collections.abc import Sequence
from typing import Any, NoReturn

from jaxflow._core.modes import Kept
from jaxflow._core.tensor import Tensor
from jaxflow.autograd.grad_mode import no_grad
from jaxflow.nn.modules.container import ModuleDict, ModuleList
from jaxflow.nn.modules.module import Module
from jaxflow.nn.parameter import Parameter


class _Cache(threading.local):
    """What a thread has computed inside `cached`; None outside of it."""

    computed: dict[tuple[int, str], Tensor] | None = None


_cache = _Cache()


class cached(Kept):  # noqa: N801 - PyTorch's name
    """Inside, each parametrized tensor is computed once by a thread, when it is first read."""

    def __init__(self) -> None:
        super().__init__(_cache, "computed")

    def change(self) -> None:
        """Begin a cache, unless this is within another such block."""
        if _cache.computed is None:
            _cache.computed = {}


class ParametrizationList(ModuleList):
    """The functions that compute a tensor, one after the other, and what they are computed from.

    Args:
        modules: the functions; the first takes the originals.
        original: the tensor to be parametrized.
        unsafe: whether the result may have another dtype or shape than the original, which is not tried then.

    Raises:
        ValueError: if a result is no tensor or, unless ``unsafe``, of another dtype or shape.
    """

    original: Tensor
    unsafe: bool

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        with no_grad():
            start = self._inverted(original)
        if not isinstance(start, (Tensor, Sequence)):
            raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors (list, "
                             f"tuple...). Got {type(start).__name__}")
        self.is_tensor = isinstance(start, Tensor)
        self.ntensors = 1 if self.is_tensor else len(start)
        if self.is_tensor and original.dtype != start.dtype:
            raise ValueError("When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                             f"original.dtype: {original.dtype}\n"
                             f"right_inverse(original).dtype: {start.dtype}")
        if not unsafe:
            self._check(original, start)
        if self.is_tensor:
            _move(original, start)
            _register(self, "original", original)
            return
        for i, one in enumerate(start):
            if not isinstance(one, Tensor):
                raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors "
                                 f"(list, tuple...). Got element {i} of the sequence with type "
                                 f"{type(one).__name__}.")
            if isinstance(original, Parameter):
                one = Parameter(one, original.requires_grad and one.is_floating_point())
            _register(self, f"original{i}", one.requires_grad_(original.requires_grad))

    def _inverted(self, value: Any) -> Any:
        for module in reversed(self):
            inverse = getattr(module, "right_inverse", None)
            if inverse is not None:
                with contextlib.suppress(NotImplementedError):
                    value = inverse(value)
        return value

    def _check(self, original: Tensor, start: Any) -> None:
        """Refuse functions whose result is not of the original's kind, before anything is changed."""
        with no_grad():
            found = self._of(start if isinstance(start, Tensor) else tuple(start))
        _check_alike(found, original, _NO_TENSOR, _CHANGES)

    def right_inverse(self, value: Tensor) -> None:
        """Let the originals be such that the tensor is ``value``, by the functions' own ``right_inverse``.

        Raises:
            RuntimeError: if one of them has none.
            ValueError: if what they return is no tensor, or not as many as there are, or of other dtypes.
        """
        with no_grad():
            for module in reversed(self):
                inverse = getattr(module, "right_inverse", None)
                if inverse is None:
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = inverse(value)
            values = (value,) if self.is_tensor else value
            if self.is_tensor and not isinstance(value, Tensor):
                raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
            if not isinstance(values, Sequence):
                raise ValueError("'right_inverse' must return a sequence of tensors. "
                                 f"Got {type(values).__name__}.")
            if len(values) != self.ntensors:
                raise ValueError("'right_inverse' must return a sequence of tensors of length "
                                 f"{self.ntensors}. Got a sequence of length {len(values)}.")
            originals = self._originals()
            for i, (one, target) in enumerate(zip(values, originals, strict=True)):
                if not isinstance(one, Tensor):
                    raise ValueError(f"Tensor {i} returned by `right_inverse` is not a tensor. "
                                     f"Got {type(one).__name__}")
                if one.dtype != target.dtype:
                    raise ValueError(f"Tensor {i} returned by `right_inverse` has dtype {one.dtype}, while "
                                     f"its original has dtype {target.dtype}")
            for one, target in zip(values, originals, strict=True):
                _move(target, one)

    def _originals(self) -> tuple[Tensor, ...]:
        names = ("original",) if self.is_tensor else [f"original{i}" for i in range(self.ntensors)]
        return tuple(getattr(self, name) for name in names)

    def _of(self, originals: Any) -> Any:
        first, *others = self
        found = first(originals) if isinstance(originals, Tensor) else first(*originals)
        for module in others:
            found = module(found)
        return found

    def forward(self) -> Tensor:
        """The tensor."""
        return self._of(self.original if self.is_tensor else self._originals())


_NO_TENSOR = "A parametrization must return a tensor. Got {kind}."
_CHANGES = ("Registering a parametrization may not change the {what} of the tensor, unless `unsafe` flag is "
            "enabled.\nunparametrized {what}: {before}\nparametrized {what}: {found}")
_CHANGES_FURTHER = ("Registering a parametrization may not change the {what} of the tensor, unless the "
                    "`unsafe` flag is enabled.\nmodule.{name}.{what}: {before}\n"
                    "parametrization(module.{name}).{what}: {found}")
_NO_INVERSE = "parametrization.right_inverse must return a tensor. Got: {kind}"
_INVERSE_CHANGES = ("The tensor returned by parametrization.right_inverse must have the same {what} as "
                    "module.{name}, unless the `unsafe` flag is enabled.\nmodule.{name}.{what}: {before}\n"
                    "returned {what}: {found}")


def _check_alike(found: Any, before: Tensor, no_tensor: str, changes: str) -> None:
    """Refuse what is no tensor, and one of another dtype or shape than ``before``, in these words."""
    if not isinstance(found, Tensor):
        raise ValueError(no_tensor.format(kind=type(found).__name__))
    for what in ("dtype", "shape"):
        was, now = getattr(before, what), getattr(found, what)
        if now != was:
            raise ValueError(changes.format(what=what, before=was, found=now))


def _move(target: Tensor, source: Tensor) -> None:
    """Let ``target``, the same object, show the numbers of ``source`` from now on."""
    if target is not source:
        target.data = source.detach()


def _register(module: Module, name: str, tensor: Tensor) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _give_class(module: Module) -> None:
    """A class of the module's own, for its properties."""
    cls = type(module)

    def __getstate__(self: Module) -> NoReturn:
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict(). Save that, and "
            "load it into a module that was parametrized in the same way."
        )

    def __deepcopy__(self: Module, memo: dict) -> Module:
        twin = memo.get(id(self))
        if twin is None:
            twin = memo[id(self)] = self.__new__(type(self))
            twin.__dict__ = copy.deepcopy(self.__dict__, memo)
        return twin

    members = {"__getstate__": __getstate__, "__module__": cls.__module__}
    if not hasattr(cls, "__deepcopy__"):
        members["__deepcopy__"] = __deepcopy__
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), members)


def _give_property(module: Module, name: str) -> None:
    def get(self: Module) -> Tensor:
        computed = _cache.computed
        if computed is None:
            return self.parametrizations[name]()
        key = id(self), name
        if key not in computed:
            computed[key] = self.parametrizations[name]()
        return computed[key]

    def put(self: Module, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(get, put))


def register_parametrization(module: Module, tensor_name: str, parametrization: Module, *,
                             unsafe: bool = False) -> Module:
    """Let a parameter or buffer of ``module``, which is returned, be computed by ``parametrization``.

    Registered again, the new function takes the result of those before. Its ``right_inverse``, if there is
    one, computes what the tensor starts from, and what it is set to later.

    Raises:
        ValueError: for a name that the module does not have, and, unless ``unsafe``, for a function that
            changes dtype or shape. The module is as it was then.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        functions = module.parametrizations[tensor_name]
        if not unsafe:
            _check_further(module, tensor_name, parametrization)
        functions.append(parametrization)
        functions.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        functions = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _give_class(module)
            module.parametrizations = ModuleDict()
        _give_property(module, tensor_name)
        module.parametrizations[tensor_name] = functions
    else:
        raise ValueError(f"Module '{module}' does not have a parameter, a buffer, or a parametrized element "
                         f"with name '{tensor_name}'")
    return module


def _check_further(module: Module, name: str, parametrization: Module) -> None:
    """Refuse a further function of another dtype or shape, and one whose right_inverse changes them."""
    before = getattr(module, name)
    found = parametrization(before)
    _check_alike(found, before, _NO_TENSOR, _CHANGES_FURTHER.replace("{name}", name))
    if hasattr(parametrization, "right_inverse"):
        with contextlib.suppress(NotImplementedError):
            _check_alike(parametrization.right_inverse(found), before, _NO_INVERSE,
                         _INVERSE_CHANGES.replace("{name}", name))


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a tensor of the module is computed by parametrizations; without a name, whether any is."""
    functions = getattr(module, "parametrizations", None)
    if not isinstance(functions, ModuleDict):
        return False
    return len(functions) > 0 if tensor_name is None else tensor_name in functions


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Make a tensor of ``module``, which is returned, one of its own again.

    Args:
        leave_parametrized: whether it keeps the computed numbers, not those of the original.

    Raises:
        ValueError: if it is not parametrized, or has several originals and ``leave_parametrized`` is False.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    functions = module.parametrizations[tensor_name]
    if functions.is_tensor:
        found = functions.original
        if leave_parametrized:
            with no_grad():
                _move(found, getattr(module, tensor_name))
    elif leave_parametrized:
        found = getattr(module, tensor_name)
        found = Parameter(found.detach()) if found.requires_grad else found
    else:
        raise ValueError("Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
                         "parametrized in terms of a sequence of tensors.")
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, found)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """The module's class, or what it was before the module was parametrized."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)

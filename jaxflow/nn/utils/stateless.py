"""Calling a module with other parameters and buffers than its own."""

from __future__ import annotations

import warnings
from operator import setitem
from typing import Any, NamedTuple

from jaxflow._core.commit import commit
from jaxflow._core.modes import Restored
from jaxflow._core.tensor import Tensor
from jaxflow.nn.modules.module import Module

__all__ = ["functional_call"]

_MISSING = object()


def functional_call(module: Module, parameters_and_buffers: dict[str, Tensor], args: Any = None,
                    kwargs: dict[str, Any] | None = None, *, tie_weights: bool = True,
                    strict: bool = False) -> Any:
    """The old name of ``func.functional_call``."""
    warnings.warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a "
        "future version of PyTorch. Please use `torch.func.functional_call` instead which is a drop-in "
        "replacement.",
        FutureWarning, stacklevel=2,
    )
    return call_with(module, parameters_and_buffers, args, kwargs, tie_weights, strict)


def call_with(module: Module, tensors: dict[str, Tensor], args: Any, kwargs: dict[str, Any] | None,
              tie_weights: bool, strict: bool) -> Any:
    """``module(*args, **kwargs)`` with these tensors in the place of its own: ``func.functional_call``."""
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    given = _with_ties(module, tensors) if tie_weights else tensors
    if strict:
        _check_keys(module, given)
    return _Exchanged(module, given, tensors).run(module, *args, **(kwargs or {}))


class _Place(NamedTuple):
    """Where a module holds a tensor: in one of its tables, or (``table`` is None) in a property."""

    module: Module
    table: dict[str, Any] | None
    name: str

    def held(self) -> Any:
        """What is there; `_MISSING` for nothing."""
        if self.table is None:
            return getattr(self.module, self.name)
        return self.table.get(self.name, _MISSING)

    def holding(self, t: Any) -> tuple:
        """The call that puts ``t`` there, as `commit` takes it."""
        if self.table is None:
            return setattr, self.module, self.name, t
        return (self.table.pop, self.name, None) if t is _MISSING else (setitem, self.table, self.name, t)


class _Exchanged(Restored):
    """A block in which a module holds the tensors ``given``, by name, instead of its own.

    What the call puts in the place of one of them (a running mean) goes to the caller's ``tensors``.
    """

    def __init__(self, module: Module, given: dict[str, Tensor], tensors: dict[str, Tensor]) -> None:
        super().__init__()
        self.places = {name: _place(module, name, t) for name, t in given.items()}
        self.inside, self.tensors = given, tensors

    def noted(self) -> dict[str, Any]:
        """The module's own tensors."""
        return {name: place.held() for name, place in self.places.items()}

    def change(self) -> None:
        """Hold the others, all at once."""
        commit([place.holding(self.inside[name]) for name, place in self.places.items()])

    def put_back(self, before: dict[str, Any]) -> None:
        """Hold its own ones again, all at once."""
        after = {name: t for name, t in self.noted().items()
                 if name in self.tensors and t is not before[name] and t is not _MISSING}
        commit([(self.tensors.update, after),
                *(place.holding(before[name]) for name, place in self.places.items())])


def _with_ties(module: Module, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """``tensors``, and under all names that the module has for one tensor. ValueError where they differ."""
    own = {**dict(module.named_parameters(remove_duplicate=False)),
           **dict(module.named_buffers(remove_duplicate=False))}
    names: dict[int, list[str]] = {}
    for name, t in own.items():
        names.setdefault(id(t), []).append(name)
    out = dict(tensors)
    for tied in names.values():
        found = [name for name in tied if name in tensors]
        if len(tied) == 1 or not found:
            continue
        if len({id(tensors[name]) for name in found}) != 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(tied)}, which are tied. Consider "
                "using tie_weights=False"
            )
        out.update(dict.fromkeys(tied, tensors[found[0]]))
    return out


def _check_keys(module: Module, given: dict[str, Tensor]) -> None:
    own = [*(name for name, _ in module.named_parameters(remove_duplicate=False)),
           *(name for name, _ in module.named_buffers(remove_duplicate=False))]
    unexpected = [name for name in given if name not in own]
    missing = [name for name in own if name not in given]
    texts = []
    if unexpected:
        texts.append(f"Unexpected key(s): {', '.join(map(repr, unexpected))}.")
    if missing:
        texts.append(f"Missing key(s): {', '.join(map(repr, missing))}.")
    if texts:
        lines = "\n\t".join(texts)
        raise RuntimeError(f"Error(s) in reparametrizing for {module._get_name()}:\n\t{lines}")


def _place(module: Module, path: str, new: Any) -> _Place:
    """The place in which ``path`` says that ``new`` is to be held.

    Raises:
        AttributeError: for a path through no submodule.
        TypeError: for what is no tensor, on either side.
    """
    *parts, name = path.split(".")
    for part in parts:
        below = getattr(module, part, _MISSING)
        if below is _MISSING:
            raise AttributeError(f"{module._get_name()} has no attribute `{part}`")
        if not isinstance(below, Module):
            raise TypeError(f"submodule `{part}`: {below} is not an instance of torch.nn.Module")
        module = below
    if new is not None and not isinstance(new, Tensor):
        raise TypeError(f"{new} is not an instance of torch.Tensor")
    if name == "":
        raise KeyError('tensor name can\'t be empty string ""')
    for table in (module._parameters, module._buffers):
        if name in table:
            return _Place(module, table, name)
    old = getattr(module, name, _MISSING)
    if old is not _MISSING and old is not None and not isinstance(old, Tensor):
        raise TypeError(f"attribute `{name}`: {old} is not an instance of torch.Tensor")
    is_property = isinstance(getattr(type(module), name, None), property)
    return _Place(module, None if is_property else module.__dict__, name)

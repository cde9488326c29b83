"""Calling a module with other parameters and buffers than its own."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jaxflow import Tensor
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
    with _reparametrized(module, tensors, tie_weights, strict):
        return module(*args, **(kwargs or {}))


@contextmanager
def _reparametrized(module: Module, tensors: dict[str, Tensor], tie_weights: bool,
                    strict: bool) -> Iterator[None]:
    given = _with_ties(module, tensors) if tie_weights else tensors
    if strict:
        _check_keys(module, given)
    before: dict[str, Any] = {}
    try:
        for name, t in given.items():
            before[name] = _swap(module, name, t)
        yield
    finally:
        # What the call put in the place of a tensor (a running mean) is the caller's now.
        after = {name: _swap(module, name, t) for name, t in before.items()}
        tensors.update({name: after[name] for name in tensors if name in after})


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


def _swap(module: Module, path: str, new: Any) -> Any:
    """Put ``new`` in the place ``path`` names and return what was there.

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
    if new is not _MISSING and new is not None and not isinstance(new, Tensor):
        raise TypeError(f"{new} is not an instance of torch.Tensor")
    if name == "":
        raise KeyError('tensor name can\'t be empty string ""')
    for table in (module._parameters, module._buffers):
        if name in table:
            old = table[name]
            if new is _MISSING:
                del table[name]
            else:
                table[name] = new
            return old
    old = getattr(module, name, _MISSING)
    if old is not _MISSING and old is not None and not isinstance(old, Tensor):
        raise TypeError(f"attribute `{name}`: {old} is not an instance of torch.Tensor")
    if new is not _MISSING:
        setattr(module, name, new)
    elif old is not _MISSING:
        delattr(module, name)
    return old

"""The arguments of a call: their tree, and what a specialisation requires of each leaf."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict
from itertools import starmap
from operator import attrgetter
from typing import Any

from jaxflow._core.tensor import Tensor

from ._rows import SCALARS, same, shorten

_DICTS = (dict, OrderedDict, defaultdict)

# What a tensor has to be like for the same program; ``_view`` is looked at by `Arguments`.
meta = attrgetter("_aval", "_stride", "_requires_grad", "_grad_fn", "_hooks",
                  "_storage.version.__class__", "__class__")
_META_NAMES = ("shape, dtype or device", "strides", "requires_grad", "grad_fn", "hooks", "inference mode",
               "class")
_attributes_of = attrgetter("__dict__")


def _view_outline(t: Tensor) -> tuple | None:
    """None of a tensor that is no view; else whether it shows its memory conjugated, and negated.

    And whether its writes are counted with those of its storage; and of its base, whether it requires grad
    and whether it has no ``grad_fn``.
    """
    if t._view is None:
        return None
    shown, base = t._view.plan.geometry, t._view.base
    return (shown.conj, shown.neg, t._view.version is t._storage.version,
            None if base is None else (base._requires_grad, base._grad_fn is None))


#: Classes of what is never taken apart.
LEAVES = frozenset((Tensor, *SCALARS))


def flatten(tree: Any, leaves: list) -> Any:
    """Append the leaves of a tree and return its structure, which is hashable and says the types."""
    kind = type(tree)
    if kind in LEAVES:
        leaves.append(tree)
        return None
    if kind is tuple or kind is list or (isinstance(tree, tuple) and hasattr(tree, "_fields")):
        return (kind, *[flatten(x, leaves) for x in tree])
    if kind in _DICTS and all(isinstance(k, (str, int)) for k in tree):
        return (kind, tuple(tree), *[flatten(x, leaves) for x in tree.values()])
    if dataclasses.is_dataclass(tree) and not isinstance(tree, type):
        names = tuple(f.name for f in dataclasses.fields(tree))
        if _is_record(tree, names):
            return (kind, names, *[flatten(getattr(tree, n), leaves) for n in names])
    leaves.append(tree)
    return None


def parts_of(tree: Any) -> list | None:
    """What stands in a container that `flatten` takes apart; None of anything else."""
    if type(tree) in (list, tuple) or (isinstance(tree, tuple) and hasattr(tree, "_fields")):
        return list(tree)
    if type(tree) in _DICTS:
        return list(tree.values()) if all(isinstance(k, (str, int)) for k in tree) else None
    if dataclasses.is_dataclass(tree) and not isinstance(tree, type):
        names = tuple(f.name for f in dataclasses.fields(tree))
        return [getattr(tree, n) for n in names] if _is_record(tree, names) else None
    return None


def _is_record(x: Any, names: tuple) -> bool:
    """Whether all that a dataclass holds are its fields."""
    held = getattr(x, "__dict__", None)
    return all(hasattr(x, n) for n in names) if held is None else held.keys() == set(names)


def records(tree: Any) -> list:
    """The dataclasses that `flatten` takes apart, which are known by their fields."""
    kind = type(tree)
    if kind in _DICTS:
        return [r for x in tree.values() for r in records(x)]
    if isinstance(tree, (tuple, list)):
        return [r for x in tree for r in records(x)]
    if dataclasses.is_dataclass(tree) and not isinstance(tree, type):
        names = tuple(f.name for f in dataclasses.fields(tree))
        if _is_record(tree, names):
            return [tree, *(r for n in names for r in records(getattr(tree, n)))]
    return []


def numbers_at(args: tuple, kwargs: dict) -> dict[Any, int]:
    """Positions and keywords of arguments that are numbers: the number of the leaf that each is."""
    leaves: list = []
    found: dict[Any, int] = {}
    for at, x in (*enumerate(args), *kwargs.items()):
        if type(x) is float or type(x) is int:
            found[at] = len(leaves)
        flatten(x, leaves)
    return found


def same_attributes(then: dict, now: dict) -> bool:
    """Whether two tensors' ``__dict__`` say the same."""
    return then.keys() == now.keys() and all(same(x, now[name]) for name, x in then.items())


def _of_any_history(aval: Any, stride: Any, requires_grad: bool, node: Any, *rest: Any) -> tuple:
    """What `meta` says, whatever the history is, as long as there is one or there is none."""
    return aval, stride, requires_grad, None if node is None else "another tensor's", *rest


class Arguments:
    """What the leaves of a call's arguments have to be.

    Tensors are compared by what decides the program, numbers and strings by value, other objects by
    identity. Which of them share memory, with each other or with captured tensors, is compared too. Of
    numbers that are ``tracked`` only the type is compared here: NOTE [Numbers of calls].
    """

    def __init__(self, structure: Any, leaves: list, fixed: dict[int, int], tracked: list[int]) -> None:
        self.structure = structure
        self.types = [type(x) for x in leaves]
        self.at = [i for i, x in enumerate(leaves) if isinstance(x, Tensor)]
        self.other = [
            (i, x) for i, x in enumerate(leaves) if not isinstance(x, Tensor) and i not in tracked
        ]
        self.tracked = [(i, self.types[i]) for i in tracked]
        tensors = [leaves[i] for i in self.at]
        self.all_tensors = len(tensors) == len(leaves)
        self.varies = False  # whether each call may bring another history
        self.metas = [meta(t) for t in tensors]
        self.attributes = [dict(t.__dict__) for t in tensors]
        self.bare = not any(self.attributes)
        self.views = list(map(_view_outline, tensors))
        self.plans = [None if t._view is None else t._view.plan for t in tensors]
        self.plain = not any(self.views)
        self.exact: list[int] = []  # views that must be the very same part of their base
        self.fixed = fixed
        self.sharing = self._sharing(tensors)
        self.apart = len(set(self.sharing)) == len(tensors) and all(k >= 0 for k in self.sharing)

    def _sharing(self, tensors: list) -> list[int]:
        """For each tensor the first that shares its storage, or -1 - k where captured tensor k does."""
        first: dict[int, int] = {}
        return [
            -1 - self.fixed[id(t._storage)] if id(t._storage) in self.fixed
            else first.setdefault(id(t._storage), i) for i, t in enumerate(tensors)
        ]

    def match(self, leaves: list) -> list | None:
        """The tensors among ``leaves`` if all is as it has to be."""
        if len(leaves) != len(self.types):
            return None
        if not leaves:
            return leaves
        tensors = leaves if self.all_tensors else [leaves[i] for i in self.at]
        for i, x in self.other:
            y = leaves[i]
            if x is not y and not same(x, y):
                return None
        for i, kind in self.tracked:
            if leaves[i].__class__ is not kind:
                return None
        try:
            if self._metas_of(tensors) != self.metas:
                return None
        except AttributeError:
            return None  # something else stands where a tensor has to be
        if any(map(_attributes_of, tensors)) if self.bare else not self._attributed(tensors):
            return None
        if self.plain:
            for t in tensors:
                if t._view is not None:
                    return None
        elif not self._views_match(tensors):
            return None
        if self.apart:
            ids = {id(t._storage) for t in tensors}
            if len(ids) != len(tensors) or not ids.isdisjoint(self.fixed):
                return None
        elif self._sharing(tensors) != self.sharing:
            return None
        return tensors

    def let_vary(self) -> None:
        """Let the histories of the tensors be others at each call: what is made leads to the present ones."""
        self.varies = True
        self.metas = [_of_any_history(*m) for m in self.metas]

    def _metas_of(self, tensors: list) -> list[tuple]:
        found = list(map(meta, tensors))
        return list(starmap(_of_any_history, found)) if self.varies else found

    def _views_match(self, tensors: list) -> bool:
        if list(map(_view_outline, tensors)) != self.views:
            return False
        return all(tensors[i]._view.plan is self.plans[i] for i in self.exact)

    def _attributed(self, tensors: list) -> bool:
        """Whether the user's attributes of each tensor are the same as then."""
        return all(same_attributes(then, t.__dict__) for then, t in zip(self.attributes, tensors))

    def misses(self, structure: Any, leaves: list) -> list[str]:
        """Why the arguments are not those of this specialisation, in words."""
        if structure != self.structure or len(leaves) != len(self.types):
            return ["the arguments' structure is another"]
        found = []
        metas = iter(self.metas)
        for i, (x, kind) in enumerate(zip(leaves, self.types)):
            expected = next(metas) if i in self.at else None
            if type(x) is not kind:
                found.append(f"argument {i} was a {kind.__name__} and is a {type(x).__name__}")
            elif expected is not None:
                for name, old, new in zip(_META_NAMES, expected, *self._metas_of([x])):
                    if old is not new and old != new:
                        found.append(f"{name} of argument {i} was {old!r} and is {new!r}")
            elif (i, kind) not in self.tracked:
                old = dict(self.other)[i]
                if not same(old, x):
                    found.append(f"argument {i} was {shorten(old)} and is {shorten(x)}")
        if not found and not self._attributed([leaves[i] for i in self.at]):
            found.append("attributes of an argument are others")
        return found or [
            "which arguments are views or aliases, are conjugated or negated, or share memory, changed"
        ]


"""What has to hold for a specialisation to serve a call; NOTE [What is guarded] says it of Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import repeat, starmap
from operator import attrgetter, call, eq, is_, setitem
from typing import Any

import numpy as np

from jaxflow._core.commit import LATEST, all_same, commit_results, rows_called
from jaxflow._core.shared import CONVERSIONS, SHARED, any_shared
from jaxflow._core.tensor import Tensor
from jaxflow._views.values import live_value_of

from . import _outlines as outlines
from ._containers import Trees
from ._numbers import Place
from ._outlines import Before
from ._rows import Item, same
from ._shared_arguments import stays_there

_grad_of, _storage_of, _value_of = attrgetter("_grad"), attrgetter("_storage"), attrgetter("value")


def _together(items: list[Item]) -> list[tuple]:
    """How to look at two places that hold the same tensor, for each such pair."""
    return [(_look(item.row, item.key), _look(row, key)) for item in items for row, key in item.also]


def _meta_of_grad(old: Before, was: Callable[[Tensor], Before]) -> tuple | None:
    return None if old._grad is None else outlines.grad(was(old._grad))


def _look(row: Any, key: Any) -> tuple:
    """How to look at a place: a function, and what it takes."""
    get, _, at = row.access(key)
    return get, row.holder, at


# What the guards found of a call that they let pass: the tensors among its arguments; the old gradients, if
# there is nothing more to any of them than the guards compare, else None; their storages; numbers among the
# arguments and what was computed from them, if numbers are tracked; the program's floats and integers; the
# numbers of the latest store and of the latest conversion (NOTE [Host-shared storages]) before it was looked.
Found = tuple[list, list | None, list, list | None, Any, Any, tuple[int, int]]


class Conditions:
    """The guards of a specialisation."""

    arguments: Any
    guard: Any
    shared: list[list]
    dynamic: list[tuple]
    at_once: range  # which of these are found when the guards are checked
    known_groups: list
    floats: list
    float_array: Any
    integers: list
    integer_array: Any
    trees: Trees
    tape: Any  # None where no numbers are tracked
    places: list[Place]  # where tracked numbers are that are no arguments
    writes_arguments: bool  # whether it writes to the memory of tensors among the arguments
    looks: list[tuple]  # how to look there: functions, containers and keys
    # Captured tensors were as they should be after the store of this number: NOTE [The latest store]. If they
    # were so after one store of the quick call itself (``own``), they are after each (``repeats``), unless a
    # finalizer that ran beside the program stored something, too (not ``undisturbed``).
    proved, own, repeats, undisturbed = -1, -1, False, True
    disagreed = False  # whether numbers that the latest call read decided otherwise

    def watch_tensors(self, tensors: list[Tensor], grads: list[Tensor], arguments: list[Tensor],
                      items: list[Item], was: Callable[[Tensor], Before]) -> None:
        """Note what captured tensors were like, and whose ``.grad`` was there; ``was`` says so."""
        self.items = [_look(item.row, item.key) for item in items]
        self.twice = _together(items)
        self.item_metas = [was(item.tensor).as_item for item in items]
        self.items_like = [item.like for item in items]
        before = list(map(was, tensors))
        moving = {id(item.tensor) for item in items}  # their memory is another one at each call
        self.tensors = [t for t in tensors if id(t) not in moving]
        still = list(map(was, self.tensors))
        self.tensor_metas = list(map(outlines.tensor, still))
        constant = [t for t, old in zip(self.tensors, still) if not old._requires_grad and old._view is None
                    and old._grad_fn is None and old._hooks is None]
        constants = set(map(id, constant))
        others = [t for t in self.tensors if id(t) not in constants]
        self.quick = [(ask, ts, list(map(ask, map(was, ts))))
                      for ask, ts in ((outlines.constant, constant), (outlines.tensor, others)) if ts]
        graded = [(t, old) for t, old in zip(tensors, before) if old._requires_grad or old._grad is not None]
        self.graded = [t for t, _ in graded]
        self.grad_metas = [_meta_of_grad(old, was) for _, old in graded]
        # Memory of a .grad that is a captured tensor's too; an argument's it may not be.
        self.grad_fixed = [
            None if old._grad is None else self.arguments.fixed.get(id(was(old._grad)._storage))
            for _, old in graded
        ]
        self.ungraded = [t for t, old in graded if old._grad is None]
        having = [(t, was(old._grad)) for t, old in graded if old._grad is not None]
        self.having = [t for t, _ in having]
        # What says whether gradients are plain, and what it said; without requires_grad they have no hooks.
        plain = all(m is None or m[1:] == outlines.PLAIN for m in self.grad_metas)
        self.ask_grad = outlines.constant_grad if plain else outlines.grad
        self.plain_then = [self.ask_grad(grad) for _, grad in having]
        self.argument_grads = [(i, _meta_of_grad(old, was)) for i, old in enumerate(map(was, arguments))
                               if old._requires_grad or old._grad is not None]
        self.grads_apart = not self.argument_grads and all(same_as is None for same_as in self.grad_fixed)
        numbers = {id(t): i for i, t in enumerate(arguments)}
        fixed = {id(t) for t in tensors}
        self.grad_owners = [t if id(t) in fixed else numbers[id(t)] for t in grads]

    def ask_whole_grads(self) -> None:
        """Let gradients be plain only if they cannot be distinguished from new ones."""
        self.ask_grad = outlines.whole
        self.plain_then = [(*m, None, 0, {}, Tensor) for m in self.grad_metas if m is not None]

    def watch_dropped(self, items: list[Item], shown: list[Item], was: Callable[[Tensor], Before]) -> None:
        """Note what tensors were like that the call replaces without having read them.

        And those that are ``shown``: views of memory that stays, of whatever tensor is at the place.
        """
        self.dropped = [_look(item.row, item.key) for item in items]
        self.twice += _together([*items, *shown])
        self.outlines = [(*outlines.dropped(was(item.tensor))[:-1], {}) for item in items]
        self.views = [_look(item.row, item.key) for item in shown]
        before = [was(item.tensor) for item in shown]
        self.views_like = list(map(outlines.shown, before))
        self.bases = [old._view.base for old in before]  # whose ids are compared

    def fits(self, leaves: list) -> Found | None:
        """What was found if every guard holds; otherwise None."""
        tensors = self.arguments.match(leaves)
        if tensors is None or not self.guard.holds():
            return None
        if SHARED:
            any_shared(SHARED.storages())  # those that nobody else can reach are ordinary ones after it
        converted = CONVERSIONS[0]
        if self.trees and not self.trees.fit():
            return None
        if SHARED and self._meets_shared(tensors):  # looks at places that the structures have found now
            return None
        if self.dropped and not self._dropped_fit():
            return None
        if self.views and not self._views_fit():
            return None
        if self.twice and not all(call(*one) is call(*other) for one, other in self.twice):
            return None
        number = LATEST[0]
        known = number == self.proved and self.undisturbed
        for ask, asked, answers in () if known else self.quick:
            # One after the other: thousands of tuples at once would let the garbage collector run.
            if not all(map(eq, map(ask, asked), answers)):
                return None
        grads, memory = self._plain_grads(tensors, known and self.ask_grad is not outlines.whole)
        if grads is not None:
            self.proved = number
            self.repeats |= number == self.own and self.undisturbed
        elif not self._grads_fit(tensors):
            return None
        if self.items and not self._items_fit(tensors):
            return None
        for storages in self.shared:
            if not all(map(is_, map(_value_of, storages), repeat(storages[0].value))):
                return None
        if self.at_once and not self._numbers_fit(self.at_once):
            return None
        if self.tape is None:
            return tensors, grads, memory, None, self.float_array, self.integer_array, (number, converted)
        numbers = self._arithmetic(self._start(leaves))
        return None if numbers is None else (tensors, grads, memory, *numbers, (number, converted))

    def _meets_shared(self, tensors: list) -> bool:
        """Whether it may read or write what others may write to meanwhile: that is left to Python.

        Arguments that it does not write to are copied when they are read: NOTE [Shared arguments].
        """
        known = [*self.tensors, *starmap(call, (*self.items, *self.dropped, *self.views))]
        known = [t for t in known if isinstance(t, Tensor)]
        grads = [g for g in map(_grad_of, (*tensors, *known)) if g is not None]
        writes = self.writes_arguments
        return any_shared(map(_storage_of, (*known, *grads))) or any(
            any_shared((t._storage,)) and (writes or stays_there(live_value_of(t))) for t in tensors)

    def _plain_grads(self, tensors: list, known: bool) -> tuple[list | None, list]:
        """`_grads_fit` in a quick way: the gradients and their storages if there is nothing more to them.

        None where they have to be looked at one by one. ``known``: by themselves they are as they should.
        """
        if not self.grads_apart:
            return None, []
        if not known and self.ungraded and not all(map(is_, map(_grad_of, self.ungraded), repeat(None))):
            return None, []
        if not self.having:
            return [], []
        grads = list(map(_grad_of, self.having))
        try:
            if not known and not all(map(eq, map(self.ask_grad, grads), self.plain_then)):
                return None, []
        except AttributeError:  # there is none any more
            return None, []
        storages = list(map(_storage_of, grads))
        if known and not tensors:
            return grads, storages
        memory = set(map(id, storages))
        if self.arguments.fixed.keys().isdisjoint(memory) and (
            not tensors or memory.isdisjoint(map(id, map(_storage_of, tensors)))
        ):
            return grads, storages
        return None, []

    def _grads_fit(self, tensors: list) -> bool:
        fixed = self.arguments.fixed
        given = {id(t._storage) for t in tensors}
        for grad, expected, same_as in zip(map(_grad_of, self.graded), self.grad_metas, self.grad_fixed):
            if grad is None:
                if expected is not None:
                    return False
            elif expected is None or outlines.grad(grad) != expected:
                return False
            else:
                at = id(grad._storage)
                if fixed.get(at) != same_as or at in given:
                    return False
        for i, expected in self.argument_grads:
            grad = tensors[i]._grad
            if (grad is None) != (expected is None) or (grad is not None and outlines.grad(grad) != expected):
                return False
        return True

    def _dropped_fit(self) -> bool:
        now = list(starmap(call, self.dropped))
        return all(isinstance(t, Tensor) for t in now) and list(map(outlines.dropped, now)) == self.outlines

    def _views_fit(self) -> bool:
        now = list(starmap(call, self.views))
        return all(isinstance(t, Tensor) for t in now) and list(map(outlines.shown, now)) == self.views_like

    def _items_fit(self, tensors: list) -> bool:
        """Whether attributes that are replaced hold tensors like those then.

        Each is another one. Those that had memory in common have it now, which is nobody else's.
        """
        memory = {id(t._storage) for t in tensors}
        there: list[Tensor] = []
        for t, expected, like in zip(starmap(call, self.items), self.item_metas, self.items_like):
            if not isinstance(t, Tensor) or outlines.item(t) != expected:
                return False
            at = id(t._storage)
            if like < len(there):
                if t._storage is not there[like]._storage or any(map(is_, there, repeat(t))):
                    return False
            elif at in self.arguments.fixed or at in memory:
                return False
            memory.add(at)
            there.append(t)
        return True

    def _numbers_fit(self, which: range) -> bool:
        """Bring these optimizers' numbers up to date; whether their rules and options are the same."""
        changed, known_now = None, []
        for k in which:
            _, owner, group, fresh, rule, static, first, names = self.dynamic[k]
            values = list(group.values())
            known = self.known_groups[k]
            if known is not None and len(known) == len(values) and (
                all(map(is_, known, values)) or all(map(same, known, values))
            ):
                continue
            found, hypers, options = owner._rule(group, fresh)
            if found is not rule or options != static:
                return False
            if changed is None:
                changed = list(self.floats)
            for i, name in enumerate(names):
                if isinstance(hypers[name], Tensor):
                    return False
                changed[first + i] = float(hypers[name])
            known_now.append((setitem, self.known_groups, k, values))
        if known_now:  # at once with the numbers, or an interrupt would leave the old ones for good
            if changed != self.floats:
                known_now += [(setattr, self, "floats", changed),
                              (setattr, self, "float_array", np.array(changed, np.float64))]  # for this call
            commit_results(rows_called(known_now))
        elif self.float_array.__class__ is np.ndarray:
            self.float_array = self._vector(self.floats, np.float64)  # for many
        return True

    def _start(self, leaves: list) -> list | None:
        """The numbers that the call begins with; None if some are of another type."""
        start = [leaves[i] for i, _ in self.arguments.tracked]
        for place in self.places:
            x = place.now()
            if type(x) is not type(place.before):
                return None
            start.append(x)
        return start

    def numbers_still(self, entries: list | None) -> Iterable:
        """The condition that the numbers from which ``entries`` were computed are where they were found."""
        if not self.places:
            return ()
        return all_same(map(call, *self.looks), entries[len(self.arguments.tracked):])

    def _arithmetic(self, start: list | None) -> tuple[list, Any, Any] | None:
        """What was done with the numbers that the call begins with, done again: the last three of `Found`.

        None if Python would take another way.
        """
        entries = None if start is None else self.tape.evaluate(start)
        if entries is None:
            return None
        found = {float: self.float_array, int: self.integer_array}
        for kind, known, dtype in ((float, self.floats, np.float64), (int, self.integers, np.int64)):
            uses = [(position, entry) for used, position, entry in self.tape.uses if used is kind]
            if uses:
                numbers = found[kind] = np.array(known, dtype)
                for position, entry in uses:
                    numbers[position] = entries[entry]
        return entries, found[float], found[int]

    def misses(self, structure: Any, leaves: list) -> list[str]:
        """Which guards do not hold, in words."""
        tensors = self.arguments.match(leaves) if structure == self.arguments.structure else None
        if tensors is None:
            return self.arguments.misses(structure, leaves)
        found = self.guard.misses()
        for t, old in zip(self.tensors, self.tensor_metas):
            for name, a, b in zip(outlines.TENSOR_NAMES, old, outlines.tensor(t)):
                if a is not b and (name == "its storage" or a != b):
                    found.append(f"a captured tensor of shape {list(t._aval.shape)}: {name} changed")
        if not self._grads_fit(tensors):
            found.append("whether a captured tensor has a .grad, or what it is like, changed")
        if self.tape is not None and self._arithmetic(self._start(leaves)) is None:
            found.append("what Python decided by a number changed, or its type")
        if self.disagreed:
            found.append("what Python decided by a number of a tensor changed")
        found += [f"{tree.describe(None)} is not like what stood there" for tree in self.trees
                  if not tree.fits([])]
        return found or ["options of an optimizer changed, or which tensors share memory"]

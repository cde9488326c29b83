"""What a call returns, as a recipe: fresh tensors around new arrays, and what was there before."""

from __future__ import annotations

import dataclasses
import enum
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from types import BuiltinMethodType, FunctionType, MethodType, ModuleType
from typing import Any
from weakref import getweakrefcount

from jaxflow._core.fields import init_grad, init_history, init_requires_grad
from jaxflow._core.graph import AccumulateGrad, Invalid
from jaxflow._core.inner import module_of
from jaxflow._core.symbolic_numbers import SymNumber
from jaxflow._core.tensor import Tensor, ViewInfo, make, make_view
from jaxflow._core.value import Storage, Untracked, Value

from ._apart import apart, is_public
from ._arguments import parts_of
from ._made import maker_of
from ._python_guards import Reach
from ._rows import SCALARS

_DICTS = (dict, OrderedDict, defaultdict)


class Unnamed(Exception):
    """Something in a result that cannot be made again; the argument says what."""


class Unwalked(Unnamed):
    """A graph that somebody outside is to walk: the call is recorded with what comes after it."""


class Recipes:
    """How to make the fresh tensors of a call.

    ``storages`` are the fresh storages in order, ``is_born`` says of a tensor or a storage whether the call
    made it, ``place_of`` finds the place of another storage, ``argument`` the number of a tensor among the
    arguments, ``items`` of one that an attribute held before the call.
    """

    def __init__(self, graph: Any, is_born: Callable[[Any], bool], argument: dict[int, int],
                 items: dict[int, int], reach: Reach, place_of: Callable[[Storage], Any]) -> None:
        self.graph, self.is_born, self.argument, self.reach = graph, is_born, argument, reach
        self.items = items
        self.place_of = place_of
        self.storages: list[Storage] = []
        self.numbers: dict[int, int] = {}
        self.uses: dict[int, int] = {}  # number of a fresh tensor -> how often it is mentioned
        self.storage_uses: dict[int, int] = {}  # the same of storages
        self.tensors: list[Callable] = []
        self.tensor_numbers: dict[int, int] = {}
        self.kept: list[Any] = []
        self.containers: dict[int, _Made] = {}  # id -> how it is made
        self.tracked: set[int] = set()  # ids of the tracked numbers that it stores or returns
        self.used: set[tuple] = set()  # places of which it makes views, or whose tensor it returns
        self.nodes: list[Any] = []  # where those histories of fresh tensors begin that are each call's
        self.own_cells: set[int] = set()  # ids of the version cells of fresh aliases that have their own

    def storage(self, s: Storage) -> int:
        """The number of a fresh storage."""
        number = self.numbers.get(id(s))
        if number is None:
            number = self.numbers[id(s)] = len(self.storages)
            self.storages.append(s)
        self.storage_uses[number] = self.storage_uses.get(number, 0) + 1
        return number

    def storage_of(self, s: Storage) -> Callable:
        """A function of a `Call` that gives the storage that ``s`` was in the captured call."""
        if not self.is_born(s):
            place = self.place_of(s)
            self.used.add(place)
            return lambda call: call.place(place)
        at, version, epoch = self.storage(s), s.version[0], s.epoch

        def fresh(call: Any) -> Storage:
            storage = call.storages[at]
            if storage is None:
                storage = call.storages[at] = Storage(call.fresh[at])
                storage.version, storage.epoch = call.cells.get(at) or [version], epoch
            return storage

        return fresh

    def tensor(self, t: Tensor) -> Callable:
        """A function of a `Call` that gives the tensor that ``t`` was in the captured call."""
        if id(t) in self.argument:
            i = self.argument[id(t)]
            return lambda call: call.arguments[i]
        if id(t) in self.items:
            i = self.items[id(t)]
            self.used.add(("item", i))
            return lambda call: call.items[i]
        if not self.is_born(t):
            if id(t) in self.reach.tensors and id(t) not in self.dropped:
                return lambda call: t
            owner = self.owners.get(id(t))
            if owner is None or id(owner) in self.dropped:
                raise Unnamed("a tensor that it reached in a way that cannot be followed")
            view = self.tensor(owner)
            return lambda call: view(call)._view.base
        number = self.tensor_numbers.get(id(t))
        if number is None:
            maker = self._maker(t)
            number = self.tensor_numbers[id(t)] = len(self.tensors)
            self.tensors.append(maker)
            self.kept.append(t)
        self.uses[number] = self.uses.get(number, 0) + 1
        return lambda call: call.made[number]

    def plain(self, t: Tensor) -> tuple[int, int] | None:
        """The numbers of a fresh tensor and its storage, if it is mentioned once and nothing special."""
        number, at = self.tensor_numbers.get(id(t)), self.numbers.get(id(t._storage))
        if (
            number is None or at is None or self.uses[number] > 1 or self.storage_uses[at] > 1
            or type(t) is not Tensor or isinstance(t._storage.version, Untracked) or t._requires_grad
            or t._grad_fn is not None or t._view is not None or t._stride is not None or t.__dict__
        ):
            return None
        return number, at

    def _maker(self, t: Tensor) -> Callable:
        if t._hooks or t._tangents:
            raise Unnamed("a tensor with hooks or tangents")
        maker = self._bare_maker(t)
        if t._grad is not None:
            maker = self._with_grad(maker, t._grad)
        if not t.__dict__:
            return maker
        if not all(isinstance(x, SCALARS) for x in t.__dict__.values()):
            raise Unnamed("a tensor with attributes that are neither numbers nor texts")
        attributes = [(name, self.result(x)) for name, x in t.__dict__.items()]

        def with_attributes(call: Any) -> Tensor:
            made = maker(call)
            made.__dict__.update([(name, part(call)) for name, part in attributes])
            return made

        return with_attributes

    def _with_grad(self, bare: Callable, grad: Tensor) -> Callable:
        if not self.is_born(grad):
            raise Unnamed("a tensor whose .grad was there before")
        grad_of = self.tensor(grad)

        def with_grad(call: Any) -> Tensor:
            made = bare(call)
            init_grad(made, grad_of(call))
            return made

        return with_grad

    def _bare_maker(self, t: Tensor) -> Callable:
        cls, stride, history = type(t), t._stride, self._history(t)
        version, epoch = t._storage.version[0], t._storage.epoch
        if t._view is None:
            if not self.is_born(t._storage):
                raise Unnamed("a tensor that took over the memory of another")
            at, untracked = self.storage(t._storage), isinstance(t._storage.version, Untracked)

            def base(call: Any) -> Tensor:
                made = make(call.fresh[at], cls)
                made._stride = stride
                history(call, made)
                storage = made._storage
                if untracked:
                    storage.version = Untracked((version,))
                elif at in call.cells:
                    storage.version = call.cells[at]
                else:
                    storage.version[0] = version
                # Two bases never share a storage, but views of it find it here.
                storage.epoch = epoch
                call.storages[at] = storage
                return made

            return base
        return self._view(t, history)

    def _history(self, t: Tensor) -> Callable:
        """A function of a `Call` and a tensor that gives it the history that ``t`` had."""
        node, number, requires_grad = t._grad_fn, t._output_nr, t._requires_grad
        if node.__class__ is Invalid:
            raise Unnamed("a view whose history was lost by a change in place")
        if node is None or not self.graph.varies(node):
            if node is not None:
                self.nodes.append(node)
            return lambda call, made: init_history(made, node, number, requires_grad)
        at = self.graph.number(node)
        return lambda call, made: init_history(made, call.nodes[at], number, requires_grad)

    def _view(self, t: Tensor, history: Callable) -> Callable:
        view = t._view
        cls, aval, stride = type(t), t._aval, t._stride
        if isinstance(view.version, Untracked):
            raise Unnamed("a view made in inference mode")
        base = None if view.base is None else self.tensor(view.base)
        storage_of = self.storage_of(t._storage)
        own_cell = view.version is not t._storage.version
        if own_cell:
            self.own_cells.add(id(view.version))
        kind, plan, base_plan, origin = type(view), view.plan, view.base_plan, view.origin
        own, written, seen = view.own, view.written, view.seen_version
        start = view.version[0]

        def made_view(call: Any) -> Tensor:
            storage = storage_of(call)
            cell = [start] if own_cell else storage.version
            info: ViewInfo = kind(plan, None if base is None else base(call), base_plan, cell, origin)
            info.own, info.written = own, written
            # Relative to what was seen then: negative ones are provisional.
            if seen in (start, -1 - start):
                now = cell[0] + call.bumps.get(id(cell), 0)
                info.seen_version = now if seen == start else -1 - now
            else:
                info.seen_version = seen
            made = make_view(storage, aval, stride, info, cls)
            history(call, made)
            return made

        return made_view

    owners: dict[int, Tensor] = {}  # id of a base that the walk did not find -> a view that it did find
    dropped: frozenset[int] = frozenset()  # tensors that the call replaces and does not read
    given: frozenset[int] = frozenset()  # ids of lists, dicts and records among the arguments
    shares = False  # whether a container that it makes stands at several places
    stood: dict[int, tuple] = {}  # id of a container that stood in a tree -> (tree, number)

    # ---------------------------------------------------------------------------------------- results

    def result(self, x: Any) -> Callable:
        """A function of a `Call` that gives what the captured call returned."""
        if isinstance(x, Tensor):
            return self.tensor(x)
        if type(x) is SymNumber:
            self.tracked.add(id(x))
            if not x.tape.open:  # of a capture that is over: a number like any other
                number = x.value
                return lambda call: number
            entry = x.tape.keep(x)
            return lambda call: call.entries[entry]
        if id(x) in self.stood:
            tree, which = self.stood[id(x)]
            return lambda call: tree.container(which)
        if isinstance(x, (*SCALARS, enum.Enum)) or id(x) in self.reach.seen or self._was_there(x):
            return lambda call: x
        if id(x) in self.given:
            raise Unnamed(f"a {type(x).__name__} that it was given")
        made = self.containers.get(id(x))
        if made is None:
            made = self.containers[id(x)] = _Made(len(self.containers))
            made.build = self._container(x)
        elif made.build is None:
            raise Unnamed(f"a {type(x).__name__} that stands in itself")
        else:
            made.again = self.shares = True
        return made

    def _was_there(self, x: Any) -> bool:
        """Whether a function or class cannot be of this call alone."""
        if isinstance(x, FunctionType):
            bare = not x.__closure__ and not x.__defaults__ and not x.__kwdefaults__ and not x.__dict__
            return bare or is_public(x)
        if isinstance(x, (MethodType, BuiltinMethodType)):
            owner = x.__self__
            return owner is None or isinstance(owner, (type, ModuleType)) or (
                id(owner) in self.reach.seen and id(owner) not in self.stood
            )
        return isinstance(x, (type, ModuleType))

    def _container(self, x: Any) -> Callable:
        kind = type(x)
        if kind is tuple or kind is list:
            parts = [self.result(y) for y in x]
            return lambda call: kind([part(call) for part in parts])
        if isinstance(x, tuple) and hasattr(x, "_fields"):
            parts = [self.result(y) for y in x]
            return lambda call: kind(*[part(call) for part in parts])
        if kind in _DICTS:
            items = [(key, self.result(y)) for key, y in x.items()]
            if kind is defaultdict:
                return lambda call: kind(x.default_factory, [(key, part(call)) for key, part in items])
            return lambda call: kind([(key, part(call)) for key, part in items])
        if dataclasses.is_dataclass(x) and not isinstance(x, type) and not hasattr(x, "__post_init__"):
            fields = [(f.name, self.result(getattr(x, f.name))) for f in dataclasses.fields(x)]

            def dataclass(call: Any) -> Any:
                new = object.__new__(kind)
                for name, part in fields:
                    object.__setattr__(new, name, part(call))
                return new

            return dataclass
        if module_of(type(x)).startswith("jaxflow._core"):
            return lambda call: x  # sizes, dtypes, devices
        found = apart(x, lambda y: id(y) not in self.reach.seen)
        if found is not None and parts_of(x) is None:
            if getweakrefcount(x):
                raise Unnamed(f"an object of type {kind.__name__} that somebody refers to weakly")
            return maker_of(x, [self.result(y) for y in found[1]])
        raise Unnamed(f"an object of type {kind.__name__}")


class _Made:
    """How to make a container: once for all places at which it stands in a call."""

    __slots__ = ("again", "build", "number")

    def __init__(self, number: int) -> None:
        self.number, self.again = number, False
        self.build: Callable | None = None

    def __call__(self, call: Any) -> Any:
        if not self.again:
            return self.build(call)
        if call.containers is None:
            call.containers = {}
        if self.number not in call.containers:
            call.containers[self.number] = self.build(call)
        return call.containers[self.number]


class _Gone:
    """In the place of the entry and the Program that a pending Value waits for: there is none."""

    @property
    def program(self) -> _Gone:
        """As an entry names its Program."""
        return self

    def number(self, value: Value, slot: int) -> None:
        """None: nothing is known without `deliver`."""

    def deliver(self, value: Value) -> None:
        """RuntimeError, always."""
        raise RuntimeError(
            "this tensor was made inside a call of a compiled function, which does not return it: of such a "
            "leaf the graph knows shape and dtype alone. Return the tensor, or a result that was detached"
        )

    def close(self, reason: str) -> None:
        """The same."""
        self.deliver(None)


def let_go(roots: list, known: Callable[[Tensor], bool]) -> None:
    """Let graphs keep no memory of leaves that the call made: only ``known`` ones can be reached again."""
    seen, stack = set(), list(roots)
    while stack:
        n = stack.pop()
        if id(n) in seen:
            continue
        seen.add(id(n))
        if n.__class__ is AccumulateGrad and not known(n._variable):
            leaf = make(Value(n._variable._aval, None, (_Gone(), 0)))
            init_requires_grad(leaf)
            n._variable = leaf
        stack += [edge[0] for edge in n._edges if edge is not None]

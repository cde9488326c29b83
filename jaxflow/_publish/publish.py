"""Publishing: functions, methods, in-place and ``out=`` forms and operators, derived from the records.

``name(...)`` binds and applies. A method is the same function on the class. ``name_(...)`` is the
op written into its first argument. ``out=`` computes, checks that the result may be cast, and writes
through ``out``. Operators swap or write in place by their prefix. No op has code of its own for any of
these.
"""

from __future__ import annotations

import collections
import functools
import types
from collections.abc import Callable, Sequence

import numpy as np

from jaxflow._core.autocast import CASTING
from jaxflow._core.foreign import Foreign, look_for_overrides
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor
from jaxflow._core.torchs import is_torchs, look, refusal
from jaxflow._dispatch.autocasting import without_casts
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS, Op
from jaxflow._writes.inplace import apply_inplace

from .bind import Binder
from .composite import COMPOSITES, Composite
from .out import computed, following, refuse_call, refuse_recorded, write_out
from .places import places_of
from .value_checks import guarded

_OPERANDS = (Tensor, bool, int, float, complex, np.generic)


def _runner(op: Op, run: Callable, static: tuple | None = None) -> Callable:
    """``run``, under the op's guard if it has one; ``static`` where it always gets these, and no factors."""
    idle = op.guard is None or (static is not None and op.guarded is not None and not op.guarded(*static))
    if op.factors and (static is None or op.wide_number):
        idle = False
    return run if idle else functools.partial(guarded, run)


def other_form(op: Op) -> Callable[[tuple, dict], Op]:
    """What says which overload a call takes: the op, or the one for a None that is written out."""
    if op.written is None:
        return lambda args, kwargs: op
    parameter, other = op.written
    places = [p.name for p in op.params if not p.keyword_only]
    place = places.index(parameter) if parameter in places else None

    def form(args: tuple, kwargs: dict) -> Op:
        given = kwargs.get(parameter, "")
        if place is not None and len(args) > place:
            given = args[place]
        return other if given is None else op

    return form


@functools.cache
def function_of(op: Op, method: bool = False) -> Callable:
    """The public function of an op; as a method it takes no ``out=``."""
    bind, run = Binder(op, method=method), _runner(op, apply)
    quick, quick_dynamic, quick_static = bind.quick, bind.quick_dynamic, bind.quick_static
    follows, takes_out = getattr(op.out, "follows", False), "out" in op.variants and not method
    other = other_form(op)
    run_quick = _runner(op, apply, quick_static)

    def call(*args, **kwargs):
        out = None
        try:
            if not kwargs and len(args) == quick:
                return run_quick(op, args + quick_dynamic, quick_static)
            if takes_out:
                out = kwargs.pop("out", None)
            form = other(args, kwargs)
            if out is None:
                return run(form, *bind(args, kwargs))
            if CASTING and not state.uncast:
                return without_casts(call, *args, out=out, **kwargs)
            if not bind.names_dtype(args, kwargs):
                refuse_recorded(op, out, args, kwargs)
            refuse_call(op, out, args, kwargs)
            asked = kwargs
            if follows and kwargs.get("dtype") is None:
                asked = following(op, out, args, kwargs)
                if follows is not True:
                    bind(args, kwargs)  # what is wrong with the call is said of this function
                    return write_out(op.name, out, function_of(OPS[follows])(*args, **asked), args)
            dynamic, static = bind(args, asked)
            return write_out(op.name, out, computed(form, out, run, dynamic, static), dynamic)
        except Foreign:
            if not look_for_overrides():
                raise
            return call(*args, **(kwargs if out is None else dict(kwargs, out=out)))  # other code by now

    return _dress(call, op, op.name)


@functools.cache
def inplace_of(op: Op, method: bool = False) -> Callable:
    """The ``name_`` form of an op."""
    bind, run = Binder(op, "_", method), _runner(op, apply_inplace)
    quick, quick_dynamic, quick_static = bind.quick, bind.quick_dynamic, bind.quick_static
    run_quick = _runner(op, apply_inplace, quick_static)
    other = other_form(op)
    follows = getattr(op.out, "follows", False) is True  # then it computes in the dtype it is written to

    def call(*args, **kwargs):
        if follows and kwargs.get("dtype") is None and args and isinstance(args[0], Tensor):
            kwargs = dict(kwargs, dtype=args[0].dtype)
        if not kwargs and len(args) == quick:
            return run_quick(op, args + quick_dynamic, quick_static)
        return run(other(args, kwargs), *bind(args, kwargs))

    return _dress(call, op, op.method_name + "_")


def _dress(call: Callable, op: Op, name: str) -> Callable:
    call.__name__ = call.__qualname__ = name
    call.__doc__ = op.doc
    call.__wrapped__ = op.fn
    call.__op__ = op
    return call


# ----------------------------------------------------------------------------------------- operators


def left_to(other: object, name: str) -> object:
    """NotImplemented: Python then tries ``other``. Raises for PyTorch's, which would call ours again."""
    if is_torchs(other):
        look()
        raise refusal(name)
    return NotImplemented


#: Reflected operators that PyTorch calls with its own operand first, as their counterparts: the order does
#: not matter to the numbers, but to strides and to what errors name first.
_EITHER_WAY = frozenset(("__radd__", "__rmul__", "__rand__", "__ror__", "__rxor__"))


def _operator(op: Op, name: str) -> Callable:
    bind = Binder(op)
    tail, static = bind.quick_dynamic, bind.quick_static
    in_place = name.startswith("__i") and name != "__invert__"
    run = _runner(op, apply_inplace if in_place else apply, static)
    if bind.quick == 1:
        def call(self):
            return run(op, (self, *tail), static)
    elif name.startswith("__r") and name not in ("__rshift__", "__round__", f"__{op.name}__"):
        swaps = name not in _EITHER_WAY

        def call(self, other):
            if isinstance(other, _OPERANDS):
                if not isinstance(self, Tensor):  # called by its name, not by Python
                    raise TypeError(f"descriptor '{name}' for 'torch._C.TensorBase' objects doesn't apply "
                                    f"to a '{type(self).__name__}' object")
                return run(op, ((other, self) if swaps else (self, other)) + tail, static)
            return left_to(other, op.name)
    else:
        def call(self, other):
            if isinstance(other, _OPERANDS):
                return run(op, (self, other, *tail), static)
            return left_to(other, op.name)
    return _dress(call, op, name)


# ---------------------------------------------------------------------------------------- publishing


def _put(where: types.ModuleType, name: str, thing: Callable, home: str) -> None:
    before = where.__dict__.get(name)
    if before is not None and before is not thing and not isinstance(before, types.ModuleType):
        raise ValueError(f"{where.__name__}.{name} is published twice")
    setattr(where, name, thing)
    at_home(thing, home, name)


def _put_method(name: str, fn: Callable) -> None:
    setattr(Tensor, name, fn)
    at_home(fn, _PACKAGE, f"Tensor.{name}")


_PACKAGE = __package__.partition(".")[0]


def at_home(fn: Callable, module: str, name: str) -> None:
    """Let a function say where users find it first, which is what ``pickle`` writes."""
    if isinstance(fn, types.FunctionType) and "._" in fn.__module__:
        fn.__module__, fn.__qualname__ = module, name


def _methods(record: Op | Composite) -> list[str]:
    return [record.method_name, *(a for a in record.aliases if "." not in a)]


def publish(where: types.ModuleType, namespace: str) -> list[str]:
    """Put every op and composite of ``namespace`` into the module ``where``, and their methods on Tensor.

    Methods go with a record's own namespace, not with its aliases elsewhere. Returns the names in ``where``.
    """
    home = f"{_PACKAGE}.{namespace}".rstrip(".")
    composed = {place for c in COMPOSITES.values() for place in places_of(c)}
    composed_methods = {
        n for c in COMPOSITES.values() if "method" in c.variants for n in _methods(c)
    }
    found = {}

    def put(name: str, thing: Callable) -> None:
        _put(where, name, thing, home)
        found[name] = thing

    for op in OPS.values():
        if op.overloads:
            op.returns = OPS[op.overloads].returns
        elif op.returns and not callable(op.returns):
            op.returns = return_type(op.method_name, op.returns)
        for place in places_of(op):
            name = place[1]
            if place[0] != namespace:
                continue
            if "function" in op.variants and place not in composed:
                put(name, function_of(op))
            if "inplace" in op.variants and namespace and (namespace, name + "_") not in composed:
                put(name + "_", inplace_of(op))
        if op.namespace == namespace:
            _publish_methods(op, composed_methods)
    for c in COMPOSITES.values():
        for place, name in places_of(c):
            if place == namespace and "function" in c.variants:
                put(name, c.fn)
        if c.namespace == namespace:
            if "method" in c.variants:
                for name in _methods(c):
                    _put_method(name, c.fn)
            for name in c.operators:
                _put_method(name, c.fn)
    return list(found)


def _publish_methods(op: Op, composed_methods: set) -> None:
    for name in _methods(op):
        if "method" in op.variants and name not in composed_methods:
            _put_method(name, function_of(op, method=True))
        if "inplace" in op.variants and not op.namespace and name + "_" not in composed_methods:
            _put_method(name + "_", inplace_of(op, method=True))
    for name in op.operators:
        _put_method(name, _operator(op, name))


#: The classes of named results, which ``jaxflow.return_types`` shows.
RETURN_TYPES: dict[str, type] = {}


def return_type(name: str, fields: Sequence[str]) -> Callable:
    """What makes a list of results the named tuple ``torch.return_types.<name>``."""
    cls = _named_results(name, fields)
    cls._into = _named_results(f"{name}_out", fields)  # of results that ``out=`` has taken

    def build(items):
        return cls(*items)

    build.fields = tuple(fields)
    return build


def _named_results(name: str, fields: Sequence[str]) -> type:
    base = collections.namedtuple(name, fields)

    def show(self):
        inner = ",\n".join(f"{f}={v!r}" for f, v in zip(fields, self))
        return f"torch.return_types.{name}(\n{inner})"

    cls = type(name, (base,), {
        "__slots__": (), "__module__": f"{_PACKAGE}.return_types", "__repr__": show,
        "__doc__": f"The named results of ``{name}``: {', '.join(fields)}.",
    })
    if name in RETURN_TYPES:
        raise ValueError(f"the results of {name!r} are named twice")
    RETURN_TYPES[name] = cls
    return cls

"""One program for all sizes of some dimensions, found from traces at a few sizes.

NOTE [Found from examples]
    A function is traced at ``n`` and at ``n + 1`` for each size that may change, and once more at a size that
    nothing is derived from. Its jaxprs must have the same operations in the same order; where a number in
    them differs, it is taken for a polynomial of the sizes that has no squares (``4 * n``, ``b * t + 1``),
    whose coefficients are the finite differences; a floating-point number is taken for a constant divided by
    sizes, or for one that `DERIVED` makes of such a polynomial. The last trace has to agree with all of
    them. The polynomials are then evaluated with the symbolic dimensions of ``jax.export``, which bind the
    same operations. What a module decides by a size in Python is decided as it was for the sizes that were
    tried, as in a trace of PyTorch's. Derivatives are traced before this, so rules of derivatives need not
    be kept here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core.jax_compat import ClosedJaxpr, Jaxpr, Literal

from .constant_arrays import array_makers, equal_arrays
from .formulas import (
    ABOUT,
    DERIVED,
    MOST,
    Array,
    Container,
    Derived,
    Number,
    Polynomial,
    Quotient,
    Same,
    Sizes,
    near,
)

#: Operations that are only names for the jaxpr in them, once derivatives are taken.
_INLINED = {"jit": "jaxpr", "pjit": "jaxpr", "closed_call": "call_jaxpr", "core_call": "call_jaxpr",
            "custom_jvp_call": "call_jaxpr", "custom_vjp_call": "call_jaxpr", "remat": "jaxpr",
            "remat2": "jaxpr", "checkpoint": "jaxpr"}


class NoCommonProgram(Exception):
    """The traces differ by more than sizes."""


def trials(sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """The sizes at which a function is traced: all corners of a box from ``sizes`` on, and one beyond it."""
    corners = [tuple(n + bit for n, bit in zip(sizes, reversed(bits), strict=True))
               for bits in itertools.product((0, 1), repeat=len(sizes))]
    return [*corners, tuple(n + 2 + i for i, n in enumerate(sizes))]


def common(traces: Sequence[ClosedJaxpr], points: Sequence[tuple[int, ...]]) -> Callable:
    """``run(sizes, *arrays)``: what the function does that was traced at these points, for any sizes.

    Raises:
        NoCommonProgram: see NOTE [Found from examples].
    """
    program = _Points(points).program(traces)
    return lambda sizes, *arrays: program.run(Sizes(sizes, points[0]), arrays)


class _Points:
    """What merges the values that something had at each of the points."""

    def __init__(self, points: Sequence[tuple[int, ...]]) -> None:
        self.points = points

    def merged(self, xs: Sequence) -> Any:
        """What gives each of ``xs`` at its point. Raises NoCommonProgram."""
        first = xs[0]
        if all(x is first for x in xs):
            return Same(first)
        if any(type(x) is not type(first) for x in xs):
            raise NoCommonProgram(f"{first!r} is of another type at another size")
        if isinstance(first, (ClosedJaxpr, Jaxpr)):
            return self._inner(xs)
        if isinstance(first, (tuple, list)):
            if any(len(x) != len(first) for x in xs):
                raise NoCommonProgram(f"{first!r} has another length at another size")
            make = type(first)._make if hasattr(first, "_make") else type(first)
            return self._container(make, [self.merged(items) for items in zip(*xs, strict=True)], first)
        if isinstance(first, dict):
            if any(list(x) != list(first) for x in xs):
                raise NoCommonProgram(f"{first!r} has other keys at another size")
            items = [self.merged([x[key] for x in xs]) for key in first]
            return self._container(lambda made: dict(zip(first, made, strict=True)), items, first)
        if isinstance(first, (np.ndarray, jax.Array)):
            return self._array(xs)
        if all(x == first for x in xs) or (isinstance(first, float) and all(map(math.isnan, xs))):
            return Same(first)
        if type(first) is int or isinstance(first, np.integer):
            return self._polynomial([int(x) for x in xs])
        if isinstance(first, (float, np.floating)):
            return self._real([float(x) for x in xs])
        raise NoCommonProgram(f"{first!r} differs with the size")

    def _container(self, make: Callable, items: list, first: Any) -> Any:
        return Container(make, items) if any(item.varies for item in items) else Same(first)

    def _polynomial(self, xs: list) -> Polynomial:
        terms = list(xs[:-1])
        step = 1
        while step < len(terms):
            terms = [x - terms[i - step] if i & step else x for i, x in enumerate(terms)]
            step *= 2
        found = Polynomial(terms)
        there = found.at(Sizes(self.points[-1], self.points[0]))
        if there == xs[-1]:
            return found
        raise NoCommonProgram(f"a number is {xs[0]} and {xs[-1]} at the sizes {self.points[0]} and "
                              f"{self.points[-1]}")

    def _real(self, xs: list[float]) -> Any:
        for mask in range(1, len(xs) - 1):
            constants = [x * math.prod(n for i, n in enumerate(point) if mask >> i & 1)
                         for x, point in zip(xs, self.points, strict=True)]
            if all(math.isclose(c, constants[0], rel_tol=ABOUT) for c in constants):
                # The mean of rounded quotients is nearer to what was divided than each of them.
                return Quotient(near(sum(constants) / len(constants)), mask)
        for into, back in DERIVED:
            if all(math.isfinite(y) and abs(y) < MOST for y in map(into, xs)):
                try:
                    found = self._polynomial([round(into(x)) for x in xs])
                except NoCommonProgram:
                    continue
                whole = [found.at(Sizes(point, self.points[0])) for point in self.points]
                if 0 not in whole and all(math.isclose(back(y), x, rel_tol=ABOUT)
                                          for x, y in zip(xs, whole, strict=True)):
                    return Derived(found, back)
        raise NoCommonProgram(f"a number is {xs[0]} and {xs[-1]} at the sizes {self.points[0]} and "
                              f"{self.points[-1]}")

    def _array(self, xs: Sequence) -> Any:
        """Constant arrays: the same one, or what `array_makers` find in common."""
        first = xs[0]
        arrays = [np.asarray(x) for x in xs]
        if any(x.ndim != first.ndim or x.dtype != first.dtype for x in arrays):
            raise NoCommonProgram("a constant array is of another kind at another size")
        if all(equal_arrays(x, arrays[0]) for x in arrays):
            return Same(first)
        shape = self.merged([x.shape for x in arrays])
        if all(x.size for x in arrays):
            if all((x == x.flat[0]).all() for x in arrays):
                start = self.merged([x.flat[0].item() for x in arrays])
                return Array(shape, lambda shape, start: jnp.broadcast_to(start, shape), start, first.dtype)
            for make in array_makers(arrays[0]):
                if all(equal_arrays(make.numpy(x.shape), x) for x in arrays):
                    return Array(shape, make.jax, Same(0), first.dtype)
        raise NoCommonProgram("a constant array differs with the size")

    def _inner(self, xs: Sequence) -> Any:
        program = self.program(xs)
        return program if program.varies else Same(xs[0])

    def program(self, xs: Sequence) -> _Program:
        """The merged program of jaxprs."""
        return _Program(self, xs)


class _Program:
    """Jaxprs that differ by sizes, as one list of operations."""

    def __init__(self, points: _Points, xs: Sequence) -> None:
        self.points, self.example = points, xs[0]
        self.closed = isinstance(xs[0], ClosedJaxpr)
        jaxprs = [x.jaxpr if self.closed else x for x in xs]
        consts = zip(*(x.consts for x in xs), strict=True) if self.closed else ()
        self.consts = [points.merged(c) for c in consts]
        if len({(len(j.eqns), len(j.invars), len(j.constvars), len(j.outvars)) for j in jaxprs}) > 1:
            raise NoCommonProgram("there are other operations at another size")
        self.names: list[dict] = [{} for _ in jaxprs]
        self.inputs = [self._bound(vs) for vs in zip(*(j.invars for j in jaxprs), strict=True)]
        self.const_inputs = [self._bound(vs) for vs in zip(*(j.constvars for j in jaxprs), strict=True)]
        self.steps = [self._step(eqns) for eqns in zip(*(j.eqns for j in jaxprs), strict=True)]
        self.outputs = [self._read(vs) for vs in zip(*(j.outvars for j in jaxprs), strict=True)]
        avals = [[v.aval for v in j.invars] for j in jaxprs]
        self.shapes = [points.merged([a.shape for a in at]) for at in zip(*avals, strict=True)]
        self.dtypes = [a.dtype for a in avals[0]]
        parts = [*self.shapes, *self.consts, *self.outputs]
        parts += [x for _, reads, params, _ in self.steps for x in (params, *reads)]
        self.varies = any(x.varies for x in parts if not isinstance(x, int))

    def _bound(self, vs: Sequence) -> int:
        place = len(self.names[0])
        for names, v in zip(self.names, vs, strict=True):
            names[v] = place
        if any(len(names) != place + 1 for names in self.names):
            raise NoCommonProgram("results are used otherwise at another size")
        return place

    def _read(self, vs: Sequence) -> Any:
        if all(isinstance(v, Literal) for v in vs):
            return Number(self.points.merged([_plain(v.val) for v in vs]), vs[0].aval.dtype)
        if any(isinstance(v, Literal) for v in vs):
            raise NoCommonProgram("a number is computed at another size")
        places = {names[v] for names, v in zip(self.names, vs, strict=True)}
        if len(places) > 1:
            raise NoCommonProgram("an operation reads something else at another size")
        return places.pop()

    def _step(self, eqns: Sequence) -> tuple:
        primitive = eqns[0].primitive
        if any(e.primitive is not primitive or len(e.outvars) != len(eqns[0].outvars) for e in eqns):
            raise NoCommonProgram(f"where one has {primitive}, another size has {eqns[-1].primitive}")
        reads = [self._read(vs) for vs in zip(*(e.invars for e in eqns), strict=True)]
        inner = _INLINED.get(primitive.name)
        if inner is not None and inner in eqns[0].params:
            params = self.points.program([e.params[inner] for e in eqns])
        else:
            inner, params = None, self.points.merged([e.params for e in eqns])
        bound = [self._bound(vs) for vs in zip(*(e.outvars for e in eqns), strict=True)]
        return primitive if inner is None else None, reads, params, bound

    def run(self, sizes: Sizes, arrays: Sequence) -> list:
        """The results for these arrays."""
        values: dict[int, Any] = dict(zip(self.inputs, arrays, strict=True))
        values.update(zip(self.const_inputs, [c.at(sizes) for c in self.consts], strict=True))

        def read(place: Any) -> Any:
            return values[place] if isinstance(place, int) else place.at(sizes)

        for primitive, reads, params, bound in self.steps:
            given = [read(place) for place in reads]
            if primitive is None:
                results = params.run(sizes, given)
            else:
                results = primitive.bind(*given, **params.at(sizes))
                results = results if primitive.multiple_results else [results]
            values.update(zip(bound, results, strict=True))
        return [read(place) for place in self.outputs]

    def at(self, sizes: Sizes) -> Any:
        """The jaxpr for these sizes, as a parameter of an operation holds it."""
        like = [jax.ShapeDtypeStruct(s.at(sizes), d) for s, d in zip(self.shapes, self.dtypes, strict=True)]
        made = jax.make_jaxpr(lambda *arrays: self.run(sizes, arrays))(*like)
        if self.closed:
            return made
        if made.consts:
            raise NoCommonProgram("an inner function has constants")
        return made.jaxpr


def _plain(x: Any) -> Any:
    """A literal as a Python number, where it is one."""
    return x.item() if isinstance(x, (np.generic, np.ndarray, jax.Array)) and np.ndim(x) == 0 else x

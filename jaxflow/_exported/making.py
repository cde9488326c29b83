"""How a captured method becomes a program: traced at a few sizes, merged, exported, and looked at elsewhere.

NOTE [Looked at elsewhere]
    What was found from a few sizes may be wrong for others, where Python code decides something by a size. So
    the method is traced at the least and at a much larger size too. If such a trace does not fit the program,
    both are run there and compared: it may be that an operation chose another algorithm. If the results
    differ, sizes of 1 are refused, or there is no program for all sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._publish.pytree import array_of

from . import artifact
from .capture import Captured
from .program import Program, Size, Symbols, is_real
from .sizes import NoCommonProgram, common, trials


def program_of(captured: Captured, symbols: Symbols, limits: Mapping[str, Sequence] | None = None) -> Program:
    """The program of a captured method, for all sizes where ``symbols`` has a name.

    Args:
        captured: the method with example arguments.
        symbols: which sizes may change.
        limits: the least and the largest number that names stand for, where there are any.

    Raises:
        NoCommonProgram: when a size with a name cannot change.
        Refused: for what no program does: draws of random numbers, and what `Captured` refuses.
        jax's errors: where the method reads numbers of its tensors, to decide something by them.
    """
    making = _Making(captured, symbols, limits or {})
    forward = making.exported(captured, making.inputs)
    about = {
        "name": captured.name, "state": list(captured.state), "inputs": captured.inputs,
        "outputs": captured.outputs, "written": captured.written, "results": captured.results,
        "shapes": [[list(symbols[i, d]) if (i, d) in symbols else n for d, n in enumerate(t.shape)]
                   for i, t in enumerate(captured.examples)],
        "dtypes": [str(t.dtype) for t in captured.examples],
        "no_gradient": "",
        "least": making.least(forward),
    }
    backward = None
    if any(is_real(a.dtype) for a in forward.out_avals) and any(is_real(a.dtype) for a in forward.in_avals):
        try:
            backward = making.exported(_pullback(captured, len(forward.in_avals)), making.with_cotangents)
        except (NotImplementedError, ValueError, NoCommonProgram) as error:
            about["no_gradient"] = str(error).splitlines()[0]
    else:
        about["no_gradient"] = "nothing that it takes and returns has one"
    return Program(about, forward, backward)


def _pullback(function: Callable, count: int) -> Callable:
    """The vector-Jacobian product of a flat function: its inputs, then cotangents of its real results."""
    def pull(*arrays: Any) -> tuple:
        inputs, cotangents = arrays[:count], iter(arrays[count:])
        real = [i for i, x in enumerate(inputs) if is_real(x.dtype)]

        def of_reals(*reals: Any) -> tuple:
            full = list(inputs)
            for i, x in zip(real, reals, strict=True):
                full[i] = x
            return tuple(x for x in function(*full) if is_real(x.dtype))

        _, vjp = jax.vjp(of_reals, *(inputs[i] for i in real))
        return vjp(tuple(cotangents))

    return pull


class _Making:
    """How the functions of one captured method are made into artifacts."""

    def __init__(self, captured: Captured, symbols: Symbols, limits: Mapping[str, Sequence]) -> None:
        self.captured = captured
        self.first = len(captured.state)
        self.like = [jax.ShapeDtypeStruct(tuple(t.shape), array_of(t).dtype)
                     for t in (*captured.state.values(), *captured.examples)]
        self.places: dict[str, list[tuple[int, int, Size]]] = {}
        for place, size in symbols.items():
            self.places.setdefault(size.name, []).append((*place, size))
        self.traces: list = []  # of the method itself
        self.results: dict[tuple, list] = {}  # what the method returns at a point
        sizes = [max(2, self._example(name, places)) for name, places in self.places.items()]
        self.points = trials(sizes) if sizes else [()]
        self.limits = {name: bounds for name, bounds in limits.items() if name in self.places}
        self.symbols = artifact.symbols(self.places, self.limits)

    def _example(self, name: str, places: list) -> int:
        """What a name stands for in the example arguments."""
        found = {size.number(self.captured.examples[i].shape[d]) for i, d, size in places}
        if len(found) > 1 or None in found:
            raise NoCommonProgram(f"{name} does not stand for one number in the example arguments")
        return found.pop()

    def _form(self) -> str:
        """What the method returned and wrote to when it was traced last, without the numbers."""
        return repr((self.captured.outputs, self.captured.written))

    def inputs(self, point: Sequence) -> list:
        """What the method takes, at these sizes."""
        like = list(self.like)
        for size, places in zip(point, self.places.values(), strict=True):
            for i, d, of in places:
                x = like[self.first + i]
                shape = (*x.shape[:d], of.of(size), *x.shape[d + 1:])
                like[self.first + i] = jax.ShapeDtypeStruct(shape, x.dtype)
        return like

    def with_cotangents(self, point: Sequence) -> list:
        """What its vector-Jacobian product takes, at sizes at which the method was traced."""
        return [*self.inputs(point), *(a for a in self.results[tuple(point)] if is_real(a.dtype))]

    def exported(self, function: Callable, inputs: Callable[[Sequence], list]) -> Any:
        """The artifact of a flat function of ``inputs(sizes)``."""
        if not self.places:
            made = artifact.exported(function, inputs(()))
            self.results.setdefault((), made.out_avals)
            return made
        traces, forms = [], set()
        for point in self.points:
            traces.append(jax.make_jaxpr(function)(*inputs(point)))
            self.results.setdefault(point, traces[-1].out_avals)
            forms.add(self._form())
        if len(forms) > 1:
            raise NoCommonProgram("the result has another structure at another size")
        run, sizes = common(traces, self.points), self.symbols
        self.traces = self.traces or traces
        # What the method returns at these sizes, for the cotangents of its product.
        made = artifact.exported(lambda *arrays: tuple(run(sizes, *arrays)), inputs(sizes))
        self.results.setdefault(sizes, made.out_avals)
        return made

    def least(self, forward: Any) -> int:
        """What names stand for at least: NOTE [Looked at elsewhere].

        Raises:
            NoCommonProgram: where the method does something else for a larger size.
        """
        if not self.places:
            return 1
        low, high = [], []
        for name, n in zip(self.places, self.points[0], strict=True):
            least, most = self.limits.get(name, (None, None))
            low.append(max(1, least or 1))
            high.append(most or 3 * n + 4)
        if not self._holds(forward, tuple(high)):
            raise NoCommonProgram(f"it decides something by sizes: it does something else at {tuple(high)}")
        if self._holds(forward, tuple(low)):
            return 1
        if all(n > 1 for n in low):
            raise NoCommonProgram(f"it decides something by sizes: it does something else at {tuple(low)}")
        return 2

    def _holds(self, forward: Any, point: tuple[int, ...]) -> bool:
        """Whether the program does at a point what the method does."""
        try:
            before = self._form()
            trace = jax.make_jaxpr(self.captured)(*self.inputs(point))
            if self._form() != before:
                return False
        except Exception:  # whatever the method raises for sizes that it is not written for
            return False
        try:
            common([*self.traces[:-1], trace], [*self.points[:-1], point])
            return True
        except NoCommonProgram:
            arrays = self._arrays(point)
            expected, found = self.captured(*arrays), forward.call(*arrays)
            return len(expected) == len(found) and all(map(_alike, expected, found))

    def _arrays(self, point: tuple[int, ...]) -> list:
        """The state and the example arguments, these repeated where a size is larger."""
        arrays = [array_of(t) for t in (*self.captured.state.values(), *self.captured.examples)]
        for i, (x, like) in enumerate(zip(arrays, self.inputs(point), strict=True)):
            for d, n in enumerate(like.shape):
                if n != arrays[i].shape[d]:
                    arrays[i] = jnp.take(arrays[i], jnp.arange(n) % x.shape[d], axis=d)
        return arrays


def _alike(a: Any, b: Any) -> bool:
    """Whether two results are the same but for rounding, which is judged by the largest number in them."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    kind = np.complex128 if jnp.issubdtype(a.dtype, jnp.complexfloating) else np.float64
    x, y = np.asarray(a).astype(kind), np.asarray(b).astype(kind)
    scale = np.max(np.abs(x), initial=0.0, where=np.isfinite(x))
    return np.allclose(x, y, rtol=1e-3, atol=1e-3 * scale, equal_nan=True)

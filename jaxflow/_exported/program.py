"""A method as a program: called with the tensors of a module and with arguments, it runs StableHLO.

NOTE [Two artifacts]
    A program is an artifact of the forward and, where that can be differentiated, one of its vector-Jacobian
    product, which computes the forward again. Together they are a ``jax.custom_vjp`` function, which becomes
    an operation of the recorded graph by `wrap_jax`. There is no second derivative: where
    one is planned, since a graph of the gradient is kept, a call of Python stands in its place, which raises.

NOTE [Looked at elsewhere]
    What was found from a few sizes may be wrong for others, where Python code decides something by a size. So
    the method is traced at the least and at a much larger size too. If such a trace does not fit the program,
    both are run there and compared: it may be that an operation chose another algorithm. If the results
    differ, sizes of 1 are refused, or there is no program for all sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_batching import sequential_vmap

from jaxflow._core.tensor import Tensor
from jaxflow._interop import wrap_jax
from jaxflow._publish.pytree import array_of
from jaxflow.autograd.grad_mode import no_grad

from . import artifact
from .capture import Captured
from .sizes import NoCommonProgram, common, trials
from .structure import flatten, rebuilt, shown


class Size(NamedTuple):
    """A size that may change: ``factor * n + offset``, where ``n`` is what the name stands for."""

    name: str
    factor: int = 1
    offset: int = 0

    def of(self, n: Any) -> Any:
        """The size."""
        return self.factor * n + self.offset

    def number(self, size: int) -> int | None:
        """What the name stands for if this is the size; None if it is nothing."""
        n, rest = divmod(size - self.offset, self.factor)
        return None if rest or n < 1 else n

    def __str__(self) -> str:
        factor = f"{self.factor} * " if self.factor != 1 else ""
        offset = f" + {self.offset}" if self.offset > 0 else f" - {-self.offset}" if self.offset else ""
        return f"{factor}{self.name}{offset}"


#: Which dimensions may change: (number of the argument's tensor, dimension) to the size.
Symbols = Mapping[tuple[int, int], Size]


class Program:
    """What a method computes, for arguments of one structure, and of some sizes or all.

    Attributes:
        state: dotted names of the parameters and buffers that are its first inputs.
        inputs, outputs: structures of arguments and result.
        shapes, dtypes: of the arguments' tensors; a `Size` where it may change.
        written: places, among state and arguments, of tensors that the method writes to.
        least: what names of sizes stand for at least.
        no_gradient: why there is no gradient; empty if there is one.
    """

    def __init__(self, about: dict, forward: Any, backward: Any) -> None:
        self.about, self.forward, self.backward = about, forward, backward
        self.name: str = about["name"]
        self.state: list[str] = about["state"]
        self.inputs, self.outputs = about["inputs"], about["outputs"]
        self.shapes = [[n if isinstance(n, int) else Size(*n) for n in shape] for shape in about["shapes"]]
        self.dtypes: list[str] = about["dtypes"]
        self.written: list[int] = about["written"]
        self.least: int = about["least"]
        self.no_gradient: str = about["no_gradient"]
        self.results: int = about["results"]
        self._call = wrap_jax(self._function(), name=self.name)

    def __deepcopy__(self, memo: dict) -> Program:
        return self

    def __call__(self, state: Sequence[Tensor], args: tuple, kwargs: dict) -> Any:
        """The result of the method, for a module with these tensors.

        Raises:
            RuntimeError: for arguments of another structure, shape or dtype than the program was made for.
        """
        given, structure = flatten((args, kwargs), "the arguments")
        self.check(given, structure)
        tensors = (*state, *given)
        # Backward needs what the program was given, not what is written to it below.
        results = self._call(*(t.clone() if i in self.written else t for i, t in enumerate(tensors)))
        for place, new in zip(self.written, results[self.results:], strict=True):
            with no_grad():
                tensors[place].copy_(new)
        return rebuilt(self.outputs, iter(results[:self.results]))

    def check(self, given: Sequence[Tensor], structure: Any) -> None:
        """Raise RuntimeError where arguments do not fit."""
        if structure != self.inputs:
            raise RuntimeError(
                f"{self.name}() was made into a program for the arguments {_call(self.inputs)}, and is "
                f"called with {_call(structure)}"
            )
        sizes: dict[str, int] = {}
        for i, (t, shape, dtype) in enumerate(zip(given, self.shapes, self.dtypes, strict=True)):
            if not _fits(t.shape, shape, sizes) or any(n < self.least for n in sizes.values()):
                why = f" ({self.about['fixed']})" if "fixed" in self.about else ""
                raise RuntimeError(
                    f"{self.name}() was made into a program for a tensor of shape {_shape(shape)} as tensor "
                    f"{i} of its arguments, and is given one of shape {_shape(t.shape)}. Sizes are fixed but "
                    f"for those with a name, which stands for at least {self.least}{why}: trace it with "
                    "inputs of that shape"
                )
            if str(t.dtype) != dtype:
                raise RuntimeError(
                    f"{self.name}() was made into a program for a tensor of {dtype} as tensor {i} of its "
                    f"arguments, and is given one of {t.dtype}"
                )

    def _function(self) -> Callable:
        forward, backward, why = self.forward, self.backward, self.no_gradient

        @sequential_vmap  # an artifact cannot be batched, so under vmap it runs for one example after another
        def run(*arrays: Any) -> tuple:
            return tuple(forward.call(*arrays))

        @sequential_vmap
        def gradients(*arrays: Any) -> tuple:
            return tuple(backward.call(*arrays))

        pulled_back = jax.custom_vjp(gradients)
        pulled_back.defvjp(lambda *arrays: (gradients(*arrays), arrays), self._second)

        def pulled(arrays: tuple, cotangents: tuple) -> tuple:
            if backward is None:
                raise RuntimeError(f"{self.name}() has no gradient as a program: {why}")
            given = [ct for ct, aval in zip(cotangents, forward.out_avals, strict=True) if _real(aval.dtype)]
            found = iter(pulled_back(*arrays, *given))
            return tuple(next(found) if _real(x.dtype) else _nothing(x) for x in arrays)

        function = jax.custom_vjp(run)
        function.defvjp(lambda *arrays: (run(*arrays), arrays), pulled)
        return function

    def _second(self, arrays: tuple, cotangents: tuple) -> tuple:
        """Gradients of the gradients. They are planned where a graph of these is kept, and fail when they
        are read."""
        def refuse(*arrays: Any) -> Any:
            raise RuntimeError(f"{self.name}() has no gradient of its gradient as a program: its archive "
                               "does not hold it")

        real = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in arrays if _real(x.dtype)]
        found = iter(jax.pure_callback(refuse, real, *cotangents, vmap_method="broadcast_all"))
        return tuple(next(found) if _real(x.dtype) else _nothing(x) for x in arrays)

    def to_data(self) -> tuple[dict, list[bytes]]:
        """The program as plain data, and its pieces of StableHLO."""
        parts = [artifact.to_data(x) for x in (self.forward, self.backward) if x is not None]
        return {**self.about, "artifacts": [data for data, _ in parts]}, [code for _, code in parts]

    @staticmethod
    def from_data(about: dict, codes: Iterable[bytes]) -> Program:
        """The program that `to_data` wrote down."""
        about = dict(about)
        made = [artifact.from_data(x, code) for x, code in zip(about.pop("artifacts"), codes, strict=True)]
        return Program(about, made[0], made[1] if len(made) > 1 else None)


def _fits(shape: Sequence[int], wanted: Sequence, sizes: dict[str, int]) -> bool:
    """Whether a shape is what is wanted; ``sizes`` is what names stand for, and learns of those that are
    new."""
    if len(shape) != len(wanted):
        return False
    for n, want in zip(shape, wanted, strict=True):
        if isinstance(want, Size):
            found = want.number(n)
            if found is None or sizes.setdefault(want.name, found) != found:
                return False
        elif n != want:
            return False
    return True


def _real(dtype: Any) -> bool:
    """Whether there are gradients of this dtype."""
    return jnp.issubdtype(dtype, jnp.inexact)


def _nothing(x: Any) -> np.ndarray:
    """The gradient of integers."""
    return np.zeros(x.shape, jax.dtypes.float0)


def _shape(shape: Iterable) -> str:
    return "[" + ", ".join(map(str, shape)) + "]"


def _call(structure: Any) -> str:
    """The arguments of a call, as errors write them."""
    _, (args, kwargs) = structure
    parts = [shown(item) for item in args[1]]
    parts += [f"{key}={shown(item)}" for key, item in zip(kwargs[2], kwargs[1], strict=True)]
    return f"({', '.join(parts)})"


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
    if any(_real(a.dtype) for a in forward.out_avals) and any(_real(a.dtype) for a in forward.in_avals):
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
        real = [i for i, x in enumerate(inputs) if _real(x.dtype)]

        def of_reals(*reals: Any) -> tuple:
            full = list(inputs)
            for i, x in zip(real, reals, strict=True):
                full[i] = x
            return tuple(x for x in function(*full) if _real(x.dtype))

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
        return [*self.inputs(point), *(a for a in self.results[tuple(point)] if _real(a.dtype))]

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
            forms.add(repr((self.captured.outputs, self.captured.written)))
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
            trace = jax.make_jaxpr(self.captured)(*self.inputs(point))
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

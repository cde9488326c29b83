"""A method as a program: called with the tensors of a module and with arguments, it runs StableHLO.

NOTE [Two artifacts]
    A program is an artifact of the forward and, where that can be differentiated, one of its vector-Jacobian
    product, which computes the forward again. Together they are a ``jax.custom_vjp`` function, which becomes
    an operation of the recorded graph by `wrap_jax`. There is no second derivative: where
    one is planned, since a graph of the gradient is kept, a call of Python stands in its place, which raises.
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
from jaxflow.autograd.grad_mode import no_grad

from . import artifact
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
            given = [ct for ct, a in zip(cotangents, forward.out_avals, strict=True) if is_real(a.dtype)]
            found = iter(pulled_back(*arrays, *given))
            return tuple(next(found) if is_real(x.dtype) else _nothing(x) for x in arrays)

        function = jax.custom_vjp(run)
        function.defvjp(lambda *arrays: (run(*arrays), arrays), pulled)
        return function

    def _second(self, arrays: tuple, cotangents: tuple) -> tuple:
        """Gradients of the gradients: planned where a graph of these is kept, failing when read."""
        def refuse(*arrays: Any) -> Any:
            raise RuntimeError(f"{self.name}() has no gradient of its gradient as a program: its archive "
                               "does not hold it")

        real = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in arrays if is_real(x.dtype)]
        found = iter(jax.pure_callback(refuse, real, *cotangents, vmap_method="broadcast_all"))
        return tuple(next(found) if is_real(x.dtype) else _nothing(x) for x in arrays)

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
    """Whether a shape is what is wanted; what names stand for is kept in ``sizes``."""
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


def is_real(dtype: Any) -> bool:
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

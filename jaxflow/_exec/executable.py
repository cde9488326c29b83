"""Executables: traces compiled by XLA."""

from __future__ import annotations

import time
from array import array
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np

from jaxflow._core import budget, cache_pressure, flags, options
from jaxflow._core.aval import Aval
from jaxflow._core.device import CPU, placed, resolve
from jaxflow._plans.plan import Plan

from . import buffer_reuse, explain, result_buffers
from .handover import Entrance
from .host_calls import call_host
from .overlaps import apart, overlapping
from .trace_analysis import Step, inputs, pair_donations, pair_spares, parse, without_dead

if TYPE_CHECKING:
    from .tape import Layout


_NONE: Mapping[Aval, int] = MappingProxyType({})
# The dtypes of a program's numbers, which it takes as three vectors: Python's float, int and bool, complex.
_NUMBERS = np.float64, np.int64, np.complex128


class Signature(NamedTuple):
    """What a program is compiled for: its device, the avals of its leaves, how many numbers of each kind."""

    device: Any
    leaves: tuple[Aval, ...]
    floats: int
    integers: int
    complexes: int

    @classmethod
    def of(cls, device: Any, layout: Layout) -> Signature:
        """That of a program with this layout."""
        return cls(device, tuple([leaf.aval for leaf in layout.leaves]), len(layout.floats),
                   len(layout.integers), len(layout.complexes))


class Executable:
    """A compiled trace: which results it returns, and which leaves it donates.

    Attributes:
        alive: the results it returns, in the order of the trace.
        outputs: the same, in the order in which it returns them.
        donated: leaves whose memory the first outputs take over, one each (see the NOTE).
        spares: what the next outputs take the memory of: NOTE [Spare arrays].
        kept: the other leaves that it reads.
        offered: how many leaves could have been donated.
        wasted: how often more than that could have been.
        watched: whether to `look` at what a run returns before it is delivered.
        large: the numbers of outputs whose memory is worth noting: NOTE [Memory of a result].
        calls_host: whether an operation calls Python: NOTE [Calls of the host].
        floats: those of the latest run as bytes, and on the device if they were so twice in a row.
    """

    __slots__ = ("alive", "alive_set", "calls_host", "donated", "donated_set", "entrance", "entry", "floats",
                 "kept", "large", "offered", "outputs", "spares", "wasted", "watched")

    def __init__(self, trace: tuple, alive: tuple[int, ...], donatable: tuple[int, ...],
                 signature: Signature, why: str, line: str, spare: Mapping[Aval, int] = _NONE) -> None:
        cache_pressure.made()
        self.alive = alive
        self.alive_set = frozenset(alive)
        leaves = signature.leaves
        steps = without_dead(parse(trace), set(alive))
        self.calls_host = call_host(step.plan for step in steps)
        if self.calls_host:  # NOTE [Calls of the host]
            donatable, spare = (), _NONE
        pairs = pair_donations(steps, self.alive_set, {i: leaves[i] for i in donatable})
        self.donated = tuple(leaf for leaf, _ in pairs)
        self.donated_set = frozenset(self.donated)
        inherited = [result for _, result in pairs]
        placed_in = pair_spares(steps, self.alive_set.difference(inherited), spare)
        self.spares = tuple(aval for aval, _ in placed_in)
        inherited += [result for _, result in placed_in]
        self.outputs = (*inherited, *(i for i in alive if i not in set(inherited)))
        # Those that it does not read are no part of it: the next program with this trace may have others.
        read = {-1 - slot for step in steps for slot in step.slots if slot < 0}
        self.kept = tuple(sorted(read - self.donated_set))
        self.offered = len(leaves) if self.calls_host else len(donatable)
        self.wasted = 0
        self.floats: tuple = b"", None
        started = time.perf_counter()
        with placed(signature.device):
            jitted = jax.jit(self._replay(steps, signature.device), donate_argnums=0,
                             keep_unused=bool(self.spares))
            lowered = jitted.lower(
                [*(leaves[i].struct for i in self.donated), *(aval.struct for aval in self.spares)],
                [leaves[i].struct for i in self.kept],
                *[jax.ShapeDtypeStruct((n,), dtype) if n else None for n, dtype in zip(
                    (signature.floats, signature.integers, signature.complexes), _NUMBERS)],
            )
            self.large = result_buffers.large(lowered.out_info) if signature.device is CPU else ()
            self.entrance = Entrance(options.compiled(lowered, signature.device), signature.device)
        self.watched = self.calls_host or bool(self.entrance.need) and signature.device is not CPU
        budget.charge(budget.STEP * len(steps))
        self.entry = explain.compiled(
            explain.program_name(trace), sum(isinstance(t, Plan) for t in trace), why,
            time.perf_counter() - started, line,
        )

    @property
    def compiled(self) -> Any:
        """What jax compiled."""
        return self.entrance.compiled

    def serves(self, alive: tuple[int, ...], donatable: tuple[int, ...]) -> bool:
        """Whether this program's outputs cover ``alive`` and it donates only what may be donated."""
        return (alive == self.alive or self.alive_set.issuperset(alive)) and (
            self.donated_set.issubset(donatable)
        )

    def look(self, arrays: list) -> None:
        """Raise what a run that returned ``arrays`` failed with, as far as that can be known by now."""
        # What finds no memory has failed when the call returns; to wait for others would hold everybody up.
        if self.calls_host or flags.DEBUG or arrays and arrays[0].is_ready():
            jax.block_until_ready(arrays)

    def __call__(self, layout: Layout, offered: list, about: Any, answers: list) -> None:
        """Put ``about`` and the arrays of ``outputs``, not waited for, into ``answers``.

        What is ``donated`` is gone afterwards, and what is ``offered`` and not wanted before it starts.
        Raises HandedOver, having done nothing, if there are answers already.
        """
        leaves = layout.leaves
        donated = [leaves[i].array for i in self.donated]
        if self.spares or offered:
            donated += buffer_reuse.chosen(self.spares, offered)
        self.entrance.run(
            donated, [leaves[i].array for i in self.kept],
            self._vectors(layout) if layout.vectors is None else layout.vectors,
            about, answers, len(self.donated),
        )

    def _vectors(self, layout: Layout) -> tuple:
        return (self._floats(layout.floats) if layout.floats else None,
                np.array(layout.integers, np.int64) if layout.integers else None,
                np.array(layout.complexes, np.complex128) if layout.complexes else None)

    def _floats(self, floats: list[float]) -> Any:
        """The vector of floats; on the device where they are the same bits as the last time."""
        bits = array("d", floats).tobytes()
        before, there = self.floats
        if bits != before:
            self.floats = bits, None
            return np.array(floats, np.float64)
        if there is None:
            there = jax.device_put(np.array(floats, np.float64), resolve(self.entrance.device)[1])
            self.floats = bits, there
        return there

    def _replay(self, steps: list[Step], device: Any):
        """The function to compile: the plans of ``steps``, applied in order."""
        outputs, donated, kept = self.outputs, self.donated, self.kept
        # NOTE [Updates that read what they replace]
        careful = overlapping(steps) if device is CPU else set()

        def replay(donated_leaves: list, kept_leaves: list, floats, integers, complexes) -> list:
            env: dict[int, Any] = {}
            for i, x in zip(donated, donated_leaves, strict=False):  # spare arrays are not read
                env[-1 - i] = x
            for i, x in zip(kept, kept_leaves, strict=True):
                env[-1 - i] = x
            vectors = {float: floats, int: integers, bool: integers, complex: complexes}

            def number(kind: type, position: int):
                x = vectors[kind][position]
                return x.astype(np.bool_) if kind is bool else x

            for step in steps:
                run = apart(step.plan) if step.out in careful else step.plan.jitted
                for k, x in enumerate(run(*inputs(step, env.__getitem__, number))):
                    env[step.out + k] = x
            return [env[i] for i in outputs]

        return replay

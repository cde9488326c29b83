"""Holds the interpreter against XLA: on each plan that runs eagerly, or on one jaxpr."""

import contextlib

import jax
import numpy as np

from jaxflow._exec import run as running
from jaxflow._exec.numpy.lower import whole_of
from jaxflow._interpreter import lower
from jaxflow._plans.plan import Plan

#: ``torch.testing``'s: relative and absolute.
TOLERANCE = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}


def misfit(got, want, scale=0.0):
    """How an interpreted result differs from XLA's, in words; None if it does not.

    ``scale`` is the size of what may have been added up in another order: a sum is as exact as its terms.
    """
    want = np.asarray(want)
    if type(got) is not np.ndarray:
        return f"a {type(got).__name__}"
    if (got.dtype, got.shape) != (want.dtype, want.shape):
        return f"{got.dtype}{list(got.shape)} for {want.dtype}{list(want.shape)}"
    if want.dtype.kind in "biu" or want.size == 0:
        same = got == want
    else:
        relative, absolute = TOLERANCE[want.dtype.name]
        wide = np.complex128 if want.dtype.kind == "c" else np.float64
        g, w = got.astype(wide), want.astype(wide)
        with np.errstate(all="ignore"):
            same = np.isclose(g, w, relative, absolute + relative * scale, equal_nan=True)
            if want.dtype.kind == "c":  # infinite or not a number: part by part
                same |= _close(g.real, w.real, relative, absolute) & _close(
                    g.imag, w.imag, relative, absolute
                )
    if np.all(same):
        return None
    at = tuple(np.argwhere(~same)[0])
    return f"{got[at]} for {want[at]} at {[int(i) for i in at]}, {(~same).sum()} of {same.size}"


def _close(g, w, relative, absolute):
    return np.isclose(g, w, relative, absolute, equal_nan=True)


def size_of(arrays):
    """The largest finite magnitude among floating arguments."""
    largest = 0.0
    for x in arrays:
        x = np.asarray(x)
        if x.dtype.kind not in "biu" and x.size:
            magnitude = np.abs(x.astype(np.complex128))
            largest = max(largest, float(np.max(magnitude, where=np.isfinite(magnitude), initial=0.0)))
    return largest


def difference(function, *args):
    """Lower a jax function, run it and XLA's on the arguments; what differs, or None."""
    closed = jax.make_jaxpr(function)(*args)
    got = lower(closed)(*[np.asarray(x) for x in args])
    want = jax.tree.leaves(jax.jit(function)(*args))
    assert len(got) == len(want)
    found = [misfit(g, w) for g, w in zip(got, want)]
    return next((f for f in found if f), None)


def next_number(x):
    """Real floating numbers, each the next one of its dtype; anything else as it is."""
    if isinstance(x, (np.ndarray, jax.Array)) and np.asarray(x).dtype.name in ("float32", "float64"):
        return np.nextafter(np.asarray(x), np.inf, dtype=x.dtype)
    return x


class Held:
    """What was seen while plans were held against each other.

    Attributes:
        plans: how many plans were compared.
        whole: names of those that have a kernel of their own beside the primitives'.
        misfits: per plan that differed, in words.
        fallbacks: which primitives ran through XLA, and in which plan first.
    """

    def __init__(self):
        self.seen = {}
        self.plans = 0
        self.whole = set()
        self.misfits = []
        self.fallbacks = {}

    def report(self):
        """What was seen, as text."""
        lines = [f"{self.plans} plans, {len(self.misfits)} of them differ", *self.misfits]
        lines += [f"through XLA: {name}, as in {plan}" for name, plan in self.fallbacks.items()]
        return "\n".join(lines) + "\n"

    def compare(self, plan, arrays, want):
        lowered = self.seen.get(plan)
        if lowered is None:
            lowered = self.seen[plan] = (
                [lower(plan.jaxpr), whole_of(plan)], [aval.dtype for aval in plan.jaxpr.in_avals]
            )
            self.plans += 1
            if lowered[0][1] is not None:
                self.whole.add(plan.name)
            for name in lowered[0][0].fallbacks:
                self.fallbacks.setdefault(name, repr(plan))
        functions, dtypes = lowered
        for function in filter(None, functions):
            try:
                got = function(*[np.asarray(x, dtype) for x, dtype in zip(arrays, dtypes)])
            except Exception as error:  # whatever it is, it is a misfit, and the sweep goes on
                self.misfits.append(f"{plan!r}: {type(error).__name__}: {error}")
                return
            self.differ(plan, arrays, got, want)

    def differ(self, plan, arrays, got, want):
        for g, w in zip(got, want, strict=True):
            found = misfit(g, w, size_of(arrays))
            if found and not self.ill_conditioned(plan, arrays, got, want):
                self.misfits.append(f"{plan!r}: {found}")
                return

    @staticmethod
    def ill_conditioned(plan, arrays, got, want):
        """Whether they differ no more than XLA's results do when each number is moved by one rounding."""
        moved = [next_number(x) for x in arrays]
        again = plan.jitted(*moved)
        return all(bool(np.all(np.abs(g - w) <= 2 * np.abs(np.asarray(a) - w)))
                   for g, w, a in zip(got, map(np.asarray, want), again) if misfit(g, w, size_of(arrays)))


@contextlib.contextmanager
def held_against_xla():
    """Within, plans that run eagerly run through both; yields a `Held`."""
    held, before = Held(), running._run_concrete

    def both(plan: Plan, arrays):
        arrays = list(arrays)
        kept = [np.array(x) if isinstance(x, (np.ndarray, jax.Array)) else x for x in arrays]
        want = before(plan, arrays)
        if not any(isinstance(x, jax.core.Tracer) for x in [*arrays, *want]):
            held.compare(plan, kept, want)
        return want

    running._run_concrete = both
    try:
        yield held
    finally:
        running._run_concrete = before

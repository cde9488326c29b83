"""``gradcheck`` and ``gradgradcheck``: gradients against finite differences, and the other rules of backward.

The Jacobians come from `jacobians`; see NOTE [Jacobians of complex functions] there.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jaxflow._api.creation.host_arrays import put
from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor
from jaxflow._exec.numpy import tiering

from . import api
from .gradcheck_extra import GradcheckError, batched, batched_forward, undefined, undefined_forward, zeros
from .jacobians import (
    IMAGINARY,
    REAL,
    by_backward,
    by_forward,
    difference,
    directions,
    is_inexact,
    numerical,
    of_part,
    several,
    tangent_matrix,
    units,
)


@tiering.pinned()  # it compares repeated backwards to the last bit
def gradcheck(
    func: Callable,
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare the gradients of ``func`` at ``inputs`` with central differences of step ``eps``.

    Args:
        func: takes the inputs, returns a tensor or a tuple of tensors.
        inputs: tensors (others pass through); those that require grad are checked, in double precision.
        atol, rtol: how far analytical and numerical entries may differ.
        raise_exception: raise GradcheckError instead of returning False.
        nondet_tol: how far two backward passes over the same graph may differ.
        check_undefined_grad: also give no cotangent (forward: no tangent), which must mean zeros.
        check_grad_dtypes: in forward mode also require tangents as real or complex as their outputs.
            Backward gradients of a dtype other than the input's always fail, as in PyTorch.
        check_batched_grad: also compare gradients under vmap with those of single passes.
        check_batched_forward_grad: the same of tangents.
        check_forward_ad: also hold forward mode against the differences.
        check_backward_ad: leave it True unless only forward mode is to be checked.
        fast_mode: compare one random projection of each Jacobian instead of every entry.
        masked: let gradients for a cotangent of zeros be nearly zero instead of zero.

    Raises:
        GradcheckError: where a check fails.
        ValueError: when no input requires grad.
        AssertionError: for options that contradict each other, and for outputs whose shape or dtype
            depends on the inputs.
        RuntimeError: for an input that overlaps itself.
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    _needs(check_batched_grad, check_backward_ad, "check_batched_grad", "check_backward_ad")
    _needs(check_batched_forward_grad, check_forward_ad, "check_batched_forward_grad", "check_forward_ad")
    try:
        check = _Check(func, several(inputs), eps, atol, rtol, nondet_tol, check_grad_dtypes)
        if check_backward_ad:
            check.backward(fast_mode)
        if check_forward_ad:
            check.forward(fast_mode)
            if check_undefined_grad:
                undefined_forward(func, check.inputs, check.indices)
        if check_batched_forward_grad:
            batched_forward(func, check.inputs, check.indices)
        if check_backward_ad:
            if check_batched_grad:
                batched(check.outputs, check.wanted)
            zeros(check.outputs, check.wanted, bool(masked))
            if check_undefined_grad:
                undefined(func, check.inputs, check.wanted)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable,
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """``gradcheck`` of the gradients themselves: second derivatives against finite differences.

    Args:
        grad_outputs: the cotangents to differentiate through as well; random ones by default, spread
            over memory with ``gen_non_contig_grad_outputs``.
        check_rev_over_rev: check backward passes through the backward pass.
        check_fwd_over_rev: check forward mode through the backward pass.

    All else is as in :func:`gradcheck`.
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError(
            "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True"
        )
    _needs(check_undefined_grad, check_rev_over_rev, "check_undefined_grad", "check_rev_over_rev")
    _needs(check_batched_grad, check_rev_over_rev, "check_batched_grad", "check_rev_over_rev")
    inputs = several(inputs)
    if grad_outputs is None:
        rng = np.random.default_rng(0)
        grad_outputs = tuple(
            _random_cotangent(o, rng, gen_non_contig_grad_outputs)
            for o in several(func(*inputs)) if o.requires_grad
        )
    grad_outputs = several(grad_outputs)
    n = len(grad_outputs)
    # Forward mode hands over detached tensors: who required grad is remembered.
    active = {i for i, t in enumerate(inputs) if isinstance(t, Tensor) and t.requires_grad}
    active_outputs = {i for i, t in enumerate(grad_outputs) if t.requires_grad}

    def gradient(*args):
        args, cotangents = args[:-n], args[-n:]
        args = tuple(t.requires_grad_() if i in active else t for i, t in enumerate(args))
        outputs = [o for o in several(func(*args)) if o.requires_grad]
        cotangents = [g.requires_grad_() if i in active_outputs else g for i, g in enumerate(cotangents)]
        wanted = tuple(t for i, t in enumerate(args) if i in active)
        found = api.grad(outputs, wanted, cotangents, create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(
        gradient, inputs + grad_outputs, eps=eps, atol=atol, rtol=rtol,
        raise_exception=raise_exception, nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad, fast_mode=fast_mode, masked=masked,
        check_forward_ad=check_fwd_over_rev, check_backward_ad=check_rev_over_rev,
    )


def _needs(asked: bool, given: bool, option: str, other: str) -> None:
    if asked and not given:
        raise AssertionError(f"Setting {option}=True requires {other} to be True")


def _random_cotangent(out: Tensor, rng: np.random.Generator, spread: bool) -> Tensor:
    shape = (*out.shape, 2) if spread else tuple(out.shape)
    data = rng.uniform(-1, 1, shape)
    if out.is_complex():
        data = data + 1j * rng.uniform(-1, 1, shape)
    t = put(data.astype(out.dtype.np), out.device)
    return (t.select(-1, 0) if spread else t).requires_grad_()


def _check_inputs(inputs: tuple) -> None:
    found = False
    for i, t in enumerate(inputs):
        if not (isinstance(t, Tensor) and t.requires_grad):
            continue
        found = True
        if t.dtype not in (dtypes.float64, dtypes.complex128):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. "
                "This check will likely fail if all the inputs are not of double precision floating "
                "point or complex. ",
                stacklevel=4,
            )
        if any(s == 0 and n > 1 for n, s in zip(t.shape, t.stride())):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should "
                "call .contiguous on the input before passing it to gradcheck."
            )
    if not found:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have "
            "requires_grad=True."
        )


_NOT_ZERO = "Numerical gradient for function expected to be zero"
_SLOW_WOULD_DO = (
    "Fast gradcheck failed but element-wise differences are small: with fast_mode=False it might pass."
)


class _Check:
    """One check: the function, its inputs and outputs, and the tolerances."""

    def __init__(self, func, inputs, eps, atol, rtol, nondet_tol, check_dtypes) -> None:
        _check_inputs(inputs)
        self.func, self.inputs, self.eps = func, inputs, eps
        self.atol, self.rtol = atol, rtol
        self.nondet_tol, self.check_dtypes = nondet_tol, check_dtypes
        self.indices = [
            i for i, t in enumerate(inputs) if isinstance(t, Tensor) and t.requires_grad
        ]
        self.wanted = [inputs[i] for i in self.indices]
        given = several(func(*inputs))
        self.outputs = [o for o in given if o.requires_grad]
        inexact = [o for o in given if is_inexact(o)]
        self.inexact = inexact
        self.places = [j for j, o in enumerate(inexact) if o.requires_grad]  # of outputs among them

    # -- backward mode

    def backward(self, fast: bool) -> None:
        """Hold backward passes against the differences, the imaginary parts of complex outputs first."""
        complex_ = any(o.is_complex() for o in self.inexact)
        compare = self._projections if fast else self._jacobians
        for part in (IMAGINARY, REAL) if complex_ else (REAL,):
            compare(part)

    def _part_of(self, out: Tensor, part: complex) -> complex:
        return part if out.is_complex() else REAL

    def _jacobians(self, part: complex) -> None:
        expected = [numerical(self.func, self.inputs, t, self.eps) for t in self.wanted]
        if not self.outputs:
            if any(np.any(of_part(d, self._part_of(o, part)) != 0)
                   for found in expected for d, o in zip(found, self.inexact)):
                raise GradcheckError(_NOT_ZERO)
            return
        for i, (out, place) in enumerate(zip(self.outputs, self.places)):
            which = self._part_of(out, part)
            for j, found in enumerate(self._pulled(out, units(out, which))):
                e = of_part(expected[j][place], which)
                if not self._close(found, e, self.atol):
                    raise GradcheckError(_mismatch(found, e, i, j, "outputs", out, which))

    def _pulled(self, out: Tensor, cotangents: list[np.ndarray]) -> list[np.ndarray]:
        found, fault = by_backward(out, self.wanted, cotangents, self.nondet_tol)
        if fault == "dtype":
            raise GradcheckError("Analytical gradient has incorrect size")  # PyTorch's word for it
        if fault == "different":
            raise GradcheckError(
                "Backward is not reentrant, i.e., running backward with same input and grad_output "
                "multiple times gives different values, although analytical gradient matches numerical "
                f"gradient.The tolerance for nondeterminism was {self.nondet_tol}.\n"
                "If that is expected of this function, say how much with nondet_tol=."
            )
        return found

    def _projections(self, part: complex) -> None:
        us, vs = self._vectors()
        moved = [self._moved(t, u) for t, u in zip(self.wanted, us)]
        if not self.outputs:
            if any(x.size and np.abs(x).max() > self.nondet_tol
                   for found in moved for d in found for x in d.values()):
                raise GradcheckError(_NOT_ZERO)
            return
        which = [self._part_of(out, part) for out in self.outputs]
        found = [self._pulled(out, [v * w]) for out, v, w in zip(self.outputs, vs, which)]
        for j, u in enumerate(us):
            for i, out in enumerate(self.outputs):
                g, v = found[i][j][:, 0], vs[i]
                a = g.real @ u[0] + 1j * (g.imag @ u[1]) if len(u) > 1 else g @ u[0]
                e = v @ of_part(moved[j][self.places[i]], which[i])
                if not self._close(a, e, self.atol * sum(map(np.sum, u)) * v.sum()):
                    raise GradcheckError(
                        _mismatch(a, e, i, j, "outputs", out, which[i])
                        + self._entries(out, j, self.places[i], which[i])
                    )

    def _vectors(self) -> tuple[list, list]:
        """Random directions of length one, nowhere negative: of inputs (complex ones two), of outputs."""
        rng = np.random.default_rng(0)

        def draw(t: Tensor) -> np.ndarray:
            x = rng.random(t.numel())
            return x / max(np.linalg.norm(x), 1e-30)

        return [[draw(t) for _ in directions(t)] for t in self.wanted], [draw(o) for o in self.outputs]

    def _moved(self, t: Tensor, u: list[np.ndarray]) -> list[dict]:
        """The differences along ``u``: for each inexact output, by direction."""
        shape = tuple(t.shape)
        found = [
            difference(self.func, self.inputs, t, (x * way * self.eps).reshape(shape), self.eps)
            for way, x in zip(directions(t), u)
        ]
        return [dict(zip(directions(t), columns)) for columns in zip(*found)]

    def _entries(self, out: Tensor, j: int, place: int, which: complex) -> str:
        """What a failure of fast mode adds: the entries themselves."""
        e = of_part(numerical(self.func, self.inputs, self.wanted[j], self.eps)[place], which)
        found = by_backward(out, self.wanted, units(out, which), float("inf"))[0][j]
        return self._elementwise(found, e)

    def _elementwise(self, found: np.ndarray, expected: np.ndarray) -> str:
        text = (
            "\nThese are projections, compared in fast mode. Entry by entry:\n\n"
            f"Numerical:\n {_show(expected)}\nAnalytical:\n{_show(found)}\n\n"
            f"The max per-element difference (slow mode) is: {np.abs(found - expected).max()}.\n"
        )
        return text + _SLOW_WOULD_DO if self._close(found, expected, self.atol) else text

    # -- forward mode

    def forward(self, fast: bool) -> None:
        """Hold forward mode against the differences, along the imaginary axes of complex inputs first."""
        complex_ = any(isinstance(t, Tensor) and t.is_complex() for t in self.inputs)
        us, _ = self._vectors()
        for part in (IMAGINARY, REAL) if complex_ else (REAL,):
            for j, (k, t) in enumerate(zip(self.indices, self.wanted)):
                way = part if t.is_complex() else REAL
                if not fast:
                    self._compare_forward(j, k, t, way, units(t, way), self.atol)
                else:
                    u = us[j][way == IMAGINARY]
                    self._compare_forward(j, k, t, way, [u * way], self.atol * u.sum())

    def _compare_forward(self, j, k, t, way, tangents, atol) -> None:
        shape = tuple(t.shape)
        steps = [(u * self.eps).reshape(shape) for u in tangents]
        fast = len(tangents) == 1 and np.count_nonzero(tangents[0]) > 1
        where = [None] if fast else list(np.ndindex(*shape))
        moved = [
            difference(self.func, self.inputs, t, step, self.eps, at) for step, at in zip(steps, where)
        ]
        found = by_forward(self.func, self.inputs, self.indices, k, tangents)
        if not found:
            return  # an input without elements
        if self.check_dtypes and any(
            tangent is not None and tangent.is_complex() != primal.is_complex()
            for outputs in found for primal, tangent in outputs
        ):
            raise GradcheckError("Forward AD gradient has dtype mismatch.")
        for i, place in enumerate(self.places):
            got, expected = tangent_matrix(found, place), np.stack([m[place] for m in moved])
            if not self._close(got, expected, atol):
                text = _mismatch(got, expected, i, j, "inputs", t, way, "computed with forward mode ")
                if fast:
                    text += self._forward_entries(k, t, way, place)
                raise GradcheckError(text)

    def _forward_entries(self, k: int, t: Tensor, way: complex, place: int) -> str:
        every = by_forward(self.func, self.inputs, self.indices, k, units(t, way))
        e = numerical(self.func, self.inputs, t, self.eps)[place][way]
        return self._elementwise(tangent_matrix(every, place), e)

    def _close(self, found, expected, atol: float) -> bool:
        return np.allclose(found, expected, rtol=self.rtol, atol=atol)


def _mismatch(found, expected, i, j, of: str, t: Tensor, part: complex, mode: str = "") -> str:
    name = "imaginary" if part == IMAGINARY else "real"
    start = f"While considering the {name} part of complex {of} only, " if t.is_complex() else ""
    return (
        f"{start}Jacobian {mode}mismatch for output {i} with respect to input {j},\n"
        f"numerical:{_show(expected)}\nanalytical:{_show(found)}\n"
    )


def _show(x: Any) -> str:
    return repr(put(x, "cpu")) if isinstance(x, np.ndarray) and x.ndim else str(x)


__all__: Sequence[str] = ("GradcheckError", "gradcheck", "gradgradcheck")

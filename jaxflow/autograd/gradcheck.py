"""``gradcheck`` and ``gradgradcheck``: analytic gradients against finite differences.

For each input and output the numerical Jacobian comes from central differences of the function, the
analytical one from backward passes with unit cotangents. For complex numbers both are written in real
coordinates: perturbing the real and the imaginary part of an input, reading both parts of an output.
PyTorch's convention (the gradient is the conjugate of the derivative of a real loss) makes the vjp of a
unit cotangent ``e`` equal to ``sum_k conj(J)``, so with real coordinates both sides are plain Jacobians.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.door import edge_of, value_of

from . import api
from .engine import run_backward
from .grad_mode import enable_grad, no_grad


class GradcheckError(RuntimeError):
    """A gradient is not what finite differences say."""


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
        check_undefined_grad: also pass no cotangent for an output, and expect none or zeros.
        check_batched_grad: also compare ``is_grads_batched`` with single passes.
        check_grad_dtypes: also require gradients of the inputs' dtypes.
        fast_mode: compare one random projection of the Jacobians instead of every entry.
        check_forward_ad, check_batched_forward_grad: not supported yet; asking for them raises.

    Raises:
        GradcheckError: where a check fails.
        ValueError: when no input requires grad.
        AssertionError: when nothing is to be checked.
        NotImplementedError: for forward-mode checks.
    """
    if check_forward_ad or check_batched_forward_grad:
        raise NotImplementedError(
            "gradcheck(check_forward_ad=True) needs forward-mode autograd, which jaxflow does not have "
            "yet; leave it False and check backward mode"
        )
    if not check_backward_ad:
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    inputs = _several(inputs)
    try:
        _check_inputs(inputs)
        outputs = _run(func, inputs)
        if not any(o.requires_grad for o in outputs):
            return _check_no_grad(func, inputs, outputs, eps)
        check = _Check(func, inputs, eps, atol, rtol, nondet_tol, check_grad_dtypes)
        if fast_mode:
            check.projections(outputs)
        else:
            check.jacobians(outputs)
        if check_batched_grad:
            check.batched()
        if check_undefined_grad:
            check.undefined()
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

    ``grad_outputs`` are the cotangents to differentiate through as well; random ones by default.
    """
    if check_fwd_over_rev:
        raise NotImplementedError(
            "gradgradcheck(check_fwd_over_rev=True) needs forward-mode autograd, which jaxflow does not "
            "have yet; leave it False and check reverse over reverse"
        )
    if not check_rev_over_rev:
        raise AssertionError(
            "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True"
        )
    inputs = _several(inputs)
    if grad_outputs is None:
        grad_outputs = tuple(
            _random_cotangent(o, gen_non_contig_grad_outputs) for o in _run(func, inputs)
            if o.requires_grad
        )
    else:
        grad_outputs = (grad_outputs,) if isinstance(grad_outputs, Tensor) else tuple(grad_outputs)
    n = len(grad_outputs)

    def gradient(*args):
        args, cotangents = args[:-n], args[-n:]
        args = tuple(
            a.requires_grad_() if _wants(a) and not a.requires_grad else a for a in args
        )
        with enable_grad():
            outputs = [o for o in _run(func, args) if o.requires_grad]
        wanted = tuple(a for a in args if _wants(a) and a.requires_grad)
        found = api.grad(outputs, wanted, cotangents, create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(
        gradient, inputs + grad_outputs, eps=eps, atol=atol, rtol=rtol,
        raise_exception=raise_exception, nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad, fast_mode=fast_mode, masked=masked,
    )


def _several(inputs: Any) -> tuple:
    return tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)


def _random_cotangent(out: Tensor, non_contiguous: bool) -> Tensor:
    rng = np.random.default_rng(0)
    from jaxflow._api.construct import tensor

    shape = (*out.shape, 2) if non_contiguous else tuple(out.shape)
    data = rng.standard_normal(shape)
    if out.dtype.is_complex:
        data = data + 1j * rng.standard_normal(shape)
    t = tensor(data, dtype=out.dtype)
    return (t.select(-1, 0) if non_contiguous else t).requires_grad_()


def _wants(t: Any) -> bool:
    return isinstance(t, Tensor) and (t.is_floating_point() or t.is_complex())


def _run(func: Callable, inputs: tuple) -> tuple[Tensor, ...]:
    out = func(*inputs)
    outs = (out,) if isinstance(out, Tensor) else tuple(out)
    return tuple(o for o in outs if isinstance(o, Tensor))


def _check_inputs(inputs: tuple) -> None:
    found = False
    for i, t in enumerate(inputs):
        if not (isinstance(t, Tensor) and t.requires_grad):
            continue
        found = True
        t.retain_grad()
        if t.dtype not in (dtypes.float64, dtypes.complex128):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. "
                "This check will likely fail if all the inputs are not of double precision floating "
                "point or complex. ",
                stacklevel=3,
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


def _array(t: Tensor) -> np.ndarray:
    return np.array(value_of(t).get())


def _reals(x: np.ndarray) -> np.ndarray:
    """A flat real vector of all parts, real and imaginary ones alternating."""
    flat = np.ascontiguousarray(x).reshape(-1)
    return flat.view(flat.real.dtype) if np.iscomplexobj(flat) else flat


def _set(t: Tensor, x: np.ndarray) -> None:
    from jaxflow._api.construct import put

    with no_grad():
        t.data.copy_(put(x, t.device))


def _check_no_grad(func: Callable, inputs: tuple, outputs: tuple, eps: float) -> bool:
    """No output requires grad: then nothing may depend on the inputs."""
    for t in inputs:
        if not (isinstance(t, Tensor) and t.requires_grad):
            continue
        if any(np.abs(columns).max(initial=0.0) > 0 for columns in _numerical(func, inputs, t, eps)):
            raise GradcheckError("Numerical gradient for function expected to be zero")
    return True


def _numerical(func: Callable, inputs: tuple, t: Tensor, eps: float) -> list[np.ndarray]:
    """For each output the Jacobian in real coordinates: rows are outputs, columns inputs."""
    start = _array(t)
    work = start.copy()
    coordinates = _reals(work)
    columns: list[list[np.ndarray]] = []
    with no_grad():
        for k in range(coordinates.size):
            sides = []
            for sign in (eps, -eps):
                before = coordinates[k]
                coordinates[k] = before + sign
                _set(t, work.reshape(start.shape))
                coordinates[k] = before
                sides.append([_reals(_array(o)) for o in _run(func, inputs)])
            columns.append([(a - b) / (2 * eps) for a, b in zip(*sides)])
        _set(t, start)
        if not columns:
            return [np.zeros((_reals(_array(o)).size, 0)) for o in _run(func, inputs)]
    return [np.stack([c[j] for c in columns], 1) for j in range(len(columns[0]))]


class _Check:
    """One gradcheck: the function, its inputs, and the tolerances."""

    def __init__(self, func, inputs, eps, atol, rtol, nondet_tol, check_dtypes) -> None:
        self.func, self.inputs, self.eps = func, inputs, eps
        self.atol, self.rtol = atol, rtol
        self.nondet_tol, self.check_dtypes = nondet_tol, check_dtypes
        self.wanted = [
            (i, t) for i, t in enumerate(inputs) if isinstance(t, Tensor) and t.requires_grad
        ]

    def _pull(self, out: Tensor, cotangent: np.ndarray) -> list[np.ndarray]:
        """Gradients for one cotangent as real vectors; zeros where there is none."""
        from jaxflow._api.construct import put

        found = api.grad(
            out, [t for _, t in self.wanted], put(cotangent.astype(out.dtype.np), out.device),
            retain_graph=True, allow_unused=True,
        )
        result = []
        for (i, t), g in zip(self.wanted, found):
            if g is None:
                result.append(np.zeros_like(_reals(_array(t))))
                continue
            if tuple(g.shape) != tuple(t.shape):
                raise GradcheckError("Analytical gradient has incorrect size")
            if self.check_dtypes and g.dtype is not t.dtype:
                raise GradcheckError("Backward is not returning gradients with the right dtype")
            if g.dtype.is_complex and not t.dtype.is_complex:
                raise GradcheckError(f"Gradient of the real input {i} is complex")
            result.append(_reals(_array(g)))
        return result

    def _analytical(self, out: Tensor) -> list[np.ndarray]:
        """The Jacobian of one output in real coordinates, a row for each unit cotangent."""
        rows: list[list[np.ndarray]] = []
        unit = np.zeros(tuple(out.shape), out.dtype.np)
        coordinates = _reals(unit)
        for k in range(coordinates.size):
            coordinates[k] = 1
            cotangent = coordinates.view(unit.dtype).reshape(unit.shape) if (
                np.iscomplexobj(unit)) else coordinates.reshape(unit.shape)
            row = self._pull(out, cotangent)
            again = self._pull(out, cotangent)
            for a, b in zip(row, again):
                if np.abs(a - b).max(initial=0.0) > self.nondet_tol:
                    raise GradcheckError(
                        "Backward is not reentrant, i.e., running backward with same input and "
                        "grad_output multiple times gives different values, although analytical gradient "
                        f"matches numerical gradient.The tolerance for nondeterminism was "
                        f"{self.nondet_tol}."
                    )
            rows.append(row)
            coordinates[k] = 0
        return [
            np.stack([r[j] for r in rows]) if rows else np.zeros((0, _reals(_array(t)).size))
            for j, (_, t) in enumerate(self.wanted)
        ]

    def jacobians(self, outputs: tuple) -> None:
        """Compare every entry of every Jacobian."""
        numerical = [_numerical(self.func, self.inputs, t, self.eps) for _, t in self.wanted]
        for o, out in enumerate(outputs):
            if not out.requires_grad:
                continue
            analytical = self._analytical(out)
            for k, (i, _) in enumerate(self.wanted):
                a, n = analytical[k], numerical[k][o]
                if not np.allclose(a, n, rtol=self.rtol, atol=self.atol, equal_nan=False):
                    raise GradcheckError(
                        f"Jacobian mismatch for output {o} with respect to input {i},\n"
                        f"numerical:{_show(n.T)}\nanalytical:{_show(a.T)}\n"
                    )

    def projections(self, outputs: tuple) -> None:
        """Compare ``u' J v`` for one random pair of directions for each Jacobian."""
        rng = np.random.default_rng(0)
        for k, (i, t) in enumerate(self.wanted):
            start = _array(t)
            v = rng.standard_normal(_reals(start).size)
            v /= max(np.linalg.norm(v), 1e-30)
            sides = []
            with no_grad():
                for sign in (self.eps, -self.eps):
                    work = start.copy()
                    _reals(work)[:] += sign * v
                    if not np.shares_memory(_reals(work), work):
                        work = (_reals(start) + sign * v).view(start.dtype).reshape(start.shape)
                    _set(t, work)
                    sides.append([_reals(_array(o)) for o in _run(self.func, self.inputs)])
                _set(t, start)
            for o, out in enumerate(outputs):
                if not out.requires_grad:
                    continue
                u = rng.standard_normal(sides[0][o].size)
                numerical = u @ ((sides[0][o] - sides[1][o]) / (2 * self.eps))
                cotangent = u.view(out.dtype.np) if out.dtype.is_complex else u
                analytical = self._pull(out, cotangent.reshape(tuple(out.shape)))[k] @ v
                if not np.allclose(analytical, numerical, rtol=self.rtol, atol=self.atol):
                    raise GradcheckError(
                        f"Jacobian mismatch for output {o} with respect to input {i},\n"
                        f"numerical:{numerical}\nanalytical:{analytical}\n"
                        "The above quantities relating the numerical and analytical jacobians are "
                        "computed in fast mode: one random projection."
                    )

    def batched(self) -> None:
        """``is_grads_batched`` must give what single passes give."""
        rng = np.random.default_rng(0)
        from jaxflow._api.construct import put

        wanted = [t for _, t in self.wanted]
        for out in _run(self.func, self.inputs):
            if not out.requires_grad:
                continue
            stacked = rng.standard_normal((2, *out.shape)).astype(out.dtype.np)
            together = api.grad(out, wanted, put(stacked, out.device), retain_graph=True,
                                allow_unused=True, is_grads_batched=True)
            for row in range(2):
                alone = api.grad(out, wanted, put(stacked[row], out.device), retain_graph=True,
                                 allow_unused=True)
                for a, b in zip(alone, together):
                    if (a is None) != (b is None) or (
                        a is not None and not np.allclose(_array(a), _array(b)[row],
                                                          rtol=self.rtol, atol=self.atol)
                    ):
                        raise GradcheckError(
                            "While computing batched gradients, got values that differ from those of "
                            "single backward passes"
                        )

    def undefined(self) -> None:
        """With no cotangent at all, backward must give nothing or zeros."""
        wanted = [t for _, t in self.wanted]
        outputs = [o for o in _run(self.func, self.inputs) if o.requires_grad]
        try:
            found = run_backward(
                [(edge_of(o), None) for o in outputs], retain_graph=True, create_graph=False,
                capture=[edge_of(t) for t in wanted],
            )
        except RuntimeError as error:
            raise GradcheckError(
                "Expected backward function to handle undefined output grads. Please look at \"Notes "
                "about undefined output gradients\" in \"tools/autograd/derivatives.yaml\""
            ) from error
        for g in found:
            if g is not None and np.any(_array(g) != 0):
                raise GradcheckError(
                    "Expected all input grads to be undefined or zero when all output grads are "
                    "undefined or zero. Please look at \"Notes about undefined output gradients\" in "
                    "\"tools/autograd/derivatives.yaml\""
                )


def _show(x: np.ndarray) -> str:
    from jaxflow._api.construct import put

    return repr(put(x, "cpu"))


__all__: Sequence[str] = ("GradcheckError", "gradcheck", "gradgradcheck")

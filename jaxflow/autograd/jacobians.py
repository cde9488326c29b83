"""Jacobians of functions of tensors, three ways: central differences, backward passes, forward mode.

NOTE [Jacobians of complex functions]
    ``J[k, j]`` says how output element ``j`` follows input element ``k`` (PyTorch's orientation). A
    complex output is two real functions, its parts, looked at in turn; a part is a factor for
    cotangents: 1 pulls back the real part, ``1j`` the imaginary one. For a complex input an entry is
    ``ds/dx + i ds/dy``, which is the gradient in PyTorch's convention. Forward mode is the mirror image:
    there the part is the direction of the tangent, and outputs stay complex.

Everything is a host array: gradient checks are many small numbers and no computation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jaxflow._api.creation.host_arrays import put
from jaxflow._core.tensor import Tensor
from jaxflow._views.values import value_of

from . import api, forward_ad
from .grad_mode import no_grad

REAL, IMAGINARY = 1, 1j


def several(x: Any) -> tuple:
    """What a function was given or returned, as a tuple."""
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def array(t: Tensor) -> np.ndarray:
    """A host copy of what a tensor shows."""
    return np.array(value_of(t).get())


def is_inexact(t: Any) -> bool:
    """Whether this is a tensor of floating point or complex numbers."""
    return isinstance(t, Tensor) and (t.is_floating_point() or t.is_complex())


# ------------------------------------------------------------------------------------- differences


def difference(
    func: Callable, inputs: tuple, t: Tensor, step: np.ndarray, eps: float, where: Any = None
) -> list[np.ndarray]:
    """``(func(t + step) - func(t - step)) / 2 eps`` of every inexact output, flat; ``t`` is moved in place.

    Raises AssertionError when the outputs have not the same shapes and dtypes on both sides.
    """
    start = array(t)
    sides = []
    try:
        for moved in (start - step, start + step):
            _assign(t, moved.astype(start.dtype))
            sides.append([array(o) for o in several(func(*inputs))])
        _assign(t, start)
    except BaseException:  # an interrupt may have come in between: NOTE [Modes and interrupts]
        _assign(t, start)
        raise
    found = []
    for a, b in zip(*sides):
        if a.dtype == bool:
            put(b, "cpu") - put(a, "cpu")  # refused, as in PyTorch
        for what, x, y in (("shape", a.shape, b.shape), ("dtype", a.dtype, b.dtype)):
            if x != y:
                on = "" if where is None else f"on index {where} "
                raise AssertionError(
                    f"Expected `func` to return outputs with the same {what} when inputs are perturbed "
                    f"{on}by {eps}, but got: {what}s {_written(x)} and {_written(y)}."
                )
        if a.dtype.kind not in "iu":
            found.append(((b - a) / (2 * eps)).reshape(-1))
    return found


def _written(x: Any) -> str:
    return f"torch.Size({list(x)})" if isinstance(x, tuple) else f"torch.{x}"


@no_grad()
def _assign(t: Tensor, x: np.ndarray) -> None:
    t.data.copy_(put(x, t.device))


def directions(t: Tensor) -> tuple:
    """Along what to move an input: for complex ones also the imaginary axis."""
    return (REAL, IMAGINARY) if t.is_complex() else (REAL,)


def numerical(func: Callable, inputs: tuple, t: Tensor, eps: float) -> list[dict]:
    """For each inexact output, by direction, the matrix of central differences by every element of ``t``."""
    shape = tuple(t.shape)
    columns: list[dict] = []
    for way in directions(t):
        rows = []
        for index in np.ndindex(*shape):
            step = np.zeros(shape, t.dtype.np)
            step[index] = eps * way
            rows.append(difference(func, inputs, t, step, eps, index))
        if not rows:
            rows = [[np.zeros(o.numel()) for o in several(func(*inputs)) if is_inexact(o)]]
        for j, entries in enumerate(zip(*rows)):
            if j == len(columns):
                columns.append({})
            columns[j][way] = np.stack(entries)[: t.numel()]
    return columns


def of_part(by_direction: dict, part: complex) -> np.ndarray:
    """The entries ``ds/dx`` or ``ds/dx + i ds/dy`` of one part ``s`` of an output."""
    parts = {way: d.imag if part == IMAGINARY else d.real for way, d in by_direction.items()}
    return parts[REAL] + 1j * parts[IMAGINARY] if IMAGINARY in parts else parts[REAL]


# ----------------------------------------------------------------------------------- backward mode


def pull(out: Tensor, wanted: list[Tensor], cotangent: np.ndarray) -> list[Tensor | None]:
    """The gradients of one output for a cotangent of its elements; the graph is kept."""
    cotangent = cotangent.astype(out.dtype.np).reshape(tuple(out.shape))
    return list(api.grad(
        out, wanted, put(cotangent, out.device), retain_graph=True, allow_unused=True
    ))


def by_backward(
    out: Tensor, wanted: list[Tensor], cotangents: list[np.ndarray], nondet_tol: float
) -> tuple[list[np.ndarray], str | None]:
    """The matrices with a column of gradients for each cotangent, and what is wrong with the gradients.

    Each is computed twice; ``"different"`` is said of those that differ by more than ``nondet_tol``,
    ``"dtype"`` of those that are not of the input's dtype.
    """
    fault = None
    passes = []
    for _ in range(2):
        columns = [pull(out, wanted, c) for c in cotangents]
        matrices = []
        for i, t in enumerate(wanted):
            matrix = np.zeros((t.numel(), len(cotangents)), t.dtype.np)
            for j, column in enumerate(columns):
                g = column[i]
                if g is None:
                    continue
                if g.dtype is not t.dtype:
                    fault = "dtype"
                if g.numel() != t.numel():
                    raise AssertionError(
                        f"Expected out_jacobian column to have {g.numel()} elements, but got {t.numel()}"
                    )
                matrix[:, j] = array(g).reshape(-1)
            matrices.append(matrix)
        passes.append(matrices)
    if fault is None:
        for a, b in zip(*passes):
            if a.size and np.abs(a - b).max() > nondet_tol:
                fault = "different"
    return passes[0], fault


def units(t: Tensor, part: complex) -> list[np.ndarray]:
    """One cotangent (or tangent) for each element of ``t``: ``part`` there, zero elsewhere."""
    return list(np.eye(t.numel()) * part)


# ------------------------------------------------------------------------------------ forward mode


def by_forward(
    func: Callable, inputs: tuple, wanted: list[int], k: int, tangents: list[np.ndarray]
) -> list[list[tuple[Tensor, Tensor | None]]]:
    """For each tangent of input ``k``, of every inexact output its primal and its tangent.

    Every other wanted input has a tangent of zeros, as in PyTorch: present, and without effect.
    """
    found = []
    for tangent in tangents:
        with forward_ad.dual_level():
            duals = list(inputs)
            for i in wanted:
                t = inputs[i]
                moved = tangent if i == k else np.zeros(t.numel())
                duals[i] = forward_ad.make_dual(t.detach(), as_tensor(moved, t))
            outputs = [o for o in several(func(*duals)) if is_inexact(o)]
            found.append([tuple(forward_ad.unpack_dual(o)) for o in outputs])
    return found


def as_tensor(x: np.ndarray, like: Tensor) -> Tensor:
    """A tensor of these numbers, with the shape, dtype and device of ``like``."""
    return put(np.asarray(x).astype(like.dtype.np).reshape(tuple(like.shape)), like.device)


def tangent_matrix(found: list[list[tuple]], j: int) -> np.ndarray:
    """The matrix of output ``j`` from `by_forward`: a row for each tangent."""
    rows = [
        np.zeros(primal.numel()) if tangent is None else array(tangent).reshape(-1)
        for primal, tangent in (outputs[j] for outputs in found)
    ]
    return np.stack(rows)

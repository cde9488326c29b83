"""What gradcheck checks beside numbers: gradients of zeros, of nothing, and of many cotangents at once."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from jaxflow._api.creation.host_arrays import put
from jaxflow._api.vmap import vmap
from jaxflow._core.tensor import Tensor
from jaxflow._views.history import edge_of

from . import api, forward_ad
from .engine import run_backward
from .jacobians import array, as_tensor, is_inexact, several


class GradcheckError(RuntimeError):
    """A gradient is not what finite differences say, or backward does not do what it must."""

    __module__ = __name__.replace("_extra", "")  # where users import it from


_rng = np.random.default_rng


def zeros(outputs: list[Tensor], wanted: list[Tensor], masked: bool) -> None:
    """Gradients for cotangents of zeros must be zeros of the inputs' kind. Frees the graph."""
    found = api.grad(
        outputs, wanted, [as_tensor(np.zeros(o.numel()), o) for o in outputs], allow_unused=True
    )
    for g, t in zip(found, wanted):
        if g is None:
            continue
        values = array(g)
        if not (np.allclose(values, 0, rtol=0, atol=1e-8) if masked else np.all(values == 0)):
            raise GradcheckError("backward not multiplied by grad_output")
        for what, same in (("type", g.dtype is t.dtype), ("device", g.device == t.device),
                           ("size", g.shape == t.shape)):
            if not same:
                raise GradcheckError(f"grad is incorrect {what}")


def undefined(func: Callable, inputs: tuple, wanted: list[Tensor]) -> None:
    """No cotangent for all outputs, then for each in turn beside zeros, must give zeros or nothing."""
    outputs = [o for o in several(func(*inputs)) if o.requires_grad]
    _without(outputs, range(len(outputs)), wanted)
    if len(outputs) > 1:
        for i in range(len(outputs)):
            _without([o for o in several(func(*inputs)) if o.requires_grad], (i,), wanted)


def _without(outputs: list[Tensor], missing, wanted: list[Tensor]) -> None:
    roots = [
        (edge_of(o), None if i in missing else as_tensor(np.zeros(o.numel()), o))
        for i, o in enumerate(outputs)
    ]
    try:
        found = run_backward(
            roots, retain_graph=False, create_graph=False, capture=[edge_of(t) for t in wanted]
        )
    except RuntimeError as error:
        _warn_that_it_is_asked()
        raise GradcheckError(
            "Expected backward function to handle undefined output grads. Please look at \"Notes "
            "about undefined output gradients\" in \"tools/autograd/derivatives.yaml\""
        ) from error
    if any(g is not None and np.any(array(g) != 0) for g in found):
        _warn_that_it_is_asked()
        raise GradcheckError(
            "Expected all input grads to be undefined or zero when all output grads are undefined "
            "or zero. Please look at \"Notes about undefined output gradients\" in "
            "\"tools/autograd/derivatives.yaml\""
        )


def _warn_that_it_is_asked() -> None:
    warnings.warn(
        "Backwards compatibility: New undefined gradient support checking feature is enabled by "
        "default, but it may break existing callers of this function. If this is true for you, you can "
        "call this function with \"check_undefined_grad=False\" to disable the feature",
        stacklevel=5,
    )


def undefined_forward(func: Callable, inputs: tuple, indices: list[int]) -> None:
    """An input without a tangent must do what one with a tangent of zeros does."""
    rng = _rng(0)
    tangents = {i: as_tensor(rng.random(inputs[i].numel()), inputs[i]) for i in indices}
    for k in indices:
        both = []
        for zero in (True, False):
            with forward_ad.dual_level():
                duals = list(inputs)
                for i in indices:
                    t = inputs[i].detach()
                    if i != k:
                        duals[i] = forward_ad.make_dual(t, tangents[i])
                    else:
                        duals[i] = forward_ad.make_dual(t, as_tensor(np.zeros(t.numel()), t)) if zero else t
                both.append([
                    None if tangent is None else array(tangent)
                    for _, tangent in (
                        forward_ad.unpack_dual(o) for o in several(func(*duals)) if is_inexact(o)
                    )
                ])
        for j, (a, b) in enumerate(zip(*both)):
            if a is not None and b is not None and not _near(a, b):
                raise GradcheckError(
                    f"Mismatch in tangent values for output with index: {j} when input: {k} has an "
                    f"undefined tangent value.  Got: {a} but expected: {b}"
                )


def _near(a: np.ndarray, b: np.ndarray) -> bool:
    return np.allclose(a, b, rtol=1e-5, atol=1e-8)


_BATCHED = (
    "gradcheck or gradgradcheck failed while testing batched gradient computation. The backward pass "
    "ran under vmap: something in it does not work there, or mixes rows. To leave this out, say "
    "check_batched_grad=False."
)
_BATCHED_FORWARD = (
    "gradcheck failed while testing batched gradient computation with forward-mode AD. The function ran "
    "under vmap with tangents: something in it does not work there, or mixes rows. To leave this out, "
    "say check_batched_forward_grad=False."
)


def batched(outputs: list[Tensor], wanted: list[Tensor]) -> None:
    """Two random cotangents under vmap must give what they give alone. Keeps the graph."""
    rng = _rng(0)
    for i, out in enumerate(outputs):
        rows = [as_tensor(rng.standard_normal(out.numel()), out) for _ in range(2)]
        alone = [api.grad(out, wanted, row, retain_graph=True, allow_unused=True) for row in rows]
        both = as_tensor_rows(rows)
        try:
            together = api.grad(
                out, wanted, both, retain_graph=True, allow_unused=True, is_grads_batched=True
            )
            together = [None if g is None else array(g) for g in together]
        except RuntimeError as error:
            raise GradcheckError(
                f"While computing batched gradients, got: {error}\n\n{_BATCHED}"
            ) from error
        for j, got in enumerate(together):
            expected = [r[j] for r in alone]
            _compare_rows(i, j, got, expected, wanted[j], _BATCHED)


def batched_forward(func: Callable, inputs: tuple, indices: list[int]) -> None:
    """Two random tangents under vmap must give what they give alone."""
    rng = _rng(0)
    for k in indices:
        t = inputs[k]

        def push(tangent, k=k):
            with forward_ad.dual_level():
                duals = [
                    forward_ad.make_dual(x.detach(), tangent) if i == k
                    else x.detach() if isinstance(x, Tensor) else x
                    for i, x in enumerate(inputs)
                ]
                found = [forward_ad.unpack_dual(o) for o in several(func(*duals)) if o is not None]
                return tuple(
                    primal.new_zeros(primal.shape) if tangent is None else tangent
                    for primal, tangent in found
                )

        rows = [as_tensor(rng.standard_normal(t.numel()), t) for _ in range(2)]
        alone = [push(row) for row in rows]
        try:
            together = [array(o) for o in vmap(push)(as_tensor_rows(rows))]
        except RuntimeError as error:
            raise GradcheckError(
                f"While computing batched gradients, got: {error}\n\n{_BATCHED_FORWARD}"
            ) from error
        for j, got in enumerate(together):
            _compare_rows(j, j, got, [r[j] for r in alone], alone[0][j], _BATCHED_FORWARD)


def as_tensor_rows(rows: list[Tensor]) -> Tensor:
    """The rows as one tensor with a leading dimension."""
    return as_tensor_like(np.stack([array(r) for r in rows]), rows[0])


def as_tensor_like(x: np.ndarray, like: Tensor) -> Tensor:
    """A tensor of these numbers on the device of ``like``."""
    return put(x, like.device)


def _compare_rows(i: int, j: int, got, expected: list, like: Tensor, why: str) -> None:
    shape = tuple(like.shape)
    expected = np.stack([np.zeros(shape) if e is None else array(e) for e in expected])
    got = np.zeros((2, *shape)) if got is None else got
    if not _near(got, expected):
        raise GradcheckError(
            f"For output {i} and input {j}:\n\n{why}\n\nGot:\n{got}\n\nExpected:\n{expected}"
        )

"""Forward mode of an op or view against its backward: ``<w, J v> == <J^T w, v>``."""

import numpy as np
from gradient_rows import ROWS, VIEW_ROWS
from gradient_rows.row import draw

import jaxflow as torch
from jaxflow.autograd import forward_ad as fa

ALL = {**ROWS, **VIEW_ROWS}


def inner(a, b):
    """The real inner product, as PyTorch's gradients of complex numbers mean it."""
    return float((a.conj() * b).real.sum(dtype=np.float64))


def array(t):
    return t.detach().resolve_conj().resolve_neg().numpy()


def results(outputs):
    outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
    return [t for t in outputs if t.is_floating_point() or t.is_complex()]


def two_products(row):
    """``<w, J v>`` by forward mode and ``<J^T w, v>`` by backward, and the size of what was added up."""
    inputs = row.inputs()
    along = [draw(-1, 1, i + 7, tuple(t.shape), t.dtype.name).detach() for i, t in enumerate(inputs)]
    outputs = results(row.call(*inputs))
    across = [draw(-1, 1, i + 3, tuple(t.shape), t.dtype.name).detach() for i, t in enumerate(outputs)]
    kept = [(t, w) for t, w in zip(outputs, across, strict=True) if t.requires_grad]
    grads = torch.autograd.grad(
        [t for t, _ in kept], inputs, [w for _, w in kept], allow_unused=True, materialize_grads=True
    )
    with fa.dual_level():
        duals = [fa.make_dual(t.detach(), v) for t, v in zip(inputs, along, strict=True)]
        moved = [fa.unpack_dual(t) for t in results(row.call(*duals))]
    # The rest in NumPy: the eager executor would compile each of these operations.
    backward = [inner(array(g), array(v)) for g, v in zip(grads, along, strict=True)]
    apart = [
        np.abs(array(value) - array(out)).sum(dtype=np.float64)
        for (value, _), out in zip(moved, outputs, strict=True)
    ]
    forward = [inner(array(w), array(t)) for (_, t), w in zip(moved, across, strict=True) if t is not None]
    assert forward
    return sum(forward), sum(backward), sum(apart), sum(map(abs, forward)) + sum(map(abs, backward))


def misfit(row):
    """How forward mode and backward differ on a row, in words; None if they do not."""
    forward, backward, apart, scale = two_products(row)
    if abs(forward - backward) <= 1e-9 * max(scale, 1e-3) and apart <= 1e-9:
        return None
    return f"forward {forward}, backward {backward}, values apart by {apart}"


# Every row is compared in eager mode, by test_autograd_ops: its derivatives are compiled there anyway.
SOME = "exp mul softmax bmm cumprod _lstm_layer adam write_slice sort scatter_reduce/prod abs/complex".split()


def test_deferred_programs():
    with torch.execution("deferred"):
        assert {name: misfit(ALL[name]) for name in SOME} == dict.fromkeys(SOME)


def test_the_comparison_can_fail():
    class Wrong(torch.autograd.Function):
        """Its backward is twice its forward derivative."""

        @staticmethod
        def forward(ctx, x):
            return x * 3

        @staticmethod
        def backward(ctx, grad):
            return 6 * grad

        @staticmethod
        def jvp(ctx, tangent):
            return 3 * tangent

    row = ALL["exp"]._replace(call=Wrong.apply)
    forward, backward, _, _ = two_products(row)
    assert abs(backward - 2 * forward) < 1e-9 and abs(forward) > 1e-3
    assert misfit(row)

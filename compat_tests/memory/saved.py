"""What a backward finds of operands whose memory NumPy has written to since the forward."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

#: When the memory of the operand is shared: before the forward, by either side, or only after it; and of a
#: view of the operand, or all of it.
WHEN = ("imported", "exported", "late", "view", "late view", "copy")


class Row(NamedTuple):
    """A loss of the operand ``x``, and of a leaf ``w`` of its shape.

    ``refused``: PyTorch saves the operand and the result, and computes from what was and what is.
    """

    loss: str
    refused: bool = False


ROWS = (
    Row("(x * w).sum()"), Row("(x * w * x).sum()"), Row("(w / x).sum()"), Row("(x + w).sum()"),
    Row("(w ** 2 * x).sum()"), Row("(w.exp() * x).sum()"), Row("(x.exp() * w).sum()"), Row("(w @ x.T).sum()"),
    Row("T.nn.functional.linear(w, x).sum()"), Row("(w.sigmoid() + x).sum()"),
    Row("T.nn.functional.mse_loss(w, x)"), Row("T.where(x > 2, w, w * 3).sum()"), Row("(w * x).max()"),
    Row("T.nn.functional.softmax(w * x, 1)[0].sum()"), Row("T.lerp(w, x, x).sum()"),
    Row("(w * x.sin()).sum()"),
    Row("T.addcmul(w, x, w).sum()"), Row("T.cat([w, x]).pow(2).sum()"), Row("(w[0] * x[1]).sum()"),
    Row("(w * x.T.contiguous().T).sum()"), Row("T.nn.functional.layer_norm(w * x, (3,)).pow(2).sum()"),
    Row("T.atan2(w, x).sum()"), Row("(w.unsqueeze(0) * x.unsqueeze(0)).sum()"),
    Row("T.stack([w * x, x]).prod()"), Row("(w - x).abs().sum()"), Row("T.clamp(w, max=x).sum()"),
    Row("Cube.apply(x).sum() + w.sum()"), Row("Cube.apply(w * x).sum()"), Row("T.outer(w[0], x[1]).sum()"),
    Row("x.tanh().sum() + w.sum()"), Row("x.norm() + w.sum()", True), Row("(x ** w).sum()", True),
    Row("T.hypot(x, w).sum()", True), Row("T.nn.functional.gelu(x).sum() + w.sum()"),
    Row("(x.sqrt() * w).sum()"),
    Row("T.logaddexp(x, w).sum()"), Row("T.einsum('ij,kj->', w, x)"),
    Row("T.einsum('ij,ij->ij', w, x).sum()"), Row("T.nn.functional.linear(w, x[0]).sum()"),
    Row("T.nn.functional.linear(x, w[0]).sum()"),
    Row("x.cumprod(1).sum() + w.sum()", True),
    Row("x.prod() + w.sum()", True), Row("x.std() + w.sum()", True),
    Row("x.logsumexp(1).sum() + w.sum()", True),
)


def _cube(library: Any) -> type:
    class Cube(library.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x ** 3

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 3 * x ** 2 * grad

    return Cube


def gradients(library: Any, row: Row, when: str) -> list:
    """The gradients of ``w`` and of ``x`` where NumPy writes to ``x`` between forward and backward."""
    numbers = np.arange(1.0, 7.0).reshape(2, 3)
    if when == "imported":
        x = library.from_numpy(numbers)
        array = numbers
    else:
        x = library.tensor(numbers)
        array = x.numpy() if when in ("exported", "view") else None
    x.requires_grad_()
    w = library.tensor(numbers[::-1] / 2, requires_grad=True)
    operand = x[:, [0, 1, 2]] if when == "copy" else x[:, :] if "view" in when else x
    loss = eval(row.loss, {"T": library, "x": operand, "w": w, "Cube": _cube(library)})
    if array is None:
        array = x.detach().numpy()
    array[0] = [5, 6, 7]
    loss.backward()
    return [g for g in (w.grad, x.grad) if g is not None]

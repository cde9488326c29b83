"""Rows of the indexing tests: an expression or a statement over a pool of tensors, as a case.

Compared are values, strides, whether the result is a view, gradients, versions, errors and warnings.
"""

import numpy as np

from compat_tests.harness import AnyStrides, Case, attempt


def pool(T):
    """The tensors that rows may name; the float ones require grad."""

    def numbers(*shape):
        count = int(np.prod(shape))
        return T.tensor(np.arange(count).reshape(shape) / 4 - 1, dtype=T.float32)

    x = numbers(2, 3, 4).requires_grad_()
    return dict(
        T=T,
        np=np,
        x=x,  # (2, 3, 4)
        p=numbers(4, 3, 2).permute(2, 1, 0).requires_grad_(),  # the same shape, other strides
        v=numbers(5).requires_grad_(),
        s=T.tensor(3.0, requires_grad=True),
        e=T.zeros(0, 3, requires_grad=True),
        n=T.arange(6),
        i=T.tensor([1, 0, 1]),
        m=T.tensor([True, False, True]),
        c=T.tensor([1 + 2j, 3j, -1.0], requires_grad=True),
    )


def read(row):
    """The case of an expression: its value, and the gradients of a weighted sum of it."""

    def run(T):
        names = pool(T)
        result = attempt(lambda: _read(eval(row, names)))
        if not isinstance(result, T.Tensor):
            return result
        return [result, result._base is not None, gradients(T, result, names)]

    return Case(row, run)


def _read(result):
    """``result``, its numbers looked at: an index that was itself pending is refused then, not before."""
    if hasattr(result, "tolist"):
        result.detach().tolist()
    return result


def write(row):
    """The case of a statement on ``y``, a copy of ``x``, and ``k``, a copy of ``n``."""

    def run(T):
        names = pool(T)
        names |= dict(y=names["x"].clone(), q=names["p"].clone(), k=names["n"].clone())
        names |= dict(w=T.full((3, 4), 2.0, requires_grad=True), z=names["c"].clone())
        error = attempt(lambda: exec(row, names))
        written = [names[name] for name in "yqkz"]
        versions = [t._version for t in written]
        real = sum((t.abs() * 2).sum() for t in written if t.requires_grad)
        return [error, written, versions, gradients(T, real, names)]

    return Case(row, run)


def gradients(T, result, names):
    """Gradients of a weighted sum of ``result`` for every leaf of the pool."""
    if not result.requires_grad:
        return None
    tensors = [t for t in names.values() if isinstance(t, T.Tensor)]
    leaves = [t for t in tensors if t.requires_grad and t.is_leaf]
    real = result.abs() if result.is_complex() else result
    weights = T.arange(1.0, real.numel() + 1).reshape(real.shape)
    return AnyStrides(T.autograd.grad((real * weights).sum(), leaves, allow_unused=True))


def rows(table):
    """The rows of a table, one to a line."""
    return [line.strip() for line in table.strip().splitlines() if line.strip()]

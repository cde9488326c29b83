"""Products of matrices:

every ``dot_general`` as one ``matmul`` of (batch, rows, inner) by (batch, inner, columns).
"""

from __future__ import annotations

import math

import numpy as np

from .numbers import BOOL, wide_of
from .table import rule

#: With fewer rows than this BLAS is slow at ``x @ w.T`` and twice as quick at its transpose (OpenBLAS; from
#: a few
#: rows on; the result is copied into logical order, so that what follows reads it in order).
FEW_ROWS = 32


def _arranged(aval, *groups):
    """A function that brings an operand to one axis per group of dimensions, in order;

    None if it is so already.
    """
    order = [d for group in groups for d in group]
    shape = tuple(math.prod(aval.shape[d] for d in group) for group in groups)
    moved = order != list(range(len(order)))
    if not moved:
        return None if shape == aval.shape else lambda x: x.reshape(shape)
    order = tuple(order)
    if tuple(aval.shape[d] for d in order) == shape:
        return lambda x: x.transpose(order)
    return lambda x: x.transpose(order).reshape(shape)


def _free(aval, *taken):
    used = {d for group in taken for d in group}
    return tuple(d for d in range(len(aval.shape)) if d not in used)


def _operand(aval, batch, rows, columns):
    """An operand as (batch, rows, columns): a transposed view where the columns lie in front of the rows."""
    if (*batch, *columns, *rows) == tuple(range(len(aval.shape))) and rows and columns:
        turned = _arranged(aval, *_batch_group(batch), columns, rows)
        if turned is None:
            return lambda x: x.swapaxes(-1, -2)
        return lambda x: turned(x).swapaxes(-1, -2)
    return _arranged(aval, *_batch_group(batch), rows, columns)


def _batch_group(batch):
    return (batch,) if batch else ()


def _turned(w, x):
    return np.ascontiguousarray(np.matmul(w, x.T).T)


@rule("dot_general")
def _dot_general(site):
    (lhs_inner, rhs_inner), (lhs_batch, rhs_batch) = site.params["dimension_numbers"]
    lhs, rhs = site.ins
    shape, dtype = site.outs[0].shape, site.dtype
    lhs_free, rhs_free = _free(lhs, lhs_inner, lhs_batch), _free(rhs, rhs_inner, rhs_batch)
    # The inner dimensions may be listed in any order, the same for both: take that of the right operand's
    # layout.
    order = sorted(range(len(rhs_inner)), key=lambda i: rhs_inner[i])
    lhs_inner, rhs_inner = tuple(lhs_inner[i] for i in order), tuple(rhs_inner[i] for i in order)
    left = _operand(lhs, tuple(lhs_batch), lhs_free, lhs_inner)
    right = _operand(rhs, tuple(rhs_batch), rhs_inner, rhs_free)
    rows = math.prod(lhs.shape[d] for d in lhs_free)
    columns = math.prod(rhs.shape[d] for d in rhs_free)
    product = (*((math.prod(lhs.shape[d] for d in lhs_batch),) if lhs_batch else ()), rows, columns)
    matmul = np.matmul
    wide = wide_of(dtype)
    casts = [None if aval.dtype == wide else wide for aval in (lhs, rhs)]
    if dtype == BOOL:
        casts = [None, None]
    by_rows = (*rhs_free, *rhs_inner) == tuple(range(len(rhs.shape)))
    inner = math.prod(lhs.shape[d] for d in lhs_inner)
    transposed = not lhs_batch and right is not None and by_rows
    if inner == 1 and dtype != BOOL:
        contract = np.multiply  # a third of the time that BLAS takes for an outer product
    elif transposed and rhs_free and rhs_inner and wide.kind == "f" and (
            2 < rows < FEW_ROWS and columns > rows):
        # rhs as it lies, lhs transposed
        right = _arranged(rhs, rhs_free, rhs_inner)

        def contract(x, y):
            return _turned(y, x)
    elif not lhs_batch and rows == 1 and lhs_free == () and rhs_free == ():
        def contract(x, y):
            return np.dot(x.reshape(-1), y.reshape(-1))
    else:
        contract = matmul
    return _assembled(left, right, contract, product, shape, casts, dtype, wide)


def _assembled(left, right, contract, product, shape, casts, dtype, wide):
    """The function of an equation: only the steps that are not the identity."""
    if casts == [None, None] and dtype == wide:
        if left is None and right is None and product == shape:
            return contract
        if left is None and product == shape:
            return lambda x, y: contract(x, right(y))
        if right is None and product == shape:
            return lambda x, y: contract(left(x), y)

    def dot_general(x, y):
        if casts[0] is not None:
            x = x.astype(wide)
        if casts[1] is not None:
            y = y.astype(wide)
        if left is not None:
            x = left(x)
        if right is not None:
            y = right(y)
        found = contract(x, y)
        if dtype != wide:
            found = found.astype(dtype)
        return found.reshape(shape)

    return dot_general

"""For every differentiable op one call or more whose gradients are checked against finite differences.

A key is the op's name, or the name, a slash and what is special about this call.
"""

from . import arranging, fourier, indexing, nets, optimizers, pointwise, products, reductions, views, windows

_OPS = (arranging, fourier, indexing, nets, optimizers, pointwise, products, reductions, windows)
ROWS = {name: row for family in _OPS for name, row in family.ROWS.items()}
VIEW_ROWS = views.ROWS

assert len(ROWS) == sum(len(family.ROWS) for family in _OPS), "two rows of one name"


def op_of(key):
    """The name of the op a row is for."""
    return key.partition("/")[0]

"""Elements picked by number or mask, and elements written where a number or mask says."""

import jaxflow as torch

from .row import index, row

F = torch.nn.functional
X, Y = (2, 3), (2, 2)


def _assigned(t, where, value):
    t[where] = value
    return t


def _mask():
    return torch.tensor([[True, False, True], [False, True, True]])


def _columns():
    return index([0, 2], [1, 0])


ROWS = {
    # reading
    "_index": row(lambda x: x[[1, 0, 1], [0, 2, 0]], X),
    "_index/mask": row(lambda x: x[_mask()], X),
    "_index/between": row(lambda x: x[[1, 0], :, None, [0, 1]], (2, 2, 3)),
    "_embedding": row(lambda w: F.embedding(index([1, 0], [1, 2]), w), (3, 2)),
    # the row of padding is a constant, so it is looked up where it counts for nothing
    "_embedding/padding": row(
        lambda w: F.embedding(index(1, 0, 1, 2), w, padding_idx=2) * index([1], [1], [1], [0]), (3, 2)
    ),
    "gather": row(lambda x: x.gather(1, index([0, 0], [2, 1])), X),
    "index_select": row(lambda x: x.index_select(1, index(2, 0, 2)), X),
    "take": row(lambda x: x.take(index(4, 0, 4, -1)), X),
    "take_along_dim": row(lambda x: torch.take_along_dim(x, index([[1, 2]]), 1), X),
    "take_positions": row(lambda x: x.masked_select(_mask()), X),
    # writing
    "_assign": row(lambda x, y: _assigned(x * 1, 0, y[0, 0]), X, X),
    "_assign/number": row(lambda x: _assigned(x * 1, (slice(None), 1), 0.5), X),
    "_index_put": row(lambda x, y: _assigned(x * 1, ([1, 0], [0, 2]), y[0, :2]), X, X),
    "_index_put/accumulate": row(
        lambda x, y: torch.index_put(x, (index(1, 1), index(0, 0)), y, accumulate=True), X, (2,)
    ),
    "_masked_write": row(lambda x, y: _assigned(x * 1, x > 1.0, y[0, 0]), X, X),
    "index_add": row(lambda x, y: x.index_add(1, index(2, 2), y, alpha=0.5), X, Y),
    "index_copy": row(lambda x, y: x.index_copy(1, index(2, 0), y), X, Y),
    "index_fill": row(lambda x, y: x.index_fill(1, index(2, 0, 2), y[0, 0]), X, X),
    **{
        f"index_reduce/{reduce}{'' if whole else ' alone'}": row(
            lambda x, y, reduce=reduce, whole=whole: x.index_reduce(
                1, index(2, 2), y, reduce, include_self=whole
            ),
            X, Y,
        )
        for reduce in ("prod", "mean", "amax", "amin") for whole in (True, False)
    },
    "masked_scatter": row(lambda x, y: x.masked_scatter(_mask(), y), X, X),
    "put": row(lambda x, y: x.put(index(4, 0), y), X, (2,)),
    "put/accumulate": row(lambda x, y: x.put(index(4, 4), y, accumulate=True), X, (2,)),
    "scatter_add": row(lambda x, y: x.scatter_add(1, index([0, 0], [2, 1]), y), X, Y),
    **{
        f"scatter_reduce/{reduce}{'' if whole else ' alone'}": row(
            lambda x, y, reduce=reduce, whole=whole: x.scatter_reduce(
                1, index([0, 0], [2, 1]), y, reduce, include_self=whole
            ),
            X, Y,
        )
        for reduce in ("sum", "prod", "mean", "amax", "amin") for whole in (True, False)
    },
    "scatter_src": row(lambda x, y: x.scatter(1, _columns(), y), X, Y),
    "scatter_value": row(lambda x: x.scatter(1, _columns(), 0.5), X),
    "select_scatter": row(lambda x, y: x.select_scatter(y, 1, -1), X, (2,)),
    "slice_scatter": row(lambda x, y: x.slice_scatter(y, 1, 0, None, 2), X, Y),
    "diagonal_scatter": row(lambda x, y: x.diagonal_scatter(y, 1), X, (2,)),
}

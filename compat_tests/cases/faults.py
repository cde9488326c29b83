"""Indices, classes and probabilities that are themselves results and out of range: refused when read."""

from compat_tests.harness import case, each, leaf, raises


def _z(T, data):
    return T.tensor(data) + 0


@each(
    gather=lambda T, x, v: x.gather(1, _z(T, [[3]])),
    gather_below=lambda T, x, v: x.gather(0, _z(T, [[1], [-1]])),
    index=lambda T, x, v: x[_z(T, [0, 2])],
    index_two=lambda T, x, v: x[_z(T, [[1], [5]]), _z(T, [0, -4])],
    index_two_swapped=lambda T, x, v: x[_z(T, [0, 1, 7]), _z(T, [-4, 1, 0])],
    index_mixed=lambda T, x, v: x[[0, 1], _z(T, [2, 3])],
    index_select=lambda T, x, v: x.index_select(0, _z(T, [-1])),
    index_select_second=lambda T, x, v: x.index_select(1, _z(T, [3])),
    take=lambda T, x, v: v.take(_z(T, [-6])),
    put=lambda T, x, v: v.detach().clone().put_(_z(T, [5]), T.ones(1)),
    setitem=lambda T, x, v: v.detach().clone().index_put_((_z(T, [5]),), T.ones(1)),
    scatter=lambda T, x, v: v.scatter(0, _z(T, [5]), 1.0),
    scatter_add=lambda T, x, v: v.scatter_add(0, _z(T, [-1]), T.ones(1)),
    scatter_reduce=lambda T, x, v: v.scatter_reduce(0, _z(T, [5]), T.ones(1), "amax"),
    index_add=lambda T, x, v: v.index_add(0, _z(T, [5]), T.ones(1)),
    index_copy=lambda T, x, v: v.index_copy(0, _z(T, [5]), T.ones(1)),
    index_fill=lambda T, x, v: v.index_fill(0, _z(T, [5]), 1.0),
    embedding=lambda T, x, v: T.nn.functional.embedding(_z(T, [1, 2]), x),
    one_hot=lambda T, x, v: T.nn.functional.one_hot(_z(T, [2]), 2),
    one_hot_negative=lambda T, x, v: T.nn.functional.one_hot(_z(T, [2, -1]), 2),
    cross_entropy=lambda T, x, v: T.nn.functional.cross_entropy(x, _z(T, [-100, 3])),
    nll_loss=lambda T, x, v: T.nn.functional.nll_loss(x, _z(T, [-1, 0])),
    multi_margin=lambda T, x, v: T.nn.functional.multi_margin_loss(x, _z(T, [0, 3])),
    bce_input=lambda T, x, v: T.nn.functional.binary_cross_entropy(
        _z(T, [2.0]), T.ones(1)),
    bce_target=lambda T, x, v: T.nn.functional.binary_cross_entropy(
        T.ones(1) / 2, _z(T, [float("nan")])),
    floor_divide=lambda T, x, v: T.tensor([7, 9]) // _z(T, [1, 0]),
    remainder=lambda T, x, v: 5 % _z(T, [1, 0]),
    fmod=lambda T, x, v: T.tensor([[True], [False]]).fmod(_z(T, [1, 0])),
    div=lambda T, x, v: T.div(T.tensor(3), _z(T, 0), rounding_mode="trunc"),
    divided_by_a_number=lambda T, x, v: _z(T, [1, 0]) // 0,
    divided_by_bool=lambda T, x, v: _z(T, [1, 0]) % (_z(T, [1, 0]) > 2),
    divided_in_place=lambda T, x, v: _z(T, [1, 0]).floor_divide_(_z(T, 0)),
)
def out_of_range(T, call):
    x, v = leaf(T, 2, 3), leaf(T, 5)
    return raises(lambda: call(T, x, v).sum().item())


@case
def shapes_that_misfit_are_refused_first_and_alone(T):
    x = leaf(T, 2, 3)
    error = raises(lambda: x.gather(1, _z(T, [9])))
    return error, (x * 2).sum().detach()


@case
def what_was_computed_beside_it_is_sound(T):
    x = leaf(T, 3)
    beside = x * 2
    return raises(lambda: T.exp(x[_z(T, [3])]).sum().item()), beside, x

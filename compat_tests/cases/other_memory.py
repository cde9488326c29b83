"""``x.data = other`` between a forward and its backward: which nodes find the other memory."""

import numpy as np

from compat_tests.harness import attempt, case, each, leaf, raises, rand


def _numbers(T, *shape):
    return rand(T, *shape) + 3


@each(
    square=lambda t: t * t, sin=lambda t: t.sin(), exp=lambda t: t.exp(), relu=lambda t: t.relu(),
    exp_and_itself=lambda t: t.exp() * t, view=lambda t: t * t[...], turned=lambda t: t @ t.T,
    mm=lambda t: t @ t, add=lambda t: t + 1, linear=lambda t: t.new_ones(2, 3) @ t.T,
)
def of_a_leaf(T, function):
    x = leaf(T, 3, 3)
    y = function(x)
    x.data = _numbers(T, 3, 3)
    y.sum().backward()
    return x.grad, x._version, y


@each(leaf=lambda t: t.requires_grad_(), view=lambda t: t.view(4).requires_grad_(),
      result=lambda t: t.requires_grad_() * 1, part=lambda t: (t.requires_grad_() * 1)[1:],
      own=lambda t: t.requires_grad_().detach()[:3].requires_grad_(), constant=lambda t: t)
def of_a(T, make):
    w = rand(T, 4).requires_grad_()
    start = rand(T, 4)
    x = make(start)
    y = (x * w[: len(x)] * x).sum()
    x.data = _numbers(T, len(x))
    y.backward()
    return w.grad, start.grad if start.requires_grad else x.grad if x.is_leaf else None


@case
def a_step_between_two_passes(T):
    x = leaf(T, 3)
    loss = (x * x).sum()
    for _ in range(3):
        loss.backward(retain_graph=True)
        x.data = x.data - 0.1 * x.grad
    return x, x.grad


@case
def given_again_and_again(T):
    x = T.from_numpy(np.zeros((3, 4)))
    x.data = x * 2
    x.set_(T.ones(3, 4, dtype=T.float64))
    x.data = x[..., :1]
    return x, x._version


@case
def exchanged(T):
    a, b = leaf(T, 3), leaf(T, 3)
    y = (a * b).sum()
    a.data, b.data = b.data, a.data
    y.backward()
    return a.grad, b.grad


@case
def turned(T):
    a = leaf(T, 2, 2)
    y = (a @ a).sum()
    a.data = a.data.T
    y.backward()
    return a.grad


@each(none=False, bias=True)
def weights_of_a_layer(T, bias):
    layer, x = T.nn.Linear(3, 2, bias=bias), leaf(T, 4, 3)
    conv, image = T.nn.Conv1d(2, 2, 3), leaf(T, 1, 2, 5)
    weights = [*layer.parameters(), *conv.parameters()]
    for p in weights:
        p.data = rand(T, *p.shape)
    y, z = layer(x).sum(), layer(x[None]).sum() + conv(image).sum()
    for p in weights:
        p.data = _numbers(T, *p.shape)
    (y + z).backward()
    return x.grad, image.grad, [p.grad for p in weights]


@case
def then_written_to(T):
    x, other = leaf(T, 3), rand(T, 3)
    y = (x * x).sum()
    x.data = other
    other.mul_(2)
    x.data.add_(1)
    y.backward()
    return x.grad, x._version, other._version


@case
def versions_are_looked_at_all_the_same(T):
    x, other = leaf(T, 3), rand(T, 3)
    y = (x * x).sum()
    x.data = other
    with T.no_grad():
        x.mul_(2)
    return raises(y.backward)


_PRODUCTS = {
    "folded": ((2, 2, 3), (3, 2), lambda T, a, b: a @ b), "rows": ((2, 2, 3), (3,), lambda T, a, b: a @ b),
    "of_a_row": ((3,), (3, 2), lambda T, a, b: a @ b), "of_rows": ((3,), (2, 3, 2), lambda T, a, b: a @ b),
    "left": ((2, 3), (2, 3, 2), lambda T, a, b: a @ b),
    "batch": ((2, 2, 3), (2, 3, 2), lambda T, a, b: a @ b),
    "spread": ((1, 2, 3), (2, 3, 2), lambda T, a, b: a @ b),
    "linear": ((2, 2, 3), (2, 3), lambda T, a, b: T.nn.functional.linear(a, b)),
    "inner": ((2, 3), (4, 3), lambda T, a, b: T.inner(a, b)),
    "outer": ((2,), (3,), lambda T, a, b: T.outer(a, b)),
    "tensordot": ((2, 3), (3, 2), lambda T, a, b: T.tensordot(a, b, 1)),
    "einsum": ((2, 2, 3), (2, 3, 2), lambda T, a, b: T.einsum("bij,bjk->bik", a, b)),
    "elements": ((3,), (3,), lambda T, a, b: T.einsum("i,i->i", a, b)),
    "all_elements": ((2, 3), (2, 3), lambda T, a, b: T.einsum("ij,ij->ij", a, b)),
    "three_of_elements": ((3,), (3,), lambda T, a, b: T.einsum("i,i,i->i", a, b, a)),
    "spread_elements": ((2, 3), (3,), lambda T, a, b: T.einsum("ij,j->ij", a, b)),
    "a_number_and_elements": ((), (3,), lambda T, a, b: T.einsum(",i->i", a, b)),
    "one_feature": ((2, 3), (3,), lambda T, a, b: T.nn.functional.linear(a, b)),
    "one_feature_of_a_row": ((3,), (3,), lambda T, a, b: T.nn.functional.linear(a, b)),
    "one_feature_of_batches": ((2, 2, 3), (3,), lambda T, a, b: T.nn.functional.linear(a, b)),
    "prelu": ((2, 3), (3,), lambda T, a, b: T.nn.functional.prelu(a - 3, b)),
    "divergence": ((3,), (3,), lambda T, a, b: T.nn.functional.kl_div(a, b, reduction="sum")),
    "solved": ((2, 2), (2, 2), lambda T, a, b: T.linalg.solve(a + T.eye(2), b)),
    "pooled": ((1, 4), (1, 4), lambda T, a, b: T.nn.functional.max_pool1d(a, 2) * b[:, :2]),
}


@each(**_PRODUCTS)
def of_both_operands(T, row):
    shape, other, function = row
    a, b = leaf(T, *shape), leaf(T, *other)
    y = function(T, a, b)
    a.data, b.data = _numbers(T, *shape) * 2, _numbers(T, *other)
    y.sum().backward()
    return a.grad, b.grad


@each(all=lambda t: t[:], part=lambda t: t[1:], detached=lambda t: t.detach(), data=lambda t: t.data)
def while_others_show_what_was_there(T, make):
    x, w, other = rand(T, 4), leaf(T, 4), rand(T, 4)
    shown = make(x)
    y = (x * w).sum()
    x.data = other
    shown.data.add_(1)
    y.backward()
    first, w.grad = w.grad, None
    z = (shown * w[: len(shown)]).sum() + (x * w).sum()
    other.data.mul_(2)
    z.backward()
    return first, w.grad, x, shown, x._version, shown._version


@case
def a_part_of_other_memory(T):
    x, w, other = rand(T, 4), leaf(T, 4), rand(T, 8)
    y = (x * w).sum()
    x.data = other[4:]
    other.data.mul_(2)
    y.backward()
    return w.grad, x


@case
def a_view_is_given_all_of_its_own_memory(T):
    x = rand(T, 2, 3)
    flat = x.view(-1)
    flat.data = x
    flat[0] = 7
    return flat, x, flat._version, x._version


@each(smaller=2, of_another_place=3, all=4, larger=9)
def a_view_is_given(T, size):
    x = rand(T, 4)
    view, other = x[1:], rand(T, size)
    view.data = other
    view.add_(1)
    x.mul_(2)
    return view, x, other, view._version, x._version, other._version


@each(read=lambda x, v: (v * v).sum(), written=lambda x, v: (x.mul_(2) * 1).sum() + (v * v).sum())
def a_view_in_a_graph_is_given(T, use):
    w = leaf(T, 4)
    x = w * 1
    view = x[1:]
    view.data = rand(T, 3)
    loss = use(x, view)
    loss.backward()
    return w.grad, view, view._base is x


@each(**{
    f"{shown}_{moves}_{write}": (shown, moves, write)
    for shown in ("itself", "part", "alias", "part_of_alias", "new_alias")
    for moves in (1, 2) for write in ("none", "first", "second", "last")
})
def of_memory_that_numpy_has(T, how):
    shown, moves, write = how
    t = T.zeros(2)
    first, alias = t.numpy(), t.detach()
    second = np.full(2, 3, np.float32)
    t.data = T.from_numpy(second)
    if moves == 2:
        t.data = T.ones_like(t)
    x = {"itself": t, "part": t[:1], "alias": alias, "part_of_alias": alias[1:],
         "new_alias": t.detach()}[shown]
    w = T.ones(len(x), requires_grad=True)
    loss = (w * x).pow(2).sum()
    if write == "last":
        t.data.fill_(7)
    elif write != "none":
        {"first": first, "second": second}[write][:] = 5
    return attempt(loss.backward), w.grad, t, alias

"""What a backward frees, what it keeps, and what a second one says."""

from compat_tests.harness import AnyStrides, attempt, case, each, leaf, raises, rand

# Which operations keep something for backward decides whether a second pass is refused.
_OPS = dict(
    add=lambda x, w: x + w, sub=lambda x, w: x - w, neg=lambda x, w: -x,
    mul=lambda x, w: x * w, mul_scalar=lambda x, w: x * 3, div=lambda x, w: x / w,
    div_scalar=lambda x, w: x / 3, scalar_div=lambda x, w: 3 / x, pow_scalar=lambda x, w: x**2,
    exp=lambda x, w: x.exp(), log=lambda x, w: (x.abs() + 1).log(),
    sin=lambda x, w: x.sin(), tanh=lambda x, w: x.tanh(), sigmoid=lambda x, w: x.sigmoid(),
    relu=lambda x, w: x.relu(), sqrt=lambda x, w: (x + 3).sqrt(), abs=lambda x, w: x.abs(),
    clone=lambda x, w: x.clone(), view=lambda x, w: x.view(3, 2), t=lambda x, w: x.t(),
    reshape=lambda x, w: x.reshape(-1), select=lambda x, w: x[0], slice_=lambda x, w: x[:, 1:],
    index=lambda x, w: x[[1, 0]], mask=lambda x, w: x[x > 0], expand=lambda x, w: x.expand(2, 2, 3),
    sum=lambda x, w: x.sum(), sum_dim=lambda x, w: x.sum(0), mean=lambda x, w: x.mean(),
    max_all=lambda x, w: x.max(), max_dim=lambda x, w: x.max(1).values, prod=lambda x, w: x.prod(),
    where=lambda x, w: x.where(x > 0, w), matmul=lambda x, w: x @ w.t(),
    softmax=lambda x, w: x.softmax(1), log_softmax=lambda x, w: x.log_softmax(1),
    clamp=lambda x, w: x.clamp(-1, 1), cumsum=lambda x, w: x.cumsum(0), flip=lambda x, w: x.flip(0),
    to_double=lambda x, w: x.double(), norm=lambda x, w: x.norm(), std=lambda x, w: x.std(),
    maximum=lambda x, w: x.maximum(w), add_alpha=lambda x, w: x.add(w, alpha=2),
    addcmul=lambda x, w: x.addcmul(w, w),
    triu=lambda x, w: x.triu(), sort=lambda x, w: x.sort(1).values, round=lambda x, w: x.round(),
    detach_mul=lambda x, w: x.detach() * w, atan2=lambda x, w: x.atan2(w),
)



@each(**_OPS)
def second_backward_of(T, op):
    x, w = leaf(T, 2, 3), leaf(T, 2, 3)
    y = op(x, w)
    g = T.ones_like(y)
    y.backward(g)
    return attempt(lambda: y.backward(g)), x.grad, w.grad


@case
def retain_graph_allows_another(T):
    x = leaf(T, 3)
    y = (x * x).exp().sum()
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)
    y.backward()
    return x.grad, raises(y.backward)


@each(true=(True,), false=(False,), none=(None,))
def retain_graph_given(T, value):
    x = leaf(T, 3)
    y = (x * x).sum()
    y.backward(retain_graph=value[0])
    return attempt(y.backward), x.grad


@each(true=True, false=False, none=None)
def retain_graph_defaults_to_create_graph(T, retain):
    x = leaf(T, 3)
    y = (x * x).sum()
    y.backward(create_graph=True, retain_graph=retain)
    x.grad = None
    result = attempt(y.backward)
    plain = None if x.grad is None else x.grad.detach()
    x.grad = None
    return result, plain


@each(true=True, false=False, none=None)
def grad_retain_graph_defaults_to_create_graph(T, retain):
    x = leaf(T, 3)
    y = (x * x).sum()
    (first,) = T.autograd.grad(y, x, create_graph=True, retain_graph=retain)
    return first.detach(), attempt(lambda: AnyStrides(T.autograd.grad(y, x)))


@case
def grad_frees_too(T):
    x = leaf(T, 3)
    y = (x * x).sum()
    T.autograd.grad(y, x)
    return raises(lambda: T.autograd.grad(y, x)), raises(y.backward), x.grad


@case
def two_losses_share_a_part_that_keeps_nothing(T):
    x, w = leaf(T, 3), leaf(T, 3)
    shared = x + w
    a, b = (shared * 2).sum(), (shared * 3).sum()
    a.backward()
    return attempt(b.backward), x.grad, w.grad


@case
def two_losses_share_a_part_that_keeps_something(T):
    x = leaf(T, 3)
    shared = x * x
    a, b = shared.sum(), (shared * 2).sum()
    a.backward()
    return raises(b.backward), x.grad


@case
def two_losses_share_a_part_retained(T):
    x = leaf(T, 3)
    shared = x * x
    a, b = shared.exp().sum(), shared.sin().sum()
    a.backward(retain_graph=True)
    between = attempt(a.backward)
    return between, raises(b.backward), x.grad


@case
def freeing_stops_where_gradients_stop(T):
    x, c = leaf(T, 3), rand(T, 3)
    y = (x * c) * (c * c)
    y.sum().backward()
    return (c * c), x.grad


@case
def an_error_half_way_leaves_what_was_accumulated(T):
    x, w = leaf(T, 3), leaf(T, 3)
    used = w * w
    used.sum().backward()
    y = (x * 2).sum() + used.sum()
    return raises(y.backward), w.grad


@case
def the_graph_may_be_used_by_new_ops_after_backward(T):
    x = leaf(T, 3)
    y = x * x
    y.sum().backward()
    z = y.detach() * x
    z.sum().backward()
    return x.grad, raises(lambda: (y * 2).sum().backward())


@case
def adding_ops_to_a_retained_graph(T):
    x = leaf(T, 3)
    y = x * x
    y.sum().backward(retain_graph=True)
    (y * y).sum().backward()
    return x.grad


@case
def partial_graph_by_inputs(T):
    x = leaf(T, 3)
    y = x.exp()
    z = y * y
    T.autograd.grad(z.sum(), y)
    # only the part above y was used
    return attempt(lambda: AnyStrides(T.autograd.grad(y.sum(), x))), raises(z.sum().backward)


@case
def intermediate_and_below(T):
    x = leaf(T, 3)
    y = x.exp()
    z = (y * y).sum()
    T.autograd.grad(z, [x, y])
    return raises(lambda: y.sum().backward())


@case
def a_leaf_can_be_an_output_again_and_again(T):
    x = leaf(T)
    x.backward()
    x.backward()
    return x.grad


@each(retain=True, free=False)
def in_a_loop_over_time(T, retain):
    w = leaf(T, 3)
    h = T.zeros(3)
    outcomes = []
    for _ in range(3):
        h = T.tanh(h * w + 1)
        outcomes.append(attempt(lambda h=h: h.sum().backward(retain_graph=retain)))
    return outcomes, w.grad


@case
def detaching_between_steps(T):
    w = leaf(T, 3)
    h = T.zeros(3)
    for _ in range(3):
        h = T.tanh(h.detach() * w + 1)
        h.sum().backward()
    return w.grad


@case
def detach_in_place_between_steps(T):
    w = leaf(T, 3)
    h = T.zeros(3)
    for _ in range(3):
        h = T.tanh(h * w + 1)
        h.sum().backward()
        h.detach_()
    return w.grad, h

"""``create_graph``: gradients of any order, alone and mixed with accumulation and in-place."""

from compat_tests.harness import AnyStrides, attempt, case, each, leaf, raises, rand

_SMOOTH = dict(
    cube=lambda x: x**3, power=lambda x: (x + 3) ** 2.5, exp=lambda x: x.exp(),
    log=lambda x: (x + 3).log(), sin=lambda x: x.sin(), tanh=lambda x: x.tanh(),
    sigmoid=lambda x: x.sigmoid(), sqrt=lambda x: (x + 3).sqrt(), div=lambda x: 1 / (x + 3),
    rsqrt=lambda x: (x + 3).rsqrt(), softmax=lambda x: x.softmax(0),
    log_softmax=lambda x: x.log_softmax(0), logsumexp=lambda x: x.logsumexp(0),
    matmul=lambda x: x @ (x * x), prod=lambda x: x.prod(), norm=lambda x: x.norm(),
    mean_square=lambda x: (x * x).mean(), var=lambda x: x.var() ** 2,
    cumsum=lambda x: x.cumsum(0) ** 3,
    index=lambda x: x[[0, 0, 2]] ** 3, slice_=lambda x: x[1:] ** 3, relu=lambda x: x.relu() ** 3,
    erf=lambda x: x.erf(), atan=lambda x: x.atan(), clamp=lambda x: x.clamp(-1, 1) ** 3,
    where=lambda x: x.where(x > 0, x**3), outer=lambda x: x[:, None] * x[None] ** 2,
    cat=lambda x: x.repeat(2) ** 3, abs=lambda x: x.abs() ** 3, max=lambda x: x.max() ** 3,
)


@each(**_SMOOTH)
def three_orders(T, fn):
    x = leaf(T, 4, dtype="float64")
    orders, y = [], fn(x)
    for order in range(3):
        if not y.requires_grad:
            break
        (y,) = T.autograd.grad((y * rand(T, *y.shape, dtype="float64")).sum(), x,
                               create_graph=order < 2)
        orders.append(y.detach())
    return AnyStrides(orders)


@each(**{k: (lambda x, k=k: getattr(x, k)(), kind) for k, kind in (
    ("abs", "float64"), ("exp", "float64"), ("norm", "float64"), ("std", "float64"),
    ("tanh", "float64"), ("sigmoid", "float64"), ("relu", "float64"),
)}, complex_abs=(lambda x: x.abs(), "complex128"), complex_norm=(lambda x: x.norm(), "complex128"),
    rows=(lambda x: x.norm(dim=1), "float64"),
    where=(lambda x: x.where(x > 0, x * x), "float64"))
def nothing_has_a_history_too(T, row):
    fn, dtype = row
    x = T.zeros(0, 2, dtype=getattr(T, dtype), requires_grad=True)
    (g,) = T.autograd.grad(fn(x).sum(), x, create_graph=True)
    return g.requires_grad, AnyStrides(g.detach())


@each(**{k: _SMOOTH[k] for k in ("cube", "sin", "softmax", "matmul", "div", "index")})
def hessian(T, fn):
    x = leaf(T, 3, dtype="float64")
    (g,) = T.autograd.grad(fn(x).sum(), x, create_graph=True)
    rows = [T.autograd.grad(g[i], x, retain_graph=True)[0] for i in range(3)]
    return T.stack(rows)


@case
def fifth_order(T):
    x = leaf(T, 3, dtype="float64")
    y = x.sin() * x**6
    for _ in range(5):
        (y,) = T.autograd.grad(y.sum(), x, create_graph=True)
    return y.detach()


@case
def until_nothing_is_left(T):
    x = leaf(T, 3)
    y = x**3
    (first,) = T.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = T.autograd.grad(first.sum(), x, create_graph=True)
    (third,) = T.autograd.grad(second.sum(), x, create_graph=True)
    return first.requires_grad, second.requires_grad, second.detach(), AnyStrides(third.detach())


@case
def a_linear_function_has_no_second_derivative(T):
    x = leaf(T, 3)
    (g,) = T.autograd.grad((x * 2).sum(), x, create_graph=True)
    return g.requires_grad, g.detach(), raises(lambda: T.autograd.grad(g.sum(), x))


@case
def requires_grad_of_the_result(T):
    x, w = leaf(T, 3), leaf(T, 3)
    a = T.autograd.grad((x * w).sum(), [x, w], create_graph=True)
    b = T.autograd.grad((x + w).sum(), [x, w], create_graph=True)
    c = T.autograd.grad((x * w).sum(), [x, w])
    return [t.requires_grad for t in (*a, *b, *c)]


@case
def backward_into_grad_then_backward_of_grad(T):
    x = leaf(T, 3)
    (x**3).sum().backward(create_graph=True)
    first = x.grad
    x.grad = None
    first.sum().backward()
    return first.detach(), x.grad


@case
def accumulated_without_clearing(T):
    x = leaf(T, 3)
    (x**3).sum().backward(create_graph=True)
    x.grad.sum().backward()
    # the second pass added onto the gradient it came from, out of place or in place
    result = x.grad.detach(), x.grad.requires_grad
    x.grad = None
    return result


@case
def accumulating_twice_with_create_graph(T):
    x = leaf(T, 3)
    (x**3).sum().backward(create_graph=True)
    (x**4).sum().backward(create_graph=True)
    total = x.grad
    x.grad = None
    total.sum().backward()
    return total.detach(), x.grad


@case
def plain_after_create_graph(T):
    x = leaf(T, 3)
    (x**3).sum().backward(create_graph=True)
    (x**2).sum().backward()
    result = x.grad.requires_grad, x.grad.detach()
    x.grad = None
    return result


@case
def create_graph_after_plain(T):
    x = leaf(T, 3)
    (x**2).sum().backward()
    held = x.grad
    (x**3).sum().backward(create_graph=True)
    total = x.grad
    x.grad = None
    total.sum().backward()
    return held, held is total, total.detach(), x.grad


@case
def gradient_penalty(T):
    w, x = leaf(T, 4, 3), leaf(T, 2, 4)
    out = T.tanh(x @ w).sum()
    (g,) = T.autograd.grad(out, x, create_graph=True)
    penalty = ((g.norm(2, dim=1) - 1) ** 2).mean()
    (out + penalty).backward()
    return w.grad, x.grad


@case
def through_an_update_step(T):
    w, lr = leaf(T, 3), leaf(T)
    (g,) = T.autograd.grad((w**4).sum(), w, create_graph=True)
    updated = w - lr * g
    (updated**2).sum().backward()
    return w.grad, lr.grad


@case
def two_updates_deep(T):
    w, x = leaf(T, 3), rand(T, 3)
    fast = w
    for _ in range(2):
        (g,) = T.autograd.grad(((fast * x - 1) ** 2).sum(), fast, create_graph=True)
        fast = fast - 0.1 * g
    ((fast * x) ** 2).sum().backward()
    return w.grad


@case
def hessian_vector_product(T):
    x, v = leaf(T, 4), rand(T, 4)
    (g,) = T.autograd.grad((x.sin() * x**2).sum(), x, create_graph=True)
    return T.autograd.grad(g, x, v, retain_graph=True), T.autograd.grad((g * v).sum(), x)


@case
def jvp_by_two_vjps(T):
    x, v, u = leaf(T, 3), rand(T, 3), leaf(T, 3)
    y = x.exp() * x
    (g,) = T.autograd.grad(y, x, u, create_graph=True)
    return T.autograd.grad(g, u, v)


@case
def with_respect_to_the_gradient(T):
    x, u = leaf(T, 3), leaf(T, 3)
    (g,) = T.autograd.grad(x.sin(), x, u, create_graph=True)
    return AnyStrides(T.autograd.grad(g.sum(), [u, x]))


@case
def two_inputs_mixed_partials(T):
    x, y = leaf(T, 3), leaf(T, 3)
    z = (x**2 * y**3).sum()
    gx, gy = T.autograd.grad(z, [x, y], create_graph=True)
    return AnyStrides(
        [T.autograd.grad(gx.sum(), [x, y], retain_graph=True), T.autograd.grad(gy.sum(), [x, y])]
    )


@case
def through_views(T):
    x = leaf(T, 2, 3)
    y = (x.t()[1:] ** 3).sum() + (x.view(-1)[::2] ** 4).sum()
    (g,) = T.autograd.grad(y, x, create_graph=True)
    return g.detach(), AnyStrides(T.autograd.grad((g * g).sum(), x))


@case
def through_in_place(T):
    x = leaf(T, 3)
    y = x * x
    y.mul_(x)
    y[0] = x[1] * x[2]
    (g,) = T.autograd.grad(y.sum(), x, create_graph=True)
    return g.detach(), AnyStrides(T.autograd.grad((g * g).sum(), x))


@case
def in_place_on_a_gradient(T):
    x = leaf(T, 3)
    (g,) = T.autograd.grad((x**3).sum(), x, create_graph=True)
    g.mul_(x)
    g.sum().backward()
    return g.detach(), x.grad


@case
def in_place_on_a_saved_gradient_is_refused(T):
    x, u = leaf(T, 3), leaf(T, 3)
    v = u * 1
    (g,) = T.autograd.grad(x.exp(), x, v, create_graph=True)
    v.add_(1)
    return raises(g.sum().backward)


@case
def freed_by_the_second_pass(T):
    x = leaf(T, 3)
    y = x.exp().sum()
    (g,) = T.autograd.grad(y, x, create_graph=True)
    first = T.autograd.grad((g * g).sum(), x)
    return first, raises(lambda: T.autograd.grad(g.sum(), x))


@case
def create_graph_with_graph_freed(T):
    x = leaf(T, 3)
    y = (x**3).sum()
    (g,) = T.autograd.grad(y, x, create_graph=True, retain_graph=False)
    return attempt(lambda: AnyStrides(T.autograd.grad(g.sum(), x)))


@case
def detached_gradient_is_a_constant(T):
    x = leaf(T, 3)
    (g,) = T.autograd.grad((x**3).sum(), x)
    (g * x).sum().backward()
    return g, x.grad


@case
def complex_second_order(T):
    z = leaf(T, 3, dtype="complex128")
    (g,) = T.autograd.grad((z * z * z).real.sum(), z, create_graph=True)
    return AnyStrides(T.autograd.grad(g.abs().sum(), z))


@case
def hooks_run_in_the_second_pass(T):
    x = leaf(T, 3)
    y = x * x
    seen = []
    y.register_hook(lambda g: seen.append((g.requires_grad, g.detach())))
    (g,) = T.autograd.grad((y * y).sum(), x, create_graph=True)
    g.sum().backward()
    return seen, x.grad


@case
def a_hook_may_build_graph(T):
    x = leaf(T, 3)
    y = x * x
    y.register_hook(lambda g: g * x)
    (g,) = T.autograd.grad(y.sum(), x, create_graph=True)
    return g.detach(), AnyStrides(T.autograd.grad(g.sum(), x))


@case
def mixed_with_data_updates(T):
    x = leaf(T, 3)
    for _ in range(3):
        (g,) = T.autograd.grad((x**3).sum(), x, create_graph=True)
        (h,) = T.autograd.grad(g.sum(), x)
        x.data -= 0.1 * g.detach() / (h.abs() + 1)
    return x


@case
def broadcasting_twice(T):
    a, b = leaf(T, 2, 1), leaf(T, 3)
    (g,) = T.autograd.grad(((a * b) ** 2).sum(), a, create_graph=True)
    return AnyStrides(T.autograd.grad((g**2).sum(), [a, b]))


@each(
    zero_=lambda T, y: (y * 1).zero_(),
    fill_=lambda T, y: (y * 1).fill_(2),
    floor=lambda T, y: y.floor(),
    round=lambda T, y: y.round(),
    trunc=lambda T, y: y.trunc(),
    frac=lambda T, y: y.frac(),
    sign=lambda T, y: y.sign(),
    floor_divided=lambda T, y: T.div(y, 2, rounding_mode="floor"),
    clamp=lambda T, y: y.clamp(-0.1, 0.1),
    masked=lambda T, y: y.masked_fill(y > 0, 0.0),
    masked_whole=lambda T, y: y.masked_fill(T.ones(len(y), dtype=T.bool), 0.0),
    multiplied_by_0=lambda T, y: y * 0,
    to_the_power_0=lambda T, y: y**0,
    index_fill=lambda T, y: y.index_fill(0, T.arange(len(y)), 1.0),
    angle=lambda T, y: y.angle(),
)
def whether_a_gradient_has_history(T, row):
    results = []
    for n in (3, 0):
        x = leaf(T, n)
        out = row(T, x * x)
        if out.requires_grad:
            (g,) = T.autograd.grad((out * out).sum(), [x], create_graph=True)
            results.append((g.requires_grad, g.detach()))
    return results

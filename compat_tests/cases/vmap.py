"""``vmap``: dimensions, structures, randomness, nesting, captured tensors, and every refusal."""

from compat_tests.harness import AnyStrides, case, each, leaf, raises, rand

PRINTED = "torch prints the structures in its own way"
NAMES = "torch's text goes on with the name of its own kernel"


def _values(*tensors):
    """Numbers and shapes; how a result is laid out, and which node made it, is vmap's own business."""
    return AnyStrides([t.detach() for t in tensors])


@each(
    first=lambda T, f, x: T.vmap(f)(x),
    func=lambda T, f, x: T.func.vmap(f)(x),
    in_dim_1=lambda T, f, x: T.vmap(f, in_dims=1)(x),
    in_dim_negative=lambda T, f, x: T.vmap(f, in_dims=-1)(x),
    out_dim_1=lambda T, f, x: T.vmap(f, out_dims=1)(x),
    out_dim_negative=lambda T, f, x: T.vmap(f, out_dims=-1)(x),
    in_tuple=lambda T, f, x: T.vmap(f, (2,))(x),
    out_tuple=lambda T, f, x: T.vmap(f, 0, (1,))(x),
    chunks=lambda T, f, x: T.vmap(f, chunk_size=2)(x),
    chunks_of_one_to_dim_1=lambda T, f, x: T.vmap(f, out_dims=1, chunk_size=1)(x),
    nested=lambda T, f, x: T.vmap(T.vmap(lambda a: f(a) * 2), 1)(x),
)
def dimensions(T, run):
    return _values(run(T, lambda a: a.sin() * a.cumsum(0), rand(T, 3, 4, 2)))


@case
def several_arguments(T):
    x, y = rand(T, 3, 2), rand(T, 2)

    def f(a, b):
        return (a * b).sum()

    return _values(
        T.vmap(f, (0, None))(x, y),
        T.vmap(T.dot, (0, None))(x, y),
        T.vmap(T.mul, in_dims=(1, 0))(x, y),
        T.vmap(lambda a, k: a * k, (0, None))(x, 3),
        T.vmap(lambda a, b=None: a * b)(x, b=y),
    )


@case
def nested_arguments_and_results(T):
    x, y = rand(T, 3, 2), rand(T, 3)

    def f(inputs, more):
        return {"sum": inputs["x"] + more[0], "pair": (inputs["x"] * 2, [more[1].exp()])}

    out = T.vmap(f, in_dims=({"x": 0}, (None, 0)))({"x": x}, (y[:2], y))
    other = T.vmap(lambda a: (a, a * 2), out_dims=(0, 1))(x)
    return sorted(out), type(out["pair"]).__name__, _values(out["sum"], out["pair"][0], out["pair"][1][0]), (
        _values(*other))


@case
def a_result_that_is_the_same_for_all(T):
    x = rand(T, 3, 2)
    a, b = T.vmap(lambda t: (t * 2, T.ones(2)))(x)
    c, d = T.vmap(lambda t: (t * 2, 7), out_dims=(0, None))(x)
    return _values(a, b, c), d


@case
def inside_it_looks_like_one_example(T):
    seen = []

    def f(a):
        seen.append((tuple(a.shape), a.dim(), a.numel(), a.dtype, a.requires_grad))
        return a.reshape(-1)[:2].view(2, 1) + a.size(0)

    return _values(T.vmap(f, in_dims=1)(rand(T, 4, 3))), [str(s) for s in seen]


@case
def gradients_through_it(T):
    x, w = leaf(T, 3, 4), leaf(T, 4)
    out = T.vmap(lambda a: (a * w).sin().sum())(x)
    out.backward(rand(T, 3))
    return out.requires_grad, _values(x.grad, w.grad)


@case
def second_gradients_through_it(T):
    x, w = leaf(T, 3, 4), leaf(T, 4)
    out = T.vmap(lambda a: (a * w).sin().sum())(x)
    gx, gw = T.autograd.grad(out.sum(), (x, w), create_graph=True)
    return _values(*T.autograd.grad((gx * gx).sum() + (gw**2).sum(), (x, w)))


@case
def a_captured_tensor_used_by_no_example(T):
    x, w = leaf(T, 3), leaf(T, 2)
    out = T.vmap(lambda a: w * 3)(x)
    out.sum().backward()
    return _values(out, w.grad), x.grad


@case
def a_captured_tensor_used_at_two_depths(T):
    x, y, w = rand(T, 3), rand(T, 2), leaf(T, 4)
    out = T.vmap(lambda a: T.vmap(lambda b: (w * a * b).sum() + (w * w * b).sum())(y) * w.sum())(x)
    out.sum().backward()
    return _values(out, w.grad)


@case
def modules(T):
    net = T.nn.Sequential(T.nn.Linear(4, 3), T.nn.Tanh(), T.nn.Linear(3, 2))
    for p in net.parameters():
        p.data = rand(T, *p.shape)
    x = rand(T, 5, 4)
    out = T.vmap(net)(x)
    out.pow(2).sum().backward()
    return _values(out, net(x), *(p.grad for p in net.parameters()))


@case
def writing_inside(T):
    x = rand(T, 3, 4)

    def f(a):
        z = T.zeros_like(a)
        z[1:] = a[:-1] * 2
        z[0] += a.sum()
        z.mul_(a)
        b = a.clone()
        b[1:3].sub_(a[0])
        return z, b, a.new_zeros(2).add_(a[0])

    return _values(*T.vmap(f)(x)), _values(x)


@case
def writing_to_an_argument(T):
    x = rand(T, 3, 4)
    out = T.vmap(lambda a: a.mul_(2), in_dims=1)(x)
    before = _values(out, x)
    x.add_(1)  # shows in what came out, which is the same memory
    same = T.vmap(lambda a: a, in_dims=1, out_dims=1)(x)
    same.zero_()
    return before, _values(out, x, same)


@case
def writing_what_is_mapped_to_what_is_not(T):
    x, y = rand(T, 3), T.zeros(2)
    caught = raises(lambda: T.vmap(lambda a: T.zeros(2).add_(a))(x), phrase="", because=NAMES)
    also = raises(lambda: T.vmap(y.add_)(x), phrase="", because=NAMES)
    return caught, also, y


@case
def one_example_for_each_row_of_a_jacobian(T):
    x = leaf(T, 3)
    y = x.sin() * x.sum()
    rows = T.vmap(lambda v: T.autograd.grad(y, x, v, retain_graph=True)[0])(T.eye(3))
    again = T.autograd.grad(y, x, T.eye(3), is_grads_batched=True)[0]
    return _values(rows, again)


@each(same="same", different="different")
def randomness(T, mode):
    x = T.zeros(4, 100)
    drawn = T.vmap(lambda a: a + T.rand(100), randomness=mode)(x)
    dropped = T.vmap(lambda a: T.nn.functional.dropout(a + 1), randomness=mode)(x)
    filled = T.vmap(lambda a: a.normal_(), randomness=mode)(x.clone())
    nested = T.vmap(T.vmap(lambda a: T.randn(3) + a, randomness=mode), randomness=mode)(T.zeros(2, 2, 3))
    return [
        len({tuple(row) for row in t.flatten(0, -2).tolist()}) for t in (drawn, dropped, filled, nested)
    ]


@case
def randomness_refused(T):
    x = rand(T, 3)
    return [
        raises(lambda f=f: T.vmap(f)(x)) for f in (
            lambda a: a + T.rand(()), T.nn.functional.dropout, lambda a: T.randn(2) * a,
        )
    ]


@case
def refusals_of_arguments(T):
    x = rand(T, 3, 2)
    f = T.sin
    return [
        raises(call) for call in (
            lambda: T.vmap(f, randomness="any"),
            T.vmap(f),
            lambda: T.vmap(f, in_dims="a")(x),
            lambda: T.vmap(f, in_dims=2)(x),
            lambda: T.vmap(f, in_dims=-3)(x),
            lambda: T.vmap(f, in_dims=None)(x),
            lambda: T.vmap(f, in_dims=(None,))(x),
            lambda: T.vmap(T.add)(x, x[:2]),
            lambda: T.vmap(T.mul)(x, 2),
            lambda: T.vmap(f)(T.tensor(1.0)),
            lambda: T.vmap(f, chunk_size=0)(x),
            lambda: T.vmap(f, in_dims=(0.5,))(x),
        )
    ]


@case
def refusals_of_results(T):
    x = rand(T, 3, 2)
    return [
        raises(call) for call in (
            lambda: T.vmap(lambda a: 3)(x),
            lambda: T.vmap(lambda a: (a, None))(x),
            lambda: T.vmap(lambda a: a, out_dims=None)(x),
            lambda: T.vmap(lambda a: a, out_dims="a")(x),
            lambda: T.vmap(lambda a: a, out_dims=0.5)(x),
        )
    ]


@case
def structures_that_do_not_fit(T):
    x = rand(T, 3, 2)
    return [
        raises(call, phrase="_dims is not compatible with the structure of `", because=PRINTED)
        for call in (
            lambda: T.vmap(T.sin, in_dims=(0, 0))(x),
            lambda: T.vmap(lambda a: (a, a), out_dims=(0, 0, 0))(x),
            lambda: T.vmap(lambda a: a, out_dims=(0, 0))(x),
        )
    ]


@case
def numbers_of_one_example(T):
    x = rand(T, 3)
    return [
        raises(lambda f=f: T.vmap(f)(x), phrase=phrase, because="what to do instead is said differently")
        for phrase, f in (
            ("We don't support vmap over calling .item() on a Tensor", lambda a: a.item()),
            ("use a Tensor in some data-dependent control flow.", lambda a: a if a > 0 else -a),
            ("We don't support vmap over calling .item() on a Tensor", lambda a: T.tensor(float(a))),
        )
    ]


@case
def after_an_error_nothing_is_left(T):
    x = rand(T, 3)
    failed = raises(
        lambda: T.vmap(lambda a: a.reshape(7))(x), phrase="is invalid for input of size", because=NAMES
    )
    return failed, T.randn(2).shape, T.vmap(T.exp)(x)


@case
def printing_inside(T):
    seen = []
    T.vmap(T.vmap(lambda a: (seen.append(repr(a)), a)[1]))(T.ones(2, 2, 1))
    return seen


@case
def tangents_through_it(T):
    F, x, v, w = T.autograd.forward_ad, rand(T, 3, 2), rand(T, 3, 2), rand(T, 2)
    with F.dual_level():
        out = T.vmap(lambda a: (a * w).sin().sum(), 0)(F.make_dual(x, v))
        c = F.make_dual(w, v[0])
        captured = T.vmap(lambda a: (a * c).sin().sum())(x)
        return _values(*F.unpack_dual(out), *F.unpack_dual(captured))

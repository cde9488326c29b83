"""``torch.func``: derivatives of functions, alone, nested in every order, and what they refuse."""

import itertools
import warnings

from compat_tests.harness import AnyStrides, attempt, case, each, leaf, raises, rand


def cubic(x):
    return (x.sin() * x**3).sum()


def vector(x):
    return x.sin() * x**3


def f64(T, *shape):
    return rand(T, *shape, dtype="float64", low=-1.0, high=1.0)


# Each takes a function of a vector and gives another, a vector or a number as its key says.
_TO_VECTOR = dict(
    grad=lambda T, f: T.func.grad(lambda x: f(x).sum()),
    jvp=lambda T, f: lambda x: T.func.jvp(f, (x,), (x * 2,))[1],
    vjp=lambda T, f: lambda x: T.func.vjp(f, x)[1](x * 3)[0],
    vmap=lambda T, f: lambda x: T.func.vmap(f)(T.stack([x, x * 2])).sum(0),
    jacrev=lambda T, f: lambda x: T.func.jacrev(f)(x).sum(0),
    jacfwd=lambda T, f: lambda x: T.func.jacfwd(f)(x).sum(1),
    backward=lambda T, f: lambda x: engine(T, f, x),
)


def engine(T, f, x):
    """The gradient by ``autograd.grad``, inside of whatever there is."""
    x = x if x.requires_grad else x.detach().requires_grad_()
    return T.autograd.grad(f(x).sum(), x, create_graph=True)[0]


_PAIRS = {
    f"{a}_{b}": (a, b) for a, b in itertools.product(_TO_VECTOR, _TO_VECTOR)
    # PyTorch's own grad inside its transforms differentiates what they wrap only from inside of them
    if "backward" not in (a, b) or a == "backward"
}


@each(**_PAIRS)
def two_nested(T, names):
    outer, inner = (_TO_VECTOR[name] for name in names)
    out = outer(T, inner(T, vector))(f64(T, 3))
    return AnyStrides([out.detach(), names[0] == "backward" or out.requires_grad])


_TRIPLES = (
    "grad_grad_grad", "jvp_jvp_jvp", "grad_jvp_grad", "jvp_grad_jvp", "vmap_grad_jvp", "grad_vmap_grad",
    "jacfwd_jacrev_grad", "jacrev_jacfwd_jvp", "vmap_vmap_grad", "jvp_vmap_vjp", "vjp_vjp_vjp",
    "backward_jvp_grad", "backward_vmap_jacrev",
)


@each(**{name: name.split("_") for name in _TRIPLES})
def three_nested(T, names):
    f = vector
    for name in reversed(names):
        f = _TO_VECTOR[name](T, f)
    return AnyStrides(f(f64(T, 3)).detach())


@case
def grad_of_arguments(T):
    f = lambda x, y, z=2.0: (x * y**2 * z).sum()  # noqa: E731 - one line says it best
    x, y = rand(T, 3), rand(T, 3)
    g = T.func.grad
    return (
        g(f)(x, y), g(f, argnums=1)(x, y), g(f, argnums=(0, 1))(x, y), g(f, argnums=-1)(x, y),
        g(f, (1,))(x, y), g(f)(x, y, z=3.0), g(f, 1)(x, y, 4.0), T.func.grad_and_value(f)(x, y),
        T.func.grad_and_value(f, (0, 1))(x, y),
    )


@case
def aux(T):
    f = lambda x: (x.sum(), {"twice": x * 2, "all": (x, x.mean())})  # noqa: E731
    x = rand(T, 3)
    value, pull, other = T.func.vjp(lambda x: (x * x, x.sin()), x, has_aux=True)
    return AnyStrides((
        T.func.grad(f, has_aux=True)(x), T.func.grad_and_value(f, has_aux=True)(x), value, pull(x), other,
        T.func.jvp(lambda x: (x * x, x.sin()), (x,), (x,), has_aux=True),
        T.func.jacrev(lambda x: (x * x, x.sin()), has_aux=True)(x),
        T.func.jacfwd(lambda x: (x * x, x.sin()), has_aux=True)(x),
    ))


@case
def nested_containers(T):
    p = {"w": rand(T, 2, 3), "b": [rand(T, 2), rand(T, 2)]}
    f = lambda p, x: ((p["w"] @ x + p["b"][0]) * p["b"][1]).sum()  # noqa: E731
    many = lambda p, x: {"out": p["w"] @ x + p["b"][0], "sum": (p["b"][1].sum(),)}  # noqa: E731
    x = rand(T, 3)
    value, pull = T.func.vjp(many, p, x)
    return AnyStrides([
        T.func.grad(f)(p, x), T.func.grad(f, (0, 1))(p, x), value, pull(value),
        T.func.jvp(many, (p, x), (p, x)), T.func.jacrev(many)(p, x), T.func.jacfwd(many, (0, 1))(p, x),
        T.func.jacrev(many, 1)(p, x), T.func.hessian(f, (0, 1))(p, x),
    ])


@each(one=1, two=2, five=5, many=100)
def chunks(T, size):
    f = lambda x, y: (x * y.sum(), (x + y[0]).sin())  # noqa: E731
    return AnyStrides(T.func.jacrev(f, argnums=(0, 1), chunk_size=size)(f64(T, 2, 2), f64(T, 3)))


@case
def what_results_require(T):
    x, w, plain = leaf(T, 3), leaf(T, 3), rand(T, 3)
    out = []
    for a, b in ((x, w), (x, plain), (plain, w), (plain, plain)):
        g, v = T.func.grad_and_value(lambda x, b=b: (x**2 * b).sum())(a)
        value, pull = T.func.vjp(lambda x, b=b: x**2 * b, a)
        moved = T.func.jvp(lambda x, b=b: x**2 * b, (a,), (plain,))
        jac = T.func.jacrev(lambda x, b=b: x**2 * b)(a)
        out.append([t.requires_grad for t in (g, v, value, *pull(plain), *moved, jac)])
        if g.requires_grad:
            out.append(T.autograd.grad(g.sum() + v, [t for t in (a, b) if t.requires_grad]))
            out.append(T.autograd.grad(jac.sum(), [t for t in (a, b) if t.requires_grad]))
    with T.no_grad():
        g, v = T.func.grad_and_value(lambda x: (x**2 * w).sum())(x)
        out.append((g, v, T.func.vjp(vector, x)[1](w)))
    out.append(T.func.grad(lambda x: x.detach().sum() + 0 * x.sum())(plain))
    return AnyStrides(out)


@case
def grad_modes_inside(T):
    def f(x):
        with T.no_grad():
            c = x**2
        return (x**3 - c).sum()

    x = rand(T, 3)
    with T.inference_mode():
        inside = T.func.grad(cubic)(rand(T, 3)) * 1
    return T.func.grad(f)(x), T.func.jvp(f, (x,), (x,)), inside.tolist()


@case
def what_the_function_sees(T):
    seen = []

    def f(x):
        seen.extend([x.requires_grad, x.is_leaf, x.grad_fn is None, tuple(x.shape)])
        return (x * x).sum()

    g = T.func.grad(f)(rand(T, 3))
    T.func.jvp(f, (rand(T, 3),), (rand(T, 3),))
    x = leaf(T, 2)
    T.func.grad(f)(x)
    return seen, g, x.grad, T.func.grad(lambda x: (x.clone().mul_(3) ** 2).sum())(rand(T, 3))


@case
def in_place_inside(T):
    def f(x):
        y = T.zeros(3)
        y = y + x
        y[1:].mul_(x[:2])
        return (y**2).sum()

    x = rand(T, 3)
    return (
        T.func.grad(f)(x), T.func.jvp(f, (x,), (x,)), AnyStrides(T.func.hessian(f)(x)),
        attempt(lambda: T.func.grad(lambda x: x.mul_(2).sum())(x)), x,
    )


@case
def unused_and_constant(T):
    x, y = rand(T, 3), rand(T, 2)
    return AnyStrides((
        T.func.grad(lambda x, y: x.sum(), (0, 1))(x, y), T.func.grad(lambda x: T.tensor(1.0))(x),
        T.func.jvp(lambda x: y, (x,), (x,)), T.func.vjp(lambda x: y, x)[1](y),
        AnyStrides([T.func.jacrev(lambda x: y)(x), T.func.jacfwd(lambda x: y)(x)]),
        raises(lambda: T.func.jvp(lambda x: y, (x,), (x,), strict=True)), T.func.grad(lambda x: x)(x[0]),
    ))


@case
def refusals_of_grad(T):
    x = rand(T, 3)
    g = T.func.grad
    return (
        raises(lambda: g(lambda x: x)(x)), raises(lambda: g(lambda x: 1.0)(x)),
        raises(lambda: g(cubic, argnums=1)(x)), raises(lambda: g(cubic, argnums=-2)(x)),
        raises(lambda: g(cubic, argnums=())(x)), raises(lambda: g(cubic, argnums=(0, 0))(x)),
        raises(lambda: g(cubic, argnums="0")(x)), raises(lambda: g(cubic, argnums=("0",))(x)),
        raises(lambda: g(cubic)(1.0)), raises(lambda: g(cubic)(T.tensor([1, 2]))),
        raises(lambda: g(cubic, has_aux=True)(x)), raises(lambda: g(lambda x: (x.sum(), 1), has_aux=True)(x)),
        raises(lambda: g(lambda x: (x.sum(),))(x)),
    )


@case
def refusals_of_vjp_and_jvp(T):
    x = rand(T, 3)
    value, pull = T.func.vjp(vector, x)
    jvp = T.func.jvp
    structure = dict(phrase="Expected pytree structure of cotangents to be the same as pytree structure of "
                     "outputs to the function.", because="the structures are spelled differently")
    python = dict(phrase="Expected primals and tangents to have the same python structure.",
                  because="the structures are spelled differently")
    return (
        raises(lambda: T.func.vjp(lambda x: 1, x)), raises(lambda: T.func.vjp(lambda x: (), x)),
        raises(lambda: T.func.vjp(lambda x: None, x)), raises(lambda: T.func.vjp(lambda x: x > 0, x)),
        raises(lambda: T.func.vjp(vector, x, has_aux=True)), raises(lambda: pull((x,)), **structure),
        raises(lambda: pull(rand(T, 2))), raises(lambda: jvp(vector, x, (x,))),
        raises(lambda: jvp(vector, (x,), x), **python), raises(lambda: jvp(vector, (x,), (x, x)), **python),
        raises(lambda: jvp(vector, (), ())), raises(lambda: jvp(vector, (1.0,), (1.0,))),
        raises(lambda: jvp(vector, (x,), (1.0,))), raises(lambda: jvp(vector, (x,), (rand(T, 2),))),
        raises(lambda: jvp(lambda x: 1.0, (x,), (x,))), raises(lambda: jvp(lambda x: (), (x,), (x,))),
        raises(lambda: jvp(vector, (x,), (x,), has_aux=True)),
        raises(lambda: jvp(vector, (T.tensor([1]),), (T.tensor([1]),))),
    )


@case
def refusals_of_jacobians(T):
    x, z = rand(T, 3), rand(T, 3, dtype="complex64")
    return (
        raises(lambda: T.func.jacrev(vector, chunk_size=0)), raises(lambda: T.func.jacrev(vector)(z)),
        raises(lambda: T.func.jacfwd(vector)(z)), raises(lambda: T.func.jacrev(lambda x: x * 1j)(x)),
        raises(lambda: T.func.jacfwd(lambda x: x * 1j)(x)), raises(lambda: T.func.jacrev(vector, 2)(x)),
        raises(lambda: T.func.jacfwd(vector, 2)(x)), raises(lambda: T.func.jacrev(lambda x: x > 0)(x)),
    )


@case
def dual_levels_and_jvp_do_not_nest(T):
    x = rand(T, 3)
    fa = T.autograd.forward_ad

    def inner(x):
        with fa.dual_level():
            return x

    with fa.dual_level():
        outside = raises(lambda: T.func.jvp(vector, (x,), (x,)))
    return outside, raises(lambda: T.func.jvp(inner, (x,), (x,))), T.func.jvp(vector, (x,), (x,))


@case
def linearized(T):
    x, y = rand(T, 3), rand(T, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of PyTorch's tracer
        value, push = T.func.linearize(lambda x, y: (x * y.sin(), y.sum()), x, y)
    return (
        value, push(x, y), push(y, x),
        raises(lambda: push(x), phrase="to have the same argspec as the primals",
               because="the structures are spelled differently"),
        raises(lambda: push(x, rand(T, 2))), raises(lambda: push(x, y.double())),
    )


@case
def complex_derivatives(T):
    z = rand(T, 3, dtype="complex64")
    f = lambda z: (z * z.conj()).real.sum() + (z**2).imag.sum()  # noqa: E731
    value, pull = T.func.vjp(lambda z: z**2, z)
    return T.func.grad(f)(z), pull(z), T.func.jvp(lambda z: z.exp() * z.conj(), (z,), (z,))


@case
def hessian_of_a_module(T):
    net = _mlp(T)
    params = {k: v.detach().double() for k, v in net.named_parameters()}
    x, y = f64(T, 4, 3), f64(T, 4, 2)

    def loss(params):
        return T.nn.functional.mse_loss(T.func.functional_call(net, params, (x,)), y)

    h = T.func.hessian(loss)(params)
    per = T.func.vmap(
        T.func.grad(lambda p, x, y: T.nn.functional.mse_loss(T.func.functional_call(net, p, (x,)), y)),
        in_dims=(None, 0, 0),
    )(params, x, y)
    return AnyStrides([h["0.weight"]["2.bias"], h["2.weight"]["2.weight"], per])


def _mlp(T, *, seed=0):
    net = T.nn.Sequential(T.nn.Linear(3, 4), T.nn.Tanh(), T.nn.Linear(4, 2))
    with T.no_grad():
        for p in net.parameters():
            p.copy_(rand(T, *p.shape) / 2)
    return net


@case
def functional_calls(T):
    net = _mlp(T)
    call = T.func.functional_call
    x = rand(T, 2, 3)
    zeros = {k: T.zeros_like(v) for k, v in net.named_parameters()}
    before = {k: v.detach().clone() for k, v in net.named_parameters()}
    some = {"2.bias": T.ones(2)}
    norm = T.nn.BatchNorm1d(3)
    state = {k: v.clone() for k, v in norm.state_dict().items()}
    out = call(norm, state, (x,))
    tied = T.nn.Sequential(T.nn.Linear(3, 3), T.nn.Linear(3, 3))
    tied[1].weight = tied[0].weight
    return (
        call(net, zeros, (x,)), call(net, some, x).detach(), call(net, [zeros, {}], args=(x,)),
        call(net, zeros, kwargs={"input": x}),
        [T.equal(v.detach(), before[k]) for k, v in net.named_parameters()],  # its own are back
        out.detach(), state["num_batches_tracked"], state["running_mean"], norm.running_mean,
        call(tied, {"0.weight": T.zeros(3, 3)}, x).detach() - tied[1].bias.detach(),
        raises(lambda: call(tied, {"0.weight": T.zeros(3, 3), "1.weight": T.ones(3, 3)}, x)),
        raises(lambda: call(net, some, x, strict=True)),
        raises(lambda: call(net, {**zeros, "nothing": T.ones(1)}, x, strict=True)),
        raises(lambda: call(net, [some, some], x)), raises(lambda: call(net, 1, x)),
        raises(lambda: call(net, [1], x)), raises(lambda: call(net, {"2.bias": 1.0}, x)),
        raises(lambda: call(net, {"no.bias": T.ones(2)}, x)), call(net, {"more": T.ones(2)}, x).detach(),
        hasattr(net, "more"),
    )


@case
def ensembles(T):
    nets = [_mlp(T) for _ in range(3)]
    params, buffers = T.func.stack_module_state(nets)
    x = rand(T, 2, 3)
    out = T.func.vmap(lambda p, b, x: T.func.functional_call(nets[0], (p, b), (x,)),
                      in_dims=(0, 0, None))(params, buffers, x)
    (g,) = T.autograd.grad(out.sum(), params["0.weight"])
    frozen = _mlp(T).requires_grad_(False)
    stack = T.func.stack_module_state
    return (
        AnyStrides([out.detach(), g, params["2.bias"]]), buffers, raises(lambda: stack([])),
        raises(lambda: stack([nets[0], T.nn.Linear(1, 1)])), raises(lambda: stack([nets[0], frozen])),
        raises(lambda: stack([nets[0], _mlp(T).eval()])),
    )


@case
def the_rest(T):
    norm = T.func.replace_all_batch_norm_modules_(T.nn.Sequential(T.nn.BatchNorm1d(2)))[0]
    x = rand(T, 3)
    same = T.func.functionalize(lambda x: x.clone().mul_(2))(x)
    return (
        norm.running_mean, norm.track_running_stats, same, T.func.debug_unwrap(x) is x,
        raises(lambda: T.func.functionalize(vector, remove="all"),
               phrase="received invalid argument for remove=all",
               because="the explanations that follow are worded differently"),
        T.func.vmap(lambda x: T.func.debug_unwrap(x).shape[0] * x)(rand(T, 4, 2)),
    )


@case
def rearranged(T):
    r = T.func.rearrange
    x = rand(T, 2, 3, 4, 2)
    patterns = ("b h w c -> b c h w", "b h w c -> (b h) w c", "b h w c -> b (c h w)", "b ... -> ... b",
                "... c -> c ...", "b h w c -> h (b w) c 1", "a b c d -> (d c b a)", "b ... c -> (b ...) c",
                "b h w c -> () b h w c", "a b c d -> a b c d")
    out = [r(x, pattern) for pattern in patterns]
    out += [r(x, "b (h one) (w two) c -> b h w (c one two)", one=3, two=2), r([x[0], x[1]], "b ... -> ... b"),
            r(x[:, :1], "b 1 w c -> b w c"), r(T.tensor(1.0), "-> 1")]
    wrong = ("a b -> a b", "a b c d", "a b c d -> a b c", "a b c a -> a b c",
             "a (b (c)) d -> a b c d", "a b) c d -> a b c d", "a b (c d -> a b c d", "a . b c -> a b c",
             "a ... ... -> a", "a b c d -> ...",
             "a (b ...) -> a b ...", "a b c 2 -> a b c 2", "a b c d_ -> a b c d_", "a b c 2d -> a b c 2d",
             "a b c d ... e -> a b c d ... e", "a b c d! -> a b c d!")
    return AnyStrides([
        out, [raises(lambda p=p: r(x, p)) for p in wrong], raises(lambda: r(x, "a b c d -> a b c d", e=2)),
        raises(lambda: r(x, "a b c d -> a b c d", a=2.0)),
        T.func.vmap(lambda y: r(y, "a b c -> c (a b)"))(x),
        T.func.grad(lambda y: (r(y, "... c -> c ...") ** 2).sum())(x),
    ])


@case
def neural_tangent_kernels(T):
    """PyTorch's tutorial: the kernel by Jacobian contraction and by products, one example at a time."""
    net = _mlp(T)
    params = {k: v.detach() for k, v in net.named_parameters()}
    a, b = rand(T, 3, 3), rand(T, 2, 3)

    def one(params, x):
        return T.func.functional_call(net, params, (x.unsqueeze(0),)).squeeze(0)

    def contraction():
        j1, j2 = (
            [j.flatten(2) for j in T.func.vmap(T.func.jacrev(one), (None, 0))(params, x).values()]
            for x in (a, b)
        )
        return sum(T.einsum("Naf,Mbf->NMab", x, y) for x, y in zip(j1, j2))

    def products():
        def pair(x1, x2):
            _, pull = T.func.vjp(lambda p: one(p, x1), params)

            def column(v):
                (found,) = pull(v)
                return T.func.jvp(lambda p: one(p, x2), (params,), (found,))[1]

            return T.func.vmap(column)(T.eye(2))

        return T.func.vmap(T.func.vmap(pair, (None, 0)), (0, None))(a, b)

    first, second = contraction(), products()
    return AnyStrides([first, second, T.allclose(first, second.transpose(-1, -2), atol=1e-5)])


@case
def hooks_and_backward_inside(T):
    seen = []

    def f(x):
        x.register_hook(lambda g: g * 5)
        y = x * 2
        y.register_hook(lambda g: seen.append(g.tolist()))
        return (y * x).sum()

    x = rand(T, 3)
    outer = leaf(T, 3)
    return AnyStrides([
        T.func.grad(f)(x), T.func.vjp(f, x)[1](x[0]), len(seen),
        T.autograd.grad(T.func.grad(lambda x: (x**3).sum())(outer).sum(), outer),
        raises(lambda: T.func.grad(lambda x: (x.sum().backward(), x.sum())[1])(x)),
    ])

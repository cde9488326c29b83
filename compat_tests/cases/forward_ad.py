"""Forward mode: duals through operations, views, in-place writes and backward passes; its refusals."""

from compat_tests.harness import attempt, case, each, leaf, raises, rand


def fa(T):
    return T.autograd.forward_ad


def tangent(T, t):
    found = fa(T).unpack_dual(t).tangent
    return None if found is None else found.detach()


def dual(T, *shape, **options):
    """A dual of fresh tensors; its parts are leaves of nothing."""
    return fa(T).make_dual(rand(T, *shape, **options), rand(T, *shape, **options))


_UNARY = dict(
    exp=lambda T, x: x.exp(), sin=lambda T, x: x.sin(), abs=lambda T, x: x.abs(),
    relu=lambda T, x: x.relu(), sigmoid=lambda T, x: x.sigmoid(), tanh=lambda T, x: x.tanh(),
    square=lambda T, x: x**2, power=lambda T, x: (x + 3) ** 1.5, reciprocal=lambda T, x: 1 / (x + 3),
    sum_=lambda T, x: x.sum(0), mean=lambda T, x: x.mean(), prod=lambda T, x: x.prod(1),
    std=lambda T, x: x.std(1), norm=lambda T, x: x.norm(), softmax=lambda T, x: x.softmax(1),
    log_softmax=lambda T, x: x.log_softmax(1), logsumexp=lambda T, x: x.logsumexp(1),
    cumsum=lambda T, x: x.cumsum(1), cumprod=lambda T, x: x.cumprod(1), sort=lambda T, x: x.sort(1)[0],
    topk=lambda T, x: x.topk(2, 1)[0], max_=lambda T, x: x.max(1)[0], amax=lambda T, x: x.amax(),
    matmul=lambda T, x: x @ x.t(), index=lambda T, x: x[[0, 1, 0]], mask=lambda T, x: x[x > 0],
    where=lambda T, x: T.where(x > 0, x, 2 * x), clamp=lambda T, x: x.clamp(-1, 1),
    cat=lambda T, x: T.cat([x, x * 2]), stack=lambda T, x: T.stack([x, x], 1),
    gather=lambda T, x: x.gather(1, T.tensor([[0, 2], [1, 1]])), flip=lambda T, x: x.flip(0),
    roll=lambda T, x: x.roll(1, 0), tril=lambda T, x: x.tril(), double=lambda T, x: x.double(),
    einsum=lambda T, x: T.einsum("ij,kj->ik", x, x), gelu=lambda T, x: T.nn.functional.gelu(x),
    layer_norm=lambda T, x: T.nn.functional.layer_norm(x, (3,)), floor=lambda T, x: x.floor(),
    sign=lambda T, x: x.sign(), clone=lambda T, x: x.clone(), contiguous=lambda T, x: x.t().contiguous(),
    masked_fill=lambda T, x: x.masked_fill(x > 0, 1.0), dist=lambda T, x: (x - 1).norm(dim=1),
    linear=lambda T, x: T.nn.functional.linear(x, rand(T, 4, 3), rand(T, 4)),
    conv=lambda T, x: T.nn.functional.conv1d(x[None], rand(T, 2, 2, 2)),
    pool=lambda T, x: T.nn.functional.max_pool1d(x, 2), pad=lambda T, x: T.nn.functional.pad(x, (1, 1)),
    loss=lambda T, x: T.nn.functional.cross_entropy(x, T.tensor([0, 2])),
    mse=lambda T, x: T.nn.functional.mse_loss(x, rand(T, 2, 3)),
)


@each(**_UNARY)
def through_an_operation(T, fn):
    with fa(T).dual_level():
        out = fn(T, dual(T, 2, 3))
        primal, along = fa(T).unpack_dual(out)
        return primal, along, out.requires_grad


_BINARY = dict(
    add=lambda T, x, y: T.add(x, y, alpha=2), sub=lambda T, x, y: 2 - x - y, mul=lambda T, x, y: x * y,
    div=lambda T, x, y: x / (y + 3), pow=lambda T, x, y: (x + 3) ** y, matmul=lambda T, x, y: x.t() @ y,
    maximum=lambda T, x, y: T.maximum(x, y), atan2=lambda T, x, y: T.atan2(x, y),
    bmm=lambda T, x, y: T.bmm(x[None], y.t()[None]), lerp=lambda T, x, y: T.lerp(x, y, 0.3),
    addmm=lambda T, x, y: T.addmm(x @ x.t(), x, y.t()), broadcast=lambda T, x, y: x * y[0],
    where=lambda T, x, y: T.where(x > y, x, y), cat=lambda T, x, y: T.cat([x, y]),
)


@each(**_BINARY)
def which_operand_is_dual(T, fn):
    with fa(T).dual_level():
        x, y = dual(T, 2, 3), dual(T, 2, 3)
        plain = fa(T).unpack_dual(x).primal, fa(T).unpack_dual(y).primal
        pairs = ((x, y), (x, plain[1]), (plain[0], y), plain)
        return [tangent(T, fn(T, *pair)) for pair in pairs]


@each(**dict(
    square=lambda T, x: x * x, exp=lambda T, x: x.exp(), abs=lambda T, x: x.abs(),
    conj=lambda T, x: x.conj() * x, real=lambda T, x: x.real, imag=lambda T, x: x.imag * 2,
    as_real=lambda T, x: T.view_as_real(x), matmul=lambda T, x: x @ x, mixed=lambda T, x: x * 2.5,
    angle=lambda T, x: x.angle(),
))
def complex_tangents_are_not_conjugated(T, fn):
    with fa(T).dual_level():
        out = fn(T, dual(T, 3, dtype="complex64"))
        return tangent(T, out).resolve_conj()


@case
def make_and_unpack(T):
    x, t = rand(T, 3), rand(T, 3)
    with fa(T).dual_level() as level:
        d = fa(T).make_dual(x, t)
        primal, along = fa(T).unpack_dual(d)
        kinds = [type(fa(T).unpack_dual(d)).__name__, type(fa(T).unpack_dual(d))._fields]
        seen = [d, primal, along is t, primal._base is x, d._base is x, level, d._is_view()]
        none = fa(T).unpack_dual(x)
        seen += [none.primal, none.tangent, fa(T).unpack_dual(d, level=0).tangent]
    after = fa(T).unpack_dual(d)
    return kinds, seen, after.tangent, after.primal is d


@case
def of_leaves(T):
    x, t = leaf(T, 3), leaf(T, 3)
    with fa(T).dual_level():
        d = fa(T).make_dual(x, t)
        primal, along = fa(T).unpack_dual(d)
        out = fa(T).unpack_dual(d * 2)
        return (d, d.grad_fn.name(), primal, primal.grad_fn.name(), along is t, out.primal,
                out.tangent.requires_grad, T.autograd.grad(out.tangent.sum(), t, retain_graph=True))


@case
def refusals(T):
    x, t = rand(T, 3), rand(T, 3)
    out = [raises(lambda: fa(T).make_dual(x, t)), raises(fa(T).exit_dual_level),
           raises(lambda: fa(T).exit_dual_level(level=3))]
    with fa(T).dual_level():
        d = fa(T).make_dual(x, t)
        out += [
            raises(lambda: fa(T).make_dual(d, t)), raises(lambda: fa(T).make_dual(x, d)),
            raises(lambda: fa(T).make_dual(x, rand(T, 2))),
            raises(lambda: fa(T).make_dual(x.int(), t)), raises(lambda: fa(T).make_dual(x, t.int())),
            raises(fa(T).enter_dual_level), raises(lambda: fa(T).make_dual(x, t, level=1)),
            raises(lambda: fa(T).exit_dual_level(level=1)),
        ]
        try:
            with fa(T).dual_level():
                out.append("nested")
        except RuntimeError as error:
            out.append(str(error))
    return out


@case
def entering_by_hand_and_as_decorator(T):
    x, t = rand(T, 3), rand(T, 3)
    level = fa(T).enter_dual_level()
    d = fa(T).make_dual(x, t)
    inside = tangent(T, d * 2)
    fa(T).exit_dual_level()

    @fa(T).dual_level()
    def push(x, t):
        return fa(T).unpack_dual(fa(T).make_dual(x, t).sin()).tangent

    return level, inside, fa(T).unpack_dual(d).tangent, push(x, t)


@case
def level_ends_after_an_error(T):
    x, t = rand(T, 3), rand(T, 3)

    def broken():
        with fa(T).dual_level():
            fa(T).make_dual(x, t)
            raise ValueError("mine")

    error = raises(broken)
    with fa(T).dual_level() as level:
        return error, level, tangent(T, fa(T).make_dual(x, t) * x)


@case
def detached_things_have_no_tangent(T):
    with fa(T).dual_level():
        d = dual(T, 3)
        e = d * 1
        e.detach_()
        return [tangent(T, t) for t in (d.detach(), d.data, d.detach() * 2, d.detach() * d, e,
                                        T.zeros_like(d), T.rand_like(d) * 0, (d > 0), d.int())]


@case
def modes(T):
    with fa(T).dual_level():
        d = dual(T, 3)
        with T.no_grad():
            first = tangent(T, d * d)
        with fa(T)._set_fwd_grad_enabled(False):
            second = tangent(T, d), tangent(T, d * 2)
        return first, second, tangent(T, d * 2)


@case
def a_view_of_a_dual_writes_into_its_tangent(T):
    x, t = rand(T, 3, 2), rand(T, 3, 2)
    with fa(T).dual_level():
        d = fa(T).make_dual(x, t)
        views = [d[1], d.t(), d.view(6)[1:4], d.unsqueeze(0), d[:, 0], d.select(1, 1)]
        before = [tangent(T, v).clone() for v in views]
        views[0].mul_(3)
        views[4].add_(d[:, 1])
        return before, [tangent(T, v) for v in views], tangent(T, d), t, x


@each(**dict(
    mul=lambda T, d, o: d.mul_(o), add=lambda T, d, o: d.add_(o, alpha=2), copy=lambda T, d, o: d.copy_(o),
    number=lambda T, d, o: d.mul_(2), sin=lambda T, d, o: d.sin_(), zero=lambda T, d, o: d.zero_(),
    fill=lambda T, d, o: d.fill_(1.5), row=lambda T, d, o: d[0].copy_(o[0]),
    normal=lambda T, d, o: d.normal_(),
    assign=lambda T, d, o: d.__setitem__(0, o[1]), mask=lambda T, d, o: d.masked_fill_(o > 0, 2.0),
    index=lambda T, d, o: d.index_copy_(0, T.tensor([1]), o[:1]), relu=lambda T, d, o: d.relu_(),
    clamp=lambda T, d, o: d.clamp_(-0.5, 0.5), chain=lambda T, d, o: d.t().mul_(o.t()).add_(d.t()),
    column=lambda T, d, o: d[:, 1:].mul_(o[:, :2]), iadd=lambda T, d, o: d.__iadd__(o),
))
def writing_in_place(T, write):
    """Into a dual and into a plain tensor, a dual and a plain value; the given tangent changes too."""
    out = []
    for target, value in ((True, True), (True, False), (False, True)):
        with fa(T).dual_level():
            x, t, o = rand(T, 2, 3), rand(T, 2, 3), rand(T, 2, 3)
            d = fa(T).make_dual(x, t) if target else x
            early = d[0]
            write(T, d, dual(T, 2, 3) if value else o)
            out.append([tangent(T, d), tangent(T, early), tangent(T, d * 1)])
            if target:
                out.append(fa(T).unpack_dual(d).tangent is t)
                out.append(t.clone())
    return out


@case
def a_first_tangent_of_a_view_belongs_to_the_base(T):
    with fa(T).dual_level():
        base = rand(T, 2, 3)
        early, other = base[0], base[1]
        early.mul_(dual(T, 3))
        return [tangent(T, t) for t in (base, early, other, base.t(), base[:, 1])]


@case
def several_views_at_once(T):
    with fa(T).dual_level():
        d = dual(T, 4, 2)
        parts = [*d.unbind(0), *d.split(3), *d.chunk(2, 1)]
        return [tangent(T, p) for p in parts]


@case
def gradients_of_duals_are_duals(T):
    x = leaf(T, 3)
    t = rand(T, 3)
    with fa(T).dual_level():
        d = fa(T).make_dual(x, t)
        (g,) = T.autograd.grad((d**3).sum(), d, create_graph=True)
        (h,) = T.autograd.grad((x.sin() * d).sum(), x)
        once = fa(T).unpack_dual(g)
        twice = T.autograd.grad(once.tangent.sum(), x)
        return once.primal.detach(), once.tangent.detach(), twice, tangent(T, h)


@case
def backward_accumulates_duals(T):
    x, t = leaf(T, 3), rand(T, 3)
    with fa(T).dual_level():
        d = fa(T).make_dual(x, t)
        (d.exp() * d).sum().backward()
        return x.grad.detach() * 1, tangent(T, x.grad)


@case
def tangents_have_a_history(T):
    x, t, w = leaf(T, 3), leaf(T, 3), leaf(T, 3)
    with fa(T).dual_level():
        d = fa(T).make_dual(x, t)
        along = fa(T).unpack_dual((d * w).sin()).tangent
        return T.autograd.grad(along.sum(), (x, t, w))


@case
def through_a_module(T):
    lin = T.nn.Linear(3, 2)
    with T.no_grad():
        lin.weight.copy_(rand(T, 2, 3))
        lin.bias.copy_(rand(T, 2))
    with fa(T).dual_level():
        out = fa(T).unpack_dual(lin(dual(T, 4, 3)))
        return out.tangent.detach(), T.autograd.grad(out.tangent.sum(), lin.weight)


@case
def duals_show_their_tangent(T):
    with fa(T).dual_level():
        x, t = T.tensor([1.0, 2.0]), T.tensor([3.0, 4.0])
        d = fa(T).make_dual(x, t)
        return repr(d), repr(d.view(2, 1)), repr(fa(T).make_dual(x.requires_grad_(), t)), repr(x)


@case
def out_is_refused(T):
    with fa(T).dual_level():
        d = dual(T, 3)
        return (attempt(lambda: T.sin(d, out=T.empty(3))), attempt(lambda: T.add(d, d, out=T.empty(3))),
                attempt(lambda: T.sin(rand(T, 3), out=d)))


@case
def random_and_dropout(T):
    with fa(T).dual_level():
        d = fa(T).make_dual(T.ones(8), T.full((8,), 2.0))
        out = T.nn.functional.dropout(d, 0.5)
        return (tangent(T, out) == 2 * fa(T).unpack_dual(out).primal).all().item()


@case
def metadata_in_place(T):
    with fa(T).dual_level():
        d = dual(T, 2, 3) * 1
        d.t_()
        e = dual(T, 2, 3) * 1
        e.unsqueeze_(0)
        return tangent(T, d), tangent(T, e), tangent(T, d * 2)


@case
def other_dtypes(T):
    with fa(T).dual_level():
        x = dual(T, 3, dtype="float64")
        y = fa(T).make_dual(rand(T, 3, dtype="float64"), rand(T, 3))
        return [tangent(T, t) for t in (x.float(), x + rand(T, 3), x.to(T.float32).double() * x, y)]


def _product(T, jvp, materialize=True):
    """A custom product of two tensors and a number, whose ``jvp`` is given."""

    class Product(T.autograd.Function):
        @staticmethod
        def forward(x, y, n):
            return x * y * n

        @staticmethod
        def setup_context(ctx, inputs, output):
            *tensors, ctx.n = inputs
            ctx.save_for_backward(*tensors)
            ctx.save_for_forward(*tensors)
            ctx.set_materialize_grads(materialize)

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * y * ctx.n, g * x * ctx.n, None

    Product.jvp = staticmethod(jvp)
    return Product.apply


@case
def custom_jvp(T):
    seen = []

    def jvp(ctx, x_t, y_t, n_t):
        x, y = ctx.saved_tensors
        seen.append((x_t is None, y_t is None, n_t is None, x.shape == y.shape))
        return (x_t * y + x * y_t) * ctx.n

    product = _product(T, jvp)
    with fa(T).dual_level():
        x, y = dual(T, 3), dual(T, 3)
        plain = rand(T, 3)
        out = [tangent(T, product(*pair, 3)) for pair in ((x, y), (x, plain), (plain, y), (plain, plain))]
    a = leaf(T, 3)
    (moved,) = T.func.jvp(lambda x: product(x, a, 2), (a,), (plain,))[1:]
    return (out, seen, T.autograd.grad(moved.sum(), a),
            T.func.jvp(lambda x: product(x, x.sin(), 2), (plain,), (plain,)),
            T.func.grad(lambda x: T.func.jvp(lambda x: product(x, x, 2), (x,), (plain,))[1].sum())(plain))


@case
def custom_jvp_without_zeros(T):
    def jvp(ctx, x_t, y_t, n_t):
        x, y = ctx.saved_tensors
        return x_t * y * ctx.n if y_t is None else x * y_t * ctx.n

    product = _product(T, jvp, materialize=False)
    with fa(T).dual_level():
        return tangent(T, product(dual(T, 3), rand(T, 3), 2)), tangent(T, product(rand(T, 3), dual(T, 3), 2))


@case
def custom_functions_without_jvp(T):
    class Double(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    with fa(T).dual_level():
        return raises(lambda: Double.apply(dual(T, 3))), Double.apply(rand(T, 3))


@case
def custom_jvp_of_too_many(T):
    with fa(T).dual_level():
        return raises(lambda: _product(T, lambda ctx, x_t, y_t, n_t: (x_t, y_t))(dual(T, 3), rand(T, 3), 2))


@each(right=0, not_in_place=1, another=2)
def custom_jvp_in_place(T, how):
    class Double(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def jvp(ctx, x_t):
            return (x_t.mul_(2), x_t, x_t.mul_(2).clone())[how]

    with fa(T).dual_level():
        x = dual(T, 3)
        return attempt(lambda: tangent(T, Double.apply(x)))


@case
def custom_jvp_of_two_results(T):
    class Two(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_forward(x)
            index = x.argmax()
            ctx.mark_non_differentiable(index)
            return x.exp(), index, x * 3

        @staticmethod
        def jvp(ctx, x_t):
            (x,) = ctx.saved_tensors
            return x.exp() * x_t, None, 3 * x_t

    with fa(T).dual_level():
        return [tangent(T, t) for t in Two.apply(dual(T, 3))]


@case
def parameters_that_are_duals(T):
    """As in PyTorch's tutorial: a module's parameters are replaced by duals of them."""
    net = T.nn.Linear(3, 2)
    with T.no_grad():
        net.weight.copy_(rand(T, 2, 3))
        net.bias.copy_(rand(T, 2))
    x = rand(T, 4, 3)
    params = {name: p for name, p in net.named_parameters()}  # noqa: C416 - as the tutorial has it
    along = {name: rand(T, *p.shape) for name, p in params.items()}
    with fa(T).dual_level():
        for name, p in params.items():
            delattr(net, name)
            setattr(net, name, fa(T).make_dual(p, along[name]))
        first = tangent(T, net(x))
    other = T.nn.Linear(3, 2)
    with fa(T).dual_level():
        duals = {name: fa(T).make_dual(p, along[name]) for name, p in params.items()}
        second = tangent(T, T.func.functional_call(other, duals, x))
    return first, second

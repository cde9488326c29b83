"""What may be a root, an input and a gradient: edges, undefined gradients, layouts, dtypes, repetitions."""

import warnings

from compat_tests.harness import AnyStrides, attempt, case, each, leaf, raises, rand


def _edge(T, t):
    return T.autograd.graph.get_gradient_edge(t)


# --- gradient edges ------------------------------------------------------------------------------


@case
def edges_as_inputs(T):
    x, w = leaf(T, 3), leaf(T, 3)
    y = x * w
    z = y.exp().sum()
    return AnyStrides((
        T.autograd.grad(z, [_edge(T, x), y, _edge(T, y), w], retain_graph=True),
        T.autograd.grad(z, _edge(T, y), retain_graph=True),
        T.autograd.grad(z, {"edge": _edge(T, x)}, retain_graph=True),
        attempt(lambda: T.autograd.backward(z, inputs=[_edge(T, x)], retain_graph=True)), x.grad, w.grad,
        attempt(lambda: T.autograd.backward(z, inputs=[_edge(T, y)], retain_graph=True)), y.grad,
    ))


@case
def edges_as_outputs(T):
    x = leaf(T, 3)
    y = x * x
    z = y.sum()
    v = rand(T, 3)
    return AnyStrides((
        attempt(lambda: T.autograd.grad(_edge(T, z), x, retain_graph=True)),
        attempt(lambda: T.autograd.grad(_edge(T, z), x, T.tensor(2.0), retain_graph=True)),
        attempt(lambda: T.autograd.grad([_edge(T, y), z], x, [v, None], retain_graph=True)),
        raises(lambda: T.autograd.grad(_edge(T, y), x, retain_graph=True)),
        raises(lambda: T.autograd.grad(_edge(T, y), x, T.ones(2), retain_graph=True)),
        attempt(lambda: T.autograd.grad(_edge(T, y), x, v.double(), retain_graph=True)),
        attempt(lambda: T.autograd.backward(_edge(T, z), retain_graph=True)), x.grad,
        attempt(lambda: T.autograd.backward([_edge(T, y)], [v])), x.grad,
        raises(lambda: T.autograd.backward(_edge(T, y), v)),
    ))


@case
def an_edge_of_a_leaf_as_output(T):
    x = leaf(T, 3)
    return attempt(lambda: T.autograd.grad(_edge(T, x), x, T.ones(3))), attempt(
        lambda: T.autograd.backward(_edge(T, x), T.ones(3))), x.grad


@case
def edges_of_one_of_several_outputs(T):
    x = leaf(T, 3, 2)
    a, b, c = x.unbind()
    z = (a * b).sum() + c.prod()
    return AnyStrides((
        [(_edge(T, t).node.name(), _edge(T, t).output_nr) for t in (a, b, c)],
        T.autograd.grad(z, [_edge(T, b), c], retain_graph=True),
        T.autograd.grad([_edge(T, b)], x, rand(T, 2)),
    ))


@case
def edges_that_are_none(T):
    x = rand(T, 3)
    with T.no_grad():
        y = leaf(T, 3) * 2
    base = leaf(T, 3)
    with T.no_grad():
        part = base[:1]
    return (
        raises(lambda: _edge(T, x)), raises(lambda: _edge(T, y)), raises(lambda: _edge(T, 1)),
        raises(lambda: _edge(T, part)),
    )


@case
def an_edge_made_by_hand(T):
    x = leaf(T, 3)
    y = x.exp() * 2
    Edge = T.autograd.graph.GradientEdge
    inner = y.grad_fn.next_functions[0]
    return AnyStrides(T.autograd.grad(y.sum(), Edge(*inner), retain_graph=True)), AnyStrides(
        T.autograd.grad(y.sum(), Edge(node=inner[0].next_functions[0][0], output_nr=0))
    ), list(Edge._fields)[:2]


@case
def edges_keep_the_graph_alive(T):
    x = leaf(T, 3)
    y = x.exp()
    edge = _edge(T, y)
    z = (y * y).sum()
    del y
    return AnyStrides(T.autograd.grad(z, edge))


@case
def materialized_edges(T):
    x, w = leaf(T, 3), leaf(T, 3)
    y = x * 2
    edge = _edge(T, w)
    return attempt(lambda: T.autograd.grad(y.sum(), [x, edge], allow_unused=True)), raises(
        lambda: T.autograd.grad((x * 2).sum(), [edge])), attempt(
        lambda: T.autograd.grad((x * 2).sum(), [x, edge], materialize_grads=True))


# --- gradients that are not there ----------------------------------------------------------------


def function(T, backward, n=1, materialize=None):
    class Made(T.autograd.Function):
        @staticmethod
        def forward(ctx, *tensors):
            if materialize is not None:
                ctx.set_materialize_grads(materialize)
            ctx.n = n
            outs = tuple(tensors[0] * (i + 2) for i in range(n))
            return outs if n > 1 else outs[0]

    Made.backward = staticmethod(backward)
    return Made.apply


@each(default=None, true=True, false=False)
def functions_downstream_of_none(T, materialize):
    seen = []

    def note(ctx, *grads):
        seen.append([g is None for g in grads])
        return grads[0] if grads[0] is None else grads[0] * 2

    x = leaf(T, 3)
    y = function(T, note, materialize=materialize)(x)
    z = function(T, lambda ctx, g: None)(y)
    z.sum().backward()
    again = function(T, note, n=2, materialize=materialize)(x)
    again[1].sum().backward()
    return seen, x.grad, T.autograd.grad(
        function(T, lambda ctx, g: None)(x * 1).sum(), x, allow_unused=True)


@case
def hooks_that_get_none(T):
    seen = []
    x = leaf(T, 3)
    y = x * 3
    x.register_hook(lambda g: seen.append(("leaf", g is None)))
    x.register_post_accumulate_grad_hook(lambda p: seen.append(("post", p.grad is None)))
    y.register_hook(lambda g: seen.append(("tensor", g is None)))
    y.retain_grad()
    y.grad_fn.register_prehook(lambda gs: seen.append(("pre", [g is None for g in gs])))
    y.grad_fn.register_hook(
        lambda i, o: seen.append(("node", [g is None for g in i], [g is None for g in o]))
    )
    z = function(T, lambda ctx, g: None)(y)
    z.sum().backward()
    return seen, x.grad, y.grad


@each(zeros=lambda T, g: T.zeros(3), none=lambda T, g: None, keep=lambda T, g: g)
def hooks_may_make_one_of_none(T, hook):
    x = leaf(T, 3)
    y = x * 3
    y.register_hook(lambda g: hook(T, g))
    z = function(T, lambda ctx, g: None)(y)
    return attempt(z.sum().backward), x.grad


@case
def a_node_that_got_none_is_freed_all_the_same(T):
    x = leaf(T, 3)
    y = x * 3
    function(T, lambda ctx, g: None)(y).sum().backward()
    kept = x.exp()
    function(T, lambda ctx, g: None)(kept).sum().backward(retain_graph=True)
    return raises(lambda: y.sum().backward()), attempt(lambda: kept.sum().backward()), x.grad


@each(
    unbind=lambda x: x.unbind()[1], split=lambda x: x.split(1)[1], chunk=lambda x: x.chunk(3)[0],
    unbind_last=lambda x: x.unbind(-1)[0], max=lambda x: x.max(0).values, topk=lambda x: x.topk(1, 0)[0],
    sort=lambda x: x.sort(0)[0], var=lambda x: x.var(0), frexp=lambda x: x.frexp()[0],
    std=lambda x: x.std(0), aminmax=lambda x: x.aminmax().max,
    kthvalue=lambda x: x.kthvalue(1, 0)[0],
)
def one_output_of_several_is_used(T, fn):
    x = leaf(T, 3, 3)
    y = fn(x)
    y.sum().backward()
    (again,) = T.autograd.grad(fn(x).exp().sum(), x, create_graph=True)
    return AnyStrides((x.grad, again.detach(), T.autograd.grad(again.sum(), x, allow_unused=True)))


@case
def some_outputs_of_a_multi_outputfunction(T):
    rows = []

    def backward(ctx, *grads):
        rows.append([None if g is None else g.sum().item() for g in grads])
        return sum(g for g in grads if g is not None)

    for materialize in (True, False):
        for use in ((0,), (1,), (0, 2)):
            x = leaf(T, 3)
            outs = function(T, backward, n=3, materialize=materialize)(x)
            sum(outs[i].sum() for i in use).backward()
            rows.append(x.grad.tolist())
    return rows


@case
def roots_that_lead_to_no_input_are_left_alone(T):
    seen = []
    x, w = leaf(T, 3), leaf(T, 3)
    y, z = x * x, w + 2
    for n, t in enumerate((x, y, w, z)):
        t.register_hook(lambda g, n=n: seen.append(n))
    y.grad_fn.register_prehook(lambda gs: seen.append("node"))
    first = T.autograd.grad(y, w, T.ones(3), allow_unused=True)
    second = T.autograd.grad([y, z], w, [T.ones(3), T.ones(3)])
    T.autograd.backward([y, z], [T.ones(3), T.ones(3)], inputs=[w])
    return seen, first, AnyStrides(second), x.grad, w.grad, attempt(lambda: y.sum().backward()), x.grad


@case
def none_meets_a_gradient(T):
    # of two paths to one tensor one brings nothing
    x = leaf(T, 3)
    y = x * 2
    total = function(T, lambda ctx, g: None)(y).sum() + (y * y).sum()
    total.backward()
    return x.grad


@case
def unused_inputs(T):
    x, w = leaf(T, 3), leaf(T, 2, 3).t()
    w = w.detach().requires_grad_()
    y = (x * 2).sum()
    half = leaf(T, 2, dtype="float64")
    return (
        T.autograd.grad(y, [x, w], allow_unused=True, retain_graph=True),
        T.autograd.grad(y, [x, w, half], materialize_grads=True, retain_graph=True),
        T.autograd.grad(y, [w], materialize_grads=True, create_graph=True),
        raises(lambda: T.autograd.grad(y, [x, w], retain_graph=True)),
        raises(lambda: T.autograd.grad(y, [x, w], retain_graph=True, allow_unused=False)),
        raises(lambda: T.autograd.grad(y, [w, x], retain_graph=True, allow_unused=None)),
    )


@case
def a_function_that_gives_none_is_unused_to_grad(T):
    x = leaf(T, 3)
    y = function(T, lambda ctx, g: None)(x)
    return (
        raises(lambda: T.autograd.grad(y.sum(), x)),
        T.autograd.grad(function(T, lambda ctx, g: None)(x).sum(), x, allow_unused=True),
        T.autograd.grad(function(T, lambda ctx, g: None)(x).sum(), x, materialize_grads=True),
    )


# --- layout and identity of .grad -----------------------------------------------------------------


_LAYOUTS = dict(
    plain=lambda x: x, transposed=lambda x: x.t(), permuted=lambda x: x.reshape(2, 3, 2).permute(2, 0, 1),
    step=lambda x: x[::2], narrow=lambda x: x[:, 1:], expanded=lambda x: x[:, :1].expand(4, 3),
    one_row=lambda x: x[:1], column=lambda x: x[:, :1], scalar=lambda x: x[0, 0], empty=lambda x: x[:0],
    diagonal=lambda x: x.diagonal(),
)


@each(**_LAYOUTS)
def layout_of_first_and_second_grad(T, view):
    p = view(rand(T, 4, 3)).detach().requires_grad_()
    rows = [p.stride()]
    (p * 2).sum().backward()
    held = p.grad
    rows += [p.grad.stride(), p.grad]
    (p * p).sum().backward()
    rows += [p.grad is held, p.grad.stride()]
    p.grad = None
    (p * p).sum().backward(create_graph=True)
    rows += [p.grad.stride(), AnyStrides(p.grad.detach())]
    first = p.grad
    (p * p).sum().backward(create_graph=True)
    rows += [p.grad is first, p.grad.stride()]
    p.grad = None
    return rows


@case
def layout_of_a_gradient_that_is_expanded_or_permuted(T):
    rows = []
    for gradient in (T.ones(1).expand(2, 3), rand(T, 3, 2).t(), rand(T, 4, 3)[::2], rand(T, 2, 3)):
        p = leaf(T, 2, 3)
        (p * 1).backward(gradient)
        q = leaf(T, 3, 2).t().detach().requires_grad_()
        (q * 1).backward(gradient)
        q.backward(gradient)
        rows += [p.grad.stride(), q.grad.stride(), p.grad, q.grad, p.grad is gradient]
    return rows


@case
def a_grad_of_another_layout_is_kept(T):
    rows = []
    for create in (False, True):
        p = leaf(T, 2, 3)
        p.grad = rand(T, 3, 2).t()
        held = p.grad
        (p * 2).sum().backward(create_graph=create)
        rows += [p.grad is held, p.grad.stride(), held.stride()]
        p.grad = None
    return rows


@case
def identity_across_passes(T):
    x = leaf(T, 3)
    ids = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for create in (False, False, True, True, False):
            before = x.grad
            (x * x).sum().backward(create_graph=create)
            ids.append((x.grad is before, x.grad.requires_grad))
    x.grad = None
    return ids


@case
def the_gradient_given_is_never_taken_as_grad(T):
    x, g = leaf(T, 3), rand(T, 3)
    x.backward(g)
    mine = x.grad is g
    g.zero_()
    return mine, x.grad


@case
def grads_of_leaves_do_not_share(T):
    x, w = leaf(T, 3), leaf(T, 3)
    (x + w).sum().backward()
    x.grad.zero_()
    return x.grad, w.grad, AnyStrides(T.autograd.grad((x + w).sum(), [x, w, x]))


@case
def a_grad_that_may_not_be_written_to(T):
    x, y, w = leaf(T, 3), leaf(T, 3), leaf(T, 3)
    x.grad = T.ones(1).expand(3)
    with T.inference_mode():
        y.grad = T.ones(3)
    w.grad_dtype = None
    w.grad = T.ones(3, dtype=T.float16)
    kept = w.grad
    return (
        raises(lambda: (x * 2).sum().backward()), x.grad, raises(lambda: (y * 2).sum().backward()),
        attempt(lambda: (w * 2).sum().backward()), w.grad, w.grad is kept,
    )


@case
def arguments_in_odd_forms(T):
    x = leaf(T, 3)
    y = x * x

    def backward(*args, **options):
        return attempt(lambda: T.autograd.backward(*args, retain_graph=True, **options))

    def grad(*args, **options):
        return AnyStrides(attempt(lambda: T.autograd.grad(*args, retain_graph=True, **options)))

    z = y.sum()
    return [
        backward([y], T.ones(3)), backward(t for t in [z]), backward({z}), backward({"a": z}),
        backward([z, None]), backward(z, inputs="x"), backward(z, inputs=x.detach()),
        backward(z, T.tensor(1)), backward(z, T.tensor(True)), backward(z, [T.tensor(2.0)]),
        attempt(lambda: y.backward([T.ones(3)])), attempt(lambda: y.backward((T.ones(3),))), x.grad,
        grad(z, (t for t in [x])), grad(z, {x}), grad([z], [x], [None]), grad(z, x, allow_unused="yes"),
        grad(z, x, allow_unused=0), grad(z, x, materialize_grads=1), grad(z, x, is_grads_batched=0),
    ]


# --- dtypes and devices ---------------------------------------------------------------------------


@each(half="float16", bfloat16="bfloat16", single="float32", double="float64", complex64="complex64",
      complex128="complex128", int32="int32", bool_="bool")
def gradient_of_any_dtype_for_any_dtype(T, dtype):
    rows = []
    for of in ("float16", "float32", "float64", "complex64"):
        x = leaf(T, 2, dtype=of)
        y = x * 2
        rows += [attempt(lambda y=y: y.backward(T.ones(2, dtype=getattr(T, dtype)))), x.grad]
    return rows


@each(half_single=("float16", "float32"), single_double=("float32", "float64"),
      bfloat_half=("bfloat16", "float16"), int_single=("int64", "float32"),
      single_complex=("float32", "complex64"), double_complex=("float64", "complex64"),
      complexes=("complex64", "complex128"))
def mixed_operands(T, pair):
    a, b = (rand(T, 2, dtype=d) for d in pair)
    for t in (a, b):
        if t.is_floating_point() or t.is_complex():
            t.requires_grad_()
    y = a * b + b
    y.backward(T.ones(2, dtype=y.dtype))
    return y.dtype, a.grad, b.grad


@case
def complex_to_real_and_back(T):
    z, x = leaf(T, 2, dtype="complex64"), leaf(T, 2)
    (z.real * x).sum().backward()
    first = [z.grad, x.grad]
    z.grad = x.grad = None
    T.complex(x, x * 2).abs().sum().backward()
    (x * z).imag.sum().backward()
    return first, z.grad, x.grad, raises(lambda: (z * x).sum().backward()), raises(
        lambda: (z * x).backward(T.ones(2)))


@case
def functions_that_return_other_dtypes(T):
    rows = []
    for dtype in ("float64", "float16", "int64", "complex64", "bool"):
        fn = function(T, lambda ctx, g, d=dtype: g.to(getattr(T, d)))
        x = leaf(T, 3)
        rows += [attempt(fn(x).sum().backward), x.grad]
        x.grad = None
        y = fn(x).sum()
        rows.append(attempt(lambda y=y, x=x: T.autograd.grad(y, x)))
    z = leaf(T, 2, dtype="complex64")
    real = function(T, lambda ctx, g: g.real)
    rows += [attempt(lambda: real(z).abs().sum().backward()), z.grad]
    return rows


@case
def functions_that_return_other_shapes(T):
    rows = []
    for make in (lambda g: g[:1], lambda g: g.sum(), lambda g: g.expand(2, 3), lambda g: g.reshape(3, 1),
                 lambda g: g.reshape(1, 3), lambda g: g[:0]):
        fn = function(T, lambda ctx, g, make=make: make(g))
        x = leaf(T, 3)
        y = fn(x)
        rows += [attempt(lambda y=y: y.backward(T.ones(3))), x.grad]
    return rows


@case
def meta_tensors(T):
    x = leaf(T, 3)
    y = x * 2
    m = T.ones(3, device="meta", requires_grad=True)
    (m * 2).sum().backward()
    return (
        raises(lambda: y.backward(T.ones(3, device="meta"))),
        raises(lambda: T.autograd.grad(y, x, T.ones(3, device="meta"))),
        raises(lambda: (m * 2).backward(T.ones(3))),
        str(m.grad.device), m.grad.shape, m.grad.stride(),
        raises(lambda: setattr(x, "grad", T.ones(3, device="meta"))),
        raises(lambda: function(T, lambda ctx, g: T.ones(3, device="meta"))(x).sum().backward()),
    )


def _same_or_wider(T, widen):
    return function(T, lambda ctx, g: g.double() if widen else g)


@each(double="float64", half="float16", bfloat16="bfloat16", complex64="complex64", same="float32", any_=None)
def a_leaf_that_asks_for_another_grad_dtype(T, dtype):
    dtype = dtype and getattr(T, dtype)
    rows, seen = [], []
    for widen in (False, True):
        x = leaf(T, 3)
        before = x.grad_dtype
        x.grad_dtype = dtype
        x.register_hook(lambda g: seen.append(g.dtype))
        y = _same_or_wider(T, widen)(x)
        y.sum().backward(retain_graph=True)
        rows += [before, x.grad_dtype, x.grad]
        y.sum().backward(retain_graph=True)
        rows += [x.grad, AnyStrides(T.autograd.grad(y.sum(), x, retain_graph=True))]
        (again,) = T.autograd.grad((x * x).sum(), x, create_graph=True)
        rows += [again.dtype, again.requires_grad, again.detach()]
    return rows, seen


@case
def what_grad_dtype_refuses(T):
    x = leaf(T, 3)
    y = x * 2
    plain = rand(T, 3)
    plain.grad_dtype = T.float64
    x.grad_dtype = T.float64
    rows = [raises(lambda: y.grad_dtype), raises(lambda: setattr(y, "grad_dtype", T.float64)),
            raises(lambda: setattr(x, "grad_dtype", "float64")), raises(lambda: setattr(x, "grad_dtype", 3)),
            raises(lambda: setattr(x, "grad", T.ones(3)))]
    x.grad = T.ones(3, dtype=T.float64)
    rows += [raises(lambda: setattr(x, "grad_dtype", T.float16)), x.grad]
    x.grad_dtype = None
    x.grad = T.ones(3, dtype=T.float16)
    x.grad = T.ones(3, dtype=T.int64)
    whole = leaf(T, 3)
    whole.grad_dtype = T.int32
    rows.append(raises(
        lambda: (whole * 2).sum().backward(), phrase="isDifferentiableType(grad.scalar_type())",
        because="torch reports an internal assertion and asks for a bug report",
    ))
    plain.requires_grad_()
    (plain * 2).sum().backward()
    return rows, plain.grad, plain.detach().grad_dtype, rand(T, 2, dtype="int64").grad_dtype


@case
def training_with_gradients_of_another_dtype(T):
    p = leaf(T, 3)
    p.grad_dtype = T.float64
    for _ in range(2):
        (p * p).sum().backward()
        with T.no_grad():
            p -= 0.1 * p.grad
        p.grad = None
    return p


# --- inputs and outputs, repeated and related ------------------------------------------------------


@case
def outputs_repeated(T):
    x = leaf(T, 3)
    y = x * x
    v = rand(T, 3)
    first = T.autograd.grad([y, y, y.sum()], x, [v, v, None], retain_graph=True)
    T.autograd.backward([y, y], [v, v * 2], retain_graph=True)
    return first, x.grad, T.autograd.grad([y.sum(), y.sum()], [x, x, y])


@case
def output_is_input(T):
    x = leaf(T, 3)
    y = x * 2
    v = rand(T, 3)
    return (
        T.autograd.grad(x, x, v), T.autograd.grad(y, y, v, retain_graph=True),
        T.autograd.grad([x, y], [x, y], [v, v], retain_graph=True),
        T.autograd.grad(y, [y, x], v, create_graph=True),
        attempt(lambda: T.autograd.grad(x, x)), AnyStrides(T.autograd.grad(x.sum(), x)),
        T.autograd.grad([x, x], x, [v, v]),
    )


@case
def the_vector_is_seen_as_it_is(T):
    # by hooks, functions and as the result, whether it requires grad or not
    x, v, w = leaf(T, 3), leaf(T, 3), rand(T, 3)
    y = x * 1
    (a,), (b,), (c, _) = T.autograd.grad(x, x, v), T.autograd.grad(x, x, w), T.autograd.grad(y, [y, x], w)
    seen = [a is v, b is w, c is w, a.requires_grad]

    def look(g):
        seen.append((g is v, g.requires_grad))

    y = x * 2
    y.register_hook(look)
    y.retain_grad()
    y.backward(v)
    z = leaf(T, 3)
    z.register_hook(look)
    z.backward(v)
    seen += [y.grad is v, y.grad.requires_grad, z.grad is v, z.grad.requires_grad, x.grad.requires_grad]

    def recorded(ctx, g):
        with T.enable_grad():
            return g * 2

    (r,) = T.autograd.grad(function(T, recorded)(x), x, v)
    function(T, lambda ctx, g: g.mul_(2))(x).backward(w)
    return seen, r, T.autograd.grad(r.sum(), v), w, x.grad


@case
def inputs_that_are_views_of_each_other(T):
    x = leaf(T, 4)
    a, b = x[:2], x[1:]
    y = (a * 2).sum() + (b * b).sum() + x.sum()
    base = (x * 1)
    part = base[1:3]
    base_used = (base * base).sum()
    part_used = (part * 3).sum()
    return AnyStrides((
        T.autograd.grad(y, [x, a, b], retain_graph=True), T.autograd.grad(y, [a], retain_graph=True),
        T.autograd.grad([base_used, part_used], [base, part], retain_graph=True),
        raises(lambda: T.autograd.grad(base_used, part, retain_graph=True)),
        T.autograd.grad(part_used, [base], retain_graph=True),
        T.autograd.grad(base_used, [base, part], allow_unused=True),
    ))


@case
def inputs_written_to_after_use(T):
    x = leaf(T, 3)
    h = x * 1
    y = h + 1
    before = h.grad_fn.name()
    h.mul_(3)
    z = (h * 1).sum()
    return before, h.grad_fn.name(), AnyStrides(T.autograd.grad(z, h, retain_graph=True)), raises(
        lambda: T.autograd.grad(y.sum(), h)), AnyStrides(T.autograd.grad(z, x))


@case
def inputs_between_and_below(T):
    x = leaf(T, 3)
    a = x * 2
    b = a.exp()
    c = (b * a).sum()
    return AnyStrides((
        T.autograd.grad(c, [a, b, x, a], retain_graph=True), T.autograd.grad(c, b, retain_graph=True),
        T.autograd.grad(b.sum(), [a, c, x], allow_unused=True),
    ))


@case
def refused_inputs(T):
    x = leaf(T, 3)
    y = x * 2
    plain = rand(T, 3)
    base = x * 1
    rows = base.unbind()
    base.mul_(2)  # the rows have lost their history
    return (
        raises(lambda: T.autograd.grad(y.sum(), [rows[0], plain])),
        raises(lambda: T.autograd.grad(y.sum(), [plain, rows[0]])),
        raises(lambda: T.autograd.grad(y.sum(), plain)),
        raises(lambda: T.autograd.grad(y.sum(), [x, plain], allow_unused=True)),
        raises(lambda: T.autograd.grad(y.sum(), [y.detach()])),
        raises(lambda: T.autograd.grad(plain.sum(), x)),
        raises(lambda: T.autograd.grad(y.sum(), [])), raises(lambda: T.autograd.grad(y.sum(), [None])),
        raises(lambda: T.autograd.grad(y.sum(), [x, 1])), raises(lambda: T.autograd.grad([], [x])),
        attempt(lambda: T.autograd.grad(y, x, [T.ones(3), T.ones(3)], retain_graph=True)),
        raises(lambda: T.autograd.backward(y.sum(), inputs=[plain])),
        raises(lambda: T.autograd.backward(y.sum(), inputs=[y.detach()])),
        attempt(lambda: T.autograd.backward(y.sum(), inputs=[leaf(T, 2)])),
    )


@case
def reflections_of_nothing_give_no_gradients(T):
    found = []
    for shape, factors in (((3, 0), 0), ((3, 2), 0), ((3, 2), 2)):
        x, tau = leaf(T, *shape), leaf(T, factors)
        T.linalg.householder_product(x, tau).sum().backward()
        found.append((x.grad is None, tau.grad is None))
    return found

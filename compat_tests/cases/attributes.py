"""What a tensor tells of its place in the graph: flags, nodes, names."""

from compat_tests.harness import attempt, case, each, graph, leaf, raises, rand

_NODES = dict(
    add=lambda x: x + x, add_scalar=lambda x: x + 1, radd=lambda x: 1 + x, sub=lambda x: x - x,
    rsub=lambda x: 1 - x, mul=lambda x: x * x, mul_scalar=lambda x: x * 2, div=lambda x: x / x,
    rdiv=lambda x: 1 / x, pow_scalar=lambda x: x**2, pow_tensor=lambda x: x**x,
    rpow=lambda x: 2**x, neg=lambda x: -x, matmul=lambda x: x @ x, abs=abs,
    mm=lambda x: x.mm(x), mv=lambda x: x.mv(x[0]), dot=lambda x: x[0].dot(x[1]),
    bmm=lambda x: x[None].bmm(x[None]), vector_matmul=lambda x: x @ x[0],
    batched_matmul=lambda x: x[None] @ x, exp=lambda x: x.exp(), log=lambda x: x.log(),
    sqrt=lambda x: x.sqrt(), sin=lambda x: x.sin(), tanh=lambda x: x.tanh(),
    sigmoid=lambda x: x.sigmoid(), relu=lambda x: x.relu(), clamp=lambda x: x.clamp(-1, 1),
    clamp_min=lambda x: x.clamp(min=0), sum=lambda x: x.sum(), sum_dim=lambda x: x.sum(0),
    mean=lambda x: x.mean(), mean_dim=lambda x: x.mean(0), max=lambda x: x.max(),
    max_dim=lambda x: x.max(0).values, amax=lambda x: x.amax(0), min_dim=lambda x: x.min(0).values,
    prod=lambda x: x.prod(), prod_dim=lambda x: x.prod(0), var=lambda x: x.var(),
    std=lambda x: x.std(), norm=lambda x: x.norm(), softmax=lambda x: x.softmax(0),
    log_softmax=lambda x: x.log_softmax(0), logsumexp=lambda x: x.logsumexp(0),
    cumsum=lambda x: x.cumsum(0), view=lambda x: x.view(-1), reshape=lambda x: x.reshape(-1),
    reshape_copy=lambda x: x.t().reshape(-1), t=lambda x: x.t(), T=lambda x: x.T,
    mT=lambda x: x.mT, transpose=lambda x: x.transpose(0, 1), permute=lambda x: x.permute(1, 0),
    squeeze=lambda x: x.squeeze(), squeeze_dim=lambda x: x.squeeze(0),
    unsqueeze=lambda x: x.unsqueeze(0), expand=lambda x: x.expand(2, 3, 3),
    select=lambda x: x[0], slice_=lambda x: x[1:], slice_and_select=lambda x: x[1:, 0],
    ellipsis=lambda x: x[...], newaxis=lambda x: x[None], index=lambda x: x[[0, 1]],
    mask=lambda x: x[x > 0], gather=lambda x: x.gather(0, (x > 9).long()),
    index_select=lambda x: x.index_select(0, (x[0] > 9).long()),
    diagonal=lambda x: x.diagonal(), unfold=lambda x: x.unfold(0, 2, 1),
    narrow=lambda x: x.narrow(0, 0, 2), split=lambda x: x.split(2)[1],
    chunk=lambda x: x.chunk(2)[0], unbind=lambda x: x.unbind()[1],
    as_strided=lambda x: x.as_strided((2,), (1,)), flip=lambda x: x.flip(0),
    roll=lambda x: x.roll(1), repeat=lambda x: x.repeat(2, 1), clone=lambda x: x.clone(),
    contiguous=lambda x: x.contiguous(), contiguous_copy=lambda x: x.t().contiguous(),
    double=lambda x: x.double(), to_same=lambda x: x.to(x.dtype), masked_fill=lambda x:
    x.masked_fill(x > 0, 0.0), where=lambda x: x.where(x > 0, x), triu=lambda x: x.triu(),
    sort=lambda x: x.sort().values, topk=lambda x: x.topk(2).values, flatten=lambda x: x.flatten(),
    lerp=lambda x: x.lerp(x, 0.5), addmm=lambda x: x.addmm(x, x), atan2=lambda x: x.atan2(x),
    maximum=lambda x: x.maximum(x), floor=lambda x: x.floor(), remainder=lambda x: x % 2,
    erf=lambda x: x.erf(), detach=lambda x: x.detach(), view_as=lambda x: x.view_as(x),
    argmax=lambda x: x.argmax(), gt=lambda x: x > 0, real=lambda x: x.real,
    zeros_like=lambda x: x.new_zeros(3), unflatten=lambda x: x.unflatten(0, (3, 1)),
)


@each(**_NODES)
def node_of(T, op):
    y = op(leaf(T, 3, 3))
    return y.requires_grad, y.is_leaf, y.grad_fn


@each(cat=lambda T, x: T.cat([x, x]), stack=lambda T, x: T.stack([x, x]),
      where=lambda T, x: T.where(x > 0, x, 0.0), einsum=lambda T, x: T.einsum("ij,jk->ik", x, x),
      outer=lambda T, x: T.outer(x[0], x[1]),
      linear=lambda T, x: T.nn.functional.linear(x, x, x[0]),
      relu=lambda T, x: T.nn.functional.relu(x), gelu=lambda T, x: T.nn.functional.gelu(x),
      cross_entropy=lambda T, x: T.nn.functional.cross_entropy(x, T.tensor([0, 1, 2])),
      mse=lambda T, x: T.nn.functional.mse_loss(x, x.detach()),
      layer_norm=lambda T, x: T.nn.functional.layer_norm(x, (3,)),
      embedding=lambda T, x: T.nn.functional.embedding(T.tensor([0, 1]), x),
      dropout_off=lambda T, x: T.nn.functional.dropout(x, training=False),
      minimum=lambda T, x: T.minimum(x, x), square=lambda T, x: T.square(x))
def node_of_function(T, op):
    return op(T, leaf(T, 3, 3)).grad_fn


@each(scalar=lambda T, x: x * 2, tensor=lambda T, x: x * T.ones(3),
      other=lambda T, x: T.ones(3) * x,
      both=lambda T, x: x * x, three=lambda T, x: T.cat([x, T.ones(1), x]),
      number_first=lambda T, x: 2**x, power=lambda T, x: x**2.5, reversed_=lambda T, x: 1 - x,
      integers=lambda T, x: x * T.arange(3), clamped=lambda T, x: x.clamp(0, 1),
      clamped_by=lambda T, x: x.clamp(x.detach(), x), selected=lambda T, x: x[1],
      picked=lambda T, x: x[T.tensor([0, 2])], masked=lambda T, x: x[x > 0],
      gathered=lambda T, x: x.gather(0, T.tensor([1])), chosen=lambda T, x: T.where(x > 0, x, -x),
      filled=lambda T, x: x.masked_fill(x > 0, 1.0), normed=lambda T, x: x.norm(3),
      nll=lambda T, x: T.nn.functional.nll_loss(x[None], T.tensor([1])),
      embedding=lambda T, x: T.nn.functional.embedding(T.tensor([0]), x[:, None]),
      written=lambda T, x: (x * 1).index_put_((T.tensor([0]),), x[:1]),
      layer_norm=lambda T, x: T.nn.functional.layer_norm(x, (3,), x, x))
def edges_of(T, op):
    y = op(T, leaf(T, 3))
    return [(n.name() if n else None, i) for n, i in y.grad_fn.next_functions]


@case
def edges_of_a_linear_layer(T):
    # in the order of addmm: the bias, the input, the weight
    x, w, b = leaf(T, 2, 3), leaf(T, 4, 3), leaf(T, 4)
    y = T.nn.functional.linear(x * 1, w, b)
    edges = y.grad_fn.next_functions
    frozen = T.nn.functional.linear(x.detach(), w, b).grad_fn.next_functions
    return (
        len(edges), edges[0][0].variable is b, edges[1][0], frozen[1],
        T.nn.functional.mse_loss(y, y.detach()).grad_fn.next_functions[0][0],
    )


@case
def the_graph_can_be_walked(T):
    x, w, c = leaf(T, 3), leaf(T, 3), rand(T, 3)
    y = ((x * w + c).exp() - x).tanh().sum()
    return graph(y)


@case
def output_numbers(T):
    x = leaf(T, 4)
    a, b = x.split(2)
    y = a * b
    return [i for _, i in y.grad_fn.next_functions], b.output_nr, a.output_nr, x.output_nr


@case
def the_same_node_each_time(T):
    x = leaf(T, 3)
    y = x * 2
    accumulate = y.grad_fn.next_functions[0][0]
    z = x + 1
    return (
        y.grad_fn is y.grad_fn,
        y.grad_fn == y.grad_fn,
        z.grad_fn.next_functions[0][0] is accumulate,
        accumulate.variable is x,
        accumulate.name(),
        accumulate.next_functions,
        len({y.grad_fn, y.grad_fn, z.grad_fn}),
    )


@case
def metadata_of_a_node(T):
    node = (leaf(T, 3) * 2).grad_fn
    node.metadata["mine"] = 3
    return node.metadata["mine"], type(node.metadata).__name__


@case
def leaves(T):
    x, c = leaf(T, 3), rand(T, 3)
    y, d = x * 2, c * 2
    return [(t.is_leaf, t.requires_grad, t.grad_fn is None) for t in (x, c, y, d, y.detach())]


@case
def requires_grad_spreads(T):
    x, c = leaf(T, 3), rand(T, 3)
    mixed = [x + c, c + c, T.cat([c, x]), x > c, x.detach() + c, (x + c).round()]
    return [t.requires_grad for t in mixed]


@case
def requires_grad_assigned(T):
    x, y = rand(T, 3), leaf(T, 3) * 2

    def assign(t, value):
        t.requires_grad = value

    assign(x, True)
    on = x.requires_grad
    assign(x, False)
    return (
        on,
        x.requires_grad,
        raises(lambda: assign(y, False)),
        attempt(lambda: assign(y, True)),
        raises(lambda: assign(T.ones(2, dtype=T.int64), True)),
        raises(lambda: assign(x, "yes")),
        raises(lambda: assign(x, 1)),
    )


@each(int64="int64", bool="bool", int32="int32", uint8="uint8")
def only_floats_require_grad(T, dtype):
    dt = getattr(T, dtype)
    return (
        raises(lambda: T.ones(3, dtype=dt).requires_grad_()),
        raises(lambda: T.ones(3, dtype=dt, requires_grad=True)),
        raises(lambda: T.tensor([1, 0], dtype=dt, requires_grad=True)),
        raises(lambda: T.nn.Parameter(T.ones(3, dtype=dt))),
    )


@case
def factories_take_requires_grad(T):
    return [
        T.zeros(2, requires_grad=True), T.ones(2, requires_grad=True),
        T.full((2,), 3.0, requires_grad=True), T.arange(3.0, requires_grad=True),
        T.eye(2, requires_grad=True), T.tensor([1.0], requires_grad=True),
        T.ones_like(leaf(T, 2)), T.zeros_like(rand(T, 2), requires_grad=True),
        leaf(T, 2).new_ones(2), T.linspace(0, 1, 3, requires_grad=True),
    ]


@case
def detached(T):
    x = leaf(T, 3)
    y = x * 2
    d = y.detach()
    d.mul_(3)
    z = y.detach().requires_grad_()
    (z * z).sum().backward()
    return d.requires_grad, d.grad_fn, y.detach() + 0, z.grad, x.grad, d._base is None


@case
def detach_of_a_leaf_shares_memory(T):
    x = leaf(T, 3)
    d = x.detach()
    d.zero_()
    return x, d, d.data_ptr() == x.data_ptr()


@case
def views_name_their_base(T):
    x = leaf(T, 4)
    h = x * 1
    part = h[1:]
    deeper = part[1:]
    return (
        part._base is h,
        deeper._base is h,
        h._base is None,
        part._is_view(),
        h._is_view(),
        x[1:]._base is x,
        h.detach()._is_view(),
        h.view_as(h)._base is h,
    )


@case
def a_parameter(T):
    w = T.nn.Parameter(rand(T, 3))
    frozen = T.nn.Parameter(rand(T, 3), requires_grad=False)
    return w, w.is_leaf, (w * 2), w.detach(), w.data, frozen, w.requires_grad_(False)


@case
def grad_fn_is_read_only(T):
    x = leaf(T, 3)

    def assign():
        x.grad_fn = None

    def assign_leaf():
        x.is_leaf = False

    return raises(assign), raises(assign_leaf)


@case
def retains_grad(T):
    x = leaf(T, 3)
    y = x * 2
    before = y.retains_grad, x.retains_grad
    y.retain_grad()
    y.retain_grad()
    x.retain_grad()
    (y * y).sum().backward()
    return before, y.retains_grad, x.retains_grad, y.grad, x.grad


@case
def retain_grad_refused(T):
    c = rand(T, 3)
    return raises(c.retain_grad), c.retains_grad


@case
def retain_grad_accumulates(T):
    x = leaf(T, 3)
    y = x * 2
    y.retain_grad()
    (y * y).sum().backward(retain_graph=True)
    first = y.grad.clone()
    (y.detach() * x).sum().backward()
    (y * 3).sum().backward()
    return first, y.grad


@case
def retain_grad_on_the_output(T):
    x = leaf(T, 3)
    y = (x * x).sum()
    y.retain_grad()
    y.backward()
    return y.grad, x.grad


@case
def retain_grad_then_in_place(T):
    x = leaf(T, 3)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    (y * y).sum().backward()
    return y.grad, x.grad


@case
def retain_grad_with_create_graph(T):
    x = leaf(T, 3)
    y = x * x
    y.retain_grad()
    (y * y).sum().backward(create_graph=True)
    result = y.grad.requires_grad, y.grad.detach()
    x.grad = y.grad = None
    return result


@case
def retain_grad_does_not_run_for_grad(T):
    x = leaf(T, 3)
    y = x * x
    y.retain_grad()
    (g,) = T.autograd.grad((y * y).sum(), x)
    return g, y.grad


@case
def text_of_tensors(T):
    x = leaf(T, 2)
    y = x * 2
    h = y + 0
    h[0] = 1.0
    return [repr(t) for t in (x, y, x.detach(), y.sum(), h, x[0], y.long(), y.double())]


@case
def copies_and_the_graph(T):
    import copy

    x = leaf(T, 3)
    y = x * 2
    x.sum().backward()
    deep = copy.deepcopy(x)
    shallow = copy.copy(x)
    return (
        deep, deep.grad, deep.grad is x.grad, shallow,
        raises(lambda: copy.deepcopy(y)),
        raises(y.numpy), raises(x.numpy), attempt(lambda: y.tolist() == (x * 2).tolist()),
    )


@case
def to_numbers_of_tensors_with_history(T):
    y = leaf(T) * 2
    return raises(y.__array__), type(y.item()).__name__, float(y.detach()) == y.item()


@case
def float_of_a_tensor_that_requires_grad_warns(T):
    y = leaf(T) * 2
    return float(y) == y.item(), int(leaf(T) * 0)


_COMPUTED = (
    "shape dtype device ndim layout is_leaf grad_fn output_nr retains_grad _version T mT itemsize nbytes "
    "is_cuda is_meta"
).split()


@each(**{name: name for name in _COMPUTED})
def computed_attributes_are_read_only(T, name):
    x = leaf(T, 3)
    return raises(lambda: setattr(x, name, getattr(x, name))), raises(lambda: delattr(x, name))


@case
def flags_are_bools(T):
    x, y = leaf(T, 3), leaf(T, 3) * 2
    return [
        raises(lambda: x.requires_grad_("yes")), raises(lambda: x.requires_grad_(1)),
        raises(lambda: y.requires_grad_(None)), raises(lambda: delattr(x, "requires_grad")),
        raises(lambda: setattr(x, "requires_grad", 1)),
    ]


@each(ones=lambda T, **flag: T.ones(2, **flag), full=lambda T, **flag: T.full((2,), 1.0, **flag),
      tensor=lambda T, **flag: T.tensor([1.0], **flag),
      zeros_like=lambda T, **flag: T.zeros_like(T.ones(2), **flag),
      new_zeros=lambda T, **flag: T.ones(2).new_zeros(2, **flag))
def factories_want_a_bool(T, make):
    return [
        attempt(lambda flag=flag: make(T, requires_grad=flag).requires_grad) for flag in (1, "yes", None)
    ]

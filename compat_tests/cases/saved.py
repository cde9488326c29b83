"""Which operations keep their input or their result, seen by changing it before backward."""

from compat_tests.harness import attempt, case, each, leaf, raises, rand

_UNARY = dict(
    exp=lambda x: x.exp(), exp2=lambda x: x.exp2(), expm1=lambda x: x.expm1(),
    log=lambda x: x.log(), log2=lambda x: x.log2(), log10=lambda x: x.log10(),
    log1p=lambda x: x.log1p(), sqrt=lambda x: x.sqrt(), rsqrt=lambda x: x.rsqrt(),
    sin=lambda x: x.sin(), cos=lambda x: x.cos(), tan=lambda x: x.tan(), asin=lambda x: x.asin(),
    acos=lambda x: x.acos(), atan=lambda x: x.atan(), sinh=lambda x: x.sinh(),
    cosh=lambda x: x.cosh(), tanh=lambda x: x.tanh(), asinh=lambda x: x.asinh(),
    atanh=lambda x: x.atanh(), sigmoid=lambda x: x.sigmoid(), relu=lambda x: x.relu(),
    reciprocal=lambda x: x.reciprocal(), square=lambda x: x.square(), abs=lambda x: x.abs(),
    neg=lambda x: -x, sign=lambda x: x.sign(), floor=lambda x: x.floor(), ceil=lambda x: x.ceil(),
    round=lambda x: x.round(), trunc=lambda x: x.trunc(), frac=lambda x: x.frac(),
    erf=lambda x: x.erf(), erfc=lambda x: x.erfc(), erfinv=lambda x: x.erfinv(),
    lgamma=lambda x: x.lgamma(), digamma=lambda x: x.digamma(),
    pow_two=lambda x: x**2, pow_three=lambda x: x**3, pow_float=lambda x: x**0.5, rpow=lambda x: 2**x,
    mul_scalar=lambda x: x * 2, div_scalar=lambda x: x / 2, add_scalar=lambda x: x + 1,
    rsub=lambda x: 1 - x, rdiv=lambda x: 1 / x, remainder=lambda x: x % 0.3,
    clamp=lambda x: x.clamp(0.2, 0.5), clamp_min=lambda x: x.clamp(min=0.4),
    sum=lambda x: x.sum(), sum_dim=lambda x: x.sum(0), mean=lambda x: x.mean(),
    mean_dim=lambda x: x.mean(1), prod=lambda x: x.prod(), prod_dim=lambda x: x.prod(0),
    max=lambda x: x.max(), max_dim=lambda x: x.max(1).values, min_dim=lambda x: x.min(1).values,
    amax=lambda x: x.amax(1), median=lambda x: x.median(), median_dim=lambda x: x.median(1).values,
    var=lambda x: x.var(), std=lambda x: x.std(), norm=lambda x: x.norm(),
    norm_one=lambda x: x.norm(1), norm_dim=lambda x: x.norm(dim=1),
    norm_zero=lambda x: x.norm(0), norm_zero_dim=lambda x: x.norm(0, 1),
    logsumexp=lambda x: x.logsumexp(1), softmax=lambda x: x.softmax(1),
    log_softmax=lambda x: x.log_softmax(1), cumsum=lambda x: x.cumsum(0),
    cumprod=lambda x: x.cumprod(0), sort=lambda x: x.sort(1).values,
    topk=lambda x: x.topk(2, 1).values, flip=lambda x: x.flip(0), roll=lambda x: x.roll(1, 0),
    triu=lambda x: x.triu(), tril=lambda x: x.tril(), repeat=lambda x: x.repeat(2, 1),
    index=lambda x: x[[1, 0]], mask=lambda x: x[x > 0.4], clone=lambda x: x.clone(),
    to_double=lambda x: x.double(), contiguous=lambda x: x.t().contiguous(),
    masked_fill=lambda x: x.masked_fill(x > 0.4, 0.0), trace=lambda x: x.trace(),
    pad_like=lambda x: x.new_zeros(2, 3) + x,
)

_BINARY = dict(
    add=lambda x, w: x + w, sub=lambda x, w: x - w, mul=lambda x, w: x * w,
    div=lambda x, w: x / w, pow=lambda x, w: x**w, atan2=lambda x, w: x.atan2(w),
    maximum=lambda x, w: x.maximum(w), minimum=lambda x, w: x.minimum(w),
    fmod=lambda x, w: x.fmod(w), remainder=lambda x, w: x % w, hypot=lambda x, w: x.hypot(w),
    matmul=lambda x, w: x @ w, mm=lambda x, w: x.mm(w), mv=lambda x, w: x.mv(w[0]),
    lerp=lambda x, w: x.lerp(w, 0.3), lerp_tensor=lambda x, w: x.lerp(w, w),
    where=lambda x, w: x.where(x > w, w), addcmul=lambda x, w: w.addcmul(x, x),
    addcdiv=lambda x, w: w.addcdiv(x, w), dot=lambda x, w: x[0].dot(w[0]),
    logaddexp=lambda x, w: x.logaddexp(w),
    addmm=lambda x, w: w.addmm(x, w), bmm=lambda x, w: x[None].bmm(w[None]),
)


def _backward(y):
    return attempt(lambda: y.sum().backward())


@each(**_UNARY)
def input_changed(T, op):
    x = leaf(T, 2, 3, low=0.1, high=0.9)
    h = x * 1
    y = op(h)
    h.add_(0.25)
    return _backward(y), x.grad


@each(**_UNARY)
def result_changed(T, op):
    x = leaf(T, 2, 3, low=0.1, high=0.9)
    y = op(x * 1)
    y.add_(0.25)
    return _backward(y), x.grad


@each(**_UNARY)
def input_and_result_changed(T, op):
    x = leaf(T, 2, 3, low=0.1, high=0.9)
    h = x * 1
    y = op(h)
    h.detach().add_(0.25)
    y.detach().add_(0.25)
    return _backward(y), x.grad


@each(**_UNARY)
def input_detached(T, op):
    x = leaf(T, 2, 3, low=0.1, high=0.9)
    h = x * 1
    y = op(h)
    h.detach_()
    return _backward(y), x.grad


@each(**_BINARY)
def first_detached(T, op):
    x, w = leaf(T, 3, 3, low=0.1, high=0.9), leaf(T, 3, 3, low=0.1, high=0.9)
    a, b = x * 1, w * 1
    y = op(a, b)
    a.detach_()
    return _backward(y), x.grad, w.grad


@each(
    nothing=lambda t: None,
    write=lambda t: t.add_(1),
    recorded=lambda t: t.mul_(t.new_ones(3).requires_grad_()),
    requires_grad=lambda t: t.requires_grad_(),
)
def detached_and_then(T, change):
    x = leaf(T, 3)
    h = x * 1
    y = h * h
    h.detach_()
    change(h)
    return _backward(y), x.grad, h.grad, h.requires_grad


@each(**_BINARY)
def first_changed(T, op):
    x, w = leaf(T, 3, 3, low=0.1, high=0.9), leaf(T, 3, 3, low=0.1, high=0.9)
    a, b = x * 1, w * 1
    y = op(a, b)
    a.add_(0.25)
    return _backward(y), x.grad, w.grad


@each(**_BINARY)
def second_changed(T, op):
    x, w = leaf(T, 3, 3, low=0.1, high=0.9), leaf(T, 3, 3, low=0.1, high=0.9)
    a, b = x * 1, w * 1
    y = op(a, b)
    b.add_(0.25)
    return _backward(y), x.grad, w.grad


_PRODUCTS = dict(
    vectors=((3,), (3,), 1), ones=((1,), (1,), 1), one_summed=((2, 1), (1, 2), 1),
    first_one=((2, 1), (3, 2), 1),
    second_one=((2, 3), (1, 2), 1), outer=((2,), (3,), 0), all=((2, 3), (2, 3), 2),
    all_with_one=((1, 3), (1, 3), 2), turned=((2, 3, 4), (4, 3, 2), ([2, 1], [0, 1])),
    all_turned=((2, 3), (2, 3), ([1, 0], [1, 0])), inner_second=((2, 3, 4), (4, 5, 3), ([1, 2], [2, 0])),
    middle=((3, 2, 4), (2, 5), ([1], [0])), both_middle=((3, 2, 4), (5, 2, 3), ([1], [1])),
    last=((2, 3), (4, 3), ([1], [1])), first=((3, 2), (3, 4), ([0], [0])),
)


@each(**_PRODUCTS)
def factor_of_tensordot_changed(T, sizes):
    return _which_changed(T, lambda a, b: T.tensordot(a, b, sizes[2]), *sizes[:2])


@each(
    vectors=((3,), (3,)), ones=((1,), (1,)), rows=((2, 1), (1,)), row=((1,), (2, 1)), wide=((2, 3), (4, 3)),
    one_row=((1, 3), (4, 3)), nothing=((0, 1), (2, 1)),
)
def factor_of_inner_changed(T, sizes):
    return _which_changed(T, T.inner, *sizes)


@each(columns=((3, 2), (1, 0), (4, 3)), turned=((5, 2, 3), (2, 1, 0), (4, 5)))
def transposed_factor_of_inner_changed(T, sizes):
    size, order, other = sizes
    return _which_changed(T, lambda a, b: T.inner(a.permute(order), b), size, other)


def _which_changed(T, op, *sizes):
    # PyTorch makes matrices of both first: what it copies for that may be changed
    found = []
    for place in range(2):
        leaves = [leaf(T, *size) for size in sizes]
        operands = [x * 1 for x in leaves]
        y = op(*operands)
        operands[place].add_(1)
        try:
            y.sum().backward()
        except RuntimeError as error:  # of the matrix, which has another shape and another node
            found.append("modified by an inplace operation" in str(error))
        found.append([x.grad if x.grad is None else x.grad.tolist() for x in leaves])
    return found


@each(**{k: _BINARY[k] for k in ("mul", "div", "pow", "matmul", "maximum", "atan2", "lerp")})
def constant_operand_changed(T, op):
    # what only the other operand's gradient would need is not kept when that needs none
    x, c = leaf(T, 3, 3, low=0.1, high=0.9), rand(T, 3, 3, low=0.1, high=0.9)
    y = op(x, c)
    c.add_(0.25)
    z = op(c, x)
    c.add_(0.25)
    return _backward(y), x.grad, _backward(z), x.grad


@each(**{k: _BINARY[k] for k in ("mul", "div", "pow", "matmul", "maximum", "lerp")})
def differentiated_operand_changed(T, op):
    x, c = leaf(T, 3, 3, low=0.1, high=0.9), rand(T, 3, 3, low=0.1, high=0.9)
    h = x * 1
    y = op(h, c)
    h.add_(0.25)
    return _backward(y), x.grad


_CHANGES = dict(
    add=lambda t: t.add_(1), zero=lambda t: t.zero_(), fill=lambda t: t.fill_(2.0),
    copy=lambda t: t.copy_(t + 1), setitem=lambda t: t.__setitem__(0, 1.0),
    slice_=lambda t: t[1:].mul_(2), element=lambda t: t[0].zero_(),
    view=lambda t: t.view(3).neg_(), iadd=lambda t: t.__iadd__(1),
    masked=lambda t: t.masked_fill_(t > 0, 0.0), index_put=lambda t: t.__setitem__([0, 2], 1.0),
    clamp=lambda t: t.clamp_(0, 1), normal=lambda t: t.normal_(), uniform=lambda t: t.uniform_(),
)


@each(**_CHANGES)
def every_change_is_seen(T, change):
    x = leaf(T, 3)
    h = x * 1
    y = h.exp().mul(h)
    change(h)
    return raises(lambda: y.sum().backward()), h._version, x.grad


@each(
    detach=lambda T, t: t.detach().add_(1),
    no_grad=lambda T, t: _under(T.no_grad(), t),
    view_made_before=lambda T, t: t.view(3)[1:].add_(1),
)
def changes_through_other_names(T, change):
    # ``.data`` alone has a version of its own, and so is missing here: PyTorch then computes with
    # the new value, jaxflow with the one it saved
    x = leaf(T, 3)
    h = x * 1
    y = (h * h).sum()
    change(T, h)
    return attempt(y.backward), h._version, x.grad


def _under(context, t):
    with context:
        t.add_(1)


@case
def how_often_it_was_changed_is_in_the_text(T):
    x = leaf(T, 3)
    h = x * 1
    h.add_(1)
    y = h.exp() * h
    h.add_(1).mul_(2)
    h.add_(1)
    return raises(lambda: y.sum().backward())


@each(matrix=(2, 3), scalar=(), four=(1, 2, 1, 3), empty=(0, 2))
def the_shape_is_in_the_text(T, shape):
    x = leaf(T, *shape)
    h = x * 1
    y = h * h
    h.add_(1)
    return raises(lambda: y.sum().backward())


@each(float64="float64", float16="float16", bfloat16="bfloat16", complex64="complex64",
      complex128="complex128")
def the_dtype_is_in_the_text(T, dtype):
    x = leaf(T, 3, dtype=dtype)
    h = x * 1
    y = h * h
    h.add_(1)
    return raises(lambda: y.sum().abs().backward())


@case
def which_output_is_in_the_text(T):
    low, high = leaf(T, 4).aminmax()
    y = low.exp() * high
    with T.no_grad():
        high.mul_(2)
    return raises(y.backward)


@case
def a_changed_leaf_made_without_grad(T):
    x, c = leaf(T, 3), rand(T, 3)
    y = x * c
    c.add_(1)
    return raises(lambda: y.sum().backward())


@case
def a_changed_leaf_that_requires_grad(T):
    x = leaf(T, 3)
    y = (x * x).sum()
    with T.no_grad():
        x.add_(1)
    return raises(y.backward), x._version


@case
def data_is_not_seen(T):
    x = leaf(T, 3)
    y = (x * x).sum()
    x.data.add_(1)
    return attempt(y.backward), x._version


@case
def integer_index_changed(T):
    x, i = leaf(T, 4), T.tensor([0, 2])
    y = x[i]
    i.add_(1)
    z = x.gather(0, i)
    i.add_(1)
    return raises(lambda: y.sum().backward()), raises(lambda: z.sum().backward()), x.grad


@case
def mask_changed(T):
    x, m = leaf(T, 4), T.tensor([True, False, True, False])
    y = x.masked_fill(m, 0.0)
    m.logical_not_()
    return raises(lambda: y.sum().backward()), x.grad


@case
def changing_before_use_is_fine(T):
    x = leaf(T, 3)
    h = x * 1
    h.add_(1).mul_(3)
    (h * h).sum().backward()
    return h._version, x.grad


@case
def changing_after_backward_is_fine(T):
    x = leaf(T, 3)
    h = x * 1
    y = (h * h).sum()
    y.backward(retain_graph=True)
    h.add_(1)
    return raises(y.backward), x.grad


@case
def only_the_branch_that_needs_it_is_refused(T):
    x = leaf(T, 3)
    h = x * 1
    a, b = h * h, h + 1
    h.add_(1)
    b.sum().backward()
    return raises(lambda: a.sum().backward()), x.grad


@case
def saved_by_a_node_below_the_changed_one(T):
    x = leaf(T, 3)
    h = x.exp()
    y = h.sin()
    h.mul_(2)
    return raises(lambda: y.sum().backward()), raises(lambda: h.sum().backward()), x.grad


@case
def an_op_that_keeps_its_result_may_be_in_place(T):
    x = leaf(T, 3, low=0.1, high=0.9)
    h = x * 1
    h.exp_()
    h.add_(1)
    g = x * 2
    g.sigmoid_()
    g.sum().backward()
    return raises(lambda: h.sum().backward()), h._version, x.grad


@case
def the_next_op_in_place_may_spoil_a_kept_result(T):
    x = leaf(T, 3, low=0.1, high=0.9)
    h = x * 1
    h.exp_().tanh_()
    return raises(lambda: h.sum().backward()), h._version, x.grad


@case
def in_place_ops_that_need_their_old_input(T):
    outcomes = []
    for name in ("sin_", "log_", "abs_", "square_", "cos_", "log1p_", "atan_"):
        x = leaf(T, 3, low=0.1, high=0.9)
        h = x * 1
        y = getattr(h, name)()
        outcomes.append((name, attempt(lambda y=y: y.sum().backward()), x.grad))
    return outcomes


@case
def mul_in_place_by_itself(T):
    x = leaf(T, 3)
    h = x * 1
    h.mul_(h)
    return attempt(lambda: h.sum().backward()), x.grad


@case
def div_in_place_by_a_changed_tensor(T):
    x, w = leaf(T, 3), leaf(T, 3, low=1.0, high=2.0)
    h, d = x * 1, w * 1
    h.div_(d)
    d.add_(1)
    return raises(lambda: h.sum().backward()), x.grad, w.grad


@each(p2=2, p1=1, p3=3.0, p0=0)
def distance_keeps_operands_and_result(T, p):
    def run(change):
        a, b = leaf(T, 3), leaf(T, 3)
        h, k = a * 1, b * 1
        y = T.dist(h, k, p)
        change(h, k, y)
        return _backward(y), a.grad, b.grad

    return [
        run(lambda h, k, y: None), run(lambda h, k, y: h.add_(1)), run(lambda h, k, y: k.add_(1)),
        run(lambda h, k, y: y.add_(1)),
    ]


@case
def a_slope_below_zero_comes_after_what_was_changed(T):
    x = leaf(T, 3)
    h = T.nn.functional.leaky_relu_(x * 1, -1.5)
    h.mul_(2)
    return raises(lambda: h.sum().backward()), x.grad


@each(
    rms_norm=lambda T, x: T.nn.functional.rms_norm(x, (3,)),
    rms_norm_of_half=lambda T, x: T.nn.functional.rms_norm(x.bfloat16(), (3,)),
    multi_dot=lambda T, x: T.linalg.multi_dot((x[None], T.ones(3, 2))),
    norm_zero=lambda T, x: x.norm(0), distance_zero=lambda T, x: T.dist(x, T.ones(3), 0),
    corrcoef=lambda T, x: x.corrcoef(), cov=lambda T, x: x.cov(),
    layer_norm=lambda T, x: T.layer_norm(x, (3,)),
)
def a_second_pass_through_steps(T, op):
    y = op(T, leaf(T, 3))
    y.sum().backward()
    return raises(lambda: y.sum().backward())


def _refused(backward):
    """Whether it finds what was saved changed; PyTorch names the view that it has cut off."""
    try:
        backward()
    except RuntimeError as error:
        return "modified by an inplace operation" in str(error)
    return False


@each(**{f"{name}_{n}": (name, n) for name in ("fft", "ifft", "rfft", "ihfft") for n in (None, 2, 5, 7)})
def transforms_of_what_is_cut_off_or_filled_up(T, how):
    name, n = how
    x = leaf(T, 5)
    h = x * 1
    y = getattr(T.fft, name)(h, n)
    h.add_(1)
    return _refused(lambda: y.abs().sum().backward()), x.grad


@each(**{f"{name}_{rows}_{columns}": (name, (rows, columns)) for name in ("rfft2", "ihfftn")
         for rows in (2, 3, 5) for columns in (2, 3, 5)})
def transforms_over_two_dimensions(T, how):
    name, s = how
    x = leaf(T, 3, 3)
    h = x * 1
    y = getattr(T.fft, name)(h, s)
    h.add_(1)
    return _refused(lambda: y.abs().sum().backward()), x.grad

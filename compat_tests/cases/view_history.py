"""What views keep of their history: saved views, saved results, strides over pieces and over nothing."""

from compat_tests.harness import attempt, case, each, leaf, raises, rand


@each(mul=lambda T, v, w: v * w, itself=lambda T, v, w: v * v, number=lambda T, v, w: v * 2,
      sin=lambda T, v, w: v.sin(), exp=lambda T, v, w: v.exp(), add=lambda T, v, w: v + w,
      tanh=lambda T, v, w: v.tanh() * w, cat=lambda T, v, w: T.cat([v, w]) * T.cat([w, v]))
def an_operation_on_a_view_made_in_no_grad(T, combine):
    # such a view requires grad, yet no gradient goes anywhere from it: so what is saved differs
    def made():
        x, w = leaf(T, 3), leaf(T, 2)
        with T.no_grad():
            view = x[1:]
        return x, w, view, combine(T, view, w)

    x, w, _, z = made()
    twice = [attempt(lambda: z.sum().backward()) for _ in range(2)]
    results = [z.requires_grad, z.grad_fn.name(), twice, x.grad, w.grad]
    for write in (lambda x, v: x.mul_(2), lambda x, v: v.mul_(2)):
        x, w, view, z = made()
        with T.no_grad():
            write(x, view)
        results += [attempt(lambda z=z: z.sum().backward()), x.grad, w.grad]
    return results


@each(plain=2, with_history="w")
def a_saved_view_made_before_its_base_had_history(T, factor):
    x, w = rand(T, 3), leaf(T, 2)
    with T.no_grad():
        view = x[1:]
    z = view * w
    x.mul_(w[0] if factor == "w" else factor)
    return raises(lambda: z.sum().backward())


@case
def a_saved_view_of_one_of_several_views(T):
    h = leaf(T, 4) * 1
    part = h.split(2)[1].view(1, 2)
    z = part * part
    h.mul_(2)
    return raises(lambda: z.sum().backward())


@case
def a_view_saved_by_a_function_of_the_user(T):
    class Save(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.saved_tensors[0]

    h = leaf(T, 4) * 1
    z = Save.apply(h.split(2)[1])
    h.mul_(2)
    return raises(lambda: z.sum().backward())


_KEEP_THEIR_RESULT = dict(exp=lambda t: t.exp_(), tanh=lambda t: t.tanh_(), relu=lambda t: t.relu_(),
                          sigmoid=lambda t: t.sigmoid_(), sqrt=lambda t: t.sqrt_())


@each(**_KEEP_THEIR_RESULT)
def a_result_kept_in_a_view_and_overwritten(T, write):
    def made():
        h = leaf(T, 4, low=0.5) * 1
        part = h[:2]
        write(part)
        return h, part

    after = (
        lambda h, part: write(h[2:]),  # elsewhere in the same memory: versions are of all of it
        lambda h, part: part.mul_(2), lambda h, part: h.mul_(2), lambda h, part: write(part),
        lambda h, part: h.detach().mul_(2), lambda h, part: None,
        lambda h, part: (part.grad_fn, h.mul_(2)), lambda h, part: (h.mul_(2), part.grad_fn),
    )
    results = []
    for change in after:
        for read in (0, 1):
            h, part = made()
            change(h, part)
            results.append(attempt(lambda t=(h, part)[read]: t.sum().backward()))
    h = leaf(T, 4, low=0.5) * 1
    write(h[:2])  # nobody holds the view
    h.mul_(2)
    return results, raises(lambda: h.sum().backward())


@each(ellipsis=lambda T, t: t.__setitem__((..., [0, 1]), 2), list_=lambda T, t: t.__setitem__([], 2),
      mask=lambda T, t: t.__setitem__(t > 0, 2.0), rows=lambda T, t: t.__setitem__([False] * len(t), 2.0),
      tensor=lambda T, t: t.__setitem__(T.zeros(len(t), dtype=T.int64), 2.0),
      masked_fill=lambda T, t: t.masked_fill_(t > 0, 1.0),
      index_fill=lambda T, t: t.index_fill_(1, T.tensor([0]), 1.0))
def an_indexed_write_keeps_its_index_of_nothing_too(T, write):
    results = []
    for shape in ((2, 2), (0, 2)):
        x = leaf(T, *shape)
        h = x + 1
        write(T, h)
        z = h.view(-1)
        results += [attempt(lambda z=z: z.sum().backward()) for _ in range(2)] + [x.grad.sum()]
    return results


@case
def the_gradient_of_strides_over_nothing_has_no_history(T):
    def first(y, x):
        grad, = T.autograd.grad((y * y).sum(), [x], create_graph=True)
        return grad.requires_grad, grad.detach()

    x, none = leaf(T, 4), leaf(T, 0, 2)
    views = (x.as_strided((0,), (1,)), x[0:0].as_strided((2,), (1,), 0), x.as_strided((2, 0), (1, 1)),
             x.as_strided((2,), (1,)), x[0:0], x.unfold(0, 0, 1))
    results = [first(y, x) for y in views] + [first(none.as_strided((0,), (1,)), none)]
    h = x * 1
    part = h[0:0]
    h.mul_(2)
    return results, part.grad_fn.name(), first(part, h)


@case
def strides_of_a_detached_piece_reach_all_of_its_storage(T):
    y = T.arange(16.0).reshape(4, 4)
    piece = y[1:3].detach()
    part = piece.as_strided((2,), (9,), 3)
    shown = part.clone(), part._base is piece, part.storage_offset(), piece.t()[1:].as_strided((2,), (5,), 1)
    part.mul_(-1)
    wide = y[0].expand(3, 4).data.flatten(0, 0)
    w = leaf(T, 2)
    inside = piece.as_strided((2,), (5,), 5)
    inside.mul_(w)
    (piece * rand(T, 2, 4)).sum().backward()
    return (shown, y, wide.as_strided((2,), (15,), 0), piece.grad_fn.name(), inside.grad_fn.name(), w.grad,
            raises(lambda: piece.as_strided((2,), (16,), 0)))


@case
def strides_of_a_detached_leaf_give_it_gradients(T):
    x = T.arange(6.0).reshape(2, 3).t()[1:].detach().requires_grad_()
    results = []
    for size, stride, start in (((2, 2), (1, 3), 1), ((2, 2), (1, 2), 0), ((2,), (4,), 1)):
        view = x.as_strided(size, stride, start)
        (view * view).sum().backward()
        results += [view.detach(), x.grad.clone()]
    return results


@each(sin=lambda y: y.sin(), cube=lambda y: y * y * y, tanh=lambda y: y.tanh(),
      exp=lambda y: y.exp(), product=lambda y: y.prod(), view=lambda y: y[1:].sin())
def a_write_between_the_first_and_the_second_backward(T, function):
    results = []
    writes = (lambda x, y: y.mul_(2), lambda x, y: y[:1].zero_(), lambda x, y: x.mul_(1), lambda x, y: None)
    for write in writes:
        x = leaf(T, 3)
        y = x * 1
        g, = T.autograd.grad(function(y).sum(), y, create_graph=True)
        with T.no_grad():
            write(x, y)
        results += [g.requires_grad, attempt(lambda g=g, x=x: T.autograd.grad(g.sum(), x, allow_unused=True))]
    return results


@case
def one_of_several_views_written_before_the_second_backward(T):
    h = leaf(T, 2, 3) * 1
    part = h.unbind()[1].view(1, 3)
    g, = T.autograd.grad(part.sin().sum(), part, create_graph=True)
    with T.no_grad():
        h.mul_(2)
    return raises(lambda: g.sum().backward())


@case
def a_result_kept_in_a_view_that_has_a_newer_history(T):
    t = leaf(T, 2) * 1
    part = t.expand(1, 2)
    part.tanh_()
    kept = part[..., [0, 1]]
    t.squeeze()[None][..., [0]] = -1.0
    return part.grad_fn.name(), raises(lambda: (kept * kept).sum().backward())


@case
def unbinding_a_number(T):
    x = rand(T).movedim(0, 0)
    return [raises(lambda dim=dim: x.unbind(dim)) for dim in (0, -1, 1, -2)]


@each(product=lambda v, w: v * w, quotient=lambda v, w: w / v, twice=lambda v, w: v * v * w,
      matmul=lambda v, w: v.unsqueeze(0) @ w.unsqueeze(1))
def the_recorded_gradient_beside_a_view_made_in_no_grad(T, combine):
    x, w = leaf(T, 3, low=0.5), leaf(T, 2)
    with T.no_grad():
        view = x[1:]
    g, = T.autograd.grad(combine(view, w).sum(), w, create_graph=True)
    return g.requires_grad, g.detach()


@each(sin=lambda y: y.sin(), power=lambda y: y ** 3, sqrt=lambda y: y.sqrt())
def what_only_the_other_gradient_reads_may_be_overwritten(T, function):
    x, up = leaf(T, 3, low=0.5), leaf(T, 3)
    y = x * 1
    g, = T.autograd.grad(function(y), y, up, create_graph=True)
    with T.no_grad():
        y.mul_(2)
    other = attempt(lambda: T.autograd.grad(g.sum(), up, retain_graph=True))
    return other, attempt(lambda: T.autograd.grad(g.sum(), x))


def _without_grad(T, x):
    with T.no_grad():
        return x[:2]


@each(one_of_several=lambda T, x: x.unbind()[0], of_one_of_several=lambda T, x: x.split(2)[0].view(2, 1),
      made_without_grad=_without_grad)
def a_view_that_lost_its_history_is_shown(T, look):
    x = T.ones(4)
    view = look(T, x)
    x.mul_(leaf(T, 4).detach().fill_(2).requires_grad_())
    return repr(view), raises(lambda: view.grad_fn)

"""In-place operations under autograd: leaves, views of leaves, chains of views, refusals."""

from compat_tests.harness import AnyStrides, attempt, case, each, graph, leaf, raises, rand

_WRITES = dict(
    add=lambda t: t.add_(1), mul=lambda t: t.mul_(2), zero=lambda t: t.zero_(),
    copy=lambda t: t.copy_(t.detach() + 1), fill=lambda t: t.fill_(3.0),
    setitem=lambda t: t.__setitem__(0, 5.0), iadd=lambda t: t.__iadd__(1),
    exp=lambda t: t.exp_(), clamp=lambda t: t.clamp_(0, 1), normal=lambda t: t.normal_(),
    uniform=lambda t: t.uniform_(), masked_fill=lambda t: t.masked_fill_(t > 0, 0.0),
)


@each(**_WRITES)
def on_a_leaf_that_requires_grad(T, write):
    x = leaf(T, 4)
    before = x.detach().clone()
    return raises(lambda: write(x)), bool((x == before).all()), x._version, x.is_leaf


@each(**_WRITES)
def on_a_view_of_such_a_leaf(T, write):
    x = leaf(T, 4)
    part = x[1:]
    return raises(lambda: write(part)), part.is_leaf, x._version, x


_VIEWS = dict(
    slice_=lambda t: t[1:], select=lambda t: t[0], step=lambda t: t[::2],
    view=lambda t: t.view(-1), transpose=lambda t: t.t(), permute=lambda t: t.permute(1, 0),
    unsqueeze=lambda t: t.unsqueeze(0), squeeze=lambda t: t[:1].squeeze(0),
    diagonal=lambda t: t.diagonal(), narrow=lambda t: t.narrow(1, 0, 2),
    as_strided=lambda t: t.as_strided((2, 2), (4, 1)), unfold=lambda t: t.unfold(1, 2, 2),
    twice=lambda t: t[1:][:, 1:], thrice=lambda t: t.t()[1:].unsqueeze(0)[:, 0:2],
    reshape=lambda t: t.reshape(-1), flatten=lambda t: t.flatten(), mT=lambda t: t.mT,
    expand_as_itself=lambda t: t.expand(3, 4), movedim=lambda t: t.movedim(0, 1),
    view_as=lambda t: t.view_as(t), detach=lambda t: t.detach(), alias=lambda t: t[...],
    swapaxes=lambda t: t.swapaxes(0, 1), empty=lambda t: t[0:0],
)


@each(**_VIEWS)
def kinds_of_views_of_a_leaf(T, view):
    x = leaf(T, 3, 4)
    return attempt(lambda: view(x).mul_(2).is_leaf), x._version


@each(**_VIEWS)
def write_through_a_view(T, view):
    x = leaf(T, 3, 4)
    h = x * 1
    part = view(h)
    part.mul_(3)
    weights = rand(T, *h.shape)
    (h * weights).sum().backward()
    return part.detach(), h.detach(), h._version, h.grad_fn, x.grad


@each(**{k: v for k, v in _VIEWS.items() if k != "detach"})
def write_through_a_view_and_read_the_view(T, view):
    x = leaf(T, 3, 4)
    h = x * x
    part = view(h)
    part.sin_()
    (part * rand(T, *part.shape)).sum().backward()
    return part, x.grad


@each(**{k: v for k, v in _VIEWS.items() if k not in ("detach", "as_strided")})
def write_the_base_then_read_the_view(T, view):
    x = leaf(T, 3, 4)
    h = x * 1
    part = view(h)
    before = part.grad_fn.name()
    h.mul_(x)
    (part * part).sum().backward()
    return before, part, x.grad


@each(**{k: v for k, v in _VIEWS.items() if k not in ("detach", "empty")})
def write_a_leaf_into_a_plain_tensor(T, view):
    # a tensor without history takes on the history of what is written into a part of it
    x = rand(T, 3, 4)
    part = view(x)
    w = leaf(T, *part.shape)
    part.copy_(w)
    before = x.requires_grad, x.is_leaf, x.grad_fn.name(), part.grad_fn.name()
    (x * x).sum().backward()
    return before, x.detach(), w.grad, part.is_leaf


@case
def no_grad_allows_it(T):
    x = leaf(T, 4)
    with T.no_grad():
        x.add_(1)
        x[1:].mul_(2)
        x[0] = 7.0
    (x * x).sum().backward()
    return x, x._version, x.grad


@case
def data_and_detach_allow_it(T):
    x = leaf(T, 4)
    x.data.add_(1)
    first = x._version
    x.detach().mul_(2)
    x.detach()[0] = 3.0
    return x, first, x._version


@case
def a_view_made_in_no_grad(T):
    x = leaf(T, 4)
    with T.no_grad():
        part = x[1:]
    return attempt(lambda: part.mul_(2)), part.requires_grad, part.grad_fn, x._version, x


@case
def a_view_made_with_grad_written_in_no_grad(T):
    x = leaf(T, 4)
    part = x[1:]
    with T.no_grad():
        part.mul_(2)
    (part * part).sum().backward()
    return x, part, x.grad


@case
def a_view_made_in_no_grad_of_a_non_leaf(T):
    x = leaf(T, 4)
    h = x * 1
    with T.no_grad():
        part = h[1:]
    return attempt(lambda: part.mul_(2)), h._version, h.requires_grad, part.requires_grad


@case
def a_leaf_without_grad_takes_on_history(T):
    x, w = rand(T, 3), leaf(T, 3)
    x.mul_(w)
    x.add_(w)
    x.sum().backward()
    return x, x.requires_grad, x.grad_fn, w.grad


@case
def history_taken_on_through_setitem(T):
    buffer, w = T.zeros(3, 2), leaf(T, 2)
    for i in range(3):
        buffer[i] = w * (i + 1)
    (buffer * rand(T, 3, 2)).sum().backward()
    return buffer, w.grad


@case
def preallocated_scan(T):
    w, out = leaf(T), T.zeros(4)
    state = T.ones(())
    for i in range(4):
        state = state * w
        out[i] = state
    out.sum().backward()
    return out, w.grad


@case
def writing_cuts_the_old_history_there(T):
    x, w = leaf(T, 4), leaf(T, 2)
    h = x * 2
    h[1:3] = w
    (h * h).sum().backward()
    return h, x.grad, w.grad


@case
def fill_and_zero_cut_everything(T):
    x = leaf(T, 3)
    h, g = x * 2, x * 3
    h.zero_()
    g.fill_(2.0)
    (h + g).sum().backward()
    return h, g, x.grad


@case
def copy_from_another_dtype(T):
    x, w = leaf(T, 3), leaf(T, 3, dtype="float64")
    h = x * 1
    h[1:] = w[1:]
    h.add_(w)
    (h * h).sum().backward()
    return h, x.grad, w.grad


@case
def broadcast_into_a_view(T):
    x, w = leaf(T, 3, 4), leaf(T, 4)
    h = x * 1
    h[1:] = w
    h[:, 0] += w[0]
    (h * h).sum().backward()
    return h.detach(), x.grad, w.grad


@case
def overlapping_views(T):
    x = leaf(T, 5)
    h = x * 1
    a, b = h[:3], h[2:]
    a.mul_(2)
    b.mul_(3)
    a.add_(b[0].clone())
    (h * rand(T, 5)).sum().backward()
    return h, a, b, h._version, x.grad


@case
def reading_memory_that_is_being_written_is_refused(T):
    h = rand(T, 5)
    return (
        raises(lambda: h[1:].add_(h[:-1])),
        raises(lambda: h[:3].mul_(h[0])),
        attempt(lambda: h[:2].add_(h[2:4])),
        attempt(lambda: h.add_(h)),
        h,
    )


@case
def views_of_views_written_in_turn(T):
    x = leaf(T, 4, 4, dtype="float64")
    h = x * 1
    rows, columns, flat = h[1:], h[:, 2:], h.view(16)
    corner = rows[:, 1:].t()
    corner.mul_(2)
    columns.add_(corner.sum())
    flat[3] = flat[0].clone() * flat[1].clone()
    rows.exp_()
    (h * rand(T, 4, 4, dtype="float64")).sum().backward()
    return h.detach(), corner.detach(), h._version, x.grad


@case
def graph_after_a_write_through_a_view(T):
    x = leaf(T, 3)
    h = x * 1
    part = h[1:]
    part.mul_(2)
    return h.grad_fn, part.grad_fn, graph(h.grad_fn.next_functions[0][0])


@case
def graph_after_two_writes(T):
    x, w = leaf(T, 3), leaf(T)
    h = x * 1
    h[0] = w
    h[1:].mul_(w)
    return h.grad_fn, graph(h[0])[:58], h[1:].grad_fn


@case
def self_assignment_of_overlapping_parts(T):
    x = leaf(T, 5)
    h = x * 1
    h[1:] = h[:-1].clone()
    (h * rand(T, 5)).sum().backward()
    return h, x.grad


@case
def second_order_through_a_write(T):
    x, w = leaf(T, 3), leaf(T, 2)
    h = x * x
    h[1:] = w * w * h[:1].detach().clone()
    (g,) = T.autograd.grad((h * h).sum(), w, create_graph=True)
    return g.detach(), AnyStrides(T.autograd.grad(g.sum(), w))


@case
def expanded_memory_is_refused(T):
    x = leaf(T, 3, 1)
    h = (x * 1).expand(3, 4)
    return (
        raises(lambda: h.mul_(2)),
        raises(lambda: h.__setitem__(0, 1.0)),
        raises(lambda: rand(T, 1).expand(3).add_(1)),
        x.grad,
    )


# --- functions that return several views ---------------------------------------------------------

_MULTI = dict(
    split=lambda t: t.split(1), chunk=lambda t: t.chunk(2), unbind=lambda t: t.unbind(0),
    split_sizes=lambda t: t.split([1, 1]), iterate=tuple,
)


@each(**_MULTI)
def one_of_several_views_of_a_non_leaf(T, views):
    x = leaf(T, 2, 4)
    h = x * 1
    part = views(h)[0]
    return attempt(lambda: part.mul_(2).detach()), h._version


@each(**_MULTI)
def one_of_several_views_of_a_leaf(T, views):
    x = leaf(T, 2, 4)
    part = views(x)[0]
    return raises(lambda: part.mul_(2)), x._version


@each(**_MULTI)
def base_of_several_views_written(T, views):
    x = leaf(T, 2, 4)
    h = x * 1
    part = views(h)[0]
    h.mul_(2)
    return (
        attempt(lambda: str(part.grad_fn.name())),
        attempt(lambda: part.sum().backward(retain_graph=True)),
        attempt(lambda: h.sum().backward()),
        x.grad,
    )


@each(**_MULTI)
def several_views_without_grad(T, views):
    h = rand(T, 2, 4)
    part = views(h)[0]
    part.mul_(2)
    return h, part, h._version


@each(**_MULTI)
def several_views_made_in_no_grad(T, views):
    x = leaf(T, 2, 4)
    h = x * 1
    with T.no_grad():
        part = views(h)[0]
    return attempt(lambda: part.mul_(2)), h._version


@case
def pairs_of_one_row_are_complex_whatever_its_stride(T):
    x = rand(T, 4, 2, dtype="float64")
    return [attempt(lambda t=t: T.view_as_complex(t)) for t in (
        x.as_strided((1, 2), (1, 1)), x.as_strided((0, 1, 2), (2, 1, 1)), x.as_strided((2, 2), (1, 1)),
        x.as_strided((1, 2), (3, 1), 3))]


@case
def history_is_asked_before_memory(T):
    x = leaf(T, 2, 1)
    h = x * 1
    with T.no_grad():
        part = h.expand(2, 3)
    return [raises(lambda t=t: t.mul_(2)) for t in (part, x.expand(2, 3), h.expand(2, 3))]


@each(split=lambda h: h.split(4), chunk=lambda h: h.chunk(1), unbind=lambda h: h[None].unbind())
def one_view_where_several_could_be(T, views):
    x = leaf(T, 4)
    h = x * 1
    (part,) = views(h)
    y = part.cos()
    h.mul_(2)
    return raises(lambda: y.sum().backward()), raises(lambda: part.add_(1))


@case
def a_view_made_in_no_grad_follows_a_detached_base(T):
    x = leaf(T, 2, 3)
    with T.no_grad():
        part = x.reshape(3, 2)
    before = part.requires_grad
    x.detach_()
    return before, part.requires_grad, x.requires_grad


@each(mul=lambda a, b: a * b, mm=lambda a, b: a.t() @ b, div=lambda a, b: a / b,
      mv=lambda a, b: a @ b[0], dot=lambda a, b: a[0].dot(b[0]), pow=lambda a, b: a ** b)
def of_two_overwritten_operands_one_is_named(T, combine):
    a, b = leaf(T, 3, 3, low=1.0), leaf(T, 3, 3, low=1.0)
    x, y = a.exp(), b.sqrt()
    z = combine(x, y)
    x.add_(1)
    y.add_(1)
    return raises(lambda: z.sum().backward())


@each(**_MULTI)
def several_views_written_in_no_grad(T, views):
    x = leaf(T, 2, 4)
    h = x * 1
    part = views(h)[0]
    with T.no_grad():
        part.mul_(2)
    return h.detach(), attempt(lambda: part.sum().backward()), x.grad


@case
def a_view_of_one_of_several_views(T):
    x = leaf(T, 4)
    h = x * 1
    part = h.split(2)[1].view(2)
    return raises(lambda: part.add_(1)), part.grad_fn


@case
def writing_a_leaf_into_one_of_several_views(T):
    h, w = rand(T, 4), leaf(T, 2)
    part = h.split(2)[0]
    return raises(lambda: part.copy_(w)), h.requires_grad


@case
def several_views_are_fine_unwritten(T):
    x = leaf(T, 4)
    h = x * 1
    a, b = h.split(2)
    (a * b).sum().backward()
    return a.grad_fn, x.grad


# --- what an in-place operation does to its tensor -----------------------------------------------


@case
def returns_the_same_object(T):
    h = leaf(T, 3) * 1
    same = h.add_(1) is h, h.mul_(h.detach()) is h, h[1:].add_(1) is h
    h += 1
    return same, h


@case
def versions_are_shared_by_views(T):
    h = rand(T, 4)
    a, b, d = h[1:], h.view(2, 2), h.detach()
    seen = [t._version for t in (h, a, b, d, h.data, h.clone())]
    a.add_(1)
    h.mul_(2)
    d[0] = 1
    return seen, [t._version for t in (h, a, b, d, h.data, h.clone())]


@case
def names_of_in_place_nodes(T):
    x = leaf(T, 3)
    h = x * 1
    names = []
    for write in _WRITES.values():
        write(h)
        names.append(h.grad_fn.name())
    return names


@case
def result_type_cannot_shrink(T):
    x, i = leaf(T, 3), T.ones(3, dtype=T.int64)
    h = x * 1
    return (
        raises(lambda: i.add_(0.5)),
        raises(lambda: i.mul_(x)),
        raises(lambda: i.div_(2)),
        attempt(lambda: h.add_(T.ones(3, dtype=T.float64))),
        attempt(lambda: h.mul_(i)),
        raises(lambda: h.add_(T.tensor(1j))),
        i._version,
    )


@case
def shape_cannot_grow(T):
    h = leaf(T, 3) * 1
    return (
        raises(lambda: h.add_(rand(T, 2, 3))),
        raises(lambda: h.add_(rand(T, 2))),
        raises(lambda: h.copy_(rand(T, 2, 3))),
        raises(lambda: h.__setitem__(slice(1, None), rand(T, 3))),
        h._version,
    )


@case
def out_refuses_tensors_that_require_grad(T):
    x, w = leaf(T, 3), rand(T, 3)
    with T.no_grad():
        fine = T.add(x, w, out=T.empty(3))
    return (
        raises(lambda: T.add(x, w, out=T.empty(3))),
        raises(lambda: T.add(w, w, out=x)),
        T.add(w, w, out=T.empty(3)),
        fine,
    )


@case
def detach_in_place(T):
    x = leaf(T, 3)
    h = x * 2
    h.detach_()
    view = (x * 2)[1:]
    return h, h.is_leaf, raises(view.detach_), x.detach_().requires_grad


@case
def detach_in_place_of_a_multi_view(T):
    part = (leaf(T, 4) * 1).split(2)[0]
    return raises(part.detach_)


@case
def requires_grad_in_place(T):
    x, h = rand(T, 3), leaf(T, 3) * 1
    i = T.ones(3, dtype=T.int64)
    return (
        x.requires_grad_() is x,
        x.requires_grad,
        x.requires_grad_(False).requires_grad,
        h.requires_grad_().requires_grad,
        raises(lambda: h.requires_grad_(False)),
        raises(i.requires_grad_),
        i.requires_grad_(False).requires_grad,
    )


@case
def requires_grad_of_a_view_set_before_writing_the_base(T):
    base = rand(T, 4)
    part = base[1:].requires_grad_()
    return attempt(lambda: base.mul_(2)), attempt(lambda: part.mul_(2)), part.is_leaf


@case
def a_write_in_no_grad_keeps_the_old_graph(T):
    x = leaf(T, 3)
    h = x * 2
    with T.no_grad():
        h.zero_()
    (h + 1).sum().backward()
    return h, x.grad


@case
def a_write_of_a_history_in_no_grad(T):
    buffer, w = T.zeros(3), leaf(T, 3)
    with T.no_grad():
        buffer.copy_(w)
        buffer[0] = w[1]
    return buffer, buffer.requires_grad


@case
def relu_in_place_then_use(T):
    x = leaf(T, 4)
    h = (x * 1).relu_()
    (h * h).sum().backward()
    return h, x.grad


@case
def chain_of_many_in_place_ops(T):
    x, w = leaf(T, 3), leaf(T, 3)
    h = x * 1
    for i in range(6):
        h.add_(w, alpha=i).mul_(0.5)
        h[i % 3] += x[(i + 1) % 3]
    h.sum().backward()
    return h, h._version, x.grad, w.grad


@case
def index_put_with_a_gradient(T):
    x, w = leaf(T, 4), leaf(T, 3)
    h = x * 1
    h[[0, 2, 2]] = w
    g = x * 1
    g.index_put_((T.tensor([0, 2, 2]),), w, accumulate=True)
    (h * rand(T, 4)).sum().backward(retain_graph=True)
    first = x.grad.clone(), w.grad.clone()
    (g * rand(T, 4)).sum().backward()
    return g, first, x.grad, w.grad


@case
def mask_assignment_with_a_gradient(T):
    x, w = leaf(T, 4), leaf(T)
    h = x * 1
    h[h > 0] = w
    (h * rand(T, 4)).sum().backward()
    return h, x.grad, w.grad


@case
def data_assignment(T):
    x, w = leaf(T, 3), rand(T, 3)
    x.data = w
    shared, version = x.data_ptr() == w.data_ptr(), x._version
    (x * x).sum().backward()
    w.add_(1)
    return x, version, shared, x.grad


@case
def data_of_another_shape_or_dtype(T):
    x = leaf(T, 3)

    def assign(value):
        x.data = value

    return (
        attempt(lambda: assign(rand(T, 2, 2))),
        x.shape,
        attempt(lambda: assign(rand(T, 3, dtype="float64"))),
        x.dtype,
        raises(lambda: assign(rand(T, 3, dtype="int64"))),
        raises(lambda: assign(3)),
    )


@case
def swap_by_no_grad_copy(T):
    x, y = leaf(T, 3), leaf(T, 3)
    with T.no_grad():
        kept = x.clone()
        x.copy_(y)
        y.copy_(kept)
    (x * 2 + y * 3).sum().backward()
    return x, y, x.grad, y.grad


@each(leaf=lambda t: t, result=lambda t: t * 1, constant=lambda t: t.detach())
def other_memory(T, make):
    # resize_ refuses whatever requires grad, set_ what any write refuses
    t = make(leaf(T, 3))
    return (
        attempt(lambda: t.resize_(3).shape), attempt(lambda: t.set_(T.ones(2)).shape), t._version,
        _in_no_grad(T, lambda: attempt(lambda: t.resize_(2).shape)), t.requires_grad,
    )


@case
def resizing_counts_as_a_write(T):
    t, same = T.arange(6.0), T.arange(4.0)
    w = leaf(T, 6)
    y = (w * t).sum()
    t.resize_(2, 2)
    same.resize_(4)
    refused = raises(y.backward, phrase="is at version 1; expected version 0 instead",
                     because="PyTorch names the shape that the tensor has now, jaxflow the one it saved")
    return t, t._version, same, same._version, refused, w.grad


def _in_no_grad(T, call):
    with T.no_grad():
        return call()


@each(list_=[5], tensor=lambda T: T.tensor([7]), two=([0, 9], [0, 1]), negative=[-3, 0])
def a_value_is_refused_before_the_index_is(T, index):
    x, index = rand(T, 2, 3), index(T) if callable(index) else index
    values = (rand(T, 5), rand(T, 2, 2), 1.0, rand(T, 1, 1, 3))
    return [attempt(lambda v=v: x.__setitem__(index, v)) for v in values]

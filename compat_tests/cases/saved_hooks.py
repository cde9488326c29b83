"""Saved-tensor hooks: what is packed and unpacked when, and the contexts built on them."""

from compat_tests.harness import attempt, case, each, leaf, raises, rand


def _facts(t):
    name = None if t.grad_fn is None else t.grad_fn.name()
    return tuple(t.shape), str(t.dtype).split(".")[1], t.requires_grad, t.is_leaf, name


@each(mul=lambda T, x, w: x * x, mul_result=lambda T, x, w: (x * 1) * w, mul_number=lambda T, x, w: x * 2,
      exp=lambda T, x, w: x.exp(), relu=lambda T, x, w: x.relu(), sub=lambda T, x, w: x - 1,
      square=lambda T, x, w: x**2, pow=lambda T, x, w: (x.abs() + 1) ** w, div=lambda T, x, w: x / (w + 3),
      max_dim=lambda T, x, w: x.view(1, 3).max(1).values, softmax=lambda T, x, w: x.softmax(0),
      tanh_inplace=lambda T, x, w: (x * 1).tanh_(), mul_inplace=lambda T, x, w: (x * 1).mul_(w),
      mm=lambda T, x, w: x.view(1, 3) @ w.view(3, 1), view=lambda T, x, w: x.view(3, 1)[0],
      where=lambda T, x, w: T.where(x > 0, x, w), index=lambda T, x, w: x[T.tensor([0])],
      sum=lambda T, x, w: x.sum(), sigmoid_chain=lambda T, x, w: (x.sigmoid() * w).tanh())
def packed_and_unpacked(T, op):
    x, w = leaf(T, 3), leaf(T, 3)
    log = []
    with T.autograd.graph.saved_tensors_hooks(
        lambda t: log.append(("pack", *map(str, _facts(t)))) or t, lambda t: log.append(("unpack",)) or t
    ):
        y = op(T, x, w)
    recorded = len(log)
    y.sum().backward()
    return log, recorded, x.grad, w.grad


@each(mul=lambda x: x * x, exp=lambda x: x.exp(), tanh=lambda x: x.tanh(), sigmoid=lambda x: x.sigmoid(),
      sqrt=lambda x: (x + 3).sqrt(), square=lambda x: x**2, log=lambda x: (x + 3).log())
def what_unpack_returns_is_what_counts(T, op):
    x = leaf(T, 3)
    with T.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t + 1):
        y = op(x)
    y.sum().backward()
    return y, x.grad


@case
def through_numpy_and_twice(T):
    x = leaf(T, 3)
    with T.autograd.graph.saved_tensors_hooks(lambda t: t.detach().numpy().copy(), T.tensor):
        y = (x.exp() * x).sum()
        (g,) = T.autograd.grad(y, x, create_graph=True)
        (h,) = T.autograd.grad(g.sum(), x)
    return g, h


@case
def create_graph_goes_through_unpacked_values(T):
    x = leaf(T, 3)
    with T.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = (x**3).sum()
    (g,) = T.autograd.grad(y, x, create_graph=True)
    g.sum().backward()
    return g.detach(), x.grad


@case
def no_version_check_for_what_hooks_hold(T):
    x = leaf(T, 3)
    y = x * 1
    with T.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        z = y * y
    y.add_(1)
    z.sum().backward()
    return x.grad


@case
def a_result_in_place_is_packed_as_it_stays(T):
    x, refs = leaf(T, 3), []
    with T.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = (x * 1).sigmoid_()
        part = y[:1]
        part.mul_(x[:1])
        part.tanh_()
        z = (y * y).sum()
    z.backward()
    buffer = rand(T, 3)
    with T.autograd.graph.saved_tensors_hooks(
        lambda t: refs.append(buffer.copy_(t).clone()) or len(refs) - 1, lambda i: refs[i]
    ):
        w = (x * 1).mul_(x).exp_()
    w.sum().backward()
    return x.grad, w


@case
def nested_blocks(T):
    x, log = leaf(T, 3), []
    hooks = T.autograd.graph.saved_tensors_hooks
    with hooks(lambda t: log.append("outer") or t, lambda t: t):
        with hooks(lambda t: log.append("inner") or t, lambda t: t):
            y = x * x
        z = y * y
    (z * z).sum().backward()
    return log, x.grad


@case
def refused(T):
    x, w = leaf(T, 3), leaf(T, 3)
    hooks = T.autograd.graph.saved_tensors_hooks

    def within(pack, unpack):
        with hooks(pack, unpack):
            y = (x * 1) * w
        y.sum().backward()

    def forbidden():
        with T.autograd.graph.disable_saved_tensors_hooks("none here"), hooks(lambda t: t, lambda t: t):
            pass

    return (
        raises(lambda: within(lambda t: t, lambda t: 3)),
        raises(lambda: within(lambda t: t.mul_(2), lambda t: t)),
        raises(lambda: within(lambda t: 1 / 0, lambda t: t)),
        raises(lambda: within(lambda t: t, lambda t: {}["x"])),
        raises(lambda: hooks(3, 4).__enter__()),
        raises(forbidden),
        x * w,
    )


@case
def disabling(T):
    x = leaf(T, 3)
    graph = T.autograd.graph

    def inside():
        with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            with graph.disable_saved_tensors_hooks("no"):
                pass

    @graph.disable_saved_tensors_hooks("not in here")
    def decorated():
        with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            return x * x

    with graph.disable_saved_tensors_hooks("outer"), graph.disable_saved_tensors_hooks("inner"):
        y = x * x
    return raises(inside), raises(decorated), y, attempt(lambda: x * x)


class _Scale:
    def __new__(cls, T):
        class Scale(T.autograd.Function):
            @staticmethod
            def forward(ctx, a, b):
                out = a * b
                ctx.save_for_backward(a, b, None, out)
                return out

            @staticmethod
            def backward(ctx, g):
                a, b, nothing, out = ctx.saved_tensors
                assert nothing is None
                return g * b, g * a + 0 * out

        return Scale


@case
def of_a_custom_function(T):
    x, w, log = leaf(T, 3), leaf(T, 3), []
    with T.autograd.graph.saved_tensors_hooks(
        lambda t: log.append(("pack", *map(str, _facts(t)))) or t * 2, lambda t: log.append(("unpack",)) or t
    ):
        y = _Scale(T).apply(x * 1, w)
    saved = y.grad_fn._raw_saved_tensors
    y.sum().backward()
    return log, len(saved), x.grad, w.grad, raises(lambda: y.grad_fn._raw_saved_tensors)


@case
def registered_on_one_saved_tensor(T):
    x, w, log = leaf(T, 3), leaf(T, 3), []
    y = x.exp() * w
    saved = y.grad_fn._raw_saved_other
    saved.register_hooks(lambda t: log.append(("pack", t.requires_grad)) or t * 10,
                         lambda t: log.append("unpack") or t)
    twice = raises(lambda: saved.register_hooks(lambda t: t, lambda t: t))
    shown = y.grad_fn._saved_other
    y.sum().backward()
    none = (x * w.detach()).grad_fn._raw_saved_self
    kept = x.exp()
    writes = kept.grad_fn._raw_saved_result
    return (
        log, twice, shown.detach(), x.grad, w.grad,
        raises(lambda: saved.register_hooks(lambda t: t, lambda t: t)),
        raises(lambda: none.register_hooks(lambda t: t, lambda t: t)),
        raises(lambda: writes.register_hooks(lambda t: t.mul_(2), lambda t: t)),
        raises(type(saved)), type(saved).__name__,
    )


@case
def registered_on_a_function_s_saved_tensor(T):
    x, w = leaf(T, 3), leaf(T, 3)
    y = _Scale(T).apply(x, w)
    saved = y.grad_fn._raw_saved_tensors[1]
    saved.register_hooks(lambda t: t * 10, lambda t: t)
    twice = raises(lambda: saved.register_hooks(lambda t: t, lambda t: t))
    y.sum().backward()
    return x.grad, w.grad, twice


@case
def on_the_host(T):
    x = leaf(T, 3)
    with T.autograd.graph.save_on_cpu():
        y = (x * x).exp()
    with T.autograd.graph.save_on_cpu(pin_memory=False):
        z = y.sin().sum()
    shown = y.grad_fn._saved_result
    z.backward()
    return shown, x.grad


@case
def mutation_allowed(T):
    allow = T.autograd.graph.allow_mutation_on_saved_tensors
    a = leaf(T, 3)
    with allow():
        b = a.clone()
        c = (b**2).sum()
        b.sin_()
        d = (b * b).sum()
        b.zero_()
        (c + d).backward()
    first = a.grad.clone()
    with allow():
        b = a.clone()
        y = (b**2).sum()
        b.sin_()
        y.backward(retain_graph=True)
        y.backward()
        late = (b**2).sum()
        b.sin_()
    with allow():
        nested = raises(lambda: allow().__enter__())
    return first, a.grad, nested, raises(late.backward)


@case
def versions_counted_by_hand(T):
    count = T.autograd.graph.increment_version
    t, x, w = rand(T, 3), leaf(T, 3), leaf(T, 3)
    before = t._version
    count(t)
    count((t, t))
    y = x * 1
    z = y * w
    with T.no_grad():
        count(y)
    return (t._version - before, raises(z.sum().backward), raises(lambda: count(3)),
            raises(lambda: count([3])))


@case
def tangents_go_around_the_hooks(T):
    forward = T.autograd.forward_ad
    found = []
    for op in (lambda x: x * x, lambda x: x.exp(), lambda x: x**3):
        with forward.dual_level():
            x = forward.make_dual(leaf(T, 3), T.ones(3))
            with T.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
                y = op(x)
            (g,) = T.autograd.grad(y.sum(), x)
            found.append(tuple(forward.unpack_dual(g)))
    return found


@case
def of_mapped_tensors(T):
    y = leaf(T, 2, 3)
    with T.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        z = y.exp()
    seeds = T.stack([T.ones(2, 3), T.ones(2, 3) * 2])
    return T.autograd.grad(z, y, seeds, is_grads_batched=True)

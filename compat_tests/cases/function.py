"""``autograd.Function``: what works, in both spellings of ``forward``."""

from compat_tests.harness import AnyStrides, attempt, case, each, leaf, rand


def exp_function(T):
    """The customary example: saves its result."""

    class Exp(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            result = x.exp()
            ctx.save_for_backward(result)
            return result

        @staticmethod
        def backward(ctx, g):
            (result,) = ctx.saved_tensors
            return g * result

    return Exp


def mul_function(T):
    """Two inputs, both saved; gradients only where they are needed."""

    class Mul(T.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a * b

        @staticmethod
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            return (
                g * b if ctx.needs_input_grad[0] else None,
                g * a if ctx.needs_input_grad[1] else None,
            )

    return Mul


@case
def the_example(T):
    x = leaf(T, 3)
    y = exp_function(T).apply(x)
    y.sum().backward()
    return y, x.grad


@case
def name_of_the_node(T):
    y = exp_function(T).apply(leaf(T, 3))
    fn = y.grad_fn
    return (
        fn.name(), type(fn).__name__, repr(y), [n.name() for n, _ in fn.next_functions],
        hasattr(fn, "saved_tensors"), type(fn.saved_tensors).__name__, fn.needs_input_grad,
    )


@each(first=(True, False), second=(False, True), both=(True, True), none=(False, False))
def needs_input_grad(T, needs):
    seen = []

    class Watch(T.autograd.Function):
        @staticmethod
        def forward(ctx, a, b, c):
            seen.append(ctx.needs_input_grad)
            return a * b * c

        @staticmethod
        def backward(ctx, g):
            seen.append(ctx.needs_input_grad)
            return g, g, None

    a, b = rand(T, 3).requires_grad_(needs[0]), rand(T, 3).requires_grad_(needs[1])
    y = Watch.apply(a, b, 2.0)
    if y.requires_grad:
        y.sum().backward()
    return seen, y, a.grad, b.grad


@case
def gradients_only_where_needed(T):
    x, c = leaf(T, 3), rand(T, 3)
    mul = mul_function(T)
    mul.apply(x, c).sum().backward()
    mul.apply(c, x).sum().backward()
    mul.apply(x, x).sum().backward()
    return x.grad


@case
def forward_runs_without_grad(T):
    seen = []

    class Watch(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            seen.append(T.is_grad_enabled())
            y = x * 2
            seen.append((x.requires_grad, y.requires_grad))
            return y

        @staticmethod
        def backward(ctx, g):
            seen.append((T.is_grad_enabled(), g.requires_grad))
            return g * 2

    x = leaf(T, 3)
    y = Watch.apply(x)
    y.sum().backward(retain_graph=True)
    T.autograd.grad(y.sum(), x, create_graph=True)
    return seen, y.requires_grad


@case
def under_no_grad(T):
    x = leaf(T, 3)
    with T.no_grad():
        y = exp_function(T).apply(x)
    return y, exp_function(T).apply(rand(T, 3))


@case
def attributes_of_ctx(T):
    class Scale(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor, *, note=None):
            ctx.factor, ctx.shape = factor, x.shape
            return x * factor

        @staticmethod
        def backward(ctx, g):
            return g * ctx.factor + len(ctx.shape), None

    x = leaf(T, 2, 3)
    y = Scale.apply(x, 4)
    y.sum().backward()
    return y, x.grad, y.grad_fn.factor


@case
def non_tensor_arguments(T):
    class Mix(T.autograd.Function):
        @staticmethod
        def forward(ctx, name, x, numbers, w, flag):
            ctx.save_for_backward(x, w)
            return x * w * sum(numbers) if flag and name == "go" else x

        @staticmethod
        def backward(ctx, g):
            x, w = ctx.saved_tensors
            return None, g * w * 6, None, g * x * 6, None

    x, w = leaf(T, 3), leaf(T, 3)
    y = Mix.apply("go", x, [1, 2, 3], w, True)
    y.sum().backward()
    return y, x.grad, w.grad, [n and n.name() for n, _ in y.grad_fn.next_functions]


@case
def tensors_inside_containers_are_constants(T):
    class Sum(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, others):
            return x + sum(others)

        @staticmethod
        def backward(ctx, g):
            return g, None

    x, w = leaf(T, 3), leaf(T, 3)
    Sum.apply(x, [w, w]).sum().backward()
    return AnyStrides(x.grad), w.grad


@case
def several_outputs(T):
    class SinCos(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            s, c = x.sin(), x.cos()
            ctx.save_for_backward(s, c)
            return s, c

        @staticmethod
        def backward(ctx, gs, gc):
            s, c = ctx.saved_tensors
            return gs * c - gc * s

    x = leaf(T, 3)
    s, c = SinCos.apply(x)
    numbers = s.output_nr, c.output_nr, s.grad_fn is c.grad_fn
    (s * 2 + c * c).sum().backward(retain_graph=True)
    both = x.grad.clone()
    x.grad = None
    s.sum().backward()
    return numbers, s, c, both, x.grad, type(SinCos.apply(x)).__name__


@each(tuple_=tuple, list_=list)
def sequence_of_outputs(T, wrap):
    class Halves(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return wrap([x * 1, x * 2])

        @staticmethod
        def backward(ctx, a, b):
            return a + 2 * b

    x = leaf(T, 3)

    def run():
        out = Halves.apply(x)
        out[1].sum().backward()
        return type(out).__name__, x.grad

    return attempt(run)


@case
def one_output_as_a_tuple(T):
    class One(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return (x * 2,)

        @staticmethod
        def backward(ctx, g):
            return (g * 2,)

    x = leaf(T, 3)
    out = One.apply(x)
    out[0].sum().backward()
    return out, x.grad


@case
def outputs_that_are_no_tensors(T):
    class Mixed(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, "text", None, 3

        @staticmethod
        def backward(ctx, g, *rest):
            return g * 2

    x = leaf(T, 3)

    def run():
        out = Mixed.apply(x)
        out[0].sum().backward()
        return out[1:], x.grad

    return attempt(run)


@case
def unused_outputs_come_as_zeros(T):
    seen = []

    class Two(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1, x[:2] * 2

        @staticmethod
        def backward(ctx, a, b):
            seen.append((a.clone(), b.clone()))
            return a + T.cat([b, b[:1] * 0])

    x = leaf(T, 3)
    first, second = Two.apply(x)
    second.sum().backward()
    Two.apply(x)[0].sum().backward()
    return seen, x.grad


@case
def unused_outputs_come_as_none_when_asked(T):
    seen = []

    class Two(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 1, x * 2

        @staticmethod
        def backward(ctx, a, b):
            seen.append((a is None, b is None))
            return a if b is None else b * 2

    x = leaf(T, 3)
    Two.apply(x)[0].sum().backward()
    Two.apply(x)[1].sum().backward()
    return seen, x.grad


@case
def mark_dirty(T):
    class AddOne(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.add_(1)

        @staticmethod
        def backward(ctx, g):
            return g * 3

    x = leaf(T, 3)
    h = x * 1
    out = AddOne.apply(h)
    same = out is h, h._version, h.grad_fn.name()
    h.sum().backward()
    return same, h, x.grad


@case
def mark_dirty_on_a_view(T):
    class Double(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = leaf(T, 4)
    h = x * 1
    part = h[1:3]

    def run():
        Double.apply(part)
        (h * h).sum().backward()
        return h.detach(), x.grad

    return attempt(run)


@case
def mark_dirty_with_another_output(T):
    class Both(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.mark_dirty(x)
            ctx.save_for_backward(w)
            return x.mul_(2), w * 3

        @staticmethod
        def backward(ctx, gx, gw):
            return gx * 2, gw * 3

    x, w = leaf(T, 3), leaf(T, 3)
    h = x * 1
    a, b = Both.apply(h, w)
    (a * b).sum().backward()
    return a is h, x.grad, w.grad


@case
def mark_non_differentiable(T):
    class Sort(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            values, index = x.sort()
            rounded = x.round()
            ctx.mark_non_differentiable(index, rounded)
            ctx.save_for_backward(index)
            return values, index, rounded

        @staticmethod
        def backward(ctx, g, *others):
            (index,) = ctx.saved_tensors
            return T.zeros_like(g).scatter(0, index, g)

    x = leaf(T, 4)
    values, index, rounded = Sort.apply(x)
    (values * T.arange(4.0)).sum().backward()
    return values, index, rounded, x.grad


@case
def integer_outputs_need_no_mark(T):
    class Rank(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.argsort(), x > 0, x * 2

        @staticmethod
        def backward(ctx, *gs):
            return gs[2] * 2

    x = leaf(T, 3)
    a, b, c = Rank.apply(x)
    c.sum().backward()
    return a, b, c, x.grad


@case
def returning_the_input(T):
    class Identity(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 5

    x = leaf(T, 3)
    y = Identity.apply(x)
    y.sum().backward()
    return y is x, y, x.grad, y.data_ptr() == x.data_ptr(), y._version


def view_function(T, forward, backward):
    class View(T.autograd.Function):
        pass

    View.forward = staticmethod(lambda ctx, x: forward(x))
    View.backward = staticmethod(lambda ctx, *grads: backward(T, *grads))
    return View


@each(view=(lambda x: x.view(4), lambda T, g: g.view(2, 2)),
      identity=(lambda x: x, lambda T, g: g),
      alias=(lambda x: x.view_as(x), lambda T, g: g),
      detached=(lambda x: x.detach(), lambda T, g: g),
      several=(lambda x: (x[0], x[1]), lambda T, *g: T.stack(g)))
def writing_into_what_forward_returned_of_its_input(T, row):
    apply = view_function(T, *row).apply

    def first(x):
        out = apply(x)
        return out[0] if isinstance(out, tuple) else out

    def later(h):
        out = first(h)
        with T.no_grad():
            h.add_(1)
        return out.sum()

    x = leaf(T, 2, 2)
    return (
        attempt(lambda: first(x).mul_(2)), attempt(lambda: first(x * 1).mul_(2)),
        attempt(lambda: first(x.detach()).mul_(2)), attempt(lambda: first(x * 1).view(-1).mul_(2)),
        attempt(lambda: later(x * 1)),
    )


@case
def edges_lead_to_tensors_only(T):
    class Scale(T.autograd.Function):
        @staticmethod
        def forward(ctx, a, factor, b, note, c):
            return a * factor + b * c

        @staticmethod
        def backward(ctx, g):
            return g, None, g, None, g

    a, b, c = leaf(T, 2), leaf(T, 2), rand(T, 2)
    fn = Scale.apply(a * 1, 2.0, b, "note", c).grad_fn
    names = [(n and n.name(), i) for n, i in fn.next_functions]
    return names, repr(fn).partition(".")[2].split(" at ")[0]


@case
def returning_a_view_of_the_input(T):
    class Rows(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x[1:]

        @staticmethod
        def backward(ctx, g):
            return T.cat([g[:1] * 0, g])

    x = leaf(T, 3)
    h = x * 1
    y = Rows.apply(h)
    (y * y).sum().backward()
    return y, y._base is h, x.grad, attempt(lambda: Rows.apply(x * 1).mul_(2).detach())

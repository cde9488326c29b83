"""Backward inside backward, in other threads, and what errors in the middle leave behind."""

import threading

from compat_tests.harness import attempt, case, each, leaf, raises


def _checkpoint(T, log):
    class Checkpoint(T.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.inner = a.detach().requires_grad_()
            with T.enable_grad():
                ctx.result = ctx.inner**2
            return ctx.result.detach()

        @staticmethod
        def backward(ctx, g):
            log.append((T.is_grad_enabled(), threading.current_thread() is threading.main_thread()))
            with T.enable_grad():
                ctx.result.sum().backward()
            return g * ctx.inner.grad

    return Checkpoint


@case
def inside_a_custom_backward(T):
    x, log = leaf(T, 3), []
    _checkpoint(T, log).apply(x).sum().backward()
    return log, x.grad


@case
def nested_500_deep(T):
    class Nest(T.autograd.Function):
        @staticmethod
        def forward(ctx, a, n):
            ctx.n = n
            return a * 1

        @staticmethod
        def backward(ctx, g):
            if ctx.n == 0:
                return g, None
            with T.enable_grad():
                inner = T.ones(1, requires_grad=True)
                Nest.apply(inner, ctx.n - 1).sum().backward()
            return g * inner.grad, None

    x = T.ones(1, requires_grad=True)
    Nest.apply(x, 500).sum().backward()
    return x.grad, T.is_grad_enabled()


@case
def the_same_graph_from_its_own_hook(T):
    a = leaf(T, 3)
    b = a * a
    c = (b * 3).sum()
    handles = []

    def again(g):
        handles.pop().remove()
        c.backward(retain_graph=True)

    handles.append(b.register_hook(again))
    c.backward(retain_graph=True)
    kept = a.grad.clone()
    a.grad = None
    handles.append(b.register_hook(lambda g: handles.pop().remove() or attempt(c.backward) and None))
    return kept, attempt(c.backward), a.grad


@case
def grad_inside_a_hook(T):
    a, w = leaf(T, 3), leaf(T, 3)
    b = a * a

    def hook(g):
        with T.enable_grad():
            loss = (w * w * w).sum()
        return T.autograd.grad(loss, w)[0] * g

    b.register_hook(hook)
    return T.autograd.grad(b.sum(), a), w.grad, T.is_grad_enabled()


@case
def grad_mode_changed_by_a_hook(T):
    a, log = leaf(T, 3), []
    b = a * a

    def on(g):
        with T.enable_grad():
            log.append(T.is_grad_enabled())

    b.register_hook(on)
    b.register_hook(lambda g: log.append(T.is_grad_enabled()))
    b.sum().backward()
    return log, T.is_grad_enabled()


@case
def a_leaf_of_the_outer_pass(T):
    w = leaf(T, 3)
    y = w * 2

    def hook(g):
        with T.enable_grad():
            (w * 5).sum().backward()

    y.register_hook(hook)
    y.sum().backward()
    return w.grad


@case
def create_graph_inside(T):
    x = leaf(T, 3)

    class Twice(T.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a**3

        @staticmethod
        def backward(ctx, g):
            (a,) = ctx.saved_tensors
            with T.enable_grad():
                inner = a.detach().requires_grad_()
                (d,) = T.autograd.grad((inner**3).sum(), inner, create_graph=True)
            return g * d.detach()

    Twice.apply(x).sum().backward()
    return x.grad


@case
def an_error_in_a_hook(T):
    x, w = leaf(T, 3), leaf(T, 3)
    y = x * x
    z = y * w
    z.retain_grad()

    def hook(g):
        raise KeyError("h")

    handle = y.register_hook(hook)
    first = raises(z.sum().backward)
    state = (x.grad, w.grad.clone(), z.grad.clone(), T.is_grad_enabled())
    handle.remove()
    second = raises(z.sum().backward)
    after = (x.grad, w.grad.clone(), z.grad.clone())
    y.sum().backward()
    return first, state, second, after, x.grad


@case
def an_error_in_a_custom_backward(T):
    calls = []

    class Fails(T.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a * 1

        @staticmethod
        def backward(ctx, g):
            calls.append(ctx.saved_tensors[0].shape[0])
            if len(calls) == 1:
                raise ValueError("bw")
            return g

    x = leaf(T, 3)
    y = Fails.apply(x * 2)
    z = y.exp()
    return ([raises(z.sum().backward) for _ in range(2)], attempt(y.sum().backward),
            raises(y.sum().backward), x.grad, calls)


@case
def an_error_inside_an_inner_pass(T):
    a = leaf(T, 3)
    queue = T.autograd.Variable._execution_engine.queue_callback

    def hook(g):
        inner = a.detach().requires_grad_()
        inner.register_hook(lambda g: 1 / 0)
        with T.enable_grad():
            (inner * inner).sum().backward()

    b = a * a
    b.register_hook(hook)
    return raises(b.sum().backward), a.grad, T.is_grad_enabled(), raises(lambda: queue(lambda: 0))


@case
def an_error_after_some_leaves_were_reached(T):
    x, w = leaf(T, 3), leaf(T, 3)
    x.register_hook(lambda g: 1 / 0)
    y = (x * 2).sum() + (w * 3).sum()
    first = raises(y.backward)
    return first, x.grad, w.grad, raises(y.backward), w.grad


def _together(*jobs):
    errors = []

    def run(job):
        try:
            job()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [(type(e).__name__, str(e).partition(".")[0]) for e in errors]


@case
def a_graph_built_in_another_thread(T):
    x, made = leaf(T, 3), []
    errors = _together(lambda: made.append((x * x).exp()))
    made[0].sum().backward()
    return errors, x.grad


@case
def threads_on_one_graph(T):
    x = leaf(T, 3)
    y = (x * x).exp().sum()
    errors = _together(*[lambda: y.backward(retain_graph=True)] * 4)
    return errors, x.grad


@case
def threads_on_graphs_of_their_own(T):
    x = leaf(T, 3)
    errors = _together(*[lambda k=k: (x * x * k).sum().backward() for k in range(1, 5)])
    return errors, x.grad


@each(hook=True, custom=False)
def an_error_in_one_thread_leaves_the_others(T, in_hook):
    x, w = leaf(T, 3), leaf(T, 3)
    queue = T.autograd.Variable._execution_engine.queue_callback

    class Fails(T.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 1

        @staticmethod
        def backward(ctx, g):
            raise ValueError("here")

    def hook(g):
        raise ValueError("here")

    def fail():
        y = x * 2 if in_hook else Fails.apply(x)
        if in_hook:
            y.register_hook(hook)
        y.sum().backward()

    errors = _together(fail, lambda: (w * 2).sum().backward())
    return errors, x.grad, w.grad, raises(lambda: queue(lambda: 0))


@case
def modes_are_the_thread_s_own(T):
    x, seen = leaf(T, 3), []
    y = x * x
    y.register_hook(lambda g: seen.append(T.is_grad_enabled()))
    with T.no_grad():
        errors = _together(lambda: seen.append(T.is_grad_enabled()) or y.sum().backward(),)
    return errors, seen, x.grad


@case
def hooks_that_start_passes_150_deep(T):
    count = []

    def start():
        inner = T.ones(1, requires_grad=True)
        y = inner * 1
        y.register_hook(deeper)
        y.sum().backward()

    def deeper(g):
        count.append(1)
        if len(count) < 150:
            with T.enable_grad():
                start()

    start()
    return len(count)


@case
def a_hook_that_walks_a_shared_part(T):
    x = leaf(T, 3)
    shared = x * x
    a, b = shared * 2, shared.exp().sum()
    a.register_hook(lambda g: b.backward())
    return attempt(a.sum().backward), x.grad


@case
def hooks_that_change_what_they_hang_on(T):
    w, x, y, z = leaf(T, 3), leaf(T, 3), leaf(T, 3), leaf(T, 3)

    def forget(g):
        w.grad = None

    w.register_hook(forget)
    x.register_hook(lambda g: (x.requires_grad_(False), None)[1])
    q, kept = z * 2, {}
    q.register_hook(lambda g: (q.detach_(), None)[1])
    kept["r"] = y * 2
    r = kept["r"] * 3
    kept["r"].register_hook(lambda g: kept.clear())
    for loss in (w.sum(), w.sum(), (x * 2).sum(), (q * 3).sum(), r.sum()):
        loss.backward()
    return w.grad, x.grad, x.requires_grad, z.grad, q.requires_grad, y.grad


@case
def a_post_accumulate_hook_that_raises(T):
    x, w = leaf(T, 3), leaf(T, 3)
    x.register_post_accumulate_grad_hook(lambda p: 1 / 0)
    return raises((x * w).sum().backward), x.grad, w.grad


@case
def threads_count_each_hook_once_a_pass(T):
    x, seen = leaf(T, 3), []
    y = x * x
    y.register_hook(lambda g: seen.append(1))
    errors = _together(*[lambda: y.sum().backward(retain_graph=True)] * 4)
    return errors, len(seen), x.grad


@case
def recorded_gradients_made_in_another_thread(T):
    x, made = leaf(T, 3), []
    errors = _together(lambda: made.extend(T.autograd.grad((x**3).sum(), x, create_graph=True)))
    return errors, T.autograd.grad(made[0].sum(), x)

"""Anomaly mode: what it names, what it notes on nodes, and when it is on."""

from compat_tests.harness import case, leaf, raises


@case
def names_the_function_that_made_a_nan(T):
    x = T.tensor([-1.0, 0.0], requires_grad=True)
    with T.autograd.detect_anomaly():
        root = raises((x.sqrt() * 0).sum().backward)
        two = raises((x / x).sum().backward)
    outside = (x / x).sum()
    with T.autograd.set_detect_anomaly(True):
        unknown = raises(outside.backward)
    with T.autograd.detect_anomaly(check_nan=False):
        (x / x).sum().backward()
    return root, two, unknown, x.grad


@case
def switches(T):
    on = lambda: (T.is_anomaly_enabled(), T.is_anomaly_check_nan_enabled())  # noqa: E731
    seen = [on()]
    with T.autograd.set_detect_anomaly(True):
        seen.append(on())
        with T.autograd.detect_anomaly(False):
            seen.append(on())
        seen.append(on())
    T.autograd.set_detect_anomaly(True, check_nan=False)
    seen.append(on())
    T.autograd.set_detect_anomaly(False)
    seen.append(on())
    made = T.autograd.detect_anomaly()
    return (seen, (made.prev, made.check_nan, made.prev_check_nan),
            raises(lambda: T.autograd.set_detect_anomaly(3)))


@case
def notes_on_nodes(T):
    x = leaf(T, 3)

    class F(T.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 1

        @staticmethod
        def backward(ctx, g):
            return g

    with T.autograd.set_detect_anomaly(True):
        y = x.exp()
        nodes = [y.grad_fn, y.grad_fn.next_functions[0][0], x.view(3, 1).grad_fn, F.apply(x).grad_fn]
    lines = y.grad_fn.metadata["traceback_"]
    last = lines[-1]
    return ([sorted(n.metadata) for n in nodes], type(lines).__name__, "y = x.exp()" in last,
            "in notes_on_nodes" in last)


@case
def nodes_of_a_recorded_pass_have_a_parent(T):
    x = T.tensor([0.0, 2.0], requires_grad=True)
    with T.autograd.set_detect_anomaly(True):
        y = x.sqrt().sum()
        (g,) = T.autograd.grad(y, x, create_graph=True)
        return g.grad_fn.metadata["parent_"].name()


@case
def errors_in_backward_are_reported(T):
    x = leaf(T, 3)

    class F(T.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 1

        @staticmethod
        def backward(ctx, g):
            raise ValueError("bw")

    with T.autograd.set_detect_anomaly(True):
        y = x * x
        y.register_hook(lambda g: 1 / 0)
        a = raises(y.sum().backward)
        b = raises(F.apply(x).sum().backward)
        y = x.exp()
        z = y * y
        with T.no_grad():
            y.add_(1)
        c = raises(z.sum().backward)
    return a, b, c


@case
def nans_of_a_custom_backward(T):
    x = leaf(T, 3)

    class F(T.autograd.Function):
        @staticmethod
        def forward(ctx, a, n, b):
            return a * b

        @staticmethod
        def backward(ctx, g):
            return g, None, g * float("nan")

    with T.autograd.set_detect_anomaly(True):
        return raises(F.apply(x, 3, x * 1).sum().backward)

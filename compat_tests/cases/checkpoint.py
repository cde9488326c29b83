"""``torch.utils.checkpoint``: both variants, their refusals, and what the second run must repeat."""

import contextlib

from compat_tests.harness import AnyStrides, case, each, leaf, raises, rand

VARIANTS = {"reentrant": True, "plain": False}


def _checkpoint(T):
    from importlib import import_module

    return import_module(f"{T.__name__}.utils.checkpoint")


def _values(*tensors):
    return AnyStrides([None if t is None else t.detach() for t in tensors])


def _net(T):
    net = T.nn.Sequential(T.nn.Linear(3, 4), T.nn.GELU(), T.nn.Linear(4, 2), T.nn.Tanh())
    for p in net.parameters():
        p.data = rand(T, *p.shape)
    return net


@each(**VARIANTS)
def gradients(T, reentrant):
    net, x = _net(T), leaf(T, 5, 3)
    _checkpoint(T).checkpoint(net, x, use_reentrant=reentrant).pow(2).sum().backward()
    return _values(x.grad, *(p.grad for p in net.parameters()))


@each(**VARIANTS)
def sequential(T, reentrant):
    net, x = _net(T), leaf(T, 5, 3)
    C = _checkpoint(T)
    C.checkpoint_sequential(net, 2, x, use_reentrant=reentrant).sum().backward()
    y = C.checkpoint_sequential([T.sin, T.exp, T.tanh], 3, x, use_reentrant=reentrant)
    y.sum().backward()
    return _values(y, x.grad, *(p.grad for p in net.parameters()))


@each(**VARIANTS)
def how_often_it_runs(T, reentrant):
    x, runs = leaf(T, 3), []

    def f(a, b):
        runs.append(a.requires_grad)
        c = a.sin()
        return c * b, c

    y, z = _checkpoint(T).checkpoint(f, x, 2.0, use_reentrant=reentrant)
    (y.sum() + z.sum()).backward()
    return runs, y.requires_grad, _values(x.grad)


@case
def a_gradient_of_the_gradient(T):
    x = leaf(T, 3)
    y = _checkpoint(T).checkpoint(lambda a: (a.sin() * a).exp(), x, use_reentrant=False)
    (g,) = T.autograd.grad(y.sum(), x, create_graph=True)
    return _values(g, *T.autograd.grad(g.pow(2).sum(), x))


@case
def two_passes_run_it_twice(T):
    x, runs = leaf(T, 3), []
    y = _checkpoint(T).checkpoint(lambda a: (runs.append(1), a.sin().exp())[1], x, use_reentrant=False)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    return len(runs), _values(x.grad), raises(lambda: y.sum().backward())


@each(**VARIANTS)
def the_same_random_numbers(T, reentrant):
    x = leaf(T, 20)
    y = _checkpoint(T).checkpoint(lambda a: T.nn.functional.dropout(a) * a, x, use_reentrant=reentrant)
    after = T.get_rng_state().clone()
    y.sum().backward()
    return bool(((x.grad == 0) == (y == 0)).all()), bool((T.get_rng_state() == after).all())


@case
def keyword_arguments_and_captured_tensors(T):
    x, w = leaf(T, 3), leaf(T, 3)
    y = _checkpoint(T).checkpoint(lambda a, *, b: (a * b * w).sin(), x, b=w, use_reentrant=False)
    return _values(*T.autograd.grad(y.sum(), (x, w)))


@case
def nested(T):
    x, C = leaf(T, 3), _checkpoint(T)

    def inner(a):
        return a.sin() * a

    def outer(a):
        return C.checkpoint(inner, a.exp(), use_reentrant=False).tanh()

    y = C.checkpoint(outer, x, use_reentrant=False)
    y.sum().backward()
    return _values(y, x.grad)


@case
def only_what_is_asked_for(T):
    x, C = leaf(T, 3), _checkpoint(T)
    y = C.checkpoint(T.sin, x, use_reentrant=True)
    return raises(lambda: T.autograd.grad(y.sum(), x)), raises(lambda: y.sum().backward(inputs=[x]))


@case
def no_grad_and_nothing_to_do(T):
    x, C = rand(T, 3), _checkpoint(T)
    with T.no_grad():
        y = C.checkpoint(T.sin, leaf(T, 3), use_reentrant=False)
    z = C.checkpoint(T.sin, x, use_reentrant=False)
    w = C.checkpoint(T.sin, x, use_reentrant=True)
    return y.requires_grad, z.requires_grad, w.requires_grad


@case
def a_second_run_that_differs(T):
    C, found = _checkpoint(T), []
    for other in (
        lambda a: a * 2, lambda a: a.sin().exp().sin() * a, lambda a: a[:2].sin().exp(),
    ):
        x, calls = leaf(T, 3), []

        def f(a, other=other, calls=calls):
            calls.append(1)
            return a.sin().exp() if len(calls) == 1 else other(a)

        y = C.checkpoint(f, x, use_reentrant=False, early_stop=False)
        found.append(raises(lambda y=y: y.sum().backward()))
    return found


@case
def options_that_do_not_go_together(T):
    x, C = leaf(T, 3), _checkpoint(T)
    return [
        raises(call) for call in (
            lambda: C.checkpoint(T.sin, x, use_reentrant=True, out=None),
            lambda: C.checkpoint(T.sin, x, use_reentrant=True, debug=True),
            lambda: C.checkpoint(T.sin, x, use_reentrant=False, determinism_check="some"),
            lambda: C.checkpoint_sequential([T.sin], 1, x, use_reentrant=False, more=1),
        )
    ]


@case
def the_variant_is_to_be_named(T):
    x, C = leaf(T, 3), _checkpoint(T)
    C.checkpoint(T.sin, x).sum().backward()
    C.checkpoint_sequential([T.sin, T.cos], 2, x).sum().backward()
    return _values(x.grad)


@case
def contexts_of_the_two_runs(T):
    x, seen = leaf(T, 3), []

    @contextlib.contextmanager
    def noted(name):
        seen.append(name)
        yield

    y = _checkpoint(T).checkpoint(
        lambda a: a.sin().exp(), x, use_reentrant=False,
        context_fn=lambda: (noted("first"), noted("second")),
    )
    y.sum().backward()
    return seen, _values(x.grad)


@case
def early_stop(T):
    x, C, ends = leaf(T, 3), _checkpoint(T), []

    def f(a):
        b = a.exp()
        c = b + 1
        ends.append(1)
        return c

    C.checkpoint(f, x, use_reentrant=False).sum().backward()
    with C.set_checkpoint_early_stop(False):
        y = C.checkpoint(f, x, use_reentrant=False)
    y.sum().backward()
    return len(ends)

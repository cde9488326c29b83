"""When what a graph holds is let go: plain objects tied to nodes, contexts, hooks and packed values."""

import gc
import warnings
import weakref

from compat_tests.harness import attempt, case, each, leaf


class Token:
    """Something whose end can be seen."""


class Watch:
    """Tokens by name; says which are alive, with the collector off until asked for."""

    def __init__(self):
        self.refs = {}

    def token(self, name):
        made = Token()
        self.refs[name] = weakref.ref(made)
        return made

    def alive(self):
        return [name for name, ref in self.refs.items() if ref() is not None]


def collected(program):
    """Run with the collector off: what dies without it is seen."""

    def run(T, *row):
        gc.collect()
        gc.disable()
        try:
            return program(T, Watch(), *row)
        finally:
            gc.enable()
            gc.collect()

    run.__name__, run.__module__ = program.__name__, program.__module__
    return run


def _hook(*held):
    """A hook that does nothing but hold these."""
    return lambda *gs: (held, None)[1]


def _function(T, watch, name="ctx", keep="nothing"):
    class Made(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.token = watch.token(name)
            y = x * 2
            if keep == "input":
                ctx.save_for_backward(x)
            if keep == "output":
                ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g * 2

    return Made.apply


@each(nothing="nothing", input="input", output="output")
@collected
def a_context(T, watch, keep):
    x = leaf(T, 3)
    y = _function(T, watch, keep=keep)(x)
    seen = [watch.alive()]
    z = y.sum()
    del y
    seen.append(watch.alive())
    z.backward()
    seen.append(watch.alive())
    del z
    return [*seen, watch.alive()]


@each(plain={}, retained=dict(retain_graph=True))
@collected
def contexts_of_a_chain(T, watch, options):
    x = leaf(T, 3)
    y = x
    for i in range(3):
        y = _function(T, watch, f"ctx{i}", "input")(y)
    z = y.sum()
    seen = [watch.alive()]
    z.backward(**options)
    seen.append(watch.alive())
    del z
    seen.append(watch.alive())
    del y
    return [*seen, watch.alive()]


@collected
def _packed(T, watch, options):
    count = [0]

    def pack(t):
        count[0] += 1
        token = watch.token(f"packed{count[0]}")
        token.value = t.detach()
        return token

    x = leaf(T, 3)
    with T.autograd.graph.saved_tensors_hooks(pack, lambda token: token.value):
        z = (x.exp() * x).sum()
    seen = [watch.alive()]
    z.backward(**options)
    seen.append(watch.alive())
    del z
    return [*seen, watch.alive()]


@each(freed_by_backward={}, kept_by_retain_graph=dict(retain_graph=True))
def packed_values(T, options):
    return _packed(T, options)


@each(keep=True, drop=False)
@collected
def packed_values_of_a_graph_never_run(T, watch, keep):
    def pack(t):
        token = watch.token("packed")
        token.value = t.detach()
        return token

    x = leaf(T, 3)
    with T.autograd.graph.saved_tensors_hooks(pack, lambda token: token.value):
        y = x.exp() + 1
    z = y.sum() if keep else None
    del y
    before = watch.alive()
    del z
    return before, watch.alive()


@case
@collected
def hooks_of_intermediates(T, watch):
    x = leaf(T, 3)
    y = x * 2
    for name, register in (("tensor", y.register_hook), ("node", y.grad_fn.register_hook),
                           ("pre", y.grad_fn.register_prehook)):
        register(_hook(watch.token(name)))
    z = y.exp().sum()
    del y
    seen = [watch.alive()]
    z.backward()
    seen.append(watch.alive())
    del z, register
    return [*seen, watch.alive()]


@case
@collected
def hooks_of_leaves(T, watch):
    x = leaf(T, 3)
    handle = x.register_hook(_hook(watch.token("removed")))
    x.register_hook(_hook(watch.token("kept")))
    x.register_post_accumulate_grad_hook(_hook(watch.token("post")))
    (x * 2).sum().backward()
    seen = [watch.alive()]
    handle.remove()
    seen.append(watch.alive())
    del x
    return [*seen, watch.alive()]


@case
@collected
def hooks_on_the_accumulator(T, watch):
    x = leaf(T, 3)
    y = x * 2
    y.grad_fn.next_functions[0][0].register_hook(_hook(watch.token("hook")))
    seen = [watch.alive()]
    y.sum().backward()
    seen.append(watch.alive())
    del y
    return [*seen, watch.alive()]


@case
@collected
def a_hook_that_holds_its_own_tensor(T, watch):
    x = leaf(T, 3)
    y = x * 2
    y.register_hook(_hook(y, watch.token("hook")))
    y.sum().backward()
    before = watch.alive()
    del y
    return before, watch.alive()  # PyTorch's collector does not find this cycle; ours does


@case
@collected
def a_leaf_hook_that_holds_the_leaf(T, watch):
    x = leaf(T, 3)
    x.register_hook(_hook(x, watch.token("hook")))
    (x * 2).sum().backward()
    del x
    held = watch.alive()
    gc.collect()
    return held, watch.alive()


@case
@collected
def notes_on_nodes(T, watch):
    x = leaf(T, 3)
    y = x.exp()
    y.grad_fn.metadata["token"] = watch.token("note")
    z = y.sum()
    del y
    seen = [watch.alive()]
    z.backward()
    seen.append(watch.alive())
    del z
    return [*seen, watch.alive()]


@case
@collected
def attributes_of_tensors(T, watch):
    x = leaf(T, 3)
    x.note = watch.token("leaf")
    x.grad = None
    (x * 2).sum().backward()
    x.grad.note = watch.token("grad")
    seen = [watch.alive()]
    x.grad = None
    seen.append(watch.alive())
    del x
    return [*seen, watch.alive()]


@each(reset=True, left=False)
@collected
def the_cycle_of_create_graph(T, watch, reset):
    x = leaf(T, 3)
    x.note = watch.token("parameter")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _function(T, watch, keep="input")(x).sum().backward(create_graph=True)
    x.grad.note = watch.token("grad")
    seen = [watch.alive()]
    if reset:
        x.grad = None
    seen.append(watch.alive())
    del x
    seen.append(watch.alive())
    return seen


@case
@collected
def many_steps_with_create_graph_and_reset(T, watch):
    x = leaf(T, 3)
    for i in range(5):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _function(T, watch, f"ctx{i}", "input")(x).exp().sum().backward(create_graph=True)
        x.grad.note = watch.token(f"grad{i}")
        x.grad.sum().backward()
        x.grad = None
    return watch.alive()


@case
@collected
def an_error_in_backward(T, watch):
    x = leaf(T, 3)
    y = _function(T, watch, "below", "input")(x)

    class Fails(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.token = watch.token("fails")
            return x * 1

        @staticmethod
        def backward(ctx, g):
            raise KeyError("stop")

    z = Fails.apply(y).sum()
    refused = attempt(z.backward)
    seen = [watch.alive()]
    del z
    seen.append(watch.alive())
    del y
    return refused, [*seen, watch.alive()]


@case
@collected
def grad_keeps_nothing(T, watch):
    x = leaf(T, 3)
    y = _function(T, watch, keep="input")(x)
    (g,) = T.autograd.grad(y.exp().sum(), x, create_graph=True)
    seen = [watch.alive()]
    del y
    seen.append(watch.alive())
    del g
    return [*seen, watch.alive()]


@case
@collected
def edges_and_nodes_held_by_hand(T, watch):
    x = leaf(T, 3)
    y = _function(T, watch, keep="input")(x)
    node = (y * 2).grad_fn
    del y
    seen = [watch.alive()]
    inner = node.next_functions[0][0]
    del node
    seen.append(watch.alive())
    del inner
    return [*seen, watch.alive()]


@case
@collected
def views_and_writes(T, watch):
    x = leaf(T, 4)
    h = _function(T, watch, "base", "input")(x) * 1
    part = h[1:]
    part.mul_(2)
    seen = [watch.alive()]
    del h
    seen.append(watch.alive())
    part.sum().backward()
    del part
    return [*seen, watch.alive()]

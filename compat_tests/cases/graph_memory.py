"""When what nodes hold is let go: after backward, after del, and in cycles through hooks."""

import gc
import weakref

from compat_tests.harness import case, each, leaf


class _Box:
    """Something weak references can follow, in the place of a saved tensor."""

    def __init__(self, held):
        self.held = held


def _boxed(T, refs):
    def pack(t):
        box = _Box(t.detach())
        refs.append(weakref.ref(box))
        return box

    return T.autograd.graph.saved_tensors_hooks(pack, lambda box: box.held)


def _alive(refs):
    return [ref() is not None for ref in refs]


@case
def saved_values_after_backward_and_del(T):
    x, refs, seen = leaf(T, 2), [], []
    with _boxed(T, refs):
        y = x.exp() * x
    z = y.sum()
    seen.append(_alive(refs))
    z.backward(retain_graph=True)
    seen.append(_alive(refs))
    z.backward()
    seen.append(_alive(refs))
    refs.clear()
    with _boxed(T, refs):
        y = x.exp() * x
    z = y.sum()
    del y
    seen.append(_alive(refs))
    del z
    seen.append(_alive(refs))
    return seen


@case
def saved_values_during_backward(T):
    x, refs, seen = leaf(T, 2), [], []
    with _boxed(T, refs):
        a = x.exp()
        b = a.exp()
        c = b.exp()
    a.register_hook(lambda g: seen.append(_alive(refs)))
    x.register_hook(lambda g: seen.append(_alive(refs)))
    c.sum().backward()
    return seen


@each(leaf_hook=lambda T, x, y: x.register_hook(lambda g, x=x: None),
      accumulator_hook=lambda T, x, y: y.grad_fn.next_functions[0][0].register_hook(lambda a, b, x=x: None))
def cycles_are_collected(T, tie):
    gc.collect()
    gc.disable()
    try:
        x = leaf(T, 2)
        y = x * 2
        tie(T, x, y)
        refs = [weakref.ref(x), weakref.ref(y)]
        del x, y
        gc.collect()
        return _alive(refs)
    finally:
        gc.enable()


@case
def tensors_that_a_graph_does_not_keep(T):
    x = leaf(T, 2)
    h = x * 2
    refs = [weakref.ref(h), weakref.ref(x)]
    z = (h * h).sum()
    del h, x
    seen = [_alive(refs)]
    z.backward()
    seen.append(_alive(refs))
    del z
    seen.append(_alive(refs))
    return [first for first, _ in seen[1:]], [last for _, last in seen]


@case
def hooks_of_an_accumulator_nobody_keeps(T):
    x, seen = leaf(T, 2), []
    node = (x * 1).grad_fn.next_functions[0][0]
    node.register_hook(lambda a, b: seen.append("post"))
    del node
    (x * 2).sum().backward()
    return seen


@case
def what_ctx_holds(T):
    class Keeps(T.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            ctx.box = _Box(1)
            refs.append(weakref.ref(ctx.box))
            return a * 1

        @staticmethod
        def backward(ctx, g):
            return g

    refs, seen = [], []
    y = Keeps.apply(leaf(T, 2))
    z = y.sum()
    del y
    z.backward()
    seen.append(_alive(refs))
    del z
    seen.append(_alive(refs))
    return seen


@case
def a_removed_hook_on_several_tensors(T):
    x, w, box = leaf(T, 2), leaf(T, 2), _Box(1)
    ref = weakref.ref(box)
    handle = T.autograd.graph.register_multi_grad_hook((x, w), lambda g, box=box: None)
    del box
    (x * w).sum().backward()
    before = ref() is not None
    handle.remove()
    return before, ref() is not None

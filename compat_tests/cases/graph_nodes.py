"""Nodes: their face, calling them, what they show as saved, edges instead of tensors, their hooks."""

import copy
import pickle

from compat_tests.harness import AnyStrides, attempt, case, each, leaf, raises, rand


@case
def face(T):
    x = leaf(T, 3)
    y = x * x
    node, z = y.grad_fn, y.exp()
    accumulator = node.next_functions[0][0]
    node.metadata["mine"] = 1
    later = z.grad_fn._sequence_nr() - node._sequence_nr()
    z.grad_fn._set_sequence_nr(7)
    known = node._input_metadata[0]
    Node = T.autograd.graph.Node
    return (
        [isinstance(n, Node) for n in (node, accumulator, 3)], issubclass(type(node), Node),
        (accumulator.name(), accumulator.next_functions, accumulator.requires_grad, accumulator.metadata),
        accumulator._sequence_nr(), accumulator.variable is x, y.grad_fn is node, y.grad_fn.metadata,
        later, z.grad_fn._sequence_nr(), node.requires_grad,
        (list(known.shape), known.dtype, str(known.device), known.is_nested_tensor),
        len(x.unbind()[0].grad_fn._input_metadata), list(accumulator._input_metadata[0].shape),
        raises(lambda: setattr(node, "_saved_self", 1)), raises(lambda: setattr(node, "foo", 1)),
        raises(lambda: node.bar),
    )


@case
def face_of_a_function(T):
    class F(T.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.was_node = isinstance(ctx, T.autograd.graph.Node)
            return a * 1, a[:1] * 2

        @staticmethod
        def backward(ctx, g, h):
            return g

    node = F.apply(leaf(T, 3))[0].grad_fn
    return (node.was_node, isinstance(node, T.autograd.graph.Node), node.metadata, node.requires_grad,
            [list(m.shape) for m in node._input_metadata], node.name())


@case
def as_objects(T):
    x = leaf(T, 3)
    node = (x * x).grad_fn
    return (raises(lambda: copy.copy(node)), raises(lambda: pickle.dumps(node)), str(type(node)), bool(node),
            {node: 1}[node], node != (x * x).grad_fn)


@case
def a_retained_gradient_with_history_is_a_clone(T):
    x = leaf(T, 3)
    y = x * x
    y.retain_grad()
    y.register_hook(lambda g: g * 2)
    (g,) = T.autograd.grad((y * y).sum(), y, create_graph=True)
    return g, y.grad


@case
def called(T):
    x, w, one = leaf(T, 3), leaf(T, 3), T.ones(3)
    y = x * w
    log = []
    y.grad_fn.register_hook(lambda *a: log.append("post"))
    y.grad_fn.register_prehook(lambda *a: log.append("pre"))
    y.register_hook(lambda *a: log.append("tensor"))
    exp, number, constant = x.exp(), x * 2, x * w.detach()
    accumulator = y.grad_fn.next_functions[0][0]
    with T.no_grad():
        found = [y.grad_fn(one), exp.grad_fn(one), exp.grad_fn(None), number.grad_fn(one),
                 constant.grad_fn(one), accumulator(one)]
    live = exp.grad_fn(one)
    y.sum().backward()
    return (
        log, found, live.requires_grad, x.grad, raises(exp.grad_fn),
        raises(lambda: exp.grad_fn(one, one)), raises(lambda: exp.grad_fn(3)),
        raises(lambda: exp.grad_fn(one, k=1)), raises(lambda: y.grad_fn(one)),
        (x.view(1, 3).max(1).values.grad_fn(T.ones(1))).detach(),
    )


@case
def hooks_around_retained_grads(T):
    x, log = leaf(T, 2), []
    y = x * x
    y.register_hook(lambda g: log.append("1"))
    y.retain_grad()
    y.register_hook(lambda g: log.append("2") or g * 2)
    y.grad_fn.register_prehook(lambda g: log.append("pre") or (g[0] * 3,))
    y.register_hook(lambda g: log.append(("3", g.clone())))
    y.grad_fn.register_hook(lambda a, b: log.append(("post", a, b)))
    y.sum().backward()
    z = x * x
    z.grad_fn.register_prehook(lambda g: log.append("z pre") or (g[0] * 3,))
    z.register_hook(lambda g: g * 2)
    z.retain_grad()
    first = T.autograd.grad(z.sum(), z, retain_graph=True)[0], z.grad.clone()
    second = T.autograd.grad(z.sum(), (x, z), retain_graph=True), z.grad.clone()
    z.sum().backward(inputs=[z])
    return AnyStrides((log, y.grad, x.grad, first, second, z.grad))


@case
def accumulator_hooks(T):
    x, log = leaf(T, 2), []
    accumulator = x.view_as(x).grad_fn.next_functions[0][0]
    accumulator.register_hook(lambda a, b: log.append(("post", len(a), x.grad.clone())))
    accumulator.register_prehook(lambda g: log.append(("pre", g[0].clone())) or (g[0] * 2,))
    x.register_hook(lambda g: log.append(("tensor", g.clone())))
    x.register_post_accumulate_grad_hook(lambda p: log.append(("after", p.grad.clone())))
    (x * 3).sum().backward()
    grads = T.autograd.grad((x * 3).sum(), x)
    (x * 3).sum().backward(inputs=[x])
    same = (x * 1).grad_fn.next_functions[0][0] is accumulator

    def wrong(a, b):
        return (b[0],)

    accumulator.register_hook(wrong)
    return log, grads, x.grad, same, raises((x * 3).sum().backward)


@each(pre_tensor=("pre", lambda T, *g: g[0][0]), pre_number=("pre", lambda T, *g: 3),
      pre_list=("pre", lambda T, *g: [g[0][0]]), pre_two=("pre", lambda T, *g: (g[0][0], g[0][0])),
      pre_none_of_it=("pre", lambda T, *g: ()), pre_of_number=("pre", lambda T, *g: (3,)),
      pre_of_none=("pre", lambda T, *g: (None,)), pre_size=("pre", lambda T, *g: (T.ones(4),)),
      pre_dtype=("pre", lambda T, *g: (g[0][0].double(),)), post_list=("post", lambda T, *g: list(g[0])),
      post_number=("post", lambda T, *g: (3, 3)), post_none=("post", lambda T, *g: (None, None)),
      post_size=("post", lambda T, *g: (T.ones(4), T.ones(4))),
      post_dtype=("post", lambda T, *g: (g[0][0].double(), g[0][1])),
      tensor_tuple=("tensor", lambda T, *g: (g[0],)))
def hooks_that_return_wrong_things(T, row):
    kind, make = row
    x = leaf(T, 3)
    y = x * x

    def hook(*grads):
        return make(T, *grads)

    node = y.grad_fn
    {"pre": node.register_prehook, "post": node.register_hook, "tensor": y.register_hook}[kind](hook)
    return attempt(y.sum().backward), x.grad


@each(where=lambda T, x: T.where(x > 0, x, 1.0), scaled=lambda T, x: x * 2, sum=lambda T, x: x.sum(0),
      index=lambda T, x: x[T.tensor([0, 1])], max=lambda T, x: x.view(1, 3).max(1).values,
      sorted=lambda T, x: x.sort().values, cat=lambda T, x: T.cat([x, x]), add=lambda T, x: x.add(x, alpha=2),
      masked=lambda T, x: x.masked_fill(x > 0, 0.0), lerp=lambda T, x: x.lerp(x * 1, 0.5))
def what_node_hooks_see(T, op):
    x, log = leaf(T, 3), []
    y = op(T, x)
    y.grad_fn.register_prehook(lambda go: log.append(("pre", [g is None for g in go])))
    y.grad_fn.register_hook(lambda gi, go: log.append(
        ([None if g is None else list(g.shape) for g in gi], [g is None for g in go])
    ))
    y.sum().backward()
    return log, len(y.grad_fn.next_functions), len(y.grad_fn._input_metadata)


@case
def edges_instead_of_tensors(T):
    edge, x, w = T.autograd.graph.get_gradient_edge, leaf(T, 3), leaf(T, 3)
    y = x * w
    T.autograd.backward(edge(y.sum()))
    first = x.grad.clone()
    T.autograd.backward((x * w).sum(), inputs=[edge(x)])
    made = edge(y)
    return (
        first, x.grad, w.grad, made.node is y.grad_fn, made.output_nr, made.ownership_token,
        edge(x).node is y.grad_fn.next_functions[0][0], T.autograd.grad(edge((x * w).sum()), edge(w)),
        T.autograd.grad(edge((x * w).exp()), [edge(w), x], T.ones(3)),
        T.autograd.grad((y * 2).sum(), made, retain_graph=True),
        raises(lambda: edge(rand(T, 3))), raises(lambda: T.autograd.backward(edge(x * w))),
        raises(lambda: T.autograd.grad(edge(x * w), x, T.ones(4))),
        raises(lambda: T.autograd.grad((x * w).sum(), edge(leaf(T, 3)), materialize_grads=True)),
        raises(lambda: T.autograd.grad((x * w).sum(), [3])),
    )


@case
def edges_outlive_their_tensors(T):
    x = leaf(T, 3)
    y = x.exp()
    made = T.autograd.graph.get_gradient_edge(y)
    z = (y * y).sum()
    del y
    (g,) = T.autograd.grad(z, made, retain_graph=True)
    T.autograd.backward(made, g)
    return g, x.grad


@each(all_both=("all", lambda c, d: (c * d).sum()), all_first=("all", lambda c, d: c.sum()),
      all_second=("all", lambda c, d: d.sum()), any_both=("any", lambda c, d: (c * d).sum()),
      any_first=("any", lambda c, d: c.sum()), any_second=("any", lambda c, d: d.sum()))
def hooks_on_several_tensors(T, row):
    mode, loss = row
    a, b, log = leaf(T, 3), leaf(T, 3), []
    c, d = a * 2, b * 3
    handle = T.autograd.graph.register_multi_grad_hook(
        (a, b, c), lambda g: log.append([None if t is None else t.clone() for t in g] if mode == "all" else
                                        g.clone()), mode=mode)
    loss(c, d).backward(retain_graph=True)
    loss(c, d).backward()
    handle.remove()
    a.sum().backward()
    return log


@case
def hooks_on_several_tensors_refused(T):
    hook = T.autograd.graph.register_multi_grad_hook
    return (raises(lambda: hook((leaf(T, 3),), print, mode="foo")),
            raises(lambda: hook((rand(T, 3),), print)),
            type(hook((rand(T, 3),), print, mode="any")).__name__, type(hook((), print)).__name__)


@case
def callbacks_at_the_end_of_a_pass(T):
    queue = T.autograd.Variable._execution_engine.queue_callback
    x, y, z, u, log = leaf(T, 2), leaf(T, 2), leaf(T, 2), leaf(T, 2), []
    x.register_hook(lambda g: queue(lambda: log.append(("end", x.grad is not None))))
    (x * x).sum().backward()
    y.register_hook(lambda g: queue(lambda: 1 / 0))
    failed = raises((y * y).sum().backward)

    def chain():
        log.append("one")
        queue(lambda: log.append("two"))

    z.register_hook(lambda g: queue(chain))
    (z * z).sum().backward()

    def nested(g):
        queue(lambda: log.append(("outer", T.is_grad_enabled())))
        v = z.detach().requires_grad_()
        v.register_hook(lambda g: queue(lambda: log.append("inner")))
        with T.enable_grad():
            (v * v).sum().backward()
        log.append("inner done")

    u.register_hook(nested)
    (u * u).sum().backward()
    return log, failed, y.grad, raises(lambda: queue(lambda: 0))


@case
def multithreading_switch(T):
    before = T.autograd.grad_mode.set_multithreading_enabled(False).prev
    off = T.autograd.is_multithreading_enabled()
    with T.autograd.set_multithreading_enabled(True):
        on = T.autograd.is_multithreading_enabled()
    after = T.autograd.is_multithreading_enabled()
    T.autograd.set_multithreading_enabled(True)
    return before, off, on, after

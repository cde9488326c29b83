"""What ``ctx`` and ``torch.autograd.function`` show: attributes, when they may be read, old names."""

from compat_tests.harness import attempt, case, each, leaf, raises, rand, warns


def _double(T, **parts):
    """A function that doubles; ``parts`` replace its methods."""
    body = dict(
        forward=staticmethod(lambda ctx, x: x * 2), backward=staticmethod(lambda ctx, g: g * 2)
    )
    body.update({k: staticmethod(v) if callable(v) else v for k, v in parts.items()})
    return type("Double", (T.autograd.Function,), body)


def _names(cls):
    return [base.__name__ for base in cls.__mro__]


@case
def the_module_and_its_names(T):
    module = T.autograd.function
    present = [hasattr(module, name) for name in (
        "Function", "FunctionCtx", "InplaceFunction", "NestedIOFunction", "BackwardCFunction",
        "FunctionMeta", "once_differentiable",
    )]
    node = _double(T).apply(leaf(T, 2)).grad_fn
    return (
        present, module.Function is T.autograd.Function, sorted(module.__all__),
        isinstance(node, module.BackwardCFunction), isinstance(node, module.FunctionCtx),
        isinstance(node, T.autograd.graph.Node), type(T.autograd.Function) is module.FunctionMeta,
        issubclass(module.InplaceFunction, T.autograd.Function), _double(T)._backward_cls.__name__,
        _double(T)._backward_cls._forward_cls.__name__, T.autograd.Function.generate_vmap_rule,
        module._ContextMethodMixin is module.FunctionCtx,
    )


@case
def ctx_in_forward_and_backward_is_the_node(T):
    seen = []

    def forward(ctx, x):
        seen.append((ctx, type(ctx).__name__, ctx.name(), ctx.needs_input_grad))
        ctx.mine = 3
        return x * 2

    def backward(ctx, g):
        seen.append((ctx, ctx.mine, ctx.needs_input_grad))
        return g * 2

    y = _double(T, forward=forward, backward=backward).apply(leaf(T, 2))
    y.sum().backward()
    a, b = seen
    return a[0] is b[0] is y.grad_fn, a[1:], b[1:], y.grad_fn.metadata, y.grad_fn.mine


_ATTRIBUTES = ("saved_tensors", "saved_variables", "_raw_saved_tensors", "to_save", "non_differentiable",
               "dirty_tensors", "materialize_grads", "needs_input_grad", "next_functions", "metadata",
               "requires_grad", "saved_for_forward", "_is_tracing", "boxed_grads_call")


def _show(ctx, name):
    def look():
        value = getattr(ctx, name)
        if isinstance(value, tuple):
            return ("tuple", len(value), [type(v).__name__ for v in value])
        return type(value).__name__, value if isinstance(value, (bool, int, str)) else None

    return warns(lambda: attempt(look))


@each(**{name.strip("_"): name for name in _ATTRIBUTES})
def an_attribute(T, name):
    seen = []

    def forward(ctx, x):
        seen.append(_show(ctx, name))
        y = x * 2
        ctx.save_for_backward(x, y)
        ctx.mark_non_differentiable()
        ctx.mark_dirty()
        seen.append(_show(ctx, name))
        return y

    def backward(ctx, g):
        seen.append(_show(ctx, name))
        return g * 2

    double = _double(T, forward=forward, backward=backward)
    y = double.apply(leaf(T, 2))
    seen.append(_show(y.grad_fn, name))
    y.sum().backward()
    seen.append(_show(y.grad_fn, name))
    double.apply(rand(T, 2))
    return seen


@each(needs_input_grad=lambda c: setattr(c, "needs_input_grad", (True,)),
      materialize=lambda c: setattr(c, "materialize_grads", False),
      materialize_int=lambda c: setattr(c, "materialize_grads", 3),
      to_save=lambda c: setattr(c, "to_save", (c.x,)),
      saved_tensors=lambda c: setattr(c, "saved_tensors", ()),
      dirty=lambda c: setattr(c, "dirty_tensors", ()),
      non_differentiable=lambda c: setattr(c, "non_differentiable", ()),
      delete=lambda c: delattr(c, "nothing"),
      missing=lambda c: c.nothing)
def attributes_set_in_forward(T, change):
    seen = []

    def forward(ctx, x):
        ctx.x = x
        seen.append(attempt(lambda: change(ctx)))
        return x * 2, x * 3

    def backward(ctx, g, h):
        seen.append((g is None, h is None, ctx.needs_input_grad))
        seen.append(attempt(lambda: len(ctx.saved_tensors)))
        return g * 2

    y, _ = _double(T, forward=forward, backward=backward).apply(leaf(T, 2))
    y.sum().backward()
    return seen


@case
def save_for_backward_twice_keeps_the_last(T):
    def forward(ctx, x):
        ctx.save_for_backward(x, x)
        ctx.save_for_backward(x * 3)
        return x * 2

    y = _double(T, forward=forward).apply(rand(T, 2).requires_grad_())
    return len(y.grad_fn.saved_tensors), y.grad_fn.saved_tensors[0].detach()


@case
def save_for_backward_in_backward(T):
    seen = []

    def backward(ctx, g):
        ctx.save_for_backward(g)
        seen.append(attempt(lambda: len(ctx.saved_tensors)))
        return g

    y = _double(T, backward=backward).apply(leaf(T, 2))
    y.sum().backward()
    return seen, attempt(lambda: len(y.grad_fn.saved_tensors))


@each(free=False, keep=True)
def saved_tensors_after_backward(T, keep):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    y = _double(T, forward=forward).apply(leaf(T, 2))
    y.sum().backward(retain_graph=keep)
    return attempt(lambda: len(y.grad_fn.saved_tensors)), _show(y.grad_fn, "saved_variables")


@case
def saved_tensors_after_no_grad(T):
    kept = []

    def forward(ctx, x):
        kept.append(ctx)
        ctx.save_for_backward(x)
        return x * 2

    double = _double(T, forward=forward)
    with T.no_grad():
        double.apply(leaf(T, 2))
    double.apply(rand(T, 2))
    return [attempt(lambda c=c: len(c.saved_tensors)) for c in kept], [c.needs_input_grad for c in kept]


@each(call=lambda n: n(rand_like(n)), apply=lambda n: n.apply(rand_like(n)), nothing=lambda n: n(),
      two=lambda n: n(rand_like(n), rand_like(n)))
def a_node_called_by_hand(T, call):
    y = _double(T).apply(leaf(T, 2))
    y.grad_fn.g = T.ones(2)
    return attempt(lambda: call(y.grad_fn))


def rand_like(node):
    """A cotangent for the node of a case."""
    return node.g


@case
def methods_are_found_on_the_class(T):
    names = ("forward", "backward", "vjp", "jvp", "vmap", "setup_context", "apply", "mark_dirty",
             "save_for_backward", "save_for_forward", "set_materialize_grads", "mark_shared_storage",
             "mark_non_differentiable")
    return [hasattr(T.autograd.Function, n) for n in names]


@each(forward=lambda F, x: F.forward(None, x), backward=lambda F, x: F.backward(None, x),
      vjp=lambda F, x: F.vjp(None, x), jvp=lambda F, x: F.jvp(None, x),
      vmap=lambda F, x: F.vmap(None, (0,), x), setup_context=lambda F, x: F.setup_context(None, (), x))
def methods_of_the_base_class(T, call):
    return raises(lambda: call(T.autograd.Function, rand(T, 2)))


@each(mark_dirty=lambda c, x: c.mark_dirty(x), save=lambda c, x: c.save_for_backward(x),
      forward=lambda c, x: c.save_for_forward(x), forward_wrong=lambda c, x: c.save_for_forward(3),
      shared=lambda c, x: c.mark_shared_storage((x, x)), nothing=lambda c, x: c.mark_dirty(),
      materialize_none=lambda c, x: c.set_materialize_grads(None),
      materialize_int=lambda c, x: c.set_materialize_grads(1))
def what_methods_answer(T, call):
    answers = []

    def forward(ctx, x):
        answers.append(warns(lambda: attempt(lambda: call(ctx, x))))
        return x

    def run():
        return _double(T, forward=forward).apply(rand(T, 2))

    return attempt(run), answers


@each(plain=lambda T, f: f, staticmethod_=lambda T, f: T.no_grad()(f))
def once_differentiable_keeps_the_name(T, around):
    @T.autograd.function.once_differentiable
    def backward(ctx, g):
        """Doc."""
        return g

    return backward.__name__, backward.__doc__


@each(one=lambda g: g * 2, several=lambda g: (g * 2, g * 3), with_none=lambda g: (g * 2, None),
      none=lambda g: None, nones=lambda g: (None, None))
def once_differentiable(T, make):
    once = T.autograd.function.once_differentiable
    modes = []

    def backward(ctx, g):
        modes.append((T.is_grad_enabled(), g.requires_grad))
        found = make(g)
        return found if isinstance(found, tuple) else (found, None)

    def forward(ctx, x, w):
        return x * 2 + w

    double = _double(T, forward=forward, backward=once(backward))
    x, w = leaf(T, 2), leaf(T, 2)
    found = T.autograd.grad(double.apply(x, w).sum(), (x, w), create_graph=True, allow_unused=True)
    g = T.ones(2, requires_grad=True)
    twice = T.autograd.grad(double.apply(x, w), (x, w), g, create_graph=True, allow_unused=True)
    results = [modes, found, [None if t is None else (t.detach(), t.requires_grad, t.grad_fn.name())
                              for t in twice]]
    if twice[0] is not None:
        results.append(raises(lambda: T.autograd.grad(twice[0].sum(), g)))
    return results


@case
def instance_of_inplace_function(T):
    made, warned = warns(lambda: T.autograd.function.InplaceFunction(True))
    return made.inplace, warned, raises(lambda: made(rand(T, 2)))


# Words that the graph itself needs for something: a user's notes under them are nobody else's affair.
_NOTES = ("edges", "inputs", "needs", "plan", "guards", "retained", "sequence", "num_outputs", "out_aval",
          "pre_hooks", "post_hooks", "tensor_hooks", "is_python", "run", "keep", "release", "saved",
          "saves_something", "arguments", "positions", "function", "freed", "name")


@case
def notes_on_ctx_may_have_any_name(T):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        seen = [(n, hasattr(ctx, n)) for n in _NOTES]
        for name in _NOTES:
            setattr(ctx, name, name.upper())
        ctx.seen = seen
        return x * 2, x * 3

    def backward(ctx, g, h):
        x, = ctx.saved_tensors
        return g * x + h * len([n for n in _NOTES if getattr(ctx, n) == n.upper()])

    x = leaf(T, 2)
    y, z = _double(T, forward=forward, backward=backward).apply(x)
    y.retain_grad()
    y.register_hook(lambda g: g * 2)
    y.grad_fn.register_hook(lambda gi, go: None)
    (y * z).sum().backward(retain_graph=True)
    (y + z).sum().backward()
    return x.grad, y.grad, y.grad_fn.seen, y.grad_fn.edges, len(y.grad_fn.next_functions)


@each(leaf=lambda x: x, view=lambda x: x[:1], result=lambda x: x * 1, part=lambda x: (x * 1).unbind()[0])
def versions_of_what_is_marked_dirty(T, make):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    x = leaf(T, 2)
    t = make(x)
    answer = attempt(lambda: _double(T, forward=forward).apply(t) is t)
    return answer, t._version, x._version

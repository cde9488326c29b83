"""Hooks on tensors and nodes: order, removal, modification, and what they may return."""

from compat_tests.harness import attempt, case, each, leaf, raises, rand


@case
def sees_the_gradient(T):
    x = leaf(T, 3)
    y = x * x
    seen = []
    handle = y.register_hook(seen.append)
    (y * 2).sum().backward()
    return seen, x.grad, type(handle).__name__


@case
def on_a_leaf_sees_each_backward(T):
    x = leaf(T, 3)
    seen = []
    x.register_hook(lambda g: seen.append(g.clone()))
    (x * 2).sum().backward()
    (x * 3).sum().backward()
    return seen, x.grad


@case
def on_a_leaf_sees_the_sum_of_one_pass(T):
    x = leaf(T, 3)
    seen = []
    x.register_hook(lambda g: seen.append(g.clone()))
    (x * 2 + x * x).sum().backward()
    return seen, x.grad


@case
def runs_in_order(T):
    x = leaf(T, 3)
    seen = []
    for i in range(3):
        x.register_hook(lambda g, i=i: seen.append(i))
    (x * x).sum().backward()
    return seen


@each(scale=lambda g: g * 2, zero=lambda g: g * 0, constant=lambda g: g.new_ones(3),
      none=lambda g: None, same=lambda g: g, clamp=lambda g: g.clamp(-1, 1), neg=lambda g: -g)
def replaces_the_gradient(T, hook):
    x, w = leaf(T, 3), leaf(T, 3)
    y = x * x
    y.register_hook(hook)
    w.register_hook(hook)
    (y * w).sum().backward()
    return x.grad, w.grad


@case
def each_hook_sees_what_the_last_returned(T):
    x = leaf(T, 3)
    seen = []

    def watch(g):
        seen.append(g.clone())

    x.register_hook(watch)
    x.register_hook(lambda g: g + 1)
    x.register_hook(watch)
    x.register_hook(lambda g: g * 10)
    x.register_hook(watch)
    (x * 2).sum().backward()
    return seen, x.grad


@case
def removed(T):
    x = leaf(T, 3)
    handles = [x.register_hook(lambda g, by=by: g * by) for by in (2, 3, 5)]
    handles[1].remove()
    (x * 1).sum().backward()
    first = x.grad.clone()
    handles[0].remove()
    handles[0].remove()
    x.grad = None
    (x * 1).sum().backward()
    return first, x.grad


@case
def handle_as_context_manager(T):
    x = leaf(T, 3)
    with x.register_hook(lambda g: g * 2):
        x.sum().backward()
    first = x.grad.clone()
    x.grad = None
    x.sum().backward()
    return first, x.grad


@case
def removed_while_running(T):
    x = leaf(T, 3)
    seen, handles = [], []
    handles.append(x.register_hook(lambda g: handles[0].remove() or seen.append("first")))
    handles.append(x.register_hook(lambda g: seen.append("second")))
    (x * 2).sum().backward()
    (x * 2).sum().backward()
    return seen


@case
def added_while_running(T):
    x = leaf(T, 3)
    seen = []

    def first(g):
        seen.append("first")
        if len(seen) == 1:
            x.register_hook(lambda g: seen.append("late"))

    x.register_hook(first)
    (x * 2).sum().backward()
    (x * 2).sum().backward()
    return seen


@each(longer=lambda g: g.new_ones(4), scalar=lambda g: g.sum(), matrix=lambda g: g[None],
      int64=lambda g: g.long(), float64=lambda g: g.double())
def returns_another_shape_or_dtype(T, hook):
    x = leaf(T, 3)
    y = x * x
    y.register_hook(hook)
    return attempt(lambda: y.sum().backward()), x.grad


@each(int_=3, string="x", tuple_=(1,), list_=[1], true=True)
def returns_no_tensor(T, value):
    x = leaf(T, 3)
    y = x * x
    y.register_hook(lambda g: value)
    return raises(lambda: y.sum().backward()), x.grad


@case
def raises_an_error(T):
    x = leaf(T, 3)
    y = x * x

    def hook(g):
        raise KeyError("from the hook")

    y.register_hook(hook)
    return raises(lambda: y.sum().backward()), x.grad


@case
def changing_the_gradient_in_place_in_a_hook(T):
    x = leaf(T, 3)
    y = x * x
    y.register_hook(lambda g: g.mul_(2))
    (y * 3).sum().backward()
    return x.grad


@case
def on_a_tensor_that_needs_no_grad(T):
    c = rand(T, 3)
    return raises(lambda: c.register_hook(lambda g: g)), raises(
        lambda: leaf(T, 3).detach().register_hook(print)
    )


@case
def runs_for_autograd_grad(T):
    x = leaf(T, 3)
    y = x * x
    seen = []
    x.register_hook(lambda g: seen.append("x") or g * 2)
    y.register_hook(lambda g: seen.append("y") or g * 3)
    return T.autograd.grad(y.sum(), x), seen, x.grad


@case
def runs_before_a_captured_intermediate(T):
    x = leaf(T, 3)
    y = x * x
    y.register_hook(lambda g: g * 3)
    return T.autograd.grad((y * 2).sum(), [y, x])


@case
def runs_before_retain_grad(T):
    x = leaf(T, 3)
    y = x * x
    y.register_hook(lambda g: g * 2)
    y.retain_grad()
    y.register_hook(lambda g: g * 5)
    y.sum().backward()
    return y.grad, x.grad


@case
def after_an_in_place_operation(T):
    x = leaf(T, 3)
    y = x * x
    seen = []
    y.register_hook(lambda g: seen.append(("before", g.clone())))
    y.mul_(2)
    y.register_hook(lambda g: seen.append(("after", g.clone())))
    (y * 3).sum().backward()
    return seen, x.grad


@case
def on_a_view(T):
    x = leaf(T, 4)
    y = x * 1
    part = y[1:]
    seen = []
    part.register_hook(lambda g: seen.append(g.clone()))
    part.register_hook(lambda g: g * 2)
    (part * part).sum().backward()
    return seen, x.grad


@case
def on_one_output_of_several(T):
    x = leaf(T, 4)
    a, b = x.split(2)
    a.register_hook(lambda g: g * 10)
    (a + b * 2).sum().backward()
    return x.grad


@case
def on_an_output_whose_gradient_is_undefined(T):
    x = leaf(T, 4)
    a, b = x.split(2)
    seen = []
    a.register_hook(lambda g: seen.append("a"))
    b.register_hook(lambda g: seen.append("b"))
    b.sum().backward()
    return seen, x.grad


@case
def on_the_output_itself(T):
    x = leaf(T, 3)
    y = (x * x).sum()
    y.register_hook(lambda g: g * 7)
    y.backward()
    return x.grad


@case
def not_run_for_another_branch(T):
    x = leaf(T, 3)
    y, z = x * 2, x * 3
    seen = []
    y.register_hook(lambda g: seen.append("y"))
    z.sum().backward()
    return seen


@case
def runs_with_grad_off_unless_create_graph(T):
    x = leaf(T, 3)
    y = x * x
    seen = []
    y.register_hook(lambda g: seen.append((T.is_grad_enabled(), g.requires_grad)))
    (y * y).sum().backward(retain_graph=True)
    T.autograd.grad((y * y).sum(), x, create_graph=True)
    return seen


@case
def backward_inside_a_hook(T):
    x, w = leaf(T, 3), leaf(T, 3)
    y = x * x

    def hook(g):
        with T.enable_grad():
            (w * w).sum().backward()

    y.register_hook(hook)
    y.sum().backward()
    return x.grad, w.grad


@case
def the_same_hook_twice(T):
    x = leaf(T, 3)
    hook = lambda g: g * 2  # noqa: E731
    x.register_hook(hook)
    x.register_hook(hook)
    x.sum().backward()
    return x.grad


@case
def a_hook_of_the_wrong_signature(T):
    x = leaf(T, 3)
    x.register_hook(lambda g, extra: g)
    return raises(
        lambda: x.sum().backward(),
        phrase="missing 1 required positional argument: 'extra'",
        because="the message names the case function",
    )


# --- after accumulation --------------------------------------------------------------------------


@case
def post_accumulate(T):
    x = leaf(T, 3)
    seen = []
    handle = x.register_post_accumulate_grad_hook(
        lambda p: seen.append((p is x, p.grad.clone()))
    )
    (x * 2).sum().backward()
    (x * 3).sum().backward()
    handle.remove()
    (x * 4).sum().backward()
    return seen, x.grad, type(handle).__name__


@case
def post_accumulate_optimizer_in_backward(T):
    x, w = leaf(T, 3), leaf(T, 3)

    def step(p):
        with T.no_grad():
            p -= 0.1 * p.grad
        p.grad = None

    for p in (x, w):
        p.register_post_accumulate_grad_hook(step)
    (x * w).sum().backward()
    return x, w, x.grad


@case
def post_accumulate_order(T):
    x = leaf(T, 3)
    seen = []
    x.register_post_accumulate_grad_hook(lambda p: seen.append("after 1"))
    x.register_hook(lambda g: seen.append("tensor"))
    x.register_post_accumulate_grad_hook(lambda p: seen.append("after 2"))
    (x * x).sum().backward()
    return seen


@case
def post_accumulate_refused(T):
    x, c = leaf(T, 3), rand(T, 3)
    return (
        raises(lambda: (x * 2).register_post_accumulate_grad_hook(print)),
        raises(lambda: c.register_post_accumulate_grad_hook(print)),
    )


@case
def post_accumulate_not_for_grad(T):
    x = leaf(T, 3)
    seen = []
    x.register_post_accumulate_grad_hook(lambda p: seen.append("ran"))
    T.autograd.grad((x * x).sum(), x)
    (x * x).sum().backward(inputs=[x])
    return seen


@case
def post_accumulate_may_return_nothing_but_none(T):
    x = leaf(T, 3)
    x.register_post_accumulate_grad_hook(lambda p: p.grad * 2)
    return attempt(lambda: x.sum().backward()), x.grad


@case
def post_accumulate_runs_once_a_pass(T):
    x = leaf(T, 3)
    seen = []
    x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.clone()))
    (x * x + x).sum().backward()
    return seen


# --- on nodes ------------------------------------------------------------------------------------


@case
def node_hook_sees_inputs_and_outputs(T):
    x, w = leaf(T, 3), leaf(T, 3)
    y = x * w
    seen = []
    y.grad_fn.register_hook(lambda gi, go: seen.append((gi, go)))
    (y * 2).sum().backward()
    return seen


@case
def node_hook_replaces_inputs(T):
    x, w = leaf(T, 3), leaf(T, 3)
    y = x * w
    y.grad_fn.register_hook(lambda gi, go: (gi[0] * 10, gi[1]))
    y.sum().backward()
    return x.grad, w.grad


@case
def node_hook_sees_none(T):
    x, c = leaf(T, 3), rand(T, 3)
    y = x * c
    seen = []
    y.grad_fn.register_hook(lambda gi, go: seen.append([g is None for g in gi]))
    y.sum().backward()
    return seen


@case
def node_prehook_replaces_outputs(T):
    x = leaf(T, 3)
    y = x * x
    y.grad_fn.register_prehook(lambda go: (go[0] * 10,))
    y.sum().backward()
    return x.grad


@case
def node_hooks_and_tensor_hooks_in_order(T):
    x = leaf(T, 3)
    y = x * x
    seen = []
    y.grad_fn.register_prehook(lambda go: seen.append("node pre"))
    y.register_hook(lambda g: seen.append("tensor"))
    y.grad_fn.register_hook(lambda gi, go: seen.append("node post"))
    x.register_hook(lambda g: seen.append("leaf"))
    y.sum().backward()
    return seen


@case
def node_hook_removed(T):
    x = leaf(T, 3)
    y = x * x
    handle = y.grad_fn.register_hook(lambda gi, go: tuple(g * 2 for g in gi))
    y.sum().backward(retain_graph=True)
    first = x.grad.clone()
    handle.remove()
    x.grad = None
    y.sum().backward()
    return first, x.grad


@each(too_many=lambda gi, go: (gi[0], gi[0], gi[0]), not_a_tuple=lambda gi, go: gi[0],
      number=lambda gi, go: 3)
def node_hook_returns_wrong_things(T, hook):
    x = leaf(T, 3)
    y = x.exp()
    y.grad_fn.register_hook(hook)
    return attempt(lambda: y.sum().backward()), x.grad


@case
def accumulate_node_hooks(T):
    x = leaf(T, 3)
    node = (x * 1).grad_fn.next_functions[0][0]
    seen = []
    node.register_prehook(lambda go: seen.append(("pre", x.grad is None)))
    node.register_hook(lambda gi, go: seen.append(("post", x.grad is None, gi)))
    (x * 2).sum().backward()
    return seen

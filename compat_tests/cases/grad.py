"""``autograd.grad``: every argument, and every refusal."""

from collections import OrderedDict

from compat_tests.harness import AnyStrides, attempt, case, each, graph, leaf, raises, rand


@case
def returns_and_does_not_accumulate(T):
    x, w = leaf(T, 3), leaf(T, 3)
    result = T.autograd.grad((x * w).sum(), (x, w))
    return AnyStrides(result), x.grad, w.grad


@each(tensor=lambda x: x, list_=lambda x: [x], tuple_=lambda x: (x,))
def outputs_and_inputs_as_tensor_or_sequence(T, wrap):
    x = leaf(T, 3)
    return T.autograd.grad(wrap((x * x).sum()), wrap(x))


@case
def grad_outputs(T):
    x, g = leaf(T, 2, 3), rand(T, 2, 3)
    y = x * x
    return (
        T.autograd.grad(y, x, g, retain_graph=True),
        T.autograd.grad(y, x, [g], retain_graph=True),
        T.autograd.grad([y], [x], grad_outputs=(g,), retain_graph=True),
        T.autograd.grad(outputs=y, inputs=x, grad_outputs=g),
    )


@case
def several_outputs(T):
    x, w = leaf(T, 3), leaf(T, 3)
    outputs = [(x * w).sum(), (x * x).sum(), x + w]
    return T.autograd.grad(outputs, [x, w], [None, T.tensor(2.0), rand(T, 3)])


@case
def the_same_output_twice(T):
    x = leaf(T, 3)
    y = (x * x).sum()
    return T.autograd.grad([y, y], x)


@case
def the_same_input_twice(T):
    x = leaf(T, 3)
    return T.autograd.grad((x * x).sum(), [x, x])


@case
def input_is_the_output(T):
    x = leaf(T, 3)
    y = (x * x).sum()
    return T.autograd.grad(y, y, retain_graph=True), T.autograd.grad(y, [y, x])


@case
def input_is_a_leaf_output(T):
    x, g = leaf(T, 3), rand(T, 3)
    return T.autograd.grad(x, x, g)


@case
def input_is_an_intermediate(T):
    x = leaf(T, 3)
    y = x.exp()
    z = (y * y).sum()
    return T.autograd.grad(z, y, retain_graph=True), T.autograd.grad(z, [y, x]), x.grad, y.grad


@case
def input_below_an_input(T):
    x = leaf(T, 3)
    y = x.exp()
    z = y * 2
    return T.autograd.grad((z * y).sum(), [x, y, z])


@case
def unused_input(T):
    x, w = leaf(T, 3), leaf(T, 2)
    y = (x * x).sum()
    return (
        raises(lambda: T.autograd.grad(y, w, retain_graph=True)),
        raises(lambda: T.autograd.grad(y, [x, w], retain_graph=True)),
        T.autograd.grad(y, [x, w], allow_unused=True),
    )


@case
def unused_in_every_output(T):
    x, w = leaf(T, 3), leaf(T, 2)
    return AnyStrides(
        T.autograd.grad([x.sum(), (x * x).sum()], [w, x], allow_unused=True)
    )


@case
def unused_uses_the_graph_up(T):
    x, w = leaf(T, 3), leaf(T, 3)
    y = (x * x).sum()
    return raises(lambda: T.autograd.grad(y, w)), attempt(lambda: T.autograd.grad(y, x))


@case
def materialize_grads(T):
    x, w, d = leaf(T, 3), leaf(T, 2, 2), leaf(T, 2, dtype="float64")
    y = (x * x).sum()
    return T.autograd.grad(y, [x, w, d], materialize_grads=True)


@each(true=True, none=None)
def materialize_grads_allows_unused(T, allow):
    x, w = leaf(T, 3), leaf(T, 2)
    return T.autograd.grad(
        (x * x).sum(), [x, w], allow_unused=allow, materialize_grads=True
    )


@case
def materialize_grads_contradiction(T):
    x = leaf(T, 3)
    return raises(
        lambda: T.autograd.grad(x.sum(), x, allow_unused=False, materialize_grads=True)
    )


@case
def materialized_grads_with_create_graph(T):
    x, w = leaf(T, 3), leaf(T, 2)
    return T.autograd.grad(
        (x * x).sum(), [x, w], create_graph=True, materialize_grads=True
    )[1]


@case
def input_that_needs_no_grad(T):
    x, c = leaf(T, 3), rand(T, 3)
    y = (x * c).sum()
    return (
        raises(lambda: T.autograd.grad(y, c)),
        raises(lambda: T.autograd.grad(y, [x, c])),
        raises(lambda: T.autograd.grad(y, [x, c], allow_unused=True)),
    )


@case
def output_that_needs_no_grad(T):
    x, c = leaf(T, 3), rand(T, 3)
    return (
        raises(lambda: T.autograd.grad(c.sum(), x)),
        raises(lambda: T.autograd.grad([x.sum(), c.sum()], x)),
        raises(lambda: T.autograd.grad(c.sum(), x, allow_unused=True)),
    )


@case
def no_inputs(T):
    x = leaf(T, 3)
    return (
        raises(lambda: T.autograd.grad(x.sum(), [])),
        raises(lambda: T.autograd.grad(x.sum(), ())),
    )


@case
def no_outputs(T):
    x = leaf(T, 3)
    return (
        raises(lambda: T.autograd.grad([], x)),
        T.autograd.grad([], x, allow_unused=True),
    )


@each(none=None, int_=3, string="x", list_of_none=[None])
def inputs_that_are_no_tensors(T, value):
    x = leaf(T, 3)
    return raises(lambda: T.autograd.grad(x.sum(), value))


@each(none=None, int_=3, string="x", list_of_none=[None])
def outputs_that_are_no_tensors(T, value):
    x = leaf(T, 3)
    return raises(lambda: T.autograd.grad(value, x))


@case
def lengths_must_match(T):
    x = leaf(T, 3)
    a, b, g = x * 2, x * 3, T.ones(3)
    return (
        raises(lambda: T.autograd.grad([a, b], x, [g])),
        raises(lambda: T.autograd.grad([a, b], x, g)),
        attempt(lambda: T.autograd.grad([a], x, [g, g])),
    )


@each(int_=3, float_=2.0, list_of_float=[1.0], string="x")
def grad_outputs_that_are_no_tensors(T, gradient):
    x = leaf(T, 1)
    return raises(lambda: T.autograd.grad(x * 2, x, gradient))


@case
def only_inputs(T):
    x = leaf(T, 3)
    y = (x * x).sum()
    return (
        T.autograd.grad(y, x, only_inputs=True, retain_graph=True),
        T.autograd.grad(y, x, only_inputs=False),
    )


@case
def unknown_argument(T):
    x = leaf(T, 3)
    return (
        raises(lambda: T.autograd.grad(x.sum(), x, keep_graph=True)),
        raises(lambda: T.autograd.grad(x.sum())),
        raises(T.autograd.grad),
    )


@case
def positional_arguments(T):
    x, w = leaf(T, 3), leaf(T, 3)
    y = (x * x).sum()
    return T.autograd.grad(y, [x, w], None, True, False, True, True), T.autograd.grad(y, x)


@case
def in_no_grad(T):
    x = leaf(T, 3)
    y = (x * x).sum()
    with T.no_grad():
        return T.autograd.grad(y, x), T.is_grad_enabled()


@case
def create_graph_in_no_grad(T):
    x = leaf(T, 3)
    y = (x * x * x).sum()
    with T.no_grad():
        (g,) = T.autograd.grad(y, x, create_graph=True)
    return g.requires_grad, AnyStrides(T.autograd.grad(g.sum(), x))


@case
def result_of_grad_is_plain(T):
    x = leaf(T, 3)
    (g,) = T.autograd.grad((x * x).sum(), x)
    return g, raises(lambda: g.sum().backward())


@case
def a_view_of_a_leaf_is_no_path_to_it(T):
    x = leaf(T, 4)
    y = (x * x).sum()
    part = x[:2]
    return raises(lambda: T.autograd.grad(y, part)), T.autograd.grad(
        (x * x).sum(), part, allow_unused=True
    )


@case
def through_a_view(T):
    x = leaf(T, 4)
    part = x[:2]
    y = (part * part).sum()
    return T.autograd.grad(y, part, retain_graph=True), T.autograd.grad(y, x)


# --- is_grads_batched ----------------------------------------------------------------------------


@case
def batched(T):
    x, g = leaf(T, 3), rand(T, 4, 3)
    y = x.exp()
    return AnyStrides(T.autograd.grad(y, x, g, is_grads_batched=True))


@case
def batched_jacobian(T):
    x, w = leaf(T, 3), leaf(T, 2, 3)
    y = T.tanh(w @ x)
    eye = T.eye(2)
    return AnyStrides(T.autograd.grad(y, [x, w], eye, is_grads_batched=True))


@case
def batched_several_outputs(T):
    x = leaf(T, 3)
    outputs = [x.sin(), (x * x).sum()]
    vectors = [rand(T, 2, 3), rand(T, 2)]
    return AnyStrides(T.autograd.grad(outputs, x, vectors, is_grads_batched=True))


@case
def batched_unused(T):
    x, w = leaf(T, 3), leaf(T, 2)
    return AnyStrides(
        T.autograd.grad(x * 2, [x, w], rand(T, 4, 3), is_grads_batched=True, allow_unused=True)
    )


@case
def batched_without_vector(T):
    x = leaf(T, 3)
    return raises(lambda: T.autograd.grad((x * x).sum(), x, is_grads_batched=True))


@case
def batched_shape_mismatch(T):
    x = leaf(T, 3)
    short = dict(
        phrase="as the batch dimension. The sizes of the remaining dimensions are expected to match",
        because="torch then reports a shape one dimension too short",
    )
    return (
        raises(lambda: T.autograd.grad(x * x, x, rand(T, 3), is_grads_batched=True), **short),
        raises(lambda: T.autograd.grad(x * x, x, rand(T, 4, 2), is_grads_batched=True), **short),
        raises(
            lambda: T.autograd.grad(
                [x * x, x * 2], x, [rand(T, 4, 3), rand(T, 5, 3)], is_grads_batched=True
            )
        ),
    )


@case
def batched_create_graph(T):
    x, g = leaf(T, 3), leaf(T, 4, 3)
    (first,) = T.autograd.grad(
        (x * x * x), x, g, is_grads_batched=True, create_graph=True
    )
    return first.requires_grad, first.shape, AnyStrides(T.autograd.grad(first.sum(), [x, g]))


# --- gradient of the graph the user can see ------------------------------------------------------


@case
def graph_below_a_result(T):
    x, w = leaf(T, 3), leaf(T, 3)
    y = (x * w + x).exp().sum()
    return graph(y)


@case
def gradient_edge(T):
    x = leaf(T, 3)
    y = x.exp()
    edge = T.autograd.graph.get_gradient_edge(y)
    z = (y * 2).sum()
    return (
        type(edge).__name__,
        edge.node.name(),
        edge.output_nr,
        AnyStrides(T.autograd.grad(z, edge)),
    )


@case
def inputs_in_a_dict(T):
    # the gradients come back under the same keys
    x, w = leaf(T, 3), leaf(T, 3)
    y = (x * x * w).sum()
    (keyed, none), refused = (
        [T.autograd.grad(y, {"w": w, 5: x}, retain_graph=True),
         T.autograd.grad(y, {"u": leaf(T, 2), "x": x}, allow_unused=True, retain_graph=True)],
        [raises(lambda: T.autograd.grad(y, {})), raises(lambda: T.autograd.grad(y, {x: 0})),
         raises(lambda: T.autograd.grad(y, OrderedDict(x=x))),
         raises(lambda: y.backward(inputs=OrderedDict(x=x)))],
    )
    y.backward(inputs={"x": x})
    return keyed, none, refused, x.grad, w.grad


@each(none=None, one=1, zero=0, text="yes", number=2.0)
def flags_that_are_no_bools(T, value):
    x = leaf(T, 3)

    def walk(**options):
        T.autograd.grad((x * x).sum(), x, **options)
        T.autograd.backward((x * x).sum(), **options)

    return attempt(lambda: walk(retain_graph=value)), attempt(lambda: walk(create_graph=value))


@case
def batched_rows_are_what_is_compared(T):
    x = leaf(T, 3)
    y, eye = x * x, T.eye(3)

    def batched(outputs, vectors):
        return T.autograd.grad(outputs, x, vectors, is_grads_batched=True, retain_graph=True)

    return AnyStrides(batched(y, eye)), [
        raises(lambda v=v: batched(y, v)) for v in (T.tensor(1.0), T.ones(3), T.ones(0, 3), T.ones(2, 2))
    ], raises(lambda: batched(y, 1.0)), raises(lambda: batched([y, y.sum()], [eye, None])), raises(
        lambda: batched([y, y * 2], [eye, None])
    ), raises(lambda: batched([y, y.sum()], [eye, T.ones(2)]))

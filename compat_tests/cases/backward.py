"""``Tensor.backward`` and ``autograd.backward``: every argument, and every refusal."""

from compat_tests.harness import AnyStrides, attempt, case, each, leaf, raises, rand


@case
def scalar_needs_no_gradient(T):
    x = leaf(T, 3)
    returned = (x * x).sum().backward()
    return returned, x.grad, x


@each(none=None, empty_shape=(), one=(1,), one_by_one=(1, 1))
def one_element_output(T, shape):
    x = leaf(T, *(shape or ()))
    (x * 3).backward()
    return x.grad


@each(method=lambda T, y, g: y.backward(g), keyword=lambda T, y, g: y.backward(gradient=g),
      function=lambda T, y, g: T.autograd.backward(y, g),
      sequence=lambda T, y, g: T.autograd.backward([y], [g]),
      tuple_=lambda T, y, g: T.autograd.backward((y,), (g,)),
      mixed=lambda T, y, g: T.autograd.backward(y, [g]),
      grad_tensors=lambda T, y, g: T.autograd.backward(tensors=y, grad_tensors=g),
      other_way=lambda T, y, g: T.autograd.backward([y], g))
def vector_jacobian_product(T, call):
    x = leaf(T, 2, 3)
    call(T, x * x + x, rand(T, 2, 3))
    return x.grad


@each(vector=(3,), matrix=(2, 3), two=(2, 1), nothing=(0,), hollow=(2, 0))
def non_scalar_needs_gradient(T, shape):
    x = leaf(T, *shape)
    y = x * 2
    return (
        raises(y.backward),
        raises(lambda: T.autograd.backward(y)),
        raises(lambda: T.autograd.backward([y], [None])),
        raises(lambda: T.autograd.grad(y, x)),
        x.grad,
    )


@each(longer=(4,), column=(3, 1), row=(1, 3), scalar=(), empty=(0,))
def gradient_of_other_shape(T, shape):
    x = leaf(T, 3)
    y = x * 2
    return raises(lambda: y.backward(rand(T, *shape))), raises(
        lambda: T.autograd.grad(y, x, rand(T, *shape))
    ), x.grad


@each(to_scalar=(), to_one=(1,), to_two=(2,))
def gradient_shape_for_one_element(T, shape):
    x = leaf(T, 1)
    return attempt(lambda: (x * 2).backward(rand(T, *shape))), x.grad


@each(float64="float64", float16="float16", bfloat16="bfloat16", int64="int64", int32="int32",
      bool="bool", complex64="complex64")
def gradient_of_other_dtype(T, dtype):
    x = leaf(T, 3)
    return attempt(lambda: (x * 2).backward(rand(T, 3, dtype=dtype))), x.grad


@each(float64="float64", float16="float16", bfloat16="bfloat16")
def dtypes_that_may_require_grad(T, dtype):
    x = leaf(T, 3, dtype=dtype)
    (x * x).backward(rand(T, 3, dtype=dtype))
    return x.grad


@each(int_=3, float_=2.0, list_=[1.0, 2.0, 3.0], string="x")
def gradient_that_is_no_tensor(T, gradient):
    x = leaf(T, 3)
    y = x * 2
    return (
        raises(lambda: y.backward(gradient)),
        raises(lambda: T.autograd.backward(y, gradient)),
        raises(lambda: T.autograd.backward([y], [gradient])),
        x.grad,
    )


@case
def fewer_gradients_than_tensors(T):
    x = leaf(T, 3)
    a, b, g = x * 2, x * 3, T.ones(3)
    return (
        raises(lambda: T.autograd.backward([a, b], [g])),
        raises(lambda: T.autograd.backward([a, b], g)),
        raises(lambda: T.autograd.backward([a, b], [])),
        x.grad,
    )


@case
def more_gradients_than_tensors(T):
    x = leaf(T, 3)
    y, g = x * 2, T.ones(3)
    return (
        attempt(lambda: T.autograd.backward([y], [g, g])),
        attempt(lambda: T.autograd.backward([], [g])),
        x.grad,
    )


@case
def no_tensors(T):
    return attempt(lambda: T.autograd.backward([])), attempt(lambda: T.autograd.backward(()))


@each(none=None, int_=3, string="x", list_of_int=[1, 2])
def tensors_that_are_no_tensors(T, value):
    return raises(lambda: T.autograd.backward(value))


@case
def several_outputs(T):
    x, w = leaf(T, 3), leaf(T, 3)
    T.autograd.backward([(x * w).sum(), (x * x).sum(), x + w], [None, T.tensor(2.0), rand(T, 3)])
    return x.grad, w.grad


@case
def the_same_tensor_twice(T):
    x = leaf(T, 3)
    y = (x * x).sum()
    T.autograd.backward([y, y])
    z = x * 2
    T.autograd.backward([z, z], [T.ones(3), rand(T, 3)])
    return x.grad


@case
def an_output_that_feeds_another(T):
    x = leaf(T, 3)
    y = x * x
    z = y.exp()
    T.autograd.backward([z, y], [rand(T, 3), rand(T, 3)])
    return x.grad


@case
def a_leaf_as_output(T):
    x = leaf(T)
    x.backward()
    first = x.grad.clone()
    x.backward(T.tensor(4.0))
    v = leaf(T, 3)
    v.backward(rand(T, 3))
    return first, x.grad, v.grad


@case
def output_without_grad(T):
    x, w = rand(T, 3), leaf(T, 3)
    return (
        raises(lambda: x.sum().backward()),
        raises(lambda: x.backward(T.ones(3))),
        raises(lambda: T.autograd.backward([x.sum(), w.sum()])),
        w.grad,
    )


@case
def none_for_tensors_that_need_no_grad(T):
    x, w = rand(T, 3), leaf(T, 3)
    # the vector for a tensor that needs no gradient may be None, yet the tensor itself is refused
    return (
        raises(lambda: T.autograd.backward([w * 2, x], [T.ones(3), None])),
        raises(lambda: T.autograd.backward([w.sum(), x], [None, T.ones(3)])),
        w.grad,
    )


@case
def output_made_without_grad(T):
    x = leaf(T, 3)
    with T.no_grad():
        y = (x * 2).sum()
    return raises(y.backward), raises(lambda: x.detach().sum().backward())


@case
def integer_output(T):
    x = leaf(T, 3)
    return raises(lambda: x.argmax().backward()), raises(lambda: (x > 0).any().backward())


@case
def gradient_requiring_grad(T):
    x, g = leaf(T, 3), leaf(T, 3)
    (x * x).backward(g)
    return x.grad, g.grad


@case
def gradient_requiring_grad_with_create_graph(T):
    x, g = leaf(T, 3), leaf(T, 3)
    (x * x).backward(g, create_graph=True)
    result = x.grad
    first = result.requires_grad, result.grad_fn.name(), result.detach()
    x.grad = None
    result.sum().backward()
    return first, g.grad, x.grad


@case
def gradient_is_the_output(T):
    x = leaf(T, 3)
    y = x * x
    y.backward(y)
    return x.grad


@case
def gradient_is_not_aliased_with_grad(T):
    x, g = leaf(T, 3), rand(T, 3)
    y = x + 0
    y.backward(g)
    g.zero_()
    v = leaf(T, 3)
    h = rand(T, 3)
    v.backward(h)
    h.mul_(2)
    return x.grad, v.grad


@case
def gradient_is_left_alone(T):
    x, g = leaf(T, 3), rand(T, 3)
    before = g.clone()
    y = x * 1
    y.backward(g, retain_graph=True)
    y.backward(g)
    return before, g, x.grad


@each(strided=lambda T: rand(T, 3, 2).t(), expanded=lambda T: rand(T, 1, 1).expand(2, 3),
      sliced=lambda T: rand(T, 4, 3)[::2])
def gradient_of_any_layout(T, make):
    x = leaf(T, 2, 3)
    (x * x).backward(make(T))
    return x.grad


@case
def positional_arguments(T):
    x = leaf(T, 3)
    y = (x * x).sum()
    y.backward(None, True, False, [x])
    T.autograd.backward(y, None, False, False)
    return x.grad


@case
def unknown_argument(T):
    x = leaf(T, 3)
    return (
        raises(lambda: x.sum().backward(keep_graph=True)),
        raises(lambda: x.sum().backward(None, True, False, [x], 1)),
        raises(T.autograd.backward),
    )


@case
def grad_variables_is_the_old_name(T):
    x = leaf(T, 3)
    y = x * 2
    T.autograd.backward(y, grad_variables=T.ones(3), retain_graph=True)
    return x.grad, raises(
        lambda: T.autograd.backward(y, T.ones(3), grad_variables=T.ones(3))
    )


# --- inputs= -------------------------------------------------------------------------------------


@case
def inputs_accumulate_only_there(T):
    x, w = leaf(T, 3), leaf(T, 3)
    (x * w).sum().backward(inputs=[x])
    return x.grad, w.grad


@each(tensor=lambda x: x, list_=lambda x: [x], tuple_=lambda x: (x,))
def inputs_as_tensor_or_sequence(T, wrap):
    x, w = leaf(T, 3), leaf(T, 3)
    (x * w).sum().backward(inputs=wrap(x), retain_graph=True)
    T.autograd.backward((x * w).sum(), inputs=wrap(w))
    return x.grad, w.grad


@case
def inputs_non_leaf(T):
    x = leaf(T, 3)
    y = x * x
    z = (y * y).sum()
    z.backward(inputs=[y])
    return x.grad, y.grad


@case
def inputs_leaf_and_non_leaf(T):
    x = leaf(T, 3)
    y = x * x
    (y * y).sum().backward(inputs=[x, y], retain_graph=True)
    (y * 3).sum().backward(inputs=[y, x])
    return x.grad, y.grad


@case
def inputs_is_the_output(T):
    x = leaf(T, 3)
    y = (x * x).sum()
    y.backward(inputs=[y])
    v = leaf(T, 2)
    v.backward(T.ones(2), inputs=[v])
    return x.grad, y.grad, v.grad


@case
def inputs_empty(T):
    x = leaf(T, 3)
    return (
        raises(lambda: x.sum().backward(inputs=[])),
        raises(lambda: T.autograd.backward(x.sum(), inputs=())),
        x.grad,
    )


@case
def inputs_that_need_no_grad(T):
    x, w = leaf(T, 3), rand(T, 3)
    return raises(lambda: (x * w).sum().backward(inputs=[x, w])), x.grad, w.grad


@case
def inputs_unreachable(T):
    x, w = leaf(T, 3), leaf(T, 3)
    far = w * 2
    return (
        attempt(lambda: (x * 2).sum().backward(inputs=[w])),
        attempt(lambda: (x * 2).sum().backward(inputs=[x, w])),
        attempt(lambda: (x * 2).sum().backward(inputs=[far])),
        x.grad,
        w.grad,
    )


@case
def inputs_twice(T):
    x = leaf(T, 3)
    return attempt(lambda: (x * 2).sum().backward(inputs=[x, x])), x.grad


@each(int_=3, string="x", list_of_none=[None], list_of_str=["x"])
def inputs_that_are_no_tensors(T, inputs):
    x = leaf(T, 3)
    return raises(lambda: x.sum().backward(inputs=inputs)), x.grad


@case
def inputs_stop_what_they_do_not_need(T):
    x, w = leaf(T, 3), leaf(T, 3)
    seen = []
    y = x * 2
    z = w * 3
    y.register_hook(lambda g: seen.append("y"))
    z.register_hook(lambda g: seen.append("z"))
    (y + z).sum().backward(inputs=[x])
    return seen, x.grad, w.grad


@case
def inputs_leave_the_rest_of_the_graph(T):
    x, w = leaf(T, 3), leaf(T, 3)
    y = w.exp()
    z = (x.exp() * y).sum()
    z.backward(inputs=[x])
    # the multiplication was used up, the exponential behind w was not reached
    return raises(z.backward), attempt(lambda: y.sum().backward()), w.grad


@case
def zero_elements(T):
    x = leaf(T, 0, 3)
    (x * 2).sum().backward()
    first = x.grad.clone()
    (x * 2).backward(rand(T, 0, 3))
    return AnyStrides([first, x.grad])


@case
def zero_elements_beside_others(T):
    x, e = leaf(T, 3), leaf(T, 0)
    y = T.cat([x, e])
    (y * y).sum().backward()
    return x.grad, AnyStrides(e.grad)


@case
def unused_leaf_keeps_none(T):
    x, w = leaf(T, 3), leaf(T, 3)
    x.sum().backward()
    return x.grad, w.grad


@case
def constants_have_no_grad(T):
    x, c = leaf(T, 3), rand(T, 3)
    (x * c).sum().backward()
    return x.grad, c.grad, c.requires_grad


@case
def broadcasting_sums_gradients(T):
    a, b, c = leaf(T, 2, 1, 3), leaf(T, 4, 1), leaf(T)
    (a * b + c).backward(rand(T, 2, 4, 3))
    return a.grad, b.grad, c.grad


@case
def promotion_casts_gradients_back(T):
    a, b, c = leaf(T, 3), leaf(T, 3, dtype="float64"), leaf(T, 3, dtype="float16")
    (a * b + c).sum().backward()
    return a.grad, b.grad, c.grad


@case
def through_casts(T):
    x = leaf(T, 3)
    (x.double() * 2).to(T.float16).float().sum().backward()
    return x.grad


@case
def backward_in_no_grad(T):
    x = leaf(T, 3)
    y = (x * x).sum()
    with T.no_grad():
        y.backward()
    return x.grad


@case
def diamond(T):
    x = leaf(T, 3)
    a = x.sin()
    b, c = a * 2, a * a
    (b * c).sum().backward()
    return x.grad


@case
def device_of_gradient(T):
    x = leaf(T, 3)
    return raises(lambda: (x * 2).backward(T.ones(3, device="meta"))), x.grad

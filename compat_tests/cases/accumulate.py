"""``.grad``: how it accumulates, what may be assigned to it, and its memory layout."""

from compat_tests.harness import attempt, case, each, leaf, raises, rand


@case
def across_calls(T):
    x = leaf(T)
    seen = []
    for _ in range(5):
        (x**4.0).backward()
        seen.append(x.grad.clone())
    return seen


@case
def across_calls_with_a_gradient(T):
    x = leaf(T)
    seen = []
    for _ in range(5):
        (x**4.0).backward(T.tensor(2.0))
        seen.append(x.grad.clone())
    x.grad.zero_()
    seen.append(x.grad.clone())
    return seen


@case
def grad_is_none_before_the_first_backward(T):
    x = leaf(T, 3)
    return x.grad, T.tensor(1.0).grad, T.ones(2, dtype=T.int64).grad


@case
def the_same_tensor_object_accumulates(T):
    x = leaf(T, 3)
    x.sum().backward()
    first = x.grad
    (x * x).sum().backward()
    return first is x.grad, first


@case
def a_held_grad_is_replaced_with_create_graph(T):
    x = leaf(T, 3)
    (x * x).sum().backward(create_graph=True)
    first = x.grad
    (x * x).sum().backward(create_graph=True)
    second = x.grad
    x.grad = None
    return first is second, first.detach(), second.detach()


@case
def set_to_none(T):
    x = leaf(T, 3)
    x.sum().backward()
    held = x.grad
    x.grad = None
    between = x.grad
    (x * 2).sum().backward()
    return held, between, x.grad


@case
def deleted(T):
    x = leaf(T, 3)
    x.sum().backward()
    del x.grad
    return x.grad


@case
def zeroed(T):
    x = leaf(T, 3)
    x.sum().backward()
    x.grad.zero_()
    between = x.grad.clone()
    (x * 2).sum().backward()
    return between, x.grad


@each(mul_=lambda g: g.mul_(3), add=lambda g: g.add_(1), index=lambda g: g.__setitem__(0, 7.0),
      fill=lambda g: g.fill_(2), copy=lambda g: g.copy_(g * 5), data=lambda g: g.data.mul_(2))
def changed_in_place_between_calls(T, change):
    x = leaf(T, 3)
    (x * x).sum().backward()
    change(x.grad)
    (x * x).sum().backward()
    return x.grad


@case
def shared_parameter(T):
    w, x = leaf(T, 3, 3), rand(T, 2, 3)
    ((x @ w).tanh() @ w.t()).sum().backward()
    return w.grad


@case
def used_through_two_views(T):
    x = leaf(T, 6)
    (x.view(2, 3) * 2).sum().backward()
    (x[::2] * x[1::2]).sum().backward()
    return x.grad


@case
def used_through_many_views_in_one_graph(T):
    x = leaf(T, 2, 3)
    y = x.t() @ x + x.reshape(6)[:3] * x[0].unsqueeze(1) + x.expand(3, 2, 3).sum((0, 1))
    y.sum().backward()
    return x.grad


@case
def a_view_of_grad_sees_later_accumulation(T):
    x = leaf(T, 4)
    x.sum().backward()
    part = x.grad[1:3]
    (x * x).sum().backward()
    return part, x.grad


@case
def grad_that_is_a_view(T):
    store = T.zeros(2, 3)
    x, w = leaf(T, 3), leaf(T, 3)
    x.grad, w.grad = store[0], store[1]
    (x * w).sum().backward()
    (x * x).sum().backward()
    return store, x.grad


@case
def parameters_as_views_of_one_flat_leaf(T):
    flat = leaf(T, 9)
    w, b = flat[:6].view(2, 3), flat[6:]
    (w * w).sum().backward()
    (b * 3).sum().backward()
    return flat.grad


# --- assigning -----------------------------------------------------------------------------------


@case
def assigned(T):
    x, g = leaf(T, 3), rand(T, 3)
    x.grad = g
    (x * 2).sum().backward()
    return x.grad is g, g


@each(longer=(4,), matrix=(1, 3), scalar=(), empty=(0,))
def assign_other_shape(T, shape):
    x = leaf(T, 3)

    def assign():
        x.grad = rand(T, *shape)

    return raises(assign), x.grad


@each(float64="float64", float16="float16", bfloat16="bfloat16", int64="int64", bool="bool",
      complex64="complex64")
def assign_other_dtype(T, dtype):
    x = leaf(T, 3)

    def assign():
        x.grad = rand(T, 3, dtype=dtype)

    return raises(assign), x.grad


@each(int_=0, float_=1.0, list_=[1.0, 2.0, 3.0], string="x", false=False)
def assign_no_tensor(T, value):
    x = leaf(T, 3)

    def assign():
        x.grad = value

    return raises(assign), x.grad


@case
def assign_numpy(T):
    x = leaf(T, 3)

    def assign():
        x.grad = rand(T, 3).numpy()

    return raises(assign)


@case
def assign_itself(T):
    x = leaf(T, 3)

    def assign():
        x.grad = x

    return raises(assign), x.grad


@case
def assign_a_view_of_itself(T):
    x = leaf(T, 3)

    def assign():
        x.grad = x[:]

    result = attempt(assign)
    x.grad = None
    return result


@case
def assign_other_device(T):
    x = leaf(T, 3)

    def assign():
        x.grad = T.ones(3, device="meta")

    return raises(assign), x.grad


@case
def assign_none_to_any_tensor(T):
    c = rand(T, 3)
    c.grad = None
    y = leaf(T, 3) * 2
    y.grad = None
    return c.grad, c


@case
def assign_to_a_tensor_without_requires_grad(T):
    c = rand(T, 3)
    c.grad = T.ones(3)
    before = c.grad.clone()
    c.requires_grad_()
    (c * 2).sum().backward()
    return before, c.grad


@case
def assign_to_an_integer_tensor(T):
    c = rand(T, 3, dtype="int64")

    def assign():
        c.grad = T.ones(3, dtype=T.int64)

    return attempt(assign), c.grad


@case
def assign_to_a_non_leaf(T):
    x = leaf(T, 3)
    y = x * 2
    y.grad = T.ones(3)
    read = y.grad
    y.retain_grad()
    y.sum().backward()
    return read, y.grad, x.grad


@case
def assign_one_that_requires_grad(T):
    x, g = leaf(T, 3), leaf(T, 3)
    x.grad = g * 2
    before = x.grad
    (x * x).sum().backward()
    after = x.grad
    return before.requires_grad, after


@case
def accumulating_out_of_a_grad_with_history(T):
    x, g = leaf(T, 3), leaf(T, 3)
    x.grad = g * 2
    (x * x).sum().backward(create_graph=True)
    result = x.grad
    x.grad = None
    result.sum().backward()
    return result.requires_grad, result.detach(), g.grad, x.grad


@case
def grad_of_a_non_leaf_warns(T):
    x = leaf(T, 3)
    y = x * 2
    y.sum().backward()
    return y.grad, x.grad


@case
def grad_of_a_non_leaf_retained_does_not_warn(T):
    x = leaf(T, 3)
    y = x * 2
    y.retain_grad()
    (y * y).sum().backward()
    return y.grad, y.retains_grad, x.grad


# --- layout --------------------------------------------------------------------------------------
# A dense parameter gets a gradient with its own strides, any other a contiguous one.


@each(contiguous=lambda t: t, transposed=lambda t: t.t(), sliced=lambda t: t[:, ::2],
      expanded=lambda t: t[:1].expand(4, 6), permuted=lambda t: t.view(2, 2, 6).permute(2, 0, 1),
      column=lambda t: t[:, :1], flipped=lambda t: t.flip(0))
def layout_of_grad(T, view):
    x = view(rand(T, 4, 6)).detach().requires_grad_()
    (x * x).sum().backward()
    return x, x.grad


@case
def layout_of_grad_channels_last(T):
    x = rand(T, 2, 3, 4, 5).to(memory_format=T.channels_last).requires_grad_()
    (x * x).sum().backward()
    return x.is_contiguous(), x.grad


@case
def layout_follows_the_parameter_not_the_gradient(T):
    x = leaf(T, 2, 3)
    x.backward(rand(T, 3, 2).t())
    w = rand(T, 3, 2).t().requires_grad_()
    w.backward(rand(T, 2, 3))
    return x.grad, w.grad


@case
def an_existing_grad_keeps_its_strides(T):
    x = leaf(T, 2, 3)
    x.grad = T.zeros(3, 2).t()
    (x * x).sum().backward()
    return x.grad


@case
def an_expanded_gradient_is_made_dense(T):
    x = leaf(T, 2, 3)
    x.sum().backward()
    x.grad[0, 0] = 5
    return x.grad


@case
def an_existing_grad_with_create_graph(T):
    x = leaf(T, 2, 3)
    x.grad = T.zeros(3, 2).t()
    (x * x).sum().backward(create_graph=True)
    result = x.grad.detach()
    x.grad = None
    return result


@case
def optimizer_style_update(T):
    x = leaf(T, 3)
    losses = []
    for _ in range(4):
        loss = (x * x).sum()
        loss.backward()
        with T.no_grad():
            x -= 0.1 * x.grad
        x.grad = None
        losses.append(loss.detach())
    return losses, x


@case
def gradient_accumulation_equals_one_big_batch(T):
    w, x = leaf(T, 3), rand(T, 6, 3)
    for part in x.split(2):
        ((part @ w) ** 2).sum().backward()
    parts = w.grad.clone()
    w.grad = None
    ((x @ w) ** 2).sum().backward()
    return parts, w.grad


@each(transposed=lambda T: T.zeros(3, 4).t(), step=lambda T: T.zeros(6)[::2],
      expanded=lambda T: T.zeros(3).expand(2, 3), permuted=lambda T: T.zeros(2, 3, 4).permute(2, 0, 1))
def layout_of_a_first_grad_with_history(T, make):
    x = make(T).requires_grad_()
    x.sin().sum().backward(create_graph=True)
    return x.grad

"""NOTE [Constant gradients]: which gradients require grad under ``create_graph=True``; as PyTorch has it."""

import math

import pytest

import jaxflow as torch

F = torch.nn.functional


def leaves(*shapes):
    return [torch.rand(shape, dtype=torch.float64).add(0.5).requires_grad_() for shape in shapes]


#: Means and variances of three channels.
STATISTICS = torch.zeros(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64)
#: Name: shapes of the operands, what is made of them, which of their gradients require grad.
CASES = {
    "sum": ([(2, 3)], lambda x: x.sum(), [False]),
    "product": ([(3,), (3,)], lambda a, b: a * b, [True, True]),
    "addmm": ([(2, 2), (2, 3), (3, 2)], torch.addmm, [False, True, True]),
    "linear": ([(2, 3), (4, 3), (4,)], F.linear, [True, True, False]),
    "a mask decides": ([(3,), (3,)], torch.maximum, [False, False]),
    "an index decides": ([(5,)], lambda x: x.sort().values, [False]),
    "remainder": ([(3,), (3,)], torch.remainder, [False, True]),
    "constant between steps": ([(3,), (3,)], lambda a, b: torch.div(a, b, rounding_mode="floor"),
                               [False, False]),
    "one operation": ([(1, 2, 5), (3, 2, 2), (3,)], F.conv1d, [True, True, True]),
    "sizes alone": ([(1, 2, 4, 4)], lambda x: F.avg_pool2d(x, 2), [True]),
    "instances": ([(2, 3, 4), (3,), (3,)], lambda x, w, b: F.instance_norm(x, weight=w, bias=b), [True] * 3),
    "groups": ([(2, 3, 4), (3,), (3,)], lambda x, w, b: F.group_norm(x, 1, w, b), [True, True, False]),
    "statistics that are given": ([(2, 3, 4)], lambda x: F.batch_norm(x, *STATISTICS), [True]),
    "those of instances": (
        [(2, 3, 4)], lambda x: F.instance_norm(x, *STATISTICS, use_input_stats=False), [True]),
    "a window's index": ([(1, 2, 4, 4)], lambda x: F.max_pool2d(x, 2), [True]),
    "reflected": ([(1, 2, 4)], lambda x: F.pad(x, (1, 1), mode="reflect"), [True]),
    "of nothing": ([(0, 3), (0, 3)], lambda a, b: a ** b, [True, True]),
    "no matrices": ([(2, 0, 0)], torch.linalg.cholesky, [True]),
    "a mask of nothing": ([(0,), (0,)], torch.maximum, [False, False]),
}


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("name", CASES)
def test_constants_require_no_grad(name):
    shapes, function, expected = CASES[name]
    operands = leaves(*shapes)
    out = function(*operands)
    grads = torch.autograd.grad(out, operands, torch.ones_like(out), create_graph=True)
    assert [g.requires_grad for g in grads] == expected
    assert [g.grad_fn is not None for g in grads] == expected


@pytest.mark.usefixtures("executor")
def test_a_cotangent_that_varies_makes_all_vary():
    x, w, b = leaves((2, 3), (4, 3), (4,))
    g = torch.ones(2, 4, dtype=torch.float64, requires_grad=True)
    grads = torch.autograd.grad(F.linear(x, w, b), [x, w, b], g, create_graph=True)
    assert all(grad.requires_grad for grad in grads)
    assert torch.autograd.grad(grads[2].sum(), g)[0].tolist() == [[1.0] * 4] * 2


@pytest.mark.usefixtures("executor")
def test_an_operand_that_gives_sizes_alone_has_a_gradient_of_zeros():
    (x,) = leaves((1, 1, 4, 4))
    g = torch.ones(1, 1, 2, 2, dtype=torch.float64, requires_grad=True)
    (grad,) = torch.autograd.grad(F.avg_pool2d(x, 2), x, g, create_graph=True)
    assert grad.tolist() == [[[[0.25] * 4] * 4]]
    by_x, by_g = torch.autograd.grad((grad * grad).sum(), [x, g])
    assert by_x.tolist() == [[[[0.0] * 4] * 4]]
    assert by_g.tolist() == [[[[0.5] * 2] * 2]]
    with torch.no_grad():
        x.add_(1)  # nothing of it is asked for again


@pytest.mark.usefixtures("executor")
def test_the_norm_at_zero():
    x = torch.zeros(2, 2, dtype=torch.float64)
    x[1] = torch.tensor([3.0, 4.0], dtype=torch.float64)
    x.requires_grad_()
    (grad,) = torch.autograd.grad(torch.linalg.vector_norm(x, dim=1).sum(), x, create_graph=True)
    torch.testing.assert_close(grad, torch.tensor([[0, 0], [0.6, 0.8]], dtype=torch.float64))
    (second,) = torch.autograd.grad(grad[:, 0].sum(), x)
    assert all(map(math.isnan, second[0].tolist()))
    torch.testing.assert_close(second[1], torch.tensor([16 / 125, -12 / 125], dtype=torch.float64))


def test_shapes_of_a_family():
    for n in (2, 3, 4, 5, 6):
        a, b, c = leaves((n, n), (n, n), (n, n))
        out = torch.addmm(a, b, c)
        grads = torch.autograd.grad(out, [a, b, c], torch.ones_like(out), create_graph=True)
        assert [g.requires_grad for g in grads] == [False, True, True]


@pytest.mark.usefixtures("executor")
def test_a_batch_normalized_by_given_statistics_is_kept():
    x = torch.ones(2, 3, 4, dtype=torch.float64, requires_grad=True)
    written = x * 1
    out = F.batch_norm(written, *STATISTICS)
    written.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("view, expected", [
    (lambda x: x.unfold(0, 0, 1), True), (lambda x: x[0:0].unfold(1, 2, 1), True),
    (lambda x: x.diagonal(5), True), (lambda x: x[0:0], True), (lambda x: x.expand(0, 4, 3), True),
    (lambda x: x.as_strided((0,), (1,)), False)])
def test_the_gradient_of_a_view_that_shows_nothing_has_a_history(view, expected):
    x, = leaves((4, 3))
    y = view(x)
    grad, = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    assert grad.requires_grad is expected and grad.tolist() == [[0.0] * 3] * 4
    if expected:
        twice, = torch.autograd.grad(grad.sum(), x)
        assert twice.tolist() == [[0.0] * 3] * 4


@pytest.mark.parametrize("shape", [(0,), (2,), (2, 3)])
def test_vectors_without_elements_that_cat_leaves_out_have_constant_gradients(executor, shape):
    tensors = [torch.ones(s, requires_grad=True) for s in ((0,), shape)]
    joined = torch.cat(tensors)
    grads = torch.autograd.grad((joined * joined).sum(), tensors, create_graph=True, allow_unused=True)
    assert [g.requires_grad for g in grads] == [False, shape != (0,)]

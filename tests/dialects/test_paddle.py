"""The Paddle dialect: the example of its page, its autograd, and what its tensors look like."""

import contextlib
import io
import re
import threading

import numpy as np
import pytest

import jaxflow
from jaxflow import paddle

# The example of the page on Tensor.backward as it was handed to us: the line breaks are gone, and what Paddle
# prints on two lines stands on one.
PAGE = (
    '>>> import paddle >>> x = paddle.to_tensor(5., stop_gradient=False) >>> for i in range(5): ... y = '
    'paddle.pow(x, 4.0) ... y.backward() ... print("{}: {}".format(i, x.grad)) 0: Tensor(shape=[], '
    'dtype=float32, place=Place(cpu), stop_gradient=False, 500.) 1: Tensor(shape=[], dtype=float32, '
    'place=Place(cpu), stop_gradient=False, 1000.) 2: Tensor(shape=[], dtype=float32, place=Place(cpu), '
    'stop_gradient=False, 1500.) 3: Tensor(shape=[], dtype=float32, place=Place(cpu), stop_gradient=False, '
    '2000.) 4: Tensor(shape=[], dtype=float32, place=Place(cpu), stop_gradient=False, 2500.) >>> '
    'x.clear_grad() >>> print("{}".format(x.grad)) Tensor(shape=[], dtype=float32, place=Place(cpu), '
    'stop_gradient=False, 0.) >>> grad_tensor=paddle.to_tensor(2.) >>> for i in range(5): ... y = '
    'paddle.pow(x, 4.0) ... y.backward(grad_tensor) ... print("{}: {}".format(i, x.grad)) 0: Tensor(shape=[],'
    ' dtype=float32, place=Place(cpu), stop_gradient=False, 1000.) 1: Tensor(shape=[], dtype=float32, '
    'place=Place(cpu), stop_gradient=False, 2000.) 2: Tensor(shape=[], dtype=float32, place=Place(cpu), '
    'stop_gradient=False, 3000.) 3: Tensor(shape=[], dtype=float32, place=Place(cpu), stop_gradient=False, '
    '4000.) 4: Tensor(shape=[], dtype=float32, place=Place(cpu), stop_gradient=False, 5000.)'
)


def program_and_output(page):
    """The program of a flattened doctest, with its line breaks, and what it prints."""
    code, printed = [], []
    for piece in re.split(r" ?>>> ", page)[1:]:
        # A statement ends where what it prints begins: at "0: Tensor(" or "Tensor(shape=".
        statement, *output = re.split(r" (?=(?:\d+: )?Tensor\(shape=)", piece, maxsplit=1)
        code.append(statement.replace(" ... ", "\n    "))
        printed += output
    return "\n".join(code) + "\n", " ".join(printed)


def test_the_example_of_the_page(executor):
    program, expected = program_and_output(PAGE)
    assert program.count("\n") == 13 and expected.count("Tensor(") == 11
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(program.replace("import paddle", "from jaxflow import paddle"), {})
    assert " ".join(out.getvalue().split()) == expected
    # Paddle itself puts the numbers on a line of their own, under what stands after the bracket.
    first = "0: Tensor(shape=[], dtype=float32, place=Place(cpu), stop_gradient=False,\n       500.)\n"
    assert out.getvalue().startswith(first)


def leaf(values, dtype="float32"):
    return paddle.to_tensor(values, dtype=dtype, stop_gradient=False)


def test_backward_fills_with_ones_and_accumulates(executor):
    x = leaf([1.0, 2.0])
    y = x * x
    y.backward(retain_graph=True)  # not one element: a cotangent filled with 1
    np.testing.assert_allclose(x.gradient(), [2.0, 4.0])
    y.backward(paddle.to_tensor([1.0, 10.0]))
    np.testing.assert_allclose(x.grad.numpy(), [4.0, 44.0])
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()
    with pytest.raises(AssertionError, match=r"Tensor shape not match.*shape \[1\].*with shape \[2\]"):
        (x * 1).backward(paddle.ones([1]))
    with pytest.raises(AssertionError, match="must be paddle.Tensor"):
        (x * 1).backward([1.0, 1.0])
    kept = x.grad
    x.clear_gradient()
    assert x.grad.tolist() == kept.tolist() == [0.0, 0.0]
    x.clear_gradient(set_to_zero=False)
    assert x.grad is None and x.gradient() is None
    x.clear_grad()
    assert x.grad is None
    x.grad = paddle.ones([2])
    del x.grad
    assert x.grad is None
    paddle.ones([2]).backward()  # stop_gradient: passed over
    y = x * x
    y.backward(retain_graph=True)
    (y * 3).backward()  # more operations on a graph that was kept
    np.testing.assert_allclose(x.gradient(), [8.0, 16.0])


def test_stop_gradient(executor):
    x, y = paddle.to_tensor(1.0), leaf(2.0)
    assert x.stop_gradient and not y.stop_gradient and not (x * y).stop_gradient
    x.stop_gradient = False
    z = x * y
    z.stop_gradient = True
    (z * y).backward()
    assert x.grad is None and y.grad.item() == 2.0
    x.stop_gradient = True
    assert (x * 2).stop_gradient
    assert not leaf([1, 2], "int64").stop_gradient
    with paddle.no_grad():
        assert (y * 2).stop_gradient
        with paddle.enable_grad():
            assert not (y * 2).stop_gradient
    with paddle.set_grad_enabled(False):
        assert not paddle.is_grad_enabled()


def test_autograd_backward(executor):
    x = leaf([[1, 2], [3, 4]])
    y = paddle.to_tensor([[3, 2], [3, 4]], dtype="float32")
    first = paddle.to_tensor([[1, 2], [2, 3]], dtype="float32")
    ones = paddle.ones([2, 2])
    z1, z2 = paddle.matmul(x, y), paddle.matmul(x, y)
    for cotangents in ([first, ones], [first, None]):
        paddle.autograd.backward([z1, z2], cotangents, True)
        assert x.grad.tolist() == [[12, 18], [17, 25]]
        x.clear_grad()
    paddle.autograd.backward([z1, z2])
    assert x.grad.tolist() == [[10, 14], [10, 14]]
    with pytest.raises(AssertionError, match="duplicate"):
        paddle.autograd.backward([z1, z1])
    with pytest.raises(ValueError, match="as many as the tensors"):
        paddle.autograd.backward([z1, z2], [ones])


def test_grad(executor):
    x, y, unused = leaf([2.0]), leaf([3.0]), leaf([1.0])
    z = x * x * y
    dx, dy = paddle.grad(z, [x, y], create_graph=True)
    assert [dx.item(), dy.item()] == [12.0, 4.0] and not dx.stop_gradient and x.grad is None
    (ddx,) = paddle.grad([dx], [x], grad_outputs=[paddle.to_tensor([10.0])], retain_graph=True)
    assert ddx.item() == 60.0 and ddx.stop_gradient
    w = x * x
    (closed,) = paddle.grad(w * x, x, no_grad_vars=[w], retain_graph=True)
    assert closed.item() == 4.0 == paddle.grad(w * x, x, no_grad_vars={w}, retain_graph=True)[0].item()
    assert paddle.grad(w * y, [x, y], no_grad_vars=w, allow_unused=True)[0] is None
    assert paddle.grad([x * 2, y * 3], [x, y, unused], [None, paddle.to_tensor([2.0])],
                       allow_unused=True)[2] is None
    with pytest.raises(ValueError, match="The 1-th input does not appear in the backward graph"):
        paddle.grad([x * 2], [x, unused])
    with pytest.raises(RuntimeError, match="stop_gradient=True"):
        paddle.grad([x * 2], [paddle.ones([1])])
    with pytest.raises(AssertionError, match="only_inputs=False is not supported"):
        paddle.grad([x * 2], [x], only_inputs=False)


def test_hooks(executor):
    x, y = leaf([0.0, 1.0, 2.0, 3.0]), leaf([4.0, 5.0, 6.0, 7.0])
    seen = []
    first = x.register_hook(lambda g: seen.append(repr(g)))
    x.register_hook(lambda g: g * 2)
    w = x + y
    w.register_hook(lambda g: g * 2)
    w.retain_grads()
    paddle.to_tensor([1.0, 2.0, 3.0, 4.0]).matmul(w).backward()
    assert seen == [
        "Tensor(shape=[4], dtype=float32, place=Place(cpu), stop_gradient=False,\n       [2., 4., 6., 8.])"
    ]
    assert x.grad.tolist() == [4, 8, 12, 16] and y.grad.tolist() == w.grad.tolist() == [2, 4, 6, 8]
    assert first.remove() and not first.remove()
    with pytest.raises(RuntimeError, match="Cannot register hook on a tensor that stop gradient"):
        paddle.ones([1]).register_hook(print)


class Tanh(paddle.autograd.PyLayer):
    """The example of Paddle's page, with an argument that is no tensor."""

    @staticmethod
    def forward(ctx, x, factor, y=None):
        result = paddle.tanh(x) * factor
        ctx.save_for_backward(result / factor)
        ctx.factor = factor
        ctx.mark_not_inplace(x)
        return result if y is None else (result, y * 3)

    @staticmethod
    def backward(ctx, *grads):
        (tanh,) = ctx.saved_tensor()
        assert {type(g) for g in grads} == {type(tanh)} == {paddle.Tensor}
        dx = ctx.factor * grads[0] * (1 - paddle.square(tanh))
        return dx if len(grads) == 1 else [dx, grads[1] * 3]


def test_pylayer(executor):
    x, y = leaf([0.5, -1.0]), leaf([1.0, 1.0])
    slope = 2 * (1 - np.tanh(x.numpy()) ** 2)
    out = Tanh.apply(x, 2.0)
    assert type(out) is paddle.Tensor
    out.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), slope, rtol=1e-5)
    x.clear_grad()
    a, b = Tanh.apply(x, 2.0, y=y)
    (a + b).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), slope, rtol=1e-5)
    assert y.grad.tolist() == [3.0, 3.0]


def test_saved_tensors_hooks(executor):
    x, packed = leaf([2.0]), []
    with paddle.autograd.saved_tensors_hooks(lambda t: packed.append(t) or 0, lambda _: packed[-1] * 10):
        y = x * x
    y.backward()
    assert {type(t) for t in packed} == {paddle.Tensor} and x.grad.item() == 40.0


def test_jacobian_and_hessian(executor):
    x1, x2 = leaf([1.0, 2.0, 3.0]), leaf([4.0, 5.0, 6.0])
    by_x1, by_x2 = paddle.autograd.jacobian(x1 * x2, (x1, x2))
    assert by_x1.shape == [3, 3]
    np.testing.assert_allclose(by_x1[:].numpy(), np.diag([4.0, 5.0, 6.0]))
    np.testing.assert_allclose(by_x2[1].numpy(), [0.0, 2.0, 0.0])
    np.testing.assert_allclose(by_x2[0:2, 1].numpy(), [0.0, 2.0])
    np.testing.assert_allclose((by_x1 + 1)[0].numpy(), [5.0, 1.0, 1.0])
    h = paddle.autograd.hessian((x1 * x1 * x2).sum(), (x1, x2))
    np.testing.assert_allclose(h[0][0][:].numpy(), np.diag([8.0, 10.0, 12.0]))
    np.testing.assert_allclose(h[1][0][:].numpy(), np.diag([2.0, 4.0, 6.0]))
    assert paddle.autograd.hessian((x1**3).sum(), x1)[2, 2].item() == 18.0
    batch = leaf([[1.0, 2.0], [3.0, 4.0]])
    j = paddle.autograd.jacobian(batch * batch, batch, batch_axis=0)
    assert j.shape == [2, 2, 2]
    np.testing.assert_allclose(j[:].numpy(), [np.diag([2.0, 4.0]), np.diag([6.0, 8.0])])
    np.testing.assert_allclose(j[1, :, 1].numpy(), [0.0, 8.0])
    with pytest.raises(ValueError, match="batch_axis is None"):
        paddle.autograd.hessian(x1 * 2, x1)
    with pytest.raises(IndexError, match="Ellipsis"):
        j[..., 0]


SHOWN = {
    "paddle.to_tensor([[1.5, -2.0], [4.0, 6.25]])":
        "Tensor(shape=[2, 2], dtype=float32, place=Place(cpu), stop_gradient=True,\n"
        "       [[1.50000000, -2.       ],\n        [ 4.       , 6.25000000]])",
    "paddle.to_tensor([4.0, 8.0, 12.0])":
        "Tensor(shape=[3], dtype=float32, place=Place(cpu), stop_gradient=True,\n       [4. , 8. , 12.])",
    "paddle.to_tensor([1, -22, 3])":
        "Tensor(shape=[3], dtype=int64, place=Place(cpu), stop_gradient=True,\n       [ 1 , -22,  3 ])",
    "paddle.to_tensor([True, False])":
        "Tensor(shape=[2], dtype=bool, place=Place(cpu), stop_gradient=True,\n       [True , False])",
    "paddle.to_tensor([0.1, float('nan'), float('inf')], dtype='float64')":
        "Tensor(shape=[3], dtype=float64, place=Place(cpu), stop_gradient=True,\n"
        "       [0.10000000, nan       , inf.      ])",
    "paddle.to_tensor(1.5, dtype='bfloat16')":
        "Tensor(shape=[], dtype=bfloat16, place=Place(cpu), stop_gradient=True,\n       1.50000000)",
    "paddle.to_tensor(-0.5, dtype='float16')":
        "Tensor(shape=[], dtype=float16, place=Place(cpu), stop_gradient=True,\n       -0.50000000)",
    "paddle.to_tensor([1 + 2j])":
        "Tensor(shape=[1], dtype=complex64, place=Place(cpu), stop_gradient=True,\n       [(1+2j)])",
    "paddle.zeros([0])":
        "Tensor(shape=[0], dtype=float32, place=Place(cpu), stop_gradient=True,\n       [])",
    "paddle.arange(8).reshape([2, 2, 2]).astype('uint8')":
        "Tensor(shape=[2, 2, 2], dtype=uint8, place=Place(cpu), stop_gradient=True,\n"
        "       [[[0, 1],\n         [2, 3]],\n\n        [[4, 5],\n         [6, 7]]])",
    "paddle.arange(2000).reshape([2, 1000])":
        "Tensor(shape=[2, 1000], dtype=int64, place=Place(cpu), stop_gradient=True,\n"
        "       [[0   , 1   , 2   , ..., 997 , 998 , 999 ],\n"
        "        [1000, 1001, 1002, ..., 1997, 1998, 1999]])",
}


@pytest.mark.parametrize("call", SHOWN)
def test_what_tensors_look_like(call):
    assert repr(eval(call)) == str(eval(call)) == SHOWN[call]


def test_print_options():
    try:
        paddle.set_printoptions(precision=2, threshold=3, edgeitems=1, linewidth=40)
        assert repr(paddle.to_tensor([0.123, 1.0, 2.0, 3.0])).endswith("[0.12, ..., 3.  ])")
        paddle.set_printoptions(sci_mode=True, threshold=100)
        assert repr(paddle.to_tensor([0.125, 1.0, 2.0, 3.0])).endswith(
            "[1.25e-01, 1.00e+00, 2.00e+00,\n        3.00e+00])")
        with pytest.raises(TypeError, match="The type of 'precision'"):
            paddle.set_printoptions(precision="2")
    finally:
        paddle.set_printoptions(8, 1000, 3, False, 80)


def test_every_result_has_the_face(executor):
    x, plain = leaf([[3.0, 1.0], [2.0, 4.0]]), jaxflow.ones(2, 2)
    y = x * 2
    y += 1
    y.add_(paddle.ones([2, 2]))
    results = [
        x + y, 1 - x, plain * x, x @ plain, x[0], x.T, x.max(0), *x.split(2), *x.unbind(), x.detach(),
        x == plain, paddle.stack([plain, plain]), y, x.transpose([1, 0]), *iter(x), x.clone(),
        jaxflow.add(x, x) * y,
    ]
    assert {type(r) for r in results} == {paddle.Tensor}
    assert type(plain) is type(plain + plain) is jaxflow.Tensor
    assert paddle.cast(plain, "float32") is plain and type(plain) is jaxflow.Tensor
    # jaxflow's own code sees jaxflow's tensor, in any thread, and what it calls back sees Paddle's.
    assert jaxflow.nn.functional.cross_entropy(x, jaxflow.tensor([0, 1])).shape == ()
    seen = []
    thread = threading.Thread(target=lambda: seen.append(x.shape))
    thread.start()
    thread.join()
    assert seen == [[2, 2]] == [x.shape] and jaxflow.numel(x) == x.size == 4


def test_what_a_tensor_says_of_itself():
    x = paddle.to_tensor(np.arange(6.0).reshape(2, 3), place=paddle.CPUPlace())
    assert x.dtype == paddle.float64 and repr(x.dtype) == "paddle.float64"
    assert x.astype("int32").dtype is x.cast(np.int32).dtype is paddle.int32
    assert x.place == paddle.CPUPlace() and repr(x.place) == "Place(cpu)" and x.place.is_cpu_place()
    assert x.ndim == x.dim() == 2 and x.item(4) == x.item(1, 1) == 4.0 and x.numel().item() == 6
    assert x.to("float32").dtype == paddle.float32 and x.is_leaf and x.inplace_version == 0
    x.set_value(np.zeros((2, 3)))
    assert x.tolist() == [[0.0] * 3] * 2 and x.name != paddle.ones([1]).name
    with pytest.raises(ValueError, match="only one element"):
        x.item()
    with pytest.raises(AttributeError, match=r"Tensor\.svd exists in Paddle but not here"):
        x.svd
    with pytest.raises(AttributeError, match=r"paddle\.vision exists in Paddle but not here"):
        paddle.vision
    with pytest.raises(TypeError, match="unexpected keyword argument 'dim'"):
        paddle.sum(x, dim=0)


def test_max_hands_every_extreme_the_whole_gradient(executor):
    for reduce, expected in ((paddle.max, [0, 1, 1]), (paddle.amax, [0, 0.5, 0.5])):
        x = leaf([1.0, 3.0, 3.0])
        reduce(x).backward()
        assert x.grad.tolist() == expected

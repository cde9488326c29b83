"""The OneFlow dialect: the sentences of its autograd pages, and what its tensors look like."""

import inspect
import io

import numpy as np
import pytest

import jaxflow
from jaxflow import oneflow


class Exp(oneflow.autograd.Function):
    """The example of OneFlow's page."""

    @staticmethod
    def forward(ctx, i):
        result = i.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        result, = ctx.saved_tensors
        assert type(grad_output) is type(result) is oneflow.Tensor
        return grad_output * result


def test_function_is_called_either_way(executor):
    data = np.array([0.5, -1.0, 2.0], np.float32)
    for use in (Exp.apply, Exp()):
        x = oneflow.tensor(data, requires_grad=True)
        y = use(x)
        assert type(y) is oneflow.Tensor and type(y.grad_fn).__name__ == "ExpBackward"
        y.sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), np.exp(data), rtol=1e-6)
    with pytest.raises(NotImplementedError, match="must implement the forward function"):
        oneflow.autograd.Function.apply(x)


def test_signatures_are_oneflows():
    names = lambda fn: list(inspect.signature(fn).parameters)  # noqa: E731
    assert names(oneflow.Tensor.backward) == ["self", "gradient", "retain_graph", "create_graph"]
    assert names(oneflow.autograd.backward) == ["tensors", "grad_tensors", "retain_graph", "create_graph"]
    assert names(oneflow.autograd.grad)[:5] == [
        "outputs", "inputs", "grad_outputs", "retain_graph", "create_graph"
    ]
    for fn in (oneflow.Tensor.backward, oneflow.autograd.backward, oneflow.autograd.grad):
        parameters = inspect.signature(fn).parameters
        assert parameters["retain_graph"].default is parameters["create_graph"].default is False


def cube():
    x = oneflow.tensor([1.0, 2.0], requires_grad=True)
    return x, (x**3).sum()


def test_retain_graph_is_false_and_follows_create_graph(executor):
    for backward in (oneflow.Tensor.backward, oneflow.autograd.backward):
        x, y = cube()
        backward(y)
        with pytest.raises(RuntimeError, match="second time"):
            backward(y)
        np.testing.assert_allclose(x.grad.numpy(), [3.0, 12.0])
        x, y = cube()
        backward(y, retain_graph=True)
        backward(y)  # accumulates
        np.testing.assert_allclose(x.grad.numpy(), [6.0, 24.0])
    x, y = cube()
    (first,) = oneflow.autograd.grad(y, x, create_graph=True)
    (second,) = oneflow.autograd.grad(first.sum(), x, retain_graph=True)
    (again,) = oneflow.autograd.grad(y, x)
    np.testing.assert_allclose(second.numpy(), [6.0, 12.0])
    np.testing.assert_allclose(again.numpy(), [3.0, 12.0])
    assert type(first) is oneflow.Tensor and first.requires_grad and not again.requires_grad
    assert x.grad is None


@pytest.mark.filterwarnings("ignore:Using backward")
def test_create_graph_keeps_the_graph_of_backward(executor):
    x, y = cube()
    y.backward(create_graph=True)
    assert x.grad.requires_grad
    y.backward()
    x.grad = None


def test_older_names_and_several_tensors(executor):
    x, _ = cube()
    oneflow.autograd.backward(outputs=[x * 2, x * x], out_grads=[oneflow.ones(2), oneflow.ones(2)])
    np.testing.assert_allclose(x.grad.numpy(), [4.0, 6.0])
    x, _ = cube()
    oneflow.autograd.backward(((x * 2).sum(), x.sum()), None)  # one element each: 1 is meant
    np.testing.assert_allclose(x.grad.numpy(), [3.0, 3.0])
    (g,) = oneflow.autograd.grad([x * 2], [x], out_grads=[oneflow.tensor([1.0, 10.0])])
    np.testing.assert_allclose(g.numpy(), [2.0, 20.0])
    with pytest.raises(TypeError, match="both 'tensors' and 'outputs'"):
        oneflow.autograd.backward(tensors=x, outputs=x)
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        (x * 2).backward()


def test_grad_modes():
    x = oneflow.ones(1, requires_grad=True)
    with oneflow.no_grad():
        assert not (x * 2).requires_grad
        with oneflow.enable_grad():
            assert (x * 2).requires_grad
    with oneflow.set_grad_enabled(is_train=False):
        assert not oneflow.is_grad_enabled()
    with oneflow.inference_mode():
        assert (x * 2).is_inference()
    seen = []
    handle = x.register_hook(lambda g: seen.append(type(g)) or g * 3)
    x.sum().backward()
    handle.remove()
    assert seen == [oneflow.Tensor] and x.grad.item() == 3.0


def test_what_tensors_look_like(executor):
    assert repr(oneflow.tensor([[1.0, -1.0], [1.0, -1.0]])) == (
        "tensor([[ 1., -1.],\n        [ 1., -1.]], dtype=oneflow.float32)"
    )
    x = oneflow.tensor(2.5, requires_grad=True)
    assert repr(x) == "tensor(2.5000, dtype=oneflow.float32, requires_grad=True)"
    assert repr(oneflow.zeros(0, 2)) == "tensor([], size=(0, 2), dtype=oneflow.float32)"
    assert repr(oneflow.tensor([1, 2]) > 1) == "tensor([False,  True], dtype=oneflow.bool)"
    assert repr(oneflow.zeros(2, 3).shape) == "oneflow.Size([2, 3])" == repr(oneflow.zeros(2, 3).size())
    assert repr(x.dtype) == "oneflow.float32" and x.dtype == oneflow.float32 == jaxflow.float32
    assert x.dtype != oneflow.float64 and len({x.dtype, jaxflow.float32}) == 1
    assert oneflow.zeros(2, dtype=oneflow.int32).cast(oneflow.float64).dtype is oneflow.float64


def test_every_result_has_the_face(executor):
    x = oneflow.tensor([[3.0, 1.0], [2.0, 4.0]], requires_grad=True)
    plain = jaxflow.ones(2, 2)
    y = x * 2
    y += 1
    results = [
        x + y, 1 - x, plain * x, x @ plain, x[0], x.T, x.max(0).values, *x.split(1), *x.unbind(),
        x.detach(), x.data, x == plain, oneflow.stack([plain, plain]), oneflow.nn.functional.relu(x), y,
        oneflow.sort(x)[1], *iter(x),
    ]
    assert {type(r) for r in results} == {oneflow.Tensor}
    assert type(plain) is type(plain + plain) is jaxflow.Tensor
    assert oneflow.contiguous(plain) is plain and type(plain) is jaxflow.Tensor


def test_a_model_trains_and_is_saved(executor):
    oneflow.manual_seed(0)
    model = oneflow.nn.Sequential(
        oneflow.nn.Linear(3, 4), oneflow.nn.QuickGELU(), oneflow.nn.Linear(4, 1)
    )
    assert isinstance(model, oneflow.nn.Module) and isinstance(model[0], jaxflow.nn.Linear)
    assert type(model[0].weight) is oneflow.nn.Parameter
    optimizer = oneflow.optim.AdamW(model.parameters(), lr=0.1)
    assert optimizer.defaults["weight_decay"] == 0
    schedule = oneflow.optim.lr_scheduler.CosineDecayLR(optimizer, decay_steps=4, alpha=0.5)
    data = oneflow.utils.data.TensorDataset(oneflow.randn(4, 3), oneflow.ones(4, 1))
    losses = []
    for _ in range(2):
        for inputs, targets in oneflow.utils.data.DataLoader(data, batch_size=4):
            assert type(inputs) is oneflow.Tensor
            loss = oneflow.nn.functional.mse_loss(model(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
    assert losses[1] < losses[0]
    np.testing.assert_allclose(schedule.get_last_lr(), [0.075])
    file = io.BytesIO()
    oneflow.save(model.state_dict(), file)
    file.seek(0)
    assert type(jaxflow.load(file)["0.weight"]) is jaxflow.Tensor
    file.seek(0)
    loaded = oneflow.load(file)
    assert type(loaded["0.weight"]) is oneflow.Tensor
    assert "<All keys matched successfully>" in str(model.load_state_dict(loaded))


def test_functional(executor):
    x, ones, seen = oneflow.tensor([1.0, 2.0]), oneflow.ones(2), set()

    def cubes(t):
        seen.add(type(t))
        return t**3

    def total(t):
        return cubes(t).sum()

    functional = oneflow.autograd.functional
    assert functional.jacobian(cubes, x).tolist() == [[3.0, 0.0], [0.0, 12.0]]
    assert oneflow.autograd.hessian(total, x).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    for derive, expected in ((functional.vjp, [3.0, 12.0]), (functional.jvp, 15.0)):
        value, derivative = derive(total, x, None if derive is functional.vjp else ones)
        assert type(value) is type(derivative) is oneflow.Tensor and derivative.tolist() == expected
    for derive in (functional.vhp, functional.hvp):
        assert derive(total, x, ones)[1].tolist() == [6.0, 12.0]
    assert seen == {oneflow.Tensor}
    with pytest.raises(AttributeError, match="has no attribute 'curl'"):
        functional.curl


def test_module_hooks_see_the_face(executor):
    layer, seen = oneflow.nn.Linear(2, 3), []

    def note(module, *tensors):
        seen.extend(type(t) for group in tensors for t in (group if isinstance(group, tuple) else (group,)))

    layer.register_forward_hook(note)
    layer.register_full_backward_hook(note)
    layer(oneflow.ones(1, 2, requires_grad=True)).sum().backward()
    assert seen == [oneflow.Tensor] * 4


def test_what_only_oneflow_has():
    x = oneflow.arange(6).reshape(2, 3)
    index = oneflow.tensor([[0, 1], [1, 2]])
    assert oneflow.gather_nd(x, index).tolist() == [1, 5]
    assert oneflow.scatter_nd(oneflow.tensor([[1], [1]]), oneflow.ones(2), [3]).tolist() == [0, 2, 0]
    assert oneflow.tensor_scatter_nd_update(x, index, oneflow.tensor([7, 8])).tolist() == [
        [0, 7, 2], [3, 4, 8]
    ]
    assert oneflow.slice(x, [(0, 1, 1), (0, 3, 2)]).tolist() == [[0, 2]]
    assert oneflow.slice_update(x, oneflow.tensor([[9.0, 9.0]]), [(0, 1, 1), (0, 3, 2)]).tolist() == [
        [9, 1, 9], [3, 4, 5]
    ]
    scores = oneflow.tensor([[0.1, 0.9, 0.5], [0.9, 0.2, 0.4]])
    assert oneflow.in_top_k(oneflow.tensor([2, 1]), scores, 2).tolist() == [True, False]
    assert oneflow.pad(oneflow.ones(2), (1, 0)).tolist() == [0.0, 1.0, 1.0]
    y = oneflow.ones(2)
    assert oneflow.lerp_(y, oneflow.zeros(2), 0.5) is y and y.tolist() == [0.5, 0.5]
    assert oneflow.tensor([-1.0, 0.0]).softsign().tolist() == [-0.5, 0.0]
    assert oneflow.nn.functional.square_relu(oneflow.tensor([-1.0, 3.0])).tolist() == [0.0, 9.0]
    assert oneflow.nn.RMSNorm(3).eps == 1e-5 and oneflow.nn.ConstantPad1d(1).value == 0


def test_oneflows_conventions_and_argument_names():
    x = oneflow.tensor([3, 1, 2, 0, 2])
    assert repr(oneflow.argwhere(x)) == (
        "tensor([[0],\n        [1],\n        [2],\n        [4]], dtype=oneflow.int32)"
    )
    assert oneflow.unique(x, sorted=False).tolist() == [3, 1, 2, 0]
    values, inverse, counts = oneflow.unique(x, True, return_inverse=True, return_counts=True)
    assert values.tolist() == [0, 1, 2, 3] and counts.tolist() == [1, 1, 2, 1]
    assert inverse.tolist() == [3, 1, 2, 0, 2] and inverse.dtype == counts.dtype == oneflow.int32
    assert oneflow.unique(x, False, True, dtype=oneflow.int64)[1].tolist() == [0, 1, 2, 3, 2]
    rows = oneflow.batch_gather(oneflow.tensor([[1.0, 2.0], [3.0, 4.0]]), oneflow.tensor([1, 0]))
    assert rows.tolist() == [[3.0, 4.0], [1.0, 2.0]]
    assert oneflow.batch_gather(rows, oneflow.tensor([[1], [0]])).tolist() == [[4.0], [1.0]]
    assert oneflow.sum(x=rows, dim=0).tolist() == oneflow.sum(input=rows, dim=0).tolist() == [4.0, 6.0]
    assert oneflow.where(rows > 2, x=rows, y=oneflow.zeros(2, 2)).tolist() == [[3.0, 4.0], [0.0, 0.0]]
    assert oneflow.nn.functional.leaky_relu(-rows, alpha=0.5).tolist() == [[-1.5, -2.0], [-0.5, -1.0]]
    with pytest.raises(TypeError, match="got both 'negative_slope' and 'alpha'"):
        oneflow.nn.functional.leaky_relu(rows, alpha=0.5, negative_slope=0.5)


def test_saved_tensors_hooks(executor):
    x, packed = oneflow.tensor([2.0], requires_grad=True), []
    hooks = oneflow.autograd.graph.saved_tensors_hooks
    with hooks(lambda t: packed.append(t) or 0, lambda _: packed[-1] * 10):
        y = x * x
    y.backward()
    assert {type(t) for t in packed} == {oneflow.Tensor} and x.grad.item() == 40.0


def test_missing_names_say_so():
    with pytest.raises(AttributeError, match=r"oneflow\.roi_align exists in OneFlow but not here"):
        oneflow.roi_align
    with pytest.raises(AttributeError, match=r"Tensor\.to_global exists in OneFlow but not here"):
        oneflow.ones(1).to_global
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        oneflow.nn.no_such_name

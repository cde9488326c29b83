"""What is written through ``.data`` between a forward and its backward: NOTE [Unseen writes]."""

import numpy as np
import pytest

import jaxflow as torch
from jaxflow._core import unseen

X, W = [1.0, 2.0, 3.0, 4.0], 2.0


def through_data(x):
    x.data.add_(5)


def one_element(x):
    x.data[1] = 50


def of_a_view(x):
    x.view(2, 2).data.add_(5)


def to_itself(x):
    x.add_(5)


def through_detached(x):
    x.detach().add_(5)


# What is saved: the tensor itself, a view of it, its ``.data``, a view of that.
SAVED = {
    "itself": lambda x, w: x * w,
    "a view": lambda x, w: x.view(2, 2) * w.view(2, 2),
    "a part": lambda x, w: x[1:] * w[1:],
    "its data": lambda x, w: x.data * w,
    "a part of its data": lambda x, w: x.data[1:] * w[1:],
}


@pytest.mark.parametrize("saved", SAVED)
@pytest.mark.parametrize("write", [through_data, one_element, of_a_view, to_itself, through_detached])
def test_a_backward_finds_what_was_written_apart(saved, write, executor):
    x, w = torch.tensor(X), torch.full((4,), W, requires_grad=True)
    loss = SAVED[saved](x, w).sum()
    write(x)
    seen = write in (to_itself, through_detached)
    if seen and "data" not in saved:  # these are counted where the saved one is
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()
        return
    loss.backward()
    expected = [0.0, *x.tolist()[1:]] if "part" in saved else x.tolist()
    assert w.grad.tolist() == expected != X


def test_a_parameter_that_is_written_to_before_the_backward(executor):
    layer = torch.nn.Linear(2, 1, bias=False)
    layer.weight.data.fill_(1.0)
    x = torch.ones(3, 2, requires_grad=True)
    loss = (layer(x) ** 2).sum()
    layer.weight.data.add_(1)
    loss.backward()
    assert x.grad.tolist() == [[8.0, 8.0]] * 3  # of the weight as it is, and of the result as it was
    assert layer.weight.grad.tolist() == [[12.0, 12.0]]


def test_what_a_function_has_saved(executor):
    class Times(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(x)
            return x * w

        @staticmethod
        def backward(ctx, grad):
            return None, grad * ctx.saved_tensors[0]

    x, w = torch.tensor(X), torch.full((4,), W, requires_grad=True)
    loss = Times.apply(x, w).sum()
    x.data.mul_(10)
    loss.backward()
    assert w.grad.tolist() == [10.0, 20.0, 30.0, 40.0]


def test_operands_that_are_kept_with_their_result_are_refused(executor):
    x, w = torch.tensor(X), torch.full((4,), W, requires_grad=True)
    loss = (w ** x).sum()
    x.data.add_(1)
    with pytest.raises(RuntimeError, match=r"PowBackward1 saved .* through \.data"):
        loss.backward()


def test_what_is_written_before_the_forward_changes_nothing(executor):
    x, w = torch.tensor(X), torch.full((4,), W, requires_grad=True)
    x.data.add_(1)
    loss = (w ** x).sum()
    y = torch.ones(3)
    y.data.add_(1)
    loss.backward()
    assert w.grad.tolist() == [x * W ** (x - 1) for x in (2.0, 3.0, 4.0, 5.0)]


@pytest.mark.parametrize("saved", SAVED)
def test_numpy_writes_and_lets_go_before_the_backward(saved, executor):
    x, w = torch.ones(4), torch.full((4,), W, requires_grad=True)
    loss = SAVED[saved](x, w).sum()
    x.numpy()[...] = 8
    loss.backward()
    assert w.grad.tolist() == [0.0 if "part" in saved else 8.0, 8.0, 8.0, 8.0]


def test_numpy_writes_to_large_memory_and_lets_go_before_the_backward(executor):
    x, w = torch.ones(40_000), torch.full((40_000,), W, requires_grad=True)
    loss = (x * w).sum()
    x.numpy()[1:] = 8
    loss.backward()
    assert w.grad[:3].tolist() == [1, 8, 8] and w.grad.sum().item() == 8 * 39_999 + 1


@pytest.mark.parametrize("write", [
    lambda x: x.data.mul_(2), lambda x: x.detach().numpy().__imul__(2)], ids=["data", "numpy"])
@pytest.mark.parametrize(("loss", "expected"), [
    (lambda x, w: x.t() * x * w, [[2, 2], [2, 2]]),
    (lambda x, w: x * x * x * w, [[10, 20], [30, 40]]),  # ``x * x`` is as it was
    (lambda x, w: x[:1] * x[1:] * w[:1], [[1, 1], [1, 1]]),
], ids=["transposed", "cube", "parts"])
def test_a_second_backward_finds_each_operand_where_it_lies(loss, expected, write, executor):
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    w = torch.ones(2, 2, requires_grad=True)
    first, = torch.autograd.grad(loss(x, w).sum(), x, create_graph=True)
    write(x)
    second, = torch.autograd.grad(first.sum(), x)
    assert second.tolist() == expected


def numpy_array(held):
    array = held.pop().detach().numpy()
    array += 5
    return array


def numpy_array_gone(held):
    numpy_array(held)


def numpy_array_gone_first(held):
    held[0].detach().numpy()[:] += 5
    held.pop()


def data_before(held):
    through_data(held.pop())


def data_after(held):
    data = held.pop().data
    data.add_(5)
    return data


def part_of_data(held):
    data = held.pop().data[1:]
    data.add_(5)
    return data


@pytest.mark.parametrize("leaf", [True, False])
@pytest.mark.parametrize("saved", SAVED)
@pytest.mark.parametrize(
    "write", [numpy_array, numpy_array_gone, numpy_array_gone_first, data_before, data_after, part_of_data])
def test_a_backward_finds_what_a_tensor_was_at_its_end(write, saved, leaf, executor):
    x, w = torch.tensor(X, requires_grad=not leaf), torch.full((4,), W, requires_grad=True)
    held = [x if leaf else x * 1]
    del x
    loss = SAVED[saved](held[0], w).sum()
    other = torch.ones(2)
    array = other.numpy()  # something is shared, whatever else is
    kept = write(held)
    assert not held and array.sum() == 2
    loss.backward()
    del kept
    first = X[0] if write is part_of_data else X[0] + 5
    assert w.grad.tolist() == [0.0 if "part" in saved else first, X[1] + 5, X[2] + 5, X[3] + 5]


def test_an_interrupted_end_is_refused(executor):
    class Interrupted(unseen.WatchedStorage):
        __slots__ = ()

        def __del__(self):
            pass  # as a KeyboardInterrupt on its first line leaves it

    w = torch.full((4,), W, requires_grad=True)
    held = [torch.tensor(X)]
    loss = (held[0] * w).sum()
    held[0].data.add_(5)
    held[0]._storage.__class__ = Interrupted
    held.pop()
    with pytest.raises(RuntimeError, match="was interrupted"):
        loss.backward()
    assert w.grad is None


@pytest.mark.parametrize("leaf", [True, False])
@pytest.mark.parametrize("shared", [False, True])
def test_data_is_set_before_the_backward(shared, leaf, executor):
    x, w = torch.tensor(X, requires_grad=not leaf), torch.full((4,), W, requires_grad=True)
    if not leaf:
        x = x * 1
    loss = (x * w).sum()
    array = x.detach().numpy() if shared else None
    x.data = torch.tensor(X) + 5
    again = (x * w).sum()
    if shared:
        array[:] = 9
    loss.backward(retain_graph=True)  # PyTorch has saved the tensor, whatever memory it has by then
    assert w.grad.tolist() == [v + 5 for v in X]
    w.grad = None
    again.backward()
    assert w.grad.tolist() == [v + 5 for v in X]


def test_data_is_set_while_a_view_shows_what_was_there(executor):
    x, w = torch.tensor(X), torch.full((4,), W, requires_grad=True)
    part = x[1:]
    array = x.numpy()
    x.data = torch.tensor(X) + 5
    loss = (x * w).sum() + (part * w[1:]).sum()
    array[:] = 9
    loss.backward()
    assert w.grad.tolist() == [X[0] + 5, *[v + 5 + 9 for v in X[1:]]]


def test_what_a_storage_left_is_not_what_a_later_node_saved(executor):
    x, w = torch.tensor(X), torch.full((4,), W, requires_grad=True)
    x.data.add_(0)

    @torch.compile
    def descend():
        x.data = x.data - 1

    other = torch.ones(2)
    array = other.numpy()  # something is shared: nodes look at what they saved
    for n in range(1, 5):
        descend()
        w.grad = None
        (x * w).sum().backward()
        assert w.grad.tolist() == [v - n for v in X] == x.tolist()
    assert array.sum() == 2


@pytest.mark.parametrize("saved", [
    lambda x: x.detach(), lambda x: x[1:], lambda x: x.data, lambda x: x.unbind()[0],
], ids=["detached", "part", "data", "of many"])
def test_other_memory_of_a_constant_view_is_refused(saved, executor):
    """Another tensor might show the same part, and have the memory of before."""
    x, w = torch.tensor(X), torch.full((4,), W, requires_grad=True)
    part = saved(x)
    loss = (part * w[: part.numel()].view_as(part)).sum()
    part.data = part + 1
    with pytest.raises(RuntimeError, match="does not know whether it was that tensor"):
        loss.backward()
    again = (part * w[: part.numel()].view_as(part)).sum()
    again.backward()
    assert w.grad[0].item() == part.reshape(-1)[0].item()


@pytest.mark.parametrize("shown", [False, True])
@pytest.mark.parametrize("other", [torch.ones(2, 2), torch.ones(4, dtype=torch.float64)])
def test_constant_memory_of_another_kind_is_refused(other, shown, executor):
    x, w = torch.tensor(X), torch.full((4,), W, requires_grad=True)
    part = x[1:] if shown else None
    loss = (x * w).sum()
    x.data = other.clone()
    with pytest.raises(RuntimeError, match="memory of another shape, dtype"):
        loss.backward()
    assert part is None or part.tolist() == X[1:]


@pytest.mark.parametrize("write", [
    lambda x: x.data.mul_(x), lambda x: x.detach().numpy().__imul__(np.arange(6).reshape(2, 3)),
    lambda x: setattr(x, "data", x * x),
], ids=["data", "numpy", "other memory"])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("norm", [
    lambda x: torch.nn.functional.layer_norm(x, (3,)), lambda x: torch.nn.functional.rms_norm(x, (3,)),
    lambda x: torch.nn.functional.batch_norm(x, None, None, training=True),
    torch.nn.functional.logsigmoid, lambda x: torch.linalg.multi_dot([x, x.T, x]),
], ids=["layer_norm", "rms_norm", "batch_norm", "logsigmoid", "multi_dot"])
def test_operands_with_statistics_of_before_are_refused(norm, shared, write, executor):
    x = torch.arange(1.0, 7.0).reshape(2, 3).requires_grad_()
    array = x.detach().numpy() if shared else None
    loss = norm(x).pow(2).sum()
    write(x)
    with pytest.raises(RuntimeError, match="together with its result"):
        loss.backward()
    norm(x).sum().backward()
    assert array is None or array.shape == (2, 3)


def test_weights_beside_statistics_are_found_as_they_are(executor):
    x, w = torch.tensor([X]).requires_grad_(), torch.ones(4, requires_grad=True)
    loss = torch.nn.functional.layer_norm(x, (4,), w)[0, 0]
    once = torch.autograd.grad(loss, x, retain_graph=True)[0]
    w.data.mul_(2)
    loss.backward()
    assert x.grad[0].tolist() == pytest.approx((2 * once)[0].tolist())


def test_pooling_goes_by_the_positions_that_it_found(executor):
    x = torch.tensor([X], requires_grad=True)
    array = x.detach().numpy()
    loss = torch.nn.functional.max_pool1d(x, 2).sum()
    array[...] = array[:, ::-1].copy()
    loss.backward()
    assert x.grad.tolist() == [[0.0, 1.0, 0.0, 1.0]]


@pytest.mark.parametrize("part", [lambda v: v, lambda v: v[1:], lambda v: v.view(3, 1)[0]])
def test_a_view_with_other_memory_is_not_written_to_in_a_graph(part, executor):
    """PyTorch takes the write for one to its base, where the view lies in its memory by then."""
    x = torch.tensor(X, requires_grad=True) * 1
    v = x[1:]
    v.data = torch.ones(3)
    with pytest.raises(RuntimeError, match="given other memory"):
        part(v).mul_(2)
    assert v.tolist() == [1.0] * 3 and x.tolist() == X and x._version == 0


def test_a_view_in_a_graph_gets_no_memory_that_its_base_has_no_room_for(executor):
    x = torch.tensor(X, requires_grad=True) * 1
    v = x[1:]
    with pytest.raises(RuntimeError, match="has no room for"):
        v.data = torch.ones(9)
    assert v.tolist() == X[1:] and x.tolist() == X

"""Calls that PyTorch takes for another overload than they look like, and those that fit none."""

import math

import pytest

import jaxflow as torch

F = torch.nn.functional
INVALID = "received an invalid combination of arguments"


@pytest.mark.usefixtures("executor")
def test_no_rounding_that_is_written_out_is_another_node():
    x, y = torch.tensor([3.0, 4.0], requires_grad=True), torch.tensor([2.0, 8.0], requires_grad=True)
    for z in (torch.div(x, y, rounding_mode=None), x.divide(y, rounding_mode=None),
              (x * 1).div_(y, rounding_mode=None)):
        assert z.grad_fn.name() == "DivBackward2" and z.grad_fn._saved_rounding_mode is None
        assert z.tolist() == [1.5, 0.5]
        grads = torch.autograd.grad(z.sum(), (x, y))
        assert [g.tolist() for g in grads] == [[0.5, 0.125], [-0.75, -0.0625]]
    assert torch.div(x, 2.0, rounding_mode=None).grad_fn.name() == "DivBackward2"
    assert torch.div(x, y).grad_fn.name() == (x / y).grad_fn.name() == "DivBackward0"
    assert torch.div(x, y, rounding_mode="floor").tolist() == [1.0, 0.0]
    assert torch.div(x.detach(), 2, rounding_mode=None, out=torch.empty(2)).tolist() == [1.5, 2.0]


@pytest.mark.parametrize("name", ["prod", "median", "nanmedian"])
@pytest.mark.parametrize("args, kwargs, words", [
    ((None,), {}, None), ((), {"dim": None}, None), ((), {"keepdim": True}, None), ((True,), {}, None),
    (((0, 1),), {}, None), ((1.0,), {}, None),
    ((None, True), {}, r"'dim' \(position 2\) must be int, not NoneType"),
    ((0, 1), {}, r"'keepdim' \(position 3\) must be bool, not int"),
    ((0,), {"keepdim": None}, "'keepdim' must be bool, not NoneType"),
])
def test_reductions_along_one_dimension_take_an_int(name, args, kwargs, words):
    x = torch.tensor([[2.0, 3.0], [4.0, 5.0]])
    alone = words is None
    words = words or (f"prod.. {INVALID}" if name == "prod" else r"must be int|required positional.*dim")
    for call in (getattr(torch, name), getattr(torch.Tensor, name)):
        with pytest.raises(TypeError, match=words):
            call(x, *args, **kwargs)
        if alone and "keepdim" not in kwargs:
            with pytest.raises(TypeError, match="argument 'dim'.* must be int"):
                call(x, *args, keepdim=False, **kwargs)


@pytest.mark.usefixtures("executor")
def test_products_and_medians_of_the_forms_there_are():
    x = torch.tensor([[2.0, 3.0], [4.0, 5.0]])
    assert x.prod().item() == 120.0 and torch.prod(x, dtype=torch.float64).dtype is torch.float64
    assert x.prod(0).tolist() == torch.prod(x, axis=0).tolist() == [8.0, 15.0]
    assert torch.prod(x, 1, keepdim=True, out=torch.empty(2, 1)).tolist() == [[6.0], [20.0]]
    assert x.median().item() == 3.0 and x.median(0, keepdim=True).values.tolist() == [[2.0, 3.0]]
    with pytest.raises(TypeError, match=f"prod.. {INVALID}"):
        torch.prod(x, out=torch.empty(()))


@pytest.mark.usefixtures("executor")
def test_searches_of_numbers():
    bools, numbers = torch.tensor([False, True]), torch.tensor([1, 2])
    for call in (lambda: torch.searchsorted(bools, True), lambda: torch.bucketize(True, bools),
                 lambda: torch.bucketize(True, bools[:0]), lambda: torch.searchsorted(numbers, 1j)):
        with pytest.raises(NotImplementedError, match='"searchsorted_out_cpu" not implemented for'):
            call()
    for call in (lambda: torch.bucketize(2, numbers, out=torch.empty((), dtype=torch.int64)),
                 lambda: torch.bucketize(None, numbers), lambda: torch.searchsorted(numbers, None),
                 lambda: torch.isin(numbers, "a")):
        with pytest.raises(TypeError, match=INVALID):
            call()
    assert torch.searchsorted(numbers, True).item() == 0 and torch.searchsorted(bools, 1).item() == 1
    assert torch.searchsorted(numbers, 2, out=torch.empty((), dtype=torch.int64)).item() == 1
    with pytest.raises(RuntimeError, match=r"Unsupported input type encountered for isin\(\): Bool"):
        torch.isin(bools, True)


@pytest.mark.usefixtures("executor")
def test_a_norm_that_counts_has_no_gradient():
    x, y = torch.tensor([1.0, 0.0, 2.0], requires_grad=True), torch.ones(3, requires_grad=True)
    calls = (lambda: torch.norm(x, 0), lambda: torch.linalg.vector_norm(x, 0, 0), lambda: x.norm(0.0),
             lambda: torch.dist(x, y.detach() * 0, 0), lambda: torch.norm(x.view(1, 3), 0, 1).sum())
    for call in calls:
        assert call().item() == 2.0
        call().backward()
        assert x.grad is None
        assert torch.autograd.grad(call(), x, allow_unused=True) == (None,)
        found, = torch.autograd.grad(call() + (x * x).sum(), x)
        assert found.tolist() == [2.0, 0.0, 4.0]
    with pytest.raises(RuntimeError, match="Expected a proper Tensor but got None"):
        torch.dist(x, y, 0).backward()
    assert torch.func.grad(lambda t: torch.norm(t, 0))(y.detach()).tolist() == [0.0] * 3
    for p in (math.inf, -1.0):
        with pytest.raises(RuntimeError, match="norm on an empty tensor because the operation does not have"):
            torch.dist(torch.zeros(0), torch.zeros(0), p)


BOOLS, LONGS, FLOATS = torch.tensor([True, False]), torch.tensor([1, 0]), torch.tensor([1.0, 0.0])
TWO_BOOLS = "Subtraction, the `-` operator, with two bool tensors is not supported"


@pytest.mark.parametrize("call, error, words", [
    (lambda: F.soft_margin_loss(BOOLS, FLOATS), RuntimeError, "Negation, the `-` operator, on a bool tensor"),
    (lambda: F.soft_margin_loss(LONGS, BOOLS), RuntimeError, "result type Float can't be cast to .* Long"),
    (lambda: F.binary_cross_entropy(BOOLS, BOOLS), NotImplementedError, '"binary_cross_entropy" .* .Bool'),
    (lambda: F.binary_cross_entropy_with_logits(FLOATS, BOOLS), RuntimeError, TWO_BOOLS),
    (lambda: F.hinge_embedding_loss(BOOLS, FLOATS), RuntimeError, TWO_BOOLS),
    (lambda: F.multilabel_soft_margin_loss(BOOLS, BOOLS), NotImplementedError, '"log_sigmoid_cpu" .* .Bool'),
    (lambda: F.multilabel_margin_loss(LONGS, BOOLS), NotImplementedError, "_forward_out_frame.* .Long"),
    (lambda: F.nll_loss(FLOATS, BOOLS), RuntimeError, "target dtype to be Long or Byte, but got Bool"),
    (lambda: F.nll_loss(FLOATS, LONGS), ValueError, "1D target must have size 1, but got target size: 2"),
    (lambda: F.cross_entropy(BOOLS, FLOATS), NotImplementedError, '"log_softmax_lastdim_kernel_impl" .*Bool'),
    (lambda: F.huber_loss(BOOLS, BOOLS), NotImplementedError, '"huber_cpu" not implemented for .Bool'),
    (lambda: F.huber_loss(BOOLS, LONGS), RuntimeError, "result type Long can't be cast to the .* Bool"),
])
def test_losses_of_bools_and_integers(executor, call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.usefixtures("executor")
def test_results_of_losses_and_histograms_beside_that():
    hinge = F.hinge_embedding_loss(LONGS, FLOATS, margin=1.7, reduction="none")
    assert hinge.dtype is torch.int64 and hinge.tolist() == [1, 1]
    points = torch.tensor([1.0, 2.0, 4.0], requires_grad=True)
    counts, edges = torch.histogram(points, 2, out=(torch.empty(2), torch.empty(0)))
    assert counts.tolist() == [2.0, 1.0] and edges.tolist() == [1.0, 2.5, 4.0]
    for t in (counts, edges):
        with pytest.raises(RuntimeError, match="derivative for aten::histogram is not implemented"):
            t.sum().backward()
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        torch.histogram(points.detach(), 2, out=(torch.empty(2, requires_grad=True), torch.empty(3)))


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("shape, source, dim, index, kwargs, error, words", [
    ((), (), -1, [5], {}, IndexError, "index out of range in self"),
    ((0, 3), (1, 3), 0, [0], {}, IndexError, r"select\(\): index 0 out of range for tensor of size \[0, 3\]"),
    ((0, 0), (1, 0), 0, [0], {"include_self": False}, IndexError, r"select\(\): index 0 out of range"),
    ((0, 3), (1, 3), 0, [0], {"include_self": False}, RuntimeError, r"setStorage: sizes \[1, 3\]"),
    ((2, 3), (1, 3), 0, [5], {"include_self": False}, IndexError, "index 5 is out of bounds for dimension 0"),
    ((2, 0), (1, 0), 0, [5], {"include_self": False}, IndexError, "index out of range in self"),
    ((3,), (), 0, [0, 1], {}, IndexError, "Dimension specified as 0 but tensor has no dimensions"),
])
def test_slices_combined_where_there_are_none(shape, source, dim, index, kwargs, error, words):
    x, index, s = torch.ones(shape), torch.tensor(index), torch.ones(source)
    for call in (torch.index_reduce, torch.Tensor.index_reduce_):
        with pytest.raises(error, match=words):
            call(x, dim, index, s, "prod", **kwargs).tolist()
    assert x.tolist() == torch.ones(shape).tolist()

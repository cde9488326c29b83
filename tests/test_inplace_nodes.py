"""Operations in place whose nodes are not those of the same ones out of place, or have no derivative."""

import pytest

import jaxflow as torch

F = torch.nn.functional


def made(call, data=(-1.0, 2.0)):
    """The result of ``call`` on a tensor with history, and the leaf."""
    x = torch.tensor(data, requires_grad=True)
    return call(x * 1), x


def node(call):
    return type(made(call)[0].grad_fn).__name__


@pytest.mark.usefixtures("executor")
def test_names():
    expected = {"eq_": "EqBackward0", "ne_": "NeBackward0", "lt_": "LtBackward0", "le_": "LeBackward0",
                "gt_": "GtBackward0", "ge_": "GeBackward0"}
    for name, wanted in expected.items():
        assert node(lambda x, name=name: getattr(x, name)(1.0)) == wanted
        assert node(lambda x, name=name: getattr(x, name)(x.detach() * 1)) == wanted.replace("0", "1")
        result, x = made(lambda x, name=name: getattr(x, name)(1.0))
        assert result.requires_grad
        result.sum().backward()
        assert x.grad.tolist() == [0.0, 0.0]
    for name, wanted in {"leaky_relu_": "LeakyRelu", "elu_": "Elu", "selu_": "Elu", "celu_": "Celu",
                         "rrelu_": "RreluWithNoise"}.items():
        assert node(getattr(F, name)) == wanted + "Backward1"
        assert node(getattr(F, name[:-1])) == wanted + "Backward0"
    assert node(lambda x: x.log1p()) == "Log1PBackward0"
    assert node(lambda x: x.rad2deg()) == "Rad2DegBackward0"


@pytest.mark.usefixtures("executor")
def test_integers_that_are_overwritten_have_no_history():
    # In PyTorch they have one, whose backward ends in an internal assertion.
    x = torch.ones(2, requires_grad=True)
    for dtype in (torch.int64, torch.bool):
        for name in ("eq_", "ne_", "lt_", "le_", "gt_", "ge_"):
            result = getattr(torch.ones(2, dtype=dtype), name)(x)
            assert result.grad_fn is None
            assert not result.requires_grad
            assert result[0].item() == (name in ("eq_", "le_", "ge_"))


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("call", [
    lambda x: F.elu_(x, -0.5), lambda x: F.elu(x, -0.5, inplace=True), lambda x: F.celu_(x, -2.0),
    lambda x: F.leaky_relu_(x, -0.5), lambda x: F.leaky_relu(x, -0.5, True),
    lambda x: F.rrelu_(x, -0.5, -0.1)])
def test_a_slope_below_zero_has_no_backward_in_place(call):
    result, _ = made(call)
    assert result.requires_grad  # forward is fine
    with pytest.raises(RuntimeError, match="is triggered with a negative slope which is not supported"):
        result.sum().backward()
    assert not call(torch.tensor([-1.0])).requires_grad


@pytest.mark.usefixtures("executor")
def test_other_slopes_have_one():
    for call, slope in ((lambda x: F.leaky_relu(x, -0.5), -0.5), (lambda x: F.leaky_relu_(x, 0.0), 0.0),
                        (lambda x: F.leaky_relu_(x, 0.25), 0.25), (lambda x: F.rrelu_(x, -0.25, 0.5), 0.125)):
        result, x = made(call)
        result.sum().backward()
        assert x.grad.tolist() == [slope, 1.0]


def test_what_is_written_over_an_activation_in_place_spoils_its_backward():
    for name in ("elu_", "leaky_relu_", "celu_"):
        result, _ = made(lambda x, name=name: getattr(F, name)(x))
        result.mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            result.sum().backward()


@pytest.mark.usefixtures("executor")
def test_scales_of_elu_in_place():
    x = torch.tensor([-1.0, 2.0])
    assert torch.allclose(F.elu_(x.clone(), scale=0.5), torch.tensor([-0.31606, 1.0]), atol=1e-5)
    assert torch.allclose(F.elu_(x.clone(), 2.0, 0.5, 3.0), torch.tensor([-0.95021, 1.0]), atol=1e-5)
    result, leaf = made(lambda x: F.elu_(x, 2.0, 3.0, 0.4))
    result.sum().backward()
    assert torch.allclose(leaf.grad, torch.tensor([1.60877, 3.0]), atol=1e-5)
    with pytest.raises(TypeError):
        F.elu_(x, 2.0, inplace=True)


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("name", ["acosh", "asinh", "atanh"])
def test_operations_without_a_derivative_in_place(name):
    result, _ = made(lambda x: getattr(x, name + "_")(), (0.5, 0.25))
    assert type(result.grad_fn).__name__ == f"{name.title()}Backward1"
    with pytest.raises(NotImplementedError, match=f"the derivative for 'inplace version of {name}' is not"):
        result.sum().backward()
    result, x = made(lambda x: getattr(x, name)(), (0.5, 0.25))
    result.sum().backward()
    assert x.grad is not None


@pytest.mark.usefixtures("executor")
def test_operations_without_a_derivative():
    for call, what in ((lambda x: x // 2.0, "floor_divide"), (lambda x: x.floor_divide(x), "floor_divide"),
                       (lambda x: x.floor_divide_(2.0), "floor_divide_"),
                       (lambda x: torch.heaviside(x, x), "heaviside"),
                       (lambda x: x.heaviside_(x.detach() * 1), "heaviside_")):
        result, _ = made(call)
        assert type(result.grad_fn).__name__ == "NotImplemented"
        assert result.grad_fn.name() == "torch::autograd::NotImplemented"
        with pytest.raises(RuntimeError, match=f"derivative for aten::{what} is not implemented"):
            result.sum().backward()
    assert not (torch.tensor([4]) // 2).requires_grad


@pytest.mark.usefixtures("executor")
def test_a_node_that_refuses_is_reached_only_by_what_arrives_there():
    result, x = made(lambda x: (x // 2.0).detach() * x)
    result.sum().backward()
    assert x.grad.tolist() == [-1.0, 1.0]


@pytest.mark.usefixtures("executor")
def test_tangents_are_refused_where_there_is_no_derivative():
    forward_ad = torch.autograd.forward_ad
    with forward_ad.dual_level():
        x = forward_ad.make_dual(torch.tensor([0.5, 0.25]), torch.ones(2))
        for call, words in ((lambda: x // 2, "aten::floor_divide that does not support it"),
                            (lambda: torch.heaviside(x, x), "aten::heaviside that does not support it"),
                            (lambda: x.clone().floor_divide_(2), "aten::floor_divide_ that does not"),
                            (lambda: x.clone().asinh_(), "asinh_ that does not support it because")):
            with pytest.raises(NotImplementedError, match=f"Trying to use forward AD with {words}"):
                call()
        with pytest.raises(RuntimeError, match="with a negative slope which is not supported"):
            F.elu_(x.clone(), -1.0)
        assert forward_ad.unpack_dual(x.asinh()).tangent is not None
        assert (torch.tensor([4.0]) // 2).tolist() == [2.0]


@pytest.mark.usefixtures("executor")
def test_sums_into_another_dtype_than_asked_for():
    x = torch.ones(3)
    for name in ("cumsum", "cumprod"):
        with pytest.raises(RuntimeError, match="Expected out tensor to have dtype double, but got float"):
            getattr(torch, name)(x, 0, dtype=torch.float64, out=torch.zeros(3))
        with pytest.raises(RuntimeError, match="input tensor dtype float and output tensor dtype double"):
            getattr(x, name + "_")(0, dtype=torch.float64)
        assert getattr(x, name + "_")(0, dtype=torch.float32) is x
        assert getattr(torch, name)(x, 0, out=torch.zeros(3, dtype=torch.int64)).dtype is torch.int64


@pytest.mark.usefixtures("executor")
def test_some_write_results_with_history_and_lose_it():
    x = torch.tensor([4.0, 5.0], requires_grad=True)
    for call in (lambda out: torch.floor_divide(x, 2, out=out), lambda out: torch.heaviside(x, x, out=out),
                 lambda out: torch.alias_copy(x, out=out), lambda out: torch.unsqueeze_copy(x, 0, out=out)):
        out = call(torch.empty(0))
        assert out.requires_grad and type(out.grad_fn).__name__ == "NotImplemented"
        with pytest.raises(RuntimeError, match="derivative for .* is not implemented"):
            out.sum().backward()
        with torch.no_grad():
            assert not call(torch.empty(0)).requires_grad
    assert torch.floor_divide(x, 2, out=torch.zeros(2)).tolist() == [2.0, 2.0]
    leaf = torch.zeros(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="aten::alias_copy.*support automatic differentiation"):
        torch.alias_copy(x, out=leaf)
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        torch.exp(x, out=torch.zeros(2))


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("name, first", [("logical_or_", 1.0), ("logical_and_", 0.0), ("logical_xor_", 1.0),
                                         ("logical_not_", 0.0)])
def test_connectives_write_into_leaves_and_their_views(name, first):
    other = () if name == "logical_not_" else (torch.zeros(2),)
    leaf = torch.tensor([2.0, 3.0, 4.0], requires_grad=True)
    squares, part = (leaf * leaf).sum(), leaf[:2]
    assert getattr(part, name)(*other) is part
    assert leaf.tolist() == [first, first, 4.0] and leaf.is_leaf and leaf.requires_grad
    assert part.requires_grad and not part.is_leaf and (leaf._version, part._version) == (1, 1)
    part.sum().backward()
    assert leaf.grad.tolist() == [1.0, 1.0, 0.0]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        squares.backward()
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        part.eq_(1.0)
    leaf = torch.tensor([2.0, 3.0], requires_grad=True)
    assert getattr(leaf, name)(*other).tolist() == [first, first] and leaf.is_leaf and leaf._version == 1


@pytest.mark.usefixtures("executor")
@pytest.mark.filterwarnings("ignore:The reduce argument of torch.scatter")
@pytest.mark.parametrize("reduce", ["add", "multiply"])
@pytest.mark.parametrize("source", [2.0, torch.ones(1, 2)])
def test_scatter_with_a_reduction_has_no_derivative(reduce, source):
    leaf, index = torch.ones(2, requires_grad=True), torch.tensor([[0, 1]])
    for name, call in (("scatter", lambda x: x.scatter(1, index, source, reduce=reduce)),
                       ("scatter_", lambda x: x.scatter_(1, index, source, reduce=reduce)),
                       ("scatter", lambda x: torch.scatter(x, 1, index, source, reduce=reduce,
                                                           out=torch.zeros(1, 2)))):
        result = call(leaf.reshape(1, 2) * 1)
        assert result.requires_grad
        with pytest.raises(RuntimeError, match=f"derivative for aten::{name} is not implemented"):
            result.sum().backward()

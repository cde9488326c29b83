"""Nested tensors: NOTE [Nested tensors]."""

import copy
import gc
import io
import pickle
import subprocess
import sys

import jax
import numpy as np
import pytest

import jaxflow as torch
from jaxflow.nn import functional as F

pytestmark = pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")


def rows(grad=False):
    made = [torch.sin(torch.arange(6.0)).reshape(2, 3), torch.cos(torch.arange(12.0)).reshape(4, 3),
            torch.tensor([[1.0, -1.0, 0.5]])]
    return [r.requires_grad_(grad) for r in made]


def jagged(grad=False):
    return torch.nested.nested_tensor(rows(), layout=torch.jagged, requires_grad=grad)


def close(a, b):
    assert a.shape == b.shape
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-4, atol=1e-5)


W, B = torch.linspace(-1, 1, 12).reshape(4, 3), torch.linspace(0, 1, 4)

# What is done with a nested tensor, and the same of each row.
BY_ROWS = {
    "sum": (lambda x: x.sum(1), lambda r: r.sum(0)),
    "mean": (lambda x: x.mean(1), lambda r: r.mean(0)),
    "mean keepdim": (lambda x: x.mean(1, keepdim=True), lambda r: r.mean(0, keepdim=True)),
    "amax": (lambda x: x.amax(1), lambda r: r.amax(0)),
    "prod": (lambda x: x.prod(1), lambda r: r.prod(0)),
    "sum of columns": (lambda x: x.sum(-1).sum(1), lambda r: r.sum()),
    "softmax": (lambda x: x.softmax(1), lambda r: r.softmax(0)),
    "softmax of columns": (lambda x: x.softmax(-1), lambda r: r.softmax(-1)),
    "linear": (lambda x: F.linear(x, W, B).relu(), lambda r: F.linear(r, W, B).relu()),
    "transposed": (lambda x: (W @ x.transpose(1, 2)).tanh(), lambda r: (W @ r.t()).tanh()),
    "products": (lambda x: x.transpose(1, 2) @ x, lambda r: r.t() @ r),
    "norm": (lambda x: F.layer_norm(x, (3,)), lambda r: F.layer_norm(r, (3,))),
    "column": (lambda x: x[..., 1], lambda r: r[:, 1]),
    "where": (lambda x: torch.where(x > 0, x * 2, x.exp()), lambda r: torch.where(r > 0, r * 2, r.exp())),
    "attention": (lambda x: F.scaled_dot_product_attention(*[y.unsqueeze(1) for y in (x, x * 2, x + 1)]),
                  lambda r: F.scaled_dot_product_attention(r[None], r[None] * 2, r[None] + 1)),
    "causal attention": (
        lambda x: F.scaled_dot_product_attention(*[y.unsqueeze(1) for y in (x, x * 2, x)], is_causal=True),
        lambda r: F.scaled_dot_product_attention(r[None], r[None] * 2, r[None], is_causal=True)),
    "heads": (
        lambda x: F.scaled_dot_product_attention(
            *[y.unflatten(-1, (3, 1)).transpose(1, 2) for y in (x, x, x.exp())]).transpose(1, 2).flatten(-2),
        lambda r: F.scaled_dot_product_attention(
            *[y.unflatten(-1, (3, 1)).transpose(0, 1) for y in (r, r, r.exp())]).transpose(0, 1).flatten(-2)),
}


@pytest.mark.parametrize("name", BY_ROWS)
def test_values_and_gradients_are_those_of_each_row(name):
    check_by_rows(name)


# Few: each operation is compiled by itself there, for each shape.
@pytest.mark.parametrize("name", ["mean", "where"])
def test_values_and_gradients_where_each_operation_runs_at_once(name):
    with torch.execution("eager"):
        check_by_rows(name)


def check_by_rows(name):
    whole, one = BY_ROWS[name]
    x, leaves = jagged(True), rows(True)
    found, wanted = whole(x), [one(r) for r in leaves]
    parts = list(found.unbind())
    assert len(parts) == len(wanted)
    for a, b in zip(parts, wanted, strict=True):
        close(a, b)
    weights = [torch.cos(torch.arange(float(r.numel()))).reshape(r.shape) for r in wanted]
    sum((a * w).sum() for a, w in zip(parts, weights, strict=True)).backward()
    sum((b * w).sum() for b, w in zip(wanted, weights, strict=True)).backward()
    assert x.grad.is_nested and x.grad.shape == x.shape
    for a, b in zip(x.grad.unbind(), leaves, strict=True):
        close(a, b.grad)


def test_gradients_reach_rows_modules_and_autograd_grad():
    leaves = rows(True)
    x = torch.nested.as_nested_tensor(leaves, layout=torch.jagged)
    layer = torch.nn.Linear(3, 2)
    layer(x).square().sum().backward()
    wanted = torch.cat([r.detach() for r in leaves])
    close(layer.bias.grad, 2 * (wanted @ layer.weight.t() + layer.bias).sum(0))
    close(leaves[1].grad, 2 * (leaves[1] @ layer.weight.t() + layer.bias) @ layer.weight)
    (found,) = torch.autograd.grad((x * x).sum(), x)
    assert found.is_nested
    close(found.values(), 2 * wanted)
    nested = jagged(True)
    (first,) = torch.autograd.grad((nested * nested * nested).sum(), nested, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), nested)
    close(second.values(), 6 * nested.values())
    for _ in range(2):
        (nested * 2).sum().backward()
    close(nested.grad.values(), torch.full((7, 3), 4.0))
    nested.grad = None
    assert nested.grad is None
    with pytest.raises(RuntimeError, match="assign a gradient of size"):
        nested.grad = torch.zeros(3)


@pytest.mark.usefixtures("compiled")
def test_a_training_step_of_nested_tensors_is_compiled():
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    twin = copy.deepcopy(model)
    for net, loss_of in ((model, lambda: model(jagged()).mean(1).square().mean()),
                         (twin, lambda: torch.stack([twin(r).mean(0) for r in rows()]).square().mean())):
        optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
        for _ in range(3):
            optimizer.zero_grad()
            loss_of().backward()
            optimizer.step()
    for a, b in zip(model.parameters(), twin.parameters(), strict=True):
        close(a, b)


def test_compiled_functions_take_nested_tensors():
    @torch.compile
    def f(x, w):
        return (x * w).softmax(1).sum(1)

    w = torch.tensor([1.0, 2.0, -1.0])
    for _ in range(3):
        close(f(jagged(), w), torch.stack([(r * w).softmax(0).sum(0) for r in rows()]))


def test_a_size_stands_for_one_tensor_of_offsets():
    x = jagged()
    size = x.shape[1]
    again = torch.nested.nested_tensor_from_jagged(torch.ones(7), x.offsets())
    assert again.shape == (3, size) and (x.sum(-1) + again).shape == again.shape
    other = jagged()
    assert other.shape[1] != size and other.shape != x.shape and len({size, other.shape[1], x.shape[1]}) == 2
    with pytest.raises(RuntimeError, match="cannot call binary pointwise function add with inputs of shapes"):
        x + other
    assert str(size * 3) == f"3*{size}" and size >= 2 and size != 2
    for wrong in (lambda: size > 3, lambda: size <= other.shape[1]):
        with pytest.raises(ValueError, match="relation is indeterminate"):
            wrong()
    with pytest.raises(TypeError, match="ragged dimension"):
        int(size)


def test_sizes_are_forgotten_with_their_offsets():
    from jaxflow._nested import ragged

    made = [jagged() for _ in range(5)]
    sizes = {x.shape[1] for x in made}

    def known():
        """How many of these are known; those of earlier tests may go at any time."""
        return sum(size in sizes for _, size in list(ragged._SIZES.values()))

    assert len(sizes) == known() == 5
    del made
    gc.collect()
    assert known() == 0


def test_offsets_that_are_computed_are_not_waited_for():
    lengths = torch.tensor([2, 0, 3]) * 1
    x = torch.nested.nested_tensor_from_jagged(torch.arange(5.0), lengths=lengths, max_seqlen=3)
    assert x.to_padded_tensor(-1.0).tolist() == [[0, 1, -1], [-1, -1, -1], [2, 3, 4]]
    assert x.softmax(1).sum(1).tolist() == pytest.approx([1, 0, 1])
    assert [r.tolist() for r in x.unbind()] == [[0, 1], [], [2, 3, 4]]


def test_empty_rows_have_no_part_in_gradients():
    leaf = torch.arange(5.0, requires_grad=True)
    x = torch.nested.nested_tensor_from_jagged(leaf, lengths=torch.tensor([2, 0, 3]), max_seqlen=3)
    x.softmax(1).square().sum().backward()
    wanted = torch.arange(5.0, requires_grad=True)
    sum(p.softmax(0).square().sum() for p in wanted.split([2, 3])).backward()
    close(leaf.grad, wanted.grad)
    q = torch.nested.nested_tensor_from_jagged(leaf.reshape(5, 1), lengths=torch.tensor([2, 0, 3]),
                                               max_seqlen=3)
    leaf.grad = None
    F.scaled_dot_product_attention(*[q.unsqueeze(1)] * 3).sum().backward()
    assert leaf.grad.isfinite().all()


def test_holes_are_left_out_or_refused():
    offsets, lengths = torch.tensor([0, 3, 6]), torch.tensor([1, 2])
    x = torch.nested.nested_tensor_from_jagged(torch.arange(6.0), offsets, lengths)
    assert [r.tolist() for r in x.unbind()] == [[0.0], [3.0, 4.0]] and x.numel() == 3
    assert [r.tolist() for r in (x * 2).unbind()] == [[0.0], [6.0, 8.0]]
    assert x.contiguous().values().tolist() == [0.0, 3.0, 4.0]
    for refused in (x.sum, x.mean, x.max, lambda: x.sum(1), lambda: x.to_padded_tensor(0.0)):
        with pytest.raises(RuntimeError, match="holes"):
            refused()


def test_writes_are_seen_by_all_that_share_the_elements():
    values = torch.zeros(5)
    x = torch.nested.nested_tensor_from_jagged(values, torch.tensor([0, 2, 5]))
    x.add_(1)
    x.detach().mul_(3)
    assert values.tolist() == [3.0] * 5
    values[0] = 7.0
    assert x.unbind()[0].tolist() == [7.0, 3.0]
    leaf = jagged(True)
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        leaf.add_(1)
    y = leaf * 2
    y.mul_(y)
    y.sum().backward()
    close(leaf.grad.values(), 8 * leaf.values())


def test_dense_operands_broadcast_or_are_refused():
    x = jagged()
    close((x + torch.ones(3, 1, 3)).values(), x.values() + 1)
    close((torch.arange(3.0).reshape(3, 1, 1) * x).sum(1), x.sum(1) * torch.arange(3.0).reshape(3, 1))
    # 7 is how many elements lie along the packed dimension, which is no shape of a row.
    for shape in ((7, 3), (2, 1, 3), (3, 2, 3)):
        with pytest.raises(RuntimeError, match="cannot call binary pointwise function"):
            x + torch.ones(shape)
    with pytest.raises(RuntimeError, match="cannot call binary pointwise function"):
        x.unsqueeze(-1).transpose(1, 2) + torch.ones(7, 1)


def test_what_is_not_there_is_refused_by_name():
    x, s = jagged(), torch.nested.nested_tensor(rows())
    for refused in (lambda: x.cumsum(1), lambda: torch.fft.fft(x), x.sort):
        with pytest.raises(NotImplementedError, match="jagged layout have no form of"):
            refused()
    with pytest.raises(NotImplementedError, match="'aten::exp' with arguments from the 'NestedTensorCPU'"):
        s.exp()
    with pytest.raises(NotImplementedError, match="nested tensors inside of vmap"):
        torch.vmap(lambda y: torch.nested.as_nested_tensor([y, y], layout=torch.jagged))(torch.ones(2, 3))
    with pytest.raises(NotImplementedError, match="does not differentiate by nested tensors"):
        torch.func.grad(lambda y: y.sum())(x)
    with pytest.raises(NotImplementedError, match=r"out= is not taken"):
        torch.add(x, 1, out=torch.ones(2))
    with pytest.raises(RuntimeError, match="one nested tensor has the strided layout"):
        x + s
    with pytest.raises(NotImplementedError, match=r"inside of jax\.jit"):
        jax.jit(lambda t: torch.nested.as_nested_tensor([t], layout=torch.jagged).values())(torch.ones(3))


def test_copies_and_checkpoints():
    strided = torch.nested.nested_tensor(rows(), requires_grad=True)
    for made in (jagged(True), jagged().transpose(1, 2), strided):
        file = io.BytesIO()
        torch.save({"x": made}, file)
        file.seek(0)
        for other in (torch.load(file)["x"], pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):
            assert type(other) is type(made) and other.layout is made.layout
            for a, b in zip(other.unbind(), made.unbind(), strict=True):
                close(a, b)
    assert copy.deepcopy(jagged(True)).requires_grad


def test_the_strided_layout_by_rows():
    made = [torch.sin(torch.arange(6.0)).reshape(2, 3), torch.cos(torch.arange(20.0)).reshape(4, 5)]
    for whole, one in ((lambda x: x.softmax(-1), lambda r: r.softmax(-1)),
                       (lambda x: x.softmax(1), lambda r: r.softmax(0)),
                       (lambda x: x @ x.transpose(1, 2), lambda r: r @ r.t()),
                       (lambda x: x * x - x, lambda r: r * r - r),
                       (lambda x: x.transpose(1, 2).tanh(), lambda r: r.t().tanh()),
                       (lambda x: x.sum(-1, keepdim=True), lambda r: r.sum(-1, keepdim=True)),
                       (lambda x: x.select(2, 1), lambda r: r[:, 1])):
        leaves = [r.clone().requires_grad_() for r in made]
        x = torch.nested.nested_tensor(made, requires_grad=True)
        wanted = [one(r) for r in leaves]
        for a, b in zip(whole(x).unbind(), wanted, strict=True):
            close(a, b)
        sum(a.square().sum() for a in whole(x).unbind()).backward()
        sum(b.square().sum() for b in wanted).backward()
        for a, b in zip(x.grad.unbind(), leaves, strict=True):
            close(a, b.grad)


def test_the_padding_of_an_encoder_is_zero_in_inference():
    layer = torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval()
    encoder = torch.nn.TransformerEncoder(layer, 1).eval()
    x = torch.sin(torch.arange(24.0)).reshape(2, 3, 4)
    padding = torch.tensor([[False, False, True], [True, True, True]])
    with torch.no_grad():
        found = encoder(x, src_key_padding_mask=padding)
        assert not found[padding].any() and found.isfinite().all()
        close(found[:1, :2], encoder(x[:1, :2]))
        torch.backends.mha.set_fastpath_enabled(False)
        try:
            assert encoder(x[:1], src_key_padding_mask=padding[:1])[0, 2].any()
        finally:
            torch.backends.mha.set_fastpath_enabled(True)
    assert encoder(x[:1], src_key_padding_mask=padding[:1])[0, 2].any()


def test_nothing_is_loaded_before_the_first_one():
    script = ("import sys, jaxflow as torch\n"
              "(torch.ones(2) + 1).sum().item()\n"
              "assert 'jaxflow._nested' not in sys.modules and 'jaxflow.nested' not in sys.modules\n"
              "torch.nested.nested_tensor([torch.ones(2)], layout=torch.jagged)\n"
              "assert 'jaxflow._nested' in sys.modules\n"
              "s = torch.eye(2).to_sparse()\n"
              "assert (s + s).to_dense().sum().item() == 4\n"
              "m = torch.masked.masked_tensor(torch.ones(2), torch.tensor([True, False]))\n"
              "assert m.sum().get_data().item() == 1\n")
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True)

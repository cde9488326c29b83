"""``torch.masked.MaskedTensor``: data, masks, text and gradients, against PyTorch."""

import importlib
import math
import operator
import warnings

import pytest
import torch

import jaxflow

DATA = [[0.3, math.nan, 0.7], [0.2, 0.9, math.nan]]
MASK = [[True, False, True], [True, True, False]]


class Case:
    """What the rows below name: masked tensors and ordinary ones of a namespace."""

    def __init__(self, T, grad=False):
        self.T, self.M = T, importlib.import_module(f"{T.__name__}.masked")
        self.mask, self.data = T.tensor(MASK), T.tensor(DATA)
        self.m, self.n = self.masked(self.data, grad), self.masked(self.data * 2 + 1)
        self.b = self.masked(self.data > 0.5)
        self.other = self.M.masked_tensor(self.data, ~self.mask)
        self.row = T.tensor([1.0, 2.0, 3.0], requires_grad=grad)
        self.s = T.tensor(2.0, requires_grad=grad)
        self.full = T.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=grad)
        self.coo, self.csr = self.m.to_sparse(), self.m.to_sparse_csr()

    def masked(self, data, grad=False):
        return self.M.masked_tensor(data, self.mask, requires_grad=grad)


def seen(x, strided):
    if isinstance(x, (tuple, list)):
        return [seen(y, strided) for y in x]
    if not hasattr(x, "requires_grad"):
        return x
    kind, dtype = type(x).__name__, str(x.dtype).split(".")[1]
    if kind == "MaskedTensor":
        mask = x.get_mask().to_dense() if x.is_sparse else x.get_mask()
        return kind, dtype, str(x.layout), tuple(x.shape), repr(x), mask.tolist()
    x = x if x.layout is strided else x.to_dense()
    return kind, dtype, tuple(x.shape), [round(v, 4) for v in x.flatten().double().nan_to_num(-7.0).tolist()]


def run(T, text, grad=False):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it is a prototype
        case = Case(T, grad)
        f = eval(f"lambda T, M, m, n, b, other, row, s, full, coo, csr, mask, data, operator: {text}")
        names = "T M m n b other row s full coo csr mask data".split()
        try:
            return case, f(*(getattr(case, name) for name in names), operator)
        except Exception as error:  # noqa: BLE001 - whatever PyTorch raises
            return case, error


def rows(text):
    return [line.strip() for line in text.strip().splitlines()]


UNARY = """abs acos asinh atan bitwise_not ceil cos cosh deg2rad digamma erf exp exp2 expm1 floor frac
    lgamma log log10 log1p log2 logit i0 isnan isfinite nan_to_num neg positive reciprocal round rsqrt
    sigmoid sign signbit sin sinc sqrt square tan tanh trunc""".split()
BINARY = """add atan2 div floor_divide fmod logaddexp mul nextafter remainder sub eq ne le ge gt lt maximum
    minimum fmax fmin""".split()
OPERATORS = "add sub mul truediv floordiv mod eq ne lt le gt ge".split()

VALUES = [
    *(f"T.{name}({'b' if name == 'bitwise_not' else 'm'})" for name in UNARY),
    *(f"T.{name}({a})" for name in BINARY for a in ("m, n", "m, full", "row, m")),
    *(f"operator.{name}({a})" for name in OPERATORS for a in ("m, 2", "m, n")),
    *rows("""
        2 + m
        2 * m
        2 / m
        -m
        ~b
        b & b
        b | True
        m.clamp(0.25, 0.5)
        m.clamp(min=0.5)
        m.pow(2)
        m ** 2
        m.sum()
        m.mean()
        m.prod()
        m.amin()
        m.amax()
        m.argmin()
        m.argmax()
        m.var()
        m.std()
        m.all()
        b.all()
        b.all(1)
        m.sum(1)
        m.sum(1, dtype=T.float64)
        m.sum((0, 1))
        T.mean(m, 0, keepdim=True)
        m.prod(dim=1)
        m.amin(1)
        T.amax(m, dim=1, keepdim=True)
        m.argmin(1)
        m.argmax(0)
        m.var(1)
        m.std(dim=0)
        M.masked_tensor(data, mask & False).sum(1)
        M.sum(m, dim=1)
        m[0]
        m[:, 1:]
        m[0, 1]
        m[..., None]
        m[T.tensor([1, 0])]
        m[mask]
        m.transpose(0, 1)
        m.t()
        m.mT
        m.view(3, 2)
        m.reshape(-1)
        m.flatten()
        m[:1].expand(4, 3)
        m.split(2, 1)
        m.chunk(2, 1)
        T.cat([m, n])
        T.stack([m, n])
        m.unsqueeze(0)
        m.unfold(1, 2, 1)
        m.select(1, 2)
        m.narrow(1, 0, 2)
        m.clone()
        m.detach()
        m.data
        m.t().contiguous()
        m.is_contiguous()
        m.stride()
        m.to(T.float64)
        m.half()
        m.nan_to_num().long()
        m.cpu()
        m.softmax(1)
        T.softmax(m, 0)
        T.ones_like(m)
        (m.size(), m.dim(), m.numel(), len(m), m.is_leaf, m.device.type)
        (bool(m[0, 0]), m[0, 0].item(), float(m[0, 2]))
        T.where(mask, m, n)
        T.where(data > 0.5, m, full)
        T.where(full > 3, m, 0.0)
        m.to_dense()
        m.to_tensor(9.0)
        m.get_data()
        m.get_mask()
        (str(m), f"{m}", repr(m[0, 1]), repr(m.sum()))
        (m.is_sparse, m.is_sparse_coo(), m.is_sparse_csr())
        (M.is_masked_tensor(m), M.is_masked_tensor(data), isinstance(m, M.MaskedTensor))
        M.masked_tensor(full.to_sparse(), (~mask).to_sparse())
        m.sin_()
        m.mul_(2)
        m.add_(n)
        m.copy_(n)
        operator.imul(m, 3)
        coo
        coo.sin()
        -coo
        coo * coo
        coo * 2
        coo.sum()
        coo.mean()
        coo.amin()
        coo.argmax()
        coo.to_dense()
        coo.get_data()
        coo.double()
        coo._values()
        coo.to_sparse_csr()
        coo.clone()
        (coo.is_sparse, coo.is_sparse_coo(), coo.is_sparse_csr())
        csr
        csr.sin()
        csr * csr
        csr.sum()
        csr.to_dense()
        csr.get_data()
        M.masked_tensor(full.to_sparse(), mask.to_sparse())
        M.masked_tensor(T.arange(6).reshape(2, 3), mask)
        M.masked_tensor(T.arange(24.0).reshape(2, 3, 4), T.arange(24).reshape(2, 3, 4) % 2 == 0)
        M.MaskedTensor(full, mask)
        M.as_masked_tensor(full, mask)
    """),
]

REFUSED = rows("""
    m + other
    T.add(m, m, alpha=2)
    T.div(m, 2, rounding_mode="floor")
    m.nan_to_num().round(decimals=1)
    T.pow(m, row)
    T.maximum(m, 2)
    T.cat([m, data])
    m.relu()
    m.max()
    m.any()
    m.sort()
    m.cumsum(0)
    T.hypot(m, n)
    T.zeros_like(m)
    m.squeeze(0)
    m.masked_fill(mask, 0)
    m.permute(1, 0)
    list(m)
    T.equal(m, m)
    m.tolist()
    m.numpy()
    m[0, 1].item()
    csr.sum(1)
    coo.is_contiguous()
    m.zero_()
    M.masked_tensor(1, mask)
    M.masked_tensor(data, 1)
    M.masked_tensor(m, mask)
    M.masked_tensor(data, data)
    M.masked_tensor(data, mask[0])
    M.masked_tensor(data, mask[:, :2])
    M.masked_tensor(data.to(T.complex64), mask)
    M.masked_tensor(data, mask.to_sparse())
    T.nn.functional.linear(m, data)
    m[0].to_sparse_csr()
""")

#: Of the sum of these, the gradients of all operands.
GRADIENTS = rows("""
    m
    m.sin()
    m.exp().exp()
    m.pow(3)
    m.sqrt() * m
    m * row
    m * full
    s * m
    m / full
    full / m
    row - m
    m - row
    -m * 2
    ((m * row).exp() / full).sin()
    m * row + m * full
    m.mean()
    m.mean(1)
    (m * full).sum(0)
    m.prod(1)
    m.amax(1)
    m.amin()
    m.var(1)
    m.std()
    m.sum(1).sum() * s
    m.softmax(1) * full
    m[0]
    m[:, 1:] * 2
    m.t()
    m.view(3, 2)
    T.cat([m, m * 2])
    T.stack([m, m * 2])
    m.clone()
    m.t().contiguous()
    m.detach() * full
    m.double()
    m * (full > 2)
    m.get_data().nan_to_num() * full
    m.to_tensor(0.0) * full
    T.where(mask, m, full)
    m.to_sparse().to_dense() * full
    M.as_masked_tensor(full * 1, mask)
    M.as_masked_tensor(full.log(), mask)
    M.as_masked_tensor(full / T.tensor([[1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]), mask)
    M.as_masked_tensor((full * full).exp().log(), mask)
    M.as_masked_tensor(full + row, mask)
    M.as_masked_tensor((full * 2).t().t(), mask)
    M.as_masked_tensor(row.expand(2, 3), mask)
    M.as_masked_tensor(full.sum(0), mask[0])
    M.as_masked_tensor(full[0], mask[0])
    M.as_masked_tensor(full.view(6).view(2, 3).clone(), mask)
""")


@pytest.mark.parametrize("text", VALUES)
def test_values(text):
    (_, ours), (_, theirs) = (run(T, text) for T in (jaxflow, torch))
    for x in (ours, theirs):
        if isinstance(x, Exception):
            raise x
    if text == "M.sum(m, dim=1)":  # where nan is masked PyTorch's is nan
        theirs = torch.tensor([1.0, 1.1])
    assert seen(ours, jaxflow.strided) == seen(theirs, torch.strided)


@pytest.mark.parametrize("text", REFUSED)
def test_refusals(text):
    (_, ours), (_, theirs) = (run(T, text) for T in (jaxflow, torch))
    assert isinstance(theirs, Exception) and type(ours) is type(theirs), (ours, theirs)
    if "dispatch failed" not in str(theirs) and "_dispatch__" not in str(theirs):
        assert str(ours)[:20] == str(theirs)[:20]


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("text", GRADIENTS)
def test_gradients(text):
    found = []
    for T in (jaxflow, torch):
        case, out = run(T, text, grad=True)
        if isinstance(out, Exception):
            raise out
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (out if out.dim() == 0 else out.sum()).backward()
            grads = [getattr(case, name).grad for name in ("m", "row", "s", "full")]
            found.append([seen(grad, T.strided) for grad in (out.detach(), *grads)])
    assert found[0] == found[1]


def branches(T):
    """A choice between a branch that is infinite and one that is not."""
    x = T.tensor([-10.0, -5, 0, 5, 10, 100])
    below = x < 0
    first = T.masked.masked_tensor(x, below, requires_grad=True)
    second = T.masked.masked_tensor(T.ones_like(x), ~below, requires_grad=True)
    out = T.where(below, T.exp(first), second)
    out.sum().backward()
    return first.grad, second.grad, out.detach()


def division_by_zero(T):
    a = T.masked.masked_tensor(T.tensor(0.5), T.tensor(True), requires_grad=True)
    return T.autograd.grad(T.where(T.tensor(False), a / 0, T.ones(())), a)


def sums_without_nan(T):
    a, b = T.tensor([1.0, 2.0, math.nan]), T.tensor(1.0, requires_grad=True)
    return T.autograd.grad(T.sum(T.masked.masked_tensor(a, ~T.isnan(a)) * b), b)


def added_up(T):
    m = T.masked.masked_tensor(T.tensor(DATA), T.tensor(MASK), requires_grad=True)
    m.sum().backward()
    m.sin().sum().backward()
    return m.grad


def of_a_gradient(T):
    m = T.masked.masked_tensor(T.tensor(DATA).nan_to_num(), T.tensor(MASK), requires_grad=True)
    (first,) = T.autograd.grad(m.pow(3).sum(), m, create_graph=True)
    return first.detach(), *T.autograd.grad(first.sum(), m)


def given_a_gradient(T):
    m = T.masked.masked_tensor(T.tensor(DATA), T.tensor(MASK), requires_grad=True)
    hooked, out = [], m.sin()
    out.register_hook(hooked.append)
    out.backward(T.masked.masked_tensor(T.ones(2, 3), T.tensor(MASK)))
    return m.grad, hooked, m.is_leaf, out.is_leaf


@pytest.mark.parametrize("case", [branches, division_by_zero, sums_without_nan, added_up, of_a_gradient,
                                  given_a_gradient], ids=lambda f: f.__name__)
def test_graphs(case):
    importlib.import_module("torch.masked")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert seen(case(jaxflow), jaxflow.strided) == seen(case(torch), torch.strided)


def test_making_one_warns():
    for T in (jaxflow, torch):
        with pytest.warns(UserWarning, match="MaskedTensors is in prototype stage"):
            T.masked.masked_tensor(T.ones(2), T.ones(2) > 0)
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            T.masked.masked_tensor(T.ones(2, requires_grad=True), T.ones(2) > 0)
        assert "not recommended to create a MaskedTensor with a tensor that requires" in str(given[1].message)

"""Derivatives of products some of whose factors are 0, against the same products written factor by factor."""

import functools

import numpy as np
import pytest

import jaxflow as torch

PLACES = [0, 2, 0, 0]  # where the elements of the source go
KEPT = [True, False, True, True]


def _product(factors):
    return functools.reduce(lambda a, b: a * b, factors)


def _into_places(x, source, *, include_self=True):
    factors = [[x[i]] if include_self or i not in PLACES else [] for i in range(3)]
    for k, i in enumerate(PLACES):
        factors[i].append(source[k])
    return torch.stack([_product(f) for f in factors])


#: Name of a product to the operation and to what it says, both of ``x (3,)`` and ``source (4,)``.
PRODUCTS = {
    "scatter_reduce": (lambda x, s: x.scatter_reduce(0, torch.tensor(PLACES), s, "prod"), _into_places),
    "scatter_reduce without self": (
        lambda x, s: x.scatter_reduce(0, torch.tensor(PLACES), s, "prod", include_self=False),
        functools.partial(_into_places, include_self=False)),
    "index_reduce": (lambda x, s: x.index_reduce(0, torch.tensor(PLACES), s, "prod"), _into_places),
    "prod": (lambda x, s: torch.cat([x, s]).prod() * torch.ones(2, dtype=torch.float64),
             lambda x, s: _product([*x, *s]) * torch.ones(2, dtype=torch.float64)),
    "cumprod": (lambda x, s: torch.cat([x, s]).cumprod(0),
                lambda x, s: torch.stack([_product([*x, *s][:n]) for n in range(1, 8)])),
    "masked.prod": (lambda x, s: torch.masked.prod(s, 0, mask=torch.tensor(KEPT)) * x,
                    lambda x, s: _product([s[k] for k in range(4) if KEPT[k]]) * x),
}
#: Which elements of ``x`` and of the source are 0: in the first place none to four of four factors.
ZEROS = [((), ()), ((), (0,)), ((0,), ()), ((), (0, 2)), ((0,), (2, 3)), ((0, 1), (0, 1, 2, 3))]


def _derivatives(fn, zeros):
    """Products with the first three derivatives, along fixed directions."""
    values = [np.array([1.5, -0.5, 2.0]), np.array([0.75, 1.25, -2.0, 0.5])]
    for array, at in zip(values, zeros, strict=True):
        array[list(at)] = 0
    inputs = [torch.tensor(v, requires_grad=True) for v in values]
    out = fn(*inputs)
    found = []
    for _ in range(3):
        total = sum((t * torch.arange(1, t.numel() + 1, dtype=t.dtype)).sum() for t in
                    (out if isinstance(out, list) else [out]))
        out = torch.autograd.grad(total, inputs, create_graph=True, allow_unused=True)
        out = [torch.zeros_like(x) if g is None else g for g, x in zip(out, inputs, strict=True)]
        found.append(out)
        if not any(g.requires_grad for g in out):
            break
    return [np.concatenate([g.detach().numpy() for g in gradients]) for gradients in found]


@pytest.mark.parametrize("name", PRODUCTS)
def test_three_derivatives_with_zeros(name, executor):
    fn, formula = PRODUCTS[name]
    for zeros in ZEROS:
        for found, expected in zip(_derivatives(fn, zeros), _derivatives(formula, zeros), strict=False):
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9, err_msg=f"{name} {zeros}")


@pytest.mark.usefixtures("executor")
def test_products_of_nothing_look_at_no_dtype():
    halves, whole = torch.zeros(0, 2, 3, dtype=torch.float16), torch.zeros(0, 3, 4, dtype=torch.int64)
    for call in (torch.bmm, torch.matmul, lambda a, b: torch.baddbmm(a.new_zeros(0, 2, 4), a, b)):
        assert call(halves, whole).dtype is torch.int64 and call(halves, whole).shape == (0, 2, 4)
    assert torch.matmul(halves[0:0, 0:1].new_zeros(2, 3), whole).dtype is torch.int64
    summed = torch.bmm(torch.zeros(1, 2, 0), torch.zeros(1, 0, 2, dtype=torch.float64))
    assert summed.dtype is torch.float64 and summed.tolist() == [[[0.0, 0.0], [0.0, 0.0]]]
    assert torch.addbmm(torch.ones(2, 4), halves, whole, beta=2).tolist() == [[2.0] * 4] * 2
    with pytest.raises(RuntimeError, match="expected scalar type Float but found Double"):
        torch.matmul(torch.ones(2, 3), torch.ones(5, 3, 4, dtype=torch.float64))
    with pytest.raises(RuntimeError, match="self and mat2 must have the same dtype, but got Double"):
        torch.addbmm(torch.ones(2, 4, dtype=torch.float64), torch.ones(1, 2, 3), torch.ones(1, 3, 4))


@pytest.mark.usefixtures("executor")
def test_a_matrix_before_batches_is_one_of_them_unless_it_gets_a_gradient():
    w, b = torch.ones(2, 3, requires_grad=True), torch.ones(5, 3, 4, requires_grad=True)
    for one, name, words in ((w, "CloneBackward0", r"cannot be multiplied \(20x3 and 2x2\)"),
                             (w.detach(), "UnsafeViewBackward0", r"\[5, 2\] but got: \[5, 3\]")):
        assert torch.matmul(one, b).grad_fn.name() == name
        with pytest.raises(RuntimeError, match=words):
            torch.matmul(one[:, :2], b)
    with torch.no_grad(), pytest.raises(RuntimeError, match=r"\[5, 2\] but got: \[5, 3\]"):
        torch.matmul(w[:, :2], b)
    row = torch.ones(3)
    found = torch.autograd.grad(torch.matmul(row, b).sum(), b)[0]
    assert torch.matmul(row, b).shape == (5, 4) and found.tolist() == [[[1.0] * 4] * 3] * 5


@pytest.mark.usefixtures("executor")
def test_a_weight_of_one_dimension_takes_no_line_as_its_bias():
    linear = torch.nn.functional.linear
    for x, bias in ((torch.ones(3), torch.ones(4)), (torch.ones(2, 3), torch.tensor(1.0))):
        with pytest.raises(RuntimeError, match="mat2 must be a matrix, got 1-D tensor"):
            linear(x, torch.ones(3), bias)
    assert linear(torch.ones(3), torch.ones(3), torch.tensor(1.0)).item() == 4.0
    with pytest.raises(RuntimeError, match=r"mat1 and mat2 shapes cannot be multiplied \(2x3 and 2x4\)"):
        linear(torch.ones(2, 3), torch.ones(4, 2, dtype=torch.float64))

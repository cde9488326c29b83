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

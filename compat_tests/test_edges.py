"""Values and gradients where functions bend, break or end, compared with torch: see `edge_rows`."""

import math

import pytest
import torch

import jaxflow

from .edge_rows import BEYOND, LEFT, NOT_INFINITE, NOT_NAN, ROWS, one


def _results(T, function, operands, cotangent):
    tensors = [T.tensor(x, dtype=T.float64, requires_grad=True) for x in operands]
    made = function(T, *tensors)
    if not made.requires_grad:
        return [made]
    return [made.detach(), *T.autograd.grad(made, tensors, T.full_like(made, cotangent), allow_unused=True)]


def _expected(function, domain, operands, cotangent):
    """torch's results: of all numbers at once, and of each alone, whose kernels differ at nan and zeros."""
    together = _results(torch, function, operands, cotangent)
    if domain is not one:
        return together, together
    alone = [_results(torch, function, [[number]], cotangent) for number in operands[0]]
    return together, [torch.cat(each) for each in zip(*alone, strict=True)]


def _close(found, expected):
    return torch.isclose(found, expected, 1e-7, 1e-12, equal_nan=True)


@pytest.mark.parametrize(("name", "cotangent"), [
    (name, c) for name in ROWS for c in (1.0, 0.0, math.inf, math.nan)
    if not (c == math.inf and name in NOT_INFINITE or math.isnan(c) and name in NOT_NAN)])
def test_at_edges_as_in_pytorch(name, cotangent):
    function, domain, numbers = ROWS[name]
    for more in ([], BEYOND) if name not in LEFT else ([],):
        operands = domain([*numbers, *more])
        together, alone = _expected(function, domain, operands, cotangent)
        for mode in ("deferred", "eager"):
            with jaxflow.execution(mode):
                found = _results(jaxflow, function, operands, cotangent)
                assert len(found) == len(together)
                for k, f in enumerate(found):
                    assert (f is None) == (together[k] is None), (mode, k)
                    if f is not None:
                        f = torch.from_numpy(f.numpy())
                        wrong = ~(_close(f, together[k]) | _close(f, alone[k]))
                        assert not wrong.any(), (mode, k, more, f[wrong], together[k][wrong])

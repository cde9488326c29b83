"""Numbers as arguments, another at each call: arithmetic is repeated, what Python decided is guarded."""

import math
import types

import numpy as np
import pytest
from running import check_same, numbers

import jaxflow as torch
from jaxflow import nn

F = nn.functional
FLOATS = [0.0, 0.1, 0.2, 0.4, 0.9, 1.5]
CASES = []


def case(fn, hits, values=FLOATS, name=None):
    """A function of a tensor and a number; ``hits`` of its calls need no Python."""
    CASES.append(pytest.param(fn, values, hits, id=name or f"case{len(CASES)}"))


# Two captures: the first takes the number as it is, the second follows it.
case(lambda x, t: ((x / (t + 1)).softmax(0), x.clamp(-t, 2 * t), x.add(x, alpha=t), t - x), 4, name="operand")
case(lambda x, t: (F.elu(x, 0.1 + t / 4), F.leaky_relu(x, t), x.lerp(x + 1, t)), 4, name="functions")
case(lambda x, t: (x * t, t * 2, [1 - t, {"a": -t}], round(t, 1)), 4, name="results")
case(lambda x, t: x * t if t < 0.5 else x - t, 3, name="a branch")
case(lambda x, t: x * min(t, 0.3) * sum([t, 1]) * max(0.1, 1 - t), 2, name="the least and the most")
case(lambda x, t: x * (1 / t) + t**2, 3, [0.5, 1.0, 2.0, -4.0, 8.0], name="a quotient")
case(lambda x, t: x + t, 6, [1.0, 2.0, float("nan"), -0.0, 0.0, math.inf, 1.0, 2.0], name="special numbers")
case(lambda x, i: x * i if i % 4 == 0 else x + i // 2, 5, list(range(8)), name="a counter")
case(lambda x, i: x[i] * i, 3, [0, 1, 0, 1, 0], name="an index")
case(lambda x, i: x * i, 3, [2, 3, 3.5, 4.5, 4, 5.5, True], name="other types")
# Whatever has to know the number gets it, and is compiled for it alone.
case(lambda x, t: x * math.exp(t), 1, [0.1, 0.2, 0.2, 0.3], name="a function written in C")
case(lambda x, t: x * float(np.float64(2) * t) + torch.tensor([t, 1.0]), 1, [0.1, 0.2, 0.2], name="arrays")
case(lambda x, t: x * len(f"{t}") + {0.1: 1, 0.25: 2}[t], 1, [0.1, 0.25, 0.25], name="text and keys")
case(lambda x, t: x * t if type(t) is float else x, 1, [0.1, 0.2, 0.2, 0.3], name="its type")
case(lambda x, t: x.sum(dim=t) + x.repeat(t + 1).sum(), 1, [0, -1, 0], name="static arguments")


@pytest.mark.parametrize(("fn", "values", "hits"), CASES)
def test_what_follows_from_a_number_is_found_anew(fn, values, hits, deferred):
    def outcome(f):
        torch.manual_seed(0)
        return numbers([f(torch.arange(1.0, 3.0) if i % 2 else torch.ones(2), t)
                        for i, t in enumerate(values)])

    compiled = torch.compile(fn)
    expected, found = outcome(fn), outcome(compiled)
    check_types(found, expected)
    report = compiled.explain()
    assert report["hits"] == hits, report


def check_types(a, b):
    assert type(a) is type(b)
    if isinstance(a, (list, dict)):
        for x, y in zip(*((a.values(), b.values()) if isinstance(a, dict) else (a, b)), strict=True):
            check_types(x, y)
    elif isinstance(a, np.ndarray):
        assert np.allclose(a, b, rtol=1e-5, atol=1e-6, equal_nan=True)
        assert (np.signbit(a) == np.signbit(b)).all()
    else:
        assert a == b


def trained(compiler):
    """A step whose rate, weight and number of the step are arguments, beside an optimizer's own rate."""
    weight, other = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    opt = torch.optim.SGD([other], lr=0.1)

    @compiler
    def step(x, rate, *, penalty, number):
        weight.grad = None
        opt.zero_grad()
        loss = (weight * other * x).sum() + penalty * weight.pow(2).sum() * (1 - rate)
        loss.backward()
        opt.step()
        with torch.no_grad():
            weight.sub_(weight.grad, alpha=rate / (1 + number))
        return loss, penalty

    out = []
    for i in range(9):
        out.append(step(torch.randn(2), 0.1 / (i + 1), penalty=0.5**i, number=i))
        opt.param_groups[0]["lr"] *= 0.9
    return [*out, weight, other], step


def test_rates_and_weights_of_a_training_step(executor):
    torch.manual_seed(0)
    expected, _ = trained(lambda f: f)
    torch.manual_seed(0)
    found, step = trained(torch.compile)
    check_same(numbers(found), numbers(expected))
    report = step.explain()
    assert (report["hits"], report["specialisations"]) == (7, 2), report


def test_dynamic_says_whether_numbers_are_followed(deferred):
    for dynamic, specialisations in ((True, 1), (None, 2), (False, 4)):
        f = torch.compile(lambda x, t: x * t, dynamic=dynamic)
        assert [f(torch.ones(2), t).tolist()[0] for t in (1.0, 2.0, 3.0, 4.0)] == [1, 2, 3, 4]
        assert f.explain()["specialisations"] == specialisations


def test_no_number_in_disguise_is_left_behind(deferred):
    seen, held = [], types.SimpleNamespace(last=0.0)

    @torch.compile
    def f(x, t):
        if t > 2.5:
            seen.append(t)
            held.last = t
            return [t, x.sum().item() * t]
        return x * t

    for t in (1.0, 2.0, 3.0, 4.0, 5.0):
        out = f(torch.ones(2), t)
    assert [type(t) for t in (*seen, held.last, *out)] == [float] * 6
    assert (seen, held.last, out) == ([3.0, 4.0, 5.0], 5.0, [5.0, 10.0])


def test_what_refuses_a_number_in_disguise_gets_it_as_it_is(deferred):
    f = torch.compile(lambda x, t: x + float.hex(t).count("0"))
    for t in (1.0, 2.0, 3.0):
        assert f(torch.ones(2), t).tolist() == [1.0 + float.hex(t).count("0")] * 2

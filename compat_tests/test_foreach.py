"""``torch._foreach_*`` on torch and on jaxflow: each form of each function, and what is refused."""

import pytest
import torch

import jaxflow
from compat_tests.both import check_both

UNARY = ("abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg "
         "reciprocal round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc").split()
BINARY = "add sub mul div clamp_min clamp_max maximum minimum".split()


def _lists(T):
    a = [T.tensor([0.2, 0.7]), T.tensor([[0.4]])]
    return a, [x * 2 for x in a]


def _calls(T):
    """Name of each call, and the call."""
    a, b = _lists(T)
    calls = {name: (name, a) for name in UNARY}
    for name in BINARY:
        calls |= {f"{name} list": (name, a, b), f"{name} number": (name, a, 2),
                  f"{name} numbers": (name, a, [1, 2.5])}
    calls |= {
        "add tensor": ("add", a, T.tensor(3.0)), "add matrix": ("add", a, T.ones(2, 2)),
        "sub alpha": ("sub", a, b, dict(alpha=2)), "mul scalar=": ("mul", a, dict(scalar=3.0)),
        "pow list": ("pow", a, b), "pow numbers": ("pow", a, [1, 2]),
        "lerp number": ("lerp", a, b, 0.5), "lerp list": ("lerp", a, b, [T.ones(2), T.zeros(1, 1)]),
        "addcmul": ("addcmul", a, b, b), "addcmul value": ("addcmul", a, b, b, dict(value=0.5)),
        "addcdiv numbers": ("addcdiv", a, b, b, [1.0, 2.0]),
        "addcdiv vector": ("addcdiv", a, b, b, T.tensor([1.0, 2.0])),
        "addcdiv short": ("addcdiv", a, b, b, T.tensor([1.0])),
        "lengths": ("add", a, b[:1]), "none": ("sqrt", []), "few numbers": ("mul", a, [1]),
    }
    return calls


def _only_outside(T):
    a, b = _lists(T)
    square = [T.ones(2, 2)]
    return {
        "norm": ("norm", a), "norm inf": ("norm", a, float("inf")),
        "norm dtype": ("norm", a, 1, dict(dtype=T.float64)),
        "norm empty": ("norm", [T.empty(0)], float("inf")), "max": ("max", a), "powsum": ("powsum", a, 3),
        "mm": ("mm", square, square), "clone": ("clone", a), "pow of a number": ("pow", 2.0, a),
        "max empty": ("max", [T.empty(0)]), "text": ("add", a, "x"),
    }


def _outcome(T, call, ending):
    name, *args = call
    kwargs = args.pop() if isinstance(args[-1], dict) else {}
    if ending:
        args[0] = [t.clone() for t in args[0]]
    try:
        found = getattr(T, f"_foreach_{name}{ending}")(*args, **kwargs)
    except Exception as error:
        return type(error).__name__, str(error).partition(", but expected one of")[0]
    assert not ending or found is args[0]
    return type(found).__name__, list(found) if isinstance(found, (list, tuple)) else found


@pytest.mark.parametrize("ending", ["", "_"])
def test_every_form(ending):
    for case in _calls(torch):
        check_both(lambda T, case=case: _outcome(T, _calls(T)[case], ending))
    for case in () if ending else _only_outside(torch):
        check_both(lambda T, case=case: _outcome(T, _only_outside(T)[case], ""))


def test_copies_zeros_and_gradients():
    for T in (torch, jaxflow):
        a, b = _lists(T)
        copies = [t.clone() for t in a]
        assert T._foreach_copy_(copies, b) is copies and copies[1].item() == b[1].item()
        assert T._foreach_zero_(copies) is copies and copies[0].tolist() == [0, 0]
        leaves = [t.clone().requires_grad_() for t in a]
        sum(t.sum() for t in T._foreach_mul(leaves, [2.0, 3.0])).backward()
        assert leaves[0].grad.tolist() == [2.0, 2.0] and leaves[1].grad.item() == 3.0

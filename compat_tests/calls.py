"""Calls written as text, made on torch and on jaxflow, and everything visible of their results compared.

In the text ``torch`` and ``F`` are either library's. ``t(2, 3)`` is a float tensor that requires grad
(``t(2, 3, d=L)`` an integer one), ``c(2, 3)`` the same without, ``y(2, k=1)`` indices, all 1.
"""

import functools
import warnings

import numpy as np
import torch

import jaxflow
from compat_tests import judge
from compat_tests.exact import exactly
from compat_tests.ops.arguments import to_torch

DTYPES = dict(D="float64", L="int64", B="bool", H="float16", C="complex64", I="int32", U="uint8")


def names(T):
    """What the text of a call may use, for one library."""
    found = {short: getattr(T, name) for short, name in DTYPES.items()}
    found.update(torch=T, F=T.nn.functional)
    found["t"] = functools.partial(_tensor, T)
    found["c"] = functools.partial(_tensor, T, g=False)
    found["y"] = lambda *shape, k=0: T.tensor(np.full(shape, k))
    return found


def _tensor(T, *shape, d=None, g=True):
    count = int(np.prod(shape))
    dtype = T.float32 if d is None else d
    if dtype.is_floating_point or dtype.is_complex:
        values = np.sin(np.arange(count) * 1.7 + 0.3).astype(np.float32)
        return T.tensor(values.reshape(shape), dtype=dtype, requires_grad=g)
    return T.tensor((np.arange(count) % 2 + 1).reshape(shape), dtype=dtype)


def answer(T, text):
    """The result of a call or its error, and its warnings."""
    always = T.is_warn_always_enabled()
    T.set_warn_always(True)  # torch gives some warnings once a process: order must not matter
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                result, error = eval(text, names(T)), None
            except Exception as raised:
                result, error = None, (type(raised).__name__, str(raised).partition("\n")[0])
    finally:
        T.set_warn_always(always)
    told = [(w.category.__name__, str(w.message).partition("\n")[0]) for w in caught]
    told = [(kind, said.partition(" (Triggered internally")[0]) for kind, said in told]
    return result, error, list(dict.fromkeys(told))


def check_call(text):
    """Assert that a call has the same answer on both."""
    expected, error, told = answer(torch, text)
    actual, mistake, said = answer(jaxflow, text)
    assert mistake == error, f"{text}: {mistake} for {error}"
    assert said == told, f"{text}: warns {said} for {told}"
    if error is None:
        _compare(text, actual, expected, functools.cache(lambda: exactly(lambda: answer(torch, text)[0])))


def _compare(where, actual, expected, exact):
    if isinstance(expected, (tuple, list)):
        assert len(actual) == len(expected), where
        for k, (a, e) in enumerate(zip(actual, expected, strict=True)):
            _compare(f"{where}[{k}]", a, e, lambda k=k: exact()[k])
        return
    facts = [_facts(x) for x in (actual, expected)]
    assert facts[0] == facts[1], f"{where}: {facts[0]} for {facts[1]}"
    judge.assert_close(to_torch(actual), expected.detach(), lambda: exact().detach(), where=where)


def _facts(x):
    node = None if x.grad_fn is None else x.grad_fn.name()
    return dict(dtype=str(x.dtype), shape=tuple(x.shape), stride=tuple(x.stride()), node=node,
                requires_grad=x.requires_grad)

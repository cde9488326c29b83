"""The same program on both libraries, its tensors compared."""

import functools

import torch

import jaxflow
from compat_tests import judge
from compat_tests.exact import exactly
from compat_tests.ops.arguments import to_torch


def check_both(program):
    """Assert that ``program(T)`` gives the same on torch and on jaxflow.

    What it gives is a nested structure of tensors, numbers and other values. Numbers may differ by rounding:
    see NOTE [Judged by float64]. Strides are not compared.
    """
    expected, found = program(torch), program(jaxflow)
    _compare("result", found, expected, functools.cache(lambda: exactly(lambda: program(torch))))


def _compare(where, found, expected, exact):
    if isinstance(expected, torch.Tensor):
        assert isinstance(found, jaxflow.Tensor), f"{where}: {type(found)} for a tensor"
        judge.assert_close(to_torch(found), expected.detach(), lambda: exact().detach(), where=where)
    elif isinstance(expected, dict):
        assert list(found) == list(expected), f"{where}: {list(found)} for {list(expected)}"
        for key in expected:
            _compare(f"{where}[{key!r}]", found[key], expected[key], lambda key=key: exact()[key])
    elif isinstance(expected, (tuple, list)):
        assert type(found) is type(expected), f"{where}: {type(found)} for {type(expected)}"
        assert len(found) == len(expected), f"{where}: length {len(found)} for {len(expected)}"
        for k, (f, e) in enumerate(zip(found, expected, strict=True)):
            _compare(f"{where}[{k}]", f, e, lambda k=k: exact()[k])
    else:
        assert found == expected, f"{where}: {found!r} for {expected!r}"

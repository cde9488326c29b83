"""Comparing a result of jaxflow with torch's."""

import torch

import jaxflow
from compat_tests import judge

from .arguments import to_torch


def compare(actual, expected, where, tolerance=None, exact=None):
    """Assert that a jaxflow result equals torch's: kind, dtype, shape, values.

    Args:
        tolerance: gives ``(rtol, atol)`` for a torch dtype; torch's defaults without.
        exact: gives the same result of torch computed in double precision, for what the tolerance rejects;
            see NOTE [Judged by float64].
    """
    if isinstance(expected, torch.Tensor):
        assert isinstance(actual, jaxflow.Tensor), f"{where}: {type(actual)} for a tensor"
        assert str(actual.dtype) == str(expected.dtype), f"{where}: {actual.dtype} for {expected.dtype}"
        assert tuple(actual.shape) == tuple(expected.shape), (
            f"{where}: shape {tuple(actual.shape)} for {tuple(expected.shape)}")
        assert str(actual.layout) == str(expected.layout), f"{where}: {actual.layout} for {expected.layout}"
        if expected.layout is not torch.strided:  # their elements; test_sparse.py compares their parts
            actual, expected = actual.to_dense(), expected.to_dense()
        rtol, atol = (None, None) if tolerance is None else tolerance(expected.dtype)
        judge.assert_close(to_torch(actual), plain(expected), exact, rtol=rtol, atol=atol, where=where)
    elif isinstance(expected, (list, tuple)):
        assert isinstance(actual, (list, tuple)), f"{where}: {type(actual)} for {type(expected)}"
        assert len(actual) == len(expected), f"{where}: length {len(actual)} for {len(expected)}"
        if hasattr(expected, "_fields"):
            assert getattr(actual, "_fields", None) == expected._fields, f"{where}: {type(actual)}"
        assert isinstance(actual, tuple) is isinstance(expected, tuple), f"{where}: {type(actual)}"
        for i, (a, e) in enumerate(zip(actual, expected, strict=True)):
            compare(a, e, f"{where}[{i}]", tolerance, exact and (lambda i=i: exact()[i]))
    else:
        assert str(actual) == str(expected), f"{where}: {actual!r} for {expected!r}"


def plain(x):
    """A torch tensor without history and lazy bits."""
    return x.detach().resolve_conj().resolve_neg()

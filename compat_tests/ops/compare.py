"""Comparing a result of jaxflow with torch's."""

import functools

import torch

import jaxflow

from .arguments import mapped, to_torch

#: By how many times the relative tolerance an element may be off where torch has one that is as far off.
_AMPLIFIED = 32

_WIDER = {torch.float32: torch.float64, torch.bfloat16: torch.float64, torch.float16: torch.float64,
          torch.complex64: torch.complex128}


def compare(actual, expected, where, tolerance=None, exact=None):
    """Assert that a jaxflow result equals torch's: kind, dtype, shape, values.

    Args:
        tolerance: a `records.Tolerance`; torch's defaults without.
        exact: gives the same result of torch computed in double precision. An element that the tolerance
            rejects is then still right if it is no further from the exact one than torch's own, there or
            (within limits) at its worst: where rounding is amplified (``asin`` at 1), torch is as far off
            as anybody.
    """
    if isinstance(expected, torch.Tensor):
        assert isinstance(actual, jaxflow.Tensor), f"{where}: {type(actual)} for a tensor"
        assert str(actual.dtype) == str(expected.dtype), f"{where}: {actual.dtype} for {expected.dtype}"
        assert tuple(actual.shape) == tuple(expected.shape), (
            f"{where}: shape {tuple(actual.shape)} for {tuple(expected.shape)}")
        expected = plain(expected)
        ours = to_torch(actual)
        rtol, atol = (tolerance or _default)(expected.dtype)
        sums = getattr(tolerance, "sums", False)
        try:
            torch.testing.assert_close(ours, expected, rtol=rtol, atol=atol, equal_nan=True,
                                       check_stride=False)
        except AssertionError as error:
            if exact is None or not _no_worse(ours, expected, exact(), rtol, atol, sums):
                raise AssertionError(f"{where}: {error}") from None
    elif isinstance(expected, (list, tuple)):
        assert isinstance(actual, (list, tuple)), f"{where}: {type(actual)} for {type(expected)}"
        assert len(actual) == len(expected), f"{where}: length {len(actual)} for {len(expected)}"
        if hasattr(expected, "_fields"):
            assert getattr(actual, "_fields", None) == expected._fields, f"{where}: {type(actual)}"
        assert isinstance(actual, tuple) is isinstance(expected, tuple), f"{where}: {type(actual)}"
        for i, (a, e) in enumerate(zip(actual, expected, strict=True)):
            inner = None if exact is None else functools.partial(lambda x, k: x()[k], exact, i)
            compare(a, e, f"{where}[{i}]", tolerance, inner)
    else:
        assert str(actual) == str(expected), f"{where}: {actual!r} for {expected!r}"


def plain(x):
    """A torch tensor without history and lazy bits."""
    return x.detach().resolve_conj().resolve_neg()


def _default(dtype):
    return torch.testing._comparison.default_tolerances(dtype)


def _no_worse(ours, theirs, exact, rtol, atol, sums):
    if not (ours.is_floating_point() or ours.is_complex()):
        return False
    exact = plain(exact)
    wide = exact.dtype
    same = torch.isclose(ours, theirs, rtol, atol, equal_nan=True)
    scale = exact.abs().clamp_min(torch.finfo(ours.dtype).tiny)
    off, their_off = ((x.to(wide) - exact).abs() / scale for x in (ours, theirs))
    # Where one element of torch's is far off, the others are still held to something.
    limit = their_off.nan_to_num(0).max().clamp_max(_AMPLIFIED * rtol) if off.numel() else 0
    near = (off <= their_off) | (off <= limit)
    if sums and off.numel():
        largest = exact.abs().nan_to_num(0, 0, 0).max()
        near |= (ours.to(wide) - exact).abs() <= torch.finfo(ours.dtype).eps * largest
    close = torch.isclose(ours.to(wide), exact, rtol, atol, equal_nan=True)
    return bool((same | near | close).all())


def widens(dtype):
    """Whether results of a dtype can be held against double precision."""
    return dtype in _WIDER


def widened(call, dtype):
    """A call with tensors of ``dtype``, and the argument ``dtype`` itself, in double precision."""

    def widen(x):
        if x.dtype is not dtype:
            return x
        return x.detach().to(_WIDER[dtype]).requires_grad_(x.requires_grad)

    x, args, kwargs = mapped(call, widen)
    return x, tuple(_WIDER[dtype] if a is dtype else a for a in args), {
        k: _WIDER[dtype] if v is dtype else v for k, v in kwargs.items()}

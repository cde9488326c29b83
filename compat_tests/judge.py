"""The one comparison of numbers of jaxflow with numbers of PyTorch, the same on every processor.

NOTE [Judged by float64]
    Two right results of low precision differ by rounding, and by how much depends on the processor: on the
    width of its vectors, on its cores, on the order in which a library adds up. So what torch's tolerance
    does not accept at once is held against the same program of PyTorch computed in double precision (see
    `compat_tests.exact`), and is right where its error there is at most the larger of torch's tolerance and
    `TIMES` PyTorch's own error.

    PyTorch's own error is what it is at that element or, since at a single element it may be small by
    chance, the worst of the tensor: elements that are sums, of which little is left where they cancel, are
    all off by about as much. Two limits keep that worst error from covering what is wrong. Where PyTorch is
    far off at one element (the gradient of ``asin`` beside 1), no more of it counts than `AMPLIFIED`
    relative tolerances of the largest element. And in units of the tolerance, in which small elements are
    held to more than large ones, no element may be off by more than `AMPLIFIED` times the worst of
    PyTorch's.

    The double precision is computed only after a disagreement. Everything else stays exact: shape, dtype,
    integers, bools, infinities and NaNs; a number in the place of an infinity or NaN of PyTorch's is right by
    the tolerance alone. So are results of double precision, whose rounding is nine digits below it.
"""

import torch

from compat_tests.exact import WIDE

#: How many times PyTorch's own error may be exceeded.
TIMES = 2
#: How far PyTorch's worst error may stand for that of other elements.
AMPLIFIED = 32


def assert_close(ours, theirs, exact=None, *, rtol=None, atol=None, where=""):
    """Assert that two torch tensors, jaxflow's result and PyTorch's, are the same but for rounding.

    Args:
        exact: a function that gives PyTorch's result computed in double precision; asked only where the
            tolerance does not accept.
        rtol: relative tolerance; torch's for the dtype without.
        atol: absolute tolerance, given together with ``rtol``.
        where: what is compared, for the message.
    """
    if rtol is None:
        rtol, atol = torch.testing._comparison.default_tolerances(theirs.dtype)
    try:
        torch.testing.assert_close(ours, theirs, rtol=rtol, atol=atol, equal_nan=True, check_stride=False)
    except AssertionError as error:
        comparable = ours.dtype is theirs.dtype in WIDE and ours.shape == theirs.shape
        if exact is None or not comparable or not no_worse(ours, theirs, exact(), rtol, atol):
            raise AssertionError(f"{where}: {error}" if where else str(error)) from None


def no_worse(ours, theirs, exact, rtol, atol):
    """Whether each element of ``ours`` is right by NOTE [Judged by float64]."""
    if exact.shape != theirs.shape:
        return False
    wide = WIDE[theirs.dtype]
    same = torch.isclose(ours, theirs, rtol, atol, equal_nan=True)
    ours, theirs, exact = (x.detach().to(wide) for x in (ours, theirs, exact))
    finite = ours.isfinite() & exact.isfinite()
    known = finite & theirs.isfinite()
    size = torch.where(finite, exact, 0).abs()
    tolerance = atol + rtol * size
    off = torch.where(finite, ours - exact, 0).abs()
    their_off = torch.where(known, theirs - exact, 0).abs()
    limit = torch.maximum(tolerance, TIMES * their_off)
    if known.any() and rtol and atol:
        worst = torch.minimum(their_off.max(), AMPLIFIED * rtol * size.max())
        units = (their_off / tolerance).max().clamp_min(1)
        limit = torch.maximum(limit, torch.minimum(TIMES * worst, AMPLIFIED * units * tolerance))
    # Where PyTorch overflows on the way, the tolerance alone says what is right.
    return bool((same | known & (off <= limit) | finite & (off <= tolerance)).all())

"""Check of views: strides and offset, and that a write to a result shows in the inputs where torch's does."""

import torch

from .arguments import call_of, copied, describe, flat, subject
from .compare import compare
from .findings import outcome, quiet
from .records import record, resolve, take_samples


def check_views(found, key, dtype, count):
    """Strides, view-ness and aliasing of samples' results."""
    fn = resolve(key)
    for i, sample in enumerate(take_samples(key, dtype, False, count)):
        theirs = copied(call_of(sample))
        if not flat(theirs):
            continue
        where = f"sample {i} {describe(sample)}"
        given = copied(theirs)
        expected, error = outcome(record(key).op, theirs[0], *theirs[1], **theirs[2])
        if error is not None or not flat(expected):
            continue
        if any(t.layout is not torch.strided for t in (*flat(theirs), *flat(expected))):
            continue  # sparse tensors have no storage, and no views
        with found.asking("alias of inputs", dtype, where):
            mine = subject(given)
            inputs = {t.untyped_storage().data_ptr() for t in flat(theirs) if t.numel()}
            actual = quiet(fn, mine[0], *mine[1], **mine[2])
            for a, e in zip(flat(actual), flat(expected), strict=True):
                shares = e.numel() > 0 and e.untyped_storage().data_ptr() in inputs
                if shares:
                    assert a.stride() == e.stride(), f"{where}: strides {a.stride()} for {e.stride()}"
                    assert a.storage_offset() == e.storage_offset(), f"{where}: storage_offset"
                assert a._is_view() == e._is_view() or not shares, f"{where}: _is_view {a._is_view()}"
                _write_and_compare(key, sample, (a, mine), (e, theirs), where)


def _write_and_compare(key, sample, ours, theirs, where):
    (a, mine), (e, given) = ours, theirs
    _, error = outcome(e.zero_)
    _, mistake = outcome(a.zero_)
    assert (error is None) is (mistake is None), f"{where}: a write raises {mistake} for {error}"
    for m, g in zip(flat(mine), flat(given), strict=True):
        compare(m, g, f"{where}: input after a write")

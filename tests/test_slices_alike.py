"""Slices of one length share what their view plans are made of: NOTE [Siblings]."""

import numpy as np
import pytest

import jaxflow as torch
from jaxflow._views import chain

STARTS = [0, 3, 1, 17, 24, 3]


@pytest.fixture
def made(monkeypatch, deferred):
    """The slices that were worked out from their bounds.

    A trace for sizes that are symbolic works them out as well. Whether there is one in a test depends on
    what ran before it in this process, so these are left out.
    """
    found = []
    slice_ = chain.VIEWS["slice"]

    def noted(*args):
        if all(type(number) is int for number in args[1:]):
            found.append(args[1:])
        return slice_(*args)

    monkeypatch.setitem(chain.VIEWS, "slice", noted)
    return found


def ends(start, length):
    return slice(start, start + length)


@pytest.mark.parametrize("step", [1, 3])
def test_slices_of_one_length_are_worked_out_once(made, step):
    x = torch.arange(31 + step)
    x._aval.roots.clear()  # where the views are kept that other tests made of such a tensor
    for start in STARTS:
        window = slice(start, start + 7, step)
        assert x[window].tolist() == np.arange(31 + step)[window].tolist()
        assert x[window].storage_offset() == start and x[window].stride() == (step,)
    assert len(made) == 1
    assert len(x[5:13]) == 8 and len(made) == 2  # of another length


def test_slices_at_the_edges_are_what_they_were(made):
    x, n = torch.arange(12), np.arange(12)
    for window in (slice(2, 5), slice(10, 13), slice(11, 99), slice(-2, None), slice(5, 2), slice(0, 12),
                   slice(None, 3), slice(9, 12), slice(12, 15), slice(0, 3)):
        assert x[window].tolist() == n[window].tolist()


def test_slices_of_slices_and_of_other_dimensions(made):
    x, n = torch.arange(120).reshape(6, 20), np.arange(120).reshape(6, 20)
    for start in (1, 4, 2, 9):
        part, same = x[:, ends(start, 6)], n[:, ends(start, 6)]
        assert part.tolist() == same.tolist()
        for row in (0, 3, 2):
            assert part[ends(row, 2), ends(row, 3)].T.tolist() == same[ends(row, 2), ends(row, 3)].T.tolist()


@pytest.mark.parametrize("ok", [False, True])
def test_where_a_slice_starts_decides_what_may_be_made_of_it(made, ok):
    """The first slice of a length may be viewed so, and the next may not; or the other way round."""
    x, f = torch.arange(16, dtype=torch.uint8), torch.arange(16.0)
    for start in (4, 3) if ok else (3, 4):
        for make, same in (
            (lambda s=start: x[s:s + 8].view(torch.int32),
             lambda s=start: np.arange(16, dtype=np.uint8)[s:s + 8].view(np.int32)),
            (lambda s=start: torch.view_as_real(torch.view_as_complex(f[s:s + 8].view(4, 2))),
             lambda s=start: np.arange(16.0)[s:s + 8].reshape(4, 2)),
        ):
            if start == 4:
                assert make().tolist() == same().tolist()
            else:
                with pytest.raises(RuntimeError, match="divisible by"):
                    make()
        part = f[start:start + 8]
        assert part.as_strided((2, 2), (2, 1), 5).tolist() == [[5, 6], [7, 8]]
        assert part.as_strided((2, 2), (2, 1)).tolist() == [[start, start + 1], [start + 2, start + 3]]
        assert part[1:3].as_strided((2,), (1,), 7).tolist() == [7, 8]


def test_writes_through_slices_of_one_length(made):
    x, n = torch.zeros(29), np.zeros(29)
    for at, start in enumerate(STARTS):
        x[ends(start, 4)] += at + 1
        n[ends(start, 4)] += at + 1
        part = x[ends(start, 4)]
        part[1:3].mul_(2)
        n[start + 1:start + 3] *= 2
    assert x.tolist() == n.tolist()


@pytest.mark.parametrize("executor", ["deferred", "eager"])
def test_gradients_of_slices_of_one_length(executor):
    with torch.execution(executor):
        x = torch.arange(30.0, requires_grad=True)
        sum((i + 1) * x[ends(start, 5)].sum() for i, start in enumerate(STARTS)).backward()
        want = np.zeros(30)
        for i, start in enumerate(STARTS):
            want[ends(start, 5)] += i + 1
        assert x.grad.tolist() == want.tolist()
        assert x[3:8].grad_fn.name() == "SliceBackward0"

"""Stride arithmetic held against NumPy's strides and by hand on the cases that decide errors."""

import itertools

import numpy as np
import pytest

from jaxflow._core import geometry

SHAPES = [(), (3,), (2, 3), (0, 2), (1, 4), (2, 3, 4), (2, 1, 3), (2, 0, 3, 1)]


def element_strides(array):
    return tuple(s // array.itemsize for s in array.strides)


@pytest.mark.parametrize("shape", SHAPES)
def test_contiguity_follows_numpy(shape):
    if 0 not in shape:
        assert geometry.contiguous_strides(shape) == element_strides(np.empty(shape))
    for perm in itertools.permutations(range(len(shape))):
        view = np.empty(shape).transpose(perm)
        size, stride = view.shape, element_strides(view)
        assert geometry.is_contiguous(size, stride) == view.flags.c_contiguous
        assert geometry.is_non_overlapping_and_dense(size, stride)
        assert not geometry.has_internal_overlap(size, stride)


@pytest.mark.parametrize("perm", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("new", [(24,), (4, 6), (6, 4), (2, 3, 2, 2), (2, 1, 12), (3, 8)])
def test_view_strides_show_the_same_elements(perm, new):
    base = np.arange(24)
    view = base.reshape(2, 3, 4).transpose(perm)
    stride = geometry.compute_view_strides(view.shape, element_strides(view), new)
    wanted = view.reshape(new)
    if stride is None:
        assert not np.shares_memory(wanted, base)
        return
    steps = [s * base.itemsize for s in stride]
    np.testing.assert_array_equal(np.lib.stride_tricks.as_strided(base, new, steps), wanted)


def test_results_keep_the_order_of_memory():
    assert geometry.preserve_strides(((2, 3), (1, 2))) == (1, 2)
    assert geometry.preserve_strides(((2, 3), (1, 2)), ((3,), (1,))) == (1, 2)
    assert geometry.preserve_strides(((2, 3), (3, 1)), ((2, 3), (1, 2))) == (3, 1)
    assert geometry.empty_like_strides((2, 3), (0, 1)) == (3, 1)
    assert geometry.empty_like_strides((4, 2), (1, 8)) == (1, 4)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: geometry.infer_size((2, 3), 4), RuntimeError, "invalid for input of size 4"),
        (lambda: geometry.infer_size((-1, -1), 4), RuntimeError, "only one dimension"),
        (lambda: geometry.infer_size((-1, 0), 0), RuntimeError, "ambiguous"),
        (lambda: geometry.wrap_dim(2, 2), IndexError, r"range of \[-2, 1\], but got 2"),
        (lambda: geometry.wrap_dim(0, 0, wrap_scalar=False), IndexError, "no dimensions"),
        (lambda: geometry.broadcast_shapes((3,), (4,)), RuntimeError, r"a \(3\) .* b \(4\)"),
        (lambda: geometry.expand_geometry((2,), (1,), (3,)), RuntimeError, "existing size"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_extent_and_overlap():
    assert geometry.storage_extent((2, 3), (3, 1), 4) == 10
    assert geometry.storage_extent((0, 3), (3, 1), 4) == 0
    assert geometry.has_internal_overlap((3, 2), (0, 1))
    assert geometry.overlaps_partially(((3,), (1,), 0), ((3,), (1,), 1))
    assert not geometry.overlaps_partially(((3,), (2,), 0), ((3,), (2,), 1))

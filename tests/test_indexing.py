"""Index expressions against NumPy where both agree, and by hand where PyTorch goes its own way."""

import random

import numpy as np
import pytest

from jaxflow._core import indexing


class FakeTensor:
    """As much of a tensor as `parse` looks at."""

    def __init__(self, array):
        self.array = np.asarray(array)
        self.shape = self.array.shape

    def item(self):
        return self.array.item()

    def __getitem__(self, key):
        raise AssertionError("an index tensor is never taken apart")


class Position:
    """Anything that converts itself to an integer bounds a slice."""

    def __index__(self):
        return 1


TENSORS = indexing.Tensors(FakeTensor, lambda t: t.array.dtype.name)
X = np.arange(24).reshape(2, 3, 4)


def parse(index, size=(2, 3, 4), **options):
    return indexing.parse(index, size, TENSORS, **options)


def evaluate(index, x=X):
    """``x[index]`` by way of the plan, each part done with NumPy's plainest operations."""
    plan = parse(index, x.shape)
    for name, *args in plan.steps:
        if name == "select":
            x = x.take(args[1], axis=args[0])
        elif name == "slice":
            dim, start, stop, step = args
            x = x.take(list(range(start or 0, stop, step)), axis=dim)
        elif name == "unsqueeze":
            x = np.expand_dims(x, *args)
    assert x.shape == plan.size
    if not plan.advanced:
        return x
    dims, arrays = [], []
    for dim, array, mask in plan.advanced:
        array = getattr(array, "array", array)
        for offset, part in enumerate(array.nonzero() if mask else [array]):
            dims.append(dim + offset)
            arrays.append(part)
    g = indexing.gathering(plan.size, tuple(dims), tuple(a.shape for a in arrays))
    indexing.check_bounds(arrays, g, plan.size)
    found = x.transpose(*dims, *g.rest)[tuple(arrays)]
    ahead = tuple(range(len(g.shape), len(g.shape) + g.position))
    out = found.transpose(*ahead, *(d for d in range(found.ndim) if d not in ahead))
    assert out.shape == g.size
    return out


AS_IN_NUMPY = [
    0, -1, np.int64(1), slice(None), slice(1, None), slice(-9, 9, 2), slice(2, 1), None, ..., (),
    (0, 1), (0, 1, 2), (slice(None), 1), (..., 1), (0, ..., 1), (None, 0, None), (..., None),
    [0, 1], [1, -1, 0], [], ([0, 1], [2, 0]), ([[0], [1]], [0, 1, 2]), (slice(None), [0, 2]),
    (slice(None), [0, 2], [1, 3]), ([0, 1], slice(None), [1, 3]), (..., [0, 3]), (None, [0, 1]),
    ([0, 1], 0), (slice(None), 0, [0, 1]), True, False, [True, False], (slice(None), True),
    (X[0] > 5)[None].repeat(2, 0), (0, X[0] > 5), (slice(None), np.array([True, False, True])),
    (X[:, :, 0] > 4, slice(1, 3)), (X[:, :, 0] > 4, 0), range(2), (range(2), range(2)),
    np.array([[0, 1], [1, 0]]), (slice(0, 1), [[0, 1], [2, 0]], slice(None, None, 3)),
]  # fmt: skip


@pytest.mark.parametrize("index", AS_IN_NUMPY, ids=repr)
def test_as_in_numpy(index):
    np.testing.assert_array_equal(evaluate(index), X[index])


@pytest.mark.parametrize(
    ("index", "same"),
    [
        # NumPy puts the indexed dimension first here; an integer is no index array in PyTorch.
        ((0, slice(None), [0, 1]), X[0][:, [0, 1]]),
        (FakeTensor(1), X[1]),
        (FakeTensor([1, 0]), X[[1, 0]]),
        (slice(Position(), None), X[1:]),
        (FakeTensor(True), X[None]),
        ([1.9], X[[1]]),
        (FakeTensor(X > 20), X[X > 20]),
    ],
)
def test_as_in_pytorch(index, same):
    np.testing.assert_array_equal(evaluate(index), same)


def test_deprecated_readings_warn():
    with pytest.warns(UserWarning, match="non-tuple sequence"):
        assert parse([0, slice(None)]).steps == (("select", 0, 0),)
    with pytest.warns(UserWarning, match="torch.uint8"):
        assert parse(FakeTensor(np.array([1, 0], np.uint8))).advanced[0].mask


def test_full_slices_are_steps_only_where_pytorch_makes_a_view():
    assert parse(slice(None)).steps == (("slice", 0, None, 2, 1),)
    assert parse((slice(None), slice(None))).steps == (("alias",),)
    assert parse(...).steps == (("alias",),)
    assert parse(slice(None), writing=True).steps == ()


@pytest.mark.parametrize(
    ("index", "error", "text"),
    [
        (2, IndexError, "index 2 is out of bounds for dimension 0 with size 2"),
        ((0, -4), IndexError, "index -4 is out of bounds for dimension 1 with size 3"),
        ([[[0, 5]]], IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
        ((0, 0, 0, 0), IndexError, "too many indices for tensor of dimension 3"),
        (1.5, IndexError, r"valid indices \(got float\)"),
        ((0, {}), IndexError, r"valid indices \(got dict\)"),
        ((0, "a"), TypeError, "invalid data type 'str'"),
        (slice(None, None, -1), ValueError, "step must be greater than zero"),
        (slice(None, None, 0), ValueError, "slice step cannot be zero"),
        (slice(1.0, None), TypeError, "slice indices must be integers"),
        (([0, 1], [0, 1, 2]), IndexError, r"shapes \[2\], \[3\]"),
        ([True], IndexError, r"mask \[1\] at index 0 does not match"),
        (FakeTensor([0.5]), IndexError, "must be long, int, byte or bool tensors"),
        (np.array(["a"]), TypeError, "can't convert np.ndarray"),
        ((0, [[0, 1], [0]]), ValueError, "expected sequence of length 2 at dim 1"),
        (10**30, ValueError, "Overflow"),
    ],
)
@pytest.mark.filterwarnings("ignore:Using a non-tuple")
def test_refusals(index, error, text):
    with pytest.raises(error, match=text):
        evaluate(index)


def test_nothing_to_index():
    assert evaluate([], X[:, :0]).shape == (0, 0, 4)
    empty = indexing.gathering((0, 3, 4), (1,), ((1,),))
    assert empty.size == (0, 1, 4)
    indexing.check_bounds([np.array([9])], empty, (0, 3, 4))
    with pytest.raises(IndexError, match="out of bounds for dimension with size 0"):
        evaluate([0], X[:0])
    with pytest.raises(IndexError, match="0-dim tensor"):
        parse(0, ())


def test_shapes_of_assigned_values():
    assert indexing.strip_leading_ones((1, 1, 3, 1)) == (3, 1)
    assert indexing.strip_leading_ones((1, 1)) == ()
    indexing.check_value_shape((1, 4), (2, 3, 4))
    with pytest.raises(RuntimeError, match=r"value tensor of shape \[3\] cannot be broadcast"):
        indexing.check_value_shape((3,), (2, 4))


def test_results_keep_the_order_of_memory():
    g = indexing.gathering((3, 4, 2), (1,), ((2,),))
    assert indexing.gathered_strides(g, ((3, 4, 2), (4, 1, 12)), [((2,), (1,))]) == (1, 3, 6)


def _some_item(rng):
    def bound():
        return rng.choice((None, None, 0, rng.randint(-7, 7), 2**63 - 1, 2**70))

    return rng.choice((
        rng.randint(-6, 6), slice(bound(), bound(), rng.choice((None, None, 1, 2, 3, 0, -1, 2**66))),
        slice(bound(), bound()), None, Ellipsis, True, np.int64(1), Position()))


@pytest.mark.parametrize("writing", [False, True])
def test_plain_steps_are_those_of_parse(writing):
    rng, plain = random.Random(0), 0
    for _ in range(6000):
        size = tuple(rng.choice((0, 1, 2, 3, 5)) for _ in range(rng.randint(0, 4)))
        items = tuple(_some_item(rng) for _ in range(rng.randint(0, 4)))
        index = items[0] if len(items) == 1 and rng.random() < 0.5 else items
        steps = indexing.plain_steps(index, size, writing=writing)
        if steps is not None:
            plain += 1
            parsed = indexing.parse(index, size, TENSORS, writing=writing)
            assert (steps, ()) == (parsed.steps, parsed.advanced), (index, size)
    assert plain > 1500

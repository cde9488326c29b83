"""Random index expressions: the plan of `indexing.parse`, carried out on torch, is its answer."""

import random
import warnings

import numpy as np
import pytest
import torch

from jaxflow._core import indexing

ROUNDS = 2000
TENSORS = indexing.Tensors(torch.Tensor, lambda t: str(t.dtype).removeprefix("torch."))
SHAPES = ((2, 3, 4), (3, 3, 3), (2,), (), (2, 1, 3), (0, 3), (2, 0, 2), (1, 1), (2, 3, 2, 2))
ODD = (1.5, "a", {}, 1j, object(), [1.5], [True, 1], [[0, 1], [0]], range(2), (0, 1), [np.bool_(1)])


def random_item(rng, x):
    """One item of an index for ``x``, mostly a sensible one."""
    kind = rng.random()
    if kind < 0.2:
        return rng.randint(-3, 2) if rng.random() < 0.9 else rng.randint(-6, 6)
    if kind < 0.45:
        bounds = [rng.choice((None, 0, 1, -1, 5, -9)) for _ in range(2)]
        return slice(*bounds, rng.choice((None, 1, 2, 3)))
    if kind < 0.55:
        return None
    if kind < 0.65:
        tensors = (torch.tensor(1), torch.tensor(True), torch.tensor(False))
        return rng.choice((*tensors, True, False, np.int64(1), np.array(0), np.array(False)))
    if kind < 0.75:
        return [rng.randint(-2, 1) for _ in range(rng.randint(0, 4))]
    if kind < 0.88:
        shape = rng.choice(((2,), (1,), (3,), (2, 2), (2, 1), (1, 3), (0,), (2, 3)))
        count = int(np.prod(shape))
        flat = torch.tensor([rng.randint(-2, 1) for _ in range(count)], dtype=torch.int64)
        t = flat.reshape(shape).to(rng.choice((torch.int64, torch.int32)))
        return t.mT if t.dim() == 2 and rng.random() < 0.5 else t
    if kind < 0.97:
        first = rng.randint(0, max(x.dim() - 1, 0))
        shape = x.shape[first : first + rng.randint(1, 2)]
        count = int(np.prod(shape))
        return torch.tensor([rng.random() < 0.5 for _ in range(count)]).reshape(shape)
    return rng.choice((*ODD, torch.tensor([1.0]), torch.tensor([1, 0], dtype=torch.int8)))


def random_index(rng, x):
    """A single item or a tuple, with at most one ``...``: with two, PyTorch may misread."""
    if rng.random() < 0.2:
        return random_item(rng, x)
    items = [random_item(rng, x) for _ in range(rng.choice((1, 2, 2, 3, 3, 4)))]
    if rng.random() < 0.3:
        items.insert(rng.randint(0, len(items)), ...)
    return tuple(items)


def random_tensor(rng):
    shape = rng.choice(SHAPES)
    x = torch.arange(int(np.prod(shape, dtype=int)), dtype=torch.float32).reshape(shape)
    if rng.random() < 0.5:
        x = x.permute(rng.sample(range(x.dim()), x.dim()))
    return x[::2] if x.dim() and rng.random() < 0.2 else x


def carry_out(x, index):
    """``x[index]`` by the plan: the result, and its strides if it is a copy."""
    plan = indexing.parse(index, tuple(x.shape), TENSORS)
    view = x
    for name, *args in plan.steps:
        if name == "slice":
            dim, start, stop, step = args
            view = view[(slice(None),) * dim + (slice(start, stop, step),)]
        elif name != "alias":
            view = getattr(view, name)(*args)
    assert tuple(view.shape) == plan.size
    if not plan.advanced:
        return view, None
    dims, arrays = [], []
    for dim, array, mask in plan.advanced:
        array = torch.as_tensor(array)
        for offset, part in enumerate(array.nonzero().unbind(1) if mask else [array]):
            dims.append(dim + offset)
            arrays.append(part)
    g = indexing.gathering(plan.size, tuple(dims), tuple(tuple(a.shape) for a in arrays))
    indexing.check_bounds([a.numpy() for a in arrays], g, plan.size)
    moved = view.detach().permute(*dims, *g.rest).numpy()
    found = np.empty((*g.shape, *moved.shape[len(dims) :]), np.float32)
    if found.size:
        found[...] = moved[tuple(np.broadcast_to(a.numpy(), g.shape) for a in arrays)]
    ahead = tuple(range(len(g.shape), len(g.shape) + g.position))
    order = (*ahead, *(d for d in range(found.ndim) if d not in ahead))
    layouts = [(tuple(a.shape), a.stride()) for a in arrays]
    strides = indexing.gathered_strides(g, (plan.size, view.stride()), layouts)
    return torch.from_numpy(found.transpose(order).copy()), strides


def outcome(function, *args):
    """The result, or the type and first line of the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args)
        except (IndexError, TypeError, ValueError, RuntimeError) as error:
            return type(error).__name__, str(error).split("\n")[0]


@pytest.mark.parametrize("seed", range(4))
def test_plans(seed):
    rng = random.Random(seed)
    for _ in range(ROUNDS):
        x = random_tensor(rng)
        index = random_index(rng, x)
        theirs, ours = outcome(torch.Tensor.__getitem__, x, index), outcome(carry_out, x, index)
        told = f"{tuple(x.shape)} {x.stride()} [{index}]"
        if isinstance(theirs, tuple):
            bounds = "is out of bounds for dimension"  # of several, PyTorch names any one
            if not (bounds in theirs[1] and isinstance(ours[1], str) and bounds in ours[1]):
                assert theirs == ours, told
            continue
        result, strides = ours
        assert isinstance(result, torch.Tensor), (told, ours)
        assert torch.equal(theirs, result), told
        assert (theirs._base is None) == (strides is not None), told
        assert theirs.stride() == (strides or result.stride()), told

"""Stride arithmetic held against real PyTorch on random layouts, sizes 0 and 1 included."""

import random

import pytest
import torch

from jaxflow._core import geometry

ROUNDS = 1500


def random_layout(rng, max_ndim=5):
    """A torch tensor of random shape whose strides a few random view steps have shuffled."""
    t = torch.empty([rng.choice((0, 1, 1, 2, 2, 3, 4)) for _ in range(rng.randint(0, max_ndim))])
    for _ in range(rng.randint(0, 3)):
        kind, ndim = rng.choice(("permute", "step", "expand", "unsqueeze", "free")), t.dim()
        if kind == "permute":
            t = t.permute(rng.sample(range(ndim), ndim))
        elif kind == "step" and ndim:
            key = [slice(None)] * ndim
            key[rng.randrange(ndim)] = slice(rng.randint(0, 2), None, rng.randint(1, 3))
            t = t[tuple(key)]
        elif kind == "expand":
            t = t.expand([rng.choice((1, 2, 3)) if n == 1 else n for n in t.shape])
        elif kind == "unsqueeze" and ndim < max_ndim:
            t = t.unsqueeze(rng.randint(0, ndim))
        elif kind == "free":
            t = torch.empty(200).as_strided(t.shape, [rng.randint(0, 6) for _ in t.shape])
    return t


def random_partner(rng, t):
    """A tensor that nearly always broadcasts against ``t``, in some order of memory."""
    if rng.random() < 0.2:
        return random_layout(rng)
    shape = [n if rng.random() < 0.7 else 1 for n in t.shape[rng.randint(0, t.dim()) :]]
    if shape and rng.random() < 0.1:
        shape[rng.randrange(len(shape))] = 5
    perm = rng.sample(range(len(shape)), len(shape))
    laid = torch.empty([shape[i] for i in perm])
    return laid.permute([perm.index(i) for i in range(len(shape))])


def random_view_shape(rng, numel):
    """A shape for ``view``: mostly a factorisation of ``numel``, with ones and a -1 mixed in."""
    if rng.random() < 0.15:
        return tuple(rng.randint(-2, 4) for _ in range(rng.randint(0, 4)))
    shape, rest = [], numel
    while rest > 1:
        shape.append(rng.choice([k for k in range(2, rest + 1) if rest % k == 0]))
        rest //= shape[-1]
    if numel == 0:
        shape = [rng.randint(0, 3) for _ in range(rng.randint(1, 4))]
    for _ in range(rng.randint(0, 2)):
        shape.insert(rng.randint(0, len(shape)), 1)
    if shape and rng.random() < 0.4:
        shape[rng.randrange(len(shape))] = -1
    return tuple(shape)


def layout(t):
    return tuple(t.shape), t.stride()


def outcome(function):
    """What a call gives, or the type and first line of what it raises."""
    try:
        return function()
    except (RuntimeError, IndexError) as error:
        return type(error).__name__, str(error).split("\n")[0]


def overlaps(function):
    failed = outcome(function)
    return isinstance(failed, tuple) and "to a single memory location" in failed[1]


@pytest.fixture(params=range(3))
def rng(request):
    return random.Random(request.param)


def test_layout_predicates(rng):
    for _ in range(ROUNDS):
        t = random_layout(rng)
        size, stride = layout(t)
        assert geometry.contiguous_strides(size) == torch.empty(size).stride()
        assert geometry.is_contiguous(size, stride) == t.is_contiguous()
        dense = torch.ops.aten.is_non_overlapping_and_dense(t)
        assert geometry.is_non_overlapping_and_dense(size, stride) == dense
        assert geometry.has_internal_overlap(size, stride) == overlaps(lambda t=t: t.add_(1) is t)


@pytest.mark.parametrize("ndim", [4, 5])
def test_channels_last(rng, ndim):
    form = torch.channels_last if ndim == 4 else torch.channels_last_3d
    for _ in range(ROUNDS):
        t = random_layout(rng)
        if t.dim() != ndim:
            continue
        size, stride = layout(t)
        packed = torch.empty(size, memory_format=form)
        assert geometry.channels_last_strides(size) == packed.stride()
        assert geometry.is_channels_last(size, packed.stride())
        assert geometry.is_channels_last(size, stride) == t.is_contiguous(memory_format=form)


def test_preserved_strides(rng):
    for _ in range(ROUNDS):
        t = random_layout(rng)
        a = layout(t)
        assert geometry.empty_like_strides(*a) == torch.empty_like(t).stride() == t.clone().stride()
        assert geometry.preserve_strides(a) == t.neg().stride()
        assert geometry.preserve_strides(a, ((), ())) == (t + 1).stride()
        u = random_partner(rng, t)
        b = layout(u)

        def ours(*operands):
            shape = geometry.broadcast_shapes(*(size for size, _ in operands))
            return shape, geometry.preserve_strides(*operands)

        assert outcome(lambda a=a, b=b: ours(a, b)) == outcome(lambda t=t, u=u: layout(t + u))
        assert outcome(lambda a=a, b=b: ours(b, a)) == outcome(lambda t=t, u=u: layout(u > t))
        three = outcome(lambda t=t, u=u: layout(torch.addcmul(u, t, u)))
        assert outcome(lambda a=a, b=b: ours(b, a, b)) == three


def test_view(rng):
    for _ in range(ROUNDS):
        t = random_layout(rng)
        size, stride = layout(t)
        shape = random_view_shape(rng, t.numel())
        full = outcome(lambda t=t, shape=shape: geometry.infer_size(shape, t.numel()))
        assert full == outcome(lambda t=t, shape=shape: tuple(t.reshape(shape).shape))
        if full and isinstance(full[0], str):
            continue
        ours = geometry.compute_view_strides(size, stride, full)
        theirs = outcome(lambda t=t, shape=shape: t.view(shape).stride())
        if ours is None:
            assert theirs[0] == "RuntimeError"
            assert "view size is not compatible" in theirs[1]
        else:
            assert ours == theirs


def test_expand(rng):
    for _ in range(ROUNDS):
        t = random_layout(rng, 4)
        kept = t.shape[1:] if rng.random() < 0.1 else t.shape
        lead = [rng.choice((-1, 0, 1, 2, 3)) for _ in range(rng.choice((0, 0, 1, 2)))]
        target = (*lead, *(rng.choice((-1, n, n, n, rng.randint(0, 3))) for n in kept))
        if not t.dim() and 0 in target:
            continue  # PyTorch hands out a tensor of negative size for expand(-1, 0)
        ours = outcome(lambda t=t, target=target: geometry.expand_geometry(*layout(t), target))
        assert ours == outcome(lambda t=t, target=target: layout(t.expand(target)))


def test_wrap_dim():
    for ndim in range(4):
        for dim in range(-6, 7):
            t = torch.empty((1,) * ndim)
            ours = outcome(lambda dim=dim, ndim=ndim: geometry.wrap_dim(dim, ndim))
            theirs = outcome(lambda dim=dim, t=t: t.transpose(dim, dim).dim() and dim % t.dim())
            assert ours == theirs


def test_partial_overlap(rng):
    for _ in range(ROUNDS):
        storage = torch.zeros(64)
        size = tuple(rng.randint(0, 4) for _ in range(rng.randint(0, 2)))
        pair = []
        for _ in range(2):
            stride = list(geometry.contiguous_strides(size))
            if rng.random() < 0.3:
                stride = [rng.randint(1, 5) for _ in size]
            pair.append((size, tuple(stride), rng.randint(0, 6)))
        a, b = (storage.as_strided(*part) for part in pair)
        assert geometry.overlaps_partially(*pair) == overlaps(lambda a=a, b=b: a.add_(b) is a)

"""What tensors are to Python and to what writes into them, held against PyTorch: hashes, copies, versions."""

import copy

import pytest

import jaxflow
from compat_tests.harness import Case, check, raises

pytestmark = pytest.mark.usefixtures("executor")


def hashes(T):
    x = T.nn.Parameter(T.ones(2))
    return [hash(t) == id(t) for t in (x, x.detach(), x[0])]


def deep_copies(T):
    """Tensors on one storage have copies on one storage."""
    base = T.arange(6.0)
    view, first, bits = base[2:5], base[:1].expand(3), base.view(T.int32)
    listed = copy.deepcopy([view, base, first, bits, base, base.view(2, 3).t()])
    view2, base2, first2, bits2, again, moved = listed
    with T.no_grad():
        base2[2] = 50.0
        view2[1] = 7.0
        bits2[0] = 0x40400000
    assert again is base2
    return listed, base, view2.storage_offset(), view2._base is None, copy.deepcopy(view)


def masked_writes(T):
    mask, more, x = T.tensor([True, False, True]), T.ones(2, dtype=T.bool), T.zeros(3)
    y = x.masked_scatter_(mask, T.tensor([1.0, 2.0]))
    square = T.zeros(2, 3).masked_scatter_(mask, T.arange(4.0))
    whole, shared = T.ones(3, dtype=T.int32), T.zeros(1).expand(3)
    return [y is x, x, x._version, square] + [
        raises(lambda a=a, m=m, s=s: a.masked_scatter_(m, s))
        for a in (T.zeros(3), T.zeros(3, requires_grad=True), shared)
        for m in (mask, more, T.ones(3), T.ones(2)) for s in (T.ones(1), whole)
    ] + [raises(lambda m=m, s=s: T.zeros(3).masked_scatter(m, s))
         for m in (mask, more, T.ones(3)) for s in (T.ones(1), whole)
    ] + [raises(lambda: x.masked_scatter_([True], x)), raises(lambda: x.masked_scatter_(mask, 1.0))]


def refused_outputs(T):
    """Where one of several outputs is refused, the others are as they were here; PyTorch has written some."""
    x = T.tensor([[3.0, 1.0], [2.0, 4.0]])

    def refused(call, *outs):
        before = [(t.tolist(), t._version, tuple(t.shape)) for t in outs]
        error = raises(lambda: call(outs))
        return error, T is not jaxflow or [(t.tolist(), t._version, tuple(t.shape)) for t in outs] == before

    whole, short = T.ones(2, dtype=T.int32), T.ones(0)
    return [
        refused(lambda out: T.max(x, 0, out=out), T.zeros(2), whole),
        refused(lambda out: T.max(x, 0, out=out), short, T.ones(1, dtype=T.int64).expand(2)),
        refused(lambda out: T.linalg.svd(x, out=out), T.zeros(2, 2), T.zeros(2), T.ones(2, 2, dtype=T.int32)),
        refused(lambda out: T.unbind_copy(x, out=list(out)), T.zeros(2), T.zeros(2, requires_grad=True)),
    ]


def channels_dropped_in_place(T):
    """How often a write is counted: two more where a dimension is put before an input without a batch."""
    counts = []
    for name, shape in (("dropout1d", (3, 4)), ("dropout3d", (3, 2, 2, 2)), ("dropout3d", (1, 3, 2, 2, 2))):
        for training in (True, False):
            x = T.ones(shape, requires_grad=True) * 1
            y = getattr(T.nn.functional, name)(x, training=training, inplace=True)
            counts.append((y is x, x._version, tuple(x.shape), type(x.grad_fn).__name__))
    return counts


CASES = [hashes, deep_copies, masked_writes, refused_outputs, channels_dropped_in_place]


@pytest.mark.parametrize("run", CASES, ids=lambda run: run.__name__)
def test_protocol(run):
    check(Case(run.__name__, run), jaxflow)

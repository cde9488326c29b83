"""Calls that PyTorch still takes, or takes with a warning: results, versions and warnings beside its own."""

import warnings

import numpy as np
import pytest
import torch

import jaxflow


def outcome(T, function):
    """What a call returns or raises, as text, and the beginnings of its warnings."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        T.set_warn_always(True)
        try:
            found = repr(function(T))
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
        finally:
            T.set_warn_always(False)
    return found, [(w.category, _beginning(str(w.message))) for w in given]


def _beginning(message):
    """Without PyTorch's file and line, and of its list of overloads the name alone."""
    return message.partition(" (Triggered internally")[0].partition("deprecated:")[0]


def written(write):
    """What is left in memory after a write into two rows that are one."""
    def run(T):
        base = T.zeros(1, 3)
        x = base.expand(2, 3)
        before = x._version
        write(T, x)
        return x, base, x._version - before, x.stride()

    return run


def mask(T, *bits):
    return T.tensor(bits, dtype=T.bool)


EXPANDED = {
    "mask": lambda T, x: x.__setitem__(mask(T, 1, 0), 2.0),
    "mask of elements": lambda T, x: x.__setitem__(mask(T, [1, 0, 1], [1, 1, 0]), T.arange(1, 5.0)),
    "rows": lambda T, x: x.__setitem__(T.tensor([1, 0]), T.tensor([[1.0], [2.0]]).expand(2, 3)),
    "columns": lambda T, x: x.__setitem__((slice(None), T.tensor([0, 2])), T.arange(4.0).reshape(2, 2)),
    "index_fill_": lambda T, x: x.index_fill_(0, T.tensor([0]), 3.0),
    "index_fill_ of a tensor": lambda T, x: x.index_fill_(0, T.tensor([0]), T.tensor(3.0)),
    "masked_fill_": lambda T, x: x.masked_fill_(mask(T, 1, 0, 1), 3.0),
    "index_put_": lambda T, x: x.index_put_((T.tensor([0]),), T.ones(3)),
    "index_put_ added": lambda T, x: x.index_put_((T.tensor([0, 1]),), T.ones(3), accumulate=True),
    "fill_diagonal_": lambda T, x: x.fill_diagonal_(2.0),
    "triu_": lambda T, x: (x[0].fill_(7.0), x.triu_()),
    "tril_": lambda T, x: (x[0].fill_(7.0), x.tril_()),
    "zero_": lambda T, x: x.zero_(),
    "refused: add_": lambda T, x: x.add_(1),
    "refused: copy_": lambda T, x: x.copy_(T.ones(2, 3)),
    "refused: index_add_": lambda T, x: x.index_add_(0, T.tensor([0]), T.ones(1, 3)),
    "refused: scatter_": lambda T, x: x.scatter_(0, T.tensor([[0, 0, 0]]), 1.0),
    "refused: put_": lambda T, x: x.put_(T.tensor([0]), T.tensor([4.0])),
}


@pytest.mark.parametrize("name", EXPANDED)
def test_write_into_an_expanded_tensor(executor, name):
    assert outcome(jaxflow, written(EXPANDED[name])) == outcome(torch, written(EXPANDED[name]))


def factors_first(name, shapes, how):
    """A call with the factors before the tensors they belong to."""
    def run(T):
        first, *rest = (T.arange(1.0, 1 + np.prod(s)).reshape(s) for s in shapes)
        return how(T, name, first, rest)

    return run


PRODUCTS = dict(addmm=((2, 3), (2, 2), (2, 3)), addmv=((2,), (2, 3), (3,)), addr=((2, 3), (2,), (3,)),
                addbmm=((2, 3), (4, 2, 2), (4, 2, 3)), baddbmm=((4, 2, 3), (4, 2, 2), (4, 2, 3)))
ORDERS = {
    "both": lambda T, name, x, rest: getattr(T, name)(2, x, 3, *rest),
    "one": lambda T, name, x, rest: getattr(T, name)(2, x, *rest),
    "method": lambda T, name, x, rest: getattr(x, name)(2, 3, *rest),
    "method, one": lambda T, name, x, rest: getattr(x, name)(2, *rest),
    "in place": lambda T, name, x, rest: getattr(x, name + "_")(2, 3, *rest),
    "in place, one": lambda T, name, x, rest: getattr(x, name + "_")(2, *rest),
    "out": lambda T, name, x, rest: getattr(T, name)(2, x, 3, *rest, out=T.zeros_like(x)),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", PRODUCTS)
def test_factors_first(executor, name, order):
    call = factors_first(name, PRODUCTS[name], ORDERS[order])
    assert outcome(jaxflow, call) == outcome(torch, call)


def read_only():
    a = np.arange(3.0)
    a.flags.writeable = False
    return a


def deterministic(function):
    def run(T):
        T.use_deterministic_algorithms(True, warn_only=True)
        try:
            return function(T)
        finally:
            T.use_deterministic_algorithms(False)

    return run


def refused(function):
    def run(T):
        T.use_deterministic_algorithms(True)
        try:
            return function(T)
        finally:
            T.use_deterministic_algorithms(False)

    return run


def layer(kind, shape, **options):
    def run(T):
        x = T.zeros(*shape, requires_grad=True)
        y = getattr(T.nn, kind)(8, 2, 16, **options)(*(x,) * (1 + (kind == "TransformerDecoderLayer")))
        y.sum().backward()
        return tuple(y.shape), tuple(x.grad.shape)

    return run


def attention(T):
    x = T.zeros(5, 0, 8)
    found, shares = T.nn.MultiheadAttention(8, 2)(x, x, x)
    return tuple(found.shape), tuple(shares.shape)


CALLS = {
    "addcmul": lambda T: T.addcmul(T.ones(2), 2, T.ones(2), T.arange(2.0)),
    "addcmul_": lambda T: T.ones(2).addcmul_(2, T.ones(2), T.arange(2.0)),
    "addcdiv": lambda T: T.ones(2).addcdiv(-0.5, T.ones(2), T.arange(1, 3.0)),
    "add": lambda T: T.add(T.ones(2), 2, T.arange(2.0)),
    "sub_": lambda T: T.ones(2).sub_(2, T.arange(2.0)),
    "embedding_bag": lambda T: T.nn.functional.embedding_bag(
        T.arange(12.0).reshape(4, 3), T.tensor([0, 1, 2]), T.tensor([0, 2])),
    "roll": lambda T: T.roll(T.arange(6).reshape(2, 3), 1, dims=None),
    "block_diag of nothing": lambda T: T.block_diag(),
    "block_diag of an empty one": lambda T: T.block_diag(T.zeros(0), T.ones(2)),
    "cat of empties": lambda T: T.cat([T.zeros(0), T.zeros(0), T.ones(2, 3)], 1),
    "cat of an empty one and integers": lambda T: T.cat([T.zeros(0), T.ones(2, 3, dtype=T.int)]),
    "cat of nothing": lambda T: T.cat([]),
    "cosine_similarity of integers": lambda T: T.cosine_similarity(T.tensor(2), T.tensor(3), 0),
    "cosine_similarity of a number": lambda T: T.cosine_similarity(T.tensor(2), T.tensor([3, 1.0]), 0),
    "ctc_loss of empty targets": lambda T: T.nn.functional.ctc_loss(
        T.zeros(5, 2, 4), T.zeros(2, 0, dtype=T.long), (5, 4), (0, 0)),
    "where of bytes": lambda T: T.where(T.tensor([1, 0], dtype=T.uint8), T.ones(2), T.zeros(2)),
    "from_numpy": lambda T: T.from_numpy(read_only()),
    "as_tensor": lambda T: T.as_tensor(read_only()),
    "tensor": lambda T: T.tensor(read_only()),
    "from_numpy of a broadcast array": lambda T: T.from_numpy(np.broadcast_to(np.zeros(1), 2)).sum(),
    "frombuffer": lambda T: T.frombuffer(b"abcd", dtype=T.uint8),
    "frombuffer that is writable": lambda T: T.frombuffer(bytearray(b"abcd"), dtype=T.uint8),
    "from_numpy of numpy()": lambda T: T.from_numpy(T.ones(2).numpy()),
    "put_": deterministic(lambda T: T.zeros(3).put_(T.tensor([0]), T.ones(1))),
    "put_ added": deterministic(lambda T: T.zeros(3).put_(T.tensor([0]), T.ones(1), True)),
    "put_ refused": refused(lambda T: T.zeros(3).put_(T.tensor([0]), T.ones(1))),
    "max_unpool2d": deterministic(lambda T: T.nn.functional.max_unpool2d(
        T.ones(1, 1, 1, 1), T.zeros(1, 1, 1, 1, dtype=T.long), 2)),
    "max_unpool1d": deterministic(lambda T: T.nn.functional.max_unpool1d(
        T.ones(1, 1, 1), T.zeros(1, 1, 1, dtype=T.long), 2)),
    "max_unpool3d": deterministic(lambda T: T.nn.functional.max_unpool3d(
        T.ones(1, 1, 1, 1, 1), T.zeros(1, 1, 1, 1, 1, dtype=T.long), 2)),
    "mse_loss": lambda T: T.nn.functional.mse_loss(T.ones(2, 3), T.ones(3)),
    "grad of a result": lambda T: (T.ones(2, requires_grad=True) * 2).grad,
    "no batch": attention,
    "encoder layer": layer("TransformerEncoderLayer", (5, 0, 8)),
    "decoder layer": layer("TransformerDecoderLayer", (0, 5, 8), batch_first=True, norm_first=True),
}


@pytest.mark.parametrize("name", CALLS)
def test_call(executor, name):
    assert outcome(jaxflow, CALLS[name]) == outcome(torch, CALLS[name])

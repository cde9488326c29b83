"""Whole operations in NumPy, for those that small programs are made of.

NOTE [Whole operations]
    The rules of lax primitives serve every operation; but where arrays are small, an operation takes as long
    as it has primitives, and one that is a gather in NumPy has six. So the commonest have a row here: a
    kernel by the operation's name, ``<name>_vjp`` for its backward, made for the shapes at hand. What a
    kernel yields is compared with XLA like all that is interpreted. There is none (None) for what a row does
    not support (other dtypes, unusual arguments), and a kernel hands an index out of range on to the
    primitives (``Call.lowered``), which do what XLA does with it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np

from .randomness import few_words, fold_in, words_of
from .surroundings import interpreting

_REAL = (np.dtype(np.float32), np.dtype(np.float64))


class Call(NamedTuple):
    """What a kernel is made for.

    Attributes:
        static: the static arguments by name.
        ins, outs: shape and dtype of what it takes and returns, numbers included.
        lowered: makes the same function out of the rules of primitives.
        forward: of a backward, the call whose backward it is.
        kept, wanted, defined: and which of that call's inputs it takes before the cotangents, for which of
            them it returns gradients, and for which of the results it takes cotangents.
    """

    static: dict[str, Any]
    ins: tuple
    outs: tuple
    lowered: Callable[[], Callable]
    forward: Call | None = None
    kept: tuple[int, ...] = ()
    wanted: tuple[int, ...] = ()
    defined: tuple[int, ...] = ()


KERNELS: dict[str, Callable[[Call], Callable | None]] = {}


def kernel(name: str) -> Callable:
    """Enter the decorated function, which makes the kernel of a `Call`, or None."""

    def enter(make):
        KERNELS[name] = make
        return make

    return enter


def whole(name: str, call: Call) -> Callable[..., list] | None:
    """The operation as `lower` would return it; None where it has no kernel for this call."""
    make = KERNELS.get(name)
    bare = None if make is None else make(call)
    if bare is None:
        return None

    def run(*arrays):
        with interpreting():
            return bare(*arrays)

    run.bare, run.fallbacks, run.products, run.steps = bare, (), False, 1
    return run


# ----------------------------------------------------------------------------------------- joining


def _alike(call: Call) -> bool:
    """Whether all that is joined has the result's dtype and as many dimensions as the first."""
    first = call.ins[0]
    return all(x.dtype == call.outs[0].dtype and len(x.shape) == len(first.shape) for x in call.ins)


@kernel("cat")
def _cat(call):
    if not _alike(call):
        return None
    axis = call.static["dim"] % len(call.outs[0].shape)  # of empty vectors it may be any
    return lambda *arrays: [np.concatenate(arrays, axis)]


def _along(axis: int, ndim: int, at) -> tuple:
    return (*(slice(None),) * (axis % ndim), at)


@kernel("cat_vjp")
def _cat_vjp(call):
    forward = call.forward
    if call.kept or not _alike(forward):
        return None
    axis = call.forward.static["dim"] % len(forward.outs[0].shape)
    keys, start = [], 0
    for i, x in enumerate(forward.ins):
        if i in call.wanted:
            keys.append(_along(axis, len(x.shape), slice(start, start + x.shape[axis])))
        start += x.shape[axis]
    return lambda ct: [ct[key] for key in keys]


@kernel("stack")
def _stack(call):
    if not _alike(call):
        return None
    out = call.outs[0].shape
    axis = call.static["dim"] % len(out)
    one = (*out[:axis], 1, *out[axis + 1:])
    return lambda *arrays: [np.concatenate([x.reshape(one) for x in arrays], axis)]


@kernel("stack_vjp")
def _stack_vjp(call):
    if call.kept or not _alike(call.forward):
        return None
    ndim = len(call.forward.outs[0].shape)
    keys = [_along(call.forward.static["dim"], ndim, i) for i in call.wanted]
    return lambda ct: [np.asarray(ct[key]) for key in keys]


@kernel("split_vjp")
def _split_vjp(call):
    """Of ``split``, ``chunk``, ``unbind``: ``pieces`` says by name and arguments which views they are."""
    pieces = call.forward.static["pieces"]
    out = call.outs[0]
    dim, ndim = pieces[0][1][0], len(out.shape)
    keys, end = [], 0
    for name, where in (pieces[i] for i in call.defined):
        if where[0] != dim or where[3:] not in ((), (1,)):
            return None
        start, stop = (where[1], where[1] + 1) if name == "select" else where[1:3]
        end = stop if start == end else -1
        keys.append(_along(dim, ndim, where[1] if name == "select" else slice(start, stop)))
    if end == out.shape[dim] and keys:  # all of it, in order
        if name == "select":
            one = (*out.shape[:dim], 1, *out.shape[dim + 1:])
            return lambda *cts: [np.concatenate([x.reshape(one) for x in cts], dim)]
        return lambda *cts: [np.concatenate(cts, dim)]

    def split_vjp(*cts):
        whole = np.zeros(out.shape, out.dtype)
        for key, ct in zip(keys, cts):
            whole[key] += ct
        return [whole]

    return split_vjp


# ---------------------------------------------------------------------------------------- indexing


def _or(call: Call, quick: Callable) -> Callable:
    """``quick``, and the primitives' function where it finds an index out of range."""
    lowered = None

    def run(*arrays):
        nonlocal lowered
        try:
            return quick(*arrays)
        except IndexError:
            lowered = lowered or call.lowered()
            return lowered(*arrays)

    return run


def _lines(call: Call, index_at: int) -> tuple[Callable, int] | None:
    """What makes an index of lines along ``dim`` an index of NumPy's; and ``dim``."""
    x, index = call.ins[0].shape, call.ins[index_at].shape
    if not x or len(x) != len(index) or not math.prod(index):
        return None
    axis, ndim = call.static["dim"] % len(x), len(x)
    key = [np.arange(n).reshape([n if a == d else 1 for a in range(ndim)]) for d, n in enumerate(index)]
    before, after = tuple(key[:axis]), tuple(key[axis + 1:])
    return (lambda at: (*before, at, *after)), axis


@kernel("gather")
def _gather(call):
    found = _lines(call, 1)
    if found is None:
        return None
    place, _ = found
    return _or(call, lambda x, at: [x[place(at)]])


@kernel("gather_vjp")
def _gather_vjp(call):
    found = _lines(call.forward, 1)
    out = call.outs[0]
    if found is None or call.kept != (1,) or call.wanted != (0,) or out.dtype not in _REAL:
        return None
    place, axis = found
    once = call.forward.ins[1].shape[axis] == 1

    def gather_vjp(at, ct):
        whole = np.zeros(out.shape, out.dtype)
        if once:
            whole[place(at)] = ct
        else:
            np.add.at(whole, place(at), ct)
        return [whole]

    return _or(call, gather_vjp)


#: Rows that are added one by one.
_FEW_ROWS = 64


@kernel("_embedding_vjp")
def _embedding_vjp(call):
    static, out = call.forward.static, call.outs[0]
    count = math.prod(call.forward.ins[1].shape)
    if (call.kept != (1,) or call.wanted != (0,) or count > _FEW_ROWS or out.dtype not in _REAL
            or static["scale_grad_by_freq"] or static["padding_idx"] is not None):
        return None
    rows = (count, *out.shape[1:])

    def embedding_vjp(indices, ct):
        whole = np.zeros(out.shape, out.dtype)
        for i, row in zip(indices.reshape(-1).tolist(), ct.reshape(rows)):
            whole[i] += row
        return [whole]

    return _or(call, embedding_vjp)


# ----------------------------------------------------------------------------------------- softmax


def _axis(call: Call) -> int | None:
    """The dimension of a softmax; None where the input is converted, empty or no more than a number."""
    x = call.ins[0]
    if x.dtype not in _REAL or x.dtype != call.outs[0].dtype or 0 in (*x.shape, len(x.shape)):
        return None
    return call.static["dim"]


def _shares(x, axis):
    powers = x - np.maximum.reduce(x, axis, None, None, True)
    np.exp(powers, powers)
    powers /= np.add.reduce(powers, axis, None, None, True)
    return powers


@kernel("softmax")
def _softmax(call):
    axis = _axis(call)
    return None if axis is None else lambda x: [_shares(x, axis)]


@kernel("softmax_vjp")
def _softmax_vjp(call):
    axis = _axis(call.forward)
    if axis is None or call.kept != (0,):
        return None

    def softmax_vjp(x, ct):
        shares = _shares(x, axis)
        found = ct * shares
        found -= shares * np.add.reduce(found, axis, None, None, True)
        return [found]

    return softmax_vjp


@kernel("log_softmax")
def _log_softmax(call):
    axis = _axis(call)
    if axis is None:
        return None

    def log_softmax(x):
        shifted = x - np.maximum.reduce(x, axis, None, None, True)
        shifted -= np.log(np.add.reduce(np.exp(shifted), axis, None, None, True))
        return [shifted]

    return log_softmax


@kernel("log_softmax_vjp")
def _log_softmax_vjp(call):
    axis = _axis(call.forward)
    if axis is None or call.kept != (0,):
        return None
    return lambda x, ct: [ct - _shares(x, axis) * np.add.reduce(ct, axis, None, None, True)]


# ---------------------------------------------------------------------------------------- sampling

#: Elements whose noise is hashed as lanes of one integer.
_FEW_CHOICES = 32


@kernel("_multinomial")
def _multinomial(call):
    """One draw: the largest of ``log p`` and Gumbel noise, which is made as ``jax.random.gumbel`` does."""
    x, single = call.ins[0], np.dtype(np.float32)
    size = math.prod(x.shape)
    if (call.static["num_samples"] != 1 or x.dtype != single
            or not 0 < size <= _FEW_CHOICES or jax.config.jax_high_dynamic_range_gumbel):
        return None
    one, shape = np.float32(1), call.outs[0].shape
    least, bits_of_one, unused = np.finfo(np.float32).tiny, np.uint32(0x3F800000), np.uint32(9)
    words = functools.partial(few_words, size)

    def multinomial(probabilities, seed, offset):
        bits = words(fold_in(words_of(int(seed)), int(offset)))
        uniform = (bits >> unused | bits_of_one).view(single)
        uniform -= one
        np.maximum(uniform, least, out=uniform)
        np.log(uniform, uniform)
        np.negative(uniform, uniform)
        np.log(uniform, uniform)
        noisy = np.log(probabilities)
        noisy -= uniform.reshape(x.shape)
        return [noisy.argmax(-1).reshape(shape)]

    return multinomial

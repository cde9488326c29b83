"""Padding of the last dimensions; pads are two numbers a dimension, the last one first."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from jaxflow._core.cast import cast
from jaxflow._core.dtype import BOOL
from jaxflow._plans.op import Always, Integers, Scalar, op

from ._layouts import padded
from ._support import number_fits, refuse

_NUMBER = {1: "1D", 2: "2D", 3: "3D"}


def _pairs(pad, ndim):
    """A ``(before, after)`` for each dimension, the first dimension first."""
    given = [(pad[i], pad[i + 1]) for i in range(0, len(pad), 2)]
    return [(0, 0)] * (ndim - len(given)) + given[::-1]


def _fill_fits(watch, dynamic, static) -> None:
    """A guard: the dtype of the input holds the number that new positions are to hold, if there are any."""
    if max(static[0], default=0) > 0:
        number_fits(watch, dynamic, static)


@op(variants="function", saves="none", layout=Always(padded), guard=_fill_fits)
def constant_pad_nd(input, /, pad: Integers, value: Scalar = 0):
    """Positions holding ``value`` added before and after; negative pads cut positions off.

    Args:
        input: any tensor.
        pad: two numbers a dimension, the last dimension first.
        value: what the new positions hold.
    """
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) > 2 * input.ndim:
        raise RuntimeError(
            "Length of pad should be no more than twice the number of dimensions of the input. Pad length is "
            f"{len(pad)} while the input has {input.ndim} dimensions."
        )
    pairs = _pairs(pad, input.ndim)
    for size, (before, after) in zip(input.shape, pairs):
        if size + min(before, 0) + min(after, 0) < 0:
            raise RuntimeError("narrow(): length must be non-negative.")
    fill = cast(jnp.asarray(value), input.dtype)
    return jax.lax.pad(input, fill, [(before, after, 0) for before, after in pairs])


def _wrapped(x, axis, before, after):
    """One dimension continued from its other end. What negative padding cuts off is gone before that."""
    start, stop = min(max(-before, 0), x.shape[axis]), x.shape[axis] - max(-after, 0)
    before, after, turn = max(before, 0), max(after, 0), max(stop - start, 0)
    whole = jax.lax.slice_in_dim(x, start, start + turn, axis=axis)
    if not turn:
        return whole
    turns = -(-before // turn)
    repeated = jnp.concatenate([whole] * (turns + 1 + -(-after // turn)), axis)
    skipped = turns * turn - before
    return jax.lax.slice_in_dim(repeated, skipped, skipped + before + turn + after, axis=axis)


def _extended(x, axis, before, after, mode):
    """One dimension with what its ends show beyond them: the last element, or all mirrored in it."""
    size, end = x.shape[axis], x.shape[axis] + after
    if before + end == 0:
        return jax.lax.slice_in_dim(x, 0, 0, axis=axis)
    first, behind = max(-before, 0), max(-before, size)  # the positions shown first, in it and behind it
    start = min(first, size)
    low, high = max(before + min(end, 0), 0), max(end - behind, 0)
    middle = jax.lax.slice_in_dim(x, start, max(min(end, size), start), axis=axis)

    def part(of, at, count):
        return jax.lax.slice_in_dim(of, at, at + count, axis=axis)

    def spread(at, count):
        return jnp.broadcast_to(part(x, at, 1), (*x.shape[:axis], count, *x.shape[axis + 1 :]))

    if mode == "replicate":
        ends = [low and spread(0, low), high and spread(size - 1, high)]
    else:
        # What the dimension has at ``p`` it has turned round at ``size - 1 - p``.
        turned = jax.lax.rev(x, (axis,))
        ends = [low and part(turned, size - 1 - before, low), high and part(turned, behind - size + 1, high)]
    pieces = [ends[0]] * bool(low) + [middle] * bool(middle.shape[axis]) + [ends[1]] * bool(high)
    return jnp.concatenate(pieces, axis) if pieces else middle


def _pad_by_position(input, pad, mode):
    # Pieces joined: what they show is no index, and their gradient adds up what a position is shown as.
    for axis, (before, after) in enumerate(_pairs(pad, input.ndim)):
        if mode == "circular" and (before or after):
            input = _wrapped(input, axis, before, after)
        elif before or after:
            input = _extended(input, axis, before, after, mode)
    return input


def _check_reflect(input, pad):
    for i in range(0, len(pad), 2):
        axis = input.ndim - 1 - i // 2
        if max(pad[i], pad[i + 1]) >= input.shape[axis]:
            raise RuntimeError(
                "Argument #4: Padding size should be less than the corresponding input dimension, "
                f"but got: padding ({pad[i]}, {pad[i + 1]}) at dimension {axis} of input "
                f"{list(input.shape)}"
            )


def _check_some(input, dims):
    """Refuse dimensions without elements, of which only the batch may be one."""
    if 0 in input.shape[1 if input.ndim == dims + 2 else 0:]:
        raise RuntimeError(
            f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with possibly 0 batch size and other "
            f"non-zero dimensions for input, but got: {list(input.shape)}"
        )


def _check_continued(input, pad, dims, kernel):
    """What PyTorch's kernels refuse of reflecting and replicating alike."""
    pairs = _pairs(pad, input.ndim)
    shape = [size + before + after for size, (before, after) in zip(input.shape, pairs)]
    if max(shape[-dims:]) < 1:
        old, new = (" ".join(f"{axis}: {n}" for axis, n in zip("DHW"[-dims:], sizes[-dims:]))
                    for sizes in (input.shape, shape))
        raise RuntimeError(f"input ({old.replace(' W', ', W')}) is too small. Calculated output {new}")
    if min(shape) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(shape)}: {shape}")
    refuse(kernel, input, BOOL)


def _declare(mode, family, dims):
    @op(name=f"{family}_pad{dims}d", variants="", saves=("input",), layout="channels",
        grad_name=f"{family.capitalize()}Pad{_NUMBER[dims]}Backward0")
    def pad_nd(input, /, pad):
        """The last dimensions continued beyond their ends; ``pad`` is two numbers each, last first."""
        _check_some(input, dims)
        if mode == "reflect":
            _check_reflect(input, pad)
        _check_continued(input, pad, dims, f"{family}_pad{dims}d")
        return _pad_by_position(input, pad, mode)

    return pad_nd


REFLECT = {dims: _declare("reflect", "reflection", dims) for dims in (1, 2, 3)}
REPLICATE = {dims: _declare("replicate", "replication", dims) for dims in (1, 2, 3)}


@op(variants="", saves="none", grad_name="CopySlices")
def _pad_circular(input, /, pad: Integers):
    """The last dimensions continued from their other end; ``pad`` is two numbers each, last first."""
    for i in range(0, len(pad), 2):
        size = input.shape[input.ndim - 1 - i // 2]
        if max(pad[i], pad[i + 1]) > size:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if size + pad[i] + pad[i + 1] < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
        turn = size + min(pad[i], 0) + min(pad[i + 1], 0)
        if max(pad[i], pad[i + 1]) > max(turn, 0):
            # PyTorch would copy memory that it has not written, or refuses as memory that overlaps.
            raise RuntimeError(
                "unsupported operation: some elements of the input tensor and the written-to tensor refer to "
                "a single memory location. Please clone() the tensor before performing the operation."
            )
    return _pad_by_position(input, pad, "circular")

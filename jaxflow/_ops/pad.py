"""Padding of the last dimensions; pads are two numbers a dimension, the last one first."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from jaxflow._core.cast import cast
from jaxflow._dispatch.op import Scalar, op

_NUMBER = {1: "1D", 2: "2D", 3: "3D"}


def _pairs(pad, ndim):
    """A ``(before, after)`` for each dimension, the first dimension first."""
    given = [(pad[i], pad[i + 1]) for i in range(0, len(pad), 2)]
    return [(0, 0)] * (ndim - len(given)) + given[::-1]


@op(variants="function", saves="none")
def constant_pad_nd(input, /, pad, value: Scalar = 0):
    """Positions holding ``value`` added before and after; negative pads cut positions off.

    Args:
        input: any tensor.
        pad: two numbers a dimension, the last dimension first.
        value: what the new positions hold.
    """
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * input.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got "
            f"padding length {len(pad)} and input of dimension {input.ndim}"
        )
    pairs = _pairs(pad, input.ndim)
    for size, (before, after) in zip(input.shape, pairs):
        if size + min(before, 0) + min(after, 0) < 0:
            raise RuntimeError("narrow(): length must be non-negative.")
    fill = cast(jnp.asarray(value), input.dtype)
    return jax.lax.pad(input, fill, [(before, after, 0) for before, after in pairs])


def _indices(size, before, after, mode):
    """Which positions the padded dimension shows."""
    if mode == "circular":
        # What negative padding cuts off is gone before the rest is continued.
        start, stop = max(-before, 0), size - max(-after, 0)
        shown = range(start - max(before, 0), stop + max(after, 0))
        return [start + (p - start) % max(stop - start, 1) for p in shown]
    positions = range(-before, size + after)
    if mode == "replicate":
        return [min(max(p, 0), size - 1) for p in positions]
    return [-p if p < 0 else 2 * (size - 1) - p if p >= size else p for p in positions]


def _pad_by_position(input, pad, mode):
    # One gather a dimension; its gradient adds up what a position is shown as, as it should.
    for axis, (before, after) in enumerate(_pairs(pad, input.ndim)):
        if before or after:
            shown = _indices(input.shape[axis], before, after, mode)
            input = jnp.take(input, jnp.asarray(shown, jnp.int32), axis=axis, mode="clip")
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


def _declare(mode, family, dims):
    @op(name=f"{family}_pad{dims}d", variants="", saves=("input",),
        grad_name=f"{family.capitalize()}Pad{_NUMBER[dims]}Backward0")
    def pad_nd(input, /, pad):
        """The last dimensions continued beyond their ends; ``pad`` is two numbers each, last first."""
        if mode == "reflect":
            _check_reflect(input, pad)
        return _pad_by_position(input, pad, mode)

    return pad_nd


REFLECT = {dims: _declare("reflect", "reflection", dims) for dims in (1, 2, 3)}
REPLICATE = {dims: _declare("replicate", "replication", dims) for dims in (1, 2, 3)}


@op(variants="", saves="none", grad_name="CopySlices")
def _pad_circular(input, /, pad):
    """The last dimensions continued from their other end; ``pad`` is two numbers each, last first."""
    for i in range(0, len(pad), 2):
        size = input.shape[input.ndim - 1 - i // 2]
        if max(pad[i], pad[i + 1]) > size:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if size + pad[i] + pad[i + 1] < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
    return _pad_by_position(input, pad, "circular")

"""Sequences of different lengths: padded to one length, and packed step by step."""

from __future__ import annotations

import jax.numpy as jnp

from jaxflow._core.cast import cast
from jaxflow._plans.op import Number, op


def padded_places(shapes, batch_first: bool, padding_side: str):
    """The shape of sequences of these shapes padded to one length, and where in it each of them stands.

    Raises:
        RuntimeError: when sizes other than the length differ.
    """
    rest, longest = shapes[0][1:], max(shape[0] for shape in shapes)
    places = []
    for i, shape in enumerate(shapes):
        for axis in range(1, max(len(shape), len(rest) + 1)):
            a, b = (s[axis - 1] if axis <= len(s) else 1 for s in (rest, shape[1:]))
            if a != b:
                raise RuntimeError(
                    f"The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton "
                    f"dimension {axis}")
        steps = slice(0, shape[0]) if padding_side == "right" else slice(longest - shape[0], longest)
        places.append((i, steps) if batch_first else (steps, i))
    lead = (len(shapes), longest) if batch_first else (longest, len(shapes))
    return (*lead, *rest), places


@op(variants="", saves="none")
def _pad_sequence(*tensors, batch_first, padding_value, padding_side):
    """Sequences ``(L, *)`` of different lengths as one array ``(N, longest, *)``, or with ``N`` second."""
    shape, places = padded_places([t.shape for t in tensors], batch_first, padding_side)
    out = jnp.full(shape, padding_value, tensors[0].dtype)
    for place, t in zip(places, tensors):
        out = out.at[place].set(cast(t, out.dtype))
    return out


@op(variants="", grad_name="PackPaddedSequenceBackward0", saves="own")
def _pack_padded_sequence(input, index, /):
    """The elements of the first two dimensions, taken as one, that ``index`` names."""
    rows = input.reshape(input.shape[0] * input.shape[1], *input.shape[2:])
    return rows.at[index].get(mode="promise_in_bounds")


@op(variants="", saves="own")
def _pad_packed_sequence(data, index, /, *, padding_value: Number):
    """The rows that ``index`` names, and padding where it is negative."""
    rows = data.at[jnp.maximum(index, 0)].get(mode="promise_in_bounds")
    there = (index >= 0).reshape(*index.shape, *(1 for _ in data.shape[1:]))
    return jnp.where(there, rows, jnp.full((), padding_value, data.dtype))

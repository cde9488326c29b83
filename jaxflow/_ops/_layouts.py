"""How results lie that are neither contiguous nor ordered as one operand: rules for the option ``layout``.

Each gets the operands, the result's shape and the static arguments, and gives strides, or None for a result
that is contiguous.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from jaxflow._core.dtype import COMPLEX, FLOATING
from jaxflow._core.geometry import (
    Ints,
    Layout,
    broadcast_shapes,
    channels_last_strides,
    compute_view_strides,
    contiguous_strides,
    empty_like_strides,
    is_channels_last,
    is_contiguous,
    moved_strides,
    preserve_strides,
    suggests_channels_last,
)
from jaxflow._core.promotion import common
from jaxflow._plans.op import Operand


def of_tensors(operands: Sequence[Operand | None], shape: Ints, **_) -> Ints | None:
    """Of an elementwise kernel that takes numbers for its parameters, and not for operands."""
    return preserve_strides(*(o.layout for o in operands if o is not None))


def _converted(operands: Sequence[Operand | None]) -> list[Layout]:
    """The operands, of which those of other dtypes than the common one are copies without gaps."""
    tensors = [o for o in operands if o is not None]
    dtype = common("default", [(o.dtype, "tensor" if o.size else "zerodim") for o in tensors])
    return [((), ()) if o is None else
            o.layout if o.dtype is dtype else (o.size, empty_like_strides(*o.layout)) for o in operands]


def of_bounded(operands: Sequence[Operand | None], shape: Ints, **_) -> Ints | None:
    """Of a kernel whose operands after the first one are numbers, which count for nothing, or tensors."""
    return preserve_strides(*_converted([o for o in operands if o is not None]))


def second_first(operands: Sequence[Operand | None], shape: Ints, **_) -> Ints | None:
    """Of an operation that hands its two operands on the other way round."""
    return preserve_strides(*reversed(_converted(operands[:2])))


def of_pooled(operands: Sequence[Operand | None], shape: Ints, **_) -> Ints | None:
    """Of a gradient that goes back to what was pooled, the second operand: its channels last, or not."""
    return channels_last_strides(shape) if suggests_channels_last(*operands[1].layout) else None


def of_volumes(operands: Sequence[Operand], shape: Ints, **_) -> Ints | None:
    """Channels last where the operand is; without a batch only where it also has no gaps."""
    size, stride, _ = operands[0]
    if len(size) == 5:
        return channels_last_strides(shape) if suggests_channels_last(size, stride) else None
    last = is_channels_last((1, *size), (0, *stride)) and not is_contiguous(size, stride)
    return channels_last_strides((1, *shape))[1:] if last else None


def scaled_by_powers(operands: Sequence[Operand], shape: Ints, *, power) -> Ints | None:
    """Of a product with a power of two, mostly contiguous; without a power, as of the first operand."""
    if power is None:
        return of_first(operands, shape)
    x, exponent = operands
    if COMPLEX in (x.dtype.category, exponent.dtype.category):
        strides = _beside_number(*exponent.layout)
    else:
        strides = contiguous_strides(exponent.size)
    x = x.layout if x.dtype.category >= FLOATING else (x.size, empty_like_strides(*x.layout))
    return preserve_strides(x, (exponent.size, strides))


def real_of_complex(operands: Sequence[Operand], shape: Ints, **_) -> Ints | None:
    """Of a function whose result for complex numbers is made like them."""
    x = operands[0]
    return empty_like_strides(*x.layout) if x.dtype.is_complex else preserve_strides(x.layout)


def angles(operands: Sequence[Operand], shape: Ints) -> Ints | None:
    """Contiguous, of complex numbers; of integers, of the copy of them as floating numbers."""
    x = operands[0]
    if x.dtype.is_complex:
        return None
    return preserve_strides(
        x.layout if x.dtype.category >= FLOATING else (x.size, empty_like_strides(*x.layout)))


def finite_compared(operands: Sequence[Operand], shape: Ints) -> Ints | None:
    """Of a comparison of an operand with itself; of integers, of what is made like them."""
    x = operands[0]
    return empty_like_strides(*x.layout) if x.dtype.category < FLOATING else preserve_strides(x.layout)


def _beside_number(size: Ints, stride: Ints) -> Ints:
    return preserve_strides((size, stride), ((), ()))


def imaginary_compared(operands: Sequence[Operand], shape: Ints) -> Ints | None:
    """Of a comparison of imaginary parts with 0; of real numbers, of what is made like them."""
    x = operands[0]
    if not x.dtype.is_complex:
        return empty_like_strides(*x.layout)
    return _beside_number(shape, tuple(2 * s for s in x.stride))


def of_parts(operands: Sequence[Operand], shape: Ints, **_) -> Ints | None:
    """Of an elementwise kernel of slices of the first operand."""
    return preserve_strides((shape, operands[0].stride))


def of_differences(operands: Sequence[Operand], shape: Ints, *, n, axis) -> Ints:
    """Of differences of neighbours: each time of slices of what the time before has left."""
    size, stride = list(operands[0].size), operands[0].stride
    for _ in range(n):
        size[axis] -= 1
        stride = preserve_strides((tuple(size), stride)) or contiguous_strides(size)
    return stride


def of_first(operands: Sequence[Operand | None], shape: Ints, **_) -> Ints | None:
    """Of an elementwise kernel that writes into a tensor made like its first operand."""
    x = operands[0]
    if x.size == shape:
        return empty_like_strides(*x.layout)
    reduced = broadcast_shapes(*(o.size for o in operands if o is not None)) != shape
    return None if reduced else of_tensors(operands, shape)


def magnitudes_compared(operands: Sequence[Operand], shape: Ints) -> Ints | None:
    """Of a comparison of absolute values with a number; of integers, of what is made like the operand."""
    x = operands[0]
    if x.dtype.category < FLOATING:
        return empty_like_strides(*x.layout)
    apart = 2 if x.dtype.is_complex else 1  # both parts of the numbers are compared
    return _beside_number(shape, preserve_strides((shape, tuple(apart * s for s in x.stride))))


def moved_channels(operands: Sequence[Operand], shape: Ints, **_) -> Ints | None:
    """Channels last where the operand is; of what has no elements, of a copy."""
    x = operands[0]
    if 0 in x.size:
        return empty_like_strides(*x.layout)
    return channels_last_strides(shape) if suggests_channels_last(*x.layout) else None


def padded(operands: Sequence[Operand], shape: Ints, *, pad) -> Ints | None:
    """Of what constants are added to; where there are none, of a copy of what is left."""
    x = operands[0]
    if max(pad, default=0) <= 0:
        return empty_like_strides(shape, x.stride)
    return channels_last_strides(shape) if suggests_channels_last(*x.layout) else None


def rotated(operands: Sequence[Operand], shape: Ints, *, k, dims) -> Ints | None:
    """Of a turned plane: mirrored in its own order, and by odd quarters transposed then."""
    x, quarters = operands[0], k % 4
    if quarters == 0:
        return None
    strides = list(empty_like_strides(*x.layout))
    if quarters != 2:
        first, second = dims
        strides[first], strides[second] = strides[second], strides[first]
    return tuple(strides)


def convolved(operands: Sequence[Operand], shape: Ints, *, groups, **_) -> Ints | None:
    """Channels last where the input or the kernel is, if PyTorch's kernel for such an input supports it.

    In three dimensions only its library's does, which it takes in single precision where that is faster.
    (In half precision it takes it where the machine computes in that; here such a result is contiguous.)
    """
    inputs, kernel = operands[0], operands[1]
    if len(shape) == len(inputs.size) == 3:
        return _of_parts_combined(inputs, shape, _rows_convolved(kernel, shape))
    if len(inputs.size) != len(shape) or not (
            suggests_channels_last(*inputs.layout) or suggests_channels_last(*kernel.layout)):
        return None
    if len(shape) == 5:
        much = groups > 1 or inputs.size[0] > 1 or math.prod(inputs.size[:4]) > _MUCH
        if inputs.dtype.name != "float32" or not inputs.size[0] or not (much or min(kernel.size[-2:]) > 3):
            return None
    return _of_parts_combined(inputs, shape, channels_last_strides(shape))


def _of_parts_combined(x: Operand, shape: Ints, strides: Ints | None) -> Ints | None:
    """The strides of what is computed by parts where numbers are complex: the parts are added elementwise."""
    return strides if strides is None or not x.dtype.is_complex else preserve_strides((shape, strides))


def _rows_convolved(kernel: Operand, shape: Ints) -> Ints | None:
    """Of rows that are convolved as images of height one: the input is copied before, the kernel is not."""
    outer, channels, length = kernel.stride
    lying = (*kernel.size[:2], 1, kernel.size[2]), (outer, channels, kernel.size[2] * length, length)
    if not suggests_channels_last(*lying):
        return None
    strides = channels_last_strides((*shape[:2], 1, shape[2]))
    return (*strides[:2], strides[3])


#: Elements of the first four dimensions beyond which PyTorch gives a convolution to its library.
_MUCH = 20480


def rolled(operands: Sequence[Operand], shape: Ints, *, shifts, dims) -> Ints | None:
    """Of a roll along dimensions, which keeps channels last; a flat one is contiguous."""
    x = operands[0]
    flat = dims is None or dims == ()
    if 0 in shape and (not flat or len(shape) == 1):
        return empty_like_strides(*x.layout)
    if flat:
        return None
    return channels_last_strides(shape) if suggests_channels_last(*x.layout) else None


def products_of_pairs(operands: Sequence[Operand], shape: Ints) -> Ints | None:
    """Of a Kronecker product: elementwise of the operands' dimensions in turns, which are joined in pairs."""
    spread = []
    for place, (size, stride, _) in enumerate(operands):
        lead = (1,) * (2 * (len(shape) - len(size)))
        pairs = [n for m in size for n in ((1, m) if place else (m, 1))]
        found = compute_view_strides(size, stride, (*lead, *pairs))
        if found is None:
            return None
        spread.append(((*lead, *pairs), found))
    full = broadcast_shapes(*(size for size, _ in spread))
    return compute_view_strides(full, preserve_strides(*spread), shape)


def products_of_elements(operands: Sequence[Operand], shape: Ints) -> Ints | None:
    """Of an outer product: elementwise of a column and a row, which matters where there are no elements."""
    (size, stride, _), other = operands[0], operands[1]
    column = (*size, 1)
    return preserve_strides((column, compute_view_strides(size, stride, column)), other.layout)


def added_products(operands: Sequence[Operand], shape: Ints, **_) -> Ints | None:
    """Of an outer product that is added to the first operand: elementwise of it, a column and a row."""
    first, (size, stride), row = _converted(operands)
    column = (*size, 1)
    return preserve_strides(first, (column, compute_view_strides(size, stride, column)), row)


def stacked(operands: Sequence[Operand], shape: Ints, *, dim) -> Ints | None:
    """Of tensors joined along a dimension that is then divided, or along a new last one."""
    if not all(suggests_channels_last(*o.layout) for o in operands):
        return None
    size, axis = operands[0].size, dim % len(shape)
    if axis == len(size):
        return None
    joined = (*size[:axis], size[axis] * len(operands), *size[axis + 1:])
    return compute_view_strides(joined, channels_last_strides(joined), shape)


def ranks_in_front(operands: Sequence[Operand], shape: Ints, *, dim, keepdim, **_) -> Ints | None:
    """Of quantiles, which the kernel has in a last dimension that then comes first."""
    x, q = operands[0], operands[1]
    if not q.size:
        return None
    if not keepdim:
        return moved_strides(shape[1:] + shape[:1], -1, 0)
    reduced = range(len(x.size)) if dim is None else (dim % max(len(x.size), 1),)
    kept = [n for d, n in enumerate(shape[1:]) if d not in reduced]
    strides = list(contiguous_strides((*kept, shape[0])))
    last = strides.pop()
    for d in sorted(reduced):  # each is put back with the stride of a dimension of one
        after = strides[d] * kept[d] if d < len(kept) else last * shape[0]
        strides.insert(d, after)
        kept.insert(d, 1)
    return (last, *strides)


def negated_first(operands: Sequence[Operand | None], shape: Ints, **_) -> Ints | None:
    """Of a loss that is made of the product of the negated input with the target."""
    (size, stride), target = (o.layout for o in operands[:2])
    if broadcast_shapes(size, target[0]) != shape:
        return None  # it was reduced
    return preserve_strides((size, preserve_strides((size, stride))), target)


def one_less_target(operands: Sequence[Operand | None], shape: Ints, **_) -> Ints | None:
    """Of a loss whose kernel writes into memory made like the target, which it fills with ones first."""
    target = operands[1]
    return empty_like_strides(*target.layout) if target.size == shape else None


def divergence(operands: Sequence[Operand], shape: Ints, *, log_target, **_) -> Ints | None:
    """Of the elements of a divergence: a function of the target, and its product with the input."""
    target, x = (o.layout for o in operands[:2])
    both = preserve_strides(target, x)
    if len(both) != len(shape):
        return None
    alone = preserve_strides(target)
    return preserve_strides((target[0], alone), (shape, both)) if shape else None

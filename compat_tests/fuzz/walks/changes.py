"""The changes that a walk makes to the samples of an operator, each with what it can be asked for."""

import dataclasses
import math
from collections.abc import Callable

import torch

from compat_tests.ops.arguments import flat, mapped

from ..samples import LAYOUTS

DTYPES = ("bool", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64")


@dataclasses.dataclass(frozen=True)
class Change:
    """``apply(call, *which)`` is the changed call; ``choices(call)`` gives what ``which`` may be."""

    apply: Callable
    choices: Callable


def _operands(call):
    """The tensors of a call, in order."""
    return flat(list(call))


def _kept(t, made):
    """``made`` in the place of ``t``: requires a gradient where ``t`` does and its dtype allows."""
    differentiable = made.is_floating_point() or made.is_complex()
    return made.detach().requires_grad_(t.requires_grad and differentiable)


def _laid(call, layout):
    return mapped(call, lambda t: _kept(t, LAYOUTS[layout](t.detach())) if t.layout is torch.strided else t)


def _layouts(call):
    return [(layout,) for layout in LAYOUTS if layout not in ("lazy", "plain")]


def _at(call, place, change):
    """The call with its tensor at a place changed; a tensor that is met twice is changed at both."""
    chosen = _operands(call)[place]
    return mapped(call, lambda t: change(t) if t is chosen else t)


def _as(t, dtype):
    dtype = getattr(torch, dtype)
    t = t.detach()
    if t.is_complex() and not dtype.is_complex:
        t = t.real
    if dtype is torch.uint8 and t.dtype is not torch.bool:
        t = t.abs()  # what an unsigned number makes of a negative one depends on the machine
    return t.to(dtype)


def _cast(call, place, dtype, others=None):
    """The operand at a place in a dtype, and the floating ones at the other places in ``others``."""
    chosen = _operands(call)[place]

    def change(t):
        if t is chosen:
            return _kept(t, _as(t, dtype))
        if others is not None and (t.is_floating_point() or t.is_complex()):
            return _kept(t, _as(t, others))
        return t

    return mapped(call, change)


def _casts(call):
    count = len({id(t) for t in _operands(call)})
    if count == 1:
        return [(0, dtype) for dtype in DTYPES]
    found = [(place, dtype) for place in range(count) for dtype in DTYPES]
    return found + [(0, dtype, others) for dtype in DTYPES for others in DTYPES if dtype != others]


_INF, _NAN = math.inf, math.nan
#: Numbers that are put in the place of an operand's, over and over.
SPECIAL = {
    "zeros": (0.0,),
    "negative zeros": (-0.0, 0.0, 1.0),
    "ones": (1.0,),
    "infinities": (_INF, 1.0, -_INF, 2.0),
    "nan": (1.0, _NAN, -2.0, 0.5),
    "nans": (_NAN,),
    # Not so huge that a sum of some overflows, or depends on the order in which they are added.
    "huge": (1e37, -1.0, -3e36, 1e30),
    "small": (1e-30, -1e-30, 2.0, 1e-20),
    "equal": (2.0, -1.0, 2.0, 2.0, -1.0),
}


def _filled(call, place, numbers):
    def change(t):
        pattern = torch.tensor(SPECIAL[numbers], dtype=torch.float64)
        made = pattern.repeat(t.numel() // len(pattern) + 1)[: t.numel()].reshape(t.shape)
        return _kept(t, made.to(t.dtype))

    return _at(call, place, change)


def _fillings(call):
    tensors = _operands(call)
    return [(place, numbers) for place, t in enumerate(tensors) if t.is_floating_point() or t.is_complex()
            for numbers in SPECIAL]


def _resized(call, size, new):
    """The call with every dimension of a size cut to ``new``, or with one more element."""
    def change(t):
        made = t.detach()
        for dim in [dim for dim, n in enumerate(t.shape) if n == size]:
            cut = made.narrow(dim, 0, min(new, size))
            made = torch.cat([cut, _another(made.narrow(dim, size - 1, 1))], dim) if new > size else cut
        return _kept(t, made.contiguous())

    return mapped(call, change)


def _another(t):
    """Other numbers, so that a matrix stays regular; of those that may be places the same."""
    return t * -0.37 + 0.21 if t.is_floating_point() or t.is_complex() else t


def _resizings(call):
    sizes = {n for t in _operands(call) for n in t.shape}
    return [(size, new) for size in sorted(sizes) if size for new in (0, 1, size + 1) if new != size]


def _leading(call):
    """Every tensor with one more dimension of one element in front."""
    return mapped(call, lambda t: _kept(t, t.detach()[None]))


#: By the name of the walk.
CHANGES = {
    "layouts": Change(_laid, _layouts),
    "dtypes": Change(_cast, _casts),
    "numbers": Change(_filled, _fillings),
    "sizes": Change(_resized, _resizings),
    "dimensions": Change(_leading, lambda call: [()]),
}

"""What a quantized tensor holds, and how it is made of that.

NOTE [Quantized tensors]
    The storage of a quantized tensor holds an ordinary tensor of integers in place of a Value, with scale and
    zero point beside it (NOTE [Layouts other than strided]): Python numbers of one for all elements, tensors
    of one for each channel. An element stands for ``(integer - zero_point) * scale``. Functions that move
    elements are done with the integers; those that compute with elements are done with the numbers, and the
    result is rounded with the operand's scale and zero point, where PyTorch does so. What a view shows is a
    view of the integers, so writes need nothing of their own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from jax.core import Tracer

from jaxflow._core import dtype as dtypes
from jaxflow._core import layout as layouts
from jaxflow._core.aval import aval_of
from jaxflow._core.layouts import PartsStorage, has_parts
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor, make_view
from jaxflow._core.value import Untracked
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS
from jaxflow._publish.overrides import install_overrides
from jaxflow._views.values import value_of


class Quantized(NamedTuple):
    """The parts.

    Attributes:
        ints: uint8, int8 or int32.
        scale: a float; or ``(channels,)``, float64, or float32 with floating zero points.
        zero_point: an integer; or ``(channels,)``, int64 or float32.
        axis: the dimension of the channels; None where there is one scale.
        dtype: quint8, qint8 or qint32.
    """

    ints: Tensor
    scale: Any
    zero_point: Any
    axis: int | None
    dtype: dtypes.dtype

    @property
    def layout(self) -> layouts.layout:
        """That of the integers."""
        return layouts.strided

    @property
    def qscheme(self) -> layouts.qscheme:
        """How integers stand for numbers."""
        if self.axis is None:
            return layouts.per_tensor_affine
        if self.zero_point.dtype.is_floating_point:
            return layouts.per_channel_affine_float_qparams
        return layouts.per_channel_affine


def is_quantized(x: Any) -> bool:
    """Whether ``x`` is a quantized tensor."""
    return has_parts(x) and x._storage.parts.__class__ is Quantized


def parts_of(t: Tensor) -> Quantized:
    """What a quantized tensor holds."""
    return t._storage.parts


def fresh(ints: Tensor, scale: Any, zero_point: Any, axis: int | None, dtype: dtypes.dtype) -> Tensor:
    """A new quantized tensor of these parts; public functions look for such from now on.

    Raises:
        NotImplementedError: inside ``vmap`` and jax's transformations.
    """
    value = value_of(ints)
    if state.axes or (value.producer is None and isinstance(value.array, Tracer)):
        raise NotImplementedError("there are no quantized tensors inside of vmap, jax.jit, jax.grad and "
                                  "jax.vmap: use fake quantization there")
    install_overrides()
    storage = PartsStorage(Quantized(ints, scale, zero_point, axis, dtype))
    if state.inference:
        storage.version = Untracked((0,))
    return make_view(storage, aval_of(tuple(ints.shape), dtype, ints.device), None, None)


def like(t: Tensor, ints: Tensor) -> Tensor:
    """A quantized tensor of other integers, with scale and zero point of ``t``."""
    return fresh(ints, *parts_of(t)[1:])


def integers(x: Tensor, scale: Any, zero_point: Any, axis: int | None, dtype: dtypes.dtype) -> Tensor:
    """The integers that stand for the numbers ``x``."""
    return apply(OPS["_quantize"], (x.detach(), scale, zero_point), (axis, dtypes.QUANTIZED[dtype]))


def numbers(t: Tensor) -> Tensor:
    """What a quantized tensor stands for, in float32."""
    ints, scale, zero_point, axis, _ = parts_of(t)
    return apply(OPS["_dequantize"], (ints, scale, zero_point), (axis,))


def rounded(t: Tensor, x: Tensor) -> Tensor:
    """The numbers ``x`` as a quantized tensor with scale and zero point of ``t``."""
    return like(t, integers(x, *parts_of(t)[1:]))

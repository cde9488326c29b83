"""Fake quantization as functions: PyTorch's arguments and checks around ``_ops/fake_quantize.py``."""

from __future__ import annotations

from jaxflow._api.forms import invalid_combination
from jaxflow._api.nn.loss import not_differentiable
from jaxflow._core import dtype as dtypes
from jaxflow._core.geometry import wrap_dim
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS
from jaxflow._publish.composite import composite
from jaxflow._publish.value_checks import Watch
from jaxflow._writes.inplace import apply_together


def _check_range(quant_min: int, quant_max: int) -> None:
    if quant_min > quant_max:
        raise RuntimeError("`quant_min` should be less than or equal to `quant_max`.")


_OUTSIDE = "`zero_point` must be between `quant_min` and `quant_max`."


@composite("function", checks=False)
def fake_quantize_per_tensor_affine(input: Tensor, scale: float | Tensor, zero_point: int | Tensor,
                                    quant_min: int, quant_max: int) -> Tensor:
    """The numbers that ``input`` would be held as by integers, one scale for all.

    ``(clamp(round(input / scale) + zero_point, quant_min, quant_max) - zero_point) * scale``, rounded to even
    at ties. The gradient passes where nothing was cut off. Jacob et al., 2018, "Quantization and Training of
    Neural Networks for Efficient Integer-Arithmetic-Only Inference".

    Args:
        input: a floating point tensor.
        scale: the distance of two numbers; or a tensor of one element.
        zero_point: the integer that stands for 0, from ``quant_min`` to ``quant_max``; or a tensor of one.
        quant_min: the lowest integer.
        quant_max: the highest.

    Returns:
        A tensor of the input's shape and dtype.

    Raises:
        RuntimeError: for bounds in the wrong order, or a zero point that is not between them.
        NotImplementedError: for a tensor that is not floating point.

    Example:
        >>> torch.fake_quantize_per_tensor_affine(torch.tensor([-1.0, 0.26, 9.0]), 0.5, 2, 0, 10)
        tensor([-1.0000,  0.5000,  4.0000])
    """
    name = "fake_quantize_per_tensor_affine"
    if not isinstance(input, Tensor) or isinstance(scale, Tensor) != isinstance(zero_point, Tensor):
        raise invalid_combination(name, (input, scale, zero_point, quant_min, quant_max), {})
    _check_range(quant_min, quant_max)
    if isinstance(scale, Tensor):
        not_differentiable("_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", scale=scale,
                           zero_point=zero_point)
        for t in (scale, zero_point):
            if t._aval.numel != 1:
                raise RuntimeError(f"a Tensor with {t._aval.numel} elements cannot be converted to Scalar")
        return apply(OPS["_fake_quantize_by_tensors"], (input, scale, zero_point, None),
                     (quant_min, quant_max))
    if not quant_min <= zero_point <= quant_max:
        raise RuntimeError(_OUTSIDE)
    return apply(OPS["_fake_quantize"], (input, float(scale), int(zero_point)), (quant_min, quant_max))


def _check_channels(input: Tensor, scale: Tensor, zero_point: Tensor, axis: int, kinds: tuple) -> None:
    """Refuse parameters that do not fit the axis."""
    size = input._aval.shape[wrap_dim(axis, input._aval.ndim)]
    for t in (scale, zero_point):
        if t._aval.ndim != 1:
            raise RuntimeError("scale and zero point need to be 1-D tensors")
    if scale._aval.numel != zero_point._aval.numel:
        raise RuntimeError("scale and zero-point need to have the same dimensions")
    if scale._aval.numel != size:
        raise RuntimeError("dimensions of scale and zero-point are not consistent with input tensor")
    if zero_point._aval.dtype not in kinds:
        raise RuntimeError("Zero-point must be Int32, Float or Half, found "
                           f"{zero_point._aval.dtype.scalar_name}")


def _check_axis(axis: int) -> None:
    if axis < 0:
        raise RuntimeError("`axis` must be between 0 and number of dimensions of input")


@composite("function")
def fake_quantize_per_channel_affine(input: Tensor, scale: Tensor, zero_point: Tensor, axis: int,
                                     quant_min: int, quant_max: int) -> Tensor:
    """The numbers that ``input`` would be held as by integers, with a scale for each channel.

    For each index along ``axis`` as in `fake_quantize_per_tensor_affine`, with its own scale and zero point.
    Krishnamoorthi, 2018, "Quantizing deep convolutional networks for efficient inference".

    Args:
        input: a floating point tensor.
        scale: ``(channels,)``, float32 or bfloat16.
        zero_point: ``(channels,)``, int32, float32 or float16; floating ones are added before rounding.
        axis: the dimension of the channels.
        quant_min: the lowest integer.
        quant_max: the highest.

    Returns:
        A tensor of the input's shape and dtype.

    Raises:
        RuntimeError: for bounds in the wrong order, and parameters that do not fit or are of other dtypes.
        NotImplementedError: for a tensor that is not floating point.

    Example:
        >>> x = torch.tensor([[0.26, 1.0], [0.26, 1.0]])
        >>> zeros = torch.zeros(2, dtype=torch.int32)
        >>> torch.fake_quantize_per_channel_affine(x, torch.tensor([0.5, 0.2]), zeros, 0, 0, 4)
        tensor([[0.5000, 1.0000],
                [0.2000, 0.8000]])
    """
    if scale._aval.dtype not in (dtypes.float32, dtypes.bfloat16):
        raise RuntimeError(f"Scale must be Float or BFloat16, found {scale._aval.dtype.scalar_name}")
    _check_channels(input, scale, zero_point, axis, (dtypes.int32, dtypes.float32, dtypes.float16))
    _check_range(quant_min, quant_max)
    _check_axis(axis)
    not_differentiable("fake_quantize_per_channel_affine_cachemask", scale=scale, zero_point=zero_point)
    watch = Watch()
    if not zero_point._aval.dtype.is_floating_point:
        watch.within((zero_point,), ((quant_min, quant_max),), lambda *_: RuntimeError(_OUTSIDE))
    return watch.over(apply(OPS["_fake_quantize_channels"], (input, scale, zero_point),
                            (axis, quant_min, quant_max)))


@composite("function", name="_fake_quantize_learnable_per_tensor_affine")
def _learnable_per_tensor(input: Tensor, scale: Tensor, zero_point: Tensor, quant_min: int, quant_max: int,
                          grad_factor: float = 1.0) -> Tensor:
    """`fake_quantize_per_tensor_affine` whose scale and zero point, tensors of one element, have gradients.

    The zero point is rounded and cut to the bounds. Bhalgat et al., 2020, "LSQ+: Improving low-bit
    quantization through learnable offsets and better initialization".
    """
    _check_range(quant_min, quant_max)
    for t in (scale, zero_point):
        if t._aval.ndim == 0:
            raise IndexError("select() cannot be applied to a 0-dim tensor.")
        if t._aval.numel != 1:
            raise RuntimeError("scale and zero_point need to be tensors of one element")
    return apply(OPS["_fake_quantize_learnable"], (input, scale, zero_point),
                 (quant_min, quant_max, float(grad_factor)))


@composite("function", name="_fake_quantize_learnable_per_channel_affine")
def _learnable_per_channel(input: Tensor, scale: Tensor, zero_point: Tensor, axis: int, quant_min: int,
                           quant_max: int, grad_factor: float = 1.0) -> Tensor:
    """`fake_quantize_per_channel_affine` whose scales and zero points have gradients, as in LSQ+."""
    _check_range(quant_min, quant_max)
    _check_channels(input, scale, zero_point, axis, (zero_point._aval.dtype,))
    _check_axis(axis)
    return apply(OPS["_fake_quantize_learnable_channels"], (input, scale, zero_point),
                 (axis, quant_min, quant_max, float(grad_factor)))


def _sized(t: Tensor, shape: tuple[int, ...], value: float, of_one: bool) -> None:
    """Give a buffer that has no elements, or one for all channels, a shape, filled with ``value``."""
    if t._aval.numel == 0 or (of_one and t._aval.numel == 1 != shape[0]):
        t.resize_(shape).fill_(value)


@composite("function")
def fused_moving_avg_obs_fake_quant(
        input: Tensor, observer_on: Tensor, fake_quant_on: Tensor, running_min: Tensor, running_max: Tensor,
        scale: Tensor, zero_point: Tensor, averaging_const: float, quant_min: int, quant_max: int,
        ch_axis: int, per_row_fake_quant: bool = False, symmetric_quant: bool = False) -> Tensor:
    """Fake quantization by a range that follows the input from call to call.

    The range moves by the part ``averaging_const`` towards the least and greatest number of ``input``; scale
    and zero point are made from it, and ``input`` is rounded with them. Range, scale and zero point are
    written in place, together.

    Args:
        input: a floating point tensor.
        observer_on: 0 or 1, a tensor of one element: whether the range moves.
        fake_quant_on: likewise: whether scale and zero point follow, and ``input`` is rounded.
        running_min: the lower end of the range, of one element or one for each channel; empty or infinite
            before the first call.
        running_max: the upper end, likewise.
        scale: the scale or scales, float32.
        zero_point: the zero point or points, int32.
        averaging_const: how far the range moves, from 0 to 1.
        quant_min: the lowest integer.
        quant_max: the highest.
        ch_axis: the dimension of the channels.
        per_row_fake_quant: whether each channel has its own range.
        symmetric_quant: whether the zero point of a range on both sides of 0 lies in the middle.

    Returns:
        A tensor of the input's shape and dtype.

    Raises:
        RuntimeError: for buffers whose sizes do not fit.

    Example:
        >>> on, low, high = torch.tensor([1]), torch.tensor([-torch.inf]), torch.tensor([torch.inf])
        >>> scale, zero = torch.tensor([1.0]), torch.tensor([0], dtype=torch.int32)
        >>> torch.fused_moving_avg_obs_fake_quant(torch.tensor([0.0, 2.55]), on, on, low, high, scale, zero,
        ...                                       0.01, 0, 255, -1)
        tensor([0.0000, 2.5500])
        >>> scale, zero
        (tensor([0.0100]), tensor([0], dtype=torch.int32))
    """
    axis, shape = None, (1,)
    if per_row_fake_quant:
        axis = wrap_dim(ch_axis, input._aval.ndim)
        shape = (input._aval.shape[axis],)
    if not input._aval.numel:
        raise RuntimeError("fused_moving_avg_obs_fake_quant(): the input has no elements, so no range")
    for t, value, of_one in ((running_min, float("inf"), False), (running_max, float("-inf"), False),
                             (scale, 1, True), (zero_point, 0, True)):
        _sized(t, shape, value, of_one)
        if t._aval.numel != shape[0]:
            raise RuntimeError(f"a range, scale or zero point has {t._aval.numel} elements, where {shape[0]} "
                               "are needed")
    buffers = (running_min, running_max, scale, zero_point)
    out, *new = apply(OPS["_observed_and_faked"], (input, observer_on, fake_quant_on, *buffers,
                                                   float(averaging_const)),
                      (quant_min, quant_max, axis, bool(symmetric_quant)))
    apply_together([(OPS["_copy"], (buffer, value), ()) for buffer, value in zip(buffers, new, strict=True)])
    return out

"""Public functions that make quantized tensors, and those that read their parts.

What they do stands in ``jaxflow._quantized``, which the first call of one that makes such a tensor loads; the
table there also has what the methods do with a quantized tensor. Here stands what they do with any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from jaxflow._api.forms import invalid_combination
from jaxflow._api.shape.copies import convert
from jaxflow._core import dtype as dtypes
from jaxflow._core.layout import preserve_format
from jaxflow._core.layouts import handler
from jaxflow._core.tensor import Tensor
from jaxflow._publish.composite import composite


@composite("function", checks=False)
def quantize_per_tensor(input: Tensor | None = None, scale: float | Tensor | None = None,
                        zero_point: int | Tensor | None = None, dtype: Any = None,
                        tensors: Sequence[Tensor] | None = None, scales: Tensor | None = None,
                        zero_points: Tensor | None = None) -> Any:
    """A quantized tensor of ``input``, with one scale for all elements.

    An element is held as the integer ``clamp(round(input / scale) + zero_point)``, rounded to even at ties,
    and stands for ``(integer - zero_point) * scale``. Jacob et al., 2018, "Quantization and Training of
    Neural Networks for Efficient Integer-Arithmetic-Only Inference".

    Args:
        input: a float32 tensor; or a sequence of them in the place of it.
        scale: the distance of two numbers; or a tensor of one element, of a sequence one for each.
        zero_point: the integer that stands for 0, in the same forms.
        dtype: ``torch.quint8``, ``torch.qint8`` or ``torch.qint32``.
        tensors, scales, zero_points: the names of the three where a sequence is given.

    Returns:
        A quantized tensor of the input's shape; of a sequence a tuple of them.

    Raises:
        RuntimeError: for other dtypes, and for a zero point that the type does not hold.

    Example:
        >>> q = torch.quantize_per_tensor(torch.tensor([-1.0, 0.26]), 0.5, 10, torch.quint8)
        >>> q.int_repr(), q.dequantize()
        (tensor([ 8, 11], dtype=torch.uint8), tensor([-1.0000,  0.5000]))
    """
    if tensors is not None and input is None:
        input, scale, zero_point = tensors, scales, zero_points
    several = isinstance(input, (list, tuple))
    if not (several or isinstance(input, Tensor)) or (several and not (
            isinstance(scale, Tensor) and isinstance(zero_point, Tensor))) or (
            scale is None or zero_point is None or dtype is None):
        raise invalid_combination("quantize_per_tensor", (input, scale, zero_point, dtype), {})
    return handler("quantize_per_tensor")(input, scale, zero_point, dtype)


@composite("function")
def quantize_per_channel(input: Tensor, scales: Tensor, zero_points: Tensor, axis: int, dtype: Any) -> Tensor:
    """A quantized tensor of ``input``, with a scale for each channel.

    As `quantize_per_tensor` for each index along ``axis``. Krishnamoorthi, 2018, "Quantizing deep
    convolutional networks for efficient inference".

    Args:
        input: a float32 tensor.
        scales: ``(channels,)``.
        zero_points: ``(channels,)``, integers; floating ones are added before rounding.
        axis: the dimension of the channels, counted from the first.
        dtype: ``torch.quint8``, ``torch.qint8`` or ``torch.qint32``.

    Returns:
        A quantized tensor of the input's shape.

    Raises:
        RuntimeError: for other dtypes, and for scales or zero points that do not fit.

    Example:
        >>> x = torch.tensor([[0.25, 1.0], [0.25, 1.0]])
        >>> zeros = torch.zeros(2, dtype=torch.int64)
        >>> torch.quantize_per_channel(x, torch.tensor([0.25, 0.5]), zeros, 1, torch.qint8).int_repr()
        tensor([[1, 2],
                [1, 2]], dtype=torch.int8)
    """
    return handler("quantize_per_channel")(input, scales, zero_points, axis, dtype)


@composite("function")
def quantize_per_tensor_dynamic(input: Tensor, dtype: Any, reduce_range: bool) -> Tensor:
    """A quantized tensor of ``input``, whose scale and zero point fit its range.

    Args:
        input: a float32 tensor.
        dtype: ``torch.quint8`` or ``torch.qint8``; ``torch.float16`` converts.
        reduce_range: whether 7 bits are used instead of 8.

    Returns:
        A quantized tensor of the input's shape; with ``torch.float16`` an ordinary one.

    Raises:
        RuntimeError: for other dtypes, and for a tensor without elements.

    Example:
        >>> q = torch.quantize_per_tensor_dynamic(torch.tensor([0.0, 2.55]), torch.quint8, False)
        >>> q.int_repr(), q.q_zero_point()
        (tensor([  0, 255], dtype=torch.uint8), 0)
    """
    return handler("quantize_per_tensor_dynamic")(input, dtype, reduce_range)


@composite("function", name="_make_per_tensor_quantized_tensor")
def _of_integers(input: Tensor, scale: float, zero_point: int) -> Tensor:
    """A quantized tensor of integers (uint8, int8 or int32), which are copied."""
    return handler("of_integers")(input, scale, zero_point)


@composite("function", name="_make_per_channel_quantized_tensor")
def _of_integers_by_channel(input: Tensor, scale: Tensor, zero_point: Tensor, axis: int) -> Tensor:
    """A quantized tensor of integers, with a scale for each index along ``axis``."""
    return handler("of_integers_by_channel")(input, scale, zero_point, axis)


@composite("function", checks=False)
def _empty_affine_quantized(size: Sequence[int], *, dtype: Any = None, layout: Any = None, device: Any = None,
                            pin_memory: bool = False, scale: float = 1.0, zero_point: int = 0,
                            memory_format: Any = None) -> Tensor:
    """A quantized tensor whose integers are 0, with one scale."""
    return handler("empty_quantized")(size, dtype, scale, zero_point, device)


@composite("function", checks=False)
def _empty_per_channel_affine_quantized(
        size: Sequence[int], *, scales: Tensor, zero_points: Tensor, axis: int, dtype: Any = None,
        layout: Any = None, device: Any = None, pin_memory: bool = False,
        memory_format: Any = None) -> Tensor:
    """A quantized tensor whose integers are 0, with a scale for each channel."""
    return handler("empty_quantized_by_channel")(size, dtype, scales, zero_points, axis, device)


@composite(checks=False)
def dequantize(input: Tensor | Sequence[Tensor]) -> Any:
    """The numbers that a quantized tensor stands for, in float32; any other tensor as float32.

    Args:
        input: a tensor, or a sequence of them.

    Returns:
        A float32 tensor; of a sequence a tuple of them.

    Example:
        >>> torch.dequantize(torch.quantize_per_tensor(torch.tensor([0.26]), 0.5, 0, torch.qint8))
        tensor([0.5000])
    """
    if isinstance(input, (list, tuple)):
        return tuple(convert(t, dtypes.float32, None, False, preserve_format) for t in input)
    if not isinstance(input, Tensor):
        raise invalid_combination("dequantize", (input,), {})
    return convert(input, dtypes.float32, None, False, preserve_format)


def _only_quantized(name: str, says: str, variants: str = "function method") -> None:
    def read(input: Tensor) -> NoReturn:
        if not isinstance(input, Tensor):
            raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not "
                            f"{type(input).__name__}")
        backend = input.device.type.upper()
        raise NotImplementedError(
            f"Could not run 'aten::{name}' with arguments from the '{backend}' backend. The tensor is "
            "not quantized: torch.quantize_per_tensor() and torch.quantize_per_channel() make one")

    read.__name__ = read.__qualname__ = name
    read.__doc__ = f"{says} NotImplementedError for a tensor that is not quantized."
    composite(variants, checks=False)(read)


for _name, _says in (
    ("int_repr", "A copy of the integers of a quantized tensor."),
    ("q_scale", "The scale of a quantized tensor, a float."),
    ("q_zero_point", "The integer that stands for 0 in a quantized tensor."),
    ("q_per_channel_scales", "The scales of a quantized tensor with one for each channel."),
    ("q_per_channel_zero_points", "The zero points of a quantized tensor with one for each channel."),
    ("q_per_channel_axis", "The dimension of the channels of a quantized tensor."),
):
    _only_quantized(_name, _says)
_only_quantized("qscheme", "How the integers of a quantized tensor stand for numbers.", "method")

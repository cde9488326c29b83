"""Functions of quantized tensors: those that move elements, and those that compute with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow._core.dtype import quint8
from jaxflow._core.layouts import has_parts
from jaxflow._core.tensor import Tensor
from jaxflow._sparse.tables import tensors_in

from .dispatch import on, refused, with_parts
from .make import quantize_per_tensor
from .parts import fresh, is_quantized, like, numbers, parts_of, rounded

_STRIDES = "Setting strides is possible only on uniformly quantized tensor"


def _ints(t: Tensor) -> Tensor:
    return parts_of(t).ints


def _wrapped(t: Tensor, found: Any) -> Any:
    """Integers, those in a tuple or a list too, as quantized tensors like ``t``."""
    if isinstance(found, (list, tuple)):
        return type(found)(like(t, x) for x in found)
    return like(t, found)


@on("__getitem__", "select")
def chosen(original: Callable, input: Tensor, *args: Any) -> Tensor:
    """Part of the elements; one channel alone has one scale.

    Of a tensor with a scale for each channel numbers and slices are taken, others are refused: RuntimeError.
    """
    if not is_quantized(input):
        raise refused(original.__name__)
    ints, scale, zero_point, axis, dtype = parts_of(input)
    found = original(ints, *(with_parts(lambda x: x, _ints, (x,), {}) for x in args))
    if axis is None:
        return like(input, found)
    if original.__name__ == "select":
        index = (*(slice(None),) * (args[0] % ints.ndim), args[1])
    else:
        index = args[0] if isinstance(args[0], tuple) else args[:1]
    if not all(isinstance(i, (int, slice)) for i in index):
        raise RuntimeError(_STRIDES)
    taken = index[axis] if axis < len(index) else slice(None)
    if isinstance(taken, slice):
        gone = sum(isinstance(i, int) for i in index[:axis])
        return fresh(found, scale[taken].clone(), zero_point[taken].clone(), axis - gone, dtype)
    if zero_point.dtype.is_floating_point:
        raise RuntimeError("one channel of a tensor with floating zero points has no integer one: call "
                           "dequantize() first")
    return fresh(found, float(scale[taken].item()), int(zero_point[taken].item()), None, dtype)


@on("transpose", "swapaxes", "swapdims", "t", "permute", "movedim", "moveaxis", "split", "chunk",
    "split_with_sizes", "expand", "expand_as", "unflatten", "narrow", "tensor_split", "hsplit", "vsplit",
    "unbind", "repeat", "flip", "index_select", "as_strided", "unfold", "adjoint", "gather",
    "tile", "roll", "view_as", "reshape_as", "ravel")
def moved(original: Callable, input: Tensor, *args: Any, **kwargs: Any) -> Any:
    """The same of the integers. RuntimeError where there is a scale for each channel."""
    if not is_quantized(input):
        raise refused(original.__name__)
    if parts_of(input).axis is not None:
        raise RuntimeError(_STRIDES)
    return _wrapped(input, with_parts(original, _ints, (_ints(input), *args), kwargs))


@on("__iter__")
def iterate(original: Callable, self: Tensor) -> Any:
    """The elements of the first dimension."""
    return iter(self.unbind(0))


@on("view", "reshape", "flatten", "unsqueeze", "squeeze")
def reshaped(original: Callable, input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The integers in another shape; of channels only where their dimension stays as it is."""
    ints, scale, zero_point, axis, dtype = parts_of(input)
    found = original(ints, *args, **kwargs)
    if axis is None:
        return like(input, found)
    name = original.__name__
    if name in ("unsqueeze", "squeeze"):
        before = ints.shape[:axis]
        dims = args if args else tuple(kwargs.values())
        if name == "unsqueeze":
            at = dims[0] % (ints.ndim + 1)
            axis += at <= axis
        else:
            gone = range(ints.ndim) if not dims else [d % ints.ndim for d in (
                dims[0] if isinstance(dims[0], (list, tuple)) else dims)]
            axis -= sum(d in gone and n == 1 for d, n in enumerate(before))
    if axis >= found.ndim or found.shape[axis] != scale.numel():
        extent = found.shape[axis] if axis < found.ndim else 1
        raise RuntimeError(f"length of scales must equal to channel, expected {extent} got, {scale.numel()}")
    if name not in ("unsqueeze", "squeeze") and found.shape[:axis] != ints.shape[:axis]:
        raise RuntimeError(f"{name}(): the dimension of the channels would have other elements")
    return fresh(found, scale, zero_point, axis, dtype)


@on("cat", "concat", "concatenate", "stack")
def joined(original: Callable, tensors: Any, *args: Any, **kwargs: Any) -> Tensor:
    """Several tensors as one, with scale and zero point of the first."""
    tensors = list(tensors)
    first = tensors[0]
    if not all(map(is_quantized, tensors)) or any(t.dtype is not first.dtype for t in tensors):
        raise RuntimeError("All dtypes must be the same.")
    if any(parts_of(t).axis is not None for t in tensors):
        raise RuntimeError("Only per-tensor quantization is supported in 'cat'!")
    if all(parts_of(t)[1:] == parts_of(first)[1:] for t in tensors):
        return like(first, original([_ints(t) for t in tensors], *args, **kwargs))
    return rounded(first, original([numbers(t) for t in tensors], *args, **kwargs))


@on("sort", "topk", "max", "min", "amax", "amin", "max_pool1d", "max_pool2d", "aminmax",
    "channel_shuffle", "pixel_shuffle", "pixel_unshuffle")
def ordered(original: Callable, input: Tensor, *args: Any, **kwargs: Any) -> Any:
    """What takes elements by their order, of the integers; indices stay as they are."""
    if not is_quantized(input) or sum(1 for _ in tensors_in(args, kwargs)):
        raise refused(original.__name__)
    if parts_of(input).axis is not None or parts_of(input).scale < 0:
        raise RuntimeError(f"{original.__name__}(): only tensors with one positive scale are ordered")
    pools = original.__name__.endswith(("1d", "2d", "shuffle"))
    found = original(numbers(input) if pools else _ints(input), *args, **kwargs)
    if pools:
        return rounded(input, found)
    if isinstance(found, Tensor):
        return like(input, found)
    ints = _ints(input).dtype
    found, kind = [like(input, x) if x.dtype is ints else x for x in found], type(found)
    return kind(*found) if hasattr(kind, "_fields") else kind(found)


def _one_scale(original: Callable, input: Any) -> None:
    if not is_quantized(input):
        raise refused(original.__name__)
    if parts_of(input).axis is not None:
        raise RuntimeError(f"{original.__name__}(): only quantized tensors with one scale are taken, not "
                           "one for each channel; call dequantize() first")


@on("relu", "relu6", "hardtanh", "leaky_relu", "clamp", "clip", "threshold", "mean",
    "avg_pool1d", "avg_pool2d", "avg_pool3d", "adaptive_avg_pool1d", "adaptive_avg_pool2d",
    "adaptive_avg_pool3d", "interpolate", "upsample", "masked_fill", "pad", "constant_pad_nd")
def computed(original: Callable, input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The function of the numbers, rounded with the operand's scale and zero point."""
    _one_scale(original, input)
    if kwargs.pop("inplace", False):
        return _written(original, input, *args, **kwargs)
    return rounded(input, with_parts(original, numbers, (numbers(input), *args), kwargs))


def _written(original: Callable, input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    _ints(input).copy_(_ints(rounded(input, original(numbers(input), *args, **kwargs))))
    return input


@on("relu_", "relu6_", "hardtanh_", "leaky_relu_", "clamp_", "masked_fill_")
def computed_in_place(original: Callable, input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The same, written into the tensor."""
    _one_scale(original, input)
    return _written(original, input, *args, **kwargs)


#: Functions whose results lie in an interval: their scale is its part for each integer, for unsigned ones
#: with this zero point; signed ones lie 128 lower.
_INTERVALS = {"sigmoid": (1 / 256, 0), "hardsigmoid": (1 / 256, 0), "tanh": (1 / 128, 128)}


@on(*_INTERVALS)
def bounded(original: Callable, input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The function of the numbers, rounded to parts of the interval in which its results lie."""
    _one_scale(original, input)
    name, dtype = original.__name__, input.dtype
    if dtype.itemsize != 1:
        raise refused(name)
    scale, zero = _INTERVALS[name]
    zero = zero if dtype is quint8 else zero - 128
    return quantize_per_tensor(original(numbers(input)), scale, zero, dtype)


@on("eq", "ne", "lt", "le", "gt", "ge", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__",
    "not_equal", "less", "less_equal", "greater", "greater_equal")
def compared(original: Callable, *args: Any, **kwargs: Any) -> Tensor:
    """The comparison of the numbers."""
    return with_parts(original, numbers, args, kwargs)


@on("dropout")
def dropout(original: Callable, input: Tensor, p: float = 0.5, training: bool = True,
            inplace: bool = False) -> Tensor:
    """The tensor itself, out of training. NotImplementedError in training."""
    if training:
        raise refused("dropout")
    return input


@on("quantize_per_tensor", "quantize_per_channel", "quantize_per_tensor_dynamic")
def quantized_again(original: Callable, *args: Any, **kwargs: Any) -> None:
    """Refused: the tensor is quantized. NotImplementedError."""
    assert any(map(has_parts, tensors_in(args, kwargs)))
    raise refused(original.__name__)

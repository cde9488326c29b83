"""What quantized tensors say of themselves; copies, conversions and writes."""

from __future__ import annotations

import copy as _copy
from collections.abc import Callable
from typing import Any

from jaxflow._core.dtype import dtype as DType
from jaxflow._core.dtype import given_dtype
from jaxflow._core.tensor import Tensor, make_view

from . import printing
from .dispatch import PROPERTIES, on
from .make import rebuilt
from .parts import fresh, integers, is_quantized, like, numbers, parts_of, rounded

_NOT_SO = ("Expected quantizer->qscheme() == {} to be true, but got false.  (Could this error message be "
           "improved?  If so, please report an enhancement request to PyTorch.)")
_ONE = _NOT_SO.format("kPerTensorAffine")
_CHANNELS = _NOT_SO.format("kPerChannelAffine || quantizer->qscheme() == kPerChannelAffineFloatQParams")


def _alias(t: Tensor) -> Tensor:
    return make_view(t._storage, t._aval, None, None)


PROPERTIES.update(
    is_quantized=lambda t: True,
    data=_alias,
    T=lambda t: t.permute(*reversed(range(t._aval.ndim))),
    mT=lambda t: t.transpose(-2, -1),
)


def _part(name: str, of_channels: bool) -> None:
    def read(original: Callable, self: Tensor) -> Any:
        parts = parts_of(self)
        if (parts.axis is not None) != of_channels:
            raise RuntimeError(_CHANNELS if of_channels else _ONE)
        found = getattr(parts, name)
        return found.clone() if isinstance(found, Tensor) else found

    on({"scale": "q_per_channel_scales" if of_channels else "q_scale",
        "zero_point": "q_per_channel_zero_points" if of_channels else "q_zero_point",
        "axis": "q_per_channel_axis"}[name])(read)


for _name, _of_channels in (("scale", False), ("zero_point", False), ("scale", True), ("zero_point", True),
                            ("axis", True)):
    _part(_name, _of_channels)


@on("qscheme")
def qscheme(original: Callable, self: Tensor) -> Any:
    """How integers stand for numbers."""
    return parts_of(self).qscheme


@on("int_repr")
def int_repr(original: Callable, input: Tensor) -> Tensor:
    """A copy of the integers."""
    return parts_of(input).ints.clone()


@on("dequantize")
def dequantize(original: Callable, input: Any) -> Any:
    """The numbers, in float32; of each of several tensors."""
    if isinstance(input, (list, tuple)):
        return tuple(t.dequantize() for t in input)
    return numbers(input)


@on("__repr__", "__str__")
def shown(original: Callable, self: Tensor, *, tensor_contents: str | None = None) -> str:
    """The text of the tensor."""
    return printing.text(self)


@on("__format__")
def formatted(original: Callable, self: Tensor, spec: str) -> str:
    """The text of the tensor; of one number by the format."""
    if self._aval.ndim == 0 and spec:
        return format(numbers(self).item(), spec)
    return object.__format__(self, spec) if spec else printing.text(self)


@on("item", "__float__", "__int__", "__bool__", "is_nonzero", "__index__", "__complex__")
def item(original: Callable, self: Tensor) -> Any:
    """The number of the only element."""
    return original(numbers(self))


@on("tolist", "numpy", "__array__")
def to_python(original: Callable, self: Tensor, *args: Any, **kwargs: Any) -> None:
    """Refused, as in PyTorch, with what to call first."""
    if original.__name__ == "tolist":
        raise RuntimeError("load_scalar: invalid type. Call dequantize() or int_repr() before tolist()")
    raise TypeError(f"Got unsupported ScalarType {self._aval.dtype.scalar_name}. Call dequantize() or "
                    "int_repr() before numpy()")


@on("stride", "is_contiguous", "storage_offset", "is_non_overlapping_and_dense")
def laid_out(original: Callable, self: Tensor, *args: Any, **kwargs: Any) -> Any:
    """How the integers lie in memory."""
    return original(parts_of(self).ints, *args, **kwargs)


# -------------------------------------------------------------------------------- copies, conversions


@on("clone")
def clone(original: Callable, input: Tensor, **kwargs: Any) -> Tensor:
    """A copy of the integers, with the same scale and zero point."""
    return like(input, original(parts_of(input).ints, **kwargs))


@on("contiguous")
def contiguous(original: Callable, self: Tensor, **kwargs: Any) -> Tensor:
    """The tensor itself where its integers lie as they should, else a copy."""
    ints = original(parts_of(self).ints, **kwargs)
    return self if ints is parts_of(self).ints else like(self, ints)


@on("detach", "alias", "__copy__")
def detach(original: Callable, input: Tensor) -> Tensor:
    """A tensor that shows the same integers."""
    return _alias(input)


@on("detach_")
def detach_(original: Callable, input: Tensor) -> Tensor:
    """The tensor itself: it has no history."""
    return input


@on("__deepcopy__")
def deepcopy(original: Callable, self: Tensor, memo: dict) -> Tensor:
    """A tensor with its own integers; those of a storage that was copied before are shared."""
    if id(self) in memo:
        return memo[id(self)]
    ints, *rest = parts_of(self)
    made = fresh(_copy.deepcopy(ints, memo), *rest)
    made.__dict__.update(_copy.deepcopy(self.__dict__, memo))
    memo[id(self)] = made
    return made


@on("__reduce_ex__")
def reduced(original: Callable, self: Tensor, protocol: Any) -> tuple:
    """The function and arguments that make the tensor again."""
    ints, scale, zero_point, axis, dtype = parts_of(self)
    params = (parts_of(self).qscheme, scale, zero_point, *(() if axis is None else (axis,)))
    return rebuilt, (ints, dtype, params)


_OTHER_TYPE = ("Creation of quantized tensor requires quantized dtype like torch.quint8, and this one "
               "keeps its own: call dequantize()")


def convert(t: Tensor, dtype: Any, device: Any, copy: bool) -> Tensor:
    """``t`` on another device; itself if nothing changes, unless ``copy``.

    Raises:
        RuntimeError: for another dtype.
    """
    dtype = given_dtype(dtype)
    if dtype is not None and dtype is not t._aval.dtype:
        raise RuntimeError(_OTHER_TYPE)
    ints = parts_of(t).ints
    moved = ints.to(device, copy=copy) if device is not None else ints.clone() if copy else ints
    return t if moved is ints else like(t, moved)


@on("to", "cpu", "cuda", "type_as")
def to(original: Callable, self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The tensor on another device. RuntimeError for another dtype, or where ``self`` is not quantized."""
    if not is_quantized(self):
        raise RuntimeError("a tensor takes no dtype of a quantized one: call torch.quantize_per_tensor()")
    given = [*args, *kwargs.values()]
    others = [x._aval.dtype for x in given if isinstance(x, Tensor)]
    for x in (*given, *others):
        if (isinstance(x, DType) or x in (float, int)) and given_dtype(x) is not self._aval.dtype:
            raise RuntimeError(_OTHER_TYPE)
    args = tuple(parts_of(x).ints if is_quantized(x) else x for x in args if not isinstance(x, DType))
    kwargs = {k: x for k, x in kwargs.items() if k not in ("dtype", "other")}
    ints = parts_of(self).ints
    moved = original(ints, *args, **kwargs) if args or kwargs else ints
    return self if moved is ints else like(self, moved)


@on("float", "double", "half", "bfloat16", "long", "int", "short", "char", "byte", "bool", "cfloat",
    "cdouble")
def other_type(original: Callable, self: Tensor, **kwargs: Any) -> None:
    """Refused: RuntimeError."""
    raise RuntimeError(_OTHER_TYPE)


@on("type")
def type_(original: Callable, self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The type's name. RuntimeError for another type."""
    if dtype is None:
        return f"torch.quantized.{self._aval.dtype.scalar_name}Tensor"
    return convert(self, dtype, None, False)


@on("empty_like")
def empty_like(original: Callable, input: Tensor, **kwargs: Any) -> Tensor:
    """A tensor of the same size, scale and zero point; its integers are 0."""
    kwargs.pop("dtype", None)
    return like(input, original(parts_of(input).ints, **kwargs).zero_())


# ----------------------------------------------------------------------------------------------- writes


@on("copy_")
def copy_(original: Callable, self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Round float32 numbers into the tensor, or take the integers of one that is quantized alike."""
    if not is_quantized(self):
        raise RuntimeError("Copying from quantized Tensor to non-quantized Tensor is not allowed, please use "
                           "dequantize to get a float Tensor from a quantized Tensor")
    own = parts_of(self)
    if not is_quantized(src):
        if src.dtype.name != "float32":
            raise RuntimeError("Quantized copy only works with kFloat as source Tensor")
        if src.shape != self.shape:
            src = src.expand(self.shape)
        own.ints.copy_(integers(src, *own[1:]))
        return self
    if src.dtype is not self.dtype:
        raise RuntimeError(_NOT_SO.format("self.scalar_type() == src.scalar_type()").replace(
            "quantizer->qscheme() == ", ""))
    given = parts_of(src)
    if given.qscheme is not own.qscheme:
        raise RuntimeError("Quantized Copy only works with same qscheme")
    if _same(given.scale, own.scale) and _same(given.zero_point, own.zero_point):
        own.ints.copy_(given.ints)
        return self
    raise NotImplementedError("copy_() takes no quantized tensor with another scale or zero point: "
                              "copy_(src.dequantize()) rounds its numbers")


def _same(a: Any, b: Any) -> bool:
    return a is b or (a.equal(b) if isinstance(a, Tensor) else a == b)


@on("fill_")
def fill_(original: Callable, self: Tensor, value: Any) -> Tensor:
    """Every element replaced by a number, rounded."""
    parts_of(self).ints.copy_(integers(original(numbers(self), value), *parts_of(self)[1:]))
    return self


@on("__setitem__")
def set_item(original: Callable, self: Tensor, index: Any, value: Any) -> None:
    """Part of the elements replaced by numbers, rounded."""
    if not is_quantized(self) or parts_of(self).axis is not None:
        raise RuntimeError("only a quantized tensor with one scale takes numbers at an index")
    changed = numbers(self)
    original(changed, index, numbers(value) if is_quantized(value) else value)
    parts_of(self).ints.copy_(parts_of(rounded(self, changed)).ints)


@on("equal")
def equal(original: Callable, input: Tensor, other: Tensor) -> bool:
    """Whether both are quantized alike and have the same integers."""
    if not (is_quantized(input) and is_quantized(other)):
        raise RuntimeError("Expected all tensors to be quantized, or none")
    (a, *_), (b, *_) = mine, theirs = parts_of(input), parts_of(other)
    return (mine.dtype is theirs.dtype and mine.axis == theirs.axis and _same(mine.scale, theirs.scale)
            and _same(mine.zero_point, theirs.zero_point) and original(a, b))

"""Random tensors of a given size or of the size of another, in PyTorch's argument forms."""

from __future__ import annotations

from typing import Any

from jaxflow._api.creation.creation import (
    RESIZED,
    SIZED,
    check_size,
    dtype_of,
    finish,
    laid_out_like,
    need_tensor,
    size_of,
)
from jaxflow._api.creation.placing import device_of, need_memory
from jaxflow._api.forms import invalid_combination
from jaxflow._core import dtype as dtypes
from jaxflow._core.layout import preserve_format, strided
from jaxflow._core.tensor import Tensor
from jaxflow._publish.composite import composite

from .drawing import check_range, drawn, integer, integers, need_float, upper_end


def _kind(name: str, dtype: Any, out: Tensor | None, default: dtypes.dtype | None = None) -> dtypes.dtype:
    """The dtype to draw: that of ``out`` if there is one, which no other may be asked of. RuntimeError."""
    if out is None:
        return dtype_of(dtype, name, default)
    have = out._aval.dtype
    if dtype is not None and dtype_of(dtype, name) is not have:
        raise RuntimeError(
            f"dtype {dtype_of(dtype, name).scalar_name} does not match dtype of out parameter "
            f"({have.scalar_name})"
        )
    return have


def _sized(name: str, op_name: str, kernel: str, doc: str) -> None:
    """``rand`` and ``randn`` differ in the op they draw with; each has a ``_like`` form."""

    def make(*size: Any, generator: Any = None, out: Tensor | None = None, dtype: Any = None,
             layout: Any = strided, device: Any = None, requires_grad: bool = False,
             pin_memory: bool = False, **kwargs: Any) -> Tensor:
        given = "size" in kwargs
        shape = size_of(name, (kwargs.pop("size"),) if given else size, given=given)
        if kwargs:
            raise TypeError(f"{name}() got an unexpected keyword argument '{next(iter(kwargs))}'")
        need_memory(name, layout, pin_memory, device, out)
        check_size(name, shape)
        kind = _kind(name, dtype, out)
        need_float(kernel, kind)
        t = drawn(op_name, (None, None), (shape, kind, device_of(device)), generator)
        return finish(t, out, requires_grad, name, RESIZED if name == "randn" else SIZED)

    def like(input: Tensor, *, generator: Any = None, dtype: Any = None, layout: Any = None,
             device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
             memory_format: Any = preserve_format) -> Tensor:
        need_tensor(name + "_like", input)
        where = input._aval.device if device is None else device_of(device)
        need_memory(name + "_like", layout, pin_memory, where)
        kind = dtype_of(dtype, name + "_like", input._aval.dtype)
        need_float(kernel, kind)
        t = drawn(op_name, (None, None), (input._aval.shape, kind, where), generator)
        return laid_out_like(input, t, name, memory_format, requires_grad)

    for fn, fn_name in ((make, name), (like, name + "_like")):
        fn.__name__ = fn.__qualname__ = fn_name
        fn.__doc__ = doc
        composite("function")(fn)


_sized("rand", "_uniform", "check_uniform_bounds", "Numbers from [0, 1), evenly spread.")
_sized("randn", "_normal", "normal_kernel_cpu", "Normal numbers of mean 0 and variance 1.")


def _bounds(name: str, first: tuple, args: tuple, kwargs: dict) -> tuple[int, int, tuple]:
    """``(low, high, rest)`` of ``name(high, ...)`` and ``name(low, high, ...)`` alike.

    A second positional argument is ``high``, unless it is a tuple. Takes ``low`` and ``high`` out of
    ``kwargs``.
    """
    named = dict(kwargs)
    two = "low" in named or (len(args) > 1 and not isinstance(args[1], (tuple, list)))
    if not two:
        if "high" not in named and not args:
            raise invalid_combination(name, (*first, *args), kwargs)
        high, rest = (named["high"], args) if "high" in named else (args[0], args[1:])
        kwargs.pop("high", None)
        return 0, integer(name, "high", 1 + len(first), high), rest
    names = [n for n in ("low", "high") if n not in named]
    if len(args) < len(names):
        raise invalid_combination(name, (*first, *args), kwargs)
    named.update(zip(names, args))
    kwargs.pop("low", None)
    kwargs.pop("high", None)
    if any(isinstance(named[n], (bool, float, complex, str)) for n in ("low", "high")):
        raise invalid_combination(name, (*first, *args), kwargs)
    low, high = (integer(name, n, 1, named[n]) for n in ("low", "high"))
    return low, high, args[len(names):]


@composite("function")
def randint(*args: Any, generator: Any = None, out: Tensor | None = None, dtype: Any = None,
            layout: Any = strided, device: Any = None, requires_grad: bool = False,
            pin_memory: bool = False, **kwargs: Any) -> Tensor:
    """Integers from ``low`` (0) to ``high`` - 1: ``randint(high, size)``, ``randint(low, high, size)``.

    Raises:
        RuntimeError: when the range is empty, or reaches beyond what the dtype holds.
    """
    given = (args, dict(kwargs))
    if len(args) == 2 and not kwargs and isinstance(args[1], int):
        raise TypeError(
            f"randint(): argument 'size' (position 2) must be tuple of ints, not {type(args[1]).__name__}"
        )
    low, high, rest = _bounds("randint", (), args, kwargs)
    rest = (kwargs.pop("size"),) if "size" in kwargs else rest
    if kwargs or len(rest) != 1:
        raise invalid_combination("randint", *given)
    need_memory("randint", layout, pin_memory, device, out)
    shape = size_of("randint", rest)
    check_size("randint", shape)
    kind = _kind("randint", dtype, out, dtypes.int64)
    check_range(kind, low, high)
    t = integers(shape, kind, device_of(device), low, high, generator)
    return finish(t, out, requires_grad, "randint")


@composite("function")
def randint_like(input: Tensor, *args: Any, generator: Any = None, dtype: Any = None, layout: Any = None,
                 device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
                 memory_format: Any = preserve_format, **kwargs: Any) -> Tensor:
    """``randint`` of the shape and dtype of ``input``."""
    given = ((input, *args), dict(kwargs))
    need_tensor("randint_like", input)
    where = input._aval.device if device is None else device_of(device)
    need_memory("randint_like", layout, pin_memory, where)
    low, high, rest = _bounds("randint_like", (input,), args, kwargs)
    if kwargs or rest:
        raise invalid_combination("randint_like", *given)
    kind = dtype_of(dtype, "randint_like", input._aval.dtype)
    check_range(kind, low, high)
    t = integers(input._aval.shape, kind, where, low, high, generator)
    return laid_out_like(input, t, "randint_like", memory_format, requires_grad)


#: Up to how many numbers a floating dtype permutes.
_PERMUTED = {"float16": (1 << 11) + 1, "bfloat16": (1 << 8) + 1, "float32": (1 << 24) + 1}


def _check_permuted(n: int, kind: dtypes.dtype) -> None:
    if kind is dtypes.bool or kind.is_complex:
        raise NotImplementedError(f"\"randperm\" not implemented for '{kind.scalar_name}'")
    most = _PERMUTED.get(kind.name)
    if most is not None and n > most:
        raise RuntimeError(f"n cannot be greater than {most} for {kind.scalar_name} type.")
    if kind.category == dtypes.INTEGER and n > upper_end(kind):
        name = kind.c_name if kind.itemsize > 1 else f"{kind.name}_t"
        raise RuntimeError(f"value cannot be converted to type {name} without overflow")


@composite("function")
def randperm(n: int, *, generator: Any = None, out: Tensor | None = None, dtype: Any = None,
             layout: Any = strided, device: Any = None, requires_grad: bool = False,
             pin_memory: bool = False) -> Tensor:
    """The numbers 0 to ``n - 1`` in random order. RuntimeError for more than the dtype holds."""
    need_memory("randperm", layout, pin_memory, device, out)
    n = integer("randperm", "n", 1, n)
    check_size("randperm", (n,))
    kind = _kind("randperm", dtype, out, dtypes.int64)
    _check_permuted(n, kind)
    t = drawn("_randperm", (), (n, kind, device_of(device)), generator)
    return finish(t, out, requires_grad, "randperm")

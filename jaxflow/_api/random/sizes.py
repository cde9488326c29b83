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
    size_of,
    strides_like,
)
from jaxflow._api.creation.placing import device_of, need_memory
from jaxflow._api.forms import invalid_combination
from jaxflow._core import dtype as dtypes
from jaxflow._core.layout import preserve_format, strided
from jaxflow._core.tensor import Tensor
from jaxflow._publish.composite import composite

from .drawing import check_range, drawn, integer, integers, need_float, upper_end


def _kind(name: str, dtype: Any, out: Tensor | None, default: dtypes.dtype | None = None) -> dtypes.dtype:
    """The dtype to draw: that of ``out`` if there is one. RuntimeError if ``dtype`` is another one then."""
    if out is None:
        return dtype_of(dtype, name, default)
    have = out._aval.dtype
    if dtype is not None and dtype_of(dtype, name) is not have:
        raise RuntimeError(
            f"dtype {dtype_of(dtype, name).scalar_name} does not match dtype of out parameter "
            f"({have.scalar_name})"
        )
    return have


def _kept(out: Tensor | None, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """The strides that ``out`` keeps, as it has that shape already; None where it is to be laid out anew."""
    return out.stride() if out is not None and out._aval.shape == shape else None


_SIZED = """{summary}.

    Args:
        *size: ints, or one tuple or list of them; ``size=`` is accepted too.
        generator: a ``torch.Generator`` (default: the default generator).
        out: a tensor to write the result to.
        dtype: of the result, floating point or complex (default: that of ``get_default_dtype()``).
        layout: only ``torch.strided``.
        device: where the tensor is put (default: the default device).
        requires_grad: whether operations on the result are recorded.
        pin_memory: without effect beside an accelerator; refused without one.
        **kwargs: only ``size``.

    Returns:
        A new tensor of that size and dtype, or ``out``.

    Raises:
        NotImplementedError: for a dtype of integers or bools.
        RuntimeError: for a negative size, and for a ``dtype`` other than that of ``out``.

    Example:
        >>> torch.{name}(2, 3).shape
        torch.Size([2, 3])
        >>> x = torch.{name}(4, generator=torch.Generator().manual_seed(7))
        >>> torch.equal(x, torch.{name}(4, generator=torch.Generator().manual_seed(7)))
        True
    """

_SIZED_LIKE = """{summary}, of the shape of ``input``.

    Args:
        input: any tensor; its elements are not read.
        generator: a ``torch.Generator`` (default: the default generator).
        dtype: of the result, floating point or complex (default: that of ``input``).
        layout: only ``torch.strided``.
        device: where the tensor is put (default: the device of ``input``).
        pin_memory: without effect beside an accelerator; refused without one.
        requires_grad: whether operations on the result are recorded.
        memory_format: in which order the elements are laid out (default: as those of ``input``).

    Returns:
        A new tensor.

    Raises:
        NotImplementedError: for a dtype of integers or bools.

    Example:
        >>> x = torch.{name}_like(torch.ones(2, 3, dtype=torch.float64))
        >>> x.shape, x.dtype
        (torch.Size([2, 3]), torch.float64)
    """


def _sized(name: str, op_name: str, kernel: str, summary: str) -> None:
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
        where = device_of(device)
        t = drawn(op_name, (None, None), (shape, kind, where), generator, where, _kept(out, shape))
        return finish(t, out, requires_grad, name, RESIZED if name == "randn" else SIZED)

    def like(input: Tensor, *, generator: Any = None, dtype: Any = None, layout: Any = None,
             device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
             memory_format: Any = preserve_format) -> Tensor:
        where = input._aval.device if device is None else device_of(device)
        need_memory(name + "_like", layout, pin_memory, where)
        kind = dtype_of(dtype, name + "_like", input._aval.dtype)
        need_float(kernel, kind)
        strides = strides_like(input, memory_format)
        t = drawn(op_name, (None, None), (input._aval.shape, kind, where), generator, where, strides)
        return laid_out_like(input, t, name, memory_format, requires_grad)

    for fn, fn_name, doc in ((make, name, _SIZED), (like, name + "_like", _SIZED_LIKE)):
        fn.__name__ = fn.__qualname__ = fn_name
        fn.__doc__ = doc.format(name=name, summary=summary)
        composite("function")(fn)


_sized("rand", "_uniform", "check_uniform_bounds", "Numbers from [0, 1), evenly spread")
_sized("randn", "_normal", "normal_kernel_cpu", "Normal numbers of mean 0 and variance 1")


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

    Each of the integers is as likely as the others.

    Args:
        *args: ``high`` and the size, or ``low``, ``high`` and the size. The size is a tuple or list of
            ints.
        generator: a ``torch.Generator`` (default: the default generator).
        out: a tensor to write the result to.
        dtype: of the result, any but complex (default: int64).
        layout: only ``torch.strided``.
        device: where the tensor is put (default: the default device).
        requires_grad: whether operations on the result are recorded.
        pin_memory: without effect beside an accelerator; refused without one.
        **kwargs: ``low``, ``high`` and ``size``, where they are given by name.

    Returns:
        A new tensor of that size and dtype, or ``out``.

    Raises:
        RuntimeError: when the range is empty, or reaches beyond what the dtype holds.
        TypeError: when the arguments fit neither form.

    Example:
        >>> torch.randint(10, (2, 3)).shape
        torch.Size([2, 3])
        >>> x = torch.randint(-1, 2, (1000,))
        >>> x.dtype, bool((x >= -1).all() and (x <= 1).all())
        (torch.int64, True)
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
    t = integers(shape, kind, device_of(device), low, high, generator, _kept(out, shape))
    return finish(t, out, requires_grad, "randint")


@composite("function")
def randint_like(input: Tensor, *args: Any, generator: Any = None, dtype: Any = None, layout: Any = None,
                 device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
                 memory_format: Any = preserve_format, **kwargs: Any) -> Tensor:
    """``randint`` of the shape and dtype of ``input``.

    Each integer from ``low`` to ``high - 1`` is drawn with the same probability. The bounds are given as
    ``randint_like(input, high)`` or ``randint_like(input, low, high)``.

    Args:
        input: the tensor whose shape, dtype and device the result has.
        args: ``high``, or ``low`` (otherwise 0) and ``high``, integers; also by name.
        generator: source of randomness; default the default generator.
        dtype: another dtype than that of ``input``; floating point ones hold whole numbers then.
        layout: ``torch.strided``; there is no other one.
        device: another device than that of ``input``.
        pin_memory: refused where there is no accelerator, else of no effect.
        requires_grad: whether the result collects gradients.
        memory_format: how the result lies in memory; default as ``input`` does.
        kwargs: ``low`` and ``high`` by name.

    Returns:
        A tensor of integers in ``[low, high)``, of the shape of ``input``.

    Raises:
        RuntimeError: when the range is empty, or reaches beyond what the dtype holds.
        TypeError: without ``high``, and for bounds that are no integers.

    Example:
        >>> torch.randint_like(torch.zeros(2, 2), 7, 8)
        tensor([[7., 7.],
                [7., 7.]])
        >>> x = torch.randint_like(torch.zeros(100), 10, dtype=torch.uint8)
        >>> x.dtype, bool((x < 10).all())
        (torch.uint8, True)
    """
    given = ((input, *args), dict(kwargs))
    where = input._aval.device if device is None else device_of(device)
    need_memory("randint_like", layout, pin_memory, where)
    low, high, rest = _bounds("randint_like", (input,), args, kwargs)
    if kwargs or rest:
        raise invalid_combination("randint_like", *given)
    kind = dtype_of(dtype, "randint_like", input._aval.dtype)
    check_range(kind, low, high)
    strides = strides_like(input, memory_format)
    t = integers(input._aval.shape, kind, where, low, high, generator, strides)
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
    """The numbers 0 to ``n - 1`` in random order.

    Args:
        n: how many numbers, at least 0.
        generator: a ``torch.Generator`` (default: the default generator).
        out: a tensor to write the result to.
        dtype: of the result, integer or floating point (default: int64).
        layout: only ``torch.strided``.
        device: where the tensor is put (default: the default device).
        requires_grad: whether operations on the result are recorded.
        pin_memory: without effect beside an accelerator; refused without one.

    Returns:
        A new tensor of shape ``(n,)``, or ``out``.

    Raises:
        RuntimeError: for a negative ``n``, and for more numbers than the dtype holds exactly.
        NotImplementedError: for bool and complex dtypes.

    Example:
        >>> order = torch.randperm(5)
        >>> order.sort().values
        tensor([0, 1, 2, 3, 4])
        >>> torch.arange(50, 55)[order].sum()  # each element once
        tensor(260)
    """
    need_memory("randperm", layout, pin_memory, device, out)
    n = integer("randperm", "n", 1, n)
    check_size("randperm", (n,))
    kind = _kind("randperm", dtype, out, dtypes.int64)
    _check_permuted(n, kind)
    where = device_of(device)
    t = drawn("_randperm", (), (n, kind, where), generator, where)
    return finish(t, out, requires_grad, "randperm")

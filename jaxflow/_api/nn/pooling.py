"""Pooling in its public form: numbers for each dimension, signals of one dimension, indices."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from jaxflow._api.forms import given_out, tuple_of_ints
from jaxflow._core import dtype as dtypes
from jaxflow._core.aval import aval_of
from jaxflow._core.geometry import suggests_channels_last
from jaxflow._core.memory_errors import check_sizes
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.autocasting import cast_call
from jaxflow._dispatch.dispatch import apply
from jaxflow._ops.pool import check_not_empty
from jaxflow._plans.op import EXACT, OPS
from jaxflow._publish.composite import composite
from jaxflow._publish.value_checks import guarded, not_deterministic

_WORDS = {2: "two", 3: "three"}


def _functional(fn: Callable) -> Callable:
    return composite("function", namespace="nn.functional")(fn)


def _tuple(name: str, what: str, value: Any, n: int) -> tuple[int, ...]:
    values = (value,) if isinstance(value, int) else tuple(value)
    if len(values) == 1:
        return values * n
    if len(values) != n:
        omitted = "omitted, " if what == "stride" else ""
        raise RuntimeError(
            f"{name}: {what} must either be {omitted}a single int, or a tuple of {_WORDS[n]} ints"
        )
    return values


def _one(name: str, what: str, value: Any) -> int:
    if isinstance(value, int):
        return value
    values = tuple(value)
    if len(values) != 1:
        raise RuntimeError(
            f"{name}() {what} must be an int, list of ints or tuple of ints of size 1 but got size "
            f"{len(values)}"
        )
    return values[0]


# ---------------------------------------------------------------------------------------- maximum


def _max_pool(
    n: int, input: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
    ceil_mode: bool, indices: bool = False,
) -> tuple[Tensor, Tensor]:
    name = f"max_pool{n}d"
    kernel = _tuple(name, "kernel_size", kernel_size, n)
    stride = kernel if stride in (None, ()) else _tuple(name, "stride", stride, n)
    static = (kernel, stride, _tuple(name, "padding", padding, n),
              _tuple(name, "dilation", dilation, n), bool(ceil_mode))
    if input._stride is not None and input.dim() == 7 - n and suggests_channels_last(
            input._aval.shape, input._stride):  # the format of the other number of dimensions
        raise RuntimeError(
            f"Unsupported memory format. Supports only ChannelsLast{'3d' * (n == 3)}, Contiguous")
    return apply(OPS[f"_max_pool{n}d"], (input,), static)


def _check_row_window(n: int, kernel: int, stride: int, padding: int, dilation: int,
                      ceil_mode: bool) -> None:
    name = "max_pool1d"
    for what, value in (("kernel_size", kernel), ("stride", stride)):
        if value <= 0:
            raise RuntimeError(f"{name}() {what} must be greater than zero, but got {value}")
    if padding < 0:
        raise RuntimeError(f"{name}() padding must be non-negative, but got {padding}")
    if padding > kernel // 2:
        raise RuntimeError(
            f"{name}() padding should be at most half of kernel size, but got padding={padding} "
            "and "
            f"kernel_size={kernel}"
        )
    if dilation <= 0:
        raise RuntimeError(f"{name}() dilation must be greater than zero, but got {dilation}")
    span = n + 2 * padding - dilation * (kernel - 1) - 1
    size = (span + (stride - 1 if ceil_mode else 0)) // stride + 1
    if size <= 0:
        raise RuntimeError(f"{name}() Invalid computed output size: {size}")


def _max_pool_row(
    input: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool,
    indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """One dimension, as rows of images. Without indices PyTorch has words of its own."""
    name = "max_pool1d"
    if input.dim() not in (2, 3) or 0 in input.shape[input.dim() - 2 :]:
        raise RuntimeError(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for "
            f"input, but got:{list(input.shape)}"
        )
    kernel = _one(name, "kernel_size", kernel_size)
    stride = kernel if stride in (None, ()) else _one(name, "stride", stride)
    padding, dilation = _one(name, "padding", padding), _one(name, "dilation", dilation)
    if not indices:
        _check_row_window(input.shape[-1], kernel, stride, padding, dilation, ceil_mode)
    static = ((1, kernel), (1, stride), (0, padding), (1, dilation), bool(ceil_mode))
    values, indices = apply(OPS["_max_pool2d"], (input.unsqueeze(-2),), static)
    return values.squeeze(-2), indices.squeeze(-2)


def _publish_max_pool(n: int) -> None:
    name = f"max_pool{n}d"
    run = _max_pool_row if n == 1 else (lambda *args: _max_pool(n, *args))
    shape = {1: "(N, C, L)", 2: "(N, C, H, W)", 3: "(N, C, D, H, W)"}[n]
    sizes, pooled = {1: ("1, 8", "[[1., 3., 5., 7.]]"), 2: ("1, 2, 4", "[[[5., 7.]]]"),
                     3: ("1, 2, 2, 2", "[[[[7.]]]]")}[n]

    def max_pool(
        input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
        ceil_mode: bool = False, return_indices: bool = False,
    ):
        how = (kernel_size, stride, padding, dilation, ceil_mode)
        if return_indices:
            return run(input, *how, True)
        return cast_call(name, apply, lambda input: run(input, *how)[0], (input,), {})

    def with_indices(
        input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
        ceil_mode: bool = False, return_indices: bool = False,
    ):
        return run(input, kernel_size, stride, padding, dilation, ceil_mode, True)

    def plain(
        input: Tensor, kernel_size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> Tensor:
        return run(input, kernel_size, stride, padding, dilation, ceil_mode)[0]

    max_pool.__doc__ = f"""Largest element of each window of ``{shape}`` or without ``N``.

    A size ``n`` becomes ``floor((n + 2 * padding - dilation * (kernel_size - 1) - 1) / stride) + 1``,
    rounded up with ``ceil_mode``.

    Args:
        input: a real tensor.
        kernel_size: size of a window, one number or one for each dimension.
        stride: distance between windows (default: their size).
        padding: elements on both sides that lose to every other; at most half a window.
        dilation: distance between elements of a window.
        ceil_mode: also take windows that stick out at the end.
        return_indices: also return the flat positions of the maxima within each channel.

    Returns:
        A new tensor of the dtype of ``input`` with the new sizes; with ``return_indices`` a tuple of it and
        the positions, int64, of the same shape.

    Raises:
        RuntimeError: when no window fits or an argument is out of range.
        NotImplementedError: for bools.

    Example:
        >>> values, indices = F.max_pool{n}d(torch.arange(8.0).reshape({sizes}), 2, return_indices=True)
        >>> values
        tensor({pooled})
        >>> torch.equal(values, indices.float())  # each element was its own position
        True
        >>> F.max_pool{n}d(torch.ones(2, 3{", 7" * n}), 3, stride=2, padding=1).shape
        torch.Size([2, 3{", 4" * n}])
    """
    with_indices.__doc__ = f"`max_pool{n}d` with ``return_indices``."
    plain.__doc__ = f"`max_pool{n}d` of ``nn.functional``."
    functional = "nn.functional"
    composite("function", namespace=functional, name=name)(max_pool)
    composite("function", namespace=functional, name=name + "_with_indices")(with_indices)
    if n == 1:
        composite("function", name=name + "_with_indices")(with_indices)
    composite("function", name=name)(plain)


for _n in (1, 2, 3):
    _publish_max_pool(_n)


# ---------------------------------------------------------------------------- the way back


def _unpool_size(input: Tensor, kernel, stride, padding, output_size: Any) -> tuple[int, ...]:
    n = len(kernel)
    default = [
        (size - 1) * s + k - 2 * p
        for size, k, s, p in zip(input.shape[-n:], kernel, _first(stride, n), _first(padding, n))
    ]
    if output_size is None:
        for d, size in enumerate(default):
            if size < 0:
                raise ValueError(
                    "max_unpooling: output_size must contain non-negative spatial dimensions, but got "
                    f"output_size[{d}]={size}"
                )
        return tuple(default)
    wanted = tuple(output_size)
    if len(wanted) == n + 2:
        wanted = wanted[2:]
    if len(wanted) != n:
        raise ValueError(
            f"output_size should be a sequence containing {n} or {n + 2} elements, but it has a "
            f"length of '{len(wanted)}'"
        )
    for d in range(n):
        low, high = default[d] - stride[d], default[d] + stride[d]
        if not low < wanted[d] < high:
            raise ValueError(
                f'invalid output_size "{wanted}" (dim {d} must be between {low} and {high})'
            )
    return wanted


def _numbers(value: Any, n: int) -> tuple[int, ...]:
    return (value,) * n if isinstance(value, int) else tuple(value)


def _first(values: tuple, n: int) -> tuple:
    if len(values) < n:
        raise IndexError("tuple index out of range")
    return values[:n]


def _unpool(
    n: int, input: Tensor, indices: Tensor, kernel_size: Any, stride: Any, padding: Any,
    output_size: Any,
) -> Tensor:
    kernel = _numbers(kernel_size, n)
    stride = kernel if stride is None else _numbers(stride, n)
    size = _unpool_size(input, kernel, stride, _numbers(padding, n), output_size)
    not_deterministic(f"max_unpooling{max(n, 2)}d_forward_out")
    if n > 1:
        if len(size) != n:
            words = {2: "two elements (height, width)", 3: "three elements (depth, height, width)"}[n]
            raise RuntimeError(
                f"There should be exactly {words} in output_size, but got {len(size)} elements.")
        return guarded(apply, OPS[f"_max_unpool{n}d"], (input, indices), (size,))
    columns = input.unsqueeze(-1), indices.unsqueeze(-1)
    return guarded(apply, OPS["_max_unpool2d"], columns, ((*size, 1),)).squeeze(-1)


def _publish_unpool(n: int) -> None:
    def max_unpool(
        input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0,
        output_size: Any = None,
    ) -> Tensor:
        return _unpool(n, input, indices, kernel_size, stride, padding, output_size)

    max_unpool.__doc__ = f"""Maxima put back where `max_pool{n}d` found them, zeros elsewhere.

    Args:
        input: the maxima.
        indices: their positions, as ``return_indices`` gives them.
        kernel_size: of the pooling; ``stride`` and ``padding`` likewise.
        output_size: the size to restore where it is not the smallest possible.

    Raises:
        ValueError: when ``output_size`` cannot have been pooled to this.
        RuntimeError: when the shapes of ``input`` and ``indices`` differ.
    """
    composite("function", namespace="nn.functional", name=f"max_unpool{n}d")(max_unpool)


for _n in (1, 2, 3):
    _publish_unpool(_n)


# --------------------------------------------------------------------------------------- averages


def _avg_pool(
    n: int, input: Tensor, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool,
    count_include_pad: bool, divisor_override: int | None,
) -> Tensor:
    name = f"avg_pool{n}d"
    if isinstance(divisor_override, (bool, float)):
        raise TypeError(
            f"{name}(): argument 'divisor_override' must be int, not {type(divisor_override).__name__}")
    kernel = _tuple(name, "kernel_size", kernel_size, n)
    stride = kernel if stride in (None, ()) else _tuple(name, "stride", stride, n)
    static = (kernel, stride, _tuple(name, "padding", padding, n), bool(ceil_mode),
              bool(count_include_pad), divisor_override)
    return apply(OPS[f"_avg_pool{n}d"], (input,), static)


def _single(name: str, what: str, value: Any) -> int:
    values = (value,) if isinstance(value, int) else tuple(value)
    if len(values) != 1:
        raise RuntimeError(f"{name}() argument '{what}' should contain one int (got {len(values)})")
    return values[0]


def _check_row(name: str, input: Tensor) -> None:
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {input.dim()}-dimensional tensor for argument #1 "
            f"'self' (while checking arguments for {name})"
        )


@composite("function", aliases=("nn.functional.avg_pool1d",))
def avg_pool1d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Mean of each window of ``(N, C, L)`` or ``(C, L)``; arguments as in `avg_pool2d`."""
    _check_row("avg_pool1d", input)
    kernel = _single("avg_pool1d", "kernel_size", kernel_size)
    stride = kernel if stride in (None, ()) else _single("avg_pool1d", "stride", stride)
    padding = _single("avg_pool1d", "padding", padding)
    pooled = _avg_pool(2, input.unsqueeze(-2), (1, kernel), (1, stride), (0, padding), ceil_mode,
                       count_include_pad, None)
    return pooled.squeeze(-2)


@_functional
def avg_pool2d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None, *,
    out: Tensor | None = None,
) -> Tensor:
    """Mean of each window of ``(N, C, H, W)`` or ``(C, H, W)``.

    A size ``n`` becomes ``floor((n + 2 * padding - kernel_size) / stride) + 1``, rounded up with
    ``ceil_mode``.

    Args:
        input: a real tensor, floating point or int64.
        kernel_size: size of a window, one number or one for each dimension.
        stride: distance between windows (default: their size).
        padding: zeros on both sides; at most half a window.
        ceil_mode: also take windows that stick out at the end.
        count_include_pad: divide by the window's size rather than by its elements in the input.
        divisor_override: divide by this number.
        out: where to write the result.

    Returns:
        A new tensor of the dtype of ``input``, ``(N, C, H_new, W_new)``, or without ``N``.

    Raises:
        RuntimeError: when no window fits or an argument is out of range.
        NotImplementedError: for another dtype.

    Example:
        >>> x = torch.tensor([[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]])
        >>> F.avg_pool2d(x, 2)
        tensor([[[3.5000, 5.5000]]])
        >>> F.avg_pool2d(torch.ones(1, 2, 2), 2, padding=1)  # three of four elements are padding
        tensor([[[0.2500, 0.2500],
                 [0.2500, 0.2500]]])
        >>> F.avg_pool2d(torch.ones(1, 2, 2), 2, padding=1, count_include_pad=False).unique()
        tensor([1.])
    """
    pooled = _avg_pool(
        2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )
    return given_out("avg_pool2d", out, pooled, (input,), rule=EXACT)


@_functional
def avg_pool3d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None, *,
    out: Tensor | None = None,
) -> Tensor:
    """Mean of each window of ``(N, C, D, H, W)``; arguments as in `avg_pool2d`."""
    pooled = _avg_pool(
        3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )
    return given_out("avg_pool3d", out, pooled, (input,), rule=EXACT)


def _lp_pool(
    input: Tensor, norm_type: float, kernel: tuple, stride: Any, ceil_mode: bool, average: Callable
) -> Tensor:
    mean = average(input.pow(norm_type), kernel, stride, 0, ceil_mode)
    return (mean.sign() * mean.abs().relu()).mul(math.prod(kernel)).pow(1.0 / norm_type)


def _publish_lp_pool(n: int) -> None:
    average = {1: avg_pool1d, 2: avg_pool2d, 3: avg_pool3d}[n]

    def lp_pool(
        input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None,
        ceil_mode: bool = False,
    ) -> Tensor:
        kernel = (kernel_size,) * n if isinstance(kernel_size, int) else tuple(kernel_size)
        if n > 1 and len(kernel) != n:
            short = len(kernel) < n
            raise ValueError(
                f"not enough values to unpack (expected {n}, got {len(kernel)})" if short
                else f"too many values to unpack (expected {n})"
            )
        if n == 1 and not isinstance(kernel_size, int) and len(kernel) == 1:
            average(input, kernel, stride, 0, ceil_mode)
            raise TypeError(
                f"mul(): argument 'other' (position 1) must be Tensor, not {type(kernel_size).__name__}")
        return _lp_pool(input, norm_type, kernel, stride, ceil_mode, average)

    lp_pool.__doc__ = f"""The ``norm_type`` norm of each window of {n} dimension(s), signs kept.

    The sum of the elements to that power, to the power of ``1 / norm_type``.
    """
    composite("function", namespace="nn.functional", name=f"lp_pool{n}d")(lp_pool)


for _n in (1, 2, 3):
    _publish_lp_pool(_n)


# --------------------------------------------------------------------------------------- adaptive


def _wanted(input: Tensor, output_size: Any, n: int) -> tuple[int, ...]:
    """Output sizes, None standing for the input's."""
    if isinstance(output_size, int):
        return (output_size,) * n
    if not isinstance(output_size, (tuple, list)):
        raise TypeError(f"object of type '{type(output_size).__name__}' has no len()")
    wanted = tuple(output_size)
    if len(input.shape) <= len(wanted):
        raise ValueError(f"Input dimension should be at least {len(wanted) + 1}")
    sizes = input.shape[-len(wanted) :]
    return tuple(size if m is None else m for m, size in zip(wanted, sizes))


def _check_room(name: str, input: Tensor, size: tuple[int, ...], *more: dtypes.dtype) -> None:
    """Refuse results of this size that no memory holds, before it is worked out where their windows lie."""
    aval = input._aval
    shape = (*aval.shape[:aval.ndim - len(size)], *size)
    for dtype in (aval.dtype, *more):
        check_sizes(name, [aval_of(shape, dtype, aval.device)])


def _check_sizes_of_row(name: str, output_size: Any) -> None:
    if not isinstance(output_size, int):
        tuple_of_ints(name, "output_size", output_size, 2)


def _adaptive_avg(n: int, input: Tensor, output_size: Any) -> Tensor:
    size = _wanted(input, output_size, n)
    name = f"adaptive_avg_pool{n}d"
    tuple_of_ints(name, "output_size", size, 2)
    if len(size) != n:
        raise RuntimeError(f"{name}: output_size must be {n}")
    if min(size) < 0:
        raise RuntimeError(
            f"{name}: elements of output_size must be greater than or equal to 0 but received "
            f"{{{', '.join(map(str, size))}}}"
        )
    if all(m == 1 for m in size):  # the mean of everything, as PyTorch too has it
        mean = input.mean(tuple(range(-n, 0)), keepdim=True)
        if input._stride is None or input.dim() != n + 2 or not suggests_channels_last(
                input._aval.shape, input._stride):
            return mean
        channels = mean.shape[1]
        return mean.as_strided_(mean.shape, (channels, 1, *[channels] * n))
    _check_room(name, input, size)
    return apply(OPS[f"_{name}"], (input,), (size,))


@composite("function", aliases=("nn.functional.adaptive_avg_pool1d",))
def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """Means over ``output_size`` windows of ``(N, C, L)`` or ``(C, L)``, as equal as they can
    be.
    """
    _check_sizes_of_row("adaptive_avg_pool1d", output_size)
    _check_row("adaptive_avg_pool1d", input)
    size = _single("adaptive_avg_pool1d", "output_size", output_size)
    return _adaptive_avg(2, input.unsqueeze(-2), (1, size)).squeeze(-2)


@_functional
def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Means over windows of ``(N, C, H, W)``, so many that the result has ``output_size``.

    Window ``i`` of ``n`` over ``L`` elements goes from ``floor(i * L / n)`` to ``ceil((i + 1) * L / n) -
    1``; windows overlap where ``n`` does not divide ``L``.

    Args:
        input: a floating point tensor, ``(N, C, H, W)`` or ``(C, H, W)``.
        output_size: one number, or a pair in which None keeps the input's size.

    Returns:
        A tensor ``(N, C, *output_size)`` or ``(C, *output_size)`` of the input's dtype.

    Raises:
        RuntimeError: for more than four dimensions, and for a wrong ``output_size``.
        ValueError: for fewer than three dimensions.
        NotImplementedError: for integers and complex numbers.

    Example:
        >>> x = torch.arange(16.0).reshape(1, 1, 4, 4)
        >>> F.adaptive_avg_pool2d(x, 2)
        tensor([[[[ 2.5000,  4.5000],
                  [10.5000, 12.5000]]]])
        >>> F.adaptive_avg_pool2d(torch.zeros(2, 3, 5, 7), (None, 1)).shape
        torch.Size([2, 3, 5, 1])
    """
    return _adaptive_avg(2, input, output_size)


@_functional
def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Means over windows of ``(N, C, D, H, W)``; arguments as in `adaptive_avg_pool2d`."""
    return _adaptive_avg(3, input, output_size)


def _adaptive_max(n: int, input: Tensor, output_size: Any) -> tuple[Tensor, Tensor]:
    size = _wanted(input, output_size, n)
    tuple_of_ints(f"adaptive_max_pool{n}d", "output_size", size, 2)
    if len(size) != n:
        raise RuntimeError(
            f"adaptive_max_pool{n}d(): internal error: output_size.size() must be {n}"
        )
    _check_room(f"adaptive_max_pool{n}d", input, size, dtypes.int64)
    return apply(OPS[f"_adaptive_max_pool{n}d"], (input,), (size,))


def _adaptive_max_row(input: Tensor, output_size: Any) -> tuple[Tensor, Tensor]:
    _check_sizes_of_row("adaptive_max_pool1d", output_size)
    _check_row("adaptive_max_pool1d", input)
    size = _single("adaptive_max_pool1d", "output_size", output_size)
    check_not_empty("adaptive_max_pool1d", input._aval, 1)
    values, indices = _adaptive_max(2, input.unsqueeze(-2), (1, size))
    return values.squeeze(-2), indices.squeeze(-2)


def _publish_adaptive_max(n: int) -> None:
    run = _adaptive_max_row if n == 1 else (lambda *args: _adaptive_max(n, *args))

    def adaptive_max_pool(input: Tensor, output_size: Any, return_indices: bool = False):
        values, indices = run(input, output_size)
        return (values, indices) if return_indices else values

    def with_indices(input: Tensor, output_size: Any, return_indices: bool = False):
        return run(input, output_size)

    name = f"adaptive_max_pool{n}d"
    adaptive_max_pool.__doc__ = f"""Largest elements of ``output_size`` windows ({n} dimension(s)).

    Args:
        input: a floating point tensor with or without a batch.
        output_size: one number or one for each dimension; None keeps the input's size.
        return_indices: also return the flat positions of the maxima within each channel.

    Raises:
        RuntimeError: for other numbers of dimensions.
    """
    with_indices.__doc__ = f"`{name}` with ``return_indices``."
    composite("function", namespace="nn.functional", name=name)(adaptive_max_pool)
    composite("function", namespace="nn.functional", name=name + "_with_indices")(with_indices)
    if n == 1:
        composite("function", name=name)(with_indices)


for _n in (1, 2, 3):
    _publish_adaptive_max(_n)

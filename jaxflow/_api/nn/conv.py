"""Convolutions in their public form: numbers for each dimension, padding by name, missing
batches.
"""

from __future__ import annotations

from typing import Any

from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor
from jaxflow._core.warning import warn_once
from jaxflow._dispatch.dispatch import apply
from jaxflow._ops import conv as ops
from jaxflow._publish.composite import composite


def expand(name: str, value: Any, n: int) -> tuple[int, ...]:
    """A convolution argument for ``n`` dimensions: one number, or one for each."""
    values = (value,) if isinstance(value, int) else tuple(value)
    if len(values) == 1:
        return tuple(values) * n
    if len(values) != n:
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {n} values to match the "
            f"convolution dimensions, but got {name}={list(values)}"
        )
    return values


def _all(name: str, value: Any, n: int, k: int) -> tuple[int, ...]:
    """An argument of an ``n``-dimensional convolution, which must suit a ``k``-dimensional
    kernel.
    """
    return expand(name, (value,) * n if isinstance(value, int) and n > 1 else value, k)


def _spatial(name: str, input: Tensor, weight: Tensor, n: int) -> bool:
    """Whether the input has a batch; RuntimeError if it has neither number of dimensions."""
    dims = input.dim()
    if dims not in (n + 1, n + 2):
        raise RuntimeError(
            f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {name}, but got input "
            f"of size: {list(input.shape)}"
        )
    return dims == n + 2


def _check_positive(**arguments: tuple[int, ...]) -> None:
    for name, values in arguments.items():
        if name == "dilation" and min(values) < 0:
            raise RuntimeError("dilation should be greater than zero")
        if min(values) <= 0:
            raise RuntimeError(f"non-positive {name} is not supported")


def _check_padding(**arguments: tuple[int, ...]) -> None:
    for name, values in arguments.items():
        if min(values) < 0:
            raise RuntimeError(f"negative {name} is not supported")


def _check_complex(input: Tensor, **parameters: Tensor | None) -> None:
    """Refuse parameters of another dtype than an input's that is complex, which PyTorch does beforehand."""
    for name, t in parameters.items():
        if t is not None and input._aval.dtype.is_complex and t._aval.dtype is not input._aval.dtype:
            raise RuntimeError(
                f"Input type ({_type_name(input)}) and {name} type ({_type_name(t)}) should be the same")


def _type_name(t: Tensor) -> str:
    return dtypes.type_name(t._aval.dtype)


def _least_kernel(weight: Tensor) -> int:
    """How many dimensions a kernel moves in. RuntimeError for none."""
    k = weight.dim() - 2
    if k < 1:
        raise RuntimeError("weight should have at least three dimensions")
    return k


def _convolution(n, input, weight, bias, stride, padding, dilation, groups):
    named = isinstance(padding, str)
    if not named and bias is not None and bias._aval.dtype is not input._aval.dtype:
        raise RuntimeError(f"Input type ({input._aval.dtype.c_name}) and bias type "
                           f"({bias._aval.dtype.c_name}) should be the same")
    has_batch = _spatial(f"conv{n}d", input, weight, n)
    _check_complex(input, weight=weight, bias=bias if named else None)
    if named and padding not in ("valid", "same"):
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    if not has_batch:
        batched = input.unsqueeze(0)
        return _convolution(n, batched, weight, bias, stride, padding, dilation, groups).squeeze(0)
    k = _least_kernel(weight)
    _check_positive(groups=(groups,))
    if named and k != n:
        raise RuntimeError(
            f"Expected {k + 2}-dimensional input for {k + 2}-dimensional weight"
            f"{list(weight.shape)}, but got {n + 2}-dimensional input of size "
            f"{list(input.shape)} instead"
        )
    if padding == "same" and not isinstance(stride, int) and len(stride) not in (1, k):
        raise RuntimeError(f"stride cannot broadcast to {k} dimensions")
    stride, dilation = _all("stride", stride, n, k), _all("dilation", dilation, n, k)
    if named:
        pads = _named_padding(padding, weight, stride, dilation)
    else:
        padding = _all("padding", padding, n, k)
        _check_padding(padding=padding)
        pads = tuple((p, p) for p in padding)
    _check_positive(stride=stride, dilation=dilation)
    static = (stride, pads, dilation, groups)
    is_complex = input._aval.dtype.is_complex
    op = ops.COMPLEX_CONVOLUTION if is_complex else ops.CONVOLUTION
    return apply(op, (input, weight, bias), static)


def _named_padding(padding, weight, stride, dilation):
    if padding == "valid":
        return ((0, 0),) * len(stride)
    if any(s != 1 for s in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    # Where the total is odd, the extra element goes behind.
    totals = [d * (k - 1) for d, k in zip(dilation, weight.shape[2:])]
    if any(t % 2 for t in totals):
        warn_once(
            "Using padding='same' with even kernel lengths and odd dilation may require a "
            "zero-padded copy of the input be created"
        )
    return tuple((t // 2, t - t // 2) for t in totals)


@composite("function", aliases=("nn.functional.conv1d",))
def conv1d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0,
    dilation: Any = 1, groups: int = 1,
) -> Tensor:
    """Convolve ``(N, C, L)`` or ``(C, L)`` with ``(O, C / groups, k)``.

    ``out[n, o, t] = bias[o] + sum(weight[o, c, i] * input[n, c, t * stride + i * dilation])`` over ``c``
    and ``i``, of the padded input: the kernel is not reversed.

    Args:
        input: the signal, floating point, complex or integers.
        weight: the kernels, of the same dtype.
        bias: ``(O,)``, added to each output channel.
        stride: distance between windows.
        padding: zeros on both sides, or ``"valid"`` (none) or ``"same"`` (the input's size).
        dilation: distance between elements of a window.
        groups: parts that channels are divided into, convolved separately.

    Returns:
        ``(N, O, T)`` or ``(O, T)``, of the input's dtype, where
        ``T = floor((L + 2 * padding - dilation * (k - 1) - 1) / stride) + 1``.

    Raises:
        RuntimeError: for sizes or dtypes that do not fit.

    Example:
        >>> x = torch.tensor([[[1.0, 2.0, 4.0, 8.0]]])
        >>> F.conv1d(x, torch.tensor([[[1.0, -1.0]]]))
        tensor([[[-1., -2., -4.]]])
        >>> F.conv1d(torch.zeros(2, 4, 9), torch.zeros(6, 2, 3), stride=2, padding=1, groups=2).shape
        torch.Size([2, 6, 5])
    """
    return _convolution(1, input, weight, bias, stride, padding, dilation, groups)


@composite("function", aliases=("nn.functional.conv2d",))
def conv2d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0,
    dilation: Any = 1, groups: int = 1,
) -> Tensor:
    """Convolve ``(N, C, H, W)`` with ``(O, C / groups, kh, kw)``; arguments as in `conv1d`.

    ``result[n, o, y, x] = bias[o] + sum over c, i, j of weight[o, c, i, j] * input[n, c, y * s + i * d, x *
    s + j * d]`` with stride ``s`` and dilation ``d`` on the padded input: the kernel is not turned round.
    The new height is ``floor((H + 2 * padding - dilation * (kh - 1) - 1) / stride) + 1``, and the width
    likewise.

    Args:
        input: the images, ``(N, C, H, W)`` or ``(C, H, W)``, any dtype but bool.
        weight: the kernels, ``(O, C / groups, kh, kw)``, of the same dtype.
        bias: ``(O,)``, added to each output channel.
        stride: distance between windows, one number or two.
        padding: zeros on both sides, one number or two, or ``"valid"`` (none) or ``"same"`` (the input's
            size).
        dilation: distance between elements of a window, one number or two.
        groups: parts that channels are divided into, convolved separately.

    Returns:
        A new tensor of the dtype of ``input``, ``(N, O, H_new, W_new)``, or without ``N``.

    Raises:
        RuntimeError: for sizes or dtypes that do not fit, and numbers that are out of range.

    Example:
        >>> image = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
        >>> F.conv2d(image, torch.tensor([[[[1.0, 0.0], [0.0, 10.0]]]]), torch.tensor([0.5]))
        tensor([[[[41.5000]]]])
        >>> F.conv2d(torch.ones(2, 4, 8, 8), torch.ones(6, 2, 3, 3), stride=2, padding=1, groups=2).shape
        torch.Size([2, 6, 4, 4])
    """
    return _convolution(2, input, weight, bias, stride, padding, dilation, groups)


@composite("function", aliases=("nn.functional.conv3d",))
def conv3d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0,
    dilation: Any = 1, groups: int = 1,
) -> Tensor:
    """Convolve ``(N, C, D, H, W)`` with ``(O, C / groups, kd, kh, kw)``; as `conv1d`."""
    return _convolution(3, input, weight, bias, stride, padding, dilation, groups)


def _transposed(
    n, input, weight, bias, stride, padding, output_padding, groups, dilation
) -> Tensor:
    if not _spatial(f"conv_transpose{n}d", input, weight, n):
        how = (weight, bias, stride, padding, output_padding, groups, dilation)
        return _transposed(n, input.unsqueeze(0), *how).squeeze(0)
    _check_complex(input, weight=weight, bias=bias)
    k = _least_kernel(weight)
    _check_positive(groups=(groups,))
    stride, dilation = expand("stride", stride, k), expand("dilation", dilation, k)
    padding = expand("padding", padding, k)
    output_padding = expand("output_padding", output_padding, k)
    _check_padding(padding=padding, output_padding=output_padding)
    _check_positive(stride=stride, dilation=dilation)
    static = (stride, padding, output_padding, groups, dilation)
    is_complex = input._aval.dtype.is_complex
    op = ops.COMPLEX_TRANSPOSED if is_complex else ops.convolution_transposed
    return apply(op, (input, weight, bias), static)


@composite("function", aliases=("nn.functional.conv_transpose1d",))
def conv_transpose1d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0,
    output_padding: Any = 0, groups: int = 1, dilation: Any = 1,
) -> Tensor:
    """The transpose of `conv1d` as a linear map, with weights ``(C, O / groups, k)``.

    Args:
        input: ``(N, C, L)`` or ``(C, L)``.
        weight: the kernels.
        bias: ``(O,)``.
        stride: how far apart the input's elements are put.
        padding: elements cut off both ends of the full result.
        output_padding: elements added again at the far end; smaller than stride or dilation.
        groups: parts that channels are divided into.
        dilation: distance between elements of a window.

    Raises:
        RuntimeError: for sizes or dtypes that do not fit.
    """
    return _transposed(1, input, weight, bias, stride, padding, output_padding, groups, dilation)


@composite("function", aliases=("nn.functional.conv_transpose2d",))
def conv_transpose2d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0,
    output_padding: Any = 0, groups: int = 1, dilation: Any = 1,
) -> Tensor:
    """The transpose of `conv2d`; arguments as in `conv_transpose1d`."""
    return _transposed(2, input, weight, bias, stride, padding, output_padding, groups, dilation)


@composite("function", aliases=("nn.functional.conv_transpose3d",))
def conv_transpose3d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0,
    output_padding: Any = 0, groups: int = 1, dilation: Any = 1,
) -> Tensor:
    """The transpose of `conv3d`; arguments as in `conv_transpose1d`."""
    return _transposed(3, input, weight, bias, stride, padding, output_padding, groups, dilation)


# -------------------------------------------------------------------------------- unfold and fold


def _pair(name: str, value: Any) -> tuple[int, int]:
    values = (value, value) if isinstance(value, int) else tuple(value)
    if len(values) != 2:
        raise RuntimeError(f"It is expected {name} equals to 2, but got size {len(values)}")
    return values


def _window(kernel_size, dilation, padding, stride):
    kernel, dilation = _pair("kernel_size", kernel_size), _pair("dilation", dilation)
    padding, stride = _pair("padding", padding), _pair("stride", stride)
    for name, short, (h, w) in (("kernel size", "kernel", kernel),
                                ("dilation", "dilation", dilation), ("stride", "stride", stride)):
        if h <= 0 or w <= 0:
            raise RuntimeError(
                f"{name} should be greater than zero, but got {short}_height: {h} {short}_width: "
                f"{w}"
            )
    if min(padding) < 0:
        raise RuntimeError(
            f"padding should be non-negative, but got pad_height: {padding[0]} pad_width: {padding[1]}")
    return kernel, dilation, padding, stride


@composite("function", namespace="nn.functional")
def unfold(
    input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Sliding blocks of images ``(N, C, H, W)`` or ``(C, H, W)`` as columns.

    There are ``floor((size + 2 * padding - dilation * (kernel_size - 1) - 1) / stride) + 1`` blocks along
    each of the two dimensions.

    Args:
        input: the images, floating point, complex or bool.
        kernel_size: ``kh`` and ``kw``, the size of a block; one number for both, as for what follows.
        dilation: distance between elements of a block.
        padding: how many zeros are put on both sides before.
        stride: distance between blocks.

    Returns:
        ``(N, C * kh * kw, blocks)``, without ``N`` if the input has none.

    Raises:
        RuntimeError: when no block fits, or an argument is not positive.
        NotImplementedError: for integers.

    Example:
        >>> F.unfold(torch.arange(9.0).reshape(1, 1, 3, 3), 2)
        tensor([[[0., 1., 3., 4.],
                 [1., 2., 4., 5.],
                 [3., 4., 6., 7.],
                 [4., 5., 7., 8.]]])
        >>> F.unfold(torch.zeros(2, 3, 5, 5), (2, 3), padding=1, stride=2).shape
        torch.Size([2, 18, 9])
    """
    window = _window(kernel_size, dilation, padding, stride)
    if input.dim() == 3:
        return apply(ops.im2col, (input,), window)
    if input.dim() != 4:
        if input.dim() < 2 or input._aval.numel:
            input.size(2)  # fewer dimensions than an image has
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {list(input.shape)}"
        )
    return apply(ops.im2col, (input,), window)


@composite("function", namespace="nn.functional")
def fold(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0,
    stride: Any = 1,
) -> Tensor:
    """Images from columns of sliding blocks; where blocks overlap, they are added.

    Args:
        input: ``(N, C * kh * kw, blocks)``, or without ``N``.
        output_size: height and width of the images.
        kernel_size: size of a block; ``dilation``, ``padding`` and ``stride`` as in `unfold`.

    Raises:
        RuntimeError: when the number of columns or rows does not fit.
    """
    window = _window(kernel_size, dilation, padding, stride)
    size = _pair("output_size", output_size)
    if input.dim() not in (2, 3) or 0 in input.shape[input.dim() - 2 :]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
            f"non-zero dimensions for input, but got: {list(input.shape)}"
        )
    return apply(ops.col2im, (input,), (size, *window))


@composite("function", aliases=("nn.functional.conv_tbc",))
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """`conv1d` of ``(T, N, C)`` signals with a kernel ``(width, C, out)`` and ``pad`` zeros at both ends.

    Raises:
        RuntimeError: when shapes or dtypes do not fit.
    """
    if input.dim() != 3:
        raise RuntimeError("Input must have 3 dims: time, batch, in_channel")
    if weight.dim() != 3:
        raise RuntimeError("Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.")
    if bias.dim() != 1:
        raise RuntimeError("Bias must be 1-D")
    if input.shape[2] != weight.shape[1]:
        raise RuntimeError("Input dim 2 (input channels) is not == dim 1 in the weight tensor")
    if weight.shape[2] != bias.shape[0]:
        raise RuntimeError("Bias size must equal dim 2 in the weight tensor (output channels).")
    kinds = [t._aval.dtype for t in (input, weight)]
    if kinds[0] is not kinds[1]:
        raise RuntimeError("self and mat2 must have the same dtype, but got "
                           + " and ".join(kind.scalar_name for kind in kinds))
    signals, kernel = input.permute(1, 2, 0), weight.permute(2, 1, 0)
    return conv1d(signals, kernel, bias, padding=pad).permute(2, 0, 1)

"""Normalisations as functions, and the running averages that batch statistics move."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence

from jaxflow._api.forms import tuple_of_ints
from jaxflow._core import dtype as dtypes
from jaxflow._core.geometry import is_contiguous, suggests_channels_last, wrap_dim
from jaxflow._core.tensor import Tensor
from jaxflow._core.warning import user_level
from jaxflow._dispatch.dispatch import apply
from jaxflow._dispatch.held_operands import hold_also, hold_only
from jaxflow._ops.norm import check_types
from jaxflow._plans.op import OPS
from jaxflow._publish.composite import composite
from jaxflow._writes.inplace import apply_together

from .loss import not_differentiable
from .pad import pad
from .pooling import avg_pool2d, avg_pool3d


def _functional(fn: Callable) -> Callable:
    return composite("function", namespace="nn.functional")(fn)


@_functional
def layer_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None,
               bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    """Mean 0 and variance 1 over the last dimensions (``normalized_shape``), then ``* weight + bias``.

    ``(input - mean) / sqrt(variance + eps) * weight + bias``, where the variance is divided by the number
    of elements. Ba, Kiros and Hinton, 2016, "Layer Normalization".

    Args:
        input: ``(*, *normalized_shape)``, floating point.
        normalized_shape: sizes of the last dimensions, which are normalized together; at least one.
        weight: factors, of the shape ``normalized_shape`` and the input's dtype; None for 1.
        bias: summands, likewise; None for 0.
        eps: what is added to the variance.

    Returns:
        A tensor of the input's shape and dtype.

    Raises:
        RuntimeError: when the input does not end with ``normalized_shape``, or weight or bias have another
            shape or a dtype that does not fit.
        TypeError: when ``normalized_shape`` is not a sequence of ints.
        NotImplementedError: for integers.

    Example:
        >>> x = torch.tensor([[1.0, 3.0], [-2.0, 2.0]])
        >>> F.layer_norm(x, (2,), eps=0.0)
        tensor([[-1.,  1.],
                [-1.,  1.]])
        >>> F.layer_norm(x, (2,), weight=torch.tensor([2.0, 2.0]), bias=torch.tensor([0.0, 5.0]), eps=0.0)
        tensor([[-2.,  7.],
                [-2.,  7.]])
    """
    shape = tuple_of_ints("layer_norm", "normalized_shape", normalized_shape, 2)
    return apply(OPS["_layer_norm"], (input, weight, bias), (shape, float(eps)))


@_functional
def rms_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None,
             eps: float | None = None) -> Tensor:
    """Mean square 1 over the last dimensions (``normalized_shape``), then ``* weight``."""
    dtype = input._aval.dtype
    mixed = weight is not None and weight._aval.dtype is not dtype and dtype.category >= dtypes.FLOATING
    if mixed:
        warnings.warn(
            f"Mismatch dtype between input and weight: input dtype = {dtype.c_name}, weight dtype = "
            f"{weight._aval.dtype.c_name}, Cannot dispatch to fused implementation.", stacklevel=user_level())
    half = dtype.is_floating_point and dtype.itemsize == 2
    op = OPS["_rms_norm_of_half" if half or mixed else "_rms_norm"]
    shape = tuple_of_ints("rms_norm", "normalized_shape", normalized_shape, 2)
    out = apply(op, (input, weight), (shape, eps))
    if dtype.is_complex and input._stride is not None:
        layout = input._aval.shape, input._stride
        if not is_contiguous(*layout) and not suggests_channels_last(*layout):
            return out.clone()  # as PyTorch's composition ends
    return out


@_functional
def group_norm(input: Tensor, num_groups: int, weight: Tensor | None = None,
               bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    """Mean 0 and variance 1 over each group of channels of each sample, then ``* weight + bias``."""
    shape = list(input._aval.shape)
    if len(shape) >= 2:
        rest = shape[2:]
        per_group = shape[0] * shape[1] // num_groups
        if per_group * math.prod(rest) == 1:
            raise ValueError(
                "Expected more than 1 value per channel when training, got input size "
                f"{[per_group, num_groups, *rest]}"
            )
    return normalized_groups(input, num_groups, weight, bias, eps)


def normalized_groups(input: Tensor, num_groups: int, weight: Tensor | None = None,
                      bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    """`group_norm`, also of groups of a single value."""
    if not isinstance(num_groups, int):
        raise TypeError(
            f"group_norm(): argument 'num_groups' (position 2) must be int, not {type(num_groups).__name__}"
        )
    return apply(OPS["_group_norm"], (input, weight, bias), (int(num_groups), float(eps)))


def _move(averages: Sequence[tuple], momentum: float, *, counted: bool = True) -> None:
    """Move every ``(average, towards, correction)``, all at once; those that are None are left out."""
    apply_together([
        (OPS["_running"], (average, batch.detach(), float(momentum)), (correction,))
        for average, batch, correction in averages if average is not None
    ], counted=counted)


def _check_batch(input: Tensor, *parameters: Tensor | None) -> None:
    """Refuse what PyTorch's kernel of batch and instance norm does not take."""
    dtype = input._aval.dtype
    if not dtype.is_floating_point:
        raise NotImplementedError(f"\"batch_norm\" not implemented for '{dtype.scalar_name}'")
    mean, var, weight, bias = (None if p is None else p._aval.dtype for p in parameters)
    check_types(dtype, weight, bias, mean, var)
    for p in parameters[:2]:
        if p is not None and p._aval.ndim != 1:
            raise RuntimeError(f"TensorAccessor expected 1 dims but tensor has {p._aval.ndim}")


_ONE_OF_TWO = "running_mean and running_var must either both be None or neither be None"


def normalized_batch(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None,
    bias: Tensor | None, training: bool, momentum: float, eps: float, entry: str = "",
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """`batch_norm` of any number of values, and in training the batch's means and biased variances.

    ``entry`` names which of PyTorch's entries was called, if it was not that of ``batch_norm``.
    """
    shape = input._aval.shape
    if input._aval.numel == 0:
        # Nothing to normalise, and no statistics to move.
        out = input.clone()
        out = out if weight is None else out * weight.select(0, 0)
        return (out if bias is None else out + bias.select(0, 0)), None, None
    channels = shape[1] if len(shape) > 1 else 0
    for name, p in (("running_mean", running_mean), ("running_var", running_var),
                    ("weight", weight), ("bias", bias)):
        if p is None:
            if not training and name.startswith("running"):
                raise RuntimeError(f"{name} must be defined in evaluation mode")
        elif p._aval.numel != channels:
            raise RuntimeError(
                f"{name} should contain {channels} elements not {p._aval.numel}"
            )
    wrap_dim(1, len(shape))
    not_differentiable("native_batch_norm", running_mean=running_mean, running_var=running_var)
    if (running_mean is None) != (running_var is None):
        raise ValueError(_ONE_OF_TWO)
    _check_batch(input, running_mean, running_var, weight, bias)
    if not training:
        operands = (input, running_mean, running_var, weight, bias)
        return apply(OPS["_batch_norm_eval" + entry], operands, (float(eps),)), None, None
    out, mean, var = apply(OPS["_batch_norm_train" + entry], (input, weight, bias), (float(eps),))
    count = shape[0] * math.prod(shape[2:])
    averages = (running_mean, mean, 1.0), (running_var, var, count / max(count - 1, 1))
    _move(averages, momentum, counted=False)  # nor does PyTorch's kernel: nodes that saved them go on
    return hold_also(out, running_mean, running_var), mean, var


@_functional
def batch_norm(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None,
               weight: Tensor | None = None, bias: Tensor | None = None, training: bool = False,
               momentum: float = 0.1, eps: float = 1e-5) -> Tensor:
    """Mean 0 and variance 1 over all dimensions but the channels (1), then ``* weight + bias``.

    In training the statistics are the batch's, and the running ones move towards them in place (the
    variance unbiased); else they are the running ones.

    Raises:
        ValueError: in training, with one value per channel.
        RuntimeError: for parameters that do not have one element per channel.
    """
    shape = input._aval.shape
    count = shape[0] * math.prod(shape[2:]) if training else 0
    if training and count == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {input.shape}"
        )
    if training and eps <= 0:
        raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    return normalized_batch(input, running_mean, running_var, weight, bias, training, momentum, eps)[0]


def _in_dtype_of(other: Tensor, running: Tensor | None) -> Tensor | None:
    """Running statistics as `instance_norm` reads them: cast, so that every dtype goes with every other."""
    dtype = other._aval.dtype
    return running if running is None or running._aval.dtype is dtype else running.to(dtype)


@_functional
def instance_norm(input: Tensor, running_mean: Tensor | None = None,
                  running_var: Tensor | None = None, weight: Tensor | None = None,
                  bias: Tensor | None = None, use_input_stats: bool = True, momentum: float = 0.1,
                  eps: float = 1e-5) -> Tensor:
    """Mean 0 and variance 1 over each channel of each sample, then ``* weight + bias``."""
    shape = input._aval.shape
    spatial = 1
    for n in shape[2:]:
        spatial *= n
    if use_input_stats and spatial == 1:
        raise ValueError(
            "Expected more than 1 spatial element when training, got input size "
            f"{input.shape}"
        )
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when use_input_stats is false")
    if (running_mean is None) != (running_var is None):
        raise ValueError(_ONE_OF_TWO)
    if len(shape) > 1 and shape[0] * shape[1] == 0 and not (weight is None and bias is None):
        raise IndexError("select(): index 0 out of range for tensor of size [0] at dimension 0")
    not_differentiable("native_batch_norm", running_mean=running_mean, running_var=running_var)
    mean, var = (_in_dtype_of(input if weight is None else weight, r) for r in (running_mean, running_var))
    if input._aval.numel:
        _check_batch(input, mean, var, weight, bias)
    whole = input.contiguous()
    if not use_input_stats:
        return batch_norm(whole, mean, var, weight, bias, False, momentum, eps).view(shape)
    if running_mean is not None or running_var is not None:
        flat = input.detach().reshape(shape[0], shape[1], spatial)
        variance = apply(OPS["var"], (flat,), ((-1,), 1, False))  # `var` would warn of an empty batch
        averages = (running_mean, flat.mean(-1).mean(0), 1.0), (running_var, variance.mean(0), 1.0)
        _move(averages, momentum)
    normed = whole.clone()
    if input._aval.numel:
        normed = apply(OPS["_instance_norm"], (whole, weight, bias), (shape[1], float(eps)))
    # PyTorch normalizes a batch of one sample, with the weight repeated, and shows that in the input's shape.
    return hold_only(normed, input).view(shape)


@_functional
def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75,
                        k: float = 1.0) -> Tensor:
    """Divided by a power of the mean square of ``size`` neighbouring channels."""
    if input._aval.ndim < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality                          input (got "
            f"{input._aval.ndim} dimensions)"
        )
    if input._aval.numel == 0:
        return input
    # The channels become a spatial dimension of one channel, and the mean over neighbours a pool's.
    before, after = size // 2, (size - 1) // 2
    squares = (input * input).unsqueeze(1)
    if input._aval.ndim == 3:
        padded = pad(squares, (0, 0, before, after))
        mean = avg_pool2d(padded, (size, 1), stride=1)
    else:
        batch, _, channels, first = squares.shape[:4]
        padded = pad(squares.reshape(batch, 1, channels, first, -1), (0, 0, 0, 0, before, after))
        mean = avg_pool3d(padded, (size, 1, 1), stride=1)
    return input / (mean.reshape(input.shape) * alpha + k) ** beta

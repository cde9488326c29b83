"""Functions of PyTorch's operator library that return more, or take less, than the public ones.

Those of the namespace ``ops.aten`` have no other public name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from jaxflow._api.creation.creation import empty
from jaxflow._api.forms import given_out, invalid_combination
from jaxflow._api.nn.norm import normalized_batch, normalized_groups
from jaxflow._api.random.distributions import bernoulli
from jaxflow._api.shape.copies import suggested_format
from jaxflow._core import dtype as dtypes
from jaxflow._core.geometry import wrap_dim
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._dispatch.held_operands import hold_also
from jaxflow._ops.segment import REDUCTIONS
from jaxflow._plans.op import OPS
from jaxflow._publish.composite import composite
from jaxflow._publish.value_checks import guarded


def _aten(fn: Callable) -> Callable:
    return composite("function", namespace="ops.aten")(fn)


# ---------------------------------------------------------------------------------- normalizations


@composite("function")
def native_layer_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, bias: Tensor | None, eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """`nn.functional.layer_norm`, the means and the reciprocal deviations (without a gradient)."""
    if isinstance(normalized_shape, int):
        raise TypeError(
            "native_layer_norm(): argument 'normalized_shape' (position 2) must be tuple of ints, not int")
    sizes = tuple(normalized_shape)
    out = apply(OPS["_layer_norm"], (input, weight, bias), (sizes, float(eps)))
    return _with_saved(out, *apply(OPS["_layer_norm_moments"], (input.detach(),), (len(sizes), float(eps))))


def _with_saved(out: Tensor, *saved: Tensor) -> tuple[Tensor, ...]:
    """A result and what PyTorch's node saves, which is given too: overwritten, it spoils the backward."""
    return hold_also(out, *saved), *saved


@composite("function")
def native_group_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, N: int, C: int, HxW: int, group: int,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """`nn.functional.group_norm` of ``(N, C, *)``, the means and the reciprocal deviations of the groups."""
    if input.dim() < 2 or group <= 0 or input.shape[1] % group:
        normalized_groups(input, group, weight, bias, eps)  # which says what is wrong
    for name, p in (("weight", weight), ("bias", bias)):
        if p is not None and tuple(p.shape) != (C,):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got "
                f"{name} of shape {list(p.shape)} and input of shape {list(input.shape)}")
    if input.numel() != N * C * HxW:
        raise RuntimeError(
            "Expected X.numel() == N * C * HxW to be true, but got false.  (Could this error message be "
            "improved?  If so, please report an enhancement request to PyTorch.)")
    if not input.is_contiguous(memory_format=suggested_format(input)):
        raise RuntimeError(
            "Expected X.is_contiguous(memory_format) to be true, but got false.  (Could this error message "
            "be improved?  If so, please report an enhancement request to PyTorch.)")
    return apply(OPS["_native_group_norm"], (input, weight, bias), (int(group), float(eps)))


def _normalized_nothing(input: Tensor, weight: Tensor | None, bias: Tensor | None, training: bool,
                        eps: float, entry: str) -> Tensor:
    """An input without elements by any statistics. RuntimeError where they would be its own."""
    if not input._aval.dtype.is_floating_point:
        raise NotImplementedError(f"\"batch_norm\" not implemented for '{input._aval.dtype.scalar_name}'")
    if training:
        raise RuntimeError(
            f"input tensor must have at least one element, but got input_sizes = {list(input.shape)}")
    channels = input.new_zeros(input.shape[wrap_dim(1, input.dim())], requires_grad=False)
    return apply(OPS["_batch_norm_eval" + entry], (input, channels, channels, weight, bias), (float(eps),))


def _with_statistics(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None,
    running_var: Tensor | None, training: bool, momentum: float, eps: float, entry: str = "",
) -> tuple[Tensor, Tensor, Tensor]:
    if input._aval.numel == 0:
        out, mean, var = _normalized_nothing(input, weight, bias, training, eps, entry), None, None
    else:
        out, mean, var = normalized_batch(
            input, running_mean, running_var, weight, bias, training, momentum, eps, entry)
    dtype = next((p.dtype for p in (weight, running_mean) if p is not None), input.dtype)
    if mean is None:
        return _with_saved(out, *(empty(0, dtype=dtype, device=input.device) for _ in range(2)))
    return _with_saved(out, mean.detach().to(dtype), (var.detach() + eps).rsqrt().to(dtype))


@composite("function")
def native_batch_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None,
    running_var: Tensor | None, training: bool, momentum: float, eps: float, *, out: Any = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """`nn.functional.batch_norm`, and in training the batch's means and reciprocal deviations, else empty."""
    result = _with_statistics(input, weight, bias, running_mean, running_var, training, momentum, eps)
    return given_out("native_batch_norm", out, result, (), OPS["_batch_norm_train"])


@composite("function")
def _native_batch_norm_legit(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, *rest: Any, out: Any = None, **named: Any,
) -> tuple[Tensor, Tensor, Tensor]:
    """`native_batch_norm`; without running statistics where ``training`` follows at once."""
    names = ("running_mean", "running_var", "training", "momentum", "eps")
    if len(rest) + len(named) == 3:
        rest = (None, None, *rest)
    given = dict(zip(names, rest), **named)
    if set(given) != set(names) or len(rest) > len(names):
        raise invalid_combination("_native_batch_norm_legit", (input, weight, bias, *rest), named)
    entry = "_alone" if given["running_mean"] is None and given["training"] else "_legit"
    result = _with_statistics(input, weight, bias, **given, entry=entry)
    return given_out("_native_batch_norm_legit", out, result, (input, weight, bias),
                     OPS["_batch_norm_train" + entry])


@_aten
def _batch_norm_with_update(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor, running_var: Tensor,
    momentum: float, eps: float, **named: Any,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """`native_batch_norm` in training, and what an accelerator would keep for backward (nothing)."""
    if named:
        raise RuntimeError("Overloaded torch operator invoked from Python failed to match any schema:\n"
                           f"aten::_batch_norm_with_update() takes no {', '.join(named)}")
    kept = empty(0, dtype=dtypes.uint8, device=input.device)
    result = _with_statistics(
        input, weight, bias, running_mean, running_var, True, momentum, eps, "_with_update")
    return *result, kept


# ------------------------------------------------------------------------------ dropout and softmax


@composite("function")
def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """The input with elements dropped with probability ``p`` and the others scaled, and which were kept."""
    if train is False or p == 0:
        return input.clone(), input.new_ones(input.shape, dtype=dtypes.bool)
    keep = 1.0 - p
    mask = bernoulli(input.new_empty(input.shape).fill_(keep)).to(dtypes.bool)
    return input * mask * (1.0 / keep if keep else 0.0), mask


@_aten
def native_dropout_backward(grad_output: Tensor, mask: Tensor, scale: float) -> Tensor:
    """The gradient of `native_dropout`'s input: ``grad_output * mask * scale``."""
    return hold_also(grad_output * mask * scale, grad_output)


@composite("function", name="_softmax")
def _softmax_of_library(input: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """`softmax`; ``half_to_float`` is for accelerators."""
    return _plain_softmax("softmax", input, dim, half_to_float)


@composite("function", name="_log_softmax")
def _log_softmax_of_library(input: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """`log_softmax`; ``half_to_float`` is for accelerators."""
    return _plain_softmax("log_softmax", input, dim, half_to_float)


def _plain_softmax(name: str, input: Tensor, dim: int, half_to_float: bool) -> Tensor:
    if half_to_float:
        raise RuntimeError(f"{name} with half to float conversion is not supported on CPU")
    return apply(OPS[name], (input,), (dim, None))


@_aten
def _safe_softmax(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """`softmax`, zero instead of nan where all elements along ``dim`` are minus infinity."""
    return apply(OPS["_safe_softmax"], (input,), (dim, dtype))


# ----------------------------------------------------------------------------- pooling and resizing


@_aten
def max_pool2d_with_indices_backward(
    grad_output: Tensor, self: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
    ceil_mode: bool, indices: Tensor,
) -> Tensor:
    """The gradient of ``max_pool2d``'s input: each window's gradient added where its maximum was found."""
    if grad_output.shape != indices.shape:
        raise RuntimeError(
            f"Expected a tensor of shape {list(indices.shape)} for `grad_output`, but got "
            f"{list(grad_output.shape)}")
    return apply(OPS["_max_pool2d_with_indices_backward"], (grad_output, self, indices))


@_aten
def _upsample_bilinear2d_aa(
    input: Tensor, output_size: Sequence[int] | None, align_corners: bool, *scales: Any, **named: Any,
) -> Tensor:
    """Bilinear resizing with a filter that widens when shrinking.

    Args:
        input: ``(N, C, H, W)``.
        output_size: the two new sizes, or None where ``scale_factors`` says what they are.
        align_corners: whether first and last positions stay where they are.
        scales: ``scale_factors``, a list of two factors or None; or ``scales_h`` and ``scales_w``.
    """
    if "scale_factors" in named:
        factors = named.pop("scale_factors")
    elif len(scales) == 1 and (scales[0] is None or isinstance(scales[0], (list, tuple))):
        factors, = scales
    else:
        given = dict(zip(("scales_h", "scales_w"), scales), **named)
        factors, named = (given.pop("scales_h", None), given.pop("scales_w", None)), given
    if named:
        raise invalid_combination("_upsample_bilinear2d_aa", (input, output_size, align_corners), named)
    factors = (None, None) if factors is None else tuple(factors)
    if output_size is None:
        output_size = [math.floor(n * f) for n, f in zip(input.shape[-2:], factors)]
    for what, found, wanted in (("output_size", len(output_size), 2), ("input_size", input.dim(), 4)):
        if found != wanted:
            raise RuntimeError(f"It is expected {what} equals to {wanted}, but got size {found}")
    return apply(OPS["_resize"], (input,),
                 (tuple(output_size), factors, "bilinear", bool(align_corners), True))


# ------------------------------------------------------------------------------------------ segments


@composite("function", aliases=("_segment_reduce",))
def segment_reduce(
    data: Tensor, reduce: str, *, lengths: Tensor | None = None, indices: Tensor | None = None,
    offsets: Tensor | None = None, axis: int = 0, unsafe: bool = False, initial: float | None = None,
) -> Tensor:
    """One number for each segment of neighbouring elements along ``axis``.

    Args:
        data: floating point.
        reduce: ``"sum"``, ``"mean"``, ``"max"`` or ``"amax"``, ``"min"`` or ``"amin"``, ``"prod"``.
        lengths: lengths of the segments, of ``data``'s shape up to ``axis``, which is the last; or
        offsets: where each begins, and at the end where the last one ends.
        indices: not supported, as in PyTorch.
        axis: which dimension the segments divide.
        unsafe: do not check that lengths are not negative and fill the dimension.
        initial: takes part in each reduction, and is the result of an empty segment.

    Raises:
        RuntimeError: for another reduction, or lengths that do not fit.
    """
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    named = reduce.removeprefix("a") if reduce in ("amax", "amin") else reduce
    if named not in REDUCTIONS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if lengths is None and offsets is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    return guarded(apply, OPS["_segment_reduce"], (data, lengths, offsets),
                   (named, int(axis), bool(unsafe), None if initial is None else float(initial)))

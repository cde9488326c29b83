"""Registers the operators, by the names and arguments that torchvision calls them with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from jaxflow import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._operators import registry
from jaxflow._operators.schema import parse
from jaxflow._plans.op import Op

from . import boxes, deform, pooling

_ROI = "Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width"
_SIZES = "SymInt batch_size, SymInt channels, SymInt height, SymInt width"
_CONV = ("Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, SymInt "
         "stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt "
         "offset_groups, bool use_mask")
_FIVE = "(Tensor, Tensor, Tensor, Tensor, Tensor)"


def _call(record: Op, tensors: tuple, *static: Any) -> Any:
    return apply(record, tensors, static)


def roi_align(input: Tensor, rois: Tensor, scale: float, *static: Any) -> Tensor:
    """See `pooling`."""
    return _call(pooling.roi_align, (input, rois), scale, static[:2], *static[2:])


def roi_align_backward(grad: Tensor, rois: Tensor, scale: float, *static: Any) -> Tensor:
    """See `pooling`."""
    return _call(pooling.roi_align_backward, (grad, rois), scale, static[:2], static[2:6], *static[6:])


def roi_pool(input: Tensor, rois: Tensor, scale: float, *bins: int) -> tuple:
    """See `pooling`."""
    return _call(pooling.roi_pool, (input, rois), scale, bins)


def roi_pool_backward(grad: Tensor, rois: Tensor, argmax: Tensor, scale: float, *static: int) -> Tensor:
    """See `pooling`."""
    return _call(pooling.roi_pool_backward, (grad, rois, argmax), static[2:])


def ps_roi_align(input: Tensor, rois: Tensor, scale: float, *static: int) -> tuple:
    """See `pooling`."""
    return _call(pooling.ps_roi_align, (input, rois), scale, static[:2], static[2])


def ps_roi_align_backward(grad: Tensor, rois: Tensor, mapping: Tensor, scale: float, *static: int) -> Tensor:
    """See `pooling`."""
    return _call(pooling.ps_roi_align_backward, (grad, rois), scale, static[:2], static[3:], static[2])


def ps_roi_pool(input: Tensor, rois: Tensor, scale: float, *bins: int) -> tuple:
    """See `pooling`."""
    return _call(pooling.ps_roi_pool, (input, rois), scale, bins)


def ps_roi_pool_backward(grad: Tensor, rois: Tensor, mapping: Tensor, scale: float, *static: int) -> Tensor:
    """See `pooling`."""
    return _call(pooling.ps_roi_pool_backward, (grad, rois), scale, static[:2], static[2:])


def _pairs(sizes: tuple[int, ...]) -> tuple:
    return tuple(zip(sizes[::2], sizes[1::2], strict=True))


def deform_conv2d(*arguments: Any) -> Tensor:
    """See `deform`."""
    tensors, static = arguments[:5], arguments[5:]
    return _call(deform.deform_conv2d, tensors, *_pairs(static[:6]), *static[6:])


def deform_conv2d_backward(*arguments: Any) -> tuple:
    """See `deform`."""
    tensors, static = arguments[:6], arguments[6:]
    return _call(deform.deform_conv2d_backward, tensors, *_pairs(static[:6]), *static[6:])


def _cuda_version() -> int:
    """-1: nothing was compiled with a CUDA toolkit."""
    return -1


def _quantized(name: str) -> Callable[..., NoReturn]:
    def call(*args: Any) -> NoReturn:
        raise NotImplementedError(f"torch.ops.torchvision.{name} is not supported: there are no quantized "
                                  "tensors")

    return call


_OPERATORS: tuple[tuple[str, Callable], ...] = (
    ("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor", boxes.nms),
    (f"roi_align(Tensor input, {_ROI}, int sampling_ratio, bool aligned) -> Tensor", roi_align),
    (f"_roi_align_backward(Tensor grad, {_ROI}, {_SIZES}, int sampling_ratio, bool aligned) -> Tensor",
     roi_align_backward),
    (f"roi_pool(Tensor input, {_ROI}) -> (Tensor, Tensor)", roi_pool),
    (f"_roi_pool_backward(Tensor grad, {_ROI.replace(', ', ', Tensor argmax, ', 1)}, {_SIZES}) -> Tensor",
     roi_pool_backward),
    (f"ps_roi_align(Tensor input, {_ROI}, int sampling_ratio) -> (Tensor, Tensor)", ps_roi_align),
    (f"_ps_roi_align_backward(Tensor grad, {_ROI.replace(', ', ', Tensor channel_mapping, ', 1)}, "
     f"int sampling_ratio, {_SIZES}) -> Tensor", ps_roi_align_backward),
    (f"ps_roi_pool(Tensor input, {_ROI}) -> (Tensor, Tensor)", ps_roi_pool),
    (f"_ps_roi_pool_backward(Tensor grad, {_ROI.replace(', ', ', Tensor channel_mapping, ', 1)}, {_SIZES}) "
     "-> Tensor",
     ps_roi_pool_backward),
    (f"deform_conv2d({_CONV}) -> Tensor", deform_conv2d),
    (f"_deform_conv2d_backward(Tensor grad, {_CONV}) -> {_FIVE}", deform_conv2d_backward),
    ("_cuda_version() -> int", _cuda_version),
    ("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor", _quantized("qnms")),
    ("qroi_align(Tensor input, Tensor rois, float input_scale, int input_zero_point, float rois_scale, "
     "int rois_zero_point, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int "
     "sampling_ratio, "
     "bool aligned) -> Tensor", _quantized("qroi_align")),
)


def register() -> None:
    """Define the operators, and what computes them on all devices."""
    for text, fn in _OPERATORS:
        operator = registry.define("torchvision", parse(text), replace=True)
        operator.kernels["CompositeExplicitAutograd"] = fn


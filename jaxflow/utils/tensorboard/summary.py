"""What a writer adds, as messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._convert_np import make_np
from ._curve import compute_curve as compute_curve
from ._histogram import make_histogram as make_histogram
from ._hparams import hparams as hparams
from ._image import as_bytes, convert_to_HWC, video_of
from ._image import draw_boxes as draw_boxes
from ._image import make_image as make_image
from ._image import make_video as make_video
from ._messages import HistogramProto, Summary, TensorProto
from ._plugins import curves, summary_of
from ._plugins import custom_scalars as custom_scalars
from ._plugins import half_to_int as half_to_int
from ._plugins import int_to_half as int_to_half
from ._plugins import mesh as mesh
from ._plugins import tensor_proto as tensor_proto
from ._plugins import text as text
from ._sound import sound_of

__all__ = ["half_to_int", "int_to_half", "hparams", "scalar", "histogram_raw", "histogram", "make_histogram",
           "image", "image_boxes", "draw_boxes", "make_image", "video", "make_video", "audio",
           "custom_scalars", "text", "tensor_proto", "pr_curve_raw", "pr_curve", "compute_curve", "mesh"]

_MOST_THRESHOLDS = 127
_FLOAT, _DOUBLE = 1, 2


def _one(tag: str, **value: Any) -> Any:
    return Summary(value=[Summary.Value(tag=tag, **value)])


def scalar(name: str, tensor: Any, collections: Any = None, new_style: bool = False,
           double_precision: bool = False) -> Any:
    """The summary of a number.

    Args:
        name: its tag.
        tensor: a number, or an array or a tensor of one element.
        collections: without effect.
        new_style: whether it is stored as a tensor.
        double_precision: whether such a tensor is of doubles.

    Raises:
        AssertionError: for more than one element.
    """
    array = make_np(tensor).squeeze()
    if array.ndim != 0:
        raise AssertionError("Tensor should contain one element (0 dimensions). "
                             f"Was given size: {array.size} and {array.ndim} dimensions.")
    number = float(array)
    if not new_style:
        return _one(name, simple_value=number)
    stored = (TensorProto(dtype=_DOUBLE, double_val=[number]) if double_precision else
              TensorProto(dtype=_FLOAT, float_val=[number]))
    return summary_of(name, stored, "scalars")


def histogram_raw(name: str, min: float, max: float, num: int, sum: float, sum_squares: float,
                  bucket_limits: Sequence[float], bucket_counts: Sequence[float]) -> Any:
    """The summary of a histogram that is computed already: see ``SummaryWriter.add_histogram_raw``."""
    return _one(name, histo=HistogramProto(min=min, max=max, num=num, sum=sum, sum_squares=sum_squares,
                                           bucket_limit=_listed(bucket_limits),
                                           bucket=_listed(bucket_counts)))


def _listed(values: Any) -> Any:
    return values.tolist() if hasattr(values, "tolist") else values


def histogram(name: str, values: Any, bins: str | int | Sequence[float], max_bins: int | None = None) -> Any:
    """The summary of the histogram of values: see `make_histogram`."""
    return _one(name, histo=make_histogram(make_np(values).astype(float), bins, max_bins))


def image(tag: str, tensor: Any, rescale: float = 1, dataformats: str = "NCHW") -> Any:
    """The summary of an image, or of a batch as a grid."""
    return _one(tag, image=make_image(as_bytes(convert_to_HWC(make_np(tensor), dataformats)),
                                      rescale=rescale))


def image_boxes(tag: str, tensor_image: Any, tensor_boxes: Any, rescale: float = 1, dataformats: str = "CHW",
                labels: Sequence[str] | None = None) -> Any:
    """The summary of an image with boxes drawn on it."""
    pixels = as_bytes(convert_to_HWC(make_np(tensor_image), dataformats))
    return _one(tag, image=make_image(pixels, rescale=rescale, rois=make_np(tensor_boxes), labels=labels))


def video(tag: str, tensor: Any, fps: float = 4) -> Any:
    """The summary of films ``(N, T, C, H, W)``, side by side in a GIF."""
    return _one(tag, image=video_of(tensor, fps))


def audio(tag: str, tensor: Any, sample_rate: int = 44100) -> Any:
    """The summary of sound."""
    return _one(tag, audio=sound_of(tensor, sample_rate))


def pr_curve_raw(tag: str, tp: Any, fp: Any, tn: Any, fn: Any, precision: Any, recall: Any,
                 num_thresholds: int = _MOST_THRESHOLDS, weights: Any = None) -> Any:
    """The summary of a curve of precision over recall that is computed already."""
    rows = np.stack([np.asarray(row) for row in (tp, fp, tn, fn, precision, recall)])
    return curves(tag, rows, min(num_thresholds, _MOST_THRESHOLDS))


def pr_curve(tag: str, labels: np.ndarray, predictions: np.ndarray, num_thresholds: int = _MOST_THRESHOLDS,
             weights: Any = None) -> Any:
    """The summary of a curve of precision over recall: see `compute_curve`."""
    thresholds = min(num_thresholds, _MOST_THRESHOLDS)
    return curves(tag, compute_curve(labels, predictions, thresholds, weights), thresholds)

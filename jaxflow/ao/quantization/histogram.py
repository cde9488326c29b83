"""`HistogramObserver`: the range that loses least, found from a histogram of what was seen."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxflow import _functions as functions
from jaxflow._core import dtype as dtypes
from jaxflow._core import layout as layouts
from jaxflow._core.tensor import Tensor
from jaxflow._core.typeinfo import finfo

from .observer import INFINITE, UniformQuantizationObserverBase, write_together

#: Parts of a bin that are moved as a whole when a histogram is laid into a wider one.
_PARTS = 16


def _laid_into(counts: np.ndarray, low: float, high: float, new_low: float, new_high: float) -> np.ndarray:
    """A histogram of ``low`` .. ``high`` as one of the wider range, of as many bins."""
    bins = len(counts)
    if low == high:
        out = np.zeros_like(counts)
        width = (new_high - new_low) / bins
        at = 0 if width == 0 else min(bins - 1, int((low - new_low) / width))
        out[at] = counts.sum()
        return out
    fine = np.repeat(counts, _PARTS) / _PARTS
    size = (high - low) / len(fine)
    middles = np.linspace(low, high, len(fine) + 1)[:-1] + 0.5 * size
    edges = np.linspace(new_low, new_high, bins + 1)
    at = np.clip(np.digitize(middles, edges) - 1, 0, bins - 1)
    return np.bincount(at, weights=fine, minlength=bins)


def _error(counts: np.ndarray, width: float, first: int, last: int, levels: int) -> float:
    """The squared error when bins ``first`` .. ``last`` are rounded to so many levels, and others are cut.

    Numbers are taken as spread evenly over each bin; the error of a piece from ``a`` to ``b`` off the middle
    of its level is the integral of ``x ** 2``.
    """
    step = width * (last - first + 1) / levels
    if step == 0:
        return 0.0
    begin = (np.arange(len(counts)) - first) * width
    end = begin + width
    density = counts / width
    from_level = np.clip(np.floor(begin / step), 0, levels - 1)
    to_level = np.clip(np.floor(end / step), 0, levels - 1)

    def integral(a: Any, b: Any) -> Any:
        return density * (b**3 - a**3) / 3

    half = step / 2
    total = integral(begin - (from_level * step + half), half)
    total = total + (to_level - from_level - 1) * integral(-half, half)
    total = total + integral(-half, end - (to_level * step + half))
    return float(total.sum())


def best_range(counts: np.ndarray, low: float, high: float, levels: int) -> tuple[float, float]:
    """The range whose rounding to so many levels has the least error, narrowed from its ends step by step.

    At each step that end is moved past a further 0.00001 of the numbers which reaches over more bins; it ends
    where the error grows. This is the search by the L2 norm of Caffe2's `dnnlowp` (`norm_minimization.cc`).
    """
    bins, total = len(counts), counts.sum()
    if total == 0:
        return low, high
    width, sums = (high - low) / bins, np.cumsum(counts)
    alpha, beta, first, last, least = 0.0, 1.0, 0, bins - 1, float("inf")
    step = 1e-5
    while alpha < beta:
        next_alpha, next_beta = alpha + step, beta - step
        left = min(max(first, int(np.searchsorted(sums, next_alpha * total, "left"))), last)
        right = max(min(last, int(np.searchsorted(sums, next_beta * total, "right")) - 1), first)
        new_first, new_last = first, last
        if left - first > last - right:
            new_first, alpha = left, next_alpha
        else:
            new_last, beta = right, next_beta
        if (new_first, new_last) == (first, last):
            continue
        found = _error(counts, width, new_first, new_last, levels)
        if found > least:
            break
        least, first, last = found, new_first, new_last
    return low + width * first, low + width * (last + 1)


class HistogramObserver(UniformQuantizationObserverBase):
    """A histogram of the numbers seen, of which the range is kept that loses least when it is quantized.

    The range is narrowed from both ends as long as the squared error of rounding within it and cutting
    outside falls. The histogram is computed on the host.

    Args:
        bins: the number of bins.
        dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps, is_dynamic: as of
            `UniformQuantizationObserverBase`; the scheme has one scale.

    Raises:
        NotImplementedError: for a scheme with a scale for each channel.

    Example:
        >>> observer = torch.ao.quantization.HistogramObserver(bins=256)
        >>> x = torch.cat([torch.linspace(0, 1, 10000), torch.tensor([1.5])])
        >>> bool(observer(x) is x), bool(observer.calculate_qparams()[0] < 1.5 / 255)
        (True, True)
    """

    def __init__(self, bins: int = 2048, dtype: Any = dtypes.quint8, qscheme: Any = layouts.per_tensor_affine,
                 reduce_range: bool = False, quant_min: int | None = None, quant_max: int | None = None,
                 factory_kwargs: dict | None = None, eps: float = finfo(dtypes.float32).eps,
                 is_dynamic: bool = False, **kwargs: Any) -> None:
        if qscheme not in (layouts.per_tensor_affine, layouts.per_tensor_symmetric):
            raise NotImplementedError("HistogramObserver's qscheme only support torch.per_tensor_symmetric "
                                      "and torch.per_tensor_affine.")
        if is_dynamic:
            raise NotImplementedError("HistogramObserver doesn't support dynamic quantization")
        super().__init__(dtype=dtype, qscheme=qscheme, reduce_range=reduce_range, quant_min=quant_min,
                         quant_max=quant_max, factory_kwargs=factory_kwargs, eps=eps, is_dynamic=is_dynamic,
                         **kwargs)
        self.bins = bins
        kind = {"dtype": dtypes.float32, **(factory_kwargs or {})}
        self.register_buffer("histogram", functions.zeros(bins, **kind))
        self.register_buffer("min_val", functions.tensor(INFINITE, **kind))
        self.register_buffer("max_val", functions.tensor(-INFINITE, **kind))
        self.dst_nbins = 2 ** (8 * dtype.itemsize)

    def forward(self, x_orig: Tensor) -> Tensor:
        """``x_orig``, whose numbers are counted."""
        if x_orig.numel() == 0:
            return x_orig
        x = x_orig.detach().to(self.min_val.dtype)
        low, high = (t.item() for t in functions.aminmax(x))
        if not (np.isfinite(low) and np.isfinite(high)):
            raise ValueError("HistogramObserver: the input holds nan or an infinite number")
        before = self.min_val.item(), self.max_val.item()
        counts = functions.histc(x, self.bins, low, high).cpu().numpy().astype(np.float64)
        if before[0] <= before[1]:
            new = min(low, before[0]), max(high, before[1])
            old = self.histogram.cpu().numpy().astype(np.float64)
            counts = sum(h if (a, b) == new else _laid_into(h, a, b, *new)
                         for h, a, b in ((old, *before), (counts, low, high)))
            low, high = new
        write_together(self, histogram=self.histogram.new_tensor(counts),
                       min_val=self.min_val.new_tensor(low), max_val=self.max_val.new_tensor(high))
        return x_orig

    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        """Scale and zero point of the range that loses least."""
        if not self._seen(self.min_val, self.max_val):
            return self._calculate_qparams(self.min_val, self.max_val)
        counts = self.histogram.cpu().numpy().astype(np.float64)
        if len(counts) != self.bins:
            raise AssertionError("The number of bins in histogram should be equal to the number of bins "
                                 "supplied while making this observer")
        low, high = best_range(counts, self.min_val.item(), self.max_val.item(), self.dst_nbins)
        return self.qparams_of(self.min_val.new_tensor(low), self.max_val.new_tensor(high))

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}"

    def reset_histogram(self) -> None:
        """Forget what was seen."""
        write_together(self, histogram=functions.zeros_like(self.histogram),
                       min_val=functions.full_like(self.min_val, INFINITE),
                       max_val=functions.full_like(self.max_val, -INFINITE))


default_histogram_observer = HistogramObserver.with_args(quant_min=0, quant_max=127)

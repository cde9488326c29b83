# Written by tools/stubs.py from the records of ops and composites: python -m tools.stubs.
import enum as _enum
from builtins import bool as _bool, bytes as _bytes, complex as _complex, float as _float, int as _int, list as _list, object as _object, str as _str, tuple as _tuple, type as _type
from collections.abc import Callable as _Callable, Iterable as _Iterable, Iterator as _Iterator
from collections.abc import Sequence as _Sequence
from typing import Any as _Any, NamedTuple as _NamedTuple, overload as _overload

import numpy as _np

from jaxflow._core.device import device as _device
from jaxflow._core.dtype import dtype as _dtype
from jaxflow._core.size import Size as _Size
from jaxflow._core.tensor import Tensor as Tensor
from jaxflow._core.generator import Generator as _Generator

_Number = _bool | _int | _float | _complex
from jaxflow._core.tensor import _aminmax_result as _aminmax_result, _cummax_result as _cummax_result, _cummin_result as _cummin_result, _frexp_result as _frexp_result, _geqrf_result as _geqrf_result, _kthvalue_result as _kthvalue_result, _linalg_eig_result as _linalg_eig_result, _linalg_eigh_result as _linalg_eigh_result, _linalg_qr_result as _linalg_qr_result, _linalg_svd_result as _linalg_svd_result, _max_result as _max_result, _median_result as _median_result, _min_result as _min_result, _mode_result as _mode_result, _nanmedian_result as _nanmedian_result, _sort_result as _sort_result, _topk_result as _topk_result

from jaxflow.nn._functional.resize import interpolate as interpolate
from jaxflow.nn._functional.attention import multi_head_attention_forward as multi_head_attention_forward
from jaxflow.nn._functional.losses import triplet_margin_loss as triplet_margin_loss
from jaxflow.nn._functional.losses import triplet_margin_with_distance_loss as triplet_margin_with_distance_loss
from jaxflow.nn._functional.resize import upsample as upsample
from jaxflow.nn._functional.resize import upsample_bilinear as upsample_bilinear
from jaxflow.nn._functional.resize import upsample_nearest as upsample_nearest


def adaptive_avg_pool1d(input: Tensor, output_size: _Any) -> Tensor:
    """Means over ``output_size`` windows of ``(N, C, L)`` or ``(C, L)``, as equal as they can"""
def adaptive_avg_pool2d(input: Tensor, output_size: _Any) -> Tensor:
    """Means over windows of ``(N, C, H, W)``, so many that the result has ``output_size``."""
def adaptive_avg_pool3d(input: Tensor, output_size: _Any) -> Tensor:
    """Means over windows of ``(N, C, D, H, W)``; arguments as in `adaptive_avg_pool2d`."""
def adaptive_max_pool1d(input: Tensor, output_size: _Any, return_indices: _bool = False) -> _Any:
    """Largest elements of ``output_size`` windows (1 dimension(s))."""
def adaptive_max_pool1d_with_indices(input: Tensor, output_size: _Any, return_indices: _bool = False) -> _Any:
    """`adaptive_max_pool1d` with ``return_indices``."""
def adaptive_max_pool2d(input: Tensor, output_size: _Any, return_indices: _bool = False) -> _Any:
    """Largest elements of ``output_size`` windows (2 dimension(s))."""
def adaptive_max_pool2d_with_indices(input: Tensor, output_size: _Any, return_indices: _bool = False) -> _Any:
    """`adaptive_max_pool2d` with ``return_indices``."""
def adaptive_max_pool3d(input: Tensor, output_size: _Any, return_indices: _bool = False) -> _Any:
    """Largest elements of ``output_size`` windows (3 dimension(s))."""
def adaptive_max_pool3d_with_indices(input: Tensor, output_size: _Any, return_indices: _bool = False) -> _Any:
    """`adaptive_max_pool3d` with ``return_indices``."""
def affine_grid(theta: Tensor, size: _Sequence[_int], align_corners: _bool | None = None) -> Tensor:
    """The grid for `grid_sample` that maps an output of ``size`` into the input by affine maps."""
def alpha_dropout(input: Tensor, p: _float = ..., training: _bool = False, inplace: _bool = False) -> Tensor:
    """Dropout that goes with SELU: mean and variance stay; arguments as in `dropout`."""
def avg_pool1d(input: Tensor, kernel_size: _Any, stride: _Any = None, padding: _Any = 0, ceil_mode: _bool = False, count_include_pad: _bool = True) -> Tensor:
    """Mean of each window of ``(N, C, L)`` or ``(C, L)``; arguments as in `avg_pool2d`."""
def avg_pool2d(input: Tensor, kernel_size: _Any, stride: _Any = None, padding: _Any = 0, ceil_mode: _bool = False, count_include_pad: _bool = True, divisor_override: _int | None = None, *, out: Tensor | None = None) -> Tensor:
    """Mean of each window of ``(N, C, H, W)`` or ``(C, H, W)``."""
def avg_pool3d(input: Tensor, kernel_size: _Any, stride: _Any = None, padding: _Any = 0, ceil_mode: _bool = False, count_include_pad: _bool = True, divisor_override: _int | None = None, *, out: Tensor | None = None) -> Tensor:
    """Mean of each window of ``(N, C, D, H, W)``; arguments as in `avg_pool2d`."""
def batch_norm(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None, bias: Tensor | None = None, training: _bool = False, momentum: _float = ..., eps: _float = ...) -> Tensor:
    """Mean 0 and variance 1 over all dimensions but the channels (1), then ``* weight + bias``."""
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input1 @ weight[o] @ input2 + bias[o]`` for each output feature ``o``."""
def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean') -> Tensor:
    """Cross entropy of probabilities with targets between 0 and 1, element by element."""
def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean', pos_weight: Tensor | None = None) -> Tensor:
    """``binary_cross_entropy(sigmoid(input), target)``, stable for large inputs."""
def celu(input: Tensor, alpha: _float = ..., inplace: _bool = False) -> Tensor:
    """Each element where positive, ``alpha * (exp(input / alpha) - 1)`` elsewhere."""
def celu_(input: Tensor, *args: _Any, **kwargs: _Any) -> Tensor:
    """`celu` written into ``input``."""
def channel_shuffle(input: Tensor, groups: _int) -> Tensor:
    """The channels of ``(N, C, ...)`` taken in turn from each of ``groups`` groups."""
def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Any = 1, padding: _Any = 0, dilation: _Any = 1, groups: _int = 1) -> Tensor:
    """Convolve ``(N, C, L)`` or ``(C, L)`` with ``(O, C / groups, k)``."""
def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Any = 1, padding: _Any = 0, dilation: _Any = 1, groups: _int = 1) -> Tensor:
    """Convolve ``(N, C, H, W)`` with ``(O, C / groups, kh, kw)``; arguments as in `conv1d`."""
def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Any = 1, padding: _Any = 0, dilation: _Any = 1, groups: _int = 1) -> Tensor:
    """Convolve ``(N, C, D, H, W)`` with ``(O, C / groups, kd, kh, kw)``; as `conv1d`."""
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: _int = 0) -> Tensor:
    """`conv1d` of ``(T, N, C)`` signals with a kernel ``(width, C, out)`` and ``pad`` zeros at both ends."""
def conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Any = 1, padding: _Any = 0, output_padding: _Any = 0, groups: _int = 1, dilation: _Any = 1) -> Tensor:
    """The transpose of `conv1d` as a linear map, with weights ``(C, O / groups, k)``."""
def conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Any = 1, padding: _Any = 0, output_padding: _Any = 0, groups: _int = 1, dilation: _Any = 1) -> Tensor:
    """The transpose of `conv2d`; arguments as in `conv_transpose1d`."""
def conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _Any = 1, padding: _Any = 0, output_padding: _Any = 0, groups: _int = 1, dilation: _Any = 1) -> Tensor:
    """The transpose of `conv3d`; arguments as in `conv_transpose1d`."""
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: _float = 0, size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean') -> Tensor:
    """``1 - cos`` where the target is 1, ``max(0, cos - margin)`` where it is -1."""
def cosine_similarity(x1: Tensor, x2: Tensor, dim: _int = 1, eps: _float = ..., *, axis: _int | None = None) -> Tensor:
    """Cosine of the angle between two vectors along a dimension, broadcast."""
def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: _Any = None, ignore_index: _int = -100, reduce: _Any = None, reduction: _str = 'mean', label_smoothing: _float = ...) -> Tensor:
    """Cross entropy of logits with the right classes, or with their probabilities."""
def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Tensor | _Sequence[_int], target_lengths: Tensor | _Sequence[_int], blank: _int = 0, reduction: _str = 'mean', zero_infinity: _bool = False) -> Tensor:
    """How unlikely a sequence of labels is, over all ways to align it with a longer sequence of steps."""
def dropout(input: Tensor, p: _float = ..., training: _bool = True, inplace: _bool = False) -> Tensor:
    """Zero each element with probability ``p``, and scale the others by ``1 / (1 - p)``."""
def dropout1d(input: Tensor, p: _float = ..., training: _bool = True, inplace: _bool = False) -> Tensor:
    """Zero whole channels of ``(N, C, L)`` or ``(C, L)``; arguments as in `dropout`."""
def dropout2d(input: Tensor, p: _float = ..., training: _bool = True, inplace: _bool = False) -> Tensor:
    """Zero whole channels of ``(N, C, H, W)``; arguments as in `dropout`."""
def dropout3d(input: Tensor, p: _float = ..., training: _bool = True, inplace: _bool = False) -> Tensor:
    """Zero whole channels of ``(N, C, D, H, W)`` or ``(C, D, H, W)``; arguments as in `dropout`."""
def elu(input: Tensor, alpha: _float = ..., inplace: _bool = False) -> Tensor:
    """Each element where positive, ``alpha * (exp(input) - 1)`` elsewhere."""
def elu_(input: Tensor, *args: _Any, **kwargs: _Any) -> Tensor:
    """`elu` written into ``input``."""
def embedding(input: Tensor, weight: Tensor, padding_idx: _int | None = None, max_norm: _float | None = None, norm_type: _float = ..., scale_grad_by_freq: _bool = False, sparse: _bool = False) -> Tensor:
    """The rows of a table that integers name: ``(*input.shape, size of a row)``."""
def embedding_bag(input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: _float | None = None, norm_type: _float = 2, scale_grad_by_freq: _bool = False, mode: _str = 'mean', sparse: _bool = False, per_sample_weights: Tensor | None = None, include_last_offset: _bool = False, padding_idx: _int | None = None) -> Tensor:
    """Sums, means or maxima of bags of rows of a table: ``(bags, size of a row)``."""
def feature_alpha_dropout(input: Tensor, p: _float = ..., training: _bool = False, inplace: _bool = False) -> Tensor:
    """`alpha_dropout` of whole channels, those of dimension 1."""
def fold(input: Tensor, output_size: _Any, kernel_size: _Any, dilation: _Any = 1, padding: _Any = 0, stride: _Any = 1) -> Tensor:
    """Images from columns of sliding blocks; where blocks overlap, they are added."""
def fractional_max_pool2d(input: Tensor, kernel_size: _Any, output_size: _Any = None, output_ratio: _Any = None, return_indices: _bool = False, _random_samples: Tensor | None = None) -> _Any:
    """Largest element of each window of ``(N, C, H, W)`` or without ``N``; their places are drawn."""
def fractional_max_pool2d_with_indices(input: Tensor, kernel_size: _Any, output_size: _Any = None, output_ratio: _Any = None, return_indices: _bool = False, _random_samples: Tensor | None = None) -> _Any:
    """`fractional_max_pool2d` with ``return_indices``."""
def fractional_max_pool3d(input: Tensor, kernel_size: _Any, output_size: _Any = None, output_ratio: _Any = None, return_indices: _bool = False, _random_samples: Tensor | None = None) -> _Any:
    """Largest element of each window of ``(N, C, D, H, W)`` or without ``N``; their places are drawn."""
def fractional_max_pool3d_with_indices(input: Tensor, kernel_size: _Any, output_size: _Any = None, output_ratio: _Any = None, return_indices: _bool = False, _random_samples: Tensor | None = None) -> _Any:
    """`fractional_max_pool3d` with ``return_indices``."""
def gaussian_nll_loss(input: Tensor, target: Tensor, var: _Any, full: _bool = False, eps: _float = ..., reduction: _str = 'mean') -> Tensor:
    """Negative log-likelihood under a normal distribution of mean ``input`` and variance"""
def gelu(input: Tensor, *, approximate: _str = 'none', out: Tensor | None = None) -> Tensor:
    """``input`` times the standard normal distribution of ``input``; ``"tanh"`` approximates it."""
def glu(input: Tensor, dim: _int = -1) -> Tensor:
    """The first half of a dimension times the sigmoid of the second half."""
def grid_sample(input: Tensor, grid: Tensor, mode: _str = 'bilinear', padding_mode: _str = 'zeros', align_corners: _bool | None = None) -> Tensor:
    """The input at the places that ``grid`` names, interpolated."""
def group_norm(input: Tensor, num_groups: _int, weight: Tensor | None = None, bias: Tensor | None = None, eps: _float = ...) -> Tensor:
    """Mean 0 and variance 1 over each group of channels of each sample, then ``* weight + bias``."""
def grouped_mm(mat_a: Tensor, mat_b: Tensor, *, offs: Tensor | None = None, bias: Tensor | None = None, out_dtype: _Any = None) -> Tensor:
    """Products of matrices group by group."""
def gumbel_softmax(logits: Tensor, tau: _float = 1, hard: _bool = False, eps: _float = ..., dim: _int = -1) -> Tensor:
    """A softmax of ``logits`` with random noise: a differentiable draw from the categories."""
def hardshrink(input: Tensor, lambd: _Number = ..., *, out: Tensor | None = None) -> Tensor:
    """Each element, 0 where it lies within ``lambd`` of zero."""
def hardsigmoid(input: Tensor, inplace: _bool = False) -> Tensor:
    """``relu6(input + 3) / 6``."""
def hardswish(input: Tensor, inplace: _bool = False) -> Tensor:
    """``input * relu6(input + 3) / 6``."""
def hardtanh(input: Tensor, min_val: _float = ..., max_val: _float = ..., inplace: _bool = False) -> Tensor:
    """Each element limited to ``[min_val, max_val]``."""
def hardtanh_(input: Tensor, *args: _Any, **kwargs: _Any) -> Tensor:
    """`hardtanh` written into ``input``."""
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: _float = ..., size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean') -> Tensor:
    """``input`` where the target is 1, ``max(0, margin - input)`` where it is -1, in its dtype."""
def huber_loss(input: Tensor, target: Tensor, reduction: _str = 'mean', delta: _float = ..., weight: Tensor | None = None) -> Tensor:
    """``0.5 d ** 2`` up to ``delta``, ``delta (|d| - 0.5 delta)`` above; see `mse_loss`."""
def instance_norm(input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None, weight: Tensor | None = None, bias: Tensor | None = None, use_input_stats: _bool = True, momentum: _float = ..., eps: _float = ...) -> Tensor:
    """Mean 0 and variance 1 over each channel of each sample, then ``* weight + bias``."""
def kl_div(input: Tensor, target: Tensor, size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean', log_target: _bool = False) -> Tensor:
    """Kullback-Leibler divergence of log-probabilities ``input`` from probabilities ``target``."""
def l1_loss(input: Tensor, target: Tensor, size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean', weight: Tensor | None = None) -> Tensor:
    """The mean absolute difference; arguments as in `mse_loss`."""
def layer_norm(input: Tensor, normalized_shape: _Sequence[_int], weight: Tensor | None = None, bias: Tensor | None = None, eps: _float = ...) -> Tensor:
    """Mean 0 and variance 1 over the last dimensions (``normalized_shape``), then ``* weight + bias``."""
def leaky_relu(input: Tensor, negative_slope: _float = ..., inplace: _bool = False) -> Tensor:
    """Each element, times ``negative_slope`` where it is not positive."""
def leaky_relu_(input: Tensor, *args: _Any, **kwargs: _Any) -> Tensor:
    """`leaky_relu` written into ``input``."""
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias`` for an input of any number of leading dimensions."""
def linear_cross_entropy(input: Tensor, linear_weight: Tensor, target: Tensor, *, linear_bias: Tensor | None = None, weight: Tensor | None = None, reduction: _str = 'mean', ignore_index: _int | None = None, label_smoothing: _float = ..., options: _Any = None) -> Tensor:
    """`cross_entropy` of ``linear(input, linear_weight, linear_bias)``."""
def local_response_norm(input: Tensor, size: _int, alpha: _float = ..., beta: _float = ..., k: _float = ...) -> Tensor:
    """Divided by a power of the mean square of ``size`` neighbouring channels."""
def log_softmax(input: Tensor, dim: _int | None = None, _stacklevel: _int = 3, dtype: _dtype | None = None) -> Tensor:
    """The logarithm of `softmax` along ``dim``, without its loss of precision."""
def logsigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``log(sigmoid(input))`` without overflow."""
def lp_pool1d(input: Tensor, norm_type: _float, kernel_size: _Any, stride: _Any = None, ceil_mode: _bool = False) -> Tensor:
    """The ``norm_type`` norm of each window of 1 dimension(s), signs kept."""
def lp_pool2d(input: Tensor, norm_type: _float, kernel_size: _Any, stride: _Any = None, ceil_mode: _bool = False) -> Tensor:
    """The ``norm_type`` norm of each window of 2 dimension(s), signs kept."""
def lp_pool3d(input: Tensor, norm_type: _float, kernel_size: _Any, stride: _Any = None, ceil_mode: _bool = False) -> Tensor:
    """The ``norm_type`` norm of each window of 3 dimension(s), signs kept."""
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: _float = 0, size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean') -> Tensor:
    """``max(0, -target * (input1 - input2) + margin)``."""
def max_pool1d(input: Tensor, kernel_size: _Any, stride: _Any = None, padding: _Any = 0, dilation: _Any = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> _Any:
    """Largest element of each window of ``(N, C, L)`` or without ``N``."""
def max_pool1d_with_indices(input: Tensor, kernel_size: _Any, stride: _Any = None, padding: _Any = 0, dilation: _Any = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> _Any:
    """`max_pool1d` with ``return_indices``."""
def max_pool2d(input: Tensor, kernel_size: _Any, stride: _Any = None, padding: _Any = 0, dilation: _Any = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> _Any:
    """Largest element of each window of ``(N, C, H, W)`` or without ``N``."""
def max_pool2d_with_indices(input: Tensor, kernel_size: _Any, stride: _Any = None, padding: _Any = 0, dilation: _Any = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> _Any:
    """`max_pool2d` with ``return_indices``."""
def max_pool3d(input: Tensor, kernel_size: _Any, stride: _Any = None, padding: _Any = 0, dilation: _Any = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> _Any:
    """Largest element of each window of ``(N, C, D, H, W)`` or without ``N``."""
def max_pool3d_with_indices(input: Tensor, kernel_size: _Any, stride: _Any = None, padding: _Any = 0, dilation: _Any = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> _Any:
    """`max_pool3d` with ``return_indices``."""
def max_unpool1d(input: Tensor, indices: Tensor, kernel_size: _Any, stride: _Any = None, padding: _Any = 0, output_size: _Any = None) -> Tensor:
    """Maxima put back where `max_pool1d` found them, zeros elsewhere."""
def max_unpool2d(input: Tensor, indices: Tensor, kernel_size: _Any, stride: _Any = None, padding: _Any = 0, output_size: _Any = None) -> Tensor:
    """Maxima put back where `max_pool2d` found them, zeros elsewhere."""
def max_unpool3d(input: Tensor, indices: Tensor, kernel_size: _Any, stride: _Any = None, padding: _Any = 0, output_size: _Any = None) -> Tensor:
    """Maxima put back where `max_pool3d` found them, zeros elsewhere."""
def mish(input: Tensor, inplace: _bool = False) -> Tensor:
    """``input * tanh(softplus(input))``."""
def mse_loss(input: Tensor, target: Tensor, size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean', weight: Tensor | None = None) -> Tensor:
    """The mean squared difference."""
def multi_margin_loss(input: Tensor, target: Tensor, p: _int = 1, margin: _float = ..., weight: Tensor | None = None, size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean') -> Tensor:
    """Hinge of the wrong classes against the right one, to the power ``p``."""
def multilabel_margin_loss(input: Tensor, target: Tensor, size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean') -> Tensor:
    """Hinge of the classes not in each target list (ended by -1) against those in it."""
def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean') -> Tensor:
    """Binary cross entropy of each class, averaged over the classes."""
def native_channel_shuffle(input: Tensor, groups: _int) -> Tensor:
    """The channels of ``(N, C, ...)`` taken in turn from each of ``groups`` groups."""
def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: _Any = None, ignore_index: _int = -100, reduce: _Any = None, reduction: _str = 'mean') -> Tensor:
    """The negated score of the right class."""
def normalize(input: Tensor, p: _float = ..., dim: _int = 1, eps: _float = ..., out: Tensor | None = None) -> Tensor:
    """``input`` divided by its norm along a dimension."""
def one_hot(tensor: Tensor, num_classes: _int = -1) -> Tensor:
    """A last dimension of zeros with a one at each class index; int64."""
def pad(input: Tensor, pad: _Sequence[_int], mode: _str = 'constant', value: _float | None = None) -> Tensor:
    """Positions added before and after in the last dimensions; negative numbers cut them off."""
def pairwise_distance(x1: Tensor, x2: Tensor, p: _float = ..., eps: _float = ..., keepdim: _bool = False, *, keepdims: _bool = False) -> Tensor:
    """Norm of ``x1 - x2 + eps`` along the last dimension, broadcast."""
def pdist(input: Tensor, p: _float = ...) -> Tensor:
    """The distances of all pairs of rows ``i < j``, row by row: ``(N, M)`` to ``(N (N - 1) / 2,)``."""
def pixel_shuffle(input: Tensor, upscale_factor: _int) -> Tensor:
    """``(..., C * r * r, H, W)`` to ``(..., C, H * r, W * r)`` for ``r = upscale_factor``."""
def pixel_unshuffle(input: Tensor, downscale_factor: _int) -> Tensor:
    """``(..., C, H * r, W * r)`` to ``(..., C * r * r, H, W)`` for ``r = downscale_factor``."""
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: _bool = True, full: _bool = False, size_average: _Any = None, eps: _float = ..., reduce: _Any = None, reduction: _str = 'mean') -> Tensor:
    """Negative log-likelihood of counts under a Poisson distribution of (log-)rate ``input``."""
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Each element, times the weight of its channel (dimension 1) where it is not positive."""
def relu(input: Tensor, inplace: _bool = False) -> Tensor:
    """Each element, or 0 where it is negative."""
def relu6(input: Tensor, inplace: _bool = False) -> Tensor:
    """Each element limited to ``[0, 6]``."""
def relu_(input: Tensor) -> Tensor:
    """`relu` written into ``input``."""
def rms_norm(input: Tensor, normalized_shape: _Sequence[_int], weight: Tensor | None = None, eps: _float | None = None) -> Tensor:
    """Mean square 1 over the last dimensions (``normalized_shape``), then ``* weight``."""
def rrelu(input: Tensor, lower: _float = ..., upper: _float = ..., training: _bool = False, inplace: _bool = False) -> Tensor:
    """``input`` where positive, else ``input`` times a slope."""
def rrelu_(input: Tensor, lower: _Number = ..., upper: _Number = ..., training: _bool = False, generator: _Generator | None = None) -> Tensor:
    """`rrelu` that overwrites ``input``."""
def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: _float = ..., is_causal: _bool = False, *, scale: _float | None = None, enable_gqa: _bool = False) -> Tensor:
    """``softmax(query @ key.T * scale + attn_mask) @ value``, heads and batches in leading dimensions."""
def selu(input: Tensor, inplace: _bool = False) -> Tensor:
    """The exponential linear unit whose constants keep mean 0 and variance 1."""
def selu_(input: Tensor, *args: _Any, **kwargs: _Any) -> Tensor:
    """`selu` written into ``input``."""
def sigmoid(input: Tensor) -> Tensor:
    """``1 / (1 + exp(-input))``."""
def silu(input: Tensor, inplace: _bool = False) -> Tensor:
    """``input * sigmoid(input)``."""
def smooth_l1_loss(input: Tensor, target: Tensor, size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean', beta: _float = ...) -> Tensor:
    """``0.5 d ** 2 / beta`` where the difference is below ``beta``, ``|d| - 0.5 beta`` above."""
def soft_margin_loss(input: Tensor, target: Tensor, size_average: _Any = None, reduce: _Any = None, reduction: _str = 'mean') -> Tensor:
    """``log(1 + exp(-target * input))`` for targets 1 and -1."""
def softmax(input: Tensor, dim: _int | None = None, _stacklevel: _int = 3, dtype: _dtype | None = None) -> Tensor:
    """Exponentials along ``dim``, scaled to add up to 1; ``dtype`` is converted to first."""
def softmin(input: Tensor, dim: _int | None = None, _stacklevel: _int = 3, dtype: _dtype | None = None) -> Tensor:
    """`softmax` of minus ``input``."""
def softplus(input: Tensor, beta: _Number = ..., threshold: _Number = ..., *, out: Tensor | None = None) -> Tensor:
    """``log(1 + exp(beta * input)) / beta``, and ``input`` itself above the threshold."""
def softshrink(input: Tensor, lambd: _Number = ..., *, out: Tensor | None = None) -> Tensor:
    """Each element moved towards zero by ``lambd``; within it a zero of the same sign."""
def softsign(input: Tensor) -> Tensor:
    """``input / (1 + |input|)``."""
def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent of each element."""
def tanhshrink(input: Tensor) -> Tensor:
    """``input - tanh(input)``."""
def threshold(input: Tensor, threshold: _float, value: _float, inplace: _bool = False) -> Tensor:
    """Each element, or ``value`` where it does not exceed ``threshold``."""
def threshold_(input: Tensor, *args: _Any, **kwargs: _Any) -> Tensor:
    """`threshold` written into ``input``."""
def unfold(input: Tensor, kernel_size: _Any, dilation: _Any = 1, padding: _Any = 0, stride: _Any = 1) -> Tensor:
    """Sliding blocks of images ``(N, C, H, W)`` or ``(C, H, W)`` as columns."""

"""Layers and losses as functions, with Paddle's names and arguments: a line each."""

from __future__ import annotations

from .. import _table as _table_of_tensors
from .._rows import rows as _rows
from . import _nets

_NAMES = {**_table_of_tensors.NAMES, "N": _nets}

FUNCTIONS = _rows("nn.functional", """
relu(x) = F.relu(x)
relu_(x) = F.relu_(x)
relu6(x) = F.relu6(x)
sigmoid(x) = J.sigmoid(x)
tanh(x) = J.tanh(x)
silu(x) = F.silu(x)
swish(x) = F.silu(x)
mish(x) = F.mish(x)
softsign(x) = F.softsign(x)
tanhshrink(x) = F.tanhshrink(x)
hardswish(x) = F.hardswish(x)
log_sigmoid(x) = F.logsigmoid(x)
gelu(x, approximate=False) = F.gelu(x, approximate='tanh' if approximate else 'none')
elu(x, alpha=1.0) = F.elu(x, alpha)
celu(x, alpha=1.0) = F.celu(x, alpha)
selu(x, scale=1.0507009873554805, alpha=1.6732632423543772) =
    J.where(x > 0, scale * x, scale * alpha * J.expm1(x))
leaky_relu(x, negative_slope=0.01) = F.leaky_relu(x, negative_slope)
prelu(x, weight, data_format='NCHW') = F.prelu(N.first(x, data_format), weight)
hardtanh(x, min=-1.0, max=1.0) = F.hardtanh(x, min, max)
hardshrink(x, threshold=0.5) = F.hardshrink(x, threshold)
hardsigmoid(x, slope=0.1666667, offset=0.5) = J.clamp(slope * x + offset, 0, 1)
softshrink(x, threshold=0.5) = F.softshrink(x, threshold)
softplus(x, beta=1, threshold=20) = F.softplus(x, beta, threshold)
thresholded_relu(x, threshold=1.0, value=0.0) = F.threshold(x, threshold, value)
softmax(x, axis=-1, dtype=None) = F.softmax(x, axis, dtype=dtype_of(dtype))
log_softmax(x, axis=-1, dtype=None) = F.log_softmax(x, axis, dtype=dtype_of(dtype))
gumbel_softmax(x, temperature=1.0, hard=False, axis=-1) = F.gumbel_softmax(x, temperature, hard, dim=axis)
glu(x, axis=-1) = F.glu(x, axis)
linear(x, weight, bias=None) = N.linear(x, weight, bias)
bilinear(x1, x2, weight, bias=None) = F.bilinear(x1, x2, weight, None if bias is None else bias.reshape(-1))
embedding(x, weight, padding_idx=None, sparse=False) = F.embedding(x, weight, padding_idx)
one_hot(x, num_classes) = F.one_hot(x, num_classes).to(J.get_default_dtype())
dropout(x, p=0.5, axis=None, training=True, mode='upscale_in_train') = N.dropout(x, p, axis, training, mode)
dropout2d(x, p=0.5, training=True, data_format='NCHW') = F.dropout2d(N.first(x, data_format), p, training)
dropout3d(x, p=0.5, training=True, data_format='NCDHW') = F.dropout3d(N.first(x, data_format), p, training)
alpha_dropout(x, p=0.5, training=True) = F.alpha_dropout(x, p, training)
conv1d(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, data_format='NCL') =
    N.conv(F.conv1d, x, weight, bias, stride, padding, dilation, groups, data_format)
conv2d(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, data_format='NCHW') =
    N.conv(F.conv2d, x, weight, bias, stride, padding, dilation, groups, data_format)
conv3d(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, data_format='NCDHW') =
    N.conv(F.conv3d, x, weight, bias, stride, padding, dilation, groups, data_format)
conv1d_transpose(x, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1,
    data_format='NCL') =
    N.conv_transpose(F.conv_transpose1d, x, weight, bias, stride, padding, output_padding, groups, dilation,
    data_format)
conv2d_transpose(x, weight, bias=None, stride=1, padding=0, output_padding=0, dilation=1, groups=1,
    data_format='NCHW') =
    N.conv_transpose(F.conv_transpose2d, x, weight, bias, stride, padding, output_padding, groups, dilation,
    data_format)
max_pool1d(x, kernel_size, stride=None, padding=0, return_mask=False, ceil_mode=False) =
    N.max_pool(F.max_pool1d, x, kernel_size, stride, padding, return_mask, ceil_mode, 'NCL')
max_pool2d(x, kernel_size, stride=None, padding=0, return_mask=False, ceil_mode=False, data_format='NCHW') =
    N.max_pool(F.max_pool2d, x, kernel_size, stride, padding, return_mask, ceil_mode, data_format)
max_pool3d(x, kernel_size, stride=None, padding=0, return_mask=False, ceil_mode=False, data_format='NCDHW') =
    N.max_pool(F.max_pool3d, x, kernel_size, stride, padding, return_mask, ceil_mode, data_format)
avg_pool1d(x, kernel_size, stride=None, padding=0, exclusive=True, ceil_mode=False) =
    N.avg_pool(F.avg_pool1d, x, kernel_size, stride, padding, ceil_mode, exclusive, None, 'NCL')
avg_pool2d(x, kernel_size, stride=None, padding=0, ceil_mode=False, exclusive=True,
    divisor_override=None, data_format='NCHW') =
    N.avg_pool(F.avg_pool2d, x, kernel_size, stride, padding, ceil_mode, exclusive, divisor_override,
    data_format)
avg_pool3d(x, kernel_size, stride=None, padding=0, ceil_mode=False, exclusive=True,
    divisor_override=None, data_format='NCDHW') =
    N.avg_pool(F.avg_pool3d, x, kernel_size, stride, padding, ceil_mode, exclusive, divisor_override,
    data_format)
adaptive_avg_pool1d(x, output_size) = F.adaptive_avg_pool1d(x, output_size)
adaptive_avg_pool2d(x, output_size, data_format='NCHW') =
    F.adaptive_avg_pool2d(N.first(x, data_format), output_size)
adaptive_avg_pool3d(x, output_size, data_format='NCDHW') =
    F.adaptive_avg_pool3d(N.first(x, data_format), output_size)
adaptive_max_pool1d(x, output_size, return_mask=False) = F.adaptive_max_pool1d(x, output_size, return_mask)
adaptive_max_pool2d(x, output_size, return_mask=False) = F.adaptive_max_pool2d(x, output_size, return_mask)
adaptive_max_pool3d(x, output_size, return_mask=False) = F.adaptive_max_pool3d(x, output_size, return_mask)
pad(x, pad, mode='constant', value=0.0, data_format='NCHW') = N.pad(x, pad, mode, value, data_format)
unfold(x, kernel_sizes, strides=1, paddings=0, dilations=1) =
    F.unfold(x, kernel_sizes, dilations, paddings, strides)
fold(x, output_sizes, kernel_sizes, strides=1, paddings=0, dilations=1) =
    F.fold(x, output_sizes, kernel_sizes, dilations, paddings, strides)
pixel_shuffle(x, upscale_factor, data_format='NCHW') =
    F.pixel_shuffle(N.first(x, data_format), upscale_factor)
pixel_unshuffle(x, downscale_factor, data_format='NCHW') =
    F.pixel_unshuffle(N.first(x, data_format), downscale_factor)
channel_shuffle(x, groups, data_format='NCHW') = F.channel_shuffle(N.first(x, data_format), groups)
interpolate(x, size=None, scale_factor=None, mode='nearest', align_corners=False, align_mode=0,
    data_format='NCHW') =
    N.interpolate(x, size, scale_factor, mode, align_corners, data_format)
layer_norm(x, normalized_shape, weight=None, bias=None, epsilon=1e-05) =
    F.layer_norm(x, ints(normalized_shape), weight, bias, epsilon)
batch_norm(x, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.9,
    epsilon=1e-05, data_format='NCHW', use_global_stats=None) =
    N.batch_norm(x, running_mean, running_var, weight, bias, training, momentum, epsilon, data_format,
    use_global_stats)
instance_norm(x, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True,
    momentum=0.9, eps=1e-05, data_format='NCHW') =
    F.instance_norm(N.first(x, data_format), running_mean, running_var, weight, bias, use_input_stats, 1 -
    momentum, eps)
group_norm(x, num_groups, epsilon=1e-05, weight=None, bias=None, data_format='NCHW') =
    F.group_norm(N.first(x, data_format), num_groups, weight, bias, epsilon)
local_response_norm(x, size, alpha=0.0001, beta=0.75, k=1.0, data_format='NCHW') =
    F.local_response_norm(N.first(x, data_format), size, alpha, beta, k)
normalize(x, p=2, axis=1, epsilon=1e-12) = N.normalize(x, p, axis, epsilon)
cosine_similarity(x1, x2, axis=1, eps=1e-08) = F.cosine_similarity(x1, x2, axis, eps)
pairwise_distance(x, y, p=2.0, epsilon=1e-06, keepdim=False) = F.pairwise_distance(x, y, p, epsilon, keepdim)
scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False,
    training=True) =
    N.attention(query, key, value, attn_mask, dropout_p, is_causal, training)
cross_entropy(input, label, weight=None, ignore_index=-100, reduction='mean', soft_label=False, axis=-1,
    use_softmax=True, label_smoothing=0.0) =
    N.cross_entropy(input, label, weight, ignore_index, reduction, soft_label, axis, use_softmax,
    label_smoothing)
softmax_with_cross_entropy(logits, label, soft_label=False, ignore_index=-100, axis=-1) =
    N.cross_entropy(logits, label, None, ignore_index, 'none', soft_label, axis, True, 0.0)
nll_loss(input, label, weight=None, ignore_index=-100, reduction='mean') =
    F.nll_loss(input, label, weight, ignore_index=ignore_index, reduction=reduction)
mse_loss(input, label, reduction='mean') = N.reduced((input - label) ** 2, reduction)
square_error_cost(input, label) = (input - label) ** 2
l1_loss(input, label, reduction='mean') = N.reduced((input - label).abs(), reduction)
smooth_l1_loss(input, label, reduction='mean', delta=1.0) =
    F.huber_loss(input, label, reduction=reduction, delta=delta)
binary_cross_entropy(input, label, weight=None, reduction='mean') =
    F.binary_cross_entropy(input, label, weight, reduction=reduction)
binary_cross_entropy_with_logits(logit, label, weight=None, reduction='mean', pos_weight=None) =
    F.binary_cross_entropy_with_logits(logit, label, weight, reduction=reduction, pos_weight=pos_weight)
kl_div(input, label, reduction='mean', log_target=False) =
    F.kl_div(input, label, reduction='batchmean', log_target=log_target) if reduction == 'batchmean' else
    N.reduced(F.kl_div(input, label, reduction='none', log_target=log_target), reduction)
log_loss(input, label, epsilon=0.0001) =
    -label * J.log(input + epsilon) - (1 - label) * J.log(1 - input + epsilon)
soft_margin_loss(input, label, reduction='mean') =
    F.soft_margin_loss(input, label.to(input.dtype), reduction=reduction)
margin_ranking_loss(input, other, label, margin=0.0, reduction='mean') =
    F.margin_ranking_loss(input, other, label, margin, reduction=reduction)
hinge_embedding_loss(input, label, margin=1.0, reduction='mean') =
    F.hinge_embedding_loss(input, label, margin, reduction=reduction)
cosine_embedding_loss(input1, input2, label, margin=0, reduction='mean') =
    F.cosine_embedding_loss(input1, input2, label, margin, reduction=reduction)
triplet_margin_loss(input, positive, negative, margin=1.0, p=2.0, epsilon=1e-06, swap=False,
    reduction='mean') =
    F.triplet_margin_loss(input, positive, negative, margin, p, epsilon, swap, reduction=reduction)
label_smooth(label, prior_dist=None, epsilon=0.1) =
    (1 - epsilon) * label + epsilon * (1 / label.shape[-1] if prior_dist is None else prior_dist)
""", _NAMES)

globals().update(FUNCTIONS)

"""Batch norms in eval mode taken into the weights of the layer before them."""

from __future__ import annotations

import copy

from jaxflow import _functions as functions
from jaxflow._core.tensor import Tensor
from jaxflow.nn.modules.batchnorm import _BatchNorm
from jaxflow.nn.modules.conv import _ConvNd
from jaxflow.nn.modules.linear import Linear
from jaxflow.nn.parameter import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]


def _check(layer: _ConvNd | Linear, bn: _BatchNorm) -> None:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")


def _check_statistics(bn: _BatchNorm) -> None:
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")


def fuse_conv_bn_eval(conv: _ConvNd, bn: _BatchNorm, transpose: bool = False) -> _ConvNd:
    """A copy of a convolution that computes what it and the batch norm after it do.

    Args:
        conv: a convolution in eval mode.
        bn: a batch norm in eval mode, with running statistics.
        transpose: whether ``conv`` is a transposed convolution.

    Returns:
        The copy.

    Raises:
        AssertionError: in training mode, or without running statistics.

    Example:
        >>> conv, bn = nn.Conv1d(1, 1, 1).eval(), nn.BatchNorm1d(1).eval()
        >>> x = torch.ones(1, 1, 2)
        >>> torch.allclose(nn.utils.fuse_conv_bn_eval(conv, bn)(x), bn(conv(x)))
        True
    """
    _check(conv, bn)
    fused = copy.deepcopy(conv)
    _check_statistics(bn)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose)
    return fused


def fuse_conv_bn_weights(conv_w: Tensor, conv_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float,
                         bn_w: Tensor | None, bn_b: Tensor | None,
                         transpose: bool = False) -> tuple[Parameter, Parameter]:
    """Weight and bias of a convolution with those of the batch norm after it taken in.

    Args:
        conv_w, conv_b: those of the convolution; None is a bias of zeros.
        bn_rm, bn_rv, bn_eps: mean and variance of the batch norm, and what is added to the latter.
        bn_w, bn_b: factor and bias of the batch norm; None is ones and zeros.
        transpose: whether channels that come out are the second dimension of ``conv_w``.

    Returns:
        The new weight and bias, of the dtypes of the old ones.

    Example:
        >>> one = torch.ones(1)
        >>> weight, bias = nn.utils.fuse_conv_bn_weights(torch.ones(1, 1, 1), None, one, one, 0.0, one, one)
        >>> weight.item(), bias.item()
        (1.0, 0.0)
    """
    bias_dtype = conv_w.dtype if conv_b is None else conv_b.dtype
    conv_b = functions.zeros_like(bn_rm) if conv_b is None else conv_b
    bn_w = functions.ones_like(bn_rm) if bn_w is None else bn_w
    bn_b = functions.zeros_like(bn_rm) if bn_b is None else bn_b
    scale = functions.rsqrt(bn_rv + bn_eps)
    shape = [1, -1] if transpose else [-1, 1]
    factor = (bn_w * scale).reshape(shape + [1] * (conv_w.ndim - 2))
    weight = (conv_w * factor).to(dtype=conv_w.dtype)
    bias = ((conv_b - bn_rm) * scale * bn_w + bn_b).to(dtype=bias_dtype)
    return Parameter(weight, conv_w.requires_grad), Parameter(bias, conv_b.requires_grad)


def fuse_linear_bn_eval(linear: Linear, bn: _BatchNorm) -> Linear:
    """A copy of a linear layer that computes what it and the batch norm after it do.

    Args:
        linear: a layer in eval mode.
        bn: a batch norm in eval mode, with running statistics, of as many features as come out, or one.

    Returns:
        The copy.

    Raises:
        AssertionError: in training mode, without running statistics, or for other numbers of features.

    Example:
        >>> linear, bn = nn.Linear(2, 3).eval(), nn.BatchNorm1d(3).eval()
        >>> x = torch.ones(1, 2)
        >>> torch.allclose(nn.utils.fuse_linear_bn_eval(linear, bn)(x), bn(linear(x)))
        True
    """
    _check(linear, bn)
    fused = copy.deepcopy(linear)
    if bn.num_features not in (1, linear.out_features):
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, got "
            f"linear.out_features={linear.out_features} and bn.num_features={bn.num_features}")
    _check_statistics(bn)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias)
    return fused


def fuse_linear_bn_weights(linear_w: Tensor, linear_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor,
                           bn_eps: float, bn_w: Tensor, bn_b: Tensor) -> tuple[Parameter, Parameter]:
    """Weight and bias of a linear layer with those of the batch norm after it taken in.

    Args:
        linear_w, linear_b: those of the layer; None is a bias of zeros.
        bn_rm, bn_rv, bn_eps: mean and variance of the batch norm, and what is added to the latter.
        bn_w, bn_b: factor and bias of the batch norm.

    Returns:
        The new weight and bias, of the dtypes of the old ones.

    Example:
        >>> one = torch.ones(1)
        >>> weight, bias = nn.utils.fuse_linear_bn_weights(torch.ones(1, 1), None, one, one, 0.0, one, one)
        >>> weight.item(), bias.item()
        (1.0, 0.0)
    """
    bias_dtype = linear_w.dtype if linear_b is None else linear_b.dtype
    linear_b = functions.zeros_like(bn_rm) if linear_b is None else linear_b
    scale = bn_w * functions.rsqrt(bn_rv + bn_eps)
    weight = linear_w * scale.unsqueeze(-1).to(dtype=linear_w.dtype)
    bias = ((linear_b - bn_rm) * scale + bn_b).to(dtype=bias_dtype)
    return Parameter(weight, linear_w.requires_grad), Parameter(bias, linear_b.requires_grad)

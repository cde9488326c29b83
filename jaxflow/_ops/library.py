"""Operations of PyTorch's operator library that are public there as the backward of others, or their core."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np

from jaxflow._core.dtype import BOOL, COMPLEX, INTEGER, float16
from jaxflow._plans.op import op

from ._layouts import of_pooled
from ._support import as_dtype, refuse, scalar_name, wide, wrap_dim
from .activation import softmax
from .norm import group_norm


def _check_backward(name, grad_output, output, dim, input_dtype) -> None:
    """Raise PyTorch's error unless both are alike and of a dtype that there is a kernel for."""
    if grad_output.dtype == np.float32 and input_dtype is float16:  # which only accelerators convert to
        raise RuntimeError("expected scalar type Float but found Half")
    if grad_output.shape != output.shape:
        raise RuntimeError(
            "Expected tensor for argument #1 'grad' to have same size as tensor for argument #2 'output'; "
            f"but {list(grad_output.shape)} does not equal {list(output.shape)} (while checking arguments "
            f"for {name})"
        )
    last = wrap_dim(dim, output.ndim) >= output.ndim - 1
    refuse(f"{name}{'_lastdim' * last}_kernel_impl", grad_output, BOOL, INTEGER, COMPLEX)
    if grad_output.dtype != output.dtype:
        raise RuntimeError(f"expected scalar type {scalar_name(grad_output)} but found {scalar_name(output)}")


def _along(output, dim):
    """The axis as a tuple: of a number there is none."""
    dim = wrap_dim(dim, output.ndim)
    return (dim,) if output.ndim else ()


@op(variants="function", saves=("grad_output", "output"))
def _softmax_backward_data(grad_output, output, /, dim: int, input_dtype):
    """The gradient of a softmax's input along ``dim``: ``output * (grad - sum(grad * output))``."""
    if not output.size:
        return grad_output
    _check_backward("softmax_backward", grad_output, output, dim, input_dtype)
    g, y = wide(grad_output), wide(output)
    total = jnp.sum(g * y, _along(output, dim), keepdims=True)
    return ((g - total) * y).astype(grad_output.dtype)


@op(variants="function", saves=("grad_output", "output"))
def _log_softmax_backward_data(grad_output, output, /, dim: int, input_dtype):
    """The gradient of a log-softmax's input along ``dim``: ``grad - exp(output) * sum(grad)``."""
    if not output.size:
        return grad_output
    _check_backward("log_softmax_backward", grad_output, output, dim, input_dtype)
    g, y = wide(grad_output), wide(output)
    total = jnp.sum(g, _along(output, dim), keepdims=True)
    return (g - jnp.exp(y) * total).astype(grad_output.dtype)


@op(variants="", saves="result")
def _safe_softmax(input, /, dim: int, dtype=None):
    """`softmax`, zero where all elements along ``dim`` are minus infinity."""
    x = as_dtype(input, dtype)
    if not jnp.issubdtype(x.dtype, np.floating):
        return softmax.fn(input, dim, dtype)
    hidden = jnp.all(x == -np.inf, _along(x, dim), keepdims=True)
    return jnp.where(hidden, 0, softmax.fn(jnp.where(hidden, 0, x), dim))


@op(variants="", differentiable=False)
def _layer_norm_moments(input, /, *, dims, eps):
    """Mean and reciprocal deviation over the last ``dims`` dimensions, as of `native_layer_norm`."""
    axes = tuple(range(input.ndim - dims, input.ndim))
    x = wide(input)
    mean = jnp.mean(x, axes, keepdims=True)
    centred = x - mean
    deviation = jnp.sqrt(jnp.mean(centred * centred, axes, keepdims=True) + jnp.asarray(eps, x.dtype))
    return as_dtype(mean, input.dtype), as_dtype(1 / deviation, input.dtype)


@op(variants="", grad_name="NativeGroupNormBackward0", layout="channels", saves=("input", "weight"))
def _native_group_norm(input, weight=None, bias=None, /, *, num_groups, eps):
    """`group_norm`, and of each sample and group the mean and the reciprocal deviation."""
    out = group_norm.fn(input, weight, bias, num_groups=num_groups, eps=eps)
    count = math.prod(input.shape[1:]) // num_groups
    x = wide(input).reshape(input.shape[0], num_groups, count)
    mean = jnp.mean(x, 2)
    centred = x - mean[..., None]
    deviation = jnp.sqrt(jnp.mean(centred * centred, 2) + jnp.asarray(eps, x.dtype))
    return out, as_dtype(mean, input.dtype), as_dtype(1 / deviation, input.dtype)


@op(variants="", saves=("indices",), grad_name="MaxPool2DWithIndicesBackwardBackward0", layout=of_pooled)
def _max_pool2d_with_indices_backward(grad_output, self, indices, /):
    """``grad_output`` added to zeros like ``self`` at ``indices`` of the last two dimensions taken as one."""
    refuse("max_pool2d_backward", self, BOOL, INTEGER, COMPLEX)
    if grad_output.dtype != self.dtype:
        raise RuntimeError(f"expected dtype {scalar_name(self)} for `grad_output` but got dtype "
                           f"{scalar_name(grad_output)}")
    images, area = math.prod(self.shape[:-2]), math.prod(self.shape[-2:])
    places = math.prod(indices.shape[-2:])
    at = indices.reshape(images, places).astype(np.int32)
    at = at + np.int32(area) * jnp.arange(images, dtype=np.int32)[:, None]
    flat = jnp.zeros(images * area, wide(self).dtype)
    added = flat.at[at].add(wide(grad_output).reshape(images, places))
    return added.reshape(self.shape).astype(self.dtype)

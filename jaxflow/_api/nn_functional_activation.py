"""Activations of ``nn.functional`` in their public form: ``inplace``, defaults and warnings."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from jaxflow._core.dtype import dtype as Dtype
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.composite import composite
from jaxflow._dispatch.door import apply
from jaxflow._dispatch.inplace import apply_inplace
from jaxflow._dispatch.op import OPS, Op
from jaxflow._ops import activation as ops

_RELU = OPS["relu"]


def _functional(fn: Callable) -> Callable:
    return composite("function", namespace="nn.functional")(fn)


def _run(op: Op, inplace: bool, *args: Any) -> Tensor:
    return apply_inplace(op, args) if inplace else apply(op, args)


@_functional
def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """``max(0, input)``; with ``inplace`` written into ``input``."""
    return _run(_RELU, inplace, input)


@_functional
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """``input`` kept between 0 and 6; with ``inplace`` written into ``input``."""
    return _run(ops.relu6, inplace, input)


@_functional
def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """``input`` kept between two bounds; with ``inplace`` written into ``input``.

    Raises:
        ValueError: when the bounds are the wrong way round.
    """
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return _run(ops.hardtanh, inplace, input, min_val, max_val)


@_functional
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``input`` where positive, else ``alpha * (exp(input) - 1)``."""
    return _run(ops.elu, inplace, input, alpha)


@_functional
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """A scaled ELU whose constants keep mean 0 and variance 1."""
    return _run(ops.selu, inplace, input)


@_functional
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``input`` where positive, else ``alpha * (exp(input / alpha) - 1)``."""
    return _run(ops.celu, inplace, input, alpha)


@_functional
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """``input`` where positive, else ``negative_slope * input``."""
    return _run(ops.leaky_relu, inplace, input, negative_slope)


@_functional
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * sigmoid(input)``."""
    return _run(ops.silu, inplace, input)


@_functional
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * tanh(softplus(input))``."""
    return _run(ops.mish, inplace, input)


@_functional
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * relu6(input + 3) / 6``."""
    return _run(ops.hardswish, inplace, input)


@_functional
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """``relu6(input + 3) / 6``."""
    return _run(ops.hardsigmoid, inplace, input)


@_functional
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """``input`` where above ``threshold``, else ``value``."""
    return _run(ops.threshold, inplace, input, threshold, value)


@_functional
def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along ``dim`` times the sigmoid of the second half.

    Raises:
        RuntimeError: when the dimension's size is odd.
    """
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    return apply(ops.glu, (input,), (dim,))


@_functional
def tanhshrink(input: Tensor) -> Tensor:
    """``input - tanh(input)``."""
    return input - input.tanh()


@_functional
def softsign(input: Tensor) -> Tensor:
    """``input / (1 + |input|)``."""
    return input / (input.abs() + 1)


@_functional
def sigmoid(input: Tensor) -> Tensor:
    """``1 / (1 + exp(-input))``."""
    return input.sigmoid()


@_functional
def tanh(input: Tensor) -> Tensor:
    """Hyperbolic tangent."""
    return input.tanh()


# ---------------------------------------------------------------------------------------- softmaxes


def _dim_for(name: str, input: Tensor, dim: int | None, stacklevel: int) -> int:
    """The dimension a softmax runs along, PyTorch's guess where none is given."""
    if dim is not None:
        return dim
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X "
        "as an argument.",
        stacklevel=stacklevel + 1,
    )
    return 0 if input.dim() in (0, 1, 3) else 1


def _softmax(op: Op, input: Tensor, dim: int, dtype: Dtype | None) -> Tensor:
    if not isinstance(dim, int):
        raise TypeError(
            f"{op.name}(): argument 'dim' (position 1) must be int, not {type(dim).__name__}"
        )
    return apply(op, (input,), (dim, dtype))


@_functional
def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Dtype | None = None
) -> Tensor:
    """Exponentials along ``dim``, divided by their sum; ``dtype`` is converted to first."""
    return _softmax(ops.softmax, input, _dim_for("softmax", input, dim, _stacklevel), dtype)


@_functional
def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Dtype | None = None
) -> Tensor:
    """Logarithm of the softmax along ``dim``; ``dtype`` is converted to first."""
    dim = _dim_for("log_softmax", input, dim, _stacklevel)
    return _softmax(ops.log_softmax, input, dim, dtype)


@_functional
def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Dtype | None = None
) -> Tensor:
    """Softmax of ``-input`` along ``dim``; ``dtype`` is converted to first."""
    dim = _dim_for("softmin", input, dim, _stacklevel)
    return _softmax(ops.softmax, -input, dim, dtype)


@_functional
def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """A softmax of ``logits`` with random noise: a differentiable draw from the categories.

    Args:
        logits: unnormalised log probabilities.
        tau: temperature.
        hard: return one-hot vectors, with the gradient of the soft ones.
        eps: deprecated, without effect.
        dim: dimension of the categories.
    """
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    noise = -logits.new_empty(logits.shape).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.argmax(dim, keepdim=True)
    one_hot = logits.new_zeros(logits.shape).scatter_(dim, index, 1.0)
    return one_hot - soft.detach() + soft

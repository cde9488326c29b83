"""Gradients of convolutions, as functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jaxflow import _functions as functions
from jaxflow._core.tensor import Tensor
from jaxflow.autograd import grad
from jaxflow.autograd.grad_mode import enable_grad, is_grad_enabled
from jaxflow.nn import functional as F


def _gradient(dims: int, of_input: bool) -> Callable:
    convolution = getattr(F, f"conv{dims}d")

    def derived(left: Tensor, right: Tensor, which: Tensor, grad_output: Tensor, options: tuple) -> Tensor:
        with enable_grad():
            output = convolution(left, right, None, *options)
        found, = grad(output, which, grad_output, create_graph=is_grad_enabled())
        return found

    # A convolution is linear in each operand, so that its gradient does not depend on its values.
    def zeros(size: Sequence[int], like: Tensor) -> Tensor:
        return functions.zeros(tuple(size), dtype=like.dtype, device=like.device, requires_grad=True)

    if of_input:
        def gradient(input_size: Sequence[int], weight: Tensor, grad_output: Tensor,
                     stride: int | Sequence[int] = 1, padding: int | Sequence[int] = 0,
                     dilation: int | Sequence[int] = 1, groups: int = 1) -> Tensor:
            input = zeros(input_size, grad_output)
            return derived(input, weight, input, grad_output, (stride, padding, dilation, groups))
    else:
        def gradient(input: Tensor, weight_size: Sequence[int], grad_output: Tensor,
                     stride: int | Sequence[int] = 1, padding: int | Sequence[int] = 0,
                     dilation: int | Sequence[int] = 1, groups: int = 1) -> Tensor:
            weight = zeros(weight_size, grad_output)
            return derived(input, weight, weight, grad_output, (stride, padding, dilation, groups))

    what = "input" if of_input else "weight"
    gradient.__name__ = gradient.__qualname__ = f"conv{dims}d_{what}"
    gradient.__doc__ = f"""The gradient of `conv{dims}d` by its {what}, whose size is given.

    The other arguments are those of the convolution, and the gradient by its result. It has a derivative.
    """
    return gradient


conv1d_input, conv1d_weight = _gradient(1, True), _gradient(1, False)
conv2d_input, conv2d_weight = _gradient(2, True), _gradient(2, False)
conv3d_input, conv3d_weight = _gradient(3, True), _gradient(3, False)

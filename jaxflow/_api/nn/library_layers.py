"""Layers and losses under the names and with the arguments of PyTorch's operator library.

``torch.layer_norm`` and its like are what ``torch.nn.functional`` calls there; programs find them in traces
and in code written for C++. Here it is the other way round.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from jaxflow._api.forms import expect_tensor
from jaxflow._core.tensor import Tensor
from jaxflow._publish.composite import composite

from .loss import cross_entropy_of_logits
from .norm import normalized_batch, normalized_groups

#: PyTorch's numbers for what is done with the losses of a batch.
_REDUCTIONS = ("none", "mean", "sum")


def _functional(name: str) -> Callable:
    """The function ``nn.functional.<name>``, which is published after these."""
    from jaxflow.nn import functional

    return getattr(functional, name)


@composite("function")
def batch_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None,
               running_var: Tensor | None, training: bool, momentum: float, eps: float,
               cudnn_enabled: bool) -> Tensor:
    """``nn.functional.batch_norm``, also of a single value a channel."""
    return normalized_batch(input, running_mean, running_var, weight, bias, training, momentum, eps)[0]


@composite("function")
def instance_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None,
                  running_var: Tensor | None, use_input_stats: bool, momentum: float, eps: float,
                  cudnn_enabled: bool) -> Tensor:
    """``nn.functional.instance_norm``."""
    return _functional("instance_norm")(
        input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
    )


@composite("function")
def group_norm(input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None,
               eps: float = 1e-5, cudnn_enabled: bool = True) -> Tensor:
    """``nn.functional.group_norm``, also of groups of a single value."""
    return normalized_groups(input, num_groups, weight, bias, eps)


@composite("function")
def layer_norm(input: Tensor, normalized_shape: Any, weight: Tensor | None = None,
               bias: Tensor | None = None, eps: float = 1e-5, cudnn_enable: bool = True) -> Tensor:
    """``nn.functional.layer_norm``."""
    return _functional("layer_norm")(input, normalized_shape, weight, bias, eps)


@composite("function")
def rms_norm(input: Tensor, normalized_shape: Any, weight: Tensor | None = None,
             eps: float | None = None) -> Tensor:
    """``nn.functional.rms_norm``."""
    return _functional("rms_norm")(input, normalized_shape, weight, eps)


@composite("function")
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``nn.functional.bilinear``."""
    return _functional("bilinear")(input1, input2, weight, bias)


@composite("function")
def embedding(weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False,
              sparse: bool = False) -> Tensor:
    """``nn.functional.embedding`` with the table first; -1 for no padding."""
    padding = None if padding_idx == -1 else padding_idx
    return _functional("embedding")(indices, weight, padding, None, 2.0, scale_grad_by_freq, sparse)


# ------------------------------------------------------------------------------------------- losses


def _loss(fn: Callable, loss: Callable | None = None) -> Callable:
    """Publish the loss of ``nn.functional`` that has this name and these parameters, ``reduction`` a number.

    Another ``loss`` where PyTorch's checks less than that. By its signature the mean is the default, but
    PyTorch's returns the losses then.
    """
    name, signature = fn.__name__, inspect.signature(fn)

    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Tensor:
        given = {"reduction": 0, **signature.bind(*args, **kwargs).arguments}
        # A number that stands for nothing leaves the losses as they are.
        given["reduction"] = dict(enumerate(_REDUCTIONS)).get(given["reduction"], "none")
        return (loss or _functional(name))(**given)

    call.__doc__ = f"``nn.functional.{name}``."
    return composite("function")(call)


def _of_logits(input: Tensor, target: Tensor, weight: Tensor | None = None,
               pos_weight: Tensor | None = None, reduction: str = "none") -> Tensor:
    expect_tensor("binary_cross_entropy_with_logits", "input", input)
    expect_tensor("binary_cross_entropy_with_logits", "target", target, 2)
    return cross_entropy_of_logits(input, target, weight, pos_weight, reduction)


@functools.partial(_loss, loss=_of_logits)
def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Tensor | None = None, pos_weight: Tensor | None = None,
    reduction: int = 1,
) -> Tensor: ...


@_loss
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0,
                          reduction: int = 1) -> Tensor: ...


@_loss
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0,
                         reduction: int = 1) -> Tensor: ...


@_loss
def kl_div(input: Tensor, target: Tensor, reduction: int = 1, *, log_target: bool = False) -> Tensor: ...


@_loss
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0,
                        reduction: int = 1) -> Tensor: ...


@_loss
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float,
                     reduction: int) -> Tensor: ...


@_loss
def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2,
                        eps: float = 1e-6, swap: bool = False, reduction: int = 1) -> Tensor: ...


# ------------------------------------------------------------------------------------- convolutions


@composite("function")
def convolution(input: Tensor, weight: Tensor, bias: Tensor | None, stride: Any, padding: Any, dilation: Any,
                transposed: bool, output_padding: Any, groups: int) -> Tensor:
    """The convolution of as many dimensions as ``weight`` has, or with ``transposed`` its transpose.

    Shapes: ``input`` (N, C, ...), ``weight`` (out, C / groups, ...), or (C, out / groups, ...) if transposed.
    """
    count = weight._aval.ndim - 2
    stride, padding, dilation, output_padding = (
        tuple(n) * count if len(n) == 1 else tuple(n)
        for n in (stride, padding, dilation, output_padding)
    )
    if transposed:
        return _functional(f"conv_transpose{count}d")(
            input, weight, bias, stride, padding, output_padding, groups, dilation
        )
    return _functional(f"conv{count}d")(input, weight, bias, stride, padding, dilation, groups)

"""Clipping gradients, by their common norm or one by one."""

from __future__ import annotations

import types
import warnings
from collections.abc import Iterable

from jaxflow import _functions as functions
from jaxflow._core.tensor import Tensor
from jaxflow.autograd.grad_mode import no_grad
from jaxflow.nn.utils._many import clamp_all, scale_all, total_norm

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
]

_Tensors = Tensor | Iterable[Tensor]


def _list(tensors: _Tensors) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _grads(parameters: _Tensors) -> list[Tensor]:
    return [p.grad for p in _list(parameters) if p.grad is not None]


@no_grad()
def get_total_norm(
    tensors: _Tensors,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The norm of all tensors taken together, as if they were one vector.

    Args:
        tensors: a tensor or several.
        norm_type: which norm; may be infinite.
        error_if_nonfinite: raise when the norm is not finite.
        foreach: accepted; all tensors go through one operation anyway.

    Returns:
        A 0-d tensor.

    Raises:
        RuntimeError: see ``error_if_nonfinite``.
    """
    tensors = _list(tensors)
    if not tensors:
        return functions.tensor(0.0)
    norm_type = float(norm_type)
    norm = total_norm(tensors, norm_type)
    if error_if_nonfinite and not norm.isfinite():
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, "
            "so it cannot be clipped. To disable this error and scale the gradients by the "
            "non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return norm


@no_grad()
def clip_grads_with_norm_(
    parameters: _Tensors, max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale the gradients of ``parameters`` by ``max_norm / total_norm`` where that is below one.

    Args:
        parameters: a tensor or several; those without a gradient are left out.
        max_norm: largest norm wanted.
        total_norm: the norm as it is.
        foreach: accepted; all gradients go through one operation anyway.
    """
    grads = _grads(parameters)
    if grads:
        # The small number keeps the factor finite; without a branch nothing waits for the norm.
        factor = float(max_norm) / (total_norm + 1e-6)
        scale_all(grads, factor.clamp(max=1.0))


@no_grad()
def clip_grad_norm_(
    parameters: _Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale the gradients of ``parameters`` in place so that their common norm is at most ``max_norm``.

    Each gradient is multiplied by ``min(1, max_norm / (norm + 1e-6))``, where ``norm`` is that of all
    gradients together, taken as one vector. From Pascanu, Mikolov and Bengio, 2013, "On the difficulty of
    training recurrent neural networks".

    Args:
        parameters: a tensor or several; those without a gradient are left out.
        max_norm: largest norm wanted.
        norm_type: which norm; may be infinite.
        error_if_nonfinite: raise when the norm is not finite.
        foreach: accepted; all gradients go through one operation anyway.

    Returns:
        The norm before clipping, a 0-d tensor.

    Raises:
        RuntimeError: see ``error_if_nonfinite``.

    Example:
        >>> weight = torch.zeros(2, requires_grad=True)
        >>> weight.grad = torch.tensor([3.0, 4.0])
        >>> nn.utils.clip_grad_norm_([weight], max_norm=1.0)
        tensor(5.)
        >>> bool(weight.grad.norm() <= 1.0)
        True
    """
    is_generator = isinstance(parameters, types.GeneratorType)
    parameters = _list(parameters)
    if is_generator and not parameters:
        warnings.warn(
            "`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=3
        )
    norm = get_total_norm(_grads(parameters), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(parameters, max_norm, norm)
    return norm


def clip_grad_norm(
    parameters: _Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Deprecated name of `clip_grad_norm_`."""
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of "
        "`torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


@no_grad()
def clip_grad_value_(
    parameters: _Tensors, clip_value: float, foreach: bool | None = None
) -> None:
    """Keep every element of the gradients of ``parameters`` within ``clip_value`` of zero, in
    place.

    Args:
        parameters: a tensor or several; those without a gradient are left out.
        clip_value: the bound.
        foreach: accepted without effect.
    """
    clamp_all(_grads(parameters), float(clip_value))

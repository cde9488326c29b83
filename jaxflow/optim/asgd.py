"""Averaged stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable

from jaxflow._core.tensor import Tensor
from jaxflow._ops import optim as rules

from ._rule import RuleOptimizer, check_common


class ASGD(RuleOptimizer):
    """Gradient descent with a decaying rate that keeps the average of its iterates in ``ax``.

    With the gradient ``g`` and the number of the step ``t``, which starts at 1; ``eta`` is ``lr`` and
    ``mu`` is 1 in the first step::

        p = p * (1 - lambd * eta) - eta * g
        ax = ax + mu * (p - ax)
        eta = lr / (1 + lambd * lr * t)^alpha,  mu = 1 / max(1, t - t0)     for the next step

    The parameters themselves are not averaged: the average is ``state[p]["ax"]``. From Polyak and
    Juditsky, "Acceleration of stochastic approximation by averaging", 1992.

    Args:
        params: tensors, ``(name, tensor)`` pairs, or dicts (one a group) with a ``params`` entry and the
            group's own options; leaf tensors of a floating point or complex dtype.
        lr: learning rate, at least 0: a number or a tensor of one element.
        lambd: decay of the parameters and of the rate.
        alpha: power with which the rate decays.
        t0: the step after which averaging begins; until then ``ax`` is the parameter itself.
        weight_decay: at least 0; ``weight_decay * p`` is added to the gradient.
        foreach: accepted; every step is one multi-tensor update anyway.
        maximize: go up along the gradient instead of down.
        differentiable: record the step for backward, so that gradients pass through it.
        capturable: accepted; a step never waits for the device anyway.

    Raises:
        ValueError: for a negative ``lr`` or ``weight_decay``.

    Example:
        >>> p = nn.Parameter(torch.tensor([0.0]))
        >>> optimizer = torch.optim.ASGD([p], lr=0.5, lambd=0.0, t0=0)
        >>> for _ in range(3):
        ...     p.grad = torch.ones(1)
        ...     optimizer.step()
        >>> p.tolist(), optimizer.state[p]["ax"].tolist()
        ([-1.5], [-1.25])
    """

    _op, _hypers = rules.asgd, "lr lambd alpha t0 weight_decay"
    _elementwise = ("ax",)
    _scalars = ("step", "eta", "mu")
    _missing = dict(foreach=None, maximize=False, differentiable=False, capturable=False)

    def __init__(
        self,
        params: Iterable,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_common(lr, weight_decay=weight_decay)
        defaults = dict(
            lr=lr,
            lambd=lambd,
            alpha=alpha,
            t0=t0,
            weight_decay=weight_decay,
            foreach=foreach,
            maximize=maximize,
            differentiable=differentiable,
            capturable=capturable,
        )
        super().__init__(params, defaults)

    def _first_scalars(self, group: dict) -> tuple[float, ...]:
        return (0.0, float(group["lr"]), 1.0)

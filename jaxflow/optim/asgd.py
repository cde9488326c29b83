"""Averaged stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable

from jaxflow._core.tensor import Tensor
from jaxflow._ops import optim as rules

from ._rule import RuleOptimizer, check_common


class ASGD(RuleOptimizer):
    """Gradient descent with a decaying rate that keeps the average of its iterates in ``ax``.

    Raises:
        ValueError: for a negative ``lr`` or ``weight_decay``.
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

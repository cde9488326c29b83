"""NAdam."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jaxflow import Tensor
from jaxflow._ops import optim as rules

from ._rule import RuleOptimizer, check_common, decays, require


class NAdam(RuleOptimizer):
    """Adam with Nesterov momentum, whose momentum grows with the step by ``momentum_decay``.

    Raises:
        ValueError: for a hyperparameter out of its range.
    """

    _scalars = ("step", "mu_product")
    _missing = dict(
        maximize=False,
        foreach=None,
        capturable=False,
        differentiable=False,
        decoupled_weight_decay=False,
    )

    def __init__(
        self,
        params: Iterable,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_common(lr, eps, betas, weight_decay)
        require(momentum_decay >= 0.0, f"Invalid momentum_decay value: {momentum_decay}")
        defaults = dict(
            lr=lr,
            betas=betas,
            eps=eps,
            weight_decay=weight_decay,
            momentum_decay=momentum_decay,
            decoupled_weight_decay=decoupled_weight_decay,
            maximize=maximize,
            foreach=foreach,
            capturable=capturable,
            differentiable=differentiable,
        )
        super().__init__(params, defaults)

    def _states(self, group: dict) -> tuple[str, ...]:
        return ("exp_avg", "exp_avg_sq")

    def _first_scalars(self, group: dict) -> tuple[float, ...]:
        return (0.0, 1.0)

    def _rule(self, group: dict, fresh: bool) -> tuple[Any, dict, dict]:
        beta1, beta2 = group["betas"]
        hypers = dict(
            lr=group["lr"],
            beta1=beta1,
            beta2=beta2,
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            momentum_decay=group["momentum_decay"],
        )
        static = dict(
            decays=decays(group["weight_decay"]),
            decoupled=bool(group["decoupled_weight_decay"]),
            maximize=bool(group["maximize"]),
        )
        return rules.nadam, hypers, static

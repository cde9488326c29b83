"""NAdam."""

from __future__ import annotations

from collections.abc import Iterable

from jaxflow._core.tensor import Tensor
from jaxflow._ops import optim as rules

from ._rule import RuleOptimizer, check_common, require


class NAdam(RuleOptimizer):
    """Adam with Nesterov momentum, whose momentum grows with the step by ``momentum_decay``.

    Raises:
        ValueError: for a hyperparameter out of its range.
    """

    _op, _hypers = rules.nadam, "lr betas eps weight_decay momentum_decay"
    _elementwise = ("exp_avg", "exp_avg_sq")
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

    def _first_scalars(self, group: dict) -> tuple[float, ...]:
        return (0.0, 1.0)

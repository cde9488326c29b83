"""RMSprop."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow._ops import optim as rules

from ._rule import RuleOptimizer, check_common, require


class RMSprop(RuleOptimizer):
    """Gradients divided by the root of their running mean square, optionally centered.

    Raises:
        ValueError: for a negative hyperparameter.
    """

    _op, _hypers = rules.rmsprop, "lr alpha eps weight_decay momentum"
    _missing = dict(
        momentum=0,
        centered=False,
        foreach=None,
        maximize=False,
        differentiable=False,
        capturable=False,
    )

    def __init__(
        self,
        params: Iterable,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_common(lr, eps)
        require(momentum >= 0.0, f"Invalid momentum value: {momentum}")
        check_common(0.0, weight_decay=weight_decay)
        require(alpha >= 0.0, f"Invalid alpha value: {alpha}")
        defaults = dict(
            lr=lr,
            momentum=momentum,
            alpha=alpha,
            eps=eps,
            centered=centered,
            weight_decay=weight_decay,
            capturable=capturable,
            foreach=foreach,
            maximize=maximize,
            differentiable=differentiable,
        )
        super().__init__(params, defaults)

    def _states(self, group: dict) -> tuple[str, ...]:
        momentum = ("momentum_buffer",) if group["momentum"] > 0 else ()
        mean = ("grad_avg",) if group["centered"] else ()
        return ("square_avg", *momentum, *mean)

    def _rule(self, group: dict, fresh: bool) -> tuple[Any, dict, dict]:
        rule, hypers, static = super()._rule(group, fresh)
        static |= dict(has_momentum=group["momentum"] > 0, centered=bool(group["centered"]))
        return rule, hypers, static

"""Rprop."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow._ops import optim as rules

from ._rule import RuleOptimizer, check_common, require


class Rprop(RuleOptimizer):
    """Resilient backpropagation: each element's step grows while its gradient keeps its sign.

    Raises:
        ValueError: for a negative ``lr``, or ``etas`` that are not below and above one.
    """

    _missing = dict(foreach=None, maximize=False, differentiable=False, capturable=False)

    def __init__(
        self,
        params: Iterable,
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_common(lr)
        require(0.0 < etas[0] < 1.0 < etas[1], f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = dict(
            lr=lr,
            etas=etas,
            step_sizes=step_sizes,
            foreach=foreach,
            maximize=maximize,
            differentiable=differentiable,
            capturable=capturable,
        )
        super().__init__(params, defaults)

    def _states(self, group: dict) -> tuple[str, ...]:
        return ("prev", "step_size")

    def _first_value(self, name: str, group: dict) -> float:
        return float(group["lr"]) if name == "step_size" else 0.0

    def _rule(self, group: dict, fresh: bool) -> tuple[Any, dict, dict]:
        eta_minus, eta_plus = group["etas"]
        step_min, step_max = group["step_sizes"]
        hypers = dict(
            eta_minus=eta_minus, eta_plus=eta_plus, step_min=step_min, step_max=step_max
        )
        return rules.rprop, hypers, dict(maximize=bool(group["maximize"]))

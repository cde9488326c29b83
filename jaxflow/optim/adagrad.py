"""Adagrad."""

from __future__ import annotations

from collections.abc import Iterable

from jaxflow._core.tensor import Tensor
from jaxflow._ops import optim as rules

from ._rule import RuleOptimizer, check_common, check_fused, require


class Adagrad(RuleOptimizer):
    """Gradients divided by the root of the sum of all their squares so far.

    Raises:
        ValueError: for a negative hyperparameter.
    """

    _op, _hypers = rules.adagrad, "lr lr_decay eps weight_decay"
    _elementwise = ("sum",)
    _missing = dict(foreach=None, maximize=False, differentiable=False, fused=None)

    def __init__(
        self,
        params: Iterable,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_common(lr)
        require(lr_decay >= 0.0, f"Invalid lr_decay value: {lr_decay}")
        check_common(0.0, weight_decay=weight_decay)
        require(
            initial_accumulator_value >= 0.0,
            f"Invalid initial_accumulator_value value: {initial_accumulator_value}",
        )
        require(eps >= 0.0, f"Invalid epsilon value: {eps}")
        defaults = dict(
            lr=lr,
            lr_decay=lr_decay,
            eps=eps,
            weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value,
            foreach=foreach,
            maximize=maximize,
            differentiable=differentiable,
            fused=fused,
        )
        super().__init__(params, defaults)
        check_fused(fused, foreach, differentiable)
        for group in self.param_groups:  # PyTorch shows this state before the first step
            for param, state in zip(
                group["params"], self._new_states(group["params"], group)
            ):
                self.state[param] = state

    def _first_value(self, name: str, group: dict) -> float:
        return self.defaults["initial_accumulator_value"]

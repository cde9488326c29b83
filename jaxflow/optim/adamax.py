"""Adamax."""

from __future__ import annotations

from collections.abc import Iterable

from jaxflow._core.tensor import Tensor
from jaxflow._ops import optim as rules

from ._rule import RuleOptimizer, check_common


class Adamax(RuleOptimizer):
    """Adam with a decaying maximum of the gradient's size in place of its mean square.

    Raises:
        ValueError: for a hyperparameter out of its range.
    """

    _op, _hypers = rules.adamax, "lr betas eps weight_decay"
    _elementwise = ("exp_avg", "exp_inf")
    _missing = dict(foreach=None, maximize=False, differentiable=False, capturable=False)

    def __init__(
        self,
        params: Iterable,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_common(lr, eps, betas, weight_decay)
        defaults = dict(
            lr=lr,
            betas=betas,
            eps=eps,
            weight_decay=weight_decay,
            foreach=foreach,
            maximize=maximize,
            differentiable=differentiable,
            capturable=capturable,
        )
        super().__init__(params, defaults)

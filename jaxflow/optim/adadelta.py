"""Adadelta."""

from __future__ import annotations

from collections.abc import Iterable

from jaxflow._core.tensor import Tensor
from jaxflow._ops import optim as rules

from ._rule import RuleOptimizer, check_common, require


class Adadelta(RuleOptimizer):
    """Steps whose size follows the running size of earlier steps; ``lr`` only scales them.

    Raises:
        ValueError: for a hyperparameter out of its range.
    """

    _op, _hypers = rules.adadelta, "lr rho eps weight_decay"
    _elementwise = ("square_avg", "acc_delta")
    _missing = dict(foreach=None, maximize=False, differentiable=False, capturable=False)

    def __init__(
        self,
        params: Iterable,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_common(lr)
        require(0.0 <= rho <= 1.0, f"Invalid rho value: {rho}")
        check_common(0.0, eps, weight_decay=weight_decay)
        defaults = dict(
            lr=lr,
            rho=rho,
            eps=eps,
            weight_decay=weight_decay,
            maximize=maximize,
            capturable=capturable,
            foreach=foreach,
            differentiable=differentiable,
        )
        super().__init__(params, defaults)

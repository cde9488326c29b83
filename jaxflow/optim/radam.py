"""RAdam."""

from __future__ import annotations

from collections.abc import Iterable

from jaxflow._core.tensor import Tensor
from jaxflow._ops import optim as rules

from ._rule import RuleOptimizer, check_common


class RAdam(RuleOptimizer):
    """Adam that rescales by the mean square only once enough steps stand behind it.

    Raises:
        ValueError: for a hyperparameter out of its range.
    """

    _op, _hypers = rules.radam, "lr betas eps weight_decay"
    _elementwise = ("exp_avg", "exp_avg_sq")
    _missing = dict(
        foreach=None,
        maximize=False,
        differentiable=False,
        decoupled_weight_decay=False,
        capturable=False,
    )

    def __init__(
        self,
        params: Iterable,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_common(lr, eps, betas, weight_decay)
        defaults = dict(
            lr=lr,
            betas=betas,
            eps=eps,
            weight_decay=weight_decay,
            maximize=maximize,
            foreach=foreach,
            capturable=capturable,
            decoupled_weight_decay=decoupled_weight_decay,
            differentiable=differentiable,
        )
        super().__init__(params, defaults)

"""NAdam."""

from __future__ import annotations

from collections.abc import Iterable

from jaxflow._core.tensor import Tensor
from jaxflow._ops import optim as rules

from ._rule import RuleOptimizer, check_common, require


class NAdam(RuleOptimizer):
    """Adam with Nesterov momentum, whose momentum grows with the step by ``momentum_decay``.

    With the gradient ``g`` and the number of the step ``t``, which starts at 1::

        mu_t = beta1 * (1 - 0.5 * 0.96^(t * momentum_decay))
        P = mu_1 * mu_2 * ... * mu_t
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g^2
        n = (1 - mu_t) * g / (1 - P) + mu_(t+1) * m / (1 - P * mu_(t+1))
        p = p - lr * n / (sqrt(v / (1 - beta2^t)) + eps)

    From Dozat, "Incorporating Nesterov momentum into Adam", 2016.

    Args:
        params: tensors, ``(name, tensor)`` pairs, or dicts (one a group) with a ``params`` entry and the
            group's own options; leaf tensors of a floating point or complex dtype.
        lr: learning rate, at least 0: a number or a tensor of one element.
        betas: the weights ``beta1`` and ``beta2`` of the earlier mean and mean square, in ``[0, 1)``.
        eps: at least 0; added to the denominator, against division by zero.
        weight_decay: at least 0; ``weight_decay * p`` is added to the gradient.
        momentum_decay: at least 0; how fast the momentum grows towards ``beta1``.
        decoupled_weight_decay: multiply the parameter by ``1 - lr * weight_decay`` instead, as `AdamW`.
        foreach: accepted; every step is one multi-tensor update anyway.
        maximize: go up along the gradient instead of down.
        capturable: accepted; a step never waits for the device anyway.
        differentiable: record the step for backward, so that gradients pass through it.

    Raises:
        ValueError: for a hyperparameter out of its range.

    Example:
        >>> p = nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.NAdam([p], lr=0.5, betas=(0.5, 0.75), momentum_decay=0.0)
        >>> (4 * p).sum().backward()
        >>> optimizer.step()
        >>> state = optimizer.state[p]
        >>> state["exp_avg"], state["exp_avg_sq"], state["mu_product"]
        (tensor([2.]), tensor([4.]), tensor(0.2500))
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

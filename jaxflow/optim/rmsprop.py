"""RMSprop."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow._ops import optim as rules

from ._rule import RuleOptimizer, check_common, require


class RMSprop(RuleOptimizer):
    """Gradients divided by the root of their running mean square, optionally centered.

    With the gradient ``g``::

        v = alpha * v + (1 - alpha) * g^2
        a = alpha * a + (1 - alpha) * g             if centered
        d = g / (sqrt(v) + eps), or g / (sqrt(v - a^2) + eps) if centered
        b = momentum * b + d                        with momentum
        p = p - lr * d, or p - lr * b with momentum

    From Tieleman and Hinton, lecture 6.5 of the course "Neural networks for machine learning", 2012; the
    centered form is from Graves, "Generating sequences with recurrent neural networks", 2013.

    Args:
        params: tensors, ``(name, tensor)`` pairs, or dicts (one a group) with a ``params`` entry and the
            group's own options; leaf tensors of a floating point or complex dtype.
        lr: learning rate, at least 0: a number or a tensor of one element.
        alpha: at least 0: the weight of the earlier mean square.
        eps: at least 0; added to the denominator, against division by zero.
        weight_decay: at least 0; ``weight_decay * p`` is added to the gradient.
        momentum: at least 0: the factor of a running sum of the steps; 0 is without one.
        centered: divide by the root of the variance instead: the mean square less the squared mean.
        capturable: accepted; a step never waits for the device anyway.
        foreach: accepted; every step is one multi-tensor update anyway.
        maximize: go up along the gradient instead of down.
        differentiable: record the step for backward, so that gradients pass through it.

    Raises:
        ValueError: for a negative hyperparameter.

    Example:
        >>> p = nn.Parameter(torch.tensor([1.0, 1.0]))
        >>> optimizer = torch.optim.RMSprop([p], lr=0.5, alpha=0.75, eps=0.0)
        >>> (p * torch.tensor([4.0, -0.25])).sum().backward()
        >>> optimizer.step()
        >>> p.tolist()
        [0.0, 2.0]
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

    def _states(self, group: dict, kind: Any) -> tuple[str, ...]:
        momentum = ("momentum_buffer",) if group["momentum"] > 0 else ()
        mean = ("grad_avg",) if group["centered"] else ()
        return ("square_avg", *momentum, *mean)

    def _rule(self, group: dict, fresh: bool) -> tuple[Any, dict, dict]:
        rule, hypers, static = super()._rule(group, fresh)
        static |= dict(has_momentum=group["momentum"] > 0, centered=bool(group["centered"]))
        return rule, hypers, static

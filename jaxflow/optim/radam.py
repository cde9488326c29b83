"""RAdam."""

from __future__ import annotations

from collections.abc import Iterable

from jaxflow._core.tensor import Tensor
from jaxflow._ops import optim as rules

from ._rule import RuleOptimizer, check_common


class RAdam(RuleOptimizer):
    """Adam that rescales by the mean square only once enough steps stand behind it.

    With the means ``m`` and ``v`` of `Adam`, the number of the step ``t``, which starts at 1, and
    ``r_max = 2 / (1 - beta2) - 1``::

        r_t = r_max - 2 * t * beta2^t / (1 - beta2^t)
        c = sqrt((r_t - 4) * (r_t - 2) * r_max / ((r_max - 4) * (r_max - 2) * r_t))
        p = p - lr * m / (1 - beta1^t)                                          if r_t <= 5
        p = p - lr * m / (1 - beta1^t) * c * sqrt(1 - beta2^t) / (sqrt(v) + eps)     otherwise

    From Liu, Jiang, He, Chen, Liu, Gao and Han, "On the variance of the adaptive learning rate and
    beyond", 2019.

    Args:
        params: tensors, ``(name, tensor)`` pairs, or dicts (one a group) with a ``params`` entry and the
            group's own options; leaf tensors of a floating point or complex dtype.
        lr: learning rate, at least 0: a number or a tensor of one element.
        betas: the weights ``beta1`` and ``beta2`` of the earlier mean and mean square, in ``[0, 1)``.
        eps: at least 0; added to the denominator, against division by zero.
        weight_decay: at least 0; ``weight_decay * p`` is added to the gradient.
        decoupled_weight_decay: multiply the parameter by ``1 - lr * weight_decay`` instead, as `AdamW`.
        foreach: accepted; every step is one multi-tensor update anyway.
        maximize: go up along the gradient instead of down.
        capturable: accepted; a step never waits for the device anyway.
        differentiable: record the step for backward, so that gradients pass through it.

    Raises:
        ValueError: for a hyperparameter out of its range.

    Example:
        The first steps are proportional to the gradient.

        >>> p = nn.Parameter(torch.tensor([0.0, 0.0]))
        >>> optimizer = torch.optim.RAdam([p], lr=0.5, betas=(0.5, 0.999))
        >>> (p * torch.tensor([4.0, 1.0])).sum().backward()
        >>> optimizer.step()
        >>> p.tolist()
        [-2.0, -0.5]
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

"""Adamax."""

from __future__ import annotations

from collections.abc import Iterable

from jaxflow._core.tensor import Tensor
from jaxflow._ops import optim as rules

from ._rule import RuleOptimizer, check_common


class Adamax(RuleOptimizer):
    """Adam with a decaying maximum of the gradient's size in place of its mean square.

    With the gradient ``g`` and the number of the step ``t``, which starts at 1::

        m = beta1 * m + (1 - beta1) * g
        u = max(beta2 * u, abs(g) + eps)
        p = p - lr / (1 - beta1^t) * m / u

    From Kingma and Ba, "Adam: a method for stochastic optimization", 2014 (section 7.1).

    Args:
        params: tensors, ``(name, tensor)`` pairs, or dicts (one a group) with a ``params`` entry and the
            group's own options; leaf tensors of a floating point or complex dtype.
        lr: learning rate, at least 0: a number or a tensor of one element.
        betas: the weight ``beta1`` of the earlier mean, the decay ``beta2`` of the maximum; in ``[0, 1)``.
        eps: at least 0; added to the size of the gradient, against division by zero.
        weight_decay: at least 0; ``weight_decay * p`` is added to the gradient.
        foreach: accepted; every step is one multi-tensor update anyway.
        maximize: go up along the gradient instead of down.
        differentiable: record the step for backward, so that gradients pass through it.
        capturable: accepted; a step never waits for the device anyway.

    Raises:
        ValueError: for a hyperparameter out of its range.

    Example:
        >>> p = nn.Parameter(torch.tensor([1.0, 1.0]))
        >>> optimizer = torch.optim.Adamax([p], lr=0.5, betas=(0.5, 0.5), eps=0.0)
        >>> (p * torch.tensor([4.0, -8.0])).sum().backward()
        >>> optimizer.step()
        >>> p.tolist()
        [0.5, 1.5]
        >>> optimizer.state[p]["exp_inf"]
        tensor([4., 8.])
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

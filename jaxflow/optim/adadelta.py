"""Adadelta."""

from __future__ import annotations

from collections.abc import Iterable

from jaxflow._core.tensor import Tensor
from jaxflow._ops import optim as rules

from ._rule import RuleOptimizer, check_common, require


class Adadelta(RuleOptimizer):
    """Steps whose size follows the running size of earlier steps; ``lr`` only scales them.

    With the gradient ``g``::

        v = rho * v + (1 - rho) * g^2
        d = sqrt(u + eps) / sqrt(v + eps) * g
        u = rho * u + (1 - rho) * d^2
        p = p - lr * d

    From Zeiler, "ADADELTA: an adaptive learning rate method", 2012.

    Args:
        params: tensors, ``(name, tensor)`` pairs, or dicts (one a group) with a ``params`` entry and the
            group's own options; leaf tensors of a floating point or complex dtype.
        lr: factor of every step, at least 0: a number or a tensor of one element.
        rho: between 0 and 1: the weight of the earlier mean squares ``v`` and ``u``.
        eps: at least 0; added to both mean squares. It also sets the size of the first steps.
        weight_decay: at least 0; ``weight_decay * p`` is added to the gradient.
        foreach: accepted; every step is one multi-tensor update anyway.
        capturable: accepted; a step never waits for the device anyway.
        maximize: go up along the gradient instead of down.
        differentiable: record the step for backward, so that gradients pass through it.

    Raises:
        ValueError: for a hyperparameter out of its range.

    Example:
        >>> p = nn.Parameter(torch.tensor([1.0, 1.0]))
        >>> optimizer = torch.optim.Adadelta([p], rho=0.25, eps=0.25)
        >>> (p * torch.tensor([1.0, -1.0])).sum().backward()
        >>> optimizer.step()
        >>> p.tolist()
        [0.5, 1.5]
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

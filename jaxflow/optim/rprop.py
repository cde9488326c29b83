"""Rprop."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow._ops import optim as rules

from ._rule import RuleOptimizer, check_common, require


class Rprop(RuleOptimizer):
    """Resilient backpropagation: each element's step grows while its gradient keeps its sign.

    Every element has a step size ``s``, which is ``lr`` at first. With the gradient ``g`` and the one
    before it, ``g'``::

        s = min(s * eta_plus, step_max)             if g * g' > 0
        s = max(s * eta_minus, step_min), g = 0     if g * g' < 0
        p = p - sign(g) * s

    From Riedmiller and Braun, "A direct adaptive method for faster backpropagation learning: the RPROP
    algorithm", 1993. It is meant for gradients of the whole data set, not of small batches.

    Args:
        params: tensors, ``(name, tensor)`` pairs, or dicts (one a group) with a ``params`` entry and the
            group's own options; leaf tensors of a floating point or complex dtype.
        lr: first step size, at least 0: a number or a tensor of one element.
        etas: the factors ``(eta_minus, eta_plus)``, with ``0 < eta_minus < 1 < eta_plus``.
        step_sizes: the least and the largest step size.
        capturable: accepted; a step never waits for the device anyway.
        foreach: accepted; every step is one multi-tensor update anyway.
        maximize: go up along the gradient instead of down.
        differentiable: record the step for backward, so that gradients pass through it.

    Raises:
        ValueError: for a negative ``lr``, or ``etas`` that are not below and above one.

    Example:
        Two gradients of one sign give steps of 1 and of 2; a third of the other sign gives no step.

        >>> p = nn.Parameter(torch.tensor([0.0]))
        >>> optimizer = torch.optim.Rprop([p], lr=1.0, etas=(0.5, 2.0))
        >>> for gradient in (3.0, 0.5, -1.0):
        ...     p.grad = torch.tensor([gradient])
        ...     optimizer.step()
        ...     print(p.tolist(), optimizer.state[p]["step_size"].tolist())
        [-1.0] [1.0]
        [-3.0] [2.0]
        [-3.0] [1.0]
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

    def _states(self, group: dict, kind: Any) -> tuple[str, ...]:
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

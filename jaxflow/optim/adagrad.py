"""Adagrad."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow._ops import optim as rules

from ._rule import RuleOptimizer, check_common, check_fused, decays, require
from ._sparse_rows import Rows


class Adagrad(RuleOptimizer):
    """Gradients divided by the root of the sum of all their squares so far.

    With the gradient ``g`` and the number of the step ``t``, which starts at 1::

        s = s + g^2
        p = p - lr / (1 + (t - 1) * lr_decay) * g / (sqrt(s) + eps)

    From Duchi, Hazan and Singer, "Adaptive subgradient methods for online learning and stochastic
    optimization", 2011.

    Args:
        params: tensors, ``(name, tensor)`` pairs, or dicts (one a group) with a ``params`` entry and the
            group's own options; leaf tensors of a floating point or complex dtype.
        lr: learning rate, at least 0: a number or a tensor of one element.
        lr_decay: at least 0; how fast the learning rate falls with the number of steps.
        weight_decay: at least 0; ``weight_decay * p`` is added to the gradient.
        initial_accumulator_value: at least 0; what the sum ``s`` starts from.
        eps: at least 0; added to the denominator, against division by zero.
        foreach: accepted; every step is one multi-tensor update anyway.
        maximize: go up along the gradient instead of down.
        differentiable: record the step for backward, so that gradients pass through it.
        fused: accepted likewise, not together with ``foreach`` or ``differentiable``.

    Raises:
        ValueError: for a negative hyperparameter.
        RuntimeError: for ``fused`` together with ``foreach`` or ``differentiable``.

    Example:
        >>> p = nn.Parameter(torch.tensor([0.0]))
        >>> optimizer = torch.optim.Adagrad([p], lr=1.0, initial_accumulator_value=3.0, eps=0.0)
        >>> p.sum().backward()
        >>> optimizer.step()
        >>> p.tolist(), optimizer.state[p]["sum"]
        ([-0.5], tensor([4.]))
    """

    _op, _hypers = rules.adagrad, "lr lr_decay eps weight_decay"
    _elementwise = ("sum",)
    _sparse = True
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

    def _compute_sparse(self, batch: Any, targets: list, epochs: list, new: list) -> list[tuple]:
        group, param, state = batch.group, batch.params[0], batch.states[0]
        if decays(group["weight_decay"]):
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")
        rows = Rows(batch.grads[0], bool(group["maximize"]))
        step = state["step"] + 1
        total = rows.added(state["sum"], rows.values * rows.values)
        rate = group["lr"] / (1 + (step - 1) * group["lr_decay"])
        change = -rate * rows.values / (rows.of(total).sqrt() + group["eps"])
        written = (param, state["sum"], state["step"])
        targets += written
        epochs += [t._storage.epoch for t in written]
        new += [rows.added(param, change), total, step]
        return []

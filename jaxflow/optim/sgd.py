"""Stochastic gradient descent, with momentum, Nesterov's correction and weight decay."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow._ops import optim as rules

from ._rule import RuleOptimizer, check_fused, decays, require
from ._sparse_rows import Rows, SparseKind, momentum


class SGD(RuleOptimizer):
    """Stochastic gradient descent: ``p -= lr * g``; momentum makes ``g`` its running sum.

    With the gradient ``g`` (after weight decay), momentum ``m``, dampening ``d`` and a buffer ``b``,
    which is ``g`` itself at the first step::

        b = m * b + (1 - d) * g
        p = p - lr * b                  without nesterov
        p = p - lr * (g + m * b)        with nesterov

    The form of Nesterov's momentum is that of Sutskever, Martens, Dahl and Hinton, "On the importance of
    initialization and momentum in deep learning", 2013, with ``lr`` outside of the buffer.

    ``foreach``, ``fused`` choose nothing here: every step is one multi-tensor update.

    Args:
        params: tensors, ``(name, tensor)`` pairs, or dicts (one a group) with a ``params`` entry and the
            group's own options; leaf tensors of a floating point or complex dtype.
        lr: learning rate, at least 0: a number or a tensor of one element.
        momentum: at least 0: the factor of the buffer; 0 is without a buffer.
        dampening: fraction of each new gradient that the buffer leaves out; not used at the first step.
        weight_decay: at least 0, a number or a tensor; ``weight_decay * p`` is added to the gradient.
        nesterov: take Nesterov's form; needs a momentum above 0 and no dampening.
        maximize: go up along the gradient instead of down.
        foreach: accepted; every step is one multi-tensor update anyway.
        differentiable: record the step for backward, so that gradients pass through it.
        fused: accepted likewise, not together with ``foreach`` or ``differentiable``.

    Raises:
        ValueError: for a negative ``lr``, ``momentum`` or ``weight_decay``, or Nesterov momentum
            without momentum or with dampening.
        RuntimeError: for ``fused`` together with ``foreach`` or ``differentiable``.

    Example:
        >>> p = nn.Parameter(torch.tensor([0.0, 4.0]))
        >>> optimizer = torch.optim.SGD([p], lr=0.5, momentum=0.5)
        >>> for _ in range(2):
        ...     optimizer.zero_grad()
        ...     p.sum().backward()
        ...     optimizer.step()
        >>> p.tolist()
        [-1.25, 2.75]
        >>> optimizer.state[p]["momentum_buffer"]
        tensor([1.5000, 1.5000])
    """

    _scalars = ()
    _sparse = True
    _missing = dict(nesterov=False, maximize=False, foreach=None, differentiable=False, fused=False)

    def __init__(
        self,
        params: Iterable,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        if isinstance(lr, Tensor):
            require(lr.numel() == 1, "Tensor lr must be 1-element")
        require(not lr < 0.0, f"Invalid learning rate: {lr}")
        require(not momentum < 0.0, f"Invalid momentum value: {momentum}")
        require(not weight_decay < 0.0, f"Invalid weight_decay value: {weight_decay}")
        defaults = dict(
            lr=lr,
            momentum=momentum,
            dampening=dampening,
            weight_decay=weight_decay,
            nesterov=nesterov,
            maximize=maximize,
            foreach=foreach,
            differentiable=differentiable,
            fused=fused,
        )
        if nesterov:
            require(
                momentum > 0 and dampening == 0,
                "Nesterov momentum requires a momentum and zero dampening",
            )
        super().__init__(params, defaults)
        check_fused(fused, foreach, differentiable)

    def _states(self, group: dict, kind: Any) -> tuple[str, ...]:
        return ("momentum_buffer",) if group["momentum"] != 0 and kind.__class__ is not SparseKind else ()

    def _is_fresh(self, state: dict | None) -> bool:
        return not state or state.get("momentum_buffer") is None

    def _rule(self, group: dict, fresh: bool) -> tuple[Any, dict, dict]:
        # The first momentum buffer is the gradient itself: zeros plus one times the gradient, so
        # that the first step and all later ones are the same program.
        hypers = dict(
            lr=group["lr"],
            momentum=group["momentum"],
            weight_decay=group["weight_decay"],
            fresh=1.0 if fresh else 1 - group["dampening"],
        )
        static = dict(
            decays=decays(group["weight_decay"]),
            has_momentum=group["momentum"] != 0,
            nesterov=bool(group["nesterov"]),
            maximize=bool(group["maximize"]),
        )
        return rules.sgd, hypers, static

    def _compute_sparse(self, batch: Any, targets: list, epochs: list, new: list) -> list[tuple]:
        group, param, grad = batch.group, batch.params[0], batch.grads[0]
        if decays(group["weight_decay"]):
            raise RuntimeError("weight_decay is not taken together with sparse gradients: "
                               "add(sparse, dense) is not supported")
        grad, rows = -grad if group["maximize"] else grad, []
        if group["momentum"] != 0:
            mapping, state = self.state, self.state.get(param)
            buffer = momentum(state, grad, group["momentum"], group["dampening"])
            grad = grad + buffer * group["momentum"] if group["nesterov"] else buffer
            change = {"momentum_buffer": buffer}
            rows = [(dict.update, mapping, {param: change}) if state is None else (dict.update, state,
                                                                                   change)]
        found = Rows(grad, False, once=False)
        targets.append(param)
        epochs.append(param._storage.epoch)
        new.append(found.added(param, found.values * -group["lr"]))
        return rows

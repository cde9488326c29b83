"""Adam for sparse gradients: moments and parameters change where a gradient is."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from jaxflow._core.layouts import has_parts
from jaxflow._core.tensor import Tensor

from ._rule import RuleOptimizer, require
from ._sparse_rows import Rows


class SparseAdam(RuleOptimizer):
    """Adam in which only elements with a gradient move, and only their moments.

    With the sparse gradient ``g`` of step ``t`` and moments ``m`` and ``v``, where ``g`` has entries::

        m = b1 * m + (1 - b1) * g
        v = b2 * v + (1 - b2) * g ** 2
        p = p - lr * sqrt(1 - b2 ** t) / (1 - b1 ** t) * m / (sqrt(v) + eps)

    The moments of other elements do not decay. Kingma and Ba, "Adam: a method for stochastic optimization",
    2015, on rows.

    Args:
        params: dense tensors, ``(name, tensor)`` pairs, or dicts (one a group).
        lr: learning rate, above 0: a number or a tensor of one element.
        betas: ``b1`` and ``b2``, at least 0 and below 1.
        eps: added to the root, above 0.
        maximize: go up along the gradient instead of down.

    Raises:
        ValueError: for options out of range, or sparse parameters.
        RuntimeError: in a step, for a dense gradient.

    Example:
        >>> table = nn.Embedding(3, 2, sparse=True)
        >>> before = table.weight.detach().clone()
        >>> optimizer = torch.optim.SparseAdam(table.parameters(), lr=0.5)
        >>> table(torch.tensor([1])).sum().backward()
        >>> optimizer.step()
        >>> (table.weight.detach() - before).round(decimals=3)
        tensor([[ 0.0000,  0.0000],
                [-0.5000, -0.5000],
                [ 0.0000,  0.0000]])
    """

    _scalars = ()
    _elementwise = ("exp_avg", "exp_avg_sq")
    _sparse = True
    _missing = dict(maximize=False)

    def __init__(self, params: Iterable, lr: float | Tensor = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
                 eps: float = 1e-8, maximize: bool = False) -> None:
        if isinstance(lr, Tensor):
            require(lr.numel() == 1, "Tensor lr must be 1-element")
        require(0.0 < lr, f"Invalid learning rate: {lr}")
        require(0.0 < eps, f"Invalid epsilon value: {eps}")
        for i in range(2):
            require(0.0 <= betas[i] < 1.0, f"Invalid beta parameter at index {i}: {betas[i]}")
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, maximize=maximize))
        sparse = [[g, i] for g, group in enumerate(self.param_groups)
                  for i, param in enumerate(group["params"]) if has_parts(param)]
        require(not sparse, f"Sparse params at indices {sparse}: SparseAdam requires dense parameter tensors")

    def _check_grad(self, grad: Any) -> None:
        if not grad.is_sparse:
            raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")

    def _new_states(self, params: list, group: dict, kind: Any = None) -> list[dict]:
        return [dict(step=0, **state) for state in super()._new_states(params, group, kind)]

    def _entry(self, param: Any, new: dict) -> tuple:
        mapping, change, new = super()._entry(param, new)
        return mapping, change, {name: new[name] for name in self._elementwise}

    def _compute_sparse(self, batch: Any, targets: list, epochs: list, new: list) -> list[tuple]:
        group, param, state = batch.group, batch.params[0], batch.states[0]
        rows = Rows(batch.grads[0], bool(group["maximize"]))
        (beta1, beta2), step = group["betas"], state["step"] + 1
        first, second = state["exp_avg"], state["exp_avg_sq"]
        toward_first = (rows.values - rows.of(first)) * (1 - beta1)
        toward_second = (rows.values * rows.values - rows.of(second)) * (1 - beta2)
        mean, square = rows.of(first) + toward_first, rows.of(second) + toward_second
        size = group["lr"] * math.sqrt(1 - beta2**step) / (1 - beta1**step)
        written = (param, first, second)
        targets += written
        epochs += [t._storage.epoch for t in written]
        new += [rows.added(param, mean / (square.sqrt() + group["eps"]) * -size),
                rows.added(first, toward_first), rows.added(second, toward_second)]
        return [(dict.update, state, {"step": step})]

"""Adafactor."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow._ops import optim_matrices as rules

from . import _device_state
from ._rule import RuleOptimizer, decays, require


class Adafactor(RuleOptimizer):
    """Steps divided by the root of the mean square, which a matrix keeps by rows and columns only.

    With the gradient ``g``, the number of the step ``t``, which starts at 1, and ``RMS(x)``, the root of the
    mean of ``x^2``::

        b = t^beta2_decay,  size = max(eps2, RMS(p)) * min(lr, 1 / sqrt(t))
        p = p * (1 - lr * weight_decay)
        R = R + b * (mean of g^2 along the last dimension - R),  C likewise along the last but one
        V = R C / max(mean of R, eps1)          or of a vector: V = V + b * (g^2 - V)
        u = g / max(sqrt(V), eps1)
        p = p - size * u / max(1, RMS(u) / d)

    From Shazeer and Stern, "Adafactor: adaptive learning rates with sublinear memory cost", 2018; ``lr`` and
    ``eps1`` are used as in PyTorch.

    Args:
        params: tensors, ``(name, tensor)`` pairs, or dicts (one a group) with a ``params`` entry and the
            group's own options; leaf tensors of a floating point dtype.
        lr: the largest relative step, and factor of the weight decay: a number or a tensor of one element.
        beta2_decay: at most 0; how fast the running mean grows slow.
        eps: ``eps1``, None for the spacing of numbers of the parameter's dtype, and ``eps2``.
        d: at least 1; the largest root mean square of an update.
        weight_decay: at least 0, decoupled from the gradient.
        foreach: accepted; every step is one multi-tensor update anyway.
        maximize: go up along the gradient instead of down.

    Raises:
        ValueError: for a hyperparameter out of its range.
        RuntimeError: by ``step``, for complex parameters.

    Example:
        >>> p = nn.Parameter(torch.ones(2, 3))
        >>> optimizer = torch.optim.Adafactor([p], lr=0.5)
        >>> p.sum().backward()
        >>> optimizer.step()
        >>> round(p[0, 0].item(), 4), optimizer.state[p]["row_var"].shape, optimizer.state[p]["col_var"].shape
        (0.5, torch.Size([2, 1]), torch.Size([1, 3]))
    """

    _missing = dict(foreach=None)

    def __init__(
        self,
        params: Iterable,
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor):
            require(lr.numel() == 1, "Tensor lr must be 1-element")
        require(0.0 <= lr, f"Learning rate should be >= 0 but is: {lr}")
        require(0.0 >= beta2_decay, f"beta2_decay should be <= 0 but is: {beta2_decay}")
        require(eps[0] is None or 0.0 <= eps[0], f"epsilon1 should be >= 0 but is: {eps[0]}")
        require(0.0 <= eps[1], f"epsilon2 should be >= 0 but is: {eps[1]}")
        require(1.0 <= d, f"Clipping threshold d should be >= 1 but is: {d}")
        require(0.0 <= weight_decay, f"weight_decay should be >= 0 but is: {weight_decay}")
        defaults = dict(
            lr=lr,
            beta2_decay=beta2_decay,
            eps=eps,
            d=d,
            weight_decay=weight_decay,
            foreach=foreach,
            maximize=maximize,
        )
        super().__init__(params, defaults)

    def _kind(self, param: Any, grad: Any) -> bool:
        if param.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        return grad.ndim > 1

    def _states(self, group: dict, kind: bool) -> tuple[str, ...]:
        return ("row_var", "col_var") if kind else ("variance",)

    def _first_state(self, name: str, param: Any, group: dict) -> Tensor:
        if name == "variance":
            return super()._first_state(name, param, group)
        shape = list(param.shape)
        shape[-1 if name == "row_var" else -2] = 1
        return _device_state.zeros(shape, param)

    def _rule(self, group: dict, fresh: bool) -> tuple[Any, dict, dict]:
        eps1, eps2 = group["eps"]
        hypers = {name: group[name] for name in ("lr", "beta2_decay", "d", "weight_decay")}
        hypers.update(eps1=0.0 if eps1 is None else eps1, eps2=eps2)
        static = dict(decays=decays(group["weight_decay"]), own_eps=eps1 is None,
                      maximize=bool(group["maximize"]))
        return rules.adafactor, hypers, static

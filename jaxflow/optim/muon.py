"""Muon."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow._ops import optim_matrices as rules

from ._rule import RuleOptimizer, require


class Muon(RuleOptimizer):
    """Momentum whose update of a matrix has all its singular values near 1.

    With the gradient ``g``, momentum ``m`` and a buffer ``b``, which starts from 0::

        b = b + (1 - m) * (g - b)
        u = g + m * (b - g)             with nesterov, else u = b
        p = p * (1 - lr * weight_decay) - lr * ratio * orthogonal(u)

    ``orthogonal`` divides by the norm and applies ``a x + (b x x^T + c (x x^T)^2) x`` some times, in
    bfloat16. From Jordan and others, "Muon: an optimizer for hidden layers in neural networks", 2024. It
    is for the matrices of hidden layers; give other parameters to another optimizer.

    Args:
        params: tensors, ``(name, tensor)`` pairs, or dicts (one a group) with a ``params`` entry and the
            group's own options; leaf tensors of two dimensions and a floating point dtype.
        lr: learning rate, at least 0: a number or a tensor of one element.
        weight_decay: at least 0, decoupled from the gradient.
        momentum: at least 0: the share of the buffer that stays.
        nesterov: take Nesterov's form.
        ns_coefficients: the three coefficients of the polynomial.
        eps: the least norm that is divided by.
        ns_steps: how often the polynomial is applied, less than 100.
        adjust_lr_fn: ``"original"`` (also by default): ``ratio`` is the root of rows over columns, at least
            1; ``"match_rms_adamw"``: 0.2 times the root of the larger of both.

    Raises:
        ValueError: for a hyperparameter out of its range, and parameters that are no matrices; by ``step``,
            for too many steps or another number of coefficients.
        RuntimeError: by ``step``, for complex parameters.

    Example:
        >>> p = nn.Parameter(torch.zeros(2, 2))
        >>> optimizer = torch.optim.Muon([p], lr=1.0, ns_steps=20, ns_coefficients=(1.5, -0.5, 0.0))
        >>> p.grad = torch.tensor([[0.0, 3.0], [3.0, 0.0]])
        >>> optimizer.step()
        >>> p.round(decimals=1).tolist()
        [[0.0, -1.0], [-1.0, 0.0]]
    """

    _scalars = ()

    def __init__(
        self,
        params: Iterable,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        if isinstance(lr, Tensor):
            require(lr.numel() == 1, "Tensor lr must be 1-element")
        require(0.0 <= lr, f"Learning rate should be >= 0 but is: {lr}")
        require(0.0 <= momentum, f"momentum should be >= 0 but is: {momentum}")
        require(0.0 <= weight_decay, f"weight decay should be >= 0 but is: {weight_decay}")
        require(adjust_lr_fn in (None, "original", "match_rms_adamw"),
                f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = dict(
            lr=lr,
            weight_decay=weight_decay,
            momentum=momentum,
            nesterov=nesterov,
            ns_coefficients=ns_coefficients,
            eps=eps,
            ns_steps=ns_steps,
            adjust_lr_fn=adjust_lr_fn,
        )
        super().__init__(params, defaults)
        for group in self.param_groups:
            for param in group["params"]:
                require(param.ndim == 2,
                        "Muon only supports 2D parameters whereas we found a parameter with size: "
                        f"{param.size()}")

    def _kind(self, param: Any, grad: Any) -> None:
        if param.is_complex():
            raise RuntimeError("Muon does not support complex parameters")
        require(grad.ndim == 2, "Param gradient must be a 2D matrix")

    def _states(self, group: dict, kind: Any) -> tuple[str, ...]:
        return ("momentum_buffer",)

    def _is_fresh(self, state: dict | None) -> bool:
        return not state or "momentum_buffer" not in state

    def _rule(self, group: dict, fresh: bool) -> tuple[Any, dict, dict]:
        require(group["ns_steps"] < 100, "Number of steps must be less than 100 for computational efficiency")
        require(len(group["ns_coefficients"]) == 3, "Coefficients must be a tuple of exactly 3 values")
        hypers = {name: group[name] for name in ("lr", "weight_decay", "momentum", "eps")}
        hypers.update(zip("abc", group["ns_coefficients"], strict=True))
        static = dict(nesterov=bool(group["nesterov"]), steps=group["ns_steps"],
                      ratio=group["adjust_lr_fn"] or "original")
        return rules.muon, hypers, static

"""Adam, and the rule that AdamW shares with it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow._ops import optim as rules

from ._rule import RuleOptimizer, check_common, check_fused, require


def _check_betas(betas: tuple, foreach: bool | None, capturable: bool) -> None:
    tensors = [isinstance(beta, Tensor) for beta in betas]
    floats = [isinstance(beta, float) for beta in betas]
    require(all(tensors) or all(floats), "betas must be either both floats or both Tensors")
    for i in range(2):
        if tensors[i]:
            require(
                capturable or not foreach,
                f"betas[{i}] as a Tensor is not supported for capturable=False and foreach=True",
            )
            require(betas[i].numel() == 1, f"Tensor betas[{i}] must be 1-element")


class Adam(RuleOptimizer):
    """Adam: steps of about ``lr``, scaled by running means of the gradient and of its square.

    With the gradient ``g`` and the number of the step ``t``, which starts at 1::

        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g^2
        p = p - lr * (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)

    From Kingma and Ba, "Adam: a method for stochastic optimization", 2014. With ``amsgrad`` the largest
    ``v`` so far takes the place of ``v`` (Reddi, Kale and Kumar, "On the convergence of Adam and beyond",
    2018).

    ``foreach``, ``fused`` and ``capturable`` choose nothing here: every step is one multi-tensor
    update that never waits for the device. ``decoupled_weight_decay`` makes it AdamW.

    Args:
        params: tensors, ``(name, tensor)`` pairs, or dicts (one a group) with a ``params`` entry and the
            group's own options; leaf tensors of a floating point or complex dtype.
        lr: learning rate, at least 0: a number or a tensor of one element; a tensor is not taken together
            with ``foreach`` unless ``capturable``.
        betas: the weights ``beta1`` and ``beta2`` of the earlier mean and mean square, in ``[0, 1)``: two
            floats or two tensors of one element.
        eps: at least 0; added to the denominator, against division by zero.
        weight_decay: at least 0; ``weight_decay * p`` is added to the gradient.
        amsgrad: divide by the root of the largest mean square so far.
        foreach: accepted; every step is one multi-tensor update anyway.
        maximize: go up along the gradient instead of down.
        capturable: accepted; a step never waits for the device anyway.
        differentiable: record the step for backward, so that gradients pass through it.
        fused: accepted likewise, not together with ``foreach`` or ``differentiable``.
        decoupled_weight_decay: multiply the parameter by ``1 - lr * weight_decay`` instead, as `AdamW`.

    Raises:
        ValueError: for a hyperparameter out of its range, or only one of ``betas`` a tensor.
        RuntimeError: for ``fused`` together with ``foreach`` or ``differentiable``.

    Example:
        Gradients of very different sizes move the parameter by the same ``lr``.

        >>> p = nn.Parameter(torch.tensor([1.0, 1.0]))
        >>> optimizer = torch.optim.Adam([p], lr=0.5, betas=(0.5, 0.75), eps=0.0)
        >>> (p * torch.tensor([4.0, -0.25])).sum().backward()
        >>> optimizer.step()
        >>> p.tolist()
        [0.5, 1.5]
    """

    _op, _hypers = rules.adam, "lr betas eps weight_decay"
    _missing = dict(
        amsgrad=False,
        maximize=False,
        foreach=None,
        capturable=False,
        differentiable=False,
        decoupled_weight_decay=False,
        fused=None,
    )

    def __init__(
        self,
        params: Iterable,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        if isinstance(lr, Tensor):
            require(
                capturable or not foreach,
                "lr as a Tensor is not supported for capturable=False and foreach=True",
            )
        check_common(lr, eps, betas, weight_decay)
        _check_betas(betas, foreach, capturable)
        defaults = dict(
            lr=lr,
            betas=tuple(b.squeeze() if isinstance(b, Tensor) and b.dim() else b for b in betas),
            eps=eps,
            weight_decay=weight_decay,
            amsgrad=amsgrad,
            maximize=maximize,
            foreach=foreach,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=decoupled_weight_decay,
        )
        super().__init__(params, defaults)
        check_fused(fused, foreach, differentiable)

    def _states(self, group: dict, kind: Any) -> tuple[str, ...]:
        peak = ("max_exp_avg_sq",) if group["amsgrad"] else ()
        return ("exp_avg", "exp_avg_sq", *peak)

    def _check_grad(self, grad: Any) -> None:
        if grad.is_sparse:
            raise RuntimeError(
                "Adam does not support sparse gradients, please consider SparseAdam instead"
            )

    def _rule(self, group: dict, fresh: bool) -> tuple[Any, dict, dict]:
        if group["foreach"] and isinstance(group["lr"], Tensor) and not group["capturable"]:
            raise RuntimeError(
                "lr as a Tensor is not supported for capturable=False and foreach=True"
            )
        rule, hypers, static = super()._rule(group, fresh)
        return rule, hypers, static | dict(amsgrad=bool(group["amsgrad"]))

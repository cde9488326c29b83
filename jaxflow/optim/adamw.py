"""AdamW: Adam with decoupled weight decay."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jaxflow._core.tensor import Tensor

from .adam import Adam


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameters directly instead of entering the gradient.

    Each step does ``p = p * (1 - lr * weight_decay)`` and then the update of `Adam` without weight decay.
    From Loshchilov and Hutter, "Decoupled weight decay regularization", 2019.

    Args:
        params: tensors, ``(name, tensor)`` pairs, or dicts (one a group) with a ``params`` entry and the
            group's own options; leaf tensors of a floating point or complex dtype.
        lr: learning rate, at least 0: a number or a tensor of one element; a tensor is not taken together
            with ``foreach`` unless ``capturable``.
        betas: the weights of the earlier mean and mean square, in ``[0, 1)``: two floats or two tensors of
            one element.
        eps: at least 0; added to the denominator, against division by zero.
        weight_decay: at least 0; how much the parameter shrinks in a step, times ``lr``.
        amsgrad: divide by the root of the largest mean square so far.
        maximize: go up along the gradient instead of down.
        foreach: accepted; every step is one multi-tensor update anyway.
        capturable: accepted; a step never waits for the device anyway.
        differentiable: record the step for backward, so that gradients pass through it.
        fused: accepted likewise, not together with ``foreach`` or ``differentiable``.

    Raises:
        ValueError: for a hyperparameter out of its range, or only one of ``betas`` a tensor.
        RuntimeError: for ``fused`` together with ``foreach`` or ``differentiable``.

    Example:
        Where the gradient is zero, only the decay is left: ``4 * (1 - 0.5 * 0.5)``.

        >>> p = nn.Parameter(torch.tensor([4.0]))
        >>> optimizer = torch.optim.AdamW([p], lr=0.5, weight_decay=0.5)
        >>> p.grad = torch.zeros(1)
        >>> optimizer.step()
        >>> p.tolist()
        [3.0]
    """

    def __init__(
        self,
        params: Iterable,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            maximize=maximize,
            foreach=foreach,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:  # whatever a checkpoint says, AdamW stays AdamW
            group["decoupled_weight_decay"] = True

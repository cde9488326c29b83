"""AdamW: Adam with decoupled weight decay."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jaxflow._core.tensor import Tensor

from .adam import Adam


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameters directly instead of entering the gradient."""

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

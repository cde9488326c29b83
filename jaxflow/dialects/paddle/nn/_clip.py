"""Gradient clipping: what an optimizer's ``grad_clip`` does to the gradients before a step."""

from __future__ import annotations

from typing import Any

import jaxflow
from jaxflow.nn import utils


class ClipGradByValue:
    """Every element of every gradient within ``[min, max]``; ``min`` is ``-max`` if not given."""

    def __init__(self, max: float, min: float | None = None) -> None:
        self.max, self.min = float(max), -float(max) if min is None else float(min)

    def clip(self, parameters: list) -> None:
        """Change the gradients of ``parameters`` in place."""
        with jaxflow.no_grad():
            for p in parameters:
                p._grad.clamp_(self.min, self.max)


class ClipGradByNorm:
    """Every gradient scaled to a norm of at most ``clip_norm``."""

    def __init__(self, clip_norm: float) -> None:
        self.clip_norm = float(clip_norm)

    def clip(self, parameters: list) -> None:
        """Change the gradients of ``parameters`` in place."""
        with jaxflow.no_grad():
            for p in parameters:
                norm = jaxflow.linalg.vector_norm(p._grad)
                p._grad.mul_(self.clip_norm / jaxflow.clamp(norm, min=self.clip_norm))


class ClipGradByGlobalNorm:
    """All gradients scaled together to a norm of at most ``clip_norm``."""

    def __init__(self, clip_norm: float, **unused: Any) -> None:
        self.clip_norm = float(clip_norm)

    def clip(self, parameters: list) -> None:
        """Change the gradients of ``parameters`` in place."""
        grads = [p._grad for p in parameters]
        with jaxflow.no_grad():
            norm = utils.get_total_norm(grads)
            for g in grads:
                g.mul_(self.clip_norm / jaxflow.clamp(norm, min=self.clip_norm))

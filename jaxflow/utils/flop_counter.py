"""``torch.utils.flop_counter``, by name: operations are not counted as they run."""

from __future__ import annotations

from typing import Any, NoReturn

from jaxflow.nn import Module

__all__ = ["FlopCounterMode"]


class FlopCounterMode:
    """A counter of floating point operations, which cannot be switched on: it counts none.

    Args:
        mods: accepted without effect.
        depth: accepted without effect.
        display: accepted without effect.
        custom_mapping: accepted without effect.

    Raises:
        NotImplementedError: when its block is entered.
    """

    def __init__(self, mods: Module | list[Module] | None = None, depth: int = 2, display: bool = True,
                 custom_mapping: dict | None = None) -> None:
        self.depth, self.display = depth, display

    def __enter__(self) -> NoReturn:
        raise NotImplementedError(
            "torch.utils.flop_counter.FlopCounterMode is not supported: operations are recorded and fused. "
            "jax.jit(function).lower(...).cost_analysis() estimates the operations of a program.")

    def __exit__(self, *exc: object) -> None:
        """Nothing: the block is never entered."""

    def get_total_flops(self) -> int:
        """0: nothing was counted."""
        return 0

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """No module has a count."""
        return {"Global": {}}

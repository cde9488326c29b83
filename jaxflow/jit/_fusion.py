"""Settings of PyTorch's fusing compilers, which are only remembered: XLA decides what it fuses."""

from __future__ import annotations

import warnings

_strategy: list[tuple[str, int]] = [("STATIC", 2), ("DYNAMIC", 10)]
_onednn = False


def set_fusion_strategy(strategy: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Remember a strategy, of no effect, and return the one before.

    Raises:
        TypeError: for what is no list of pairs.
        RuntimeError: for a kind that is neither ``"STATIC"`` nor ``"DYNAMIC"``.
    """
    global _strategy
    if not isinstance(strategy, (list, tuple)) or any(type(x) is not tuple or len(x) != 2 for x in strategy):
        raise TypeError(f"set_fusion_strategy(): a list of pairs like ('STATIC', 2), not {strategy!r}")
    if not all(kind in ("STATIC", "DYNAMIC") for kind, _ in strategy):
        raise RuntimeError("FusionBehavior only supported 'STATIC' or 'DYNAMIC'")
    before, _strategy = _strategy, list(strategy)
    return before


def enable_onednn_fusion(enabled: bool) -> None:
    """Remember whether oneDNN is to fuse; there is none here."""
    global _onednn
    _onednn = bool(enabled)


def onednn_fusion_enabled() -> bool:
    """What `enable_onednn_fusion` was last given."""
    return _onednn


class strict_fusion:  # noqa: N801 - PyTorch's name
    """A ``with`` block in which scripted code must fuse; outside of it, as here, there is a warning."""

    def __enter__(self) -> None:
        warnings.warn("Only works in script mode", stacklevel=2)

    def __exit__(self, *exc: object) -> None:
        pass

"""Whether equal programs give equal bits: asked and answered as PyTorch does."""

from __future__ import annotations

from jaxflow._dispatch.composite import composite

_mode = {"on": False, "warn_only": False}


@composite("function")
def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Accepted and remembered; XLA's CPU programs always give the same result for the same input.

    On a GPU set ``XLA_FLAGS=--xla_gpu_deterministic_ops=true`` before the program starts.

    Raises:
        TypeError: for what is no bool.
    """
    if not isinstance(mode, bool):
        raise TypeError(
            "_set_deterministic_algorithms(): argument 'mode' (position 1) must be bool, not "
            f"{type(mode).__name__}"
        )
    _mode.update(on=mode, warn_only=warn_only)


@composite("function")
def are_deterministic_algorithms_enabled() -> bool:
    """What ``use_deterministic_algorithms`` was given last, at first False."""
    return _mode["on"]


@composite("function")
def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether only a warning was asked for."""
    return _mode["warn_only"]

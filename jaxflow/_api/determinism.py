"""Whether equal programs give equal bits: asked and answered as PyTorch does."""

from __future__ import annotations

from jaxflow._dispatch import policy
from jaxflow._dispatch.composite import composite

_mode = {"warn_only": False}


@composite("function")
def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """With ``True``, the same operations on the same values give the same bits, whenever they run.

    A script run twice prints the same digits anyhow. But on the CPU a program may be interpreted at first
    and compiled when it has come several times, and the two agree to rounding only: with ``True`` nothing
    is interpreted. XLA's CPU programs always give the same result for the same input;
    on a GPU set ``XLA_FLAGS=--xla_gpu_deterministic_ops=true`` before the program starts.

    Raises:
        TypeError: for what is no bool.
    """
    if not isinstance(mode, bool):
        raise TypeError(
            "_set_deterministic_algorithms(): argument 'mode' (position 1) must be bool, not "
            f"{type(mode).__name__}"
        )
    policy.one_executor = mode
    _mode["warn_only"] = warn_only


@composite("function")
def are_deterministic_algorithms_enabled() -> bool:
    """What ``use_deterministic_algorithms`` was given last, at first False."""
    return policy.one_executor


@composite("function")
def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether only a warning was asked for."""
    return _mode["warn_only"]

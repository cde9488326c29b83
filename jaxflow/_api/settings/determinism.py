"""Whether equal programs give equal bits: set and read as in PyTorch."""

from __future__ import annotations

from jaxflow._exec.numpy import tiering
from jaxflow._publish.composite import composite


@composite("function", checks=False)
def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """With ``True``, the same operations on the same values give the same bits, whenever they run.

    A script run twice prints the same digits anyhow. But on the CPU a program may be interpreted at first
    and compiled when it has come several times, and the two agree to rounding only: with ``True`` nothing
    is interpreted. XLA's CPU programs always give the same result for the same input;
    on a GPU set ``XLA_FLAGS=--xla_gpu_deterministic_ops=true`` before the program starts.

    Args:
        mode: whether the same bits are required.
        warn_only: remembered, for `is_deterministic_algorithms_warn_only_enabled`.

    Returns:
        None.

    Raises:
        TypeError: for what is no bool.

    Example:
        >>> before = torch.are_deterministic_algorithms_enabled()
        >>> torch.use_deterministic_algorithms(True)
        >>> torch.are_deterministic_algorithms_enabled()
        True
        >>> torch.use_deterministic_algorithms(before)
    """
    if not isinstance(mode, bool):
        raise TypeError(
            "_set_deterministic_algorithms(): argument 'mode' (position 1) must be bool, not "
            f"{type(mode).__name__}"
        )
    tiering.one_executor = mode
    tiering.only_warn = warn_only


@composite("function")
def are_deterministic_algorithms_enabled() -> bool:
    """What ``use_deterministic_algorithms`` was given last, at first False.

    Returns:
        A bool.

    Example:
        >>> before = torch.are_deterministic_algorithms_enabled()
        >>> torch.use_deterministic_algorithms(False)
        >>> torch.are_deterministic_algorithms_enabled()
        False
        >>> torch.use_deterministic_algorithms(before)
    """
    return tiering.one_executor


@composite("function")
def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """The ``warn_only`` of the last call of ``use_deterministic_algorithms``, at first False."""
    return tiering.only_warn


_MODES = {"default": 0, "warn": 1, "error": 2}


@composite("function")
def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """`use_deterministic_algorithms` by a number or a word: 0 ``default``, 1 ``warn``, 2 ``error``.

    Raises:
        RuntimeError: for another number or word.
    """
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    chosen = _MODES.get(debug_mode) if isinstance(debug_mode, str) else debug_mode
    if chosen not in _MODES.values():
        options = "one of `default`, `warn`, `error`" if isinstance(debug_mode, str) else "0, 1, or 2"
        raise RuntimeError(f"invalid value of debug_mode, expected {options}, but got {debug_mode}")
    use_deterministic_algorithms(chosen > 0, warn_only=chosen == 1)


@composite("function")
def get_deterministic_debug_mode() -> int:
    """What `set_deterministic_debug_mode` would have to be given to get the present mode."""
    if not tiering.one_executor:
        return 0
    return 1 if tiering.only_warn else 2

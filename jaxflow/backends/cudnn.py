"""Switches of cuDNN: remembered, without effect (XLA tunes the kernels it uses)."""

import sys

from ._switches import switches_of

enabled = True
benchmark = False
benchmark_limit: int | None = None
deterministic = False
allow_tf32 = True

set_flags, flags = switches_of(sys.modules[__name__], dict(
    enabled=False, benchmark=False, benchmark_limit=10, deterministic=False, allow_tf32=True))


def is_available() -> bool:
    """Whether PyTorch's own cuDNN functions are there: they are not."""
    return False


def is_acceptable(tensor: object) -> bool:
    """Whether cuDNN would be used directly for a tensor: it is not."""
    return False


def version() -> None:
    """The version of cuDNN that is used directly: none."""

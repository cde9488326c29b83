"""Switches of oneDNN: remembered, without effect (XLA chooses the kernels it uses)."""

import sys

from ._switches import switches_of

enabled = True
deterministic = False
allow_tf32: bool | None = None

set_flags, flags = switches_of(sys.modules[__name__], dict(
    enabled=False, deterministic=False, allow_tf32=True))


def is_available() -> bool:
    """Whether PyTorch's own oneDNN functions are there: they are not."""
    return False


def is_acl_available() -> bool:
    """Whether Arm's library stands behind them: it does not."""
    return False

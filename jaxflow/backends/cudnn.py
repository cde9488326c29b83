"""Switches of cuDNN: remembered, without effect (XLA tunes the kernels it uses)."""

enabled = True
benchmark = False
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """Whether PyTorch's own cuDNN functions are there: they are not."""
    return False


def version() -> None:
    """The version of cuDNN that is used directly: none."""

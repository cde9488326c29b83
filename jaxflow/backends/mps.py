"""Apple's GPUs, as programs ask about them."""


def is_built() -> bool:
    """Whether there is a device called ``mps``: there is not."""
    return False


def is_available() -> bool:
    """Whether a tensor can be moved to ``mps``: it cannot."""
    return False

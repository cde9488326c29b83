"""Queries about Apple's GPUs, which jaxflow cannot use."""


def is_built() -> bool:
    """Whether there is a device called ``mps``: there is not."""
    return False


def is_available() -> bool:
    """Whether a tensor can be moved to ``mps``: it cannot.

    Returns:
        False, also on a computer with a GPU from Apple.

    Example:
        >>> device = "mps" if torch.backends.mps.is_available() else "cpu"
        >>> device
        'cpu'
    """
    return False


def is_macos_or_newer(major: int, minor: int) -> bool:
    """Whether ``mps`` runs on a macOS of this version or a later one: it does not run at all."""
    return False

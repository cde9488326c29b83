"""Whether mixed precision on CUDA is out of the question."""

from jaxflow import cuda

__all__ = ["amp_definitely_not_available"]


def amp_definitely_not_available() -> bool:
    """Whether there is no GPU."""
    return not cuda.is_available()

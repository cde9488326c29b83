"""What PyTorch's own kernels use of the processor."""


def get_cpu_capability() -> str:
    """``"DEFAULT"``: no kernel of PyTorch's is compiled for some processors; XLA compiles for the one there is.

    Returns:
        The word.

    Example:
        >>> torch.backends.cpu.get_cpu_capability()
        'DEFAULT'
    """
    return "DEFAULT"

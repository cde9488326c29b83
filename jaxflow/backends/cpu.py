"""What PyTorch's own kernels use of the processor."""


def get_cpu_capability() -> str:
    """``"DEFAULT"``: there are no kernels of PyTorch's for some processors; XLA compiles for the one here.

    Returns:
        The word.

    Example:
        >>> torch.backends.cpu.get_cpu_capability()
        'DEFAULT'
    """
    return "DEFAULT"

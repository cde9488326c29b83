"""The error of linear algebra: a matrix has not the property that an operation needs."""


class _LinAlgError(RuntimeError):
    """Raised where a matrix has not the property that an operation needs."""


_LinAlgError.__module__ = "jaxflow._C"  # where PyTorch has it, and where it is found

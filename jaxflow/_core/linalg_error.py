"""The error of linear algebra: a matrix has not the property that an operation needs."""


class _LinAlgError(RuntimeError):
    """Raised where a matrix has not the property that an operation needs."""


_LinAlgError.__module__ = "torch._C"

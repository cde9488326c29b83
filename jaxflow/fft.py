"""Discrete Fourier transforms, under ``torch.fft``'s names: every operation declared for this namespace."""

import sys as _sys

from . import _functions  # noqa: F401  (declares all operations)
from ._core.tensor import Tensor as Tensor
from ._publish.publish import publish as _publish

_publish(_sys.modules[__name__], "fft")

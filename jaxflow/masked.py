"""Masked operations, under ``torch.masked``'s names: every operation declared for this namespace."""

import sys as _sys

from . import _functions  # noqa: F401  (declares all operations)
from ._api.reduce.masked_tensor import MaskedTensor as MaskedTensor
from ._publish.publish import publish as _publish

_publish(_sys.modules[__name__], "masked")

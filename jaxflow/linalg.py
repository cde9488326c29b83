"""Linear algebra, under ``torch.linalg``'s names: every operation declared for this namespace."""

import sys as _sys

from . import _functions  # noqa: F401  (declares all operations)
from ._api.linalg.faults import _LinAlgError as LinAlgError  # noqa: F401
from ._publish.publish import publish as _publish

_publish(_sys.modules[__name__], "linalg")

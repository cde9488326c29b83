"""Window functions, under ``torch.signal.windows``' names."""

import sys as _sys

from .. import _functions  # noqa: F401  (declares all operations)
from .._publish.publish import publish as _publish

_publish(_sys.modules[__name__], "signal.windows")

"""``torch.sparse``: products of dense matrices; what needs a sparse layout is refused with advice."""

import sys as _sys

from . import _functions  # noqa: F401  (declares all operations)
from ._publish.publish import publish as _publish

_publish(_sys.modules[__name__], "sparse")

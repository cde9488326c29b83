"""The operations of ``nn.functional`` by their names, for functions that are written with them."""

import sys as _sys

from jaxflow import _functions  # noqa: F401  (declares all operations)
from jaxflow._publish.publish import publish as _publish

#: What there is.
NAMES = _publish(_sys.modules[__name__], "nn.functional")

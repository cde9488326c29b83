"""Window functions, under ``torch.signal.windows``' names."""

import sys as _sys

from .._dispatch.publish import publish as _publish

_publish(_sys.modules["jaxflow"], ("signal.windows",))

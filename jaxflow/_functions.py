"""The functions of the top namespace by their names, for library code that is written with them.

Whoever imports this has all operations declared. ``jaxflow`` shows the same names to users.
"""

import importlib as _importlib
import pkgutil as _pkgutil
import sys as _sys
import types as _types

from . import _api, _ops
from ._publish.publish import publish as _publish


def _load_all(package: _types.ModuleType) -> None:
    for found in _pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        _importlib.import_module(found.name)


_load_all(_ops)
_load_all(_api)

from .autograd import tensor as _autograd_tensor  # noqa: E402, F401  (declares the autograd methods)

#: What there is.
NAMES = _publish(_sys.modules[__name__], "")

"""For every differentiable op one call or more whose gradients are checked against finite differences.

A key is the op's name, or the name, a slash and what is special about this call.
"""

import importlib
import pkgutil

from . import views

_MODULES = [importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)]
_OPS = [family for family in _MODULES if hasattr(family, "ROWS") and family is not views]
ROWS = {name: row for family in _OPS for name, row in family.ROWS.items()}
VIEW_ROWS = views.ROWS

assert len(ROWS) == sum(len(family.ROWS) for family in _OPS), "two rows of one name"


def op_of(key):
    """The name of the op a row is for."""
    return key.partition("/")[0]

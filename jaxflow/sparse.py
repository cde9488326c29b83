"""``torch.sparse``: functions of sparse tensors."""

import sys as _sys
from typing import Any as _Any

from . import _functions  # noqa: F401  (declares all operations)
from ._core.layouts import handler as _handler
from ._publish.publish import publish as _publish

_publish(_sys.modules[__name__], "sparse")


def __getattr__(name: str) -> _Any:
    """What is loaded with sparse tensors."""
    if name == "check_sparse_tensor_invariants":
        return _handler("check_invariants")
    found = _handler("type_named")(name) if name.endswith("Tensor") else None
    if found is not None:
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

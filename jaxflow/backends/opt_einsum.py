"""How ``einsum`` of three and more operands finds the order of its products: by opt_einsum, which jax needs.

Attributes:
    enabled: False contracts from left to right.
    strategy: ``"auto"``, ``"greedy"``, ``"optimal"`` or another strategy of opt_einsum.
"""

import sys
import types
from typing import Any

import opt_einsum as _opt_einsum

from jaxflow._api.linalg import einsum as _einsum


def is_available() -> bool:
    """Whether opt_einsum is there: it is."""
    return True


def get_opt_einsum() -> Any:
    """The package opt_einsum."""
    return _opt_einsum


class _Switches(types.ModuleType):
    """The module, whose two attributes are what ``einsum`` reads."""

    @property
    def enabled(self) -> bool:
        return _einsum.ORDER.enabled

    @enabled.setter
    def enabled(self, value: bool) -> None:
        _einsum.ORDER.enabled = value

    @property
    def strategy(self) -> str | None:
        return _einsum.ORDER.strategy

    @strategy.setter
    def strategy(self, value: str | None) -> None:
        _einsum.ORDER.strategy = value


sys.modules[__name__].__class__ = _Switches

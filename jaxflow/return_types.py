"""The classes of named results: what ``max``, ``sort`` and their like return along a dimension."""

from ._publish.publish import RETURN_TYPES as _RETURN_TYPES

globals().update(_RETURN_TYPES)

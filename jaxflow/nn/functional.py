"""Layers and losses as functions.

Most are operations of their own; what is gathered here is everything declared for this namespace.
"""

from jaxflow._publish.publish import at_home as _at_home
from jaxflow.nn._functional import operations as _operations
from jaxflow.nn._functional.attention import (
    multi_head_attention_forward as multi_head_attention_forward,
)
from jaxflow.nn._functional.losses import (
    triplet_margin_loss as triplet_margin_loss,
)
from jaxflow.nn._functional.losses import (
    triplet_margin_with_distance_loss as triplet_margin_with_distance_loss,
)
from jaxflow.nn._functional.resize import interpolate as interpolate
from jaxflow.nn._functional.resize import upsample as upsample
from jaxflow.nn._functional.resize import upsample_bilinear as upsample_bilinear
from jaxflow.nn._functional.resize import upsample_nearest as upsample_nearest

globals().update({_name: getattr(_operations, _name) for _name in _operations.NAMES})
_threshold = globals()["threshold"]  # as graphs name it, after PyTorch's

for _name, _value in list(globals().items()):
    if not _name.startswith("_"):
        _at_home(_value, __name__, _name)

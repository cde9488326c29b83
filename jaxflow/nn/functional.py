"""Layers and losses as functions.

Most are operations of their own; what is gathered here is everything declared for this namespace.
"""

import sys as _sys

from jaxflow._dispatch.publish import at_home as _at_home
from jaxflow._dispatch.publish import publish as _publish

_publish(_sys.modules["jaxflow"], ("nn.functional",))

# What follows uses what was just published.
from jaxflow.nn._functional.attention import (  # noqa: E402
    multi_head_attention_forward as multi_head_attention_forward,
)
from jaxflow.nn._functional.losses import (  # noqa: E402
    triplet_margin_loss as triplet_margin_loss,
)
from jaxflow.nn._functional.losses import (  # noqa: E402
    triplet_margin_with_distance_loss as triplet_margin_with_distance_loss,
)
from jaxflow.nn._functional.resize import interpolate as interpolate  # noqa: E402
from jaxflow.nn._functional.resize import upsample as upsample  # noqa: E402
from jaxflow.nn._functional.resize import upsample_bilinear as upsample_bilinear  # noqa: E402
from jaxflow.nn._functional.resize import upsample_nearest as upsample_nearest  # noqa: E402

for _name, _value in list(globals().items()):
    if not _name.startswith("_"):
        _at_home(_value, __name__, _name)

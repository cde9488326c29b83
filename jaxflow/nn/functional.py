"""Layers and losses as functions.

Most are operations of their own; what is gathered here is everything declared for this namespace.
"""

import sys as _sys

from jaxflow._dispatch.publish import publish as _publish

_publish(_sys.modules["jaxflow"], ("nn.functional",))

from jaxflow.nn._functional.attention import (  # noqa: E402 - it uses what was just published
    multi_head_attention_forward as multi_head_attention_forward,
)

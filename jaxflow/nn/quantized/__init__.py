"""The older place of what is in ``torch.ao.nn.quantized``."""

from jaxflow.ao.nn.quantized import *  # noqa: F403
from jaxflow.ao.nn.quantized import __all__ as __all__
from jaxflow.ao.nn.quantized import dynamic as dynamic

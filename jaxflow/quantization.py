"""The older place of what is in ``torch.ao.quantization``."""

from jaxflow.ao.quantization import *  # noqa: F403

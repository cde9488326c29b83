"""The older place of what is in ``torch.ao.nn.quantized``."""

from jaxflow.ao.nn.quantized import FloatFunctional as FloatFunctional

__all__ = ["FloatFunctional"]

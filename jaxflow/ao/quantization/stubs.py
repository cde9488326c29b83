"""Where a model is quantized, and where its results are numbers again."""

from __future__ import annotations

from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow.nn import Module

from .qconfig import QConfig


class QuantStub(Module):
    """Where a model's input is quantized: its input as it is, until ``convert`` puts `Quantize` here.

    Args:
        qconfig: how it is observed; that of the modules around it by default.

    Example:
        >>> torch.ao.quantization.QuantStub()(torch.ones(2))
        tensor([1., 1.])
    """

    def __init__(self, qconfig: QConfig | None = None) -> None:
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Tensor) -> Tensor:
        """``x``."""
        return x


class DeQuantStub(Module):
    """Where a model's output becomes numbers again: its input as it is, until ``convert``.

    Args:
        qconfig: kept as an attribute.

    Example:
        >>> torch.ao.quantization.DeQuantStub()(torch.ones(2))
        tensor([1., 1.])
    """

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Tensor) -> Tensor:
        """``x``."""
        return x


class QuantWrapper(Module):
    """A module between a `QuantStub` and a `DeQuantStub`.

    Args:
        module: the module.

    Example:
        >>> torch.ao.quantization.QuantWrapper(torch.nn.ReLU())(torch.tensor([-1.0, 1.0]))
        tensor([0., 1.])
    """

    quant: QuantStub
    dequant: DeQuantStub
    module: Module

    def __init__(self, module: Module) -> None:
        super().__init__()
        qconfig = getattr(module, "qconfig", None)
        self.add_module("quant", QuantStub(qconfig))
        self.add_module("dequant", DeQuantStub(qconfig))
        self.add_module("module", module)
        self.train(module.training)

    def forward(self, X: Tensor) -> Tensor:
        """What the module makes of ``X``."""
        return self.dequant(self.module(self.quant(X)))

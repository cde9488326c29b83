"""Fused layers that are trained with fake quantization of their weight.

NOTE [Normalization in the weight]
    When it is quantized in the end, a convolution has the normalization after it in its weight:
    ``w * gamma / sqrt(running_var + eps)``. That is what is rounded in training, too. The convolution with
    the rounded weight is divided by the same factor and then normalized as ever, by the statistics of the
    batch, which keeps training stable: Krishnamoorthi, 2018, "Quantizing deep convolutional networks for
    efficient inference", section 3.2.2.
"""

from __future__ import annotations

from typing import Any

from jaxflow import _functions as functions
from jaxflow import nn
from jaxflow._core.tensor import Tensor
from jaxflow.ao.nn.qat import layers as qat
from jaxflow.nn import functional as F
from jaxflow.nn.utils.fusion import fuse_conv_bn_weights


class LinearReLU(qat.Linear):
    """`torch.ao.nn.qat.Linear`, then a ReLU; arguments as there."""

    _relu = True


class ConvReLU1d(qat.Conv1d):
    """`torch.ao.nn.qat.Conv1d`, then a ReLU; arguments as there."""

    _relu = True


class ConvReLU2d(qat.Conv2d):
    """`torch.ao.nn.qat.Conv2d`, then a ReLU; arguments as there."""

    _relu = True


class ConvReLU3d(qat.Conv3d):
    """`torch.ao.nn.qat.Conv3d`, then a ReLU; arguments as there."""

    _relu = True


class _ConvBn(qat.QATLayer):
    """A convolution with the normalization after it in its rounded weight; made by ``from_float``."""

    def update_bn_stats(self) -> Any:
        """Let the running statistics follow batches; returns the module."""
        self.freeze_bn, self.bn.training = False, True
        return self

    def freeze_bn_stats(self) -> Any:
        """Normalize by the running statistics; returns the module."""
        self.freeze_bn, self.bn.training = True, False
        return self

    def train(self, mode: bool = True) -> Any:
        """As of every module; statistics that were frozen stay so."""
        self.training = mode
        for name, module in self._modules.items():
            module.train(mode and not (name == "bn" and self.freeze_bn))
        return self

    def forward(self, input: Tensor) -> Tensor:
        """The convolution, normalized; NOTE [Normalization in the weight]."""
        bn = self.bn
        factor = bn.weight / functions.sqrt(bn.running_var + bn.eps)
        weight = self.weight_fake_quant(self.weight * factor.reshape(-1, *(1,) * (self.weight.dim() - 1)))
        spread = (1, -1, *(1,) * (self.weight.dim() - 2))
        out = self._conv_forward(input, weight, None) / factor.reshape(spread)
        if self.bias is not None:
            out = out + self.bias.reshape(spread)
        out = bn(out)
        return F.relu(out) if self._relu else out

    def with_normalization(self) -> Any:
        """The float convolution that has the normalization in its weight and bias."""
        plain = qat.adopted(self._FLOAT_MODULE, self)
        bn = self.bn
        plain.weight, plain.bias = fuse_conv_bn_weights(
            self.weight, self.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias)
        return plain

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """The layer of a fused float one, with its parameters, by the configuration that it has.

        Raises:
            AssertionError: for another layer, and one without ``qconfig``.
        """
        new = super().from_float(mod)
        fake = new._modules.pop("weight_fake_quant")
        new.bn, new.freeze_bn, new.weight_fake_quant = mod[1], False, fake  # in PyTorch's order
        return new


def _made(dims: int, relu: bool) -> type:
    name = f"ConvBn{'ReLU' if relu else ''}{dims}d"
    kind = getattr(nn, f"Conv{dims}d")
    return type(name, (_ConvBn, kind), {
        "_FLOAT_MODULE": kind, "_relu": relu, "__module__": __name__, "__qualname__": name,
        "__doc__": f"`torch.nn.Conv{dims}d` and a batch norm{' and a ReLU' if relu else ''}, with a weight "
                   "rounded as if; made by ``from_float``."})


ConvBn1d, ConvBn2d, ConvBn3d = (_made(d, False) for d in (1, 2, 3))
ConvBnReLU1d, ConvBnReLU2d, ConvBnReLU3d = (_made(d, True) for d in (1, 2, 3))


def update_bn_stats(mod: Any) -> None:
    """Let the running statistics of a fused layer follow batches; for ``model.apply``."""
    if isinstance(mod, _ConvBn):
        mod.update_bn_stats()


def freeze_bn_stats(mod: Any) -> None:
    """Let a fused layer normalize by its running statistics; for ``model.apply``."""
    if isinstance(mod, _ConvBn):
        mod.freeze_bn_stats()

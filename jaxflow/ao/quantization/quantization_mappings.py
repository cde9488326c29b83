"""Which class stands for which in a quantized model."""

from __future__ import annotations

from typing import Any

from jaxflow import nn
from jaxflow.ao.nn import intrinsic as nni
from jaxflow.ao.nn import qat as nnqat
from jaxflow.ao.nn import quantized as nnq
from jaxflow.ao.nn.intrinsic import qat as nniqat
from jaxflow.ao.nn.intrinsic import quantized as nniq
from jaxflow.ao.nn.quantized import dynamic as nnqd

from .fake_quantize import (
    default_fixed_qparams_range_0to1_fake_quant,
    default_fixed_qparams_range_neg1to1_fake_quant,
)
from .stubs import DeQuantStub, QuantStub

__all__ = [
    "DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS", "DEFAULT_MODULE_TO_ACT_POST_PROCESS",
    "DEFAULT_QAT_MODULE_MAPPINGS", "DEFAULT_STATIC_QUANT_MODULE_MAPPINGS",
    "get_default_dynamic_quant_module_mappings", "get_default_qat_module_mappings",
    "get_default_qconfig_propagation_list", "get_default_static_quant_module_mappings",
]

DEFAULT_STATIC_QUANT_MODULE_MAPPINGS: dict[Any, Any] = {
    QuantStub: nnq.Quantize, DeQuantStub: nnq.DeQuantize, nnq.FloatFunctional: nnq.QFunctional,
    **{getattr(nn, name): getattr(nnq, name) for name in (
        "BatchNorm2d", "BatchNorm3d", "Conv1d", "Conv2d", "Dropout", "ELU", "Embedding", "EmbeddingBag",
        "GroupNorm", "Hardswish", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LayerNorm",
        "LeakyReLU", "Linear", "ReLU6")},
    **{getattr(nni, name): getattr(nniq, name) for name in ("ConvReLU1d", "ConvReLU2d", "LinearReLU")},
    **{getattr(nniqat, name): getattr(nniq, name) for name in ("ConvReLU1d", "ConvReLU2d", "LinearReLU")},
    nniqat.ConvBn1d: nnq.Conv1d, nniqat.ConvBn2d: nnq.Conv2d,
    nniqat.ConvBnReLU1d: nniq.ConvReLU1d, nniqat.ConvBnReLU2d: nniq.ConvReLU2d,
    nnqat.Linear: nnq.Linear, nnqat.Conv1d: nnq.Conv1d, nnqat.Conv2d: nnq.Conv2d,
    nnqat.Embedding: nnq.Embedding, nnqat.EmbeddingBag: nnq.EmbeddingBag,
}

DEFAULT_QAT_MODULE_MAPPINGS: dict[Any, Any] = {
    **{getattr(nn, name): getattr(nnqat, name) for name in (
        "Conv1d", "Conv2d", "Conv3d", "Embedding", "EmbeddingBag", "Linear")},
    **{getattr(nni, name): getattr(nniqat, name) for name in (
        "ConvBn1d", "ConvBn2d", "ConvBn3d", "ConvBnReLU1d", "ConvBnReLU2d", "ConvBnReLU3d", "ConvReLU1d",
        "ConvReLU2d", "ConvReLU3d", "LinearReLU")},
}

DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS: dict[Any, Any] = {
    **{getattr(nn, name): getattr(nnqd, name) for name in (
        "GRU", "GRUCell", "LSTM", "LSTMCell", "Linear", "RNNCell")},
    nni.LinearReLU: nniq.dynamic.LinearReLU,
    nn.Embedding: nnq.Embedding, nn.EmbeddingBag: nnq.EmbeddingBag,
}

#: Layers whose results lie in an interval, which is what is observed in training.
DEFAULT_MODULE_TO_ACT_POST_PROCESS: dict[Any, Any] = {
    nn.Hardsigmoid: default_fixed_qparams_range_0to1_fake_quant,
    nn.Sigmoid: default_fixed_qparams_range_0to1_fake_quant,
    nn.Softmax: default_fixed_qparams_range_0to1_fake_quant,
    nn.Tanh: default_fixed_qparams_range_neg1to1_fake_quant,
}


def get_default_static_quant_module_mappings() -> dict[Any, Any]:
    """What ``convert`` puts in place of each class; a copy."""
    return dict(DEFAULT_STATIC_QUANT_MODULE_MAPPINGS)


def get_default_qat_module_mappings() -> dict[Any, Any]:
    """What ``prepare_qat`` puts in place of each class; a copy."""
    return dict(DEFAULT_QAT_MODULE_MAPPINGS)


def get_default_dynamic_quant_module_mappings() -> dict[Any, Any]:
    """What ``quantize_dynamic`` puts in place of each class; a copy."""
    return dict(DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS)


def get_default_qconfig_propagation_list() -> set[Any]:
    """The classes that are observed where a configuration reaches them."""
    return {*DEFAULT_STATIC_QUANT_MODULE_MAPPINGS, *DEFAULT_QAT_MODULE_MAPPINGS,
            *DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS}

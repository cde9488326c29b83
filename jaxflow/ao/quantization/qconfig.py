"""How a model is to be quantized: constructors of what observes activations and weights."""

from __future__ import annotations

import warnings
from collections import namedtuple
from typing import Any

from jaxflow._core import dtype as dtypes
from jaxflow.nn import Identity, Module

from .fake_quantize import (
    FakeQuantize,
    FusedMovingAvgObsFakeQuantize,
    default_dynamic_fake_quant,
    default_embedding_fake_quant,
    default_fake_quant,
    default_fused_act_fake_quant,
    default_fused_per_channel_wt_fake_quant,
    default_fused_wt_fake_quant,
    default_per_channel_weight_fake_quant,
    default_weight_fake_quant,
)
from .histogram import HistogramObserver
from .observer import (
    MovingAverageMinMaxObserver,
    NoopObserver,
    PlaceholderObserver,
    ReuseInputObserver,
    default_debug_observer,
    default_dynamic_quant_observer,
    default_float_qparams_observer,
    default_observer,
    default_per_channel_weight_observer,
    default_placeholder_observer,
    default_weight_observer,
)

__all__ = [
    "QConfig", "QConfigAny", "QConfigDynamic", "activation_is_memoryless",
    "default_activation_only_qconfig", "default_debug_qconfig", "default_dynamic_qat_qconfig",
    "default_dynamic_qconfig", "default_embedding_qat_qconfig", "default_per_channel_qconfig",
    "default_qat_qconfig", "default_qat_qconfig_v2", "default_qconfig", "default_reuse_input_qconfig",
    "default_weight_only_qconfig", "float16_dynamic_qconfig", "float16_static_qconfig",
    "float_qparams_weight_only_qconfig", "get_default_qat_qconfig", "get_default_qconfig",
    "per_channel_dynamic_qconfig", "qconfig_equals",
]


class QConfig(namedtuple("QConfig", ["activation", "weight"])):
    """Constructors of what observes activations, and of what observes weights.

    Args:
        activation: called without arguments, it makes a module; a class, or what ``with_args`` returns.
        weight: likewise.

    Raises:
        ValueError: for modules in place of constructors.

    Example:
        >>> q = torch.ao.quantization
        >>> config = q.QConfig(activation=q.MinMaxObserver.with_args(dtype=torch.qint8),
        ...                    weight=q.default_weight_observer)
        >>> config.activation().dtype
        torch.qint8
    """

    __slots__ = ()

    def __new__(cls, activation: Any, weight: Any) -> QConfig:
        if isinstance(activation, Module) or isinstance(weight, Module):
            raise ValueError("QConfig received observer instance, please pass observer class instead. Use "
                             "MyObserver.with_args(x=1) to override arguments to constructor if needed")
        return super().__new__(cls, activation, weight)


class QConfigDynamic(namedtuple("QConfigDynamic", ["activation", "weight"])):
    """The former `QConfig` of dynamic quantization, which says now by its observer that it is dynamic.

    Args:
        activation, weight: as of `QConfig`.
    """

    __slots__ = ()

    def __new__(cls, activation: Any = Identity, weight: Any = Identity) -> QConfigDynamic:
        warnings.warn("QConfigDynamic is going to be deprecated in PyTorch 1.12, please use QConfig instead",
                      stacklevel=2)
        return super().__new__(cls, activation, weight)


QConfigAny = QConfig | None

default_qconfig = QConfig(default_observer, default_weight_observer)
default_debug_qconfig = QConfig(default_debug_observer, default_weight_observer)
default_per_channel_qconfig = QConfig(default_observer, default_per_channel_weight_observer)
default_dynamic_qconfig = QConfig(default_dynamic_quant_observer, default_weight_observer)
float16_dynamic_qconfig = QConfig(
    PlaceholderObserver.with_args(dtype=dtypes.float16, is_dynamic=True),
    PlaceholderObserver.with_args(dtype=dtypes.float16))
float16_static_qconfig = QConfig(PlaceholderObserver.with_args(dtype=dtypes.float16),
                                 PlaceholderObserver.with_args(dtype=dtypes.float16))
per_channel_dynamic_qconfig = QConfig(default_dynamic_quant_observer, default_per_channel_weight_observer)
float_qparams_weight_only_qconfig = QConfig(default_placeholder_observer, default_float_qparams_observer)
default_qat_qconfig = QConfig(default_fake_quant, default_weight_fake_quant)
default_dynamic_qat_qconfig = QConfig(default_dynamic_fake_quant, default_weight_fake_quant)
default_weight_only_qconfig = QConfig(Identity, default_weight_fake_quant)
default_activation_only_qconfig = QConfig(default_fake_quant, Identity)
default_qat_qconfig_v2 = QConfig(default_fused_act_fake_quant, default_fused_wt_fake_quant)
default_embedding_qat_qconfig = QConfig(NoopObserver.with_args(dtype=dtypes.float32),
                                        default_embedding_fake_quant)
default_reuse_input_qconfig = QConfig(ReuseInputObserver, NoopObserver)

_ENGINES = ("fbgemm", "x86", "qnnpack", "onednn")


def _check_engine(name: str, backend: str) -> None:
    if backend not in _ENGINES:
        raise AssertionError(f"backend: {backend} not supported. backend must be one of {list(_ENGINES)}")


def get_default_qconfig(backend: str = "x86", version: int = 0) -> QConfig:
    """The `QConfig` of quantization after training.

    Args:
        backend: ``"x86"``, ``"fbgemm"``, ``"onednn"`` or ``"qnnpack"``.
        version: 0.

    Returns:
        Histograms for activations, of 7 bits for ``x86`` and ``fbgemm``, and ranges for weights: of each
        channel, but one for all with ``qnnpack``.

    Raises:
        AssertionError: for another backend or version.

    Example:
        >>> torch.ao.quantization.get_default_qconfig("qnnpack").weight().qscheme
        torch.per_tensor_symmetric
    """
    _check_engine("get_default_qconfig", backend)
    if version != 0:
        raise AssertionError(f"Version number: {version} in get_default_qconfig is not supported. Version "
                             "number must be 0")
    if backend == "qnnpack":
        return QConfig(HistogramObserver.with_args(reduce_range=False), default_weight_observer)
    if backend == "onednn":
        return QConfig(HistogramObserver.with_args(reduce_range=False), default_per_channel_weight_observer)
    return QConfig(HistogramObserver.with_args(reduce_range=True), default_per_channel_weight_observer)


def get_default_qat_qconfig(backend: str = "x86", version: int | None = 1) -> QConfig:
    """The `QConfig` of training with quantization in mind.

    Args:
        backend: ``"x86"``, ``"fbgemm"``, ``"onednn"`` or ``"qnnpack"``.
        version: 1 for `FusedMovingAvgObsFakeQuantize`, 0 for `FakeQuantize`.

    Returns:
        Fake quantization by moving averages.

    Raises:
        AssertionError: for another backend or version.

    Example:
        >>> type(torch.ao.quantization.get_default_qat_qconfig("x86").weight()).__name__
        'FusedMovingAvgObsFakeQuantize'
    """
    _check_engine("get_default_qat_qconfig", backend)
    if version not in (0, 1):
        raise AssertionError(f"Version number: {version} in get_default_qat_qconfig is not supported. "
                             "Version number must be 0 or 1")
    made: Any = FusedMovingAvgObsFakeQuantize if version else FakeQuantize
    activation = made.with_args(observer=MovingAverageMinMaxObserver, quant_min=0, quant_max=255,
                                **({} if backend == "onednn" and version else
                                   {"reduce_range": backend in ("fbgemm", "x86")}))
    if backend == "qnnpack":
        return QConfig(activation, default_fused_wt_fake_quant if version else default_weight_fake_quant)
    return QConfig(activation, default_fused_per_channel_wt_fake_quant if version else
                   default_per_channel_weight_fake_quant)


def qconfig_equals(a: Any, b: Any) -> bool:
    """Whether two configurations make the same modules with the same arguments."""
    if a is None or b is None:
        return a is b
    return (_arguments(a.activation) == _arguments(b.activation)
            and _arguments(a.weight) == _arguments(b.weight))


def _arguments(made: Any) -> Any:
    """A constructor, and the arguments that are given to it."""
    partial = getattr(made, "p", None)
    if partial is None:
        return made
    return partial.func, {k: _arguments(v) for k, v in partial.keywords.items()}


def activation_is_memoryless(qconfig: QConfig) -> bool:
    """Whether activations are observed anew in each call: dynamic training."""
    made = qconfig.activation()
    observer = getattr(made, "activation_post_process", made)
    return getattr(observer, "averaging_constant", None) == 1 or (
        type(observer) is PlaceholderObserver and observer.is_dynamic)

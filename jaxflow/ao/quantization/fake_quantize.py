"""Modules that round what passes through them as quantization would, to train with that."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from jaxflow import _functions as functions
from jaxflow._core import dtype as dtypes
from jaxflow._core import layout as layouts
from jaxflow._core.tensor import Tensor
from jaxflow.nn import Module

from .histogram import HistogramObserver
from .observer import (
    FixedQParamsObserver,
    MovingAverageMinMaxObserver,
    MovingAveragePerChannelMinMaxObserver,
    default_fixed_qparams_range_0to1_observer,
    default_fixed_qparams_range_neg1to1_observer,
    write_together,
)
from .partial import with_args

__all__ = [
    "FakeQuantize", "FakeQuantizeBase", "FixedQParamsFakeQuantize", "FusedMovingAvgObsFakeQuantize",
    "default_affine_fixed_qparams_fake_quant", "default_dynamic_fake_quant",
    "default_embedding_fake_quant", "default_fake_quant", "default_fixed_qparams_range_0to1_fake_quant",
    "default_fixed_qparams_range_neg1to1_fake_quant", "default_fused_act_fake_quant",
    "default_fused_per_channel_wt_fake_quant", "default_fused_wt_fake_quant",
    "default_histogram_fake_quant", "default_per_channel_weight_fake_quant",
    "default_symmetric_fixed_qparams_fake_quant", "default_weight_fake_quant", "disable_fake_quant",
    "disable_observer", "enable_fake_quant", "enable_observer",
]

_BY_CHANNEL = (layouts.per_channel_symmetric, layouts.per_channel_affine,
               layouts.per_channel_affine_float_qparams)


class FakeQuantizeBase(ABC, Module):
    """What modules of fake quantization share: switches for observing and for rounding."""

    _fakes_quantization = True
    with_args = classmethod(with_args)

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("fake_quant_enabled", functions.tensor([1], dtype=dtypes.uint8))
        self.register_buffer("observer_enabled", functions.tensor([1], dtype=dtypes.uint8))

    @abstractmethod
    def forward(self, x: Tensor) -> Tensor:
        """``x``, rounded."""

    @abstractmethod
    def calculate_qparams(self, **kwargs: Any) -> Any:
        """Scale and zero point."""

    def enable_fake_quant(self, enabled: bool = True) -> None:
        """Switch rounding on, or off."""
        self.fake_quant_enabled.fill_(1 if enabled else 0)

    def disable_fake_quant(self) -> None:
        """Switch rounding off."""
        self.enable_fake_quant(False)

    def enable_observer(self, enabled: bool = True) -> None:
        """Switch observing on, or off."""
        self.observer_enabled.fill_(1 if enabled else 0)

    def disable_observer(self) -> None:
        """Switch observing off."""
        self.enable_observer(False)


class FakeQuantize(FakeQuantizeBase):
    """Observes its input and returns it rounded as quantization would, with gradients that pass.

    ``(clamp(round(x / scale) + zero_point, quant_min, quant_max) - zero_point) * scale``, with scale and zero
    point from the observer at each call. Jacob et al., 2018, "Quantization and Training of Neural Networks
    for Efficient Integer-Arithmetic-Only Inference".

    Args:
        observer: the class of the observer.
        quant_min: the lowest integer; that of the observer's type by default.
        quant_max: the highest.
        is_dynamic: kept by the observer.
        observer_kwargs: arguments of the observer.

    Raises:
        AssertionError: for integers that the type does not hold.

    Example:
        >>> fake = torch.ao.quantization.FakeQuantize(quant_min=0, quant_max=255)
        >>> fake(torch.tensor([0.0, 0.013, 2.55]))
        tensor([0.0000, 0.0100, 2.5500])
    """

    _version = 1

    def __init__(self, observer: Any = MovingAverageMinMaxObserver, quant_min: int | None = None,
                 quant_max: int | None = None, is_dynamic: bool = False, **observer_kwargs: Any) -> None:
        super().__init__()
        if quant_min is not None and quant_max is not None:
            if quant_min > quant_max:
                raise AssertionError("quant_min must be less than or equal to quant_max")
            dtype = observer_kwargs.get("dtype", dtypes.quint8)
            ints = dtypes.QUANTIZED.get(dtype, dtype)
            low, high = _limits(ints)
            if low > quant_min or high < quant_max:
                raise AssertionError("quant_min or quant_max out of bound")
            observer_kwargs.update(quant_min=quant_min, quant_max=quant_max)
        observer_kwargs["is_dynamic"] = is_dynamic
        self.activation_post_process = observer(**observer_kwargs)
        self.quant_min = self.activation_post_process.quant_min
        self.quant_max = self.activation_post_process.quant_max
        self.is_dynamic = self.activation_post_process.is_dynamic
        self.dtype, self.qscheme = self.activation_post_process.dtype, self.activation_post_process.qscheme
        floating = self.qscheme is layouts.per_channel_affine_float_qparams
        self.register_buffer("scale", functions.tensor([1.0], dtype=dtypes.float32))
        self.register_buffer("zero_point", functions.tensor(
            [0], dtype=dtypes.float32 if floating else dtypes.int32))
        self.ch_axis = getattr(self.activation_post_process, "ch_axis", -1)
        self.is_per_channel = self.qscheme in _BY_CHANNEL

    def calculate_qparams(self) -> Any:
        """Scale and zero point of the observer."""
        return self.activation_post_process.calculate_qparams()

    def forward(self, X: Tensor) -> Tensor:
        """``X``, rounded where that is switched on."""
        if self.observer_enabled[0] == 1:
            self.activation_post_process(X.detach())
            scale, zero = self.calculate_qparams()
            write_together(self, scale=scale, zero_point=zero.to(self.zero_point.dtype))
        if self.fake_quant_enabled[0] == 1:
            if self.is_per_channel:
                return functions.fake_quantize_per_channel_affine(
                    X, self.scale, self.zero_point, self.ch_axis, self.quant_min, self.quant_max)
            return functions.fake_quantize_per_tensor_affine(
                X, self.scale, self.zero_point, self.quant_min, self.quant_max)
        return X

    def extra_repr(self) -> str:
        return (f"fake_quant_enabled={self.fake_quant_enabled}, observer_enabled={self.observer_enabled}, "
                f"quant_min={self.activation_post_process.quant_min}, "
                f"quant_max={self.activation_post_process.quant_max}, dtype={self.dtype}, "
                f"qscheme={self.qscheme}, ch_axis={self.ch_axis}, scale={self.scale}, "
                f"zero_point={self.zero_point}")

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        for name in ("scale", "zero_point"):  # whose sizes follow what was seen
            found = state_dict.get(prefix + name)
            if isinstance(found, Tensor) and found.shape != getattr(self, name).shape:
                getattr(self, name).resize_(found.shape)
        super()._load_from_state_dict(state_dict, prefix, *args)


def _limits(ints: Any) -> tuple[int, int]:
    low = 0 if not ints.is_signed else -(2 ** (8 * ints.itemsize - 1))
    return low, low + 2 ** (8 * ints.itemsize) - 1


class FixedQParamsFakeQuantize(FakeQuantize):
    """`FakeQuantize` with scale and zero point as they are given.

    Args:
        observer: a constructor of a `FixedQParamsObserver`.

    Example:
        >>> fake = torch.ao.quantization.default_fixed_qparams_range_0to1_fake_quant()
        >>> fake(torch.tensor([0.5, 2.0]))
        tensor([0.5000, 0.9961])
    """

    def __init__(self, observer: Any) -> None:
        super().__init__(observer=observer)
        if type(self.activation_post_process) is not FixedQParamsObserver:
            raise AssertionError("fixed_qparams observer must be FixedQParamsObserver")
        fixed = self.activation_post_process
        write_together(self, scale=fixed.scale, zero_point=fixed.zero_point.to(self.zero_point.dtype))
        self.disable_observer()

    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        """Scale and zero point, as they were given."""
        return self.scale, self.zero_point

    def extra_repr(self) -> str:
        return (f"fake_quant_enabled={self.fake_quant_enabled}, observer_enabled={self.observer_enabled}, "
                f"scale={self.scale}, zero_point={self.zero_point}, dtype={self.dtype}, "
                f"quant_min={self.activation_post_process.quant_min}, "
                f"quant_max={self.activation_post_process.quant_max}, qscheme={self.qscheme}")


class FusedMovingAvgObsFakeQuantize(FakeQuantize):
    """`FakeQuantize` by a moving average, in one operation that waits for no number.

    Args:
        observer: `MovingAverageMinMaxObserver` or `MovingAveragePerChannelMinMaxObserver`.
        quant_min: the lowest integer.
        quant_max: the highest.
        is_dynamic: kept by the observer.
        observer_kwargs: arguments of the observer.

    Raises:
        AssertionError: for another observer.

    Example:
        >>> fake = torch.ao.quantization.FusedMovingAvgObsFakeQuantize(quant_min=0, quant_max=255)
        >>> fake(torch.tensor([0.0, 0.013, 2.55])), fake.scale
        (tensor([0.0000, 0.0100, 2.5500]), tensor([0.0100]))
    """

    def __init__(self, observer: Any = MovingAverageMinMaxObserver, quant_min: int = 0, quant_max: int = 255,
                 is_dynamic: bool = False, **observer_kwargs: Any) -> None:
        super().__init__(observer, quant_min, quant_max, is_dynamic, **observer_kwargs)
        if not isinstance(self.activation_post_process, (MovingAverageMinMaxObserver,
                                                         MovingAveragePerChannelMinMaxObserver)):
            raise AssertionError("Fused observer+fake_quant module only works with "
                                 "MovingAverageMinMaxObserver")
        self.register_buffer("fake_quant_enabled", functions.tensor([1], dtype=dtypes.int64))
        self.register_buffer("observer_enabled", functions.tensor([1], dtype=dtypes.int64))
        self.is_symmetric_quant = self.qscheme in (layouts.per_channel_symmetric,
                                                   layouts.per_tensor_symmetric)

    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        """Scale and zero point of the observer."""
        return self.activation_post_process.calculate_qparams()

    def forward(self, X: Tensor) -> Tensor:
        """``X``, rounded where that is switched on."""
        observer = self.activation_post_process
        return functions.fused_moving_avg_obs_fake_quant(
            X, self.observer_enabled, self.fake_quant_enabled, observer.min_val, observer.max_val, self.scale,
            self.zero_point, observer.averaging_constant, observer.quant_min, observer.quant_max,
            self.ch_axis, self.is_per_channel, self.is_symmetric_quant)

    def extra_repr(self) -> str:
        return (f"fake_quant_enabled={self.fake_quant_enabled}, observer_enabled={self.observer_enabled}, "
                f"scale={self.scale}, zero_point={self.zero_point}, dtype={self.dtype}, "
                f"quant_min={self.activation_post_process.quant_min}, "
                f"quant_max={self.activation_post_process.quant_max}, qscheme={self.qscheme}, "
                f"reduce_range={self.activation_post_process.reduce_range}")


_ACTIVATIONS = {"observer": MovingAverageMinMaxObserver, "quant_min": 0, "quant_max": 255,
                "dtype": dtypes.quint8}
_WEIGHTS = {"quant_min": -128, "quant_max": 127, "dtype": dtypes.qint8}
_BY_ROWS = {"observer": MovingAveragePerChannelMinMaxObserver, **_WEIGHTS,
            "qscheme": layouts.per_channel_symmetric}

default_fake_quant = FakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver, quant_min=0, quant_max=255, dtype=dtypes.quint8,
    qscheme=layouts.per_tensor_affine, reduce_range=True)
default_weight_fake_quant = FakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver, **_WEIGHTS, qscheme=layouts.per_tensor_symmetric,
    reduce_range=False)
default_dynamic_fake_quant = FakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver, quant_min=0, quant_max=255, is_dynamic=True, dtype=dtypes.quint8,
    averaging_constant=1)
default_fixed_qparams_range_neg1to1_fake_quant = FixedQParamsFakeQuantize.with_args(
    observer=default_fixed_qparams_range_neg1to1_observer)
default_fixed_qparams_range_0to1_fake_quant = FixedQParamsFakeQuantize.with_args(
    observer=default_fixed_qparams_range_0to1_observer)
default_symmetric_fixed_qparams_fake_quant = default_fixed_qparams_range_neg1to1_fake_quant
default_affine_fixed_qparams_fake_quant = default_fixed_qparams_range_0to1_fake_quant
default_per_channel_weight_fake_quant = FakeQuantize.with_args(**_BY_ROWS, reduce_range=False, ch_axis=0)
default_embedding_fake_quant = FakeQuantize.with_args(
    observer=MovingAveragePerChannelMinMaxObserver, qscheme=layouts.per_channel_affine_float_qparams,
    dtype=dtypes.quint8, quant_min=0, quant_max=255, ch_axis=0, averaging_constant=1)
default_histogram_fake_quant = FakeQuantize.with_args(
    observer=HistogramObserver, quant_min=0, quant_max=255, dtype=dtypes.quint8,
    qscheme=layouts.per_tensor_affine, reduce_range=True)
default_fused_act_fake_quant = FusedMovingAvgObsFakeQuantize.with_args(**_ACTIVATIONS)
default_fused_wt_fake_quant = FusedMovingAvgObsFakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver, **_WEIGHTS, qscheme=layouts.per_tensor_symmetric)
default_fused_per_channel_wt_fake_quant = FusedMovingAvgObsFakeQuantize.with_args(**_BY_ROWS)


def _switch(method: str) -> Any:
    def apply(mod: Module) -> None:
        if isinstance(mod, FakeQuantizeBase):
            getattr(mod, method)()

    apply.__name__ = apply.__qualname__ = method
    apply.__doc__ = f"Call ``{method}()`` of a module of fake quantization; for ``model.apply``."
    return apply


enable_fake_quant, disable_fake_quant = _switch("enable_fake_quant"), _switch("disable_fake_quant")
enable_observer, disable_observer = _switch("enable_observer"), _switch("disable_observer")

"""Observers: modules that watch the range of what passes through them, to choose scale and zero point."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from operator import setitem
from typing import Any

from jaxflow import _functions as functions
from jaxflow._core import dtype as dtypes
from jaxflow._core import layout as layouts
from jaxflow._core.commit import commit
from jaxflow._core.tensor import Tensor
from jaxflow._core.typeinfo import finfo
from jaxflow._plans.op import OPS
from jaxflow._writes.inplace import apply_together
from jaxflow.nn import Module

from .partial import with_args, with_callable_args

__all__ = [
    "FixedQParamsObserver", "MinMaxObserver", "MovingAverageMinMaxObserver",
    "MovingAveragePerChannelMinMaxObserver", "NoopObserver", "ObserverBase", "PerChannelMinMaxObserver",
    "PlaceholderObserver", "RecordingObserver", "ReuseInputObserver", "UniformQuantizationObserverBase",
    "default_affine_fixed_qparams_observer", "default_debug_observer", "default_dynamic_quant_observer",
    "default_fixed_qparams_range_0to1_observer", "default_fixed_qparams_range_neg1to1_observer",
    "default_float_qparams_observer", "default_observer", "default_per_channel_weight_observer",
    "default_placeholder_observer", "default_reuse_input_observer",
    "default_symmetric_fixed_qparams_observer", "default_weight_observer", "is_activation_post_process",
    "per_channel_weight_observer_range_neg_127_to_127", "weight_observer_range_neg_127_to_127",
]

_SYMMETRIC = (layouts.per_tensor_symmetric, layouts.per_channel_symmetric)
_SIGNED = (dtypes.qint8, dtypes.int8)
_UNSIGNED = (dtypes.quint8, dtypes.uint8)
_WIDE = (dtypes.qint32, dtypes.int32)
INFINITE = float("inf")


def range_of_type(dtype: Any, reduce_range: bool) -> tuple[int, int]:
    """The lowest and the highest integer of a type; with ``reduce_range`` one bit less is used."""
    if dtype in _SIGNED:
        return (-64, 63) if reduce_range else (-128, 127)
    if dtype in _UNSIGNED:
        return (0, 127) if reduce_range else (0, 255)
    if dtype in _WIDE:
        return -(2**31), 2**31 - 1
    if dtype in (dtypes.int16, dtypes.uint16):
        return (0, 2**16 - 1) if dtype is dtypes.uint16 else (-(2**15), 2**15 - 1)
    return 0, 15


def write_together(module: Module, **values: Tensor) -> None:
    """Write values into buffers of a module, all at once; where shapes differ there are new buffers then.

    Args:
        module: the module.
        values: what is written, by the names of the buffers.
    """
    buffers = module._buffers
    if all(buffers[name].shape == value.shape for name, value in values.items()):
        apply_together([(OPS["_copy"], (buffers[name], x.detach()), ()) for name, x in values.items()])
    else:
        commit([(setitem, buffers, name, value.detach().to(buffers[name].dtype, copy=True))
                for name, value in values.items()])


class ObserverBase(ABC, Module):
    """What all observers are: modules whose ``forward`` returns its input, and that choose parameters.

    Args:
        dtype: the type that is chosen for.
        is_dynamic: whether scale and zero point are chosen anew in each call of the quantized model.
    """

    with_args = classmethod(with_args)
    with_callable_args = classmethod(with_callable_args)

    def __init__(self, dtype: Any, is_dynamic: bool = False) -> None:
        super().__init__()
        self.dtype, self.is_dynamic = dtype, is_dynamic

    @abstractmethod
    def forward(self, x: Tensor) -> Tensor:
        """``x``, having been looked at."""

    @abstractmethod
    def calculate_qparams(self, **kwargs: Any) -> Any:
        """Scale and zero point for what was seen."""


class UniformQuantizationObserverBase(ObserverBase):
    """What observers share that choose one scale, or one for each channel, from a range.

    With ``min`` and ``max`` widened to hold 0: ``scale = (max - min) / (quant_max - quant_min)`` and
    ``zero_point = quant_min - round(min / scale)``; symmetric schemes have
    ``scale = 2 * max(-min, max) / (quant_max - quant_min)`` and the zero point in the middle of the type.
    Jacob et al., 2018, "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
    Inference".

    Args:
        dtype: the type that is chosen for.
        qscheme: one of the schemes of ``torch.per_tensor_affine`` and its like.
        reduce_range: whether one bit less is used, for processors whose products of 8 bits overflow.
        quant_min: the lowest integer, where it is not that of the type.
        quant_max: the highest.
        factory_kwargs: ``device`` and ``dtype`` of buffers.
        eps: the least scale.
        is_dynamic: whether the scale is chosen anew in each call of the quantized model.
    """

    _version = 3

    def __init__(self, dtype: Any = dtypes.quint8, qscheme: Any = layouts.per_tensor_affine,
                 reduce_range: bool = False, quant_min: int | None = None, quant_max: int | None = None,
                 factory_kwargs: dict | None = None, eps: float = finfo(dtypes.float32).eps,
                 is_dynamic: bool = False, **kwargs: Any) -> None:
        super().__init__(dtype=dtype, is_dynamic=is_dynamic, **kwargs)
        if reduce_range:
            warnings.warn("reduce_range will be deprecated: give quant_min and quant_max", stacklevel=3)
        self.qscheme, self.reduce_range = qscheme, reduce_range
        self.register_buffer("eps", functions.tensor([eps], **{"dtype": dtypes.float32,
                                                               **(factory_kwargs or {})}))
        self.has_customized_qrange = quant_min is not None and quant_max is not None
        if self.has_customized_qrange:
            self._check_range(quant_min, quant_max)
            self.quant_min, self.quant_max = quant_min, quant_max
            if reduce_range:
                self.quant_min, self.quant_max = quant_min // 2, quant_max // 2
        else:
            self.quant_min, self.quant_max = range_of_type(dtype, reduce_range)

    @staticmethod
    def _check_range(quant_min: int, quant_max: int) -> None:
        if not quant_min <= 0 <= quant_max:
            raise AssertionError("Used-specified quantization range must include 0.")
        if quant_min >= quant_max:
            raise AssertionError(
                "qmin must be strictly less than qmax for user-specified quantization range.")

    def _seen(self, low: Tensor, high: Tensor) -> bool:
        """Whether a range was seen; AssertionError for one whose ends are in the wrong order."""
        if low.numel() == 0 or high.numel() == 0 or bool(((low == INFINITE) & (high == -INFINITE)).any()):
            warnings.warn("must run observer before calling calculate_qparams. Returning default values.",
                          stacklevel=4)
            return False
        if not bool((low <= high).all()):
            raise AssertionError(f"min {low} should be less than max {high}")
        return True

    def _calculate_qparams(self, min_val: Tensor, max_val: Tensor) -> tuple[Tensor, Tensor]:
        """Scale and zero point of a range; 1 and 0, with a warning, where nothing was seen."""
        if not self._seen(min_val, max_val):
            device = min_val.device.type
            return (functions.tensor([1.0], device=device),
                    functions.tensor([0], dtype=dtypes.int64, device=device))
        return self.qparams_of(min_val, max_val)

    def qparams_of(self, min_val: Tensor, max_val: Tensor) -> tuple[Tensor, Tensor]:
        """Scale (float32) and zero point (integers; float32 of floating ones) of a range that was seen."""
        low, high = min_val.clamp(max=0), max_val.clamp(min=0)
        steps = self.quant_max - self.quant_min
        zero = functions.zeros(low.shape, dtype=dtypes.int64, device=low.device)
        if self.qscheme in _SYMMETRIC:
            scale = functions.maximum(functions.maximum(-low, high) / (steps / 2), self.eps)
            if self.dtype in _UNSIGNED:
                zero = zero + ((self.quant_min + self.quant_max) // 2 if self.has_customized_qrange else 128)
        elif self.qscheme is layouts.per_channel_affine_float_qparams:
            scale = (max_val - min_val) / steps
            scale = functions.where(scale > self.eps, scale, functions.ones_like(scale))
            zero = -min_val / scale
        else:
            scale = functions.maximum((high - low) / steps, self.eps)
            zero = self.quant_min - functions.round(low / scale).to(dtypes.int32)
            zero = zero.clamp(self.quant_min, self.quant_max)
        return scale.reshape(-1), zero.reshape(-1)


class MinMaxObserver(UniformQuantizationObserverBase):
    """The least and the greatest number seen.

    Args:
        dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps, is_dynamic: as of
            `UniformQuantizationObserverBase`; the scheme has one scale.

    Raises:
        NotImplementedError: for a scheme with a scale for each channel, and for a reduced symmetric quint8.

    Example:
        >>> observer = torch.ao.quantization.MinMaxObserver()
        >>> _ = observer(torch.tensor([0.0, 2.55]))
        >>> observer.calculate_qparams()
        (tensor([0.0100]), tensor([0], dtype=torch.int32))
    """

    def __init__(self, dtype: Any = dtypes.quint8, qscheme: Any = layouts.per_tensor_affine,
                 reduce_range: bool = False, quant_min: int | None = None, quant_max: int | None = None,
                 factory_kwargs: dict | None = None, eps: float = finfo(dtypes.float32).eps,
                 is_dynamic: bool = False, **kwargs: Any) -> None:
        if qscheme not in (layouts.per_tensor_affine, layouts.per_tensor_symmetric):
            raise NotImplementedError("MinMaxObserver's qscheme only support torch.per_tensor_symmetric and "
                                      "torch.per_tensor_affine.")
        super().__init__(dtype=dtype, qscheme=qscheme, reduce_range=reduce_range, quant_min=quant_min,
                         quant_max=quant_max, factory_kwargs=factory_kwargs, eps=eps, is_dynamic=is_dynamic,
                         **kwargs)
        kind = {"dtype": dtypes.float32, **(factory_kwargs or {})}
        self.register_buffer("min_val", functions.tensor(INFINITE, **kind))
        self.register_buffer("max_val", functions.tensor(-INFINITE, **kind))
        if qscheme is layouts.per_tensor_symmetric and reduce_range and dtype is dtypes.quint8:
            raise NotImplementedError("Cannot reduce range for symmetric quantization for quint8")

    def forward(self, x_orig: Tensor) -> Tensor:
        """``x_orig``, whose range is taken in."""
        if x_orig.numel():
            low, high = functions.aminmax(x_orig.detach().to(self.min_val.dtype))
            write_together(self, min_val=functions.minimum(low, self.min_val),
                           max_val=functions.maximum(high, self.max_val))
        return x_orig

    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        """Scale and zero point, tensors of one element."""
        return self._calculate_qparams(self.min_val, self.max_val)

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}"

    def reset_min_max_vals(self) -> None:
        """Forget what was seen."""
        write_together(self, min_val=functions.full_like(self.min_val, INFINITE),
                       max_val=functions.full_like(self.max_val, -INFINITE))


class MovingAverageMinMaxObserver(MinMaxObserver):
    """Moving averages of the least and the greatest number of each call.

    ``min = min + averaging_constant * (least - min)``, and likewise ``max``; the first call sets them.

    Args:
        averaging_constant: how far they move, from 0 to 1.
        dtype, qscheme, reduce_range, quant_min, quant_max, eps, is_dynamic: as of `MinMaxObserver`.

    Example:
        >>> observer = torch.ao.quantization.MovingAverageMinMaxObserver(0.5)
        >>> for x in ([0.0, 1.0], [0.0, 3.0]):
        ...     _ = observer(torch.tensor(x))
        >>> observer
        MovingAverageMinMaxObserver(min_val=0.0, max_val=2.0)
    """

    def __init__(self, averaging_constant: float = 0.01, dtype: Any = dtypes.quint8,
                 qscheme: Any = layouts.per_tensor_affine, reduce_range: bool = False,
                 quant_min: int | None = None, quant_max: int | None = None,
                 eps: float = finfo(dtypes.float32).eps, is_dynamic: bool = False, **kwargs: Any) -> None:
        if qscheme not in (layouts.per_tensor_affine, layouts.per_tensor_symmetric):
            raise NotImplementedError(
                "MovingAverageMinMaxObserver's qscheme only support torch.per_tensor_symmetric and "
                f"torch.per_tensor_affine. but got: {qscheme}")
        self.averaging_constant = averaging_constant
        super().__init__(dtype=dtype, qscheme=qscheme, reduce_range=reduce_range, quant_min=quant_min,
                         quant_max=quant_max, eps=eps, is_dynamic=is_dynamic, **kwargs)

    def forward(self, x_orig: Tensor) -> Tensor:
        """``x_orig``, towards whose range the averages move."""
        if x_orig.numel():
            low, high = functions.aminmax(x_orig.detach().to(self.min_val.dtype))
            write_together(self, **_towards(self, low, high))
        return x_orig


def _towards(observer: Any, low: Tensor, high: Tensor) -> dict[str, Tensor]:
    """What a moving average writes: the range itself at the first call."""
    seen = {"min_val": low, "max_val": high}
    if observer.min_val.numel():
        for name, new in seen.items():
            old = getattr(observer, name)
            seen[name] = functions.where(old.isinf(), new, old + observer.averaging_constant * (new - old))
    return seen


class PerChannelMinMaxObserver(UniformQuantizationObserverBase):
    """The least and the greatest number seen of each channel.

    Args:
        ch_axis: the dimension of the channels.
        dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps, is_dynamic: as of
            `UniformQuantizationObserverBase`; the scheme has a scale for each channel.

    Example:
        >>> observer = torch.ao.quantization.PerChannelMinMaxObserver(dtype=torch.qint8,
        ...                                                           qscheme=torch.per_channel_symmetric)
        >>> _ = observer(torch.tensor([[-1.0, 1.275], [0.5, 2.55]]))
        >>> observer.calculate_qparams()
        (tensor([0.0100, 0.0200]), tensor([0, 0]))
    """

    def __init__(self, ch_axis: int = 0, dtype: Any = dtypes.quint8,
                 qscheme: Any = layouts.per_channel_affine, reduce_range: bool = False,
                 quant_min: int | None = None, quant_max: int | None = None,
                 factory_kwargs: dict | None = None, eps: float = finfo(dtypes.float32).eps,
                 is_dynamic: bool = False, **kwargs: Any) -> None:
        if qscheme not in (layouts.per_channel_affine, layouts.per_channel_symmetric,
                           layouts.per_channel_affine_float_qparams):
            raise NotImplementedError(
                "PerChannelMinMaxObserver's qscheme only support torch.per_channel_symmetric, "
                "torch.per_channel_affine and torch.per_channel_affine_float_qparams.")
        if is_dynamic:
            raise NotImplementedError("PerChannelMinMaxObserver doesn't support dynamic quantization")
        super().__init__(dtype=dtype, qscheme=qscheme, reduce_range=reduce_range, quant_min=quant_min,
                         quant_max=quant_max, factory_kwargs=factory_kwargs, eps=eps, is_dynamic=is_dynamic,
                         **kwargs)
        kind = {"dtype": dtypes.float32, **(factory_kwargs or {})}
        self.ch_axis = ch_axis
        self.register_buffer("min_val", functions.tensor([], **kind))
        self.register_buffer("max_val", functions.tensor([], **kind))
        if qscheme is layouts.per_channel_symmetric and reduce_range and dtype is dtypes.quint8:
            raise NotImplementedError("Cannot reduce range for symmetric quantization for quint8")

    def _range(self, x: Tensor) -> tuple[Tensor, Tensor]:
        x = x.detach().to(self.min_val.dtype).movedim(self.ch_axis, 0)
        return tuple(functions.aminmax(x.reshape(x.shape[0], -1), dim=1))

    def forward(self, x_orig: Tensor) -> Tensor:
        """``x_orig``, the ranges of whose channels are taken in."""
        if x_orig.numel():
            low, high = self._range(x_orig)
            if self.min_val.numel():
                low, high = functions.minimum(low, self.min_val), functions.maximum(high, self.max_val)
            write_together(self, min_val=low, max_val=high)
        return x_orig

    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        """Scales and zero points, one for each channel."""
        return self._calculate_qparams(self.min_val, self.max_val)

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}"

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        for name in ("min_val", "max_val"):  # whose sizes follow what was seen
            found = state_dict.get(prefix + name)
            if isinstance(found, Tensor) and found.shape != getattr(self, name).shape:
                getattr(self, name).resize_(found.shape)
        super()._load_from_state_dict(state_dict, prefix, *args)

    def reset_min_max_vals(self) -> None:
        """Forget what was seen."""
        write_together(self, min_val=functions.zeros(0), max_val=functions.zeros(0))


class MovingAveragePerChannelMinMaxObserver(PerChannelMinMaxObserver):
    """Moving averages of the least and the greatest number of each channel.

    Args:
        averaging_constant: how far they move at each call, from 0 to 1.
        ch_axis, dtype, qscheme, reduce_range, quant_min, quant_max, eps, is_dynamic: as of
            `PerChannelMinMaxObserver`.

    Example:
        >>> observer = torch.ao.quantization.MovingAveragePerChannelMinMaxObserver(0.5)
        >>> _ = observer(torch.tensor([[0.0, 1.0]])), observer(torch.tensor([[0.0, 3.0]]))
        >>> observer.max_val
        tensor([2.])
    """

    def __init__(self, averaging_constant: float = 0.01, ch_axis: int = 0, dtype: Any = dtypes.quint8,
                 qscheme: Any = layouts.per_channel_affine, reduce_range: bool = False,
                 quant_min: int | None = None, quant_max: int | None = None,
                 eps: float = finfo(dtypes.float32).eps, is_dynamic: bool = False, **kwargs: Any) -> None:
        super().__init__(ch_axis=ch_axis, dtype=dtype, qscheme=qscheme, reduce_range=reduce_range,
                         quant_min=quant_min, quant_max=quant_max, eps=eps, is_dynamic=is_dynamic, **kwargs)
        self.averaging_constant = averaging_constant

    def forward(self, x_orig: Tensor) -> Tensor:
        """``x_orig``, towards the ranges of whose channels the averages move."""
        if x_orig.numel():
            write_together(self, **_towards(self, *self._range(x_orig)))
        return x_orig


class FixedQParamsObserver(ObserverBase):
    """Scale and zero point as they are given.

    Args:
        scale, zero_point: the two numbers.
        dtype, qscheme, quant_min, quant_max, is_dynamic: as of `UniformQuantizationObserverBase`.

    Example:
        >>> torch.ao.quantization.FixedQParamsObserver(0.5, 3).calculate_qparams()
        (tensor([0.5000]), tensor([3], dtype=torch.int32))
    """

    def __init__(self, scale: float, zero_point: int, dtype: Any = dtypes.quint8,
                 qscheme: Any = layouts.per_tensor_affine, quant_min: int = 0, quant_max: int = 255,
                 is_dynamic: bool = False, **kwargs: Any) -> None:
        if is_dynamic:
            raise NotImplementedError("FixedQParamsObserver doesn't support dynamic quantization")
        super().__init__(dtype=dtype, is_dynamic=is_dynamic, **kwargs)
        self.quant_min, self.quant_max, self.qscheme = quant_min, quant_max, qscheme
        self.register_buffer("scale", functions.tensor([scale], dtype=dtypes.float32))
        self.register_buffer("zero_point", functions.tensor([zero_point], dtype=dtypes.int32))

    def forward(self, X: Tensor) -> Tensor:
        """``X``."""
        return X

    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        """Scale and zero point, as they were given."""
        return self.scale, self.zero_point


class PlaceholderObserver(ObserverBase):
    """Passes its input on and says a dtype, for what is not observed: dynamic quantization and float16.

    Args:
        dtype: the dtype that it says.
        custom_op_name: kept as an attribute.
        compute_dtype: refers to dynamic quantization, which ``is_dynamic`` says now.
        quant_min, quant_max, qscheme, eps, is_dynamic: kept as attributes.

    Example:
        >>> torch.ao.quantization.PlaceholderObserver(dtype=torch.float16)
        PlaceholderObserver(dtype=torch.float16, is_dynamic=False)
    """

    def __init__(self, dtype: Any = dtypes.float32, custom_op_name: str = "", compute_dtype: Any = None,
                 quant_min: int | None = None, quant_max: int | None = None, qscheme: Any = None,
                 eps: float | None = None, is_dynamic: bool = False) -> None:
        super().__init__(dtype=dtype, is_dynamic=is_dynamic)
        self.qscheme = layouts.per_tensor_affine if qscheme is None else qscheme
        self.quant_min, self.quant_max, self.eps = quant_min, quant_max, eps
        self.custom_op = custom_op_name
        if compute_dtype:
            warnings.warn("Please use `is_dynamic` instead of `compute_dtype`, which will be deprecated",
                          stacklevel=2)
            is_dynamic = True
        self.is_dynamic = is_dynamic

    def forward(self, x: Tensor) -> Tensor:
        """``x``."""
        return x

    def extra_repr(self) -> str:
        return f"dtype={self.dtype}, is_dynamic={self.is_dynamic}"

    def calculate_qparams(self) -> None:
        """Raises RuntimeError: nothing is observed."""
        raise RuntimeError("calculate_qparams should not be called for PlaceholderObserver")


class NoopObserver(ObserverBase):
    """Passes its input on and says a dtype.

    Args:
        dtype: the dtype that it says.
        custom_op_name: kept as an attribute.

    Example:
        >>> torch.ao.quantization.NoopObserver(dtype=torch.float16)(torch.ones(1))
        tensor([1.])
    """

    def __init__(self, dtype: Any = dtypes.float16, custom_op_name: str = "") -> None:
        super().__init__(dtype=dtype, is_dynamic=False)
        self.custom_op = custom_op_name

    def forward(self, x: Tensor) -> Tensor:
        """``x``."""
        return x

    def calculate_qparams(self) -> None:
        """Raises RuntimeError: nothing is observed."""
        raise RuntimeError("calculate_qparams should not be called for NoopObserver")


class RecordingObserver(ObserverBase):
    """Keeps copies of all that it sees, to look at them.

    Args:
        dtype: the dtype that it says.

    Example:
        >>> observer = torch.ao.quantization.RecordingObserver()
        >>> _ = observer(torch.ones(1))
        >>> observer.get_tensor_value()
        [tensor([1.])]
    """

    def __init__(self, dtype: Any = dtypes.quint8) -> None:
        super().__init__(dtype=dtype, is_dynamic=False)
        self.tensor_val: list[Tensor] = []

    def forward(self, x: Tensor) -> Tensor:
        """``x``, of which a copy is kept."""
        self.tensor_val.append(x.clone())
        return x

    def calculate_qparams(self) -> None:
        """Raises RuntimeError: nothing is chosen."""
        raise RuntimeError("calculate_qparams should not be called for RecordingObserver")

    def get_tensor_value(self) -> list[Tensor]:
        """The copies."""
        return self.tensor_val


class ReuseInputObserver(ObserverBase):
    """Says that a result has scale and zero point of the operand, as that of ``reshape`` has."""

    def __init__(self) -> None:
        super().__init__(dtypes.quint8, is_dynamic=False)

    def forward(self, x: Tensor) -> Tensor:
        """``x``."""
        return x

    def calculate_qparams(self) -> None:
        """Raises RuntimeError: the operand has them."""
        raise RuntimeError("calculate_qparams should not be called for ReuseInputObserver")


def is_activation_post_process(module: Any) -> bool:
    """Whether a module observes results, or quantizes them as if."""
    return isinstance(module, Module) and (isinstance(module, ObserverBase) or getattr(
        module, "_fakes_quantization", False))


default_observer = MinMaxObserver.with_args(quant_min=0, quant_max=127)
default_placeholder_observer = PlaceholderObserver
default_debug_observer = RecordingObserver
default_weight_observer = MinMaxObserver.with_args(dtype=dtypes.qint8, qscheme=layouts.per_tensor_symmetric)
weight_observer_range_neg_127_to_127 = MinMaxObserver.with_args(
    dtype=dtypes.qint8, qscheme=layouts.per_tensor_symmetric, quant_min=-127, quant_max=127, eps=2**-12)
default_per_channel_weight_observer = PerChannelMinMaxObserver.with_args(
    dtype=dtypes.qint8, qscheme=layouts.per_channel_symmetric)
per_channel_weight_observer_range_neg_127_to_127 = PerChannelMinMaxObserver.with_args(
    dtype=dtypes.qint8, qscheme=layouts.per_channel_symmetric, quant_min=-127, quant_max=127, eps=2**-12)
default_dynamic_quant_observer = PlaceholderObserver.with_args(
    dtype=dtypes.quint8, quant_min=0, quant_max=255, is_dynamic=True)
default_float_qparams_observer = PerChannelMinMaxObserver.with_args(
    dtype=dtypes.quint8, qscheme=layouts.per_channel_affine_float_qparams, ch_axis=0)
default_fixed_qparams_range_neg1to1_observer = FixedQParamsObserver.with_args(
    scale=2.0 / 256.0, zero_point=128, dtype=dtypes.quint8, quant_min=0, quant_max=255)
default_fixed_qparams_range_0to1_observer = FixedQParamsObserver.with_args(
    scale=1.0 / 256.0, zero_point=0, dtype=dtypes.quint8, quant_min=0, quant_max=255)
default_symmetric_fixed_qparams_observer = default_fixed_qparams_range_neg1to1_observer
default_affine_fixed_qparams_observer = default_fixed_qparams_range_0to1_observer
default_reuse_input_observer = ReuseInputObserver

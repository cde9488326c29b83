"""Transforms of real signals, sample frequencies and shifts of spectra, for the namespace ``fft``."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxflow._api.creation.creation import check_size, dtype_of
from jaxflow._api.creation.host_arrays import finished, put
from jaxflow._api.creation.placing import device_of, need_memory
from jaxflow._api.forms import expect_tensor, given_out
from jaxflow._core.aval import aval_of
from jaxflow._core.layout import strided
from jaxflow._core.memory_errors import check_sizes
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._dispatch.viewing import apply_view
from jaxflow._plans.op import OPS
from jaxflow._publish.bind import freeze
from jaxflow._publish.composite import composite
from jaxflow._publish.out import refuse_kind


def _frequencies(name, n, d, at, out, dtype, layout, device, requires_grad, pin_memory):
    if type(n) is not int:
        raise TypeError(f"fft_{name}(): argument 'n' (position 1) must be int, not {type(n).__name__}")
    kind = dtype_of(dtype if dtype is not None or out is None else out._aval.dtype, f"fft_{name}")
    if kind.category < 2:
        raise RuntimeError(f"{name} requires a floating point or complex dtype")
    if kind.is_complex:
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{kind.scalar_name}'")
    need_memory(f"fft_{name}", layout, pin_memory, device, out)
    where = device_of(device)
    check_sizes(name, [aval_of((n,), kind, where)])
    with np.errstate(divide="ignore", invalid="ignore"):
        found = at(n) * (np.float64(1) / (np.float64(n) * d))
    t = finished(put(found.astype(kind.np), where), requires_grad, f"fft_{name}")
    return given_out(f"fft_{name}", out, t)


def _around_zero(n):
    check_size("fftfreq", (n,))
    return (np.arange(n) + n // 2) % max(n, 1) - n // 2


@composite("function", namespace="fft")
def fftfreq(n: int, d: float = 1.0, *, out: Tensor | None = None, dtype: Any = None, layout: Any = strided,
            device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """The frequencies of the ``n`` numbers that `fft` returns, of samples ``d`` apart; floating."""
    return _frequencies("fftfreq", n, d, _around_zero, out, dtype, layout, device, requires_grad, pin_memory)


@composite("function", namespace="fft")
def rfftfreq(n: int, d: float = 1.0, *, out: Tensor | None = None, dtype: Any = None, layout: Any = strided,
             device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """The frequencies of the ``n // 2 + 1`` numbers that `rfft` returns, of samples ``d`` apart."""
    return _frequencies("rfftfreq", n, d, lambda n: np.arange(n // 2 + 1), out, dtype, layout, device,
                        requires_grad, pin_memory)


def _shifted(input, dim, shift):
    if dim is None:
        dim = tuple(range(input.dim()))
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    return apply(OPS["roll"], (input,), (tuple(shift(input.size(d)) for d in dims), dims))


@composite("function", namespace="fft")
def fftshift(input: Tensor, dim: Any = None) -> Tensor:
    """A spectrum in the order of `fft` with frequency zero moved to the middle of ``dim`` (all)."""
    return _shifted(input, dim, lambda n: n // 2)


@composite("function", namespace="fft")
def ifftshift(input: Tensor, dim: Any = None) -> Tensor:
    """What `fftshift` did, undone."""
    return _shifted(input, dim, lambda n: (n + 1) // 2)


@composite("function", namespace="fft")
def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *,
        axis: int | None = None, out: Tensor | None = None) -> Tensor:
    """See `ifft`."""
    op = OPS["fft" if input._aval.dtype.is_complex else "_fft_of_reals"]
    refuse_kind(op.out, out, input)
    result = apply(op, (input,), (freeze(n), freeze(dim if axis is None else axis), norm))
    return given_out("fft", out, result, (input,), op)


def _shown_conjugated(name: str, input: Tensor, static: tuple, out: Tensor | None) -> Tensor:
    """The transform ``name`` of real numbers over one dimension: a view of what the op gives, conjugated."""
    op = OPS[f"_conjugated_{name}"]
    refuse_kind(op.out, out, input)
    shown = apply_view("conj", apply(op, (input,), static))
    return shown if out is None else given_out(name, out, shown.clone(), (input,), op)


@composite("function", namespace="fft")
def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *,
         axis: int | None = None, out: Tensor | None = None) -> Tensor:
    """See `fft`."""
    static = (freeze(n), freeze(dim if axis is None else axis), norm)
    if not input._aval.dtype.is_complex:
        return _shown_conjugated("ifft", input, static, out)
    refuse_kind(OPS["ifft"].out, out, input)
    return given_out("ifft", out, apply(OPS["ifft"], (input,), static), (input,))


@composite("function", namespace="fft")
def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *,
          axis: int | None = None, out: Tensor | None = None) -> Tensor:
    """See `hfft`."""
    static = (freeze(n), freeze(dim if axis is None else axis), norm)
    return _shown_conjugated("ihfft", input, static, out)


@composite("function", namespace="fft")
def ihfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None, *, axis: Any = None,
           out: Tensor | None = None) -> Tensor:
    """See `hfft2`."""
    return _over_several("ihfft2", input, s, dim if axis is None else axis, norm, out)


@composite("function", namespace="fft")
def ihfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None, *, axis: Any = None,
           out: Tensor | None = None) -> Tensor:
    """See `hfftn`."""
    return _over_several("ihfftn", input, s, dim if axis is None else axis, norm, out)


def _over_several(name: str, input: Tensor, s: Any, dim: Any, norm: Any, out: Tensor | None) -> Tensor:
    """A transform over several dimensions; where they are one it is shown conjugated, as over one."""
    expect_tensor(f"fft_{name}", "input", input)
    static = s, dim, _ = (freeze(s), freeze(dim), norm)
    named = dim if dim is not None else s
    count = input._aval.ndim if named is None else len(named) if isinstance(named, tuple) else 1
    if out is None and count == 1 and not input._aval.dtype.is_complex:
        return _shown_conjugated(name, input, static, None)
    return given_out(name, out, apply(OPS[name], (input,), static), (input,))


for _transform in (fft, ifft, ihfft, ihfft2, ihfftn):
    _transform.__doc__ = OPS["_conjugated_ihfft" if _transform is ihfft else _transform.__name__].doc

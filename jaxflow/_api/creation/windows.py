"""Window functions: ``hann_window`` and its kin, and the namespace ``signal.windows``.

Their numbers depend on no tensor, so they are computed on the host, in double precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from jaxflow._core import dtype as dtypes
from jaxflow._core.aval import aval_of
from jaxflow._core.layout import strided
from jaxflow._core.memory_errors import check_sizes
from jaxflow._core.tensor import Tensor
from jaxflow._publish.composite import composite

from .creation import dtype_of
from .host_arrays import finished, put
from .placing import device_of, need_memory


def _cosines(x: np.ndarray, coefficients: Iterable[float]) -> np.ndarray:
    """``sum of (-1)^k a_k cos(k x)``."""
    return sum((-1) ** k * a * np.cos(k * x) for k, a in enumerate(coefficients))


def _period(n: int, sym: bool) -> int:
    """How many steps the ``n`` points are away from their first repetition."""
    return n - 1 if sym else n


def _turn(n: int, sym: bool) -> np.ndarray:
    return 2 * np.pi * np.arange(n) / _period(n, sym)


def _triangle(n: int, sym: bool) -> np.ndarray:
    return 1 - np.abs(2 * np.arange(n) / _period(n, sym) - 1)


def _kaiser(n: int, sym: bool, beta: float) -> np.ndarray:
    off = 2 * np.arange(n) / _period(n, sym) - 1
    return np.i0(beta * np.sqrt(np.maximum(1 - off * off, 0))) / np.i0(beta)


def _made(name: str, n: int, compute: Callable, dtype: dtypes.dtype, device: Any,
          requires_grad: bool) -> Tensor:
    where = device_of(device)
    check_sizes(name, [aval_of((n,), dtype, where)])
    # One point has no neighbours to lie between: it is the maximum.
    found = np.ones(n) if n < 2 else compute(n)
    return finished(put(np.asarray(found).astype(dtype.np), where), requires_grad, name)


# --------------------------------------------------------------------------- torch.*_window


def _old(name, window_length, dtype, layout, device, pin_memory, requires_grad, compute):
    if type(window_length) is not int:
        raise TypeError(
            f"{name}(): argument 'window_length' (position 1) must be int, not {type(window_length).__name__}"
        )
    kind = dtype_of(dtype, name)
    if kind.category < 2:
        raise RuntimeError(
            f"{name} expects floating point dtypes, got: TensorOptions(dtype={kind.c_name}, device=cpu, "
            "layout=Strided (default), requires_grad=false (default), pinned_memory=false, "
            "memory_format=(nullopt))"
        )
    if window_length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={window_length}")
    if kind.is_complex and window_length > 1:
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{kind.scalar_name}'")
    need_memory(name, layout, pin_memory, device)
    return _made(name, window_length, compute, kind, device, requires_grad)


def _simple(name: str, shape: Callable, doc: str):
    def make(window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = strided,
             device: Any = None, pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
        return _old(name, window_length, dtype, layout, device, pin_memory, requires_grad,
                    lambda n: shape(n, not periodic))

    make.__name__ = make.__qualname__ = name
    make.__doc__ = (f"{doc} of ``window_length`` points; ``periodic``: the first of the next period is left "
                    "out, as spectra want it.")
    return composite("function")(make)


_HANN, _HAMMING, _BLACKMAN = (0.5, 0.5), (0.54, 0.46), (0.42, 0.5, 0.08)
_NUTTALL = (0.3635819, 0.4891775, 0.1365995, 0.0106411)

hann_window = _simple("hann_window", lambda n, sym: _cosines(_turn(n, sym), _HANN), "A raised cosine")
blackman_window = _simple("blackman_window", lambda n, sym: _cosines(_turn(n, sym), _BLACKMAN),
                          "Blackman's sum of three cosines")
bartlett_window = _simple("bartlett_window", _triangle, "A triangle")


@composite("function")
def hamming_window(window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *,
                   dtype: Any = None, layout: Any = strided, device: Any = None, pin_memory: bool = False,
                   requires_grad: bool = False) -> Tensor:
    """``alpha - beta cos`` over one turn; ``periodic`` as in `hann_window`."""
    return _old("hamming_window", window_length, dtype, layout, device, pin_memory, requires_grad,
                lambda n: _cosines(_turn(n, not periodic), (alpha, beta)))


@composite("function")
def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: Any = None,
                  layout: Any = strided, device: Any = None, pin_memory: bool = False,
                  requires_grad: bool = False) -> Tensor:
    """Kaiser's window of shape ``beta``, by the Bessel function `i0`; ``periodic`` as in `hann_window`."""
    return _old("kaiser_window", window_length, dtype, layout, device, pin_memory, requires_grad,
                lambda n: _kaiser(n, not periodic, beta))


# --------------------------------------------------------------------------- signal.windows


def _new(name, M, dtype, layout, device, requires_grad, compute):
    if layout is not strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    kind = dtype_of(dtype, name)
    if kind not in (dtypes.float32, dtypes.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {kind}")
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if type(M) is not int:
        raise TypeError(f"{name}(): argument 'M' must be int, not {type(M).__name__}")
    return _made(name, M, compute, kind, device, requires_grad)


_windows = composite("function", namespace="signal.windows")
_TAIL = " ``M`` points; ``sym=False`` leaves out the last of a symmetric window that is one point longer."


def _declared(name: str, shape: Callable, doc: str, as_name: str = "general_cosine"):
    """A window without parameters; those made of cosines complain in the name of their general form."""

    def make(M: int, *, sym: bool = True, dtype: Any = None, layout: Any = strided, device: Any = None,
             requires_grad: bool = False) -> Tensor:
        return _new(as_name, M, dtype, layout, device, requires_grad, lambda n: shape(n, sym))

    make.__name__ = make.__qualname__ = name
    make.__doc__ = doc + _TAIL
    return _windows(make)


_declared("hann", lambda n, sym: _cosines(_turn(n, sym), _HANN), "A raised cosine of")
_declared("hamming", lambda n, sym: _cosines(_turn(n, sym), _HAMMING), "Hamming's raised cosine of")
_declared("nuttall", lambda n, sym: _cosines(_turn(n, sym), _NUTTALL), "Nuttall's sum of four cosines,")
_declared("blackman", lambda n, sym: _cosines(_turn(n, sym), _BLACKMAN),
          "Blackman's sum of three cosines,", "blackman")
_declared("bartlett", _triangle, "A triangle of", "bartlett")
_declared("cosine", lambda n, sym: np.sin(np.pi * (np.arange(n) + 0.5) / (_period(n, sym) + 1)),
          "Half a period of a sine, at", "cosine")


@_windows
def general_cosine(M: int, *, a: Iterable[float], sym: bool = True, dtype: Any = None,
                   layout: Any = strided, device: Any = None, requires_grad: bool = False) -> Tensor:
    """The alternating sum of cosines with the coefficients ``a``; ``sym`` as in `hann`.

    Raises:
        TypeError: when ``a`` cannot be iterated over.
        ValueError: when it is empty, or for a negative ``M``.
    """
    if not isinstance(a, Iterable):
        _new("general_cosine", M, dtype, layout, device, False, np.ones)
        raise TypeError("Coefficients must be a list/tuple")
    coefficients = [float(c) for c in a]
    made = _new("general_cosine", M, dtype, layout, device, requires_grad,
                lambda n: _cosines(_turn(n, sym), coefficients or (0.0,)))
    if M and not coefficients:
        raise ValueError("Coefficients cannot be empty")
    return made


@_windows
def general_hamming(M: int, *, alpha: float = 0.54, sym: bool = True, dtype: Any = None,
                    layout: Any = strided, device: Any = None, requires_grad: bool = False) -> Tensor:
    """``alpha - (1 - alpha) cos`` over one turn; ``sym`` as in `hann`."""
    return _new("general_cosine", M, dtype, layout, device, requires_grad,
                lambda n: _cosines(_turn(n, sym), (alpha, 1 - alpha)))


@_windows
def exponential(M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True,
                dtype: Any = None, layout: Any = strided, device: Any = None,
                requires_grad: bool = False) -> Tensor:
    """``exp(-|n - center| / tau)``, by default around the middle; ``sym`` as in `hann`.

    Raises:
        ValueError: for a ``tau`` that is not positive, or a ``center`` of a symmetric window.
    """
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    return _new("exponential", M, dtype, layout, device, requires_grad, lambda n: np.exp(
        -np.abs(np.arange(n) - (_period(n, sym) / 2 if center is None else center)) / tau))


@_windows
def gaussian(M: int, *, std: float = 1.0, sym: bool = True, dtype: Any = None, layout: Any = strided,
             device: Any = None, requires_grad: bool = False) -> Tensor:
    """A bell of standard deviation ``std`` points; ``sym`` as in `hann`. ValueError for one below 0."""
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    return _new("gaussian", M, dtype, layout, device, requires_grad,
                lambda n: np.exp(-(((np.arange(n) - _period(n, sym) / 2) / std) ** 2) / 2))


@_windows
def kaiser(M: int, *, beta: float = 12.0, sym: bool = True, dtype: Any = None, layout: Any = strided,
           device: Any = None, requires_grad: bool = False) -> Tensor:
    """Kaiser's window of shape ``beta``; ``sym`` as in `hann`. ValueError for a negative ``beta``."""
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    return _new("kaiser", M, dtype, layout, device, requires_grad, lambda n: _kaiser(n, sym, float(beta)))

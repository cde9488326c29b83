"""The short-time Fourier transform and its inverse."""

from __future__ import annotations

import math
import warnings
from typing import Any

from jaxflow._api.creation.creation import filled
from jaxflow._api.nn.pad import pad
from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS
from jaxflow._publish.composite import composite
from jaxflow._publish.value_checks import Watch

#: What divides by the sum of the squared windows must not be nearly 0.
_LEAST = 1e-11


def _told(**given: Any) -> str:
    """Arguments as PyTorch's messages list them."""
    def word(value):
        if isinstance(value, Tensor):
            return f"{dtypes.type_name(value.dtype)}{{{list(value.shape)}}}"
        return str(int(value)) if isinstance(value, bool) else str(value)

    return ", ".join(f"{name}={word(value)}" for name, value in given.items())


def _whole_window(window: Tensor | None, win_length: int, n_fft: int, like: Tensor) -> Tensor | None:
    """The window in the middle of ``n_fft`` points; None where it would be all ones."""
    if window is None:
        if win_length == n_fft:
            return None
        window = filled((win_length,), 1, like.dtype.to_real(), like.device)
    if win_length == n_fft:
        return window
    before = (n_fft - win_length) // 2
    return pad(window, (before, n_fft - win_length - before))


def _transform(name: str, x: Tensor, n: int, normalized: bool) -> Tensor:
    return apply(OPS[name], (x,), (n, -1, "ortho" if normalized else None))


@composite()
def stft(input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None,
         window: Tensor | None = None, center: Any = True, pad_mode: str = "reflect",
         normalized: bool = False, onesided: bool | None = None, return_complex: bool | None = None,
         align_to_window: bool | None = None) -> Tensor:
    """The spectra of overlapping frames of a signal.

    Args:
        input: ``(length,)`` or ``(batch, length)``, floating or complex.
        n_fft: points of a frame; frames are ``hop_length`` (a quarter of it) apart.
        win_length: points of ``window``, which lies in the middle of a frame (default ``n_fft``, all ones).
        center: pad both ends by half a frame, as ``pad_mode`` says, so that frames are around their time.
        normalized: divide by the root of ``n_fft``.
        onesided: the half that a real signal's spectra have (the default, unless something is complex).
        return_complex: False returns real and imaginary parts as a last dimension (deprecated).
        align_to_window: with ``center=False``, the first frame's window starts where the signal does.

    Returns:
        ``(batch, frequencies, frames)``.

    Raises:
        RuntimeError: for lengths that do not fit, and where ``return_complex`` must be given and is not.
    """
    hop = n_fft // 4 if hop_length is None else hop_length
    win = n_fft if win_length is None else win_length
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    if window is None:
        warnings.warn(
            "A window was not provided. A rectangular window will be applied,which is known to cause "
            "spectral leakage. Other windows such as torch.hann_window or torch.hamming_window are "
            "recommended to reduce spectral leakage.To suppress this warning and use a rectangular window, "
            "explicitly set `window=torch.ones(n_fft, device=<device>)`.", stacklevel=2)
    if center:
        shape = (*(1,) * (3 - input.dim()), *input.shape)
        half = n_fft // 2
        padded = pad(input.view(shape), (half, half), pad_mode)
        input = padded.view(padded.shape[3 - input.dim():] if input.dim() < 3 else padded.shape)
    told = (f"stft({dtypes.type_name(input.dtype)}{list(input.shape)}, "
            + _told(n_fft=n_fft, hop_length=hop, win_length=win, window=window, normalized=normalized,
                    onesided=onesided, return_complex=return_complex, align_to_window=align_to_window) + ") ")
    complex_window = window is not None and window.is_complex()
    if return_complex is None:
        if not (input.is_complex() or complex_window):
            raise RuntimeError(
                "stft requires the return_complex parameter be given for real inputs, and will further "
                "require that return_complex=True in a future PyTorch release."
            )
        return_complex = True
    if not return_complex:
        warnings.warn(
            "stft with return_complex=False is deprecated. In a future pytorch release, stft will return "
            "complex tensors for all inputs, and return_complex=False will raise an error.\nNote: you can "
            "still call torch.view_as_real on the complex output to recover the old return format.",
            stacklevel=2)
    if not (input.is_floating_point() or input.is_complex()):
        raise RuntimeError(told + ": expected a tensor of floating point or complex values")
    if not 1 <= input.dim() <= 2:
        raise RuntimeError(told + ": expected a 1D or 2D tensor")
    x = input if input.dim() == 2 else input.unsqueeze(0)
    length = x.shape[1]
    if not center and align_to_window and win < n_fft:
        before = (n_fft - win) // 2
        x = pad(x, (before, n_fft - win - before))
    if not 0 < n_fft <= length:
        raise RuntimeError(told + f": expected 0 < n_fft < {length}, but got n_fft={n_fft}")
    if hop <= 0:
        raise RuntimeError(told + f": expected hop_length > 0, but got hop_length={hop}")
    if not 0 < win <= n_fft:
        raise RuntimeError(told + f": expected 0 < win_length <= n_fft, but got win_length={win}")
    if window is not None and window.shape != (win,):
        raise RuntimeError(told + f": expected a 1D window tensor of size equal to win_length={win}, but got "
                                  f"window with size {list(window.shape)}")
    frames = apply(OPS["_frames"], (x,), (n_fft, hop))
    window = _whole_window(window, win, n_fft, input)
    if window is not None:
        frames = apply(OPS["_windowed"], (frames, window))
    if onesided is None:
        onesided = not frames.is_complex()
    elif onesided and frames.is_complex():
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    spectra = _transform("rfft" if onesided else "fft", frames, n_fft, normalized).transpose_(1, 2)
    if input.dim() == 1:
        spectra.squeeze_(0)
    return spectra if return_complex else spectra.view_as_real()


@composite()
def istft(input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None,
          window: Tensor | None = None, center: bool = True, normalized: bool = False,
          onesided: bool | None = None, length: int | None = None, return_complex: bool = False) -> Tensor:
    """The signal whose `stft` comes nearest to given spectra, by least squares.

    Args:
        input: ``(batch, frequencies, frames)`` or without the batch, complex.
        n_fft, hop_length, win_length, window, center, normalized, onesided: as they were in `stft`.
        length: of the result; what is missing is filled up with zeros.
        return_complex: the signal was complex.

    Raises:
        RuntimeError: for shapes that do not fit, and where the windows' squares add up to nearly 0 somewhere.
    """
    hop = n_fft // 4 if hop_length is None else hop_length
    win = n_fft if win_length is None else win_length
    if not input.is_complex():
        raise RuntimeError("istft requires a complex-valued input tensor matching the output from stft with "
                           "return_complex=True.")
    if window is None:
        warnings.warn(
            "A window was not provided. A rectangular window will be applied.Please provide the same window "
            "used by stft to make the inversion lossless.To suppress this warning and use a rectangular "
            "window, explicitly set `window=torch.ones(n_fft, device=<device>)`.", stacklevel=2)
    told = (f"istft(CPU{input.dtype.scalar_name}Type{list(input.shape)}, "
            + _told(n_fft=n_fft, hop_length=hop, win_length=win, window=window, center=center,
                    normalized=normalized, onesided=onesided, length=length,
                    return_complex=return_complex) + ") ")
    if not input.numel():
        raise RuntimeError(told + ": input tensor cannot be empty.")
    if not 2 <= input.dim() <= 3:
        raise RuntimeError(told + f": expected a tensor with 3 or 4 dimensions, but got {input.dim() + 1}")
    found = input.shape[-2]
    half = n_fft != found if onesided is None else onesided
    if found != (n_fft // 2 + 1 if half else n_fft):
        needed = "n_fft / 2 + 1 when onesided=True" if half else "n_fft when onesided=False"
        raise RuntimeError(told + ": expected the frequency dimension (3rd to the last) of the input tensor "
                                  f"to match {needed}, but got {found}")
    if not 0 < hop <= win:
        raise RuntimeError(told + ": expected 0 < hop_length <= win_length")
    if not 0 < win <= n_fft:
        raise RuntimeError(told + ": expected 0 < win_length <= n_fft")
    if window is not None and window.shape != (win,):
        raise RuntimeError(told + ": Invalid window shape. window has to be 1D and length of `win_length`")
    if return_complex and half:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if window is not None and window.is_complex() and not return_complex:
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    x = (input if input.dim() == 3 else input.unsqueeze(0)).transpose(1, 2)
    count = x.shape[1]
    if not (half or return_complex):
        x = x[:, :, : n_fft // 2 + 1]
    frames = _transform("ifft" if return_complex else "irfft", x, n_fft, normalized)
    window = _whole_window(window, win, n_fft, input)
    if window is None:
        window = filled((n_fft,), 1, input.dtype.to_real(), input.device)
    total = apply(OPS["_overlap_add"], (frames * window,), (hop,))
    squares = window.square().expand(1, count, n_fft)
    weight = apply(OPS["_overlap_add"], (squares,), (hop,))
    start = n_fft // 2 if center else 0
    whole = total.shape[1]
    end = start + length if length is not None else whole - start
    total, weight = total[:, start:end], weight[:, start:end]
    if not weight.numel():
        raise RuntimeError("min(): Expected reduction dim to be specified for input.numel() == 0. Specify "
                           "the reduction dim with the 'dim' argument.")
    watch = Watch()
    watch.within((weight.detach().abs(),), ((_LEAST, math.inf),),
                 lambda *_: RuntimeError(told + "window overlap add min: 1"))
    signal = watch.over(total / weight)
    if input.dim() == 2:
        signal = signal.squeeze(0)
    if end > whole:
        warnings.warn(
            "The length of signal is shorter than the length parameter. Result is being padded with zeros in "
            "the tail. Please check your center and hop_length settings.", stacklevel=2)
        signal = pad(signal, (0, end - whole))
    return signal

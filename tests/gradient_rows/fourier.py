"""Fourier transforms, and what is made of them."""

import jaxflow as torch

from .row import row

fft = torch.fft
X = (2, 4)


def _both(transform, **options):
    """Of a complex tensor made of a real one, so that both parts of the gradient are seen."""
    return row(lambda x: transform(torch.complex(x, x.flip(-1) * 0.5), **options), X)


ROWS = {
    "fft": _both(fft.fft, n=5, norm="ortho"),
    "fft/real": row(lambda x: fft.fft(x, 5, norm="ortho"), X),
    "fft/complex": row(lambda x: fft.fft(x, dim=0), X, dtype="complex128"),
    "ifft": _both(fft.ifft, n=3),
    "rfft": row(lambda x: fft.rfft(x, norm="forward"), X),
    "irfft": _both(fft.irfft, n=5),
    "hfft": _both(fft.hfft),
    "_conjugated_ifft": row(lambda x: fft.ifft(x, 5), X),
    "_conjugated_ihfft": row(fft.ihfft, X),
    "_conjugated_ihfft2": row(lambda x: fft.ihfft2(x, dim=(0,)), X),
    "_conjugated_ihfftn": row(lambda x: fft.ihfftn(x, dim=(1,), norm="forward"), X),
    "fft2": row(lambda x: fft.fft2(x, (3, 2)), X),
    "ifft2": _both(fft.ifft2),
    "rfft2": row(fft.rfft2, X),
    "irfft2": _both(fft.irfft2),
    "hfft2": _both(fft.hfft2),
    "ihfft2": row(fft.ihfft2, X),
    "fftn": row(fft.fftn, (2, 1, 2, 1, 2)),
    "ifftn": row(lambda x: fft.ifftn(x, (-1, 3)), X),
    "rfftn": row(fft.rfftn, (2, 1, 2, 1, 2)),
    "irfftn": row(fft.irfftn, (2, 1, 2, 1, 2)),
    "hfftn": _both(fft.hfftn, norm="ortho"),
    "ihfftn": row(lambda x: fft.ihfftn(x, norm="ortho"), X),
    "_frames": row(lambda x: torch.stft(x, 4, 3, window=x[0, :4], return_complex=True), (2, 9)),
    "_windowed": row(lambda x: torch.stft(x, 4, 3, window=x[0, :4], return_complex=True), (1, 9)),
    "_overlap_add": row(
        lambda x: torch.istft(torch.complex(x, x.flip(0)), 4, 3, window=torch.ones(4, dtype=x.dtype)), (3, 3)
    ),
}

"""Spectra, windows and short-time transforms: against NumPy, and there and back."""

import numpy as np
import pytest

import jaxflow as torch


def test_transforms_of_many_sizes_and_dimensions(executor):
    for n in (4, 5, 6):  # the third is traced for all sizes
        x = np.random.default_rng(n).standard_normal((2, n))
        t = torch.tensor(x)
        for norm, names in (("backward", "fft ifft rfft irfft"), ("ortho", "hfft fft2"),
                            ("forward", "ihfft irfftn")):
            for name in names.split():
                ours = getattr(torch.fft, name)(t, norm=norm).resolve_conj().numpy()
                axes = {"axes": (-2, -1)} if name[-1] in "2n" else {}
                assert np.allclose(ours, getattr(np.fft, name)(x, norm=norm, **axes)), (name, n, norm)
    x = np.random.default_rng(0).standard_normal((2, 3, 2, 3, 4))
    t = torch.tensor(x)
    assert np.allclose(torch.fft.fftn(t).numpy(), np.fft.fftn(x))
    assert np.allclose(torch.fft.irfftn(torch.fft.rfftn(t)).numpy(), x)
    assert np.allclose(torch.fft.hfftn(torch.fft.ihfftn(t)).numpy(), x)
    assert torch.fft.fft(torch.zeros(0, 3)).shape == (0, 3)


def test_the_order_of_frequencies():
    for n in (0, 1, 4, 5):
        if n:
            assert np.allclose(torch.fft.fftfreq(n, 0.5).numpy(), np.fft.fftfreq(n, 0.5))
            assert np.allclose(torch.fft.rfftfreq(n, 0.5).numpy(), np.fft.rfftfreq(n, 0.5))
        x = torch.arange(n)
        assert torch.fft.ifftshift(torch.fft.fftshift(x)).tolist() == x.tolist()
    assert torch.fft.fftshift(torch.arange(5)).tolist() == [3, 4, 0, 1, 2]


def test_windows():
    same = (("hann_window", np.hanning), ("hamming_window", np.hamming), ("blackman_window", np.blackman),
            ("bartlett_window", np.bartlett))
    for name, reference in same:
        for n in (1, 2, 5, 6):
            assert np.allclose(getattr(torch, name)(n, periodic=False), reference(n), atol=1e-7)
            new = getattr(torch.signal.windows, name.removesuffix("_window"))
            assert np.allclose(new(n), reference(n), atol=1e-7)
            assert np.allclose(new(n, sym=False), getattr(torch, name)(n))
    assert np.allclose(torch.kaiser_window(6, False, 4.0), np.kaiser(6, 4.0))
    with pytest.raises(ValueError, match="strided tensors only"):
        torch.signal.windows.hann(3, layout=torch.sparse_coo)


def test_short_time_transform_there_and_back(executor):
    x = torch.tensor(np.random.default_rng(0).standard_normal((2, 50)))
    for n_fft, hop, center in ((8, 3, True), (9, 4, False)):
        window = torch.ones(n_fft, dtype=torch.float64) + torch.arange(n_fft) * 0.1
        spectra = torch.stft(x, n_fft, hop, window=window, center=center, return_complex=True)
        padded = np.pad(x.numpy(), ((0, 0), (n_fft // 2,) * 2), "reflect") if center else x.numpy()
        third = padded[:, 2 * hop : 2 * hop + n_fft] * window.numpy()
        assert np.allclose(spectra[:, :, 2].numpy(), np.fft.rfft(third))
        back = torch.istft(spectra, n_fft, hop, window=window, center=center)
        assert np.allclose(back.numpy(), x[:, : back.shape[1]].numpy())
    with pytest.raises(RuntimeError, match="window overlap add min"):
        torch.istft(spectra, 9, 4, window=torch.zeros(9)).sum().item()

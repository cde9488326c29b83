"""Fake quantization: values, gradients, buffers and refusals as PyTorch's."""

import numpy as np
import pytest
import torch

import jaxflow

INF = float("inf")
RNG = np.random.default_rng(3)
X = (RNG.standard_normal((4, 6)) * 3).astype("float32")
TIES = np.array([float("nan"), 0.05, 0.15, 0.25, 0.35, -0.05, 1e30], "float32")


def _both(call):
    return [call(lib, lambda a, dtype=None, lib=lib: lib.tensor(
        a, dtype=None if dtype is None else getattr(lib, dtype))) for lib in (torch, jaxflow)]


def _same(expected, found, exact=True):
    for e, f in zip(expected, found, strict=True):
        if isinstance(e, str) or e is None:
            assert e == f
            continue
        assert str(e.dtype) == str(f.dtype) and tuple(e.shape) == tuple(f.shape)
        e, f = e.detach().double().numpy(), f.detach().double().numpy()
        np.testing.assert_allclose(f, e, rtol=0 if exact else 1e-5, atol=0 if exact else 1e-5)


def _with_gradients(fn, tensors, *rest):
    tensors = [t.requires_grad_() if t.is_floating_point() else t for t in tensors]
    out = fn(*tensors, *rest)
    weight = out.detach() * 0 + (out.detach() != 7)  # ones, of out's dtype
    (out * weight).sum().backward()
    return [out.grad_fn.name(), out, *(t.grad for t in tensors)]


ROWS = {
    "number": lambda T, t: _with_gradients(T.fake_quantize_per_tensor_affine, [t(X)], 0.1, 7, 0, 31),
    "ties": lambda T, t: _with_gradients(T.fake_quantize_per_tensor_affine, [t(TIES)], 0.1, 3, 0, 10),
    "signed": lambda T, t: _with_gradients(T.fake_quantize_per_tensor_affine, [t(X)], 0.03, 0, -128, 127),
    "double": lambda T, t: _with_gradients(
        T.fake_quantize_per_tensor_affine, [t(X, "float64")], 0.03, 0, -128, 127),
    "half": lambda T, t: _with_gradients(
        T.fake_quantize_per_tensor_affine, [t(X, "float16")], 0.03, 0, -128, 127),
    "bfloat16": lambda T, t: _with_gradients(
        T.fake_quantize_per_tensor_affine, [t(X, "bfloat16")], 0.03, 0, -128, 127),
    "tensors": lambda T, t: _with_gradients(
        T.fake_quantize_per_tensor_affine, [t(X)], t([0.1]), t([3], "int32"), 0, 31),
    "tensors of no dimension": lambda T, t: _with_gradients(
        T.fake_quantize_per_tensor_affine, [t(X)], t(0.1), t(3.0), 0, 31),
    "channels": lambda T, t: _with_gradients(
        T.fake_quantize_per_channel_affine, [t(X)], t([0.1, 0.2, 0.3, 0.01]), t([0, 3, 5, 1], "int32"),
        0, 0, 9),
    "channels, last": lambda T, t: _with_gradients(
        T.fake_quantize_per_channel_affine, [t(X)], t([0.1, 0.2, 0.3, 0.01, 2.0, 1.0]),
        t([0, 3, 5, 1, 2, 2], "int32"), 1, -4, 9),
    "channels, floating zero": lambda T, t: _with_gradients(
        T.fake_quantize_per_channel_affine, [t(X)], t([0.1, 0.2, 0.3, 0.01]), t([0.4, 3, 5.5, 1]), 0, 0, 9),
    "learned": lambda T, t: _with_gradients(
        T._fake_quantize_learnable_per_tensor_affine, [t(X), t([0.1]), t([2.6])], 0, 31, 0.5),
    "learned, zero point outside": lambda T, t: _with_gradients(
        T._fake_quantize_learnable_per_tensor_affine, [t(X), t([0.1]), t([44.0])], 0, 31, 1.0),
    "learned, integer zero": lambda T, t: [T._fake_quantize_learnable_per_tensor_affine(
        t(X), t([0.1]), t([3], "int32"), 0, 31)],
    "learned channels": lambda T, t: _with_gradients(
        T._fake_quantize_learnable_per_channel_affine,
        [t(X), t([0.1, 0.2, 0.3, 0.01]), t([0.4, 3, 5.5, 1])], 0, -8, 15, 0.25),
}


@pytest.mark.parametrize("name", ROWS)
def test_values_and_gradients_are_pytorchs(name):
    _same(*_both(ROWS[name]), exact="learned" not in name and "floating" not in name)


REFUSED = {
    "bounds": lambda T, t: T.fake_quantize_per_tensor_affine(t(X), 0.1, 0, 10, 0),
    "zero point": lambda T, t: T.fake_quantize_per_tensor_affine(t(X), 0.1, 20, 0, 10),
    "integers": lambda T, t: T.fake_quantize_per_tensor_affine(t([1, 2], "int32"), 0.1, 0, 0, 10),
    "several": lambda T, t: T.fake_quantize_per_tensor_affine(t(X), t([0.1, 0.2]), t([0, 1], "int32"), 0, 10),
    "scale with grad": lambda T, t: T.fake_quantize_per_tensor_affine(
        t(X), t([0.1]).requires_grad_(), t([0], "int32"), 0, 10),
    "channels: long": lambda T, t: T.fake_quantize_per_channel_affine(
        t(X), t([0.1] * 4), t([0] * 4), 0, 0, 9),
    "channels: double": lambda T, t: T.fake_quantize_per_channel_affine(
        t(X), t([0.1] * 4, "float64"), t([0] * 4, "int32"), 0, 0, 9),
    "channels: sizes": lambda T, t: T.fake_quantize_per_channel_affine(
        t(X), t([0.1] * 4), t([0] * 3, "int32"), 0, 0, 9),
    "channels: axis": lambda T, t: T.fake_quantize_per_channel_affine(
        t(X), t([0.1] * 4), t([0] * 4, "int32"), 2, 0, 9),
    "channels: negative axis": lambda T, t: T.fake_quantize_per_channel_affine(
        t(X), t([0.1] * 6), t([0] * 6, "int32"), -1, 0, 9),
    "channels: other axis": lambda T, t: T.fake_quantize_per_channel_affine(
        t(X), t([0.1] * 4), t([0] * 4, "int32"), 1, 0, 9),
    "channels: zero point": lambda T, t: T.fake_quantize_per_channel_affine(
        t(X), t([0.1] * 4), t([0, 0, 0, 10], "int32"), 0, 0, 9).sum().item(),
    "learned: bounds": lambda T, t: T._fake_quantize_learnable_per_tensor_affine(
        t(X), t([0.1]), t([0.0]), 10, 0),
    "learned: no dimension": lambda T, t: T._fake_quantize_learnable_per_tensor_affine(
        t(X), t(0.1), t(0.0), 0, 10),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_are_pytorchs(name):
    said = []
    for lib in (torch, jaxflow):
        with pytest.raises(Exception) as caught:
            REFUSED[name](lib, lambda a, dtype=None, lib=lib: lib.tensor(
                a, dtype=None if dtype is None else getattr(lib, dtype)))
        said.append((caught.type.__name__, " ".join(str(caught.value).split())[:60]))
    assert said[0] == said[1]


OBSERVED = {
    "first": (1, 1, [INF], [-INF], [1.0], [0], 0.01, 0, 255, -1, False, False),
    "moves": (1, 1, [-0.5], [1.5], [1.0], [0], 0.3, 0, 127, -1, False, False),
    "symmetric": (1, 1, [-0.5], [1.5], [1.0], [0], 0.3, -128, 127, -1, False, True),
    "symmetric, unsigned": (1, 1, [-0.5], [1.5], [1.0], [0], 0.3, 0, 127, -1, False, True),
    "observer off": (0, 1, [-0.5], [1.5], [0.1], [5], 0.3, 0, 127, -1, False, False),
    "quantization off": (1, 0, [-0.5], [1.5], [0.1], [5], 0.3, 0, 127, -1, False, False),
    "both off": (0, 0, [-0.5], [1.5], [0.1], [5], 0.3, 0, 127, -1, False, False),
    "channels": (1, 1, [-1.0, 0, 1, -1], [3.0, 5, 2, 2], [1.0] * 4, [0] * 4, 0.1, -128, 127, 0, True, False),
    "channels, symmetric": (
        1, 1, [INF] * 4, [-INF] * 4, [1.0] * 4, [0] * 4, 0.1, -128, 127, 0, True, True),
    "channels, empty": (1, 1, [], [], [], [], 0.1, -128, 127, 0, True, False),
}


@pytest.mark.parametrize("name", OBSERVED)
def test_ranges_that_follow_the_input(name):
    observe, fake, low, high, scale, zero, *rest = OBSERVED[name]

    def call(lib, t):
        x = t(X).requires_grad_()
        buffers = [t(low, "float32"), t(high, "float32"), t(scale, "float32"), t(zero, "int32")]
        for _ in range(2):
            out = lib.fused_moving_avg_obs_fake_quant(x, t([observe]), t([fake]), *buffers, *rest)
        out.sum().backward()
        return [out.grad_fn.name(), out, x.grad, *buffers]

    _same(*_both(call), exact=False)

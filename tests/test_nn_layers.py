"""Layers against their formulas, written out in NumPy."""

import itertools
import math

import numpy as np
import pytest
from nearness import close, tensor

import jaxflow as torch
from jaxflow import nn

pytestmark = pytest.mark.usefixtures("executor")

RNG = np.random.default_rng(5)


def array(*shape):
    return RNG.normal(size=shape)


def numpy(parameter):
    return parameter.detach().numpy()


# ----- linear maps and look-ups --------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 4, 3), (0, 3)])
@pytest.mark.parametrize("bias", [True, False])
def test_linear(shape, bias):
    layer = nn.Linear(3, 2, bias=bias, dtype=torch.float64)
    x = array(*shape)
    expected = x @ numpy(layer.weight).T
    if bias:
        expected = expected + numpy(layer.bias)
    assert (layer.bias is not None) == bias
    close(layer(tensor(x)), expected)


def test_linear_refuses_other_sizes():
    with pytest.raises(RuntimeError, match=r"mat1 and mat2 shapes cannot be multiplied \(2x4 and 3x2\)"):
        nn.Linear(3, 2)(torch.ones(2, 4))


def test_bilinear():
    layer = nn.Bilinear(2, 3, 4, dtype=torch.float64)
    x, y = array(5, 2), array(5, 3)
    expected = np.einsum("bi,oij,bj->bo", x, numpy(layer.weight), y) + numpy(layer.bias)
    close(layer(tensor(x), tensor(y)), expected)


def test_embedding():
    layer = nn.Embedding(5, 3, padding_idx=1, dtype=torch.float64)
    where = np.array([[0, 4, 1], [1, 1, 0]])
    assert not numpy(layer.weight)[1].any()
    out = layer(torch.tensor(where))
    close(out, numpy(layer.weight)[where])
    out.sum().backward()
    # how often each row was looked up; the row of padding learns nothing
    close(layer.weight.grad, np.outer([2, 0, 0, 0, 1], np.ones(3)))


def test_embedding_scales_by_frequency():
    layer = nn.Embedding(3, 2, scale_grad_by_freq=True, dtype=torch.float64)
    weights = array(4, 2)
    (layer(torch.tensor([2, 0, 2, 2])) * tensor(weights)).sum().backward()
    close(layer.weight.grad, [weights[1], [0, 0], (weights[0] + weights[2] + weights[3]) / 3])


def test_embedding_keeps_norms_small():
    layer = nn.Embedding(3, 2, max_norm=1.0, dtype=torch.float64)
    with torch.no_grad():
        layer.weight.copy_(tensor([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]]))
    layer(torch.tensor([0, 1]))
    np.testing.assert_allclose(numpy(layer.weight), [[0.6, 0.8], [0.3, 0.4], [6.0, 8.0]], rtol=1e-6)


# ----- convolution, pooling ------------------------------------------------------------------------


def convolved(x, w, b, stride, padding, dilation, groups):
    """Cross-correlation over two dimensions, one output element at a time."""
    x = np.pad(x, [(0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2])
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, w.shape[2:])]
    size = [(n - r) // s + 1 for n, r, s in zip(x.shape[2:], reach, stride)]
    out = np.zeros((x.shape[0], w.shape[0], *size))
    per_group = w.shape[0] // groups
    for n, o, i, j in np.ndindex(*out.shape):
        first = o // per_group * w.shape[1]
        top, left = i * stride[0], j * stride[1]
        window = x[n, first : first + w.shape[1], top : top + reach[0] : dilation[0],
                   left : left + reach[1] : dilation[1]]
        out[n, o, i, j] = (window * w[o]).sum() + (0 if b is None else b[o])
    return out


@pytest.mark.parametrize(
    ("stride", "padding", "dilation", "groups", "bias"),
    [
        ((1, 1), (0, 0), (1, 1), 1, True),
        ((2, 1), (1, 0), (1, 1), 1, False),
        ((1, 2), (0, 2), (2, 1), 2, True),
        ((1, 1), (1, 1), (1, 1), 4, True),
    ],
)
def test_conv2d(stride, padding, dilation, groups, bias):
    layer = nn.Conv2d(4, 8, (2, 3), stride, padding, dilation, groups, bias, dtype=torch.float64)
    x = array(2, 4, 5, 6)
    weight, b = numpy(layer.weight), numpy(layer.bias) if bias else None
    assert weight.shape == (8, 4 // groups, 2, 3)
    close(layer(tensor(x)), convolved(x, weight, b, stride, padding, dilation, groups))


def test_conv2d_same_and_one_image():
    layer = nn.Conv2d(1, 2, 3, padding="same", dtype=torch.float64)
    x = array(1, 4, 5)
    expected = convolved(x[None], numpy(layer.weight), numpy(layer.bias), (1, 1), (1, 1), (1, 1), 1)
    close(layer(tensor(x)), expected[0])


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_conv2d_padding_modes(mode):
    layer = nn.Conv2d(1, 1, 3, padding=(1, 2), padding_mode=mode, bias=False, dtype=torch.float64)
    x = array(1, 1, 4, 5)
    named = {"replicate": "edge", "circular": "wrap"}.get(mode, mode)
    padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (2, 2)], mode=named)
    close(layer(tensor(x)), convolved(padded, numpy(layer.weight), None, (1, 1), (0, 0), (1, 1), 1))


def test_conv_transpose_is_the_gradient_of_conv():
    """``<conv(x), y> == <x, conv_transpose(y)>`` for all x and y."""
    conv = nn.Conv2d(2, 3, 3, stride=2, padding=1, bias=False, dtype=torch.float64)
    back = nn.ConvTranspose2d(3, 2, 3, stride=2, padding=1, bias=False, dtype=torch.float64)
    back.load_state_dict(conv.state_dict())
    x, y = array(1, 2, 5, 5), array(1, 3, 3, 3)
    forward, backward = (conv(tensor(x)) * tensor(y)).sum(), (tensor(x) * back(tensor(y))).sum()
    close(forward, backward.item())
    assert back(tensor(y), output_size=(6, 6)).shape == (1, 2, 6, 6)


def pooled(x, kernel, stride, padding, combine, fill):
    x = np.pad(x, [(0, 0), (0, 0), (padding,) * 2, (padding,) * 2], constant_values=fill)
    size = [(n - kernel) // stride + 1 for n in x.shape[2:]]
    out = np.zeros((*x.shape[:2], *size))
    for n, c, i, j in np.ndindex(*out.shape):
        top, left = i * stride, j * stride
        out[n, c, i, j] = combine(x[n, c, top : top + kernel, left : left + kernel])
    return out


@pytest.mark.parametrize(("kernel", "stride", "padding"), [(2, 2, 0), (3, 1, 1), (3, 2, 1)])
def test_pooling(kernel, stride, padding):
    x = array(2, 2, 5, 6)
    largest = nn.MaxPool2d(kernel, stride, padding)
    close(largest(tensor(x)), pooled(x, kernel, stride, padding, np.max, -np.inf))
    mean = nn.AvgPool2d(kernel, stride, padding)
    close(mean(tensor(x)), pooled(x, kernel, stride, padding, np.mean, 0))


def test_max_pool_indices_lead_back():
    x = array(1, 2, 4, 4)
    values, where = nn.MaxPool2d(2, return_indices=True)(tensor(x))
    picked = np.take_along_axis(x.reshape(1, 2, 16), where.numpy().reshape(1, 2, 4), 2)
    close(values, picked.reshape(1, 2, 2, 2))
    back = nn.MaxUnpool2d(2)(values, where)
    expected = np.where(np.isin(x, picked), x, 0)
    close(back, expected)


def test_adaptive_pooling():
    x = array(1, 2, 4, 6)
    close(nn.AdaptiveAvgPool2d(1)(tensor(x)), x.mean((2, 3), keepdims=True))
    expected = x.reshape(1, 2, 2, 2, 3, 2).max((3, 5))
    close(nn.AdaptiveMaxPool2d((2, 3))(tensor(x)), expected)


# ----- normalisation -------------------------------------------------------------------------------


def standardised(x, axes, eps):
    mean = x.mean(axes, keepdims=True)
    return (x - mean) / np.sqrt(((x - mean) ** 2).mean(axes, keepdims=True) + eps)


def randomised(layer):
    """With scale and shift other than one and zero."""
    for parameter in layer.parameters():
        nn.init.normal_(parameter)
    return layer


@pytest.mark.parametrize("shape", [(3,), (2, 3)])
def test_layer_norm(shape):
    layer = randomised(nn.LayerNorm(shape, eps=1e-3, dtype=torch.float64))
    x = array(4, 2, 3)
    y = standardised(x, tuple(range(-len(shape), 0)), 1e-3)
    close(layer(tensor(x)), y * numpy(layer.weight) + numpy(layer.bias))


def test_layer_norm_starts_as_the_plain_one():
    x = array(4, 3)
    layer = nn.LayerNorm(3, dtype=torch.float64)
    close(layer(tensor(x)), standardised(x, -1, 1e-5))
    assert nn.LayerNorm(3, elementwise_affine=False).weight is None
    assert nn.LayerNorm(3, bias=False).bias is None


def test_rms_norm_and_group_norm():
    x = array(2, 4, 3)
    layer = randomised(nn.RMSNorm(3, eps=1e-3, dtype=torch.float64))
    close(layer(tensor(x)), x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-3) * numpy(layer.weight))
    group = randomised(nn.GroupNorm(2, 4, dtype=torch.float64))
    y = standardised(x.reshape(2, 2, 6), 2, 1e-5).reshape(x.shape)
    close(group(tensor(x)), y * numpy(group.weight)[:, None] + numpy(group.bias)[:, None])


def test_batch_norm_in_training_and_after():
    layer = randomised(nn.BatchNorm2d(3, momentum=0.2, dtype=torch.float64))
    scale, shift = (numpy(p)[:, None, None] for p in (layer.weight, layer.bias))
    mean, var = np.zeros(3), np.ones(3)
    for step in range(1, 3):
        x = array(2, 3, 2, 4)
        close(layer(tensor(x)), standardised(x, (0, 2, 3), 1e-5) * scale + shift)
        # what is remembered is the unbiased variance, what is divided by the biased one
        mean = 0.8 * mean + 0.2 * x.mean((0, 2, 3))
        var = 0.8 * var + 0.2 * x.var((0, 2, 3), ddof=1)
        close(layer.running_mean, mean)
        close(layer.running_var, var)
        assert layer.num_batches_tracked.item() == step
    layer.eval()
    x = array(2, 3, 2, 4)
    y = (x - mean[:, None, None]) / np.sqrt(var + 1e-5)[:, None, None]
    close(layer(tensor(x)), y * scale + shift)
    close(layer.running_mean, mean)
    assert layer.num_batches_tracked.item() == 2
    layer.reset_running_stats()
    close(layer.running_mean, np.zeros(3))


def test_batch_norm_with_a_plain_average():
    layer = nn.BatchNorm1d(2, momentum=None, dtype=torch.float64)
    batches = [array(3, 2) for _ in range(3)]
    for x in batches:
        layer(tensor(x))
    close(layer.running_mean, np.mean([x.mean(0) for x in batches], 0))
    close(layer.running_var, np.mean([x.var(0, ddof=1) for x in batches], 0))


def test_batch_norm_without_running_statistics():
    layer = nn.BatchNorm1d(2, track_running_stats=False, dtype=torch.float64).eval()
    x = array(3, 2)
    close(layer(tensor(x)), standardised(x, 0, 1e-5))
    assert layer.running_mean is None


def test_batch_norm_refuses_other_dimensions():
    with pytest.raises(ValueError, match=r"expected 4D input \(got 3D input\)"):
        nn.BatchNorm2d(3)(torch.ones(2, 3, 4))
    with pytest.raises(ValueError, match="Expected more than 1 value per channel when training"):
        nn.BatchNorm1d(3)(torch.ones(1, 3))


def test_instance_norm():
    x = array(2, 3, 4)
    close(nn.InstanceNorm1d(3)(tensor(x)), standardised(x, 2, 1e-5))


# ----- attention -----------------------------------------------------------------------------------


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize("causal", [False, True])
def test_multihead_attention(causal):
    heads, width, n, length = 2, 6, 3, 4
    layer = randomised(nn.MultiheadAttention(width, heads, batch_first=True, dtype=torch.float64))
    x = array(n, length, width)
    hidden = np.triu(np.ones((length, length), bool), 1)
    mask = torch.tensor(hidden) if causal else None
    out, weights = layer(tensor(x), tensor(x), tensor(x), attn_mask=mask)
    q, k, v = np.split(x @ numpy(layer.in_proj_weight).T + numpy(layer.in_proj_bias), 3, -1)

    def split(t):
        return t.reshape(n, length, heads, width // heads).swapaxes(1, 2)

    scores = split(q) @ split(k).swapaxes(-1, -2) / math.sqrt(width // heads)
    if causal:
        scores = np.where(hidden, -np.inf, scores)
    share = softmax(scores)
    together = (share @ split(v)).swapaxes(1, 2).reshape(n, length, width)
    close(out, together @ numpy(layer.out_proj.weight).T + numpy(layer.out_proj.bias))
    close(weights, share.mean(1))


def test_transformer_encoder_layer():
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, dtype=torch.float64).eval()
    x = tensor(array(2, 3, 4))
    attended = layer.norm1(x + layer.self_attn(x, x, x)[0])
    inner = np.maximum(numpy(attended) @ numpy(layer.linear1.weight).T + numpy(layer.linear1.bias), 0)
    fed = inner @ numpy(layer.linear2.weight).T + numpy(layer.linear2.bias)
    expected = layer.norm2(attended + tensor(fed))
    close(layer(x), numpy(expected))


# ----- rearranging ---------------------------------------------------------------------------------


def test_flatten_and_back():
    x = array(2, 3, 4)
    close(nn.Flatten()(tensor(x)), x.reshape(2, 12))
    close(nn.Flatten(0, 1)(tensor(x)), x.reshape(6, 4))
    close(nn.Unflatten(1, (1, 3))(tensor(x)), x.reshape(2, 1, 3, 4))


def test_pixel_shuffle():
    x = array(1, 4, 2, 3)
    expected = np.zeros((1, 1, 4, 6))
    for c, i, j in itertools.product(range(4), range(2), range(3)):
        expected[0, 0, 2 * i + c // 2, 2 * j + c % 2] = x[0, c, i, j]
    close(nn.PixelShuffle(2)(tensor(x)), expected)
    close(nn.PixelUnshuffle(2)(tensor(expected)), x)


def test_upsample():
    x = array(1, 1, 2, 2)
    close(nn.Upsample(scale_factor=2)(tensor(x)), x.repeat(2, 2).repeat(2, 3))
    middle = nn.Upsample(size=(3, 3), mode="bilinear", align_corners=True)(tensor(x))
    close(middle[0, 0, 1, 1], x.mean())


def test_zero_pad():
    x = array(1, 1, 2, 3)
    close(nn.ZeroPad2d((1, 2, 0, 3))(tensor(x)), np.pad(x, [(0, 0), (0, 0), (0, 3), (1, 2)]))


def test_norms_of_windows():
    x = array(2, 3, 6)
    close(nn.LPPool1d(2, 3)(tensor(x)), np.sqrt((x.reshape(2, 3, 2, 3) ** 2).sum(-1)))
    assert repr(nn.LPPool1d(2, 3)) == "LPPool1d(norm_type=2, kernel_size=3, stride=None, ceil_mode=False)"


def test_fractional_pooling():
    """Every window is one of the input's; the last one ends where the input does."""
    x = torch.arange(42.0).reshape(1, 1, 6, 7)
    drawn = nn.FractionalMaxPool2d(2, output_size=(3, 4), return_indices=True)(x)
    for values, where in (drawn, nn.FractionalMaxPool2d(2, output_ratio=0.5, return_indices=True)(x)):
        close(values.double(), where.double())
        assert values[0, 0, -1, -1] == 41
        steps = np.diff(values.numpy()[0, 0], axis=0)
        assert (steps > 0).all()
    again = nn.FractionalMaxPool3d((1, 2, 2), output_size=(1, 3, 4), _random_samples=torch.zeros(1, 1, 3))
    out = again(torch.stack([x, x], 2)).numpy()[0, 0, 0]  # of volumes PyTorch asks a plane more
    # without an offset the windows are 4 / 2 rows and 5 / 3 columns apart, rounded down
    assert (out == (np.array([0, 2, 4])[:, None] + 1) * 7 + np.array([0, 1, 3, 5]) + 1).all()
    with pytest.raises(ValueError, match="only one of output_size and output_ratio may be specified"):
        nn.FractionalMaxPool2d(2, output_size=3, output_ratio=0.5)


def test_batch_norm_by_position():
    """The root namespace's: a batch of one value a channel, too, has its mean; running averages move."""
    mean, var = torch.zeros(2), torch.ones(2)
    out = torch.batch_norm(torch.tensor([[3.0, 5.0]]), None, None, mean, var, True, 0.5, 1e-5, True)
    assert out.tolist() == [[0.0, 0.0]]
    assert mean.tolist() == [1.5, 2.5]
    with pytest.raises(ValueError, match="Expected more than 1 value per channel when training"):
        nn.functional.batch_norm(torch.ones(1, 2), mean, var, training=True)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_normalisation_across_maps(size):
    """The first channel counts for all that follow, as in PyTorch."""
    x = torch.randn(2, 6, 2, 1, dtype=torch.float64, requires_grad=True)
    norm = torch.nn.CrossMapLRN2d(size, alpha=0.3, beta=0.6, k=2)
    reach = (size - 1) // 2
    sums = torch.stack([x[:, max(c - reach, 0):c + reach + 1].square().sum(1)
                        + (x[:, 0].square() if c > reach else 0) for c in range(6)], 1)
    assert torch.allclose(norm(x), x / (2 + 0.3 / size * sums) ** 0.6)
    assert torch.autograd.gradcheck(norm, (x,))
    assert repr(norm) == f"CrossMapLRN2d({size}, alpha=0.3, beta=0.6, k=2)"
    with pytest.raises(ValueError, match="CrossMapLRN2d: Expected input to be 4D, got 3D instead"):
        norm(x[0])

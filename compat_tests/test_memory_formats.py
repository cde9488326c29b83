"""Channels last and other orders in memory: the strides of what operations return, beside PyTorch's."""

import copy

import pytest
import torch

import jaxflow


def x(T, shape=(2, 4, 6, 6)):
    """An image whose channels vary fastest."""
    return T.arange(float(torch.Size(shape).numel())).reshape(shape).div(100).to(
        memory_format=T.channels_last)


def x3(T, shape=(2, 4, 3, 4, 4)):
    """The same with a depth."""
    return T.arange(float(torch.Size(shape).numel())).reshape(shape).div(100).to(
        memory_format=T.channels_last_3d)


def F(T):
    return T.nn.functional


def weight(T, *shape):
    return T.ones(shape).to(memory_format=T.channels_last)


def strides(found):
    """Shapes and strides of all tensors of a result."""
    if isinstance(found, (tuple, list)):
        return [strides(one) for one in found]
    return (tuple(found.shape), tuple(found.stride())) if hasattr(found, "stride") else found


def gradients(function):
    """The gradients of an image and of a kernel."""
    def run(T):
        image, kernel = x(T).requires_grad_(), T.ones(4, 4, 3, 3, requires_grad=True)
        out = function(T, image, kernel)
        out.backward(T.ones_like(out))
        return [t.grad for t in (image, kernel) if t.grad is not None]

    return run


def loaded(T):
    model = T.nn.Conv2d(4, 8, 3).to(memory_format=T.channels_last)
    model.load_state_dict(T.nn.Conv2d(4, 8, 3).state_dict())
    return model.weight


def network(T):
    nn = T.nn
    return nn.Sequential(nn.Conv2d(4, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(8, 8, 3, padding=1))


def written(T):
    image = x(T)
    image[0] = 1.0
    return image


CALLS = {
    # convolutions
    "conv2d": lambda T: F(T).conv2d(x(T), T.ones(5, 4, 3, 3), T.ones(5)),
    "conv2d by its kernel": lambda T: F(T).conv2d(x(T).contiguous(), weight(T, 5, 4, 3, 3)),
    "conv2d contiguous": lambda T: F(T).conv2d(x(T).contiguous(), T.ones(5, 4, 3, 3)),
    "conv2d of one channel": lambda T: F(T).conv2d(x(T, (2, 1, 6, 6)), T.ones(5, 1, 3, 3)),
    "conv2d of points": lambda T: F(T).conv2d(T.ones(2, 4, 3, 3), weight(T, 5, 4, 1, 1)),
    "conv2d of one image": lambda T: F(T).conv2d(x(T, (1, 4, 6, 6)), T.ones(5, 4, 3, 3)),
    "conv2d of groups": lambda T: F(T).conv2d(x(T), T.ones(4, 1, 3, 3), groups=4),
    "conv2d without a batch": lambda T: F(T).conv2d(x(T)[0], T.ones(5, 4, 3, 3)),
    "conv3d": lambda T: F(T).conv3d(x3(T), T.ones(5, 4, 3, 3, 3)),
    "conv_transpose2d": lambda T: F(T).conv_transpose2d(x(T), T.ones(4, 5, 3, 3)),
    "conv_transpose3d": lambda T: F(T).conv_transpose3d(x3(T), T.ones(4, 5, 3, 3, 3)),
    # norms
    "batch_norm in training": lambda T: F(T).batch_norm(x(T), None, None, training=True),
    "batch_norm": lambda T: F(T).batch_norm(x(T), T.zeros(4), T.ones(4), T.ones(4), T.ones(4)),
    "batch_norm 3d": lambda T: F(T).batch_norm(x3(T), None, None, training=True),
    "group_norm": lambda T: F(T).group_norm(x(T), 2, T.ones(4), T.ones(4)),
    "group_norm 3d": lambda T: F(T).group_norm(x3(T), 2),
    "instance_norm": lambda T: F(T).instance_norm(x(T)),
    "layer_norm": lambda T: F(T).layer_norm(x(T), (6,)),
    "local_response_norm": lambda T: F(T).local_response_norm(x(T), 2),
    "rms_norm": lambda T: F(T).rms_norm(x(T), (6,)),
    "normalize": lambda T: F(T).normalize(x(T)),
    # pooling
    "max_pool2d": lambda T: F(T).max_pool2d(x(T), 2, return_indices=True),
    "max_pool3d": lambda T: F(T).max_pool3d(x3(T), 2),
    "avg_pool2d": lambda T: F(T).avg_pool2d(x(T), 2),
    "avg_pool3d": lambda T: F(T).avg_pool3d(x3(T), 2),
    "adaptive_avg_pool2d": lambda T: F(T).adaptive_avg_pool2d(x(T), 2),
    "adaptive_avg_pool2d to 1": lambda T: F(T).adaptive_avg_pool2d(x(T), 1),
    "adaptive_avg_pool3d": lambda T: F(T).adaptive_avg_pool3d(x3(T), 2),
    "adaptive_avg_pool3d to 1": lambda T: F(T).adaptive_avg_pool3d(x3(T), 1),
    "adaptive_max_pool2d": lambda T: F(T).adaptive_max_pool2d(x(T), 2, return_indices=True),
    "adaptive_max_pool3d": lambda T: F(T).adaptive_max_pool3d(x3(T), 2),
    "lp_pool2d": lambda T: F(T).lp_pool2d(x(T), 2, 2),
    "fractional_max_pool2d": lambda T: F(T).fractional_max_pool2d(x(T), 2, 3),
    "max_unpool2d": lambda T: F(T).max_unpool2d(
        x(T, (2, 4, 3, 3)), T.arange(9).reshape(1, 1, 3, 3).expand(2, 4, 3, 3) * 3, 2),
    # resizing, padding, joining
    "nearest": lambda T: F(T).interpolate(x(T), scale_factor=2),
    "nearest of two channels": lambda T: F(T).interpolate(x(T, (2, 2, 6, 6)), scale_factor=2),
    "bilinear": lambda T: F(T).interpolate(x(T), scale_factor=2, mode="bilinear"),
    "bicubic": lambda T: F(T).interpolate(x(T), scale_factor=2, mode="bicubic"),
    "area": lambda T: F(T).interpolate(x(T), scale_factor=0.5, mode="area"),
    "antialias": lambda T: F(T).interpolate(x(T), scale_factor=0.5, mode="bilinear", antialias=True),
    "trilinear": lambda T: F(T).interpolate(x3(T), scale_factor=2, mode="trilinear"),
    "nearest 3d": lambda T: F(T).interpolate(x3(T), scale_factor=2),
    "pad": lambda T: F(T).pad(x(T), (1, 1, 1, 1)),
    "pad by nothing": lambda T: F(T).pad(x(T), (0, 0, 0, 0)),
    "pad by less": lambda T: F(T).pad(x(T), (-1, -1, 0, 0)),
    "pad 3d": lambda T: F(T).pad(x3(T), (1,) * 6),
    "pad reflect": lambda T: F(T).pad(x(T), (1, 1, 1, 1), mode="reflect"),
    "pad reflect 3d": lambda T: F(T).pad(x3(T), (1,) * 6, mode="reflect"),
    "pad replicate": lambda T: F(T).pad(x(T), (1, 1, 1, 1), mode="replicate"),
    "pad replicate 3d": lambda T: F(T).pad(x3(T), (1,) * 6, mode="replicate"),
    "pad circular": lambda T: F(T).pad(x(T), (1, 1, 1, 1), mode="circular"),
    "cat of channels": lambda T: T.cat([x(T), x(T)], 1),
    "cat of images": lambda T: T.cat([x(T), x(T)]),
    "cat of both orders": lambda T: T.cat([x(T), x(T).contiguous()], 1),
    "cat with an empty one": lambda T: T.cat([T.zeros(0), x(T)], 1),
    "cat 3d": lambda T: T.cat([x3(T), x3(T)], 1),
    "hstack": lambda T: T.hstack([x(T), x(T)]),
    "vstack": lambda T: T.vstack([x(T), x(T)]),
    "dstack": lambda T: T.dstack([x(T), x(T)]),
    "pixel_shuffle": lambda T: F(T).pixel_shuffle(x(T), 2),
    "pixel_unshuffle": lambda T: F(T).pixel_unshuffle(x(T), 2),
    "channel_shuffle": lambda T: F(T).channel_shuffle(x(T), 2),
    # elementwise
    "a number": lambda T: x(T) + 1,
    "two": lambda T: x(T) + x(T),
    "a bias": lambda T: x(T) + T.ones(1, 4, 1, 1),
    "both orders": lambda T: x(T) + x(T).contiguous(),
    "both orders, the other first": lambda T: x(T).contiguous() + x(T),
    "relu": lambda T: F(T).relu(x(T)),
    "gelu": lambda T: F(T).gelu(x(T)),
    "prelu": lambda T: F(T).prelu(x(T), T.ones(4)),
    "glu": lambda T: F(T).glu(x(T), 1),
    "logsigmoid": lambda T: F(T).logsigmoid(x(T)),
    "where": lambda T: T.where(x(T) > 1, x(T), 0.0),
    "masked_fill": lambda T: x(T).masked_fill(x(T) > 1, 0.0),
    "dropout": lambda T: F(T).dropout(x(T)),
    "mse_loss": lambda T: F(T).mse_loss(x(T), x(T) + 1, reduction="none"),
    "smooth_l1_loss": lambda T: F(T).smooth_l1_loss(x(T), x(T) + 1, reduction="none"),
    "huber_loss of both orders": lambda T: F(T).huber_loss(x(T), x(T).contiguous(), reduction="none"),
    "mse_loss, the mean": lambda T: F(T).mse_loss(x(T), x(T) + 1),
    "in place": lambda T: x(T).add_(1).relu_(),
    "written": written,
    # others
    "softmax": lambda T: x(T).softmax(1),
    "sum": lambda T: x(T).sum(1, keepdim=True),
    "max": lambda T: x(T).max(1, keepdim=True),
    "flip": lambda T: x(T).flip(2),
    "flip of a transposed one": lambda T: x(T).transpose(0, 3).flip(2),
    "sort": lambda T: tuple(x(T).sort(1)),
    "index_select": lambda T: x(T).index_select(1, T.tensor([0, 1])),
    "a slice of channels": lambda T: x(T)[:, 1:3].relu(),
    "a pool of a slice": lambda T: F(T).max_pool2d(x(T)[:, 1:3], 2),
    "a slice of rows": lambda T: x(T)[:, :, 1:3].relu(),
    "matmul": lambda T: x(T) @ T.ones(6, 3),
    "linear": lambda T: F(T).linear(x(T), T.ones(3, 6)),
    # conversions and factories
    "is_contiguous": lambda T: [t.is_contiguous(memory_format=f) for t in (x(T), x3(T), x(T).contiguous())
                                for f in (T.contiguous_format, T.channels_last, T.channels_last_3d)],
    "clone": lambda T: [x(T).clone(memory_format=f)
                        for f in (T.preserve_format, T.contiguous_format, T.channels_last)],
    "contiguous": lambda T: x(T).contiguous(),
    "contiguous, channels last": lambda T: T.ones(2, 3, 4, 5).contiguous(memory_format=T.channels_last),
    "to of one channel": lambda T: T.ones(2, 1, 6, 6).to(memory_format=T.channels_last),
    "to of one place": lambda T: T.ones(2, 4, 1, 1).to(memory_format=T.channels_last),
    "to of a transposed matrix": lambda T: T.ones(2, 3).t().to(memory_format=T.contiguous_format),
    "to a dtype": lambda T: x(T).to(T.float64),
    "to a dtype, contiguous": lambda T: x(T).to(T.float64, memory_format=T.contiguous_format),
    "to a dtype, channels last": lambda T: T.ones(2, 1, 6, 6).to(T.float64, memory_format=T.channels_last),
    "like": lambda T: [getattr(T, f"{name}_like")(x(T)) for name in "empty zeros ones rand randn".split()],
    "like, contiguous": lambda T: T.zeros_like(x(T), memory_format=T.contiguous_format),
    "like, channels last": lambda T: T.rand_like(x(T).contiguous(), memory_format=T.channels_last),
    "empty": lambda T: T.empty(2, 3, 4, 5, memory_format=T.channels_last),
    "new_zeros": lambda T: x(T).new_zeros(2, 3, 4, 5),
    "copy_": lambda T: T.zeros(2, 4, 6, 6).copy_(x(T)),
    "deepcopy": lambda T: copy.deepcopy(x(T)),
    # modules and gradients
    "parameters": lambda T: list(network(T).to(memory_format=T.channels_last).parameters()),
    "a loaded parameter": loaded,
    "a network": lambda T: network(T)(x(T)),
    "a network of such parameters": lambda T: network(T).to(
        memory_format=T.channels_last)(T.ones(2, 4, 6, 6)),
    "gradients of a convolution": gradients(lambda T, image, kernel: F(T).conv2d(image, kernel)),
    "gradients of a norm": gradients(lambda T, image, _: F(T).batch_norm(image, None, None, training=True)),
    "gradients of pooling": gradients(lambda T, image, _: F(T).max_pool2d(image, 2)),
    "gradients of a product": gradients(lambda T, image, _: image * image),
    "gradients of a mean": gradients(lambda T, image, _: image.mean((2, 3))),
}


@pytest.mark.parametrize("name", CALLS)
def test_strides(executor, name):
    assert strides(CALLS[name](jaxflow)) == strides(CALLS[name](torch))


RANKS = {
    "clone": lambda T, f: T.ones(2, 3, 4).clone(memory_format=f),
    "contiguous": lambda T, f: T.ones(2, 3, 4).contiguous(memory_format=f),
    "to": lambda T, f: T.ones(2, 3, 4).to(memory_format=f),
    "zeros_like": lambda T, f: T.zeros_like(T.ones(2, 3, 4), memory_format=f),
    "empty": lambda T, f: T.empty(2, 3, 4, memory_format=f),
}


@pytest.mark.parametrize("wanted", ["channels_last", "channels_last_3d"])
@pytest.mark.parametrize("name", RANKS)
def test_rank(name, wanted):
    messages = []
    for T in (torch, jaxflow):
        with pytest.raises(RuntimeError) as caught:
            RANKS[name](T, getattr(T, wanted))
        messages.append(str(caught.value))
    assert messages[0] == messages[1]

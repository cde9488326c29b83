"""``channels_last`` is kept by what is made of an image, in every executor; the strides are PyTorch's."""

import pytest

import jaxflow as torch

nn, F = torch.nn, torch.nn.functional


def image(*shape):
    return torch.arange(float(torch.Size(shape).numel())).view(shape).to(memory_format=torch.channels_last)


def last(shape):
    """Strides of a shape whose channels vary fastest."""
    _, channels, height, width = shape
    return channels * height * width, 1, channels * width, channels


KEPT = {
    "convolution": lambda x: F.conv2d(x, torch.ones(5, 4, 3, 3), torch.ones(5)),
    "transposed convolution": lambda x: F.conv_transpose2d(x, torch.ones(4, 5, 3, 3)),
    "batch norm": lambda x: F.batch_norm(x, None, None, training=True),
    "group norm": lambda x: F.group_norm(x, 2, torch.ones(4), torch.ones(4)),
    "max pooling": lambda x: F.max_pool2d(x, 2),
    "its indices": lambda x: F.max_pool2d(x, 2, return_indices=True)[1],
    "average pooling": lambda x: F.avg_pool2d(x, 2),
    "adaptive pooling": lambda x: F.adaptive_avg_pool2d(x, 2),
    "the mean of all": lambda x: F.adaptive_avg_pool2d(x, 1),
    "resizing": lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
    "padding": lambda x: F.pad(x, (1, 1, 2, 2)),
    "reflection": lambda x: F.pad(x, (1, 1, 1, 1), mode="reflect"),
    "joining": lambda x: torch.cat([x, x * 2], 1),
    "shuffling": lambda x: F.pixel_unshuffle(x, 2),
    "arithmetic": lambda x: (x + torch.ones(1, 4, 1, 1)).relu() * 2,
    "flipping": lambda x: x.flip(3),
    "copying": lambda x: torch.zeros_like(x.clone().to(torch.float64)),
}
CONTIGUOUS = {
    "instance norm": F.instance_norm,
    "joining both orders": lambda x: torch.cat([x, x.contiguous()], 1),
    "wrapping": lambda x: F.pad(x, (1, 1, 1, 1), mode="circular"),
    "contiguous": lambda x: x.contiguous(),
    "a matrix product": lambda x: x @ torch.ones(6, 3),
}


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("name", KEPT)
def test_kept(name):
    found = KEPT[name](image(2, 4, 6, 6))
    assert found.stride() == last(found.shape)
    assert found.is_contiguous(memory_format=torch.channels_last) and not found.is_contiguous() or (
        found.shape[2:] == (1, 1))


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("name", CONTIGUOUS)
def test_not_kept(name):
    assert CONTIGUOUS[name](image(2, 4, 6, 6)).is_contiguous()


@pytest.mark.usefixtures("executor")
def test_a_kernel_alone_decides_too():
    model = nn.Sequential(nn.Conv2d(4, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2))
    x = torch.ones(2, 4, 6, 6)
    assert model(x).is_contiguous()
    model.to(memory_format=torch.channels_last)
    assert model[0].weight.stride() == last((8, 4, 3, 3))
    assert model(x).stride() == last((2, 8, 2, 2))


def test_in_a_compiled_call():
    model = nn.Sequential(nn.Conv2d(4, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2))
    run = torch.compile(model)
    for _ in range(3):
        assert run(image(2, 4, 6, 6)).stride() == last((2, 8, 2, 2))
        assert run(torch.ones(2, 4, 6, 6)).is_contiguous()


@pytest.mark.usefixtures("executor")
def test_what_lies_in_both_orders_is_converted():
    assert torch.ones(2, 1, 6, 6).to(memory_format=torch.channels_last).stride() == (36, 1, 6, 1)
    assert torch.ones(2, 4, 1, 1).to(memory_format=torch.channels_last).stride() == (4, 1, 4, 4)
    x = torch.ones(2, 1, 6, 6)
    assert x.contiguous(memory_format=torch.channels_last) is x
    t = torch.ones(2, 3).t()
    assert t.to(memory_format=torch.contiguous_format) is t


@pytest.mark.usefixtures("executor")
def test_the_format_fits_a_rank():
    for call in (lambda f: torch.ones(2, 3, 4).to(memory_format=f), lambda f: torch.empty(2, memory_format=f),
                 lambda f: torch.ones(2, 3).clone(memory_format=f)):
        for wanted, rank in ((torch.channels_last, 4), (torch.channels_last_3d, 5)):
            message = f"required rank {rank} tensor to use {wanted.name} format"
            with pytest.raises(RuntimeError, match=message):
                call(wanted)
    assert not torch.ones(1, 1, 1, 1, 1).is_contiguous(memory_format=torch.channels_last)


@pytest.mark.usefixtures("executor")
def test_values_do_not_depend_on_it():
    x = image(2, 4, 6, 6)
    weight = torch.arange(180.0).view(5, 4, 3, 3)
    assert F.conv2d(x, weight).equal(F.conv2d(x.contiguous(), weight))
    assert F.conv2d(x, weight).flatten(1).equal(F.conv2d(x.contiguous(), weight).flatten(1))
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        F.conv2d(x, weight).view(2, -1)

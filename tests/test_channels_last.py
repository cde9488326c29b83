"""NOTE [Channels last inside]: what XLA makes of a step of convolutions, and what that step keeps."""

import re

import numpy as np
import pytest
from running import executables_of

import jaxflow as torch
from jaxflow._exec import program_cache

nn, F = torch.nn, torch.nn.functional

BATCH, WIDTH, SIZE, LAYERS = 4, 24, 10, 4


def layer(stride=1, kernel=3):
    return nn.Sequential(
        nn.Conv2d(WIDTH, WIDTH, kernel, stride=stride, padding=kernel // 2, bias=False), nn.BatchNorm2d(WIDTH)
    )


class Residual(nn.Module):
    """Everything of a residual network once: a shortcut with a stride, both kinds of pooling."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, WIDTH, 3, padding=1)
        self.first, self.second = layer(), layer()
        self.third, self.shortcut = layer(stride=2), layer(stride=2, kernel=1)
        self.classify = nn.Linear(WIDTH, 10)

    def forward(self, x):
        x = F.relu(self.stem(x))
        x = F.relu(x + self.second(F.relu(self.first(x))))
        x = F.relu(self.third(x) + self.shortcut(x))
        x = F.adaptive_avg_pool2d(F.max_pool2d(x, 3, 2, 1), 1)
        return self.classify(x.flatten(1))


def executable_of(run):
    """The largest program that ``run`` needs."""
    with torch.execution("deferred"):
        torch.flush()
        program_cache.forget()
        run()
        torch.flush()
    found = [executable.compiled for executable in program_cache.executables()]
    return max(found, key=lambda compiled: compiled.memory_analysis().temp_size_in_bytes)


@pytest.mark.usefixtures("compiled")
def test_no_activation_is_turned_round_within_a_step():
    """No array of the step has the channels first: neither an activation nor its gradient."""
    model = Residual()
    x, target = torch.randn(BATCH, 3, SIZE, SIZE), torch.arange(BATCH)
    text = executable_of(lambda: F.cross_entropy(model(x), target).backward()).as_text()
    entry = text[text.index("\nENTRY"):]
    made = re.findall(r"%\S+ = \w+\[([\d,]+)\]\S* (?!parameter|bitcast)", entry)
    turned = {f"{BATCH},{WIDTH},{n},{n}" for n in (SIZE, SIZE // 2, 3)}
    assert f"{BATCH},{SIZE},{SIZE},{WIDTH}" in made
    assert not turned & set(made)


@pytest.mark.usefixtures("compiled")
def test_a_layer_keeps_the_input_of_its_convolution_and_of_its_norm():
    """Two arrays a layer, as in PyTorch: the standardised input is made again by backward."""
    model = nn.Sequential(*(part for _ in range(LAYERS) for part in (layer(), nn.ReLU())))
    x = torch.randn(4 * BATCH, WIDTH, SIZE, SIZE)
    plan = executable_of(lambda: model(x).sum().backward()).memory_analysis()
    activation = x.numel() * 4
    assert plan.temp_size_in_bytes <= (2 * LAYERS + 3) * activation


@pytest.mark.usefixtures("executor")
def test_the_last_nan_of_a_window_is_its_maximum_and_gets_the_gradient():
    x = torch.zeros(1, 1, 3, 4)
    x[0, 0, 0, 1] = x[0, 0, 1, 0] = float("nan")
    x.requires_grad_()
    pooled, where = F.max_pool2d(x, 2, 2, return_indices=True)
    pooled[0, 0, 0, 0].backward()
    assert np.isnan(pooled.detach().numpy()[0, 0]).tolist() == [[True, False]]
    assert where.tolist() == [[[[4, 2]]]]
    assert x.grad.nonzero().tolist() == [[0, 0, 1, 0]]


@pytest.mark.usefixtures("executor")
def test_gradients_of_large_weights():
    """They are turned in blocks: every element must arrive, in the backward of a backward too."""
    x, g = torch.randn(1, 512, 3, 3), torch.randn(64)
    weight = torch.zeros(64, 512, 3, 3, requires_grad=True)
    factor = torch.ones((), requires_grad=True)
    out = F.conv2d(x * factor, weight).flatten()
    (found,) = torch.autograd.grad(out, weight, g, create_graph=True)
    assert np.allclose(found.detach().numpy(), g.numpy()[:, None, None, None] * x.numpy(), atol=1e-6)
    (slope,) = torch.autograd.grad(found[3, 5:7, 1].sum(), factor)
    assert np.isclose(slope.item(), (g[3] * x[0, 5:7, 1].sum()).item(), rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("compiled")
def test_overlapping_windows_are_searched_once():
    """Backward reads which element of a window was the largest; it does not look for it in each neighbour."""
    x = torch.randn(2, 8, 32, 32, requires_grad=True)
    programs = executables_of(lambda: F.max_pool2d(x, 3, 2, 1).sum().backward())
    bodies = "".join(e.compiled.as_text() for e in programs).split("\n}\n")
    searching = ["direction=GT" in body for body in bodies]
    spreading = ["direction=EQ" in body for body in bodies]
    assert any(searching) and any(spreading) and not any(map(min, searching, spreading))

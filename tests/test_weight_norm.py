"""Weight normalization, by the hook that older programs use."""

import numpy as np
import pytest

import jaxflow as torch
from jaxflow.nn.utils import remove_weight_norm, weight_norm

DEPRECATED = "ignore:`torch.nn.utils.weight_norm` is deprecated"


@pytest.mark.filterwarnings(DEPRECATED)
def test_length_and_direction_are_trained_apart(executor):
    layer = torch.nn.Linear(4, 3)
    before = layer.weight.detach().clone()
    assert weight_norm(layer) is layer
    assert list(layer.state_dict()) == ["bias", "weight_g", "weight_v"] and layer.weight_g.shape == (3, 1)
    x = torch.randn(5, 4)
    layer(x).pow(2).sum().backward()
    np.testing.assert_allclose(layer.weight.detach().numpy(), before.numpy(), rtol=1e-6)
    # The direction's gradient does not change its length.
    along = (layer.weight_v.grad * layer.weight_v).sum(1)
    np.testing.assert_allclose(along.detach().numpy(), 0, atol=1e-5)
    torch.optim.SGD(layer.parameters(), 0.1).step()
    y = layer(x)
    remove_weight_norm(layer)
    np.testing.assert_allclose(layer(x).detach().numpy(), y.detach().numpy(), rtol=1e-5)
    assert isinstance(layer.weight, torch.nn.Parameter) and not layer._forward_pre_hooks
    with pytest.raises(ValueError, match="weight_norm of 'weight' not found"):
        remove_weight_norm(layer)


@pytest.mark.filterwarnings(DEPRECATED)
def test_one_length_of_all_or_of_each_channel(executor):
    assert weight_norm(torch.nn.Linear(4, 3), dim=None).weight_g.shape == ()
    convolution = weight_norm(torch.nn.Conv2d(2, 3, 3), dim=1)
    assert convolution.weight_g.shape == (1, 2, 1, 1)
    with pytest.raises(RuntimeError, match="Cannot register two weight_norm hooks"):
        weight_norm(convolution)

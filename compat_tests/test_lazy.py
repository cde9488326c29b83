"""Lazy layers beside PyTorch's: what they show, what they become, what they compute, what they refuse."""

import copy
import types

import numpy as np
import pytest
import torch

import jaxflow

#: A layer, and the shape of its input.
LAYERS = [
    ("LazyLinear(3)", (2, 5)), ("LazyConv1d(4, 3, padding='same')", (2, 3, 7)),
    ("LazyConv2d(6, 3, groups=3, bias=False)", (3, 7, 7)), ("LazyConv3d(4, 2)", (1, 2, 4, 4, 4)),
    ("LazyConvTranspose1d(4, 3, 2, 1, 1)", (2, 3, 5)), ("LazyConvTranspose2d(4, (3, 1))", (2, 3, 5, 5)),
    ("LazyConvTranspose3d(4, 2, bias=False)", (2, 3, 2, 2, 2)), ("LazyBatchNorm1d()", (4, 3)),
    ("LazyBatchNorm2d(affine=False)", (2, 3, 4, 4)), ("LazyBatchNorm3d(track_running_stats=False)", (2, 3, 2,
                                                                                                     2, 2)),
    ("LazyInstanceNorm1d()", (2, 3, 5)), ("LazyInstanceNorm2d(bias=False)", (2, 3, 4, 4)),
    ("LazyInstanceNorm3d(affine=False)", (2, 3, 2, 2, 2)),
]


@pytest.mark.parametrize(("text", "shape"), LAYERS)
def test_layers(text, shape):
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    ours, theirs = eval(f"jaxflow.nn.{text}"), eval(f"torch.nn.{text}")
    assert repr(ours) == repr(theirs)
    assert repr(ours.state_dict()) == repr(theirs.state_dict())
    theirs(torch.tensor(x))
    ours(jaxflow.tensor(x))
    assert repr(ours) == repr(theirs)
    ours.load_state_dict({k: jaxflow.tensor(v.numpy()) for k, v in theirs.state_dict().items()})
    for _ in range(2):
        found, expected = ours(jaxflow.tensor(x)), theirs(torch.tensor(x))
        np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=2e-5, atol=2e-5)
        ours.eval(), theirs.eval()
    for name, value in theirs.state_dict().items():
        np.testing.assert_allclose(ours.state_dict()[name].numpy(), value.numpy(), rtol=2e-5, atol=2e-5)


#: What is done, with ``nn`` and ``torch`` of one of the two.
DONE = """
nn.LazyLinear(3).weight + 1
nn.LazyLinear(3).weight.numel()
nn.LazyLinear(3).weight.shape
nn.LazyLinear(3).weight.size()
nn.LazyLinear(3).weight.dtype
nn.LazyLinear(3).double().weight.dtype
nn.LazyLinear(3).half().bias.is_floating_point()
nn.LazyLinear(3).to(torch.float64).weight.requires_grad
nn.LazyBatchNorm1d().double().running_mean
nn.LazyBatchNorm1d().double().running_mean.dtype
nn.LazyLinear(3).share_memory()
nn.LazyLinear(3).requires_grad_(False)
nn.LazyLinear(3).zero_grad()
nn.init.zeros_(nn.LazyLinear(3).weight)
torch.optim.SGD(nn.LazyLinear(3).parameters(), lr=0.1).state_dict()['param_groups'][0]['params']
nn.Linear(2, 3).load_state_dict(nn.LazyLinear(3).state_dict())
nn.LazyLinear(3).load_state_dict(nn.LazyLinear(3).state_dict())
nn.LazyLinear(3).load_state_dict({})
nn.LazyLinear(3).load_state_dict({'weight': torch.ones(3, 2)}, strict=False)
nn.LazyConv2d(4, 3)(torch.ones(2, 3))
nn.LazyConv2d(4, 3, groups=2)(torch.ones(1, 3, 5, 5))
nn.LazyConv2d(4, 3, padding_mode='none')
nn.LazyBatchNorm2d()(torch.ones(2, 3))
nn.UninitializedParameter(dtype=torch.int32)
nn.UninitializedBuffer(dtype=torch.int32)
nn.UninitializedBuffer().persistent
nn.parameter.is_lazy(nn.UninitializedBuffer())
copy.deepcopy(nn.LazyLinear(2)).weight
nn.LazyLinear(2)(input=torch.ones(1, 3)).shape
nn.LazyLinear(2).to('meta').weight.device
nn.Sequential(nn.LazyConv2d(4, 3), nn.Flatten(), nn.LazyLinear(2))
isinstance(nn.UninitializedBuffer(), nn.Buffer)
nn.CrossMapLRN2d(3)
nn.CrossMapLRN2d(3)(torch.ones(2, 3))
""".strip().splitlines()


def outcome(line, library):
    space = {"nn": library.nn, "torch": library, "copy": copy, "types": types}
    try:
        return repr(eval(line, space)).replace("jaxflow.", "torch.")
    except Exception as error:
        words = str(error).replace("jaxflow.", "torch.").split(" in <")[0]
        return f"{type(error).__name__}: {words[:60]}"


@pytest.mark.parametrize("line", DONE)
def test_what_is_done_with_them(line):
    assert outcome(line, jaxflow) == outcome(line, torch)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7])
def test_normalisation_across_maps(size):
    """Not its gradient: PyTorch's is not that of its function."""
    x = np.random.default_rng(0).standard_normal((2, 6, 3, 2))
    found, expected = (library.nn.CrossMapLRN2d(size, 0.3, 0.6, 2.0)(library.tensor(x)).numpy()
                       for library in (jaxflow, torch))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)

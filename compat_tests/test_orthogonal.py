"""Orthogonal parametrizations with the numbers of PyTorch's: values, gradients, what is refused."""

import numpy as np
import pytest
import torch

import jaxflow

MAPS = ("matrix_exp", "cayley", "householder")


def made(library, shape, name, base, dtype="float64"):
    module = library.nn.Module()
    module.weight = library.nn.Parameter(library.ones(*shape, dtype=getattr(library, dtype)))
    if base or name == "householder":
        return library.nn.utils.parametrizations.orthogonal(module, "weight", name, use_trivialization=base)
    return library.nn.utils.parametrizations.orthogonal(module, orthogonal_map=name, use_trivialization=False)


@pytest.mark.parametrize(("shape", "base"), [((4, 4), True), ((2, 5, 3), False), ((3, 5), True)])
@pytest.mark.parametrize("name", MAPS)
def test_values(name, shape, base):
    rng = np.random.default_rng(0)
    ours, theirs = (made(library, shape, name, base) for library in (jaxflow, torch))
    assert repr(ours) == repr(theirs) and list(ours.state_dict()) == list(theirs.state_dict())
    X = 0.5 * rng.standard_normal(shape)
    k = min(shape[-2:])
    X[..., range(k), range(k)] = rng.choice([-1.0, 1.0], k)
    tall = sorted(shape[-2:])[1]
    state = {"parametrizations.weight.original": X}
    if base:
        state["parametrizations.weight.0.base"] = np.linalg.qr(rng.standard_normal((tall, tall)))[0]
    weights = rng.standard_normal(shape)
    results = []
    for library, module in ((jaxflow, ours), (torch, theirs)):
        module.load_state_dict({key: library.tensor(value) for key, value in state.items()})
        found = module.weight
        (found * library.tensor(weights)).sum().backward()
        results.append((found.detach().numpy(), module.parametrizations.weight.original.grad.numpy()))
    for mine, expected in zip(*results, strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-9, atol=1e-9)


def test_assigned():
    """What does not depend on random numbers: square matrices, and Householder's without a base."""
    rng = np.random.default_rng(0)
    for shape, name, base in (((4, 4), "cayley", True), ((5, 3), "householder", False),
                              ((3, 5), "householder", False), ((4, 4), "householder", False)):
        for value in (rng.standard_normal(shape), np.eye(*shape), -np.eye(*shape)):
            results = []
            for library in (jaxflow, torch):
                module = made(library, shape, name, base)
                module.weight = library.tensor(value)
                results.append((module.weight.detach().numpy(),
                                *(v.numpy() for v in module.state_dict().values())))
            for mine, expected in zip(*results, strict=True):
                np.testing.assert_allclose(mine, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("call", [
    "orthogonal(nn.Linear(2, 2), 'other')", "orthogonal(nn.Linear(2, 2), 'bias')",
    "orthogonal(nn.Linear(2, 2), orthogonal_map='other')",
    "orthogonal(nn.Linear(2, 3, dtype=torch.complex64), orthogonal_map='householder')",
    "setattr(orthogonal(nn.Linear(2, 2)), 'weight', torch.ones(3, 2))",
    "setattr(orthogonal(nn.Linear(2, 2), 'weight', 'cayley', use_trivialization=False), "
    "'weight', torch.eye(2))",
])
def test_messages(call):
    words = []
    for library in (jaxflow, torch):
        space = {"nn": library.nn, "torch": library,
                 "orthogonal": library.nn.utils.parametrizations.orthogonal}
        with pytest.raises((ValueError, NotImplementedError)) as error:
            eval(call, space)
        words.append((error.type, str(error.value)))
    assert words[0] == words[1]

"""What libraries for training import beside the layers: L-BFGS and averages of weights, beside PyTorch."""

import numpy as np
import pytest
import torch

import jaxflow


def descend(torch, **options):
    w = torch.nn.Parameter(torch.tensor([[0.5, -0.2, 0.1], [0.3, 0.4, -0.6]], dtype=torch.float64))
    b = torch.nn.Parameter(torch.zeros(2, dtype=torch.float64))
    unused = torch.nn.Parameter(torch.ones(1, dtype=torch.float64))
    x = torch.linspace(-1, 1, 30, dtype=torch.float64).view(10, 3)
    optimizer = torch.optim.LBFGS([w, b, unused], **options)

    def closure():
        optimizer.zero_grad()
        loss = (torch.tanh(x @ w.t() + b) - torch.sin(3 * x[:, :2])).pow(2).sum()
        loss.backward()
        return loss

    first = optimizer.step(closure).item()
    state = optimizer.state[w]
    found = [first, *w.detach().flatten().tolist(), *b.tolist(), state["func_evals"], state["n_iter"]]
    return found, state


@pytest.mark.parametrize("options", [
    {"max_iter": 7}, {"lr": 0.1, "history_size": 3, "max_iter": 9},
    {"line_search_fn": "strong_wolfe", "max_iter": 7},
    {"line_search_fn": "strong_wolfe", "lr": 5, "max_iter": 5}])
def test_lbfgs_goes_the_same_way(options):
    (theirs, kept), (ours, held) = descend(torch, **options), descend(jaxflow, **options)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    assert set(held) == set(kept)


def averaged(torch, make):
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    utils = torch.optim.swa_utils
    average = utils.AveragedModel(model, **make(utils))
    x = torch.arange(8.0).view(4, 2)
    for value in (1.0, 2.0, 5.0):
        torch.nn.init.constant_(model[0].weight, value)
        torch.nn.init.constant_(model[0].bias, -value)
        model(x)
        average.update_parameters(model)
    before = {k: v.tolist() for k, v in average.state_dict().items()}
    utils.update_bn([x, x + 1], average)
    return before, {k: v.tolist() for k, v in average.state_dict().items()}


@pytest.mark.parametrize("make", [
    lambda u: {}, lambda u: {"avg_fn": u.get_ema_avg_fn(0.9)}, lambda u: {"avg_fn": u.get_swa_avg_fn()},
    lambda u: {"multi_avg_fn": u.get_ema_multi_avg_fn(0.5)},
    lambda u: {"multi_avg_fn": u.get_swa_multi_avg_fn()}])
def test_averaged_models(make):
    for theirs, ours in zip(averaged(torch, make), averaged(jaxflow, make)):
        assert list(ours) == list(theirs)
        for name in ours:
            np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-5, atol=1e-6)


def rates(torch, **options):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    schedule = torch.optim.swa_utils.SWALR(optimizer, 0.1, **options)
    found = []
    for _ in range(5):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    return found


@pytest.mark.parametrize("options", [
    {"anneal_epochs": 3}, {"anneal_epochs": 3, "anneal_strategy": "linear"}, {"anneal_epochs": 0}])
def test_annealed_rates(options):
    np.testing.assert_allclose(rates(jaxflow, **options), rates(torch, **options), rtol=1e-12)


def test_records_of_a_checkpoint(tmp_path):
    file = str(tmp_path / "x.pt")
    torch.save({"a": torch.arange(4.0)}, file)
    theirs, ours = torch.PyTorchFileReader(file), jaxflow.PyTorchFileReader(file)
    assert ours.get_all_records() == theirs.get_all_records()
    assert ours.get_record("data/0") == theirs.get_record("data/0")
    assert ours.get_record_size("data/0") == 16 and ours.serialization_id() == theirs.serialization_id()
    assert ours.has_record("data.pkl") and not ours.has_record("nope")
    for call in (lambda m: m.PyTorchFileReader("/nope"),
                 lambda m: m.PyTorchFileReader(file).get_record("no")):
        for module in (torch, jaxflow):
            with pytest.raises(RuntimeError, match="file"):
                call(module)

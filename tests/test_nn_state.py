"""``state_dict`` and ``load_state_dict``: a round trip, what is refused, and that it changes nothing."""

import copy
import pickle
from collections import OrderedDict

import numpy as np
import pytest

import jaxflow as torch
from jaxflow import nn

pytestmark = pytest.mark.usefixtures("executor")


def make():
    return nn.Sequential(OrderedDict(
        conv=nn.Conv2d(1, 2, 2), norm=nn.BatchNorm2d(2), head=nn.Sequential(nn.Flatten(), nn.Linear(8, 3))
    ))


NAMES = [
    "conv.weight", "conv.bias", "norm.weight", "norm.bias", "norm.running_mean", "norm.running_var",
    "norm.num_batches_tracked", "head.1.weight", "head.1.bias",
]


def values(net):
    return {name: t.numpy().copy() for name, t in net.state_dict().items()}


def same(a, b):
    assert list(a) == list(b)
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


def test_names_and_metadata():
    state = make().state_dict()
    assert isinstance(state, OrderedDict)
    assert list(state) == NAMES
    assert state._metadata["norm"] == {"version": 2}
    assert list(make().state_dict(prefix="net."))[0] == "net.conv.weight"


def test_round_trip():
    source, target = make(), make()
    source(torch.randn(2, 1, 3, 3))  # moves the running statistics
    assert np.any(source.conv.weight.detach().numpy() != target.conv.weight.detach().numpy())
    kept = target.conv.weight
    result = target.load_state_dict(source.state_dict())
    assert repr(result) == "<All keys matched successfully>"
    assert target.conv.weight is kept and kept.requires_grad
    same(values(source), values(target))
    x = torch.randn(2, 1, 3, 3)
    assert torch.equal(source.eval()(x), target.eval()(x))


def test_entries_share_storage_and_need_no_grad():
    net = nn.Linear(1, 1)
    state = net.state_dict()
    assert not state["weight"].requires_grad
    state["weight"].fill_(7)
    assert net.weight.item() == 7
    assert net.state_dict(keep_vars=True)["weight"] is net.weight


def test_a_copy_keeps_what_it_was():
    net = nn.Linear(2, 1)
    best = copy.deepcopy(net.state_dict())
    before = values(net)
    with torch.no_grad():
        net.weight.add_(1)
    net.load_state_dict(best)
    same(values(net), before)


def test_loading_copies():
    net, state = nn.Linear(1, 1), {"weight": torch.tensor([[2.0]]), "bias": torch.tensor([3.0])}
    net.load_state_dict(state)
    state["weight"].fill_(9)
    assert net.weight.item() == 2
    net.load_state_dict(state, assign=True)
    assert isinstance(net.weight, nn.Parameter)
    state["weight"].fill_(11)
    assert net.weight.item() == 11


def test_loading_casts_to_the_dtype_there():
    net = nn.Linear(1, 1)
    net.load_state_dict({"weight": torch.tensor([[2.5]], dtype=torch.float64), "bias": torch.tensor([3])})
    assert net.weight.dtype is torch.float32 and net.weight.item() == 2.5 and net.bias.item() == 3


def without(state, name):
    return OrderedDict((k, v) for k, v in state.items() if k != name)


REFUSED = {
    "missing": (
        lambda s: without(s, "conv.bias"), 'Missing key(s) in state_dict: "conv.bias". ',
    ),
    "unexpected": (
        lambda s: {**s, "more": torch.ones(1)}, 'Unexpected key(s) in state_dict: "more". ',
    ),
    "shape": (
        lambda s: {**s, "head.1.bias": torch.ones(4)},
        "size mismatch for head.1.bias: copying a param with shape torch.Size([4]) from checkpoint, "
        "the shape in current model is torch.Size([3]).",
    ),
    "no tensor": (
        lambda s: {**s, "head.1.bias": 3},
        'While copying the parameter named "head.1.bias", expected torch.Tensor or Tensor-like object '
        "from checkpoint but received <class 'int'>",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_state_leaves_the_old_one(case):
    change, message = REFUSED[case]
    net, other = make(), make()
    before = values(net)
    with pytest.raises(RuntimeError) as error:
        net.load_state_dict(change(other.state_dict()))
    assert str(error.value) == f"Error(s) in loading state_dict for Sequential:\n\t{message}"
    same(values(net), before)


def test_all_faults_are_named_at_once():
    state = {**without(make().state_dict(), "conv.bias"), "more": torch.ones(1),
             "norm.weight": torch.ones(5)}
    with pytest.raises(RuntimeError) as error:
        make().load_state_dict(state)
    lines = str(error.value).split("\n\t")
    assert [line.split(" ")[0] for line in lines] == ["Error(s)", "Missing", "Unexpected", "size"]


def test_not_strict():
    net = make()
    before = values(net)
    result = net.load_state_dict({"conv.bias": torch.tensor([5.0, 6.0]), "more": 1}, strict=False)
    # a state without its metadata may be from before batches were counted
    found = ("conv.bias", "norm.num_batches_tracked")
    assert result.missing_keys == [name for name in NAMES if name not in found]
    assert result.unexpected_keys == ["more"]
    same(values(net), {**before, "conv.bias": np.array([5.0, 6.0], np.float32)})
    with pytest.raises(TypeError, match="Expected state_dict to be dict-like, got <class 'list'>"):
        net.load_state_dict([])


def test_buffers_that_are_not_saved():
    net = nn.Module()
    net.register_buffer("kept", torch.ones(1))
    net.register_buffer("dropped", torch.ones(1), persistent=False)
    assert list(net.state_dict()) == ["kept"]
    net.load_state_dict({"kept": torch.zeros(1)})
    assert [name for name, _ in net.named_buffers()] == ["kept", "dropped"]


def test_shared_weights_stay_shared():
    net = nn.ModuleDict({"a": nn.Linear(2, 2), "b": nn.Linear(2, 2)})
    net["b"].weight = net["a"].weight
    state = net.state_dict()
    assert list(state) == ["a.weight", "a.bias", "b.weight", "b.bias"]
    net.load_state_dict({**state, "b.weight": torch.full((2, 2), 4.0)})
    assert net["a"].weight is net["b"].weight and net["a"].weight.tolist() == [[4, 4], [4, 4]]
    twin = copy.deepcopy(net)
    assert twin["a"].weight is twin["b"].weight and twin["a"].weight is not net["a"].weight


def test_extra_state():
    class Counter(nn.Module):
        steps = 0

        def get_extra_state(self):
            return {"steps": self.steps}

        def set_extra_state(self, state):
            self.steps = state["steps"]

    source, target = Counter(), Counter()
    source.steps = 3
    assert list(source.state_dict()) == ["_extra_state"]
    target.load_state_dict(source.state_dict())
    assert target.steps == 3
    with pytest.raises(RuntimeError, match='Missing key.* "_extra_state"'):
        target.load_state_dict({})


def test_hooks_of_state():
    log, net = [], nn.Linear(1, 1)
    net.register_state_dict_pre_hook(lambda m, prefix, keep: log.append(("save", prefix, keep)))
    net.register_state_dict_post_hook(lambda m, state, prefix, meta: state.update(more=1))
    net.register_load_state_dict_pre_hook(
        lambda m, state, prefix, meta, strict, missing, unexpected, errors: state.pop("more", None)
    )
    net.register_load_state_dict_post_hook(lambda m, keys: log.append(("loaded", keys.unexpected_keys)))
    state = net.state_dict()
    assert state["more"] == 1
    net.load_state_dict(state)
    assert log == [("save", "", False), ("loaded", [])]


def test_pickle_and_deepcopy():
    net = make()
    for twin in (pickle.loads(pickle.dumps(net)), copy.deepcopy(net)):
        same(values(twin), values(net))
        assert repr(twin) == repr(net)
        with torch.no_grad():
            twin.conv.bias.add_(1)
        assert np.all(twin.conv.bias.detach().numpy() != net.conv.bias.detach().numpy())

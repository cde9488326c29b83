"""What every module does besides computing: registering, walking, hooks, modes, conversion, printing."""

from collections import OrderedDict

import numpy as np
import pytest

import jaxflow as torch
from jaxflow import nn

pytestmark = pytest.mark.usefixtures("executor")


class Net(nn.Module):
    """Two layers that share a weight, a list of layers, and a buffer."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 2)
        self.blocks = nn.ModuleList([nn.Sequential(nn.Linear(2, 2), nn.ReLU()), nn.Dropout(0.5)])
        self.last = nn.Linear(2, 2, bias=False)
        self.last.weight = self.first.weight
        self.scale = nn.Parameter(torch.ones(1))
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        return self.last(x) * self.scale


# ----- registering ---------------------------------------------------------------------------------


def test_attributes_find_their_table():
    net = Net()
    assert list(net._parameters) == ["scale"]
    assert list(net._buffers) == ["count"]
    assert list(net._modules) == ["first", "blocks", "last"]
    net.scale = None
    assert net.scale is None
    assert [name for name, _ in net.named_parameters(recurse=False)] == []
    del net.last
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'last'"):
        net.last
    with pytest.raises(TypeError, match="cannot assign .* as parameter 'weight'"):
        net.first.weight = torch.ones(2, 2)
    with pytest.raises(TypeError, match="cannot assign .* as child module 'first'"):
        net.first = 3


def test_assigning_before_init_is_refused():
    class Early(nn.Module):
        def __init__(self):
            self.layer = nn.ReLU()
            super().__init__()

    with pytest.raises(AttributeError, match=r"cannot assign module before Module.__init__\(\) call"):
        Early()


def test_register_refuses_bad_names():
    net = nn.Module()
    for name, message in (("a.b", "contain \".\""), ("", "be empty string \"\"")):
        with pytest.raises(KeyError) as error:
            net.register_buffer(name, None)
        assert error.value.args == (f"buffer name can't {message}",)
    net.plain = 1
    with pytest.raises(KeyError, match="attribute 'plain' already exists"):
        net.register_parameter("plain", None)


def test_parameter_is_a_leaf_that_requires_grad():
    data = torch.ones(2)
    p = nn.Parameter(data)
    assert isinstance(p, nn.Parameter) and isinstance(p, torch.Tensor)
    assert p.requires_grad and p.is_leaf and not data.requires_grad
    assert repr(p) == "Parameter containing:\ntensor([1., 1.], requires_grad=True)"
    with torch.no_grad():
        p[0] = 5  # the same storage
    assert data.tolist() == [5, 1]
    assert not nn.Parameter(data, requires_grad=False).requires_grad
    with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype"):
        nn.Parameter(torch.ones(2, dtype=torch.int64))
    assert not isinstance(p * 1, nn.Parameter)


# ----- walking -------------------------------------------------------------------------------------


def test_names():
    net = Net()
    assert [name for name, _ in net.named_modules()] == [
        "", "first", "blocks", "blocks.0", "blocks.0.0", "blocks.0.1", "blocks.1", "last",
    ]
    assert [name for name, _ in net.named_children()] == ["first", "blocks", "last"]
    # the weight that is shared comes once, under its first name
    assert [name for name, _ in net.named_parameters()] == [
        "scale", "first.weight", "first.bias", "blocks.0.0.weight", "blocks.0.0.bias",
    ]
    every = [name for name, _ in net.named_parameters("net", remove_duplicate=False)]
    assert every[0] == "net.scale" and every[-1] == "net.last.weight" and len(every) == 6
    assert [name for name, _ in net.named_buffers()] == ["count"]
    assert len(list(net.parameters())) == 5 and len(list(net.modules())) == 8


def test_getting_by_name():
    net = Net()
    assert net.get_submodule("blocks.0.1") is net.blocks[0][1]
    assert net.get_parameter("first.weight") is net.first.weight
    assert net.get_buffer("count") is net.count
    with pytest.raises(AttributeError, match="Linear has no attribute `nothing`"):
        net.get_submodule("first.nothing")
    net.set_submodule("blocks.0", nn.Identity())
    assert isinstance(net.blocks[0], nn.Identity)


def test_apply_visits_children_first():
    net, seen = Net(), []
    assert net.apply(lambda m: seen.append(type(m).__name__)) is net
    assert seen == ["Linear", "Linear", "ReLU", "Sequential", "Dropout", "ModuleList", "Linear", "Net"]


def test_train_and_eval():
    net = Net()
    assert net.training and net.eval() is net
    assert not any(m.training for m in net.modules())
    x = torch.ones(3, 2)
    assert torch.equal(net(x), net(x))
    net.blocks[1].train()
    assert [m.training for m in net.modules()].count(True) == 1
    assert net.train() is net and all(m.training for m in net.modules())
    with pytest.raises(ValueError, match="training mode is expected to be boolean"):
        net.train("yes")


def test_zero_grad_and_requires_grad():
    net = Net()
    net(torch.ones(1, 2)).sum().backward()
    before = net.first.weight.grad
    net.zero_grad(set_to_none=False)
    assert net.first.weight.grad is before and not before.any()
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())
    assert net.requires_grad_(False) is net
    assert not any(p.requires_grad for p in net.parameters())


# ----- conversion ----------------------------------------------------------------------------------


def test_to_changes_what_floats():
    net = nn.BatchNorm1d(2)
    weight = net.weight
    assert net.to(torch.float64) is net
    assert net.weight is weight  # the parameter stays; its data changes
    assert {str(t.dtype) for t in (net.weight, net.bias, net.running_mean)} == {"torch.float64"}
    assert net.num_batches_tracked.dtype is torch.int64
    assert net.half().weight.dtype is torch.float16
    assert net.float().running_var.dtype is torch.float32
    assert net.to("cpu").weight.device == torch.device("cpu")
    with pytest.raises(TypeError, match="only accepts floating point or complex dtypes"):
        net.to(torch.int32)


def test_to_keeps_gradients_and_values():
    layer = nn.Linear(2, 1)
    layer(torch.ones(1, 2)).sum().backward()
    values = layer.weight.tolist()
    layer.double()
    assert layer.weight.tolist() == values
    assert layer.weight.grad.dtype is torch.float64 and layer.weight.grad.tolist() == [[1, 1]]


# ----- hooks ---------------------------------------------------------------------------------------


class Double(nn.Module):
    def forward(self, x):
        return 2 * x


def test_forward_hooks_run_in_order():
    log, module = [], Double()

    def say(text):
        return lambda *args: log.append(text)

    module.register_forward_pre_hook(say("pre 1"))
    module.register_forward_pre_hook(say("pre 0"), prepend=True)
    module.register_forward_hook(say("post 1"))
    handle = module.register_forward_hook(say("post 2"))
    module.register_forward_hook(say("post 0"), prepend=True)
    module(torch.ones(1))
    assert log == ["pre 0", "pre 1", "post 0", "post 1", "post 2"]
    handle.remove()
    log.clear()
    module(torch.ones(1))
    assert log == ["pre 0", "pre 1", "post 0", "post 1"]


def test_hooks_replace_arguments_and_results():
    module = Double()
    module.register_forward_pre_hook(lambda m, args: (args[0] + 1,))
    module.register_forward_hook(lambda m, args, out: out + args[0])
    assert module(torch.tensor([1.0])).item() == 6  # 2 * (1 + 1), and the 2 that forward was given


def test_hooks_with_keywords_and_after_errors():
    class Fails(nn.Module):
        def forward(self, x, *, fail):
            if fail:
                raise ValueError("no")
            return x

    module, seen = Fails(), []
    module.register_forward_pre_hook(lambda m, a, k: (a, {"fail": not k["fail"]}), with_kwargs=True)
    module.register_forward_hook(lambda m, a, k, out: seen.append((k, out)), with_kwargs=True,
                                 always_call=True)
    module(1, fail=True)
    with pytest.raises(ValueError, match="no"):
        module(1, fail=False)
    assert seen == [({"fail": False}, 1), ({"fail": True}, None)]


def test_backward_hooks():
    log = []
    net = nn.Sequential(Double(), Double())
    for i, module in enumerate(net):
        module.register_full_backward_pre_hook(lambda m, out, i=i: log.append((i, "pre", out[0].item())))
        module.register_full_backward_hook(
            lambda m, into, out, i=i: log.append((i, into[0].item(), out[0].item()))
        )
    x = torch.tensor(1.0, requires_grad=True)
    net(x).backward()
    assert log == [(1, "pre", 1), (1, 2, 1), (0, "pre", 2), (0, 4, 2)]
    net[0].register_full_backward_hook(lambda m, into, out: (into[0] * 10,))
    x.grad = None
    net(x).backward()
    assert x.grad.item() == 40


def test_global_hooks():
    seen = []
    handle = nn.modules.module.register_module_forward_hook(lambda m, a, o: seen.append(type(m).__name__))
    net = nn.Sequential(nn.Identity(), Double())
    net(torch.ones(1))
    handle.remove()
    net(torch.ones(1))
    assert seen == ["Identity", "Double", "Sequential"]


# ----- containers ----------------------------------------------------------------------------------


def test_sequential():
    net = nn.Sequential(OrderedDict(a=nn.Linear(2, 3), b=nn.ReLU()))
    assert net.a is net[0] and net[-1] is net.b and len(net) == 2
    net.append(nn.Linear(3, 1))
    assert [name for name, _ in net.named_children()] == ["a", "b", "2"]
    assert isinstance(net[1:], nn.Sequential) and len(net[1:]) == 2
    x = torch.ones(4, 2)
    assert torch.equal(net(x), net[2](torch.relu(net[0](x))))
    del net[1]
    net.insert(0, nn.Identity())
    assert [type(m).__name__ for m in net] == ["Identity", "Linear", "Linear"]
    with pytest.raises(IndexError, match="index 3 is out of range"):
        net[3]


def test_module_list_and_dict():
    layers = nn.ModuleList([nn.Linear(1, 1)])
    layers += [nn.ReLU()]
    layers.extend([nn.Identity()])
    layers[1] = nn.Tanh()
    assert [type(m).__name__ for m in layers] == ["Linear", "Tanh", "Identity"]
    assert [name for name, _ in layers.named_parameters()] == ["0.weight", "0.bias"]
    named = nn.ModuleDict({"b": nn.ReLU(), "a": nn.Linear(1, 1)})
    named["c"] = nn.Tanh()
    assert list(named) == ["b", "a", "c"] and "a" in named and named.pop("b") is not None
    assert [name for name, _ in named.named_parameters()] == ["a.weight", "a.bias"]


def test_parameter_list_and_dict():
    parameters = nn.ParameterList([torch.zeros(1), nn.Parameter(torch.ones(2))])
    assert all(isinstance(p, nn.Parameter) for p in parameters)
    assert list(parameters.state_dict()) == ["0", "1"]
    named = nn.ParameterDict({"w": torch.ones(1)})
    named["v"] = nn.Parameter(torch.zeros(1))
    assert [name for name, _ in named.named_parameters()] == ["w", "v"]


# ----- printing ------------------------------------------------------------------------------------


def test_repr():
    assert repr(Net()) == """Net(
  (first): Linear(in_features=2, out_features=2, bias=True)
  (blocks): ModuleList(
    (0): Sequential(
      (0): Linear(in_features=2, out_features=2, bias=True)
      (1): ReLU()
    )
    (1): Dropout(p=0.5, inplace=False)
  )
  (last): Linear(in_features=2, out_features=2, bias=False)
)"""
    assert repr(nn.Conv2d(2, 4, 3, padding=1, groups=2, bias=False)) == (
        "Conv2d(2, 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), groups=2, bias=False)"
    )
    assert repr(nn.BatchNorm2d(3)) == (
        "BatchNorm2d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)"
    )
    assert repr(nn.LayerNorm(3)) == "LayerNorm((3,), eps=1e-05, elementwise_affine=True, bias=True)"
    assert repr(nn.Embedding(5, 3, padding_idx=1)) == "Embedding(5, 3, padding_idx=1)"
    assert repr(nn.ModuleList([nn.ReLU(), nn.ReLU()])) == "ModuleList(\n  (0-1): 2 x ReLU()\n)"


def test_forward_that_is_missing():
    with pytest.raises(NotImplementedError, match=r'Module \[Module\] is missing the required "forward"'):
        nn.Module()(1)


def test_training_moves_every_parameter():
    """All of it together: forward, loss, backward and a step."""
    net = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.GELU(), nn.Linear(4, 2))
    before = [p.detach().numpy().copy() for p in net.parameters()]
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    x, target = torch.randn(8, 3), torch.randint(0, 2, (8,))
    losses = []
    for _ in range(20):
        loss = nn.functional.cross_entropy(net(x), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    for p, old in zip(net.parameters(), before, strict=True):
        assert np.abs(p.detach().numpy() - old).max() > 1e-4

"""Layers that take their sizes from the first input, and parameters without a shape."""

import copy
import io
import pickle

import pytest

import jaxflow as torch
from jaxflow import nn
from jaxflow.nn.modules.lazy import LazyModuleMixin
from jaxflow.nn.parameter import UninitializedTensorMixin, is_lazy

#: A lazy layer, an input, the layer that it becomes.
ROWS = [
    ("LazyLinear(3)", (2, 5), "Linear(5, 3)"),
    ("LazyLinear(3, bias=False)", (4, 2, 5), "Linear(5, 3, bias=False)"),
    *((f"LazyConv{n}d(4, 3, stride=2, padding=1, groups=2)", (2, 6, *[7] * n),
       f"Conv{n}d(6, 4, 3, stride=2, padding=1, groups=2)") for n in (1, 2, 3)),
    ("LazyConv2d(4, (3, 1), bias=False, padding_mode='circular')", (3, 7, 7),
     "Conv2d(3, 4, (3, 1), bias=False, padding_mode='circular')"),
    *((f"LazyConvTranspose{n}d(4, 3, stride=2, output_padding=1, groups=2)", (2, 6, *[4] * n),
       f"ConvTranspose{n}d(6, 4, 3, stride=2, output_padding=1, groups=2)") for n in (1, 2, 3)),
    *((f"LazyBatchNorm{n}d(momentum=0.5)", (4, 3, *[5] * n), f"BatchNorm{n}d(3, momentum=0.5)") for n in (1,
                                                                                                          2,
                                                                                                          3)),
    ("LazyBatchNorm1d(bias=False, track_running_stats=False)", (4, 3),
     "BatchNorm1d(3, bias=False, track_running_stats=False)"),
    ("LazyBatchNorm1d(affine=False)", (4, 3), "BatchNorm1d(3, affine=False)"),
    *((f"LazyInstanceNorm{n}d()", (4, 3, *[5] * n),
       f"InstanceNorm{n}d(3, affine=True, track_running_stats=True)")
      for n in (1, 2, 3)),
    ("LazyInstanceNorm1d(affine=False)", (3, 5), "InstanceNorm1d(3, track_running_stats=True)"),
]


def layer(text):
    return eval(f"nn.{text}", {"nn": nn})


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize(("lazy", "shape", "plain"), ROWS)
def test_it_becomes_the_layer(lazy, shape, plain):
    torch.manual_seed(3)
    expected = layer(plain)
    module = layer(lazy)
    assert isinstance(module, type(expected).__bases__[0]) and type(module) is not type(expected)
    assert all(map(is_lazy, module.parameters())) and list(module.state_dict()) == list(expected.state_dict())
    x = torch.arange(1.0, 1 + torch.Size(shape).numel()).reshape(shape).sin()
    torch.manual_seed(3)
    found = module(x)
    assert type(module) is type(expected) and repr(module) == repr(expected)
    assert not module._forward_pre_hooks and not module._load_state_dict_pre_hooks
    assert (found == expected(x)).all()  # the same numbers are drawn in the same order
    assert all(type(p) is nn.Parameter and p.requires_grad for p in module.parameters())
    assert all(type(b) is torch.Tensor for b in module.buffers())
    if list(module.parameters()):
        found.sum().backward()
    assert all(p.grad is not None for p in module.parameters())
    again = copy.deepcopy(module)
    assert (module.eval()(x) == again.eval()(x)).all()


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize(("lazy", "shape", "plain"), ROWS[::3])
def test_checkpoints(lazy, shape, plain):
    trained = layer(plain)
    state = trained.state_dict()
    module = layer(lazy)
    assert module.load_state_dict(state) == ([], [])
    assert not module.has_uninitialized_params() and type(module).__name__.startswith("Lazy")
    x = torch.arange(1.0, 1 + torch.Size(shape).numel()).reshape(shape).cos()
    assert (module(x) == trained(x)).all() and repr(module) == repr(trained)
    waiting = layer(lazy)
    assert layer(lazy).load_state_dict(waiting.state_dict()) == ([], [])
    if waiting.state_dict():
        with pytest.raises(RuntimeError,
                           match="Can't access the shape of an uninitialized parameter or buffer"):
            layer(plain).load_state_dict(waiting.state_dict())


def test_a_load_that_fails_leaves_it_waiting():
    module = nn.Sequential(nn.LazyLinear(3), nn.Linear(3, 2))
    state = nn.Sequential(nn.Linear(5, 3), nn.Linear(3, 4)).state_dict()
    with pytest.raises(RuntimeError, match="size mismatch for 1.weight"):
        module.load_state_dict(state)
    assert all(map(is_lazy, module[0].parameters())) and module[0].weight.dtype == torch.float32
    with pytest.raises(RuntimeError, match='Missing key.*"weight", "bias"'):
        nn.LazyLinear(3).load_state_dict({})
    assert module(torch.ones(1, 7)).shape == (1, 2) and module[0].in_features == 7


def test_an_interrupt_while_it_takes_shape(monkeypatch):
    module = nn.LazyLinear(3)
    weight, bias = module.weight, module.bias

    def interrupted(shape, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(bias, "materialize", interrupted)
    with pytest.raises(KeyboardInterrupt):
        module(torch.ones(2, 4))
    assert not is_lazy(weight) and is_lazy(bias) and type(module) is nn.LazyLinear
    monkeypatch.undo()
    monkeypatch.setattr(nn.init, "uniform_", interrupted)
    with pytest.raises((KeyboardInterrupt, TypeError)):
        module(torch.ones(2, 4))
    monkeypatch.undo()
    torch.manual_seed(0)
    module(torch.ones(2, 4))
    torch.manual_seed(0)
    expected = nn.Linear(4, 3)
    assert type(module) is nn.Linear and (module.weight == expected.weight).all()
    assert (module.bias == expected.bias).all() and module.weight is weight and not hasattr(module, "_half")


@pytest.mark.usefixtures("executor")
def test_moved_cast_and_trained():
    model = nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.ReLU(), nn.Flatten(),
                          nn.LazyLinear(2))
    model.double()
    assert model[0].weight.dtype == model[1].running_mean.dtype == torch.float64
    assert is_lazy(model[1].running_mean) and model[1].num_batches_tracked.dtype == torch.int64
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(2, 3, 6, 6, dtype=torch.float64)
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = (model(x) - 1).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] and model[4].weight.dtype == torch.float64
    assert nn.LazyLinear(2).to("meta").weight.device.type == "meta"


def test_a_parameter_without_a_shape():
    weight = nn.UninitializedParameter(dtype=torch.float64, requires_grad=False)
    assert isinstance(weight, nn.Parameter) and isinstance(weight, UninitializedTensorMixin)
    assert repr(weight) == "<UninitializedParameter>"
    assert repr(nn.UninitializedBuffer()) == "<UninitializedBuffer>"
    assert weight.dtype == torch.float64 and not weight.requires_grad and weight.is_floating_point()
    for use in (lambda: weight + 1, lambda: torch.add(1, weight), weight.sum, weight.numel, weight.detach,
                lambda: len(weight), lambda: weight[0], lambda: nn.init.zeros_(weight),
                lambda: nn.functional.linear(torch.ones(1, 2), weight)):
        with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter in"):
            use()
    with pytest.raises(RuntimeError, match="Can't access the shape"):
        weight.shape  # noqa: B018
    with pytest.raises(RuntimeError, match="Can't share memory on an uninitialized"):
        nn.LazyLinear(2).share_memory()
    copied, pickled = copy.deepcopy(weight), pickle.loads(pickle.dumps(weight))
    assert is_lazy(copied) and copied.dtype == torch.float64
    assert is_lazy(pickled) and not pickled.requires_grad
    weight.materialize((2, 3))
    assert type(weight) is nn.Parameter and weight.shape == (2, 3) and weight.dtype == torch.float64
    assert not is_lazy(weight) and (weight * 0).shape == (2, 3)
    with pytest.raises(RuntimeError,
                       match="Only Tensors of floating point and complex dtype"):
        nn.UninitializedParameter(dtype=torch.int32)


def test_saved_to_a_file():
    module = nn.Sequential(nn.LazyLinear(2), nn.LazyBatchNorm1d())
    file = io.BytesIO()
    torch.save(module.state_dict(), file)
    file.seek(0)
    state = torch.load(file)
    assert [type(state[f"{i}.{name}"]).__name__ for i, name in ((0, "weight"), (1, "running_mean"))] == [
        "UninitializedParameter", "UninitializedBuffer"]
    module.load_state_dict(state)
    again = pickle.loads(pickle.dumps(module))
    assert again(torch.ones(2, 3)).shape == (2, 2) and type(again[0]) is nn.Linear
    assert type(copy.deepcopy(module)[1]) is nn.LazyBatchNorm1d


def test_modules_of_users():
    class Scale(LazyModuleMixin, nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.UninitializedParameter()

        def initialize_parameters(self, x, *, first=1.0):
            if self.has_uninitialized_params():
                self.scale.materialize(x.shape[-1:])
                nn.init.constant_(self.scale, first)

        def forward(self, x, *, first=1.0):
            return x * self.scale

    scale = Scale()
    assert scale(torch.ones(2, 3), first=5.0).tolist() == [[5.0] * 3] * 2
    assert type(scale) is Scale and scale(torch.ones(1, 3)).tolist() == [[5.0] * 3]

    class Empty(LazyModuleMixin, nn.Module):
        pass

    with pytest.raises(NotImplementedError, match="initialize_parameters is not implemented for Empty"):
        Empty()(1)

    class Half(Scale):
        def initialize_parameters(self, x):
            pass

    with pytest.raises(RuntimeError, match="module Half has not been fully initialized"):
        Half()(torch.ones(2))


def test_errors():
    with pytest.raises(RuntimeError,
                       match="Expected 3D .unbatched. or 4D .batched. input to LazyConv2d"):
        nn.LazyConv2d(4, 3)(torch.ones(2, 3))
    with pytest.raises(ValueError, match="in_channels must be divisible by groups"):
        nn.LazyConv2d(4, 3, groups=2)(torch.ones(1, 3, 5, 5))
    with pytest.raises(RuntimeError,
                       match="Given groups=2, expected weight to be divisible by 2 at dimension"):
        nn.LazyConv1d(3, 1, groups=2)(torch.ones(1, 2, 5))
    with pytest.raises(ValueError, match="expected 4D input .got 2D input."):
        nn.LazyBatchNorm2d()(torch.ones(2, 3))
    module = nn.LazyLinear(3)
    module.load_state_dict(nn.Linear(2, 3).state_dict())
    with pytest.raises(AssertionError,
                       match="The in_features inferred from input: 5 is not equal to"):
        module(torch.ones(1, 5))
    with pytest.raises(RuntimeError, match="can't be used with `DataParallel`"):
        nn.LazyLinear(3)._replicate_for_data_parallel()

"""What is left of data parallelism on one device, and gradients of convolutions as functions."""

import collections

import pytest

import jaxflow as torch
from jaxflow import nn
from jaxflow.nn import functional as F
from jaxflow.nn.parallel import data_parallel, gather, parallel_apply, replicate, scatter
from jaxflow.nn.parallel.parallel_apply import get_a_var
from jaxflow.nn.parallel.scatter_gather import scatter_kwargs

Pair = collections.namedtuple("Pair", "a b")


def test_scatter():
    x = torch.ones(4, 2)
    assert scatter(x, [0]) == (x,)
    (found,) = scatter([x, (1, {"k": x}), Pair(x, None), []], [0])
    assert found[0] is x and found[1][1]["k"] is x and isinstance(found[2], Pair) and found[3] == []
    assert scatter([1, (2, {"a": 3})], [0, 1]) == [[1, (2, {"a": 3})]] * 2
    assert scatter_kwargs((1,), {"a": 2}, [0]) == (((1,),), ({"a": 2},))
    assert scatter_kwargs((), {"a": 2}, [0]) == (((),), ({"a": 2},))
    assert scatter_kwargs((), None, [0]) == ((), ())
    with pytest.raises(NotImplementedError, match="scatter of a tensor is not supported for several devices"):
        scatter({"x": x}, [0, 1])


def test_gather():
    x = torch.ones(2)
    assert gather([x], 0) is x and gather([{"a": None, "b": [x]}], "cpu") == {"a": None, "b": [x]}
    assert gather([Pair(x, (x,))], 0) == Pair(x, (x,)) and gather([None, None], 0) is None
    with pytest.raises(NotImplementedError, match="gather of tensors"):
        gather([{"a": x}, {"a": x}], 0)
    with pytest.raises(ValueError, match="All dicts must have the same number of keys"):
        gather([{"a": x}, {}], 0)


def test_modules_are_applied_in_order():
    x = torch.tensor([-1.0, 2.0])
    found = parallel_apply([nn.ReLU(), nn.Softmax(0), nn.Identity()], [x, (x,), [x]], [{}] * 3, [0, 1, 2])
    assert [f.shape for f in found] == [(2,)] * 3 and found[0].tolist() == [0.0, 2.0] and found[2] is x
    for arguments in (([x, x],), ([x], [{}, {}]), ([x], None, [0, 1])):
        with pytest.raises(AssertionError, match="The number of modules 1 is not equal to the number of"):
            parallel_apply([nn.ReLU()], *arguments)
    assert get_a_var([1, {"a": (2, x)}]) is x and get_a_var({"a": 1}) is None


def test_replicas():
    net = nn.Linear(2, 2)
    assert replicate(net, [0])[0] is net and replicate(net, []) == []
    with pytest.raises(NotImplementedError, match="replicate is not supported for several devices"):
        replicate(net, [0, 1])
    with pytest.raises(RuntimeError, match="can't be used with `DataParallel`"):
        replicate(nn.LazyLinear(2), [0])


@pytest.mark.usefixtures("executor")
def test_data_parallel():
    net, x = nn.Linear(3, 2), torch.ones(4, 3)
    wrapped = nn.DataParallel(net, device_ids=[0, 1])  # there is no GPU, so they are of no consequence
    assert wrapped.device_ids == [] and (wrapped(x) == net(x)).all()
    assert (data_parallel(net, x) == net(x)).all() and (data_parallel(net, (x,), [0, 1]) == net(x)).all()
    assert data_parallel(net, (), module_kwargs={"input": x}).shape == (4, 2)
    inputs, kwargs = wrapped.scatter((x,), {}, [0])
    results = wrapped.parallel_apply(wrapped.replicate(net, [0]), inputs, kwargs)
    assert (wrapped.gather(results, 0) == net(x)).all()


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_gradients_of_convolutions(dims):
    options = dict(stride=2, padding=1, dilation=1, groups=2)
    x = torch.randn(2, 4, *[5] * dims, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(6, 2, *[3] * dims, dtype=torch.float64, requires_grad=True)
    output = getattr(F, f"conv{dims}d")(x, weight, **options)
    given = torch.randn_like(output)
    expected = torch.autograd.grad(output, (x, weight), given)
    found = (getattr(nn.grad, f"conv{dims}d_input")(x.shape, weight.detach(), given, **options),
             getattr(nn.grad, f"conv{dims}d_weight")(x.detach(), weight.shape, given, *options.values()))
    assert all(torch.allclose(f, e) for f, e in zip(found, expected, strict=True))
    again = getattr(nn.grad, f"conv{dims}d_input")(x.shape, weight, given, **options)
    assert torch.allclose(torch.autograd.grad((again * x.detach()).sum(), weight)[0], expected[1])
    with torch.no_grad():
        assert not getattr(nn.grad, f"conv{dims}d_input")(x.shape, weight, given, **options).requires_grad


def test_each_worker_has_a_generator():
    class Drawn(torch.utils.data.Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            generator = torch.random.thread_safe_generator()
            assert generator is torch.utils.data.get_worker_info().rng.torch_generator
            return torch.rand(1, generator=generator)

    def numbers():
        torch.manual_seed(0)
        return torch.cat(list(torch.utils.data.DataLoader(Drawn(), num_workers=2))).flatten().tolist()

    assert numbers() == numbers() and len(set(numbers())) == 4
    assert torch.random.thread_safe_generator() is None

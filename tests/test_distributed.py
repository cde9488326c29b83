"""A world of one process: collectives give back what it put in, what needs a second process is refused."""

import pytest

import jaxflow as torch
import jaxflow.distributed as dist
from jaxflow import nn


@pytest.fixture
def world(monkeypatch):
    for name, value in (("RANK", "0"), ("WORLD_SIZE", "1")):
        monkeypatch.setenv(name, value)
    dist.init_process_group("gloo")
    yield
    dist.destroy_process_group()


def test_a_world_is_made_and_ended(monkeypatch):
    assert not dist.is_available() and not dist.is_initialized() and dist.group.WORLD is None
    for call in (dist.get_rank, dist.get_world_size, dist.barrier, dist.get_backend):
        with pytest.raises(ValueError, match="Default process group has not been initialized"):
            call()
    with pytest.raises(ValueError, match="environment variable RANK expected"):
        dist.init_process_group("gloo")
    with pytest.raises(NotImplementedError, match="world of one process"):
        dist.init_process_group("gloo", rank=0, world_size=2)
    with pytest.raises(AssertionError, match="Unknown backend type foo"):
        dist.init_process_group("foo", rank=0, world_size=1)
    assert not dist.is_initialized()
    dist.init_process_group("NCCL", rank=0, world_size=1)
    assert dist.get_backend() == "nccl" and dist.get_rank() == 0 and dist.get_world_size() == 1
    with pytest.raises(ValueError, match="initialize the default process group twice"):
        dist.init_process_group("gloo", rank=0, world_size=1)
    dist.destroy_process_group()
    assert not dist.is_initialized()


def test_groups(world):
    group = dist.new_group([0])
    assert dist.get_rank(group) == 0 and dist.get_process_group_ranks(group) == [0]
    nobody = dist.new_group([])
    assert nobody == dist.GroupMember.NON_GROUP_MEMBER and dist.get_rank(nobody) == -1
    with pytest.warns(UserWarning, match="does not belong to the given group"):
        assert dist.all_reduce(torch.ones(2), group=nobody) is None
    with pytest.raises(ValueError, match="Rank 1 is out of range"):
        dist.new_group([1])


def test_collectives_give_back_what_was_put_in(world, executor):
    x, y = torch.arange(3.0), torch.zeros(3)
    work = dist.all_reduce(x, async_op=True)
    assert work.wait() and work.is_completed()
    for call in (lambda: dist.all_gather([y], x), lambda: dist.gather(x, [y]), lambda: dist.scatter(y, [x]),
                 lambda: dist.reduce_scatter(y, [x]), lambda: dist.all_gather_single(y, x),
                 lambda: dist.reduce_scatter_single(y, x), lambda: dist.all_to_all([y], [x]),
                 lambda: dist.all_to_all_single(y, x, [3], [3])):
        y.zero_()
        call()
        assert y.tolist() == [0.0, 1.0, 2.0]
    for call in (lambda: dist.broadcast(x, 0), lambda: dist.reduce(x, 0, dist.ReduceOp.MAX)):
        call()
        assert x.tolist() == [0.0, 1.0, 2.0]
    rows = torch.zeros(1, 3)
    with pytest.warns(FutureWarning, match="all_gather_single"):
        dist.all_gather_into_tensor(rows, x)
    assert rows.tolist() == [[0.0, 1.0, 2.0]]


def test_objects_come_back_as_copies(world):
    given, found = {"a": [1]}, [None]
    dist.all_gather_object(found, given)
    assert found == [given] and found[0] is not given
    dist.broadcast_object_list(found, src=0)
    dist.gather_object(1, found)
    dist.scatter_object_list(found, [given])
    assert found == [given]


def test_what_is_refused_changes_nothing(world):
    x, y = torch.ones(2), torch.zeros(3)
    for error, words, call in (
        (RuntimeError, "invalid root rank: 1", lambda: dist.broadcast(x, 1)),
        (ValueError, "Must specify", lambda: dist.broadcast(x)),
        (RuntimeError, "invalid tensor size", lambda: dist.all_gather([y], x)),
        (RuntimeError, "expected length 1, got 0", lambda: dist.all_gather([], x)),
        (ValueError, "different dtypes", lambda: dist.all_gather([y.int()], x)),
        (ValueError, "gather_list", lambda: dist.gather(x)),
        (ValueError, "scatter_list", lambda: dist.scatter(x)),
        (RuntimeError, "non-integral dtype", lambda: dist.all_reduce(x, dist.ReduceOp.BAND)),
        (TypeError, "`tensor` of type torch.Tensor", lambda: dist.all_reduce([1])),
        (TypeError, "ReduceOp", lambda: dist.all_reduce(x, "sum")),
        (ValueError, "second process", lambda: dist.send(x, 0)),
        (IndexError, "out of range", lambda: dist.all_gather_object([], 1)),
    ):
        with pytest.raises(error, match=words):
            call()
    assert x.tolist() == [1.0, 1.0] and y.tolist() == [0.0, 0.0, 0.0]


def test_a_wrapped_model_trains_as_it_does_alone(world, executor):
    def trained(wrap):
        torch.manual_seed(0)
        model = wrap(nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1)))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        x = torch.linspace(-1, 1, 24).reshape(6, 4)
        for _ in range(3):
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
        return model

    alone = trained(lambda m: m)
    for wrap in (nn.parallel.DistributedDataParallel, nn.DataParallel,
                 lambda m: nn.parallel.DistributedDataParallel(nn.SyncBatchNorm.convert_sync_batchnorm(m))):
        wrapped = trained(wrap)
        assert list(wrapped.state_dict()) == [f"module.{k}" for k in alone.state_dict()]
        for mine, its in zip(wrapped.parameters(), alone.parameters(), strict=True):
            assert torch.equal(mine, its)
    with wrapped.no_sync():
        assert not wrapped.require_backward_grad_sync
    assert isinstance(wrapped.module[1], nn.SyncBatchNorm)
    with pytest.raises(RuntimeError, match="require a gradient"):
        nn.parallel.DistributedDataParallel(nn.ReLU())


def test_a_sampler_asks_the_world(world):
    sampler = torch.utils.data.DistributedSampler(range(3), shuffle=False)
    assert (sampler.num_replicas, sampler.rank, list(sampler)) == (1, 0, [0, 1, 2])


def test_meshes_have_the_one_process(world):
    from jaxflow.distributed import DeviceMesh

    assert DeviceMesh("cpu", [[0]], mesh_dim_names=("a", "b"))["a"].size() == 1
    for ranks in ([1], [0, 1], []):
        with pytest.raises(RuntimeError, match=r"rank|Mesh"):
            DeviceMesh("cpu", ranks)
    with pytest.raises(RuntimeError, match="index"):
        torch.distributed.init_device_mesh("cuda:0", (1,))
    with DeviceMesh.from_group(torch.distributed.group.WORLD, "cpu") as mesh:
        assert repr(mesh) == "DeviceMesh((1,), 'cpu', stride=((),))"

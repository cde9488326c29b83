"""A world of one process fares as PyTorch's does over gloo."""

import pytest
import torch

import jaxflow


@pytest.fixture
def worlds():
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    jaxflow.distributed.init_process_group("gloo", store=object(), rank=0, world_size=1)
    yield
    torch.distributed.destroy_process_group()
    jaxflow.distributed.destroy_process_group()


CALLS = {
    "all_reduce": lambda T, d, x, y: d.all_reduce(x),
    "all_reduce bits": lambda T, d, x, y: d.all_reduce(x, d.ReduceOp.BAND),
    "all_reduce order of complex": lambda T, d, x, y: d.all_reduce(x.to(T.complex64), d.ReduceOp.MAX),
    "all_reduce of no tensor": lambda T, d, x, y: d.all_reduce([1]),
    "all_gather": lambda T, d, x, y: d.all_gather([y], x),
    "all_gather shape": lambda T, d, x, y: d.all_gather([T.zeros(4)], x),
    "all_gather length": lambda T, d, x, y: d.all_gather([], x),
    "all_gather dtype": lambda T, d, x, y: d.all_gather([y.int()], x),
    "all_gather no list": lambda T, d, x, y: d.all_gather(y, x),
    "all_gather into a leaf": lambda T, d, x, y: d.all_gather([y.requires_grad_()], x),
    "broadcast": lambda T, d, x, y: d.broadcast(x, 0),
    "broadcast root": lambda T, d, x, y: d.broadcast(x, 1),
    "broadcast without root": lambda T, d, x, y: d.broadcast(x),
    "reduce": lambda T, d, x, y: d.reduce(x, 0),
    "reduce root": lambda T, d, x, y: d.reduce(x, 1),
    "gather": lambda T, d, x, y: d.gather(x, [y]),
    "gather without list": lambda T, d, x, y: d.gather(x),
    "gather shape": lambda T, d, x, y: d.gather(x, [T.zeros(4)]),
    "scatter": lambda T, d, x, y: d.scatter(y, [x]),
    "scatter without list": lambda T, d, x, y: d.scatter(x),
    "reduce_scatter": lambda T, d, x, y: d.reduce_scatter(y, [x]),
    "reduce_scatter length": lambda T, d, x, y: d.reduce_scatter(y, []),
    "all_gather_single": lambda T, d, x, y: d.all_gather_single(y, x),
    "reduce_scatter_single": lambda T, d, x, y: d.reduce_scatter_single(y, x),
    "all_to_all": lambda T, d, x, y: d.all_to_all([y], [x]),
    "all_to_all shape": lambda T, d, x, y: d.all_to_all([T.zeros(4)], [x]),
    "all_to_all_single": lambda T, d, x, y: d.all_to_all_single(y, x, [3], [3]),
    "barrier": lambda T, d, x, y: d.barrier(),
    "monitored_barrier": lambda T, d, x, y: d.monitored_barrier(),
    "ranks": lambda T, d, x, y: (d.get_rank(), d.get_world_size(), d.get_backend(),
                                 d.get_process_group_ranks(None), d.get_global_rank(d.group.WORLD, 0)),
    "new_group": lambda T, d, x, y: d.get_rank(d.new_group([0])),
    "new_group range": lambda T, d, x, y: d.new_group([1]),
    "new_group twice": lambda T, d, x, y: d.new_group([0, 0]),
    "a second world": lambda T, d, x, y: d.init_process_group("gloo"),
    "what is no group": lambda T, d, x, y: d.get_rank(5),
}


def outcome(call, T):
    x, y = T.arange(3.0), T.zeros(3)
    try:
        result = call(T, T.distributed, x, y)
    except Exception as error:
        words = str(error).partition("\n")[0].replace("ProcessGroupGloo", "ProcessGroup")
        result = type(error).__name__, words
    return result, x.tolist(), y.tolist()


def test_calls_fare_alike(worlds):
    wrong = {}
    for name, call in CALLS.items():
        expected, actual = outcome(call, torch), outcome(call, jaxflow)
        if expected != actual:
            wrong[name] = (expected, actual)
    assert not wrong, wrong


MESHES = {
    "names": lambda m: m((1, 1), ("a", "b")),
    "one": lambda m: m((1,)),
    "part": lambda m: m((1, 1), ("a", "b"))["b"],
    "parts": lambda m: m((1, 1), ("a", "b"))["a", "b"],
    "rank": lambda m: m((1, 1), ("a", "b")).get_local_rank("b"),
    "rank of several": lambda m: m((1, 1), ("a", "b")).get_local_rank(),
    "rank of no name": lambda m: m((1, 1), ("a", "b")).get_local_rank("c"),
    "sizes": lambda m: (m((1, 1)).shape, m((1, 1)).ndim, m((1,)).size(), m((1,)).size(0)),
    "this rank": lambda m: m((1, 1)).get_rank(),
    "place": lambda m: (m((1, 1)).get_coordinate(), len(m((1, 1)).get_all_groups())),
    "group": lambda m: m((1,)).get_group().size(),
    "ranks": lambda m: (m((1, 1)).mesh.tolist(), str(m((1,)).mesh.dtype)),
    "equal": lambda m: (m((1,)) == m((1,)), m((1,), ("a",)) == m((1,)), hash(m((1,))) == hash(m((1,)))),
    "too many": lambda m: m((2,)),
    "names twice": lambda m: m((1, 1), ("a", "a")),
    "too few names": lambda m: m((1, 1), ("a",)),
    "no names": lambda m: m((1,))["a"],
    "unknown name": lambda m: m((1,), ("a",))["b"],
}


@pytest.mark.parametrize("name", MESHES)
def test_meshes_of_one_process(worlds, name):
    found = []
    for T in (torch, jaxflow):
        make = T.distributed.device_mesh.init_device_mesh
        try:
            result = MESHES[name](
                lambda shape, names=None, make=make: make("cpu", shape, mesh_dim_names=names))
            found.append(repr(result).replace("jaxflow", "torch"))
        except (RuntimeError, KeyError, IndexError) as error:
            found.append((type(error), str(error).strip("('\"")[:25]))
    assert found[0] == found[1]

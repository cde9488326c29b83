"""Names of PyTorch's private parts that libraries import: what they answer where nothing is behind them."""

import copy

import pytest

import jaxflow as torch
from jaxflow import nn
from jaxflow._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex
from jaxflow.distributed import fsdp
from jaxflow.distributed.tensor import DTensor, distribute_tensor
from jaxflow.utils import _python_dispatch, _pytree


def test_compiled_modules_are_optimized_modules():
    module = nn.Linear(2, 2)
    assert isinstance(torch.compile(module), torch._dynamo.eval_frame.OptimizedModule)
    assert isinstance(torch.compile(module), torch._dynamo.OptimizedModule)
    assert not isinstance(module, torch._dynamo.OptimizedModule)
    assert not isinstance(torch.compile(len), torch._dynamo.OptimizedModule)


def test_no_tensor_is_made_of_others_or_spread_or_without_numbers():
    t = torch.ones(2)
    assert not _python_dispatch.is_traceable_wrapper_subclass(t)
    assert not _python_dispatch.is_traceable_wrapper_subclass(nn.Parameter(t))
    assert not isinstance(nn.Linear(1, 1), (fsdp.FullyShardedDataParallel, fsdp.FSDPModule))
    assert not isinstance(t, (DTensor, torch._subclasses.FakeTensor, torch.fx.Proxy))
    assert not torch.cuda.is_current_stream_capturing() and not torch.xpu.is_current_stream_capturing()


@pytest.mark.parametrize(("call", "name"), [
    (_python_dispatch.TorchDispatchMode, "TorchDispatchMode"),
    (lambda: DTensor(torch.ones(2)), "DTensor"),
    (lambda: DTensor.from_local(torch.ones(2)), "from_local"),
    (lambda: distribute_tensor(torch.ones(2)), "distribute_tensor"),
    (lambda: torch._subclasses.FakeTensor(torch.ones(2)), "FakeTensor"),
    (lambda: fsdp.FullyShardedDataParallel(nn.Linear(1, 1)), "FullyShardedDataParallel"),
    (lambda: fsdp.fully_shard(nn.Linear(1, 1)), "fully_shard"),
    (fsdp.FSDPModule, "FSDPModule"),
    (torch._subclasses.FakeTensorMode, "FakeTensorMode"),
    (torch.cuda.CUDAGraph, "CUDAGraph"),
    (lambda: torch.cuda.graph(None), r"cuda\.graph"),
])
def test_what_is_there_by_name_says_so_when_it_is_called(call, name):
    with pytest.raises(NotImplementedError, match=name):
        call()


def test_tensors_are_indices_under_vmap():
    table = torch.arange(12).view(3, 4)
    rows, columns = torch.tensor([2, 0]), torch.tensor([1, 3])
    with TransformGetItemToIndex():
        found = torch.vmap(lambda i, j: table[i, j])(rows, columns)
        assert table[torch.tensor(1)].tolist() == [4, 5, 6, 7]
    assert found.tolist() == torch.vmap(lambda i, j: table[i, j])(rows, columns).tolist() == [9, 3]
    with pytest.raises(RuntimeError, match="vmap"):
        torch.vmap(lambda i: table[i:])(rows)


def test_dicts_are_flattened_with_their_keys():
    pairs, keys = _pytree._dict_flatten_with_keys({"b": 1, "a": 2})
    assert [(str(k), v) for k, v in pairs] == [("['b']", 1), ("['a']", 2)] and keys == ["b", "a"]


def test_marks_of_static_tensors_change_nothing():
    t = torch.ones(2)
    before = copy.copy(t.__dict__)
    assert torch._dynamo.mark_static_address(t) is None and torch._dynamo.mark_static(t, 0) is None
    assert t.__dict__ == before


def test_the_name_of_extra_state():
    assert nn.modules.module._EXTRA_STATE_KEY_SUFFIX == "_extra_state"
    assert isinstance(torch.Tensor, torch._C._TensorMeta)

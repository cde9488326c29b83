"""Names that libraries for training import beside the layers, held against PyTorch's."""

import pytest
import torch

import jaxflow
from compat_tests.both import check_both


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


@pytest.mark.parametrize("module", [torch, jaxflow], ids=["torch", "jaxflow"])
def test_operators_that_are_named_in_tables(module):
    aten, x = module.ops.aten, module.arange(9.0).reshape(3, 3)
    rows, mask = module.tensor([2, 0]), module.tensor([True, False, True])
    assert aten.index.Tensor(x, [rows]).tolist() == [[6, 7, 8], [0, 1, 2]]
    assert aten.index(x, [None, rows]).tolist() == [[2, 0], [5, 3], [8, 6]]
    assert aten.index.Tensor(x, [mask, None]).tolist() == [[0, 1, 2], [6, 7, 8]]
    with pytest.raises(IndexError, match="at least one index"):
        aten.index(x, [])
    with pytest.raises(RuntimeError, match="failed to match any schema"):
        aten.index(x, [1])
    found = aten._sparse_addmm.default(x, x.to_sparse(), x, beta=2)
    assert found.tolist() == (2 * x + x @ x).tolist()
    if not module.cuda.is_available():
        with pytest.raises(RuntimeError, match="accelerator"):
            aten._pin_memory.default(x)


def test_texts_of_tensors_in_parts():
    def shown(module):
        parts, x = module._tensor_str, module.arange(40.0).view(4, 10)
        yield parts.get_printoptions()
        yield from (parts._tensor_str(x, 0), parts._tensor_str(x[:2].int(), 9),
                    parts._tensor_str(module.tensor(1.5), 0), parts._tensor_str(module.ones(0, 2), 0))
        yield parts._str_intern(x, tensor_contents="hi")
        yield parts._add_suffixes("tensor([1,2]", ["a=1", "b=2"], 3, True)
        with parts.printoptions(precision=2, threshold=10):
            yield repr(x), parts.PRINT_OPTS.precision
        yield repr(module.tensor(0.123)), parts.PRINT_OPTS.precision
        with pytest.raises(NotImplementedError):
            parts._tensor_str(module.ones(2, device="meta"), 0)

    assert list(shown(jaxflow)) == list(shown(torch))


def test_remote_calls_are_not_available():
    from jaxflow.distributed import rpc
    assert rpc.is_available() is False
    with pytest.raises(AttributeError, match="one process"):
        rpc.init_rpc("worker0", rank=0, world_size=2)


@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "amax", "min", "amin", "prod"])
def test_every_name_of_a_reduction_of_segments(reduce):
    def found(module):
        data = module.tensor([[1.0, 5.0], [2.0, 3.0], [7.0, 1.0]], requires_grad=True)
        out = module._segment_reduce(data, reduce, offsets=module.tensor([0, 2, 3]))
        out.square().sum().backward()
        return out.tolist(), data.grad.tolist()

    assert found(jaxflow) == found(torch)


def test_the_associative_scan():
    def program(T):
        scan = T._higher_order_ops.associative_scan
        a = T.linspace(0.5, 1.5, 14, dtype=T.float64).reshape(2, 7).requires_grad_()
        b = T.linspace(-1, 1, 14, dtype=T.float64).reshape(2, 7).requires_grad_()
        found = scan(lambda left, right: (left[0] * right[0], right[0] * left[1] + right[1]), (a, b), 1,
                     combine_mode="generic")
        (found[0].sum() + found[1].square().sum()).backward()
        return *found, a.grad, b.grad, scan(lambda x, y: x + y, b.detach(), 0, True, "generic")

    check_both(program)


@pytest.mark.parametrize("arguments", [(3, 0), (max, 0, "no"), (max, 0, False, "x"), (max, 0), (max, 2)])
def test_arguments_that_the_associative_scan_refuses(arguments):
    errors = []
    for module in (torch, jaxflow):
        with pytest.raises((ValueError, RuntimeError, IndexError)) as caught:
            module._higher_order_ops.associative_scan(arguments[0], module.ones(2), *arguments[1:])
        errors.append((caught.type, str(caught.value)[:30]))
    assert errors[0] == errors[1]

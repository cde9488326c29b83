"""`torch.cond`, `torch.while_loop` and the scans: control flow that takes functions of tensors."""

import pytest

import jaxflow as torch
from jaxflow._dynamo.exc import UncapturedHigherOrderOpError
from jaxflow._higher_order_ops import map as rows_mapped
from jaxflow._higher_order_ops import scan


def _branches(x):
    return torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, (x,))


def test_cond_applies_the_function_that_the_number_says():
    assert _branches(torch.tensor([1.0, 2.0])).tolist() == [2.0, 4.0]
    assert _branches(torch.tensor([-1.0, -2.0])).tolist() == [-2.0, -3.0]


def test_cond_in_a_compiled_function_follows_the_number_of_each_call():
    compiled = torch.compile(_branches, fullgraph=True)
    for k in (1.0, -1.0, 2.0, -2.0, 3.0):
        x = torch.tensor([k, k])
        assert compiled(x).tolist() == _branches(x).tolist()


def test_cond_under_vmap_chooses_for_each_example():
    x = torch.tensor([1.0, 2.0, 3.0])
    found = torch.vmap(lambda p, x: torch.cond(p, torch.exp, torch.neg, (x,)))(x > 1.5, x)
    assert torch.equal(found, torch.where(x > 1.5, x.exp(), -x))


def test_gradients_reach_operands_and_what_a_branch_reads_from_outside():
    w, x = torch.tensor([2.0, 3.0], requires_grad=True), torch.tensor([1.0, 4.0], requires_grad=True)
    torch.cond(x.sum() > 0, lambda x: (w * x).sum(), lambda x: x.sum(), (x,)).backward()
    assert w.grad.tolist() == [1.0, 4.0] and x.grad.tolist() == [2.0, 3.0]


@pytest.mark.parametrize(("arguments", "text"), [
    (("a", abs, abs, ()), "bool or tensor"),
    ((torch.ones(2), abs, abs, ()), "single-element"),
    ((torch.tensor(True), 3, abs, ()), "callable"),
    ((torch.tensor(True), abs, abs, torch.ones(1)), "tuple of possibly nested"),
    ((torch.tensor(True), abs, abs, (torch.ones(1), 3)), "tuple of possibly nested"),
    ((torch.tensor(True), lambda x: x, abs, (torch.ones(1),)), "clone"),
])
def test_what_cond_refuses(arguments, text):
    with pytest.raises(RuntimeError, match=text):
        torch.cond(*arguments)


def test_a_loop_ends_when_its_condition_is_false():
    count, x = torch.while_loop(lambda i, x: x.sum() < 100, lambda i, x: (i + 1, x * 2), (0, torch.ones(3)))
    assert count == 6 and x.tolist() == [64.0] * 3
    never = torch.while_loop(lambda x: x.sum() < 0, lambda x: (x + 1,), (torch.ones(3),))
    assert never[0].tolist() == [1.0] * 3


def test_a_loop_carries_trees_and_has_a_gradient():
    x = torch.ones(2, requires_grad=True)
    _, found = torch.while_loop(lambda i, d: i < 3, lambda i, d: (i + 1, {"a": d["a"] * 2}),
                                (torch.tensor(0), {"a": x}))
    found["a"].sum().backward()
    assert x.grad.tolist() == [8.0, 8.0]


@pytest.mark.parametrize(("body", "text"), [
    (lambda i, x: (i + 1, x[:1]), "same metadata"),
    (lambda i, x: (i + 1, x.double()), "same metadata"),
    (lambda i, x: (i + 1,), "same metadata"),
])
def test_a_loop_refuses_bodies_that_change_what_is_carried(body, text):
    with pytest.raises(UncapturedHigherOrderOpError, match=text):
        torch.while_loop(lambda i, x: i < 3, body, (torch.tensor(0), torch.ones(2)))


def test_a_loop_refuses_conditions_that_are_no_numbers():
    with pytest.raises(UncapturedHigherOrderOpError, match="without dimensions"):
        torch.while_loop(lambda x: x < 3, lambda x: (x + 1,), (torch.ones(2),))
    with pytest.raises(RuntimeError, match="callable"):
        torch.while_loop(3, lambda x: (x,), (torch.ones(2),))
    with pytest.raises(RuntimeError, match="carried_inputs"):
        torch.while_loop(lambda x: x < 3, lambda x: (x,), ("a",))


@pytest.mark.parametrize("reverse", [False, True])
def test_a_scan_carries_its_state_from_slice_to_slice(reverse):
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    order = [2, 1, 0] if reverse else [0, 1, 2]
    state, totals = torch.zeros(2), {}
    for i in order:
        state = state * 2 + x[:, i]
        totals[i] = state
    last, found = scan(lambda s, x: ((s * 2 + x), {"a": s * 2 + x, "b": x.sum()}), torch.zeros(2), x, dim=1,
                       reverse=reverse)
    assert torch.equal(last, state)
    assert torch.equal(found["a"], torch.stack([totals[i] for i in range(3)], 1))
    assert found["b"].tolist() == [3.0, 5.0, 7.0]
    last.sum().backward()
    assert x.grad[0].tolist() == ([1.0, 2.0, 4.0] if reverse else [4.0, 2.0, 1.0])


@pytest.mark.parametrize(("arguments", "options", "error", "text"), [
    ((3, torch.ones(2), torch.ones(2)), {}, RuntimeError, "callable"),
    ((max, torch.ones(2), torch.ones(2)), {"dim": "a"}, RuntimeError, "Dim must be an int"),
    ((max, torch.ones(2), torch.ones(2)), {"dim": 1}, IndexError, "out of range"),
    ((max, torch.ones(2), torch.ones(2)), {"reverse": 1}, RuntimeError, "Reverse must be a bool"),
    ((max, [], torch.ones(2)), {}, RuntimeError, "requires init leaves"),
    ((max, 3.0, torch.ones(2)), {}, RuntimeError, "init leaves must be a Tensor"),
    ((max, torch.ones(2), [torch.ones(2), 3]), {}, RuntimeError, "xs leaves must be a Tensor"),
    ((max, torch.ones(2), torch.ones(0)), {}, RuntimeError, "scan dimension > 0"),
    ((max, torch.ones(2), [torch.ones(2), torch.ones(3)]), {}, RuntimeError, "same size"),
    ((torch.add, torch.ones(2), torch.ones(3, 2)), {}, RuntimeError, "tuple of two"),
    ((lambda s, x: (s[:1], x), torch.ones(2), torch.ones(3, 2)), {}, RuntimeError, "same metadata"),
    ((lambda s, x: ([s], x), torch.ones(2), torch.ones(3, 2)), {}, RuntimeError, "same structure"),
])
def test_what_a_scan_refuses(arguments, options, error, text):
    with pytest.raises(error, match=text):
        scan(*arguments, **options)


def test_a_function_is_mapped_over_rows():
    x = torch.arange(6.0).reshape(3, 2).requires_grad_()
    found = rows_mapped(lambda row, k: {"a": row[0] * k, "b": row[0].sum()}, [x], torch.tensor(3.0))
    assert found["a"].tolist() == [[0.0, 3.0], [6.0, 9.0], [12.0, 15.0]]
    assert found["b"].tolist() == [1.0, 5.0, 9.0]
    (found["a"].sum() + found["b"].sum()).backward()
    assert x.grad.tolist() == [[4.0, 4.0]] * 3


@pytest.mark.parametrize(("xs", "text"), [
    (3, "only consist of tensors"), (torch.ones(0, 2), "cannot be 0"),
    ((torch.ones(3), torch.ones(2)), "consistent"),
])
def test_what_mapping_refuses(xs, text):
    with pytest.raises(RuntimeError, match=text):
        rows_mapped(torch.sin, xs)

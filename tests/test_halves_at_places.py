"""Half precision that goes to one place several times: where it is rounded, in every executor alike."""

import pytest

import jaxflow as torch

pytestmark = pytest.mark.usefixtures("executor")

#: Beyond 2048 float16 holds even numbers only, so adding 1 to 2048 changes nothing, but adding 2 does.
START, ONES = [2048.0], [1.0, 1.0]
STEPS = {
    "index_add": lambda x, at, s: x.index_add(0, at, s),
    "index_add of rows": lambda x, at, s: x[:, None].index_add(0, at, s[:, None])[:, 0],
    "index_put": lambda x, at, s: x.index_put((at,), s, accumulate=True),
    "put_": lambda x, at, s: x.clone().put_(at, s, accumulate=True),
}


@pytest.mark.parametrize("name", STEPS)
def test_rounded_after_each_step(name):
    x, source = torch.tensor(START).half(), torch.tensor(ONES).half()
    assert STEPS[name](x, torch.tensor([0, 0]), source).tolist() == [2048]


def test_a_scatter_is_rounded_once():
    x, source, at = torch.tensor(START).half(), torch.tensor(ONES).half(), torch.tensor([0, 0])
    assert x.scatter_add(0, at, source).tolist() == [2050]
    assert x.scatter_reduce(0, at, source, "sum").tolist() == [2050]
    assert x.clone().scatter_add_(0, at, source).tolist() == [2050]
    x, source = torch.tensor([1.0]).half(), torch.tensor([1.5, 1.001, 1.001, 1.001]).half()
    wide = x.float().scatter_reduce(0, torch.zeros(4, dtype=torch.int64), source.float(), "prod").half()
    assert torch.equal(x.scatter_reduce(0, torch.zeros(4, dtype=torch.int64), source, "prod"), wide)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("reduce", ["prod", "mean"])
def test_index_reduce_rounds_after_each_step(dtype, reduce):
    x = torch.tensor([[1.25, 0.7]]).to(dtype)
    source = torch.tensor([[1.1, 1.3], [0.9, 1.7], [1.9, 0.6], [1.01, 1.03]]).to(dtype)
    expected = x[0]
    for row in source:
        expected = expected * row if reduce == "prod" else expected + row
    if reduce == "mean":
        expected = expected / 5
    found = x.index_reduce(0, torch.zeros(4, dtype=torch.int64), source, reduce)
    assert torch.equal(found[0], expected)


def test_the_sum_of_a_mean_is_rounded_before_it_is_divided():
    x, source = torch.tensor([2048.0]).half(), torch.tensor([1.0, 0.0]).half()
    # 2049 lies between two numbers of float16, of which the even one is taken.
    found = x.scatter_reduce(0, torch.tensor([0, 0]), source, "mean")
    assert torch.equal(found, torch.tensor([2048.0]).half() / 3)


def test_gradients_of_scatter_add_in_half_precision():
    x, source = (torch.ones(2).half().requires_grad_() for _ in range(2))
    (x.scatter_add(0, torch.tensor([1, 1]), source) * torch.tensor([2.0, 3.0]).half()).sum().backward()
    assert (x.grad.tolist(), source.grad.tolist()) == ([2, 3], [3, 3])
    assert x.grad.dtype is torch.float16

"""What interpreting an operation is estimated to cost: by what it passes over, not by what it looks up."""

import pytest

import jaxflow as torch
from jaxflow._exec.numpy import cost_model
from jaxflow._shapes import plan_cache, shape_families

ROWS, WIDTH = 50_000, 64
OVERHEAD = 1e-4  # seconds: of a few operations, and far less than of a pass over the table (3.2e6 numbers)


@pytest.fixture
def estimates(monkeypatch, deferred):
    """The estimates by the name of the operation, of all that run meanwhile.

    A plan keeps its own, so there are none from before.
    """
    plan_cache.forget()
    shape_families.forget()
    found = {}
    of = cost_model._of

    def noted(plan):
        seconds = of(plan)
        found[plan.name] = max(seconds, found.get(plan.name, 0.0))
        return seconds

    monkeypatch.setattr(cost_model, "_of", noted)
    return found


table = torch.zeros(ROWS, WIDTH)
rows = torch.tensor([3, 1, 49_999])
LOOKED_UP = {
    "rows": lambda: table[rows],
    "embedding": lambda: torch.nn.functional.embedding(rows, table),
    "index_select": lambda: table.index_select(0, rows),
    "gather": lambda: table.gather(0, rows[:, None]),
    "take": lambda: table.take(rows),
    "embedding_bag": lambda: torch.nn.functional.embedding_bag(rows[None], table),
}
PASSED_OVER = {
    "sum": (table.sum, "sum"),
    "index_add": (lambda: table.index_add(0, rows, torch.ones(3, WIDTH)), "index_add"),
    "where": (lambda: torch.where(table > 0, table, 1.0), "where"),
}


@pytest.mark.parametrize("way", LOOKED_UP)
def test_a_table_in_which_things_are_looked_up_costs_nothing(way, estimates):
    LOOKED_UP[way]().tolist()
    assert estimates and max(estimates.values()) < OVERHEAD, estimates


@pytest.mark.parametrize("way", PASSED_OVER)
def test_what_is_passed_over_costs_what_its_elements_do(way, estimates):
    do, name = PASSED_OVER[way]
    do().sum().item()
    assert estimates[name] > 10 * OVERHEAD, estimates


def test_what_passes_once_is_cheap_beside_what_passes_often_and_dearly(estimates):
    x = torch.full((64, 1024), 0.5)
    x.sum().item(), torch.lgamma(x).tolist(), x.exp().tolist()
    assert estimates["sum"] < OVERHEAD < estimates["exp"] < estimates["lgamma"], estimates


def test_of_a_family_counts_what_is_done_to_each_element(estimates):
    """The second member's operations are those that were traced for the first, which is smaller."""
    for rows in (3, 4, 5):  # the third size makes the family
        torch.full((rows, 1000), 0.5).exp().tolist()
    first = estimates["exp"]
    torch.full((50, 1000), 0.5).exp().tolist()
    assert 5 * first < estimates["exp"] < 15 * first, estimates


@pytest.mark.parametrize("dims", [64, 65, 70])
def test_of_more_dimensions_than_numpy_has_xla_computes(dims, estimates):
    x = torch.full((2,), 0.5).as_strided((*(1,) * (dims - 1), 2), (*(1,) * dims,))
    assert [round(v, 4) for v in (x + 1).neg().reshape(-1).tolist()] == [-1.5, -1.5]
    assert x.detach().sum().item() == 1 and (max(estimates.values()) > 1) == (dims > 64)
    if dims > 64:
        with pytest.raises(RuntimeError, match="only tensors with up to 64 dims are supported"):
            x.amax(dim=-1)

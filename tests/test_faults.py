"""Values out of range that are pending: no sync point at the call, PyTorch's error when read."""

import jax
import numpy as np
import pytest

import jaxflow as torch
from jaxflow.nn import functional as F

LATE = "index out of range in self"


pytestmark = pytest.mark.usefixtures("deferred")


def pending(*data):
    return torch.tensor(data) + 0


def test_eager_refuses_at_the_call():
    with torch.execution("eager"), pytest.raises(IndexError, match=LATE):
        F.embedding(pending(3), torch.ones(3, 2))


def test_deferred_refuses_when_read_and_names_the_line():
    rows = F.embedding(pending(1, 3), torch.ones(3, 2))
    with pytest.raises(IndexError, match=LATE) as caught:
        rows.sum().item()
    assert any(__file__ in note for note in caught.value.__notes__)
    for _ in range(2):  # and whenever it is read
        with pytest.raises(IndexError, match=LATE):
            rows.tolist()


def test_whatever_is_read_first_tells_and_only_what_came_of_it_is_spoiled():
    before, x = torch.ones(2) + 1, torch.arange(5.0)
    bad = x[pending(5)]
    after, beside = bad * 2, x * 2
    with pytest.raises(IndexError, match="index 5 is out of bounds for dimension 0 with size 5"):
        before.tolist()
    assert before.tolist() == [2, 2]
    assert beside.tolist() == [0, 2, 4, 6, 8]
    for t in (bad, after):
        with pytest.raises(IndexError):
            t.tolist()


def test_later_programs_inherit_it():
    x = torch.arange(3.0)
    y = x[pending(3)]
    torch.flush()
    z = y + 1
    torch.flush()
    total, sound = z.sum(), x + 1
    with pytest.raises(IndexError):
        sound.tolist()  # one program with what is spoiled: nobody was told yet
    assert sound.tolist() == [1, 2, 3]
    with pytest.raises(IndexError):
        total.item()


def test_a_write_spoils_what_it_wrote_to():
    x = torch.zeros(3)
    x[pending(3)] = 1.0
    with pytest.raises(IndexError):
        x.tolist()
    y = torch.zeros(4)
    y[:3].scatter_(0, pending(3), 1.0)
    with pytest.raises(RuntimeError, match="out of bounds"):
        y.tolist()


def test_right_values_leave_no_doubt():
    x = torch.arange(4.0)
    y = x[pending(3, -4)]
    assert y.tolist() == [3, 0]
    assert y._storage.value.unchecked is None
    torch.flush()
    z = F.embedding(pending(1), torch.ones(2, 2))
    torch.flush()
    jax.block_until_ready(z._storage.value.array)
    (z + 1).tolist()
    assert z._storage.value.unchecked is None


_DIVIDED = {
    "floor_divide": lambda x, y: x // y,
    "remainder": lambda x, y: x % y,
    "fmod": torch.fmod,
    "div_floor": lambda x, y: torch.div(x, y, rounding_mode="floor"),
    "div_trunc": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "of_a_number": lambda x, y: 5 // y,
    "number_mod": lambda x, y: 5 % y,
    "out": lambda x, y: torch.fmod(x, y, out=torch.empty_like(x)),
    "by_bool": lambda x, y: x // y.bool(),
    "of_bool": lambda x, y: x.bool() % y,
    "in_place": lambda x, y: x.floor_divide_(y),
    "in_place_operator": lambda x, y: x.__imod__(y),
    "in_place_rounded": lambda x, y: x.div_(y, rounding_mode="trunc"),
}


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.int64], ids=str)
@pytest.mark.parametrize("divide", _DIVIDED.values(), ids=_DIVIDED)
def test_integers_are_not_divided_by_zero(divide, dtype):
    x, y = torch.tensor([7, 9, 3], dtype=dtype), torch.tensor([2, 0, 1], dtype=dtype)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        divide(x, y).tolist()
    assert x.tolist() == [7, 9, 3] and x._version == 0
    for run in (
        lambda: divide(x.clone(), y + 0),
        lambda: torch.compile(lambda a, b: divide(a + 0, b + 0))(x, y),
        lambda: torch.vmap(lambda a, b: divide(a + 0, b))(x, y),
    ):
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            run().tolist()
    divide(x.clone(), y + 1).tolist()
    divide(x.float(), y.float() + 1).tolist()
    assert divide(x[:0], y[:0]).tolist() == []


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("divide", [
    lambda x: x // 0, lambda x: x % 0, lambda x: x.fmod(0), lambda x: x.div(0, rounding_mode="floor"),
    lambda x: x // False, lambda x: x.fmod_(np.int64(0)), lambda x: x.__ifloordiv__(0),
])
def test_integers_are_not_divided_by_the_number_zero(divide):
    x = torch.tensor([7, -7])
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        divide(x)
    assert x.tolist() == [7, -7] and x._version == 0
    assert divide(torch.empty(0, dtype=torch.int64)).tolist() == []
    assert (x[:0] // torch.tensor([0])).tolist() == []
    assert str((x // 0.0).tolist()) == "[inf, -inf]"


def test_a_late_division_by_zero_spoils_what_it_wrote_to():
    x, y = torch.tensor([7, 9]), torch.tensor([7, 9])
    x //= pending(1, 0)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        x.tolist()
    assert (y // pending(1, 2)).tolist() == [7, 4]


@pytest.mark.usefixtures("compiled")
def test_a_training_step_stays_one_program_without_sync_points():
    codes = torch.tensor(np.arange(1000) % 7)
    model = torch.nn.Sequential(torch.nn.Embedding(7, 8), torch.nn.Linear(8, 7))
    optimizer = torch.optim.AdamW(model.parameters())

    def step():
        starts = torch.randint(990, (4,))
        chunk = codes[starts[:, None] + torch.arange(6)]
        loss = F.cross_entropy(model(chunk[:, :-1]).flatten(0, 1), chunk[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    for _ in range(3):
        step()
    before = torch.explain()
    for _ in range(20):
        loss = step()
    after = torch.explain()
    assert after["runs"] - before["runs"] == 20
    assert after["compilations"] == before["compilations"]
    assert after["syncs"] == before["syncs"]
    assert loss.item() > 0


def test_a_training_step_on_a_wrong_code_tells_when_the_loss_is_read():
    model = torch.nn.Embedding(7, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for code in (1, 9, 2):
        loss = model(pending(code)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with pytest.raises(IndexError, match=LATE):
        loss.item()
    with pytest.raises(IndexError, match=LATE):
        model.weight.tolist()


@pytest.mark.usefixtures("executor")
def test_no_index_lies_in_a_dimension_of_no_elements():
    for call in (
        lambda at: F.nll_loss(torch.zeros(2, 0), at),
        lambda at: torch.zeros(3, 0)[:, at],
        lambda at: torch.zeros(2, 0).gather(1, at[None]),
    ):
        for at in torch.tensor([0, 0]), torch.tensor([-1, 0]) + 1:
            with pytest.raises((IndexError, RuntimeError), match="out of bounds"):
                call(at).tolist()

"""Cold, cheap operations that are run where they are met: NOTE [Run at once]."""

import warnings

import numpy as np
import pytest
from running import in_threads

import jaxflow as torch
from jaxflow._core import flags
from jaxflow._core.state import state
from jaxflow._exec import program_cache
from jaxflow._exec.numpy import immediate, tiering

F = torch.nn.functional


@pytest.fixture(autouse=True)
def _fresh(deferred):
    program_cache.forget()
    tiering.forget()


def cold(n=immediate.STREAK):
    """``n`` cold, cheap programs unlike any other here."""
    for i in range(n):
        (torch.ones(2 + i, 11).cumsum(0) - 0.25).tolist()


def under_way():
    return any(isinstance(p, immediate.AtOnce) for p in state.programs.values())


def count(fn):
    """What ``fn`` made run: ``(operations at once, interpreted programs, compiled runs)``."""
    keys = ("at_once", "interpreted", "runs")
    torch.flush()
    before = torch.explain()
    fn()
    torch.flush()
    after = torch.explain()
    return tuple(after[k] - before[k] for k in keys)


def step(seed):
    """One step of a small network with sampling, in-place writes, views and an optimizer; all its numbers."""
    torch.manual_seed(seed)
    net = torch.nn.Sequential(torch.nn.Linear(6, 9), torch.nn.Sigmoid(), torch.nn.Linear(9, 3))
    optimizer = torch.optim.Adam(net.parameters())
    x = torch.randn(4, 6)
    x[1:3, ::2] *= 2.5
    probabilities = F.softmax(net(x), -1)
    action = torch.multinomial(probabilities, 1)
    loss = -probabilities.gather(1, action).log().sum() + (x.T @ probabilities).std()
    loss.backward()
    grads = [p.grad for p in net.parameters()]
    optimizer.step()
    return [t.tolist() for t in (loss, action, *grads, *net.parameters(), x)]


def test_cold_and_cheap_programs_are_followed_by_operations_at_once_with_the_same_numbers(monkeypatch):
    with monkeypatch.context() as m:
        m.setattr(immediate, "STREAK", 10**9)
        recorded = step(3)
        torch.flush()
    state.streak = 0
    assert count(cold)[:2] == (0, immediate.STREAK)
    found = []
    at, programs, runs = count(lambda: found.append(step(3)))
    assert at > 30 and programs == runs == 0
    assert found == [recorded]


def test_asking_for_a_number_is_no_sync_point_then():
    cold()
    before = torch.explain()["syncs"]
    for i in range(20):
        assert (torch.ones(3) * i).sum().item() == 3 * i
    assert under_way() and torch.explain()["syncs"] == before


def test_a_large_operation_is_recorded():
    cold()
    x = torch.ones(2, 3) * 2
    assert under_way()
    y = torch.ones(1500, 1500)
    assert not under_way() and state.streak == 0
    assert (y[0, 0] + x[0, 0]).item() == 3


def test_a_loop_is_recorded_if_that_pays(monkeypatch):
    x = torch.ones(3)

    def loop(n):
        for _ in range(n):
            assert (x * 2 + 1).sum().tolist() == 9
            torch.flush()

    cold()
    assert count(lambda: loop(20)) == (60, 0, 0)
    tiering.forget()
    monkeypatch.setattr(tiering, "seconds_to_interpret", lambda plans: 0.001)
    monkeypatch.setattr(tiering, "seconds_to_compile", lambda plans: 0.1)
    n = 3 * tiering.LOOPS
    assert count(lambda: loop(n)) == (3 * tiering.LOOPS, tiering.LOOPS - 1, n - 2 * tiering.LOOPS + 1)
    assert state.streak < 0


def test_a_round_that_asks_for_a_number_is_what_a_program_would_be(monkeypatch):
    """Asking is no boundary, so what is seen of the loop is as many operations as are seen in a row."""
    x, w = torch.full((32, 64), 0.5), torch.full((64, 16), 0.25)
    monkeypatch.setattr(flags, "MAX_OPS", 31)

    def loop(n):
        for _ in range(n):
            assert ((x @ w) * 2).sum().item() == 8192

    cold()
    assert count(lambda: loop(200)) == (600, 0, 0)
    tiering.forget()
    monkeypatch.setattr(tiering, "seconds_to_interpret", lambda plans: 0.001 * len(plans))
    monkeypatch.setattr(tiering, "seconds_to_compile", lambda plans: 0.1)
    assert count(lambda: loop(200))[0] < 600
    assert state.streak < 0


def test_a_loop_whose_parts_do_not_pay_is_recorded_only_once(monkeypatch):
    """Recorded, it is as many programs as numbers are read, none of which is worth compiling."""
    x, away = torch.ones(3), 20
    monkeypatch.setattr(tiering, "AWAY", away)
    monkeypatch.setattr(tiering, "seconds_to_interpret", lambda plans: 1e-3 if len(plans) > 6 else 1e-6)
    monkeypatch.setattr(tiering, "seconds_to_compile", lambda plans: 0.1)

    def loop(n):
        for _ in range(n):
            for _ in range(4):
                assert (x * 2 + 1).sum().item() == 9
            torch.flush()

    cold()
    at_once, interpreted, compiled = count(lambda: loop(60))
    assert interpreted == away + immediate.STREAK and compiled == 0
    assert at_once == 3 * (4 * 60 - interpreted)
    assert count(lambda: loop(60)) == (3 * 4 * 60, 0, 0)


def test_a_compiled_program_shows_that_recording_a_loop_paid(monkeypatch):
    x = torch.ones(3)
    monkeypatch.setattr(tiering, "AWAY", 2)
    monkeypatch.setattr(tiering, "seconds_to_interpret", lambda plans: 1e-3)
    monkeypatch.setattr(tiering, "seconds_to_compile", lambda plans: 0.1)

    def loop(n):
        for _ in range(n):
            assert (x * 2 + 1).sum().tolist() == 9
            torch.flush()

    cold()
    loop(3 * tiering.LOOPS)
    assert state.tried is None
    cold()
    assert count(lambda: loop(3 * tiering.LOOPS))[2] > 0  # it may be recorded again


def test_the_round_of_what_is_repeated():
    a, b, c = (object() for _ in range(3))
    for plans, n in (([], 0), ([a], 1), ([a, a, a], 1), ([a, b, a, b, a], 2), ([a, b, c], 3),
                     ([a, a, b, a, a, b, a], 3), ([a, b, a, a, b], 3), ([a, b, a, c, a, b, a, b], 6)):
        assert tiering._round(plans) == n, plans


def test_a_loop_stays_where_it_is_while_pinned(monkeypatch):
    cold()
    monkeypatch.setattr(tiering, "seconds_to_interpret", lambda plans: 0.001)
    monkeypatch.setattr(tiering, "seconds_to_compile", lambda plans: 0.1)
    with tiering.pinned():
        for _ in range(2 * tiering.LOOPS):
            torch.ones(3).sum()
            torch.flush()
    assert state.streak >= immediate.STREAK


def test_compiled_programs_between_end_a_streak(monkeypatch):
    cold(immediate.STREAK - 1)
    with monkeypatch.context() as m:
        m.setattr(tiering, "one_executor", True)
        (torch.ones(5, 5) - 7).tolist()
    assert state.streak == 0


def test_faults_are_found_at_the_call_and_doubt_is_recorded():
    table = torch.ones(5, 2)
    torch.flush()
    codes = torch.tensor([1, 2]) * 3
    rows = F.embedding(codes, table)  # recorded: nobody knows the codes yet
    torch.flush()
    cold()
    (table + 0).sum()
    assert under_way()
    with pytest.raises(IndexError):
        F.embedding(torch.tensor([1, 2]) * 3, table)
    assert under_way()
    spoiled = rows + 1
    assert not under_way()
    with pytest.raises(IndexError):
        spoiled.tolist()


def test_errors_and_settings_are_pytorch_s_and_the_user_s():
    cold()
    with pytest.raises(OverflowError, match="int too big to convert"):
        torch.ones(2, dtype=torch.int64) * (1 << 64)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert torch.tensor([1.0, 0.0]).log().tolist() == [0.0, -float("inf")]
        np.log(np.zeros(3))
    # Garbage of earlier tests may warn meanwhile of files that were never closed.
    (warning,) = [w for w in caught if w.category is not ResourceWarning]
    assert warning.filename == __file__ and "divide by zero" in str(warning.message)
    assert under_way()


def test_results_have_memory_of_their_own():
    cold()
    x = torch.arange(12.0).reshape(3, 4)
    y, z = x.T.clone(), x[1]
    held = z.numpy()
    x += 1
    assert held.tolist() == [5, 6, 7, 8]  # which is one memory with ``x``
    assert y.tolist() == np.arange(12.0).reshape(3, 4).T.tolist() and z.tolist() == [5, 6, 7, 8]


def test_large_results_are_no_copied_leaves_of_what_is_recorded_later():
    cold()
    x = torch.ones(150, 150) * 3
    assert under_way() and x._storage.value.array.__class__ is np.ndarray
    torch.flush()
    state.streak = 0
    y = x + 1
    assert x._storage.value.array.__class__ is not np.ndarray
    assert y[0, 0].item() == 4


def test_threads_have_streaks_of_their_own():
    cold()

    def work(k):
        assert state.streak == 0
        for i in range(4 * immediate.STREAK):
            assert ((torch.ones(k + 2, 3) * i) @ torch.ones(3, 2)).tolist() == [[3.0 * i] * 2] * (k + 2)
        assert under_way()

    in_threads(work, 3)
    x = torch.ones(2) * 2
    assert under_way() and x.tolist() == [2, 2]


VIEWS = {
    "rows": lambda x: x[1:3],
    "element": lambda x: x[2, 1, 0],
    "every second": lambda x: x[:, ::2, None],
    "transposed": lambda x: x.transpose(0, 2),
    "part of a transposed": lambda x: x.permute(2, 0, 1)[1:, 3],
    "expanded": lambda x: x[:1].expand(3, 4, 4, 3)[:, 0],
    "diagonal": lambda x: x.diagonal(1, 0, 1),
    "unfolded": lambda x: x.unfold(1, 2, 1),
    "by strides": lambda x: x.as_strided((2, 3), (5, 2), 7),
    "nothing": lambda x: x[2:2],
    "nothing, from the end on": lambda x: x[4:, 2],
    "negated": lambda x: x if x.dtype is torch.bool else torch._neg_view(x)[1],
    "conjugated": lambda x: x.conj()[1:],
    "a part of numbers": lambda x: torch.view_as_real(x)[1, ..., 1] if x.is_complex() else x,
    "reshaped": lambda x: x[1].view(-1),
}


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "bfloat16", "complex64"])
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("laid", ["rows", "channels"])
def test_views_that_are_read_at_once_show_what_recorded_ones_do(view, dtype, laid, monkeypatch):
    def numbers():
        x = torch.arange(48).reshape(4, 4, 3).to(getattr(torch, dtype))
        three = True if dtype == "bool" else 3
        if laid == "channels":
            x = x[None].to(memory_format=torch.channels_last).squeeze(0)
        y = x.clone()
        shown = VIEWS[view](y)
        first = (shown + shown).tolist()
        y.mul_(three)
        return first, (shown * 1).tolist(), shown.stride()

    with monkeypatch.context() as m:
        m.setattr(immediate, "STREAK", 10**9)
        recorded = numbers()
    state.streak = 0
    cold()
    torch.ones(1) + 1
    assert under_way()
    assert numbers() == recorded


def test_windows_of_a_large_tensor_are_read_as_they_are_by_then():
    """Where a storage is too large for a NumPy array of its own; bounds are numbers or tensors of one."""
    data, same = torch.arange(40_000), np.arange(40_000)
    at = torch.tensor([7, 39_990, 12])
    cold()
    for write in (None, 5, 6):
        if write is not None:
            data[8:14] += write
            same[8:14] += write
        found = torch.stack([data[i:i + 8] for i in at] + [data[int(i) + 1:i + 9] for i in at])
        numbers = [same[i + k:i + k + 8] for k in (0, 1) for i in at.tolist()]
        assert under_way()
        assert found.tolist() == np.stack(numbers).tolist()
    for start, error in ((torch.tensor(2.0), TypeError), (torch.tensor([1, 2]), TypeError)):
        with pytest.raises(error, match="only integer tensors of a single element"):
            data[start:9]
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        data[torch.tensor(2.0)::0]

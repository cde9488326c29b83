"""Deferred programs: what is compiled and when, what is donated, and what errors leave behind."""

import gc
import time
import weakref

import jax
import numpy as np
import pytest

import jaxflow as torch
from jaxflow._core import flags
from jaxflow._core.state import state
from jaxflow._dispatch.dispatch import apply_plan
from jaxflow._exec import background, explain, program_cache
from jaxflow._plans.plan import Plan
from jaxflow.nn import functional as F

pytestmark = pytest.mark.usefixtures("deferred", "compiled")


def compilations():
    return torch.explain()["compilations"]


class Counted:
    """Compilations since it was made."""

    def __init__(self):
        background.submit(lambda: None).result()  # what earlier tests have begun to compile is none of it
        self.before = compilations()

    def __call__(self):
        return compilations() - self.before


class Net(torch.nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.inner = torch.nn.Linear(4, 8)
        self.outer = torch.nn.Linear(8, 1)
        self.dropout = dropout

    def forward(self, x):
        hidden = F.dropout(torch.tanh(self.inner(x)), self.dropout, self.training)
        return self.outer(hidden)


def train(steps, *, dropout=0.0, read_every=None, schedule=False, optimizer=torch.optim.AdamW):
    """Train a small net; the number of compilations in every step, and the losses read."""
    x = torch.tensor(np.random.default_rng(0).normal(size=(16, 4)).astype("float32"))
    y = x.sum(1, keepdim=True)
    net = Net(dropout)
    opt = optimizer(net.parameters(), lr=1e-2)
    decay = torch.optim.lr_scheduler.LambdaLR(opt, lambda k: 1 / (1 + k)) if schedule else None
    counts, losses = [], []
    for step in range(steps):
        counted = Counted()
        opt.zero_grad()
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        opt.step()
        if decay is not None:
            decay.step()
        if read_every and step % read_every == 0:
            losses.append(loss.item())
        counts.append(counted())
    return counts, losses


# ----- a training loop settles --------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"schedule": True},
        {"dropout": 0.5},
        {"read_every": 1},
        {"read_every": 10},
        {"dropout": 0.1, "schedule": True, "read_every": 10, "optimizer": torch.optim.Adam},
    ],
    ids=lambda s: "-".join(s) or "plain",
)
def test_steps_3_to_100_compile_nothing(settings):
    counts, _ = train(100, **settings)
    assert sum(counts[2:]) == 0, counts


@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.AdamW])
def test_the_first_step_is_the_program_of_all_others(optimizer):
    counts, _ = train(4, optimizer=optimizer)
    assert sum(counts) == counts[0] <= 1, counts


def test_the_loop_learns():
    _, losses = train(200, read_every=20)
    assert losses[-1] < 0.3 * losses[0]


def test_dropout_differs_from_step_to_step():
    x = torch.ones(64)
    masks = set()
    for _ in range(4):
        masks.add(tuple(F.dropout(x, 0.5).tolist()))
    assert len(masks) == 4


# ----- numbers are leaves -------------------------------------------------------------------------


@pytest.mark.parametrize("numbers", [(0.1, 0.2, -3.5), (2, 3, -7), (True, False), (1j, 2 - 1j)])
def test_a_number_is_a_leaf(numbers):
    x = torch.tensor([1.0, 2.0])
    x.tolist()
    counted = Counted()
    for k in numbers:
        assert (x * k).tolist() == pytest.approx([1.0 * k, 2.0 * k], rel=1e-6)
    assert counted() <= 1  # none, if another test met the same program


def test_numbers_keep_their_order():
    x = torch.tensor([8.0])
    for a, b, c, d in [(1.5, 2, 3.5, 4), (2.5, 3, 4.5, 5)]:
        got = ((x - a) * b - c) / d
        assert got.item() == pytest.approx(((8 - a) * b - c) / d)


def test_an_integer_too_large_is_refused_at_the_call():
    x = torch.ones(2)
    recorded = x + 1
    for large, words in ((1 << 70, "int too big to convert"),
                         (-(1 << 63) - 1, "can't convert negative int to unsigned")):
        with pytest.raises(OverflowError, match=words):
            recorded * large
    assert recorded.tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    "read", [lambda x, i: x[i], lambda x, i: x[i : i + 4], lambda x, i: x[:, i], lambda x, i: x[-1 - i]]
)
def test_indexing_in_a_loop_reuses_one_program(read):
    x = torch.arange(64.0).reshape(8, 8)
    expected = x.numpy()
    read(x, 0).sum().item()
    counted = Counted()
    for i in range(1, 5):
        assert (read(x, i) * 1.0).sum().item() == read(expected, i).sum()
    assert counted() <= 1


def test_writing_rows_in_a_loop_reuses_one_program():
    x = torch.zeros(8, 3)
    counted = Counted()
    for i in range(8):
        x[i] = float(i)
        x.tolist()
    assert counted() <= 2  # the zeros are still pending in the first
    assert x[:, 0].tolist() == list(range(8))


# ----- liveness -----------------------------------------------------------------------------------


def chain(x, kept=None):
    a = x * 1.25
    b = a.sin()
    if kept is not None:
        kept.append(a)
    return (b + a).sum()


def test_liveness_is_part_of_the_key():
    x = torch.ones(7)
    torch.flush()
    chain(x).item()
    counted, kept = Counted(), []
    for _ in range(3):
        kept.clear()
        chain(x, kept).item()
    assert counted() == 1
    assert any(p["why"].startswith("liveness: 1 more") for p in torch.explain()["programs"])
    assert kept[0].tolist() == [1.25] * 7


def test_a_program_that_returns_more_may_serve():
    x, kept = torch.ones(9), []
    torch.flush()
    chain(x, kept).item()
    counted = Counted()
    chain(x).item()
    assert counted() == 0


def test_a_result_nobody_sees_is_not_computed():
    x = torch.ones(11)
    torch.flush()
    counted = Counted()
    x * 2
    torch.flush()
    assert counted() == 0


# ----- donation -----------------------------------------------------------------------------------


def test_old_parameters_are_donated():
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    x = torch.ones(3, 4)

    def arrays():
        """Where each parameter and its momentum lie, and weak references to them."""
        found = [p._storage.value.get() for p in net.parameters()]
        found += [s["momentum_buffer"]._storage.value.get() for s in opt.state.values()]
        return {a.unsafe_buffer_pointer() for a in found}, [weakref.ref(a) for a in found]

    for step in range(6):
        opt.zero_grad()
        net(x).sum().backward()
        before, old = arrays()
        opt.step()
        assert all(ref() is None for ref in old)
        if step > 2:
            assert before == arrays()[0]  # the step's results lie where the old ones did


@pytest.mark.parametrize("hand_out", ["jax", "_value_array", "__jax_array__"])
def test_what_was_handed_out_is_never_donated(hand_out):
    x = torch.arange(1000.0)
    x.add_(1)
    array = getattr(x, hand_out)()
    expected = np.array(array)
    for _ in range(4):
        x.mul_(2.0)
        torch.flush()
    assert np.array_equal(np.asarray(array), expected)


def test_what_others_refer_to_is_not_donated():
    x = torch.arange(1000.0)
    torch.flush()
    other, view, saved = x.clone(), x.detach(), x * 1
    torch.flush()
    x.mul_(2.0)
    torch.flush()
    assert other[999].item() == 999.0 and saved[999].item() == 999.0 and view[999].item() == 1998.0


def test_a_tensor_saved_for_backward_is_not_donated():
    w = torch.full((1000,), 3.0, requires_grad=True)
    y = w.exp().sum()  # of which PyTorch saves the result
    torch.flush()
    w.data.mul_(0)
    torch.flush()
    y.backward()
    assert w.grad[0].item() == pytest.approx(20.0855369)


# ----- when programs close ------------------------------------------------------------------------


def closed(reason):
    return torch.explain()["closed_because"].get(reason, 0)


def test_the_bound_on_recorded_operations(monkeypatch):
    monkeypatch.setattr(flags, "MAX_OPS", 10)
    before, x = closed(explain.BOUND), torch.zeros(3)
    for _ in range(45):
        x = x + 1
    assert closed(explain.BOUND) - before == 4
    assert x.tolist() == [45.0] * 3


def test_natural_boundaries():
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    x = torch.ones(2, 4)
    torch.flush()
    steps, modules, syncs = closed(explain.STEP), closed(explain.MODULE), closed(explain.SYNC)
    net(x).sum().backward()
    assert (closed(explain.STEP), closed(explain.MODULE)) == (steps, modules)
    opt.step()
    assert closed(explain.STEP) == steps + 1
    with torch.no_grad():
        kept = net(x)
    assert closed(explain.MODULE) == modules + 1
    assert closed(explain.SYNC) == syncs
    assert kept.tolist() and closed(explain.SYNC) == syncs


def test_flush_runs_what_was_recorded():
    y = torch.ones(3) * 2
    assert y._storage.value.producer is not None
    torch.flush()
    assert y._storage.value.producer is None


# ----- errors -------------------------------------------------------------------------------------


def test_an_error_at_the_call_leaves_the_program_usable():
    a, b = torch.ones(2, 3), torch.ones(4, 5)
    first = a * 2
    for wrong in (lambda: a + b, lambda: a @ b, lambda: a.reshape(7), lambda: a.sum(9), lambda: a[9]):
        with pytest.raises((RuntimeError, IndexError)):
            wrong()
    second = first + 1
    assert second.tolist() == [[3.0] * 3] * 2


def failing(message="the callback failed"):
    """A plan whose operation fails when it runs, and not before."""

    def fail(x):
        raise ValueError(message)

    def body(x):
        return (jax.pure_callback(fail, jax.ShapeDtypeStruct(x.shape, x.dtype), x),)

    aval = torch.ones(2)._aval
    return Plan("fragile", body, [aval], [aval], device=aval.device, grad_name="FragileBackward0")


def notes_of(error):
    return "\n".join(error.__notes__)


@pytest.mark.recovers
def test_an_error_while_running_names_the_operations():
    (bad,) = apply_plan(failing(), [torch.ones(2) * 3])
    with pytest.raises(Exception, match="the callback failed") as caught:
        (bad + 1).tolist()
    notes = notes_of(caught.value)
    assert "fragile(float32[2])" in notes and "operations" in notes and "JAXFLOW_DEBUG" in notes
    assert (torch.ones(2) + 1).tolist() == [2.0, 2.0]


@pytest.mark.recovers
def test_in_debug_mode_it_names_the_lines(monkeypatch):
    monkeypatch.setattr(flags, "DEBUG", True)
    (bad,) = apply_plan(failing(), [torch.ones(2) * 3])
    with pytest.raises(Exception, match="the callback failed") as caught:
        torch.flush()  # not even asked for a number
    (fragile,) = (line for line in notes_of(caught.value).splitlines() if "fragile" in line)
    assert "test_programs.py:" in fragile
    with pytest.raises(RuntimeError, match=r"could not be computed: fragile\(float32\[2\]\)"):
        bad.tolist()


@pytest.mark.recovers
def test_an_error_while_compiling_names_the_operations():
    def body(x):
        return (jax.ffi.ffi_call("no_such_target", jax.ShapeDtypeStruct(x.shape, x.dtype))(x),)

    aval = torch.ones(2)._aval
    plan = Plan("missing", body, [aval], [aval], device=aval.device, grad_name="MissingBackward0")
    (bad,) = apply_plan(plan, [torch.ones(2)])
    other = torch.ones(2) * 5
    with pytest.raises(Exception, match="no_such_target") as caught:
        bad.tolist()
    assert "missing" in notes_of(caught.value)
    assert other.tolist() == [5.0, 5.0]  # only what depends on the operation is lost
    assert (torch.ones(2) * 5).tolist() == [5.0, 5.0]


# ----- memory and time ----------------------------------------------------------------------------


def test_live_arrays_stay_flat_over_1000_steps():
    w = torch.ones(4, requires_grad=True)
    opt = torch.optim.SGD([w], lr=1e-3, momentum=0.9)
    x = torch.tensor([1.0, 2.0, 3.0, 4.0])
    live = []
    gc.collect()
    gc.disable()  # what only a collection would free counts as kept
    try:
        for step in range(1000):
            opt.zero_grad()
            loss = ((w * x).tanh() ** 2).sum()
            loss.backward()
            opt.step()
            if step % 10 == 0:
                loss.item()
            if step in (20, 500, 999):
                live.append(len(jax.live_arrays()))
    finally:
        gc.enable()
    assert max(live) - min(live) <= 2, live


def test_a_closed_program_keeps_nothing():
    x = torch.ones(3)
    y = x * 2 + 1
    recorded = state.programs[y.device]
    array = weakref.ref(x._storage.value)
    y.tolist()
    del x
    assert array() is None
    assert recorded.closed and not recorded.entries and not recorded.results


def test_known_traces_are_bounded(monkeypatch):
    program_cache.forget()
    monkeypatch.setattr(program_cache, "_MAX_TRACES", 3)
    for n in range(1, 8):
        (torch.ones(n) * 2).tolist()
    assert len(program_cache.traces()) <= 3


def test_closing_is_linear():
    """This thread's seconds to record and close a known chain, per operation, do not grow with its length."""

    def seconds(n):
        best = float("inf")
        x = torch.ones(2)
        for attempt in range(6):
            x.tolist()
            start = time.thread_time()
            y = x
            for _ in range(n):
                y = y + 1.0
            torch.flush()
            taken = time.thread_time() - start
            if attempt:  # the first compiles
                best = min(best, taken)
            assert y.tolist() == [1.0 + n] * 2
        return best

    assert seconds(800) < 4 * 4 * seconds(200)

"""Times of statements: how often they run, that their results are computed, tables of them."""

import itertools

import pytest

import jaxflow as torch
from jaxflow.utils import benchmark
from jaxflow.utils.benchmark import Compare, Language, Measurement, TaskSpec, Timer


class Clock:
    """A clock that goes on by a millisecond for each run, and by a nanosecond when it is read."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 1e-9
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_how_often_it_runs(clock):
    runs = []

    def run():
        runs.append(1)
        clock.now += 1e-3

    measured = Timer("run()", "runs.clear()", globals={"run": run, "runs": runs}, timer=clock).timeit(7)
    assert len(runs) == 7 and measured.number_per_run == 7 and measured.median == pytest.approx(1e-3)
    seen = []
    timer = Timer("run()", globals={"run": run}, timer=clock, label="label", num_threads=2)
    blocked = timer.blocked_autorange(lambda number, time: seen.append((number, time)), min_run_time=0.02)
    assert blocked.number_per_run == 1 and len(blocked.raw_times) == len(seen) == 20
    assert blocked.iqr == pytest.approx(0, abs=1e-9) and blocked.label == "label" and blocked.num_threads == 2
    adaptive = timer.adaptive_autorange(min_run_time=0.002)
    assert adaptive.number_per_run == 1 and len(adaptive.raw_times) == 4 and not adaptive.has_warnings
    times = itertools.cycle([1e-3, 9e-3])
    uneven = Timer("wait()", globals={"wait": lambda: setattr(clock, "now", clock.now + next(times))},
                   timer=clock)
    spread = uneven.adaptive_autorange(max_run_time=0.1)
    assert sum(spread.raw_times) > 0.1 and spread.has_warnings and "WARNING" in repr(spread)


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("statement", ["x.exp()", "y = x.exp()", "\n    y = x.exp()\n    z = y + 1\n    ",
                                       "(x.exp(),\n x.sin())  # both"])
def test_results_are_computed_in_each_run(statement):
    def computed():
        counts = torch.explain()
        return sum(counts[kind] for kind in ("runs", "interpreted", "at_once", "eager_ops"))

    torch.flush()
    before = computed()
    measured = Timer(statement, globals={"x": torch.ones(3)}).timeit(3)
    assert computed() - before >= 5 and measured.median > 0  # two of them to warm up


def test_names_and_setup(clock):
    assert Timer("torch.ones(2) + a", "a = 3", timer=clock).timeit(1).setup == "a = 3"
    given = {"a": 1}
    Timer("a + 1", globals=given, timer=clock).timeit(1)
    assert given == {"a": 1}
    with pytest.raises(NameError, match="no_such"):
        Timer("no_such", timer=clock).timeit(1)
    with pytest.raises(SyntaxError):
        Timer("a = ", timer=clock)


def test_errors():
    with pytest.raises(ValueError, match="Currently only a `str` stmt is supported"):
        Timer(lambda: None)
    with pytest.raises(ValueError, match="global_setup is C.. only"):
        Timer("x", global_setup="int x;")
    with pytest.raises(ValueError, match="Invalid language `rust`"):
        Timer("x", language="rust")
    for language in (Language.CPP, "c++"):
        with pytest.raises(NotImplementedError, match="C.. is not timed"):
            Timer("x", language=language)
    for call in ("repeat", "autorange", "collect_callgrind"):
        with pytest.raises(NotImplementedError, match="Timer"):
            getattr(Timer(), call)()
    with pytest.raises(ValueError, match="Expected an instance of `Measurement`, got <class 'int'> instead."):
        Compare([1])


def test_a_table(capsys):
    tasks = [TaskSpec(f"f({n})", "pass", label="f", sub_label=f"n = {n}", description=kind)
             for n, kind in ((1, "old"), (1, "new"), (10, "old"))]
    measured = [Measurement(1, [t, 3 * t], task) for t, task in zip((1e-3, 2e-3, 8e-3), tasks, strict=True)]
    Compare(measured).print()
    assert capsys.readouterr().out.splitlines() == [
        "[------------ f ------------]",
        "              |  old   |  new",
        "1 threads: ------------------",
        "      n = 1   |   2.0  |  4.0",
        "      n = 10  |  16.0  |     ",
        "", "Times are in milliseconds (ms).", ""]
    merged = Measurement.merge([measured[0], measured[1], measured[0]])
    assert [len(m.times) for m in merged] == [4, 2] and merged[0].task_spec == tasks[0]


def test_figures():
    assert benchmark.trim_sigfig(1234.5, 2) == 1200 and benchmark.select_unit(2e-5) == ("us", 1e-6)
    assert benchmark.unit_to_english("ms") == "millisecond" and benchmark.ordered_unique("abca") == ["a", "b",
                                                                                                     "c"]
    before = torch.get_num_threads()
    with benchmark.set_torch_threads(before + 1):
        assert torch.get_num_threads() == before + 1
    assert torch.get_num_threads() == before

"""The profiler: what it counts and times, its table, its files, its schedule."""

import gzip
import json

import pytest

import jaxflow as torch
from jaxflow.autograd import profiler as old
from jaxflow.profiler import ProfilerActivity, profile, record_function, schedule, tensorboard_trace_handler


@pytest.fixture
def work():
    """A function that runs three named operations, and their backward, in a region."""
    x = torch.randn(8, 8).requires_grad_()

    def run():
        x.grad = None
        with record_function("forward"):
            y = (x @ x).tanh().sum()
        y.backward()

    run()
    torch.flush()
    return run


def by_key(averages):
    return {e.key: e for e in averages}


@pytest.mark.usefixtures("compiled")
def test_operations_are_counted_and_timed(executor, work):
    with profile() as prof:
        work()
        work()
    found = by_key(prof.key_averages())
    assert found["tanh"].count == found["mm"].count == found["tanh_vjp"].count == 2
    region = found["forward"]
    inside = sum(found[name].cpu_time_total for name in ("mm", "tanh", "sum"))
    assert region.count == 2 and region.is_user_annotation
    assert region.cpu_time_total >= inside > 0
    assert region.self_cpu_time_total == pytest.approx(region.cpu_time_total - inside)
    total = prof.key_averages().total_average()
    assert total.self_cpu_time_total == pytest.approx(prof.events().self_cpu_time_total)
    programs = [e for e in found.values() if e.key.startswith("program [")]
    if executor == "eager":
        assert not programs and found["mm"].device_time_total > 0
    else:
        assert programs[0].device_time_total > 0 == found["mm"].device_time_total


def test_runs_under_way_before_are_told_apart():
    with torch.execution("eager"):
        x = torch.randn(300, 300)
        for _ in range(5):
            x @ x  # still computing, for nobody
        with profile() as prof:
            x @ x
        found = by_key(prof.key_averages())
        assert found["mm"].count == 1 and found["mm"].device_time_total > 0


def test_nothing_is_watched_outside(executor, work):
    with profile() as prof:
        pass
    work()
    assert len(prof.events()) == 0 and "mm" not in by_key(prof.key_averages())
    with old.profile(enabled=False) as nothing:
        work()
    assert nothing is None


@pytest.mark.usefixtures("compiled")
def test_the_table(work):
    with profile(record_shapes=True, with_stack=True) as prof:
        work()
    averages = prof.key_averages(group_by_input_shape=True)
    table = averages.table(sort_by="cpu_time_total", row_limit=3, header="Title")
    lines = table.splitlines()
    assert lines[1] == "Title" and "Self CPU %" in table and "# of Calls" in table
    assert "Input Shapes" in table and "Self CPU time total:" in lines[-2]
    assert "Device total" in table and "Self device time total:" in lines[-1]
    assert len([line for line in lines if line.rstrip().endswith("]")]) <= 3
    largest = max(averages, key=lambda e: e.cpu_time_total)
    assert largest.key[:40] in table
    assert "[[8, 8], [8, 8]]" in averages.table()
    assert all(f"{unit} " in averages.table(time_unit=unit) for unit in ("us", "ms", "s"))
    assert __file__ in [e for e in prof.events() if e.name == "mm"][0].stack[0]
    with pytest.raises(AttributeError, match="colour"):
        averages.table(sort_by="colour")
    with pytest.raises(ValueError, match="time_unit"):
        averages.table(time_unit="h")


@pytest.mark.usefixtures("compiled")
def test_the_trace_file_opens(executor, work, tmp_path):
    with profile(with_stack=True) as prof:
        prof.add_metadata("who", "test")
        prof.add_metadata_json("numbers", "[1, 2]")
        work()
    prof.export_stacks(tmp_path / "stacks.txt")
    assert "test_profiler.py" in (tmp_path / "stacks.txt").read_text()
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    trace = json.loads((tmp_path / "trace.json").read_text())
    complete = [e for e in trace["traceEvents"] if e.get("ph") == "X"]
    assert {"mm", "tanh", "forward"} <= {e["name"] for e in complete}
    assert all(e["dur"] >= 0 and isinstance(e["ts"], (int, float)) for e in complete)
    assert {"pid", "tid"} <= set(complete[0])
    assert any("hlo_op" in e.get("args", {}) for e in complete)
    with pytest.raises(RuntimeError, match="already saved"):
        prof.export_chrome_trace(str(tmp_path / "again.json"))


def test_a_schedule(executor, work, tmp_path):
    seen = []

    def ready(prof):
        seen.append((prof.step_num, by_key(prof.key_averages())["tanh"].count))
        tensorboard_trace_handler(str(tmp_path / "traces"), "worker", use_gzip=True)(prof)

    with profile(schedule=schedule(wait=1, warmup=1, active=2, repeat=2), on_trace_ready=ready) as prof:
        for _ in range(10):
            work()
            prof.step()
    assert seen == [(4, 2), (8, 2)]
    files = sorted((tmp_path / "traces").iterdir())
    assert len(files) == 2 and all(f.name.startswith("worker.") for f in files)
    names = {e["name"] for e in json.loads(gzip.decompress(files[1].read_bytes()))["traceEvents"]}
    assert {"ProfilerStep#6", "ProfilerStep#7", "tanh"} <= names
    assert by_key(prof.key_averages())["ProfilerStep*"].count == 2
    with profile(schedule=schedule(wait=0, warmup=1, active=1), acc_events=True) as prof:
        for _ in range(4):
            work()
            prof.step()
    assert by_key(prof.key_averages())["tanh"].count == 2


def test_one_at_a_time_and_after_an_error(work):
    with profile(), pytest.raises(RuntimeError, match="already enabled"):
        profile().start()
    with pytest.raises(ZeroDivisionError):
        with profile() as prof:
            work()
            1 // 0
    assert by_key(prof.key_averages())["mm"].count == 1
    with profile() as again:
        work()
    assert by_key(again.key_averages())["mm"].count == 1


def test_the_older_face(work, tmp_path):
    prof = old.profile(use_cpu=True)
    with pytest.raises(RuntimeError, match="didn't finish"):
        prof.table()
    with prof:
        with old.record_function("whole"):
            work()
    assert by_key(prof.key_averages())["whole"].count == 1 and "mm" in str(prof)
    assert prof.self_cpu_time_total > 0 and prof.total_average().count == len(prof.function_events)
    prof.export_chrome_trace(tmp_path / "trace.json")
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    with pytest.raises(RuntimeError, match="not reentrant"):
        prof.__enter__()


def test_record_function_decorates(work):
    @record_function("doubled")
    def double(x):
        """Twice."""
        return x * 2

    assert double.__doc__ == "Twice." and double(torch.ones(1)).item() == 2.0
    with profile(activities=[ProfilerActivity.CPU]) as prof:
        double(double(torch.ones(1)))
    assert by_key(prof.key_averages())["doubled"].count == 2


def test_what_is_not_supported_says_so():
    for option in ("profile_memory", "with_flops", "with_modules"):
        for profiler in (profile, old.profile):
            with pytest.raises(NotImplementedError, match=f"{option}=True"):
                profiler(**{option: True})
    for name in ("emit_nvtx", "emit_itt", "load_nvprof"):
        with pytest.raises(NotImplementedError, match=f"{name} is not supported.*export_chrome_trace"):
            getattr(old, name)()
    with pytest.raises(NotImplementedError, match="configures Kineto"):
        profile(experimental_config=object())
    with pytest.raises(TypeError, match="type str, not int"):
        record_function(3)

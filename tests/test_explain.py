"""What ``jaxflow.explain()`` tells: figures, reasons, and the lines that asked for numbers."""

import inspect
import os
import pathlib
import re
import subprocess
import sys
import threading
from collections import Counter

import pytest

import jaxflow as torch
from jaxflow._core import flags
from jaxflow._exec import explain

pytestmark = pytest.mark.usefixtures("compiled")

ROOT = pathlib.Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def _fresh_figures(monkeypatch):
    """Count from zero; what is compiled already stays known."""
    with torch.execution("deferred"):
        torch.flush()
        monkeypatch.setattr(explain, "_figures", explain._Figures())
        yield


def run_and_why(fn, *args, **kwargs):
    """Run ``fn``; the reasons of what was compiled for it."""
    before = torch.explain()["compilations"]
    fn(*args, **kwargs)
    report = torch.explain()
    new = report["compilations"] - before
    # The report is ordered by runs; entries of new programs are those not known before.
    return [p["why"] for p in report["programs"]][-new:] if new else []


def known(*shape, dtype=None):
    x = torch.ones(*shape, dtype=dtype)
    torch.flush()
    torch.explain()
    return x


def curve(x, k=1, dim=0):
    return ((x * k).exp() + 1).cumsum(dim).tolist()


# ----- figures ------------------------------------------------------------------------------------


def test_figures():
    x = known(13)
    before = torch.explain()
    for _ in range(5):
        curve(x)
    after = torch.explain()
    assert after["runs"] - before["runs"] == 5
    assert after["compilations"] - before["compilations"] == 1
    entry = next(p for p in after["programs"] if p["runs"] == 5)
    assert entry["ops"] == 4 and entry["seconds"] > 0
    assert {"mul", "exp", "add", "cumsum"} == set(entry["name"].split())
    assert entry["line"].startswith(__file__)
    assert after["compile_seconds"] >= entry["seconds"] and after["run_seconds"] > 0


def test_a_report_is_a_copy():
    report = torch.explain()
    report["programs"].append(None)
    report["closed_because"]["x"] = 1
    assert None not in torch.explain()["programs"]
    assert "x" not in torch.explain()["closed_because"]


def test_it_prints_as_a_table():
    x = known(17)
    curve(x)
    text = str(torch.explain())
    assert re.search(r"\d+ programs compiled in \d+\.\d\d s, \d+ runs", text)
    assert "why:" in text and "closed because:" in text and "sync points:" in text
    assert explain.SYNC in text and __file__ in text


def test_eager_operations_are_counted():
    x = known(3)
    before = torch.explain()["eager_ops"]
    with torch.execution("eager"):
        (x * 2 + 1).sum()
    assert torch.explain()["eager_ops"] - before == 3


# ----- reasons ------------------------------------------------------------------------------------


def test_reason_shape_or_dtype():
    curve(known(19))
    (why,) = run_and_why(curve, known(23))
    assert why == "shape or dtype: mul met (float32[23], int), before (float32[19], int)"
    (why,) = run_and_why(curve, known(19, dtype=torch.float64))
    assert why.startswith("shape or dtype: mul met (float64[19], int), before (float32[")


def test_reason_kind_of_number():
    curve(known(29), 2)
    (why,) = run_and_why(curve, known(29), 2.5)
    assert why == "shape or dtype: mul met (float32[29], float), before (float32[29], int)"


def test_reason_static_arguments():
    curve(known(31, 2), dim=0)
    (why,) = run_and_why(curve, known(31, 2), dim=1)
    assert why == "static arguments of cumsum changed"


def test_reason_liveness():
    def work(x, kept=None):
        a = x * 3
        if kept is not None:
            kept.append(a)
        b = a + 1
        del a
        return b.sum().item()

    x = known(37)
    work(x)
    (why,) = run_and_why(lambda: work(x, []))
    assert why == "liveness: 1 more result(s) are still referred to than before"
    assert run_and_why(lambda: work(x, [])) == [] and run_and_why(lambda: work(x)) == []


def test_reason_new_sequence():
    x = known(41)
    curve(x)
    (why,) = run_and_why(lambda: (x.erf() - x.atan()).prod().item())
    assert why == "new sequence of operations"


def test_why_closed():
    x = known(43)
    before = Counter(torch.explain()["closed_because"])
    y = x * 2
    torch.flush()
    z = y + 1
    z.tolist()
    after = Counter(torch.explain()["closed_because"])
    assert after - before == {explain.ASKED: 1, explain.SYNC: 1}


# ----- sync points --------------------------------------------------------------------------------


def line_of(offset):
    frame = inspect.currentframe().f_back
    return f"{__file__}:{frame.f_lineno + offset}"


@pytest.mark.parametrize(
    "read", [lambda t: t.item(), float, bool, lambda t: t.tolist(), repr, lambda t: t.numpy()]
)
def test_sync_points_are_source_lines(read):
    x = known(47)
    here = None
    for _ in range(3):
        total = (x * 2).sum()
        here = f"{__file__}:{read.__code__.co_firstlineno}" if inspect.isfunction(read) else None
        if here is None:
            here = line_of(1)
            read(total)
        else:
            read(total)
    assert torch.explain()["syncs"] == {here: 3}


def test_an_if_is_a_sync_point():
    x = known(3)
    y = x * 2
    here = line_of(1)
    if (y > 0).all():
        y = y + 1
    assert torch.explain()["syncs"] == {here: 1}


def test_reading_what_is_known_is_no_sync():
    y = known(3) * 2
    torch.flush()
    y.tolist()
    assert torch.explain()["syncs"] == {}


# ----- bounds and threads -------------------------------------------------------------------------


def test_figures_are_bounded(monkeypatch):
    monkeypatch.setattr(explain, "_MAX_LINES", 3)
    figures = explain._figures
    entry = explain.compiled("x", 1, "first program", 0.0, "file.py:1")
    for i in range(10):
        monkeypatch.setattr(explain, "user_line", lambda i=i: f"file:{i}")
        explain.ran(entry, explain.SYNC, 0.0)
    syncs = torch.explain()["syncs"]
    assert syncs == {"file:0": 1, "file:1": 1, "file:2": 1, explain.OTHER_LINES: 7}
    for _ in range(figures.programs.maxlen + 5):
        explain.compiled("x", 1, "why", 0.5, "file.py:1")
    report = torch.explain()
    assert len(report["programs"]) == figures.programs.maxlen
    assert report["compilations"] == figures.programs.maxlen + 6
    assert "older programs" in str(report)


def test_no_count_is_lost_between_threads():
    entry = explain.compiled("x", 1, "why", 0.0, "file.py:1")

    def work():
        for _ in range(2000):
            explain.ran(entry, explain.SYNC, 0.001)
            explain.ran_eagerly()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=work) for _ in range(8)]
    try:
        for t in threads:
            t.start()
        for _ in range(20):
            str(torch.explain())
        for t in threads:
            t.join()
    finally:
        sys.setswitchinterval(interval)
    report = torch.explain()
    assert report["runs"] == entry["runs"] == report["eager_ops"] == 16000
    assert sum(report["syncs"].values()) == 16000


# ----- environment variables ----------------------------------------------------------------------


def start(code, tmp_path, **environment):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True,
        env={**os.environ, "JAXFLOW_CACHE_DIR": str(tmp_path), "JAXFLOW_INTERPRET": "0", **environment},
    )


def test_it_is_printed_at_exit(tmp_path):
    code = "import jaxflow as torch; print((torch.ones(3) * 2).sum().item())"
    done = start(code, tmp_path, JAXFLOW_EXPLAIN="1")
    assert done.stdout.strip() == "6.0"
    assert "1 programs compiled" in done.stderr and "<string>:1" in done.stderr


CACHE = """
import jax
from collections import Counter
seen = Counter()
jax.monitoring.register_event_listener(lambda event, **_: seen.update([event.rsplit("/", 1)[-1]]))
import jaxflow as torch
x = torch.tensor([1.0, 2.0])
print((x.tanh() * 3 + 1).sum().item(), seen["cache_hits"], seen["cache_misses"])
"""


def test_the_second_start_loads_what_the_first_compiled(tmp_path):
    first = start(CACHE, tmp_path).stdout.split()
    assert first[1] == "0" and int(first[2]) >= 1
    assert any(tmp_path.iterdir())
    second = start(CACHE, tmp_path).stdout.split()
    assert second[0] == first[0] and int(second[1]) >= 1 and second[2] == "0"


def test_the_cache_can_be_switched_off(tmp_path):
    assert start(CACHE, tmp_path, JAXFLOW_CACHE="0").stdout.split()[1:] == ["0", "0"]
    assert not any(tmp_path.iterdir())


def test_where_the_cache_lies(monkeypatch):
    for name in ("JAXFLOW_CACHE", "JAXFLOW_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert flags.cache_dir() == str(pathlib.Path.home() / ".cache" / "jaxflow" / "xla")
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    assert flags.cache_dir() == "/elsewhere/jaxflow/xla"
    assert flags.cache_dir("/named/for/jax") == "/named/for/jax"
    monkeypatch.setenv("JAXFLOW_CACHE_DIR", "/here")
    assert flags.cache_dir() == flags.cache_dir("/named/for/jax") == "/here"
    monkeypatch.setenv("JAXFLOW_CACHE", "0")
    assert flags.cache_dir() is flags.cache_dir("/named/for/jax") is None


def test_without_a_home_there_is_no_cache(monkeypatch):
    for name in ("JAXFLOW_CACHE", "JAXFLOW_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(os, "getuid", lambda: 123456789)
    assert flags.cache_dir() is None
    assert flags.cache_dir("/named/for/jax") == "/named/for/jax"


def test_every_environment_variable_is_documented():
    """In docs/flags.md and in flags.py, whoever reads it."""
    pattern = re.compile(r"\bJAXFLOW_[A-Z_]+\b")
    used = {
        name for path in (ROOT / "jaxflow").rglob("*.py")
        for name in pattern.findall(path.read_text(encoding="utf-8"))
    }
    documented = set(pattern.findall((ROOT / "docs" / "flags.md").read_text(encoding="utf-8")))
    assert used and used == documented == set(pattern.findall(flags.__doc__))

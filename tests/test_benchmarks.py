"""The benchmarks' rows hang together, and their contenders that need no PyTorch agree."""

import gc
import math

import pytest

import jaxflow
from benchmarks import report, session, small, suite, targets
from benchmarks.contenders import BY_HAND, COMPILE, CONTENDERS, DEFERRED, EAGER, PYTORCH
from benchmarks.models.task import Task
from benchmarks.workloads import WORKLOADS

SHAPES = {"0.weight": (32, 64), "0.bias": (32,), "2.weight": (10, 32), "2.bias": (10,)}


def test_every_row_names_what_there_is():
    for row in WORKLOADS.values():
        assert issubclass(session.resolve(row.task), (Task, small.Nothing))
        assert session.resolve(row.program)
        if row.by_hand is not None:
            assert session.resolve(f"by_hand.{row.by_hand_program}")
            assert session.resolve(f"by_hand.{row.by_hand}").task is session.resolve(row.task)


def test_every_target_is_of_a_workload_and_contenders():
    for workload, contender, other, most in targets.ALL:
        assert workload in WORKLOADS
        assert contender in CONTENDERS and other in CONTENDERS
        assert most > 0


@pytest.mark.parametrize("name", ["mlp-tiny", "mlp-tiny-forward"])
def test_contenders_agree(name, executor):
    numbers = []
    for contender in (DEFERRED, BY_HAND):
        made = session.Session(contender)
        made.open(name, shapes=SHAPES)
        numbers.append(made.do("numbers"))
        assert made.do("measure", steps=2) > 0
    assert suite.difference(*numbers) <= WORKLOADS[name].tolerance


def test_numbers_that_do_not_agree_are_noticed():
    assert suite.difference([1.0, 2.0], [1.0, 2.2]) == pytest.approx(0.1)
    assert suite.difference([1.0], [float("nan")]) == float("inf")
    assert suite.difference([1.0], [1.0, 1.0]) == float("inf")


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("contender", [DEFERRED, COMPILE, BY_HAND])
def test_the_memory_of_a_step_is_found(contender):
    made = session.Session(contender)
    made.open("mlp-tiny", shapes=SHAPES)
    made.do("numbers")
    made.do("measure", steps=4)
    gc.collect()  # arrays of earlier tests that went in the middle would be missing at the peak
    found = made.do("memory")
    weights = sum(4 * math.prod(shape) for shape in SHAPES.values())
    assert found["peak"] - found["state"] >= weights // 2 and found["state"] >= weights
    assert found["resident"] > found["peak"]


def test_shapes_by_name_need_no_memory():
    made = session.Session(EAGER)
    made.open("mlp-tiny")
    shapes = made.do("shapes")
    assert {name: tuple(shape) for name, shape in shapes.items()} == SHAPES


def test_a_compile_that_is_missing_is_said(monkeypatch):
    monkeypatch.delattr(jaxflow, "compile", raising=False)
    with pytest.raises(session.LeftOut, match="jaxflow has no compile"):
        session.Session(COMPILE).open("mlp-tiny")


def test_the_report_says_what_is_reached(tmp_path):
    fast = {"median": 0.5, "low": 0.4, "high": 0.6}
    slow = {"median": 1.0, "low": 0.9, "high": 1.1}
    results = {
        "mlp": {PYTORCH: slow, DEFERRED: fast, COMPILE: {"left_out": "no reason"}},
        "cnn": {PYTORCH: fast, DEFERRED: slow},
    }
    page = report.suite(results, 3, tmp_path, ["what failed"], {"quick": True})
    assert page == (tmp_path / "suite.md").read_text()
    assert "1 of 2 reached" in page
    assert "| cnn | jaxflow deferred | PyTorch eager | 1.00 | 2.00 | not reached |" in page
    assert "left out: no reason" in page
    assert "what failed" in page
    assert (tmp_path / "suite.json").exists() and (tmp_path / "suite.png").exists()

"""Tables and measurements written as PyTorch writes them."""

import itertools

import numpy as np
import pytest
import torch.utils.benchmark as theirs

import jaxflow.utils.benchmark as ours


def measurements(library, seed, spread, envs=(None,)):
    rng = np.random.default_rng(seed)
    found = []
    for env, threads, sub, description in itertools.product(envs, (1, 4), ("first", None, "third one"),
                                                            ("small", "big")):
        if rng.random() < 0.15:
            continue
        task = library.TaskSpec(f"f(x, {threads})", "x = 1", label="f" if rng.random() < 0.8 else "g",
                                sub_label=sub, description=description, env=env, num_threads=threads)
        base = 10 ** rng.uniform(-5, -3)
        for _ in range(rng.integers(1, 3)):
            found.append(library.Measurement(100, (100 * base * rng.uniform(1, spread, 5)).tolist(), task))
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("options", [(), ("trim_significant_figures",), ("colorize",),
                                     ("highlight_warnings",), ("trim_significant_figures",
                                                               "highlight_warnings", "colorize")])
def test_tables(seed, options):
    texts = []
    for library in (ours, theirs):
        compare = library.Compare(measurements(library, seed, 1.02 + seed / 5, ((None,), ("a",
                                                                                          "long"))[seed % 2]))
        for option in options:
            getattr(compare, option)()
        if "colorize" in options and seed % 2:
            compare.colorize(rowwise=True)
        texts.append(str(compare))
    assert texts[0] == texts[1]


@pytest.mark.parametrize("task", [
    dict(stmt="f(x)", setup="pass"), dict(stmt="f(x)\ng(x)", setup="x = 1", sub_label="sub"),
    dict(stmt="f(x)", setup="x = 1\ny = 2", label="label", sub_label="sub", description="words",
         num_threads=3),
])
@pytest.mark.parametrize("times", [[2.5e-3], [1.0, 1.01], [1e-6, 1.1e-6, 1.2e-6, 2e-6], [3e-8] * 9, [5.0, 6,
                                                                                                     7, 8,
                                                                                                     9]])
def test_measurements(task, times):
    mine, expected = (library.Measurement(10, times, library.TaskSpec(**task)) for library in (ours, theirs))
    assert repr(mine).splitlines()[1:] == repr(expected).splitlines()[1:]
    for name in ("median", "mean", "iqr", "significant_figures", "has_warnings", "title", "as_row_name",
                 "label", "env", "stmt", "num_threads", "times"):
        assert getattr(mine, name) == pytest.approx(getattr(expected, name), rel=1e-12) if isinstance(
            getattr(expected, name), float) else getattr(mine, name) == getattr(expected, name), name


def test_figures():
    for x, n in itertools.product((1234.5678, 0.00123456, 9.996, 100.0, -3.14159), (1, 2, 4)):
        assert ours.trim_sigfig(x, n) == pytest.approx(theirs.trim_sigfig(x, n), rel=1e-6)
    for x in (3e-10, 1.5e-9, 2e-7, 2e-6, 1e-3, 0.02, 3.0, 4e5):
        assert ours.select_unit(x) == theirs.select_unit(x)
    with pytest.raises(ValueError) as expected:
        theirs.Compare([1])
    with pytest.raises(ValueError) as found:
        ours.Compare([1])
    assert str(found.value) == str(expected.value)

"""The examples run, learn, resume where they stopped, and are one line away from PyTorch."""

import importlib
import os
import pathlib
import re
import subprocess
import sys

import jax
import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples"
NAMES = ("char_gpt", "mlp_digits", "cnn")
SMALL_GPT = "--layers 1 --heads 2 --width 32 --block 16 --warmup 10 --sample 20"


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """``run(name, "--flags ...")`` gives what the example's main returns, and what it prints."""
    monkeypatch.syspath_prepend(EXAMPLES)

    def run(name, flags="", out="out"):
        main = importlib.import_module(name).main
        capsys.readouterr()
        result = main([*flags.split(), "--out", str(tmp_path / out)])
        return result, capsys.readouterr().out

    return run


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("".join(f"{i} and {i + 1} make {2 * i + 1}.\n" for i in range(3000)))
    return path


@pytest.mark.parametrize("name", NAMES)
def test_one_line_away_from_pytorch(name):
    code = re.sub(r'""".*?"""', "", (EXAMPLES / f"{name}.py").read_text(), flags=re.S)
    lines = [line for line in code.splitlines() if "jaxflow" in line]
    assert lines == ["import jaxflow as torch  # isort: skip"]


def test_gpt_learns_more_than_bigrams(run, text, tmp_path):
    flags = f"{SMALL_GPT} --text {text} --steps 200 --eval-every 100 --lr 5e-3 --dropout 0.0"
    history, printed = run("char_gpt", flags)
    reported = re.search(r"validation loss ([\d.]+), a bigram model's ([\d.]+)", printed)
    loss, bigram = map(float, reported.groups())
    assert loss < 0.8 * bigram
    assert loss == pytest.approx(history["validation"][-1][1], abs=1e-4)
    assert (tmp_path / "out" / "loss.png").stat().st_size > 1000


def test_gpt_runs(executor, run, text):
    history, printed = run("char_gpt", f"{SMALL_GPT} --text {text} --steps 4 --eval-every 2")
    assert [step for step, _ in history["validation"]] == [2, 4]
    assert "4/4" in printed


def test_resumed_gpt_is_the_run_it_would_have_been(executor, run, text):
    flags = f"{SMALL_GPT} --text {text} --steps 8 --log-every 1 --eval-every 4"
    whole, _ = run("char_gpt", flags, out="whole")
    run("char_gpt", f"{flags} --stop-at 4", out="parts")
    parts, printed = run("char_gpt", f"{flags} --resume", out="parts")
    assert "resuming after step 4" in printed
    for curve in ("training", "validation"):
        steps, values = zip(*whole[curve])
        again = dict(parts[curve])
        assert [again[step] for step in steps] == pytest.approx(values, rel=1e-5)


def test_mlp_reads_digits(run):
    accuracy, _ = run("mlp_digits")
    assert accuracy >= 0.97


def test_mlp_resumes(executor, run):
    run("mlp_digits", "--epochs 1 --hidden 16")
    _, printed = run("mlp_digits", "--epochs 2 --hidden 16 --resume")
    assert "resuming after epoch 1" in printed


def test_cnn_reads_digits(run):
    accuracy, _ = run("cnn", "--steps 200")
    assert accuracy >= 0.97


def test_cnn_resumes(executor, run):
    run("cnn", "--steps 2 --channels 4")
    _, printed = run("cnn", "--steps 4 --channels 4 --resume")
    assert "resuming after step 2" in printed


def test_optax_trains_a_module(run, tmp_path):
    with jax.numpy_dtype_promotion("standard"):  # optax leaves casts to jax
        accuracy, _ = run("optax_mlp", "--epochs 20 --hidden 64")
    assert accuracy >= 0.95
    assert (tmp_path / "out" / "model.pt").exists()


def test_runs_as_a_script_and_says_what_is_missing(tmp_path):
    """From any folder, without Matplotlib: the run goes through and says why no picture came."""
    (tmp_path / "matplotlib.py").write_text("raise ImportError('not installed')")
    done = subprocess.run(
        [sys.executable, EXAMPLES / "mlp_digits.py", "--epochs", "1", "--out", "here"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{EXAMPLES.parent}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "pip install matplotlib" in done.stdout
    assert (tmp_path / "here" / "checkpoint.pt").exists()


def test_resume_without_a_checkpoint_says_so(run):
    with pytest.raises(SystemExit, match=r"nothing to resume: there is no .*checkpoint\.pt"):
        run("cnn", "--resume")

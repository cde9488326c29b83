"""The report of a machine."""

import re
import subprocess
import sys

import numpy as np

from jaxflow.utils import collect_env


def test_report(monkeypatch):
    assert collect_env._cpu()
    monkeypatch.setattr(collect_env, "_cpu", lambda: "two processors")  # lscpu says how fast they are now
    found = collect_env.get_env_info()
    text = collect_env.pretty_str(found)
    assert re.search(r"^PyTorch version: jaxflow \S+ \(jax \S+, jaxlib \S+\)$", text, re.M)
    assert "\nCPU:\ntwo processors\n" in text and f"[pip3] numpy=={np.__version__}" in text
    assert "Is CUDA available: False" in text
    assert f"Python version: {sys.version.split()[0]}" in text
    assert all(isinstance(field, str) for field in found) and collect_env.get_pretty_env_info() == text


def test_commands():
    assert collect_env.run([sys.executable, "-c", "print(3)"]) == (0, "3", "")
    assert collect_env.run([sys.executable, "-c", "raise SystemExit('x')"]) == (1, "", "x")
    assert collect_env.run(["no-such-command"])[0] == 127
    assert collect_env._first("no-such-command") == "Could not collect"


def test_it_is_run_as_a_program():
    done = subprocess.run([sys.executable, "-m", "jaxflow", "-m", "torch.utils.collect_env"],
                          capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Collecting environment information...\nPyTorch version: jaxflow ")

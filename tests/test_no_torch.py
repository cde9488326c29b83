"""jaxflow needs its declared dependencies and nothing else; above all not PyTorch."""

import importlib.metadata
import os
import pathlib
import re
import subprocess
import sys
import tomllib
import venv

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent

PROGRAM = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "torch":
            raise ImportError("the package asked for torch")

sys.meta_path.insert(0, Refuse())
import jaxflow as torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
losses = []
for _ in range(3):
    loss = torch.nn.functional.mse_loss(model(torch.ones(2, 3)), torch.zeros(2, 1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses[2] < losses[0], losses
assert "torch" not in sys.modules
print("trained")
"""


def trained(python, **environment):
    done = subprocess.run(
        [python, "-W", "error", "-c", PROGRAM],
        env={**os.environ, **environment},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout == "trained\n"


@pytest.mark.parametrize("execution", ["deferred", "eager"])
def test_trains_where_torch_cannot_be_imported(execution):
    assert trained(sys.executable, PYTHONPATH=str(ROOT), JAXFLOW_EXECUTION=execution)


def requirements():
    """Names of the distributions that jaxflow's declared dependencies come to."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found, waiting = set(), list(project["dependencies"])
    while waiting:
        requirement = waiting.pop()
        name = re.match(r"[\w.-]+", requirement)[0].lower().replace("_", "-")
        if name not in found and "extra ==" not in requirement:
            found.add(name)
            waiting += importlib.metadata.requires(name) or []
    return found


def test_trains_in_an_environment_of_its_dependencies_only(tmp_path):
    """A fresh virtual environment, given the installed copies of the declared dependencies."""
    venv.create(tmp_path, with_pip=False, symlinks=True)
    site = next(tmp_path.glob("lib/python*/site-packages"))
    for name in requirements():
        distribution = importlib.metadata.distribution(name)
        for top in {file.parts[0] for file in distribution.files} - {"..", "__pycache__"}:
            (site / top).symlink_to(distribution.locate_file(top))
    (site / "jaxflow").symlink_to(ROOT / "jaxflow")
    assert trained(tmp_path / "bin" / "python", PYTHONPATH="")

"""Programs of the package index, run unmodified; `make programs` runs all of `docs/programs.md`."""

import subprocess

import pytest

from .programs import page
from .programs.obtain import COPIES, obtain
from .programs.program import Program, listed, programs
from .programs.run import different, run

ROWS = {row.name: row for row in programs()}


@pytest.mark.parametrize("name", [row.name for row in ROWS.values() if row.source.startswith("pypi:")])
def test_it_runs_as_on_pytorch(name, tmp_path):
    assert run(ROWS[name], tmp_path).wrong == ""


def test_differences_are_seen():
    assert different("loss 1.0001\ndone", "loss  1.0\ndone", 1e-3) == ""
    assert different("loss 1.0001", "loss 1.0", 1e-5) == "line 1: 'loss 1.0001', in PyTorch 'loss 1.0'"
    assert different("loss 7", "loss 1", None) == "" != different("lost 7", "loss 1", None)
    assert different("nan inf", "nan inf", 1e-3) == "" != different("nan", "1", 1e-3)
    assert different("<C at 0x7f1a>", "<C at 0x5>", 1e-3) == "" != different("0x7 a", "0x8", None)
    assert different("a\nb", "a", None) == "line 2: 'b', in PyTorch '(no line)'"


def test_the_name_of_a_set_stands_for_its_packages():
    sets = {"few": ["a==1", "b==2"], "more": ["c==3", "few"]}
    assert listed(["b==2", "more", "d"], sets) == ("b==2", "c==3", "a==1", "d")
    assert all("==" in package for row in ROWS.values() if row.name.startswith("transformers")
               for package in row.packages)


def test_the_page_is_printed_from_the_rows():
    text, found = page.PAGE.read_text(encoding="utf-8"), page.results()
    assert set(found) <= {row.name for row in ROWS.values() if not row.waits}
    for row in ROWS.values():
        assert page.line(row, found.get(row.name)) in text
    assert text.count("\n| `") == len(ROWS)


def test_single_files_of_a_commit(tmp_path, monkeypatch):
    repository = tmp_path / "copies" / "owner+name" / "repo"
    (repository / "deep").mkdir(parents=True)
    for path, text in (("deep/a.py", "first"), ("b.py", "other")):
        (repository / path).write_text(text)

    def git(*arguments):
        done = subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments],
                              cwd=repository, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message", "one")
    commit = git("rev-parse", "HEAD")
    (repository / "deep/a.py").write_text("changed")
    monkeypatch.setenv(COPIES, str(tmp_path / "copies"))
    source = f"https://github.com/owner/name@{commit}"
    program = Program("p", "a.py", source=source, files=("deep/a.py",), folder="deep")
    folder = obtain(program, tmp_path / "cache")
    assert [(p.name, p.read_text()) for p in folder.iterdir()] == [("a.py", "first")]
    assert [p.name for p in folder.parent.iterdir()] == ["deep"]
    with pytest.raises(OSError, match=r"no\.py"):
        obtain(Program("p", "no.py", source=source, files=("no.py",)), tmp_path / "cache")

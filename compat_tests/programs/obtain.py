"""Getting a program: a commit of a repository, files of one, or a source archive of the package index."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import urllib.request

from .program import Program

#: A folder with copies of repositories, ``owner+name``, that are used in place of the address.
COPIES = "JAXFLOW_PROGRAMS_FROM"


def obtain(program: Program, cache: pathlib.Path) -> pathlib.Path:
    """A fresh folder with the program, in which it may write.

    Raises:
        OSError: where it cannot be had.
    """
    work = cache / "work" / program.name
    shutil.rmtree(work, ignore_errors=True)
    if program.files:
        for path in program.files:
            (work / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(_file(program.source, path, cache), work / path)
    elif program.source:
        shutil.copytree(_source(program.source, cache), work, symlinks=True)
    else:
        work.mkdir(parents=True)
    return work / program.folder


def _source(source: str, cache: pathlib.Path) -> pathlib.Path:
    kept = cache / "sources" / _key(source)
    if source.startswith("pypi:"):
        kept = cache / "sources" / source.removeprefix("pypi:")
    if not kept.exists():
        new = kept.with_name(kept.name + ".new")
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(parents=True)
        (_archive if source.startswith("pypi:") else _repository)(source, new)
        new.rename(kept)
    return kept


def _file(source: str, path: str, cache: pathlib.Path) -> pathlib.Path:
    """One file of a repository that is too large to be had whole."""
    kept = cache / "files" / _key(source) / path
    if not kept.exists():
        address, _, commit = source.rpartition("@")
        copy = _copy(address)
        if copy:
            content = _run(["git", "show", f"{commit}:{path}"], copy)
        else:
            raw = address.replace("//github.com/", "//raw.githubusercontent.com/")
            with urllib.request.urlopen(f"{raw}/{commit}/{path}") as answer:
                content = answer.read()
        kept.parent.mkdir(parents=True, exist_ok=True)
        new = kept.with_name(kept.name + ".new")
        new.write_bytes(content)
        new.rename(kept)
    return kept


def _key(source: str) -> str:
    return source.partition("://")[2].replace("/", "+").replace(":", "+")


def _copy(address: str) -> pathlib.Path | None:
    """The copy of a repository in the folder that is named for it, if there is one."""
    copy = pathlib.Path(os.environ.get(COPIES, ""), "+".join(address.split("/")[-2:]), "repo")
    return copy if COPIES in os.environ and copy.exists() else None


def _repository(source: str, folder: pathlib.Path) -> None:
    address, _, commit = source.rpartition("@")
    _run(["git", "clone", "--quiet", "--no-checkout", str(_copy(address) or address), "."], folder)
    _run(["git", "checkout", "--quiet", commit], folder)


def _archive(source: str, folder: pathlib.Path) -> None:
    _run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary=:all:",
          source.removeprefix("pypi:"), "--dest", "archive"], folder)
    (archive,) = (folder / "archive").iterdir()
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    (inside,) = (p for p in folder.iterdir() if p.name != "archive")
    for path in list(inside.iterdir()):
        path.rename(folder / path.name)


def packages(program: Program, cache: pathlib.Path) -> list[str]:
    """Folders for ``PYTHONPATH`` that hold the packages that a program imports."""
    found = []
    for name in program.packages:
        # By this name dill sees that a module is a package's, and pickles its name instead of its content.
        folder = cache / "site-packages" / name.replace("/", "+")
        if not folder.exists():
            new = folder.with_name(folder.name + ".new")
            shutil.rmtree(new, ignore_errors=True)
            _run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(new), name],
                 cache)
            new.rename(folder)
        found.append(str(folder))
    return found


def _run(command: list[str], folder: pathlib.Path) -> bytes:
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    if done.returncode:
        raise OSError(f"{' '.join(command)}: {done.stderr.decode(errors='replace').strip()[-500:]}")
    return done.stdout

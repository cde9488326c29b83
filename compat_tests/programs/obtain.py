"""Getting a program: a commit of a repository, or a source archive of the package index."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import tarfile

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
    if program.source:
        shutil.copytree(_source(program.source, cache), work, symlinks=True)
    else:
        work.mkdir(parents=True)
    return work / program.folder


def _source(source: str, cache: pathlib.Path) -> pathlib.Path:
    kept = cache / "sources" / source.partition("://")[2].replace("/", "+").replace(":", "+")
    if source.startswith("pypi:"):
        kept = cache / "sources" / source.removeprefix("pypi:")
    if not kept.exists():
        new = kept.with_name(kept.name + ".new")
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(parents=True)
        (_archive if source.startswith("pypi:") else _repository)(source, new)
        new.rename(kept)
    return kept


def _repository(source: str, folder: pathlib.Path) -> None:
    address, _, commit = source.rpartition("@")
    copy = pathlib.Path(os.environ.get(COPIES, ""), "+".join(address.split("/")[-2:]), "repo")
    if COPIES in os.environ and copy.exists():
        address = str(copy)
    _run(["git", "clone", "--quiet", "--no-checkout", address, "."], folder)
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
        folder = cache / "packages" / name.replace("/", "+")
        if not folder.exists():
            new = folder.with_name(folder.name + ".new")
            shutil.rmtree(new, ignore_errors=True)
            _run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(new), name],
                 cache)
            new.rename(folder)
        found.append(str(folder))
    return found


def _run(command: list[str], folder: pathlib.Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"{' '.join(command)}: {done.stderr.strip()[-500:]}")

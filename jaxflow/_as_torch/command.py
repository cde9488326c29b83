"""The command line: ``python -m jaxflow [options] (script.py | -m module | -c code | -) arguments``."""

from __future__ import annotations

import atexit
import os
import sys

import jaxflow
from jaxflow._core.state import state

from . import running
from .install import install

USAGE = """\
usage: python -m jaxflow [options] script.py [arguments]
       python -m jaxflow [options] -m module [arguments]
       python -m jaxflow [options] -c code [arguments]
       python -m jaxflow [options] - [arguments]         (the program is read from standard input)
       python -m jaxflow --check script_or_folder ...
       python -m jaxflow                                  (versions, devices, the cache of compiled programs)

Runs a program that is written for PyTorch, unchanged: "import torch" gives jaxflow, in the program, in what
it imports, and in the processes that it starts with this Python. PyTorch need not be installed, and is not
used where it is. Exit status, sys.argv, sys.path and __main__ are those of "python script.py".

options:
  --eager     run every operation by itself, where it is called; slower, and errors are raised at their line
  --explain   say at the end what was compiled, why, and where the program waited for numbers
  --check     do not run anything: list every name of torch that the files use and jaxflow lacks or treats
              differently, with file and line; exit status 1 if there is one
  --help      show this

environment:
  JAX_PLATFORMS=cpu     compute on the CPU, whatever accelerators there are
  JAXFLOW_CACHE_DIR     where compiled programs are kept between runs
  JAXFLOW_CACHE=0       keep none
"""


def main(argv: list[str]) -> int:
    """Run the command line without ``python -m jaxflow``; returns the exit status."""
    options, rest = [], list(argv)
    while rest and rest[0].startswith("--") and len(rest[0]) > 2:
        option = rest.pop(0)
        if option == "--help":
            print(USAGE, end="", file=sys.stdout)
            return 0
        if option == "--check":
            from .checking import main as check

            return check(rest)
        if option not in ("--eager", "--explain"):
            print(f"python -m jaxflow: unknown option {option}; --help shows those that there are",
                  file=sys.stderr)
            return 2
        options.append(option)
    if rest and rest[0] == "-h":
        print(USAGE, end="", file=sys.stdout)
        return 0
    if not rest:
        from .describing import describe

        print(describe(), file=sys.stdout)
        return 0
    install()
    if "--explain" in options:
        atexit.register(lambda: print(jaxflow.explain(), file=sys.stderr))
    if "--eager" in options:
        os.environ["JAXFLOW_EXECUTION"] = "eager"  # of the processes that it starts
        type(state).eager = True  # of all threads that choose no other
    return running.run(rest)

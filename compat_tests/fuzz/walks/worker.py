"""The programs of a walk, one after the other, in a process of their own.

Some calls end the process on PyTorch (a segmentation fault, a division by zero). So a message names each
before it runs and another gives its result, and the walk goes on after the one that gave none.
"""

import dataclasses
import multiprocessing
import warnings

from compat_tests import setting  # noqa: F401  before jaxflow is imported

from .. import machine
from .programs import WALKS


@dataclasses.dataclass(frozen=True)
class Step:
    """A program that was run: what to print of it, and the kind of its difference, if there is any."""

    line: str = ""
    kind: str | None = None
    crashed: bool = False


def steps(options, work=None):
    """The `Step` of each program; of one that ends the process its name only."""
    context = multiprocessing.get_context("spawn")
    begun = 0
    while True:
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=work or run, args=(theirs, options, begun), daemon=True)
        process.start()
        theirs.close()
        name = None
        try:
            while (message := ours.recv()) is not None:
                if isinstance(message, Step):
                    yield message
                    name = None
                else:
                    begun, name = message
        except EOFError:
            process.join()
            if name is None:
                raise RuntimeError(f"the process ended between programs: {process.exitcode}") from None
            yield Step(f"ends-the-process {name} | exit code {process.exitcode}", crashed=True)
            continue
        process.join()
        return


def run(pipe, options, begun):
    """Run the programs behind the first ``begun``; sends ``(count, name)`` and a `Step` of each, and None."""
    warnings.simplefilter("ignore")
    subjects, walk = WALKS[options["walk"]]
    part, parts = options["part"]
    chosen = [x for x in subjects() if not options["names"] or x.partition("/")[0] in options["names"]]
    found = walk(chosen[part - 1::parts], options["dtypes"], options["seed"])
    for count, (name, build) in enumerate(found, 1):
        if count <= begun:
            continue
        pipe.send((count, name))
        built = build()
        if built is not None:
            wrong = machine.first_wrong(*built, options["mode"], options["kinds"])
            pipe.send(Step() if wrong is None else Step(_line(name, wrong), wrong.kind))
    pipe.send(None)


def _line(name, wrong):
    difference = wrong.difference
    words = [f"{_class(difference)} {name}",
             f"torch {difference.torch!s:.200}", f"jaxflow {difference.jaxflow!s:.200}"]
    if difference.where != "the statement":
        words.insert(1, difference.where)
    if name not in difference.code:
        words.insert(1, f"{wrong.sizes} {difference.code}")
    return " | ".join(words)


def _class(difference):
    """The kind of difference; of errors also who raises."""
    if difference.kind != "error":
        return difference.kind
    if difference.torch and difference.jaxflow:
        return "error"
    return f"only-{'torch' if difference.torch else 'jaxflow'}-raises"

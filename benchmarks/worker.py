"""Contenders in processes of their own: libraries must not share threads or caches.

The parent makes a `Worker` for each contender and calls methods of the contender's object through
it, one call at a time, so that only one process works while the others sleep.
``python -m benchmarks.worker MODULE NAME`` is the child: it makes ``MODULE.CONTENDERS[NAME]()`` and
answers requests.
"""

import importlib
import json
import os
import subprocess
import sys
import time
import traceback


class Failed(Exception):
    """A method raised in the child; `kind` is the exception's class, the traceback is on stderr."""

    def __init__(self, kind, text):
        super().__init__(f"{kind}: {text}")
        self.kind, self.text = kind, text


class Worker:
    """A contender in a child process, of another checkout if ``folder`` is one.

    ``worker.call("method", **arguments)`` returns its answer.
    """

    def __init__(self, module, name, environment=None, folder=None):
        self.name = name
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker", module, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {})},
            cwd=folder,
        )

    def call(self, method, /, **arguments):
        """The method's answer; `Failed` if it raised, RuntimeError if the process is gone."""
        self.process.stdin.write(json.dumps([method, arguments]) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended in {method}; its error is above")
        outcome, answer = json.loads(line)
        if outcome == "raised":
            raise Failed(*answer)
        return answer

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


def serve(module, name):
    # What libraries print must not end up among the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    contender = importlib.import_module(module).CONTENDERS[name]()
    for line in sys.stdin:
        method, arguments = json.loads(line)
        try:
            answer = ["returned", getattr(contender, method)(**arguments)]
        except Exception as error:
            expected = isinstance(error, NotImplementedError)
            if not expected:
                traceback.print_exc()
            kind = "NotImplementedError" if expected else type(error).__name__
            answer = ["raised", [kind, str(error)]]
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve(*sys.argv[1:])

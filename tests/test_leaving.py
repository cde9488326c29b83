"""A program's process that ends while something is being compiled for it."""

import signal
import subprocess
import sys

import pytest

PROGRAM = """
import atexit, pathlib, sys, threading, time, torch
from jaxflow._exec import background

class Last:
    def __del__(self):
        print("let go")

def compiled():  # a compile that takes long; only a process that waits for it leaves this behind
    time.sleep(120)
    pathlib.Path("waited").touch()

last = Last()
kept = open("kept.txt", "w")
kept.write("kept")  # and never closed
atexit.register(lambda: print("at exit", background.submit(lambda: 6 * 7).result()))
background.submit(compiled)
time.sleep(0.2)
print("end", flush=True)
threading.Thread(target=lambda: (time.sleep(0.2), print("thread"))).start()
exec(sys.argv[1])
"""


@pytest.mark.parametrize(("end", "status", "said"), [
    ("", 0, ""), ("sys.exit(3)", 3, ""), ("sys.exit('no luck')", 1, "no luck\n"), ("sys.exit(None)", 0, ""),
    ("1 / 0", 1, "ZeroDivisionError: division by zero\n"),
    ("raise KeyboardInterrupt", -signal.SIGINT, "KeyboardInterrupt\n"),
])
def test_it_ends_as_a_script_of_pythons_does_and_waits_for_no_compile(end, status, said, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run([sys.executable, "-m", "jaxflow", "program.py", end], cwd=tmp_path, check=False,
                          capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (status, "end\nthread\nat exit 42\nlet go\n"), done.stderr
    assert done.stderr.endswith(said) and (said or not done.stderr)
    assert (tmp_path / "kept.txt").read_text() == "kept" and not (tmp_path / "waited").exists()

"""What the import does to garbage collection: NOTE [Objects that stay]."""

import subprocess
import sys

import pytest

PROGRAM = """
import gc
{before}
try:
    import jaxflow
except ImportError as error:
    print(str(error)[:20])
class Cycle:
    alive = True
    def __init__(self):
        self.itself = self
    def __del__(self):
        Cycle.alive = False
Cycle()
gc.collect()
print(gc.isenabled(), gc.get_freeze_count() > 50_000, Cycle.alive)
"""


@pytest.mark.parametrize(("before", "expected"), [
    ("", "True True False"),
    ("gc.disable()", "False True False"),
    ("others = [[i] for i in range(60_000)]", "True False False"),
    ("import jax; jax.__version__ = '0.1'", "jaxflow runs on jax \nTrue False False"),
], ids=["as usual", "collection is off", "many objects before", "an import that fails"])
def test_import(before, expected):
    run = subprocess.run([sys.executable, "-c", PROGRAM.format(before=before)], check=True, text=True,
                         capture_output=True)
    assert run.stdout.strip() == expected

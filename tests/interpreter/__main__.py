"""Hold the interpreter against XLA on every operation there is a gradient row for, forward and backward.

    python -m tests.interpreter             # all rows: some minutes
    python -m tests.interpreter conv sort   # those whose name contains one of the words
"""

import os
import pathlib
import sys

# As in tests/conftest.py: before jaxflow is imported.
TESTS = pathlib.Path(__file__).resolve().parent.parent
os.environ.setdefault("JAXFLOW_CACHE_DIR", str(TESTS.parent / ".cache" / "tests"))
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")
sys.path.insert(0, str(TESTS))

import jax  # noqa: E402

from tests.interpreter.rows import ALL, hold  # noqa: E402

jax.config.update("jax_numpy_dtype_promotion", "strict")
names = [name for name in ALL if not sys.argv[1:] or any(word in name for word in sys.argv[1:])]
held = hold(names)
sys.stdout.write(held.report())
sys.exit(bool(held.misfits))

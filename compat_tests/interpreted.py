"""Hold the interpreter against XLA on PyTorch's own samples of every operation, forward and backward.

    python -m compat_tests.interpreted                            # everything: hours
    python -m compat_tests.interpreted linalg,abs float16         # namespaces and records, dtypes
"""

import sys
import warnings

from compat_tests import setting  # noqa: F401  before jaxflow is imported

import jaxflow  # isort: skip
from compat_tests.ops.arguments import call_of, subject
from compat_tests.ops.findings import outcome
from compat_tests.ops.records import chosen, differentiable, dtypes, resolve, take_samples
from compat_tests.ops.values import differentiated
from tests.interpreter.held import held_against_xla


def run_samples(key, dtype):
    """Call a record's samples of a dtype, and take their gradients."""
    for sample in take_samples(key, dtype, differentiable(key, dtype)):
        outcome(differentiated, jaxflow, resolve(key), subject(call_of(sample)), lambda x: x)


def main(names="", wanted=""):
    """Run the records of the names in the dtypes; the exit status."""
    warnings.simplefilter("ignore")
    with jaxflow.execution("eager"), held_against_xla() as held:
        for key in chosen(names.split(",") if names else []):
            for name in dtypes(key):
                if wanted and name not in wanted.split(","):
                    continue
                before = len(held.misfits)
                run_samples(key, name)
                for text in held.misfits[before:]:
                    sys.stderr.write(f"{key} {name}: {text}\n")
    sys.stdout.write(held.report())
    return bool(held.misfits)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""Hold the interpreter against XLA on PyTorch's own samples of every operation, forward and backward.

    python -m compat_tests.interpreted                            # everything: an hour
    python -m compat_tests.interpreted pointwise,reduce float16   # some families, some dtypes

``JAXFLOW_SWEEP_SAMPLES`` says how many samples of each record (default 4) are taken.
"""

import importlib
import os
import pathlib
import sys
import warnings

TESTS = pathlib.Path(__file__).resolve().parent.parent / "tests"
os.environ.setdefault("JAXFLOW_CACHE_DIR", str(TESTS.parent / ".cache" / "tests"))
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")

import jax  # noqa: E402
import torch  # noqa: E402

import jaxflow  # noqa: E402
from compat_tests import sweep  # noqa: E402
from tests.interpreter.held import held_against_xla  # noqa: E402

FAMILIES = "activation,creation,linalg,nn_sweep,pointwise,reduce,selection"
DTYPES = "bool,uint8,int32,int64,float16,bfloat16,float32,float64,complex64,complex128"


def run_samples(key, name):
    """Call a record's samples of a dtype, and take their gradients."""
    record, dtype = sweep.record(key), getattr(torch, name)
    if dtype not in record.dtypes:
        return
    differentiable = record.supports_autograd and dtype in record.supported_backward_dtypes("cpu")
    function = sweep.resolve(key)
    for sample in sweep.take_samples(record, dtype, differentiable):
        mine = sweep.subject((sample.input, sample.args, sample.kwargs))
        result, error = sweep.outcome(function, mine[0], *mine[1], **mine[2])
        if error is None and differentiable:
            sweep.outcome(sweep._gradients, jaxflow, result, sweep._tensors(mine), sweep.subject)


def main(families=FAMILIES, dtypes=DTYPES):
    """Run the families' records of the dtypes; the exit status."""
    warnings.simplefilter("ignore")
    jax.config.update("jax_numpy_dtype_promotion", "strict")
    with jaxflow.execution("eager"), held_against_xla() as held:
        for family in families.split(","):
            for key in importlib.import_module(f"compat_tests.test_ops_{family}").KEYS:
                for name in dtypes.split(","):
                    before = len(held.misfits)
                    run_samples(key, name)
                    for text in held.misfits[before:]:
                        sys.stderr.write(f"{key} {name}: {text}\n")
    sys.stdout.write(held.report())
    return bool(held.misfits)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""What every comparison with real torch runs under; to be imported before jaxflow is."""

import gc
import os
import pathlib

# Compiled programs are shared between the workers and between runs.
CACHE = pathlib.Path(__file__).resolve().parent.parent / ".cache"
os.environ.setdefault("JAXFLOW_CACHE_DIR", str(CACHE / "tests"))
# Small compiles dominate the time of these tests, and are twice as quick without LLVM's optimiser.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")

import jax  # noqa: E402
import torch  # noqa: E402

# PyTorch's own tests may not set the flags of libraries outside of a context; the programs of ours may.
torch.backends.disable_global_flags = lambda: None

from torch.testing._internal import common_methods_invocations  # noqa: E402, F401

# `jaxflow.compile` looks through all living objects for its own: half a million fewer of them.
gc.freeze()

# An op casts for itself: a promotion left to jnp would follow JAX's table, not PyTorch's.
jax.config.update("jax_numpy_dtype_promotion", "strict")

#: Whether `.ci/run` asks for a sample of the sweeps, the same in every run.
SAMPLED = os.environ.get("JAXFLOW_SWEEP") == "sample"

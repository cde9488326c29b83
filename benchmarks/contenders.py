"""Who takes part: a library, and the way it runs the program."""

import dataclasses
import pathlib

CACHE = pathlib.Path(__file__).resolve().parent.parent / ".cache" / "benchmarks"


@dataclasses.dataclass(frozen=True)
class Contender:
    """`compiled` chooses the library's own compile; `execution` is jaxflow's executor."""

    name: str
    library: str
    execution: str | None = None
    compiled: bool = False
    colour: str = "#888888"

    def environment(self):
        if self.execution is not None:
            return {"JAXFLOW_EXECUTION": self.execution}
        if self.library == "jax":
            # What jaxflow sets in glibc for itself (jaxflow/_core/heap.py): XLA's scratch memory is not
            # given back to the kernel after every step. JAX by hand shall not be slower for lack of it.
            most = str(2**31 - 1)
            return {
                "MALLOC_TRIM_THRESHOLD_": most,
                "MALLOC_MMAP_THRESHOLD_": most,
                "MALLOC_ARENA_MAX": "1",
                # The other libraries keep what they compiled from run to run by default.
                "JAX_COMPILATION_CACHE_DIR": str(CACHE / "jax"),
                "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            }
        return {}


PYTORCH, TORCH_COMPILE, BY_HAND = "PyTorch eager", "torch.compile", "JAX by hand"
DEFERRED, EAGER, COMPILE = "jaxflow deferred", "jaxflow eager", "jaxflow compile"

CONTENDERS = {
    contender.name: contender
    for contender in (
        Contender(PYTORCH, "torch", colour="#d9593d"),
        Contender(TORCH_COMPILE, "torch", compiled=True, colour="#f0a58f"),
        Contender(DEFERRED, "jaxflow", "deferred", colour="#2b6cb0"),
        Contender(EAGER, "jaxflow", "eager", colour="#90bfe8"),
        Contender(COMPILE, "jaxflow", "deferred", compiled=True, colour="#1a365d"),
        Contender(BY_HAND, "jax", colour="#6b9a3e"),
    )
}
# What --only takes besides the full names.
SHORT = {
    "torch": PYTORCH, "torch-compile": TORCH_COMPILE, "deferred": DEFERRED, "eager": EAGER,
    "compile": COMPILE, "jax": BY_HAND,
}  # fmt: skip
REFERENCES = (PYTORCH, TORCH_COMPILE, BY_HAND)

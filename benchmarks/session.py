"""The child's side: one contender, which does one workload after another."""

import functools
import gc
import importlib

from .contenders import CONTENDERS as KNOWN
from .workloads import WORKLOADS


class LeftOut(NotImplementedError):
    """This contender cannot take part in this workload; the text says why."""


class Session:
    def __init__(self, name):
        self.contender = KNOWN[name]
        self.library = importlib.import_module(self.contender.library)
        self.program = None

    def open(self, workload, device="cpu", dtype="float32", shapes=None, batch=None):
        """Get ready for a workload; `shapes` of the parameters are for the version by hand."""
        found, by_hand = WORKLOADS[workload], self.contender.library == "jax"
        if by_hand and found.by_hand is None:
            raise LeftOut("there is no version by hand")
        if self.contender.compiled and not hasattr(self.library, "compile"):
            raise LeftOut(f"this {self.library.__name__} has no compile")
        package = "by_hand." if by_hand else ""
        program = resolve(f"{package}{found.by_hand_program if by_hand else found.program}")
        task = resolve(f"by_hand.{found.by_hand}" if by_hand else found.task)
        if batch is not None and found.task.startswith("models."):
            resolve(found.task).examples = batch
        if device.startswith("cuda") and self.contender.library == "torch":
            # XLA's products of float32 are TF32 on a GPU unless set otherwise.
            self.library.set_float32_matmul_precision("high")
        if by_hand:
            # Where there is an accelerator JAX takes it unless set otherwise.
            if (device == "cpu") != (self.library.default_backend() == "cpu"):
                self.library.config.update("jax_default_device", self.library.devices(device)[0])
            self.program = program(task(), shapes, dtype=dtype)
        else:
            self.program = program(self.library, task, self.contender.compiled, device, dtype)

    def do(self, method, **arguments):
        return getattr(self.program, method)(**arguments)

    def close(self):
        """Let go of the workload's program and all it holds."""
        self.program = None
        gc.collect()

    def explain(self):
        """What jaxflow says it compiled and why."""
        return str(self.library.explain()) if hasattr(self.library, "explain") else None


def resolve(path):
    """What ``module.Name`` below this package stands for."""
    module, name = path.rsplit(".", 1)
    return getattr(importlib.import_module(f"benchmarks.{module}"), name)


CONTENDERS = {name: functools.partial(Session, name) for name in KNOWN}

"""Function transforms on a small MLP: gradients of every example, and the Hessian of the loss."""

import contextlib
import functools
import importlib
import time

import numpy as np

from . import report
from .worker import Worker

# What is computed: sizes of the layers, and number of examples.
TASKS = {
    "per-sample gradients, vmap(grad)": ((64, 128, 128, 10), 64),
    "Hessian": ((6, 12, 12, 1), 32),
}
TOLERANCE = 1e-4


def data(task):
    """Parameters, inputs and targets, the same for all."""
    sizes, count = TASKS[task]
    random = np.random.default_rng(0)
    params = {}
    for i, (a, b) in enumerate(zip(sizes, sizes[1:])):
        params[f"w{i}"] = random.normal(0, a**-0.5, (b, a)).astype(np.float32)
        params[f"b{i}"] = random.normal(0, 0.1, b).astype(np.float32)
    x = random.normal(size=(count, sizes[0])).astype(np.float32)
    y = random.normal(size=(count, sizes[-1])).astype(np.float32)
    return params, x, y


def timed(call, wait, steps):
    """Seconds a call."""
    began = time.perf_counter()
    for _ in range(steps):
        found = call()
        wait(found)
    return (time.perf_counter() - began) / steps


class PyTorchStyle:
    """`torch.func` of torch or jaxflow; ``jitted`` puts jaxflow's under ``jax.jit``."""

    def __init__(self, library, jitted=False):
        self.torch = importlib.import_module(library)
        self.jitted = jitted

    def start(self, task):
        """Seconds for the first call; also makes the later ones ready."""
        torch = self.torch
        params, x, y = data(task)
        params = {name: torch.from_numpy(value) for name, value in params.items()}
        x, y = torch.from_numpy(x), torch.from_numpy(y)

        def loss(params, x, y):
            for i in range(len(params) // 2):
                x = x @ params[f"w{i}"].t() + params[f"b{i}"]
                if i < len(params) // 2 - 1:
                    x = torch.tanh(x)
            return ((x - y) ** 2).mean()

        if task == "Hessian":
            transformed = torch.func.hessian(loss)
        else:
            transformed = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))
        if self.jitted:
            import jax

            transformed = jax.jit(transformed)
        self.call = lambda: transformed(params, x, y)
        return timed(self.call, self.wait, 1)

    def wait(self, found):
        """Read one number of the results, so that the recorded programs run."""
        while isinstance(found, dict):
            found = found["w0"]
        return found.reshape(-1)[0].item()

    def checksum(self):
        """The sum of magnitudes in the results for the first weights."""
        found = self.call()["w0"]
        return float((found["w0"] if isinstance(found, dict) else found).abs().sum().item())

    def time(self, steps):
        return timed(self.call, self.wait, steps)


class HandWritten:
    """The same in JAX, under one ``jax.jit``."""

    def start(self, task):
        import jax
        import jax.numpy as jnp

        params, x, y = data(task)

        def loss(params, x, y):
            for i in range(len(params) // 2):
                x = x @ params[f"w{i}"].T + params[f"b{i}"]
                if i < len(params) // 2 - 1:
                    x = jnp.tanh(x)
            return ((x - y) ** 2).mean()

        if task == "Hessian":
            transformed = jax.jit(jax.hessian(loss))
        else:
            transformed = jax.jit(jax.vmap(jax.grad(loss), in_axes=(None, 0, 0)))
        params, x, y = jax.device_put((params, x, y))
        self.call = lambda: transformed(params, x, y)
        self.wait = jax.block_until_ready
        return timed(self.call, self.wait, 1)

    def checksum(self):
        found = self.call()["w0"]
        return float(abs(found["w0"] if isinstance(found, dict) else found).sum())

    def time(self, steps):
        return timed(self.call, self.wait, steps)


CONTENDERS = {
    "torch.func": functools.partial(PyTorchStyle, "torch"),
    "JAX by hand": HandWritten,
    "jaxflow deferred": functools.partial(PyTorchStyle, "jaxflow"),
    "jaxflow eager": functools.partial(PyTorchStyle, "jaxflow"),
    "jaxflow in jax.jit": functools.partial(PyTorchStyle, "jaxflow", jitted=True),
}
ENVIRONMENT = {
    "jaxflow deferred": {"JAXFLOW_EXECUTION": "deferred"},
    "jaxflow eager": {"JAXFLOW_EXECUTION": "eager"},
}


def main(quick=False, only=None):
    names = [name for name in CONTENDERS if only is None or name in only]
    rounds, steps = (3, 5) if quick else (9, 20)
    results = {}
    with contextlib.ExitStack() as stack:
        workers = [
            stack.enter_context(Worker(__name__, name, ENVIRONMENT.get(name))) for name in names
        ]
        for task in TASKS:
            results[task] = measure(workers, task, rounds, steps)
    texts = [f"## {task}\n\n{describe(result)}" for task, result in results.items()]
    text = (
        f"Milliseconds a call: median of {rounds} rounds of {steps} calls (lowest to highest), the contenders"
        " taking turns; their results agree.\n\n" + "\n\n".join(texts)
    )
    return report.write("transforms", "Function transforms of a small MLP",
                 {"rounds": rounds, "steps": steps, "seconds": results}, text)


def measure(workers, task, rounds, steps):
    """Seconds a call by contender; all take a turn in every round."""
    first = {worker.name: worker.call("start", task=task) for worker in workers}
    sums = [worker.call("checksum") for worker in workers]
    worst = max(abs(s - sums[0]) / abs(sums[0]) for s in sums)
    if worst > TOLERANCE:
        raise SystemExit(f"no times: the contenders' results for {task} differ by {worst:.1e}")
    for worker in workers:
        worker.call("time", steps=2)
    samples = {worker.name: [] for worker in workers}
    for _ in range(rounds):
        for worker in workers:
            samples[worker.name].append(worker.call("time", steps=steps))
    return {name: {**report.summary(s), "first": first[name]} for name, s in samples.items()}


def describe(result):
    headings = ["contender", "ms a call", "first call, s"]
    references = [name for name in ("torch.func", "JAX by hand") if name in result]
    headings += [f"times {name}" for name in references]
    rows = []
    for name, measured in result.items():
        row = [name, report.spread(measured, 1e3, 2), f"{measured['first']:.1f}"]
        row += [f"{measured['median'] / result[other]['median']:.2f}" for other in references]
        rows.append(row)
    return report.table(headings, rows)

"""What an operation costs apart from its arithmetic: recording, closing, and running one by one."""

import contextlib
import functools
import importlib
import time

import numpy as np

from . import report
from .worker import Worker

CHAIN = 400
SHAPES = {"a": (8, 8), "b": (8, 8), "v": (8,)}
OPS = {
    "a + b": (lambda m: lambda a, b, v: a + b),
    "a * 2.0": (lambda m: lambda a, b, v: a * 2.0),
    "exp": (lambda m: lambda a, b, v: m.exp(a)),
    "tanh": (lambda m: lambda a, b, v: m.tanh(a)),
    "matmul": (lambda m: lambda a, b, v: m.matmul(a, b)),
    "a + v (broadcast)": (lambda m: lambda a, b, v: a + v),
    "sum": (lambda m: lambda a, b, v: m.sum(a)),
    "mean of a row": (lambda m: lambda a, b, v: m.mean(a, 1)),
    "reshape": (lambda m: lambda a, b, v: m.reshape(a, (64,))),
    "where": (lambda m: lambda a, b, v: m.where(a > b, a, b)),
}


def best(call, number, rounds=7):
    """Seconds a call, in the fastest of `rounds` rounds of `number` calls."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        for _ in range(number):
            call()
        times.append((time.perf_counter() - began) / number)
    return min(times)


def arrays():
    random = np.random.default_rng(0)
    return {name: random.random(shape, np.float32) for name, shape in SHAPES.items()}


class PyTorchStyle:
    """Ops of torch or jaxflow on tiny tensors."""

    def __init__(self, library):
        self.torch = importlib.import_module(library)

    def per_op(self, grad, number):
        """Seconds for one call of each op; `grad` says whether the inputs require it."""
        made = {name: self.torch.from_numpy(value) for name, value in arrays().items()}
        operands = [value.clone().requires_grad_(grad) for value in made.values()]
        return {
            name: best(functools.partial(op(self.torch), *operands), number)
            for name, op in OPS.items()
        }

    def record(self, grad, rounds=30):
        """Seconds an op to record a chain, and to get its result, over `rounds` equal chains."""
        x = self.torch.ones(8, 8).requires_grad_(grad)
        y = self.torch.full((8, 8), 1.5)
        recording, reading = [], []
        for _ in range(rounds):
            began = time.perf_counter()
            z = x
            for _ in range(CHAIN // 4):
                z = (z * y + x).tanh() - y
            middle = time.perf_counter()
            z.detach().numpy()
            recording.append(middle - began)
            reading.append(time.perf_counter() - middle)
        return {"record": min(recording) / CHAIN, "read": min(reading) / CHAIN}


class Jnp:
    """The same with jax.numpy, each call on its own; the chain under one `jax.jit`."""

    def __init__(self):
        self.jax = importlib.import_module("jax")

    def per_op(self, number, grad=False):
        jnp = self.jax.numpy
        operands = [jnp.asarray(value) for value in arrays().values()]
        return {
            name: best(functools.partial(op(jnp), *operands), number) for name, op in OPS.items()
        }

    def record(self, grad=False, rounds=30):
        """Only running is left here: no recording, no closing."""
        jnp = self.jax.numpy

        @self.jax.jit
        def chain(x, y):
            z = x
            for _ in range(CHAIN // 4):
                z = jnp.tanh(z * y + x) - y
            return z

        x, y = jnp.ones((8, 8)), jnp.full((8, 8), 1.5)
        np.asarray(chain(x, y))
        return {"record": 0.0, "read": best(lambda: np.asarray(chain(x, y)), 1, rounds) / CHAIN}


CONTENDERS = {
    "PyTorch eager": functools.partial(PyTorchStyle, "torch"),
    "jnp": Jnp,
    "jaxflow deferred": functools.partial(PyTorchStyle, "jaxflow"),
    "jaxflow eager": functools.partial(PyTorchStyle, "jaxflow"),
}
ENVIRONMENT = {
    "jaxflow deferred": {"JAXFLOW_EXECUTION": "deferred"},
    "jaxflow eager": {"JAXFLOW_EXECUTION": "eager"},
}
EACH = ("PyTorch eager", "jnp", "jaxflow eager")


def main(quick=False, only=None):
    number = 200 if quick else 2000
    with contextlib.ExitStack() as stack:
        workers = {
            name: stack.enter_context(Worker(__name__, name, ENVIRONMENT.get(name)))
            for name in CONTENDERS
            if only is None or name in only
        }
        each = {
            (name, grad): workers[name].call("per_op", grad=grad, number=number)
            for name in EACH
            for grad in (False, True)
            if name in workers and not (grad and name == "jnp")
        }
        chains = {
            (name, grad): workers[name].call("record", grad=grad)
            for name in ("jnp", "jaxflow deferred")
            for grad in (False, True)
            if name in workers and not (grad and name == "jnp")
        }
    content = {
        "per_op": [[*key, value] for key, value in each.items()],
        "chain": [[*key, value] for key, value in chains.items()],
    }
    return report.write("micro", "Cost of an operation", content, describe(each, chains))


def describe(each, chains):
    headings = ["op", *(f"{name}{', grad' if grad else ''}" for name, grad in each)]
    rows = [[op, *(f"{times[op] * 1e6:.1f}" for times in each.values())] for op in OPS]
    text = (
        "## One op at a time\n\nMicroseconds a call on 8 x 8 float32, fastest of 7 rounds.\n\n"
        + report.table(headings, rows)
    )
    if ("jnp", False) in each:
        floor = each["jnp", False]
        shares = [
            [f"{name}{', grad' if grad else ''}", median_ratio(times, floor)]
            for (name, grad), times in each.items()
        ]
        text += "\n\n" + report.table(["contender", "times jnp (median op)"], shares)
    if ("jnp", False) in chains:
        run = chains["jnp", False]["read"]
        rows = [
            [
                f"{name}{', grad' if grad else ''}",
                f"{times['record'] * 1e6:.2f}",
                f"{times['read'] * 1e6:.2f}",
                f"{max(0.0, times['read'] - run) * 1e6:.2f}",
            ]
            for (name, grad), times in chains.items()
        ]
        headings = ["contender", "record", "close and run", "close (less jitted jnp's run)"]
        text += (
            f"\n\n## A chain of {CHAIN} ops\n\nMicroseconds an op, fastest of 30 chains.\n\n"
            + report.table(headings, rows)
        )
    return text


def median_ratio(times, floor):
    ratios = [times[op] / floor[op] for op in floor]
    return f"{report.summary(ratios)['median']:.2f}"

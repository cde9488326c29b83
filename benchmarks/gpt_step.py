"""A training step of the demo's GPT: jaxflow, PyTorch, torch.compile, hand-written JAX."""

import contextlib
import functools

from . import demo, gpt_jax, report
from .worker import Worker

CONTENDERS = {
    "PyTorch eager": functools.partial(demo.Training, "torch"),
    "torch.compile": functools.partial(demo.Training, "torch", compiled=True),
    "JAX by hand": gpt_jax.HandWritten,
    "jaxflow deferred": functools.partial(demo.Training, "jaxflow"),
    "jaxflow eager": functools.partial(demo.Training, "jaxflow"),
}
ENVIRONMENT = {
    "jaxflow deferred": {"JAXFLOW_EXECUTION": "deferred"},
    "jaxflow eager": {"JAXFLOW_EXECUTION": "eager"},
}
AGREE_STEPS, TOLERANCE = 10, 1e-3


def agreement(losses):
    """Largest relative difference between any contender's losses and the first one's."""
    reference, *others = losses
    pairs = [pair for other in others for pair in zip(reference, other)]
    return max((abs(a - b) / abs(a) for a, b in pairs), default=0.0)


def main(quick=False, only=None):
    names = [name for name in CONTENDERS if only is None or name in only]
    rounds, steps = (3, 5) if quick else (9, 20)
    with contextlib.ExitStack() as stack:
        workers = [
            stack.enter_context(Worker(__name__, name, ENVIRONMENT.get(name))) for name in names
        ]
        worst = agreement([worker.call("losses", count=AGREE_STEPS) for worker in workers])
        if worst > TOLERANCE:
            raise SystemExit(f"no times: the contenders' losses differ by {worst:.1e}")
        print(f"losses of {AGREE_STEPS} steps agree to {worst:.1e}")
        results = {}
        for rate in (None, 0.0):
            label = "dropout 0" if rate == 0.0 else "demo default (dropout 0.1)"
            results[label] = measure(workers, rate, rounds, steps)
    texts = [f"## {label}\n\n{describe(result)}" for label, result in results.items()]
    text = (
        f"Milliseconds a step: median of {rounds} rounds of {steps} steps (lowest to highest), the"
        f" contenders taking turns. Their losses of the first {AGREE_STEPS} steps without dropout"
        f" agree to {worst:.0e}.\n\n" + "\n\n".join(texts)
    )
    content = {"agreement": worst, "rounds": rounds, "steps": steps, "seconds": results}
    report.write("gpt_step", "GPT training step", content, text)


def measure(workers, rate, rounds, steps):
    """Seconds a step by contender; all take a turn in every round."""
    first = {worker.name: worker.call("start", dropout=rate) for worker in workers}
    for worker in workers:
        worker.call("run", steps=steps)
    samples = {worker.name: [] for worker in workers}
    for _ in range(rounds):
        for worker in workers:
            samples[worker.name].append(worker.call("time", steps=steps))
    return {
        name: {**report.summary(seconds), "first": first[name]} for name, seconds in samples.items()
    }


def describe(result):
    headings = ["contender", "ms a step", "first step, s"]
    references = [name for name in ("PyTorch eager", "JAX by hand") if name in result]
    headings += [f"times {name}" for name in references]
    rows = []
    for name, measured in result.items():
        row = [name, report.spread(measured, 1e3), f"{measured['first']:.1f}"]
        row += [f"{measured['median'] / result[other]['median']:.2f}" for other in references]
        rows.append(row)
    return report.table(headings, rows)

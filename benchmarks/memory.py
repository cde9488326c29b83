"""Memory over a training run: does it stay flat, and how much does a step need at its peak."""

import gc
import pathlib
import re

from . import demo, gpt_jax, report
from .gpt_step import ENVIRONMENT
from .worker import Worker

MEGABYTE = 1024 * 1024


def status(field):
    """Bytes of a field of /proc/self/status, such as VmRSS."""
    text = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(rf"^{field}:\s+(\d+) kB", text, re.M)[1]) * 1024


class Measured:
    """A training run that looks at its own process; mixed into a contender."""

    def flat(self, steps, every):
        """Resident bytes and live arrays after every `every` steps, the first `every` left out."""
        self.prepare()
        self.run(every)
        seen = []
        for _ in range(steps // every):
            self.run(every)
            gc.collect()
            seen.append({"resident": status("VmRSS"), "arrays": self.live()})
        return seen

    def peak(self):
        """Live bytes between steps, and the most there are within one."""
        self.prepare()
        self.run(3)
        return self.step_bytes()


class OnTorch(Measured, demo.Training):
    def __init__(self):
        super().__init__("torch")

    def live(self):
        return sum(issubclass(type(o), self.torch.Tensor) for o in gc.get_objects())

    def step_bytes(self):
        """Bytes of the model, gradients and optimizer state, and the most that a step adds."""
        profiler = self.torch.profiler
        # Gradients live on between steps in the demo, until zero_grad frees them within the step.
        held = [*self.model.parameters(), *(p.grad for p in self.model.parameters())]
        for state in self.optimizer.state.values():
            held += [value for value in state.values() if value.dim()]
        base = sum(t.numel() * t.element_size() for t in held)
        with profiler.profile(
            activities=[profiler.ProfilerActivity.CPU], profile_memory=True
        ) as profile:
            self.run(1)
        events = [e for e in profile.profiler.kineto_results.events() if e.name() == "[memory]"]
        now = most = 0
        for event in sorted(events, key=lambda e: e.start_ns()):
            now += event.nbytes()
            most = max(most, now)
        return {"state": base, "peak": base + most}


class OnXLA(Measured):
    def live(self):
        import jax

        return len(jax.live_arrays())

    def step_bytes(self):
        """XLA plans a program's memory when it compiles: what lies there beside the arguments.

        An output that takes over the memory of a donated argument needs none of its own. ``state`` is
        what lives between steps, ``peak`` counts from what lives when the step's program starts.
        """
        state, start, plan = self.step_plan()
        own_outputs = plan.output_size_in_bytes - plan.alias_size_in_bytes
        return {"state": state, "peak": start + own_outputs + plan.temp_size_in_bytes}

    def live_bytes(self):
        import jax

        corpus = demo.corpus().size * self.corpus_itemsize
        return sum(array.nbytes for array in jax.live_arrays()) - corpus


class OnJaxflow(OnXLA, demo.Training):
    corpus_itemsize = 8

    def __init__(self):
        super().__init__("jaxflow")

    def step_plan(self):
        """Bytes between steps and at the start of the step's program, and XLA's plan of that program.

        The gradients of the step before live between steps; ``zero_grad`` frees them while the next step
        is recorded, before its program starts.
        """
        from jaxflow._dispatch.executable import Executable

        started, call = [], Executable.__call__

        def watched(executable, program):
            started.append((self.live_bytes(), executable.compiled.memory_analysis()))
            return call(executable, program)

        state = self.live_bytes()
        Executable.__call__ = watched
        try:
            self.run(1)
        finally:
            Executable.__call__ = call
        start, plan = max(started, key=lambda found: found[1].temp_size_in_bytes)
        return state, start, plan


class EagerJaxflow(OnJaxflow):
    def step_bytes(self):
        """Without a program there is no plan; what lives between steps can be told."""
        return {"state": self.live_bytes(), "peak": None}


class ByHand(OnXLA, gpt_jax.HandWritten):
    corpus_itemsize = 4

    def step_plan(self):
        arguments = self.state, self.corpus, self.key
        state = self.live_bytes()
        return state, state, self.on_windows.lower(*arguments).compile().memory_analysis()


CONTENDERS = {
    "PyTorch eager": OnTorch,
    "JAX by hand": ByHand,
    "jaxflow deferred": OnJaxflow,
    "jaxflow eager": EagerJaxflow,
}


def main(quick=False, only=None):
    steps, every = (100, 20) if quick else (1000, 100)
    names = [name for name in CONTENDERS if only is None or name in only]
    flat, peaks = {}, {}
    for name in names:
        with Worker(__name__, name, ENVIRONMENT.get(name)) as worker:
            flat[name] = worker.call("flat", steps=steps, every=every)
        with Worker(__name__, name, ENVIRONMENT.get(name)) as worker:
            peaks[name] = worker.call("peak")
    return report.write("memory", "Memory", {"flat": flat, "peak": peaks}, describe(steps, flat, peaks))


def describe(steps, flat, peaks):
    rows = [
        [
            name,
            seen[0]["arrays"],
            seen[-1]["arrays"],
            f"{seen[0]['resident'] / MEGABYTE:.0f}",
            f"{seen[-1]['resident'] / MEGABYTE:.0f}",
            f"{max(s['resident'] for s in seen) / MEGABYTE:.0f}",
        ]
        for name, seen in flat.items()
    ]
    headings = ["contender", "arrays, first", "last", "resident MB, first", "last", "highest"]
    text = f"## Over {steps:,} training steps of the demo\n\n" + report.table(headings, rows)
    rows = [
        [name, *(f"{peak[key] / MEGABYTE:.1f}" if peak[key] else "" for key in ("state", "peak"))]
        for name, peak in peaks.items()
    ]
    headings = ["contender", "state between steps", "peak live"]
    text += "\n\n## Within a step, in MB\n\n" + report.table(headings, rows)
    return text

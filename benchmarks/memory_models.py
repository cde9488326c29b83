"""Peak live bytes of a training step of the three examples, beside PyTorch's: MLP, CNN, GPT."""

import importlib

import numpy as np

from . import demo, memory, report
from .memory import MEGABYTE
from .worker import Worker

# The examples' models as they stand; batches so large that activations count.
MLP = dict(batch=512, hidden=1024)
CNN = dict(batch=256, channels=24)


class Pictures:
    """The step of an example on digits, one fixed batch; mixed in before `memory`'s way to measure."""

    name, batch = "", 0

    def __init__(self, library):
        self.torch = importlib.import_module(library)
        self.code = demo.example(self.name, library)

    def prepare(self):
        torch = self.torch
        torch.manual_seed(0)
        random = np.random.default_rng(0)
        pictures = random.normal(size=(self.batch, 1, 8, 8)).astype(np.float32)
        self.inputs = torch.from_numpy(pictures)
        self.targets = torch.from_numpy(random.integers(10, size=self.batch))
        self.model, self.optimizer = self.made()

    def run(self, steps):
        for _ in range(steps):
            loss = self.torch.nn.functional.cross_entropy(self.model(self.inputs), self.targets)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        loss.item()

    def live_bytes(self):
        import jax

        data = self.inputs.numel() * 4 + self.targets.numel() * 8
        return sum(array.nbytes for array in jax.live_arrays()) - data


class PerceptronStep(Pictures):
    name, batch = "mlp_digits", MLP["batch"]

    def made(self):
        model = self.code.build(MLP["hidden"], 0.5)
        return model, self.torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)


class ConvolutionStep(Pictures):
    name, batch = "cnn", CNN["batch"]

    def made(self):
        model = self.code.CNN(CNN["channels"])
        return model, self.torch.optim.SGD(
            model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4, nesterov=True
        )


def on(step, way, library):
    """A contender: a model's step, measured in a library's way."""

    class Contender(step, way):
        def __init__(self):
            step.__init__(self, library)

    return Contender


WAYS = {"PyTorch eager": (memory.OnTorch, "torch"), "jaxflow deferred": (memory.OnJaxflow, "jaxflow")}
MODELS = {"MLP": PerceptronStep, "CNN": ConvolutionStep}
CONTENDERS = {
    **{f"{model}, {name}": on(step, *way) for model, step in MODELS.items() for name, way in WAYS.items()},
    **{f"GPT, {name}": way for name, (way, _) in WAYS.items()},
}


def main(quick=False, only=None):
    found = {}
    for name in CONTENDERS:
        if only is None or name in only:
            with Worker(__name__, name) as worker:
                found[name] = worker.call("peak")
    rows = [
        [name, *(f"{peak[key] / MEGABYTE:.2f}" for key in ("state", "peak"))] for name, peak in found.items()
    ]
    text = "## Within a training step, in MB\n\n" + report.table(
        ["model, library", "state between steps", "peak live"], rows
    )
    return report.write("memory_models", "Memory of three models", {"peak": found}, text)

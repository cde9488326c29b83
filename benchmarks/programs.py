"""What is done with a network, in PyTorch's style: a training step, an answer."""

import gc
import itertools

from . import peak
from .clock import repeated
from .models.task import initial


class Program:
    """Has ``numbers()``, which must agree between contenders, and ``measure(steps)``, seconds a step."""

    def __init__(self, torch, task, compiled=False, device="cpu", dtype="float32"):
        self.torch, self.compiled, self.device = torch, compiled, device
        self.dtype = getattr(torch, dtype)
        self.task = task(torch)
        self.task.device = device

    def shapes(self):
        """Shapes of parameters by name, for contenders without a module."""
        with self.torch.device("meta"):
            return {name: list(p.shape) for name, p in self.task.network().named_parameters()}

    def network(self):
        """A network with the initial weights."""
        network = self.task.network()
        with self.torch.no_grad():
            for name, parameter in network.named_parameters():
                parameter.copy_(self.torch.from_numpy(initial(name, tuple(parameter.shape))))
        return network.to(self.device, self.dtype)

    def data(self):
        """The batches as tensors."""
        return [tuple(map(self.tensor, batch)) for batch in self.task.data()]

    def tensor(self, array):
        tensor = self.torch.from_numpy(array).to(self.device)
        return tensor.to(self.dtype) if tensor.is_floating_point() else tensor


class Training(Program):
    """Forward, backward, clipping, update: all of a step, on batch after batch."""

    def prepare(self, exact):
        """A fresh network and its step; `exact`: without dropout, on given batches."""
        task, torch = self.task, self.torch
        torch.manual_seed(0)
        task.dropout = 0.0 if exact else type(task).dropout
        network = self.network()
        optimizer = task.optimizer(network)
        scheduler = task.schedule(optimizer) if task.schedule else None
        loss_of = task.loss
        if self.compiled and torch.__name__ == "torch":
            loss_of = torch.compile(loss_of)

        def step(*batch):
            optimizer.zero_grad()
            loss = loss_of(network, *(batch or task.draw()))
            loss.backward()
            if task.clip is not None:
                torch.nn.utils.clip_grad_norm_(network.parameters(), task.clip)
            optimizer.step()
            if scheduler is not None:
                scheduler.step()
            return loss.detach()

        if self.compiled and torch.__name__ != "torch":
            step = torch.compile(step)
        drawn = task.draw and not exact
        self.loaded = [()] if drawn else self.data()
        self.step, self.batches = step, itertools.cycle(self.loaded)
        self.parts = network, optimizer

    def numbers(self, count=None):
        """Losses of the first `count` steps."""
        self.prepare(exact=True)
        count = count or self.task.compared
        losses = [self.once().item() for _ in range(count)]
        if type(self.task).dropout or self.task.draw:
            self.prepare(exact=False)
        return losses

    def measure(self, steps):
        return repeated(self.once, self.end, steps) / steps

    def end(self, loss):
        """Wait for the last step: the loss, and what an executor may be at when that is there, the update."""
        *_, last = self.parts[0].parameters()
        return loss.item(), last.detach().reshape(-1)[0].item()

    def once(self):
        return self.step(*next(self.batches))

    def first(self):
        """The first step of all, finished."""
        self.prepare(exact=False)
        return self.once().item()

    def flat(self, steps, every):
        """What lives and is resident as time goes by."""
        if self.torch.__name__ != "torch":
            return peak.flat(self, peak.arrays, steps, every)

        def live():
            return sum(issubclass(type(o), self.torch.Tensor) for o in gc.get_objects())

        return peak.flat(self, live, steps, every)

    def memory(self):
        """Bytes between steps, at the peak of one, and resident; after some steps were taken."""
        if self.torch.__name__ == "torch":
            found = peak.of_torch(self)
        else:
            loaded = [*itertools.chain(*self.loaded), *([self.task.corpus] if self.task.draw else [])]
            found = peak.of_jaxflow(self, loaded)
        return {**found, "resident": peak.resident()}


class Inference(Program):
    """Forward under ``no_grad``, in evaluation mode."""

    def numbers(self):
        """The size of the answers to each batch."""
        self.torch.manual_seed(0)
        network = self.network().eval()
        self.answer = self.torch.compile(network) if self.compiled else network
        self.batches = itertools.cycle([self.task.asked(*batch) for batch in self.data()])
        with self.torch.no_grad():
            answers = [self.answer(*next(self.batches)) for _ in range(self.task.batches)]
            return [self.task.answer(answer).float().abs().mean().item() for answer in answers]

    def measure(self, steps):
        def number(answer):
            self.task.answer(answer).reshape(-1)[0].item()

        with self.torch.no_grad():
            return repeated(lambda: self.answer(*next(self.batches)), number, steps) / steps

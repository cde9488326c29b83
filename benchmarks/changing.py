"""Programs whose shapes or structure change from step to step, in PyTorch's style."""

import itertools

import numpy as np

from .clock import OverBatches, now
from .models.policy import Cart
from .programs import Program, Training

CHECKED, SHORTEST, LONGEST = (20, 33, 27), 34, 96


def of_all_lengths(task):
    """A batch of every length, as NumPy arrays: those that are ``CHECKED``, then the others in no order."""
    random = np.random.default_rng(1)
    others = np.random.default_rng(4).permutation(np.arange(SHORTEST, LONGEST + 1)).tolist()
    return [task.batch(random, length) for length in (*CHECKED, *others)]


class ChangingLengths(OverBatches, Training):
    """A training step on sequences of another length every time; none comes again, but for `passes`."""

    def data(self):
        return [tuple(map(self.tensor, batch)) for batch in of_all_lengths(self.task)]

    def numbers(self):
        return super().numbers(len(CHECKED))

    def over(self, batches):
        for batch in batches:
            loss = self.step(*batch)
        self.end(loss)


class LengthsAgain(ChangingLengths):
    passes = 1


class TreeTraining(Training):
    """Training on trees: each batch has a structure of its own, so nothing is the same twice."""

    def data(self):
        return [
            (tuple(map(self.tensor, words)), pairs, self.tensor(targets))
            for words, pairs, targets in self.task.data()
        ]

    def numbers(self):
        return super().numbers(3)


class Generation(Program):
    """Greedy generation, one code at a time, the context growing and computed anew for each."""

    passes = 0
    start = 8

    def numbers(self):
        torch = self.torch
        network = self.network().eval()
        self.answer = torch.compile(network) if self.compiled else network
        codes = np.random.default_rng(5).integers(self.task.vocabulary, size=(1, self.start - 1))
        self.window = self.tensor(codes)
        found = []
        with torch.no_grad():
            for length in (3, 5, 7):
                found.append(self.answer(self.window[:, :length])[:, -1].float().abs().mean().item())
        return found

    def measure(self, steps):
        """Seconds a code; `steps` codes are generated and the next call goes on from there."""
        with self.torch.no_grad():
            for _ in range(self.passes):
                self.generate(steps)
            began = now()
            window = self.generate(steps)
            seconds = now() - began
        self.window = window
        return seconds / steps

    def generate(self, steps):
        window, written = self.window, []
        for _ in range(steps):
            code = self.answer(window)[:, -1].argmax(dim=-1)
            window = self.torch.cat((window, code[:, None]), dim=1)
            written.append(code.item())
        return window


class GenerationAgain(Generation):
    passes = 1


class Reinforcement(Program):
    """Act one step at a time with a sampled action, learn at the end of each episode."""

    def numbers(self):
        """Losses of three episodes whose actions follow from given random numbers."""
        torch = self.torch
        torch.manual_seed(0)
        self.policy = self.network()
        self.optimizer = self.task.optimizer(self.policy)
        self.act = torch.compile(self.policy) if self.compiled else self.policy
        self.lengths = self.task.lengths()
        random = np.random.default_rng(6)

        def given(probabilities):
            return torch.tensor([[int(random.random() > probabilities[0, 0].item())]], device=self.device)

        return [self.episode(length, given).item() for length in (12, 17, 12)]

    def sampled(self, probabilities):
        return self.torch.multinomial(probabilities, 1)

    def measure(self, steps):
        """Seconds a step of the cart, over `steps` episodes."""
        moves = list(itertools.islice(self.lengths, steps))
        began = now()
        for length in moves:
            loss = self.episode(length, self.sampled)
        loss.item()
        return (now() - began) / sum(moves)

    def episode(self, length, choose):
        torch, cart = self.torch, Cart()
        chosen, rewards = [], []
        for _ in range(length):
            probabilities = torch.softmax(self.act(self.tensor(cart.state())[None]), dim=-1)
            action = choose(probabilities)
            chosen.append(probabilities.gather(1, action).log())
            rewards.append(cart.step(action.item()))
        returns = self.tensor(self.task.returns(rewards))
        loss = -(torch.cat(chosen).flatten() * returns).sum()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach()

"""Learning rate schedules: objects that an optimizer calls for the rate of its next step."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any


class LRScheduler:
    """Base of the schedules: ``get_lr`` says the rate after ``last_epoch`` calls of ``step``.

    ``schedule()`` is the present rate; ``step()`` goes on to the next.
    """

    def __init__(self, learning_rate: float = 0.1, last_epoch: int = -1, verbose: bool = False) -> None:
        if learning_rate < 0:
            raise ValueError(f"Invalid learning rate: {learning_rate}")
        self.base_lr = self.last_lr = float(learning_rate)
        self.last_epoch = last_epoch
        self.step()

    def __call__(self) -> float:
        return self.last_lr

    def step(self, epoch: int | None = None) -> None:
        """Go on by one, or to ``epoch``."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self.last_lr = self.get_lr()

    def get_lr(self) -> float:
        """The rate at ``last_epoch``; every schedule has its own."""
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """Where the schedule is."""
        return {"last_epoch": self.last_epoch, "last_lr": self.last_lr}

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go to where :meth:`state_dict` was taken."""
        self.last_epoch, self.last_lr = state_dict["last_epoch"], state_dict["last_lr"]


def _schedule(name: str, doc: str, fields: dict[str, Any], rate: Callable[[Any], float]) -> type:
    """A schedule with these arguments (those without a default hold ``...``) whose rate is a formula."""
    required = [field for field, default in fields.items() if default is ...]

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        given = dict(zip(fields, args)) | kwargs
        last_epoch, _ = given.pop("last_epoch", -1), given.pop("verbose", False)
        absent = [field for field in required if field not in given]
        if absent or given.keys() - fields.keys():
            wrong = absent or sorted(given.keys() - fields.keys())
            raise TypeError(f"{name}() {'lacks' if absent else 'has no'} argument {wrong[0]!r}")
        self.__dict__.update(fields | given)
        LRScheduler.__init__(self, self.__dict__.pop("learning_rate"), last_epoch)

    return type(name, (LRScheduler,), {"__init__": __init__, "get_lr": rate, "__doc__": doc})


StepDecay = _schedule(
    "StepDecay", "Times ``gamma`` every ``step_size`` epochs.",
    dict(learning_rate=..., step_size=..., gamma=0.1),
    lambda s: s.base_lr * s.gamma ** (s.last_epoch // s.step_size),
)
MultiStepDecay = _schedule(
    "MultiStepDecay", "Times ``gamma`` at every milestone.",
    dict(learning_rate=..., milestones=..., gamma=0.1),
    lambda s: s.base_lr * s.gamma ** sum(s.last_epoch >= m for m in s.milestones),
)
ExponentialDecay = _schedule(
    "ExponentialDecay", "Times ``gamma`` every epoch.", dict(learning_rate=..., gamma=...),
    lambda s: s.base_lr * s.gamma**s.last_epoch,
)
NaturalExpDecay = _schedule(
    "NaturalExpDecay", "Times ``exp(-gamma)`` every epoch.", dict(learning_rate=..., gamma=...),
    lambda s: s.base_lr * math.exp(-s.gamma * s.last_epoch),
)
InverseTimeDecay = _schedule(
    "InverseTimeDecay", "Divided by ``1 + gamma * epoch``.", dict(learning_rate=..., gamma=...),
    lambda s: s.base_lr / (1 + s.gamma * s.last_epoch),
)
LambdaDecay = _schedule(
    "LambdaDecay", "Times what a function says of the epoch.", dict(learning_rate=..., lr_lambda=...),
    lambda s: s.base_lr * s.lr_lambda(s.last_epoch),
)
PiecewiseDecay = _schedule(
    "PiecewiseDecay", "A constant between each two boundaries.",
    dict(boundaries=..., values=..., learning_rate=0.0),
    lambda s: s.values[sum(s.last_epoch >= b for b in s.boundaries)],
)
PolynomialDecay = _schedule(
    "PolynomialDecay", "Along a polynomial to ``end_lr`` in ``decay_steps``, once or (``cycle``) again.",
    dict(learning_rate=..., decay_steps=..., end_lr=0.0001, power=1.0, cycle=False),
    lambda s: (s.base_lr - s.end_lr) * (1 - _done(s)) ** s.power + s.end_lr,
)
CosineAnnealingDecay = _schedule(
    "CosineAnnealingDecay",
    "Along a cosine between the rate and ``eta_min``; half a period is ``T_max``.",
    dict(learning_rate=..., T_max=..., eta_min=0),
    lambda s: s.eta_min + (s.base_lr - s.eta_min) * (1 + math.cos(math.pi * s.last_epoch / s.T_max)) / 2,
)


def _done(s: Any) -> float:
    """The share of a polynomial decay that is over."""
    laps = max(1, math.ceil(s.last_epoch / s.decay_steps)) if s.cycle else 1
    return min(s.last_epoch / (s.decay_steps * laps), 1.0)


class NoamDecay(LRScheduler):
    """The rate of the first transformers: up for ``warmup_steps``, then down with the root of the step."""

    def __init__(
        self, d_model: int, warmup_steps: int, learning_rate: float = 1.0, last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.d_model, self.warmup_steps = d_model, warmup_steps
        super().__init__(learning_rate, last_epoch)

    def get_lr(self) -> float:
        """The rate at ``last_epoch``."""
        down = 1 if self.last_epoch == 0 else self.last_epoch**-0.5
        return self.base_lr * self.d_model**-0.5 * min(down, self.warmup_steps**-1.5 * self.last_epoch)


class LinearWarmup(LRScheduler):
    """A straight line from ``start_lr`` to ``end_lr``, then a rate or another schedule."""

    def __init__(
        self, learning_rate: Any, warmup_steps: int, start_lr: float, end_lr: float, last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.learning_rate, self.warmup_steps = learning_rate, warmup_steps
        self.start_lr, self.end_lr = start_lr, end_lr
        super().__init__(start_lr, last_epoch)

    def get_lr(self) -> float:
        """The rate at ``last_epoch``."""
        if self.last_epoch < self.warmup_steps:
            return (self.end_lr - self.start_lr) * self.last_epoch / self.warmup_steps + self.start_lr
        if isinstance(self.learning_rate, LRScheduler):
            self.learning_rate.step(self.last_epoch - self.warmup_steps)
            return self.learning_rate()
        return self.learning_rate

"""Schedules that move rate and momentum between bounds, or start over again."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Literal

from ..optimizer import Optimizer
from ._base import LRScheduler, callable_state, check_optimizer, per_group, write_value


def _has_momentum(optimizer: Optimizer) -> bool:
    """Whether momentum is ``betas[0]``, not ``"momentum"``; ValueError if it is neither."""
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError(
            "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
        )
    return "betas" in optimizer.defaults


def _write_momentum(group: dict, value: float, use_beta1: bool) -> None:
    if use_beta1:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


def _start_momentum(optimizer: Optimizer, highs: list, lows: list, use_beta1: bool) -> None:
    for high, low, group in zip(highs, lows, optimizer.param_groups, strict=True):
        _write_momentum(group, high, use_beta1)
        group["max_momentum"] = high
        group["base_momentum"] = low


def _triangular(cycle: float) -> float:
    return 1.0


def _triangular2(cycle: float) -> float:
    return 1 / (2.0 ** (cycle - 1))


def _exp_range(gamma: float, iteration: float) -> float:
    return gamma**iteration


class CyclicLR(LRScheduler):
    """Up from ``base_lr`` to ``max_lr`` and down, over and over; momentum the other way round.

    A cycle is ``step_size_up + step_size_down`` steps. With ``h`` running on lines from 0 to 1 and back,
    ``lr = base_lr + (max_lr - base_lr) * h * scale``, where ``scale`` is 1 (``"triangular"``),
    ``1 / 2^(cycle - 1)`` (``"triangular2"``, cycles counted from 1) or ``gamma^step``
    (``"exp_range"``). From Smith, "Cyclical learning rates for training neural networks", 2017.
    ``step`` is called after each batch.

    Args:
        optimizer: its groups' ``"lr"`` is written, and ``"momentum"`` or ``"betas"``.
        base_lr: rate at which cycles begin and end: a number, or a list with one a group.
        max_lr: rate at the top of the first cycle, likewise.
        step_size_up: steps from ``base_lr`` to the top.
        step_size_down: steps down again (default: ``step_size_up``).
        mode: ``"triangular"``, ``"triangular2"`` or ``"exp_range"``; not used with ``scale_fn``.
        gamma: the base of ``"exp_range"``.
        scale_fn: a function of one's own that returns ``scale``.
        scale_mode: what ``scale_fn`` is given: ``"cycle"`` or ``"iterations"``.
        cycle_momentum: whether momentum, or ``beta1``, moves from ``max_momentum`` to ``base_momentum``
            while the rate rises, and back.
        base_momentum: lowest momentum: a number, or a list with one a group.
        max_momentum: highest momentum, likewise.
        last_epoch: -1 to start; otherwise the step to go on from, which needs ``"initial_lr"`` in every
            group.

    Raises:
        ValueError: for an unknown ``mode`` without ``scale_fn``, a wrong number of bounds, or an
            optimizer without momentum while ``cycle_momentum``.
        TypeError: when ``optimizer`` is not an Optimizer.

    Example:
        >>> optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(2))], lr=1.0)
        >>> scheduler = torch.optim.lr_scheduler.CyclicLR(
        ...     optimizer, base_lr=1.0, max_lr=3.0, step_size_up=2, mode="triangular2",
        ...     cycle_momentum=False)
        >>> rates = []
        >>> for epoch in range(8):
        ...     rates += scheduler.get_last_lr()
        ...     optimizer.step()
        ...     scheduler.step()
        >>> rates
        [1.0, 2.0, 3.0, 2.0, 1.0, 1.5, 2.0, 1.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: Literal["triangular", "triangular2", "exp_range"] = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: Literal["cycle", "iterations"] = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.8,
        max_momentum: float | list[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        base_lrs = per_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for rate, group in zip(base_lrs, optimizer.param_groups, strict=True):
                write_value(group, "lr", rate)
        self.max_lrs = per_group("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        down = up if step_size_down is None else float(step_size_down)
        self.total_size = up + down
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        self._init_scale_fn()
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = _has_momentum(optimizer)
            self.base_momentums = per_group("base_momentum", optimizer, base_momentum)
            self.max_momentums = per_group("max_momentum", optimizer, max_momentum)
            if last_epoch == -1:
                _start_momentum(
                    optimizer, self.max_momentums, self.base_momentums, self.use_beta1
                )
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _init_scale_fn(self) -> None:
        if self._scale_fn_custom is not None:
            return
        scales = {
            "triangular": (_triangular, "cycle"),
            "triangular2": (_triangular2, "cycle"),
            "exp_range": (functools.partial(_exp_range, self.gamma), "iterations"),
        }
        self._scale_fn_ref, self.scale_mode = scales[self.mode]

    def scale_fn(self, x: float) -> float:
        """How high the cycle ``x`` (or the iteration, by ``scale_mode``) reaches, as a factor."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        return self._scale_fn_ref(x)

    def get_lr(self) -> list:
        self._warn_unless_computing()
        done = self.last_epoch / self.total_size
        cycle = math.floor(1 + done)
        x = 1.0 + done - cycle
        if x <= self.step_ratio:
            height = x / self.step_ratio
        else:
            height = (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            bounds = zip(self.base_momentums, self.max_momentums, strict=True)
            for group, (low, high) in zip(self.optimizer.param_groups, bounds, strict=True):
                _write_momentum(group, high - (high - low) * height * scale, self.use_beta1)
        return [
            low + (high - low) * height * scale
            for low, high in zip(self.base_lrs, self.max_lrs, strict=True)
        ]

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer and functions; of a callable object, its attributes."""
        state = super().state_dict()
        state.pop("_scale_fn_ref", None)
        state["_scale_fn_custom"] = callable_state(state.pop("_scale_fn_custom"))
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a ``state_dict``; ``scale_fn`` stays, with its attributes restored."""
        state = dict(state_dict)
        attributes = state.pop("_scale_fn_custom")
        super().load_state_dict(state)
        if attributes is not None:
            self._scale_fn_custom.__dict__.update(attributes)
        self._init_scale_fn()


class OneCycleLR(LRScheduler):
    """One cycle over the whole run: up to ``max_lr``, then down to far below where it began.

    The rate begins at ``max_lr / div_factor``, is ``max_lr`` at step ``pct_start * total_steps - 1`` and
    ends at ``max_lr / div_factor / final_div_factor``. Momentum falls while the rate rises, and
    rises while it falls. From Smith and Topin, "Super-convergence: very fast training of neural networks
    using large learning rates", 2017. ``step`` is called after each batch.

    Args:
        optimizer: its groups' ``"lr"`` is written, and ``"momentum"`` or ``"betas"``.
        max_lr: the highest rate: a number, or a list with one a group.
        total_steps: how many steps there are (default: ``epochs * steps_per_epoch``).
        epochs: how many epochs there are.
        steps_per_epoch: how many steps are in an epoch.
        pct_start: fraction of the steps in which the rate rises, a float between 0 and 1.
        anneal_strategy: ``"cos"`` or ``"linear"``: the curve between the bounds.
        cycle_momentum: whether momentum, or ``beta1``, moves too.
        base_momentum: lowest momentum: a number, or a list with one a group.
        max_momentum: highest momentum, likewise.
        div_factor: ``max_lr`` divided by the first rate.
        final_div_factor: the first rate divided by the last one.
        three_phase: come down to the first rate as slowly as it went up, and only then to the last one.
        last_epoch: -1 to start; otherwise the step to go on from.

    Raises:
        ValueError: for a missing or non-positive number of steps, ``pct_start`` out of [0, 1], an
            unknown ``anneal_strategy``, an optimizer without momentum while ``cycle_momentum``, or
            a step past the end.
        TypeError: when ``optimizer`` is not an Optimizer.

    Example:
        >>> optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(2))], lr=1.0, momentum=0.5)
        >>> scheduler = torch.optim.lr_scheduler.OneCycleLR(
        ...     optimizer, max_lr=4.0, total_steps=6, pct_start=0.5, anneal_strategy="linear",
        ...     base_momentum=0.5, max_momentum=1.0, div_factor=2.0, final_div_factor=2.0)
        >>> for step in range(3):
        ...     print(scheduler.get_last_lr(), optimizer.param_groups[0]["momentum"])
        ...     optimizer.step()
        ...     scheduler.step()
        [2.0] 1.0
        [3.0] 0.75
        [4.0] 0.5
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = _count_steps(total_steps, epochs, steps_per_epoch)
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                "anneal_strategy must be one of 'cos' or 'linear', instead got "
                f"{anneal_strategy}"
            )
        self._anneal_func_type = anneal_strategy
        max_lrs = per_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for high, group in zip(max_lrs, optimizer.param_groups, strict=True):
                group["initial_lr"] = high / div_factor
                group["max_lr"] = high
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = _has_momentum(optimizer)
            highs = per_group("max_momentum", optimizer, max_momentum)
            lows = per_group("base_momentum", optimizer, base_momentum)
            if last_epoch == -1:
                _start_momentum(optimizer, highs, lows, self.use_beta1)
        super().__init__(optimizer, last_epoch)

    def _anneal(self, start: Any, end: Any, fraction: float) -> Any:
        if self._anneal_func_type == "cos":
            return end + (start - end) / 2.0 * (math.cos(math.pi * fraction) + 1)
        return (end - start) * fraction + start

    def get_lr(self) -> list:
        self._warn_unless_computing()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        start = 0.0
        for phase in self._schedule_phases:
            end = phase["end_step"]
            if step <= end or phase is self._schedule_phases[-1]:
                break
            start = end
        fraction = (step - start) / (end - start)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(
                self._anneal(group[phase["start_lr"]], group[phase["end_lr"]], fraction)
            )
            if self.cycle_momentum:
                low, high = group[phase["start_momentum"]], group[phase["end_momentum"]]
                _write_momentum(group, self._anneal(low, high, fraction), self.use_beta1)
        return rates


def _count_steps(total_steps: Any, epochs: Any, steps_per_epoch: Any) -> int:
    def positive(name: str, value: Any) -> int:
        if value <= 0 or not isinstance(value, int):
            raise ValueError(f"Expected positive integer {name}, but got {value}")
        return value

    if total_steps is not None:
        return positive("total_steps", total_steps)
    if epochs is None or steps_per_epoch is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    return positive("epochs", epochs) * positive("steps_per_epoch", steps_per_epoch)


def _phases(total: int, warm_up: float, three_phase: bool) -> list[dict[str, Any]]:
    """Where each phase ends, and between which entries of a group it moves."""
    keys = ("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum")
    up = (float(warm_up * total) - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum")
    back = float(2 * warm_up * total) - 2
    if three_phase:
        rows = [
            up,
            (back, "max_lr", "initial_lr", "base_momentum", "max_momentum"),
            (total - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum"),
        ]
    else:
        rows = [up, (total - 1, "max_lr", "min_lr", "base_momentum", "max_momentum")]
    return [dict(zip(keys, row)) for row in rows]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine down to ``eta_min``, then from the top again, each ``T_mult`` times as long.

    ``lr = eta_min + (base_lr - eta_min) * (1 + cos(pi * T_cur / T_i)) / 2``, where ``T_cur`` is the number
    of epochs since the last restart and ``T_i`` the number of epochs between restarts. From Loshchilov and
    Hutter, "SGDR: stochastic gradient descent with warm restarts", 2017. Its ``step`` may be given a
    fraction of an epoch, to move the rate between batches.

    Args:
        optimizer: its groups' ``"lr"`` is written.
        T_0: epochs until the first restart.
        T_mult: how many times as long each period is as the one before; an integer.
        eta_min: rate at the bottom.
        last_epoch: -1 to start; otherwise the epoch to go on from, which needs ``"initial_lr"`` in every
            group of the optimizer.

    Raises:
        ValueError: unless ``T_0`` and ``T_mult`` are positive integers and ``eta_min`` a number.
        TypeError: when ``optimizer`` is not an Optimizer.
        KeyError: when ``last_epoch`` is not -1 and a group has no ``"initial_lr"``.

    Example:
        >>> optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(2))], lr=1.0)
        >>> scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=1, T_mult=2)
        >>> rates = []
        >>> for epoch in range(4):
        ...     rates += scheduler.get_last_lr()
        ...     optimizer.step()
        ...     scheduler.step()
        >>> rates
        [1.0, 1.0, 0.5, 1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, float | int):
            raise ValueError(
                f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}"
            )
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        self._warn_unless_computing()
        height = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Go to the next epoch, or to ``epoch``, which may be a fraction between batches."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        else:
            self._go_to(epoch)
        self.last_epoch = math.floor(epoch)
        with self._computing():
            values = self.get_lr()
        self._write(values)

    def _go_to(self, epoch: float) -> None:
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            # Restarts so far: the periods T_0, T_0 * T_mult, ... sum to a geometric series.
            n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**n

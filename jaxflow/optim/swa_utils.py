"""Averages of a model's weights over training, and the schedule that goes with them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from itertools import chain
from typing import Any, Literal

from jaxflow import _functions as functions
from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor
from jaxflow.autograd.grad_mode import no_grad
from jaxflow.nn.modules.batchnorm import _BatchNorm
from jaxflow.nn.modules.module import Module

from . import _device_state
from .lr_scheduler import LRScheduler
from .lr_scheduler._base import per_group
from .optimizer import Optimizer

__all__ = [
    "AveragedModel", "SWALR", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn",
    "get_swa_multi_avg_fn", "update_bn",
]


def _check_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def _has_lerp(t: Tensor) -> bool:
    return t.is_floating_point() or t.is_complex()


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable:
    """A function that moves many averages at once: ``decay * average + (1 - decay) * current``.

    Args:
        decay: from 0 to 1, the share of the average that stays.

    Returns:
        A function of the list of averages, which it overwrites, the list of current values, and a number
        that it does not read.

    Raises:
        ValueError: for another ``decay``.

    Example:
        >>> average = [torch.zeros(2)]
        >>> torch.optim.swa_utils.get_ema_multi_avg_fn(0.75)(average, [torch.ones(2)], 1)
        >>> average
        [tensor([0.2500, 0.2500])]
    """
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param_list: Sequence[Tensor], current_param_list: Sequence[Tensor], _: Any) -> None:
        if _has_lerp(ema_param_list[0]):
            functions._foreach_lerp_(ema_param_list, current_param_list, 1 - decay)
            return
        for average, current in zip(ema_param_list, current_param_list, strict=True):
            average.copy_(average * decay + current * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn() -> Callable:
    """A function that moves many averages at once: ``average + (current - average) / (number + 1)``.

    Returns:
        A function of the list of averages, which it overwrites, the list of current values, and how many
        values each average is of, a number or a tensor.

    Example:
        >>> average = [torch.zeros(2)]
        >>> torch.optim.swa_utils.get_swa_multi_avg_fn()(average, [torch.ones(2)], 3)
        >>> average
        [tensor([0.2500, 0.2500])]
    """

    @no_grad()
    def swa_update(averaged_param_list: Sequence[Tensor], current_param_list: Sequence[Tensor],
                   num_averaged: Tensor | int) -> None:
        if _has_lerp(averaged_param_list[0]):
            functions._foreach_lerp_(averaged_param_list, current_param_list, 1 / (num_averaged + 1))
            return
        apart = functions._foreach_sub(current_param_list, averaged_param_list)
        if isinstance(num_averaged, Tensor):
            functions._foreach_addcdiv_(averaged_param_list, apart,
                                        [num_averaged + 1] * len(averaged_param_list))
        else:
            functions._foreach_add_(averaged_param_list, apart, alpha=1.0 / (num_averaged + 1))

    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> Callable:
    """A function of one average: ``decay * average + (1 - decay) * current``.

    Args:
        decay: from 0 to 1, the share of the average that stays.

    Returns:
        A function of the average, the current value, and a number that it does not read.

    Raises:
        ValueError: for another ``decay``.

    Example:
        >>> torch.optim.swa_utils.get_ema_avg_fn(0.75)(torch.zeros(2), torch.ones(2), 1)
        tensor([0.2500, 0.2500])
    """
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn() -> Callable:
    """A function of one average: ``average + (current - average) / (number + 1)``.

    Returns:
        A function of the average, the current value, and how many values the average is of.

    Example:
        >>> torch.optim.swa_utils.get_swa_avg_fn()(torch.zeros(2), torch.ones(2), 3)
        tensor([0.2500, 0.2500])
    """

    @no_grad()
    def swa_update(averaged_param: Tensor, current_param: Tensor, num_averaged: Tensor | int) -> Tensor:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


class AveragedModel(Module):
    """A copy of a model, under the name ``module``, whose parameters are averages over training.

    Izmailov and others, "Averaging weights leads to wider optima and better generalization", 2018. It is
    called as the model is. `update_parameters` takes the present parameters into the averages; the first
    time they are copied.

    Args:
        model: the model that is copied.
        device: where the copy goes; the default is where the model is.
        avg_fn: ``avg_fn(average, current, number)`` gives the new average of one parameter; the default is
            the mean of all values.
        multi_avg_fn: ``multi_avg_fn(averages, currents, number)`` overwrites those of many.
        use_buffers: average buffers as well, instead of copying them.

    Raises:
        AssertionError: for both functions.

    Example:
        >>> net = nn.Linear(1, 1, bias=False)
        >>> average = torch.optim.swa_utils.AveragedModel(net)
        >>> for value in (1.0, 2.0, 6.0):
        ...     _ = nn.init.constant_(net.weight, value)
        ...     average.update_parameters(net)
        >>> average(torch.ones(1, 1)).item(), average.n_averaged.item()
        (3.0, 3)
    """

    n_averaged: Tensor

    def __init__(self, model: Module, device: Any = None, avg_fn: Callable | None = None,
                 multi_avg_fn: Callable | None = None, use_buffers: bool = False) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", functions.tensor(0, dtype=dtypes.int64, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the averaged model returns."""
        return self.module(*args, **kwargs)

    @no_grad()
    def update_parameters(self, model: Module) -> None:
        """Take the present parameters of ``model`` into the averages.

        Averages, buffers and the count are stored at once, unless a ``multi_avg_fn`` overwrites averages.
        """
        averages, currents = self.parameters(), model.parameters()
        if self.use_buffers:
            averages = chain(self.module.parameters(), self.module.buffers())
            currents = chain(model.parameters(), model.buffers())
        pairs = [(a.detach(), c.detach().to(a.device)) for a, c in zip(averages, currents)]
        rest = [(self.n_averaged, self.n_averaged + 1)]
        if not self.use_buffers:
            rest += [(ours.detach(), theirs.detach().to(ours.device))
                     for ours, theirs in zip(self.module.buffers(), model.buffers(), strict=True)]
        if self.n_averaged > 0:
            if self.multi_avg_fn is not None:
                self._call_multi(pairs)
                pairs = []
            else:
                move = self.avg_fn or get_swa_avg_fn()
                pairs = [(a, move(a, c, self.n_averaged.to(a.device))) for a, c in pairs]
        pairs += rest
        _device_state.copy_all([a for a, _ in pairs], [new for _, new in pairs])

    def _call_multi(self, pairs: list) -> None:
        """One call of the user's function for each device and dtype."""
        groups: dict[tuple, list] = {}
        for a, c in pairs:
            groups.setdefault((a.device, a.dtype), []).append((a, c))
        for (device, _), group in groups.items():
            self.multi_avg_fn([a for a, _ in group], [c for _, c in group], self.n_averaged.to(device))


@no_grad()
def update_bn(loader: Iterable, model: Module, device: Any = None) -> None:
    """Compute the running statistics of batch norms anew, as means over one pass of ``loader``.

    Args:
        loader: batches: tensors, or lists and tuples that begin with one.
        model: called with each; other modules are left as they are.
        device: where batches go before.

    Returns:
        None.

    Example:
        >>> net = nn.BatchNorm1d(1)
        >>> torch.optim.swa_utils.update_bn([torch.tensor([[1.0], [3.0]]), torch.tensor([[5.0], [7.0]])], net)
        >>> net.running_mean
        tensor([4.])
    """
    momenta = {}
    for module in model.modules():
        if isinstance(module, _BatchNorm):
            module.reset_running_stats()
            momenta[module] = module.momentum
    if not momenta:
        return
    was_training = model.training
    try:
        model.train()
        for module in momenta:
            module.momentum = None
        for batch in loader:
            first = batch[0] if isinstance(batch, (list, tuple)) else batch
            model(first if device is None else first.to(device))
    finally:
        for module, momentum in momenta.items():
            module.momentum = momentum
        model.train(was_training)


def _linear(t: float) -> float:
    return t


def _cosine(t: float) -> float:
    return (1 - math.cos(math.pi * t)) / 2


class SWALR(LRScheduler):
    """From each group's rate to ``swa_lr`` in ``anneal_epochs`` steps, where it then stays.

    Args:
        optimizer: its groups' ``"lr"`` is written.
        swa_lr: the last rate: a number, or a list with one a group.
        anneal_epochs: number of steps, at least 0.
        anneal_strategy: the way there: half a wave of the cosine (``"cos"``) or a line (``"linear"``).
        last_epoch: the step to go on after; -1 to begin.

    Raises:
        ValueError: for another strategy or number of steps.

    Example:
        >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
        >>> schedule = torch.optim.swa_utils.SWALR(optimizer, 0.5, anneal_epochs=2, anneal_strategy="linear")
        >>> for _ in range(3):
        ...     optimizer.step()
        ...     schedule.step()
        ...     print(schedule.get_last_lr())
        [0.75]
        [0.5]
        [0.5]
    """

    def __init__(self, optimizer: Optimizer, swa_lr: float, anneal_epochs: int = 10,
                 anneal_strategy: Literal["cos", "linear"] = "cos", last_epoch: int = -1) -> None:
        for rate, group in zip(per_group("swa_lr", optimizer, swa_lr), optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._set_anneal_func(anneal_strategy)
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _set_anneal_func(self, anneal_strategy: str) -> None:
        self._anneal_strategy = anneal_strategy
        self.anneal_func = _cosine if anneal_strategy == "cos" else _linear

    def get_lr(self) -> list:
        """The rates of this step."""
        self._warn_unless_computing()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        length = max(1, self.anneal_epochs)
        before, now = (self.anneal_func(max(0, min(1, s / length))) for s in (step - 1, step))
        return [self._rate(group, before, now) for group in self.optimizer.param_groups]

    def _rate(self, group: dict, before: float, now: float) -> Any:
        """The rate at ``now`` on the way whose place ``before`` the group's present rate is."""
        last = group["swa_lr"]
        first = last if before == 1 else (group["lr"] - before * last) / (1 - before)
        return last * now + first * (1 - now)

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer and the function."""
        return {key: x for key, x in self.__dict__.items() if key not in ("optimizer", "anneal_func")}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a ``state_dict``."""
        self.__dict__.update(state_dict)
        self._set_anneal_func(self._anneal_strategy)

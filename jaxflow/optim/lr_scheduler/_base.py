"""What all schedules share: attaching to an optimizer, counting epochs, writing learning rates."""

from __future__ import annotations

import functools
import types
import warnings
import weakref
from collections.abc import Callable
from typing import Any

from jaxflow._core.modes import Changed
from jaxflow._core.tensor import Tensor

from ..optimizer import Optimizer

EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where "
    "possible. Please use `scheduler.step()` to step the scheduler. During the deprecation, if "
    "epoch is different from None, the closed form is used instead of the new chainable form, "
    "where available. Please open an issue if you are unable to replicate your use case: "
    "https://github.com/pytorch/pytorch/issues/new/choose."
)
_ORDER_URL = "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"


def copied(value: Any) -> Any:
    """A tensor's clone, so that nobody changes a rate in place; other values as they are."""
    return value.clone() if isinstance(value, Tensor) else value


def per_group(name: str, optimizer: Optimizer, value: Any) -> list:
    """``value`` as one value a group; a list or tuple must have that length already."""
    count = len(optimizer.param_groups)
    if isinstance(value, list | tuple):
        if len(value) != count:
            raise ValueError(
                f"{name} must have the same length as optimizer.param_groups. {name} has "
                f"{len(value)} values, param_groups has {count}."
            )
        values = list(value)
    else:
        values = [value] * count
    return [copied(v) for v in values]


def group_values(optimizer: Optimizer, key: str) -> list:
    """Each group's ``key``."""
    return [copied(group[key]) for group in optimizer.param_groups]


def write_value(group: dict, key: str, value: Any) -> None:
    """Set a group's ``key``; a tensor is filled, since programs may hold on to it."""
    if isinstance(group[key], Tensor):
        group[key].fill_(value.squeeze() if isinstance(value, Tensor) and value.dim() else value)
    else:
        group[key] = value


def check_optimizer(optimizer: Any) -> None:
    """Raise ``TypeError`` unless ``optimizer`` is one."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def _note_steps(optimizer: Optimizer) -> None:
    """Make ``optimizer.step`` remember its calls, for the warning about their order."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    function, owner = optimizer.step.__func__, weakref.ref(optimizer)

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        opt = owner()
        opt._opt_called = True
        return function.__get__(opt, opt.__class__)(*args, **kwargs)

    wrapper._wrapped_by_lr_sched = True
    optimizer.step = wrapper


class LRScheduler:
    """Base of schedules: ``step`` moves to the next epoch and writes what ``get_lr`` returns.

    A subclass defines ``get_lr``, which returns the learning rates of the epoch ``last_epoch``, one a
    group; ``base_lrs`` are those that the schedule started from. Making a schedule writes the rates of
    epoch 0. ``step`` is called after the optimizer's ``step``.

    Args:
        optimizer: whose groups' ``"lr"`` is written.
        last_epoch: -1 to start; otherwise the epoch to go on from, given ``"initial_lr"``.

    Raises:
        TypeError: when ``optimizer`` is not an Optimizer.
        KeyError: when resuming without ``"initial_lr"``.

    Example:
        >>> class Harmonic(torch.optim.lr_scheduler.LRScheduler):
        ...     def get_lr(self):
        ...         return [base / (1 + self.last_epoch) for base in self.base_lrs]
        >>> optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(2))], lr=1.0)
        >>> scheduler = Harmonic(optimizer)
        >>> optimizer.step()
        >>> scheduler.step()
        >>> scheduler.get_last_lr(), optimizer.param_groups[0]["lr"]
        ([0.5], 0.5)
    """

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        if last_epoch == -1:
            for group in optimizer.param_groups:
                group.setdefault("initial_lr", copied(group["lr"]))
        else:
            for i, group in enumerate(optimizer.param_groups):
                if "initial_lr" not in group:
                    raise KeyError(
                        f"param 'initial_lr' is not specified in param_groups[{i}] when resuming "
                        "scheduler with last_epoch >= 0.\nLoad the optimizer's state first, or "
                        "leave last_epoch at -1 to start a new schedule."
                    )
        self.base_lrs = group_values(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        _note_steps(optimizer)
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        Changed(self, _is_initial=True).run(self.step)

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a ``state_dict``."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list:
        """The learning rates last written, one a group."""
        return self._last_lr

    def get_lr(self) -> list:
        """The learning rates of ``last_epoch``; subclasses say which."""
        raise NotImplementedError

    def step(self, epoch: int | None = None) -> None:
        """Go to the next epoch, or (deprecated) to ``epoch``."""
        if self._step_count == 1:
            self._check_order()
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _check_order(self) -> None:
        if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
            warnings.warn(
                "Seems like `optimizer.step()` has been overridden after learning rate scheduler "
                "initialization. Please, make sure to call `optimizer.step()` before "
                f"`lr_scheduler.step()`. See more details at {_ORDER_URL}",
                UserWarning,
                stacklevel=3,
            )
        elif not getattr(self.optimizer, "_opt_called", False):
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch "
                "1.1.0 and later, you should call them in the opposite order: `optimizer.step()` "
                "before `lr_scheduler.step()`.  Failure to do this will result in PyTorch skipping "
                "the first value of the learning rate schedule. See more details at "
                f"{_ORDER_URL}",
                UserWarning,
                stacklevel=3,
            )

    def _update_lr(self, epoch: int | None = None) -> None:
        self._write(self._computing().run(self._go_to, epoch))

    def _go_to(self, epoch: int | None) -> list:
        """Go to an epoch, None for the next; the values there."""
        if epoch is None:
            self.last_epoch += 1
            return self.get_lr()
        self.last_epoch = epoch
        return getattr(self, "_get_closed_form_lr", self.get_lr)()

    def _write(self, values: list) -> None:
        for group, value in zip(self.optimizer.param_groups, values, strict=True):
            write_value(group, "lr", value)
        self._last_lr = group_values(self.optimizer, "lr")

    def _computing(self) -> Changed:
        """Inside, ``get_lr`` is called by the schedule, not by a user."""
        return Changed(self, _get_lr_called_within_step=True)

    def _warn_unless_computing(self) -> None:
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use "
                "`get_last_lr()`.",
                UserWarning,
                stacklevel=3,
            )

    def _scaled(self, factor: Any) -> list:
        """The groups' present rates times ``factor``."""
        return [group["lr"] * factor for group in self.optimizer.param_groups]

    def _unchanged(self) -> list:
        return group_values(self.optimizer, "lr")


class _LRScheduler(LRScheduler):
    """The name of :class:`LRScheduler` in old programs."""


def callable_state(function: Callable | None) -> dict | None:
    """What a ``state_dict`` keeps of a callable: its attributes, or None for a plain function."""
    if function is None or isinstance(function, types.FunctionType):
        return None
    return function.__dict__.copy()

"""Schedules that multiply the present learning rate by a factor at each epoch."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from ..optimizer import Optimizer
from ._base import LRScheduler, callable_state


class _ByFunction(LRScheduler):
    """One function of the epoch for each group."""

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Callable | list[Callable], last_epoch: int = -1
    ) -> None:
        self.optimizer = optimizer
        count = len(optimizer.param_groups)
        if isinstance(lr_lambda, list | tuple):
            if len(lr_lambda) != count:
                raise ValueError(f"Expected {count} lr_lambdas, but got {len(lr_lambda)}")
            self.lr_lambdas = list(lr_lambda)
        else:
            self.lr_lambdas = [lr_lambda] * count
        self._check_lambdas()
        super().__init__(optimizer, last_epoch)

    def _check_lambdas(self) -> None:
        """LambdaLR leaves it to the first call to find what is not a function."""

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer and functions; of callable objects, their attributes."""
        state = super().state_dict()
        state["lr_lambdas"] = [callable_state(fn) for fn in state.pop("lr_lambdas")]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a ``state_dict``; functions stay, callables take over their attributes."""
        state = dict(state_dict)
        saved = state.pop("lr_lambdas")
        self.__dict__.update(state)
        for function, attributes in zip(self.lr_lambdas, saved):
            if attributes is not None:
                function.__dict__.update(attributes)


class LambdaLR(_ByFunction):
    """The initial rate times ``lr_lambda(epoch)``.

    Args:
        optimizer: its groups' ``"lr"`` is written.
        lr_lambda: a function of the epoch that returns a factor, or a list of them, one a group.
        last_epoch: -1 to start; otherwise the epoch to go on from, which needs ``"initial_lr"`` in every
            group of the optimizer.

    Raises:
        ValueError: for another number of functions than groups.
        KeyError: when ``last_epoch`` is not -1 and a group has no ``"initial_lr"``.

    Example:
        >>> optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(2))], lr=1.0)
        >>> scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / 2 ** (epoch // 2))
        >>> rates = []
        >>> for epoch in range(5):
        ...     rates += scheduler.get_last_lr()
        ...     optimizer.step()
        ...     scheduler.step()
        >>> rates
        [1.0, 1.0, 0.5, 0.5, 0.25]
    """

    def get_lr(self) -> list:
        self._warn_unless_computing()
        return [
            base * function(self.last_epoch)
            for function, base in zip(self.lr_lambdas, self.base_lrs, strict=True)
        ]


class MultiplicativeLR(_ByFunction):
    """The present rate times ``lr_lambda(epoch)``.

    It is not called at epoch 0, where the rate stays as it is.

    Args:
        optimizer: its groups' ``"lr"`` is written.
        lr_lambda: a function of the epoch that returns a factor, or a list of them, one a group.
        last_epoch: -1 to start; otherwise the epoch to go on from, which needs ``"initial_lr"`` in every
            group of the optimizer.

    Raises:
        ValueError: for another number of functions than groups.
        TypeError: when one of them cannot be called.
        KeyError: when ``last_epoch`` is not -1 and a group has no ``"initial_lr"``.

    Example:
        >>> optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(2))], lr=1.0)
        >>> scheduler = torch.optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.5)
        >>> rates = []
        >>> for epoch in range(4):
        ...     rates += scheduler.get_last_lr()
        ...     optimizer.step()
        ...     scheduler.step()
        >>> rates
        [1.0, 0.5, 0.25, 0.125]
    """

    def _check_lambdas(self) -> None:
        for function in self.lr_lambdas:
            if not callable(function):
                raise TypeError(
                    f"lr_lambda should be a function, but got {type(function).__name__}"
                )

    def get_lr(self) -> list:
        self._warn_unless_computing()
        if self._is_initial:
            return self._unchanged()
        return [
            group["lr"] * function(self.last_epoch)
            for function, group in zip(self.lr_lambdas, self.optimizer.param_groups, strict=True)
        ]


class StepLR(LRScheduler):
    """Times ``gamma`` every ``step_size`` epochs.

    ``lr = base_lr * gamma^(epoch // step_size)``.

    Args:
        optimizer: its groups' ``"lr"`` is written.
        step_size: epochs between two changes.
        gamma: factor of each change.
        last_epoch: -1 to start; otherwise the epoch to go on from, which needs ``"initial_lr"`` in every
            group of the optimizer.

    Raises:
        TypeError: when ``optimizer`` is not an Optimizer.
        KeyError: when ``last_epoch`` is not -1 and a group has no ``"initial_lr"``.

    Example:
        >>> optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(2))], lr=1.0)
        >>> scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
        >>> rates = []
        >>> for epoch in range(5):
        ...     rates += scheduler.get_last_lr()
        ...     optimizer.step()
        ...     scheduler.step()
        >>> rates
        [1.0, 1.0, 0.5, 0.5, 0.25]
    """

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        self._warn_unless_computing()
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return self._unchanged()
        return self._scaled(self.gamma)

    def _get_closed_form_lr(self) -> list:
        factor = self.gamma ** (self.last_epoch // self.step_size)
        return [base * factor for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Times ``gamma`` at each of the ``milestones``.

    Args:
        optimizer: its groups' ``"lr"`` is written.
        milestones: epochs of the changes; one that is listed twice counts twice.
        gamma: factor of each change.
        last_epoch: -1 to start; otherwise the epoch to go on from, which needs ``"initial_lr"`` in every
            group of the optimizer.

    Raises:
        TypeError: when ``optimizer`` is not an Optimizer.
        KeyError: when ``last_epoch`` is not -1 and a group has no ``"initial_lr"``.

    Example:
        >>> optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(2))], lr=1.0)
        >>> scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[1, 3], gamma=0.5)
        >>> rates = []
        >>> for epoch in range(5):
        ...     rates += scheduler.get_last_lr()
        ...     optimizer.step()
        ...     scheduler.step()
        >>> rates
        [1.0, 0.5, 0.5, 0.25, 0.25]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Iterable[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        self._warn_unless_computing()
        if self.last_epoch not in self.milestones:
            return self._unchanged()
        return self._scaled(self.gamma ** self.milestones[self.last_epoch])

    def _get_closed_form_lr(self) -> list:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """Times ``factor`` until epoch ``total_iters``.

    From that epoch on the rate is the initial one again.

    Args:
        optimizer: its groups' ``"lr"`` is written.
        factor: between 0 and 1; it has to be above 0 for the rate to come back.
        total_iters: epochs with the smaller rate.
        last_epoch: -1 to start; otherwise the epoch to go on from, which needs ``"initial_lr"`` in every
            group of the optimizer.

    Raises:
        ValueError: for a ``factor`` that is not between 0 and 1.
        TypeError: when ``optimizer`` is not an Optimizer.
        KeyError: when ``last_epoch`` is not -1 and a group has no ``"initial_lr"``.

    Example:
        >>> optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(2))], lr=1.0)
        >>> scheduler = torch.optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=2)
        >>> rates = []
        >>> for epoch in range(4):
        ...     rates += scheduler.get_last_lr()
        ...     optimizer.step()
        ...     scheduler.step()
        >>> rates
        [0.5, 0.5, 1.0, 1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1.0 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        self._warn_unless_computing()
        if self.last_epoch == 0:
            return self._scaled(self.factor)
        if self.last_epoch != self.total_iters:
            return self._unchanged()
        return self._scaled(1.0 / self.factor)

    def _get_closed_form_lr(self) -> list:
        factor = 1 if self.last_epoch >= self.total_iters else self.factor
        return [base * factor for base in self.base_lrs]


class LinearLR(LRScheduler):
    """A factor on a line from ``start_factor`` to ``end_factor`` over ``total_iters`` epochs.

    ``lr = base_lr * (start_factor + (end_factor - start_factor) * min(epoch, total_iters) / total_iters)``.

    Args:
        optimizer: its groups' ``"lr"`` is written.
        start_factor: factor at epoch 0, above 0 and at most 1.
        end_factor: factor from epoch ``total_iters`` on, between 0 and 1.
        total_iters: epochs until ``end_factor`` is reached.
        last_epoch: -1 to start; otherwise the epoch to go on from, which needs ``"initial_lr"`` in every
            group of the optimizer.

    Raises:
        ValueError: for a factor out of its range.
        TypeError: when ``optimizer`` is not an Optimizer.
        KeyError: when ``last_epoch`` is not -1 and a group has no ``"initial_lr"``.

    Example:
        >>> optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(2))], lr=1.0)
        >>> scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.5, total_iters=2)
        >>> rates = []
        >>> for epoch in range(4):
        ...     rates += scheduler.get_last_lr()
        ...     optimizer.step()
        ...     scheduler.step()
        >>> rates
        [0.5, 0.75, 1.0, 1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal "
                "to 1."
            )
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        self._warn_unless_computing()
        if self.last_epoch == 0:
            return self._scaled(self.start_factor)
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._unchanged()
        rise = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * rise
        return self._scaled(1.0 + rise / before)

    def _get_closed_form_lr(self) -> list:
        rise = self.end_factor - self.start_factor
        done = min(self.total_iters, self.last_epoch)
        factor = self.start_factor + rise * done / self.total_iters
        return [base * factor for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Times ``gamma`` every epoch.

    ``lr = base_lr * gamma^epoch``.

    Args:
        optimizer: its groups' ``"lr"`` is written.
        gamma: factor of every epoch.
        last_epoch: -1 to start; otherwise the epoch to go on from, which needs ``"initial_lr"`` in every
            group of the optimizer.

    Raises:
        TypeError: when ``optimizer`` is not an Optimizer.
        KeyError: when ``last_epoch`` is not -1 and a group has no ``"initial_lr"``.

    Example:
        >>> optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(2))], lr=1.0)
        >>> scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
        >>> rates = []
        >>> for epoch in range(4):
        ...     rates += scheduler.get_last_lr()
        ...     optimizer.step()
        ...     scheduler.step()
        >>> rates
        [1.0, 0.5, 0.25, 0.125]
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        self._warn_unless_computing()
        return self._unchanged() if self._is_initial else self._scaled(self.gamma)

    def _get_closed_form_lr(self) -> list:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """Down to zero within ``total_iters`` epochs, as a power of what is left.

    ``lr = base_lr * (1 - min(epoch, total_iters) / total_iters)^power``.

    Args:
        optimizer: its groups' ``"lr"`` is written.
        total_iters: epochs until the rate is zero.
        power: 1 is a straight line; a larger power falls faster at first.
        last_epoch: -1 to start; otherwise the epoch to go on from, which needs ``"initial_lr"`` in every
            group of the optimizer.

    Raises:
        TypeError: when ``optimizer`` is not an Optimizer.
        KeyError: when ``last_epoch`` is not -1 and a group has no ``"initial_lr"``.

    Example:
        >>> optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(2))], lr=1.0)
        >>> scheduler = torch.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=2, power=2.0)
        >>> rates = []
        >>> for epoch in range(4):
        ...     rates += scheduler.get_last_lr()
        ...     optimizer.step()
        ...     scheduler.step()
        >>> rates
        [1.0, 0.25, 0.0, 0.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        total_iters: int = 5,
        power: float = 1.0,
        last_epoch: int = -1,
    ) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        self._warn_unless_computing()
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._unchanged()
        left = 1.0 - self.last_epoch / self.total_iters
        before = 1.0 - (self.last_epoch - 1) / self.total_iters
        return self._scaled((left / before) ** self.power)

    def _get_closed_form_lr(self) -> list:
        left = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * left**self.power for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """Half a cosine from the initial rate down to ``eta_min`` in ``T_max`` epochs, and back up.

    ``lr = eta_min + (base_lr - eta_min) * (1 + cos(pi * epoch / T_max)) / 2``: the curve of Loshchilov and
    Hutter, "SGDR: stochastic gradient descent with warm restarts", 2017, without the restarts, for which
    there is `CosineAnnealingWarmRestarts`.

    Args:
        optimizer: its groups' ``"lr"`` is written.
        T_max: epochs until the rate is ``eta_min``.
        eta_min: rate at the bottom.
        last_epoch: -1 to start; otherwise the epoch to go on from, which needs ``"initial_lr"`` in every
            group of the optimizer.

    Raises:
        TypeError: when ``optimizer`` is not an Optimizer.
        KeyError: when ``last_epoch`` is not -1 and a group has no ``"initial_lr"``.

    Example:
        >>> optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(2))], lr=1.0)
        >>> scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
        >>> rates = []
        >>> for epoch in range(3):
        ...     rates += scheduler.get_last_lr()
        ...     optimizer.step()
        ...     scheduler.step()
        >>> rates
        [1.0, 0.5, 0.0]
    """

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list:
        self._warn_unless_computing()
        if self._is_initial:
            return self._unchanged()
        if self._step_count == 1 and self.last_epoch > 0:
            return self._get_closed_form_lr()
        rates = [group["lr"] for group in self.optimizer.param_groups]
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            # The rate was eta_min, which a factor cannot leave.
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            return [
                rate + (base - self.eta_min) * rise for rate, base in zip(rates, self.base_lrs)
            ]
        now, before = (
            1 + math.cos(math.pi * epoch / self.T_max)
            for epoch in (self.last_epoch, self.last_epoch - 1)
        )
        return [now / before * (rate - self.eta_min) + self.eta_min for rate in rates]

    def _get_closed_form_lr(self) -> list:
        height = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]

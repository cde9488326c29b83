"""Optimizers, with Paddle's names and arguments, over jaxflow's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow import optim as _optim
from jaxflow._dialect import missing as _missing

from .._tensor import Tensor as _Tensor
from . import lr as lr


class Optimizer:
    """Base of the optimizers: jaxflow's does the steps, this gives it Paddle's methods.

    Args:
        learning_rate: a number, or a schedule of ``paddle.optimizer.lr``.
        parameters: the parameters to train, or dicts of them with settings of their own.
        weight_decay: a number times every parameter is added to its gradient (in AdamW: taken off itself).
        grad_clip: what to do to the gradients before a step; see ``paddle.nn.ClipGradByGlobalNorm``.

    Raises:
        ValueError: when no parameters are given.
    """

    _make: Callable

    def __init__(
        self, learning_rate: Any, parameters: Any, weight_decay: Any, grad_clip: Any, **settings: Any
    ) -> None:
        if parameters is None:
            raise ValueError("parameters argument given to the Optimizer should not be None in dygraph mode.")
        schedule = learning_rate if isinstance(learning_rate, lr.LRScheduler) else None
        self._learning_rate, self._grad_clip = learning_rate, grad_clip
        groups = [
            {("lr" if key == "learning_rate" else key): value for key, value in p.items()}
            if isinstance(p, dict) else p for p in parameters
        ]
        decay = getattr(weight_decay, "coeff", weight_decay) or 0.0
        rate = learning_rate if schedule is None else schedule()
        self._optimizer = self._make(groups, lr=rate, weight_decay=decay, **settings)

    def _parameters(self) -> list:
        return [p for group in self._optimizer.param_groups for p in group["params"]]

    def step(self) -> None:
        """Change every parameter by its gradient."""
        if isinstance(self._learning_rate, lr.LRScheduler):
            self.set_lr(self._learning_rate())
        if self._grad_clip is not None:
            self._grad_clip.clip([p for p in self._parameters() if p._grad is not None])
        self._optimizer.step()

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Fill every gradient with zeros, or forget it."""
        for p in self._parameters():
            _Tensor.clear_gradient(p, set_to_zero)

    clear_gradients = clear_grad

    def minimize(self, loss: Any, *unused: Any) -> tuple[None, list]:
        """``loss.backward()`` where that was not done, and a step."""
        if loss.grad_fn is not None and all(p._grad is None for p in self._parameters()):
            _Tensor.backward(loss)
        self.step()
        return None, [(p, p._grad) for p in self._parameters()]

    def get_lr(self) -> float:
        """The learning rate of the next step."""
        scheduled = isinstance(self._learning_rate, lr.LRScheduler)
        return self._learning_rate() if scheduled else self._optimizer.param_groups[0]["lr"]

    def set_lr(self, value: float) -> None:
        """Use another learning rate from the next step on."""
        for group in self._optimizer.param_groups:
            group["lr"] = float(value)

    def state_dict(self) -> dict:
        """What the optimizer keeps, and where its schedule is."""
        state = self._optimizer.state_dict()
        if isinstance(self._learning_rate, lr.LRScheduler):
            state["LR_Scheduler"] = self._learning_rate.state_dict()
        return state

    def set_state_dict(self, state_dict: dict) -> None:
        """Take what :meth:`state_dict` gave."""
        state = dict(state_dict)
        schedule = state.pop("LR_Scheduler", None)
        if schedule is not None:
            self._learning_rate.set_state_dict(schedule)
        self._optimizer.load_state_dict(state)


class SGD(Optimizer):
    """``p -= learning_rate * gradient``."""

    _make = _optim.SGD

    def __init__(
        self, learning_rate: Any = 0.001, parameters: Any = None, weight_decay: Any = None,
        grad_clip: Any = None, name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, parameters, weight_decay, grad_clip)


class Momentum(Optimizer):
    """Stochastic gradient descent with momentum, plain or Nesterov's."""

    _make = _optim.SGD

    def __init__(
        self, learning_rate: Any = 0.001, momentum: float = 0.9, parameters: Any = None,
        use_nesterov: bool = False, weight_decay: Any = None, grad_clip: Any = None, name: str | None = None,
    ) -> None:
        super().__init__(
            learning_rate, parameters, weight_decay, grad_clip, momentum=momentum, nesterov=use_nesterov
        )


class Adagrad(Optimizer):
    """Steps divided by the root of the sum of all squared gradients."""

    _make = _optim.Adagrad

    def __init__(
        self, learning_rate: Any, epsilon: float = 1e-6, parameters: Any = None, weight_decay: Any = None,
        grad_clip: Any = None, name: str | None = None, initial_accumulator_value: float = 0.0,
    ) -> None:
        super().__init__(
            learning_rate, parameters, weight_decay, grad_clip, eps=epsilon,
            initial_accumulator_value=initial_accumulator_value,
        )


class Adadelta(Optimizer):
    """Steps in proportion to the root of the mean of the squared steps before."""

    _make = _optim.Adadelta

    def __init__(
        self, learning_rate: Any = 0.001, epsilon: float = 1e-6, rho: float = 0.95, parameters: Any = None,
        weight_decay: Any = None, grad_clip: Any = None, name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, eps=epsilon, rho=rho)


class Adam(Optimizer):
    """Steps scaled by running means of the gradient and of its square."""

    _make = _optim.Adam

    def __init__(
        self, learning_rate: Any = 0.001, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8,
        parameters: Any = None, weight_decay: Any = None, grad_clip: Any = None, name: str | None = None,
        amsgrad: bool = False,
    ) -> None:
        super().__init__(
            learning_rate, parameters, weight_decay, grad_clip, betas=(float(beta1), float(beta2)),
            eps=epsilon, amsgrad=amsgrad,
        )


class AdamW(Optimizer):
    """Adam whose weight decay takes a share off every parameter."""

    _make = _optim.AdamW

    def __init__(
        self, learning_rate: Any = 0.001, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8,
        parameters: Any = None, weight_decay: Any = 0.01, grad_clip: Any = None, name: str | None = None,
        amsgrad: bool = False,
    ) -> None:
        super().__init__(
            learning_rate, parameters, weight_decay, grad_clip, betas=(float(beta1), float(beta2)),
            eps=epsilon, amsgrad=amsgrad,
        )


_MISSING = frozenset("ASGD Adamax LBFGS Lamb NAdam RAdam RMSProp Rprop".split())


def __getattr__(name: str) -> object:
    raise _missing("Paddle", "paddle.optimizer", _MISSING, name)

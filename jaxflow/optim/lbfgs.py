"""L-BFGS."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from jaxflow import _functions as functions
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._ops import quasi_newton
from jaxflow.autograd.grad_mode import enable_grad, no_grad

from . import _device_state
from ._rule import require
from ._strong_wolfe import Point, strong_wolfe
from .optimizer import Optimizer


class LBFGS(Optimizer):
    """Quasi-Newton steps from the last changes of the parameters and their gradients.

    Each iteration moves all parameters, taken as one vector, along minus the gradient times an approximate
    inverse Hessian: by ``lr``, or as far as a line search says. Nocedal, "Updating quasi-Newton matrices with
    limited storage", 1980. A step makes many iterations, so it takes a function that computes the loss anew.
    If that raises, parameters and state are as before the step.

    Args:
        params: tensors or ``(name, tensor)`` pairs, one group; leaf tensors of one dtype.
        lr: length of a step, at least 0: a number or a tensor of one element.
        max_iter: the largest number of iterations of a step.
        max_eval: the largest number of evaluations of a step; by default ``max_iter * 5 // 4``.
        tolerance_grad: the step ends when no element of the gradient is larger.
        tolerance_change: the step ends when neither the loss nor a parameter changes by more.
        history_size: how many changes are kept.
        line_search_fn: None, or ``"strong_wolfe"``.

    Raises:
        ValueError: for a negative ``lr`` and for several groups.
        RuntimeError: by ``step``, for another line search.

    Example:
        >>> p = nn.Parameter(torch.tensor([3.0, -2.0]))
        >>> optimizer = torch.optim.LBFGS([p], line_search_fn="strong_wolfe")
        >>> def closure():
        ...     optimizer.zero_grad()
        ...     loss = (p ** 2).sum()
        ...     loss.backward()
        ...     return loss
        >>> optimizer.step(closure).item(), bool(p.abs().max() < 1e-4)
        (13.0, True)
    """

    def __init__(
        self,
        params: Iterable,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        if isinstance(lr, Tensor):
            require(lr.numel() == 1, "Tensor lr must be 1-element")
        require(0.0 <= lr, f"Invalid learning rate: {lr}")
        defaults = dict(
            lr=lr,
            max_iter=max_iter,
            max_eval=max_iter * 5 // 4 if max_eval is None else max_eval,
            tolerance_grad=tolerance_grad,
            tolerance_change=tolerance_change,
            history_size=history_size,
            line_search_fn=line_search_fn,
        )
        super().__init__(params, defaults)
        require(len(self.param_groups) == 1, "LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    @no_grad()
    def step(self, closure: Callable[[], Any]) -> Any:
        """Iterate until a tolerance is reached; returns the loss that ``closure`` returned first.

        Args:
            closure: computes the loss and the gradients of all parameters at their present values.
        """
        start = [p.detach().clone() for p in self._params]
        try:
            return _Run(self, closure).run()
        except BaseException:
            _device_state.copy_all(self._params, start)
            raise


class _Run:
    """One step: its state is a copy, which takes the place of the optimizer's at the end."""

    def __init__(self, optimizer: LBFGS, closure: Callable[[], Any]) -> None:
        self.params, self.group = optimizer._params, optimizer.param_groups[0]
        self.kept, self.closure = optimizer.state, closure
        self.state: dict[str, Any] = {"func_evals": 0, "n_iter": 0, **optimizer.state.get(self.params[0], {})}
        for name in ("old_dirs", "old_stps", "ro"):
            if self.state.get(name) is not None:
                self.state[name] = list(self.state[name])
        self.lr = float(self.group["lr"])

    def run(self) -> Any:
        """The iterations."""
        group, state = self.group, self.state
        first = self._loss()
        loss, gradient, evaluations = _number(first), self._gradient(), 1
        state["func_evals"] += 1
        if not _largest(gradient) <= group["tolerance_grad"]:
            for iteration in range(1, group["max_iter"] + 1):
                state["n_iter"] += 1
                self._turn(gradient)
                before = loss
                state["prev_flat_grad"], state["prev_loss"] = gradient, loss
                slope = functions.dot(gradient, state["d"]).item()
                if slope > -group["tolerance_change"]:
                    break
                loss, gradient, spent = self._move(loss, gradient, slope, evaluations, iteration)
                evaluations += spent
                state["func_evals"] += spent
                if (iteration == group["max_iter"] or evaluations >= group["max_eval"]
                        or _largest(gradient) <= group["tolerance_grad"]
                        or _largest(state["d"] * state["t"]) <= group["tolerance_change"]
                        or abs(loss - before) < group["tolerance_change"]):
                    break
        self.kept[self.params[0]] = state
        return first

    def _loss(self) -> Any:
        with enable_grad():
            return self.closure()

    def _gradient(self) -> Tensor:
        """All gradients as one vector, a new tensor; zeros where there is none."""
        parts = []
        for p in self.params:
            grad = functions.zeros_like(p) if p.grad is None else p.grad
            grad = grad.to_dense() if grad.is_sparse else grad
            parts.append((functions.view_as_real(grad) if grad.is_complex() else grad).reshape(-1))
        return functions.cat(parts)

    def _turn(self, gradient: Tensor) -> None:
        """Choose the direction ``d`` and the length ``t`` that is tried first."""
        state = self.state
        if state["n_iter"] == 1:
            state.update(d=-gradient, old_dirs=[], old_stps=[], ro=[], H_diag=1)
            size = float(gradient.abs().sum())
            state["t"] = min(1.0, 1.0 / size) * self.lr
            return
        changes, steps, inverses = state["old_dirs"], state["old_stps"], state["ro"]
        change, step = gradient - state["prev_flat_grad"], state["d"] * state["t"]
        product = functions.dot(change, step)
        if product > 1e-10:
            if len(changes) == self.group["history_size"]:
                del changes[:1], steps[:1], inverses[:1]
            changes.append(change)
            steps.append(step)
            inverses.append(1.0 / product)
            state["H_diag"] = product / functions.dot(change, change)
        state["d"], state["al"] = self._direction(gradient)
        state["t"] = self.lr

    def _direction(self, gradient: Tensor) -> tuple[Tensor, list]:
        state, size = self.state, self.group["history_size"]
        memory = (state["old_dirs"], state["old_stps"], state["ro"])
        count = len(memory[0])
        scale = functions.as_tensor(state["H_diag"], dtype=gradient.dtype, device=gradient.device)
        if not count:
            return -gradient * scale, [None] * size
        # Filled up to a power of two, so that few programs serve all lengths of the memory.
        none, zero = functions.zeros_like(gradient), functions.zeros_like(scale)
        missing = (1 << (count - 1).bit_length()) - count
        rows = [[*[fill] * missing, *column] for fill, column in zip((none, none, zero), memory)]
        d, shares = apply(quasi_newton._lbfgs_direction, (gradient, scale, *rows[0], *rows[1], *rows[2]))
        return d, [*shares[missing:].unbind(), *[None] * (size - count)]

    def _move(self, loss: float, gradient: Tensor, slope: float, evaluations: int,
              iteration: int) -> tuple[float, Tensor, int]:
        """Move the parameters; the loss and gradient there, and how many evaluations that took."""
        group, state = self.group, self.state
        start, d = [p.detach().clone() for p in self.params], state["d"]
        search = group["line_search_fn"]
        if search is None:
            self._place(start, state["t"])
            if iteration == group["max_iter"]:
                return loss, gradient, 0
            return _number(self._loss()), self._gradient(), 1
        if search != "strong_wolfe":
            raise RuntimeError("only 'strong_wolfe' is supported")

        def evaluate(t: float) -> Point:
            self._place(start, t)
            loss, gradient = _number(self._loss()), self._gradient()
            return Point(t, loss, gradient, functions.dot(gradient, d).item())

        found, spent = strong_wolfe(evaluate, state["t"], Point(0.0, loss, gradient, slope), _largest(d),
                                    tolerance_change=1e-9, max_ls=group["max_eval"] - evaluations)
        state["t"] = found.t
        self._place(start, found.t)
        return found.loss, found.gradient, spent

    def _place(self, start: list[Tensor], t: float) -> None:
        """All parameters at ``start + t * d``, at once."""
        update = self.state["d"]
        new, offset = [], 0
        for p in start:
            real = functions.view_as_real(p) if p.is_complex() else p
            part = update[offset : offset + real.numel()].reshape(real.shape)
            moved = functions.add(real, part, alpha=t)
            new.append(functions.view_as_complex(moved) if p.is_complex() else moved)
            offset += real.numel()
        _device_state.copy_all(self.params, new)


def _number(loss: Any) -> float:
    return float(loss.item() if isinstance(loss, Tensor) else loss)


def _largest(x: Tensor) -> float:
    return float(x.abs().max())

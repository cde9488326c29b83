"""Optimizers whose step is one pure rule: what turns groups into multi-tensor updates and back.

A subclass names its states and its rule; gathering, validation, the call and the write-back are
here. All groups' results are computed before the first is written: a failing step changes nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from itertools import chain
from operator import attrgetter
from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow._ops.optim import Layout
from jaxflow.autograd.grad_mode import enable_grad, no_grad

from . import _device_state
from ._sparse_rows import SparseKind
from .optimizer import Optimizer

_epoch_of = attrgetter("_storage.epoch")


def require(allowed: bool, message: str) -> None:
    """Raise ``ValueError(message)`` unless ``allowed``; written so that a nan is not allowed."""
    if not allowed:
        raise ValueError(message)


def check_common(
    lr: Any, eps: Any = 0.0, betas: tuple = (0.0, 0.0), weight_decay: Any = 0.0
) -> None:
    """The checks that most optimizers share, in PyTorch's order and words."""
    if isinstance(lr, Tensor):
        require(lr.numel() == 1, "Tensor lr must be 1-element")
    require(0.0 <= lr, f"Invalid learning rate: {lr}")
    require(eps >= 0.0, f"Invalid epsilon value: {eps}")
    for i in range(2):
        require(0.0 <= betas[i] < 1.0, f"Invalid beta parameter at index {i}: {betas[i]}")
    require(weight_decay >= 0.0, f"Invalid weight_decay value: {weight_decay}")


def check_fused(fused: bool | None, foreach: bool | None, differentiable: bool) -> None:
    """Refuse ``fused`` together with what it excludes."""
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def grad_mode(step: Callable) -> Callable:
    """Run ``step`` without recording gradients, unless the optimizer is ``differentiable``."""

    @functools.wraps(step)
    def wrapper(self, *args, **kwargs):
        # Not set_grad_enabled, which sets the mode before the block begins: an interrupt could leave it so.
        with enable_grad() if self.defaults.get("differentiable") else no_grad():
            return step(self, *args, **kwargs)

    return wrapper


class _Batch:
    """Parameters of one group, on one device, that one call of the rule updates together."""

    __slots__ = ("fresh", "grads", "group", "kind", "params", "states")

    def __init__(self, group: dict, fresh: bool, kind: Any) -> None:
        self.group, self.fresh, self.kind = group, fresh, kind
        self.params: list = []
        self.grads: list = []
        self.states: list[dict] = []


class RuleOptimizer(Optimizer):
    """Base of the optimizers whose update is one op of ``_ops/optim.py``."""

    _op: Any  # that op
    _hypers: str  # entries of a group that it takes as numbers; "betas" are beta1 and beta2
    _elementwise: tuple[str, ...] = ()  # names of the states of a parameter's shape, in the op's order
    _scalars: tuple[str, ...] = ("step",)  # names of the 0-d states
    _missing: dict[str, Any] = {}  # options that older checkpoints lack, with their values
    _sparse = False  # whether `_compute_sparse` takes sparse gradients
    _unify = False  # loaded scalar states may be equal without being shared

    def _kind(self, param: Any, grad: Any) -> Any:
        """What parameters must have in common to be updated by one call, besides group and device."""

    def _states(self, group: dict, kind: Any) -> tuple[str, ...]:
        """`_elementwise`, where it depends on the group or the kind of parameter those that this one has."""
        return self._elementwise

    def _first_state(self, name: str, param: Any, group: dict) -> Tensor:
        return _device_state.filled_like(param, self._first_value(name, group))

    def _rule(self, group: dict, fresh: bool) -> tuple[Any, dict[str, Any], dict[str, Any]]:
        """(op, hyperparameters, static arguments); ``fresh`` at the first update of a parameter."""
        hypers = {}
        for name in self._hypers.split():
            if name == "betas":
                hypers["beta1"], hypers["beta2"] = group[name]
            else:
                hypers[name] = group[name]
        static = dict(decays=decays(group["weight_decay"]), maximize=bool(group["maximize"]))
        if "decoupled_weight_decay" in self._missing:
            static["decoupled"] = bool(group["decoupled_weight_decay"])
        return self._op, hypers, static

    def _is_fresh(self, state: dict | None) -> bool:
        return not state

    def _first_scalars(self, group: dict) -> tuple[float, ...]:
        return (0.0,)

    def _first_value(self, name: str, group: dict) -> float:
        return 0.0

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name, value in self._missing.items():
                group.setdefault(name, value)
            for param in group["params"]:
                saved = self.state.get(param) or {}
                for name in self._scalars:  # plain numbers in checkpoints of old versions
                    if name in saved and not isinstance(saved[name], Tensor):
                        saved[name] = _device_state.number(float(saved[name]), param)
        self._unify = True

    @grad_mode
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient; returns what ``closure`` returned."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        done = 0
        while True:
            rounds = self._rounds()
            while done < len(rounds) and self._update(rounds[done]):
                done += 1
            if done >= len(rounds):
                return loss

    def _update(self, batches: list[_Batch]) -> bool:
        """Compute and store new parameters and states at once; False if somebody wrote to one meanwhile."""
        targets, new, epochs, first, more = [], [], [], [], []
        for batch in batches:
            if batch.kind.__class__ is SparseKind:
                more += self._compute_sparse(batch, targets, epochs, new)
            else:
                self._compute(batch, targets, epochs, new)
            if batch.fresh:
                first += zip(batch.params, batch.states)
        if len({batch.kind for batch in batches}) > 1:  # states are kept in the order of the parameters
            everyone = chain.from_iterable(group["params"] for group in self.param_groups)
            place = {id(param): i for i, param in enumerate(everyone)}
            first.sort(key=lambda pair: place[id(pair[0])])
        entries = [self._entry(*pair) for pair in first]
        return _device_state.overwrite(targets, new, epochs, entries, more)

    def _entry(self, param: Any, new: dict) -> tuple:
        """The dict that takes the first states of ``param``, what it takes, and the states."""
        present = self.state.get(param)
        return (self.state, {param: new}, new) if present is None else (present, new, new)

    def _rounds(self) -> list[list[_Batch]]:
        """Batches of all groups; one listed twice in a group is updated again in a second round."""
        rounds: list[list[_Batch]] = [[]]
        for group in self.param_groups:
            fused = group.get("fused")
            todo = [(p, grad) for p in group["params"] if (grad := p.grad) is not None]
            turn = 0
            while todo:
                if turn == len(rounds):
                    rounds.append([])
                batches: dict[tuple, _Batch] = {}
                once, todo = _first_of_each(todo)
                for param, grad in once:
                    self._check_grad(grad)
                    if fused and not param.is_floating_point():
                        raise RuntimeError(
                            "`fused=True` requires all the params to be floating point Tensors of "
                            f"supported devices: [cpu, cuda, tpu] but {param.dtype} and "
                            f"{param.device.type}"
                        )
                    kind = SparseKind(param) if grad.is_sparse else self._kind(param, grad)
                    named = bool(self._scalars or self._states(group, kind))
                    state = self.state.get(param) if named else None
                    fresh = named and self._is_fresh(state)
                    key = (param._aval.device, fresh, kind)
                    batch = batches.get(key)
                    if batch is None:
                        batch = batches[key] = _Batch(group, fresh, kind)
                    batch.params.append(param)
                    batch.grads.append(grad)
                    batch.states.append({} if fresh else state)
                for batch in batches.values():
                    if batch.fresh:
                        batch.states = self._new_states(batch.params, group, batch.kind)
                rounds[turn] += batches.values()
                turn += 1
        return rounds

    def _check_grad(self, grad: Any) -> None:
        if grad.is_sparse and not self._sparse:
            raise RuntimeError(f"{type(self).__name__} does not support sparse gradients")

    def _compute_sparse(self, batch: _Batch, targets: list, epochs: list, new: list) -> list[tuple]:
        """`_compute` of a parameter with a sparse gradient, alone in its batch; returns further rows."""
        raise NotImplementedError

    def _new_states(self, params: list, group: dict, kind: Any = None) -> list[dict]:
        """First states of ``params``; their scalar states share one value, so they are one unit."""
        firsts = dict(zip(self._scalars, self._first_scalars(group)))
        scalars = [_device_state.numbers(value, params) for value in firsts.values()]
        states = []
        for i, param in enumerate(params):
            state = {name: tensors[i] for name, tensors in zip(firsts, scalars)}
            for name in self._states(group, kind):
                state[name] = self._first_state(name, param, group)
            states.append(state)
        return states

    def _compute(self, batch: _Batch, targets: list, epochs: list, new: list) -> None:
        """Add the tensors that an update of one batch writes to, their epochs before, and their new
        values.
        """
        group, params, states = batch.group, batch.params, batch.states
        if self._unify and self._scalars:
            _device_state.unify([[state[name] for state in states] for name in self._scalars])
        columns = [state[name] for name in self._states(group, batch.kind) for state in states]
        scalars = [[state[name] for state in states] for name in self._scalars]
        heads, unit_of = _units(scalars, len(states))
        written = [*params, *columns, *chain.from_iterable(scalars)]
        targets += written
        epochs += map(_epoch_of, written)
        rule, hypers, static = self._rule(group, batch.fresh)
        tensors = [*heads, *params, *batch.grads, *columns]
        static["layout"] = Layout(tuple(unit_of), len(self._scalars))
        results = _device_state.call(rule, tensors, hypers, static)
        new_heads, rest = results[: len(heads)], results[len(heads) :]
        new += rest
        learned = bool(heads) and any(map(_learned, hypers.values()))
        for j, name in enumerate(self._scalars):
            values = new_heads[j :: len(self._scalars)]
            if name == "step" or not learned:  # such a count has no gradient
                values = [value.detach() if _learned(value) else value for value in values]
            new += [values[unit] for unit in unit_of]


def _first_of_each(todo: list[tuple]) -> tuple[list[tuple], list[tuple]]:
    """The pairs whose parameter was not there before, and those in which it is listed again."""
    if len({id(param) for param, _ in todo}) == len(todo):
        return todo, []
    seen: set[int] = set()
    once, again = [], []
    for pair in todo:
        (again if id(pair[0]) in seen else once).append(pair)
        seen.add(id(pair[0]))
    return once, again


def _units(scalars: list[list], count: int) -> tuple[list, list[int]]:
    """The scalar states of each unit of ``count`` parameters that share their values, and who is in which."""
    heads: list = []
    units: dict[tuple, int] = {}
    unit_of = []
    for key, *states in zip(_device_state.identities(scalars), *scalars) if scalars else ():
        unit = units.setdefault(key, len(units))
        if unit * len(scalars) == len(heads):
            heads += states
        unit_of.append(unit)
    return heads, unit_of or [0] * count


def _learned(value: Any) -> bool:
    return isinstance(value, Tensor) and value.requires_grad


def decays(weight_decay: Any) -> bool:
    """Whether a rule has to apply ``weight_decay``; a tensor is never read to find out."""
    return isinstance(weight_decay, Tensor) or weight_decay != 0

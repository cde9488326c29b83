"""``to_jax``: a module as a pure function of a pytree of parameters; ``load_jax_params``: the way back.

While ``apply`` runs, the module's tensors are replaced by fresh ones on the arrays it was given, in
every place that holds them, so tied parameters stay tied. What would make the function impure is
explicit or refused: buffers are an argument and a result or may not change; random draws come from
``rng`` or are refused; training or evaluation, and which parameters are frozen, is what it was when
``to_jax`` was called.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import setitem
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._api.creation.construct import from_array
from jaxflow._api.creation.host_arrays import put
from jaxflow._api.random.state import drawing_from
from jaxflow._core.commit import commit
from jaxflow._core.generator import Generator
from jaxflow._core.modes import Restored
from jaxflow._core.tensor import Tensor, make
from jaxflow._core.value import Value
from jaxflow._publish.pytree import array_of
from jaxflow._views.values import value_of
from jaxflow.autograd.grad_mode import no_grad
from jaxflow.nn import Module


def to_jax(module: Module, *, buffers: bool = False) -> tuple:
    """``(apply, params)``: a pure function that does what calling ``module`` does, and its parameters.

    ``apply(params, *args, rng=None, **kwargs)`` takes jax arrays (or tensors) and returns jax arrays, in
    any pytrees; it works under ``jax.jit``, ``jax.grad``, ``jax.vmap`` and ``jax.lax.scan``. ``params`` is a
    dict by dotted name, a parameter held twice once. The module itself is not changed. It is in training
    or evaluation mode as it is now; parameters that do not require grad now get gradients of zero.

    With ``buffers`` the state that the forward changes (running statistics) goes in and out:
    ``(apply, params, buffers)``, and ``apply(params, buffers, *args)`` returns ``(result, new buffers)``.
    Without it buffers are constants.

    Args:
        module: any module; its hooks run as they do at a call.
        buffers: whether buffers are an argument and a result.

    Raises:
        TypeError: for what is no module.
        RuntimeError: by ``apply``, for parameters with other names or shapes; when the forward writes to
            a buffer that is a constant; when it draws random numbers without ``rng`` (a jax key or seed).
    """
    if not isinstance(module, Module):
        raise TypeError(f"to_jax() takes a module, not {type(module).__name__}")
    pure = _Pure(module)
    if buffers:
        return pure.apply_with_buffers, _copies(pure.params), _copies(pure.buffers)
    return pure.apply, _copies(pure.params)


def load_jax_params(
    module: Module, params: Mapping[str, Any], buffers: Mapping[str, Any] | None = None
) -> None:
    """Copy the arrays of ``params`` (and ``buffers``), as ``to_jax`` names them, into the module's tensors.

    Raises:
        RuntimeError: for other names or shapes; nothing is changed then.
    """
    groups = [("params", dict(module.named_parameters()), params)]
    if buffers is not None:
        groups.append(("buffers", dict(module.named_buffers()), buffers))
    for what, own, given in groups:
        _check(what, {name: tuple(t.shape) for name, t in own.items()}, given)
    with no_grad():
        for _, own, given in groups:
            for name, t in own.items():
                t.copy_(from_array(jnp.array(_array(given[name]), copy=True)))


class _Pure:
    """What ``apply`` uses of its module: where the tensors are held, their first values, the modes."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.params = dict(module.named_parameters())
        self.buffers = dict(module.named_buffers())
        self.frozen = {name for name, p in self.params.items() if not p.requires_grad}
        self.modes = {m: m.training for m in module.modules()}
        names = {id(t): name for group in (self.params, self.buffers) for name, t in group.items()}
        self.slots = [
            (table, key, names[id(t)])
            for m in module.modules() for table in (m._parameters, m._buffers)
            for key, t in table.items() if t is not None
        ]
        self.constants = {name: array_of(t) for name, t in self.buffers.items()}
        self.shapes = {
            "params": {name: tuple(p.shape) for name, p in self.params.items()},
            "buffers": {name: tuple(b.shape) for name, b in self.buffers.items()},
        }

    def apply(self, params: Mapping[str, Any], /, *args: Any, rng: Any = None, **kwargs: Any) -> Any:
        """The module's result, on ``params`` and constant buffers."""
        result, changed = self.call(params, self.constants, args, kwargs, rng)
        if changed:
            raise RuntimeError(
                f"to_jax: the forward of {type(self.module).__name__} writes to the buffer "
                f"{changed[0][0]!r}, which is a constant here: use to_jax(module, buffers=True), which "
                "passes buffers in and out, or to_jax(module.eval())"
            )
        return result

    def apply_with_buffers(
        self, params: Mapping[str, Any], buffers: Mapping[str, Any], /, *args: Any, rng: Any = None,
        **kwargs: Any,
    ) -> tuple[Any, dict]:
        """The module's result on ``params`` and ``buffers``, and the buffers after it."""
        result, changed = self.call(params, buffers, args, kwargs, rng)
        after = {name: _array(buffers[name]) for name in self.buffers}
        after.update(changed)
        return result, after

    def call(self, params, buffers, args: tuple, kwargs: dict, rng) -> tuple[Any, list]:
        """The result, and name and array of every buffer that was changed."""
        _check("params", self.shapes["params"], params)
        _check("buffers", self.shapes["buffers"], buffers)
        inside = {}
        for name, p in self.params.items():
            array = _array(params[name])
            if name in self.frozen:
                array = jax.lax.stop_gradient(array)
            inside[name] = _like(p, array)
        for name in self.buffers:
            inside[name] = from_array(_array(buffers[name]), shared=True)
        before = {name: inside[name]._storage.value for name in self.buffers}
        args, kwargs = jax.tree.map(_tensor, (args, kwargs), is_leaf=_is_tensor)

        def called() -> tuple[Any, list]:
            result = self.module(*args, **kwargs)
            return result, self._changed(before)

        numbers = drawing_from(_NoRandomness(stream="counter") if rng is None else Generator.from_key(rng))
        result, changed = numbers.run(_Holding(self, inside).run, called)
        result = jax.tree.map(lambda x: array_of(x) if _is_tensor(x) else x, result, is_leaf=_is_tensor)
        return result, changed

    def _changed(self, before: dict[str, Value]) -> list[tuple[str, Any]]:
        now = {name: table[key] for table, key, name in self.slots if name in before}
        return [(name, array_of(t)) for name, t in now.items() if t._storage.value is not before[name]]


class _Holding(Restored):
    """A block in which a module holds the tensors ``inside``, and is in the modes of ``to_jax``."""

    def __init__(self, pure: _Pure, inside: dict[str, Tensor]) -> None:
        super().__init__()
        self.pure, self.inside = pure, inside

    def noted(self) -> tuple:
        """Its tensors, slot by slot, and the modes of the modules in it."""
        return [table[key] for table, key, _ in self.pure.slots], [m.training for m in self.pure.modes]

    def change(self) -> None:
        """Hold the others."""
        self.put_back(([self.inside[name] for _, _, name in self.pure.slots], self.pure.modes.values()))

    def put_back(self, before: tuple) -> None:
        """Hold these tensors, in these modes, all at once."""
        tensors, modes = before
        held = [(setitem, table, key, t) for (table, key, _), t in zip(self.pure.slots, tensors)]
        commit([*held, *((setitem, m.__dict__, "training", mode) for m, mode in zip(self.pure.modes, modes))])


def _like(parameter: Tensor, array: Any) -> Tensor:
    """A tensor of the parameter's class on an array; no detached view: jax differentiates through it."""
    inside = make(value_of(from_array(array, shared=True)), type(parameter))
    inside.__dict__.update(parameter.__dict__)
    return inside


class _NoRandomness(Generator):
    """Draws nothing: a pure function has no stream of its own."""

    def draw(self, count: int = 1) -> tuple[int, int]:
        """Refuse. RuntimeError."""
        raise RuntimeError(
            "to_jax: the forward draws random numbers (dropout?), which a pure function is given: pass "
            "rng=jax.random.key(...), another one at each call, or use to_jax(module.eval())"
        )


def _is_tensor(x: Any) -> bool:
    return isinstance(x, Tensor)


def _array(x: Any) -> Any:
    return array_of(x) if isinstance(x, Tensor) else jnp.asarray(x)


def _tensor(x: Any) -> Any:
    if isinstance(x, jax.Array):
        return from_array(x, shared=True)
    return put(x, "cpu") if isinstance(x, np.ndarray) else x


def _copies(tensors: Mapping[str, Tensor]) -> dict[str, jax.Array]:
    """Arrays of their own: a training step may donate them without taking the module's."""
    return {name: jnp.array(array_of(t), copy=True) for name, t in tensors.items()}


def _check(what: str, shapes: dict[str, tuple[int, ...]], given: Mapping[str, Any]) -> None:
    missing, unknown = [n for n in shapes if n not in given], [n for n in given if n not in shapes]
    if missing or unknown:
        raise RuntimeError(
            f"{what} do not fit the module: missing {', '.join(map(repr, missing)) or 'none'}; unknown "
            f"{', '.join(map(repr, unknown)) or 'none'}"
        )
    for name, shape in shapes.items():
        if np.shape(given[name]) != shape:
            raise RuntimeError(
                f"{what}[{name!r}] has shape {list(np.shape(given[name]))}, the module's {list(shape)}"
            )

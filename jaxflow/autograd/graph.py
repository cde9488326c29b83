"""The public names of the graph: nodes and edges, saved-tensor hooks, and hooks on several tensors."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from jaxflow._core.graph import AccumulateGrad as AccumulateGrad
from jaxflow._core.graph import Node as Node
from jaxflow._core.hooks import RemovableHandle
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor, version_cell
from jaxflow._dispatch.saved_tensors import Hooks, check_callable
from jaxflow._views.history import edge_of, refresh_history

from . import engine

__all__ = ["saved_tensors_hooks", "save_on_cpu", "disable_saved_tensors_hooks", "register_multi_grad_hook",
           "allow_mutation_on_saved_tensors", "Node", "GradientEdge", "get_gradient_edge",
           "increment_version"]


class GradientEdge(NamedTuple):
    """A place in the graph that ``grad`` and ``backward`` take instead of the tensor made there."""

    node: Any
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge a cotangent of ``tensor`` arrives at. RuntimeError if it requires no grad."""
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients"
        )
    view = tensor._view
    if view is not None and view.seen_version != view.version[0]:
        refresh_history(tensor)
    edge = edge_of(tensor)
    if edge is None:  # it requires grad only because its base does
        raise AssertionError("Expected gradient function to be set")
    return GradientEdge(*edge)


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Count a write that autograd did not see, in one tensor or several. RuntimeError for other things."""
    if isinstance(tensor, Tensor):
        tensor = (tensor,)
    if not isinstance(tensor, Iterable):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for t in tensor:
        if not isinstance(t, Tensor):
            raise RuntimeError("increment_version expects each element of the iterable to be a tensor")
        version_cell(t)[0] += 1


# -------------------------------------------------------------------------------- saved-tensor hooks


class saved_tensors_hooks:
    """Inside the block, what nodes save goes through ``pack_hook`` and comes back from ``unpack_hook``.

    ``pack_hook(tensor)`` is called once for each tensor, when the operation is recorded, and may return
    anything; ``unpack_hook(that)`` returns the tensor (of the same shape) whenever it is needed. Both run
    in the thread that needs them. Of nested blocks the innermost counts.

    Raises:
        TypeError: on entering, for hooks that cannot be called; at use, if unpacking gives no tensor.
        RuntimeError: where ``disable_saved_tensors_hooks`` forbids hooks, and for a pack hook that
            writes to its tensor.
    """

    def __init__(self, pack_hook: Callable, unpack_hook: Callable) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> None:
        check_callable("_push_saved_tensors_default_hooks", (self.pack_hook, self.unpack_hook))
        if state.no_saving is not None:
            raise RuntimeError(state.no_saving)
        state.saving = Hooks(self.pack_hook, self.unpack_hook, state.saving)  # one store, the last thing

    def __exit__(self, *exc: object) -> None:
        state.saving = state.saving.below


class save_on_cpu(saved_tensors_hooks):
    """Inside the block, what nodes save is moved to the host, and back when it is needed.

    ``pin_memory`` and ``device_type`` are PyTorch's; pinning is the runtime's business here.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(
            lambda t: (t.device, t.cpu() if t.device.type != "cpu" else t.clone()),
            lambda packed: packed[1].to(packed[0]),
        )


class disable_saved_tensors_hooks:
    """Inside the block, saved-tensor hooks are refused with ``error_message``."""

    def __init__(self, error_message: str) -> None:
        self.error_message = error_message
        self._before: tuple | None = None

    def __enter__(self) -> None:
        if state.saving is not None:
            raise RuntimeError(self.error_message)
        self._before = state.no_saving, self._before
        state.no_saving = self.error_message

    def __exit__(self, *exc: object) -> None:
        before, outer = self._before
        state.no_saving = before
        self._before = outer

    def __call__(self, fn: Callable) -> Callable:
        """Decorate a function."""
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            before = state.no_saving
            try:
                with disable_saved_tensors_hooks(self.error_message):
                    return fn(*args, **kwargs)
            except BaseException:
                state.no_saving = before
                raise

        return wrapped


class _Mutation:
    """What ``allow_mutation_on_saved_tensors`` keeps: the tensors it saved, until it is left or cleared."""

    def __init__(self) -> None:
        self.open = True
        self.packed: weakref.WeakSet = weakref.WeakSet()

    def clear(self) -> None:
        """Let go of what was saved."""
        for kept in list(self.packed):
            kept.value = None


class _Kept:
    """A saved tensor as it was: its Value, which no write changes."""

    __slots__ = ("__weakref__", "value")

    def __init__(self, t: Tensor) -> None:
        self.value = t.detach().clone()


class allow_mutation_on_saved_tensors:
    """Inside the block, tensors saved for backward may be written to: backward reads what was saved.

    Nothing has to be copied for that: NOTE [Values are immutable]. Backward has to run inside the block
    too (AssertionError). The block gives a context; its ``clear()`` frees what was saved.
    """

    def __enter__(self) -> _Mutation:
        if state.mutation:
            raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
        context = self._context = _Mutation()

        def pack(t: Tensor) -> _Kept:
            kept = _Kept(t)
            context.packed.add(kept)
            return kept

        def unpack(kept: _Kept) -> Tensor:
            if not context.open or kept.value is None:
                raise AssertionError(
                    "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"
                    "in which the graph was originally recorded."
                )
            return kept.value

        if state.no_saving is not None:
            raise RuntimeError(state.no_saving)
        before = {"mutation": False, "saving": state.saving}
        self._before = before
        fields = state.__dict__
        try:
            fields.update(mutation=True, saving=Hooks(pack, unpack, state.saving))
            return context
        except BaseException:
            fields.update(before)
            raise

    def __exit__(self, *exc: object) -> None:
        before = self._before
        try:
            state.__dict__.update(before)
        except BaseException:
            state.__dict__.update(before)
            raise
        self._context.open = False
        self._context.clear()


# ------------------------------------------------------------------------- hooks on several tensors


class _MultiHandle(RemovableHandle):
    """Removes the hooks on all the tensors."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        """Take them all out."""
        for handle in self.handles:
            handle.remove()

    def __getstate__(self) -> tuple:
        return self.handles

    def __setstate__(self, handles: tuple) -> None:
        self.handles = handles


def register_multi_grad_hook(tensors: Sequence[Tensor], fn: Callable, *,
                             mode: str = "all") -> RemovableHandle:
    """Call ``fn`` once a pass: with the gradients of all ``tensors``, or with the first that comes.

    In mode ``"all"`` it gets a list, with None for those the pass does not reach, as soon as the last of
    the others is there. In mode ``"any"`` it gets one gradient.

    Raises:
        ValueError: for another mode.
        AssertionError: in mode ``"all"``, for a tensor that requires no grad.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    lock = threading.Lock()
    passes: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
    if mode == "any":
        def first(gradient: Tensor) -> None:
            this = engine.current_pass()
            with lock:
                seen = this in passes
                passes[this] = True
            if not seen:
                fn(gradient)

        return _MultiHandle([t.register_hook(first) for t in tensors if t.requires_grad])

    if not all(t.requires_grad for t in tensors):
        raise AssertionError("Expected gradient function to be set")
    nodes = [get_gradient_edge(t).node for t in tensors]

    def hook_of(i: int) -> Callable:
        def arrived(gradient: Tensor) -> None:
            this = engine.current_pass()
            with lock:
                found = passes.get(this)
                if found is None:
                    found = passes[this] = (
                        [None] * len(nodes), [1] * sum(map(this.will_run, nodes))
                    )
                gradients, missing = found
                gradients[i] = gradient
                missing.pop()
            if not missing:
                fn(gradients)

        return arrived

    return _MultiHandle([t.register_hook(hook_of(i)) for i, t in enumerate(tensors)])

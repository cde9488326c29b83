"""The node of a custom function, which is also the ``ctx`` its forward and backward get."""

from __future__ import annotations

import warnings
import weakref
from typing import Any

from jaxflow._core.fields import init_history
from jaxflow._core.graph import Node
from jaxflow._core.levels import LEVELS
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor, make, version_cell
from jaxflow._dispatch.dispatch import SAVED_INFERENCE, apply
from jaxflow._dispatch.saved_tensors import Pack, packed_late
from jaxflow._dispatch.shared_operands import as_it_is, to_look
from jaxflow._dispatch.viewing import is_inference
from jaxflow._plans.op import COMPLEX_GRADIENT, OPS
from jaxflow._views.history import Guarded, edge_of, guard_of
from jaxflow._views.values import live_value_of

from . import forward_mode
from .grad_dtype import decided_by_the_leaf
from .shapes import sum_to, sums_to
from .wording import FREED, current_maker, overwritten


def missing_backward(ctx: Any, *grad_outputs: Any) -> Any:
    """In the place of a custom function's ``backward`` until it is overridden."""
    raise NotImplementedError(
        "You must implement either the backward or vjp method for your custom autograd.Function to use "
        "it with backward mode AD."
    )


def missing_vmap(info: Any, in_dims: tuple, *args: Any) -> Any:
    """In the place of a custom function's ``vmap`` until it is overridden."""
    raise NotImplementedError(
        "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
        "generate_vmap_rule=True."
    )


class FunctionCtx:
    """What ``forward``, ``setup_context``, ``backward`` and ``jvp`` may pass to the graph through ``ctx``."""

    __slots__ = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep inputs or outputs of forward (or None) for ``saved_tensors``; TypeError after forward else."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors (or None) for ``saved_tensors`` in ``jvp``. AssertionError for other things."""
        if not all(t is None or isinstance(t, Tensor) for t in tensors):
            raise AssertionError(
                "save_for_forward expects all arguments to be tensors; you should save non-tensors as "
                "attributes on ctx."
            )
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Declare inputs that forward changed in place."""
        self.dirty_tensors = args

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Nothing: memory that tensors share is followed anyhow. Deprecated, and warns."""
        warnings.warn(
            "`mark_shared_storage` is deprecated. Tensors with shared storages are automatically tracked. "
            "Note that calls to `set_()` are not tracked", FutureWarning, stacklevel=2,
        )

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Declare outputs that never require grad."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether missing cotangents arrive as zeros (the default) or as None. TypeError for no bool."""
        self.materialize_grads = value


class BackwardCFunction(FunctionCtx, Node):
    """One application of a custom function: its node in the graph, and the ``ctx`` of its methods.

    ``_edges`` leads to the tensors among the arguments of forward, ``_positions`` says where they
    stand among all arguments, and ``_arguments`` how many those are.

    A user may keep anything on ``ctx``, under any name but those PyTorch has. So what the graph needs
    of a Node has names that begin with an underscore, and so does what only this class needs.
    """

    __slots__ = ("__dict__", "_arguments", "_freed", "_in_avals", "_materialize", "_out_avals", "_positions",
                 "_saved", "needs_input_grad")

    _is_python = True
    _forward_cls: type  # given to each subclass by the metaclass of Function

    # What forward declared; of use until it has returned.
    to_save: tuple | None = None
    saved_for_forward: tuple | None = None
    dirty_tensors: tuple | None = None
    non_differentiable: tuple | None = None

    def __init__(self) -> None:
        super().__init__(None, (), (), (), None)
        self._saved: tuple = ()
        self._materialize = True
        self._freed = False
        self._in_avals: tuple = ()
        self._out_avals: tuple = ()
        self._positions: tuple[int, ...] = ()
        self._arguments = 0
        self.needs_input_grad: tuple[bool, ...] = ()

    def __repr__(self) -> str:
        kind = type(self)
        return f"<{kind.__module__}.{kind.__name__} object at {hex(id(self))}>"

    def __call__(self, *cotangents: Any) -> Any:
        """TypeError: unlike other nodes these are no functions; `apply` calls the user's backward."""
        raise TypeError(f"'{type(self).__name__}' object is not callable")

    @property
    def next_functions(self) -> tuple:
        """``(node, output number)`` for every tensor among the arguments of forward."""
        return tuple(edge or (None, 0) for edge in self._edges)

    @property
    def requires_grad(self) -> bool:
        """Always True, as in PyTorch."""
        return True

    def apply(self, *cotangents: Any) -> Any:
        """Call the one of ``backward`` and ``vjp`` that the user defined, as the engine does."""
        function = self._forward_cls
        if function.vjp is missing_backward:
            return function.backward(self, *cotangents)
        if function.backward is not missing_backward:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
                "should only implement one of them."
            )
        return function.vjp(self, *cotangents)

    @property
    def materialize_grads(self) -> bool:
        """Write-only, as in PyTorch: what ``set_materialize_grads`` sets."""
        raise AttributeError(
            "attribute 'materialize_grads' of 'torch._C._FunctionBase' objects is not readable"
        )

    @materialize_grads.setter
    def materialize_grads(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise TypeError(
                "set_materialize_grads received an invalid combination of arguments - got (), but "
                "expected (bool)"
            )
        self._materialize = value

    @property
    def saved_tensors(self) -> tuple:
        """What ``save_for_backward`` kept. Raises RuntimeError once the graph was freed."""
        if self.saved_for_forward is not None:
            return self.saved_for_forward
        return tuple(None if s is None else s.unpack(self) for s in self._raw_saved_tensors)

    @saved_tensors.setter
    def saved_tensors(self, value: Any) -> None:
        raise AttributeError(
            "attribute 'saved_tensors' of 'torch._C._FunctionBase' objects is not writable"
        )

    @property
    def saved_variables(self) -> tuple:
        """The old name of ``saved_tensors``."""
        warnings.warn(
            "'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2
        )
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self) -> tuple:
        if self._freed:
            raise RuntimeError(FREED)
        return self._saved

    # -- for the engine
    @property
    def _num_outputs(self) -> int:
        """How many cotangents arrive."""
        return len(self._out_avals)

    def _out_aval(self, number: int):
        """The aval a cotangent of that output must have."""
        return self._out_avals[number]

    def _keep(self) -> None:
        """Turn what ``save_for_backward`` was given into snapshots. TypeError for what is no tensor."""
        for i, t in enumerate(self.to_save or ()):
            if t is not None and not isinstance(t, Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {i} is of type "
                    f"{type(t).__name__}"
                )
        self._saved = tuple(None if t is None else SavedTensor(t, self) for t in self.to_save or ())

    def _release(self) -> None:
        """Forget the saved tensors: a backward that reads them works no more, another one does."""
        self._saved, self._freed = (), True

    def _run(self, cotangents: list, keep: bool) -> list:
        """Call the user's backward and align what it returns with the edges."""
        if self._materialize:
            cotangents = [
                zeros(aval) if c is None and aval is not None else c
                for c, aval in zip(cotangents, self._out_avals, strict=True)
            ]
        grads = self._counted(BackwardCFunction.apply(self, *cotangents))
        if not keep:
            self._release()
        return [self._checked(i, grad) for i, grad in enumerate(grads)]

    def _counted(self, grads: Any) -> list:
        """The gradients of the tensors, out of one for each argument. RuntimeError for another number."""
        name, expected = Node.name(self), self._arguments
        if not isinstance(grads, tuple):
            grads = (grads,)
        if len(grads) > expected and all(g is None for g in grads[expected:]):
            grads = grads[:expected]
        if len(grads) != expected:
            raise RuntimeError(
                f"function {name} returned an incorrect number of gradients (expected {expected}, "
                f"got {len(grads)})"
            )
        tensors = set(self._positions)
        for i, grad in enumerate(grads):
            if grad is not None and i not in tensors:
                raise RuntimeError(
                    f"function {name} returned a gradient different than None at position {i + 1}, "
                    "but the corresponding forward input was not a Variable"
                )
        found = [grads[at] for at in self._positions]
        for grad in found:
            if grad is not None and not isinstance(grad, Tensor):
                raise RuntimeError(f"expected Variable or None (got {type(grad).__name__})")
        return found

    def _checked(self, i: int, grad: Tensor | None) -> Tensor | None:
        """A gradient in the shape and dtype of its input. RuntimeError if it cannot have them."""
        if grad is None or self._edges[i] is None:
            return None
        want = self._in_avals[i]
        if grad._aval.shape != want.shape:
            if not sums_to(grad._aval.shape, want.shape):
                raise RuntimeError(
                    f"Function {Node.name(self)} returned an invalid gradient at index {i} - got "
                    f"{list(grad._aval.shape)} but expected shape compatible with "
                    f"{list(want.shape)}"
                )
            grad = sum_to(grad, want.shape)
        if grad._aval.dtype is not want.dtype and not decided_by_the_leaf(self._edges[i]):
            if grad._aval.dtype.is_complex and not want.dtype.is_complex:
                raise RuntimeError(COMPLEX_GRADIENT)
            grad = apply(OPS["_to_dtype"], (grad,), (want.dtype,))
        if grad._aval.device is not want.device:
            raise RuntimeError(
                f"Function {Node.name(self)} returned an invalid gradient at index {i} - expected device "
                f"{want.device} but got {grad._aval.device}"
            )
        return grad


class SavedTensor:
    """A saved tensor: its Value then, its edge, and the version that must not have changed."""

    __slots__ = ("aval", "cell", "edge", "is_output", "node", "number", "pack", "stride", "tangents",
                 "value", "variable", "version", "view")

    def __init__(self, t: Tensor, node: BackwardCFunction) -> None:
        if is_inference(t):
            raise RuntimeError(SAVED_INFERENCE)
        self.value = live_value_of(t)
        self.aval, self.stride = t._aval, t._stride
        self.cell = version_cell(t)
        self.version = self.cell[0]
        self.is_output = t._grad_fn is node
        self.number = t._output_nr
        # Outputs are rebuilt with the node as history: keeping them would make a cycle.
        self.edge = edge_of(t) if t._requires_grad and not self.is_output else None
        self.view = None if self.is_output else guard_of(t)
        self.variable = t if t._requires_grad and t._grad_fn is None else None
        self.tangents = {} if not LEVELS else {
            level: forward_mode.snapshot(tangent)
            for level, tangent in forward_mode.tangents_of(t).items() if tangent is not None
        }
        self.node = weakref.ref(node)
        self.pack: Pack | None = None
        hooks = state.saving
        if hooks is not None:
            self._give(Pack(t, hooks.pack, hooks.unpack))

    def _give(self, pack: Pack) -> None:
        """Leave the tensor to saved-tensor hooks."""
        self.pack, self.value, self.variable, self.view = pack, None, None, None

    def register_hooks(self, pack_hook: Any, unpack_hook: Any) -> None:
        """Give this tensor to ``pack_hook`` now, and take it from ``unpack_hook`` whenever it is needed.

        Raises RuntimeError once it was freed, or where it has hooks already.
        """
        node = self.node()
        freed, packed = node is None or node._freed, self.pack is not None
        t = None if freed or packed else self.unpack(node)
        self._give(packed_late(self, freed, packed, t, pack_hook, unpack_hook))

    def unpack(self, node: BackwardCFunction | None = None) -> Tensor:
        """The tensor as it was saved. Raises RuntimeError if it was overwritten since."""
        node = node or self.node()
        if self.pack is not None:
            return self.pack.unpack((node, self.number) if self.is_output else self.edge)
        if self.cell[0] != self.version:
            if self.view.__class__ is Guarded:
                self.view.check()
            maker = Node.name(node) if self.is_output else current_maker(self.cell, self.edge)
            number = self.number if self.is_output else 0
            aval = self.aval if self.variable is None else self.variable._aval
            raise overwritten(aval, maker, number, self.cell, self.version)
        if self.variable is not None:
            return self.variable
        value = self.value
        if not self.is_output and to_look(node):
            value = as_it_is(value, self.cell, self.aval, self.view, node._sequence)
        t = make(value)
        t._stride = self.stride
        for level, tangent in self.tangents.items():
            forward_mode.set_tangent(t, level, tangent)
        if self.is_output:
            init_history(t, node, self.number)
        elif self.edge is not None:
            init_history(t, *self.edge)
        return t


def zeros(aval) -> Tensor:
    """A tensor of zeros of this aval: a missing cotangent or tangent, where those are materialized."""
    return apply(OPS["_full"], (0.0,), (aval.shape, aval.dtype, aval.device))

"""The node of a custom function, which is also the ``ctx`` its forward and backward get."""

from __future__ import annotations

from typing import Any

from jaxflow._core.tensor import Tensor, make, version_cell
from jaxflow._dispatch.door import apply, edge_of, value_of
from jaxflow._dispatch.graph import Node
from jaxflow._dispatch.history import guard_of
from jaxflow._dispatch.op import OPS

from .wording import FREED, current_maker, overwritten


class FunctionNode(Node):
    """One application of a custom function.

    ``_edges`` leads to the tensors among the arguments of forward, ``_positions`` says where they
    stand among all arguments, and ``_arguments`` how many those are.
    """

    __slots__ = ("__dict__",)

    _is_python = True

    def __init__(self, function: type) -> None:
        super().__init__(None, (), (), (), None)
        self._function = function
        self._saved: tuple = ()
        self._to_save: tuple | None = None
        self._dirty: tuple = ()
        self._non_differentiable: tuple = ()
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

    @property
    def next_functions(self) -> tuple:
        """``(node, output number)`` for every tensor among the arguments of forward."""
        return tuple(edge or (None, 0) for edge in self._edges)

    # -- what the user calls on ctx
    def save_for_backward(self, *tensors: Any) -> None:
        """Keep inputs or outputs of forward for ``saved_tensors``; TypeError for other things."""
        for i, t in enumerate(tensors):
            if t is not None and not isinstance(t, Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {i} is of type "
                    f"{type(t).__name__}"
                )
        self._to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for ``jvp``."""
        self._saved_for_forward = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Declare inputs that forward changed in place."""
        self._dirty = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Declare outputs that never require grad."""
        self._non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether missing cotangents arrive as zeros (the default) or as None."""
        if not isinstance(value, bool):
            raise TypeError(
                "set_materialize_grads received an invalid combination of arguments - got (), but "
                "expected (bool)"
            )
        self._materialize = value

    @property
    def saved_tensors(self) -> tuple:
        """What ``save_for_backward`` kept. Raises RuntimeError once the graph was freed."""
        if self._freed:
            raise RuntimeError(FREED)
        return tuple(None if s is None else s.unpack(self) for s in self._saved)

    # -- for the engine
    @property
    def _saves_something(self) -> bool:
        """Whether freeing the graph forbids a second pass."""
        return bool(self._saved)

    @property
    def _num_outputs(self) -> int:
        """How many cotangents arrive."""
        return len(self._out_avals)

    def _out_aval(self, number: int):
        """The aval a cotangent of that output must have."""
        return self._out_avals[number]

    def _keep(self) -> None:
        """Turn what ``save_for_backward`` was given into snapshots."""
        self._saved = tuple(None if t is None else _Saved(t, self) for t in self._to_save or ())

    def _release(self) -> None:
        """Forget the saved tensors."""
        if self._saved:
            self._saved, self._freed = (), True

    def _run(self, cotangents: list, keep: bool) -> list:
        """Call the user's backward and align what it returns with the edges."""
        if self._materialize:
            cotangents = [
                _zeros(aval) if c is None and aval is not None else c
                for c, aval in zip(cotangents, self._out_avals, strict=True)
            ]
        elif all(c is None for c in cotangents):
            return [None] * len(self._edges)
        grads = self._function._differentiate(self, *cotangents)
        if not isinstance(grads, tuple):
            grads = (grads,)
        checked = self._aligned(grads)
        if not keep:
            self._release()
        return checked

    def _aligned(self, grads: tuple) -> list:
        name, expected = self.name(), self._arguments
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
        return [self._checked(i, grads[at], name) for i, at in enumerate(self._positions)]

    def _checked(self, i: int, grad: Any, name: str):
        if grad is None:
            return None
        if not isinstance(grad, Tensor):
            raise RuntimeError(f"expected Variable or None (got {type(grad).__name__})")
        if self._edges[i] is None:
            return None
        want = self._in_avals[i]
        if grad._aval.shape != want.shape:
            if not _sums_to(grad._aval.shape, want.shape):
                raise RuntimeError(
                    f"Function {name} returned an invalid gradient at index {i} - got "
                    f"{list(grad._aval.shape)} but expected shape compatible with "
                    f"{list(want.shape)}"
                )
            grad = _sum_to(grad, want.shape)
        if grad._aval.dtype is not want.dtype:
            if grad._aval.dtype.is_complex and not want.dtype.is_complex:
                raise RuntimeError(
                    "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == "
                    "grad_is_complex) to be true, but got false.  (Could this error message be "
                    "improved?  If so, please report an enhancement request to PyTorch.)"
                )
            grad = apply(OPS["_to_dtype"], (grad,), (want.dtype,))
        return grad


class _Saved:
    """A saved tensor: its Value then, its edge, and the version that must not have changed."""

    __slots__ = ("aval", "cell", "edge", "is_output", "number", "stride", "value", "variable",
                 "version", "view")

    def __init__(self, t: Tensor, node: FunctionNode) -> None:
        self.value = value_of(t)
        self.aval, self.stride = t._aval, t._stride
        self.cell = version_cell(t)
        self.version = self.cell[0]
        self.is_output = t._grad_fn is node
        self.number = t._output_nr
        # Outputs are rebuilt with the node as history: keeping them would make a cycle.
        self.edge = edge_of(t) if t._requires_grad and not self.is_output else None
        self.view = None if self.is_output else guard_of(t)
        self.variable = t if t._requires_grad and t._grad_fn is None else None

    def unpack(self, node: FunctionNode) -> Tensor:
        """The tensor as it was saved. Raises RuntimeError if it was overwritten since."""
        if self.cell[0] != self.version:
            if self.view is not None:
                self.view.check()
            maker = node.name() if self.is_output else current_maker(self.cell, self.edge)
            number = self.number if self.is_output else 0
            raise overwritten(self.aval, maker, number, self.cell, self.version)
        if self.variable is not None:
            return self.variable
        t = make(self.value)
        t._stride = self.stride
        if self.is_output:
            t._grad_fn, t._output_nr, t._requires_grad = node, self.number, True
        elif self.edge is not None:
            t._grad_fn, t._output_nr, t._requires_grad = (*self.edge, True)
        return t


def _sums_to(shape: tuple, target: tuple) -> bool:
    """Whether a tensor of ``target`` shape broadcasts to ``shape``."""
    if len(target) > len(shape):
        return False
    tail = shape[len(shape) - len(target):]
    return all(t in (1, s) for s, t in zip(tail, target, strict=True))


def _sum_to(grad: Tensor, target: tuple) -> Tensor:
    extra = len(grad._aval.shape) - len(target)
    dims = [i for i, s in enumerate(grad._aval.shape) if i < extra or target[i - extra] != s]
    return grad.sum(dims, keepdim=True).reshape(target)


def _zeros(aval) -> Tensor:
    return apply(OPS["_full"], (0.0,), (aval.shape, aval.dtype, aval.device))

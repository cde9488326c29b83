"""Custom functions under transforms: their ``jvp`` in forward mode, their ``vmap`` inside a ``vmap``."""

from __future__ import annotations

from typing import Any, NamedTuple

from jaxflow._core import tree
from jaxflow._core.levels import LEVELS
from jaxflow._core.modes import Changed
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.vmap_axes import MappedAxis, enter, leave
from jaxflow._transforms.batching import axes_of
from jaxflow._views.values import value_of
from jaxflow.autograd import forward_mode

from .function_node import BackwardCFunction, zeros

_MORE = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"

# --------------------------------------------------------------------------------------- forward mode


def tangents_in(args: tuple) -> dict[forward_mode.Level, list]:
    """By level at which an argument has a tangent: the tangents of all arguments, None where none is."""
    found = {}
    for level in list(LEVELS):
        tangents = [forward_mode.tangent_of(a, level) for a in args]
        if any(t is not None for t in tangents):
            found[level] = tangents
    return found


def without_tangents() -> Changed:
    """What runs inside sees no tangents: ``forward`` computes values, ``jvp`` the tangents."""
    return Changed(forward_mode._state, enabled=False)


def push_forward(node: BackwardCFunction, args: tuple, tangents: dict, saved: tuple | None, dirty: set,
                 plain: set, outputs: tuple) -> None:
    """Give the outputs the tangents that the user's ``jvp`` computes, level by level.

    ``saved`` is what ``save_for_forward`` was given, ``dirty`` and ``plain`` the ids of what was marked.
    Raises RuntimeError where ``jvp`` returns what does not fit the outputs.
    """
    for level, given in tangents.items():
        node.saved_for_forward = None if saved is None else tuple(
            None if t is None else forward_mode.snapshot(t, level) for t in saved
        )
        given = [
            zeros(a._aval) if node._materialize and t is None and isinstance(a, Tensor) else t
            for a, t in zip(args, given, strict=True)
        ]
        found = node._forward_cls.jvp(node, *given)
        found = found if isinstance(found, tuple) else (found,)
        if len(found) != len(outputs):
            raise RuntimeError(
                "Function's jvp returned an invalid number of forward gradients (expected "
                f"{len(outputs)} but got {len(found)})"
            )
        before = {id(a): t for a, t in zip(args, given, strict=True)}
        for i, (out, tangent) in enumerate(zip(outputs, found, strict=True)):
            if tangent is not None and not isinstance(tangent, Tensor):
                raise RuntimeError(
                    f"expected Variable or None (got {type(tangent).__name__}) for grad output {i}."
                )
            if isinstance(out, Tensor) and id(out) not in plain and out._aval.dtype.category >= 2:
                _settle(out, level, tangent, before, out_is_dirty=id(out) in dirty)
            elif tangent is not None:
                raise RuntimeError(
                    f"Function's jvp returned a gradient at position {i}, but  the corresponding forward "
                    "output is not a differentiable Tensor.You should return None at that position instead."
                )


def _settle(out: Tensor, level: forward_mode.Level, tangent: Tensor | None, before: dict, *,
            out_is_dirty: bool) -> None:
    """Make ``tangent`` that of an output. RuntimeError if it does not fit."""
    if out_is_dirty:
        if before.get(id(out)) is not tangent:
            raise RuntimeError(
                "An inplace custom Function is not modifying the forward mode gradients inplace. If the "
                "forward is modifying an input inplace, then the jvp function must modify the corresponding "
                "gradient inplace."
            )
    elif tangent is None:
        raise RuntimeError(
            "jvp returned None for a differentiable output of forward; return a tensor of zeros instead"
        )
    elif out._view is not None and out._view.base is not None and (
        tangent._view is None or tangent._view.base is None
    ):
        raise RuntimeError(
            "A custom Function's forward is returning a view (or an input as-is) but the jvp is not "
            "returning a view."
        )
    if tangent._aval.shape != out._aval.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, "
            f"this is not supported. Tensor is of size {list(out._aval.shape)} while the given forward "
            f"gradient is of size {list(tangent._aval.shape)}."
        )
    forward_mode.set_tangent(out, level, tangent)


# ----------------------------------------------------------------------------------------------- vmap


class VmapInfo(NamedTuple):
    """What the user's ``vmap`` receives beside its arguments."""

    batch_size: int
    randomness: str


def check_vmap(function: type, *, separate: bool, overridden: bool) -> None:
    """RuntimeError unless the function says how it is to be run inside a ``vmap``."""
    if not separate:
        raise RuntimeError(
            "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, "
            f"...), it must override the setup_context staticmethod. {_MORE}"
        )
    if function.generate_vmap_rule and overridden:
        raise RuntimeError(
            f"You tried to vmap over {function.__name__}, but it has both generate_vmap_rule=True and an "
            "overridden vmap staticmethod. Please set generate_vmap_rule=False or delete the overridden "
            f"vmap staticmethod to avoid ambiguity. {_MORE}"
        )
    if not (function.generate_vmap_rule or overridden):
        raise RuntimeError(
            f"You tried to vmap over {function.__name__}, but it does not have vmap support. Please override "
            f"and implement the vmap staticmethod or set generate_vmap_rule=True. {_MORE}"
        )


def apply_mapped(function: type, args: tuple) -> Any:
    """Call the user's ``vmap`` on the whole tensors of which the arguments are one example each."""
    axis = state.axes[-1]
    flat, structure = tree.flatten(args)
    mapped = [isinstance(x, Tensor) and axis in axes_of(value_of(x)) for x in flat]
    whole = [leave(x, axis) if m else x for x, m in zip(flat, mapped, strict=True)]
    args = tree.unflatten(whole, structure)
    outside = Changed(state, axes=state.axes[:-1])
    if not any(mapped):
        return outside.run(function.apply, *args)
    dims = tree.unflatten([0 if m else None for m in mapped], structure)
    returned = outside.run(function.vmap, VmapInfo(axis.size, axis.randomness), dims, *args)
    return _entered(returned, axis, {id(w): x for w, x in zip(whole, flat, strict=True)})


def _entered(returned: Any, axis: MappedAxis, given: dict) -> Any:
    """What ``vmap`` returned, as one example of it; an argument that comes back is what was ``given``.

    RuntimeError unless it is ``(output, out_dims)``.
    """
    count = len(returned) if isinstance(returned, tuple) else None
    if count != 2:
        what = f"a {type(returned)}" if count is None else f"{count} returns"
        raise RuntimeError(
            "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree "
            f"structure compatible with the output. Got {what} instead"
        )
    output, out_dims = returned
    flat, structure = tree.flatten(output)
    dims = tree.broadcast_prefix(out_dims, output)
    if dims is None:
        raise RuntimeError(
            "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. "
            f"Expected out_dims={out_dims} to be compatible with the structure of `output`. out_dims has "
            f"structure {tree.flatten(out_dims)[1]} but output has structure {structure}. {_MORE}"
        )
    return tree.unflatten([
        given.get(id(x), x) if id(x) in given or dim is None or not isinstance(x, Tensor)
        else enter(x.movedim(dim, 0), axis)
        for x, dim in zip(flat, dims, strict=True)
    ], structure)

"""``jvp`` and ``linearize``: directional derivatives, by tangents that travel with the values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow import _functions as functions
from jaxflow._core import tree
from jaxflow._core.modes import Restored
from jaxflow._core.tensor import Tensor
from jaxflow._core.value import tick
from jaxflow.autograd import forward_ad, forward_mode

from ._arguments import Argnums, check_output, chosen, replaced, with_aux

_CALL = "jvp(f, primals, tangents)"

# The levels of `jvp` that are open: the outermost is also the dual level.
_nested = forward_ad.OpenLevels()


class _Opened(Restored):
    """A new innermost level for the block, which gets it: NOTE [Modes and interrupts]."""

    given: forward_mode.Level

    def __init__(self) -> None:
        if not _nested.levels and forward_ad._open.levels:
            raise RuntimeError("Nested forward mode AD is not supported at the moment")
        super().__init__(forward_mode.Level())
        self.given.began = tick()

    def noted(self) -> tuple:
        """The levels that are open."""
        return _nested.levels, forward_ad._open.levels, forward_mode.is_enabled()

    def change(self) -> None:
        """Open the level."""
        level = self.given
        level.open()
        if not _nested.levels:
            forward_ad._open.levels = (level,)
        _nested.levels = (*_nested.levels, level)
        forward_mode.set_enabled(True)

    def put_back(self, before: tuple) -> None:
        """Close it."""
        _nested.levels, forward_ad._open.levels, enabled = before
        forward_mode.set_enabled(enabled)
        self.given.close()


def jvp(func: Callable, primals: Any, tangents: Any, *, strict: bool = False,
        has_aux: bool = False) -> tuple:
    """``func(*primals)``, and how it changes where the primals change along ``tangents``.

    Args:
        func: takes tensors or nested tuples, lists and dicts of them, and returns such.
        primals: a tuple of the arguments.
        tangents: of the same structure and shapes.
        strict: refuse results that do not depend on the primals, instead of giving zeros.
        has_aux: ``func`` returns ``(output, aux)``; ``aux`` is a third result.

    Raises:
        RuntimeError: for arguments that do not fit each other and results that are no tensors.
    """
    return jvp_of(func, primals, tangents, None, strict, has_aux)


def jvp_of(func: Callable, primals: Any, tangents: Any, argnums: Argnums | None, strict: bool,
           has_aux: bool) -> tuple:
    """`jvp` for the arguments ``argnums`` names, None for all."""
    if not isinstance(primals, tuple):
        raise RuntimeError(
            f"{_CALL}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
        )
    given = primals if argnums is None else chosen(primals, argnums)
    if argnums is not None and not isinstance(argnums, tuple):
        given = (given,)
    flat, structure = tree.flatten(given)
    along, other = tree.flatten(tangents)
    if structure != other:
        raise RuntimeError(
            f"{_CALL}: Expected primals and tangents to have the same python structure. For example, if "
            "primals is a tuple of 3 tensors, tangents also must be. Got primals with structure "
            f"{structure} and tangents with structure {other}"
        )
    _check_tensors(flat, "primals")
    _check_tensors(along, "tangents")
    opened = _Opened()
    level = opened.given

    def pushed() -> tuple:
        duals = tree.unflatten(
            [_dual(p, t, level) for p, t in zip(flat, along, strict=True)], structure
        )
        if argnums is not None:
            duals = replaced(primals, duals, argnums)
        output = func(*duals)
        aux = None
        if has_aux:
            output, aux = with_aux(output, _CALL)
            aux = tree.map_leaves(lambda x: _aux(x, level), aux)
        results, out_structure = tree.flatten(output)
        check_output(results, _CALL)
        return [_unpacked(t, level, strict) for t in results], out_structure, aux

    parts, out_structure, aux = opened.run(pushed)
    values, moved = (tree.unflatten(list(part), out_structure) for part in zip(*parts, strict=True))
    return (values, moved, aux) if has_aux else (values, moved)


def _dual(primal: Tensor, tangent: Tensor, level: forward_mode.Level) -> Tensor:
    forward_ad.check_dtypes(primal, tangent)
    return forward_mode.make_dual(primal, tangent, level)


def _check_tensors(flat: list, name: str) -> None:
    if not flat:
        raise RuntimeError(f"{_CALL}: Expected {name} to contain at least one Tensor.")
    for x in flat:
        if not isinstance(x, Tensor):
            raise RuntimeError(f"{_CALL}: Expected {name} to only contain Tensors, got {type(x)}")


def _aux(x: Any, level: forward_mode.Level) -> Tensor:
    if not isinstance(x, Tensor):
        raise RuntimeError(f"Expected tensors, got unsupported type {type(x)}")
    return forward_mode.unpack_dual(x, level)[0]


def _unpacked(t: Tensor, level: forward_mode.Level, strict: bool) -> tuple[Tensor, Tensor]:
    primal, tangent = forward_mode.unpack_dual(t, level)
    if tangent is None:
        if strict:
            raise RuntimeError(
                "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. "
                "This is not allowed with strict=True."
            )
        tangent = functions.zeros_like(primal)
    return primal, tangent


def linearize(func: Callable, *primals: Any) -> tuple[Any, Callable]:
    """``func(*primals)``, and the function that takes tangents of ``primals`` to those of the result.

    Each call of that function runs ``func`` once more; under the deferred executor its program is found
    again, so nothing is traced or compiled twice.

    Raises:
        RuntimeError: for tangents of another structure, shape, device or dtype.
    """
    output = func(*primals)
    flat, structure = tree.flatten(primals)

    def push(*tangents: Any) -> Any:
        along, other = tree.flatten(tangents)
        if other != structure:
            raise RuntimeError(
                f"Expected the tangents {other} to have the same argspec as the primals {structure}"
            )
        for i, (p, t) in enumerate(zip(flat, along, strict=True)):
            for name in ("shape", "device", "dtype"):
                if getattr(t, name) != getattr(p, name):
                    raise RuntimeError(
                        f"tangent:{i} with {name} {getattr(t, name)} in flattened pytree doesn't match the "
                        f"{name} {getattr(p, name)} of the corresponding primal."
                    )
        return jvp(func, primals, tangents)[1]

    return output, push

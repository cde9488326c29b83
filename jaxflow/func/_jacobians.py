"""``jacrev``, ``jacfwd`` and ``hessian``: all derivatives at once, by ``vmap`` of one of them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from jaxflow import _functions as functions
from jaxflow._api.vmap import vmap
from jaxflow._core import tree
from jaxflow._core.tensor import Tensor

from ._arguments import Argnums, check_real, chosen
from ._forward import jvp_of
from ._reverse import vjp_of


def _basis(tensors: list[Tensor], chunk_size: int | None = None) -> Iterator[list[Tensor]]:
    """The unit vectors of the space of ``tensors`` taken together, so many at a time."""
    numels = [t.numel() for t in tensors]
    total = sum(numels)
    step = total if not chunk_size else min(chunk_size, total)
    for start in range(0, total, step) if total else (0,):
        rows = functions.arange(start, min(start + step, total)).unsqueeze(1)
        at, chunk = 0, []
        for t, numel in zip(tensors, numels, strict=True):
            units = rows == functions.arange(at, at + numel)
            chunk.append(units.to(t.dtype).reshape(len(rows), *t.shape))
            at += numel
        yield chunk


def jacrev(func: Callable, argnums: Argnums = 0, *, has_aux: bool = False, chunk_size: int | None = None,
           _preallocate_and_copy: bool = False) -> Callable:
    """A function that gives the Jacobian of ``func``, a row for each element of its results.

    Args:
        func: takes real tensors (or nested tuples, lists and dicts of them) and returns such.
        argnums: which arguments to differentiate; a tuple puts a tuple in the place of each Jacobian.
        has_aux: ``func`` returns ``(output, aux)``, and the new function ``(jacobian, aux)``.
        chunk_size: how many rows to compute at a time; by default all.

    Raises:
        ValueError: for a ``chunk_size`` that is not positive.
        RuntimeError: when called, for complex tensors and what `vjp` refuses.
    """
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def jacobian(*args: Any) -> Any:
        check_real("jacrev", args, "inputs")
        output, pull, *aux = vjp_of(func, args, argnums, has_aux)
        outputs, out_structure = tree.flatten(output)
        check_real("jacrev", outputs, "outputs")
        primals, structure = tree.flatten(chosen(args, argnums))
        pieces = []
        for chunk in _basis(outputs, chunk_size):
            if chunk_size == 1:
                rows = pull(tree.unflatten([t.squeeze(0) for t in chunk], out_structure))
                pieces.append([t.unsqueeze(0) for t in tree.flatten(rows)[0]])
            else:
                pieces.append(tree.flatten(vmap(pull)(tree.unflatten(chunk, out_structure)))[0])
        stacked = [p[0] if len(p) == 1 else functions.cat(p) for p in zip(*pieces, strict=True)]
        numels = [t.numel() for t in outputs]
        table = [
            [part.view(out.shape + primal.shape)
             for part, out in zip(rows.split(numels), outputs, strict=True)]
            for rows, primal in zip(stacked, primals, strict=True)
        ]
        result = tree.unflatten(
            [tree.unflatten(list(row), structure) for row in zip(*table, strict=True)], out_structure
        )
        return (result, aux[0]) if has_aux else result

    return jacobian


def jacfwd(func: Callable, argnums: Argnums = 0, has_aux: bool = False, *,
           randomness: str = "error") -> Callable:
    """A function that gives the Jacobian of ``func``, computed a column for each element of its arguments.

    Args:
        func, argnums, has_aux: as for `jacrev`.
        randomness: what random operations in ``func`` do; see `vmap`.

    Raises:
        RuntimeError: when called, for complex tensors and what `jvp` refuses.
    """

    @functools.wraps(func)
    def jacobian(*args: Any) -> Any:
        check_real("jacfwd", args, "inputs")
        given = args if argnums is None else chosen(args, argnums)
        one = argnums is not None and not isinstance(argnums, tuple)
        primals, structure = tree.flatten((given,) if one else given)

        def push(basis: Any) -> Any:
            value, moved, *aux = jvp_of(func, args, basis, argnums, False, has_aux)
            check_real("jacfwd", value, "outputs")
            return (moved, aux[0]) if has_aux else moved

        (chunk,) = _basis(primals)
        results = vmap(push, randomness=randomness)(tree.unflatten(chunk, structure))
        aux = None
        if has_aux:
            results, aux = results
            aux = tree.map_leaves(lambda t: t[0], aux)
        columns, out_structure = tree.flatten(results)
        numels = [p.numel() for p in primals]
        found = []
        for column in columns:
            parts = column.movedim(0, -1).split(numels, dim=-1)
            row = tree.unflatten(
                [part.reshape(part.shape[:-1] + p.shape) for part, p in zip(parts, primals, strict=True)],
                structure,
            )
            found.append(row[0] if one else row)
        result = tree.unflatten(found, out_structure)
        return (result, aux) if has_aux else result

    return jacobian


def hessian(func: Callable, argnums: Argnums = 0) -> Callable:
    """A function that gives the second derivatives of ``func``: the Jacobian, forward, of its gradient."""
    return jacfwd(jacrev(func, argnums), argnums)

"""``vmap``: a function of one example, run on all examples at once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any

from jaxflow._core import tree
from jaxflow._core.generator import go_back, positions
from jaxflow._core.modes import Kept
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.vmap_axes import MappedAxis, enter, leave, opened
from jaxflow._plans.op import OPS
from jaxflow._publish.publish import at_home, function_of
from jaxflow._transforms.batching import axes_of
from jaxflow._views.values import value_of

_CAT = function_of(OPS["cat"])
_RANDOMNESS = ("error", "different", "same")


def vmap(func: Callable, in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *,
         chunk_size: int | None = None) -> Callable:
    """A function that runs ``func`` on every example along a dimension of its arguments.

    Every operation runs on all examples at once (``jax.vmap`` of it); results are stacked. Gradients,
    forward mode and further ``vmap`` go through in any order.

    Args:
        func: takes tensors of one example (in nested tuples, lists, dicts) and returns such.
        in_dims: the dimension of the examples, None for an argument that is the same for all; an int, or
            a tuple whose structure is that of the arguments or a prefix of it. Keyword arguments are the
            same for all.
        out_dims: where the examples go in each result; None for one that is the same for all.
        randomness: what random operations inside do: ``error``, ``same`` numbers for each example, or
            ``different`` ones.
        chunk_size: run so many examples at a time and concatenate.

    Raises:
        RuntimeError: for another ``randomness``, random operations under ``error``, and what needs the
            numbers of one example (``.item()``, ``if tensor``).
        ValueError: for dimensions that do not fit the arguments or the results.
    """
    if randomness not in _RANDOMNESS:
        raise RuntimeError(
            "Only allowed values for randomness are 'error', 'different', or 'same'. Got "
            f"{randomness}"
        )
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        name = _name_of(func)
        _check_out_dims(out_dims, name)
        flat, structure = tree.flatten(args)
        dims = _input_dims(in_dims, args, flat, structure, name)
        size = _batch_size(dims, flat)

        def run(flat: list, size: int) -> Any:
            return _run(func, flat, dims, structure, kwargs, size, out_dims, randomness, name)

        if chunk_size is None:
            return run(flat, size)
        return _in_chunks(run, flat, dims, size, chunk_size, out_dims, randomness)

    return mapped


#: What a tensor shows and how; what is written to it changes nothing of that.
_shown_by = attrgetter("_storage", "_aval", "_stride")


@Kept(state, "axes")
def _run(func, flat, dims, structure, kwargs, size, out_dims, randomness, name) -> Any:
    with opened(size, randomness) as axis:
        entered = [x if dim is None else enter(_first(x, dim), axis) for x, dim in zip(flat, dims)]
        inside = [x for x, dim in zip(entered, dims) if dim is not None]
        epochs = [None if dim is None else x._storage.epoch for x, dim in zip(entered, dims)]
        shown = list(map(_shown_by, inside))
        outputs = func(*tree.unflatten(entered, structure), **kwargs)
        if list(map(_shown_by, inside)) != shown:
            raise NotImplementedError(
                f"vmap({name}): it gives an argument another shape or other memory in place, which the "
                "tensor outside would have to follow; use unsqueeze() and its like, which return a view")
        flat_outputs, out_structure = tree.flatten(outputs)
        out = _output_dims(out_dims, outputs, out_structure, name)
        results = [_result(x, dim, axis, name) for x, dim in zip(flat_outputs, out, strict=True)]
    for x, example, dim, epoch in zip(flat, entered, dims, epochs):
        if dim is not None and example._storage.epoch != epoch:
            _first(x, dim).copy_(leave(example, axis))  # func wrote to its argument
    # What came in and goes out again is the caller's own memory.
    same = {id(example): (x, dim) for x, example, dim in zip(flat, entered, dims) if dim is not None}
    for i, x in enumerate(flat_outputs):
        if id(x) in same and out[i] is not None:
            results[i] = same[id(x)][0].movedim(same[id(x)][1], out[i])
    return tree.unflatten(results, out_structure)


def _first(t: Tensor, dim: int) -> Tensor:
    return t if dim == 0 else t.movedim(dim, 0)


at_home(vmap, "jaxflow.func", "vmap")


def _name_of(func: Callable) -> str:
    if hasattr(func, "__name__"):
        return func.__name__
    if isinstance(func, functools.partial):
        return f"functools.partial({_name_of(func.func)}, ...)"
    return repr(func)


# ----------------------------------------------------------------------------------------- arguments


def _input_dims(in_dims, args, flat, structure, name) -> list[int | None]:
    """The mapped dimension of every leaf of the arguments. ValueError where they do not fit."""
    call = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): "
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"{call}expected `in_dims` to be int or a (potentially nested) tuple matching the structure "
            f"of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying "
            "to vmap over a function with no inputs. The latter is unsupported."
        )
    dims = tree.broadcast_prefix(in_dims, args)
    if dims is None:
        raise ValueError(
            f"{call}in_dims is not compatible with the structure of `inputs`. in_dims has structure "
            f"{tree.flatten(in_dims)[1]} but inputs has structure {structure}."
        )
    for i, (x, dim) in enumerate(zip(flat, dims, strict=True)):
        if dim is None:
            continue
        if not isinstance(dim, int):
            raise ValueError(
                f"{call}Got in_dim={dim} for an input but in_dim must be either an integer dimension or "
                "None."
            )
        if not isinstance(x, Tensor):
            raise ValueError(
                f"{call}Got in_dim={dim} for an input but the input is of type {type(x)}. We cannot vmap "
                "over non-Tensor arguments, please use None as the respective in_dim"
            )
        if not -x.dim() <= dim < x.dim():
            raise ValueError(
                f"{call}Got in_dim={dim} for some input, but that input is a Tensor of dimensionality "
                f"{x.dim()} so expected in_dim to satisfy -{x.dim()} <= in_dim < {x.dim()}."
            )
        dims[i] = dim % x.dim()
    return dims


def _batch_size(dims: list[int | None], flat: list) -> int:
    sizes = [x.shape[dim] for x, dim in zip(flat, dims, strict=True) if dim is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any(size != sizes[0] for size in sizes):
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return sizes[0]


# ------------------------------------------------------------------------------------------- results


def _check_out_dims(out_dims: Any, name: str) -> None:
    for dim in tree.flatten(out_dims)[0]:
        if dim is not None and not isinstance(dim, int):
            raise ValueError(
                f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python "
                "collection of ints representing where in the outputs the vmapped dimension should "
                "appear."
            )


def _output_dims(out_dims: Any, outputs: Any, structure: Any, name: str) -> list[int | None]:
    if isinstance(outputs, Tensor) and isinstance(out_dims, tuple) and len(out_dims) == 1:
        out_dims = out_dims[0]
    dims = tree.broadcast_prefix(out_dims, outputs)
    if dims is None:
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the "
            f"structure of `outputs`. out_dims has structure {tree.flatten(out_dims)[1]} but outputs has "
            f"structure {structure}."
        )
    return dims


def _result(x: Any, dim: int | None, axis: MappedAxis, name: str) -> Any:
    if dim is None:
        if isinstance(x, Tensor) and axis in axes_of(value_of(x)):
            raise ValueError(
                f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None"
            )
        return x
    if not isinstance(x, Tensor):
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(x)}. Did you mean to "
            "set out_dims= to None for output?"
        )
    out = leave(x, axis)
    return out if dim in (0, -out.dim()) else out.movedim(0, dim)


# -------------------------------------------------------------------------------------------- chunks


def _in_chunks(run, flat, dims, size, chunk_size, out_dims, randomness) -> Any:
    before = positions()
    found = []
    for start in range(0, size, chunk_size):
        if randomness == "same":
            go_back(before)
        count = min(chunk_size, size - start)
        part = [x if d is None else x.narrow(d, start, count) for x, d in zip(flat, dims, strict=True)]
        found.append(run(part, count))
    if not found:
        return run(flat, size)
    structure = tree.flatten(found[0])[1]
    into = tree.broadcast_prefix(
        out_dims[0] if isinstance(found[0], Tensor) and isinstance(out_dims, tuple) else out_dims,
        found[0],
    )
    columns = zip(*(tree.flatten(one)[0] for one in found), strict=True)
    return tree.unflatten(
        [_joined(column, dim) for column, dim in zip(columns, into, strict=True)], structure
    )


def _joined(parts: Iterable[Any], dim: int | None) -> Any:
    parts = tuple(parts)
    if dim is None:
        return parts[0]
    return _CAT(parts, dim)

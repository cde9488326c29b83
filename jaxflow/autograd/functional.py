"""``autograd.functional``: Jacobians, Hessians and their products with vectors, of functions of tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jaxflow._api.creation.creation import eye, zeros_like
from jaxflow._api.vmap import vmap
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS

from . import api, forward_ad
from .grad_mode import enable_grad, no_grad, set_grad_enabled

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Tensors = tuple[Tensor, ...]
TensorOrMany = Tensor | Tensors

_RESULTS = "outputs of the user-provided function"


# ------------------------------------------------------------------------------- in and out of tuples


def _tensors(given: Any, name: str, caller: str) -> tuple[bool, Tensors]:
    """Whether a tuple was given, and the tuple. TypeError for what holds anything but tensors."""
    many = isinstance(given, tuple)
    for i, x in enumerate(given if many else (given,)):
        if not isinstance(x, Tensor):
            which = f"value at index {i}" if many else f"given {name}"
            raise TypeError(
                f"The {name} given to {caller} must be either a Tensor or a tuple of Tensors but the {which} "
                f"has type {type(x)}."
            )
    return many, given if many else (given,)


def _entered(inputs: Tensors, create_graph: bool, need_graph: bool = True) -> Tensors:
    """What the function gets: views with a history where one is wanted, else leaves of their own."""
    return tuple(
        t.view_as(t) if create_graph and t.requires_grad else t.detach().requires_grad_(need_graph)
        for t in inputs
    )


def _left(results: tuple, create_graph: bool) -> tuple:
    """Results for the caller: with a history only under ``create_graph``."""
    if create_graph:
        return results
    return tuple(_left(r, False) if isinstance(r, tuple) else r.detach() for r in results)


def _one_or_many(results: tuple, many: bool) -> Any:
    return results if many else results[0]


def _vector(v: Any, like: Tensors, like_is_tuple: bool, create_graph: bool, caller: str) -> Tensors:
    """The vector of a product, which must fit ``like``. RuntimeError if it does not."""
    _, given = _tensors(v, "v", caller)
    given = _entered(given, create_graph, need_graph=False)
    if len(given) != len(like):
        raise RuntimeError(
            f"v is a tuple of invalid length: should be {len(like)} but got {len(given)}." if like_is_tuple
            else "The given v should contain a single Tensor."
        )
    for i, (x, other) in enumerate(zip(given, like, strict=True)):
        if x.size() != other.size():
            entry = f"Entry {i} in " if like_is_tuple else ""
            raise RuntimeError(
                f"{entry}v has invalid size: should be {other.size()} but got {x.size()}."
            )
    return given


# ------------------------------------------------------------------------------------------ strict

_INDEPENDENT = {
    "outputs": "Output {i} of the user-provided function does not require gradients. The outputs must be "
               "computed in a differentiable manner from the input when running in strict mode.",
    "grad_inputs": "The gradient with respect to input {i} is independent of the inputs of the user-provided "
                   "function. This is not allowed in strict mode.",
    "jacobian": "While computing the hessian, found that the jacobian of the user-provided function with "
                "respect to input {i} is independent of the input. This is not allowed in strict mode. You "
                "should ensure that your function is twice differentiable and that the jacobian depends on "
                "the inputs (this would be violated by a linear function for example).",
}

_UNUSED = {
    "back": "The output of the user-provided function is independent of input {i}. This is not allowed in "
            "strict mode.",
    "back_trick": "The gradient with respect to the input is independent of entry {i} in the grad_outputs "
                  "when using the double backward trick to compute forward mode gradients. This is not "
                  "allowed in strict mode.",
    "double_back": "The jacobian of the user-provided function is independent of input {i}. This is not "
                   "allowed in strict mode.",
    "double_back_trick": "The hessian of the user-provided function is independent of entry {i} in the "
                         "grad_jacobian. This is not allowed in strict mode as it prevents from using the "
                         "double backward trick to replace forward mode AD.",
}


def _check_depends(tensors: Sequence, what: str, strict: bool) -> None:
    """Under ``strict``, RuntimeError for a tensor that does not depend on the inputs."""
    for i, t in enumerate(tensors if strict else ()):
        if t is None:
            raise RuntimeError(_UNUSED["back"].format(i=i))
        if not t.requires_grad:
            raise RuntimeError(_INDEPENDENT[what].format(i=i))


def _filled(grads: Sequence, like: Sequence[Tensor], strict: bool, create_graph: bool,
            stage: str) -> Tensors:
    """Zeros for the gradients that are missing. Under ``strict`` these, and constants, are refused."""
    out = []
    for i, (g, t) in enumerate(zip(grads, like, strict=True)):
        if g is None:
            if strict:
                raise RuntimeError(_UNUSED[stage].format(i=i))
            g = zeros_like(t)
        elif strict and create_graph and not g.requires_grad:
            what = "hessian" if "double" in stage else "jacobian"
            raise RuntimeError(
                f"The {what} of the user-provided function is independent of input {i}. This is not allowed "
                "in strict mode when create_graph=True."
            )
        out.append(g)
    return tuple(out)


def _grad(outputs: Sequence, inputs: Sequence[Tensor], cotangents: Sequence | None = None, *,
          create_graph: bool = False, retain_graph: bool | None = None, batched: bool = False) -> tuple:
    """``autograd.grad`` of those outputs that have a history; None for inputs that have no part in them."""
    cotangents = cotangents or (None,) * len(outputs)
    kept = [(t, c) for t, c in zip(outputs, cotangents, strict=True) if t is not None and t.requires_grad]
    if not kept:
        return (None,) * len(inputs)
    roots, given = zip(*kept, strict=True)
    return api.grad(roots, inputs, given, allow_unused=True, create_graph=create_graph,
                    retain_graph=retain_graph, is_grads_batched=batched)


def _second_pass(create_graph: bool) -> no_grad | enable_grad:
    return enable_grad() if create_graph or state.grad else no_grad()


# ---------------------------------------------------------------------------------------- products


def vjp(func: Callable, inputs: TensorOrMany, v: Any = None, create_graph: bool = False,
        strict: bool = False) -> tuple[Any, Any]:
    """``func(*inputs)``, and the product of a vector with its Jacobian.

    Args:
        func: takes and returns tensors, one or a tuple.
        inputs: its arguments.
        v: of the shapes of the results; may be left out for a single result of one element.
        create_graph: both can be differentiated further.
        strict: refuse results that do not depend on the inputs, instead of giving zeros.

    Raises:
        TypeError: for anything but tensors.
        RuntimeError: for a ``v`` that does not fit or is missing, and what ``strict`` refuses.
    """
    with enable_grad():
        many, inputs = _tensors(inputs, "inputs", "vjp")
        inputs = _entered(inputs, create_graph)
        many_out, outputs = _tensors(func(*inputs), _RESULTS, "vjp")
        _check_depends(outputs, "outputs", strict)
        if v is not None:
            v = _vector(v, outputs, many_out, create_graph, "vjp")
        elif len(outputs) != 1 or outputs[0].nelement() != 1:
            raise RuntimeError(
                "The vector v can only be None if the user-provided function returns a single Tensor with a "
                "single element."
            )
    with _second_pass(create_graph):
        found = _grad(outputs, inputs, v, create_graph=create_graph)
        product = _filled(found, inputs, strict, create_graph, "back")
    return (_one_or_many(_left(outputs, create_graph), many_out),
            _one_or_many(_left(product, create_graph), many))


def jvp(func: Callable, inputs: TensorOrMany, v: Any = None, create_graph: bool = False,
        strict: bool = False) -> tuple[Any, Any]:
    """``func(*inputs)``, and the product of its Jacobian with a vector, by two backward passes.

    Args and errors as for `vjp`, but ``v`` has the shapes of the inputs. ``func.jvp`` needs one pass.
    """
    with enable_grad():
        many, inputs = _tensors(inputs, "inputs", "jvp")
        inputs = _entered(inputs, create_graph)
        if v is not None:
            v = _vector(v, inputs, many, create_graph, "jvp")
        elif len(inputs) != 1 or inputs[0].nelement() != 1:
            raise RuntimeError(
                "The vector v can only be None if the input to the user-provided function is a single Tensor "
                "with a single element."
            )
        many_out, outputs = _tensors(func(*inputs), _RESULTS, "jvp")
        _check_depends(outputs, "outputs", strict)
        # The gradient is linear in its cotangents: the gradient of that is the product wanted.
        cotangents = tuple(zeros_like(t, requires_grad=True) for t in outputs)
        found = _grad(outputs, inputs, cotangents, create_graph=True)
        _check_depends(found, "grad_inputs", strict)
    with enable_grad() if create_graph else set_grad_enabled(state.grad):
        product = _grad(found, cotangents, v, create_graph=create_graph)
        product = _filled(product, outputs, strict, create_graph, "back_trick")
    return (_one_or_many(_left(outputs, create_graph), many_out),
            _one_or_many(_left(product, create_graph), many_out))


def _of_one_number(caller: str, func: Callable, inputs: TensorOrMany, v: Any, create_graph: bool,
                   strict: bool) -> tuple:
    """What `vhp` and `hvp` begin with: the inputs, the vector, the result, and its gradient."""
    many, inputs = _tensors(inputs, "inputs", caller)
    inputs = _entered(inputs, create_graph)
    if v is not None:
        v = _vector(v, inputs, many, create_graph, caller)
    elif len(inputs) != 1 or inputs[0].nelement() != 1:
        raise RuntimeError(
            "The vector v can only be None if the input to the user-provided function is a single Tensor "
            "with a single element."
        )
    many_out, outputs = _tensors(func(*inputs), _RESULTS, caller)
    _check_depends(outputs, "outputs", strict)
    if many_out:
        raise RuntimeError(f"The function given to {caller} should return a single Tensor")
    if outputs[0].nelement() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {caller} should contain a single element"
        )
    gradient = _grad(outputs, inputs, create_graph=True)
    _check_depends(gradient, "jacobian", strict)
    return many, inputs, v, outputs, gradient


def vhp(func: Callable, inputs: TensorOrMany, v: Any = None, create_graph: bool = False,
        strict: bool = False) -> tuple[Any, Any]:
    """``func(*inputs)``, one number, and the product of a vector with its Hessian. See `vjp`."""
    with enable_grad():
        many, inputs, v, outputs, gradient = _of_one_number("vhp", func, inputs, v, create_graph, strict)
    with _second_pass(create_graph):
        found = _grad(gradient, inputs, v, create_graph=create_graph)
        product = _filled(found, inputs, strict, create_graph, "double_back")
    return _left(outputs, create_graph)[0], _one_or_many(_left(product, create_graph), many)


def hvp(func: Callable, inputs: TensorOrMany, v: Any = None, create_graph: bool = False,
        strict: bool = False) -> tuple[Any, Any]:
    """``func(*inputs)``, one number, and the product of its Hessian with a vector. See `vjp`.

    `vhp` gives the same for twice continuously differentiable functions, and is quicker.
    """
    with enable_grad():
        many, inputs, v, outputs, gradient = _of_one_number("hvp", func, inputs, v, create_graph, strict)
        cotangents = tuple(zeros_like(t, requires_grad=True) for t in inputs)
        twice = _grad(gradient, inputs, cotangents, create_graph=True)
    with _second_pass(create_graph):
        found = _grad(twice, cotangents, v, create_graph=create_graph)
        product = _filled(found, inputs, strict, create_graph, "double_back_trick")
    return _left(outputs, create_graph)[0], _one_or_many(_left(product, create_graph), many)


# --------------------------------------------------------------------------------------- matrices


def jacobian(func: Callable, inputs: TensorOrMany, create_graph: bool = False, strict: bool = False,
             vectorize: bool = False, strategy: str = "reverse-mode") -> Any:
    """The Jacobian of ``func``: for each result and each input a tensor of both shapes, one after the other.

    Args:
        func: takes and returns tensors, one or a tuple.
        inputs: its arguments.
        create_graph: the Jacobian can be differentiated further.
        strict: refuse results that do not depend on the inputs, instead of giving zeros.
        vectorize: compute all rows at once, by ``vmap``.
        strategy: ``reverse-mode``, row by row, or ``forward-mode``, column by column.

    Raises:
        TypeError: for anything but tensors.
        AssertionError: for another strategy.
        NotImplementedError: for ``forward-mode`` with ``create_graph`` or without ``vectorize``.
        RuntimeError: for ``strict`` with ``vectorize`` or ``forward-mode``, and what ``strict`` refuses.
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has '
            'more outputs than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use '
            '"reverse-mode".'
        )
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError(
                "torch.autograd.functional.jacobian: `create_graph=True` and `strategy=\"forward-mode\"` are "
                "not supported together (yet). Please either set `create_graph=False` or "
                '`strategy="reverse-mode"`.'
            )
        return _by_columns(func, inputs, strict, vectorize)
    with enable_grad():
        many, inputs = _tensors(inputs, "inputs", "jacobian")
        inputs = _entered(inputs, create_graph)
        many_out, outputs = _tensors(func(*inputs), _RESULTS, "jacobian")
        _check_depends(outputs, "outputs", strict)
        if vectorize:
            if strict:
                raise RuntimeError(
                    "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not "
                    "supported together. Please either set `strict=False` or `vectorize=False`."
                )
            table = _all_rows(outputs, inputs, create_graph)
        else:
            table = tuple(
                _rows(i, out, inputs, create_graph, strict) for i, out in enumerate(outputs)
            )
        return _shaped(_left(table, create_graph), many_out, many)


def _shaped(table: Sequence, many_out: bool, many: bool) -> Any:
    return _one_or_many(table if many else tuple(row[0] for row in table), many_out)


def _rows(i: int, out: Tensor, inputs: Tensors, create_graph: bool, strict: bool) -> Tensors:
    """The Jacobians of one result, a backward pass for each of its elements."""
    found: list[list[Tensor]] = [[] for _ in inputs]
    for j in range(out.nelement()):
        grads = _grad((out.reshape(-1)[j],), inputs, retain_graph=True, create_graph=create_graph)
        for k, (g, t) in enumerate(zip(grads, inputs, strict=True)):
            if g is None and strict:
                raise RuntimeError(
                    f"Output {i} of the user-provided function is independent of input {k}. This is not "
                    "allowed in strict mode."
                )
            if g is not None and strict and create_graph and not g.requires_grad:
                raise RuntimeError(
                    f"The jacobian of the user-provided function is independent of input {i}. This is not "
                    "allowed in strict mode when create_graph=True."
                )
            found[k].append(zeros_like(t) if g is None else g)
    return tuple(
        apply(OPS["stack"], tuple(rows), (0,)).view(out.size() + t.size())
        for rows, t in zip(found, inputs, strict=True)
    )


def _basis(tensors: Tensors) -> tuple[Tensors, list[int]]:
    """The unit vectors of all ``tensors`` taken together, flat, and how many each has."""
    numels = [t.numel() for t in tensors]
    unit = eye(sum(numels), device=tensors[0].device)
    return tuple(p.to(t.dtype) for p, t in zip(unit.split(numels, 1), tensors, strict=True)), numels


def _all_rows(outputs: Tensors, inputs: Tensors, create_graph: bool) -> tuple[Tensors, ...]:
    basis, numels = _basis(outputs)
    flat = tuple(t.reshape(-1) for t in outputs)
    grads = _grad(flat, inputs, basis, create_graph=create_graph, batched=True)
    rows = [
        zeros_like(t).expand((sum(numels), *t.shape)) if g is None else g
        for g, t in zip(grads, inputs, strict=True)
    ]
    columns = [
        tuple(part.reshape(out.shape + t.shape) for part, out in zip(g.split(numels), outputs, strict=True))
        for g, t in zip(rows, inputs, strict=True)
    ]
    return tuple(zip(*columns, strict=True))


def _by_columns(func: Callable, inputs: TensorOrMany, strict: bool, vectorize: bool) -> Any:
    if strict:
        raise RuntimeError(
            "torch.autograd.functional.jacobian: `strict=True` and `strategy=\"forward-mode\"` are not "
            "supported together (yet). Please either set `strict=False` or `strategy=\"reverse-mode\"`."
        )
    many, inputs = _tensors(inputs, "inputs", "jacobian")
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for "
            "`vectorize=True`."
        )
    basis, numels = _basis(inputs)
    shapes: list = []
    many_out = False

    def push(*tangents: Tensor) -> Tensors:
        nonlocal many_out
        with forward_ad.dual_level():
            duals = [forward_ad.make_dual(x, t.view_as(x)) for x, t in zip(inputs, tangents, strict=True)]
            many_out, outputs = _tensors(func(*duals), "outputs", "None")
            parts = [forward_ad.unpack_dual(t) for t in outputs]
            shapes[:] = [p.primal.shape for p in parts]
            return tuple(zeros_like(p.primal) if p.tangent is None else p.tangent for p in parts)

    columns = vmap(push)(*basis)
    table = [
        [
            part.movedim(0, -1).reshape((*shape, *x.shape))
            for part, x in zip(column.split(numels), inputs, strict=True)
        ]
        for column, shape in zip(columns, shapes, strict=True)
    ]
    return _shaped(table, many_out, many)


def hessian(func: Callable, inputs: TensorOrMany, create_graph: bool = False, strict: bool = False,
            vectorize: bool = False, outer_jacobian_strategy: str = "reverse-mode") -> Any:
    """The second derivatives of ``func``, which returns one number; for each pair of inputs a tensor.

    Args as for `jacobian`; ``outer_jacobian_strategy`` is the strategy for the Jacobian of the gradient.

    Raises:
        TypeError, RuntimeError: as `jacobian`, and for results that are not one number.
        AssertionError: for another strategy.
    """
    many, inputs = _tensors(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def number(*args: Tensor) -> Tensor:
        many_out, outputs = _tensors(func(*args), _RESULTS, "hessian")
        _check_depends(outputs, "outputs", strict)
        if many_out:
            raise RuntimeError("The function given to hessian should return a single Tensor")
        if outputs[0].nelement() != 1:
            raise RuntimeError(
                "The Tensor returned by the function given to hessian should contain a single element"
            )
        return outputs[0].squeeze()

    def gradient(*args: Tensor) -> Tensors:
        if outer_jacobian_strategy == "forward-mode":
            args = tuple(t.requires_grad_() for t in args)
        found = jacobian(number, args, create_graph=True)
        _check_depends(found, "jacobian", strict)
        return found

    found = jacobian(gradient, inputs, create_graph=create_graph, strict=strict, vectorize=vectorize,
                     strategy=outer_jacobian_strategy)
    return _shaped(found, many, many)

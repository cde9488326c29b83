"""``backward`` and ``grad``: checking what the user passed, and starting the engine."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from jaxflow._core.fields import init_history, init_requires_grad
from jaxflow._core.geometry import empty_like_strides
from jaxflow._core.graph import own_edge
from jaxflow._core.modes import Kept
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor, make
from jaxflow._core.torchs import is_torchs, refusal
from jaxflow._core.value import Value
from jaxflow._core.warning import warn_once
from jaxflow._dispatch.dispatch import apply
from jaxflow._dispatch.vmap_axes import enter, leave, opened
from jaxflow._plans.op import OPS
from jaxflow._views.history import refresh_history

from .engine import run_backward
from .graph import AccumulateGrad, GradientEdge

TensorOrMany = Tensor | Sequence[Tensor]
Inputs = TensorOrMany | dict[Any, Tensor]


def backward(
    tensors: TensorOrMany,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Inputs | None = None,
) -> None:
    """Add the gradients of ``tensors`` to the ``.grad`` of the leaves they were computed from.

    Args:
        tensors: one tensor or several; together the roots of the walk.
        grad_tensors: a cotangent for each, of its shape; None where the tensor has one element (1 is
            meant) or needs no gradient.
        retain_graph: keep what backward needs for another pass; by default the value of
            ``create_graph``.
        create_graph: record the walk, so that the gradients can be differentiated.
        grad_variables: the old name of ``grad_tensors``.
        inputs: accumulate only into these (leaves or not), or into the values of a dict.

    Raises:
        RuntimeError: for roots without history, cotangents that do not fit, a freed graph, or saved
            tensors that were overwritten.
    """
    if state.captors:
        raise RuntimeError(
            "backward() called inside a functorch transform. This is not supported, please use "
            "functorch.grad or functorch.vjp instead or call backward() outside of functorch transforms."
        )
    if grad_variables is not None:
        warnings.warn(
            "`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2
        )
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to "
                "`backward()`. Please only use `grad_tensors`."
            )
        grad_tensors = grad_variables
    if inputs is not None:
        inputs = _tuple(_values(inputs, "backward"))
        if not inputs:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    roots = _tuple(tensors)
    cotangents = _cotangents(roots, _optional_tuple(grad_tensors, len(roots)))
    retain_graph, create_graph = _flags(retain_graph, create_graph)
    edges = _edges(roots, cotangents)
    only = None
    if inputs is not None:
        for t in inputs:
            _check_input(t)
            t.retain_grad()
        only = [_target(t) for t in inputs]
    if create_graph:
        warn_once(_CYCLE)
    run_backward(edges, retain_graph=retain_graph, create_graph=create_graph, only=only)


_CYCLE = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and "
    "its gradient which can cause a memory leak. We recommend using autograd.grad when creating the "
    "graph to avoid this. If you have to use this function, make sure to reset the .grad fields of "
    "your parameters to None after use to break the cycle and avoid the leak."
)


def grad(
    outputs: TensorOrMany,
    inputs: Inputs,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor, ...] | dict[Any, Tensor]:
    """The gradients of ``outputs`` with respect to ``inputs``, as a tuple; no ``.grad`` changes.

    The gradient for one input ``x`` is ``sum over i of grad_outputs[i] * d outputs[i] / d x``.

    Args:
        outputs: one tensor or several, as ``tensors`` of :func:`backward`.
        inputs: leaves or not; of a dict its values, and the gradients come under the same keys.
        grad_outputs: a cotangent for each output, of its shape; None, or left out, where the output has one
            element (1 is taken).
        retain_graph: keep what backward needs for another pass (default: the value of ``create_graph``).
        create_graph: record the computation of the gradients, so that they can be differentiated.
        only_inputs: must be left at True (deprecated in PyTorch).
        allow_unused: give None for an input the outputs do not depend on, instead of raising.
        is_grads_batched: the cotangents carry a leading batch dimension, mapped by ``vmap``.
        materialize_grads: give zeros instead of None.

    Returns:
        A tuple with one gradient for each input, of its shape and dtype (with a leading batch dimension if
        ``is_grads_batched``); for a dict of inputs a dict.

    Raises:
        RuntimeError: as :func:`backward`, and for unused inputs unless allowed.
        ValueError: when both ``materialize_grads`` and ``allow_unused=False`` are given.

    Example:
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> (slope,) = torch.autograd.grad((x ** 3).sum(), x, create_graph=True)
        >>> slope.detach()
        tensor([ 3., 12.])
        >>> torch.autograd.grad(slope.sum(), x)  # the second derivative
        (tensor([ 6., 12.]),)
        >>> x.grad is None
        True
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
            "allow_unused=False."
        )
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate "
            "gradient for other parts of the graph, please use torch.autograd.backward.",
            FutureWarning, stacklevel=2,
        )
    if materialize_grads and any(
        isinstance(t, GradientEdge) for t in ((inputs,) if isinstance(inputs, GradientEdge) else inputs)
    ):
        raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
    wanted, roots = _tuple(_values(inputs, "grad")), _tuple(outputs)
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    given = _optional_tuple(grad_outputs, len(roots))
    if is_grads_batched:
        retain_graph, create_graph = _flags(retain_graph, create_graph)
        allow_unused = operator.index(allow_unused) != 0
        results = _batched(roots, wanted, given, retain_graph, create_graph)
    else:
        cotangents = _cotangents(roots, given)
        retain_graph, create_graph = _flags(retain_graph, create_graph)
        allow_unused = operator.index(allow_unused) != 0
        edges = _edges(roots, cotangents)
        results = run_backward(
            edges, retain_graph=retain_graph, create_graph=create_graph, capture=_targets(wanted)
        )
    for i, g in enumerate(results):
        if g is None and not allow_unused:
            raise RuntimeError(
                f"The differentiated Tensor at index {i} appears to not have been used in the graph. "
                "Set allow_unused=True if this is the desired behavior."
            )
    if materialize_grads:
        results = [
            _zeros_like(t, create_graph) if g is None else g
            for g, t in zip(results, wanted, strict=True)
        ]
    return dict(zip(inputs, results, strict=True)) if type(inputs) is dict else tuple(results)


def _zeros_like(t: Tensor, requires_grad: bool) -> Tensor:
    zeros = apply(OPS["_full"], (0.0,), (t._aval.shape, t._aval.dtype, t._aval.device))
    init_requires_grad(zeros, requires_grad)
    if t._stride is not None:
        zeros._stride = empty_like_strides(t._aval.shape, t._stride)
    return zeros


def _tuple(tensors: Any) -> tuple[Tensor, ...]:
    if isinstance(tensors, (Tensor, GradientEdge)):
        tensors = (tensors,)
    return tuple(_stand_in(t) if isinstance(t, GradientEdge) else t for t in tensors)


def _values(inputs: Any, caller: str) -> Any:
    """The tensors of a dict; anything else as it is. TypeError for other mappings."""
    if type(inputs) is dict:
        return inputs.values()
    if isinstance(inputs, Mapping):
        raise TypeError(
            f"`inputs` argument to `{caller}()` must be a dict, not {type(inputs).__name__}. "
            "Other Mapping types are not supported."
        )
    return inputs


def _flags(retain_graph: Any, create_graph: Any) -> tuple[bool, bool]:
    """``retain_graph`` (by default ``create_graph``) and ``create_graph``: bools, or integers for them."""
    if retain_graph is None:
        retain_graph = create_graph
    return operator.index(retain_graph) != 0, operator.index(create_graph) != 0


def _stand_in(edge: GradientEdge) -> Tensor:
    """A tensor at this place of the graph; its value is never read."""
    if isinstance(edge.node, AccumulateGrad):
        return edge.node.variable
    t = make(Value(edge.node._out_aval(edge.output_nr)))
    init_history(t, edge.node, edge.output_nr)
    return t


def _optional_tuple(tensors: Any, length: int) -> tuple:
    if tensors is None:
        return (None,) * length
    return (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)


def _check_input(t: Any) -> None:
    if not isinstance(t, Tensor):
        raise RuntimeError(
            f"all inputs have to be Tensors or GradientEdges, but got {type(t).__name__}"
        )
    _current(t)


def _current(t: Any) -> None:
    if not isinstance(t, Tensor):
        raise AssertionError("Expected output to be a torch.Tensor")
    if t._view is not None and t._view.seen_version != t._view.version[0]:
        refresh_history(t)


_UNREACHED = (object(), 0)


def _target(t: Tensor) -> tuple:
    """Where the gradient of an input arrives; nowhere for a view that has no history of its own."""
    return own_edge(t) or _UNREACHED


def _targets(wanted: tuple) -> list[tuple]:
    """`_target` of every input that ``grad`` was given. RuntimeError for those that require no grad."""
    found = []
    for t in wanted:
        _check_input(t)
        found.append(_target(t))  # which refuses a view that lost its history
        if not t._requires_grad:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
    return found


def _edges(roots: tuple[Tensor, ...], cotangents: list) -> list:
    found = []
    for i, (t, cotangent) in enumerate(zip(roots, cotangents, strict=True)):
        if not t._requires_grad:
            raise RuntimeError(
                f"element {i} of tensors does not require grad and does not have a grad_fn"
            )
        edge = own_edge(t)
        if edge is None:
            raise RuntimeError(
                f"element {i} of tensors does not require grad and does not have a grad_fn"
            )
        found.append((edge, cotangent))
    return found


def _no_gradient(cotangent: Any) -> TypeError:
    if is_torchs(cotangent):
        return refusal("backward")
    return TypeError(f"gradients can be either Tensors or None, but got {type(cotangent).__name__}")


def _cotangents(roots: tuple[Tensor, ...], given: tuple) -> list:
    # PyTorch makes one gradient for each pair there is, and only then counts.
    found = []
    for out, cotangent in zip(roots, given):
        _current(out)
        if cotangent is None:
            found.append(_one(out))
        elif isinstance(cotangent, Tensor):
            _check_shape(out, cotangent, out._aval.shape, roots, given)
            if cotangent._aval.device is not out._aval.device:
                raise RuntimeError(
                    f"invalid gradient at index {_position(roots, out)} - expected device "
                    f"{out._aval.device} but got {cotangent._aval.device}"
                )
            found.append(_as_cotangent(out, cotangent))
        else:
            raise _no_gradient(cotangent)
    if len(found) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(found)} gradients")
    return found


def _check_shape(out: Tensor, cotangent: Tensor, shape: tuple, roots: tuple, given: tuple) -> None:
    if cotangent._aval.shape != shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{_position(given, cotangent)}] has a shape of "
            f"{cotangent.shape} and output[{_position(roots, out)}] has a shape of {out.shape}."
        )
    if out._aval.dtype.is_complex != cotangent._aval.dtype.is_complex:
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. "
            f"Mismatch in dtype: grad_output[{_position(given, cotangent)}] has a dtype of "
            f"{cotangent._aval.dtype} and output[{_position(roots, out)}] has a dtype of "
            f"{out._aval.dtype}."
        )


def _position(items: tuple, item: Tensor) -> int:
    return next(i for i, x in enumerate(items) if x is item)


def _one(out: Tensor) -> Tensor | None:
    """The implicit cotangent: 1 for a real tensor of one element."""
    if not out._requires_grad:
        return None
    if out._aval.numel != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    if out._aval.dtype.is_complex:
        raise RuntimeError(
            "grad can be implicitly created only for real scalar outputs but got "
            f"{out._aval.dtype}"
        )
    aval = out._aval
    return apply(OPS["_full"], (1.0,), (aval.shape, aval.dtype, aval.device))


def _as_cotangent(out: Tensor, cotangent: Tensor) -> Tensor:
    """The user's own tensor, which hooks and functions get to see, in the dtype of the output."""
    if cotangent._aval.dtype is out._aval.dtype:
        return cotangent
    return apply(OPS["_to_dtype"], (cotangent,), (out._aval.dtype,))


@Kept(state, "axes")
def _batched(roots, wanted, given, retain_graph, create_graph) -> list:
    """``grad`` under ``vmap``: the walk runs once, on all cotangents; see NOTE [Batched values]."""
    for out, cotangent in zip(roots, given):
        _current(out)
        if cotangent is not None and not isinstance(cotangent, Tensor):
            raise _no_gradient(cotangent)
        if cotangent is not None:
            row = cotangent[0].shape  # as PyTorch reads it: without a row this is an IndexError
            if row != out._aval.shape:
                # PyTorch's text leaves the batch dimension out twice.
                raise RuntimeError(
                    "If `is_grads_batched=True`, we interpret the first dimension of each grad_output "
                    "as the batch dimension. The sizes of the remaining dimensions are expected to "
                    "match the shape of corresponding output, but a mismatch was detected: "
                    f"grad_output[{_position(given, cotangent)}] has a shape of {row[1:]} and "
                    f"output[{_position(roots, out)}] has a shape of {out.shape}. If you only want "
                    "some tensors in `grad_output` to be considered batched, consider using vmap."
                )
            _check_shape(out, cotangent, cotangent._aval.shape, roots, given)
    given = given[: len(roots)]  # PyTorch pairs them before it counts
    ones = [_one(out) if g is None else None for out, g in zip(roots, given)]
    for one, g in zip(ones, given):
        if g is None:
            start = "vmap(vjp, in_dims=0, ...)(<inputs>): Got in_dim=0 for "
            if one is None:
                raise ValueError(
                    f"{start}an input but the input is of type <class 'NoneType'>. We cannot vmap over "
                    "non-Tensor arguments, please use None as the respective in_dim"
                )
            raise ValueError(  # a 1 has no batch dimension to map
                f"{start}some input, but that input is a Tensor of dimensionality 0 so expected in_dim to "
                "satisfy 0 <= in_dim < 0."
            )
    sizes = [g._aval.shape[0] for g in given]
    if len(set(sizes)) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    with opened(sizes[0], "error") as axis:
        cotangents = tuple(enter(g if create_graph else g.detach(), axis) for g in given)
        found = run_backward(
            _edges(roots, _cotangents(roots, cotangents)), retain_graph=retain_graph,
            create_graph=create_graph, capture=_targets(wanted),
        )
        return [None if g is None else leave(g, axis) for g in found]

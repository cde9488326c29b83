"""Functions that move elements, which move the mask alike; copies, conversions, choices, single elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow import _functions as F
from jaxflow._core import dtype as dtypes
from jaxflow._core.layouts import has_parts
from jaxflow._core.tensor import Tensor
from jaxflow._sparse.nodes import recorded

from .dispatch import PROPERTIES, on, on_parts, refused
from .elementwise import replaced
from .parts import added_up, again, data_of, fresh, is_masked, mask_of, masked, masked_by, same_masks

_MOVING = """
    __getitem__ select transpose swapaxes swapdims t split chunk split_with_sizes slice expand expand_as
    view view_as reshape reshape_as flatten unflatten cat concat concatenate stack unsqueeze unfold narrow
    tensor_split hsplit vsplit adjoint
""".split()


@on(*_MOVING)
def moved(original: Callable, *args: Any, **kwargs: Any) -> Any:
    """The same of data and mask. All tensors have to be masked."""
    if any(isinstance(t, Tensor) and not is_masked(t) for x in args[:1] for t in (
            x if x.__class__ in (list, tuple) else (x,))):
        raise TypeError("mask must have dtype bool.")
    data = on_parts(original, args, kwargs)
    mask = on_parts(original, args, kwargs, lambda x: mask_of(x) if is_masked(x) else x)
    if data.__class__ in (list, tuple):
        return type(data)(masked(d, m) for d, m in zip(data, mask, strict=True))
    return masked(data, mask)


def _no_order(t: Tensor) -> Tensor:
    raise refused("Tensor.T of other than two dimensions")


PROPERTIES.update(
    layout=lambda t: t._storage.parts.layout,
    data=lambda t: fresh(*t._storage.parts),
    T=lambda t: t.transpose(0, 1) if t.dim() == 2 else _no_order(t),
    mT=lambda t: t.transpose(-2, -1),
    H=lambda t: t.transpose(0, 1),
    mH=lambda t: t.transpose(-2, -1),
)


@on("clone", "contiguous", "alias")
def copied(original: Callable, input: Tensor, **kwargs: Any) -> Tensor:
    """A copy, of data and of the mask."""
    return masked(original(data_of(input), **kwargs), original(mask_of(input), **kwargs))


@on("detach")
def detach(original: Callable, input: Tensor) -> Tensor:
    """The same without history."""
    return fresh(*input._storage.parts)


@on("ones_like")
def ones_like(original: Callable, input: Tensor, **kwargs: Any) -> Tensor:
    """Ones, with the mask of ``input``."""
    return fresh(original(input._storage.parts.data, **kwargs), mask_of(input))


@on("is_contiguous")
def is_contiguous(original: Callable, input: Tensor, **kwargs: Any) -> bool:
    """Whether the data lie row by row. ValueError for sparse ones."""
    if has_parts(input._storage.parts.data):
        raise ValueError("MaskedTensors with sparse data do not have is_contiguous")
    return original(input._storage.parts.data, **kwargs)


@on("stride")
def stride(original: Callable, input: Tensor, *args: Any) -> Any:
    """The strides of the data."""
    return original(input._storage.parts.data, *args)


@on("to", "cpu", "cuda", "type_as", "double", "float", "half", "long", "int", "short", "char", "bool")
def converted(original: Callable, input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Of another dtype, or on another device."""
    data = original(data_of(input), *args, **kwargs)
    mask = mask_of(input)
    return masked(data, mask if mask.device == data.device else mask.to(data.device))


@on("item", "__float__", "__int__", "__bool__", "__index__", "is_nonzero")
def item(original: Callable, input: Tensor) -> Any:
    """The number of the only element. ValueError where it is masked."""
    number = original(input._storage.parts.data)
    if not mask_of(input).item():
        raise ValueError("a masked element has no number: get_data() and to_tensor(value) give one")
    return number


@on("__format__", "__str__")
def formatted(original: Callable, input: Tensor, spec: str = "") -> str:
    """The text of the tensor. TypeError for a format."""
    return object.__format__(input, spec) if spec else repr(input)


@on("tolist", "numpy")
def to_python(original: Callable, input: Tensor, *args: Any, **kwargs: Any) -> None:
    """Refused, as in PyTorch: RuntimeError."""
    raise RuntimeError(f".{original.__name__}() is not supported for tensor subclasses, got MaskedTensor")


@on("copy_")
def copy_(original: Callable, input: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Let ``input`` have the data of ``src``, whose mask is the same."""
    if not (is_masked(input) and is_masked(src)):
        raise refused("Tensor.copy_")
    if not same_masks(mask_of(input), mask_of(src)):
        raise ValueError("args[0] mask and args[1] mask must match but do not")
    return replaced(input, lambda: masked(data_of(src).clone(), mask_of(input)))


@on("where")
def where(original: Callable, condition: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Of each place, the element of ``input`` or of ``other``, with the mask that it has there.

    A gradient for ``input`` is masked where ``condition`` is false, one for ``other`` where it is true.
    """
    if is_masked(condition) or len(args) != 2 or kwargs:
        raise ValueError(
            "torch.where of MaskedTensors takes a condition that is none, and two values by position")
    first, second = (x if isinstance(x, Tensor) else F.tensor(x) for x in args)
    data, masks = [], []
    shape = F.broadcast_shapes(condition.shape, first.shape, second.shape)
    for t, chosen in ((first, condition), (second, ~condition)):
        own = mask_of(t) if is_masked(t) else F.ones(t.shape, dtype=dtypes.bool, device=t.device)
        if has_parts(own):
            raise refused("where of sparse data")
        masks.append(own)
        data.append(_chosen(t, chosen, shape))
    return masked(original(condition, *data), original(condition, *masks))


def _chosen(t: Tensor, chosen: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The data of ``t``, whose gradient is masked where another one was chosen."""
    data = data_of(t)
    if not data.requires_grad:
        return data
    chosen, own = chosen.expand(shape), tuple(data.shape)
    return recorded(again(data.detach().expand(shape)), "Where", [
        (data, lambda grad: added_up(masked_by(grad, chosen), own))])


# ------------------------------------------------------------------------------------------------ layouts


def _with_layout(t: Tensor, to: Callable[[Tensor], Tensor], name: str) -> Tensor:
    """``t`` in the layout that ``to`` gives; its gradient in that of ``t``."""
    data, mask = t._storage.parts
    back = {"strided": lambda g: g.to_dense(), "sparse_coo": lambda g: g.to_sparse(),
            "sparse_csr": lambda g: g.to_sparse_csr()}[data.layout.name]
    new_mask = to(mask)
    new = data.to_dense() if not has_parts(new_mask) else (
        data.to_dense() if has_parts(data) else data).sparse_mask(new_mask)
    return recorded(fresh(new, new_mask), name, [(t, back)])


@on("to_dense")
def to_dense(original: Callable, input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """With dense data and a dense mask."""
    if not has_parts(mask_of(input)):
        return input
    return _with_layout(input, lambda mask: mask.to_dense(), "MaskedToDense")


@on("to_sparse", "to_sparse_coo")
def to_sparse(original: Callable, input: Tensor) -> Tensor:
    """With data in coordinates, at the places that count."""
    if mask_of(input).layout.name == "sparse_coo":
        return input
    return _with_layout(input, lambda mask: mask.to_dense().to_sparse().coalesce() if has_parts(mask) else
                        mask.to_sparse().coalesce(), "MaskedToSparse")


@on("to_sparse_csr")
def to_sparse_csr(original: Callable, input: Tensor) -> Tensor:
    """With data in compressed rows, at the places that count. ValueError unless there are two dimensions."""
    if input.dim() != 2:
        raise ValueError(
            f"Only 2D tensors can be converted to the SparseCsr layout but got shape: {input.shape}")
    if mask_of(input).layout.name == "sparse_csr":
        return input
    return _with_layout(input, lambda mask: mask.to_sparse_csr(), "MaskedToSparseCsr")


@on("values", "_values", "indices", "_indices")
def part(original: Callable, input: Tensor) -> Tensor:
    """A part of sparse data, none of it masked."""
    data = original(data_of(input))
    return masked(data, F.ones(data.shape, dtype=dtypes.bool, device=data.device))


@on("_nnz", "sparse_dim", "dense_dim", "is_coalesced", "is_sparse_csr")
def property_of_data(original: Callable, input: Tensor) -> Any:
    """A property of sparse data."""
    return original(input._storage.parts.data)


@on("__deepcopy__")
def deepcopy(original: Callable, input: Tensor, memo: dict) -> Tensor:
    """A leaf like it."""
    if input.requires_grad and input.grad_fn is not None:
        raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                           "protocol at the moment")
    made = fresh(*(x.clone() for x in input._storage.parts))
    if input.requires_grad:
        made.requires_grad_()
    memo[id(input)] = made
    return made



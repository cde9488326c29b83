"""What nested tensors of both layouts say of themselves, and how they are copied, converted and compared."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from jaxflow._core.fields import rebind, set_history
from jaxflow._core.layouts import has_parts
from jaxflow._core.size import Size
from jaxflow._core.tensor import Tensor, make_view
from jaxflow._sparse.inplace import again

from . import printing
from .dispatch import PROPERTIES, STRIDED, on, on_both
from .make import of_list
from .padding import number_of, padded
from .parts import Jagged, fresh, is_jagged, is_nested, jagged, like, parts_of, pieces, values_of
from .ragged import NestedInt, Ragged
from .reductions import dim_of
from .shapes import rows

_NO_SIZES = "Internal error: NestedTensorImpl doesn't support sizes. Please file an issue."
_NO_STRIDES = "Internal error: NestedTensorImpl doesn't support strides. Please file an issue."


def shape_of(t: Tensor) -> Size:
    """The shape of a nested tensor. RuntimeError for the strided layout, whose rows have each their own."""
    if not is_jagged(t):
        raise RuntimeError(_NO_SIZES)
    return parts_of(t).shape


def _elements(t: Tensor) -> int:
    parts = parts_of(t)
    if is_jagged(t) and parts.ragged.lengths is not None:
        inner = parts.values.shape
        each = math.prod((*inner[:parts.dim - 1], *inner[parts.dim:]))
        return int(parts.ragged.lengths.sum().item()) * each
    return parts.values.numel()


def _matrices_exchanged(t: Tensor) -> Tensor:
    return t.transpose(-2, -1)


PROPERTIES.update(
    shape=shape_of,
    layout=lambda t: parts_of(t).layout,
    is_nested=lambda t: True,
    nbytes=lambda t: _elements(t) * t.itemsize,
    data=lambda t: make_view(t._storage, t._aval, None, None, type(t)),
    T=lambda t: t.permute(*reversed(range(t.dim()))),
    mT=_matrices_exchanged,
)


@on_both("size")
def size(original: Callable, self: Tensor, dim: int | None = None) -> Any:
    """The shape, or one extent of it. RuntimeError for what differs from row to row in the strided layout."""
    if dim is None:
        return shape_of(self)
    dim = dim_of(self, dim)
    found = parts_of(self).shape[dim]
    if isinstance(found, NestedInt) and not is_jagged(self):
        raise RuntimeError(f"Given dimension {dim} is irregular and does not have a size.")
    return found


@on("stride")
def stride(original: Callable, self: Tensor, dim: int | None = None) -> Any:
    """The strides of the values, after that of the rows."""
    parts = parts_of(self)
    inner = parts.values.stride()
    found = (parts.ragged.size * inner[parts.dim - 1], *inner)
    return found if dim is None else found[dim_of(self, dim)]


@on("stride", "tolist", table=STRIDED)
def no_stride(original: Callable, self: Tensor, dim: int | None = None) -> None:
    """Refused: each row has its own strides."""
    raise RuntimeError(_NO_STRIDES)


on("storage_offset")(lambda original, self: parts_of(self).values.storage_offset())
on_both("numel", "nelement")(lambda original, self: _elements(self))
on("__len__")(lambda original, self: parts_of(self).ragged.count)


@on("__len__", "numpy", "__array__", table=STRIDED)
def no_length(original: Callable, self: Tensor, *args: Any, **kwargs: Any) -> None:
    """Refused, as in PyTorch."""
    raise RuntimeError(_NO_SIZES)


@on("tolist", "numpy", "__array__")
def to_python(original: Callable, self: Tensor, *args: Any, **kwargs: Any) -> None:
    """Refused, as in PyTorch: there is no array of all elements."""
    name = original.__name__
    whose = ", got NestedTensor" if name == "tolist" else "."
    raise RuntimeError(f".{'numpy' if name == '__array__' else name}() is not supported for tensor "
                       f"subclasses{whose}")


@on_both("is_contiguous")
def is_contiguous(original: Callable, self: Tensor, **kwargs: Any) -> bool:
    """Whether the rows follow each other without holes, each in row order."""
    parts = parts_of(self)
    if parts.__class__ is Jagged:
        return parts.ragged.lengths is None and parts.values.is_contiguous()
    return parts.contiguous


@on_both("contiguous")
def contiguous(original: Callable, self: Tensor, **kwargs: Any) -> Tensor:
    """The tensor, or a copy whose rows follow each other without holes."""
    parts = parts_of(self)
    if is_contiguous(original, self):
        return self
    if parts.__class__ is not Jagged:
        return pieces(values_of(self).clone(), parts.sizes)
    if parts.ragged.lengths is None:
        return like(parts, values_of(self).contiguous())
    if parts.dim != 1:
        raise AssertionError("NJT with ragged_idx != 1 not supported for contiguous clone")
    return of_list(list(rows(self)))


@on_both("clone")
def clone(original: Callable, input: Tensor, **kwargs: Any) -> Tensor:
    """A copy."""
    return like(parts_of(input), original(values_of(input), **kwargs))


@on_both("detach")
def detach(original: Callable, input: Tensor) -> Tensor:
    """The same without history; a write to one is one to the other."""
    return fresh(parts_of(input))


@on_both("detach_")
def detach_(original: Callable, self: Tensor) -> Tensor:
    """The tensor, cut off the graph."""
    set_history(self, None, 0, False)
    return self


@on("alias")
def alias(original: Callable, input: Tensor) -> Tensor:
    """The same elements."""
    return like(parts_of(input), values_of(input))


@on_both("to", "cpu", "cuda", "type_as", *"double float half bfloat16 long int short char byte bool".split())
def converted(original: Callable, input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Of another dtype, or on another device; the tensor itself where nothing changes."""
    args = tuple(parts_of(x).values if is_nested(x) else x for x in args)
    if not is_nested(input):
        return original(input, *args, **kwargs)
    parts, values = parts_of(input), values_of(input)
    found = original(values, *args, **kwargs)
    if found is values or (found._aval is values._aval and not kwargs.get("copy") and True not in args):
        return input
    if parts.__class__ is Jagged:
        return jagged(found, parts.ragged.moved(found.device), parts.dim)
    return like(parts, found)


@on_both("type")
def type_(original: Callable, self: Tensor, dtype: Any = None, **kwargs: Any) -> Any:
    """The type's name, or the tensor as another dtype."""
    return original(parts_of(self).values) if dtype is None else self.to(dtype)


@on("values")
def values(original: Callable, self: Tensor) -> Tensor:
    """The packed rows; gradients pass."""
    found = values_of(self)
    return found.detach() if found is parts_of(self).values else found


@on("values", table=STRIDED)
def buffer(original: Callable, self: Tensor) -> Tensor:
    """The elements of all rows, one after the other. RuntimeError unless the rows are contiguous."""
    if not parts_of(self).contiguous:
        raise RuntimeError("values() of a nested tensor whose rows are not contiguous: call contiguous() "
                           "first")
    return values(original, self)


@on("to_padded_tensor")
def to_padded_tensor(original: Callable, self: Tensor, padding: float, output_size: Any = None) -> Tensor:
    """The dense tensor, with ``padding`` behind the end of each row."""
    parts = parts_of(self)
    if parts.ragged.lengths is not None:
        raise RuntimeError("to_padded_tensor(): not supported for nested tensors with holes")
    length = parts.ragged.most
    if output_size is not None:
        length = tuple(output_size)[parts.dim]
    elif length is None:
        length = parts.values.shape[parts.dim - 1]
    return padded(values_of(self), parts.ragged, parts.dim, number_of(parts.values, padding), length)


@on_both("is_same_size")
def is_same_size(original: Callable, self: Tensor, other: Tensor) -> bool:
    """Whether both have the same rows."""
    return is_nested(self) and is_nested(other) and parts_of(self).shape == parts_of(other).shape


@on("item", "__float__", "__int__", "__index__", "__bool__", "is_nonzero", "__complex__")
def item(original: Callable, self: Tensor) -> Any:
    """The number of the only element. RuntimeError where there are more."""
    return original(parts_of(self).values)


@on_both("__repr__", "__str__")
def shown(original: Callable, self: Tensor, **kwargs: Any) -> str:
    """The text of the tensor."""
    return printing.text(self)


@on_both("__format__")
def formatted(original: Callable, self: Tensor, spec: str = "") -> str:
    """The text of the tensor. TypeError for a format."""
    return object.__format__(self, spec) if spec else printing.text(self)


@on("copy_")
def copy_(original: Callable, self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Let ``self`` have the elements of ``src``, whose rows are as long."""
    if not (is_nested(self) and is_nested(src)):
        raise RuntimeError("copy_(): expected both tensors to be nested, or none of them")
    ours, theirs = parts_of(self), parts_of(src)
    same = tuple(ours.shape) == tuple(theirs.shape) or (
        [tuple(r.shape) for r in rows(self)] == [tuple(r.shape) for r in rows(src)] and ours.dim == theirs.dim
        and ours.ragged.lengths is theirs.ragged.lengths is None)
    if not same:
        raise RuntimeError(f"copy_(): expected compatible input and src shapes, but got: {self.shape} and "
                           f"{src.shape}")
    return again(self, lambda: like(ours, values_of(src).to(self.dtype).clone()))


@on_both("__deepcopy__")
def deepcopy(original: Callable, self: Tensor, memo: dict) -> Tensor:
    """A leaf like it."""
    if self.grad_fn is not None:
        raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                           "protocol at the moment")
    parts = parts_of(self)
    made = fresh(parts._replace(values=parts.values.clone()))
    if self.requires_grad:
        made.requires_grad_()
    memo[id(self)] = made
    return made


@on_both("__copy__")
def shallow(original: Callable, self: Tensor) -> Tensor:
    """A leaf of the same parts."""
    made = fresh(parts_of(self))
    return made.requires_grad_() if self.requires_grad else made


def rebuilt(kind: str, values: Tensor, where: tuple, requires_grad: bool) -> Tensor:
    """What a pickle of a nested tensor stands for."""
    made = jagged(values, Ragged(*where[:4]), where[4]) if kind == "jagged" else pieces(values, *where)
    return made.requires_grad_() if requires_grad else made


@on_both("__reduce_ex__")
def reduce_ex(original: Callable, self: Tensor, protocol: Any) -> tuple:
    """The parts: what comes back is a leaf."""
    parts = parts_of(self)
    if parts.__class__ is Jagged:
        ragged = parts.ragged
        where: tuple = (ragged.offsets, ragged.lengths, ragged.least, ragged.most, parts.dim)
        return rebuilt, ("jagged", parts.values, where, self.requires_grad)
    return rebuilt, ("strided", parts.values, (parts.sizes, parts.contiguous), self.requires_grad)


def set_data(t: Tensor, new: Tensor) -> None:
    """``t.data = new`` where one of them is nested."""
    if is_nested(t) != is_nested(new) or not has_parts(new):
        raise RuntimeError("Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have "
                           "incompatible tensor type.")
    rebind(t, new._storage, new._aval, None, None)



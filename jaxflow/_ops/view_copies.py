"""What each view shows, copied: ``permute_copy`` and its like, and the pieces of a split as copies.

A copy is contiguous whatever it was made from, and depends on the elements alone, so each op reads its view
of a contiguous array.
"""

from __future__ import annotations

from jaxflow._core import dtype as dtypes
from jaxflow._plans.op import EXACT, Integers, Out, op

from . import pieces
from ._support import wrap_dim
from .views import VIEWS, Geometry, contiguous

_UNEXPLAINED = (
    "Expected {} to be true, but got false.  (Could this error message be improved?  If so, please report an "
    "enhancement request to PyTorch.)"
)


def _shown(input, name, *static):
    step = VIEWS[name](contiguous(input), *static)
    return step.read(input, *step.numbers)


def _copy(view: str, variants: str = "function out"):
    return dict(variants=variants, saves="none", grad_name=f"{view}Backward0_copy",
                out=Out(EXACT.text, lost="out" in variants))


@op(**_copy("Alias"))
def alias_copy(input, /):
    """A copy of all elements."""
    return input


@op(**_copy("Expand"))
def expand_copy(input, /, size: Integers, *, implicit: bool = False):
    """`Tensor.expand` with memory for each repetition."""
    return _shown(input, "expand", size)


@op(**_copy("Diagonal"))
def diagonal_copy(input, /, offset: int = 0, dim1: int = 0, dim2: int = 1):
    """A copy of what `diagonal` shows."""
    return _shown(input, "diagonal", offset, dim1, dim2)


@op(variants="function method out", saves="none",
    out=Out(_UNEXPLAINED.format("self.dtype() == output.dtype()"), resizes=True))
def narrow_copy(input, /, dim: int, start: int, length: int):
    """A copy of what `narrow` shows."""
    if dim >= input.ndim > 0:
        raise RuntimeError(_UNEXPLAINED.format("dim < static_cast<int64_t>(self_sizes.size())"))
    axis, start, stop = pieces.narrowed(input.shape, dim, start, length)
    return _shown(input, "slice", axis, start, stop, 1)


@op(**_copy("Select"), complex_grad=False)
def select_copy(input, /, dim: int, index: int):
    """A copy of what `select` shows."""
    return _shown(input, "select", dim, index)


@op(**_copy("Slice"), complex_grad=False)
def slice_copy(input, /, dim: int = 0, start: int = None, end: int = None, step: int = 1):
    """A copy of ``start:end:step`` along ``dim``."""
    return _shown(input, "slice", dim, start, end, step)


@op(**_copy("Permute"))
def permute_copy(input, /, dims: Integers):
    """A copy with the dimensions in the order ``dims``."""
    return _shown(input, "permute", dims)


@op(**_copy("Transpose"))
def transpose_copy(input, /, dim0: int, dim1: int):
    """A copy with two dimensions exchanged."""
    return _shown(input, "transpose", dim0, dim1)


@op(**_copy("T"))
def t_copy(input, /):
    """A copy of a matrix transposed; a vector as it is."""
    return _shown(input, "t")


@op(**_copy("Unsqueeze"))
def unsqueeze_copy(input, /, dim: int):
    """A copy with a dimension of size 1 put in at ``dim``."""
    return _shown(input, "unsqueeze", dim)


def _squeeze_name(numbers, dim):
    return f"SqueezeBackward{0 if dim is None else 1 if isinstance(dim, int) else 2}_copy"


@op(**{**_copy(""), "grad_name": _squeeze_name})
def squeeze_copy(input, /, dim: Integers = None):
    """A copy without dimensions of size 1: all of them, or ``dim``."""
    if dim is None:
        return _shown(input, "squeeze")
    return _shown(input, "squeeze_dims", (dim,) if isinstance(dim, int) else dim)


@op(**_copy("Unfold"))
def unfold_copy(input, /, dimension: int, size: int, step: int):
    """A copy of all windows of ``size`` at distance ``step`` along a dimension."""
    return _shown(input, "unfold", dimension, size, step)


@op(**_copy("View"))
def view_copy(input, /, size=None, *, dtype=None):
    """The elements in another shape, or their bytes as another dtype, in memory of their own."""
    if dtype is None and len(size) == 1 and isinstance(size[0], dtypes.dtype):
        dtype = size[0]
    return _shown(input, "view", size) if dtype is None else _shown(input, "view_dtype", dtype)


@op(**_copy("ViewAsReal"))
def view_as_real_copy(input, /):
    """A copy of complex numbers as pairs of reals along a new last dimension."""
    return _shown(input, "view_as_real")


def _pairs_lie_together(watch, dynamic, static):
    """A guard: the operand could be viewed as complex numbers where it lies, which PyTorch does first."""
    t = dynamic[0]
    whole = t.shape, t.stride(), t._aval.dtype
    VIEWS["view_as_complex"](Geometry(*whole[:2], t.storage_offset(), whole[2], False, False, *whole))


@op(**_copy("ViewAsComplex"), complex_grad=False, guard=_pairs_lie_together)
def view_as_complex_copy(input, /):
    """A copy of pairs of reals along the last dimension as complex numbers."""
    return _shown(input, "view_as_complex")


# ------------------------------------------------------------------------------------------- pieces

def _cut(input, axis, bounds):
    return tuple(_shown(input, "piece", axis, start, stop) for start, stop in bounds)


@op(**_copy("Unbind", ""))
def unbind_copy(input, /, dim: int = 0):
    """Copies of all slices along ``dim``."""
    if not input.ndim:
        wrap_dim(dim, 1)
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    axis = wrap_dim(dim, input.ndim)
    return tuple(_shown(input, "select", axis, i) for i in range(input.shape[axis]))


@op(**_copy("Split", ""))
def split_copy(input, /, split_size: int, dim: int = 0):
    """Copies of pieces of ``split_size`` along ``dim``."""
    return _cut(input, *pieces.by_size(input.shape, split_size, dim))


@op(**_copy("SplitWithSizes", ""))
def split_with_sizes_copy(input, /, split_sizes: Integers, dim: int = 0):
    """Copies of pieces of the given sizes along ``dim``."""
    return _cut(input, *pieces.by_sizes(input.shape, split_sizes, dim))

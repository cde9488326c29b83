"""``matmul`` and its relatives: which product op is used for which numbers of dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from jaxflow._api.forms import given_out, listed
from jaxflow._api.shape.copies import take_over
from jaxflow._core import dtype as dtypes
from jaxflow._core.geometry import compute_view_strides, is_contiguous
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor
from jaxflow._core.warning import warn_once
from jaxflow._dispatch.dispatch import apply, strides_of
from jaxflow._dispatch.held_operands import hold_only
from jaxflow._dispatch.viewing import apply_view
from jaxflow._ops.matmul import C_NAMES, LINEAR, check_vectors
from jaxflow._plans.op import OPS, Out
from jaxflow._publish.bind import numbers_first
from jaxflow._publish.composite import composite
from jaxflow._publish.out import check_dtype, computed, dtype_into, refuse_call, refuse_operands, write_out
from jaxflow._publish.publish import function_of, left_to
from jaxflow._publish.value_checks import guarded
from jaxflow._views.history import refreshed, set_history
from jaxflow._writes.inplace import apply_inplace, check_recorded, check_writable

_MM, _MV, _DOT = OPS["mm"], OPS["mv"], OPS["dot"]
_VEC_MAT, _FOLDED = OPS["_matmul_vec_mat"], OPS["_matmul_folded"]
_VEC_BATCH, _MAT_BATCH = OPS["_matmul_vec_batch"], OPS["_matmul_mat_batch"]
_BATCHED = OPS["_matmul_batched"]


@composite(aliases=("linalg.matmul",))
def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Product of vectors, matrices and broadcast stacks of matrices, as the ``@`` operator.

    ``result[..., i, k] = sum over j of input[..., i, j] * other[..., j, k]``. A vector counts as one row on
    the left and as one column on the right, and its dimension is missing from the result; dimensions before
    the last two are broadcast.

    Args:
        input: ``(n,)`` or ``(..., m, n)``.
        other: ``(n,)`` or ``(..., n, p)``, of the same dtype; any but bool.
        out: where to write the result.

    Returns:
        A new tensor of that dtype, ``(..., m, p)``, without ``m`` or ``p`` where an operand is a vector.

    Raises:
        RuntimeError: for 0-d operands, sizes that do not fit, and operands of different dtypes.
        NotImplementedError: for bools.

    Example:
        >>> a = torch.tensor([[1, 2], [3, 4]])
        >>> torch.matmul(a, torch.tensor([1, 10]))
        tensor([21, 43])
        >>> torch.matmul(torch.ones(2, 1, 3, 4), torch.ones(5, 4, 6)).shape
        torch.Size([2, 5, 3, 6])
    """
    return _product(input, other) if out is None else _product_into(out, input, other)


def _product_into(out: Tensor, input: Tensor, other: Tensor) -> Tensor:
    m, n = _dimensions(input, other)
    refuse_operands("matmul", input, other, out)
    op = _MM if n > 1 else _DOT if m == 1 else _MV
    refuse_call(op, out, (input, other), {})
    result = computed(op, out, lambda op, pair, static: _product(*pair), (input, other), ())
    if m == 1 and n == 2:  # found as one row of a matrix
        return write_out("matmul", out, result.unsqueeze(0), (input, other), rule=op.out).squeeze_(0)
    return write_out("matmul", out, result, (input, other), rule=op.out)


def _dimensions(a: Tensor, b: Tensor) -> tuple[int, int]:
    if not isinstance(b, Tensor):
        raise TypeError(
            f"matmul(): argument 'other' (position 2) must be Tensor, not {type(b).__name__}"
        )
    m, n = len(a._aval.shape), len(b._aval.shape)
    if m == 0 or n == 0:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {m}D and {n}D"
        )
    return m, n


def _product(a: Tensor, b: Tensor) -> Tensor:
    m, n = _dimensions(a, b)
    if m == n == 3 and len(a) != len(b):  # PyTorch broadcasts no matrix that requires grad
        if len(a) == 1 and refreshed(a)._requires_grad:
            return _product(a.squeeze(0), b)
        if len(b) == 1 and refreshed(b)._requires_grad:
            return _product(a, b.squeeze(0))
    if m >= 3:
        # Folded or not gives the same product; what is refused is refused in other words.
        fits = n > 2 or (a._aval.shape[-1] == b._aval.shape[0] and a._aval.dtype is b._aval.dtype)
        op = _FOLDED if n <= 2 and (fits or _folds(b, a)) else _BATCHED
    elif n > 2:
        folds = _folds(a, b, first=True)
        if folds and m == 2 and _of_lines(a._aval.shape, b._aval.shape):
            return _product(b.mT, a.mT).mT
        op = (_MAT_BATCH if m == 2 else _VEC_BATCH) if folds else _BATCHED
    elif m == 2:
        op = _MV if n == 1 else _MM
    else:
        op = _DOT if n == 1 else _VEC_MAT
    return apply(op, (a, b))


def _of_lines(a: tuple, b: tuple) -> bool:
    """Whether products ``(n, k) @ (..., k, m)`` are rows, columns or nothing: transposed, they lie alike."""
    return a[0] <= 1 or b[-1] <= 1 or 0 in b[:-2]


def _folds(a: Tensor, b: Tensor, first: bool = False) -> bool:
    """Whether PyTorch multiplies the matrix or vector ``a`` with all rows of the batches ``b`` at once.

    ``first``: whether ``a`` is the first operand.
    """
    if state.grad and refreshed(a)._requires_grad:
        return True
    if first and a._aval.ndim == 2:
        return False
    size, stride = b._aval.shape, strides_of(b)
    if first:  # PyTorch turns the product round
        size, stride = (*size[:-2], size[-1]), (*stride[:-2], stride[-1])
    else:
        size, stride = size[:-1], stride[:-1]
    return not b._aval.numel or all(
        stride[d] == stride[d + 1] * size[d + 1] for d in range(len(size) - 1))


@composite("", name="__matmul__", operators="__matmul__")
def matmul_operator(self: Tensor, other: Any) -> Tensor:
    """``self @ other``."""
    return _product(self, other) if isinstance(other, Tensor) else left_to(other, "matmul")


@composite("", name="__rmatmul__", operators="__rmatmul__")
def reflected_matmul_operator(self: Tensor, other: Any) -> Tensor:
    """``other @ self``."""
    return _product(other, self) if isinstance(other, Tensor) else left_to(other, "matmul")


def _linear_out(out: Tensor, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """`linear` into ``out``: one product, or a product to which the bias is added where it was written."""
    refuse_operands("linear", input, weight, bias, out)
    if input.dim() == 2 and bias is not None:
        return function_of(OPS["addmm"])(bias, input, weight.t(), out=out)
    matmul(input, weight.t(), out=out)
    return out if bias is None else out.add_(bias)


@composite("function", namespace="nn.functional")
def linear(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor | None = None
) -> Tensor:
    """``input @ weight.T + bias`` for an input of any number of leading dimensions.

    Args:
        input: ``(..., in)``.
        weight: ``(out, in)``, or ``(in,)`` for one output feature without its dimension.
        bias: ``(out,)``.
        out: where to write the result.

    Returns:
        A new tensor of the dtype of the operands, ``(..., out)``, or ``(...)`` for a weight of one
        dimension.

    Raises:
        RuntimeError: for sizes that do not fit and for different dtypes.

    Example:
        >>> weight = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
        >>> F.linear(torch.tensor([[1.0, 2.0]]), weight, torch.tensor([0.0, 0.0, 10.0]))
        tensor([[ 1.,  2., 13.]])
        >>> F.linear(torch.ones(5, 4, 2), weight).shape
        torch.Size([5, 4, 3])
    """
    if out is not None:
        return _linear_out(out, input, weight, bias)
    m, n = len(input._aval.shape), len(weight._aval.shape)
    if m == 0 or n == 0:
        raise RuntimeError(
            f"both arguments to linear need to be at least 1D, but they are {m}D and {n}D"
        )
    dims = "matrix" if m == 2 else "batched" if m > 2 else "vector"
    if bias is not None and (m == 2 or (
            _is_vector(bias._aval.shape) and _is_packed(input) and _is_packed(bias))):
        if n == 1:  # a product of matrices, which it is not
            rows = input.view(math.prod(input._aval.shape[:-1]), input._aval.shape[-1])
            return function_of(OPS["addmm"])(bias, rows, weight)
        result = apply(LINEAR[dims, True], (bias, input, weight))
        return apply_view("view", result, ((weight._aval.shape[0],),)) if m == 1 else result
    if n == 1 or (m > 2 and input._aval.shape[-1] != weight._aval.shape[-1]):  # the latter is refused
        product = _product(input, weight.t())
    else:
        product = apply(LINEAR[dims, False], (input, weight))
    return product if bias is None else product.add_(bias)


def _is_packed(t: Tensor) -> bool:
    return t._stride is None or is_contiguous(t._aval.shape, t._stride)


def _is_vector(shape: tuple[int, ...]) -> bool:
    """Whether PyTorch adds a bias of this shape to each line of a matrix."""
    return len(shape) == 1 or len(shape) - shape.count(1) == 1


@composite("function", namespace="nn.functional")
def bilinear(
    input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None
) -> Tensor:
    """``input1 @ weight[o] @ input2 + bias[o]`` for each output feature ``o``.

    Raises:
        RuntimeError: for sizes that do not fit.
    """
    operands = {"input1": input1, "input2": input2, "weight": weight, "bias": bias}
    kinds = {name: x._aval.dtype for name, x in operands.items() if x is not None}
    if len(set(kinds.values())) > 1:
        raise RuntimeError("All tensors must have the same dtype, got "
                           + ", ".join(f"{name}: {kind.c_name}" for name, kind in kinds.items()))
    out = apply(OPS["_bilinear"], (input1, input2, weight))
    out = apply_view("view", out, ((*input1._aval.shape[:-1], weight._aval.shape[0]),))
    if bias is None:
        return out
    if bias.size(0) != weight.size(0):
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias.size(0)} but expected "
            f"{weight.size(0)}"
        )
    return out + bias


_TENSORDOT_OUT = Out("tensordot: Expected the output tensor to have dtype {result}, but got an output tensor "
                     "with dtype {out}", recorded=True)
_MUL_OUT = Out(composed="mul")


def _is_copied(x: Tensor, order: list[int], rows: int) -> bool:
    """Whether ``x`` with its dimensions in this order, joined into ``rows`` and the others, is a copy."""
    size, stride = [x._aval.shape[d] for d in order], strides_of(x)
    joined = math.prod(size[:rows]), math.prod(size[rows:])
    return compute_view_strides(size, [stride[d] for d in order], joined) is None


def _sums_first(size: Sequence[int], dims: Sequence[int]) -> bool:
    """Whether PyTorch adds up the first operand before it multiplies: where one of these dims has size 1."""
    return any(size[d] == 1 for d in dims)


def _view_of_matrix(name: str, a: Tensor, b: Tensor, summed: tuple, static: tuple,
                    copies_a: bool) -> Tensor:
    """The product of ``a`` and ``b`` over the ``summed`` dimensions of each: a view of one of matrices.

    What PyTorch copies on the way to that product may be overwritten before backward: an operand that its
    matrix is no view of, and ``a`` where ``copies_a`` says so (`_sums_first`).
    """
    (of_a, of_b), (size_a, size_b) = summed, (a._aval.shape, b._aval.shape)
    free_a, free_b = ([d for d in range(len(x)) if d not in of] for x, of in ((size_a, of_a), (size_b, of_b)))
    shape = [size_a[d] for d in free_a] + [size_b[d] for d in free_b]
    product = apply(OPS[name if shape else name + "_dot"], (a, b), static)
    if product._grad_fn is None:
        return product.view(shape)
    copies_a = copies_a or (bool(shape) and _is_copied(a, [*free_a, *of_a], len(free_a)))
    copies_b = bool(shape) and _is_copied(b, [*of_b, *free_b], len(of_b))
    if copies_a or copies_b:
        hold_only(product, None if copies_a else a, None if copies_b else b)
    return product.view(shape)


@composite(aliases=("linalg.inner",))
def inner(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Sums of products over the last dimensions of both; a plain product where one is 0-d.

    Raises:
        RuntimeError: when the last dimensions differ.
    """
    if input.dim() == 0 or other.dim() == 0:
        return given_out("inner", out, input * other, (input, other), rule=_MUL_OUT)
    summed = (input.dim() - 1,), (other.dim() - 1,)
    result = _view_of_matrix("_inner", input, other, summed, (), _sums_first(other._aval.shape, summed[1]))
    return given_out("inner", out, result, (input, other), rule=_TENSORDOT_OUT)


@composite("function")
def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Tensor | None = None) -> Tensor:
    """Sums of products over paired dimensions.

    Args:
        a: first operand.
        b: second operand.
        dims: how many of the last dimensions of ``a`` pair with the first of ``b``, or the two
            lists of dimensions.

    Raises:
        RuntimeError: when paired dimensions differ in size, or ``dims`` makes no sense.
    """
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.dim(), b.dim()):
            raise RuntimeError(
                "tensordot expects dims < ndim_a or ndim_b, but got dims="
                f"{dims}"
            )
        pairs = list(range(-dims, 0)), list(range(dims))
    elif not isinstance(dims, (list, tuple)):
        raise RuntimeError("tensordot expects dims to be int or tuple[list[int], list[int]] or "
                           f"list[list[int]] containing two lists, but got dims={dims}")
    else:
        first, second = dims
        pairs = tuple([d] if isinstance(d, int) else list(d) for d in (first, second))
    if len(pairs[0]) != len(pairs[1]):
        raise RuntimeError("both dimension lists should have same length")
    sums_first = _sums_first(b.shape, pairs[1])
    for i, j in zip(*pairs):
        if a.shape[i] != b.shape[j]:
            if a.shape[i] == 1:
                b = b.sum(j, keepdim=True, dtype=b.dtype)
            elif b.shape[j] == 1:
                a = a.sum(i, keepdim=True, dtype=a.dtype)
            else:
                raise RuntimeError(
                    "contracted dimensions need to match, but first has size "
                    f"{a.shape[i]} in dim {i} and second has size {b.shape[j]} in dim {j}"
                )
    static = tuple(d % a.dim() for d in pairs[0]), tuple(d % b.dim() for d in pairs[1])
    result = _view_of_matrix("_tensordot", a, b, static, static, sums_first)
    return given_out("tensordot", out, result, (a, b), rule=_TENSORDOT_OUT)


# ------------------------------------------------------------------------------------------- chains


@composite("function")
def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """Product of two or more matrices, in the order of fewest multiplications."""
    matrices = listed(matrices)
    warn_once(
        "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use "
        "torch.linalg.multi_dot instead, which accepts a list of two or more tensors rather than "
        "multiple parameters."
    )
    for matrix in matrices:
        if matrix.dim() != 2:
            raise RuntimeError(f"Tensor dimension is {matrix.dim()}, expected 2 instead.")
    if len(matrices) == 1:
        copy = matrices[0].clone()
        return given_out("chain_matmul", out, copy, matrices, rule=Out(casts=True, recorded=True))
    return multi_dot(matrices, out=out)


_MULTI_DOT_OUT = Out("multi_dot(): expected out tensor to have dtype {result_c} but got {out_c}",
                     composed="mm")


@composite("function", namespace="linalg")
def multi_dot(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Product of two or more matrices (the first and last may be vectors) in the cheapest order.

    Raises:
        RuntimeError: for fewer than two tensors or sizes that do not fit.
    """
    shapes = _chain_shapes(tensors)
    if out is not None:
        check_dtype(_MULTI_DOT_OUT, tensors[0].dtype, dtype_into("linalg_multi_dot", out), ())
    rows = [s[0] for s in shapes]
    path = "".join(chr(ord("a") + i) for i in range(len(shapes) + 1))
    terms = [path[i : i + 2] for i in range(len(shapes))]
    if tensors[0].dim() == 1:
        terms[0] = terms[0][1:]
    if tensors[-1].dim() == 1:
        terms[-1] = terms[-1][:1]
    keep = path[0] * (tensors[0].dim() == 2) + path[-1] * (tensors[-1].dim() == 2)
    if 0 in rows and tensors[0].dtype is dtypes.bool:  # of which there is no product, and none is needed
        ends = (tensors[0], shapes[0][0]), (tensors[-1], shapes[-1][1])
        result = tensors[0].new_zeros([size for t, size in ends if t.dim() == 2])
    elif 0 in rows:
        result = tensors[0]
        for t in tensors[1:]:
            result = matmul(result, t)
    else:
        result = apply(OPS["_multi_dot"], tuple(tensors), (",".join(terms) + "->" + keep,))
    result = result.view(result._aval.shape)  # in PyTorch without the dimensions that vectors got
    return given_out("multi_dot", out, result, tuple(tensors), rule=_MULTI_DOT_OUT)


def _chain_shapes(tensors: Sequence[Tensor]) -> list[tuple[int, ...]]:
    n = len(tensors)
    if n < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {n}")
    shapes = []
    for i, t in enumerate(tensors):
        shape = tuple(t.shape)
        if 0 < i < n - 1:
            if len(shape) != 2:
                raise RuntimeError(
                    f"multi_dot(): tensor {i} must be 2D but got {len(shape)}D"
                )
        elif len(shape) not in (1, 2):
            which = "first" if i == 0 else "last"
            raise RuntimeError(
                f"multi_dot(): the {which} tensor must be 1D or 2D but got {len(shape)}D"
            )
        if tensors[0].dtype is not t.dtype:
            raise RuntimeError(
                "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                f"{C_NAMES[tensors[0].dtype.name]} and tensor {i} {C_NAMES[t.dtype.name]}"
            )
        if len(shape) == 1:
            shape = (1, *shape) if i == 0 else (*shape, 1)
        shapes.append(shape)
    for i in range(n - 1):
        if shapes[i][1] != shapes[i + 1][0]:
            raise RuntimeError(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {list(tensors[i].shape)} and "
                f"{list(tensors[i + 1].shape)} cannot be multiplied"
            )
    return shapes


@composite("method")
@numbers_first("addmm")
def addmm_(self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """In-place `addmm`; ``self`` has the shape of the product already."""
    try:
        return guarded(apply_inplace, OPS["addmm"], (self, mat1, mat2, beta, alpha), ())
    except RuntimeError:
        check_recorded((self, mat1, mat2))
        shape, product = self._aval.shape, (*mat1.shape[:1], *mat2.shape[1:])
        if len(mat1.shape) == len(mat2.shape) == 2 and mat1.shape[1] == mat2.shape[0] and (
                self.dtype is mat1.dtype is mat2.dtype and shape != product):
            raise RuntimeError(f"Bad in-place call: input tensor size {list(shape)} and output tensor size "
                               f"{list(product)} should match") from None
        raise


@composite("method")
@numbers_first("addbmm")
def addbmm_(self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """In-place `addbmm`. Alone of its family it lets a ``self`` that broadcasts grow to the result."""
    args = (self, batch1, batch2, beta, alpha)
    check_recorded(args)
    if self._aval.shape == (*batch1.shape[-2:-1], *batch2.shape[-1:]):
        return guarded(apply_inplace, OPS["addbmm"], args, ())
    result = guarded(apply, OPS["addbmm"], args, ())
    check_writable(self, result._requires_grad)
    take_over(self, result)
    if result._requires_grad:
        set_history(self, result._grad_fn, result._output_nr)
    self._storage.version[0] += 1
    return self


@composite("method")
@numbers_first("addr")
def addr_(self: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """In-place `addr`; ``self`` has the shape of the outer product already."""
    args = (self, vec1, vec2, beta, alpha)
    check_recorded(args)
    check_vectors(vec1, vec2)
    shape, sizes = self._aval.shape, (*vec1.shape, *vec2.shape)
    if shape != sizes:
        if len(shape) != 2:
            raise RuntimeError(f"2D tensor expected, got {len(shape)}D tensor for input")
        raise RuntimeError(
            f"size mismatch, input: {list(shape)}, v1: [{sizes[0]}], v2: [{sizes[1]}]"
        )
    return apply_inplace(OPS["addr"], args)

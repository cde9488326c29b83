"""Products of matrices and vectors.

All contractions run at full float32 precision (PyTorch's default also where the hardware offers
less), and half precision accumulates in float32. ``torch.matmul`` and ``linear`` choose among these
ops by the number of dimensions, because PyTorch's error texts and node names depend on it.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core.dtype import BOOL, FLOATING
from jaxflow._core.geometry import broadcast_shapes
from jaxflow._plans.op import EXACT, Always, Out, Scalar, Underived, op, overload

from ._layouts import added_products
from ._support import as_dtype, category, is_bool, refuse, scalar_name, truth, wide

HIGHEST = jax.lax.Precision.HIGHEST

C_NAMES = {
    "bool": "bool", "uint8": "unsigned char", "int8": "signed char", "int16": "short int",
    "int32": "int", "int64": "long int", "float16": "c10::Half", "bfloat16": "c10::BFloat16",
    "float32": "float", "float64": "double", "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>", "uint16": "short unsigned int", "uint32": "unsigned int",
    "uint64": "long unsigned int",
}


def c_name(x) -> str:
    """The C++ type in which PyTorch's matrix kernels name the dtype of ``x`` in their errors."""
    return C_NAMES.get(x.dtype.name, x.dtype.name)


def contract(a, b, axes_a, axes_b):
    """Sum of products over the paired axes; the remaining axes of ``a``, then those of ``b``."""
    return jax.lax.dot_general(a, b, ((axes_a, axes_b), ((), ())), precision=HIGHEST)


def size_at(x, d):
    """The size of dimension ``d``. IndexError where there is none."""
    if -x.ndim <= d < x.ndim:
        return x.shape[d]
    if not x.ndim:
        raise IndexError(f"Dimension specified as {d} but tensor has no dimensions")
    raise IndexError(
        f"Dimension out of range (expected to be in range of [-{x.ndim}, {x.ndim - 1}], but got {d})"
    )


def expand_to(x, shape):
    """``x`` broadcast to ``shape``, refused as PyTorch's ``expand`` refuses."""
    if x.ndim > len(shape):
        raise RuntimeError(
            f"expand(torch.{scalar_name(x)}Tensor{{{list(x.shape)}}}, size={list(shape)}): the "
            "number of "
            f"sizes provided ({len(shape)}) must be greater or equal to the number of dimensions "
            "in the "
            f"tensor ({x.ndim})"
        )
    lead = len(shape) - x.ndim
    for d in reversed(range(x.ndim)):
        if x.shape[d] not in (1, shape[lead + d]):
            raise RuntimeError(
                f"The expanded size of the tensor ({shape[lead + d]}) must match the existing size "
                f"({x.shape[d]}) at non-singleton dimension {lead + d}.  Target sizes: "
                f"{list(shape)}.  "
                f"Tensor sizes: {list(x.shape)}"
            )
    return jnp.broadcast_to(x, shape)


def _scaled(x, factor):
    """``factor * x``, where a factor of 0 also silences nan and inf; the plain default 1 does
    nothing.
    """
    if isinstance(factor, int) and factor == 1:
        return x
    if is_bool(x):
        return x & truth(jnp.asarray(factor))
    factor = as_dtype(jnp.asarray(factor), x.dtype)
    return jnp.where(factor == 0, jnp.zeros_like(x), factor * x)


def _times(alpha, x):
    """``alpha * x``: here a 0 does not silence nan, as in PyTorch."""
    if isinstance(alpha, int) and alpha == 1:
        return x
    return as_dtype(jnp.asarray(alpha), x.dtype) * x


def _refuse_bool(kernel: str, *factors) -> None:
    """Refuse factors that are bool, as PyTorch's kernel does, which is not called for empty ones."""
    if all(x.size for x in factors):
        refuse(kernel, factors[0], BOOL)


def _check_scaled(number, dtype) -> None:
    """Refuse to multiply what has this dtype in place by a number of a higher category. 0 fills it."""
    kinds = {bool: 0, int: 1, float: FLOATING, complex: FLOATING + 1}
    names = {int: "Long", float: "Float", complex: "ComplexFloat"}
    if number and kinds.get(type(number), 0) > dtype.category:
        raise RuntimeError(f"result type {names[type(number)]} can't be cast to the desired output type "
                           f"{dtype.scalar_name}")


def _beta_fits(name):
    """The guard of an op that adds to a product: of nothing PyTorch has none, and scales what it adds to."""

    def guard(watch, dynamic, static):
        input, first, second, beta, _ = dynamic
        beta = 1 if beta is None else beta
        a, b = (getattr(x, "_aval", None) for x in (first, second))
        if a is None or b is None or min(a.ndim, b.ndim) < 2 or (a.numel and b.numel):
            return
        if name == "baddbmm":
            if a.shape[0] and a.shape[1] and b.shape[2]:
                _check_scaled(beta, b.dtype)
        elif name == "addbmm" and not a.shape[0]:
            _check_scaled(beta, input._aval.dtype)
        elif a.shape[-2] and b.shape[-1]:
            # Of a batch the first product is added with ``beta``, the others with 1.
            for number in (beta, 1)[: a.shape[0] if name == "addbmm" else 1]:
                _check_scaled(number, input._aval.dtype)

    return guard


# ----------------------------------------------------------------------------------- plain products


def check_mm_sizes(a_shape, b_shape) -> None:
    """Raise PyTorch's error unless the two matrix shapes can be multiplied."""
    if a_shape[1] != b_shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({a_shape[0]}x{a_shape[1]} and "
            f"{b_shape[0]}x{b_shape[1]})"
        )


def _check_mm_dtypes(a, b) -> None:
    if a.dtype != b.dtype:
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {c_name(a)} != {c_name(b)}"
        )
    _refuse_bool("addmm_impl_cpu_", a, b)


def _of_first(dtype, **static):
    return dtype


# What PyTorch says of ``out=`` before it looks for a kernel of the dtype.
_EXACT = Out(EXACT.text, dtype=_of_first)


@op(out=_EXACT)
def mm(input, mat2, /):
    """Product of two matrices, ``(n, k) @ (k, m) -> (n, m)``.

    Args:
        input: a matrix ``(n, k)`` of any dtype but bool.
        mat2: a matrix ``(k, m)`` of the same dtype.

    Returns:
        A new matrix ``(n, m)`` of that dtype. Nothing is broadcast: `matmul` does that.

    Raises:
        RuntimeError: if one of them is no matrix, the shapes do not fit, or the dtypes differ.
        NotImplementedError: for bools.

    Example:
        >>> torch.mm(torch.tensor([[1, 2], [3, 4]]), torch.tensor([[1, 0, 1], [0, 1, 1]]))
        tensor([[1, 2, 3],
                [3, 4, 7]])
    """
    if input.ndim != 2:
        raise RuntimeError("self must be a matrix")
    if mat2.ndim != 2:
        raise RuntimeError("mat2 must be a matrix")
    check_mm_sizes(input.shape, mat2.shape)
    _check_mm_dtypes(input, mat2)
    return contract(input, mat2, (1,), (0,))


def _check_bmm(batch1, batch2) -> None:
    for name, x in (("batch1", batch1), ("batch2", batch2)):
        if x.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    _check_bmm_sizes(batch1, batch2)


def _check_bmm_sizes(batch1, batch2) -> None:
    want, got = [batch1.shape[0], batch1.shape[2]], list(batch2.shape[:2])
    if want != got:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: {want} but got: {got}."
        )


def _bmm_factors(batch1, batch2):
    """The factors of `bmm` in one dtype; RuntimeError if they are of two."""
    if (batch1.dtype != batch2.dtype or is_bool(batch1)) and not (
            math.prod(batch1.shape) and math.prod(batch2.shape)):
        # No kernel is called, and so no dtype is checked.
        return batch1.astype(batch2.dtype), batch2
    _refuse_bool("bmm", batch1, batch2)
    if batch1.dtype != batch2.dtype:
        raise RuntimeError(
            f"expected scalar type {scalar_name(batch1)} but found {scalar_name(batch2)}"
        )
    return batch1, batch2


def _bmm(batch1, batch2):
    return jnp.matmul(*_bmm_factors(batch1, batch2), precision=HIGHEST)


@op(out=_EXACT)
def bmm(input, mat2, /):
    """Products of two stacks of matrices, ``(b, n, k) @ (b, k, m) -> (b, n, m)``.

    Args:
        input: a tensor ``(b, n, k)`` of any dtype but bool.
        mat2: a tensor ``(b, k, m)`` of the same dtype.

    Returns:
        A new tensor ``(b, n, m)`` of that dtype. Nothing is broadcast: `matmul` does that.

    Raises:
        RuntimeError: if one of them does not have three dimensions, the shapes do not fit, or the dtypes
            differ.
        NotImplementedError: for bools.

    Example:
        >>> x = torch.tensor([[[1, 2]], [[3, 4]]])
        >>> torch.bmm(x, torch.tensor([[[1], [1]], [[2], [0]]]))
        tensor([[[3]],
        <BLANKLINE>
                [[6]]])
        >>> torch.bmm(torch.ones(4, 2, 3), torch.ones(4, 3, 5)).shape
        torch.Size([4, 2, 5])
    """
    _check_bmm(input, mat2)
    return _bmm(input, mat2)


def _check_mv(input, mat, vec, addend=None) -> None:
    if mat.ndim != 2 or vec.ndim != 1 or input.ndim > 1:
        raise RuntimeError(
            f"vector + matrix @ vector expected, got {input.ndim}, {mat.ndim}, {vec.ndim}"
        )
    n = input.shape[0] if input.ndim else 1
    if mat.shape[1] != vec.shape[0] or (addend is not None and n not in (1, mat.shape[0])):
        raise RuntimeError(
            f"size mismatch, got input ({n}), mat ({mat.shape[0]}x{mat.shape[1]}), "
            f"vec ({vec.shape[0]})"
        )
    if not input.dtype == mat.dtype == vec.dtype:
        raise RuntimeError(
            "addmv input tensors must have the same dtype, but got "
            f"{scalar_name(input)}, {scalar_name(mat)}, and {scalar_name(vec)}"
        )
    _refuse_bool("addmv_impl_cpu", mat)


@op(out=Out("addmv input tensors must have the same dtype, but got {out}, {result}, and {result}",
        dtype=_of_first, reshaped=EXACT))
def mv(input, vec, /):
    """Product of a matrix and a vector, ``(n, k) @ (k,) -> (n,)``."""
    start = jax.ShapeDtypeStruct((size_at(input, 0),), vec.dtype)
    _check_mv(start, input, vec)
    return contract(input, vec, (1,), (0,))


_DOT_OUT = Out("result dtype {out} does not match input dtype {result}", first=True)


def _check_dot(a, b) -> None:
    if a.ndim != 1 or b.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {a.ndim}D and {b.ndim}D tensors")
    if a.dtype != b.dtype:
        raise RuntimeError(
            "dot : expected both vectors to have same dtype, but found "
            f"{scalar_name(a)} and {scalar_name(b)}"
        )
    if a.shape != b.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{a.size}] and src [{b.size}] to have the "
            "same "
            f"number of elements, but got {a.size} and {b.size} elements respectively"
        )


@op(out=_DOT_OUT)
def dot(input, tensor, /):
    """Sum of the products of two vectors of equal length; nothing is conjugated.

    Args:
        input: a vector ``(n,)`` of any dtype but bool.
        tensor: a vector ``(n,)`` of the same dtype.

    Returns:
        A new tensor without dimensions, of that dtype.

    Raises:
        RuntimeError: if one of them is no vector, the lengths or the dtypes differ.
        NotImplementedError: for bools.

    Example:
        >>> torch.dot(torch.tensor([1, 2]), torch.tensor([3, 4]))
        tensor(11)
        >>> torch.dot(torch.tensor([1j]), torch.tensor([1j])).real
        tensor(-1.)
    """
    _check_dot(input, tensor)
    refuse("dot", input, BOOL)
    return contract(input, tensor, (0,), (0,))


@op(out=_DOT_OUT)
def vdot(input, other, /):
    """Sum of the products of two vectors, the first one conjugated."""
    _check_dot(input, other)
    refuse("vdot" if category(input) > FLOATING else "dot", input, BOOL)
    return contract(jnp.conj(input), other, (0,), (0,))


# ----------------------------------------------------------------- matmul: one op per kind of shape


@op(name="_matmul_vec_mat", variants="", grad_name="SqueezeBackward4")
def matmul_vec_mat(input, other, /):
    """``(k,) @ (k, m) -> (m,)``."""
    check_mm_sizes((1, *input.shape), other.shape)
    _check_mm_dtypes(input, other)
    return contract(input, other, (0,), (0,))


@op(name="_matmul_folded", variants="", grad_name="UnsafeViewBackward0")
def matmul_folded(input, other, /):
    """``(..., n, k) @ (k, m)`` or ``(..., n, k) @ (k,)``: one product with the leading dimensions
    folded.
    """
    rows = math.prod(input.shape[:-1])
    folded = jax.ShapeDtypeStruct((rows, input.shape[-1]), input.dtype)
    if other.ndim == 1:
        _check_mv(jax.ShapeDtypeStruct((rows,), other.dtype), folded, other)
        return contract(input, other, (input.ndim - 1,), (0,))
    check_mm_sizes(folded.shape, other.shape)
    _check_mm_dtypes(input, other)
    return contract(input, other, (input.ndim - 1,), (0,))


@op(name="_matmul_vec_batch", variants="", grad_name="UnsafeViewBackward0")
def matmul_vec_batch(input, other, /):
    """``(k,) @ (..., k, m) -> (..., m)``."""
    *batch, k, m = other.shape
    folded = jax.ShapeDtypeStruct((math.prod(batch) * m, k), other.dtype)
    _check_mv(jax.ShapeDtypeStruct(folded.shape[:1], input.dtype), folded, input)
    return contract(other, input, (other.ndim - 2,), (0,))


@op(name="_matmul_mat_batch", variants="", grad_name="CloneBackward0")
def matmul_mat_batch(input, other, /):
    """``(n, k) @ (..., k, m) -> (..., n, m)``."""
    *batch, k, m = other.shape
    check_mm_sizes((math.prod(batch) * m, k), input.shape[::-1])
    _check_mm_dtypes(other, input)
    return jnp.matmul(input, other, precision=HIGHEST)


@op(name="_matmul_batched", variants="", grad_name="UnsafeViewBackward0")
def matmul_batched(input, other, /):
    """``(..., n, k) @ (..., k, m)`` with the leading dimensions broadcast; ``(k,)`` is one row."""
    if input.ndim == 1:
        return matmul_batched.fn(input[None], other)[..., 0, :]
    a, b = input.shape[:-2], other.shape[:-2]
    width = max(len(a), len(b))
    a, b = (1,) * (width - len(a)) + a, (1,) * (width - len(b)) + b
    for d in reversed(range(width)):
        if a[d] != b[d] and 1 not in (a[d], b[d]):
            raise RuntimeError(
                f"The size of tensor a ({a[d]}) must match the size of tensor b ({b[d]}) at "
                f"non-singleton dimension {d}"
            )
    count = math.prod(broadcast_shapes(a, b))
    _check_bmm_sizes(
        jax.ShapeDtypeStruct((count, *input.shape[-2:]), input.dtype),
        jax.ShapeDtypeStruct((count, *other.shape[-2:]), other.dtype),
    )
    return _bmm(input, other)


# PyTorch has these from a product of matrices, which the result is a view of.


def _as_matrix(product, rows):
    """The product of two tensors, with the first ``rows`` dimensions joined into one, and the others."""
    return product.reshape(math.prod(product.shape[:rows]), math.prod(product.shape[rows:]))


@op(name="_inner", variants="", grad_name="MmBackward0")
def inner(input, other, /):
    """Sums of products over the last dimensions of both, as the matrix that ``(..., ---)`` is a view of."""
    if input.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(input.shape)} and {list(other.shape)}"
        )
    if input.dtype != other.dtype:
        raise RuntimeError("both inputs should have same dtype")
    if input.ndim == other.ndim == 1:
        refuse("dot", input, BOOL)
    _refuse_bool("addmm_impl_cpu_", input, other)
    product = contract(input, other, (input.ndim - 1,), (other.ndim - 1,))
    return _as_matrix(product, input.ndim - 1) if product.ndim else product


@op(name="_tensordot", variants="", grad_name="MmBackward0")
def tensordot(a, b, /, dims_a, dims_b):
    """Sums of products over the paired dimensions of both, as a matrix; of all of them one number."""
    if a.dtype != b.dtype:
        raise RuntimeError("both inputs should have same dtype")
    if dims_a and len(dims_a) == a.ndim == b.ndim:
        refuse("dot", a, BOOL)
    _refuse_bool("addmm_impl_cpu_", a, b)
    product = contract(a, b, dims_a, dims_b)
    return _as_matrix(product, a.ndim - len(dims_a)) if product.ndim else product


overload(inner, "_inner_dot", "DotBackward0")
overload(tensordot, "_tensordot_dot", "DotBackward0")


# --------------------------------------------------------------------------- product and sum in one


_ADD = "function method inplace out"


def _sum(input, beta, product, alpha):
    """``beta * input + alpha * product``, with a wide product of half precision rounded once."""
    total = _scaled(wide(input), beta) + _times(alpha, product)
    return total.astype(input.dtype)


def _wide_product(a, b, contracted, batch=((), ())):
    """A product for `_sum`: what half precision accumulates in float32 stays there."""
    return jax.lax.dot_general(a, b, (contracted, batch), precision=HIGHEST,
                               preferred_element_type=wide(a[:0]).dtype)


@op(variants=_ADD, out=_EXACT, guard=_beta_fits("addmm"), apart="input", factors="wide")
def addmm(input, mat1, mat2, /, *, beta: Scalar = 1, alpha: Scalar = 1):
    """``beta * input + alpha * mat1 @ mat2``; with ``beta`` 0 the input's values do not matter."""
    _check_addmm_dtypes(input, mat1, mat2)
    for name, x in (("mat1", mat1), ("mat2", mat2)):
        if x.ndim != 2:
            raise RuntimeError(f"{name} must be a matrix, got {x.ndim}-D tensor")
    return _addmm(input, mat1, mat2, beta, alpha)


def _check_addmm_dtypes(input, mat1, mat2) -> None:
    for name, x in (("self", input), ("mat1", mat1)):
        if x.dtype != mat2.dtype:
            raise RuntimeError(
                f"{name} and mat2 must have the same dtype, but got {scalar_name(x)} and "
                f"{scalar_name(mat2)}"
            )


def _addmm(input, mat1, mat2, beta, alpha):
    _check_addmm_dtypes(input, mat1, mat2)
    shape = (mat1.shape[0], mat2.shape[1])
    check_mm_sizes(mat1.shape, mat2.shape)
    start = expand_to(input, shape)
    _refuse_bool("addmm_impl_cpu_", mat1, mat2)
    return _sum(start, beta, _wide_product(mat1, mat2, ((1,), (0,))), alpha)


@op(variants=_ADD, out=_EXACT, apart="input", factors="rounded")
def addmv(input, mat, vec, /, *, beta: Scalar = 1, alpha: Scalar = 1):
    """``beta * input + alpha * mat @ vec``."""
    _check_mv(input, mat, vec, addend=True)
    product = _wide_product(mat, vec, ((1,), (0,)))
    return _sum(jnp.broadcast_to(input, product.shape), beta, product, alpha)


@op(variants="function method out", guard=_beta_fits("addbmm"), apart="input", factors="wide",
    out=Out("self and mat2 must have the same dtype, but got {out} and {result}", resizes=True,
            dtype=_of_first))
def addbmm(input, batch1, batch2, /, *, beta: Scalar = 1, alpha: Scalar = 1):
    """``beta * input + alpha *`` the sum over the batch of ``batch1 @ batch2``."""
    # What is no batch of matrices fails where the first size it lacks is read, as in PyTorch.
    start = expand_to(input, (size_at(batch1, 1), size_at(batch2, 2)))
    if batch1.ndim != 3:
        raise RuntimeError("batch1 must be a 3D tensor")
    if batch1.shape[0] != batch2.shape[0]:
        raise RuntimeError(
            "batch1 and batch2 must have same number of batches, got "
            f"{batch1.shape[0]} and {batch2.shape[0]}"
        )
    if batch1.shape[2] != batch2.shape[1]:
        raise RuntimeError(
            f"Incompatible matrix sizes for bmm ({batch1.shape[1]}x{batch1.shape[2]} and "
            f"{batch2.shape[1]}x{batch2.shape[2]})"
        )
    if not batch1.shape[0]:  # nothing is multiplied, but the input by ``beta``
        return _scaled(wide(start), beta).astype(input.dtype)
    _check_addmm_dtypes(input, batch1, batch2)
    _refuse_bool("addmm_impl_cpu_", batch1, batch2)
    return _sum(start, beta, _wide_product(batch1, batch2, ((0, 2), (0, 1))), alpha)


def _check_add_dtypes(input, batch1, batch2) -> None:
    if not input.dtype == batch1.dtype == batch2.dtype:
        raise RuntimeError(
            f"Input dtypes must be the same, got: input {c_name(input)}, batch1: {c_name(batch1)}, "
            f"batch2: {c_name(batch2)}"
        )


@op(variants=_ADD, out=_EXACT, guard=_beta_fits("baddbmm"), apart="input", factors="wide")
def baddbmm(input, batch1, batch2, /, *, beta: Scalar = 1, alpha: Scalar = 1):
    """``beta * input + alpha * batch1 @ batch2`` for each matrix of the batch."""
    start = expand_to(input, (size_at(batch1, 0), size_at(batch1, 1), size_at(batch2, 2)))
    if input.dtype != batch1.dtype:
        _check_add_dtypes(input, batch1, batch2)
    if batch1.dtype != batch2.dtype or is_bool(batch1):
        _check_bmm(batch1, batch2)
        if not (math.prod(batch1.shape) and math.prod(batch2.shape)):  # as in `_bmm`
            return _scaled(wide(start.astype(batch2.dtype)), beta).astype(batch2.dtype)
        _refuse_bool("baddbmm", batch1, batch2)
        if batch1.dtype != batch2.dtype:
            raise RuntimeError(
                f"expected scalar type {scalar_name(batch1)} but found {scalar_name(batch2)}")
    _check_bmm(batch1, batch2)
    product = _wide_product(batch1, batch2, ((2,), (1,)), ((0,), (0,)))
    return _sum(start, beta, product, alpha)


def _check_addr(input, beta, alpha) -> None:
    factors = [(name, jnp.asarray(x).dtype) for name, x in (("beta", beta), ("alpha", alpha))]
    for name, dtype in factors:
        if dtype == np.bool_ and not is_bool(input):
            raise RuntimeError(f"Boolean {name} only supported for Boolean results.")
        if category(input) < FLOATING and jnp.issubdtype(dtype, np.inexact):
            raise RuntimeError(
                f"For integral input tensors, argument {name} must not be a floating point number."
            )
    if category(input) == FLOATING and any(jnp.issubdtype(dtype, np.complexfloating) for _, dtype in factors):
        raise RuntimeError(f"value cannot be converted to type {c_name(input)} without overflow")


def check_vectors(vec1, vec2) -> None:
    """Raise PyTorch's error of `addr` unless both are vectors."""
    for name, x in (("vec1", vec1), ("vec2", vec2)):
        if x.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {x.ndim}-D")


def _by_vector(other: int):
    """One vector's gradient is a product with the ``other``, which PyTorch needs in the result's dtype."""

    def formula(found, result):
        dtype = found[other]
        if dtype is None or dtype is result.dtype:
            return ""
        names = (dtype.scalar_name, result.dtype.scalar_name, dtype.scalar_name)
        return "addmv input tensors must have the same dtype, but got {}, {}, and {}".format(*names)

    return formula


@op(promote="reshaped", broadcast=False, variants="function method out", factors="rounded",
    layout=Always(added_products),
    underived=Underived(RuntimeError, "", operand=1, formula=_by_vector(2), otherwise=Underived(
        RuntimeError, "", operand=2, formula=_by_vector(1))))
def addr(input, vec1, vec2, /, *, beta: Scalar = 1, alpha: Scalar = 1):
    """``beta * input + alpha *`` the outer product of two vectors."""
    check_vectors(vec1, vec2)
    start = expand_to(input, (vec1.size, vec2.size))
    _check_addr(input, beta, alpha)
    if is_bool(input):
        product = vec1[:, None] & vec2[None, :]
        return _scaled(start, beta) | (product & truth(jnp.asarray(alpha)))
    # The first vector is multiplied by alpha first, so that nothing overflows that need not.
    return _sum(start, beta, _times(alpha, wide(vec1))[:, None] * wide(vec2)[None, :], 1)


# ------------------------------------------------------------------------------------------- linear
#
# Measured on two cores, jax 0.10.2, 12x64x128 -> 512 with gelu, forward and gradient: 1.1 ms
# contracted as it stands, 1.4 ms with the leading dimensions folded first, PyTorch 1.8 ms; wider
# layers agree.


def linear_product(input, weight, bias):
    """``input @ weight.T + bias`` over the last dimension."""
    if weight.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {weight.ndim}D")
    rows = math.prod(input.shape[:-1])
    folded = (rows, input.shape[-1])
    if bias is None:
        check_mm_sizes(folded, weight.shape[::-1])
        _check_mm_dtypes(input, weight)
        return contract(input, weight, (input.ndim - 1,), (1,))
    _check_addmm_dtypes(bias, input, weight)
    check_mm_sizes(folded, weight.shape[::-1])
    start = expand_to(bias, (rows, weight.shape[0]))
    _refuse_bool("addmm_impl_cpu_", input, weight)
    if is_bool(start) and start.size and not (input.size and weight.size):
        raise RuntimeError("result type Long can't be cast to the desired output type Bool")
    product = contract(input, weight, (input.ndim - 1,), (1,))
    if bias.ndim > 1 and product.ndim != 2:  # which has a row for each line of the input
        bias = bias.reshape(-1)
    return product + jnp.broadcast_to(bias, product.shape)


def _linear_op(dims, grad_name, *, biased):
    """One of the `LINEAR` ops: the same body, under PyTorch's node name for these dimensions."""
    def body(bias, input, weight, /):  # the order of addmm, which next_functions shows
        product = linear_product(input, weight, bias)
        return _as_matrix(product, 0) if dims == "vector" else product

    def unbiased(input, weight, /):
        return linear_product(input, weight, None)

    fn = body if biased else unbiased
    fn.__doc__ = linear_product.__doc__
    return op(name=f"_linear_{dims}" + "_bias" * biased, variants="", grad_name=grad_name)(fn)


# With a bias PyTorch's result for a vector and for a batch is a view of a matrix. For a vector it is here;
# a batch is what layers are called on, and a view of its own would cost each of them a tenth of a small step.
LINEAR = {
    ("vector", True): _linear_op("vector", "AddmmBackward0", biased=True),
    ("matrix", True): _linear_op("matrix", "AddmmBackward0", biased=True),
    ("batched", True): _linear_op("batched", "ViewBackward0", biased=True),
    ("vector", False): _linear_op("vector", "SqueezeBackward4", biased=False),
    ("matrix", False): _linear_op("matrix", "MmBackward0", biased=False),
    ("batched", False): _linear_op("batched", "UnsafeViewBackward0", biased=False),
}


@op(name="_bilinear", variants="", grad_name="TrilinearBackward0", complex_grad="_trilinear")
def bilinear(input1, input2, weight, /):
    """Sum over i and j of ``input1[..., i] * weight[o, i, j] * input2[..., j]``, a row for each ``...``."""
    if input1.ndim != input2.ndim:
        raise RuntimeError(
            f"bilinear(): input dimensions do not match: got {input1.ndim} and {input2.ndim}"
        )
    for d in range(input1.ndim - 1):
        if input1.shape[d] != input2.shape[d]:
            raise RuntimeError(
                f"bilinear(): input batch dimensions do not match at dim {d}: got "
                f"{input1.shape[d]} "
                f"and {input2.shape[d]}"
            )
    for name, x, d in (("input1", input1, 1), ("input2", input2, 2)):
        have, size = size_at(x, -1), size_at(weight, d)
        if have != size:
            raise RuntimeError(
                f"bilinear(): {name} size does not match weight size: got {have} but expected {size}"
            )
    if 0 in (input1.shape[-1], input2.shape[-1]):
        raise RuntimeError("cannot reshape tensor of 0 elements into shape [-1, 0] because the unspecified "
                           "dimension size -1 can be any value and is ambiguous")
    _refuse_bool("bmm", input1, input2, weight)
    dtype = input1.dtype
    input1, input2, weight = wide(input1), wide(input2), wide(weight)
    half = contract(input1, weight, (input1.ndim - 1,), (1,))  # (..., o, j)
    return _as_matrix((half * input2[..., None, :]).sum(-1).astype(dtype), input1.ndim - 1)


# ------------------------------------------------------------------------------------------- einsum


@op(name="_einsum_pair", variants="", grad_name="BmmBackward0")
def einsum_pair(left, right, /, equation, kept_left, kept_right, ranks):
    """Two operands multiplied and summed, as a stack of matrices.

    Args:
        equation: in index notation, for the dimensions of each that are ``kept``; the others are of size 1.
        ranks: how many letters of the result go into the stack and into the rows.
    """
    left, right = (
        jnp.squeeze(x, tuple(d for d in range(x.ndim) if d not in kept))
        for x, kept in ((left, kept_left), (right, kept_right)))
    product = jnp.einsum(equation, *_bmm_factors(left, right), precision=HIGHEST)
    first, second = ranks[0], sum(ranks)
    sizes = product.shape
    return product.reshape([math.prod(part) for part in (sizes[:first], sizes[first:second], sizes[second:])])


@op(name="_multi_dot", variants="", grad_name="ViewBackward0", saves="steps")
def multi_dot(*operands, equation):
    """Product of a chain of matrices, the first and last may be vectors, written in index notation."""
    refuse("addmm_impl_cpu_", operands[0], BOOL)
    rows = [x.shape[0] if i or x.ndim == 2 else 1 for i, x in enumerate(operands)]
    order = cheapest_order((*rows, operands[-1].shape[1] if operands[-1].ndim == 2 else 1))
    return jnp.einsum(equation, *operands, optimize=order, precision=HIGHEST)


def cheapest_order(sizes):
    """In which pairs matrices ``sizes[i] x sizes[i + 1]`` are multiplied, as opt_einsum writes an order.

    Of orders that cost the same, the one that takes the first matrices alone, but of three the first two
    together: which products a backward holds depends on it.
    """
    n = len(sizes) - 1
    costs = {(i, i): 0 for i in range(n)}
    cuts = {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            costs[i, j], cuts[i, j] = min(
                (costs[i, k] + costs[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                for k in range(i, j))
    a, b, *rest = sizes
    if n == 3 and a * rest[0] * (b + rest[1]) == b * rest[1] * (a + rest[0]):
        cuts[0, 2] = 1
    waiting, order = [(i, i) for i in range(n)], []

    def multiply(i, j):
        if i == j:
            return
        k = cuts[i, j]
        multiply(i, k)
        multiply(k + 1, j)
        pair = waiting.index((i, k)), waiting.index((k + 1, j))
        for at in sorted(pair, reverse=True):
            del waiting[at]
        waiting.append((i, j))
        order.append(pair)

    multiply(0, n - 1)
    return order

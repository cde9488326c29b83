"""Powers and other functions of matrices, least squares, products of vectors."""

from __future__ import annotations

from typing import Any

from jaxflow._api.creation.creation import eye
from jaxflow._api.forms import given_out
from jaxflow._core import dtype as dtypes
from jaxflow._core.layout import contiguous_format
from jaxflow._core.tensor import Tensor
from jaxflow._core.typeinfo import finfo
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.columns import lay_in_columns
from jaxflow._plans.op import EXACT, OPS, Out, castable
from jaxflow._publish.composite import composite
from jaxflow._publish.out import check_dtype
from jaxflow._publish.publish import function_of, return_type, write_out

from .matmul import matmul
from .solve import inv

cat, _VDOT = function_of(OPS["cat"]), function_of(OPS["vdot"])
_LSTSQ = return_type("linalg_lstsq", ("solution", "residuals", "rank", "singular_values"))

_OWN_DTYPE = Out(EXACT.text, copied=True)
_VECDOT = Out("linalg.vecdot: Expected out of dtype{result} but found {out}")
_LSTSQ_OUT = tuple(
    castable("torch.linalg.lstsq", what, rows=True)
    for what in ("solution", "solution", "rank", "singular_values"))

# -------------------------------------------------------------------------------------------- powers


def _power(name: str, A: Tensor, n: int) -> Tensor:
    if isinstance(n, bool) or not isinstance(n, int):
        raise TypeError(f"{name}(): argument 'n' (position 2) must be int, not {type(n).__name__}")
    shape = tuple(A.shape)
    if len(shape) < 2:
        raise RuntimeError("linalg.matrix_power: The input tensor A must have at least 2 dimensions.")
    if shape[-1] != shape[-2]:
        raise RuntimeError(
            "linalg.matrix_power: A must be batches of square matrices, but they are "
            f"{shape[-2]} by {shape[-1]} matrices"
        )
    if n == 0:
        return A.clone(memory_format=contiguous_format).copy_(eye(shape[-1], dtype=A.dtype, device=A.device))
    base = inv(A) if n < 0 else A
    n = abs(n)
    if n == 1:
        return base.clone(memory_format=contiguous_format) if base is A else base
    if n == 3:
        return matmul(matmul(base, base), base)
    result = None
    while n:
        if n & 1:
            result = base if result is None else matmul(result, base)
        n >>= 1
        if n:
            base = matmul(base, base)
    return result


def _power_out(out: Tensor | None, result: Tensor, n: int) -> Tensor:
    """A product goes into its own dtype only, a copy into those that it can be cast to."""
    if out is None:
        return result
    rule = castable("matrix_power", copied=True, recorded=True)
    if n not in (0, 1) and not rule.refuses(result.dtype, out.dtype, ()):
        rule = _OWN_DTYPE
    return given_out("matrix_power", out, result if n else result.detach(), rule=rule)


@composite()
def matrix_power(input: Tensor, n: int, *, out: Tensor | None = None) -> Tensor:
    """The same as `linalg.matrix_power`."""
    return _power_out(out, _power("matrix_power", input, n), n)


@composite("function", name="matrix_power", namespace="linalg")
def linalg_matrix_power(A: Tensor, n: int, *, out: Tensor | None = None) -> Tensor:
    """``A`` to the power ``n``, by repeated squaring; of the inverse for a negative ``n``."""
    return _power_out(out, _power("linalg_matrix_power", A, n), n)


@composite("function", name="vander", namespace="linalg")
def linalg_vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """For each number of ``x`` a row of its powers from 0 to ``N - 1``: ``(*, n)`` gives ``(*, n, N)``."""
    dtype = x._aval.dtype
    if dtype.category == dtypes.BOOL or (dtype.category == dtypes.FLOATING and dtype.itemsize == 2):
        raise RuntimeError(
            "linalg.vander supports floating point, complex, and integer tensors, but got "
            f"{dtype.scalar_name}"
        )
    x = x if x.dim() else x.reshape(1)
    N = x.shape[-1] if N is None else N
    if N <= 1:
        raise RuntimeError("N must be greater than 1.")
    powers = x.unsqueeze(-1).expand(*x.shape, N - 1).cumprod(-1)
    return cat((powers.new_ones((*x.shape, 1)), powers), -1)


# ------------------------------------------------------------------------------- vectors and diagonals


@composite("function", namespace="linalg")
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """Sums along ``dim`` of the products of two tensors that broadcast, the first one conjugated."""
    first, second = x._aval.dtype, y._aval.dtype
    if first.category < dtypes.FLOATING:
        raise RuntimeError(
            f"linalg.vecdot: Expected a floating point or complex tensor as input. Got {first.scalar_name}"
        )
    if first is not second:
        raise RuntimeError(
            "linalg.vecdot: Expected x and y to have the same dtype, but found x of type "
            f"{first.scalar_name} and y of type {second.scalar_name} instead"
        )
    if out is not None:
        check_dtype(_VECDOT, first, out._aval.dtype, (x, y))
        if x.dim() == y.dim() == 1:
            return _VDOT(x, y, out=out)
    result = x.vdot(y) if x.dim() == y.dim() == 1 else (x.conj() * y).sum(dim)
    return given_out("linalg_vecdot", out, result, (x, y), rule=_VECDOT)


@composite("function", namespace="linalg")
def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """A view of the diagonals of matrices, by default those in the last two dimensions."""
    return A.diagonal(offset, dim1, dim2)


# -------------------------------------------------------------------------------------- least squares

_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def _check_lstsq(A: Tensor, B: Tensor) -> Tensor:
    """``B`` as matrices, after PyTorch's checks of both."""
    name = "torch.linalg.lstsq"
    if A.dim() < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if B.dim() < 1:
        raise RuntimeError(f"{name}: other must have at least 1 dimension.")
    if A.dtype is not B.dtype:
        raise RuntimeError(
            f"{name}: Expected input and other to have the same dtype, but got input's dtype "
            f"{A.dtype.scalar_name} and other's dtype {B.dtype.scalar_name}"
        )
    if A.dim() - B.dim() not in (0, 1):
        raise RuntimeError(
            f"{name}: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) "
            "<= 1"
        )
    wide = B if A.dim() == B.dim() else B.unsqueeze(-1)
    for d, (a, b) in enumerate(zip(A.shape[:-2], wide.shape[:-2], strict=True)):
        if a != b and 1 not in (a, b):
            raise RuntimeError(
                f"The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton "
                f"dimension {d}"
            )
    if A.shape[-2] != wide.shape[-2]:
        raise RuntimeError(f"{name}: input.size(-2) should match other.size(-2)")
    if A.dtype.category < dtypes.FLOATING or A.dtype.itemsize == 2:
        raise RuntimeError("This function doesn't handle types other than float and double")
    return wide


@composite("function", namespace="linalg")
def lstsq(input: Tensor, b: Tensor, rcond: float | None = None, *, driver: str | None = None,
          out: Any = None) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """``X`` that makes ``|input X - b|`` least, of those the one of least norm; computed by singular values.

    Args:
        input: ``(*, m, n)``, of any rank.
        b: matrices ``(*, m, k)`` or vectors ``(*, m)``.
        rcond: singular values up to this part of the largest are taken for zero; by default the rounding
            error of the dtype times the larger of ``m`` and ``n``.
        driver: whose results to return: ``"gelsy"`` (the default) has no residuals and no singular values,
            ``"gels"`` no ranks either, for it takes them to be full.
        out: where to put the results.

    Returns:
        ``solution``, ``residuals``, ``rank`` and ``singular_values``; empty where the driver has none. With
        ``"gelsd"`` and ``"gelss"`` whether there are residuals depends on the ranks, so these are waited for.
    """
    if isinstance(rcond, str):
        raise TypeError("linalg_lstsq(): argument 'rcond' must be float, not str")
    wide = _check_lstsq(input, b)
    driver = "gelsy" if driver is None else driver
    if driver not in _DRIVERS:
        raise RuntimeError(
            f"torch.linalg.lstsq: parameter `driver` should be one of ({', '.join(_DRIVERS)})"
        )
    m, n = input.shape[-2:]
    if rcond is None:
        rcond = finfo(input.dtype).eps * max(m, n)
    cutoff = 0.0 if driver == "gels" else float(rcond)
    op = OPS["_linalg_lstsq"]
    X, residuals, ranks, values = apply(op, (input, wide), (cutoff, driver == "gels" and m > n))
    if driver in ("gelsd", "gelss") and m > n and bool((ranks == n).all()):
        X, residuals, ranks, values = apply(op, (input, wide), (cutoff, True))
    if driver == "gels":
        ranks = ranks.new_empty((0,))
    if driver in ("gels", "gelsy"):
        values = values.new_empty((0,))
    if tuple(input.shape[:-2]) != tuple(X.shape[:-2]):  # a matrix that was spread counts once
        once = tuple(map(slice, input.shape[:-2]))
        ranks, values = (t[once] if t.dim() >= len(once) and t.shape[0] else t for t in (ranks, values))
    lay_in_columns(X, max(m, n))
    X = X if wide is b else X.squeeze(-1)
    results = X, residuals, ranks, values
    if out is None:
        return _LSTSQ(results)
    return _LSTSQ(write_out("linalg_lstsq", out, results, (input, b), None, _LSTSQ_OUT))

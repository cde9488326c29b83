"""Reductions that PyTorch overloads by argument type: ``max``, ``var``, ``norm`` and their like."""

from __future__ import annotations

import functools
import math
import warnings
from typing import Any

from jaxflow._api.creation.creation import filled
from jaxflow._api.forms import given_out, invalid_combination, refuse_recorded_into
from jaxflow._api.per_example import of_all_examples
from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor
from jaxflow._core.typeinfo import iinfo
from jaxflow._core.warning import user_level
from jaxflow._dispatch.dispatch import apply
from jaxflow._ops._support import wrap_dims
from jaxflow._ops.extreme import check_interpolation, check_quantile
from jaxflow._ops.reduce import degrees_of_freedom
from jaxflow._plans.op import OPS, Number, Out
from jaxflow._publish.bind import freeze
from jaxflow._publish.composite import composite
from jaxflow._publish.out import check_dtype, refuse_operands
from jaxflow._publish.publish import function_of
from jaxflow._transforms.batching import refuse_batched

from .norms import check_dtypes, matrix_norm

# ------------------------------------------------------------------------------------ max and min


_EXTREMUM = """The {word} element, or with ``dim`` those along it, or with a tensor those of pairs.

    There are three forms: ``{name}(input)``, ``{name}(input, dim, keepdim=False)`` and
    ``{name}(input, other)``. The result is nan where one of the elements is. The gradient goes to the
    element that was found; equal elements share it in the first form, and those of a pair in the third.

    Args:
        input: a tensor of any shape and dtype but complex.
        *args: ``dim`` and ``keepdim``, or ``other``: the dimension (an int, negative from the end), whether
            it is kept with size 1 (default False), or a tensor that broadcasts with ``input``.
        out: where to write the result; a pair of tensors in the form with ``dim``.
        **kwargs: ``dim`` (or ``axis``), ``keepdim`` (or ``keepdims``) or ``other`` by name.

    Returns:
        A tensor without dimensions; with ``dim`` a named tuple ``(values, indices)``, the indices int64 and
        those of the first one of equal elements; with ``other`` a tensor of the broadcast shape.

    Raises:
        RuntimeError: for a tensor without elements and no ``dim``.
        IndexError: for a dimension that is not there, or that has no elements.
        TypeError: when the arguments fit none of the forms.

    Example:
        >>> x = torch.tensor([[1, 4], [3, 2]])
        >>> torch.{name}(x)
        tensor({example[0]})
        >>> values, indices = torch.{name}(x, dim=1)
        >>> values, indices
        (tensor({example[1]}), tensor({example[2]}))
        >>> torch.{name}(x, torch.tensor(2))
        tensor({example[3]})
    """


def _extremum(name: str, binary: str, word: str, example: tuple):
    def extremum(input: Tensor, *args: Any, out: Any = None, **kwargs: Any):
        if not isinstance(input, Tensor):
            raise invalid_combination(name, (input, *args), kwargs)
        if not args and not kwargs:
            if out is not None and not input._aval.numel:
                refuse_operands(name, input)
                return given_out(name, out, _of_nothing(name, input), (), OPS[name + "_all"])
            return given_out(name, out, apply(OPS[name + "_all"], (input,)), (), OPS[name + "_all"])
        dim = kwargs.get("dim", kwargs.get("axis", args[0] if args else None))
        other = kwargs.get("other", dim)
        if isinstance(other, Tensor):
            refuse_recorded_into(out, binary, input, other)
            return given_out(name, out, apply(OPS[binary], (input, other)))
        if dim is None or isinstance(dim, (bool, float, complex, tuple, list, str)):
            raise invalid_combination(name, (input, *args), kwargs)
        keepdim = kwargs.get("keepdim", kwargs.get("keepdims", args[1] if len(args) > 1 else False))
        static = (freeze(dim), bool(keepdim))
        op = OPS[name + "_dim"]
        refuse_recorded_into(out, name, input)
        return given_out(name, out, apply(op, (input,), static), (input,), op)

    extremum.__name__ = extremum.__qualname__ = name
    extremum.__doc__ = _EXTREMUM.format(name=name, word=word, example=example)
    composite()(extremum)


def _of_nothing(name: str, input: Tensor) -> Tensor:
    """The extremum of no elements, which PyTorch gives with ``out=`` alone: what every other one passes."""
    dtype = input._aval.dtype
    if dtype.is_complex:
        raise NotImplementedError(f"\"{name}_all\" not implemented for '{dtype.scalar_name}'")
    if dtype is dtypes.bool:
        value: Any = name == "min"
    elif dtype.is_floating_point:
        value = -math.inf if name == "max" else math.inf
    else:
        value = iinfo(dtype).min if name == "max" else iinfo(dtype).max
    return filled((), value, dtype, input._aval.device)


_extremum("max", "maximum", "largest", (4, [4, 3], [1, 0], [[2, 4], [3, 2]]))
_extremum("min", "minimum", "smallest", (1, [1, 2], [0, 1], [[1, 2], [2, 2]]))


# ----------------------------------------------------------------------------- along one dimension


def _form_of(name: str, args: tuple, kwargs: dict) -> None:
    """Refuse what is neither the form for all elements nor that along one dimension. TypeError."""
    at = 2 if args else None
    dim = args[0] if args else kwargs.get("dim", kwargs.get("axis"))
    keepdim = args[1] if len(args) > 1 else kwargs.get("keepdim", kwargs.get("keepdims", False))
    if not args and kwargs.keys().isdisjoint(("dim", "axis")):
        if not kwargs.keys().isdisjoint(("keepdim", "keepdims", "out")):
            raise TypeError(f'{name}() missing 1 required positional arguments: "dim"')
        return
    for parameter, value, place, wanted in (("dim", dim, at, "int"), ("keepdim", keepdim, 3, "bool")):
        fits = isinstance(value, bool) if wanted == "bool" else (
            hasattr(value, "__index__") and not isinstance(value, bool))
        if not fits:
            where = f" (position {place})" if place == 2 or (place == 3 and len(args) > 1) else ""
            raise TypeError(f"{name}(): argument '{parameter}'{where} must be {wanted}, not "
                            f"{type(value).__name__}")


@composite()
@functools.wraps(function_of(OPS["prod"]))
def prod(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The product over all elements or one dimension; integers multiply in int64."""
    if args or kwargs:
        try:
            _form_of("prod", args, kwargs)
        except TypeError:
            if len(args) + len(kwargs) == 1:
                raise invalid_combination("prod", (input, *args), kwargs) from None
            raise
    return _prod(input, *args, **kwargs)


_prod = function_of(OPS["prod"])


def _median(name: str):
    def median(input: Tensor, dim: int | None = None, keepdim: bool = False, *, axis: int | None = None,
               keepdims: bool = False, out: Any = None):
        dim = axis if dim is None else dim
        if dim is None:
            return apply(OPS[name + "_all"], (input,))
        op, static = OPS[name + "_dim"], (freeze(dim), bool(keepdim or keepdims))
        refuse_recorded_into(out, name, input)
        result = apply(op, (input,), static)
        if isinstance(out, (tuple, list)) and len(out) > 1 and isinstance(out[1], Tensor):
            check_dtype(op.out[1], dtypes.int64, out[1]._aval.dtype, ())  # said before that of the values
        return given_out(name, out, result, (input,), op)

    skipping = ", nan left out" if name == "nanmedian" else ""
    of_nan = "nan elements are left out" if skipping else "where one element is nan, so is the median"
    median.__name__ = median.__qualname__ = name
    median.__doc__ = f"""The lower median{skipping}; with ``dim`` the medians along it and where they are.

    Of ``n`` elements it is number ``(n - 1) // 2`` in increasing order, counted from 0: of an even number
    of elements the lower one of the two in the middle.

    Args:
        input: floating point or integers, of any shape; {of_nan}.
        dim: the dimension to take medians along; without it there is one median, of all elements.
        keepdim: keep the dimension, with size 1.
        axis: another name of ``dim``.
        keepdims: another name of ``keepdim``.
        out: with ``dim``, two tensors where to put the results.

    Returns:
        Without ``dim`` a tensor of no dimensions, of the dtype of ``input``. With it a named tuple
        ``(values, indices)``; the indices are int64.

    Raises:
        NotImplementedError: for complex numbers and bools.
        IndexError: for a dimension that is not there, or has no elements.

    Example:
        >>> torch.{name}(torch.tensor([4, 1, 3, 2]))
        tensor(2)
        >>> values, indices = torch.{name}(torch.tensor([[3, 1, 2], [9, 7, 8]]), dim=1)
        >>> values, indices
        (tensor([2, 8]), tensor([2, 2]))
    """

    @composite()
    @functools.wraps(median)
    def call(input: Tensor, *args: Any, **kwargs: Any):
        if args or kwargs:
            _form_of(name, args, kwargs)
        return median(input, *args, **kwargs)


_median("median")
_median("nanmedian")


# ----------------------------------------------------------------------------------------- moments


#: What the docstrings of moments say after their first sentence.
_MOMENT_DETAILS = """

    The variance of ``n`` elements is ``sum(abs(input - mean) ** 2) / max(0, n - correction)``, the standard
    deviation its root.

    Args:
        input: floating point or complex, of any shape.
        args: by position ``dim, unbiased, keepdim``, or ``unbiased`` alone.
        out: where to put the result.
        kwargs: the same by name, and ``correction``. ``dim`` is one dimension or several, None for all
            elements; ``keepdim`` keeps them, with size 1; ``correction`` is a number, and ``unbiased``
            instead of it says whether it is 1 or 0.

    Returns:
        {result},
        of the shape of ``input`` without ``dim``, in its dtype. Variances and deviations of complex numbers
        are real. They are inf or nan where ``n <= correction``, with a warning.

    Raises:
        RuntimeError: for integers and bools.
        TypeError: for ``unbiased`` and ``correction`` at once, and for unknown arguments.
        IndexError: for a dimension that is not there.

    Example:
        >>> x = torch.tensor([[1.0, 3.0], [2.0, 6.0]])
        >>> torch.{name}(x, dim=1, correction=0)
        {shown}
    """


def _moment(name: str, doc: str, variants: str, result: str, shown: str) -> None:
    op = OPS[name]

    def moment(input: Tensor, *args: Any, out: Any = None, **kwargs: Any):
        dim, correction, keepdim = _moment_arguments(name, input, args, kwargs)
        refuse_recorded_into(out, name, input)
        if input._aval.dtype.category >= dtypes.FLOATING and (
            degrees_of_freedom(input._aval.shape, dim, correction) <= 0
        ):
            warnings.warn(
                f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the "
                "reduction factor (input numel divided by output numel).", stacklevel=2,
            )
        if out is not None and name in ("std", "var"):
            input = _for_moment_out(out, input, dim)
        return given_out(name, out, apply(op, (input,), (dim, correction, keepdim)))

    moment.__name__ = moment.__qualname__ = name
    moment.__doc__ = doc + _MOMENT_DETAILS.format(name=name, result=result, shown=shown)
    composite(variants)(moment)


_HALF = (dtypes.float16, dtypes.bfloat16)
#: One number is computed from the operand as it is, for which there is no kernel of half precision.
_ONE_MOMENT = Out("std_var_all: Unsupported dtype {result}", refuses=lambda have, want, _: (
    have in _HALF and want.category >= dtypes.FLOATING and want not in _HALF))
#: Several are computed in the dtype of ``out``.
_MOMENTS = Out("\"std_cpu\" not implemented for '{out}'", error=NotImplementedError,
               refuses=lambda have, want, operands: (
                   not operands[0].is_complex() and want.category > dtypes.FLOATING))


def _for_moment_out(out: Tensor, input: Tensor, dim: Any) -> Tensor:
    """``input`` in the precision of ``out``, in which `std` and `var` compute; refuses dtypes of ``out``."""
    aval, want = input._aval, out._aval.dtype
    if aval.dtype.category < dtypes.FLOATING:
        return input
    kept = set(range(aval.ndim)) - set(wrap_dims(dim, aval.ndim))
    rule = _ONE_MOMENT if math.prod(aval.shape[d] for d in kept) == 1 else _MOMENTS
    check_dtype(rule if aval.numel else Out(), aval.dtype.to_real(), want, (input,))
    kind = want.to_real()
    if aval.dtype.category > dtypes.FLOATING:
        kind = aval.dtype if want in _HALF else kind.to_complex()
    return input if aval.dtype is kind else apply(OPS["_to_dtype"], (input,), (kind,))


def _moment_arguments(name, input, args, kwargs):
    """``(dim, correction, keepdim)`` from any overload: ``(unbiased)`` or ``(dim, unbiased, keepdim)``."""
    left = dict(kwargs)
    names = ("unbiased",) if args and isinstance(args[0], bool) else ("dim", "unbiased", "keepdim")
    if len(args) > len(names) or any(n in left for n, _ in zip(names, args)):
        raise invalid_combination(name, (input, *args), kwargs)
    left.update(zip(names, args))
    dim = left.pop("dim", left.pop("axis", None))
    keepdim = left.pop("keepdim", left.pop("keepdims", False))
    unbiased, correction = left.pop("unbiased", None), left.pop("correction", None)
    if left or (unbiased is not None and correction is not None):
        raise invalid_combination(name, (input, *args), kwargs)
    if correction is None:
        correction = 1 if unbiased is None else int(unbiased)
    return freeze(dim), freeze(correction), bool(keepdim)


_moment("var", "The variance over ``dim``, divided by the count less ``correction`` (1).",
        "function method", "Variances", "tensor([1., 4.])")
_moment("std", "The standard deviation over ``dim``, with ``correction`` (1).", "function method",
        "Standard deviations", "tensor([1., 2.])")
_moment("var_mean", "Variance and mean over ``dim``, with ``correction`` (1).", "function",
        "A tuple of variances and means", "(tensor([1., 4.]), tensor([2., 4.]))")
_moment("std_mean", "Standard deviation and mean over ``dim``, with ``correction`` (1).", "function",
        "A tuple of standard deviations and means", "(tensor([1., 2.]), tensor([2., 4.]))")


# ------------------------------------------------------------------------------------------- norms


@composite()
def norm(input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False,
         out: Tensor | None = None, dtype: Any = None) -> Tensor:
    """The norm of order ``p`` over ``dim`` or all elements; ``"nuc"`` of a matrix's singular values.

    ``sum(abs(x) ** p) ** (1 / p)`` over the elements that are reduced; the largest ``abs(x)`` for
    ``p=inf``, the smallest for ``p=-inf``, and the number of elements other than 0 for ``p=0``.

    Args:
        input: floating point or complex, of any shape.
        p: a number, ``"fro"`` (the same as 2) or ``"nuc"`` (the sum of the singular values).
        dim: a dimension or several; for ``"nuc"`` two (default: all).
        keepdim: whether the dimensions that are reduced are kept with size 1.
        out: where to write the result.
        dtype: what ``input`` is converted to first.

    Returns:
        A new tensor without the dimensions that were reduced; real, also for a complex input.

    Raises:
        RuntimeError: for integers and bools, and a ``dtype`` that does not hold the input's.
        IndexError: for a dimension that is not there.

    Example:
        >>> x = torch.tensor([[3.0, -4.0], [0.0, 5.0]])
        >>> x.norm(dim=1)
        tensor([5., 5.])
        >>> x.norm(1), x.norm(math.inf), x.norm(0)
        (tensor(12.), tensor(5.), tensor(3.))
    """
    if p is None or (p == "fro" and not (isinstance(dim, (tuple, list)) and len(dim) > 2)):
        p = 2
    if isinstance(p, str):
        if dim is None and input._aval.ndim > 2:  # all of them, which are too many
            dim = tuple(range(input._aval.ndim))
        return matrix_norm(input, p, (-2, -1) if dim is None else dim, keepdim, dtype=dtype, out=out)
    dims = freeze(dim)
    if dim is None and keepdim:
        dims = tuple(range(input._aval.ndim))
    dtype = dtypes.given_dtype(dtype)
    if dtype is not None:
        check_dtypes("linalg.vector_norm", input._aval.dtype, dtype)
    static = (freeze(p), dims, bool(keepdim), dtype)
    op = OPS["_vector_norm" if p else "_vector_norm_count"]
    return given_out("norm", out, apply(op, (input,), static), (), op)


@composite()
def dist(input: Tensor, other: Tensor, p: Number = 2) -> Tensor:
    """The norm of order ``p`` of ``input - other``, broadcast."""
    return apply(OPS["dist" if p else "_dist_count"], (input, other), (freeze(p),))


# ---------------------------------------------------------------------------------------- quantiles


def _quantile(name: str, skipping: str):
    def quantile(input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *,
                 interpolation: str = "linear", axis: int | None = None, keepdims: bool = False,
                 out: Tensor | None = None) -> Tensor:
        dim = axis if dim is None else dim
        dim = freeze(dim)
        if not isinstance(q, Tensor):
            if not hasattr(q, "__float__") or isinstance(q, bool):
                raise invalid_combination(name, (input, q), {})
            if not 0 <= q <= 1:
                raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q:g}")
            check_interpolation(interpolation)
            q = filled((), float(q), input._aval.dtype, input._aval.device)
        else:
            check_interpolation(interpolation)
            check_quantile(input._aval.struct, q._aval.struct, dim)
            if input._aval.device.type == "cpu" and not bool(
                ((of_all_examples(q) >= 0) & (of_all_examples(q) <= 1)).all()
            ):
                raise RuntimeError("quantile() q values must be in the range [0, 1]")
        if interpolation != "linear":
            q = q.detach()  # between two elements nothing depends on it
        static = (dim, bool(keepdim or keepdims), interpolation)
        return given_out(name, out, apply(OPS[name], (input, q), static))

    quantile.__name__ = quantile.__qualname__ = name
    quantile.__doc__ = (
        f"The quantiles ``q`` of the elements{skipping}, over all or along ``dim``; ``q`` comes first "
        "in the result's shape."
    )
    composite()(quantile)


_quantile("quantile", "")
_quantile("nanquantile", " that are not nan")


# -------------------------------------------------------------------------------------- statistics


def _check_weights(name: str, weights: Tensor | None, count: int) -> None:
    if weights is None:
        return
    if weights.dim() > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with "
            f"{weights.dim()} dimensions"
        )
    whole = name == "fweights"
    if (weights._aval.dtype.category == dtypes.INTEGER) is not whole:
        raise RuntimeError(
            f"cov(): expected {name} to have {'integral' if whole else 'floating point'} dtype but got "
            f"{name} with {weights._aval.dtype.scalar_name} dtype"
        )
    if weights.numel() != count:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input but "
            f"got {weights.numel()} != {count}"
        )
    if weights.numel() and bool((weights < 0).any()):
        raise RuntimeError(f"cov(): {name} cannot be negative")


@composite()
def cov(input: Tensor, *, correction: int = 1, fweights: Tensor | None = None,
        aweights: Tensor | None = None) -> Tensor:
    """The covariance matrix of the rows of ``input``, weighted by frequencies and importances."""
    if input.dim() > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with "
            f"{input.dim()} dimensions"
        )
    if input._aval.dtype is dtypes.bool:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    x = input if input.dim() == 2 else input.reshape(1, -1)
    _check_weights("fweights", fweights, x.shape[1])
    _check_weights("aweights", aweights, x.shape[1])
    weights = fweights
    if aweights is not None:
        weights = aweights if weights is None else weights * aweights
    count: Any = x.shape[1]
    if weights is not None:
        count = weights.sum()
        if not bool(count != 0):
            raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    # The sum of integers is one, and that of halves a half, which may overflow, as in PyTorch.
    centre = (x if weights is None else x * weights).sum(1, keepdim=True) / count
    if aweights is None or not correction:
        free = count - correction
    else:
        # With importances, a sample counts by its weight squared.
        free = count - correction * (weights * aweights).sum() / count
    away = x - centre
    scaled = (away if weights is None else away * weights).conj()
    if bool(free <= 0):
        warnings.warn("cov(): degrees of freedom is <= 0. Correction should be strictly less than the number "
                      "of observations.", stacklevel=user_level())
        free = 0 if not isinstance(free, Tensor) else free.clamp(max=0, min=0)
    return (away.matmul(scaled.transpose(0, 1)) / free).squeeze()


@composite()
def corrcoef(input: Tensor) -> Tensor:
    """The correlation coefficients of the rows of ``input``, limited to ``[-1, 1]``."""
    if input.dim() > 2:
        raise RuntimeError(
            f"corrcoef(): expected input to have two or fewer dimensions but got an input with "
            f"{input.dim()} dimensions"
        )
    c = cov(input)
    if c.dim() == 0:
        return c / c
    spread = c.diagonal().real.sqrt() if c.dtype.is_complex else c.diagonal().sqrt()
    c = c / spread.unsqueeze(-1) / spread.unsqueeze(-2)
    if c.dtype.is_complex:
        return apply(OPS["complex"], (c.real.clip(-1, 1), c.imag.clip(-1, 1)))
    return c.clip(-1, 1)


@composite()
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape."""
    return input._aval.shape == other._aval.shape


@composite()
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and elements.

    Args:
        input: any tensor.
        other: any tensor; its dtype may be another one, and nothing is broadcast.

    Returns:
        A Python bool, for which the elements are read. It is False where there is a nan, which equals
        nothing.

    Raises:
        TypeError: for what is no tensor.

    Example:
        >>> torch.equal(torch.tensor([1, 2]), torch.tensor([1.0, 2.0]))
        True
        >>> torch.equal(torch.tensor([1, 1]), torch.tensor(1))
        False
    """
    if input._aval.shape != other._aval.shape:
        return False
    refuse_batched("Batching rule not implemented for aten::equal. We could not generate a fallback.",
                   input, other)
    return bool((input == other).all())


@composite()
def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08,
             equal_nan: bool = False) -> bool:
    """Whether `isclose` holds for all elements.

    That is ``abs(input - other) <= atol + rtol * abs(other)`` for every pair of elements.

    Args:
        input: any tensor.
        other: a tensor of the same dtype, that broadcasts with ``input``.
        rtol: relative tolerance.
        atol: absolute tolerance.
        equal_nan: whether nan is close to nan.

    Returns:
        A Python bool, for which the elements are read.

    Raises:
        RuntimeError: for different dtypes, and shapes that do not broadcast.
        TypeError: for what is no tensor.

    Example:
        >>> torch.allclose(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.5]))
        False
        >>> torch.allclose(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.5]), atol=0.5)
        True
    """
    refuse_batched("vmap over torch.allclose isn't supported yet: do it outside of vmap", input, other)
    return bool(input.isclose(other, rtol, atol, equal_nan).all())

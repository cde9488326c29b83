"""``assert_close``: two results, or containers of results, compared within tolerances."""

from __future__ import annotations

import cmath
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxflow._api.creation.construct import as_tensor
from jaxflow._core import dtype as dtypes
from jaxflow._core.promotion import promote_types
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import strides_of
from jaxflow._views.values import value_of

#: Relative and absolute tolerance by dtype; those of complex numbers are their parts', all others are 0.
_TOLERANCES = {
    dtypes.float16: (1e-3, 1e-5),
    dtypes.bfloat16: (1.6e-2, 1e-5),
    dtypes.float32: (1.3e-6, 1e-5),
    dtypes.float64: (1e-7, 1e-7),
}
_NUMBERS = {int: dtypes.int64, float: dtypes.float64, complex: dtypes.complex128}


class _Options(NamedTuple):
    allow_subclasses: bool
    rtol: float | None
    atol: float | None
    equal_nan: bool
    check_device: bool
    check_dtype: bool
    check_layout: bool
    check_stride: bool

    def tolerances(self, *kinds: dtypes.dtype) -> tuple[float, float]:
        """The given tolerances, or the larger of the dtypes' own."""
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        known = [_TOLERANCES.get(k.to_real() if k.is_complex else k, (0.0, 0.0)) for k in kinds]
        return max(r for r, _ in known), max(a for _, a in known)


class _Mismatch(Exception):
    """What is wrong with a pair, in words, and where in the containers the pair is."""

    def __init__(self, words: str, where: tuple) -> None:
        if where:
            words += f"\n\nThe failure occurred for item {''.join(f'[{key!r}]' for key in where)}"
        super().__init__(words)


def assert_close(
    actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: float | None = None,
    atol: float | None = None, equal_nan: bool = False, check_device: bool = True,
    check_dtype: bool = True, check_layout: bool = True, check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raise unless ``|actual - expected| <= atol + rtol * |expected|`` for every element.

    Tensors, arrays, numbers and None are compared with their like, sequences and mappings of them element
    by element. Without ``rtol`` and ``atol`` the tolerances go by the dtypes, and are 0 for integers.

    Args:
        actual: what was computed.
        expected: what it should be.
        allow_subclasses: whether a tensor may be compared with one of a subclass.
        rtol: relative tolerance, given together with ``atol``.
        atol: absolute tolerance.
        equal_nan: whether nan equals nan.
        check_device: whether the devices must be the same.
        check_dtype: whether the dtypes, or the types of numbers, must be the same.
        check_layout: whether the layouts must be the same.
        check_stride: whether the strides must be the same.
        msg: an error message, or what makes one of the usual message.

    Returns:
        None, when everything is close.

    Raises:
        AssertionError: for what is not close; it says how many elements, and by how much.
        ValueError: for one tolerance without the other.
        TypeError: for a pair that cannot be compared.

    Example:
        >>> torch.testing.assert_close({"a": torch.tensor([1.0])}, {"a": torch.tensor([1.0000001])})
        >>> torch.testing.assert_close(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.5]))
        Traceback (most recent call last):
        AssertionError: Tensor-likes are not close!
        ...
        >>> torch.testing.assert_close(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.5]), rtol=0, atol=0.5)
    """
    if (rtol is None) is not (atol is None):
        missing = "atol" if atol is None else "rtol"
        raise ValueError(
            f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}."
        )
    options = _Options(allow_subclasses, rtol, atol, equal_nan, check_device, check_dtype, check_layout,
                       check_stride)
    try:
        _compare(actual, expected, options, ())
    except _Mismatch as mismatch:
        words = str(mismatch)
        if msg is not None:
            words = msg(words) if callable(msg) else msg
    else:
        return
    raise AssertionError(words)


def assert_allclose(actual: Any, expected: Any, rtol: float | None = None, atol: float | None = None,
                    equal_nan: bool = True, msg: str = "") -> None:
    """Deprecated in favour of `assert_close`: dtypes may differ, numbers and lists are taken for tensors."""
    warnings.warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. "
        "Please use `torch.testing.assert_close()` instead. You can find detailed upgrade instructions in "
        "https://github.com/pytorch/pytorch/issues/61844.", FutureWarning, stacklevel=2,
    )
    if not isinstance(actual, Tensor):
        actual = as_tensor(actual)
    if not isinstance(expected, Tensor):
        expected = as_tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        loose = {dtypes.float16: (1e-3, 1e-3), dtypes.float32: (1e-4, 1e-5), dtypes.float64: (1e-5, 1e-8)}
        pairs = [loose.get(t.dtype, (0.0, 0.0)) for t in (actual, expected)]
        rtol, atol = max(r for r, _ in pairs), max(a for _, a in pairs)
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False,
                 msg=msg or None)


# ---------------------------------------------------------------------------------------- each kind


def _compare(actual: Any, expected: Any, options: _Options, where: tuple) -> None:
    if _both(Sequence, actual, expected) and not _both(str, actual, expected):
        if len(actual) != len(expected):
            raise _Mismatch(
                f"The length of the sequences mismatch: {len(actual)} != {len(expected)}", where
            )
        for i, pair in enumerate(zip(actual, expected)):
            _compare(*pair, options, (*where, i))
    elif _both(Mapping, actual, expected):
        _compare_mappings(actual, expected, options, where)
    elif actual is None or expected is None:
        if actual is not expected:
            raise _Mismatch(f"None mismatch: {actual} is not {expected}", where)
    elif _both((bool, np.bool_), actual, expected):
        if bool(actual) is not bool(expected):
            raise _Mismatch(f"Booleans mismatch: {actual} is not {expected}", where)
    elif _both((int, float, complex, np.number), actual, expected):
        _compare_numbers(*(x.item() if isinstance(x, np.number) else x for x in (actual, expected)),
                         options, where)
    elif _comparable(actual, expected, options):
        _compare_tensors(*(x if isinstance(x, Tensor) else as_tensor(x) for x in (actual, expected)),
                         options, where)
    else:
        raise TypeError(
            f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}."
        )


def _both(kinds: Any, actual: Any, expected: Any) -> bool:
    return isinstance(actual, kinds) and isinstance(expected, kinds)


def _comparable(actual: Any, expected: Any, options: _Options) -> bool:
    """Whether both are tensors or arrays, and one of the other's type."""
    if not _both((Tensor, np.ndarray, jax.Array), actual, expected):
        return False
    if options.allow_subclasses:
        return isinstance(actual, type(expected)) or isinstance(expected, type(actual))
    return type(actual) is type(expected)


def _compare_mappings(actual: Mapping, expected: Mapping, options: _Options, where: tuple) -> None:
    missing, additional = expected.keys() - actual.keys(), actual.keys() - expected.keys()
    if missing or additional:
        raise _Mismatch(
            "The keys of the mappings do not match:\n"
            f"Missing keys in the actual mapping: {sorted(missing)}\n"
            f"Additional keys in the actual mapping: {sorted(additional)}", where,
        )
    for key in expected:
        _compare(actual[key], expected[key], options, (*where, key))


def _compare_numbers(actual: Any, expected: Any, options: _Options, where: tuple) -> None:
    if options.check_dtype and type(actual) is not type(expected):
        raise _Mismatch(f"The (d)types do not match: {type(actual)} != {type(expected)}.", where)
    kinds = [next(d for t, d in _NUMBERS.items() if isinstance(x, t)) for x in (actual, expected)]
    _scalars(actual, expected, options.tolerances(*kinds), options.equal_nan, where)


def _scalars(actual: Any, expected: Any, tolerances: tuple, equal_nan: bool, where: tuple) -> None:
    rtol, atol = tolerances
    off = abs(actual - expected)
    if actual == expected or (cmath.isfinite(off) and off <= atol + rtol * abs(expected)):
        return
    if equal_nan and cmath.isnan(actual) and cmath.isnan(expected):
        return
    relative = float("inf") if expected == 0 else off / abs(expected)
    raise _Mismatch(
        f"{_headline('Scalars', tolerances)}Expected {expected} but got {actual}.\n"
        f"Absolute difference: {off}{_allowed(atol, tolerances)}\n"
        f"Relative difference: {relative}{_allowed(rtol, tolerances)}", where,
    )


def _headline(what: str, tolerances: tuple) -> str:
    return f"{what} are not {'close' if any(tolerances) else 'equal'}!\n\n"


def _allowed(tolerance: float, tolerances: tuple) -> str:
    return f" (up to {tolerance} allowed)" if any(tolerances) else ""


def _compare_tensors(actual: Tensor, expected: Tensor, options: _Options, where: tuple) -> None:
    _compare_attributes(actual, expected, options, where)
    if "meta" in (actual.device.type, expected.device.type):
        return
    tolerances = options.tolerances(actual.dtype, expected.dtype)
    kind = promote_types(actual.dtype, expected.dtype)
    a, e = (value_of(t).host().astype(kind.np) for t in (actual, expected))
    if not a.ndim:
        _scalars(a.item(), e.item(), tolerances, options.equal_nan, where)
        return
    if kind.category < dtypes.FLOATING and kind is not dtypes.uint64:
        a, e = a.astype(np.int64), e.astype(np.int64)
    with np.errstate(all="ignore"):
        off = np.abs(a - e)
        wrong = _apart(a, e, off, tolerances, options.equal_nan)
        if not wrong.any():
            return
        relative = off / np.abs(e)
    if kind.category < dtypes.FLOATING:
        relative = relative.astype(np.float32)
    lines = [f"Mismatched elements: {wrong.sum()} / {wrong.size} ({wrong.sum() / wrong.size:.1%})"]
    for word, values, tolerance in (("absolute", off, tolerances[1]), ("relative", relative, tolerances[0])):
        # What counts is among the elements that are too far off.
        at = np.unravel_index(np.argmax(np.where(wrong, values, 0)), values.shape)
        lines.append(f"Greatest {word} difference: {values[at].item()} at index {tuple(map(int, at))}"
                     f"{_allowed(tolerance, tolerances)}")
    raise _Mismatch(_headline("Tensor-likes", tolerances) + "\n".join(lines), where)


def _apart(a: np.ndarray, e: np.ndarray, off: np.ndarray, tolerances: tuple, equal_nan: bool) -> np.ndarray:
    rtol, atol = (np.asarray(t, off.dtype if off.dtype.kind not in "iu" else np.float64) for t in tolerances)
    near = (a == e) | (np.isfinite(off) & (off <= atol + np.abs(rtol * np.abs(e))))
    if equal_nan and a.dtype.kind not in "iu":
        near |= np.isnan(a) & np.isnan(e)
    return ~near


def _compare_attributes(actual: Tensor, expected: Tensor, options: _Options, where: tuple) -> None:
    def unequal(name: str, one: Any, other: Any) -> _Mismatch:
        return _Mismatch(f"The values for attribute '{name}' do not match: {one} != {other}.", where)

    if actual.shape != expected.shape:
        raise unequal("shape", actual.shape, expected.shape)
    if options.check_layout and actual.layout is not expected.layout:
        raise unequal("layout", actual.layout, expected.layout)
    if options.check_stride and strides_of(actual) != strides_of(expected):
        raise unequal("stride()", strides_of(actual), strides_of(expected))
    if options.check_device and actual.device != expected.device:
        raise unequal("device", actual.device, expected.device)
    if options.check_dtype and actual.dtype is not expected.dtype:
        raise unequal("dtype", actual.dtype, expected.dtype)

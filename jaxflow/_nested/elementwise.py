"""Functions of elements: of nested tensors with the same rows, and dense ones beside them; in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor
from jaxflow._sparse.inplace import again, check_may_write

from .dispatch import on
from .padding import packed
from .parts import Jagged, is_nested, jagged, like, parts_of, values_of

#: Functions of single elements, with the operators of Python.
ELEMENTWISE = """
    abs absolute acos arccos acosh arccosh add angle asin arcsin asinh arcsinh atan arctan atan2 arctan2 atanh
    arctanh bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor ceil clamp
    clamp_max clamp_min clip copysign cos cosh deg2rad digamma div divide eq erf erfc erfinv exp exp2 expm1
    fix float_power floor fmax fmin fmod frac ge greater greater_equal gt heaviside hypot i0 igamma igammac
    isclose isfinite isinf isnan isneginf isposinf isreal ldexp le lerp less less_equal lgamma log log10 log1p
    log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor logit lt masked_fill maximum
    minimum mul multiply nan_to_num ne neg negative nextafter not_equal polygamma positive pow rad2deg real
    reciprocal remainder round rsqrt sgn sigmoid sign signbit sin sinc sinh sqrt square sub subtract rsub tan
    tanh true_divide trunc xlogy celu elu gelu hardshrink hardsigmoid hardswish hardtanh leaky_relu mish relu
    relu6 selu silu softplus softshrink tanhshrink softsign threshold rrelu dropout alpha_dropout
    feature_alpha_dropout __neg__ __pos__ __abs__ __invert__ __pow__ __rpow__ __add__ __radd__ __sub__
    __rsub__ __mul__ __rmul__ __truediv__ __rtruediv__ __mod__ __rmod__ __eq__ __ne__ __lt__ __le__ __gt__
    __ge__ __and__ __rand__ __or__ __ror__ __xor__ __rxor__ __lshift__ __rshift__
""".split()

#: What writes to its first argument, beside the functions above with ``_`` behind their names.
_IN_PLACE = """
    __iadd__ __isub__ __imul__ __itruediv__ __ipow__ __imod__ __iand__ __ior__ __ixor__ fill_ zero_ normal_
    uniform_ bernoulli_ random_ exponential_
""".split()


def _mismatch(name: str, *shapes: Any) -> RuntimeError:
    return RuntimeError(f"cannot call binary pointwise function {name.strip('_')} with inputs of shapes "
                        + " and ".join(map(str, shapes)))


def matches(parts: Jagged, shape: tuple) -> bool:
    """Whether a shape has the same number of rows as ``parts``, and the same ragged dimension; -1 is any."""
    own = tuple(parts.shape)[:parts.dim + 1]
    return len(shape) > parts.dim and all(
        a == b or (isinstance(b, int) and b == -1) for a, b in zip(own, shape, strict=False))


def beside(name: str, nt: Tensor, t: Tensor) -> Tensor:
    """A dense tensor as an operand of functions on the values of ``nt``, with its history.

    Raises:
        NotImplementedError: where it has more dimensions than ``nt``.
        RuntimeError: where it does not broadcast with the rows of ``nt``.
    """
    parts, shape = parts_of(nt), tuple(t.shape)
    if len(shape) > nt.dim():
        raise NotImplementedError("NYI: broadcasting NT with T with larger dim")
    first = next((i for i, n in enumerate(shape) if n != 1), len(shape))
    inner = t.reshape(shape[first:]) if first else t
    before = nt.dim() - parts.dim - 1  # how many dimensions lie behind the ragged one
    if nt.dim() >= inner.dim() + 2:
        if inner.dim() > before and inner.shape[-before - 1] != 1:
            raise _mismatch(name, nt.shape, t.shape)
        return inner
    if len(shape) != nt.dim() or shape[0] != parts.ragged.count:
        raise _mismatch(name, nt.shape, t.shape)
    most = parts.ragged.longest()
    if shape[parts.dim] not in (1, most):
        raise _mismatch(name, nt.shape, t.shape)
    wide = t.expand([most if d == parts.dim else n for d, n in enumerate(shape)])
    return packed(wide, parts.ragged, parts.dim, parts.values.shape[parts.dim - 1])


def operands(name: str, args: tuple, kwargs: dict) -> tuple[Tensor, tuple, dict]:
    """The first nested tensor, and the arguments with ordinary tensors that go together with its values.

    Raises:
        RuntimeError: where another tensor has other rows.
    """
    first = next(t for t in (*args, *kwargs.values()) if is_nested(t))
    parts = parts_of(first)
    if parts.__class__ is not Jagged:  # of the strided layout, whose functions look at the sizes themselves
        return first, tuple(map(values_of, args)), {k: values_of(x) for k, x in kwargs.items()}

    def ordinary(x: Any) -> Any:
        if not isinstance(x, Tensor):
            return x
        if not is_nested(x):
            return beside(name, first, x) if x.dim() else x
        if not matches(parts, tuple(parts_of(x).shape)):
            shapes = [tuple(t.shape) for t in (*args, *kwargs.values()) if is_nested(t)]
            raise _mismatch(name, *shapes)
        return values_of(x)

    return first, tuple(map(ordinary, args)), {k: ordinary(x) for k, x in kwargs.items()}


def pointwise(original: Callable, *args: Any, **kwargs: Any) -> Tensor:
    """The same of the values; the rows stay."""
    if kwargs.get("inplace"):
        return written(original, *args, **kwargs)
    first, given, named = operands(original.__name__, args, kwargs)
    return like(parts_of(first), original(*given, **named))


def written(original: Callable, t: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """What a function writes into ``t``: into its values, where no gradient is recorded."""
    if not is_nested(t):
        raise RuntimeError(f"{original.__name__}(): a dense tensor cannot become nested in place")
    check_may_write(t)
    parts = parts_of(t)
    tensors = [x for x in (t, *args, *kwargs.values()) if isinstance(x, Tensor)]
    recording = state.grad and any(x.requires_grad for x in tensors)
    if not recording:
        _, (own, *given), named = operands(original.__name__, (t, *args), kwargs)
        original(own, *given, **named)
        return t

    def work() -> Tensor:
        _, (own, *given), named = operands(original.__name__, (t, *args), kwargs)
        return like(parts, original(own.clone(), *given, **named))

    return again(t, work)


on(*ELEMENTWISE)(pointwise)
on(*(f"{name}_" for name in ELEMENTWISE if not name.startswith("__")), *_IN_PLACE)(written)


@on("where")
def where(original: Callable, condition: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Of each place, the element of one or of another tensor; the condition is nested."""
    if not is_nested(condition):
        raise ValueError("NestedTensor where_self(): expected condition to be a jagged layout NestedTensor")
    return pointwise(original, condition, *args, **kwargs)


@on("rand_like", "randn_like", "randint_like", "zeros_like", "ones_like", "full_like", "empty_like")
def made_like(original: Callable, input: Tensor, *args: Any, layout: Any = None, **kwargs: Any) -> Tensor:
    """A new tensor with the same rows."""
    parts = parts_of(input)
    wanted = kwargs.pop("requires_grad", False)
    if layout is not None and layout is not parts.layout:
        raise RuntimeError(f"{original.__name__}(): a nested tensor of the jagged layout makes no tensor of "
                           f"layout {layout}")
    values = original(parts.values, *args, **kwargs)
    made = jagged(values, parts.ragged.moved(values.device), parts.dim)
    return made.requires_grad_() if wanted else made


@on("new_zeros", "new_ones", "new_empty", "new_full")
def made_new(original: Callable, self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Refused for shapes with dimensions, as in PyTorch; else a dense number."""
    size = kwargs.get("size", args[0] if args else ())
    if not isinstance(size, (tuple, list)) or len(size):
        raise RuntimeError("new_empty() not supported for NJT with shape != ()")
    return original(parts_of(self).values, *args, **kwargs)


@on("new_tensor")
def new_tensor(original: Callable, self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """A dense tensor of the same dtype."""
    return original(parts_of(self).values, *args, **kwargs)


@on("frexp")
def frexp(original: Callable, input: Tensor) -> Any:
    """Mantissas and exponents."""
    found = original(values_of(input))
    return type(found)(*(like(parts_of(input), x) for x in found))


@on("one_hot")
def one_hot(original: Callable, tensor: Tensor, num_classes: int = -1) -> Tensor:
    """The one-hot vectors of the values."""
    return like(parts_of(tensor), original(values_of(tensor), num_classes))

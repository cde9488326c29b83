"""Functions of elements: of one masked tensor, of two tensors, in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow import _functions as F
from jaxflow._core.commit import Overtaken, commit
from jaxflow._core.layouts import has_parts, parts_rows
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor

from .dispatch import on
from .parts import Masked, beside, check, data_of, is_masked, mask_of, masked, same_masks, with_values

_UNARY = """
    abs absolute acos arccos acosh arccosh angle asin arcsin asinh arcsinh atan arctan atanh arctanh
    bitwise_not ceil clamp clip conj_physical cos cosh deg2rad digamma erf erfc erfinv exp exp2
    expm1 fix floor frac lgamma log log10 log1p log2 logit i0 isnan nan_to_num neg negative positive
    pow rad2deg reciprocal round rsqrt sigmoid sign sgn signbit sin sinc sinh sqrt square tan tanh
    trunc isfinite
""".split()
_UNARY_OPERATORS = "__neg__ __pos__ __abs__ __invert__ __pow__".split()
_BINARY = """
    add atan2 arctan2 bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift div
    divide floor_divide fmod logaddexp logaddexp2 mul multiply nextafter remainder sub subtract
    true_divide eq ne le ge greater greater_equal gt less_equal lt less maximum minimum fmax fmin
    not_equal
""".split()
_BINARY_OPERATORS = """
    __add__ __radd__ __sub__ __mul__ __rmul__ __truediv__ __rtruediv__ __floordiv__ __mod__ __eq__
    __ne__ __lt__ __le__ __gt__ __ge__ __and__ __rand__ __or__ __ror__ __xor__ __rxor__ __lshift__
    __rshift__
""".split()
_IN_PLACE_OPERATORS = dict(__iadd__="__add__", __isub__="__sub__", __imul__="__mul__",
                           __itruediv__="__truediv__")
_NOT_IN_PLACE = "angle positive signbit isnan isfinite logaddexp logaddexp2 fmin minimum maximum fmax".split()

#: Arguments that PyTorch's operators take by position, though users may name them.
_POSITIONAL = frozenset("min max nan posinf neginf exponent eps other".split())


def _unary(original: Callable, *args: Any, **kwargs: Any) -> Tensor:
    """A function of each element: the mask stays."""
    if not _POSITIONAL.issuperset(kwargs):
        raise ValueError("MaskedTensor unary ops require that len(kwargs) == 0. It was given "
                         f"{', '.join(sorted(kwargs))}")
    t = args[0]
    if any(isinstance(x, Tensor) for x in (*args[1:], *kwargs.values())) or not is_masked(t):
        raise TypeError("MaskedTensor unary ops do not support additional Tensor arguments")
    data = data_of(t)
    if not has_parts(data):
        return masked(original(data, *args[1:], **kwargs), mask_of(t))
    return masked(with_values(data, original(data.values(), *args[1:], **kwargs)), mask_of(t))


def _binary(original: Callable, *args: Any, **kwargs: Any) -> Tensor:
    """A function of two elements: the masks have to be the same, or one of the tensors has none."""
    if kwargs.keys() - {"other"}:
        raise ValueError(f"len(kwargs) must equal 0: it was given {', '.join(sorted(kwargs))}")
    a, b = (*args, *kwargs.values())[:2]
    masks = [mask_of(t) for t in (a, b) if is_masked(t)]
    if len(masks) == 2 and not same_masks(*masks):
        raise ValueError(
            "Input masks must match. If you need support for this, please open an issue on Github.")
    first, second = data_of(a), data_of(b)
    if any(has_parts(x) for x in (first, second)):
        return _of_sparse(original, first, second, masks[0])
    shape = F.broadcast_shapes(*(x.shape for x in (first, second) if isinstance(x, Tensor)))
    mask = masks[0].expand(shape)
    first, second = (beside(x, shape, mask) if isinstance(t, Tensor) and not is_masked(t) else x
                     for t, x in ((a, first), (b, second)))
    return masked(original(first, second), mask)


def _of_sparse(original: Callable, first: Any, second: Any, mask: Tensor) -> Tensor:
    """The same of the values of sparse data, which stand at the same places."""
    if not has_parts(first):
        raise TypeError("a MaskedTensor with sparse data comes first in functions of two tensors")
    if has_parts(second):
        if second.layout is not first.layout or second.shape != first.shape:
            raise ValueError("input1 and input2 must have the same size for binary functions.")
        second = second.values()
    elif isinstance(second, Tensor) and second.dim():
        raise TypeError("a MaskedTensor with sparse data goes with one like it, or with a number")
    return masked(with_values(first, original(first.values(), second)), mask)


def replaced(t: Tensor, compute: Callable[[], Tensor]) -> Tensor:
    """``t``, which has the parts of the masked tensor that ``compute()`` returns from now on."""
    if state.grad and t.requires_grad:
        raise RuntimeError("a MaskedTensor that requires grad takes no in-place operation: take the result "
                           "of the one that is not in place")
    while True:
        storage, epoch = t._storage, t._storage.epoch
        found = compute()
        if found.requires_grad and state.grad:
            raise RuntimeError("what requires grad cannot be written to a MaskedTensor in place")
        if found.shape != t.shape:
            raise RuntimeError(f"output with shape {list(t.shape)} doesn't match the broadcast shape "
                               f"{list(found.shape)}")
        data, mask = found._storage.parts
        parts = Masked(data.to(t.dtype), mask)
        check(*parts)
        before = storage.parts  # kept until the call is over
        try:
            commit(parts_rows(storage, parts), storages=(storage,), epochs=(epoch,))
        except Overtaken:
            continue
        del before
        return t


def _in_place(name: str, rule: Callable) -> Callable:
    """The function that writes what ``rule`` computes with the function ``name`` to its first argument."""
    def write(original: Callable, *args: Any, **kwargs: Any) -> Tensor:
        if not is_masked(args[0]):
            raise TypeError(f"{name}_() does not write a MaskedTensor into a tensor without a mask")
        public = getattr(F, name, None) or getattr(Tensor, name)
        return replaced(args[0], lambda: rule(public, *args, **kwargs))
    return write


for _names, _operators, _rule in ((_UNARY, _UNARY_OPERATORS, _unary), (_BINARY, _BINARY_OPERATORS, _binary)):
    on(*_names, *_operators)(_rule)
    for _name in _names:
        if _name not in _NOT_IN_PLACE:
            on(f"{_name}_")(_in_place(_name, _rule))
for _name, _out_of_place in _IN_PLACE_OPERATORS.items():
    on(_name)(_in_place(_out_of_place, _binary))

"""``torch._foreach_*``: one operation on each of many tensors.

The compiled program of a step is one kernel launch however many operations it holds, so these are loops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jaxflow._core.layout import preserve_format
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS
from jaxflow._publish.composite import composite
from jaxflow._writes.inplace import apply_inplace

from .forms import invalid_combination

_NUMBERS = (bool, int, float, complex)


def _method(name: str) -> Callable:
    def call(t: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return getattr(t, name)(*args, **kwargs)

    return call


def _forms(name: str) -> tuple[Callable, Callable]:
    """The operation, and its in-place form: both as methods, which are published later."""
    return _method(name), _method(name + "_")


def _need_some(tensors: Sequence) -> None:
    if not len(tensors):
        raise RuntimeError("Tensor list must have at least one tensor.")


def _need_as_many(tensors: Sequence, *others: Sequence) -> None:
    _need_some(tensors)
    for other in others:
        if len(other) != len(tensors):
            raise RuntimeError(
                f"Tensor lists must have the same number of tensors, got {len(tensors)} and {len(other)}"
            )


def _is_list(x: Any, kinds: Any) -> bool:
    return isinstance(x, (list, tuple)) and all(isinstance(i, kinds) for i in x)


def _operands(name: str, self: Sequence, other: Any) -> Sequence:
    """For each tensor its second operand: of a list of tensors or numbers, or the same for all."""
    if not _is_list(self, Tensor):
        raise invalid_combination(name, (self, other), {})
    if isinstance(other, _NUMBERS):
        _need_some(self)
        return [other] * len(self)
    if isinstance(other, Tensor):
        _need_some(self)
        if other._aval.ndim:
            raise RuntimeError(
                f"scalar tensor expected to be 0 dim but it has {other._aval.ndim} dimensions and "
                f"{other._aval.numel} elements."
            )
        return [other] * len(self)
    if _is_list(other, Tensor):
        _need_as_many(self, other)
    elif _is_list(other, _NUMBERS):
        _need_some(self)
        if len(other) != len(self):
            raise RuntimeError("Tensor list must have same number of elements as scalar list.")
    else:
        raise invalid_combination(name, (self, other), {})
    return other


def _second(name: str, self: Any, given: tuple, kwargs: dict, words: tuple[str, ...]) -> Any:
    """The one argument after ``self``, by position or by one of its names."""
    named = [kwargs.pop(word) for word in words if word in kwargs]
    if len(given) + len(named) != 1 or kwargs:
        raise invalid_combination(name, (self, *given), kwargs)
    return (*given, *named)[0]


def _publish(name: str, doc: str, run: Callable, inplace: Callable | None) -> None:
    """``run`` gives the results as a list; ``inplace`` writes them into the tensors of the first list."""

    def outside(self: Sequence[Tensor], *args: Any, **kwargs: Any) -> tuple[Tensor, ...]:
        return tuple(run(self, *args, **kwargs))

    def inside(self: Sequence[Tensor], *args: Any, **kwargs: Any) -> Sequence[Tensor]:
        inplace(self, *args, **kwargs)
        return self

    forms = [(name, outside)] + ([(name + "_", inside)] if inplace else [])
    for public, form in forms:
        form.__name__ = form.__qualname__ = public
        form.__doc__ = doc if form is outside else f"{doc[:-1]}, written into it."
        composite("function")(form)


# ------------------------------------------------------------------------------------- one operand


def _unary(name: str) -> None:
    def run(form: Callable) -> Callable:
        def each(self: Sequence[Tensor]) -> list[Tensor]:
            if not _is_list(self, Tensor):
                raise invalid_combination(f"_foreach_{name}", (self,), {})
            _need_some(self)
            return [form(t) for t in self]

        return each

    _publish(f"_foreach_{name}", f"``{name}`` of each tensor.", *map(run, _forms(name)))


for _name in ("abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 "
              "neg reciprocal round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc").split():
    _unary(_name)


@composite("function")
def _foreach_zero_(self: Sequence[Tensor]) -> Sequence[Tensor]:
    """Zeros written into each tensor."""
    _need_some(self)
    for t in self:
        t.zero_()
    return self


@composite("function")
def _foreach_copy_(self: Sequence[Tensor], src: Sequence[Tensor],
                   non_blocking: bool = False) -> Sequence[Tensor]:
    """The elements of each source written into each tensor."""
    _need_as_many(self, src)
    for t, s in zip(self, src):
        t.copy_(s)
    return self


@composite("function")
def _foreach_clone(self: Sequence[Tensor], *, memory_format: Any = None) -> tuple[Tensor, ...]:
    """A copy of each tensor."""
    _need_some(self)
    return tuple(t.clone(memory_format=memory_format or preserve_format) for t in self)


@composite("function")
def _foreach_norm(self: Sequence[Tensor], ord: Any = 2, dtype: Any = None) -> tuple[Tensor, ...]:
    """The norm of the elements of each tensor; RuntimeError for the greatest of none."""
    _need_some(self)
    if ord == float("inf") and any(t._aval.numel == 0 for t in self):
        raise RuntimeError(
            "_foreach_norm cannot compute the infinity norm on an empty tensor because the operation does "
            "not have an identity"
        )
    return tuple(t.norm(ord, dtype=dtype) for t in self)


@composite("function")
def _foreach_powsum(self: Sequence[Tensor], ord: Any = 2, dtype: Any = None) -> tuple[Tensor, ...]:
    """The sum of the absolute elements of each tensor, raised to a power."""
    _need_some(self)
    return tuple((t if dtype is None else t.to(dtype)).abs().pow(ord).sum() for t in self)


@composite("function")
def _foreach_max(self: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """The greatest element of each tensor; RuntimeError for none."""
    _need_some(self)
    if any(t._aval.numel == 0 for t in self):
        raise RuntimeError(
            "_foreach_max cannot compute the maximum of an empty tensor; max over zero elements is undefined."
        )
    return tuple(t.max() for t in self)


@composite("function")
def _foreach_mm(self: Sequence[Tensor], mat2: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """The product of each pair of matrices."""
    _need_as_many(self, mat2)
    return tuple(a.mm(b) for a, b in zip(self, mat2))


# ------------------------------------------------------------------------------------ two operands

_SECOND = ("other", "scalar", "scalars", "tensor", "exponent")


def _binary(name: str, scaled: bool) -> None:
    full = f"_foreach_{name}"

    def each(form: Callable) -> Callable:
        def run(self: Sequence[Tensor], *args: Any, alpha: Any = None, **kwargs: Any) -> list[Tensor]:
            other = _second(full, self, args, kwargs, _SECOND)
            if alpha is None:
                return [form(t, o) for t, o in zip(self, _operands(full, self, other))]
            if not scaled or isinstance(other, _NUMBERS):
                raise invalid_combination(full, (self, other), {"alpha": alpha})
            return [form(t, o, alpha=alpha) for t, o in zip(self, _operands(full, self, other))]

        return run

    _publish(full, f"``{name}`` of each tensor with its operand: one of a list, or the same for all.",
             *map(each, _forms(name)))


for _row in (("add", True), ("sub", True), ("mul", False), ("div", False), ("clamp_min", False),
             ("clamp_max", False)):
    _binary(*_row)


def _extremum(name: str, limit: str) -> None:
    """PyTorch has no in-place form of ``maximum``: the result is written back."""
    full, op = f"_foreach_{name}", OPS[name]

    def each(run: Callable, with_number: str) -> Callable:
        def pairs(self: Sequence[Tensor], *args: Any, **kwargs: Any) -> list[Tensor]:
            other = _second(full, self, args, kwargs, _SECOND)
            return [run(op, (t, o)) if isinstance(o, Tensor) else getattr(t, with_number)(o)
                    for t, o in zip(self, _operands(full, self, other))]

        return pairs

    _publish(full, f"``{name}`` of each tensor and its operand: one of a list, or the same for all.",
             each(apply, limit), each(apply_inplace, limit + "_"))


_extremum("maximum", "clamp_min")
_extremum("minimum", "clamp_max")


def _powers(form: Callable) -> Callable:
    def run(self: Any, *args: Any, **kwargs: Any) -> list[Tensor]:
        exponent = _second("_foreach_pow", self, args, kwargs, ("exponent",))
        if isinstance(self, _NUMBERS) and _is_list(exponent, Tensor):
            _need_some(exponent)
            return [self ** e for e in exponent]
        return [form(t, e) for t, e in zip(self, _operands("_foreach_pow", self, exponent))]

    return run


_publish("_foreach_pow", "Each tensor raised to its exponent: one of a list, or the same for all.",
         *map(_powers, _forms("pow")))


# ---------------------------------------------------------------------------------- three operands


def _weighted(form: Callable) -> Callable:
    def run(self: Sequence[Tensor], tensors1: Sequence[Tensor], *args: Any, **kwargs: Any) -> list[Tensor]:
        weights = _second("_foreach_lerp", self, args, kwargs, ("weight", "weights"))
        _need_as_many(self, tensors1)
        weights = _operands("_foreach_lerp", self, weights)
        return [form(t, end, w) for t, end, w in zip(self, tensors1, weights)]

    return run


_publish("_foreach_lerp", "What lies between each tensor and its second one, at a weight.",
         *map(_weighted, _forms("lerp")))


def _ternary(name: str) -> None:
    full = f"_foreach_{name}"

    def each(form: Callable) -> Callable:
        def run(self: Sequence[Tensor], tensor1: Sequence[Tensor], tensor2: Sequence[Tensor], *args: Any,
                **kwargs: Any) -> list[Tensor]:
            value = _second(full, self, args, kwargs, ("value", "scalars")) if args or kwargs else 1
            _need_as_many(self, tensor1, tensor2)
            if isinstance(value, Tensor):
                if value._aval.numel != len(self):
                    raise RuntimeError(
                        f"Expected length of scalars to match input of length {len(self)} but got "
                        f"{value._aval.numel} instead."
                    )
                value = value.tolist()
            values = _operands(full, self, value)
            return [form(t, a, b, value=v) for t, a, b, v in zip(self, tensor1, tensor2, values)]

        return run

    _publish(full, f"``{name}`` of each three tensors, with a number for all or one for each.",
             *map(each, _forms(name)))


_ternary("addcmul")
_ternary("addcdiv")

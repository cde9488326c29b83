"""From a Python call to dispatch: PyTorch's calling conventions, derived from the op's parameters."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import NoneType
from typing import Any

import numpy as np

from jaxflow._core.arguments import KINDS, is_item, misfit
from jaxflow._core.dtype import dtype, given_dtype
from jaxflow._core.foreign import Foreign, may_override
from jaxflow._core.generator import Generator
from jaxflow._core.state import state
from jaxflow._core.symbolic_numbers import SymNumber
from jaxflow._core.tensor import Tensor
from jaxflow._core.torchs import is_torchs, refusal
from jaxflow._core.value import Value
from jaxflow._core.warning import warn_once
from jaxflow._dispatch.vmap_axes import draw_inside
from jaxflow._plans.op import OPS, SCALAR, STATIC, TENSOR, TENSORS, Op, Param, spelled
from jaxflow._views.values import value_of

# NumPy's spellings that PyTorch accepts wherever its own parameter exists.
_ALIASES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input",
            "x2": "other", "axes": "dims"}

# Static parameters that, standing last, may be spelled as several integers: ``t.repeat(2, 3)``.
_SPREAD = frozenset(("size", "dims", "repeats", "sizes", "shape", "reps"))


def freeze(x: Any) -> Any:
    """A static argument in hashable form: lists become tuples, 0-d integer tensors numbers."""
    if type(x) in (int, bool, float, str, type(None)):
        return x
    if isinstance(x, (list, tuple)):
        return tuple(map(freeze, x))
    if isinstance(x, np.generic) or (isinstance(x, np.ndarray) and not x.ndim):
        return x.item()
    if isinstance(x, Tensor):
        if x._aval.numel != 1:
            raise TypeError(f"expected a number, but got a tensor of shape {x._aval.shape}")
        value: Value = value_of(x)
        return value.host().item()
    if type(x) is type:
        return given_dtype(x)
    return x.plain() if type(x) is SymNumber else x


#: Ops that PyTorch still takes with their factors before the tensors that they belong to.
_NUMBERS_FIRST = frozenset((
    "add", "sub", "rsub", "addcmul", "addcdiv", "addmm", "addmv", "addr", "addbmm", "baddbmm"))
#: Those of them whose second operand may be a number, and how many arguments they have with their factor.
_NUMBERS_FACTORED, _WITH_FACTOR = frozenset(("add", "sub", "rsub")), 3

#: Those whose factor is the second argument; of the others it is the first, or what a method is given first.
_FACTOR_SECOND = frozenset(("add", "sub", "rsub", "addcmul", "addcdiv"))


#: Ops that have another form in PyTorch, ``mm(a, b, out_dtype)``, which its kernels for the CPU lack.
_WITH_OUT_DTYPE = frozenset(("mm", "bmm", "addmm", "baddbmm"))


class Binder:
    """Sorts the arguments of one op's public calls into dynamic and static ones.

    ``ending`` is what the name of these calls has more than the op's; of a ``method`` errors do not count
    the tensor that it belongs to.
    """

    def __init__(self, op: Op, ending: str = "", method: bool = False) -> None:
        self.op, self.method = op, method
        self.name = (op.name if method else spelled(op.name, op)) + ending
        self.names = {p.name: i for i, p in enumerate(op.params)}
        has_list = any(p.kind == TENSORS for p in op.params)
        self.positional = [
            i for i, p in enumerate(op.params) if has_list or not p.keyword_only
        ]
        self.dynamic = [
            *(i for i, p in enumerate(op.params) if p.kind in (TENSOR, TENSORS)),
            *(i for i, p in enumerate(op.params) if p.kind == SCALAR),
        ]
        self.static = [i for i, p in enumerate(op.params) if p.kind == STATIC]
        self.declared = [(i, 1 << i, KINDS[p.takes][0], p.default is None or p.default == ())
                         for i, p in enumerate(op.params) if p.takes]
        self.defaults = [
            None if p.kind == SCALAR and p.default is not p.empty else p.default for p in op.params
        ]
        # The common call: exactly the leading required tensors, everything else at its default.
        lead = 0
        while lead < len(op.params) and op.params[lead].kind == TENSOR and (
            op.params[lead].default is op.params[lead].empty
        ):
            lead += 1
        rest = range(lead, len(op.params))
        complete = all(op.params[i].default is not op.params[i].empty for i in rest)
        self.quick = lead if complete and not has_list else -1
        self.quick_dynamic = tuple(self.defaults[i] for i in self.dynamic if i >= lead)
        self.quick_static = tuple(freeze(self.defaults[i]) for i in self.static)

    def in_order(self, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        """``addmm(beta, x, alpha, a, b)`` as ``addmm(x, a, b, beta=beta, alpha=alpha)``, else as is.

        ``rsub`` takes the factor last, of a number alone; ``add`` and ``sub`` take a number for the tensor
        that follows its factor.
        """
        if len(args) == _WITH_FACTOR and self.op.name in _NUMBERS_FACTORED:
            if self.op.name == "rsub":
                number = all(not isinstance(a, Tensor) or is_item(a) for a in args[1:])
                return (args[:2], {**kwargs, "alpha": args[2]}) if number else (args, kwargs)
            if not isinstance(args[2], Tensor) or is_item(args[1]):
                self._deprecated("alpha")
                return args[::2], {**kwargs, "alpha": freeze(args[1])}
        tensors = tuple(a for a in args if isinstance(a, Tensor))
        numbers = [a for a in args if isinstance(a, (bool, int, float, complex))]
        names = [p.name for p in self.op.params if p.kind == SCALAR]
        if len(tensors) != len(self.positional) or len(numbers) > len(names) or (
                len(tensors) + len(numbers) != len(args) or not isinstance(args[-1], Tensor)):
            return args, kwargs
        second = self.method or self.op.name in _FACTOR_SECOND
        places = [i for i, a in enumerate(args) if not isinstance(a, Tensor)]
        if places != [int(second), 2][:len(places)] or not kwargs.keys().isdisjoint(names):
            return args, kwargs
        self._deprecated(" and ".join(names))
        return tensors, {**dict(zip(names, numbers)), **kwargs}

    def _deprecated(self, names: str) -> None:
        warn_once(f"This overload of {self.name} is deprecated:\n\tgive {names} by name",
                  key="deprecated overload")

    def __call__(self, args: tuple, kwargs: dict) -> tuple[tuple, tuple]:
        """``(dynamic, static)`` for dispatch; ``out`` was taken out of ``kwargs`` before."""
        op, params = self.op, self.op.params
        values = list(self.defaults)
        args = self._gather_spread(args)
        if len(args) > len(self.positional) and op.name in _NUMBERS_FIRST:
            args, kwargs = self.in_order(args, kwargs)
        if self.names_dtype(args, kwargs):
            args, kwargs = self._in_dtype(args, kwargs)
        if len(args) > len(self.positional):
            raise self.too_many(len(args))
        given = 0
        for i, a in zip(self.positional, args):
            values[i] = a
            given |= 1 << i
        for key, a in kwargs.items():
            i = self.names.get(key)
            if i is None:
                i = self.names.get(_ALIASES.get(key, ""))
            if i is None:
                raise TypeError(f"{self.name}() got an unexpected keyword argument '{key}'")
            if given >> i & 1:
                raise TypeError(f"{self.name}() got multiple values for argument '{params[i].name}'")
            values[i] = a
            given |= 1 << i
        missing = [f'"{p.name}"' for p, v in zip(params, values) if v is p.empty]
        if missing:
            raise TypeError(
                f"{self.name}() missing {len(missing)} required positional arguments: "
                f"{', '.join(missing)}"
            )
        for i, bit, fits, optional in self.declared:
            if given & bit and not fits(values[i]) and not (optional and values[i] is None):
                place = i + 1 - self.method if i < len(args) else None
                raise misfit(self.name, params[i].name, place, params[i].takes, values[i])
            if values[i].__class__ is bool and params[i].takes == "float":
                values[i] = float(values[i])
        dynamic: list = []
        for i in self.dynamic:
            if params[i].kind == TENSORS:
                dynamic.extend(self._tensor_list(values[i], params[i].name))
            else:
                dynamic.append(values[i])
        static = tuple([freeze(values[i]) for i in self.static])
        return tuple(dynamic), static

    def too_many(self, count: int) -> TypeError:
        """The error for so many positional arguments."""
        params, own = self.op.params, int(self.method)
        if self.method and len(params) == 1:
            return TypeError(f"TensorBase.{self.name}() takes no arguments ({count - 1} given)")
        most = len(self.positional) - own
        least = sum(params[i].default is Param.empty for i in self.positional) - own
        takes = f"{most} positional argument{'s' * (most != 1)}" if least == most else (
            f"from {least} to {most} positional arguments")
        count -= own
        return TypeError(f"{self.name}() takes {takes} but {count} {'was' if count == 1 else 'were'} given")

    def names_dtype(self, args: tuple, kwargs: dict) -> bool:
        """Whether a call takes the form with a dtype of the result, which kernels for the CPU lack."""
        return self.op.name in _WITH_OUT_DTYPE and not self.method and (
            len(args) > len(self.positional) or "out_dtype" in kwargs)

    def _in_dtype(self, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        """``mm(a, b, out_dtype)`` as ``mm`` of operands of that dtype: products of halves are exact in it."""
        count, given = len(self.positional), dict(kwargs)
        out_dtype = args[count] if len(args) == count + 1 else given.pop("out_dtype", None)
        names = [self.op.params[i].name for i in self.positional]
        operands = (*args[:count], *(given.pop(name) for name in names[len(args):] if name in given))
        if len(args) > count + ("out_dtype" not in kwargs) or not isinstance(out_dtype, dtype) or (
                len(operands) < count or not all(isinstance(a, Tensor) for a in operands)):
            got = [type(a).__name__ for a in args] + [f"{k}={type(a).__name__}" for k, a in kwargs.items()]
            raise TypeError(f"{self.name}() received an invalid combination of arguments - got "
                            f"({', '.join(got)}), but expected one of:\n * the forms that its documentation "
                            "lists")
        if operands[-1]._aval.device.type == "cpu":
            raise NotImplementedError(
                f"Could not run 'aten::{self.op.name}.dtype' with arguments from the 'CPU' backend."
            )
        return tuple([a.to(out_dtype) for a in operands]), given

    def _gather_spread(self, args: tuple) -> tuple:
        """``(t, 2, 3)`` as ``(t, (2, 3))`` where the last parameter allows it."""
        k = len(self.positional) - 1
        if len(args) <= k or k < 0:
            return args
        param = self.op.params[self.positional[k]]
        if param.kind == STATIC and param.name in _SPREAD and not isinstance(
            args[k], (tuple, list, NoneType)
        ):
            return (*args[:k], tuple(args[k:]))
        return args

    def _tensor_list(self, tensors: Any, name: str) -> list:
        if isinstance(tensors, Tensor) or not isinstance(tensors, (list, tuple)):
            raise TypeError(
                f"{self.op.name}(): argument '{name}' (position 1) must be tuple of Tensors, not "
                f"{type(tensors).__name__}"
            )
        for i, t in enumerate(tensors):
            if not isinstance(t, Tensor):
                if is_torchs(t):
                    raise refusal(self.op.name)
                raise (Foreign if may_override(t) else TypeError)(
                    f"expected Tensor as element {i} in argument 0, but got {type(t).__name__}"
                )
        return list(tensors)


def draw(source: Generator) -> tuple[int, int | Tensor]:
    """The next (seed, offset) of a generator: what a random op's key is made from.

    Inside ``vmap`` with ``randomness="different"`` the offset is a tensor, another one in each example.
    """
    return draw_inside(source, state.axes) if state.axes else source.draw()


def numbers_first(op_name: str) -> Callable:
    """Let an in-place method that is written out take its factors before the tensors, as the op does."""
    def decorate(method: Callable) -> Callable:
        binder = Binder(OPS[op_name], "_", method=True)

        @functools.wraps(method)
        def call(*args: Any, **kwargs: Any) -> Any:
            if len(args) > len(binder.positional):
                args, kwargs = binder.in_order(args, kwargs)
                if len(args) > len(binder.positional):
                    raise binder.too_many(len(args))
            return method(*args, **kwargs)

        return call

    return decorate

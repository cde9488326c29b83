"""What a parameter takes, and PyTorch's words for what it does not take.

An op declares it by an annotation: ``int``, ``bool``, ``float``, `Number` (a complex one too) or `Integers`
(an integer or several), ``str``; a composite ``Tensor`` too. Wherever PyTorch takes a number it takes NumPy's
and a tensor of no dimension that has no gradient as well. A bool is no integer, and of NumPy's bools none is
one of Python's.
"""

from __future__ import annotations

import functools
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np

from .autocast import CASTING
from .dtype import COMPLEX, INTEGER
from .foreign import Foreign, look_for_overrides, may_override
from .tensor import Tensor
from .torchs import is_torchs, refusal


class Number:
    """Annotation of a parameter that takes a number of any kind."""


class Integers:
    """Annotation of a parameter that takes an integer or several."""


def is_item(x: Any) -> bool:
    """Whether ``x`` is a tensor that PyTorch takes in place of a number."""
    return isinstance(x, Tensor) and not x._aval.shape and not x._requires_grad


def _is_int(x: Any) -> bool:
    if x.__class__ is int:
        return True
    if isinstance(x, Tensor):
        return is_item(x) and x._aval.dtype.category == INTEGER
    if isinstance(x, np.ndarray):
        return not x.ndim and x.dtype.kind in "iu"
    return not isinstance(x, (bool, np.bool_)) and hasattr(x, "__index__")


def _are_ints(x: Any) -> bool:
    return all(map(_is_int, x)) if isinstance(x, (list, tuple)) else _is_int(x)


#: What is no number for sure. Anything else may stand for one: a tracer of jax's, another library's number.
_NO_NUMBER = (str, bytes, list, tuple, dict, set, frozenset, np.ndarray, type(None))


def _is_number(x: Any) -> bool:
    return is_item(x) if isinstance(x, Tensor) else not isinstance(x, _NO_NUMBER)


def _is_real(x: Any) -> bool:
    return _is_number(x) and not isinstance(x, (complex, np.complexfloating)) and not (
        isinstance(x, Tensor) and x._aval.dtype.category == COMPLEX)


def _is_bool(x: Any) -> bool:
    return x.__class__ is bool


def _is_tensor(x: Any) -> bool:
    return isinstance(x, Tensor)


def _is_str(x: Any) -> bool:
    return isinstance(x, str)


#: By the name of an annotation: whether a value fits, and what PyTorch calls it.
KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "int": (_is_int, "int"), "bool": (_is_bool, "bool"), "float": (_is_real, "float"),
    "Number": (_is_number, "Number"), "Scalar": (_is_number, "Number"),
    "RealScalar": (_is_real, "float"),
    "Integers": (_are_ints, "tuple of ints"), "Tensor": (_is_tensor, "Tensor"),
    "str": (_is_str, "str"),
}


def kind_of(annotation: Any) -> str | None:
    """The key in `KINDS` of an annotation; None where nothing is declared."""
    name = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    return name if name in KINDS else None


def fits(kind: str, value: Any) -> bool:
    """Whether a parameter of a kind of `KINDS` takes ``value``."""
    return KINDS[kind][0](value)


def misfit(name: str, parameter: str, place: int | None, kind: str, value: Any) -> TypeError:
    """The error for ``value`` in a parameter of ``kind``; ``place`` counts positional arguments, from 1."""
    where = "" if place is None else f" (position {place})"
    of = type(value)
    written = f"numpy.{of.__name__}" if of.__module__ == "numpy" else of.__name__
    said = f"must be {KINDS[kind][1]}, not {written}"
    if kind == "Integers" and isinstance(value, (list, tuple)):
        at = next(i for i, x in enumerate(value) if not _is_int(x))
        said = f"must be tuple of ints, but found element of type {type(value[at]).__name__} at pos {at}"
    return TypeError(f"{name}(): argument '{parameter}'{where} {said}")


# ----------------------------------------------------------------------------------- written out


def checked(fn: Callable, name: str, *, method: bool = False, in_python: bool = False,
            casting: Callable | None = None) -> Callable:
    """``fn`` with a look at the arguments whose annotations say what they take; itself where none does.

    Each of them costs a comparison, as the first lines of a function would. Errors call the function
    ``name``; of a ``method`` they do not count the tensor that it belongs to, which is not looked at. A
    function that is wrapped already looks at its numbers itself, and at which of them it was given. Where an
    object that is no tensor may override functions, its override is called, as in PyTorch.

    Args:
        fn: the function.
        name: what errors call it.
        method: whether the function is a method only.
        in_python: whether PyTorch's function is written in Python. Then only tensors that have to be there
            are looked at.
        casting: what calls the function instead, given it, its arguments and those by keyword, while some
            thread is in an autocast region.
    """
    numbers = not in_python and not hasattr(fn, "__wrapped__")
    sig = inspect.signature(fn, follow_wrapped=False)
    space: dict = {"_fn": fn, "_wrong": _wrong, "_Tensor": Tensor, "_Foreign": Foreign,
                   "_look": look_for_overrides}
    heads, passed, tests, of_tensors = [], [], [], False
    for place, p in enumerate(sig.parameters.values(), 1 - method):
        kind, optional = _declared(p)
        star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        if p.kind is p.KEYWORD_ONLY and not any(h.startswith("*") for h in heads):
            heads.append("*")
        default = ""
        if p.default is not p.empty:
            space[f"_default_{p.name}"] = p.default
            default = f"=_default_{p.name}"
        heads.append(f"{star}{p.name}{default}")
        passed.append(f"{p.name}={p.name}" if p.kind is p.KEYWORD_ONLY else f"{star}{p.name}")
        looked_at = numbers
        if kind == "Tensor":
            looked_at = place and not (in_python and optional)
        if not kind or star or not looked_at:
            continue
        of_tensors |= kind == "Tensor"
        quick = {"int": f"{p.name}.__class__ is not int", "bool": f"{p.name}.__class__ is not bool",
                 "float": f"{p.name}.__class__ is not float", "str": f"{p.name}.__class__ is not str",
                 "Tensor": f"not isinstance({p.name}, _Tensor)"}.get(kind, "True")
        given = f" and {p.name} is not _default_{p.name}" if default else ""
        allowed = f" and {p.name} is not None" if optional else ""
        where = None if p.kind is p.KEYWORD_ONLY or p.name == "pin_memory" else place
        about = f"{name!r}, {p.name!r}, {where}, {kind!r}"
        tests.append(f"    if {quick}{given}{allowed}: _wrong({about}, {p.name})\n")
    if not tests and casting is None:
        return fn
    positional = [h for h, p in zip([h for h in heads if h != "*"], sig.parameters.values(), strict=True)
                  if p.kind is p.POSITIONAL_ONLY]
    heads[len(positional):len(positional)] = ["/"] if positional else []
    arguments, body = ", ".join(passed), "".join(tests)
    if of_tensors:
        space["_again"] = functools.partial(_called_again, sig)
        given = "{" + ", ".join(f"{name!r}: {name}" for name in sig.parameters) + "}"
        body = (f"    try:\n{textwrap.indent(body, '    ')}    except _Foreign:\n"
                f"        if not _look(): raise\n        return _again(_call, {given})\n")
    if casting is not None:
        space |= {"_CASTING": CASTING, "_casting": casting}
        body += f"    if _CASTING: return _casting(_fn, {_as_given(sig)})\n"
    source = f"def call({', '.join(heads)}):\n{body}    return _fn({arguments})\n"
    # No file has this name, so that tracebacks show no line of another one; it is below the package's folder.
    exec(compile(source, f"{__file__}:{name}", "exec"), space)
    space["_call"] = functools.wraps(fn)(space["call"])
    return space["_call"]


def _as_given(sig: inspect.Signature) -> str:
    """Source of the positional arguments of a function as a tuple, and of the others as a dict."""
    positional, others = "", ""
    for p in sig.parameters.values():
        if p.kind is p.KEYWORD_ONLY:
            others += f"{p.name!r}: {p.name}, "
        elif p.kind is p.VAR_KEYWORD:
            others += f"**{p.name}, "
        else:
            positional += f"{'*' * (p.kind is p.VAR_POSITIONAL)}{p.name}, "
    return f"({positional}), {{{others}}}"


def without_tensor(fn: Callable, value: Any) -> Any:
    """What ``fn(value)`` is, which has failed: only tensors have what it reads. For functions that cost
    too little for a look at what they are given.

    Raises:
        TypeError: for what is no tensor and overrides no function.
        AttributeError: for a tensor, which has not been made whole.
    """
    try:
        _wrong(fn.__name__, "input", 1, "Tensor", value)
    except Foreign:
        if look_for_overrides():
            return fn(value)
        raise
    raise AttributeError(f"{fn.__name__}(): {type(value).__name__} has no shape and dtype yet")


def _called_again(sig: inspect.Signature, fn: Callable, given: dict) -> Any:
    """``fn(...)``, which looks for overrides by now; what has its default is not said to them."""
    args: list = []
    kwargs = {}
    for name, p in sig.parameters.items():
        if p.kind is p.VAR_POSITIONAL:
            args += given[name]
        elif p.kind is p.VAR_KEYWORD:
            kwargs.update(given[name])
        elif p.default is p.empty and p.kind is not p.KEYWORD_ONLY:
            args.append(given[name])
        elif given[name] is not p.default:
            kwargs[name] = given[name]
    return fn(*args, **kwargs)


def _declared(p: inspect.Parameter) -> tuple[str | None, bool]:
    """The kind of a parameter, and whether it may be None too: annotated so, or so by default.

    Functions that make tensors take None for whether to pin their memory and to require grad.
    """
    written = p.annotation if isinstance(p.annotation, str) else getattr(p.annotation, "__name__", "")
    name = written.removesuffix(" | None")
    factory = p.name == "pin_memory" or (p.name == "requires_grad" and p.kind is p.KEYWORD_ONLY)
    return kind_of(name), factory or name != written or p.default is None


def _wrong(name: str, parameter: str, place: int | None, kind: str, value: Any) -> None:
    """Refuse ``value`` unless it fits. What could have been given by its place is taken to be."""
    if fits(kind, value):
        return
    error = misfit(name, parameter, place, kind, value)
    if kind == "Tensor":
        if is_torchs(value):
            raise refusal(name)
        if may_override(value):
            raise Foreign(*error.args)
    raise error

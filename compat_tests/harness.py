"""Runs one case on real torch and on jaxflow and compares everything a user can see.

A case is ``def name(T)``, where ``T`` is either module. It returns any nesting of tensors,
numbers, strings, bools and None. Compared are structure and container types, numbers, and for each
tensor its type, dtype, shape, strides, values, ``requires_grad``, ``is_leaf`` and the name of its
``grad_fn``; for every error caught by `raises` its class, base classes and first line; and all
warnings of the case. Values use the tolerances `torch.testing.assert_close` has for their dtype,
beyond which double precision says what is right: see NOTE [Judged by float64].

``python -m compat_tests.harness [text]`` prints torch's answers to cases with text in their id.
"""

import dataclasses
import functools
import importlib
import itertools
import pkgutil
import re
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.utils import _pytree

from compat_tests import judge
from compat_tests.exact import exactly

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # PyTorch's first dual loads this, with a warning about its own code
    importlib.import_module("torch._decomp.decompositions_for_jvp")

CASES: dict[str, "Case"] = {}


@dataclasses.dataclass(frozen=True)
class Case:
    """One program that both libraries must answer alike."""

    id: str
    run: Callable[[Any], Any]


def case(function):
    """Register ``function(T)`` under ``<file>.<function name>``."""
    _register(function, function.__name__, function)
    return function


def each(**rows):
    """Register ``function(T, row)`` once for every keyword, its name in brackets in the case id."""

    def register(function):
        for name, row in rows.items():
            run = lambda T, row=row: function(T, row)  # noqa: E731 - a binding, not a definition
            _register(function, f"{function.__name__}[{name.rstrip('_')}]", run)
        return function

    return register


def _register(function, name, run):
    topic = function.__module__.rpartition(".")[2]
    case_id = f"{topic}.{name}"
    if case_id in CASES:
        raise ValueError(f"two cases are called {case_id}")
    CASES[case_id] = Case(case_id, run)


def load_cases():
    """Import every module of ``compat_tests.cases`` and return the list of cases."""
    package = importlib.import_module("compat_tests.cases")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return list(CASES.values())


# --- what cases are written with -----------------------------------------------------------------

_draws = itertools.count()


def rand(T, *shape, dtype="float32", low=-2.0, high=2.0, requires_grad=False):
    """A tensor of ``shape`` drawn by NumPy: the n-th draw of a case is the same on both sides."""
    rng = np.random.default_rng(next(_draws))
    np_dtype = np.dtype("float32" if dtype == "bfloat16" else dtype)
    if np_dtype.kind == "c":
        array = rng.uniform(low, high, shape) + 1j * rng.uniform(low, high, shape)
    elif np_dtype.kind in "iu":
        array = rng.integers(int(low), int(high) + 1, shape)
    elif np_dtype.kind == "b":
        array = rng.integers(0, 2, shape)
    else:
        array = rng.uniform(low, high, shape)
    array = np.asarray(array, dtype=np_dtype)
    return T.tensor(array, dtype=getattr(T, dtype), requires_grad=requires_grad)


def leaf(T, *shape, **options):
    """Like `rand`, requiring gradients."""
    return rand(T, *shape, requires_grad=True, **options)


@dataclasses.dataclass(frozen=True)
class Raised:
    """The error of a call: class name, names of its bases, and first line of its message."""

    kind: str | None
    bases: tuple[str, ...] = ()
    message: str = ""
    phrase: str | None = None


def raises(call, *, phrase=None, because=None):
    """Run ``call``, which must raise on torch, and return what is compared of the error.

    ``phrase`` compares only that both messages contain it; ``because`` must then say why.
    """
    if phrase is not None and not because:
        raise ValueError("a case that compares only a phrase says why")
    try:
        call()
    except NameError:
        raise  # a mistake in the case, never an answer
    except Exception as error:
        bases = tuple(base.__name__ for base in type(error).__mro__[1:])
        return Raised(type(error).__name__, bases, _first_line(error), phrase)
    return Raised(None)


def attempt(call):
    """The result of ``call``, or its error: for cases that ask whether torch refuses."""
    result = None

    def keep():
        nonlocal result
        result = call()

    error = raises(keep)
    return result if error.kind is None else error


def warns(call):
    """Run ``call``; return its result and its warnings as (category, first line)."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
    return result, [_warning(w) for w in caught]


@dataclasses.dataclass(frozen=True)
class AnyStrides:
    """A tree whose strides are not compared: PyTorch documents a layout for ``.grad`` only."""

    tree: Any


_pytree.register_pytree_node(AnyStrides, lambda x: ([x.tree], None), lambda trees, _: AnyStrides(*trees))


def graph(node, depth=12):
    """The graph below a tensor or node as text: ``MulBackward0(AccumulateGrad, None)``."""
    if node is None:
        return "None"
    node = node.grad_fn if hasattr(node, "grad_fn") else node
    if node is None:
        return "leaf"
    edges = node.next_functions
    if not edges or depth == 0:
        return node.name()
    inner = ", ".join(graph(n, depth - 1) + (f":{i}" if i else "") for n, i in edges)
    return f"{node.name()}({inner})"


# --- taking down what a case returned ------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Facts:
    """Everything compared of one tensor; ``values`` is flat."""

    type: str
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    requires_grad: bool
    is_leaf: bool
    grad_fn: tuple[str, str] | None
    values: tuple


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a case returned, or how it failed, and the warnings it gave."""

    result: Any
    failure: BaseException | None
    warned: tuple[tuple[str, str], ...]


def run(case, T, take_down=None):
    """Run ``case`` on module ``T`` from a fresh state and take down its answer."""
    take_down = take_down or _take_down
    global _draws
    _draws = itertools.count()
    T.manual_seed(0)
    always = T.is_warn_always_enabled()
    T.set_warn_always(True)  # torch gives some warnings once a process: order must not matter
    result, failure = None, None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = take_down(case.run(T), T)
        except Exception as error:
            failure = error
        finally:
            T.set_warn_always(always)
    if not T.is_grad_enabled():
        T.set_grad_enabled(True)
        failure = failure or AssertionError("the case left grad mode off")
    return Outcome(result, failure, tuple(dict.fromkeys(_warning(w) for w in caught)))


def _take_down(value, T, strides=True):
    if isinstance(value, AnyStrides):
        return _take_down(value.tree, T, strides=False)
    if isinstance(value, T.Tensor):
        return _facts(value, strides)
    if isinstance(value, dict):
        return {key: _take_down(item, T, strides) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return (type(value).__name__, [_take_down(item, T, strides) for item in value])
    if value is None or isinstance(value, (bool, int, float, complex, str, Raised)):
        return value
    if isinstance(value, (T.dtype, T.device)):
        return str(value)
    if hasattr(value, "next_functions"):
        return (type(value).__name__, value.name())
    raise TypeError(f"a case may not return a {type(value).__name__}")


def _facts(t, strides):
    fn = t.grad_fn
    return Facts(
        type=type(t).__name__,
        dtype=str(t.dtype),
        shape=tuple(t.shape),
        strides=tuple(t.stride()) if strides else None,
        requires_grad=t.requires_grad,
        is_leaf=t.is_leaf,
        grad_fn=None if fn is None else (type(fn).__name__, fn.name()),
        values=tuple(t.detach().reshape(-1).tolist()),
    )


def _first_line(error):
    return _neutral(str(error).partition("\n")[0])


def _warning(w):
    text = re.sub(r" \(Triggered internally at .*\)$", "", str(w.message).partition("\n")[0])
    return w.category.__name__, _neutral(text)


def _neutral(text):
    """Names of the two modules, file lines and addresses differ for good reason."""
    text = re.sub(r"\bjaxflow(\._\w+)*\b", "torch", text)
    text = re.sub(r"0x[0-9a-f]+", "0x", text)
    return text.rstrip()


# --- comparing -----------------------------------------------------------------------------------


def check(case, subject):
    """Assert that ``subject`` (the jaxflow module) answers ``case`` as torch does."""
    expected = run(case, torch)
    if expected.failure is not None:
        raise AssertionError(f"{case.id} is no case: torch itself fails") from expected.failure
    actual = run(case, subject)
    if actual.failure is not None:
        raise AssertionError(f"{case.id}: torch answers, jaxflow fails") from actual.failure

    @functools.cache
    def exact():
        """The result of a run of torch in double precision."""
        outcome = exactly(lambda: _raised(run(case, torch, lambda value, T: value)))
        return _take_down(outcome, torch)

    differences = [*_differences("result", expected.result, actual.result, exact)]
    if expected.warned != actual.warned:
        differences.append(f"warnings: torch {expected.warned}, jaxflow {actual.warned}")
    assert not differences, "\n".join([case.id, *differences])


def _raised(outcome):
    if outcome.failure is not None:
        raise outcome.failure
    return outcome.result


def _differences(path, expected, actual, exact=None):
    if isinstance(expected, Raised):
        yield from _error_differences(path, expected, actual)
    elif type(expected) is not type(actual):
        yield f"{path}: torch {expected!r}, jaxflow {actual!r}"
    elif isinstance(expected, Facts):
        yield from _tensor_differences(path, expected, actual, exact)
    elif isinstance(expected, dict):
        if list(expected) != list(actual):
            yield f"{path}: torch has keys {list(expected)}, jaxflow {list(actual)}"
        for key in expected.keys() & actual.keys():
            inner = exact and (lambda key=key: exact()[key])
            yield from _differences(f"{path}[{key!r}]", expected[key], actual[key], inner)
    elif isinstance(expected, tuple) and isinstance(expected[1], list):
        if expected[0] != actual[0] or len(expected[1]) != len(actual[1]):
            yield f"{path}: torch {expected!r}, jaxflow {actual!r}"
            return
        for i, (e, a) in enumerate(zip(expected[1], actual[1], strict=True)):
            yield from _differences(f"{path}[{i}]", e, a, exact and (lambda i=i: exact()[1][i]))
    elif isinstance(expected, (float, complex)):
        dtype = _dtype_of_numbers(expected, actual)
        if not _close([expected], [actual], dtype, exact and (lambda: [exact()])):
            yield f"{path}: torch {expected!r}, jaxflow {actual!r}"
    elif expected != actual:
        yield f"{path}: torch {expected!r}, jaxflow {actual!r}"


def _dtype_of_numbers(*numbers):
    """Of which precision Python's numbers are: those read from a float32 tensor have its 24 bits."""
    wide = torch.tensor(numbers, dtype=torch.complex128)
    single = (wide.to(torch.complex64).to(wide.dtype) == wide) | wide.isnan()
    kinds = (torch.complex64, torch.float32) if single.all() else (torch.complex128, torch.float64)
    return kinds[0] if isinstance(numbers[0], complex) else kinds[1]


def _error_differences(path, expected, actual):
    if expected.kind is None:
        yield f"{path}: the case expects an error, torch raises none"
    elif not isinstance(actual, Raised) or actual.kind is None:
        yield f"{path}: torch raises {expected.kind}: {expected.message!r}, jaxflow does not raise"
    elif (expected.kind, expected.bases) != (actual.kind, actual.bases):
        yield (
            f"{path}: torch raises {expected.kind}{expected.bases}: {expected.message!r}\n"
            f"    jaxflow {actual.kind}{actual.bases}: {actual.message!r}"
        )
    elif expected.phrase is not None:
        for side, message in (("torch", expected.message), ("jaxflow", actual.message)):
            if expected.phrase not in message:
                yield f"{path}: {side}'s message {message!r} has no {expected.phrase!r}"
    elif expected.message != actual.message:
        yield f"{path}: torch's message {expected.message!r}\n    jaxflow's {actual.message!r}"


def _tensor_differences(path, expected, actual, exact):
    same_values = ("dtype", "shape")
    comparable = True
    for field in dataclasses.fields(Facts):
        if field.name == "values":
            continue
        e, a = getattr(expected, field.name), getattr(actual, field.name)
        if e != a:
            comparable &= field.name not in same_values
            yield f"{path}.{field.name}: torch {e}, jaxflow {a}"
    dtype = getattr(torch, expected.dtype.removeprefix("torch."))
    inner = exact and (lambda: exact().values)
    if comparable and not _close(expected.values, actual.values, dtype, inner):
        yield f"{path}.values: torch {expected.values}, jaxflow {actual.values}"


def _close(expected, actual, dtype, exact):
    wide = torch.complex128 if dtype.is_complex else torch.float64
    try:
        judge.assert_close(torch.tensor(actual, dtype=dtype), torch.tensor(expected, dtype=dtype),
                           exact and (lambda: torch.tensor(exact(), dtype=wide)))
    except AssertionError:
        return False
    return True


def _show(value, indent=""):
    if isinstance(value, dict):
        return "".join(f"\n{indent}{k}: {_show(v, indent + '  ')}" for k, v in value.items())
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], list):
        return value[0] + "".join(f"\n{indent}- {_show(v, indent + '  ')}" for v in value[1])
    if isinstance(value, Facts):
        values = [round(v, 4) if isinstance(v, float) else v for v in value.values]
        flags = " grad" * value.requires_grad + " leaf" * value.is_leaf
        name = f" {value.grad_fn[1]}" if value.grad_fn else ""
        return f"{value.type} {value.dtype} {value.shape} {value.strides}{flags}{name} {values}"
    if isinstance(value, Raised):
        return f"!! {value.kind}: {value.message}"
    return repr(value)


def main(pattern=""):
    """Print torch's answer to the cases whose id contains ``pattern``."""
    failed = 0
    for item in load_cases():
        if pattern not in item.id:
            continue
        outcome = run(item, torch)
        unsure = " ".join(
            line for line in _differences("result", outcome.result, run(item, torch).result)
        )
        print(f"\n{item.id}{'   <-- ' + unsure if unsure else ''}")
        if outcome.failure is not None:
            failed += 1
            print(f"  CASE FAILS {type(outcome.failure).__name__}: {outcome.failure}")
        else:
            print("  " + _show(outcome.result, "  "))
        for warning in outcome.warned:
            print("  warned", *warning)
    print(f"\n{len(CASES)} cases, {failed} failed on torch")


if __name__ == "__main__":
    # run as a module this file is __main__, while the cases register with compat_tests.harness
    importlib.import_module("compat_tests.harness").main(*sys.argv[1:])

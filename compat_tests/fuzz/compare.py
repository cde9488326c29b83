"""Comparing two logs: the first difference is the finding, what follows may only be its echo."""

import dataclasses
import difflib
import math
import re

import numpy as np
import torch

from compat_tests import judge

from .interpret import UNNAMED, Facts

# Faults of PyTorch itself: with some empty complex views; for the real 0-d tensor that was written into a
# complex one by index (whose gradient it gets right where ``copy_`` is called by name); where ``.grad`` is a
# tensor of zeros without memory, which the next backward cannot add to; for negative views that are copied
# into bools, which it negates afterwards; whether LAPACK's iteration ends for a matrix with infinities hangs
# on its size. Nothing is specified.
FAULTS = ("INTERNAL ASSERT FAILED", "MKL FFT error", "Expected isFloatingType(grad.scalar_type())",
          "ZeroTensors are immutable", "\"neg_cpu\" not implemented for 'Bool'",
          "failed to converge because the input matrix is ill-conditioned")


# Wide integers without a sign, for which PyTorch has hardly any kernel on the CPU, and XLA has all.
NO_KERNEL = re.compile(r"not implemented for 'UInt(?:16|32|64)'")
# A view inside of PyTorch's own formulas, which some strides do not allow (in the backward of
# ``max_unpool3d``; in ``isin`` of a number and a tensor; in ``kron`` of transposed matrices).
NO_VIEW = "view size is not compatible with input tensor's size and stride"
VIEWS_INSIDE = (".backward(", "isin(", "kron(", "'kron'")
# Inside of PyTorch's own formula too, of ``clamp`` of less dimensions than its bounds have: it adds up in
# place what has the shape of the result.
NO_SHAPE = "doesn't match the broadcast shape"
# A call whose arguments are so many that one form is left, whose first argument PyTorch then names. Which of
# them were written out, and which are the defaults, jaxflow's function cannot tell.
ONE_FORM = ("bucketize(): argument 'input' (position 1) must be Tensor", "bucketize() received an invalid")
# What is wrong with the numbers of a call, and what with its shapes: of both jaxflow names the shapes,
# which it knows before it computes anything, and PyTorch the numbers.
NUMBERS_FIRST = ("torch.searchsorted(): sorter index out of range", "torch.searchsorted(): ")
# PyTorch finds these out after it has written.
SPOILED = ("Inplace update to inference tensor", "Number of elements of source < number of ones in mask",
           "is out of bounds for dimension", "out of range of self",
           "ZeroDivisionError", "scatter_gather_tensor_cpu_reduce")
# It adds up the rows of a mean in place, and only then divides, for which it has no kernel; it resizes what
# is added to, and only then compares the dtypes.
HALF_DONE = (("index_reduce_", "div_floor_cpu"), ("addbmm_", "must have the same dtype"))
# XLA has no complex numbers of half precision: that is said wherever PyTorch has no kernel for them either.
REFUSED_BY_BOTH = (("ComplexHalf", "complex<c10::Half>", "with complex dtype"),
                   ("torch.complex32 is not a type that XLA has", "not implemented for 'Half'"))
# What jaxflow says by name that it cannot do, where PyTorch can: under ``vmap``, and with complex halves.
REFUSED = ("which the tensor outside would have to follow", REFUSED_BY_BOTH[1][0])
# Sums in which infinities meet: whether that gives nan depends on the order in which they are added.
SUMS = ("fft.", "@", "mm(", "mv(", "matmul", "bmm", "addr", "tensordot", "einsum", "conv", "kron", "cov(",
        "corrcoef", "dot(", "inner(", "linear(", "outer(", "ger(", "cross(", "matrix_power")
# PyTorch hands float32 whose memory has no gaps to another library, which gives nan for the gelu of infinity;
# of the same numbers in another layout, in one element or in float64 it is infinity.
KERNELS = ("gelu",)
# Complex sums: PyTorch multiplies what it adds by alpha, also where that is 1, and infinities meet: that
# makes nan of what is a number by the rules of C, in NumPy and here. Nobody counts on that: what is not
# finite in PyTorch is not compared there.
COMPLEX = (" + ", " - ", " += ", " -= ", "add", "sub", "lerp", "sum", "mean")
# Its zeta of exponents above 1e13 is nan, where it is as good as 0: a correction multiplies 0 by infinity.
CORRECTED = ("zeta",)
# PyTorch's loop over the degree is not entered where the operand is nan, and what is returned was never set.
UNSET = ("_polynomial_",)
# PyTorch's derivative takes the logarithm of what arrives where that is more than 0, and drops nan. Here nan
# goes on, to every element it concerns: what a derivative is of nan nobody can say.
FORGETS_NAN = ("logcumsumexp",)
# PyTorch sorts by a comparison that nan has no place in: what is first then depends on how they lay before.
UNORDERED = ("mode(", "unique(")
# PyTorch's float64 is right to 2e-6 of the amplitude for these Bessel functions (between 5 and 8), and to
# 1e-8 for digamma just above a pole from -1 down, where ours are to 2e-15 (held against mpmath). So what such
# a line gives is compared in float32, and what follows it.
ROUGH = re.compile(r"\bbessel_[jy][01]\b|\b(?:psi|digamma)_?\b")
SINGLE = {torch.float64: torch.float32, torch.complex128: torch.complex64}
#: So many words in a row make a key phrase.
RUN = 4


@dataclasses.dataclass(frozen=True)
class Difference:
    """Where the logs part: the statement, the kind of fact, and both sides."""

    code: str
    kind: str
    where: str
    torch: object
    jaxflow: object

    def __str__(self):
        return (
            f"after  {self.code}\n{self.kind} of {self.where} differs\n"
            f"    torch    {self.torch}\n    jaxflow  {self.jaxflow}"
        )


#: What can differ, the most harmful first.
KINDS = ("values", "grad", "dtype", "shape", "error", "access", "memory", "requires_grad", "has_grad",
         "version", "offset", "stride", "contiguous", "leaf", "base", "grad_fn", "phrase", "pool", "path")
#: A complex number and its parts.
_OF_PARTS = ({"torch.complex64", "torch.float32"}, {"torch.complex128", "torch.float64"})
#: Those in which one of the libraries says something: it raises what the other does not, or in other words.
LOUD = ("error", "phrase")


def first_difference(expected, actual, exact=None, kinds=None):
    """The first `Difference` between torch's log and jaxflow's, or None.

    Args:
        exact: gives torch's log in double precision; see NOTE [Judged by float64].
        kinds: the kinds of facts that are compared. Without, all are, and the words of errors are to be the
            same; with them, a key phrase of those words.
    """
    born, loose, named, parts, rough, forgets = {}, set(), set(), True, {}, False
    for i, (e, a) in enumerate(zip(expected, actual, strict=False)):
        if kinds is not None:
            e, a = _from_birth(born, e, a)
            if any(word in e.words for word in SUMS + KERNELS):
                loose |= e.facts.keys() - named
            named |= e.facts.keys()
            parts = parts and not any(word in e.words for word in COMPLEX)
            rough = rough or (SINGLE if ROUGH.search(e.words) else {})
            forgets = forgets or any(word in e.words for word in FORGETS_NAN)
        if e.code != a.code:
            return Difference(e.code, "path", "the program", e.code, a.code)
        if e.error and (any(fault in e.error[1] for fault in FAULTS) or NO_KERNEL.search(e.error[1])):
            return None
        if e.undefined or _fails_inside(e) or any(_is_below_nothing(fact) for fact in e.facts.values()):
            return None
        same = e.error == a.error or _refused_by_both(e.error, a.error)
        if a.error and not e.error and any(text in a.error[1] for text in REFUSED):
            return None
        kind = None if same else _error_kind(e.error, a.error)
        if kind and (kind in kinds if kinds is not None else True):
            return Difference(e.code, kind, "the statement", e.error, a.error)
        if kind == "error":
            return None  # what follows is its echo
        if e.error and (any(text in e.error[1] for text in SPOILED) or _is_half_done(e)):
            return None
        if e.facts.keys() != a.facts.keys():
            if kinds is not None and "pool" not in kinds:
                return None
            return Difference(e.code, "pool", "names", sorted(e.facts), sorted(a.facts))
        errors = [f for f in (e.error, *e.facts.values()) if isinstance(f, tuple) and len(f) == 2]
        if any(NO_KERNEL.search(str(text)) or any(fault in str(text) for fault in FAULTS)
               for _, text in errors):
            return None
        if any(isinstance(f, Facts) and f.requires_grad and _is_discrete(f.dtype) for f in e.facts.values()):
            return None
        dtypes = " ".join(f.dtype for f in e.facts.values() if isinstance(f, Facts))
        complexes = "complex" in dtypes
        narrow = _narrowed(dtypes) if kinds is not None else {}
        names = e.facts.keys() - (_read_as_other(e.facts) if kinds is not None else set())
        for name in sorted(names):
            inner = exact and (lambda i=i, name=name: exact()[i].facts[name])
            found = _facts(e, name, e.facts[name], a.facts[name], inner, kinds, name in loose, parts,
                           complexes, narrow, rough, forgets)
            if found:
                # How many rounded numbers differ is a matter of rounding.
                counted = found.kind == "shape" and "unique" in found.code
                return None if counted and not _is_discrete(e.facts[name].dtype) else found
    if len(expected) != len(actual):
        return Difference("the end", "path", "the log", len(expected), len(actual))
    return None


def beyond_subnormals(find):
    """What ``find()`` finds wrong, or None if that is right once PyTorch flushes subnormal numbers to zero.

    XLA computes so on the CPU, and PyTorch has a switch for it, which tells such a difference from all
    others: every number that is not subnormal has to be right with it too.
    """
    found = find()
    if found is None or not torch.set_flush_denormal(True):
        return found
    try:
        return found if find() is not None else None
    finally:
        torch.set_flush_denormal(False)


def _from_birth(born, expected, actual):
    """Both entries with versions from where memory got a name, and without bases that nobody can name.

    How often an operation wrote into its own result, and whether that is a view of another that is gone,
    says how it is made. So a view of a result that was such a view when it appeared may have it for its base.
    """
    names = {n for n in expected.facts.keys() & actual.facts.keys()
             if isinstance(expected.facts[n], Facts) and isinstance(actual.facts[n], Facts)}
    hidden = {n for n in names if born.setdefault(n, expected.facts[n].base == UNNAMED)}
    sides = []
    for side, entry in enumerate((expected, actual)):
        facts = dict(entry.facts)
        for name in names:
            fact = facts[name]
            if (side, name) not in born:
                # A view of what was made before counts with it, mostly from more than 0.
                others = [born[side, m] for m in fact.memory if (side, m) in born] if fact.memory else None
                born[side, name] = fact.version if others is None else min([*others[:1], fact.version])
            first = born[side, name]
            gone = fact.base == UNNAMED or (expected.facts[name].base == UNNAMED and fact.base in hidden)
            base = None if gone else fact.base
            facts[name] = dataclasses.replace(fact, version=fact.version - first, base=base)
        sides.append(dataclasses.replace(entry, facts=facts))
    return sides


def _is_discrete(dtype):
    """Whether a tensor of torch's that has this dtype and requires grad is a fault of PyTorch itself.

    Its in-place comparisons with what requires grad, and bernoulli_, make integers and bools that do. A view
    or a copy of one cannot be made, and a backward that reaches it ends in an internal assertion.
    """
    return "float" not in dtype and "complex" not in dtype


def _is_half_done(entry):
    return any(code in entry.words and text in entry.error[1] for code, text in HALF_DONE)


def _fails_inside(entry):
    """Whether a formula of PyTorch's own fails at memory or shapes that it made itself."""
    if entry.error is None:
        return False
    inside = any(word in entry.words for word in VIEWS_INSIDE)
    return (NO_VIEW in entry.error[1] and inside
            or NO_SHAPE in entry.error[1] and ".backward(" in entry.words)


def _is_below_nothing(fact):
    """Whether a tensor of torch's has sizes below 0, which its ``expand`` makes beside a size of 0."""
    return isinstance(fact, Facts) and any(size < 0 for size in fact.shape)


def _refused_by_both(expected, actual):
    return None not in (expected, actual) and all(
        any(text in error[1] for text in texts)
        for texts, error in zip(REFUSED_BY_BOTH, (expected, actual), strict=True))


def _error_kind(expected, actual):
    """``error`` where one raises and the other does not, or another class; ``phrase`` for other words."""
    if expected is None or actual is None or expected[0] != actual[0]:
        return "error"
    return "words" if same_phrase(expected[1], actual[1]) else "phrase"


def same_phrase(expected, actual):
    """Whether two messages share their key phrase: a run of `RUN` words, or all of the shorter."""
    # The parser of arguments lists all the forms of a call: its class says what it says.
    if "received an invalid combination of arguments" in expected:
        return True
    if any(expected.startswith(one) and actual.startswith(two) for one, two in (ONE_FORM, NUMBERS_FIRST)):
        return True
    one, two = (re.sub(r"[^a-zA-Z_']+", " ", text).split() for text in (expected, actual))
    run = difflib.SequenceMatcher(None, one, two, autojunk=False).find_longest_match().size
    return run >= min(RUN, len(one), len(two))


def _read_as_other(facts):
    """The names of what reads numbers that may be rounded as those of another dtype.

    A last bit there is any bit here. The memory is compared under the first name that it has.
    """
    found = set()
    for name, f in facts.items():
        if isinstance(f, Facts) and f.memory and isinstance(facts.get(f.memory[0]), Facts):
            own = facts[f.memory[0]].dtype
            if own != f.dtype and not _is_discrete(own) and {own, f.dtype} not in _OF_PARTS:
                found.add(name)
    return found


def _narrowed(dtypes):
    """What gradients are compared as that may have come through one of ``dtypes`` (their names)."""
    for words, real in ((("bfloat16",), torch.bfloat16), ((".float16",), torch.float16),
                        (("float32", "complex64"), torch.float32)):
        if any(word in dtypes for word in words):
            found = dict.fromkeys((torch.float64, torch.float32, torch.float16), real)
            return {kind: to for kind, to in found.items() if kind.itemsize > to.itemsize} | {
                torch.complex128: torch.complex64}
    return {}


def _facts(entry, name, expected, actual, exact, kinds=None, loose=False, parts=True, complexes=False,
           narrow=None, rough=None, forgets=False):
    code, words, narrow, rough = entry.code, entry.words, narrow or {}, rough or {}
    corrected = any(word in words for word in CORRECTED)
    if not (isinstance(expected, Facts) and isinstance(actual, Facts)):
        same = type(expected) is type(actual) and (expected == actual or _alike(expected, actual, exact))
        if same or (kinds is not None and "access" not in kinds):
            return None
        return Difference(code, "access", name, expected, actual)
    for field in dataclasses.fields(Facts):
        if kinds is not None and field.name not in kinds:
            continue
        e, a = getattr(expected, field.name), getattr(actual, field.name)
        if isinstance(e, torch.Tensor) and isinstance(a, torch.Tensor):
            wide = exact and (lambda field=field: getattr(exact(), field.name))
            if any(word in words for word in UNORDERED) and _is_inexact(e) and bool(
                    e.isnan().any() | a.isnan().any()):
                continue
            if any(word in words for word in UNSET) and _is_inexact(a) and e.shape == a.shape:
                e = torch.where(a.isnan(), a, e)
            grad = field.name == "grad"
            if grad and _outgrown(expected) and a.shape == actual.shape:
                e = e.reshape(a.shape)
            if grad and forgets and _is_inexact(a) and e.shape == a.shape:
                e = torch.where(a.isnan(), a, e)
            if a.dtype is e.dtype and (to := (narrow if grad else rough).get(e.dtype)):
                e, a = (x.to(to) for x in (e, a))
            # The gradient of a real number may be a part of a complex quotient.
            apart = not parts and (e.is_complex() or (grad and complexes)) or corrected
            if not _close(e, a, wide, loose or (kinds is not None and grad), apart):
                return Difference(code, field.name, name, e.tolist(), a.tolist())
        elif e is not a and e != a:
            return Difference(code, field.name, name, e, a)
    return None


def _outgrown(facts):
    """Whether PyTorch gave a leaf, reshaped in place since it was used, a gradient of its former shape.

    It does so where nobody else holds the gradient and its strides are those of the leaf; else it copies it,
    as jaxflow always does, which gives the present shape. The numbers are the same.
    """
    grad, shape = facts.grad, facts.shape
    return grad is not None and facts.leaf and grad.shape != shape and grad.numel() == math.prod(shape)


def _alike(expected, actual, exact):
    """Whether numbers that a program has read, or lists of them, are the same but for rounding."""
    found = []
    for x in (expected, actual):
        try:
            found.append(np.asarray(x))
        except ValueError:  # of pieces of several lengths
            return False
    one, two = found
    if one.shape != two.shape or one.dtype.kind not in "fc" or one.dtype != two.dtype:
        return False
    # They came from tensors of any precision: float32 is the least that is asked of them.
    narrow = "complex64" if found[0].dtype.kind == "c" else "float32"
    expected, actual = (torch.from_numpy(x.astype(narrow)) for x in found)
    return _close(expected, actual, exact and (lambda: torch.as_tensor(exact())))


def _close(expected, actual, exact, loose=False, apart=False):
    """Whether the numbers are right; ``loose``: a nan may stand for an infinity and the other way round.

    ``apart``: of PyTorch's numbers those that are not finite are not compared, see `COMPLEX`, `CORRECTED`.
    """
    if apart and _is_inexact(expected) and actual.dtype is expected.dtype and actual.shape == expected.shape:
        finite = expected.isfinite()
        expected, actual = (torch.where(finite, x, 0) for x in (expected, actual))
        exact = exact and (lambda exact=exact: torch.where(finite, exact(), 0))
    if loose and _is_inexact(expected) and expected.shape == actual.shape:
        finite = expected.isfinite() & actual.isfinite()
        alike = expected.isfinite() == actual.isfinite()
        if not bool(alike.all()):
            return False
        expected, actual = (torch.where(finite, x, 0) for x in (expected, actual))
        exact = exact and (lambda exact=exact: torch.where(finite, exact(), 0))
    if expected.is_complex() and actual.dtype is expected.dtype and actual.shape == expected.shape:
        # A complex number with an infinite part is close to none: such ones are compared part by part.
        whole = expected.isfinite() & actual.isfinite()
        parts = [torch.view_as_real(x[~whole].resolve_conj()) for x in (expected, actual)]
        if not _accepted(*parts, None):
            return False
        expected, actual = (torch.where(whole, x, 0) for x in (expected, actual))
        exact = exact and (lambda exact=exact: torch.where(whole, exact(), 0))
    return _accepted(expected, actual, exact)


def _accepted(expected, actual, exact):
    try:
        judge.assert_close(actual, expected, exact)
    except AssertionError:
        return False
    return True


def _is_inexact(t):
    return t.is_floating_point() or t.is_complex()

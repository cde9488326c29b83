"""Op records: one pure function on jax arrays, one declaration, everything else derived.

An op's body contains the mathematics; its declaration contains what dispatch needs. Function, method,
in-place and ``out=`` forms, operators, ``grad_fn`` names and docs all come from the record.

Parameters before ``/`` are tensors (``bias=None, /`` marks an optional one, ``*tensors`` a list);
parameters after it are static: part of the program's key. A parameter annotated ``Scalar`` is a
number traced as a 0-d array (float64, int64, bool or complex128, by its Python kind), so that a
changing learning rate never compiles anything anew; left at its default it arrives as the plain
Python default. Positional or keyword-only is spelled as in the public signature. Where that puts a
tensor after a static argument (``gather(input, dim, index)``), the tensor is annotated ``Tensor``.
A tensor annotated ``Mask`` is broadcast with the others but takes no part in type promotion.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from jaxflow._core import dtype as dtypes
from jaxflow._core.arguments import Integers as Integers
from jaxflow._core.arguments import Number as Number
from jaxflow._core.arguments import kind_of
from jaxflow._core.geometry import Ints, Layout
from jaxflow._core.promotion import can_cast

PROMOTE_KINDS = (
    None,
    "default",
    "int_to_float",
    "always_bool",
    "complex_to_float",
    "bool_to_long",
    "no_opmath",
    "reshaped",
)



def _differ(have: Any, want: Any, operands: tuple) -> bool:
    return have is not want


class Out:
    """What an op requires of a tensor given as ``out=``.

    Args:
        text: the words that refuse a dtype, with ``{result}`` and ``{out}`` as `scalar_name` has them,
            ``{result_c}`` and ``{out_c}`` as C does, ``{result_is_int}`` as a bool for int32;
            empty where every dtype is taken that results cast to.
        error: the exception's class.
        refuses: whether a result's dtype may not go into ``out``'s: a function of the two and of the
            operands. By default every dtype but the result's own is refused.
        casts: every dtype is taken, also one that loses the fraction.
        follows: the op computes in ``out``'s dtype, as if it were given as ``dtype=``; or the op of this name
            does, which has a ``dtype`` where the public one has none.
        resizes: a tensor of another shape is resized without a warning; ``"refused"``: one that requires grad
            is refused, of whatever shape it is.
        rows: one of another shape that has elements, or another dtype, lies row by row afterwards, whatever
            ``columns`` says.
        copied: so does every one of another shape; or a function of the operands: whether it does.
        before: another rule, whose words about dtypes come first; with ``follows`` it is applied to the
            operand's dtype before anything is computed, and for operands gets the call's positional arguments
            and the names of the others.
        lost: operands may require grad. So does ``out`` then, but backward through it raises.
        recorded: operands and ``out`` may require grad, and backward goes through: PyTorch copies the result.
        kind: a dtype of the result's kind, where a tensor of another kind is refused before the call is
            looked at, in the words of ``before`` or ``text``; or a function of the first operand's dtype,
            None where that one is refused first.
        needs: the second parameter, which a call with ``out=`` has to give though others need not.
        tensors: the first operand may be no plain number.
        dtype: the result's dtype as a function of the first operand's and the static arguments, of an op that
            does not promote but whose ``out=`` is refused before its kernel is looked for.
        first: ``text`` is said of the first operand's dtype, or of the result's where there is none, before
            anything else is looked at; or a rule that is applied then.
        composed: the operation of which PyTorch composes the function. It is what refuses operands that
            require grad, and ``out`` that does, once the operands were found to fit; with ``lost`` it refuses
            ``out`` alone.
        reshaped: another rule, for a tensor of another shape than the result's.
    """

    __slots__ = ("before", "casts", "composed", "copied", "dtype", "error", "first", "follows", "kind",
                 "lost", "needs", "recorded", "refuses", "reshaped", "resizes", "rows", "tensors",
                 "text")

    def __init__(self, text: str = "", *, error: type[Exception] = RuntimeError,
                 refuses: Callable[..., bool] = _differ, casts: bool = False,
                 follows: bool | str = False, resizes: bool | str = False, rows: bool = False,
                 copied: bool | Callable[..., bool] = False, before: Out | None = None,
                 lost: bool = False, recorded: bool = False,
                 kind: Any = None, needs: str = "", tensors: bool = False,
                 dtype: Callable[..., Any] | None = None, first: Any = False, composed: str = "",
                 reshaped: Out | None = None) -> None:
        self.text, self.error, self.refuses = text, error, refuses
        self.casts, self.follows, self.resizes = casts or bool(follows), follows, resizes
        self.rows, self.copied = rows, copied
        self.before, self.lost, self.recorded = before, lost, recorded
        self.kind, self.needs, self.tensors, self.dtype = kind, needs, tensors, dtype
        self.first, self.composed, self.reshaped = first, composed, reshaped


#: The words in which most kernels refuse an ``out=`` of another dtype than their result's.
EXACT = Out("Expected out tensor to have dtype {result_c}, but got {out_c} instead")
#: Those of elementwise kernels that do not cast.
FOUND = Out("Found dtype {out} but expected {result}")
#: Those of an accessor of elements.
EXPECTED = Out("expected scalar_type {result} but found {out}")


def uncastable(have: Any, want: Any, operands: tuple) -> bool:
    """Whether results of dtype ``have`` cannot be cast to ``want``: what `Out` may refuse."""
    return not can_cast(have, want)


def castable(name: str, what: str = "result", **how: Any) -> Out:
    """The rule of functions of matrices whose results go into every dtype that they can be cast to."""
    return Out(
        f"{name}: Expected {what} to be safely castable from {{result}} dtype, but got {what} with dtype "
        "{out}",
        refuses=uncastable,
        **how,
    )


class Underived:
    """Which calls of an op have no derivative, and what their backward raises.

    Args:
        error: the exception's class; None where backward raises nothing and gives no gradient, as it does
            where PyTorch's formula leaves it undefined.
        text: its words.
        which: a function of the node's inputs, plain numbers among them, and of whether the op was written
            into its first operand; by default all calls.
        forward: the words of the NotImplementedError that a tangent raises; by default what backward raises.
        operand: the number of the operand that has no derivative while the others have; by default none has.
        otherwise: another `Underived`, for the calls that this one lets through.
        of: places of operands and dtypes that PyTorch's formula refuses there (None: a plain number); one
            must be as it says. With ``out=`` such an op is refused what it records, as any other that has a
            derivative.
        formula: instead of ``text``, ``which`` and ``of``, where backward alone refuses: a function of the
            dtypes of the node's inputs (None for a plain number) and of the result's aval that gives the
            words, with ``{sizes}`` for the result's, or none where there is a derivative.
    """

    __slots__ = ("error", "formula", "forward", "of", "operand", "otherwise", "text", "which")

    def __init__(self, error: type[Exception] | None, text: str,
                 which: Callable[[Sequence, bool], bool] = lambda inputs, inplace: True,
                 forward: str = "", operand: int | None = None,
                 otherwise: Underived | None = None, of: tuple[tuple[int, dtypes.dtype], ...] = (),
                 formula: Callable[[list, Any], str] | None = None) -> None:
        self.error, self.text, self.which, self.forward = error, text, which, forward
        self.operand, self.otherwise = operand, otherwise
        self.of, self.formula = of, formula

    def of_dtypes(self, operands: Sequence) -> bool:
        """Whether one of these operands, or of their kinds, is as ``of`` says."""
        return any(getattr(operands[k], "dtype", None) is dtype for k, dtype in self.of)

    def of_tangents(self, inplace: bool) -> Exception:
        """What a call raises whose operands have tangents."""
        kind: Any = self.error
        text = self.text
        if self.forward:
            kind, text = NotImplementedError, self.forward
        return kind(text.replace("{_}", "_" * inplace))


#: Said of a complex gradient of what is real.
COMPLEX_GRADIENT = (
    "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be true, but "
    "got false.  (Could this error message be improved?  If so, please report an enhancement request to "
    "PyTorch.)"
)


def complex_gradients(*places: int) -> Underived:
    """No derivative of what is real in these places, beside a complex tensor: PyTorch's would be complex."""

    def formula(place: int) -> Callable[[list, Any], str]:
        def said(found: list, result: Any) -> str:
            own = found[place]
            refused = own is not None and not own.is_complex and any(f and f.is_complex for f in found)
            return COMPLEX_GRADIENT if refused else ""

        return said

    first, *others = places
    return Underived(RuntimeError, "", operand=first, formula=formula(first),
                     otherwise=complex_gradients(*others) if others else None)


#: What is there for no gradient at all: a leaf's ``.grad`` stays None.
UNDEFINED = Underived(None, "")


class Undefined(Underived):
    """Which gradients of an op PyTorch's formula leaves undefined, while it gives the others.

    Args:
        operands: a function of the kinds of the node's inputs: the numbers of those that get no gradient.
        results: a function of the results' avals: the numbers of those whose own gradients count for nothing
            where no other result has one.
    """

    __slots__ = ("operands", "results")

    def __init__(self, operands: Callable[[Sequence], tuple[int, ...]] | None = None,
                 results: Callable[[Sequence], tuple[int, ...]] | None = None) -> None:
        super().__init__(None, "")
        self.operands, self.results = operands, results


def in_place(error: type[Exception], text: str,
             which: Callable[[Sequence], bool] = lambda inputs: True, forward: str = "") -> Underived:
    """`Underived` of calls that are written into their first operand, those ``which`` holds for."""
    return Underived(error, text, lambda inputs, inplace: inplace and which(inputs), forward)


class Operand(NamedTuple):
    """What the layout of a result may depend on of an operand."""

    size: Ints
    stride: Ints
    dtype: Any

    @property
    def layout(self) -> Layout:
        """Size and strides."""
        return self.size, self.stride


class Always:
    """A layout that is computed even where all operands are contiguous, as the result may not be."""

    __slots__ = ("strides",)

    def __init__(self, strides: Callable[..., Ints | None]) -> None:
        self.strides = strides

    def __call__(self, operands: Sequence[Operand | None], shape: Ints, **static: Any) -> Ints | None:
        """Strides of a result of this ``shape``, None if it is contiguous."""
        return self.strides(operands, shape, **static)


TENSOR, TENSORS, SCALAR, STATIC = "tensor", "tensors", "scalar", "static"

_POINTWISE_VARIANTS = "function method inplace out"
_PLAIN_VARIANTS = "function method out"


class Scalar:
    """Annotation of a number that is traced instead of baked into the program's key."""


class RealScalar(Scalar):
    """Annotation of such a number that cannot be complex, whatever the operands are."""


class Element(Scalar):
    """Annotation of such a number that may be given as a tensor too, whose gradient counts."""


class Tensor:
    """Annotation of a tensor parameter that the public signature puts after a static one."""


class Mask(Tensor):
    """Annotation of a tensor parameter that type promotion neither counts nor casts."""


class Param:
    """One parameter of an op: its name, kind, default, and whether it is keyword-only.

    ``by_name`` says that the body takes it as a keyword argument, ``promotes`` that its dtype counts,
    ``takes`` which values it takes, a key of `KINDS`, or None where nothing is declared.
    """

    __slots__ = ("by_name", "default", "keyword_only", "kind", "name", "promotes", "takes")

    empty = inspect.Parameter.empty  # the default of a required parameter

    def __init__(self, name: str, kind: str, default: Any, keyword_only: bool,
                 by_name: bool = False, promotes: bool = True, takes: str | None = None) -> None:
        self.name, self.kind, self.default, self.keyword_only = name, kind, default, keyword_only
        self.by_name, self.promotes, self.takes = by_name, promotes, takes


_TRACED = (Scalar, "Scalar", RealScalar, "RealScalar", Element, "Element")


def _classify(fn: Callable) -> tuple[Param, ...]:
    params = []
    for p in inspect.signature(fn).parameters.values():
        if p.name == "key":
            continue
        if p.kind is p.POSITIONAL_ONLY:
            kind = TENSOR
        elif p.kind is p.VAR_POSITIONAL:
            kind = TENSORS
        elif p.annotation in _TRACED:
            kind = SCALAR
        elif p.annotation is Tensor or p.annotation == "Tensor":
            kind = TENSOR
        else:
            kind = STATIC
        default = () if p.kind is p.VAR_POSITIONAL else p.default
        by_name = p.kind not in (p.POSITIONAL_ONLY, p.VAR_POSITIONAL)
        promotes = p.annotation is not Mask and p.annotation != "Mask"
        takes = kind_of(p.annotation)
        params.append(Param(p.name, kind, default, p.kind is p.KEYWORD_ONLY, by_name, promotes, takes))
    # A list of tensors comes first in Python's signature only as ``*tensors``; publicly it is one
    # ordinary positional argument, and what follows it may be positional too.
    return tuple(params)


def camel(name: str) -> str:
    """``soft_clip`` as ``SoftClip``."""
    return "".join(part[:1].upper() + part[1:] for part in name.strip("_").split("_"))


class Op:
    """The record of one operation; see :func:`op` for what the fields mean."""

    __slots__ = (
        "aliases",
        "apart",
        "broadcast",
        "check",
        "columns",
        "complex_grad",
        "differentiable",
        "doc",
        "factors",
        "fn",
        "grad_name",
        "guard",
        "guarded",
        "inplace_grad_name",
        "residual_outputs",
        "layout",
        "method_name",
        "moves",
        "name",
        "namespace",
        "numbers",
        "operators",
        "out",
        "older_plans",
        "overloads",
        "params",
        "plans",
        "promote",
        "random",
        "recomputes",
        "returns",
        "saves",
        "static_names",
        "underived",
        "variants",
        "view",
        "wide",
        "wide_number",
        "written",
    )

    def __init__(self, fn: Callable, name: str, **fields: Any) -> None:
        self.fn = fn
        self.name = name
        self.doc = inspect.getdoc(fn) or ""
        self.params = _classify(fn)
        self.static_names = tuple(p.name for p in self.params if p.kind == STATIC)
        self.plans: dict = {}  # by kinds and static arguments; `plans` fills it
        self.older_plans: dict = {}  # of the generation before: NOTE [What is kept]
        for field, value in fields.items():
            setattr(self, field, value)

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return self.doc.partition("\n")[0]

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    def named(self, static: tuple) -> dict[str, Any]:
        """The static arguments by their names."""
        return dict(zip(self.static_names, static, strict=True))


# Namespaces that stand in a function's name in PyTorch's errors.
_SPELLED = ("fft", "linalg", "special")


def spelled(name: str, op: Op | None) -> str:
    """How PyTorch's errors call the function ``name`` of an op."""
    return f"{op.namespace}_{name}" if op is not None and op.namespace in _SPELLED else name


OPS: dict[str, Op] = {}


def op(
    promote: str | Callable[..., str] | None = None,
    *,
    name: str | None = None,
    broadcast: bool | None = None,
    variants: str | None = None,
    namespace: str = "",
    method_name: str | None = None,
    aliases: Sequence[str] = (),
    operators: str = "",
    grad_name: str | Callable[..., str] | None = None,
    inplace_grad_name: str | None = None,
    underived: Underived | None = None,
    complex_grad: bool | str = True,
    differentiable: bool | tuple[bool, ...] = True,
    saves: str | tuple[str, ...] | Callable[..., str | tuple[str, ...]] = "input",
    returns: Sequence[str] = (),
    random: bool = False,
    recomputes: bool | tuple[str, ...] = False,
    residual_outputs: tuple[int, ...] = (),
    layout: str | Callable[..., tuple[int, ...] | None] | None = None,
    columns: tuple[int, ...] | Callable[..., tuple[int, ...]] = (),
    check: Callable[..., Exception | None] | None = None,
    guard: Callable[..., None] | None = None,
    guarded: Callable[..., bool] | None = None,
    numbers: str = "",
    factors: str = "",
    wide: str = "",
    wide_number: str = "",
    out: Out | str | tuple[Out, ...] | None = None,
    apart: bool | str = False,
    moves: Callable[..., tuple[int, ...] | None] | None = None,
) -> Callable[[Callable], Op]:
    """Declare an op.

    Args:
        promote: named kind of type promotion that is applied to all tensor operands before the body
            sees them; ``None`` leaves them as they are. Where the kind depends on a static argument
            (``div``'s ``rounding_mode``), a function of the static arguments that returns it.
        broadcast: broadcast all tensor operands against each other first (default: when promoting).
        variants: which public forms exist, out of ``function method inplace out``.
        namespace: where the function is published, relative to the package (``"nn.functional"``).
        method_name: the method's name where it differs from the function's; also the named tuple's.
        aliases: further public names of the same op.
        operators: dunder methods it implements (reflected ones swap the two operands, mostly).
        grad_name: PyTorch's node name; derived from ``name`` by default. Where it depends on the call, a
            function of ``numbers`` (for each dynamic argument, whether it is a Python number) and the
            static arguments.
        inplace_grad_name: the name of the node of the in-place form, where PyTorch has another for it.
        underived: an :class:`Underived`, where PyTorch's node raises instead of giving a derivative.
        complex_grad: ``False`` where PyTorch refuses calls out of place whose result is complex and would
            require grad; or the name it has there, where that is another.
        differentiable: ``False`` for ops whose results never require grad; of several results, one bool each.
        saves: what PyTorch keeps for backward: ``"input"`` (default) the inputs that our formula reads,
            ``"steps"`` (those of them that a composition of PyTorch's operations holds), ``"result"``,
            ``"both"``, ``"own"`` (only what it made itself, which nobody overwrites) or
            ``"none"``. Where our formula reads others, a tuple of their names, ``"result"`` among them; what
            only some of the gradients are computed from says so (``"tensor1 for tensor2"``).
            Where it depends on the call, a function of the dynamic arguments' kinds (of their dtypes alone:
            a family of plans shares the answer) and the static arguments. The version check and what a
            freed graph refuses depend on it, nothing else.
        returns: field names where the public result is a named tuple.
        random: the body takes a ``key`` keyword, given by the Generator.
        recomputes: backward computes the forward's intermediate results again, late, rather than sharing
            them; or the names of the operands from which it computes late; see NOTE [What backward keeps].
        residual_outputs: numbers of the results that backward reads instead of computing them again: of ops
            whose forward is costly, such as scans. The body returns them as they come out of what computes
            them. With them ``saves`` names the operands that PyTorch keeps.
        layout: ``"preserve"`` when the result keeps the operands' memory order, as pointwise ops do;
            ``"like"`` when it keeps that of the first; ``"channels"`` when it lies channels last where the
            first does, ``"joined"`` where all do; ``"contiguous"`` (the default of what is not pointwise)
            when it does not depend on them. Where it is another, a function of the operands (as `Operand`,
            None for one that is no tensor), a result's shape and the static arguments, that returns the
            strides or None; an `Always` of it where the result may lie otherwise though all operands are
            contiguous.
        columns: numbers of the results whose matrices lie column by column, as LAPACK leaves them; or a
            function of the static arguments that returns them.
        check: called with each operand's ``(dtype, kind)`` before promotion, to refuse what promotion
            would hide (``1 - mask``); or to return what is raised of shapes that fit.
        guard: called as ``guard(watch, dynamic, static)`` by the public forms, to refuse values (an index
            out of range) that the body, which sees shapes alone, cannot. ``watch.within`` checks a range, now
            or when the values are computed; ``watch.known(tensor)`` is its NumPy array, or None while it is
            pending.
        guarded: whether there is anything to check, where that depends on the static arguments: a function of
            them.
        numbers: which tensor parameters may be Python numbers instead (not all at once), or ``"all"``.
            Ops without public forms take numbers anywhere.
        factors: what has to hold the numbers among the arguments, which are all factors: ``"rounded"``, the
            dtype that the operands are promoted to, to which they are rounded; ``"wide"``, that of the
            computation.
        wide: the operand that, where it is a number or has one element, the kernel of half precisions takes
            with all its digits, to compute in float32; others are rounded as promotion says.
        wide_number: the operand of which that holds where it is a number only.
        out: what is required of a tensor given as ``out=``: an :class:`Out` (of several results, one each
            where they differ), or the words that refuse every dtype but the result's. Without, dtypes are
            taken that the result may be cast to.
        apart: ``out=`` may share no memory with an operand; ``"input"`` where only the first counts, and it
            may be that itself; ``"others"`` where the first does not count. Ops that promote are written
            element by element, and may be so with all.

    Raises:
        ValueError: when the name was declared before, or an option is unknown.
    """
    if not callable(promote) and promote not in PROMOTE_KINDS:
        raise ValueError(f"unknown promotion kind {promote!r}")
    if isinstance(saves, str) and saves not in ("input", "steps", "result", "both", "own", "none"):
        raise ValueError(f"unknown saves {saves!r}")
    pointwise = promote is not None if broadcast is None else broadcast

    def declare(fn: Callable) -> Op:
        op_name = name or fn.__name__
        if op_name in OPS:
            raise ValueError(f"op {op_name!r} is declared twice")
        if isinstance(saves, tuple) and not {"result", "for", *inspect.signature(fn).parameters} >= {
                *" ".join(saves).split()}:
            raise ValueError(f"op {op_name!r} has no operands {saves!r} to save")
        record = Op(
            fn,
            op_name,
            promote=promote,
            broadcast=pointwise,
            variants=frozenset((variants if variants is not None else (
                _POINTWISE_VARIANTS if pointwise else _PLAIN_VARIANTS)).split()),
            namespace=namespace,
            method_name=method_name or op_name,
            aliases=tuple(aliases),
            operators=tuple(operators.split()),
            grad_name=grad_name or camel(op_name) + "Backward0",
            inplace_grad_name=inplace_grad_name,
            underived=underived,
            complex_grad=complex_grad,
            differentiable=differentiable,
            saves=saves,
            returns=tuple(returns),
            random=random,
            recomputes=recomputes,
            residual_outputs=residual_outputs,
            columns=columns,
            check=check,
            guard=guard,
            guarded=guarded,
            numbers=frozenset(numbers.split()),
            factors=factors,
            wide=wide,
            wide_number=wide_number,
            out=Out(out) if isinstance(out, str) else out,
            apart=apart,
            moves=moves,
            layout=layout or ("preserve" if pointwise else "contiguous"),
            view=None,
            overloads="",
            written=None,
        )
        OPS[op_name] = record
        return record

    return declare


def overload(record: Op, name: str, grad_name: str | Callable[..., str], **fields: Any) -> Op:
    """Declare an op once more, as another overload of PyTorch's: without public forms, under another node.

    PyTorch's own composites multiply by numbers, for example, in an overload that no call from Python takes.

    Raises:
        ValueError: when the name was declared before.
    """
    if name in OPS:
        raise ValueError(f"op {name!r} is declared twice")
    other = copy.copy(record)
    fields |= {"name": name, "grad_name": grad_name, "variants": frozenset(), "aliases": (), "operators": (),
               "plans": {}, "older_plans": {}, "overloads": record.name}
    for field, value in fields.items():
        setattr(other, field, value)
    OPS[name] = other
    return other


def overload_written(record: Op, parameter: str, name: str, grad_name: str, **fields: Any) -> None:
    """Declare the `overload` that PyTorch takes where None, its default, is written out for ``parameter``."""
    record.written = parameter, overload(record, name, grad_name, **fields)

"""``einsum``: reading the equation as PyTorch does; the product itself is one op."""

from __future__ import annotations

import string
from typing import Any

from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.composite import composite
from jaxflow._dispatch.door import apply
from jaxflow._dispatch.op import OPS

_LETTERS = string.ascii_uppercase + string.ascii_lowercase
_DOTS = "..."


class _Order:
    """How the order of several products is found; set through ``jaxflow.backends.opt_einsum``."""

    enabled, strategy = True, "auto"


ORDER = _Order()


def _order(count: int) -> str | tuple:
    """The strategy, or the pairs to contract one after the other (each product goes to the end)."""
    if count < 3 or ORDER.enabled:
        return "auto" if count < 3 else ORDER.strategy
    return ((0, 1), *((0, left - 1) for left in range(count - 1, 1, -1)))


@composite("function")
def einsum(*args: Any) -> Tensor:
    """Sum of products of the operands, written in index notation.

    Called as ``einsum("ij,jk->ik", a, b)`` or ``einsum(a, [0, 1], b, [1, 2], [0, 2])``. Without
    ``->`` the result has the letters that appear once, in alphabetical order; ``...`` stands for
    dimensions that broadcast. A single operand that is neither summed nor repeated gives a view.

    Raises:
        RuntimeError: for an equation that cannot be read and for sizes that do not fit.
        ValueError: when equation and operands do not match in number.
    """
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one "
            "operand and its subscripts list"
        )
    equation, operands = _from_lists(args) if isinstance(args[0], Tensor) else (args[0], args[1:])
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    for i, operand in enumerate(operands):
        if not isinstance(operand, Tensor):
            raise TypeError(
                f"expected Tensor as element {i} in argument 1, but got {type(operand).__name__}"
            )
    terms, output, arrow = _read(equation, operands)
    terms, output = _name_ellipsis(terms, output, operands, arrow)
    operands = list(operands)
    for i, (term, operand) in enumerate(zip(terms, operands)):
        terms[i], operands[i] = _diagonals(i, term, operand)
    sizes = _sizes(terms, operands)
    whole = [c for term in (*map(set, terms), output) for c in term]
    for i, (term, operand) in enumerate(zip(terms, operands)):
        single = [d for d, c in enumerate(term) if operand.shape[d] == 1 and sizes[c] != 1]
        if single:
            operands[i] = operand.squeeze(tuple(single))
            terms[i] = [c for d, c in enumerate(term) if d not in single]
    if len(operands) == 1:
        return _one_operand(terms[0], output, operands[0])
    # An operand reduced alone goes first: PyTorch sums it before the products, integers in int64.
    letters = [c for term in (*map(set, terms), output) for c in term]
    if any(letters.count(c) == 1 for c in letters):
        operands = [t.to(dtypes.int64) if t._aval.dtype.category < dtypes.FLOATING else t for t in operands]
        for i, term in enumerate(terms):
            # One that another operand has too, of size 1, is summed in the product there.
            alone = [d for d, c in enumerate(term) if whole.count(c) == 1]
            if alone:
                operands[i] = operands[i].sum(tuple(alone))
                terms[i] = [c for c in term if whole.count(c) > 1]
    names = {c: _LETTERS[k] for k, c in enumerate(dict.fromkeys(sum(terms, [])))}
    text = ",".join("".join(names[c] for c in term) for term in terms)
    equation = text + "->" + "".join(map(names.get, output))
    return apply(OPS["_einsum"], tuple(operands), (equation, _order(len(operands))))


def _from_lists(args: tuple) -> tuple[str, tuple]:
    """The equation that the form with subscript lists stands for, and the operands."""
    def letter(s: Any) -> str:
        if s is Ellipsis:
            return _DOTS
        if not 0 <= s < len(_LETTERS):
            raise ValueError(
                "einsum(): subscript in subscript list is not within the valid range [0, 52)"
            )
        return _LETTERS[s]

    pairs = len(args) // 2
    operands, lists = args[: 2 * pairs : 2], args[1 : 2 * pairs : 2]
    equation = ",".join("".join(map(letter, subscripts)) for subscripts in lists)
    if len(args) % 2:
        equation += "->" + "".join(map(letter, args[-1]))
    return equation, operands


def _tokens(text: str, start: int, whose: str) -> list[str]:
    """Letters and at most one ellipsis of one term."""
    tokens: list[str] = []
    i = 0
    while i < len(text):
        c = text[i]
        if c == " ":
            i += 1
        elif c == ".":
            if _DOTS in tokens:
                raise RuntimeError(
                    f"einsum(): found '.' for {whose} for which an ellipsis was already found"
                )
            if text[i : i + 3] != _DOTS:
                raise RuntimeError(
                    f"einsum(): found '.' for {whose} that is not part of any ellipsis"
                )
            tokens.append(_DOTS)
            i += 3
        elif c in string.ascii_letters:
            tokens.append(c)
            i += 1
        else:
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {start + i} in the equation string, "
                "subscripts must be in [a-zA-Z]"
            )
    return tokens


def _read(equation: str, operands: tuple) -> tuple[list[list[str]], list[str] | None, bool]:
    """Terms of the operands, the output's term (None without ``->``), and whether there is an
    arrow.
    """
    left, arrow, right = equation.partition("->")
    texts = left.split(",")
    if len(texts) < len(operands):
        raise ValueError(
            f"Number of einsum subscripts, {len(texts)}, must be equal to the number of operands, "
            f"{len(operands)}."
        )
    terms, at = [], 0
    for i, text in enumerate(texts):
        terms.append(_tokens(text, at, f"operand {i}"))
        at += len(text) + 1
    if len(texts) > len(operands):
        raise RuntimeError("einsum(): fewer operands were provided than specified in the equation")
    for i, (term, operand) in enumerate(zip(terms, operands)):
        named = len(term) - (_DOTS in term)
        if _DOTS not in term and named != operand.dim():
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({named}) does not match the "
                "number "
                f"of dimensions ({operand.dim()}) for operand {i} and no ellipsis was given"
            )
        if named > operand.dim():
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({named}) is more than the "
                "number of "
                f"dimensions ({operand.dim()}) for operand {i}"
            )
    if not arrow:
        return terms, None, False
    output = _tokens(right, len(left) + 2, "the output")
    known = {c for term in terms for c in term}
    for k, c in enumerate(output):
        if c != _DOTS and c in output[:k]:
            raise RuntimeError(
                f"einsum(): output subscript {c} appears more than once in the output"
            )
        if c != _DOTS and c not in known:
            raise RuntimeError(
                f"einsum(): output subscript {c} does not appear in the equation for any input "
                "operand"
            )
    return terms, output, True


def _name_ellipsis(terms, output, operands, arrow) -> tuple[list[list[Any]], list[Any]]:
    """Terms with the dimensions of every ellipsis named by number, counted from the right."""
    widths = [operand.dim() - len(term) + 1 if _DOTS in term else 0
              for term, operand in zip(terms, operands)]
    widest = max(widths)
    named = []
    for term, width in zip(terms, widths):
        if _DOTS in term:
            k = term.index(_DOTS)
            term = [*term[:k], *range(widest - width, widest), *term[k + 1 :]]
        named.append(term)
    if not arrow:
        letters = [c for term in terms for c in term if c != _DOTS]
        once = sorted((c for c in set(letters) if letters.count(c) == 1), key=_LETTERS.index)
        return named, [*range(widest), *once]
    if _DOTS in output:
        k = output.index(_DOTS)
        output = [*output[:k], *range(widest), *output[k + 1 :]]
    return named, output


def _diagonals(i: int, term: list, operand: Tensor) -> tuple[list, Tensor]:
    """The operand with repeated letters replaced by diagonals."""
    for c in dict.fromkeys(term):
        while term.count(c) > 1:
            first = term.index(c)
            second = term.index(c, first + 1)
            a, b = operand.shape[first], operand.shape[second]
            if a != b:
                raise RuntimeError(
                    f"einsum(): subscript {c} is repeated for operand {i} but the sizes don't "
                    "match, "
                    f"{b} != {a}"
                )
            operand = operand.diagonal(0, first, second).movedim(-1, first)
            term = [*term[:second], *term[second + 1 :]]
    return term, operand


def _sizes(terms: list[list], operands: list[Tensor]) -> dict:
    sizes: dict = {}
    for i, (term, operand) in enumerate(zip(terms, operands)):
        for c, n in zip(term, operand.shape):
            seen = sizes.get(c, 1)
            if seen != 1 and n not in (1, seen):
                what = f"subscript {c}" if isinstance(c, str) else "dimension of the ellipsis"
                raise RuntimeError(
                    f"einsum(): {what} has size {n} for operand {i} which does not broadcast with "
                    f"previously seen size {seen}"
                )
            sizes[c] = n if seen == 1 else seen
    return sizes


def _one_operand(term: list, output: list, operand: Tensor) -> Tensor:
    summed = [d for d, c in enumerate(term) if c not in output]
    left = [c for c in term if c in output]
    order = [left.index(c) for c in output]
    kept = [d for d, c in enumerate(term) if c in output]
    # permuted first, so that a sum over the rest has the output's order at once
    moved = operand.permute([kept[k] for k in order] + summed)
    if not summed:
        return moved
    return moved.sum(tuple(range(len(order), operand.dim())))

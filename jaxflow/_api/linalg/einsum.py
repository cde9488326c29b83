"""``einsum``: the equation is read and the operands are multiplied in pairs as in PyTorch.

Where something is summed it is a product of stacks of matrices, one op here; the result is a view of that.
"""

from __future__ import annotations

import functools
import string
from typing import Any, NamedTuple

import opt_einsum

from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._dispatch.viewing import apply_view
from jaxflow._plans.op import OPS
from jaxflow._publish.composite import composite

_LETTERS = string.ascii_uppercase + string.ascii_lowercase
_DOTS = "..."


class _Order:
    """How the order of several products is found; set through ``jaxflow.backends.opt_einsum``."""

    enabled, strategy = True, "auto"


ORDER = _Order()


def _order(equation: str, shapes: tuple) -> tuple:
    """The pairs to multiply one after the other, by their places; each product goes to the end."""
    count = len(shapes)
    if count == 2:
        return ((0, 1),)
    if ORDER.enabled:
        return _found_order(equation, shapes, ORDER.strategy)
    return ((0, 1), *((left - 1, 0) for left in range(count - 1, 1, -1)))


@functools.lru_cache(maxsize=1024)
def _found_order(equation: str, shapes: tuple, strategy: str | None) -> tuple:
    """The pairs that opt_einsum finds."""
    found, _ = opt_einsum.contract_path(equation, *shapes, shapes=True, optimize=strategy)
    return tuple([tuple(sorted(pair)) for pair in found])


@composite("function")
def einsum(*args: Any) -> Tensor:
    """Sum of products of the operands, written in index notation.

    Called as ``einsum("ij,jk->ik", a, b)`` or ``einsum(a, [0, 1], b, [1, 2], [0, 2])``. Without
    ``->`` the result has the letters that appear once, in alphabetical order; ``...`` stands for
    dimensions that broadcast. A single operand that is neither summed nor repeated gives a view.

    ``einsum("ij,jk->ik", a, b)`` is ``result[i, k] = sum over j of a[i, j] * b[j, k]``: what is not in the
    result is summed over. A letter twice in one term takes the diagonal.

    Args:
        *args: the equation and the operands, also as one list; or each operand followed by the list of its
            subscripts (numbers from 0 to 51, or ``...``), and last the list of those of the result, if
            wanted.

    Returns:
        A tensor with one dimension for each letter of the result; a view only as said above.

    Raises:
        RuntimeError: for an equation that cannot be read and for sizes that do not fit.
        ValueError: when equation and operands do not match in number.
        TypeError: for an operand that is no tensor.

    Example:
        >>> a = torch.tensor([[1, 2], [3, 4]])
        >>> torch.einsum("ij,j->i", a, torch.tensor([1, 10]))
        tensor([21, 43])
        >>> torch.einsum("ii", a)  # the trace
        tensor(5)
        >>> torch.einsum("...ij,...jk->...ik", torch.ones(5, 2, 3), torch.ones(3, 4)).shape
        torch.Size([5, 2, 4])
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
    shapes = tuple([operand._aval.shape for operand in operands])
    terms, output = _name_ellipsis(terms, output, operands, arrow)
    operands = list(operands)
    for i, (term, operand) in enumerate(zip(terms, operands)):
        terms[i], operands[i] = _diagonals(i, term, operand)
    _check_sizes(terms, operands)
    if len(operands) == 1:
        return _one_operand(terms[0], output, operands[0])
    return _products(terms, operands, output, _order(equation, shapes))


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


def _check_sizes(terms: list[list], operands: list[Tensor]) -> None:
    """Refuse sizes of one letter that do not broadcast."""
    sizes: dict = {}
    for i, (term, operand) in enumerate(zip(terms, operands)):
        for c, n in zip(term, operand._aval.shape):
            seen = sizes.get(c, 1)
            if seen != 1 and n not in (1, seen):
                what = f"subscript {c}" if isinstance(c, str) else "dimension of the ellipsis"
                raise RuntimeError(
                    f"einsum(): {what} has size {n} for operand {i} which does not broadcast with "
                    f"previously seen size {seen}"
                )
            sizes[c] = n if seen == 1 else seen


class _Factor(NamedTuple):
    """An operand or what was computed of some, and the size of each letter in the order of its dimensions."""

    x: Tensor
    sizes: dict
    computed: bool = True


def _products(terms: list[list], operands: list[Tensor], output: list, order: tuple) -> Tensor:
    """The operands multiplied in pairs, each letter summed in the last product that has it.

    What was summed stays as a dimension of size 1, and a view without those dimensions is returned.
    """
    letters = {c for term in terms for c in term}.difference(output)
    rest = sorted(letters, key=lambda c: (1, _LETTERS.index(c)) if isinstance(c, str) else (0, c))
    every = (*output, *rest)
    waiting = [_Factor(x, dict(zip(term, x._aval.shape)), False) for term, x in zip(terms, operands)]
    counts = {c: sum(f.sizes.get(c, 1) != 1 for f in waiting) for c in rest}
    for i, j in order:
        pair, summed, alone = [waiting[i], waiting[j]], [], ([], [])
        for c in rest:
            long = [f.sizes.get(c, 1) != 1 for f in pair]
            if all(long):
                counts[c] -= 1
                if counts[c] == 1:
                    summed.append(c)
                    counts[c] = 0
            elif any(long) and counts[c] == 1:
                alone[long.index(True)].append(c)
                counts[c] = 0
        for k, own in enumerate(alone):
            if own:
                x = _turned(pair[k], every).sum([every.index(c) for c in own], keepdim=True)
                pair[k] = _Factor(x, dict(zip(every, x._aval.shape)))
        product = _summed(*pair, every, summed) if summed else _spread(*pair, every)
        waiting = [w for k, w in enumerate(waiting) if k not in (i, j)] + [product]
    (result,) = waiting
    if not rest:
        return result.x
    shape = tuple([result.sizes[c] for c in output])
    return apply_view("view", _turned(result, every), (shape,))


def _spread(a: _Factor, b: _Factor, order: tuple) -> _Factor:
    """The product of two operands of which nothing is summed, with a dimension for every letter."""
    result = _turned(a, order) * _turned(b, order)
    return _Factor(result, dict(zip(order, result._aval.shape)))


def _turned(factor: _Factor, order: tuple) -> Tensor:
    """A view with a dimension for every letter, in this order; what was computed so is given as it is.

    Of an operand it is a view in any case: that is what PyTorch's node saves. NOTE [Given other memory].
    """
    x, have = factor.x, [*factor.sizes]
    for c in order:
        if c not in factor.sizes:
            x = apply_view("unsqueeze", x, (len(have),))
            have.append(c)
    if factor.computed and have == [*order]:
        return x
    return apply_view("permute", x, (tuple([have.index(c) for c in order]),))


def _summed(a: _Factor, b: _Factor, order: tuple, summed: list) -> _Factor:
    """The product of two operands with the letters ``summed`` summed: a view of a stack of matrices.

    Its dimensions are the letters of both, those of the first alone, what was summed, and the others. Where
    all of the last come before the second in ``order``, the operands change their places.
    """
    groups: tuple = ([], [], [])
    for c in order:
        if c not in summed:
            groups[2 if a.sizes.get(c, 1) == 1 else int(b.sizes.get(c, 1) == 1)].append(c)
    both, first, second = groups
    if first and second and order.index(second[-1]) < order.index(first[0]):
        a, b, first, second = b, a, second, first
    (x, mine, _), (y, others, _) = a, b
    names = dict(zip(order, _LETTERS))
    kept = [tuple([d for d, n in enumerate(sizes.values()) if n != 1]) for sizes in (mine, others)]
    left, right = ("".join([names[c] for c, n in sizes.items() if n != 1]) for sizes in (mine, others))
    parts = ["".join([names[c] for c in group if names[c] in left + right])
             for group in (both, first, second)]
    ranks = len(parts[0]), len(parts[1])
    result = apply(OPS["_einsum_pair"], (x, y), (f"{left},{right}->{''.join(parts)}", *kept, ranks))
    sizes = {c: n if (n := mine.get(c, 1)) != 1 else others.get(c, 1) for c in (*both, *first)}
    sizes |= dict.fromkeys(summed, 1) | {c: others.get(c, 1) for c in second}
    return _Factor(apply_view("view", result, (tuple(sizes.values()),)), sizes)


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

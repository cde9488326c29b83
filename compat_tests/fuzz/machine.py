"""Running a program in a mode, and telling what is wrong from what rounding makes of a discontinuity.

NOTE [Line by line]
    Two right results differ in their last bits, and ``floor`` or an index makes a whole number of that. So
    where the values of two runs differ, the program is run on both libraries line by line: after each line
    torch's numbers are made those of jaxflow, so that the next line begins with the same ones on both, and
    is judged alone. A line that differs then is wrong. Where none does, the first run has to be what the
    lines gave one by one: numbers that nobody looked at in between are no others for it.
"""

import concurrent.futures
import contextlib
import dataclasses
import functools
import re
import warnings

import torch

import jaxflow
from compat_tests.exact import Twins
from jaxflow._core import flags

from .compare import KINDS, beyond_subnormals, first_difference
from .draw import overlaps_itself
from .faults import specified
from .interpret import Facts, fresh_space, run, steps, tensors
from .program import Instruction

#: ``interpreter`` and ``compiled`` record in a thread of their own, which no program before has made
#: cautious; ``at_once`` goes on in that of the programs before, which has mostly stopped recording: NOTE [Run
#: at once].
MODES = ("interpreter", "compiled", "eager", "at_once")


@contextlib.contextmanager
def running(mode):
    """The executor of a mode: programs interpreted (as long as that pays), compiled, or no programs."""
    interpret, flags.INTERPRET = flags.INTERPRET, mode in ("interpreter", "at_once")
    try:
        with jaxflow.execution("eager" if mode == "eager" else "deferred"):
            yield
    finally:
        flags.INTERPRET = interpret


@dataclasses.dataclass(frozen=True)
class Wrong:
    """A difference: in which round of sizes, what, and whether it shows when lines are run one by one."""

    round: int
    sizes: dict
    difference: object
    how: str

    @property
    def kind(self):
        """What is different, in a word."""
        return self.difference.kind

    def __str__(self):
        return f"with {self.sizes} ({self.how}), {self.difference}"


def first_wrong(program, rounds, mode, kinds=KINDS):
    """The first thing that jaxflow does otherwise than torch, as `Wrong`; None if there is none.

    ``kinds`` are the kinds of facts that are compared, of `compare.KINDS`.
    """
    kinds = specified(program, kinds)
    if mode in ("compiled", "eager"):
        return beyond_subnormals(lambda: _first_wrong(program, rounds, mode, kinds))
    return _first_wrong(program, rounds, mode, kinds)


def _first_wrong(program, rounds, mode, kinds):
    found = _all_rounds(program, rounds, mode)
    for k, sizes in enumerate(rounds):
        expected = run(program, torch, sizes=sizes)
        exact = functools.cache(lambda sizes=sizes: _exact(program, sizes))
        difference = first_difference(expected, found[k], exact, kinds)
        if difference is None or _late(difference, expected, found[k]):
            continue
        if difference.kind not in ("values", "grad", "access", "error"):
            return Wrong(k, sizes, difference, "as it runs")
        alone, log = line_by_line(program, sizes, mode, kinds)
        if alone is not None:
            return Wrong(k, sizes, alone, "line by line")
        alike = found[k][:len(log)]
        unread = first_difference(log, alike, kinds=kinds)
        if unread is not None and not _late(unread, log, alike) and not _of_bits(unread, program):
            return Wrong(k, sizes, unread, "other than line by line")
    return None


def _late(difference, one, other):
    """Whether an error of a line in the log ``one`` is raised in ``other`` by what looks at its numbers.

    An operation that looks at numbers nobody has computed yet is recorded here, and refused where they are
    read: NOTE [Faults found late]. What the rest of the round gives then is not compared.
    """
    if difference.kind != "error" or difference.jaxflow is not None:
        return False
    at = next(i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a.error != b.error)
    raised = (fact for entry in other[at:] for fact in (entry.error, *entry.facts.values()))
    return any(difference.torch == fact for fact in raised)


# A view of memory as another type, whose numbers are the bits of those that were there.
_BITS = re.compile(r"\.view\((?:dtype=)?T\.")


# Integers looked at as floating numbers are nan or subnormal among others, whose bits no operation promises
# to keep: what is written through such a view makes other integers of them.
FLOATS_OF_BITS = re.compile(r"\.view\((?:dtype=)?T\.(b?float|complex)")


def _of_bits(difference, program):
    """Whether numbers differ between two right runs after a look at bits, and so at the last ones too."""
    if difference.kind not in ("values", "grad", "access"):
        return False
    codes = [i.code for i in program]
    return any(map(_BITS.search, codes[: codes.index(difference.code) + 1]))


def _all_rounds(program, rounds, mode):
    """jaxflow's logs: all rounds before any is compared, so that what one left behind is there for others."""
    def logs():
        with running(mode):
            return [run(program, jaxflow, sizes=sizes) for sizes in rounds]

    if mode not in ("interpreter", "compiled"):
        return logs()
    with concurrent.futures.ThreadPoolExecutor(1) as fresh:
        return fresh.submit(logs).result()


def _exact(program, sizes):
    with Twins() as twins:
        return run(program, torch, twins.value, sizes)


def line_by_line(program, sizes, mode, kinds=KINDS):
    """The first `Difference` of a line run from the same numbers, and jaxflow's log as far as it went."""
    log = []
    spaces = [{**fresh_space(T), **sizes} for T in (jaxflow, torch, torch)]
    twins, of_bits = Twins(), False
    for instruction in program:
        if not instruction.uses <= spaces[0].keys():
            continue
        looking = Instruction(instruction.code, instruction.makes, True, instruction.fatal)
        with running(mode):
            ((ours, _),) = steps([looking], spaces[0])
        ((theirs, _),) = steps([looking], spaces[1])
        with twins:
            ((exact, _),) = steps([looking], spaces[2], twins.value)
        of_bits = of_bits or FLOATS_OF_BITS.search(instruction.code) is not None
        compared = [_without_integers(entry) if of_bits else entry for entry in (theirs, ours)]
        difference = first_difference(compared[:1], compared[1:], lambda exact=exact: [exact], kinds)
        shown = ours if instruction.looks else _unseen(ours)
        log.append(shown)
        if theirs.undefined:
            break
        if difference is not None:
            return None if _late(difference, [theirs], [ours]) else difference, log
        if ours.error and instruction.fatal:
            break
        _rebase(ours, theirs, spaces[0], spaces[1])
        with twins:
            _rebase(ours, None, spaces[0], spaces[2])
    return None, log


def _without_integers(entry):
    """What happened, without the numbers of integer tensors."""
    facts = {n: dataclasses.replace(f, values=None) if isinstance(f, Facts) and "int" in f.dtype else f
             for n, f in entry.facts.items()}
    return dataclasses.replace(entry, facts=facts)


def _unseen(entry):
    facts = {n: dataclasses.replace(f, values=None, grad=None) if isinstance(f, Facts) else f
             for n, f in entry.facts.items()}
    return dataclasses.replace(entry, facts=facts)


def _rebase(ours, theirs, space, other):
    """Give torch's tensors the numbers of jaxflow's, without a trace."""
    pool = tensors(other)
    for name, fact in ours.facts.items():
        if not isinstance(fact, Facts):
            if name in other and isinstance(fact, (float, complex, list)):
                other[name] = space[name]
            continue
        for numbers, field, t in ((fact.values, "values", pool[name]),
                                  (fact.grad, "grad", pool[name].grad if fact.grad is not None else None)):
            if t is None or numbers is None or not (numbers.is_floating_point() or numbers.is_complex()):
                continue
            if theirs is not None and isinstance(theirs.facts[name], Facts):
                if _identical(getattr(theirs.facts[name], field), numbers):
                    continue
            _overwrite(t, numbers)


def _identical(one, other):
    """Whether the numbers are the same, their signs too: the next line may divide by a zero, or ask a nan."""
    if one.is_complex():
        one, other = (torch.view_as_real(x.resolve_conj()) for x in (one, other))
    return torch.allclose(one, other, 0, 0, equal_nan=True) and torch.equal(one.signbit(), other.signbit())


def _overwrite(t, numbers):
    for dim, (size, stride) in enumerate(zip(t.shape, t.stride(), strict=True)):
        if size > 1 and not stride:
            t, numbers = t.detach().narrow(dim, 0, 1), numbers.narrow(dim, 0, 1)
    if overlaps_itself(t) or t._is_zerotensor():  # which nothing can be written into
        return
    with torch.inference_mode(t.is_inference()), warnings.catch_warnings():
        (t if t.is_inference() else t.data).copy_(numbers)

"""Handing arguments over to XLA, in one C call.

NOTE [One hand-over]
    Donated arrays are gone when XLA has been called, and what it returns is all there is. So the call and the
    store of what it returns are one C call, in which nothing gets in between (NOTE [One C call]); it begins
    with a look at the list of answers, for a finalizer may have closed the program while another
    one was gathering the arguments.

    This holds where the call is C++ all the way. jax's compiled functions are (``PjitFunction``), once they
    were called with arguments of the same kinds, host or device arrays, committed to a device or not, under
    the same settings of jax. The first call with others goes through Python, which can be interrupted;
    then copies are donated, and the arrays themselves are kept until the results are there. A function whose
    first call did not come back goes through Python for ever. So each kind of call has a function of its
    own, which is kept once it came back. Where jax has no such function, arrays are never donated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, repeat, starmap
from typing import Any

import jax
import numpy as np

from jaxflow._core import flags
from jaxflow._core.commit import Overtaken, all_equal, commit_results
from jaxflow._core.jax_compat import trace_context

from . import fitting


class HandedOver(Exception):
    """The program ran already."""


class Entrance:
    """A compiled function, and what is known of the ways into it.

    Attributes:
        compiled: jax's.
        device: where it runs.
        need: the bytes that a run takes, where they are many: NOTE [Looked at before the hand-over].
        known: its C++ functions, by the kinds of arguments with which the call is C++ all the way.
        free: what to call where nothing is given away.
    """

    __slots__ = ("compiled", "device", "free", "known", "need")

    def __init__(self, compiled: Any, device: Any) -> None:
        self.compiled, self.device = compiled, device
        self.need = fitting.need_of(compiled)
        self.free: Callable[..., list] = compiled
        self.known: dict[tuple, Callable[..., list]] = {}

    def run(self, donated: list, kept: list, numbers: Sequence, about: Any, answers: list,
            original: int | None = None) -> None:
        """Put ``about`` and the arrays that come back into ``answers``. HandedOver if something is there.

        Raises OutOfMemoryError, having done nothing, where what it takes is not free. The first ``original``
        of the ``donated`` arrays (all, by default) are somebody's: they are the ones to keep where an
        interrupt could get in.
        """
        if self.need and flags.CHECK_MEMORY:
            fitting.check(self.need, self.device, (donated, kept))
        if not donated:
            hand_over(self.free, ([], kept, *numbers), about, answers)
            self._find_free()
            return
        kinds = kinds_of(donated, kept, numbers)
        function = self.known.get(kinds)
        if function is not None:
            hand_over(function, (donated, kept, *numbers), about, answers)
            return
        count = len(donated) if original is None else original
        donated = [*map(copied, donated[:count]), *donated[count:]]
        function = self._made()
        hand_over(function or self.compiled, (donated, kept, *numbers), about, answers)
        if function is not None:
            self.known[kinds] = function

    def direct(self, donated: Sequence, kept: Sequence, numbers: Sequence) -> Callable[..., list] | None:
        """What takes arguments of these kinds in C++ all the way, if that is known."""
        return self.known.get(kinds_of(donated, kept, numbers))

    def _made(self) -> Callable[..., list] | None:
        """A C++ function that has not been called yet; None where jax has none."""
        function = self.compiled._executable.create_cpp_call(self.compiled._params)
        return function if function.__class__.__name__ == "PjitFunction" else None

    def _find_free(self) -> None:
        if self.free is self.compiled:
            self.free = self._made() or self.compiled

    def results(self, kept: list, numbers: Sequence) -> list:
        """The arrays that come back, where nothing is given away."""
        if self.need and flags.CHECK_MEMORY:
            fitting.check(self.need, self.device, kept)
        results = self.free([], kept, *numbers)
        self._find_free()
        return results


def kinds_of(donated: Iterable, kept: Iterable, numbers: Iterable) -> tuple:
    """What decides the way into a call: jax's settings, and of each array whether it is committed.

    None where it is on the host, or not there.
    """
    return trace_context(), *map(_committed, chain(donated, kept, numbers), _NAME, _MISSING)


def hand_over(function: Callable[..., list], arguments: tuple, about: Any, answers: list) -> None:
    """Call ``function``, and put ``about`` and what it returns into ``answers``, in one C call.

    Raises HandedOver, having done nothing, if something is there.
    """
    arrays: list = []
    try:
        commit_results(all_equal(map(len, (answers,)), (0,)),
                     map(arrays.extend, starmap(function, (arguments,))),
                     map(answers.extend, ((about, arrays),)))
    except Overtaken:
        raise HandedOver from None


# The attribute that the public property reads in Python; host arrays have none.
_committed, _NAME, _MISSING = getattr, repeat("_committed"), repeat(None)


def copied(array: Any) -> Any:
    """The array in memory of its own, committed or not as it was; host arrays are not given away."""
    return array if array.__class__ is np.ndarray else jax.device_put(array, may_alias=False)

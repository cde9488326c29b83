"""Handing arguments over to XLA, in one C call.

NOTE [One hand-over]
    Donated arrays are gone when XLA has been called, and what it returns is all there is. So the call and the
    store of what it returns are one C call, in which nothing gets in between (NOTE [One C call]); it begins
    with a look at the list of answers, for a finalizer may have closed the program while another
    one was gathering the arguments.

    This holds where the call is C++ all the way. jax's compiled functions are (``PjitFunction``), once they
    have met the classes of arguments before: host or device arrays, committed to a device or not. At the
    first call with others they go through Python, which can be interrupted; then copies are donated, and the
    arrays themselves are kept until the results are there. Where jax has no such function, arrays are never
    donated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, repeat, starmap
from typing import Any

import jax
import numpy as np

from jaxflow._core import flags
from jaxflow._core.commit import Overtaken, all_equal, commit_results

from . import fitting


class HandedOver(Exception):
    """The program ran already."""


class Entrance:
    """A compiled function, and what is known of the ways into it.

    Attributes:
        compiled: jax's.
        device: where it runs.
        need: the bytes that a run takes, where they are many: NOTE [Looked at before the hand-over].
        direct: its C++ function, once there is one.
        known: the kinds of arguments with which the call is C++ all the way.
    """

    __slots__ = ("compiled", "device", "direct", "known", "need")

    def __init__(self, compiled: Any, device: Any) -> None:
        self.compiled, self.device = compiled, device
        self.need = fitting.need_of(compiled)
        self.direct: Any = None
        self.known: set[tuple] = set()

    def run(self, donated: list, kept: list, numbers: Sequence, about: Any, answers: list,
            original: int | None = None) -> None:
        """Put ``about`` and the arrays that come back into ``answers``. HandedOver if something is there.

        Raises OutOfMemoryError, having done nothing, where what it takes is not free. The first ``original``
        of the ``donated`` arrays (all, by default) are somebody's: they are the ones to keep where an
        interrupt could get in.
        """
        if self.need and flags.CHECK_MEMORY:
            fitting.check(self.need, self.device, (donated, kept))
        kinds = None
        if donated:
            kinds = tuple(kinds_of(chain(donated, kept, numbers)))
            if kinds in self.known:
                kinds = None
            else:
                count = len(donated) if original is None else original
                donated = [*map(copied, donated[:count]), *donated[count:]]
        hand_over(self.direct or self.compiled, (donated, kept, *numbers), about, answers)
        if self.direct is None:
            self._find_direct()
        if kinds is not None and self.direct is not None:
            self.known.add(kinds)

    def knows(self, donated: Sequence, kept: Sequence, numbers: Sequence) -> bool:
        """Whether ``direct`` takes arguments of these kinds in C++ all the way."""
        return self.direct is not None and tuple(kinds_of(chain(donated, kept, numbers))) in self.known

    def _find_direct(self) -> None:
        function = getattr(self.compiled, "_call", None)  # jax makes it at the first call
        if function.__class__.__name__ == "PjitFunction":
            self.direct = function

    def results(self, kept: list, numbers: Sequence) -> list:
        """The arrays that come back, where nothing is given away."""
        if self.need and flags.CHECK_MEMORY:
            fitting.check(self.need, self.device, kept)
        results = (self.direct or self.compiled)([], kept, *numbers)
        if self.direct is None:
            self._find_direct()
        return results


def kinds_of(arrays: Iterable) -> Iterable:
    """What decides the way into a call, of each array: whether it is committed.

    None where it is on the host, or not there.
    """
    return map(_committed, arrays, _NAME, _MISSING)


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

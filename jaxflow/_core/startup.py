"""Garbage collection while the package is imported, and of what it consists of.

NOTE [Objects that stay]
    Importing jax and jaxflow makes some 150,000 objects that live as long as the process: functions, classes,
    modules. The collector looks through them several times while they are made, which takes a seventh of the
    import's processor time, and again in a program's first steps (70 ms), and finds nothing. So it pauses
    during the import, and afterwards they are set aside by ``gc.freeze()``. They are still freed when nothing
    refers to them; only cycles among them are no longer looked for. What was there before is set aside with
    them, so this is done only in a process that has just begun. ``gc.unfreeze()`` takes it back.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

# A bare interpreter has about 10,000 objects, with NumPy 30,000, with jax more than 100,000.
_FEW = 50_000


@contextlib.contextmanager
def made_to_stay() -> Iterator[None]:
    """Collect no garbage inside, and leave what is made there out of later collections."""
    collecting = gc.isenabled()
    begun = len(gc.get_objects()) < _FEW
    try:
        gc.disable()
        yield
        if begun:
            gc.freeze()
    finally:
        if collecting:
            gc.enable()

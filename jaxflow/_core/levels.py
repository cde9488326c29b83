"""The forward-mode levels under way, in any thread; see NOTE [Duals] in ``_dispatch/forward.py``.

A list of its own, which the door can ask for truth in a few nanoseconds: nearly always it is empty.
"""

LEVELS: list = []

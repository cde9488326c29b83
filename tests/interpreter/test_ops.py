"""Plans of operations and of their backward passes, interpreted and compiled: every eighth row.

All of them: ``python -m tests.interpreter``; on PyTorch's own samples and more dtypes: ``python -m
compat_tests.interpreted``.
"""

import numpy as np

from jaxflow._interpreter import table

from .rows import ALL, hold


def test_a_sample_of_all_operations():
    held = hold(list(ALL)[::8])
    assert held.plans > 80
    assert held.misfits == []


def test_the_comparison_can_fail(monkeypatch):
    monkeypatch.setitem(table.RULES, "tanh", table.Rule(lambda site: np.sin, compact=True))
    held = hold(["tanh"])
    assert held.misfits and "tanh" in held.misfits[0]

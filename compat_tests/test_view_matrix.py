"""Leaves, results and plain tensors; views of them; modes they are made and written in; kinds of writes.

All combinations are walked, every `STRIDE`-th of them in a run (``JAXFLOW_MATRIX=1`` takes them all); with
``JAXFLOW_SWEEP=sample`` fewer. What is compared is what a user can see: errors, flags, versions, bases, nodes
and gradients.
"""

import os
import random

import pytest
import torch

import jaxflow
from compat_tests import matrix, setting

STRIDE = int(os.environ.get("JAXFLOW_MATRIX") or (250 if setting.SAMPLED else 100))


def _check(rows, stride):
    rows = list(rows)
    random.Random(0).shuffle(rows)  # the same rows in every run, and no axis in step with another
    found = []
    for row in rows[::stride]:
        expected, actual = matrix.outcome(torch, row), matrix.outcome(jaxflow, row)
        for e, a in zip(expected, actual, strict=False):
            if repr(e) != repr(a):
                found.append(f"{row}\n    torch   {e}\n    jaxflow {a}")
                break
    assert not found, f"{len(found)} differ\n" + "\n".join(found[:5])


@pytest.mark.parametrize("write", matrix.WRITES)
def test_views(write, executor):
    _check(matrix.rows(write), STRIDE)


@pytest.mark.parametrize("write", [w for w in matrix.WRITES if w not in matrix.REAL_WRITES])
def test_views_that_conjugate(write, executor):
    _check(matrix.complex_rows(write), STRIDE)


@pytest.mark.parametrize("write", [w for w in matrix.WRITES if w != "set"])
def test_what_custom_functions_return(write, executor):
    _check(matrix.function_rows(write), 3 * STRIDE)

"""Arguments of a type that a parameter does not take: both libraries raise the same class of error.

Where PyTorch says which type a parameter takes, jaxflow says the same of the same parameter.
"""

import pathlib
import re

import pytest
import torch

import jaxflow
from compat_tests.calls import answer

ROWS = (pathlib.Path(__file__).parent / "argument_rows.txt").read_text().splitlines()
_SAID = re.compile(r"^(\w+\(\)): argument '(\w+)'(?: \(position \d+\))? must be (.*)$")


def key(error):
    """The class of an error, and what it says of which argument of which function, if it does."""
    said = error and _SAID.match(error[1])
    return error and (error[0], said and said.groups())


@pytest.mark.parametrize("text", ROWS)
def test_refuses_what_does_not_fit(text):
    (_, expected, _), (_, actual, _) = (answer(T, text) for T in (torch, jaxflow))
    if expected is not None and "INTERNAL ASSERT" in expected[1]:
        expected = ("TypeError", "")  # which PyTorch does not mean to say
    wanted, got = key(expected), key(actual)
    if wanted is None or wanted[1] is None:  # it takes the argument, or lists the forms of the call
        assert (got and got[0]) == (wanted and wanted[0]), f"{actual} for {expected}"
    else:
        assert got == wanted, f"{actual} for {expected}"

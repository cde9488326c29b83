"""Walks through the whole table of operators, where random programs take a few steps at random places.

A random program calls five to twenty operators; a rare pair of an operator and a kind of argument comes once
in thousands of them. A walk takes every operator's samples and changes each in one way after the other.

    python -m compat_tests.fuzz.walks layouts                   # every sample in every layout of its memory
    python -m compat_tests.fuzz.walks dtypes --part 1/8         # an eighth of the table, in mixed dtypes
    python -m compat_tests.fuzz.walks outs --names addmm sum    # out= of many kinds, for some operators
"""

from .calls import changed, in_place, into

__all__ = ["changed", "in_place", "into"]

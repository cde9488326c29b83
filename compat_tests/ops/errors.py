"""Check of what is refused: the table's ``error_inputs``."""

import re

from .arguments import call_of, describe, subject
from .findings import outcome
from .records import record, resolve


def check_errors(found, key):
    """Every call that the record says is refused is refused, with the class and the words it looks for."""
    rec = record(key)
    if rec.error_inputs_func is None:
        return
    for i, bad in enumerate(rec.error_inputs("cpu")):
        call = call_of(bad.sample_input)
        _, expected = outcome(rec.op, call[0], *call[1], **call[2])
        if expected is None:
            continue  # an old record: torch itself has learnt to do it
        found.errors += 1
        where = f"error {i} {describe(bad.sample_input)}"
        before = len(found.failed)
        with found.asking(f"error {i}", "", where):
            _compare(resolve(key), subject(call), expected, bad.error_regex)
        found.refused += len(found.failed) == before


def _compare(fn, mine, expected, pattern):
    result, error = outcome(fn, mine[0], *mine[1], **mine[2])
    assert error is not None, f"no error; torch: {expected}; got {type(result)}"
    assert error[0] == expected[0], f"{error} for {expected}"
    first = pattern.partition("\n")[0]
    assert error[1] == expected[1] or re.search(first, error[1]), f"{error[1]!r} for {expected[1]!r}"

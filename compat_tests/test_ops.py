"""Every record of PyTorch's operator table fares as the ledger says; see NOTE [Ledger]."""

import zlib

import pytest

from compat_tests import setting
from compat_tests.ops import ledger, table
from compat_tests.ops.records import dtypes, keys, second_dtype
from compat_tests.ops.sweep import sweep

LEDGER = ledger.read()


def dtypes_of(key):
    """float32 and one other dtype; in a sample only one of the two, for one record in three the other."""
    both = ("float32", second_dtype(key))
    if not setting.SAMPLED or None in both:
        return both
    other = "float32" not in dtypes(key) or zlib.crc32(key[::-1].encode()) % 3 == 0
    return both[1:] if other else both[:1]


def left_by_brief(units, dtypes):
    """Those of the units that ``brief`` asks: of what hardly depends on the dtype, the first one's."""
    swept = [name for name in dtypes if any(unit[1] == name for unit in units)]
    return {unit for unit in units if unit[0] not in ("layout", "eager", "compile") or unit[1] == swept[0]}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("key", keys())
def test_record(key):
    asked_in = dtypes_of(key)
    known = LEDGER[key]
    line = ledger.entry(key, sweep(key, asked_in, brief=True))
    assert line.get("missing") == known.get("missing")
    asked = ledger.units(line, asked_in)
    assert asked == left_by_brief(ledger.units(known, asked_in), asked_in)
    now = ledger.failures(line, asked_in)
    was = {unit for unit in ledger.failures(known, asked_in) if unit in asked or not unit[1]}
    worse = {unit: line["failed"][unit[0]][unit[1]] for unit in now - was}
    assert not worse, worse
    better = was - now
    assert not better, f"passes now, so the ledger is to be written anew: {sorted(better)}"


def test_table_is_fresh():
    """`docs/compatibility.md` is what the ledger prints to; if not: python -m compat_tests.ops --table."""
    assert table.complete(LEDGER)
    assert table.PATH.read_text("utf-8") == table.render(LEDGER)

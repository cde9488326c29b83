"""Every record of PyTorch's operator table fares as the ledger says; see NOTE [Ledger]."""

import pytest

from compat_tests.ops import ledger, table
from compat_tests.ops.records import keys, second_dtype
from compat_tests.ops.sweep import sweep

LEDGER = ledger.read()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("key", keys())
def test_record(key):
    dtypes = ("float32", second_dtype(key))
    known = LEDGER[key]
    line = ledger.entry(key, sweep(key, dtypes, brief=True))
    assert line.get("missing") == known.get("missing")
    asked = ledger.units(line, dtypes)
    assert asked <= ledger.units(known, dtypes)
    now = ledger.failures(line, dtypes)
    was = {unit for unit in ledger.failures(known, dtypes) if unit in asked or not unit[1]}
    worse = {unit: line["failed"][unit[0]][unit[1]] for unit in now - was}
    assert not worse, worse
    better = was - now
    assert not better, f"passes now, so the ledger is to be written anew: {sorted(better)}"


def test_table_is_fresh():
    """`docs/compatibility.md` is what the ledger prints to; if not: python -m compat_tests.ops --table."""
    assert table.complete(LEDGER)
    assert table.PATH.read_text("utf-8") == table.render(LEDGER)

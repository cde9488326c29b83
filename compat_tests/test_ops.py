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
    line = ledger.entry(key, sweep(key, dtypes))
    assert line.get("missing") == known.get("missing")
    now, was = ledger.failures(line, dtypes), ledger.failures(known, dtypes)
    worse = {unit: line["failed"][unit[0]][unit[1]] for unit in now - was}
    assert not worse, worse
    better = was - now
    assert not better, f"passes now, so the ledger is to be written anew: {sorted(better)}"
    assert ledger.units(line, dtypes) == ledger.units(known, dtypes)


def test_table_is_fresh():
    """`docs/compatibility.md` is what the ledger prints to; if not: python -m compat_tests.ops --table."""
    assert table.complete(LEDGER)
    assert table.PATH.read_text("utf-8") == table.render(LEDGER)

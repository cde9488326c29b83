"""docs/dialects.md says what the dialects offer: it is written from their tables, and must not lag."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def test_page_is_fresh(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from tools import dialect_table

    written = dialect_table.PAGE.read_text(encoding="utf-8")
    assert written == dialect_table.page(), f"run: {sys.executable} -m tools.dialect_table"
    for line in ("| `sum(x, axis=None, dtype=None, keepdim=False, name=None)` |", "oneflow.slice_update"):
        assert line in written

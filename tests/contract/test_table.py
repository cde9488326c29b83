"""The table itself: complete, without invented tests, and printed."""

import ast
import pathlib

import pytest

from contract.rows import Noise, Row
from contract.table import DOCUMENTS, render

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def functions_in(path):
    """The names of the test functions of a file."""
    return [f.name for f in ast.parse((ROOT / path).read_text("utf-8")).body
            if isinstance(f, ast.FunctionDef) and f.name.startswith("test_")]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d.letter)
def test_every_number_has_a_row_and_every_row_a_test(document):
    assert sorted(document.entries) == list(range(1, document.numbers + 1))
    for entry in document.entries.values():
        assert isinstance(entry, Noise) or (entry.says and entry.tests)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d.letter)
def test_every_named_test_exists(document):
    for name, row in document.rows.items():
        assert isinstance(row, Row)
        for node in row.nodes:
            path, _, function = node.partition("::")
            assert function in functions_in(path), f"{name} names {node}, which does not exist"


def test_every_test_here_holds_a_clause():
    named = {node for d in DOCUMENTS for row in d.rows.values() for node in row.nodes}
    for path in sorted(pathlib.Path(__file__).parent.glob("test_*.py")):
        if path.name != "test_table.py":
            for function in functions_in(path.relative_to(ROOT)):
                assert f"tests/contract/{path.name}::{function}" in named


def test_documents_differ():
    assert len({d.letter for d in DOCUMENTS}) == len({d.file for d in DOCUMENTS}) == len(DOCUMENTS)


def test_the_page_is_fresh():
    """``cd tests && python -m contract > ../docs/contract.md``."""
    assert (ROOT / "docs" / "contract.md").read_text("utf-8") == render()

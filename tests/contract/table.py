"""The contract as a page: a summary, and for each document its clauses and their tests."""

from .cpp import CPP
from .oneflow import MODULE, SOURCE, TENSOR
from .paddle import PADDLE
from .rows import Noise

DOCUMENTS = (CPP, SOURCE, MODULE, TENSOR, PADDLE)

_HEAD = """# The contract

Five documents are where jaxflow started from: PyTorch's C++ page of `backward`, three pages of OneFlow, and
one of Paddle. Every sentence of them, with every parameter, default and return type, is a clause with a
number; every clause has a row here, in our words, with the tests that hold it. Each test runs deferred,
eager, and traced inside `jax.jit` (except where it looks at the collector or at signatures); what means the
same under several names runs on each of them.

This page is generated (`cd tests && python -m contract > ../docs/contract.md`); a test fails when it is
stale, when a number is missing, or when a named test does not exist.
"""


def render() -> str:
    """The whole page."""
    lines = [_HEAD, "| | document | numbers | clauses | not a clause | tests named |",
             "| --- | --- | ---: | ---: | ---: | ---: |"]
    for d in DOCUMENTS:
        tests = {t for row in d.rows.values() for t in row.tests}
        lines.append(f"| {d.letter} | {d.title} | {d.numbers} | {len(d.rows)} | "
                     f"{d.numbers - len(d.rows)} | {len(tests)} |")
    clauses = sum(len(d.rows) for d in DOCUMENTS)
    every = {t for d in DOCUMENTS for row in d.rows.values() for t in row.tests}
    lines.append(f"| | together | {sum(d.numbers for d in DOCUMENTS)} | {clauses} | "
                 f"{sum(d.numbers for d in DOCUMENTS) - clauses} | {len(every)} |")
    for d in DOCUMENTS:
        lines += ["", f"## {d.letter}. {d.title}", "", "| clause | what it asks | tests |",
                  "| --- | --- | --- |"]
        for n, entry in sorted(d.entries.items()):
            if isinstance(entry, Noise):
                lines.append(f"| {d.letter}{n} | *not a clause: {entry.what}* | |")
            else:
                tests = ", ".join(f"`{t}`" for t in entry.tests)
                lines.append(f"| {d.letter}{n} | {entry.says} | {tests} |")
    lines += ["", "A test `file::name` is `tests/contract/test_file.py::test_name`."]
    return "\n".join(lines) + "\n"

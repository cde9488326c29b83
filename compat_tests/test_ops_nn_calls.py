"""The calls of ``call_rows/*.txt``, one a line, on torch and on jaxflow; see `compat_tests.calls`."""

import pathlib

import pytest

from compat_tests.calls import check_call

ROWS = [
    pytest.param(line, id=f"{path.stem}-{line}")
    for path in sorted((pathlib.Path(__file__).parent / "call_rows").glob("*.txt"))
    for line in path.read_text().splitlines()
]


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("text", ROWS)
def test_call(text):
    check_call(text)

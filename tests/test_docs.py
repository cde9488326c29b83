"""The snippets of the documentation run."""

import doctest
import pathlib
import re

import jax
import pytest

import jaxflow

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"


@pytest.mark.parametrize("page", ["jax.md", "export.md", "nested.md", "quantization.md"])
def test_snippets_run_in_order(executor, page, capsys):
    text = (DOCS / page).read_text(encoding="utf-8")
    snippets = re.findall(r"```python\n(.*?)```", text, flags=re.S)
    assert snippets
    names: dict = {}
    with jax.numpy_dtype_promotion("standard"):  # what a reader has
        for snippet in snippets:
            line = text[: text.index(snippet)].count("\n")
            code = compile("\n" * line + snippet, str(DOCS / page), "exec")
            exec(code, names)
    assert page != "jax.md" or "forward" in capsys.readouterr().out


@pytest.mark.parametrize("page", ["compile.md"])
def test_examples_show_what_they_say(executor, page):
    found = doctest.testfile(str(DOCS / page), module_relative=False, globs={"jaxflow": jaxflow},
                             encoding="utf-8")
    assert found.attempted > 4
    assert not found.failed

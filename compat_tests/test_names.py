"""The survey of names and signatures: that it can see a difference, and that there is none it knows of."""

import pathlib
import warnings

import pytest
import torch

import jaxflow
from compat_tests import names, signatures
from compat_tests.calls import check_call
from compat_tests.ops import absent
from jaxflow._as_torch.checking import refuses

FORMS = pathlib.Path(__file__).parent / "forms.txt"


def test_a_difference_is_seen():
    ours = signatures.Form((("input", signatures.EMPTY), ("dim", 0), ("extra", signatures.EMPTY)), 2)
    theirs = signatures.Form((("input", signatures.EMPTY), ("keepdim", False), ("dim", 1)), 3)
    assert signatures._compare("f", ours, theirs) == [
        "no 'keepdim'", "'dim' is number 2, not 3", "dim=0, not 1", "requires 'extra'",
    ]
    assert not signatures._compare("f", theirs, theirs)


def test_uses_are_weighed():
    rows = [dict(kind="function", name="torch.add", repos="2", uses="3"),
            dict(kind="method", name="relu", repos="2", uses="4"),
            dict(kind="function", name="torch.add_no_such_thing", repos="9", uses="1"),
            dict(kind="function", name="torch.mul", repos="1", uses="5")]
    report = names.survey(names.used(rows, repos=2))
    assert [n.path for n in report.names] == ["add", "Tensor.relu"] and report.coverage == 1.0


@pytest.mark.parametrize("namespace", names.NAMESPACES)
def test_signatures_are_pytorchs(namespace):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's deprecated names warn when they are looked up
        report = names.survey(names.public(namespace))
    assert not [f"{name.path}: {'; '.join(words)}" for name, words in report.differing]


@pytest.mark.usefixtures("executor")
def test_forms_told_apart_in_the_body():
    for text in FORMS.read_text().splitlines():
        check_call(text)


def test_names_that_are_not_here():
    """What comes to be here leaves ``absent.txt``, and the page: python -m compat_tests.ops --table."""
    listed = [name.removeprefix("torch.") for held in absent.subjects().values() for name in held]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        here = {name: found for name in listed if (found := names.found(jaxflow, name)) is not None}
        assert [name for name, found in here.items() if not refuses(found)] == []
        assert [name for name in listed if names.found(torch, name) is None] == []

"""Every case of ``compat_tests/cases``, on torch and on jaxflow under each executor."""

import pytest

import jaxflow
from compat_tests.harness import check, load_cases


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("case", load_cases(), ids=lambda case: case.id)
def test_case(case):
    check(case, jaxflow)

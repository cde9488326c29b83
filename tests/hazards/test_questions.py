"""A sample of the harness `questions`, and that it finds what is wrong."""

import pytest

from jaxflow._publish.value_checks import Asked

from . import questions


@pytest.mark.parametrize("write", questions.WRITES)
def test_a_write_and_its_question_are_recorded_together(write):
    tried, wrong = questions.check(write, 120)
    assert tried == 120
    assert not wrong, wrong


def test_a_question_that_is_not_recorded_is_found(monkeypatch):
    monkeypatch.setattr(Asked, "rows", lambda self: [])
    assert questions.check(questions.WRITES[0], 300)[1]

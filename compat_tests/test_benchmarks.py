"""What is timed beside PyTorch computes what PyTorch computes: the quick rows."""

import pytest

from benchmarks import session, suite
from benchmarks.contenders import DEFERRED, PYTORCH
from benchmarks.workloads import WORKLOADS


@pytest.mark.parametrize("name", ["mlp-tiny", "reinforce", "micro-index"])
def test_numbers_agree_with_pytorch(name, executor):
    numbers = []
    for contender in (PYTORCH, DEFERRED):
        made = session.Session(contender)
        made.open(name)
        numbers.append(made.do("numbers"))
    assert suite.difference(*numbers) <= WORKLOADS[name].tolerance

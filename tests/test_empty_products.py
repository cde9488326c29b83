"""Products of bools: PyTorch has no kernel for them, but asks for none where a factor has no elements."""

import pytest

import jaxflow as torch
from jaxflow.nn import functional as F


def bools(*shape):
    return torch.ones(shape, dtype=torch.bool)


#: The call and its result.
TAKEN = [
    (lambda: bools(2, 0) @ bools(0), [False, False]),
    (lambda: torch.mv(bools(0, 2), bools(2)), []),
    (lambda: torch.mm(bools(2, 0), bools(0, 1)), [[False], [False]]),
    (lambda: torch.mm(bools(2, 2), bools(2, 0)), [[], []]),
    (lambda: torch.bmm(bools(1, 1, 0), bools(1, 0, 2)), [[[False, False]]]),
    (lambda: torch.inner(bools(2, 0), bools(1, 0)), [[False], [False]]),
    (lambda: torch.tensordot(bools(2), bools(0), 0), [[], []]),
    (lambda: torch.addmv(bools(2), bools(2, 0), bools(0)), [True, True]),
    (lambda: torch.addmv(bools(2), bools(2, 0), bools(0), beta=0), [False, False]),
    (lambda: torch.addmm(bools(2, 1), bools(2, 0), bools(0, 1), beta=True), [[True], [True]]),
    (lambda: torch.addmm(bools(1), bools(0, 2), bools(2, 1)), []),
    (lambda: torch.baddbmm(bools(1, 1, 1), bools(1, 1, 0), bools(1, 0, 1), beta=False), [[[False]]]),
    (lambda: torch.addbmm(bools(1, 1), bools(0, 1, 1), bools(0, 1, 1), beta=True), [[True]]),
    (lambda: torch.addbmm(bools(1, 1), bools(1, 1, 0), bools(1, 0, 1), beta=False), [[False]]),
    (lambda: torch.addbmm(bools(1, 0), bools(2, 1, 1), bools(2, 1, 0)), [[]]),
    (lambda: F.linear(bools(2, 0), bools(1, 0)), [[False], [False]]),
    (lambda: F.linear(bools(0, 2), bools(3, 2), bools(3)), []),
]


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("call, expected", TAKEN)
def test_no_kernel_is_asked_for_nothing(call, expected):
    result = call()
    assert result.dtype is torch.bool
    assert result.tolist() == expected


#: The call, and the words in which it is refused.
REFUSED = [
    (lambda: bools(2, 2) @ bools(2), "\"addmv_impl_cpu\" not implemented for 'Bool'"),
    (lambda: torch.mm(bools(2, 2), bools(2, 2)), "\"addmm_impl_cpu_\" not implemented for 'Bool'"),
    (lambda: torch.bmm(bools(1, 2, 2), bools(1, 2, 2)), "\"bmm\" not implemented for 'Bool'"),
    (lambda: torch.inner(bools(0), bools(0)), "\"dot\" not implemented for 'Bool'"),
    (lambda: torch.tensordot(bools(2, 0), bools(2, 0), 2), "\"dot\" not implemented for 'Bool'"),
    (lambda: torch.addmm(bools(2, 1), bools(2, 0), bools(0, 1)), "result type Long can't be cast"),
    (lambda: torch.addmm(bools(2, 1), bools(2, 0), bools(0, 1), beta=0.5), "result type Float can't be cast"),
    (lambda: torch.baddbmm(bools(1, 1, 1), bools(1, 1, 0), bools(1, 0, 1)), "result type Long can't be cast"),
    (lambda: torch.addbmm(bools(1, 1), bools(1, 1, 1), bools(1, 1, 1)), "\"addmm_impl_cpu_\" not implemen"),
    (lambda: torch.addbmm(bools(1, 1), bools(2, 1, 0), bools(2, 0, 1), beta=True), "result type Long can't"),
    (lambda: F.linear(bools(2, 0), bools(1, 0), bools(1)), "result type Long can't be cast"),
]


@pytest.mark.parametrize("call, words", REFUSED)
def test_what_is_multiplied_is_refused(call, words):
    with pytest.raises(RuntimeError, match=words):
        call()

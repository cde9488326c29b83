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
    (lambda: torch.addmm(bools(2, 1), bools(2, 0), bools(0, 1), beta=0), [[False], [False]]),
    (lambda: bools(2, 1).addmm_(bools(2, 0), bools(0, 1), beta=0.0), [[False], [False]]),
    (lambda: torch.baddbmm(bools(1, 1, 1), bools(1, 1, 0), bools(1, 0, 1), beta=False), [[[False]]]),
    (lambda: torch.baddbmm(bools(1, 1, 1), bools(1, 1, 0), bools(1, 0, 1), beta=0), [[[False]]]),
    (lambda: torch.addbmm(bools(1, 1), bools(0, 1, 1), bools(0, 1, 1), beta=0), [[False]]),
    (lambda: bools(1, 1).addbmm_(bools(1, 1, 0), bools(1, 0, 1), beta=0), [[False]]),
    (lambda: F.bilinear(bools(0, 3), bools(0, 2), bools(4, 3, 2)), []),
    (lambda: F.linear(bools(0), bools(1, 0), bools(1)[0]), [True]),
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
    (lambda: torch.addbmm(bools(1, 0), bools(0, 1, 2), bools(0, 2, 0)), "result type Long can't be cast"),
    (lambda: torch.addbmm(bools(1, 1), bools(2, 1, 0), bools(2, 0, 1), beta=0), "result type Long can't"),
    (lambda: bools(2, 1).addmm_(bools(2, 0), bools(0, 1)), "result type Long can't be cast"),
    (lambda: F.bilinear(bools(1, 1), bools(1, 1), bools(1, 1, 1)), "\"bmm\" not implemented for 'Bool'"),
]


@pytest.mark.parametrize("call, words", REFUSED)
def test_what_is_multiplied_is_refused(call, words):
    with pytest.raises(RuntimeError, match=words):
        call()


def test_what_is_added_to_products_of_nothing_is_scaled_in_the_dtype_of_the_last_factor():
    start, first = torch.ones((1, 1, 2), dtype=torch.int32), torch.ones((1, 1, 0), dtype=torch.int32)
    result = torch.baddbmm(start, first, torch.ones(1, 0, 2), beta=2.5)
    assert result.dtype is torch.float32
    assert result.tolist() == [[[2.5, 2.5]]]


@pytest.mark.parametrize("factors, words", [
    ({"beta": True}, "Boolean beta only"), ({"alpha": False}, "Boolean alpha only"),
    ({"beta": 1j}, "without overflow"),
])
def test_numbers_that_addr_refuses(factors, words):
    with pytest.raises(RuntimeError, match=words):
        torch.addr(torch.ones(2, 2), torch.ones(2), torch.ones(2), **factors)

"""Calls that PyTorch takes though a newer form exists, or with less than one would think."""

import warnings

import numpy as np
import pytest

import jaxflow as torch
from jaxflow.nn import functional as F

pytestmark = [pytest.mark.usefixtures("executor"), pytest.mark.filterwarnings("ignore:This overload")]


def x():
    return torch.arange(6.0).view(2, 3)


def square(number=1.0):
    return torch.full((2, 2), number)


@pytest.mark.parametrize("old, new", [
    (lambda: torch.add(x(), 2, x()), lambda: torch.add(x(), x(), alpha=2)),
    (lambda: x().sub_(2, x()), lambda: x().sub_(x(), alpha=2)),
    (lambda: torch.addcmul(x(), 2, x(), x()), lambda: torch.addcmul(x(), x(), x(), value=2)),
    (lambda: x().addcdiv(2, x(), x() + 1), lambda: x().addcdiv(x(), x() + 1, value=2)),
    (lambda: torch.addmm(3, square(), 2, square(), square(4.0)),
     lambda: torch.addmm(square(), square(), square(4.0), beta=3, alpha=2)),
    (lambda: torch.addmm(3, square(), square(), square(4.0)),
     lambda: torch.addmm(square(), square(), square(4.0), beta=3)),
    (lambda: square().addmm_(3, 2, square(), square(4.0)),
     lambda: square().addmm_(square(), square(4.0), beta=3, alpha=2)),
    (lambda: torch.addmv(3, torch.ones(2), 2, square(), torch.ones(2)),
     lambda: torch.addmv(torch.ones(2), square(), torch.ones(2), beta=3, alpha=2)),
    (lambda: torch.addr(3, square(), 2, torch.ones(2), torch.ones(2)),
     lambda: torch.addr(square(), torch.ones(2), torch.ones(2), beta=3, alpha=2)),
    (lambda: square().addr_(3, 2, torch.ones(2), torch.ones(2)),
     lambda: square().addr_(torch.ones(2), torch.ones(2), beta=3, alpha=2)),
    (lambda: square().addbmm_(3, torch.ones(3, 2, 2), torch.ones(3, 2, 2)),
     lambda: square().addbmm_(torch.ones(3, 2, 2), torch.ones(3, 2, 2), beta=3)),
])
def test_factors_may_come_before_the_tensors(old, new):
    assert old().tolist() == new().tolist()


def test_factors_that_fit_nowhere_are_refused():
    for call in (lambda: torch.addcmul(x(), x(), x(), 2), lambda: torch.add(x(), x(), 2),
                 lambda: torch.addcmul(x(), 1, 2, x(), x()), lambda: torch.mul(x(), 2, x()),
                 lambda: torch.addcmul(x(), x(), 2, x()), lambda: torch.addcmul(x(), 1, x(), x(), value=2),
                 lambda: torch.addmm(square(), 3, square(), square()), lambda: torch.rsub(x(), 2, x()),
                 lambda: torch.addmm(2, square(), square(), square(), alpha=3)):
        with pytest.raises(TypeError):
            call()
    with pytest.warns(UserWarning, match="This overload of addcdiv is deprecated"):
        torch.set_warn_always(True)
        try:
            torch.addcdiv(x(), 2, x(), x())
        finally:
            torch.set_warn_always(False)


def test_roll_without_dimensions():
    for rolled in (torch.roll(x(), 1, None), x().roll(1, dims=None)):
        assert rolled.tolist() == [[5, 0, 1], [2, 3, 4]]
    with pytest.raises(RuntimeError, match="shifts: 2, dims:0"):
        torch.roll(x(), (1, 2), None)


def test_nothing_is_joined_to_nothing():
    nothing = torch.block_diag()
    assert nothing.shape == (1, 0) and nothing.dtype is torch.float32
    for dim in (0, 1, -2):
        assert torch.cat([torch.empty(0), torch.empty(0)], dim).shape == (0,)


@pytest.mark.parametrize("targets", [torch.empty(2, 0, dtype=torch.int64), torch.empty(0, dtype=torch.int64)])
def test_ctc_loss_of_empty_targets(targets):
    logits = torch.zeros(4, 2, 3, requires_grad=True)
    losses = F.ctc_loss(logits.log_softmax(2), targets, (4, 4), (0, 0), reduction="none")
    np.testing.assert_allclose(losses.detach().numpy(), [4 * np.log(3)] * 2, rtol=1e-6)
    losses.sum().backward()
    np.testing.assert_allclose(logits.grad[1, 1].numpy(), [-2 / 3, 1 / 3, 1 / 3], rtol=1e-5)


def test_numpy_of_what_requires_grad_where_nothing_is_recorded():
    w = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        assert w.numpy().tolist() == np.asarray(w).tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="Can't call numpy"):
        w.numpy()


def test_embedding_bag_with_the_table_first():
    table, index = torch.arange(6.0).view(3, 2), torch.tensor([0, 2, 1])
    with pytest.warns(UserWarning, match="Argument order of nn.functional.embedding_bag was changed"):
        found = F.embedding_bag(table, index, torch.tensor([0, 1]))
    assert found.tolist() == [[0, 1], [3, 4]]


def test_data_is_not_deleted():
    w = torch.ones(2)
    with pytest.raises(RuntimeError, match="Deleting tensor data is not allowed"):
        del w.data
    assert w.tolist() == [1, 1]


def test_similarity_of_a_number_and_a_vector():
    assert torch.cosine_similarity(torch.tensor(2), torch.tensor([3.0, 1.0]), 0).item() == pytest.approx(
        4 / 20 ** 0.5)


def warned(call):
    """What a call warns of, with the memory of what was said before left alone.

    Garbage of earlier tests may warn meanwhile of files that were never closed.
    """
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        torch.set_warn_always(True)
        try:
            call()
        finally:
            torch.set_warn_always(False)
    return [str(w.message) for w in given if w.category is not ResourceWarning]


def test_memory_that_may_not_be_written_to():
    array = np.arange(3.0)
    array.flags.writeable = False
    for call in (lambda: torch.from_numpy(array), lambda: torch.as_tensor(array),
                 lambda: torch.from_numpy(np.broadcast_to(np.zeros(1), 3)),
                 lambda: torch.frombuffer(b"abcd", dtype=torch.uint8)):
        (message,) = warned(call)
        assert "is not writable" in message
    for call in (lambda: torch.tensor(array), lambda: torch.from_numpy(array.copy()),
                 lambda: torch.from_numpy((torch.ones(2) + 1).numpy()),
                 lambda: torch.frombuffer(bytearray(4), dtype=torch.uint8)):
        assert not warned(call)


def test_what_has_no_deterministic_form_in_pytorch():
    def put():
        return torch.zeros(3).put_(torch.tensor([0]), torch.ones(1))

    def unpool():
        return F.max_unpool2d(torch.ones(1, 1, 1, 1), torch.zeros(1, 1, 1, 1, dtype=torch.int64), 2)

    for call, name in ((put, "put_"), (unpool, "max_unpooling2d_forward_out")):
        try:
            torch.use_deterministic_algorithms(True, warn_only=True)
            (message,) = warned(call)
            assert message.startswith(f"{name} does not have a deterministic implementation")
            torch.use_deterministic_algorithms(True)
            with pytest.raises(RuntimeError, match=f"{name} does not have a deterministic implementation"):
                call()
        finally:
            torch.use_deterministic_algorithms(False)
        assert not warned(call)


@pytest.mark.parametrize("shape", [(5, 0, 8), (0, 5, 8)])
def test_attention_without_a_batch(shape):
    x = torch.zeros(shape, requires_grad=True)
    found = torch.nn.TransformerEncoderLayer(8, 2, 16)(x)
    found.sum().backward()
    assert found.shape == x.grad.shape == shape
    found, shares = torch.nn.MultiheadAttention(8, 2)(x, x, x)
    assert found.shape == shape and shares.shape == (shape[1], shape[0], shape[0])

"""NOTE [Failures found at a read]: an error met at a read names the operations of the program that failed."""

import jax
import pytest

import jaxflow as torch
from jaxflow._core.value import Value
from jaxflow._exec import late_failures
from jaxflow._shapes import plan_cache

pytestmark = pytest.mark.usefixtures("deferred", "compiled")
TEXT = "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 64.00GiB"


@pytest.fixture
def device(monkeypatch):
    """A device on which chosen results cannot be read, for the runs they come from have failed."""
    late_failures._runs.clear()
    plan_cache.forget()  # an error names the line that met a plan first
    failed: list = []  # arrays

    class Reading:
        @staticmethod
        def block(arrays, real=jax.block_until_ready):
            if any(x is a for x in jax.tree.leaves(arrays) for a in failed):
                raise jax.errors.JaxRuntimeError(TEXT)
            return real(arrays)

        @staticmethod
        def fails(*tensors, real=jax.block_until_ready):
            # A real failure is met when the run has ended; one that may still be running is not asked.
            failed.extend(real(t._storage.value.array) for t in tensors)

    monkeypatch.setattr(jax, "block_until_ready", Reading.block)
    real = Value.settled

    class Unreadable:
        def __init__(self, array):
            self.array = array

        def __array__(self, *_, **__):
            return Reading.block(self.array)

    def settled(v):
        array = real(v)
        return Unreadable(array) if any(array is a for a in failed) else array

    monkeypatch.setattr(Value, "settled", settled)
    return Reading


def notes(t):
    with pytest.raises(torch.OutOfMemoryError, match="64.00GiB") as caught:
        t.tolist()
    return caught.value.__notes__


def test_the_first_program_that_failed_is_named(device):
    x = torch.ones(3).exp()
    torch.flush()
    y = x.sinh()
    torch.flush()
    z = y.cosh()
    torch.flush()
    device.fails(y, z)
    for t in (z, y):
        for _ in range(2):
            found, = notes(t)
            assert found.startswith("in a program of 1 operations;")
            assert f"1 sinh, first met with these sizes at {__file__}:" in found
    assert x.tolist() == pytest.approx([2.7182817] * 3)


def test_where_it_is_gone_the_first_that_is_there_is_named(device):
    y = torch.ones(3).sinh()
    torch.flush()
    z = y.cosh()
    torch.flush()
    device.fails(y, z)
    del y
    late_failures._runs.popleft()
    assert "1 cosh" in notes(z)[0]


def test_a_compiled_function_is_named(device):
    x = torch.zeros(3)

    @torch.compile
    def step():
        x.add_(1).tanh_()

    for _ in range(4):
        step()
    device.fails(x)
    assert "add" in notes(x)[0] and "tanh" in notes(x)[0]


def test_spare_arrays_are_still_found():
    """No weak reference to a Value is kept."""
    from weakref import getweakrefcount

    x = torch.ones(3).exp()
    torch.flush()
    assert late_failures._runs
    assert getweakrefcount(x._storage.value) == 0


def test_no_more_runs_are_noted_than_needed():
    x = torch.ones(3)
    for _ in range(100):
        x = x + 1
        torch.flush()
    assert len(late_failures._runs) == 32

"""NOTE [Results that no memory holds]: what is refused, when, and as what."""

import jax
import numpy as np
import pytest

import jaxflow as torch
from jaxflow._dispatch import families, memory_errors
from jaxflow._dispatch.memory_errors import OutOfMemoryError, as_memory_error

N = 1 << 50


def column():
    """One whose product with itself is too large, and which is not."""
    return torch.ones(1 << 25, 1, dtype=torch.int8)


TOO_LARGE = {
    "zeros": (lambda x: torch.zeros(N), 4 * N),
    "empty": (lambda x: torch.empty(N, dtype=torch.float64), 8 * N),
    "full": (lambda x: torch.full((N,), 2), 8 * N),
    "arange": (lambda x: torch.arange(N), 8 * N),
    "rand": (lambda x: torch.rand(N), 4 * N),
    "randperm": (lambda x: torch.randperm(N), 8 * N),
    "ones_like": (lambda x: torch.ones_like(x.expand(N)), 4 * N),
    "outer product": (lambda x: column() * column().t(), N),
    "matrix product": (lambda x: column() @ column().t(), N),
    "repeat": (lambda x: x.repeat(N), 4 * N),
    "resize_": (lambda x: x.resize_(N), 4 * N),
    "tril_indices": (lambda x: torch.tril_indices(1 << 25, 1 << 25), ((1 << 25) ** 2 + (1 << 25)) * 8),
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_what_no_memory_holds_is_refused_where_it_is_asked_for(name, executor):
    make, size = TOO_LARGE[name]
    x = torch.ones(1)
    for _ in range(2):  # what is refused once is not remembered as done
        with pytest.raises(OutOfMemoryError, match=f"you tried to allocate {size} bytes"):
            make(x)
    assert x.shape == (1,)
    assert x.tolist() == [1]
    assert x._version == 0


@pytest.mark.parametrize("use", [lambda v: v + 1, lambda v: v.clone(), lambda v: v.contiguous(),
                                 lambda v: v.to(torch.float64), lambda v: v == 2])
def test_a_large_view_is_no_allocation_and_its_copy_is(use, deferred):
    x = torch.tensor([3.0])
    view = x.expand(N)
    assert view.shape == (N,)
    with pytest.raises(OutOfMemoryError):
        use(view)
    assert x.tolist() == [3.0]


@pytest.mark.parametrize("make", [
    lambda: torch.zeros(1 << 62, 1 << 62), lambda: torch.empty(1 << 61), lambda: torch.rand(1 << 40, 1 << 40),
    lambda: torch.ones(1 << 62, device="meta"),
])
def test_a_number_of_bytes_beyond_64_bits(make, executor):
    with pytest.raises(RuntimeError, match=r"Storage size calculation overflowed with sizes=\[") as caught:
        make()
    assert not isinstance(caught.value, OutOfMemoryError)


def test_extents_beyond_64_bits(executor):
    families.forget()  # they count with other numbers than jax does
    for make, k in [(lambda: torch.zeros(2, 1 << 63), 2), (lambda: torch.empty((1 << 63, 2)), 1),
                    (lambda: torch.full((2, 1 << 63), 1.0), 2), (lambda: torch.rand(-1 - (1 << 63)), 1),
                    (lambda: torch.ones(1).new_zeros(1 << 63), 1)]:
        text = f"failed to unpack the object at pos {k} with error \"Overflow when unpacking long long"
        with pytest.raises(TypeError, match=text):
            make()
    with pytest.raises(RuntimeError, match="numel: integer multiplication overflow"):
        torch.ones(1).expand(1 << 40, 1 << 40)


def test_an_empty_array_xla_cannot_describe(executor):
    # XLA's answer to such a shape is to end the process.
    with pytest.raises(RuntimeError, match="Storage size calculation overflowed"):
        torch.zeros(1 << 62, 0)


def test_meta_tensors_need_no_memory(deferred):
    assert (torch.zeros(N, device="meta") + 1).shape == (N,)


def test_several_results_count_together(monkeypatch, executor):
    memory_errors.memory_of.cache_clear()
    monkeypatch.setattr(memory_errors, "_LEAST", 0)
    monkeypatch.setattr(memory_errors, "_host_memory", lambda: 3000)
    try:
        x = torch.arange(200.0)
        torch.sort(torch.arange(180.0))  # 720 bytes and 1440 of indices
        with pytest.raises(OutOfMemoryError, match="2080 bytes"):
            torch.sort(torch.arange(260.0))
        with pytest.raises(OutOfMemoryError):
            x.outer(x)
        assert x.sum().item() == 19900
    finally:
        memory_errors.memory_of.cache_clear()


def test_training_goes_on_after_a_refusal(executor):
    w = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([w], lr=0.5)
    for size in (N, 3):
        try:
            ((w * 2).sum() * torch.ones(size)).sum().backward()
        except torch.OutOfMemoryError:
            assert w.grad is None
            continue
        optimizer.step()
    assert w.tolist() == [-2.0, -2.0]


@pytest.mark.parametrize("draw", [
    lambda g, size: torch.rand(size, generator=g), lambda g, size: torch.randn(size, generator=g),
    lambda g, size: torch.randperm(size, generator=g), lambda g, size: torch.randint(3, (size,), generator=g),
    lambda g, size: torch.bernoulli(torch.ones(1).expand(size), generator=g),
    lambda g, size: torch.multinomial(torch.ones(3), size, True, generator=g),
    lambda g, size: torch.nn.functional.dropout(torch.ones(1).expand(size)),
])
@pytest.mark.parametrize("own", [False, True])
def test_a_refused_draw_takes_no_random_numbers(draw, own, deferred):
    generator = torch.Generator() if own else torch.default_generator
    draw(generator, 3)
    before = generator.get_state().tolist()
    with pytest.raises(torch.OutOfMemoryError):
        draw(generator, N)
    assert generator.get_state().tolist() == before


def test_memory_is_read_from_the_machine():
    where = torch.device("cpu")
    assert memory_errors.memory_of(where) >= memory_errors._LEAST
    assert memory_errors.memory_of(where) < 1 << 48  # or the tests above would test nothing


def test_errors_of_xla_and_numpy_become_one():
    def failing():
        jax.numpy.zeros(N).block_until_ready()

    with pytest.raises(jax.errors.JaxRuntimeError) as caught:
        failing()
    caught.value.add_note("in a program of 2 operations: 1 add, 1 mul")
    found = as_memory_error(caught.value)
    assert type(found) is torch.OutOfMemoryError is torch.cuda.OutOfMemoryError
    assert isinstance(found, RuntimeError)
    assert found.__cause__ is caught.value
    assert found.__notes__ == caught.value.__notes__
    assert "in a program of 2 operations: 1 add, 1 mul" in found.__notes__
    assert "RESOURCE_EXHAUSTED" in str(found)
    assert as_memory_error(found) is found
    with pytest.raises(MemoryError) as caught:
        np.empty(N, np.float64)
    assert type(as_memory_error(caught.value)) is torch.OutOfMemoryError
    assert "can't allocate memory" in str(as_memory_error(caught.value))
    other = ValueError("RESOURCE_EXHAUSTED")
    assert as_memory_error(other) is other
    other = jax.errors.JaxRuntimeError("INVALID_ARGUMENT: RESOURCE_EXHAUSTED")
    assert as_memory_error(other) is other

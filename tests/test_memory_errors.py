"""NOTE [Results that no memory holds]: what is refused, when, and as what."""

import re

import jax
import numpy as np
import pytest

import jaxflow as torch
from jaxflow._core import memory_errors
from jaxflow._core.memory_errors import OutOfMemoryError, as_memory_error
from jaxflow._shapes import plan_cache, shape_families
from jaxflow.nn import functional as F

N = 1 << 50
SIDE = 1 << 23
AREA = SIDE * SIDE


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
    "empty_strided": (lambda x: torch.empty_strided((2,), (N,)), 4 * N + 4),
    "a sum with one that is expanded": (lambda x: x.expand(N) + 1, 4 * N),
    "cat": (lambda x: torch.cat([x.expand(N), x]), 4 * N + 4),
    "stack": (lambda x: torch.stack([x.expand(N), x.expand(N)]), 8 * N),
    "outer": (lambda x: x.expand(SIDE).outer(x.expand(SIDE)), 4 * AREA),
    "one_hot": (lambda x: F.one_hot(torch.tensor([N])), 8 * N + 8),
    "linspace": (lambda x: torch.linspace(0, 1, N), 4 * N),
    "embedding": (lambda x: F.embedding(torch.zeros(1, dtype=torch.int64).expand(N), x.view(1, 1)), 4 * N),
    "convolution": (lambda x: F.conv1d(x.view(1, 1, 1), x.view(1, 1, 1), padding=N), 8 * N + 4),
    "cdist": (lambda x: torch.cdist(x.expand(SIDE, 1), x.expand(SIDE, 1)), 4 * AREA),
    "cartesian_prod": (lambda x: torch.cartesian_prod(x.expand(SIDE), x.expand(SIDE)), 8 * AREA),
    "combinations": (lambda x: torch.combinations(x.expand(SIDE)), SIDE * (SIDE - 1) * 4),
    "hann_window": (lambda x: torch.hann_window(N), 4 * N),
    "fftfreq": (lambda x: torch.fft.fftfreq(N), 4 * N),
    "repeat_interleave": (lambda x: torch.repeat_interleave(torch.tensor([N])), 8 * N),
    "pad": (lambda x: F.pad(x, (0, N)), 4 * N + 4),
    "replicated": (lambda x: F.pad(x.view(1, 1, 1), (0, N), mode="replicate"), 4 * N + 4),
    "nearest": (lambda x: F.interpolate(x.view(1, 1, 1), size=N), 4 * N),
    "linear": (lambda x: F.interpolate(x.view(1, 1, 1), size=N, mode="linear"), 4 * N),
    "bicubic": (lambda x: F.interpolate(x.view(1, 1, 1, 1), size=(SIDE, SIDE), mode="bicubic"), 4 * AREA),
    "antialiased": (lambda x: F.interpolate(x.view(1, 1, 1, 1), size=(SIDE, SIDE), mode="bilinear",
                                            antialias=True), 4 * AREA),
    "adaptive means": (lambda x: F.adaptive_avg_pool1d(x.view(1, 1, 1), N), 4 * N),
    "adaptive means of planes": (lambda x: F.adaptive_avg_pool2d(x.view(1, 1, 1, 1), (SIDE, SIDE)), 4 * AREA),
    "adaptive maxima": (lambda x: F.adaptive_max_pool1d(x.view(1, 1, 1), N), 4 * N),
    "maxima of planes": (lambda x: F.adaptive_max_pool2d(x.view(1, 1, 1, 1), (SIDE, SIDE)), 4 * AREA),
    "areas": (lambda x: F.interpolate(x.view(1, 1, 1), size=N, mode="area"), 4 * N),
    "bytes": (lambda x: F.interpolate(x.byte().view(1, 1, 1, 1), size=(1, N), mode="bilinear"), N),
    "tril_indices": (lambda x: torch.tril_indices(1 << 25, 1 << 25), ((1 << 25) ** 2 + (1 << 25)) * 8),
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_what_no_memory_holds_is_refused_where_it_is_asked_for(name, executor):
    make, size = TOO_LARGE[name]
    x = torch.ones(1)
    pending, written = x.expand(3) + 1, torch.arange(3.0)
    written.mul_(2)
    for _ in range(2):  # what is refused once is not remembered as done
        with pytest.raises(OutOfMemoryError, match="you tried to allocate (\\d+) bytes") as caught:
            make(x)
        # The eager executor spreads an expanded operand out, and is refused that.
        assert int(re.search(r"(\d+) bytes", str(caught.value))[1]) == size or executor == "eager"
    assert pending.tolist() == [2, 2, 2]
    assert written.tolist() == [0, 2, 4]
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


def test_what_is_shown_of_a_large_view_needs_no_memory(executor):
    x = torch.tensor([3.0, 4.0])
    view, other = x.expand(N, 2), x.as_strided((N, 2), (0, 1))
    assert torch.empty_strided((N, 2), (0, 1))[5].shape == (2,)
    assert repr(view) == repr(other)
    assert repr(view).startswith("tensor([[3., 4.],\n        [3., 4.],\n        [3., 4.],\n        ...,\n")
    assert view.numpy().strides == other.numpy().strides == (0, 4)
    assert view[N - 1].tolist() == other[N // 2].tolist() == [3, 4]
    assert other[7, 1].item() == 4
    y = x + 1
    if executor == "deferred":  # the other spreads out what an operation takes
        at = torch.zeros(1, 1, dtype=torch.int64)
        assert torch.zeros(1, 2).scatter(0, at, view).tolist() == [[3, 0]]
    other[3].mul_(2)
    assert (x.tolist(), y.tolist(), view[0].tolist()) == ([6, 8], [4, 5], [6, 8])


def test_a_refused_operation_reads_no_view(deferred):
    x = torch.ones(1).expand(N)
    y = torch.ones(3) + 1
    kept = []  # an error refers to the frames in which it was raised
    for use in (lambda: x + 1, lambda: torch.ones(1).mul_(x), x.tril):
        with pytest.raises(RuntimeError) as caught:
            use()
        kept.append(caught.value)
    assert y.tolist() == [2, 2, 2]
    torch.flush()
    assert x[0].item() == 1


@pytest.mark.parametrize("make", [
    lambda: torch.empty([8, 8, 2**29, 2**29], dtype=torch.float64),
    lambda: F.interpolate(torch.ones(1, 1, 1, 1), size=(1 << 40, 1 << 40)),
    lambda: torch.hann_window(1 << 62),
    lambda: torch.zeros(1 << 62, 1 << 62), lambda: torch.empty(1 << 61), lambda: torch.rand(1 << 40, 1 << 40),
    lambda: torch.ones(1 << 62, device="meta"),
])
def test_a_number_of_bytes_beyond_64_bits(make, executor):
    with pytest.raises(RuntimeError, match=r"Storage size calculation overflowed with sizes=\[") as caught:
        make()
    assert not isinstance(caught.value, OutOfMemoryError)


def test_extents_beyond_64_bits(executor):
    shape_families.forget()  # they count with other numbers than jax does
    for make, k in [(lambda: torch.zeros(2, 1 << 63), 2), (lambda: torch.empty((1 << 63, 2)), 1),
                    (lambda: torch.full((2, 1 << 63), 1.0), 2), (lambda: torch.rand(-1 - (1 << 63)), 1),
                    (lambda: torch.ones(1).new_zeros(1 << 63), 1)]:
        text = f"failed to unpack the object at pos {k} with error \"Overflow when unpacking long long"
        with pytest.raises(TypeError, match=text):
            make()
    with pytest.raises(RuntimeError, match="numel: integer multiplication overflow"):
        torch.ones(1).expand(1 << 40, 1 << 40)


def test_extents_that_are_computed_beyond_64_bits(deferred):
    x = torch.ones(1)
    half = x.expand(1 << 62)
    for make in (lambda: torch.cat([half, half]), lambda: F.pad(x, (1 << 62, 1 << 62))):
        with pytest.raises(RuntimeError, match="negative"):
            make()
    for make in (lambda: x.expand(1 << 40, 1 << 40), lambda: x.as_strided((1 << 40, 1 << 40), (0, 0))):
        with pytest.raises(RuntimeError, match="numel: integer multiplication overflow"):
            make()


def test_an_empty_array_xla_cannot_describe(executor):
    # XLA's answer to such a shape is to end the process.
    with pytest.raises(RuntimeError, match="Storage size calculation overflowed"):
        torch.zeros(1 << 62, 0)


def test_meta_tensors_need_no_memory(deferred):
    assert (torch.zeros(N, device="meta") + 1).shape == (N,)


def test_several_results_count_together(monkeypatch, executor):
    plan_cache.forget()  # sizes are looked at when a plan is made
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

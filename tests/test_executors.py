"""The two executors a user chooses between: how they are chosen, and that they agree."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import jaxflow as torch
from jaxflow.nn import functional as F


def deferred_now():
    """Whether an operation is only recorded."""
    return (torch.ones(3) * 2)._storage.value.producer is not None


def test_deferred_is_the_default():
    seen = []
    thread = threading.Thread(target=lambda: seen.append(deferred_now()))
    thread.start()
    thread.join()
    assert seen == [True]


def test_contexts_nest():
    with torch.execution("eager"):
        assert not deferred_now()
        with torch.execution("deferred"):
            assert deferred_now()
            with torch.execution("eager"):
                assert not deferred_now()
            assert deferred_now()
        assert not deferred_now()


def test_one_context_object_entered_twice():
    chosen = torch.execution("eager")
    with torch.execution("deferred"):
        with chosen:
            with torch.execution("deferred"), chosen:
                assert not deferred_now()
            assert not deferred_now()
        assert deferred_now()


def test_an_error_inside_restores_the_executor():
    with torch.execution("deferred"):
        with pytest.raises(ZeroDivisionError), torch.execution("eager"):
            1 / 0
        assert deferred_now()


def test_as_a_decorator():
    @torch.execution("eager")
    def inside(depth):
        """Says what runs."""
        return [deferred_now()] + (inside(depth - 1) if depth else [])

    with torch.execution("deferred"):
        assert inside(2) == [False] * 3
        assert deferred_now()
    assert inside.__name__ == "inside" and inside.__doc__ == "Says what runs."


def test_the_choice_belongs_to_the_thread():
    seen = []
    with torch.execution("eager"):
        thread = threading.Thread(target=lambda: seen.append(deferred_now()))
        thread.start()
        thread.join()
    assert seen == [True]


@pytest.mark.parametrize("name", ["lazy", "", None, 3])
def test_unknown_names(name):
    with pytest.raises(ValueError, match="deferred.*eager"):
        torch.execution(name)


def run_with(**environment):
    code = (
        "import jaxflow as torch\n"
        "print((torch.ones(3) * 2)._storage.value.producer is not None)\n"
    )
    return subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True,
        text=True, timeout=300, check=False,
    )


def test_the_environment_chooses():
    assert run_with(JAXFLOW_EXECUTION="eager").stdout.strip() == "False"


def test_the_environment_with_an_unknown_name():
    done = run_with(JAXFLOW_EXECUTION="lazy")
    assert done.returncode != 0
    assert "JAXFLOW_EXECUTION must be one of" in done.stderr and "'lazy'" in done.stderr


def test_values_of_one_executor_in_the_other():
    with torch.execution("deferred"):
        a = torch.ones(3) * 2
    with torch.execution("eager"):
        b = a + 1
        assert b._storage.value.producer is None
    with torch.execution("deferred"):
        c = b * a
    assert c.tolist() == [6.0] * 3


# ----- both give the same -------------------------------------------------------------------------


def random_ops():
    g = torch.Generator().manual_seed(7)
    x = torch.empty(5)
    return [
        torch.rand(4), torch.randn(3, 2), torch.randint(0, 100, (6,)), torch.randperm(9),
        torch.bernoulli(torch.full((8,), 0.5)), torch.rand(3, generator=g), x.normal_().clone(),
        x.uniform_(-1, 1).clone(), F.dropout(torch.ones(16), 0.3), torch.multinomial(torch.ones(6), 3),
        torch.normal(torch.zeros(4), torch.ones(4)), x.exponential_().clone(),
    ]


def arithmetic():
    x = torch.linspace(-2, 2, 24).reshape(4, 6)
    return [
        x.softmax(1), (x @ x.t()).tanh(), x.std(0), x.cumsum(1), x[x > 0], x[1:, ::2].sum(),
        torch.logsumexp(x, 0), x.sort(1).indices, x.half() * 3, (x > 0).sum(),
    ]


def in_place():
    x = torch.arange(12.0).reshape(3, 4)
    row = x[1]
    row.mul_(2)
    x.t()[2] = -1
    x[x < 0] = 7
    return [x, row, x._version]


def training():
    """In double precision: Adam divides by the size of gradients and enlarges rounding without bound."""
    torch.manual_seed(3)
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Dropout(0.2),
                              torch.nn.Linear(8, 2)).double()
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    losses = []
    for _ in range(5):
        opt.zero_grad()
        loss = F.cross_entropy(net(torch.randn(6, 4).double()), torch.randint(0, 2, (6,)))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        losses.append(loss.detach())
    return [*losses, *net.parameters()]


@pytest.mark.parametrize("case", [random_ops, arithmetic, in_place, training])
def test_same_seed_same_results(case):
    """Draws and integers to the bit; sums as far as XLA's fusions may round differently."""
    results = []
    for name in ("deferred", "eager"):
        with torch.execution(name):
            torch.manual_seed(11)
            results.append([
                r.detach().numpy() if isinstance(r, torch.Tensor) else r for r in case()
            ])
    for a, b in zip(*results, strict=True):
        if case is random_ops:
            np.testing.assert_array_equal(a, b)
        elif case is training:
            assert a.dtype == b.dtype == np.float64
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
        else:
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)


# ----- the default dtype is part of every plan ----------------------------------------------------


@pytest.mark.parametrize("name", ["deferred", "eager"])
def test_the_default_dtype_changes_what_numbers_mean(name):
    counts = torch.arange(3)
    f64, f32 = torch.float64, torch.float32

    def results():
        return [counts * 0.5, counts / 2, torch.full((2,), 1.5), counts.sin(), counts * 1j,
                torch.logsumexp(counts, 0), torch.where(counts > 1, 0.5, 1.5)]

    with torch.execution(name):
        narrow = results()
        torch.set_default_dtype(f64)
        try:
            wide = results()
            assert [t.dtype for t in wide] == [f64, f64, f64, f64, torch.complex128, f64, f64]
        finally:
            torch.set_default_dtype(f32)
        again = results()
        for before, after in zip(narrow, again, strict=True):
            assert before.dtype is after.dtype and before.dtype.itemsize in (4, 8)
            assert before.dtype in (f32, torch.complex64)
            assert before.numpy().dtype.itemsize == before.dtype.itemsize
            np.testing.assert_array_equal(before.numpy(), after.numpy())
        for t in wide:
            assert t.numpy().dtype.itemsize == t.dtype.itemsize


@pytest.mark.usefixtures("compiled")
def test_returning_to_a_default_dtype_compiles_nothing_new():
    x = torch.arange(4)
    (x * 0.25).tolist()
    torch.set_default_dtype(torch.float64)
    try:
        (x * 0.25).tolist()
    finally:
        torch.set_default_dtype(torch.float32)
    x.tolist()
    (x * 0.25).tolist()
    before = torch.explain()["compilations"]
    (x * 0.25).tolist()
    assert torch.explain()["compilations"] == before


# ----- small things a program asks at its start ---------------------------------------------------


def test_thread_counts_are_remembered():
    for what in ("threads", "interop_threads"):
        get, choose = getattr(torch, f"get_num_{what}"), getattr(torch, f"set_num_{what}")
        before = get()
        assert before >= 1
        choose(3)
        assert get() == 3
        choose(before)
        for wrong in (0, -1, 1.5, "2", True):
            with pytest.raises(RuntimeError, match="expects"):
                choose(wrong)


def test_version():
    from importlib import metadata

    assert torch.__version__ == torch.version.__version__ == metadata.version("jaxflow")


@pytest.mark.parametrize("make", [lambda v, d: torch.tensor(v).to(d), lambda v, d: torch.tensor(v, dtype=d)])
def test_float8_saturates_where_pytorch_does(make):
    large = [1000.0, -1e9, float("inf"), 3.0]
    assert make(large, torch.float8_e4m3fn).float().tolist() == [448.0, -448.0, 448.0, 3.0]
    assert make([1 << 40, -500, 2], torch.float8_e4m3fn).float().tolist() == [448.0, -448.0, 2.0]
    assert make([float("nan")], torch.float8_e4m3fn).float().isnan().item()
    assert make([1e6, float("-inf")], torch.float8_e5m2).float().tolist() == [
        float("inf"), -float("inf")]
    assert make([-4.0, 0.5], torch.float8_e8m0fnu).float().tolist() == [4.0, 0.5]


def test_the_gradient_of_a_float8_cast_is_a_cast():
    x = torch.tensor([1000.0, 1.0], requires_grad=True)
    x.to(torch.float8_e4m3fn).float().sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]

"""NOTE [Forked processes]. Each test runs in a process of its own, which forks."""

import os
import subprocess
import sys
import textwrap

import pytest

from jaxflow._exec import forking

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no os.fork on this system")

# A child that hangs is killed, so that the test ends and says so; what computes takes a fraction of that.
_PRELUDE = """
import io, os, pickle, signal, sys, threading, warnings
warnings.simplefilter("ignore")
import numpy as np
import jaxflow as torch

def child(fn):
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        signal.alarm(120)
        try:
            said = str(fn())
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        print(said.replace(chr(10), " "), flush=True)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0, "the child did not end"

def use_xla():
    x = torch.ones(400, 400)
    for _ in range(3):
        y = x @ x
        y.sum().item()
    return x, y
"""


def run(program, **flags):
    found = subprocess.run(
        [sys.executable, "-c", _PRELUDE + textwrap.dedent(program)], capture_output=True, text=True,
        check=False, env={**os.environ, "JAX_PLATFORMS": "cpu", **flags},
    )
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout.splitlines()


@pytest.mark.parametrize("interpret", ["0", "1"])
def test_a_child_forked_before_anything_was_computed_computes(interpret):
    assert run("""
        x = torch.arange(4.0)   # recorded, and not yet run
        y = x * 2
        child(lambda: (y + 1).tolist())
        print((y + 1).tolist())
    """, JAXFLOW_INTERPRET=interpret) == ["[1.0, 3.0, 5.0, 7.0]"] * 2


def test_a_child_of_a_process_that_needed_only_numpy_computes():
    assert run("""
        x = torch.arange(4.0)
        x.sum().item()
        child(lambda: (x * 2).tolist())
    """) == ["[0.0, 2.0, 4.0, 6.0]"]


def test_a_lock_that_another_thread_held_at_the_fork_is_free():
    assert run("""
        from jaxflow._plans.plan import build_lock
        held, end = threading.Event(), threading.Event()
        def hold():
            with build_lock:
                held.set()
                end.wait()
        thread = threading.Thread(target=hold)
        thread.start()
        held.wait()
        child(lambda: (torch.arange(3.0) + 1).tolist())
        end.set()
        thread.join()
    """) == ["[1.0, 2.0, 3.0]"]


_COMPUTING = {
    "an operation": "x + 1",
    "a small operation": "small + 1",
    "creation": "torch.zeros(3)",
    "random numbers": "torch.rand(3)",
    "in place": "small.add_(1)",
    "a pending number": "pending.sum().item()",
    "a program recorded before": "torch.flush()",
    "a view": "small[1:].fill_(2)",
    "forward": "linear(small)",
    "backward": "loss.backward()",
    "a step": "optimizer.step()",
    "a compiled function": "compiled(small)",
    "eager": "eager(lambda: small * 3)",
    "vmap": "torch.vmap(torch.sin)(small)",
    "a jax array": "small.jax()",
    "another thread": "in_thread(lambda: small + 1)",
}


@pytest.mark.parametrize("interpret", ["0", "1"])
def test_a_child_of_a_process_that_used_xla_says_what_to_do(interpret):
    found = run(f"""
        x, y = use_xla()
        small = torch.ones(3)
        linear = torch.nn.Linear(3, 2)
        optimizer = torch.optim.Adam(linear.parameters())
        compiled = torch.compile(lambda a: a * 2 + 1)
        for _ in range(3):
            compiled(small).tolist()
            loss = linear(small).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        torch.flush()
        loss = linear(small).sum()
        loss.item()
        pending = x @ x + 1
        def eager(fn):
            with torch.execution("eager"):
                return fn()
        def in_thread(fn):
            said = []
            def call():
                try:
                    said.append(fn())
                except RuntimeError as error:
                    said.append(error)
            thread = threading.Thread(target=call)
            thread.start()
            thread.join()
            raise said[0]
        for source in {list(_COMPUTING.values())!r}:
            child(lambda: eval(source))
        print((small + 1).tolist(), pending[0, 0].item())
    """, JAXFLOW_INTERPRET=interpret)
    assert found == [f"RuntimeError: {forking.refused()}"] * len(_COMPUTING) + ["[2.0, 2.0, 2.0] 401.0"]


def test_what_is_known_can_be_read_and_sent():
    assert run("""
        x, y = use_xla()
        small = torch.ones(3)
        small.tolist()
        y.tolist()
        sent = pickle.dumps((small, y))
        child(lambda: small.tolist())
        child(lambda: y.tolist()[0][0])
        child(lambda: (x.shape, x.dtype, float(y.numpy().sum())))
        child(lambda: pickle.loads(sent)[0].tolist())
        child(lambda: pickle.loads(pickle.dumps(y)).tolist()[0][0])
        child(lambda: torch.tensor([1, 2]).tolist())
        child(lambda: torch.save({"y": y}, io.BytesIO()))
    """, JAXFLOW_INTERPRET="0") == [
        "[1.0, 1.0, 1.0]", "400.0", "(torch.Size([400, 400]), torch.float32, 64000000.0)",
        "[1.0, 1.0, 1.0]", "400.0", "[1, 2]", "None",
    ]


def test_a_pool_reports_the_error_and_the_parent_goes_on():
    assert run("""
        import multiprocessing
        def double(t):
            return (t * 2).tolist()
        x, y = use_xla()
        with multiprocessing.get_context("fork").Pool(2) as pool:
            try:
                pool.map(double, [torch.ones(3), x])
            except RuntimeError as error:
                print(str(error).partition(":")[0])
            print(pool.map(abs, [-1, -2]))
        os.system("true")
        print((x[0, :2] * 2).tolist())
    """) == ["Cannot compute in a forked process", "[1, 2]", "[2.0, 2.0]"]


def test_what_is_replaced_has_no_closure():
    """Or its code could not be replaced in the child."""
    for function in forking.ENTRIES:
        assert not function.__code__.co_freevars, function

"""What ``numpy()`` gives: of tensors that stay an array of one memory, of temporaries a copy."""

import subprocess
import sys
import weakref

import jax
import numpy as np
import pytest

import jaxflow as torch
from jaxflow._core import flags
from jaxflow._core.shared import SHARED
from jaxflow._exec import result_buffers
from jaxflow._memory import lending

pytestmark = pytest.mark.usefixtures("executor")


@pytest.fixture
def lent(monkeypatch):
    """The tensors that were lent, by their shapes."""
    from jaxflow._api.tensor import core

    found, lend = [], core.lend
    monkeypatch.setattr(core, "lend", lambda t, **how: found.append(tuple(t.shape)) or lend(t, **how))
    return found


def made():
    return torch.ones(3) * 2


def test_the_array_of_a_temporary_is_a_copy_that_can_be_written_to(lent):
    a = made().numpy()
    before = set(SHARED)  # of which some may go at any time
    b = made().sum().numpy()
    assert a.flags.writeable and not a.flags.owndata and a.tolist() == [2, 2, 2] and b == 6
    assert before.issuperset(SHARED)
    if not hasattr(torch.Tensor.numpy, "__wrapped__"):  # code that looks for overrides refers to it as well
        assert bool(lent) == (not lending.TEMPORARY)
    a[1] = 5
    assert a.tolist() == [2, 5, 2] and made().tolist() == [2, 2, 2]


ALONE = """
import jaxflow as torch
from jaxflow._core.shared import SHARED
from jaxflow._memory import lending

with torch.execution({executor!r}):
    held = [(torch.ones(3) * 2).numpy(), (torch.ones(3) * 2).sum().numpy()]
assert not hasattr(torch.Tensor.numpy, "__wrapped__")
assert lending.TEMPORARY and not len(SHARED), len(SHARED)
"""


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="no references are counted")
def test_nothing_is_lent_of_a_temporary_in_a_process_of_its_own(executor):
    subprocess.run([sys.executable, "-c", ALONE.format(executor=executor)], check=True)


@pytest.fixture
def given(monkeypatch):
    """Whether the memory of each large result that was asked for was given without a copy."""
    found, exclusive = [], result_buffers.exclusive

    def counted(array):
        result = exclusive(array)
        found.append(result is not None)
        return result

    monkeypatch.setattr(result_buffers, "exclusive", counted)
    return found


SIZE = result_buffers.LARGE // 4 * 2  # of float32, twice as much as is large
ASKED = {
    "itself": lambda t: (t + 1).numpy(), "detached": lambda t: (t + 1).detach().cpu().numpy(),
    "of_several": lambda t: (t.exp() * 2 + t).numpy(),
}


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED.keys())
def test_large_memory_of_a_temporary_is_given_and_nobody_elses(executor, ask, given):
    x = torch.ones(SIZE)
    kept = (x * 3, x.exp())
    seen = [x.sum().item(), *(k.sum().item() for k in kept)]
    first = ask(x)
    start = first[0]
    counted = lending.TEMPORARY and not hasattr(torch.Tensor.numpy, "__wrapped__")
    if counted and executor == "eager":  # programs may be interpreted at first
        assert given == [not flags.ASYNC]
    assert first.flags.writeable and (first == start).all()
    first[...] = -9
    second = ask(x)
    assert (second == start).all() and (first == -9).all()
    assert [x.sum().item(), *(k.sum().item() for k in kept)] == seen


HELD = {  # what has the memory of ``t`` when the caller has let go of ``t``; and how to look at it
    "its tensor": lambda t: t.detach(), "a view": lambda t: t[1:], "a clone": lambda t: t.clone(),
    "a jax array": lambda t: t.jax(), "another array": lambda t: np.asarray(t.jax()),
    "another jax array": lambda t: jax.device_put(t.jax(), jax.devices("cpu")[0]),
    "an array by DLPack": lambda t: np.from_dlpack(t.jax()),
}


@pytest.mark.parametrize("hold", HELD.values(), ids=HELD.keys())
def test_large_memory_that_others_have_is_not_given(hold):
    x, held = torch.ones(SIZE), []

    def made():
        t = x + 1
        held.append(hold(t))
        return t

    array = made().detach().numpy()
    array[...] = -9
    if hold in (HELD["its tensor"], HELD["a view"]):  # the same memory
        assert (held[0] == -9).all()
        held[0].fill_(4)
        assert (array[1:] == 4).all()
    else:
        assert (np.asarray(held[0]) == 2).all()


def test_a_result_that_a_graph_saved_stays_as_it_is():
    w = torch.ones(SIZE, requires_grad=True)
    y = w.exp()
    loss = y.sum()
    del y
    w.exp().detach().numpy()[...] = 0
    loss.backward()
    assert torch.allclose(w.grad, w.detach().exp())


def test_an_array_with_a_second_name_is_not_given():
    array = jax.jit(lambda x: x + 1)(np.ones(SIZE, np.float32))
    assert result_buffers.exclusive(array) is None  # nobody noted where it came from
    result_buffers.register([array], [0])
    alias = jax.device_put(array, jax.devices("cpu")[0])
    assert result_buffers.exclusive(array) is None
    del alias
    if not flags.ASYNC:
        assert result_buffers.exclusive(array).tolist() == array.tolist()


def named():
    t = made()
    return t, t.numpy()


def detached():
    t = made()
    return t, t.detach().numpy()


def in_a_list():
    held = [made()]
    return held, held[0].numpy()


def by_a_view():
    t = made()
    v = t.view(3, 1)
    held = [t]
    del t
    return v, held.pop().numpy()


def by_a_method_kept():
    t = made()
    method = t.numpy
    held = [t]
    del t
    return held, method()


def by_its_storage():
    held = [made()]
    storage = held[0].untyped_storage()
    return storage, held.pop().numpy()


def by_its_data():
    held = [made()]
    other = held[0].data
    return other, held.pop().numpy()


def by_a_weak_reference():
    held = [made()]
    found = weakref.ref(held[0])
    return found, held.pop().numpy()


@pytest.mark.parametrize("ask", [named, detached, in_a_list, by_a_view, by_a_method_kept, by_its_storage,
                                 by_its_data, by_a_weak_reference])
def test_what_somebody_else_can_reach_is_lent(lent, ask):
    other, a = ask()
    assert len(lent) == 1
    a[1] = 5
    if isinstance(other, torch.Tensor):
        assert other.flatten().tolist() == [2, 5, 2]
    elif isinstance(other, list) and other:
        assert other[0].tolist() == [2, 5, 2]
    elif not isinstance(other, (list, weakref.ref)):
        assert np.frombuffer(bytes(other.tolist()), np.float32).tolist() == [2, 5, 2]


def test_what_a_node_has_saved_is_lent(lent):
    """Which it finds by the cell of the version."""
    p = torch.ones(3, requires_grad=True)
    held = [made()]
    y = held[0] * p
    held.pop().numpy()
    assert lent == [(3,)] and y.tolist() == [2, 2, 2]


def test_no_result_is_the_array_itself():
    """Cold operations run on the memory itself, and what they return is theirs."""
    for _ in range(20):  # so often cold, a thread runs what comes next at once
        made().sum().item()
    for copied in (lambda t: t.copy_(t), lambda t: t.clone(), lambda t: t.to(torch.float32, copy=True)):
        t = torch.zeros(2)
        a = t.numpy()
        result = copied(t)
        a[1] = 6
        assert t.tolist() == [0, 6]
        assert result is t or result.tolist() == [0, 0]


def test_where_variables_are_not_counted_every_tensor_is_lent(lent, monkeypatch):
    from jaxflow._api.tensor import core

    monkeypatch.setattr(core, "TEMPORARY", 0)
    assert made().numpy().tolist() == [2, 2, 2] and lent == [(3,)]


def test_what_a_temporary_counts_is_what_a_method_sees():
    class Probe:
        def ask(self):
            return sys.getrefcount(self)

    kept = Probe()
    assert lending.TEMPORARY in (0, Probe().ask()) and lending.TEMPORARY < kept.ask()


def test_arrays_that_are_gone_are_forgotten_one_by_one():
    """Not by going through all that were lent, which takes time as the square of their number."""
    t = torch.ones(6).add_(1)
    arrays = [t[i:].numpy() for i in range(5)]
    memory = t._storage.value.memory
    assert len(memory.lent) == 5
    left = arrays.pop(2)
    dead = next(iter(memory.lent.values()))
    arrays.clear()
    assert [r() is left for r in memory.lent.values()] == [True]
    memory.lent = {id(dead): dead, **memory.lent}  # as where a signal broke off the call that takes it out
    assert memory.reachable() and len(memory.lent) == 1
    del left
    assert not memory.lent and not memory.reachable() and t._storage.value.__class__.__name__ == "Value"

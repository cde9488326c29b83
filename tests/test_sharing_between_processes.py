"""Tensors that processes share: sent by queues and as arguments, moved to shared memory."""

import glob
import os
import subprocess
import sys
import textwrap

import pytest

import jaxflow as torch
import jaxflow.multiprocessing as mp
from jaxflow._memory import memory_files

pytestmark = pytest.mark.skipif(not memory_files.AVAILABLE, reason="no files in memory on this system")


def names(process=None):
    """The names that this or another process has given, and that are there.

    What earlier tests have shared may go at any time, so tests ask only for what is new.
    """
    return set(glob.glob(f"/dev/shm/jaxflow_{process or os.getpid()}_*"))


def answer(orders, answers):
    """What another process does with what it is sent."""
    model = torch.nn.Linear(2, 1)
    for do, x in iter(orders.get, None):
        if do == "add":
            x.add_(1)
            answers.put(x.tolist())
        elif do == "train":
            torch.optim.SGD(x.parameters(), 0.5).step()
            answers.put([type(p).__name__ for p in x.parameters()])
        elif do == "keep":
            model.kept = x
            answers.put(x.is_shared())
        elif do == "back":
            answers.put(model.kept)
        elif do == "alias":
            x[0].fill_(3)
            answers.put((x[1].tolist(), x[0].untyped_storage() is x[1].untyped_storage(),
                         x[0].stride(), x[0].storage_offset(), x[0]._base is None))
        else:
            answers.put(eval(do, {"torch": torch, "x": x}))


@pytest.fixture(scope="module")
def other():
    """Asks another process, and gives its answer."""
    context = mp.get_context("spawn")
    orders, answers = context.Queue(), context.Queue()
    process = context.Process(target=answer, args=(orders, answers), daemon=True)
    process.start()

    def ask(do, x=None):
        orders.put((do, x))
        return answers.get(timeout=120)

    yield ask
    orders.put(None)
    process.join(60)


def test_both_sides_see_what_is_written(other):
    x = torch.arange(6.0).reshape(2, 3)
    assert not x.is_shared()
    assert other("add", x) == [[1, 2, 3], [4, 5, 6]]
    assert x.tolist() == [[1, 2, 3], [4, 5, 6]] and x.is_shared()
    assert other("keep", x) is True
    x.mul_(2)
    found = other("back")
    assert found.tolist() == x.tolist() == [[2, 4, 6], [8, 10, 12]]
    found[0] = 0  # its own memory came home
    assert x[0].sum().item() == 0 and found.data_ptr() == x.data_ptr()
    x[1] = 1
    assert other("back")[1].tolist() == [1, 1, 1]


def test_views_of_one_storage_stay_so(other):
    x = torch.zeros(3, 4, dtype=torch.int64)
    found = other("alias", [x.T[1:3], x[:, 1]])
    assert found == ([3, 3, 3], True, (1, 4), 1, True)
    assert x[:, 1:3].eq(3).all() and x[:, 0].eq(0).all()


def test_models_are_trained_by_others(other):
    model = torch.nn.Linear(2, 2)
    assert model.share_memory() is model and model.weight.is_shared()
    model(torch.ones(1, 2)).sum().backward()
    before = model.weight.detach().clone()
    with torch.no_grad():
        assert other("[type(p).__name__ for p in x.parameters()]", model) == ["Parameter", "Parameter"]
    assert other("x.weight.requires_grad and x.weight.is_leaf and x.weight.grad is None", model)
    assert other("torch.nn.init.constant_(x.weight, 3) is x.weight", model)
    assert model.weight.eq(3).all() and not before.eq(3).all()
    assert model(torch.ones(1, 2)).sub(model.bias).tolist() == [[6, 6]]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.bool, torch.complex64, torch.uint8])
def test_dtypes(other, dtype):
    x = torch.tensor([0, 1, 1]).to(dtype)
    assert other("(x.dtype == torch.ones(1).to(x.dtype).dtype, x.fill_(1).tolist())", x) == (True, [1, 1, 1])
    assert x.tolist() == [1, 1, 1]


def test_what_else_travels(other):
    x = torch.tensor([1 + 2j]).conj()
    assert other("x.tolist(), x.is_conj()", x) == ([1 - 2j], True)
    assert other("x.shape", torch.zeros(0, 3)) == (0, 3)
    assert other("x.device.type", torch.zeros(3, device="meta")) == "meta"
    assert other("x.requires_grad", torch.ones(2, requires_grad=True)) is True
    x = torch.ones(2)
    assert other("x.fill_(9).nbytes()", x.untyped_storage()) == 8
    assert x.untyped_storage().tolist() == [9] * 8


def test_a_graph_does_not_travel():
    y = torch.ones(2, requires_grad=True) * 2
    from multiprocessing.reduction import ForkingPickler

    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor"):
        ForkingPickler.dumps(y)
    assert ForkingPickler.loads(ForkingPickler.dumps(y.detach())).data_ptr() == y.data_ptr()


def test_names_go_with_the_tensors(other):
    before = names()
    x = torch.ones(3).share_memory_()
    assert len(names() - before) == 1
    assert other("x.sum().item()", x) == 3
    other("None")  # by now it has let go of what it was sent before
    assert len(names() - before) <= 2
    del x
    other("None")
    assert not names() - before


def run(program):
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, check=False,
                          text=True, timeout=200, cwd=os.path.dirname(os.path.dirname(__file__)))
    return done.stdout.split(), done.stderr


def test_the_sender_may_be_gone_before_its_message_is_read():
    out, err = run("""
        import os, glob
        import jaxflow as torch, jaxflow.multiprocessing as mp
        queue = mp.get_context("fork").SimpleQueue()
        pid = os.fork()
        if pid == 0:
            queue.put(torch.arange(3))
            os._exit(0)
        os.waitpid(pid, 0)
        print(queue.get().tolist() == [0, 1, 2])
        print(mp.get_sharing_strategy(), sorted(mp.get_all_sharing_strategies()) == [
            "file_descriptor", "file_system"])
    """)
    first = "file_descriptor" if sys.platform == "linux" else "file_system"
    assert out == ["True", first, "True"], err


def test_what_nobody_received_is_gone_at_the_end():
    out, err = run("""
        import glob, os
        import jaxflow as torch
        from multiprocessing.reduction import ForkingPickler
        x = torch.arange(3)
        ForkingPickler.dumps(x)
        print(len(glob.glob(f"/dev/shm/jaxflow_{os.getpid()}_*")), os.getpid())
    """)
    assert out[0] == "2", err
    assert not names(out[1])


def test_processes_that_are_forked_share_as_well():
    out, err = run("""
        import os
        import jaxflow as torch
        x = torch.arange(3).share_memory_()
        pid = os.fork()
        if pid == 0:
            x.add_(1)
            os._exit(0)
        os.waitpid(pid, 0)
        print(x.tolist() == [1, 2, 3])
    """)
    assert out == ["True"] and not err


def test_no_room_is_told(monkeypatch):
    def none(*_):
        raise OSError(28, "No space left on device")

    before = names()
    monkeypatch.setattr(os, "posix_fallocate", none)
    x = torch.ones(3)
    with pytest.raises(RuntimeError, match=r"unable to allocate shared memory \(shm\).*No space left"):
        x.share_memory_()
    assert not names() - before and not x.is_shared() and x.sum().item() == 3


def test_strategies():
    first = mp.get_sharing_strategy()
    try:
        for strategy in ("file_system", "file_descriptor"):
            mp.set_sharing_strategy(strategy)
            assert mp.get_sharing_strategy() == strategy
    finally:
        mp.set_sharing_strategy(first)
    with pytest.raises(AssertionError):
        mp.set_sharing_strategy("pigeons")

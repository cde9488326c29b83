"""The DataLoader by itself: host collation, worker threads, and their failures."""

import gc
import itertools
import subprocess
import sys
import threading
import time
import tracemalloc
import weakref

import jax
import numpy as np
import pytest

import jaxflow
from jaxflow._core import flags
from jaxflow._core.state import making_data
from jaxflow._exec import run
from jaxflow.utils import data as D


class Squares(D.Dataset):
    """Samples ``(i, i * i)``."""

    def __init__(self, n=10):
        self.n = n

    def __getitem__(self, i):
        return i, float(i * i)

    def __len__(self):
        return self.n


class Shared(D.IterableDataset):
    """Range that its workers share out."""

    def __init__(self, n):
        self.n = n

    def __iter__(self):
        info = D.get_worker_info()
        if info is None:
            return iter(range(self.n))
        return iter(range(info.id, self.n, info.num_workers))


def numbers(loader):
    return [np.asarray(b if isinstance(b, jaxflow.Tensor) else b[0]).tolist() for b in loader]


def workers():
    return [t for t in threading.enumerate() if t.name.startswith("DataLoader worker")]


def wait_for_no_workers():
    limit = time.monotonic() + 10
    while workers() and time.monotonic() < limit:
        time.sleep(0.01)
    return workers()


@pytest.fixture(autouse=True)
def no_workers_are_left():
    """Those of a test end with it: another test may count the threads of the process."""
    yield
    if workers():
        gc.collect()  # errors hold frames that hold iterators
        wait_for_no_workers()


@pytest.fixture
def no_workers():
    """No other test has workers any more."""
    gc.collect()  # errors of other tests hold frames that hold iterators
    assert wait_for_no_workers() == []


# ----- Host collation -----

ROWS = jaxflow.tensor(np.arange(48, dtype=np.float32).reshape(4, 4, 3))
HALVES = jaxflow.tensor(np.arange(24, dtype=np.float32).reshape(4, 6), dtype=jaxflow.bfloat16)
jaxflow.flush()


def programs_run():
    report = jaxflow.explain()
    return report["runs"] + report["interpreted"]


def operations(call):
    """How many operations ``call`` records, and how many programs it runs."""
    from jaxflow._core.state import state

    with jaxflow.execution("deferred"):
        jaxflow.flush()
        runs = programs_run()
        call()
        recorded = sum(p.ops for p in state.programs.values() if not p.closed)
        return recorded, programs_run() - runs


@pytest.mark.parametrize("wrap", [lambda d: d, lambda d: D.Subset(d, list(range(5, -1, -1)))])
def test_batches_of_tensors_record_nothing(wrap):
    tensors = D.TensorDataset(jaxflow.tensor(np.ones((6, 3), np.float32)), jaxflow.tensor([1] * 6))
    loader = D.DataLoader(wrap(tensors), batch_size=4, sampler=[0, 5, 2, 2, 1])
    batches = iter(loader)
    assert operations(lambda: next(batches)) == (0, 0)


@pytest.mark.parametrize(
    "sample",
    [
        lambda i: np.full((2, 2), i, np.float32),
        lambda i: jaxflow.tensor(np.full(3, i)),
        lambda i: ROWS[i],
        lambda i: ROWS[:, i].t(),
        lambda i: HALVES[i, ::2],
        lambda i: (np.float32(i), {"a": jaxflow.tensor(float(i))}),
        lambda i: i,
        float,
    ],
    ids=["array", "tensor", "row", "column", "bfloat16", "nested", "int", "float"],
)
def test_collating_known_values_records_nothing(sample):
    samples = [sample(i) for i in range(4)]
    jaxflow.flush()
    assert operations(lambda: D.default_collate(samples)) == (0, 0)
    if isinstance(samples[0], jaxflow.Tensor):
        assert D.default_collate(samples).tolist() == [s.tolist() for s in samples]


def test_samples_that_are_still_owed_are_stacked_as_one_operation():
    with jaxflow.execution("deferred"):
        samples = [jaxflow.tensor([float(i)]) * 2 for i in range(4)]
        batch = D.default_collate(samples)
        assert batch.tolist() == [[0.0], [2.0], [4.0], [6.0]]


def test_batches_do_not_alias_their_dataset():
    rows = jaxflow.tensor(np.arange(6, dtype=np.float32))
    loader = D.DataLoader(D.TensorDataset(rows), batch_size=6)
    (batch,) = next(iter(loader))
    batch.mul_(0)
    rows.add_(1)
    assert rows.tolist() == [1, 2, 3, 4, 5, 6]
    assert next(iter(loader))[0].tolist() == [1, 2, 3, 4, 5, 6]


def test_gathering_respects_an_own_getitem():
    class Doubled(D.TensorDataset):
        def __getitem__(self, i):
            return super().__getitem__(i)[0] * 2

    rows = jaxflow.tensor([1.0, 2.0, 3.0])
    assert numbers(D.DataLoader(Doubled(rows), batch_size=2)) == [[2, 4], [6]]


def test_gathered_rows_keep_their_history():
    rows = jaxflow.tensor([[1.0], [2.0]], requires_grad=True)
    (batch,) = next(iter(D.DataLoader(D.TensorDataset(rows), batch_size=2, sampler=[1, 1])))
    batch.sum().backward()
    assert rows.grad.tolist() == [[0.0], [2.0]]


# ----- Workers -----


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("prefetch", [1, 3])
def test_workers_keep_the_order(workers, prefetch):
    class Uneven(Squares):
        def __getitem__(self, i):
            time.sleep(0.004 if i % 3 == 0 else 0)
            return super().__getitem__(i)

    loader = D.DataLoader(
        Uneven(23), batch_size=2, num_workers=workers, prefetch_factor=prefetch
    )
    assert numbers(loader) == numbers(D.DataLoader(Squares(23), batch_size=2))
    assert len(loader) == 12


def test_out_of_order_gives_the_same_batches():
    loader = D.DataLoader(Squares(20), batch_size=3, num_workers=2, in_order=False)
    assert sorted(map(tuple, numbers(loader))) == sorted(
        map(tuple, numbers(D.DataLoader(Squares(20), batch_size=3)))
    )


@pytest.mark.parametrize("n", [0, 1, 5, 12])
@pytest.mark.parametrize("drop", [False, True])
def test_iterable_dataset_is_shared_out(n, drop):
    loader = D.DataLoader(Shared(n), batch_size=2, num_workers=2, drop_last=drop)
    got = [int(i) for b in numbers(loader) for i in b]
    shares = [list(range(w, n, 2)) for w in range(2)]
    expected = [s[i : i + 2] for s in shares for i in range(0, len(s), 2)]
    if drop:
        expected = [b for b in expected if len(b) == 2]
    assert sorted(got) == sorted(i for b in expected for i in b)


def test_iterable_dataset_turns_alternate():
    loader = D.DataLoader(Shared(8), batch_size=2, num_workers=2)
    assert numbers(loader) == [[0, 2], [1, 3], [4, 6], [5, 7]]


def test_worker_info():
    seen = {}

    class Asks(Squares):
        def __getitem__(self, i):
            info = D.get_worker_info()
            seen[info.id] = (info.num_workers, info.seed, info.dataset is not dataset)
            return i

    dataset = Asks(8)
    loader = D.DataLoader(dataset, num_workers=2, worker_init_fn=seen.setdefault)
    list(loader)
    assert sorted(seen) == [0, 1]
    assert seen[0][0] == 2
    assert seen[1][1] == seen[0][1] + 1
    assert seen[0][2]
    assert D.get_worker_info() is None


def test_worker_info_is_fixed_and_has_generators_of_its_own():
    draws = {}

    class Draws(Squares):
        def __getitem__(self, i):
            info = D.get_worker_info()
            with pytest.raises(RuntimeError, match="Cannot assign attributes"):
                info.id = 3
            assert "seed=" in repr(info)
            draws[i] = (
                info.rng.random_generator.random(),
                float(info.rng.numpy_generator.random()),
                jaxflow.rand(1, generator=info.rng.torch_generator).item(),
            )
            return i

    def run(seed):
        draws.clear()
        generator = jaxflow.Generator().manual_seed(seed)
        list(D.DataLoader(Draws(4), num_workers=2, generator=generator))
        return dict(draws)

    assert run(1) == run(1) != run(2)


def test_each_worker_has_a_shallow_copy_of_the_dataset():
    class Part(D.IterableDataset):
        start = 0

        def __iter__(self):
            return iter(range(self.start, self.start + 2))

    def init(worker):
        D.get_worker_info().dataset.start = 10 * worker

    dataset = Part()
    loader = D.DataLoader(dataset, batch_size=2, num_workers=2, worker_init_fn=init)
    assert numbers(loader) == [[0, 1], [10, 11]]
    assert dataset.start == 0


class Broken(Squares):
    def __getitem__(self, i):
        if i == 3:
            raise KeyError(f"no sample {i}")
        return super().__getitem__(i)


def test_worker_failure_names_its_origin():
    batches = iter(D.DataLoader(Broken(6), num_workers=2))
    got = [next(batches)[0].item() for _ in range(3)]
    assert got == [0, 1, 2]
    with pytest.raises(KeyError, match=r"Caught KeyError in DataLoader worker thread 1.\n") as info:
        next(batches)
    assert "no sample 3" in str(info.value)
    assert "__getitem__" in str(info.value)
    assert next(batches)[0].item() == 4  # the others go on


def test_failure_that_is_not_made_of_a_message():
    class Odd(Exception):
        def __init__(self, a, b):
            super().__init__(a, b)

    class Fails(Squares):
        def __getitem__(self, i):
            raise Odd(1, 2)

    with pytest.raises(RuntimeError, match="Caught Odd in DataLoader worker thread 0"):
        next(iter(D.DataLoader(Fails(2), num_workers=1)))


@pytest.mark.parametrize("where", ["init", "iter", "collate"])
def test_failures_around_the_dataset(where):
    def fail(*args):
        raise ValueError("it broke")

    class Bad(D.IterableDataset):
        __iter__ = fail

    options = {
        "init": dict(dataset=Squares(4), worker_init_fn=fail),
        "iter": dict(dataset=Bad()),
        "collate": dict(dataset=Squares(4), collate_fn=fail),
    }[where]
    with pytest.raises(ValueError, match="it broke"):
        next(iter(D.DataLoader(num_workers=1, **options)))


def test_timeout():
    given_up = threading.Event()

    class Waits(Squares):
        def __getitem__(self, i):
            given_up.wait()
            return i

    loader = D.DataLoader(Waits(2), num_workers=1, timeout=0.05)
    try:
        with pytest.raises(RuntimeError, match="DataLoader timed out after 0.05 seconds"):
            next(iter(loader))
    finally:
        given_up.set()


@pytest.mark.usefixtures("no_workers")
def test_workers_end_with_their_iterator():
    batches = iter(D.DataLoader(Squares(50), num_workers=2))
    next(batches)
    assert len(workers()) == 2
    kept = weakref.ref(batches)
    gc.disable()
    try:
        del batches
        assert kept() is None
    finally:
        gc.enable()
    assert wait_for_no_workers() == []


@pytest.mark.usefixtures("no_workers")
def test_persistent_workers_are_used_again():
    loader = D.DataLoader(Squares(7), batch_size=2, num_workers=2, persistent_workers=True)
    expected = numbers(D.DataLoader(Squares(7), batch_size=2))
    assert numbers(loader) == expected
    first = set(workers())
    assert numbers(loader) == expected
    batches = iter(loader)
    next(batches)
    assert numbers(loader) == expected  # a pass that was broken off leaves nothing behind
    assert set(workers()) == first
    del loader, batches
    assert wait_for_no_workers() == []


def test_persistent_workers_iterate_again():
    loader = D.DataLoader(Shared(6), batch_size=2, num_workers=2, persistent_workers=True)
    assert numbers(loader) == numbers(loader) == [[0, 2], [1, 3], [4], [5]]


@pytest.mark.parametrize("num_workers", [0, 1])
def test_data_are_made_eagerly_and_the_executor_is_as_before(num_workers):
    class Computes(Squares):
        def __getitem__(self, i):
            return jaxflow.tensor([float(i)]) * 2

    for name in ("deferred", "eager"):
        with jaxflow.execution(name):
            loader = D.DataLoader(Computes(4), batch_size=2, num_workers=num_workers)
            batches = list(loader)
            assert all(b._storage.value.producer is None for b in batches)
            assert [b.tolist() for b in batches] == [[[0.0], [2.0]], [[4.0], [6.0]]]
            pending = batches[0] + 1
            assert (pending._storage.value.producer is None) == (name == "eager")


def test_samples_of_different_sizes_make_no_program_of_their_own():
    class Words(D.Dataset):
        def __len__(self):
            return 24

        def __getitem__(self, i):
            sample = jaxflow.full((8,), -1)
            word = jaxflow.arange(i * i % 7)
            sample[1 : 1 + len(word)] = word
            return sample

    with jaxflow.execution("deferred"):
        jaxflow.flush()
        before = programs_run()
        batches = list(D.DataLoader(Words(), batch_size=4))
        assert programs_run() == before
    assert batches[0][2].tolist() == [-1, 0, 1, 2, 3, -1, -1, -1]


def test_a_process_ends_while_workers_fetch():
    program = """
import jaxflow
from jaxflow.utils import data

class Busy(data.Dataset):
    def __len__(self):
        return 10_000

    def __getitem__(self, i):
        return jaxflow.ones(i % 50 + 2).cumsum(0)[:2] + i

batches = iter(data.DataLoader(Busy(), batch_size=4, num_workers=4))
print(next(batches).tolist()[3])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "[4.0, 5.0]\n"), done.stderr


def test_more_workers_than_cores_warn(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0}, raising=False)
    with pytest.warns(UserWarning, match="will create 2 worker threads in total"):
        D.DataLoader(Squares(2), num_workers=2)


def test_iterators_are_not_pickled():
    import pickle

    with pytest.raises(NotImplementedError):
        pickle.dumps(iter(D.DataLoader(Squares(2))))


def test_loader_can_be_pickled():
    import pickle

    loader = pickle.loads(pickle.dumps(D.DataLoader(Squares(5), batch_size=2)))
    assert numbers(loader) == [[0, 1], [2, 3], [4]]
    with pytest.raises(ValueError, match="batch_size attribute should not be set"):
        loader.batch_size = 3


@pytest.mark.parametrize("num_workers", [0, 2])
def test_small_samples_are_made_without_xla(num_workers, monkeypatch):
    class Cut(D.Dataset):
        def __len__(self):
            return 12

        def __getitem__(self, i):
            x = jaxflow.zeros(16)
            x[i : i + 3] = jaxflow.tensor([1.0, 2.0, 3.0])[: 16 - i]
            return (x * (i + 1)).reshape(4, 4).T

    def batches():
        return [b.tolist() for b in D.DataLoader(Cut(), batch_size=5, num_workers=num_workers)]

    with monkeypatch.context() as m:
        m.setattr(flags, "INTERPRET", False)
        expected = batches()

    through_xla = run._run_concrete

    def by_xla(plan, arrays):
        if plan.name == "_randint":  # the loader's seed
            return through_xla(plan, arrays)
        raise AssertionError(f"{plan.name} went to XLA")

    monkeypatch.setattr(run, "_run_concrete", by_xla)
    assert batches() == expected
    with pytest.raises(AssertionError, match="_full went to XLA"), jaxflow.execution("eager"):
        jaxflow.ones(1)


def test_samples_with_large_operations_tracers_or_vmap_are_made_as_elsewhere():
    class Odd(D.Dataset):
        def __len__(self):
            return 3

        def __getitem__(self, i):
            x = jaxflow.arange(3.0)
            if i == 0:
                return (jaxflow.ones(700, 700) + 1).sum()
            if i == 1:
                return jaxflow.vmap(lambda r: r * r)(x).sum()
            return jaxflow.func.grad(lambda t: (t * t * t).sum())(x).sum()

    assert next(iter(D.DataLoader(Odd(), batch_size=3))).tolist() == [980000.0, 5.0, 15.0]
    with making_data(), pytest.raises(OverflowError, match="int too big to convert"):
        jaxflow.arange(3) + 2**70
    with making_data():
        traced = jax.jit(lambda a: (jaxflow.from_jax(a) * 2 + 1).jax())(np.ones(2, np.float32))
    assert traced.tolist() == [3.0, 3.0]


def test_collating_what_lies_on_the_host_makes_no_jax_array(monkeypatch):
    from jaxflow._core import value

    class Rows(D.Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            x = jaxflow.zeros(6, dtype=jaxflow.long)
            x[1:3] = jaxflow.tensor([i, i + 1])
            return x, x.gather(0, jaxflow.tensor([2, 1]))

    loader = D.DataLoader(Rows(), batch_size=2, sampler=range(4))
    expected = [[t.tolist() for t in batch] for batch in loader]

    def refuse(*_):
        raise AssertionError("made a jax array")

    monkeypatch.setattr(value, "device_array", refuse)
    assert [[t.tolist() for t in batch] for batch in loader] == expected
    assert expected[1][1] == [[3, 2], [4, 3]]


@pytest.mark.parametrize("replacement", [True, False])
def test_a_random_sampler_of_endlessly_many_samples_holds_none_of_them(replacement):
    tracemalloc.start()
    try:
        sampler = D.RandomSampler(range(5), replacement, num_samples=10**8)
        assert set(itertools.islice(sampler, 200)) == set(range(5))
        assert tracemalloc.get_traced_memory()[1] < 10**7  # a number of each block of 32 would be 25 MB
    finally:
        tracemalloc.stop()

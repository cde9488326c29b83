"""Datasets, samplers, collating and the DataLoader, each held against PyTorch's."""

import collections
import itertools

import numpy as np
import pytest

import jaxflow
from compat_tests.harness import Case, check, raises, rand, warns


def run(function):
    """Check ``function(T)`` under both executors."""

    @pytest.mark.usefixtures("executor")
    def test():
        check(Case(function.__name__, function), jaxflow)

    return test


def squares(T, n=10):
    class Squares(T.utils.data.Dataset):
        def __getitem__(self, i):
            if not -n <= i < n:
                raise IndexError(f"{i} is not in the dataset")
            return i, float(i * i)

        def __len__(self):
            return n

    return Squares()


def counting(T, n=7, length=None):
    class Counting(T.utils.data.IterableDataset):
        def __iter__(self):
            return iter(range(n))

    if length is not None:
        Counting.__len__ = lambda self: length
    return Counting()


# ----- Datasets -----


@run
def test_tensor_dataset(T):
    D = T.utils.data
    a, b = rand(T, 4, 2), T.arange(4)
    data = D.TensorDataset(a, b)
    return (
        len(data),
        data[1],
        data[-1],
        data[1:3],
        data[[0, 2]],
        data[T.tensor([3, 0])],
        raises(lambda: data[4]),
        raises(lambda: D.TensorDataset(a, T.arange(3))),
        list(data.tensors),
    )


@run
def test_concatenation(T):
    D = T.utils.data
    data = squares(T, 3) + squares(T, 2) + D.TensorDataset(rand(T, 2, 1))
    return (
        len(data),
        [data[i] for i in range(-7, 7)],
        data.cumulative_sizes,
        raises(lambda: data[-8]),
        raises(lambda: data[7]),
        raises(lambda: D.ConcatDataset([])),
        raises(lambda: D.ConcatDataset([counting(T)])),
        warns(lambda: data.cummulative_sizes),
    )


@run
def test_chain(T):
    D = T.utils.data
    chain = counting(T, 2) + counting(T, 3)
    return (
        list(chain),
        raises(chain.__len__),
        len(D.ChainDataset([counting(T, 2, 5), counting(T, 1, 1)])),
        raises(lambda: list(D.ChainDataset([squares(T)]))),
        raises(lambda: len(D.ChainDataset([squares(T)]))),
    )


@run
def test_stack(T):
    D = T.utils.data
    pair = D.StackDataset(squares(T, 3), squares(T, 3))
    named = D.StackDataset(x=squares(T, 3), y=D.Subset(squares(T), [5, 6, 7]))

    class Short(type(squares(T))):
        def __getitems__(self, indices):
            return []

    return (
        len(pair),
        pair[1],
        named[2],
        pair.__getitems__([0, 2]),
        named.__getitems__([1]),
        raises(D.StackDataset),
        raises(lambda: D.StackDataset(squares(T, 1), squares(T, 2))),
        raises(lambda: D.StackDataset(a=squares(T, 1), b=squares(T, 2))),
        raises(lambda: D.StackDataset(squares(T, 1), b=squares(T, 1))),
        raises(lambda: D.StackDataset(Short()).__getitems__([1])),
    )


@run
def test_subset(T):
    D = T.utils.data
    data = D.Subset(squares(T), [7, 1, 5])

    class Half(D.Subset):
        def __getitem__(self, i):
            return super().__getitem__(i)

    return (
        len(data),
        data[0],
        data[-1],
        data.__getitems__([2, 0]),
        D.Subset(D.TensorDataset(rand(T, 4)), [3, 1, 0])[[0, 2]],
        raises(lambda: data[3]),
        raises(
            lambda: Half(squares(T), [1]),
            phrase="Half overrides __getitem__ but not __getitems__.",
            because="the advice that follows is in other words",
        ),
    )


@run
def test_unfinished_datasets(T):
    D = T.utils.data
    return (
        raises(lambda: D.Dataset()[0]),
        raises(lambda: len(D.Dataset())),
        raises(lambda: iter(D.Sampler())),
        raises(lambda: len(D.DataLoader(counting(T)))),
    )


@run
def test_random_split(T):
    D = T.utils.data

    def sizes(n, lengths):
        parts = D.random_split(list(range(n)), lengths)
        seen = sorted(i for part in parts for i in part.indices)
        return [len(p) for p in parts], seen == list(range(n)), [type(p).__name__ for p in parts]

    return (
        sizes(10, [3, 7]),
        sizes(10, [0.5, 0.3, 0.2]),
        sizes(11, [0.3, 0.3, 0.4]),
        sizes(5, [0, 5]),
        warns(lambda: sizes(2, [0.4, 0.6, 0.0])),
        raises(lambda: sizes(10, [3, 3])),
        raises(lambda: sizes(10, [0.5, 0.1])),
        raises(lambda: sizes(10, [-0.5, 1.5])),
        D.random_split([1], [1])[0][0],
    )


# ----- Samplers -----


@run
def test_samplers(T):
    D = T.utils.data
    data = squares(T)
    sequential = D.SequentialSampler(data)
    shuffled = D.RandomSampler(data)
    more = D.RandomSampler(data, num_samples=25)
    drawn = D.RandomSampler(data, replacement=True, num_samples=70)
    some = D.SubsetRandomSampler([3, 5, 9])
    weighted = D.WeightedRandomSampler([0.0, 1.0, 0.0, 2.0], 20)
    once = D.WeightedRandomSampler([0.1, 1.0, 3.0], 3, replacement=False)
    return (
        list(sequential),
        [len(s) for s in (sequential, shuffled, more, drawn, some, weighted, once)],
        sorted(shuffled),
        sorted(list(more)[:20]) == sorted([*range(10), *range(10)]),
        len(list(more)),
        len(list(drawn)),
        set(drawn) <= set(range(10)),
        sorted(some),
        set(weighted) <= {1, 3},
        sorted(once),
        weighted.weights,
        [s.num_samples for s in (shuffled, more, drawn, weighted)],
    )


@run
def test_generators_make_samplers_repeatable(T):
    D = T.utils.data

    def draws(make):
        first, second = (list(make(T.Generator().manual_seed(5))) for _ in range(2))
        return first == second

    def twice(make):
        """One generator gives another order each time it is used."""
        sampler = make(T.Generator().manual_seed(5))
        return list(sampler) != list(sampler)

    makers = [
        lambda g: D.RandomSampler(range(40), generator=g),
        lambda g: D.RandomSampler(range(40), replacement=True, generator=g),
        lambda g: D.SubsetRandomSampler(range(40), generator=g),
        lambda g: D.WeightedRandomSampler([1.0] * 40, 40, generator=g),
    ]
    T.manual_seed(3)
    a = list(D.RandomSampler(range(40)))
    b = list(D.RandomSampler(range(40)))
    T.manual_seed(3)
    c = list(D.RandomSampler(range(40)))
    return [draws(m) for m in makers], [twice(m) for m in makers], a == b, a == c


@run
def test_sampler_errors(T):
    D = T.utils.data
    data = squares(T)
    return [
        raises(lambda: D.RandomSampler(data, replacement=1)),
        raises(lambda: D.RandomSampler(data, num_samples=0)),
        raises(lambda: D.RandomSampler(data, num_samples=2.0)),
        raises(lambda: D.RandomSampler([])),
        raises(lambda: D.WeightedRandomSampler([1.0], 0)),
        raises(lambda: D.WeightedRandomSampler([1.0], True)),
        raises(lambda: D.WeightedRandomSampler([1.0], 1, replacement=1)),
        raises(lambda: D.WeightedRandomSampler([[1.0]], 1)),
        raises(lambda: D.BatchSampler(range(3), 0, False)),
        raises(lambda: D.BatchSampler(range(3), True, False)),
        raises(lambda: D.BatchSampler(range(3), 1.0, False)),
        raises(lambda: D.BatchSampler(range(3), 1, None)),
    ]


@run
def test_batch_sampler(T):
    D = T.utils.data
    rows = itertools.product((0, 1, 5, 6), (1, 2, 5, 7), (False, True))
    return [
        (list(s), len(s))
        for s in (D.BatchSampler(range(n), size, drop) for n, size, drop in rows)
    ]


@run
def test_distributed_sampler(T):
    D = T.utils.data
    out = []
    for n, replicas, drop in itertools.product((1, 7, 8), (1, 2, 3), (False, True)):
        shares = [
            D.DistributedSampler(range(n), replicas, r, shuffle=False, drop_last=drop)
            for r in range(replicas)
        ]
        out.append([(list(s), len(s)) for s in shares])
    shuffled = [D.DistributedSampler(range(8), 2, r, seed=3) for r in range(2)]
    first = [list(s) for s in shuffled]
    for s in shuffled:
        s.set_epoch(1)
    second = [list(s) for s in shuffled]
    return (
        out,
        sorted(sum(first, [])),
        first != second,
        raises(lambda: D.DistributedSampler(range(3), 2, 2)),
        raises(lambda: D.DistributedSampler(range(3), 2, -1)),
    )


# ----- Collating -----

Point = collections.namedtuple("Point", "x y")  # noqa: PYI024 - what programs with PyTorch use


class Bag(dict):
    """A mapping that carries more than its items."""

    name = "bag"


class Row(list):
    """A sequence that carries more than its items."""


@run
def test_default_collate(T):
    collate = T.utils.data.default_collate
    bag = Bag(a=1)
    bag.name = "mine"
    row = Row([1, 2.0])
    batches = [
        [T.ones(2), T.zeros(2)],
        [T.tensor(1), T.tensor(2)],
        [T.ones(1, dtype=T.bfloat16)] * 3,
        [T.ones(2, dtype=T.int8), T.ones(2)],
        [rand(T, 2, 3).t(), rand(T, 2, 3).t()],
        [np.ones((2, 2), np.float32)] * 2,
        [np.arange(3), np.arange(3)],
        [np.ones(2, np.bool_), np.zeros(2, np.bool_)],
        [np.float32(1.5), np.float32(2.5)],
        [np.int16(1), np.int16(2)],
        [np.float64(1.5)],
        [np.bool_(True), np.bool_(False)],
        [1, 2, 3],
        [True, False],
        [1.5, 2.5],
        ["a", "b"],
        [(1, "x"), (2, "y")],
        [[1, 2.0], [3, 4.0]],
        [{"a": 1, "b": [T.ones(1)]}, {"a": 2, "b": [T.zeros(1)]}],
        [Point(1, 2.0), Point(3, 4.0)],
        [()],
        [[], []],
        [range(2), range(2)],
    ]
    kept, rowed = collate([bag, bag]), collate([row, row])
    return (
        [list(b) if isinstance(b := collate(batch), Point) else b for batch in batches],
        type(collate([Point(1, 2)])).__name__,
        (type(kept).__name__, kept.name, dict(kept)),
        (type(rowed).__name__, list(rowed)),
        [type(x).__name__ for x in collate([b"x", b"y"])],
    )


@run
def test_default_collate_errors(T):
    collate = T.utils.data.default_collate
    return [
        raises(lambda: collate([object()]), phrase="default_collate: batch must contain tensors",
               because="the object's address is in the message"),
        raises(lambda: collate([None, None])),
        raises(lambda: collate([{1}, {2}])),
        raises(lambda: collate([T.ones(2), T.ones(3)])),
        raises(lambda: collate([np.ones(2), np.ones(3)])),
        raises(lambda: collate([[1, 2], [3]])),
        raises(lambda: collate([{"a": 1}, {"b": 1}])),
        raises(lambda: collate([np.array(["a"])])),
        raises(lambda: collate([np.array([None])])),
        raises(lambda: collate([])),
        raises(lambda: collate([1, None])),
    ]


@run
def test_collate_keeps_history(T):
    a = rand(T, 2, requires_grad=True)
    batch = T.utils.data.default_collate([a, a * 2])
    batch.sum().backward()
    return batch, a.grad


@run
def test_default_convert(T):
    convert = T.utils.data.default_convert
    values = [
        T.ones(2),
        np.ones(2, np.float32),
        np.float32(2),
        3,
        2.5,
        "text",
        None,
        [np.ones(1), 1],
        (np.ones(1), 1),
        {"a": np.arange(2), "b": "c"},
    ]
    point = convert(Point(np.ones(1), 2))
    return (
        [convert(v) for v in values],
        type(point).__name__,
        list(point),
        [type(convert(v)).__name__ for v in (np.array(["a"]), np.str_("a"), b"x", {1}, range(2))],
    )


@run
def test_collate_with_a_map(T):
    import importlib

    module = importlib.import_module(T.__name__ + ".utils.data._utils.collate")

    class Own:
        def __init__(self, v):
            self.v = v

    def together(batch, *, collate_fn_map=None):
        return sum(o.v for o in batch)

    table = {**module.default_collate_fn_map, Own: together}
    return module.collate([{"a": Own(1), "b": 1}, {"a": Own(2), "b": 2}], collate_fn_map=table)


# ----- DataLoader -----


@run
def test_loader_batches(T):
    D = T.utils.data
    tensors = D.TensorDataset(rand(T, 7, 2), T.arange(7), rand(T, 7, dtype="bfloat16"))
    sets = [squares(T, 7), tensors, D.Subset(tensors, [6, 2, 0, 1, 3, 4, 5]), list(range(7))]
    sets.append(D.ConcatDataset([squares(T, 3), squares(T, 4)]))
    return [
        (list(loader), len(loader))
        for data in sets
        for size, drop in ((1, False), (3, False), (3, True), (8, True))
        for loader in [D.DataLoader(data, batch_size=size, drop_last=drop)]
    ]


@run
def test_loader_options(T):
    D = T.utils.data
    data = squares(T, 5)
    tensors = D.TensorDataset(rand(T, 4, 2))
    return [
        list(D.DataLoader(data, batch_size=None)),
        list(D.DataLoader(tensors, batch_size=None)),
        list(D.DataLoader(tensors, batch_size=None, sampler=D.BatchSampler(range(4), 3, False))),
        list(D.DataLoader(data, sampler=[4, 0, 2], batch_size=2)),
        list(D.DataLoader(data, batch_sampler=[[1, 2], [3]])),
        list(D.DataLoader(tensors, batch_sampler=[[1, -1], [3, 3, 0]])),
        list(D.DataLoader(data, batch_size=2, collate_fn=str)),
        list(D.DataLoader(tensors, batch_size=2, collate_fn=lambda b: T.stack([x for x, in b]))),
        sorted(int(i) for b, _ in D.DataLoader(data, batch_size=2, shuffle=True) for i in b),
        list(D.DataLoader(counting(T), batch_size=3)),
        list(D.DataLoader(counting(T), batch_size=3, drop_last=True)),
        list(D.DataLoader(counting(T), batch_size=None)),
        list(D.DataLoader([], batch_size=2)),
        raises(lambda: list(D.DataLoader(tensors, sampler=[0, 4], batch_size=2))),
    ]


@run
def test_loader_lengths(T):
    D = T.utils.data
    return [
        len(D.DataLoader(counting(T, 7, 7), batch_size=3)),
        len(D.DataLoader(counting(T, 7, 7), batch_size=3, drop_last=True)),
        len(D.DataLoader(counting(T, 7, 7), batch_size=None)),
        len(D.DataLoader(squares(T), batch_size=None)),
        raises(lambda: len(D.DataLoader(counting(T)))),
        raises(lambda: len(D.DataLoader(squares(T), sampler=iter([1])))),
    ]


@run
def test_loader_warns_of_a_wrong_length(T):
    D = T.utils.data
    loader = D.DataLoader(counting(T, 5, 3), batch_size=None)
    length = len(loader)
    values, caught = warns(lambda: list(loader))
    phrases = ["was reported to be 3(when accessing len(dataloader)), but" in w[1] for w in caught]
    return length, values, phrases


@run
def test_loader_attributes(T):
    D = T.utils.data
    loader = D.DataLoader(squares(T), batch_size=2, shuffle=True)
    names = ["num_workers", "pin_memory", "drop_last", "timeout", "batch_size", "prefetch_factor",
             "persistent_workers", "in_order", "pin_memory_device", "multiprocessing_context"]
    loader.num_workers = 0
    return (
        [getattr(loader, name) for name in names],
        type(loader.sampler).__name__,
        type(loader.batch_sampler).__name__,
        loader.collate_fn is D.default_collate,
        [raises(lambda n=n: setattr(loader, n, 1))
         for n in ("batch_size", "sampler", "batch_sampler", "drop_last", "dataset",
                   "persistent_workers")],
        D.get_worker_info(),
    )


@run
def test_loader_errors(T):
    D = T.utils.data
    data = squares(T)

    def no(**options):
        return raises(lambda: D.DataLoader(data, **options))

    def nor(**options):
        return raises(lambda: D.DataLoader(counting(T), **options))

    return [
        no(num_workers=-1),
        no(timeout=-1),
        no(prefetch_factor=2),
        no(num_workers=1, prefetch_factor=-1),
        no(persistent_workers=True),
        no(shuffle=True, sampler=[1]),
        no(batch_sampler=[[1]], batch_size=2),
        no(batch_sampler=[[1]], shuffle=True),
        no(batch_sampler=[[1]], drop_last=True),
        no(batch_size=None, drop_last=True),
        no(batch_size=0),
        no(batch_size=2.0),
        no(multiprocessing_context="spawn"),
        no(num_workers=1, multiprocessing_context="no such"),
        no(num_workers=1, multiprocessing_context=3),
        nor(shuffle=True),
        nor(sampler=[1]),
        nor(batch_sampler=[[1]]),
        raises(lambda: D.DataLoader([], shuffle=True)),
        raises(lambda: iter(D.DataLoader(data, timeout=1))),
    ]


@run
def test_loader_shuffles_by_seed(T):
    D = T.utils.data

    def order(seed=None, generator=None):
        if seed is not None:
            T.manual_seed(seed)
        loader = D.DataLoader(range(30), batch_size=7, shuffle=True, generator=generator)
        return T.cat(list(loader)).tolist()

    g = T.Generator().manual_seed(4)
    a, b, c = order(1), order(1), order()
    d, e = order(generator=g), order(generator=g)
    f = order(generator=T.Generator().manual_seed(4))
    return a == b, a == c, d == e, d == f, sorted(a) == list(range(30))

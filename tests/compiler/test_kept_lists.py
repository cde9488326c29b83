"""Lists to which a compiled function appends, and which it also looks into, in whatever way."""

import dataclasses
import threading
from types import SimpleNamespace

import pytest
from running import check_same, numbers

import jaxflow as torch


def inputs(count, *shape):
    return [torch.randn(*shape) for _ in range(count)]


@dataclasses.dataclass
class Record:
    seen: list


def matched(record):
    match record:
        case Record(found):
            return len(found)


LOOKING = {
    "text": lambda record: "{.seen}".format(record).count("tensor"),  # noqa: UP032 (by that name)
    "getattr": lambda record: len(getattr(record, "seen")),  # noqa: B009
    "asdict": lambda record: len(dataclasses.asdict(record).popitem()[1]),
    "vars": lambda record: len([*vars(record).values()][0]),
    "match": matched,
    "method": lambda record: len(record.seen.append.__self__),
}


@pytest.mark.parametrize("way", LOOKING)
def test_a_list_that_is_looked_into_in_another_way(way, deferred):
    def found(compiler):
        record, look = Record([torch.ones(2)]), LOOKING[way]

        @compiler
        def f(x):
            record.seen.append(x.detach())
            return x * look(record)

        return [f(x) for x in inputs(5, 2)]

    torch.manual_seed(0)
    expected = numbers(found(lambda f: f))
    torch.manual_seed(0)
    check_same(numbers(found(torch.compile)), expected)


WRITES = {
    "append": lambda kept: kept.seen.append(kept.a),
    "flag": lambda kept: setattr(kept, "stop", True),
    "tensor": lambda kept: setattr(kept, "a", kept.b),
}


@pytest.mark.parametrize("what", WRITES)
def test_what_another_thread_stores_in_a_capture_is_not_repeated(what, deferred):
    kept = SimpleNamespace(seen=[], stop=False, a=torch.ones(2), b=torch.full((2,), 2.0))
    kept.a.tolist()  # it is there
    over = threading.Event()

    def write():
        while not over.is_set():
            if kept.a._storage.value.array is None:  # a capture has begun
                WRITES[what](kept)
                return

    @torch.compile
    def f(x):
        kept.seen.append  # noqa: B018 (only named, never read)
        y = x * 3 if kept.stop else x + kept.a
        for _ in range(1_000_000):
            pass
        return y + kept.b * 0

    other = threading.Thread(target=write)
    other.start()
    f(torch.ones(2))
    over.set()
    other.join()
    length = len(kept.seen)
    kept.stop, kept.a = False, torch.ones(2)
    for _ in range(4):
        assert f(torch.ones(2)).tolist() == [2.0, 2.0]
        assert len(kept.seen) == length and kept.stop is False and kept.a.tolist() == [1.0, 1.0]


def test_a_window_that_fills_up(executor):
    """Each length has a specialisation of its own; once it is full, one serves all calls."""

    class Window:
        def __init__(self):
            self.latest = []

        def step(self, x):
            y = x + sum(self.latest) * 0.5
            self.latest = [*self.latest[-3:], y]
            return y

    def called(compiler):
        window = Window()
        f = compiler(window.step)
        return [f(torch.full((2,), float(k))).tolist() for k in range(12)], f

    expected, _ = called(lambda f: f)
    found, f = called(torch.compile)
    assert found == expected
    about = f.explain()
    assert not about["python"] and about["specialisations"] <= 6 and about["hits"] >= 6

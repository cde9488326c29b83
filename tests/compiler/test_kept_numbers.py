"""Numbers that a compiled function changes: in attributes, lists, dicts, globals, closures and groups."""

import math
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from running import numbers

import jaxflow as torch
from jaxflow._core.symbolic_numbers import SymNumber

CASES = []
TOTAL = 0


def program(hits):
    """A function that gets a compiler and returns what is to be the same; ``hits`` calls ran no Python."""

    def add(make):
        CASES.append(pytest.param(make, hits, id=make.__name__))
        return make

    return add


def called(f, *, times=6, between=lambda i: None):
    found = []
    for i in range(times):
        between(i)
        found.append(f(torch.arange(3.0) + i))
    return found


# The first call finds out what changes, the second follows it.
@program(4)
def an_attribute(compiler):
    kept = SimpleNamespace(count=0, total=0.5, last=None)

    def f(x):
        kept.count += 1
        kept.total = kept.total * 0.5 + kept.count
        return x * kept.total

    return called(compiler(f)), vars(kept)


@program(4)
def a_list_and_a_dict(compiler):
    rates, table = [0.5, 1], {"a": 0.25, "b": 7}

    def f(x):
        rates[0], rates[1] = rates[0] / 2, rates[1] + 1
        table["b"] = table["b"] - table["a"]
        return x * rates[1] + table["b"]

    return called(compiler(f)), rates, table


@program(4)
def a_closure(compiler):
    count = 0

    def f(x):
        nonlocal count
        count += 2
        return x + count

    return called(compiler(f)), count


@program(4)
def a_global(compiler):
    global TOTAL
    TOTAL = 0

    def f(x):
        global TOTAL
        TOTAL = 1 - TOTAL * 2
        return x * TOTAL

    return called(compiler(f)), TOTAL


@program(3)
def attributes_of_classes(compiler):
    class Base:
        made, rate = 0, 0.5

        @classmethod
        def count(cls):
            cls.made += 1
            return cls.made

    class First(Base):
        made = 3

    class Second(Base):
        flag = False

    kept = [First(), Second()]

    def f(x):
        Base.rate = Base.rate * 0.75
        Second.flag = not Second.flag
        return x * (First.count() + Base.count()) + kept[1].rate + kept[1].flag

    return called(compiler(f)), First.made, Base.made, Base.rate, int(Second.flag)


@program(3)
def an_attribute_that_a_subclass_gets(compiler):
    class Base:
        made = 0

    class Sub(Base):
        pass

    def f(x):
        Sub.made += 1
        return x * Sub.made

    return called(compiler(f)), Sub.made, Base.made


def scaled(x, n):
    return x * n if type(n) is float else x


@program(4)
def beside_a_question_for_the_type_of_another(compiler):
    kept = SimpleNamespace(count=0)

    def f(x):
        kept.count += 1
        return scaled(x, 0.5) + kept.count + isinstance(kept.count, int)

    return called(compiler(f)), kept.count


@program(0)
def a_question_for_its_own_type(compiler):
    kept = SimpleNamespace(count=0.5)

    def f(x):
        kept.count += 1
        return scaled(x, kept.count)

    return called(compiler(f)), kept.count


@program(5)
def two_of_which_one_is_asked_for_its_type(compiler):
    kept = SimpleNamespace(count=0, rate=0.5)

    def between(i):
        kept.rate = 0.5 if i % 2 else 0.25

    def f(x):
        kept.count += 1
        return scaled(x, kept.rate) + kept.count

    return called(compiler(f), times=8, between=between), kept.count


@program(3)
def every_third_call(compiler):
    kept = SimpleNamespace(count=0)

    def f(x):
        kept.count += 1
        return x * 2 if kept.count % 3 == 0 else x + kept.count

    return called(compiler(f)), kept.count


@program(4)
def set_anew_between_calls(compiler):
    kept = SimpleNamespace(count=0, scale=1.5)

    def f(x):
        kept.count += 1
        return x * kept.count * kept.scale

    def between(i):
        if i == 4:
            kept.count = 100

    return called(compiler(f), between=between), kept.count


@program(4)
def by_chance_the_same(compiler):
    kept = SimpleNamespace(rate=0.5)

    def f(x):
        kept.rate = TARGET
        return x + 1

    def between(i):
        kept.rate = 0.25 * i if i != 1 else 0.5

    return called(compiler(f), between=between), kept.rate


TARGET = 0.5


@program(4)
def a_rate_by_hand(compiler):
    weight = torch.ones(3, requires_grad=True)
    opt = torch.optim.SGD([weight], lr=1.0, momentum=0.5)
    weight.grad = torch.ones(3)
    opt.step()

    def f(x):
        opt.param_groups[0]["lr"] *= 0.5
        opt.zero_grad()
        (weight * x).sum().backward()
        opt.step()

    called(compiler(f))
    return weight, opt.param_groups[0]["lr"]


@program(3)
def other_kinds(compiler):
    kept = SimpleNamespace(x=0)

    def f(x):
        kept.x = kept.x + 0.5 if isinstance(kept.x, float) else kept.x + 1
        return x * kept.x

    def between(i):
        if i == 4:
            kept.x = 0.25

    return called(compiler(f), between=between), kept.x


@program(3)
def a_number_and_nothing(compiler):
    kept = SimpleNamespace(x=None, n=0)

    def f(x):
        kept.n += 1
        kept.x = None if kept.x is not None else kept.n
        return x * kept.n

    return called(compiler(f), times=7), vars(kept)


@program(0)
def beside_a_schedule(compiler):
    weight = torch.ones(3, requires_grad=True)
    opt = torch.optim.SGD([weight], lr=1.0)
    schedule = torch.optim.lr_scheduler.ExponentialLR(opt, 0.5)
    weight.grad = torch.ones(3)

    def f(x):
        opt.step()
        schedule.step()
        opt.param_groups[0]["lr"] = 0.25

    called(compiler(f))
    return weight, opt.param_groups[0]["lr"], schedule.last_epoch


# Where the number itself is needed, it is compared by value: a specialisation each, no more than the limit.
@program(0)
def written_in_c(compiler):
    kept = SimpleNamespace(x=1)

    def f(x):
        kept.x += 1
        return x * math.exp(-kept.x) + len(f"{kept.x}") + np.float32(kept.x)

    return called(compiler(f), times=4), kept.x


# Appending is left to Python, but no number in disguise is left in what the call has made.
@program(0)
def kept_in_new_containers(compiler):
    kept = SimpleNamespace(count=0, seen=[], table={})

    def f(x):
        kept.count += 1
        kept.table = {"a": [kept.count], "b": (kept.count, {"c": SimpleNamespace(d=kept.count)})}
        kept.seen.append(kept.count)
        x.note = kept.count
        return x + 1

    called(compiler(f), times=4)
    deep = kept.table["b"][1]["c"].d
    return kept.count, kept.seen, kept.table["a"], kept.table["b"][0], deep


@pytest.mark.parametrize(("make", "hits"), CASES)
@pytest.mark.filterwarnings("ignore:.*was compiled")
def test_numbers_go_on_as_in_python(make, hits, deferred):
    expected = make(lambda f: f)
    functions = []
    found = make(lambda f: functions.append(torch.compile(f)) or functions[-1])
    assert repr(numbers(found)) == repr(numbers(expected))
    check_plain(found)
    report = functions[0].explain()
    assert report["hits"] == hits, report


def check_plain(x):
    """That nothing is a number in disguise."""
    if isinstance(x, (list, tuple, dict)):
        for y in x.values() if isinstance(x, dict) else x:
            check_plain(y)
    else:
        assert type(x) in (int, float, type(None), torch.Tensor)


@pytest.mark.parametrize("where", ["before", "after"])
def test_an_exception_leaves_the_number_where_python_leaves_it(where, deferred):
    kept = SimpleNamespace(count=0)

    @torch.compile
    def f(x, fail):
        if where == "before" and fail:
            raise KeyError(kept.count)
        kept.count += 1
        if fail:
            raise TypeError(kept.count)
        return x + kept.count

    x = torch.zeros(1)
    for _ in range(3):
        f(x, False)
    with pytest.raises(KeyError if where == "before" else TypeError):
        f(x, True)
    assert type(kept.count) is int
    assert kept.count == (3 if where == "before" else 4)
    assert f(x, False).item() == kept.count


def test_what_a_number_in_disguise_breaks_runs_once_as_it_is(deferred):
    kept = SimpleNamespace(count=1, seen=[])

    @torch.compile
    def f(x):
        kept.count += 1
        kept.seen[:] = [*kept.seen[-3:], "called"]
        return x * int("12345"[kept.count]) * (b"x" * kept.count).count(b"x") + bytes(kept.count)[0]

    assert [f(torch.ones(1)).item() for _ in range(3)] == [3.0 * 2, 4.0 * 3, 5.0 * 4]
    assert kept.seen == ["called"] * 3
    assert type(kept.count) is int


def test_dynamic_false_follows_nothing(deferred):
    kept = SimpleNamespace(count=0)

    def f(x):
        kept.count += 1
        return x * kept.count

    compiled = torch.compile(f, dynamic=False)
    assert [compiled(torch.ones(1)).item() for _ in range(5)] == [1, 2, 3, 4, 5]
    assert compiled.explain()["hits"] == 0
    assert "count from" in compiled.explain()["python"][0]


@pytest.mark.parametrize("interrupted", [1, 2, 3])
def test_an_interrupt_leaves_what_was_done_before_it(interrupted, deferred):
    """In the first call, in the one that is captured for good, and after it."""
    def made():
        kept = SimpleNamespace(count=0, h=torch.zeros(2), seen=[])
        weight = torch.ones(2)

        def f(x, stop):
            kept.count += 1
            weight.mul_(2)
            kept.h = kept.h + weight
            if stop:
                raise KeyboardInterrupt
            return x + kept.h

        return f, kept, weight

    def found(compiler):
        f, kept, weight = made()
        f = compiler(f)
        for i in range(1, 6):
            try:
                f(torch.ones(2), i == interrupted)
            except KeyboardInterrupt:
                assert i == interrupted
        return kept.count, kept.h.tolist(), weight.tolist()

    assert found(torch.compile) == found(lambda f: f)


def test_an_attribute_that_got_another_storage_first_runs_as_python(deferred):
    kept = SimpleNamespace(a=torch.ones(2), b=torch.zeros(2), count=0)

    @torch.compile
    def f(x):
        kept.count += 1
        kept.b.data = kept.a.data.clone()
        kept.b = kept.a.clone()
        return x + 1

    for _ in range(4):
        f(torch.ones(2))
    assert kept.b.tolist() == [1.0, 1.0]
    assert kept.count == 4


def test_threads_count_each_call_once(deferred):
    kept, weight = SimpleNamespace(count=0), torch.zeros(2)

    @torch.compile
    def f(x):
        kept.count += 1
        weight.add_(1)
        return x + kept.count

    x = torch.zeros(1)
    for _ in range(3):
        f(x)
    found: list = []

    def run():
        found.extend(f(x).item() for _ in range(50))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(found) == [float(i) for i in range(4, 104)]
    assert kept.count == 103
    assert weight.tolist() == [103.0] * 2


@pytest.fixture
def quick_turns():
    """Threads take turns much oftener than they do by default."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.parametrize("value", [None, 0.5])
def test_what_another_thread_writes_meanwhile_is_not_repeated(value, deferred, quick_turns):
    """It adds to the number, or sets it, while a call is captured that only reads it."""
    wrote = False
    for _ in range(50):  # until the other thread came in between
        kept = SimpleNamespace(rate=1.0)
        over = threading.Event()

        def write(kept=kept, over=over):
            while not over.is_set():
                if type(kept.rate) is SymNumber:
                    kept.rate = kept.rate + 1 if value is None else value
                    return

        @torch.compile
        def f(x, kept=kept):
            y = x * kept.rate
            for _ in range(100_000):
                pass
            return y

        f(torch.ones(1))
        kept.rate = 2.0  # followed from here on
        other = threading.Thread(target=write)
        other.start()
        # It may have written before the function read the number.
        assert f(torch.ones(1)).item() in (2.0, 3.0 if value is None else value)
        over.set()
        other.join()
        wrote |= kept.rate != 2.0
        assert type(kept.rate) is float
        kept.rate = 7.0
        for _ in range(4):
            assert f(torch.ones(1)).item() == 7.0
            assert kept.rate == 7.0
        if wrote:
            break
    assert wrote

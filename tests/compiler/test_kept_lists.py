"""Lists to which a compiled function appends, and which it also looks into, in whatever way."""

import copy
import dataclasses
import threading
from types import SimpleNamespace

import pytest
from running import check_same, numbers

import jaxflow as torch


def inputs(count, *shape):
    return [torch.randn(*shape) for _ in range(count)]


def hits_of(found):
    """How many calls ran no Python, of what ``found(compiler)`` does as it does it without a compiler."""
    torch.manual_seed(0)
    expected, _ = found(lambda f: f)
    torch.manual_seed(0)
    results, f = found(torch.compile)
    check_same(numbers(results), numbers(expected))
    return f.explain()["hits"]


@dataclasses.dataclass
class Record:
    seen: list


@dataclasses.dataclass
class Note:
    value: torch.Tensor


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


def plain(record):
    return getattr(record, "late", 0.5)


def nested(record):
    return getattr(getattr(record, "more", record), "late", 0.25) + getattr(record, "late", 1.0) * 2


def a_default_that_is_read(record):
    return getattr(record, "late", record.scale)


def a_name_from_elsewhere(record):
    return getattr(record, record.name, 0.5)


def a_name_put_together(record):
    return getattr(record, "se" + record.name, 0.5) and 0.25


def a_function_kept(record):
    read = getattr
    return read(record, "late", 0.5)


def a_name_by_condition(record):
    return getattr(record, "late" if record.scale else record.name, 0.5)


def names_in_a_row(record):
    return sum(getattr(record, name, 0.5) for name in ("late", "scale"))


CONSTANT = {plain: True, nested: True, a_default_that_is_read: True, a_name_from_elsewhere: False,
            a_name_put_together: False, a_function_kept: False, a_name_by_condition: False,
            names_in_a_row: False}


@pytest.mark.parametrize("way", CONSTANT, ids=lambda way: way.__name__)
def test_a_list_that_grows_beside_an_attribute_read_by_a_text(way, deferred):
    """Where the text stands in the call, it is known that the list is not what is read."""
    def found(compiler):
        record = SimpleNamespace(seen=[], scale=0.75, name="en")

        @compiler
        def f(x):
            record.seen.append(x.detach())
            return x * way(record)

        results = [f(x) for x in inputs(12, 2)]
        record.late = 3.0
        return [*results, *(f(x) for x in inputs(4, 2)), record.seen], f

    assert (hits_of(found) >= 13) == CONSTANT[way]


def in_a_dict(record, x):
    record.table[record.names[0]].append(x * 2)


def in_a_dict_and_read(record, x):
    record.table["a"].append(x * 2)
    return len(record.table[record.names[0]])


def in_a_dict_that_is_read(record, x):
    record.table["a"].append(x * 2)
    return sum(map(len, record.table.values()))


def in_a_dict_of_dicts(record, x):
    record.deep["b"]["a"].append(x * 2)


def beside_a_state(record, x):
    record.seen.append(x * 2)
    return len(record.net.state_dict())


def in_a_module(record, x):
    record.net.seen.append(x * 2)
    return len(record.net.state_dict())


def beside_a_record(record, x):
    record.seen.append(x * 2)
    record.note = dataclasses.replace(record.note, value=x)
    return len("text".replace("t", ""))


def beside_a_copy(record, x):
    record.seen.append(x * 2)
    record.names = copy.deepcopy(record.names)
    record.table["b"] = copy.copy(record.names)


def in_a_copy(record, x):
    record.listed.seen.append(x * 2)
    return len(copy.deepcopy(record.listed).seen)


def beside_a_copy_of_its_owner(record, x):
    record.listed.seen.append(x * 2)
    record.note = copy.copy(record).listed


def in_a_record(record, x):
    record.listed.seen.append(x * 2)
    return len(dataclasses.replace(record.listed).seen)


GROWING = {beside_a_copy: True, in_a_copy: False, beside_a_copy_of_its_owner: True,
           beside_a_record: True,
           in_a_record: False, in_a_dict: True, in_a_dict_and_read: False,
           in_a_dict_that_is_read: False, in_a_dict_of_dicts: False, beside_a_state: True, in_a_module: False}


@pytest.mark.parametrize("way", GROWING, ids=lambda way: way.__name__)
def test_a_list_elsewhere_that_grows(way, deferred):
    def found(compiler):
        record = SimpleNamespace(seen=[], table={"a": []}, names=["a"], net=torch.nn.Linear(2, 2),
                                 deep={"b": {"a": []}}, note=Note(torch.ones(2)), listed=Record([]))
        record.net.seen = []

        @compiler
        def f(x):
            more = way(record, x.detach())
            return x * (1 if more is None else more)

        results = [f(x) for x in inputs(12, 2)]
        return [*results, record.seen, record.table["a"], record.net.seen, record.deep["b"]["a"],
                getattr(record.note, "value", None), record.listed.seen], f

    assert (hits_of(found) >= 10) == GROWING[way]


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


def window(length):
    """A list of the latest results, changed in place: it gets longer until it is full."""
    def step(kept, x):
        kept.seen.append(x.detach() * 2)
        if len(kept.seen) > length:
            kept.seen.pop(0)
        return x + sum(kept.seen)

    return step


def emptied(kept, x):
    kept.seen.append((x, 0.5))
    if len(kept.seen) > 2:
        kept.seen.clear()
    return x * len(kept.seen)


def shortened(kept, x):
    y = x + sum(kept.seen) * 0.5
    del kept.seen[1:]
    kept.seen += [y, kept.a, y * 2]
    return y


def swallowed(kept, x):
    """The list is another one's entry, too, and holds what stands elsewhere."""
    kept.seen.insert(0, kept.a)
    if len(kept.outer[0]) > 1:
        kept.a = kept.seen.pop() + x
    return kept.a * len(kept.seen)


STEPS = {"window": (window(3), 16), "emptied": (emptied, 16), "shortened": (shortened, 18),
         "swallowed": (swallowed, 14)}


@pytest.mark.parametrize("name", STEPS)
def test_a_list_gets_longer_and_shorter_in_place(name, executor):
    step, hits = STEPS[name]

    def called(compiler):
        kept = SimpleNamespace(seen=[], a=torch.ones(2))
        kept.outer = [kept.seen]
        seen = kept.seen
        f = compiler(lambda x: step(kept, x))
        found = []
        for k in range(24):
            found.append(numbers([f(torch.full((2,), float(k % 5))), kept.seen, kept.a]))
            assert kept.seen is seen
            if k == 17:
                kept.seen[:] = [torch.zeros(2)] if name != "emptied" else []
        return found, f

    expected, _ = called(lambda f: f)
    found, f = called(torch.compile)
    check_same(found, expected)
    assert not f.explain()["python"] and f.explain()["hits"] >= hits, str(f.explain())


def test_a_long_window_is_found_full_at_last(deferred):
    def called(compiler):
        kept = SimpleNamespace(seen=[])
        f = compiler(lambda x: window(10)(kept, x))
        return [f(torch.full((2,), float(k))).tolist() for k in range(60)], f

    expected, _ = called(lambda f: f)
    found, f = called(torch.compile)
    assert found == expected
    assert not f.explain()["python"] and f.explain()["hits"] >= 20, str(f.explain())


def test_python_is_tried_again_where_there_were_too_many(deferred):
    """One specialisation gives way to what the function has settled on."""
    f = torch.compile(lambda x, k: x * k, recompile_limit=2, dynamic=False)
    with pytest.warns(UserWarning, match="compiled 2 times"):
        found = [f(torch.ones(1), min(k, 9)).item() for k in range(60)]
    assert found == [min(k, 9) for k in range(60)]
    about = f.explain()
    assert not about["python"] and about["specialisations"] == 2 and about["hits"] >= 15, about


@pytest.mark.parametrize("way", ["grows", "is made"])
def test_a_list_that_stands_in_itself(way, deferred):
    def called(compiler):
        kept = SimpleNamespace(seen=[], made=None)

        @compiler
        def f(x):
            kept.made = [x] if way == "is made" else None
            into = kept.seen if kept.made is None else kept.made
            into.append(into)
            return x + len(kept.seen)

        return [f(torch.ones(2)).tolist() for _ in range(6)], len(kept.seen)

    assert called(torch.compile) == called(lambda f: f)


@dataclasses.dataclass
class Held:
    a: object
    rate: float = 0.5


def latest_first(kept, x):
    """What stood in the old one stays what it is."""
    kept.hidden = (x + 1, kept.hidden[0])
    return kept.hidden[0] * kept.hidden[1]


def beside_a_record(kept, x):
    kept.hidden = (kept.hidden[0], x + kept.hidden[1])
    return kept.hidden[0].a * kept.hidden[0].rate


def a_record_anew(kept, x):
    kept.hidden = Held(kept.hidden.a * kept.hidden.rate + x)
    return kept.hidden.a * 2


def pairs(kept, x):
    kept.hidden.append((x * 2, 0.5))
    if len(kept.hidden) > 3:
        kept.hidden.pop(0)
    return x + sum(a * rate for a, rate in kept.hidden)


def swapped(kept, x):
    first, second = kept.hidden
    kept.hidden = [second, first]
    return x * first["scale"] + second["a"]


def changed_within(kept, x):
    """Not followed, but right: what stands in both is changed, too."""
    kept.hidden[0]["scale"] = kept.hidden[0]["scale"] * 0.5
    kept.hidden = [kept.hidden[1], kept.hidden[0]]
    return x * kept.hidden[0]["scale"]


def parts(x):
    x = vars(x) if isinstance(x, Held) else x
    return [*x.values()] if isinstance(x, dict) else x if isinstance(x, (list, tuple)) else []


def shown(x):
    return [*map(shown, parts(x))] if isinstance(x, (Held, dict, list, tuple)) else numbers(x)


def first_of_one(kept, x):
    kept.hidden.append((x * 2, 0.5))
    kept.hidden[:] = kept.hidden[-1:]
    return x


def tables(k):
    return [{"a": torch.full((2,), k), "scale": k}, {"a": torch.zeros(2), "scale": 2.0}]


HOLDING = {
    "latest first": (latest_first, lambda k: (torch.full((2,), k), torch.zeros(2)), 12),
    "beside a record": (beside_a_record, lambda k: (Held(torch.full((2,), k)), torch.zeros(2)), 12),
    "a record anew": (a_record_anew, lambda k: Held(torch.full((2,), k)), 12),
    "pairs": (pairs, lambda k: [(torch.full((2,), k), k)], 8),
    "first of one": (first_of_one, lambda k: [] if k == 3.0 else [(torch.zeros(2), k)], 10),
    "swapped": (swapped, tables, 8),
    "changed within": (changed_within, tables, 0),
}


@pytest.mark.parametrize("name", HOLDING)
def test_containers_that_stand_in_the_next_one_as_well(name, executor):
    step, made, hits = HOLDING[name]

    def called(compiler):
        kept = SimpleNamespace(hidden=made(1.0))
        f = compiler(lambda x: step(kept, x))
        found = []
        for k in range(18):
            if k == 9:
                kept.hidden = made(1.0)  # like it, and not the same one
                kept.hidden = made(3.0) if name != "swapped" else kept.hidden
            before = kept.hidden
            found.append(f(torch.full((2,), float(k % 4))))
            stood = {id(y) for y in parts(before)}
            found.append([shown(kept.hidden), [id(y) in stood for y in parts(kept.hidden)]])
        return [shown(x) for x in found], f

    expected, _ = called(lambda f: f)
    found, f = called(torch.compile)
    check_same(found, expected)
    assert f.explain()["hits"] >= hits, str(f.explain())


def kept_before(kept, x):
    old, kept.hidden = kept.hidden, (x + 1, 0.5)
    return old


def of_the_one_before(kept, x):
    old = kept.hidden
    kept.hidden = [x + 1, [old[0]]]
    return old[1], [old], old[1] is old


def record_before(kept, x):
    old, kept.hidden = kept.hidden, Held(kept.hidden.a + x)
    return old


def first_of_many(kept, x):
    kept.hidden.append([x * 2])
    return kept.hidden.pop(0), kept.hidden, x + 1


BEFORE = {
    "tuple": (kept_before, lambda: (torch.zeros(2), 0.5)),
    "list": (of_the_one_before, lambda: [torch.zeros(2), [torch.zeros(2)]]),
    "record": (record_before, lambda: Held(torch.zeros(2))),
    "many": (first_of_many, lambda: [[torch.zeros(2)], [torch.ones(2)]]),
}


@pytest.mark.parametrize("name", BEFORE)
def test_what_stood_there_before_may_be_returned(name, executor):
    step, made = BEFORE[name]

    def called(compiler):
        kept = SimpleNamespace(hidden=made())
        f, found = compiler(lambda x: step(kept, x)), []
        for k in range(8):
            before = kept.hidden
            result = f(torch.full((2,), float(k)))
            found.append([shown(result), shown(kept.hidden), result is before,
                          [y is before for y in parts(result)], [y is kept.hidden for y in parts(result)]])
        return found, f

    expected, _ = called(lambda f: f)
    found, f = called(torch.compile)
    check_same(found, expected)
    assert f.explain()["hits"] >= 6, str(f.explain())


@pytest.mark.parametrize("given", [lambda x: [x], lambda x: {"k": x}, Held, lambda x: ([x],)])
@pytest.mark.parametrize("way", ["returned", "kept"])
def test_containers_that_it_was_given_are_the_same_ones(given, way, deferred):
    kept = SimpleNamespace(held=None)

    def step(held):
        inside = held[0] if isinstance(held, tuple) else held
        if way == "kept":
            kept.held = inside
        return inside if way == "returned" else None, parts(inside)[0] + 1

    f = torch.compile(step)
    for k in range(5):
        held = given(torch.full((2,), float(k)))
        result, _ = f(held)
        assert (result if way == "returned" else kept.held) is (held[0] if type(held) is tuple else held)
    assert f.explain()["hits"] == 0

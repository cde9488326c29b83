"""Lists to which a compiled function appends, and which it also looks into, in whatever way."""

import dataclasses

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

"""NOTE [Room for programs]: a process that compiles without end must not run out of memory mappings."""

import pytest

import jaxflow as torch
from jaxflow._dispatch import library, room

pytestmark = pytest.mark.usefixtures("compiled")


def test_forgotten_programs_give_their_mappings_back(executor):
    def use(n):
        return [torch.ones(k).sin().sum().item() for k in range(n, n + 20)]

    use(1)  # whatever is loaded on first use
    before = room.mappings()
    first = use(400)
    peak = room.mappings()
    room.forget()
    assert room.mappings() - before <= (peak - before) / 2
    assert use(400) == first


def test_programs_are_forgotten_when_there_is_no_room(monkeypatch, deferred):
    x = torch.ones(3)
    (x * 2).sum().item()
    assert library.executables()
    monkeypatch.setattr(room, "_crowded", lambda: True)
    for _ in range(room._EVERY):
        room.made()
    assert not library.executables()
    assert (x * 2).sum().item() == 6

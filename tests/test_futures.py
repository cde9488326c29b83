"""Futures: who waits gets what is given, callbacks run once it is there, errors travel."""

import threading

import pytest

import jaxflow as torch
from jaxflow.futures import Future, collect_all, wait_all


def test_a_result_from_another_thread():
    future = Future()
    later = future.then(lambda f: f.value() + 1).then(lambda f: f.wait() * 2)
    seen = []
    future.add_done_callback(lambda f: seen.append(f.value()))
    assert not future.done()
    with pytest.raises(RuntimeError, match="no value yet"):
        future.value()
    thread = threading.Thread(target=future.set_result, args=(torch.tensor(3),))
    thread.start()
    assert later.wait().item() == 8 and seen[0].item() == 3 and future.done()
    thread.join()
    future.add_done_callback(lambda f: seen.append("at once"))
    assert seen[1] == "at once"
    with pytest.raises(RuntimeError, match="one result"):
        future.set_result(4)


def test_an_error_travels():
    future = Future()
    later = future.then(lambda f: f.value())
    future.set_exception(ValueError("no"))
    for one in (future, later):
        with pytest.raises(ValueError, match="no"):
            one.wait()
    with pytest.raises(AssertionError, match="not an Exception"):
        Future().set_exception("no")


def test_of_several():
    futures = [Future() for _ in range(3)]
    together = collect_all(futures)
    for i in (2, 0, 1):
        assert not together.done()
        futures[i].set_result(i)
    assert together.wait() is futures and wait_all(futures) == [0, 1, 2]
    assert collect_all([]).wait() == []

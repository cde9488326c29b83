"""Several processes that run one function: what they return, and how they fail."""

import os

import pytest

import jaxflow as torch
import jaxflow.multiprocessing as mp


def double(index, queue, x):
    queue.put((index, x * 2))


def fail(index):
    raise ValueError("no such luck")


def leave(index):
    os._exit(7)


def test_processes_get_tensors_and_send_them_back():
    queue = mp.get_context("spawn").SimpleQueue()
    context = mp.spawn(double, (queue, torch.ones(2)), nprocs=2, join=False)
    found = dict(queue.get() for _ in range(2))
    while not context.join():
        pass
    assert {i: t.tolist() for i, t in found.items()} == {0: [2.0, 2.0], 1: [2.0, 2.0]}
    assert not os.path.exists(context._folder)


def test_a_failure_is_told_by_the_parent():
    with pytest.raises(mp.ProcessRaisedException, match="no such luck") as raised:
        mp.spawn(fail, nprocs=1)
    assert raised.value.error_index == 0
    with pytest.raises(mp.ProcessExitedException, match="process 0 terminated with exit code 7"):
        mp.spawn(leave, nprocs=1)

"""A pytest plugin: ``--shuffle SEED`` runs the tests in a random order, which is shown before and after.

A test that passes only after some other one, or fails after it, is found by another order. Seed 0 draws a
seed. The workers of one run draw the same order, which pytest-xdist asks of them.
"""

import os
import random


def pytest_addoption(parser):
    parser.addoption("--shuffle", metavar="SEED", type=int, default=None,
                     help="run the tests in the random order of this seed; 0 draws one")


def pytest_configure(config):
    seed = config.getoption("shuffle")
    if seed == 0 and not hasattr(config, "workerinput"):
        config.option.shuffle = 1 + int.from_bytes(os.urandom(3), "big")  # workers are given the options


def pytest_report_header(config):
    seed = config.getoption("shuffle")
    return None if seed is None else f"order: --shuffle {seed}"


def pytest_terminal_summary(terminalreporter, config):
    if config.getoption("shuffle") is not None:  # the header is not there under -q
        terminalreporter.write_line(pytest_report_header(config))


def pytest_collection_modifyitems(config, items):
    seed = config.getoption("shuffle")
    if seed is not None:
        random.Random(seed).shuffle(items)

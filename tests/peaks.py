"""A pytest plugin: at the end of a run, how much memory each of its processes held at most, and since when.

What one test leaves behind, the next ones run with. A process that grows to gigabytes shows that something
is kept which nobody needs any more.
"""

import pathlib
import sys

import pytest

try:
    import resource
except ImportError:  # Windows counts otherwise
    resource = None

_STATM = pathlib.Path("/proc/self/statm")
_PEAKS, _RISES = pytest.StashKey[dict](), pytest.StashKey[list]()


def peak():
    """The most megabytes that were resident in this process; None where nobody counts them."""
    if resource is None:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def resident():
    """The megabytes that are resident in this process; 0 where nobody counts them."""
    if resource is None or not _STATM.exists():
        return 0
    return int(_STATM.read_text().split()[1]) * resource.getpagesize() / 1e6


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    before = peak()
    try:
        return (yield)
    finally:
        if before is not None:
            rises = item.config.stash.setdefault(_RISES, [])
            rises.append((peak() - before, item.nodeid))
            rises.sort(reverse=True)
            del rises[3:]


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):  # in a worker of pytest-xdist
        session.config.workeroutput["peak"] = peak()
        session.config.workeroutput["rises"] = session.config.stash.get(_RISES, [])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    of_workers = node.config.stash.setdefault(_PEAKS, {})
    output = getattr(node, "workeroutput", {})
    of_workers[node.gateway.id] = output.get("peak")  # none where it crashed
    node.config.stash.setdefault(_RISES, []).extend(map(tuple, output.get("rises", ())))


def pytest_terminal_summary(terminalreporter, config):
    found = config.stash.get(_PEAKS, None) or {"this process": peak()}
    shown = [f"{name} {most:.0f} MB" for name, most in sorted(found.items()) if most is not None]
    if shown:
        terminalreporter.write_line(f"most memory: {', '.join(shown)}")
        for rise, name in sorted(config.stash.get(_RISES, []), reverse=True)[:3]:
            if rise > 200:
                terminalreporter.write_line(f"  {rise:.0f} MB of it came with {name}")

"""What every test here runs under: strict promotion, one compilation cache, both executors."""

import gc
import os
import pathlib

# Before jaxflow is imported: compiled programs are shared between the workers and between runs.
CACHE = pathlib.Path(__file__).resolve().parent.parent / ".cache" / "tests"
os.environ.setdefault("JAXFLOW_CACHE_DIR", str(CACHE))
# Small compiles dominate the time of these tests, and are twice as quick without LLVM's optimiser.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")

import jax  # noqa: E402
import peaks  # noqa: E402
import pytest  # noqa: E402
import shuffled  # noqa: E402
from shuffled import (  # noqa: E402, F401
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_report_header,
    pytest_terminal_summary,
)

import jaxflow  # noqa: E402
from jaxflow._core import (  # noqa: E402
    budget,
    cache_pressure,
    flags,  # noqa: E402
)
from jaxflow._core.state import state  # noqa: E402
from jaxflow._exec import background  # noqa: E402

# An op casts for itself: a promotion left to jnp would follow JAX's table, not PyTorch's.
jax.config.update("jax_numpy_dtype_promotion", "strict")


def pytest_configure(config):
    shuffled.pytest_configure(config)
    config.pluginmanager.register(peaks)


@pytest.fixture(params=["deferred", "eager"])
def executor(request):
    """Run the test once under each executor; the value is its name."""
    with jaxflow.execution(request.param):
        yield request.param


@pytest.fixture
def deferred():
    """Run the test in a Program of its own, under the deferred executor alone."""
    with jaxflow.execution("deferred"):
        jaxflow.flush()
        yield
        jaxflow.flush()


@pytest.fixture
def compiled(monkeypatch):
    """Every Program is compiled where it is first met, as on an accelerator."""
    monkeypatch.setattr(flags, "INTERPRET", False)


# Hardly any test meets the shapes of another, and what is kept for one would fill the workers' memory. So the
# caches let go of what was not used lately between two tests, after so many estimated bytes or plans; and
# jax, whose own caches hardly shrink by that, of all that it has compiled and traced, after so many bytes, or
# where so many megabytes are resident, and each time so many more.
_SPENT, _PLANS, _TRACED = 32 << 20, 2000, 192 << 20
_RESIDENT, _MORE = 800, 150
_since, _most = [0], [_RESIDENT]

# A quarter of the time would go into collections of garbage among objects that live as long as the process:
# modules, tests, what is cached. They are set aside from it, anew after so many tests.
_SET_ASIDE = 250
_tests = [0]


def _set_aside():
    """Set what lives now aside from collections of garbage, and collect what was set aside and is garbage."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def _let_go():
    """Empty the caches if that is due."""
    if _tests[0] % _SET_ASIDE == 0:
        _set_aside()
    _tests[0] += 1
    spent = budget.account.bytes
    if spent > _SPENT or budget.account.plans > _PLANS:
        budget.rotate()
        _since[0] += spent
    if _since[0] > _TRACED or peaks.resident() > _most[0]:
        gc.unfreeze()
        cache_pressure.forget()
        _set_aside()
        _since[0], _most[0] = 0, max(_RESIDENT, peaks.resident() + _MORE)


@pytest.fixture(autouse=True)
def _begins_anew():
    """Give every test the same random stream, whichever order they run in, and no cold programs behind it.

    What earlier tests have begun to compile in the background ends before: it would be counted here.
    """
    jaxflow.flush()
    if background._worker is not None and background._worker.is_alive():
        background.submit(lambda: None).result()
    _let_go()
    state.streak = 0
    jaxflow.manual_seed(0)


@pytest.fixture
def counters():
    """Generators count their draws, as on accelerators: the numbers are drawn inside of programs."""
    jaxflow.random.set_stream("counter")
    yield
    jaxflow.random.set_stream("torch")


@pytest.fixture(autouse=True)
def _recovers_from_nothing(request, _begins_anew):
    """What cannot run is computed operation by operation, and is right then: only the figure tells.

    So a test in which a program is to fail says so, by ``pytest.mark.recovers``.
    """
    before = jaxflow.explain()["recoveries"]
    yield
    if request.node.get_closest_marker("recovers") is None:
        jaxflow.flush()
        assert jaxflow.explain()["recoveries"] == before

"""NOTE [Calls of the host]: programs that call Python give nothing away, and undo what fails late."""

import jax
import jax.numpy as jnp
import pytest

import jaxflow as torch
from jaxflow._core import flags
from jaxflow._core.aval import Aval
from jaxflow._dispatch.dispatch import apply_plan
from jaxflow._exec import program_cache
from jaxflow._exec.executable import Executable
from jaxflow._exec.host_calls import call_host
from jaxflow._plans.plan import Plan

pytestmark = pytest.mark.usefixtures("deferred", "compiled")
N = 4


def planned(body) -> Plan:
    aval: Aval = torch.empty(N)._aval
    return Plan("called", lambda x: (body(x),), [aval], [aval], device=aval.device, grad_name="Called")


class Host:
    """Python that a program calls, and that fails while ``broken``."""

    def __init__(self):
        self.broken = False
        self.plan = planned(self.body)

    def body(self, x):
        return jax.pure_callback(self.called, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

    def called(self, x):
        if self.broken:
            raise ValueError("the host refuses")
        return x

    def __call__(self, t):
        return apply_plan(self.plan, [t])[0]


def shape(x):
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


@pytest.mark.parametrize("body", [
    lambda x: jax.pure_callback(lambda v: v, shape(x), x),
    lambda x: jax.experimental.io_callback(lambda v: v, shape(x), x),
    lambda x: (jax.debug.callback(lambda v: None, x), x)[1],
    lambda x: (jax.debug.print("{}", x[0]), x)[1],
    jax.jit(lambda x: jax.pure_callback(lambda v: v, shape(x), x)),
    lambda x: jax.lax.cond(x[0] > 0, lambda v: jax.pure_callback(lambda w: w, shape(v), v), lambda v: v, x),
    lambda x: jax.lax.scan(lambda c, _: (jax.pure_callback(lambda v: v, shape(c), c), 0.0), x, length=2)[0],
])
def test_a_call_of_the_host_is_found_wherever_it_stands(body):
    assert call_host([planned(body)])


def test_what_calls_nobody_is_not_taken_for_it():
    assert not call_host([planned(lambda x: jax.lax.fori_loop(0, 3, lambda _, v: jnp.sin(v), x))])


def compiled_with(plan: Plan) -> list[Executable]:
    """What was compiled of the programs that have this plan in them, which is a test's own.

    Of other programs there are as many as earlier tests, and the thread that compiles for them, have left.
    """
    return [executable for trace, entry in list(program_cache.traces().items()) if plan in trace
            for executable in entry.executables]


def test_a_program_that_calls_the_host_donates_nothing():
    p, kept = torch.ones(N), []

    def step(plan):
        p.mul_(2)
        kept.append(apply_plan(plan, [p])[0])
        torch.flush()
        found = compiled_with(plan)
        assert found
        return any(executable.donated for executable in found)

    host, other = Host().plan, planned(lambda x: x + 1)
    for _ in range(3):
        assert not step(host)
    assert step(other)  # what this test would miss otherwise


def test_it_is_compiled_once():
    host, p = Host(), torch.ones(N)
    torch.flush()
    for _ in range(8):
        q = host(p.mul_(0.5))
        torch.flush()
    assert len(compiled_with(host.plan)) == 1
    assert q.tolist() == [0.5 ** 8] * N


class Late:
    """Lets the results of programs that call the host turn out to have failed, as on an accelerator."""

    def __init__(self, monkeypatch, host):
        self.asked = 0
        real = Executable.look

        def look(executable, arrays):
            self.asked += 1
            if host.broken:
                raise jax.errors.JaxRuntimeError("INTERNAL: CpuCallback error: the host refuses")
            real(executable, arrays)

        monkeypatch.setattr(Executable, "look", look)
        monkeypatch.setattr(host, "called", lambda x: x)
        self.host = host

    def alone(self, real):
        """Alone the operation fails as well."""
        def run(plan, arguments):
            if plan is self.host.plan and self.host.broken:
                raise ValueError("the host refuses")
            return real(plan, arguments)

        return run


@pytest.fixture
def late(monkeypatch):
    from jaxflow._exec import recovery

    host = Host()
    found = Late(monkeypatch, host)
    monkeypatch.setattr(recovery, "_alone", found.alone(recovery._alone))
    host.plan = planned(lambda x: jax.pure_callback(lambda v: v, shape(x), x))
    return host, found


@pytest.mark.recovers
def test_a_failure_after_the_call_is_undone_like_one_at_the_call(late):
    host, watch = late
    p, q, other = torch.ones(N), torch.zeros(N), torch.zeros(N)

    def step():
        p.mul_(2)
        q.add_(host(p))
        other.add_(1)
        torch.flush()

    for _ in range(3):
        step()
    assert watch.asked == 3
    host.broken = True
    with pytest.raises(ValueError, match="the host refuses") as caught:
        step()
    assert any("called(float32[4])" in note for note in caught.value.__notes__)
    assert (p.tolist(), q.tolist(), other.tolist()) == ([16] * N, [14] * N, [4] * N)
    assert (p._version, q._version, other._version) == (4, 3, 4)
    host.broken = False
    step()
    assert (p.tolist(), q.tolist(), other.tolist()) == ([32] * N, [46] * N, [5] * N)


@pytest.mark.recovers
def test_what_cannot_be_had_says_so(late):
    host = late[0]
    host.broken = True
    lost = host(torch.ones(N)) + 1
    with pytest.raises(ValueError, match="the host refuses"):
        torch.flush()
    text = r"could not be computed: called\(float32\[4\]\), first met .*:\d+ failed: the host refuses"
    for _ in range(2):
        with pytest.raises(RuntimeError, match=text):
            lost.tolist()


@pytest.mark.recovers
def test_a_compiled_function_changes_nothing_where_it_fails_late(late):
    host, watch = late
    q = torch.zeros(N)

    @torch.compile
    def step(x):
        q.add_(host(x))
        return q * 2

    x = torch.ones(N)
    for _ in range(4):
        result = step(x)
    before = watch.asked
    assert result.tolist() == [8] * N
    host.broken = True
    with pytest.raises(Exception, match="the host refuses"):
        step(x)
    host.broken = False
    assert watch.asked == before + 1
    assert (q.tolist(), q._version) == ([4] * N, 4)
    assert step(x).tolist() == [10] * N


def test_others_are_not_waited_for(monkeypatch):
    def look(executable, arrays):
        raise AssertionError("nobody may look")

    monkeypatch.setattr(Executable, "look", look)
    x = torch.ones(N)
    for _ in range(3):
        x = x * 2
        torch.flush()
    assert not flags.DEBUG
    assert x.tolist() == [8] * N

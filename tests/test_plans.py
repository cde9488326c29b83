"""Plans: traced once; and plans of other sizes, which are not traced at all, are those that tracing gives."""

import functools
import gc
import operator
import re
import weakref
import zlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gradient_rows import ROWS, op_of
from running import FULL

import jaxflow as torch
from jaxflow._core import budget, cache_pressure
from jaxflow._core.aval import Aval, aval_of
from jaxflow._core.state import state
from jaxflow._dispatch import dispatch
from jaxflow._exec.numpy.lower import host_of
from jaxflow._interpreter import lower
from jaxflow._plans import plan, planning
from jaxflow._plans.op import OPS
from jaxflow._shapes import plan_cache, shape_families
from jaxflow._shapes.substitute import Rebinding, Unknown
from jaxflow._shapes.symbolic_dims import ShapeEnv, hint_of
from jaxflow._transforms import vjp
from jaxflow._transforms.vjp import vjp_of

F = torch.nn.functional


@pytest.fixture
def no_families():
    """Families made before are forgotten, and plans, which would be found where a family is to be made."""
    for _ in range(2):
        budget.rotate()  # all that nobody uses goes, the plans of views among it
    shape_families.forget()
    plan_cache.forget()


@pytest.fixture(autouse=True)
def _no_families_of_other_bodies():
    """What was made of a body that a test has given to an operation serves no later test."""
    yield
    shape_families.forget()


def replaced(monkeypatch, name, body):
    """Give an op another body; how often it has run is the length of the list returned."""
    runs = []

    def counted(*args, **kwargs):
        runs.append(1)
        return body(*args, **kwargs)

    monkeypatch.setattr(OPS[name], "fn", counted)
    monkeypatch.setattr(OPS[name], "plans", {})
    monkeypatch.setattr(OPS[name], "older_plans", {})
    shape_families.forget()
    return runs


def test_a_body_is_traced_once_however_it_is_used(executor, monkeypatch):
    runs = replaced(monkeypatch, "hypot", OPS["hypot"].fn)
    x = torch.tensor([3.0, 4.0, 5.0, 6.0, 7.0], dtype=torch.float64)
    y = torch.hypot(x, x)
    assert len(runs) == 1
    y.tolist()
    (torch.hypot(x, x) + 1).tolist()
    plan = next(iter(OPS["hypot"].plans.values()))
    assert plan.jaxpr is plan.jaxpr
    assert plan.jaxpr.out_avals[0].shape == (5,)
    assert len(runs) == 1


# ----- symbolic sizes -----------------------------------------------------------------------------


def test_sizes_are_integers_as_far_as_anybody_can_tell():
    env = ShapeEnv()
    with env:
        a, b = env.symbol(12), env.symbol(5)
        cases = [
            (a + b * 2 - 3, 19), (3 - a, -9), (a * b // b, 12), ((4 * a) // 2, 24), (a // 5, 2), (a % 5, 2),
            (divmod(a, b)[1], 2), (-(-a // 5), 3), (a.max(b), 12), (b.min(3), 3), (abs(b - a), 7),
            (a**2, 144),
        ]
        for size, value in cases:
            assert hint_of(size) == value, size
        assert a - a == 0
        assert type(a - a) is int
        guards = list(env.guards)
        assert a >= 2
        assert a * b != 0
        assert a + b > 3
        assert list(env.guards) == guards  # true of all numbers from 2 on
        assert a > b
        assert a != 7
        assert a % 4 == 0
        for wrong in (lambda: range(a), lambda: float(a), lambda: int(a), lambda: a / 2,
                      lambda: np.arange(a)):
            with pytest.raises(TypeError):
                wrong()
    holds = env.holds(env.guards)
    assert holds(12, 5)
    assert holds(52, 25) is (holds(52, 25) and 52 % 5 == 12 % 5)
    assert not holds(5, 12)
    assert not holds(14, 5)


def test_a_size_equals_its_hint_only_while_the_guard_is_written_down():
    """Else jax's caches, some of which ask for equality alone, would hand out traces of other sizes."""
    env = ShapeEnv()
    with env:
        n = env.symbol(7)
        assert n == 7
        assert (n, 3) == (7, 3)
    assert hash(n) != hash(7)
    assert n != 7
    assert (n, 3) != (7, 3)
    assert n == n  # noqa: PLR0124
    with pytest.raises(RuntimeError, match="outside of its trace"):
        _ = n < 8
    other = ShapeEnv()
    with other:
        m = other.symbol(7)
    assert hash(m) != hash(n)


# ----- what a size decides ------------------------------------------------------------------------


@jax.jit
def _inner(x):
    return x * 2 if x.shape[0] > 9 else x * 3


BODIES = {
    "bound": lambda x: x * 2 if x.shape[0] > 9 else x * 3,
    "parity": lambda x: x + 1 if x.shape[0] % 2 else x - 1,
    "equal": lambda x: x.T if x.shape[0] == x.shape[1] else x,
    "not equal": lambda x: x if x.shape[0] != x.shape[1] else x.T,
    "member": lambda x: x + 1 if x.shape[0] in (8, 12) else x,
    "truth": lambda x: x + 1 if x.shape[0] - 8 else x,
    "largest": lambda x: x + max(x.shape),
    "sorted": lambda x: x + sorted(x.shape)[0],
    "cached inside": lambda x: _inner(x) + _inner(x + 1),
    "loop": lambda x: x * len(range(x.shape[0])),
    "number": lambda x: x * (1.0 / x.shape[0]),
    "table": lambda x: x + jnp.asarray(np.arange(x.shape[0], dtype=np.float64))[:, None],
    "words": lambda x: x[: len("x" * (x.shape[0] // 2 if isinstance(x.shape[0], int) else 1))],
    "halves": lambda x: x.reshape(2, -1, x.shape[1]).sum(0) if x.shape[0] % 2 == 0 else x,
}


@pytest.mark.parametrize("name", BODIES)
def test_a_family_serves_only_the_sizes_that_take_the_same_path(name, monkeypatch):
    """Each of these bodies gives a wrong result for some size if what it decided is not a guard."""
    body = BODIES[name]
    replaced(monkeypatch, "relu", body)
    for rows, columns in [(5, 6), (7, 9), (8, 3), (10, 4), (12, 12), (11, 6), (6, 6), (4, 3), (13, 1), (9, 8),
                          (24, 2), (1, 1), (2, 2), (8, 8), (16, 5)]:
        x = np.random.default_rng(rows).normal(size=(rows, columns))
        want = np.asarray(body(jnp.asarray(x)))
        kind = aval_of((rows, columns), torch.float64, torch.device("cpu"))
        found = shape_families.build(OPS["relu"], (kind,), ())
        assert found.out_avals[0].shape == want.shape
        np.testing.assert_array_equal(host_of(found)(x)[0], want)
        if rows in (8, 24):  # the function XLA would get
            np.testing.assert_array_equal(np.asarray(found.jitted(x)[0]), want)
        needs = (True,)
        grad = vjp_of(found, needs).plan
        kept = [x for _ in vjp_of(found, needs).vjp_inputs]
        _, pull = jax.vjp(body, jnp.asarray(x))
        ct = np.ones(want.shape)
        np.testing.assert_allclose(host_of(grad)(*kept, ct)[0], pull(jnp.asarray(ct))[0], rtol=1e-13)


def test_new_lengths_run_no_body(deferred, monkeypatch, no_families):
    """Forward and backward of an attention layer, every length new: after three lengths nothing is traced."""
    runs = []
    traced = plan.Traced.__init__
    made = vjp.finish_vjp
    monkeypatch.setattr(plan.Traced, "__init__", lambda *args: runs.append(args[1]) or traced(*args))
    monkeypatch.setattr(vjp, "finish_vjp", lambda *args: runs.append(args[0].name) or made(*args))
    torch.manual_seed(0)
    layer = torch.nn.Linear(6, 6)
    norm = torch.nn.LayerNorm(6)
    for length in (11, 13, 14, 17, 19, 23):
        runs.clear()
        x = torch.zeros(2, length, 6)
        q = layer(norm(x))[:, 1:].view(2, length - 1, 2, 3).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, q, q, is_causal=True).transpose(1, 2).reshape(2, length - 1, 6)
        loss = F.gelu(y + torch.arange(length - 1)[:, None]).mean()
        loss.backward()
        layer.zero_grad()
        norm.zero_grad()
        assert length < 17 or not runs
    assert np.isfinite(loss.item())


def test_a_failed_family_keeps_no_values_alive(deferred, monkeypatch):
    """The frames in jax's errors lead to the caller's tensors, which would become outputs of the program."""
    replaced(monkeypatch, "relu", lambda x: x * len(range(x.shape[0])))
    values, run = [], dispatch.run

    def noted(*args):
        outs = run(*args)
        values.extend(map(weakref.ref, outs))
        return outs

    monkeypatch.setattr(dispatch, "run", noted)
    gc.disable()
    try:
        for n in (101, 103, 107, 109):
            (torch.relu(torch.ones(n) + 1) + 1).sum().item()
            assert not any(ref() for ref in values)
    finally:
        gc.enable()


VIEWS = {
    "slice": lambda x, n: x[1 : n - 1, ::2],
    "from the end": lambda x, n: x[-2:],
    "select": lambda x, n: x[n // 2],
    "diagonal": lambda x, n: x.diagonal(),
    "chain": lambda x, n: x.view(2, n // 2, 6).transpose(0, 1)[1:].unsqueeze(1),
    "expand": lambda x, n: x[None].expand(3, n, 6),
    "flatten": lambda x, n: x.t().flatten(1)[:, None, :-1],
    "unfold": lambda x, n: x.unfold(0, 3, 2),
    "as_strided": lambda x, n: x.as_strided((n, 2), (6, 1), 1),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_of_every_length_read_write_and_differentiate(name, deferred, no_families):
    for n in (10, 12, 14, 18, 6, 2, 8):
        array = np.random.default_rng(n).normal(size=(n, 6))
        if n == 2 and name in ("chain", "unfold"):
            continue
        x = torch.tensor(array, requires_grad=True)
        view = VIEWS[name](x, n)
        positions = VIEWS[name](torch.arange(n * 6).view(n, 6), n).numpy()
        np.testing.assert_array_equal(view.detach().numpy(), array.reshape(-1)[positions])
        (view * 2).sum().backward()
        counts = np.bincount(positions.reshape(-1), minlength=n * 6).reshape(n, 6)
        np.testing.assert_array_equal(x.grad.numpy(), 2.0 * counts)
        if name not in ("expand", "unfold"):
            y = torch.tensor(array)
            VIEWS[name](y, n).fill_(0.5)
            np.testing.assert_array_equal(y.numpy(), np.where(counts, 0.5, array))


def test_functions_with_sizes_are_copied_or_refused():
    env = ShapeEnv()
    with env:
        n, m = env.symbol(4), env.symbol(6)

    def outer(shape, fill=n + 1):
        return lambda x: np.full(shape, x * fill)

    at = operator.itemgetter((slice(0, n), m - 1))
    steps = [(outer((n, m)), 0), (at, None), (functools.partial(divmod, n * m), 0), (np.sum, np.ones(3))]
    rebinding = Rebinding(lambda: steps)
    values = {source: env.compiled(source)(3, 5) for source in rebinding.sources}
    full, pick, division, _ = (function for function, _ in rebinding(values)())
    np.testing.assert_array_equal(full(2), np.full((3, 5), 8))
    np.testing.assert_array_equal(pick(np.arange(20).reshape(4, 5)), [4, 9, 14])
    assert division(4) == (3, 3)
    assert Rebinding(np.add).sources == {}
    cache, loop, boxed = {}, [], np.empty(1, object)
    boxed[0] = n
    loop.append(lambda: (loop, n))
    for refused in (lambda: (cache, n), lambda: (boxed, 1), lambda: (env, n), loop[0]):
        with pytest.raises(Unknown):
            Rebinding(refused)


# ----- every op -----------------------------------------------------------------------------------

# What the extents of the rows become: three sizes to make a family of, then some that belong to it or not.
TRAINING = [{2: 5, 3: 7, 4: 9, 5: 11, 6: 13, 8: 17}, {2: 6, 3: 4, 4: 10, 5: 15, 6: 14, 8: 12},
            {2: 7, 3: 5, 4: 12, 5: 10, 6: 18, 8: 24}]
SIZES = [{2: 9, 3: 8, 4: 6, 5: 20, 6: 10, 8: 40}, {2: 4, 3: 4, 4: 4, 5: 4, 6: 4, 8: 4}]
FEW = [*SIZES, {2: 1, 3: 3, 4: 1, 5: 5, 6: 1, 8: 2}, {2: 0, 3: 5, 4: 0, 5: 0, 6: 6, 8: 0}]


#: The rows are gone through in so many tests, which may run at the same time.
PARTS = 6


def rows_of(part):
    """The rows of the part, with all rows of one op."""
    return {name: row for name, row in ROWS.items() if zlib.crc32(op_of(name).encode()) % PARTS == part}


def calls_of(rows):
    """One call per op that these rows use, but for those with rows of their own in other parts.

    A call is its dynamic kinds and its static arguments.
    """
    found = {}
    build = shape_families.build

    def note(op, kinds, static, into=None):
        if not op.random and into is None:
            found.setdefault(op.name, (kinds, static))
        return build(op, kinds, static, into)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan_cache, "build", note)
        for op in OPS.values():
            patch.setattr(op, "plans", {})
            patch.setattr(op, "older_plans", {})
        for row in rows.values():
            with torch.no_grad():  # else all of their gradients would be traced as well
                row.call(*row.inputs())
    state.programs.clear()  # nobody reads the results
    others = {op_of(name) for name in ROWS.keys() - rows.keys()}
    return {name: call for name, call in found.items() if name not in others}


def resized(sizes, kinds, static, statics):
    """The call with other extents; with ``statics`` also with other integers among the static arguments."""

    def renew(x):
        if x.__class__ is Aval:
            return aval_of(tuple(sizes.get(n, n) for n in x.shape), x.dtype, x.device)
        if x.__class__ is tuple:
            return tuple(map(renew, x))
        return sizes.get(x, x) if x.__class__ is int and statics else x

    return tuple(renew(k) if k.__class__ is Aval else k for k in kinds), renew(static)


def outcome(build, *args):
    """A plan, or the type and text of the error."""
    try:
        return build(*args)
    except Exception as error:  # whatever a body raises for sizes it was not given before
        return type(error), str(error)


def drawn(kinds):
    """Numbers for these inputs; integers are indices of whatever is indexed."""
    rng = np.random.default_rng(0)
    for kind in kinds:
        struct = plan.struct_of(kind)
        if np.issubdtype(struct.dtype, np.floating):
            yield rng.uniform(0.1, 0.9, struct.shape).astype(struct.dtype)
        else:
            yield rng.integers(0, 2, struct.shape).astype(struct.dtype)


def spelled(jaxpr):
    return re.sub(r"weak_type=\w+|\s", "", str(jaxpr))


def assert_alike(got, want):
    """Two plans of the same inputs and results, one not traced; and with the same numbers."""
    for name in ("kinds", "out_avals", "single", "diff_outputs", "edge_inputs", "version_checked", "saves",
                 "grad_name", "node", "arity", "held_results", "device"):
        assert getattr(got, name) == getattr(want, name), name
    inputs = list(drawn(want.kinds))
    expected = host_of(want)(*inputs)
    runs = [host_of(got)] if spelled(got.jaxpr) == spelled(want.jaxpr) else [host_of(got), lower(got.jaxpr)]
    for run in runs:
        for a, b in zip(run(*inputs), expected, strict=True):
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


#: Operations that have to be served by families, whatever else is.
NEEDED = frozenset(("add", "mul", "gelu", "softmax", "_layer_norm", "_embedding", "sum", "mean",
                    "_cross_entropy_flat", "bmm", "cat", "stack", "gather"))


@pytest.mark.parametrize("part", range(PARTS))
def test_plans_of_a_family_are_those_that_tracing_gives(part, no_families):
    served, rows = set(), rows_of(part)
    for n, (name, (kinds, static)) in enumerate(calls_of(rows).items()):
        op = OPS[name]
        if n % 50 == 49:
            cache_pressure.forget()  # or what jax keeps of all these traces would fill the worker
        ways = [False] if resized(TRAINING[0], kinds, static, True)[1] == static else [False, True]
        both = FULL or name in NEEDED
        for statics in ways if both else [ways[zlib.crc32(name.encode()) % len(ways)]]:
            shape_families.forget()
            trained = [resized(s, kinds, static, statics) for s in TRAINING]
            if any(isinstance(outcome(shape_families.build, op, *args), tuple) for args in trained):
                continue  # these extents do not go with these numbers
            groups = shape_families._groups.young.values()
            if op.moves is None and not any(group.families for group in groups):
                continue
            for sizes in FEW if len(served) % 8 == 0 else SIZES[:1]:
                args = resized(sizes, kinds, static, statics)
                got, want = outcome(shape_families.build, op, *args), outcome(planning.build, op, *args)
                if isinstance(want, tuple):
                    assert got == want
                    continue
                if got.member is None and got.untraced is None:
                    continue
                served.add(name)
                assert_alike(got, want)
                needs = tuple(isinstance(k, Aval) and k.dtype.category >= 2 for k in want.kinds)
                if want.differentiable and any(needs):
                    one, other = vjp_of(got, needs), vjp_of(want, needs)
                    assert (one.vjp_inputs, one.wanted, one.defined, one.node_inputs) == (
                        other.vjp_inputs, other.wanted, other.defined, other.node_inputs)
                    assert_alike(one.plan, other.plan)
    assert len(served) > 200 / PARTS - 10, len(served)
    assert not NEEDED & {*map(op_of, rows)} - served


def test_what_a_failed_trace_leaves_in_cycles_is_gone():
    """However many objects it makes: a collection halfway would keep them for the next."""
    found = []

    class Held:
        pass

    def make():
        cycle = [Held()]
        cycle.append(cycle)
        found.append(weakref.ref(cycle[0]))
        [[] for _ in range(200_000)]
        raise ValueError

    assert shape_families.attempt(ShapeEnv(), make) is None
    assert found[0]() is None

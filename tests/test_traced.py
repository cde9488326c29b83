"""Tensors inside jax's own transformations: jit, vmap, grad, scan, and jnp functions."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxflow as torch
from jaxflow._core.state import state
from jaxflow._exec import program

pytestmark = pytest.mark.usefixtures("executor")


def f(x):
    return (x * 2).sin().sum()


def F(x):
    return np.sin(2 * np.asarray(x)).sum()


@pytest.fixture
def x():
    return torch.tensor([1.0, 2.0])


@pytest.fixture(autouse=True)
def _nothing_traced_is_kept():
    """After every test here: no tracer is a leaf of this thread's programs, and none is alive in them."""
    yield
    for open_program in state.programs.values():
        leaves = getattr(open_program, "entries", ()) and open_program.layout().leaves
        assert not [v for v in leaves if isinstance(v.array, jax.core.Tracer)]


# ----- the transformations ------------------------------------------------------------------------


def test_jit(x):
    y = jax.jit(f)(x)
    assert type(y) is torch.Tensor
    assert y.item() == pytest.approx(F([1, 2]), rel=1e-6)


def test_jit_traces_once(x):
    calls = []

    @jax.jit
    def g(a):
        calls.append(a)
        return a * 2 + 1

    for i in range(5):
        assert g(x + i).tolist() == [2 * (1 + i) + 1, 2 * (2 + i) + 1]
    assert len(calls) == 1


def test_make_jaxpr_shows_the_operations(x):
    primitives = [str(e.primitive) for e in jax.make_jaxpr(f)(x).eqns]
    assert "sin" in primitives and "reduce_sum" in primitives


def test_nested_jit(x):
    inner = jax.jit(f)
    assert jax.jit(lambda a: inner(a) * 2)(x).item() == pytest.approx(2 * F([1, 2]), rel=1e-6)


def test_vmap():
    x = torch.arange(6.0).reshape(3, 2)
    got = jax.vmap(lambda row: row.sum() + row[0])(x)
    assert got.tolist() == [1.0, 7.0, 13.0]


def test_vmap_of_some_arguments():
    a, b = torch.ones(3, 2), torch.tensor([1.0, 2.0])
    got = jax.vmap(torch.mul, in_axes=(0, None), out_axes=1)(a, b)
    assert got.tolist() == [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]


def test_grad(x):
    """The loss goes to jax as an array; gradients come back as tensors."""
    g = jax.grad(lambda a: f(a).jax())(x)
    assert type(g) is torch.Tensor
    np.testing.assert_allclose(g.numpy(), 2 * np.cos([2, 4]), rtol=1e-6)


def test_grad_of_a_dict_of_tensors(x):
    params = {"w": x, "b": torch.tensor(3.0)}
    g = jax.jit(jax.grad(lambda p: (p["w"] * p["b"]).sum().jax()))(params)
    assert g["w"].tolist() == [3.0, 3.0] and g["b"].item() == 3.0


def test_value_and_grad_vmapped_and_jitted():
    rows = torch.arange(6.0).reshape(3, 2)
    loss, g = jax.jit(jax.vmap(jax.value_and_grad(lambda a: (a * a).sum().jax())))(rows)
    assert np.asarray(loss).tolist() == [1.0, 13.0, 41.0]
    assert g.tolist() == [[0.0, 2.0], [4.0, 6.0], [8.0, 10.0]]


def test_jvp_and_vjp(x):
    value, tangent = jax.jvp(f, (x,), (torch.ones(2),))
    assert value.item() == pytest.approx(F([1, 2]), rel=1e-6)
    assert tangent.item() == pytest.approx(2 * np.cos([2, 4]).sum(), rel=1e-6)
    value, pull = jax.vjp(lambda a: a * a, x)
    assert pull(torch.ones(2))[0].tolist() == [2.0, 4.0]


def test_hessian(x):
    h = jax.hessian(lambda a: (a**3).sum().jax())(x)
    assert h.tolist() == [[6.0, 0.0], [0.0, 12.0]]


def test_scan(x):
    carry, out = jax.lax.scan(lambda c, t: (c * 0.5 + t, c.sum()), x, torch.ones(4, 2))
    assert carry.tolist() == [1.9375, 2.0]
    assert out.tolist() == [3.0, 3.5, 3.75, 3.875]


def test_eval_shape(x):
    out = jax.eval_shape(lambda a: a[None].expand(3, 2), x)
    assert out.shape == (3, 2) and out.dtype is torch.float32


def test_from_jax_of_a_tracer():
    @jax.jit
    def g(array):
        return (torch.from_jax(array) * 2).jax()

    assert np.asarray(g(jnp.arange(3.0))).tolist() == [0.0, 2.0, 4.0]


# ----- autograd, writes and views inside ----------------------------------------------------------


def test_backward_inside_jit(x):
    @jax.jit
    def g(a):
        w = a.detach().requires_grad_()
        (w.exp() * w).sum().backward()
        return w.grad

    expected = np.exp([1, 2]) * (1 + np.array([1, 2]))
    np.testing.assert_allclose(g(x).numpy(), expected, rtol=1e-6)


def test_leaves_keep_requires_grad(x):
    w = x.clone().requires_grad_()

    @jax.jit
    def step(w):
        assert w.requires_grad and w.is_leaf
        (g,) = torch.autograd.grad((w * w).sum(), w)
        with torch.no_grad():
            return (w - 0.25 * g).requires_grad_(), g

    new, g = step(w)
    assert g.tolist() == [2.0, 4.0] and not g.requires_grad
    assert new.tolist() == [0.5, 1.0] and new.requires_grad
    assert w.tolist() == [1.0, 2.0] and w.grad is None


def test_second_derivative_inside_jit(x):
    @jax.jit
    def g(w):
        w.requires_grad_()
        (first,) = torch.autograd.grad((w**3).sum(), w, create_graph=True)
        return torch.autograd.grad(first.sum(), w)[0]

    np.testing.assert_allclose(g(x).numpy(), [6.0, 12.0], rtol=1e-6)


def test_history_ends_at_the_boundary(x):
    w = x.clone().requires_grad_()
    assert not jax.jit(lambda a: a * 2)(w).requires_grad
    assert not jax.jit(lambda a: a * 1)(w * 2).requires_grad


def test_writes_and_views_inside(x):
    @jax.jit
    def g(a):
        b = a.clone()
        first = b[0]
        first.mul_(10)
        b[1:] += 1
        return b, first

    b, first = g(x)
    assert b.tolist() == [10.0, 3.0] and first.item() == 10.0
    assert x.tolist() == [1.0, 2.0]


def test_a_write_to_an_argument_stays_inside(x):
    @jax.jit
    def g(a):
        a.add_(1)
        return a

    assert g(x).tolist() == [2.0, 3.0]
    assert x.tolist() == [1.0, 2.0] and x._version == 0


def test_constants_made_inside_are_known(x):
    kept = []

    @jax.jit
    def g(a):
        c = torch.tensor([3.0, 4.0]) * 2
        ones = torch.ones(2)
        kept.extend((c, ones, c[0]))
        assert c.tolist() == [6.0, 8.0]  # no tracer: its numbers can be asked for
        c[0] = a[1]  # now they depend on the argument
        return c + ones

    assert g(x).tolist() == [3.0, 9.0]
    assert kept[1].tolist() == [1.0, 1.0]


def test_a_view_of_an_outer_tensor_does_not_keep_a_tracer(x):
    w = torch.arange(3.0)
    view = w[1:]
    assert jax.jit(lambda a: (view * a).sum())(x).item() == 5.0
    assert view.tolist() == [1.0, 2.0]
    assert (view + 1).tolist() == [2.0, 3.0]


def test_recorded_and_not_yet_run(x):
    pending = x * 3
    assert jax.jit(lambda a: a + pending)(x).tolist() == [4.0, 8.0]
    assert jax.jit(lambda a: a + 1)(pending).tolist() == [4.0, 7.0]


def test_a_module_inside():
    layer = torch.nn.Linear(2, 3)
    x = torch.ones(4, 2)
    expected = layer(x).detach().numpy()
    np.testing.assert_allclose(jax.jit(layer.forward)(x).numpy(), expected, rtol=1e-6)
    assert torch.isfinite(layer(x)).all()


def test_random_draws_inside_jit_are_made_while_tracing(x):
    """Documented: a draw's seed is read when jax traces, so every call of one trace gives the same."""
    g = jax.jit(lambda a: torch.nn.functional.dropout(a.expand(64, 2), 0.5))
    assert g(x).tolist() == g(x).tolist()
    other = jax.jit(lambda a: torch.nn.functional.dropout(a.expand(64, 2), 0.5))
    assert g(x).tolist() != other(x).tolist()


# ----- what may not leak --------------------------------------------------------------------------


def test_jax_finds_no_leak(x):
    layer = torch.nn.Linear(2, 2)
    with jax.checking_leaks():
        assert jax.jit(lambda a: (layer(a) * 2).sum())(x).shape == ()


@pytest.mark.usefixtures("compiled")
def test_no_program_is_compiled_for_what_jax_compiles(x):
    g = jax.jit(lambda a: (a * 2 + 1).tanh())
    torch.flush()
    before = torch.explain()["compilations"]
    g(x)
    assert torch.explain()["compilations"] == before


def test_a_tracer_that_escaped_is_refused_and_spoils_nothing(x):
    escaped = []
    jax.jit(lambda a: escaped.append(a * 2) or a)(x)
    recorded = x + 1
    with pytest.raises(jax.errors.UnexpectedTracerError) as caught:
        escaped[0] + recorded
    assert any("return it from the function instead" in note for note in caught.value.__notes__)
    assert (recorded + 1).tolist() == [3.0, 4.0]


def test_a_refused_operation_is_not_recorded():
    """Of an operation that turns out to be traced nothing stays behind."""
    open_program = program.Program(torch.device("cpu"))
    known, traced = torch.ones(2), []
    jax.jit(lambda a: traced.append(torch.from_jax(a)) or a)(jnp.ones(2))
    values = [t._storage.value for t in (known, traced[0])]
    values[0].get()
    with pytest.raises(program.TracerLeaf):
        open_program.record(None, values)
    assert open_program.entries == [] and open_program.ops == 0


def test_numbers_of_a_tracer(x):
    with pytest.raises(jax.errors.TracerArrayConversionError):
        jax.jit(lambda a: a.sum().item())(x)


def test_repr_of_a_traced_tensor(x):
    shown = []
    jax.jit(lambda a: shown.append(repr(a)) or a)(x)
    assert "float32[2]" in shown[0]


# ----- trees and jnp ------------------------------------------------------------------------------


def test_tree_functions(x):
    tree = {"a": x, "b": [x * 2]}
    doubled = jax.tree.map(lambda a: a * 2, tree)
    assert doubled["a"].tolist() == [2.0, 4.0] and doubled["b"][0].tolist() == [4.0, 8.0]
    assert all(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(tree))


@pytest.mark.parametrize("thing", [None, 3, "axis", object(), (1, 2)],
                         ids=["none", "number", "text", "object", "tuple"])
def test_a_tree_of_anything(x, thing):
    """jax puts axis numbers and markers where arrays were; they come out as they went in."""
    leaves, shape = jax.tree.flatten(x)
    filled = jax.tree.unflatten(shape, [thing])
    inside, again = jax.tree_util.default_registry.flatten_one_level(filled)
    assert list(inside) == [thing] and repr(filled)
    assert jax.tree.unflatten(shape, leaves).tolist() == [1.0, 2.0]


def test_parameters_stay_parameters():
    p = torch.nn.Parameter(torch.ones(2))
    new = jax.tree.map(lambda a: a - 1, p)
    assert isinstance(new, torch.nn.Parameter) and new.requires_grad
    assert new.tolist() == [0.0, 0.0]


def test_a_subclass_of_ones_own(x):
    class Mine(torch.Tensor):
        pass

    assert type(jax.jit(lambda a: a)(x.as_subclass(Mine))) is Mine


def test_jnp_functions_take_tensors(x):
    assert isinstance(jnp.sin(x), jax.Array)
    assert jnp.stack([x, x]).shape == (2, 2)
    assert jnp.asarray(x).tolist() == [1.0, 2.0]
    assert isinstance(x + jnp.ones(2, "float32"), jax.Array)
    assert isinstance(jnp.ones(2, "float32") + x, jax.Array)


def test_what_was_handed_to_jax_is_not_donated(x):
    """jax keeps arrays (constants of a trace); a training step must not free them."""
    p = x * 1
    g = jax.jit(lambda a: a + p)
    assert g(x).tolist() == [2.0, 4.0]
    for _ in range(4):
        p.mul_(0.5)
        torch.flush()
    assert g(x).tolist() == [2.0, 4.0]

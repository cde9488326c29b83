"""Inside jax's transformations, beyond `test_traced.py`: leaks, constants, numbers, traced indices."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxflow as torch

pytestmark = pytest.mark.usefixtures("executor")
nn = torch.nn


@pytest.fixture
def x():
    return torch.tensor([1.0, 2.0])


# ----- what may not leak --------------------------------------------------------------------------

LEAK = "made outside of the function that jax is tracing"


def test_writes_to_tensors_of_the_outside_are_refused(x):
    w = torch.zeros(2)
    view, p = w[:1], nn.Parameter(torch.ones(2))

    def assign(a):
        p.data = a

    def set_grad(a):
        p.grad = a

    for write in (w.add_, lambda a: view.copy_(a[:1]), lambda a: w.__setitem__(0, a[1]),
                  lambda a: torch.add(a, a, out=w), assign, set_grad,
                  lambda a: (p * a).sum().backward(), lambda a: nn.init.zeros_(w).add_(a)):
        for transform in (jax.jit, jax.vmap, lambda f: jax.grad(lambda a: (f(a), a.sum().jax())[1])):
            with pytest.raises(RuntimeError, match=LEAK):
                transform(write)(x if transform is not jax.vmap else torch.ones(3, 2))
    assert w.tolist() == [0.0, 0.0] and p.tolist() == [1.0, 1.0] and p.grad is None


def test_a_training_step_of_the_outside_is_refused(x):
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    @jax.jit
    def step(batch):
        loss = model(batch).sum()
        loss.backward()
        optimizer.step()
        return loss

    with pytest.raises(RuntimeError, match=r"shape \[2\] was made outside.*jaxflow\.to_jax"):
        step(torch.ones(3, 2))
    model.eval()
    with pytest.raises(RuntimeError, match=r"the \.grad of a tensor .*made outside"):
        step(torch.ones(3, 2))
    assert all(p.grad is None for p in model.parameters()) and torch.isfinite(model(x[None])).all()


def test_tensors_made_inside_may_be_written_to(x):
    @jax.jit
    def g(array):
        total = torch.zeros(2)  # made before a tensor met a tracer
        rows = jax.vmap(lambda row: torch.from_jax(row) * 2)(array)
        total += rows[0]
        leaf = torch.ones(2, requires_grad=True)
        (leaf * rows[1]).sum().backward()
        return total, leaf.grad

    total, grad = g(jnp.arange(4.0, dtype="float32").reshape(2, 2))
    assert total.tolist() == [0.0, 2.0] and grad.tolist() == [4.0, 6.0]

    @jax.jit
    def h(a):
        seen = torch.zeros(2)
        inner = jax.grad(lambda b: (b * b).sum().jax())(a)
        seen.copy_(inner)
        jax.vmap(lambda r: r * 2)(torch.ones(2))
        a.zero_()
        return seen

    assert h(x).tolist() == [2.0, 4.0] and x.tolist() == [1.0, 2.0]


def test_a_write_of_an_inner_trace_to_an_outer_tensor_is_refused(x):
    def outer(a):
        kept = a * 1
        jax.jit(kept.add_)(a)
        return kept

    with pytest.raises(RuntimeError, match=LEAK):
        jax.jit(outer)(x)


# ----- numbers ------------------------------------------------------------------------------------


def test_asking_a_tracer_for_numbers_says_what_to_do(x, tmp_path):
    for ask in (lambda a: a[0].item(), lambda a: bool(a[0] > 1), lambda a: a.tolist(), lambda a: a[a > 1],
                np.asarray, lambda a: torch.zeros(a.long()[0]), lambda a: a.nonzero(),
                lambda a: torch.save(a, tmp_path / "x.pt"), lambda a: torch.equal(a, a),
                lambda a: a[None][a.long()[0], [0]]):
        with pytest.raises(jax.errors.TracerArrayConversionError) as caught:
            jax.jit(ask)(x)
        assert any("torch.where instead of" in note for note in caught.value.__notes__)


def test_traced_numbers_as_indices():
    x = torch.arange(6.0).reshape(3, 2)

    @jax.jit
    def g(i):
        y = x.clone()
        y[i] = 9.0
        y[:, torch.from_jax(i)] += 1
        return x[i], x[torch.from_jax(i), 1], x[i, i], x[..., i], y

    row, number, diagonal, column, y = g(1)
    assert row.tolist() == [2.0, 3.0] and number.item() == diagonal.item() == 3.0
    assert column.tolist() == [1.0, 3.0, 5.0] and y.tolist() == [[0.0, 2.0], [9.0, 10.0], [4.0, 6.0]]
    assert x[jnp.int64(2)].tolist() == [4.0, 5.0]
    total = jax.lax.fori_loop(0, 3, lambda i, c: c + x[i], torch.zeros(2))
    assert total.tolist() == [6.0, 9.0]


def test_control_flow(x):
    assert jax.lax.cond(True, lambda a: a * 2, lambda a: a * 3, x).tolist() == [2.0, 4.0]
    doubled = jax.lax.while_loop(lambda c: (c.sum() < 10).jax(), lambda c: c * 2, x)
    assert doubled.tolist() == [4.0, 8.0]
    assert jax.lax.map(lambda r: r * 2, torch.ones(3, 2)).shape == (3, 2)
    g = jax.grad(lambda a: jax.checkpoint(lambda b: b.sin().sum())(a).jax())(x)
    np.testing.assert_allclose(g.numpy(), np.cos([1, 2]), rtol=1e-6)


# ----- derivatives --------------------------------------------------------------------------------


def test_detach_and_no_grad_are_constants_to_jax(x):
    def under_no_grad(a):
        with torch.no_grad():
            return a * 1

    @torch.inference_mode()
    def under_inference(a):
        return a * 1

    for constant in (lambda a: a.detach(), lambda a: a.data, under_no_grad, under_inference,
                     lambda a: a[:].detach() * 1, lambda a: a.view(2, 1).detach().view(2)):
        g = jax.grad(lambda a, constant=constant: (a * constant(a)).sum().jax())(x)
        assert g.tolist() == [1.0, 2.0]
        _, tangent = jax.jvp(lambda a, constant=constant: constant(a), (x,), (torch.ones(2),))
        assert tangent.tolist() == [0.0, 0.0]

    def straight_through(a):
        return (a + (a.round() - a).detach()).sum().jax()

    assert jax.jit(jax.grad(straight_through))(x * 1.3).tolist() == [1.0, 1.0]
    with torch.no_grad():  # around the transformation, as in PyTorch, it changes nothing
        with torch.enable_grad():
            assert jax.grad(lambda a: (a * a).sum().jax())(x).tolist() == [2.0, 4.0]


def test_autograd_inside_jax_grad(x):
    def first(a, create_graph):
        a = (a * 1).requires_grad_()
        return torch.autograd.grad((a**3).sum(), a, create_graph=create_graph)[0].sum()

    for create_graph in (True, False):
        g = jax.grad(lambda a, create_graph=create_graph: first(a, create_graph).jax())(x)
        np.testing.assert_allclose(g.numpy(), [6.0, 12.0], rtol=1e-6)


def test_hooks_and_retained_gradients_inside_jit(x):
    @jax.jit
    def g(a):
        a.requires_grad_()
        b = a * 2
        b.retain_grad()
        a.register_hook(lambda grad: grad * 10)
        (b * b).sum().backward()
        return a.grad, b.grad

    outer, inner = g(x)
    assert outer.tolist() == [80.0, 160.0] and inner.tolist() == [4.0, 8.0]


def test_parameters_captured_and_passed(x):
    layer = nn.Linear(2, 2)
    captured = jax.jit(lambda a: layer(a).sum())
    passed = jax.jit(lambda params, a: torch.nn.functional.linear(a, *params).sum())
    params = (layer.weight, layer.bias)
    assert captured(x).item() == pytest.approx(passed(params, x).item(), rel=1e-5)
    before = captured(x).item()
    with torch.no_grad():
        layer.bias += 1
    assert captured(x).item() == before  # a constant of the trace
    assert passed(params, x).item() == pytest.approx(before + 2, rel=1e-5)


# ----- custom functions ---------------------------------------------------------------------------


class Scaled(torch.autograd.Function):
    """Its backward is not its derivative, and keeps tensors, None, and other things on ctx."""

    @staticmethod
    def forward(ctx, x, scale, flag="f"):
        ctx.save_for_backward(x, None)
        ctx.scale, ctx.flag, ctx.twice = scale, flag, [x * 2]
        return x * scale

    @staticmethod
    def backward(ctx, g):
        x, nothing = ctx.saved_tensors
        assert nothing is None and ctx.flag == "f" and ctx.needs_input_grad == (True, False)
        return g * x * ctx.twice[0] * ctx.scale, None


class Several(torch.autograd.Function):
    @staticmethod
    def forward(x, y):
        return x * y, x > 1, x.long()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs, output[0])

    @staticmethod
    def backward(ctx, g, *_):
        x, _, out = ctx.saved_tensors
        return g * 10 * out, g * 20 * x


class Overwriting(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, g):
        return g * 7


class Unchanged(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, g):
        return g * 5


class ForwardOnly(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 3


def test_jax_uses_the_backward_of_custom_functions(x):
    scaled = jax.grad(lambda a: Scaled.apply(a, 2.0).sum().jax())
    for g in (scaled, jax.jit(scaled), jax.grad(jax.jit(lambda a: Scaled.apply(a, 2.0).sum().jax()))):
        assert g(x).tolist() == [4.0, 16.0]
    assert jax.vmap(scaled)(torch.ones(3, 2)).tolist() == [[4.0, 4.0]] * 3
    assert jax.grad(lambda a: scaled(a).sum().jax())(x).tolist() == [8.0, 16.0]

    def several(a, b):
        product, above, _ = Several.apply(a, b)
        return (product * above).sum().jax()

    gx, gy = jax.grad(several, argnums=(0, 1))(x, x * 3)
    assert gx.tolist() == [0.0, 120.0] and gy.tolist() == [0.0, 40.0]
    assert jax.grad(lambda a: Overwriting.apply(a * 1).sum().jax())(x).tolist() == [7.0, 7.0]
    assert jax.grad(lambda a: Unchanged.apply(a).sum().jax())(x).tolist() == [5.0, 5.0]
    assert jax.jit(ForwardOnly.apply)(x).tolist() == [3.0, 6.0]
    with pytest.raises(NotImplementedError, match="You must implement either the backward or vjp"):
        jax.grad(lambda a: ForwardOnly.apply(a).sum().jax())(x)


def test_custom_functions_in_our_own_graph_inside_jit(x):
    @jax.jit
    def g(a):
        a.requires_grad_()
        out = Scaled.apply(a, 2.0)
        assert type(out.grad_fn).__name__ == "ScaledBackward"
        changed = a * 1
        Overwriting.apply(changed)
        (out + changed).sum().backward()
        return a.grad, changed, Several.apply(a.detach(), a.detach())

    grad, changed, several = g(x)
    assert grad.tolist() == [11.0, 23.0] and changed.tolist() == [2.0, 4.0]
    assert several[1].tolist() == [False, True] and several[2].tolist() == [1, 2]


# ----- our own transforms inside jax's ------------------------------------------------------------


def test_func_inside_jax(x):
    def cube(a):
        return (a**3).sum()

    assert jax.jit(torch.func.grad(cube))(x).tolist() == [3.0, 12.0]
    assert jax.grad(lambda a: torch.func.grad(cube)(a).sum().jax())(x).tolist() == [6.0, 12.0]
    assert jax.jit(torch.func.hessian(cube))(x).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    pushed = jax.grad(lambda a: torch.func.jvp(lambda b: b**3, (a,), (a,))[1].sum().jax())
    assert pushed(x).tolist() == [9.0, 36.0]
    assert jax.jit(torch.vmap(lambda row: row.sum() * row))(torch.ones(3, 2)).tolist() == [[2.0, 2.0]] * 3
    assert jax.vmap(torch.vmap(torch.sum))(torch.ones(2, 3, 4)).tolist() == [[4.0] * 3] * 2
    call = jax.jit(lambda p, a: torch.func.functional_call(nn.Linear(2, 2), p, (a,)))
    assert call({"weight": torch.ones(2, 2), "bias": torch.zeros(2)}, x).tolist() == [3.0, 3.0]


def test_modules_called_directly(x):
    layer = nn.Linear(2, 2)
    rows = torch.ones(3, 2)
    expected = layer(rows).detach()
    np.testing.assert_allclose(jax.jit(layer)(rows), expected, rtol=1e-6)
    np.testing.assert_allclose(jax.vmap(layer)(rows), expected, rtol=1e-6)
    g = jax.grad(lambda a: layer(a).sum().jax())(x)
    np.testing.assert_allclose(g, layer.weight.detach().sum(0), rtol=1e-6)
    assert layer.weight.grad is None and layer(x).requires_grad

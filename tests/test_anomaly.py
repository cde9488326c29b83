"""Anomaly mode without PyTorch: the user's own lines are shown, and the chain of what induced a pass."""

import warnings

import pytest

import jaxflow as torch

pytestmark = pytest.mark.usefixtures("executor")


def reported(work):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with torch.autograd.set_detect_anomaly(True), pytest.raises(RuntimeError) as error:
            work()
    # What other threads or the garbage of other tests warn of meanwhile is caught as well.
    return str(error.value), [str(w.message) for w in caught if w.category is UserWarning]


def test_the_line_that_made_it_is_the_last_shown():
    x = torch.tensor([-1.0, 2.0], requires_grad=True)

    def work():
        y = x.sqrt()  # the line
        (y * 0).sum().backward()

    error, (text,) = reported(work)
    assert error == "Function 'SqrtBackward0' returned nan values in its 0th output."
    assert text.rstrip().endswith("y = x.sqrt()  # the line")
    assert "jaxflow/autograd/engine.py" not in text


def test_what_induced_a_pass_is_shown_to_the_first():
    x = torch.tensor([0.0, 2.0], requires_grad=True)

    def work():
        y = x.sqrt()  # the root
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)  # the pass
        (g * 0).sum().backward()

    error, (first, second) = reported(work)
    assert error.startswith("Function 'SqrtBackwardBackward0' returned nan")
    assert first.rstrip().endswith("create_graph=True)  # the pass")
    assert "Previous calculation was induced by SqrtBackward0" in second
    assert second.rstrip().endswith("y = x.sqrt()  # the root")


def test_off_again_and_nothing_is_noted():
    with torch.autograd.set_detect_anomaly(True):
        pass
    x = torch.tensor([-1.0], requires_grad=True)
    y = x.sqrt()
    assert y.grad_fn.metadata == {}
    y.backward(torch.ones(1))
    assert x.grad.isnan().all()


def test_inside_jit_nothing_is_read():
    import jax
    import jax.numpy as jnp

    def gradient(a):
        x = torch.from_jax(a).detach().requires_grad_()
        with torch.autograd.set_detect_anomaly(True):
            (x.sqrt() * 0).sum().backward()
        return x.grad.jax()

    assert jnp.isnan(jax.jit(gradient)(jnp.array([-1.0, 2.0]))).tolist() == [True, False]


def test_examples_under_vmap_are_looked_at():
    x = torch.tensor([[1.0, 2.0], [-1.0, 2.0]])

    def root(row):
        return (row.sqrt() * 0).sum()

    with torch.autograd.set_detect_anomaly(True), pytest.warns(UserWarning), \
            pytest.raises(RuntimeError, match="SqrtBackward0"):
        torch.func.vmap(torch.func.grad(root))(x)

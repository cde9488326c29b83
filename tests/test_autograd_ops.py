"""Every differentiable op against finite differences, its gradient and the gradient of that."""

import zlib

import numpy as np
import pytest
from gradient_rows import ROWS, VIEW_ROWS, op_of
from gradient_rows.row import draw
from running import FULL
from test_forward_ops import misfit

import jaxflow as torch
from jaxflow._ops.views import VIEWS
from jaxflow._plans.op import OPS
from jaxflow.autograd import gradcheck, gradgradcheck

ALL = {**ROWS, **VIEW_ROWS}


def _ops_behind(outputs):
    """The names of all ops that the history of ``outputs`` goes through."""
    outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
    todo = [t.grad_fn for t in outputs]
    found, seen = set(), set()
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        plan = getattr(node, "_plan", None)
        if plan is not None:
            found.add(getattr(OPS.get(plan.name), "overloads", "") or plan.name)
        todo += [below for below, _ in node.next_functions]
    return found


# Tests of one row follow each other (that is what the scope does), so that they find what it has compiled.
each_row = pytest.mark.parametrize("name", ALL, scope="module")


@each_row
def test_gradients(name, executor):
    row = ALL[name]
    inputs = row.inputs()
    assert op_of(name) in _ops_behind(row.call(*inputs))
    assert gradcheck(row.call, inputs, nondet_tol=0.0)
    underived = OPS[op_of(name)].underived if op_of(name) in OPS else None
    if underived is not None and underived.operand is not None and underived.formula is None:
        with pytest.raises(NotImplementedError, match="Trying to use forward AD"):
            misfit(row)
    elif executor == "eager":
        assert misfit(row) is None


def _outputs(row, inputs):
    outputs = row.call(*inputs)
    return [t for t in (outputs if isinstance(outputs, tuple) else (outputs,)) if t.requires_grad]


def _second_derivatives(row):
    """Products with the second derivatives: gradients of gradients, for fixed cotangents of both."""
    inputs = row.inputs()
    outputs = _outputs(row, inputs)
    along = [draw(-1, 1, i, tuple(t.shape), t.dtype.name) for i, t in enumerate(outputs)]
    first = torch.autograd.grad(outputs, inputs, along, create_graph=True, allow_unused=True)
    first = [g for g in first if g is not None and g.requires_grad]
    across = [draw(-1, 1, i, tuple(g.shape), g.dtype.name) for i, g in enumerate(first)]
    second = torch.autograd.grad(first, [*inputs, *along], across, allow_unused=True) if first else []
    return [None if g is None else g.numpy() for g in second]


def _check_joined(row):
    """``gradgradcheck`` of all gradients as one result.

    Given one by one, those of a recurrent layer take a program of XLA for each operand: half a minute.
    """
    inputs = row.inputs()
    along = [draw(-1, 1, i, tuple(t.shape), t.dtype.name) for i, t in enumerate(_outputs(row, inputs))]

    def gradient(*args):
        inputs, along = args[: len(row.shapes)], args[len(row.shapes) :]
        outputs = _outputs(row, inputs)
        found = torch.autograd.grad(outputs, inputs, along, create_graph=True, allow_unused=True)
        return torch.cat([g.reshape(-1) for g in found if g is not None])

    return gradcheck(gradient, [*inputs, *along])


#: Constant by pieces: their gradients are new zeros, without a history.
STEPS = {"angle", "ceil", "floor", "round", "sgn", "sign", "trunc"}


@each_row
def test_second_derivatives(name):
    """Those of deferred programs against finite differences, and eager's of half of the rows against those.

    A deferred program that is met for the first time is interpreted. Finite differences under the eager
    executor give the same numbers, and XLA would compile every operation for each set of gradients asked for.
    """
    row = ALL[name]
    one_by_one = FULL or len(row.shapes) <= 4
    for executor in ("deferred", "eager") if FULL else ("deferred",):
        with torch.execution(executor):
            assert gradgradcheck(row.call, row.inputs()) if one_by_one else _check_joined(row)
    with torch.execution("deferred"):
        expected = _second_derivatives(row)
    assert any(g is not None for g in expected) == (name not in STEPS)
    if not FULL and zlib.crc32(name.encode()) % 2:
        return  # every second row is left to the finite differences
    with torch.execution("eager"):
        found = _second_derivatives(row)
    for f, e in zip(found, expected, strict=True):
        assert (f is None) == (e is None)
        if e is not None:
            np.testing.assert_allclose(f, e, rtol=1e-9, atol=1e-11)


# They have nodes, as in PyTorch, whose backward raises; the last is refused when it is called.
NOT_DERIVED = {"_chunk_cat", "eq", "floor_divide", "ge", "gt", "heaviside", "le", "lt", "ne",
               "scatter_reduce_src", "scatter_reduce_value", "view_as_complex_copy"}
# Their derivatives are those of a number at its level, which no other draw gives: test_random_gamma.py.
NOT_BY_DIFFERENCES = {"_dirichlet_traced", "_gamma_traced"}
# Steps, whose derivatives are by definition not those of the function: test_fake_quantize.py.
STRAIGHT_THROUGH = {"_fake_quantize", "_fake_quantize_by_tensors", "_fake_quantize_channels",
                    "_fake_quantize_learnable", "_fake_quantize_learnable_channels", "_observed_and_faked"}


def test_every_differentiable_op_has_a_row():
    rows = {op_of(name) for name in ROWS}
    differentiable = {name for name, op in OPS.items() if op.differentiable and not op.overloads}
    differentiable -= NOT_DERIVED | NOT_BY_DIFFERENCES | STRAIGHT_THROUGH
    assert (sorted(differentiable - rows), sorted(rows - differentiable)) == ([], [])


def test_every_view_is_read_and_written():
    """``piece`` is a part of a split; what shows one element twice cannot be written."""
    rows = {op_of(name) for name in VIEW_ROWS}
    read = {*VIEWS} - {"piece", "view_dtype"}
    assert rows == {*read, "split", *(f"write_{name}" for name in read - {"expand", "unfold"})}


@pytest.mark.parametrize("name", "exp i1 softmax prod _index std cumprod".split())
def test_finite_differences_by_hand(name, executor):
    """What gradcheck computes, once more in NumPy."""
    row = ROWS[name]
    x, = row.inputs()
    weights = None

    def loss(array):
        nonlocal weights
        out = row.call(torch.tensor(array))
        out = out[0] if isinstance(out, tuple) else out
        if weights is None:
            weights = np.random.default_rng(1).normal(size=tuple(out.shape))
        return float((out.numpy() * weights).sum())

    base, step = x.detach().numpy().copy(), 1e-6
    loss(base)
    expected = np.zeros_like(base)
    for i in np.ndindex(*base.shape):
        shift = np.zeros_like(base)
        shift[i] = step
        expected[i] = (loss(base + shift) - loss(base - shift)) / (2 * step)
    out = row.call(x)
    out = out[0] if isinstance(out, tuple) else out
    out.backward(torch.tensor(weights))
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-5, atol=1e-7)

"""Registered operators in PyTorch and here."""

from __future__ import annotations

import pytest
import torch

import jaxflow
from compat_tests.library_functions import functions


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("mutates", [(), ("x",), "unknown"])
def test_schemas_are_the_same(number, mutates):
    ours, theirs = (functions(lib)[number] for lib in (jaxflow, torch))
    assert jaxflow.library.infer_schema(ours, mutates_args=mutates) == torch.library.infer_schema(
        theirs, mutates_args=mutates)


@pytest.mark.parametrize("lib", [jaxflow, torch])
def test_a_program_gives_the_same(lib):
    made = lib.library.custom_op("compat_program::scaled", functions(lib)[1], mutates_args=())

    def keep(ctx, inputs, output):
        ctx.by = inputs[1]

    made.register_autograd(lambda ctx, g: (g * ctx.by, None, None), setup_context=keep)
    made.register_fake(lambda x, by, words=None: lib.empty_like(x))
    x = lib.ones(3, requires_grad=True, device="cpu")
    y = lib.ops.compat_program.scaled(x, 4.0)
    y.sum().backward()
    assert y.tolist() == [4.0] * 3 and x.grad.tolist() == [4.0] * 3
    assert lib.ops.compat_program.scaled(lib.empty(5, device="meta"), 1.0).shape == (5,)
    assert str(lib.ops.compat_program.scaled) == "compat_program.scaled"
    assert lib.ops.compat_program.scaled.default.name() == "compat_program::scaled"

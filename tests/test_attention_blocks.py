"""Attention of long sequences, a block of queries at a time, against all queries at once."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxflow as torch
from jaxflow._api.nn.dropout import noise_of
from jaxflow._dispatch.dispatch import apply
from jaxflow._ops import attention as blocks
from jaxflow._plans.op import OPS

F = torch.nn.functional
LENGTH, SOURCE = 300, 70  # parts of one block, of two in a loop, and rows left over
LONG = 600


def arrays(length, *shapes):
    random = np.random.default_rng(0)
    shapes = ((1, 2, length, 4), (1, 2, SOURCE, 4), (1, 2, SOURCE, 3), *shapes)
    return [jnp.asarray(random.normal(size=s).astype(np.float32)) for s in shapes]


def masks(length):
    random = np.random.default_rng(1)
    some = jnp.asarray(random.random((length, SOURCE)) < 0.5).at[5].set(False)
    wide, narrow = (jnp.asarray(random.normal(size=s), np.float32) for s in ((2, length, SOURCE), (SOURCE,)))
    return {"none": None, "some": some, "wide": wide, "narrow": narrow}


@pytest.mark.parametrize("name, causal, length", [
    ("none", True, LONG), ("some", True, LENGTH), ("wide", False, LENGTH), ("narrow", True, LENGTH),
])
def test_derivatives_are_those_of_all_rows_at_once(monkeypatch, name, causal, length):
    mask = masks(length)[name]
    noise = None if name == "none" else arrays(length, (1, 2, length, SOURCE))[3]
    q, k, v, ct = arrays(length, (1, 2, length, 3))
    static = dict(is_causal=causal, scale=0.7, enable_gqa=False)

    def everything():
        def run(q, k, v):
            return blocks.attention.fn(q, k, v, mask, noise, **static)

        def gradients(q, k, v):
            return jax.vjp(run, q, k, v)[1](ct)

        out, tangent = jax.jvp(run, (q, k, v), (k.sum() * q, k, v))
        seconds = jax.vjp(gradients, q, k, v)[1]((q, k, v))
        mapped = jax.vmap(run)(*(jnp.stack([x, 2 * x]) for x in (q, k, v)))
        half = run(*(x.astype(jnp.bfloat16) for x in (q, k, v)))
        return out, tangent, *gradients(q, k, v), *seconds, mapped, half

    found = jax.jit(everything)()
    monkeypatch.setattr(blocks, "_LONG", 1 << 30)
    again = jax.jit(lambda: everything())()  # noqa: PLW0108 - of the function itself jax has kept the trace
    for x, y in zip(found, again, strict=True):
        assert x.dtype == y.dtype
        x, y, half = x.astype(np.float32), y.astype(np.float32), x.dtype == jnp.bfloat16
        scale = max(1, float(jnp.abs(y).max()))
        # The last bit of a bfloat16 is up to 2 ** -7 of it.
        np.testing.assert_allclose(x, y, rtol=2 ** -7 if half else 2e-5, atol=2e-6 * scale)


def test_scores_of_long_sequences_are_never_all_there():
    def bytes_of(length):
        x = jax.ShapeDtypeStruct((1, 1, length, 8), np.float32)

        def step(q, k, v):
            return jax.vjp(lambda *a: blocks.attention.fn(
                *a, is_causal=True, scale=None, enable_gqa=False), q, k, v)[1](q)

        return jax.jit(step).lower(x, x, x).compile().memory_analysis().temp_size_in_bytes

    assert bytes_of(4096) < 2.5 * bytes_of(2048) < 2048 * 2048 * 4


def test_dropout_draws_the_same_numbers_block_by_block():
    q, k, v = (torch.tensor(np.asarray(x)).requires_grad_() for x in arrays(LENGTH))
    results = []
    for by_block in (True, False):
        torch.manual_seed(5)
        if by_block:
            out = F.scaled_dot_product_attention(q, k, v, dropout_p=0.25, is_causal=True)
        else:
            noise = noise_of((1, 2, LENGTH, SOURCE), q, 0.25)
            out = apply(OPS["_scaled_dot_product_attention"], (q, k, v, None, noise), (True, None, False))
        first = torch.autograd.grad(out.sin().sum(), (q, k, v), create_graph=True)
        second = torch.autograd.grad(sum(g.square().sum() for g in first), (q, k, v))
        results.append([out, *first, *second])
    for x, y in zip(*results, strict=True):
        assert torch.allclose(x, y, rtol=1e-4, atol=1e-5)
    assert type(results[0][0].grad_fn).__name__ == "ScaledDotProductFlashAttentionForCpuBackward0"

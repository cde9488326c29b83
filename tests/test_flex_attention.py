"""Attention with functions of single positions: where it runs, what blocks mean, gradients."""

import copy
import pickle

import jax
import pytest

import jaxflow as torch
from jaxflow._core import flags
from jaxflow.nn.attention import bias, current_flash_attention_impl
from jaxflow.nn.attention import flex_attention as flex
from jaxflow.nn.attention._positions import mask_over
from jaxflow.nn.attention.flex_attention import (
    AuxRequest,
    BlockMask,
    _vmap_for_bhqkv,
    create_block_mask,
    create_mask,
    flex_attention,
    noop_mask,
)

KEYS = 40
F = torch.nn.functional


def causal(b, h, q, k):
    return q >= k


def operands(queries=KEYS, dtype=torch.float64):
    generator = torch.Generator().manual_seed(2)
    return [torch.randn(2, 4, n, 8, generator=generator, dtype=dtype) for n in (queries, KEYS, KEYS)]


def biased(table):
    return lambda score, b, h, q, k: score + table[h, q - k + KEYS]


def dense(query, key, value, mask=None, change=lambda scores: scores):
    """By the formula, with matrices."""
    scores = change(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(-1).nan_to_num() @ value, scores.logsumexp(-1)


def near(x, y, error=1e-9):
    return (x - y).abs().max().item() < error


@pytest.fixture(params=["deferred", "eager", "every program compiled"])
def anywhere(request, monkeypatch):
    """Interpreted, operation by operation, and as programs that are compiled."""
    if request.param == "eager":
        with torch.execution("eager"):
            yield
    else:
        monkeypatch.setattr(flags, "INTERPRET", request.param == "deferred" and flags.INTERPRET)
        yield


@pytest.mark.usefixtures("anywhere")
def test_a_learned_bias_with_its_gradient():
    table = torch.linspace(-1, 1, 8 * KEYS, dtype=torch.float64).reshape(4, -1).requires_grad_()
    q, k, v = (t.requires_grad_() for t in operands())
    mask = create_block_mask(causal, None, None, KEYS, KEYS, "cpu", BLOCK_SIZE=16)
    at = torch.arange(KEYS)
    offsets = at[:, None] - at[None, :] + KEYS
    outs = (flex_attention(q, k, v, biased(table), mask),
            dense(q, k, v, offsets >= KEYS, lambda scores: scores + table[:, offsets])[0])
    grads = [torch.autograd.grad(out.sin().sum(), (q, k, v, table)) for out in outs]
    assert near(*outs) and all(near(one, other) for one, other in zip(*grads, strict=True))
    assert grads[0][3].abs().sum() > 0 and outs[0].grad_fn is not None


def test_second_derivatives():
    q, k, v = (t[:1, :2, :3, :2].clone().requires_grad_() for t in operands())
    table = torch.linspace(-1, 1, 4 * KEYS, dtype=torch.float64).reshape(2, -1)[:, KEYS - 3:KEYS + 3].clone()
    mask = create_block_mask(lambda b, h, q, k: q > k, None, None, 3, 3, "cpu", BLOCK_SIZE=2)

    def f(q, k, v, table):
        out, aux = flex_attention(q, k, v, lambda score, b, h, i, j: score.tanh() + table[h, i - j + 3], mask,
                                  return_aux=AuxRequest(lse=True))
        return out, torch.where(aux.lse == -torch.inf, 0.0, aux.lse)  # the first query sees nothing

    inputs = (q, k, v, table.requires_grad_())
    assert torch.autograd.gradcheck(f, inputs, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(f, inputs)


def test_compiled_functions_run_no_python():
    table = torch.linspace(-1, 1, 8 * KEYS).reshape(4, -1)
    change = biased(table)

    def step(q, k, v):
        mask = create_block_mask(causal, None, None, KEYS, KEYS, "cpu", BLOCK_SIZE=16)
        return flex_attention(q, k, v, change, mask)

    given = operands(dtype=torch.float32)
    mask = create_block_mask(causal, None, None, KEYS, KEYS, "cpu", BLOCK_SIZE=16)
    expected = step(*given)
    whole, attention = torch.compile(step, fullgraph=True), torch.compile(flex_attention)
    for _ in range(3):
        assert near(whole(*given), expected, 1e-5)
        assert near(attention(*given, change, mask), expected, 1e-5)
    before = [f.explain()["hits"] for f in (whole, attention)]
    table[:, :KEYS + 3] = 0.0  # it is read at each call
    later = whole(*given), attention(*given, change, mask)
    assert [f.explain()["hits"] for f in (whole, attention)] == [n + 1 for n in before]
    assert near(*later, 1e-5) and near(later[0], step(*given), 1e-5) and not near(later[0], expected, 1e-2)


def test_a_compiled_step_of_training():
    table = torch.zeros(4, 2 * KEYS + 1, requires_grad=True)
    q, k, v = operands(dtype=torch.float32)
    mask = create_block_mask(causal, None, None, KEYS, KEYS, "cpu")
    optimizer = torch.optim.SGD([table], lr=1e-3)

    @torch.compile
    def step():
        optimizer.zero_grad()
        loss = flex_attention(q, k, v, biased(table), mask).square().sum()
        loss.backward()
        optimizer.step()
        return loss

    losses = [step().item() for _ in range(4)]
    assert losses == sorted(losses, reverse=True) and losses[3] < losses[0]
    assert step.explain()["hits"] > 0


def test_a_backward_after_a_compiled_call():
    compiled = torch.compile(flex_attention)
    mask = create_block_mask(causal, None, None, KEYS, KEYS, "cpu")
    table = torch.linspace(-1, 1, 8 * KEYS, dtype=torch.float64).reshape(4, -1).requires_grad_()
    change, inputs = biased(table), [t.requires_grad_() for t in operands()]
    for _ in range(4):
        grads = [torch.autograd.grad(f(*inputs, change, mask).sin().sum(), (*inputs, table))
                 for f in (compiled, flex_attention)]
        assert all(near(one, other) for one, other in zip(*grads, strict=True))
    assert compiled.explain()["hits"] >= 2 and not compiled.explain()["python"]


def test_a_call_is_recorded_without_a_sync():
    q, k, v = operands(dtype=torch.float32)
    torch.flush()
    with torch.execution("deferred"):
        q = q * 1
        out = flex_attention(q, k, v, biased(torch.zeros(4, 2 * KEYS)),
                             create_block_mask(causal, None, None, KEYS, KEYS, "cpu"))
        assert q._storage.value.producer is not None and out._storage.value.producer is not None


def test_inside_jit_and_vmap():
    q, k, v = operands(dtype=torch.float32)
    mask = create_block_mask(causal, None, None, KEYS, KEYS, "cpu")

    def f(q, k, v):
        return flex_attention(q, k, v, lambda score, b, h, i, j: score * h, mask)

    expected = f(q, k, v)
    pairs = [torch.stack([t, 2 * t]) for t in (q, k, v)]
    assert near(torch.vmap(f)(*pairs)[1], f(2 * q, 2 * k, 2 * v), 1e-5)
    assert near(jax.jit(f)(q, k, v), expected, 1e-5)


# ------------------------------------------------------------------------------------------- block masks


COUNTS, COLUMNS = torch.tensor([[[1, 2, 0]]], dtype=torch.int32), torch.tensor(
    [[[[1, 0, 2], [0, 2, 1], [0, 1, 2]]]], dtype=torch.int32)


def listed(sees):
    """The elements of the blocks that are listed above, and of those the ones that ``sees`` says."""
    at = torch.arange(KEYS)
    q, k = at[:, None], at[None, :]
    rows, columns = q // 16, k // 16
    return ((rows == 0) & (columns == 1) | (rows == 1) & (columns != 1)) & sees(q, k)


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("change", [None, lambda score, *_: score * 1])
def test_blocks_that_are_not_listed_are_masked(change):
    q, k, v = operands()
    some = BlockMask.from_kv_blocks(COUNTS, COLUMNS, BLOCK_SIZE=16, seq_lengths=(KEYS, KEYS))
    expected = dense(q, k, v, listed(lambda q, k: q >= 0))[0]
    assert near(flex_attention(q, k, v, change, some), expected) and not expected[:, :, 32:].any()
    some.mask_mod = lambda b, h, q, k: (q + k) % 3 > 0
    fewer = listed(lambda q, k: (q + k) % 3 > 0)
    assert near(flex_attention(q, k, v, change, some), dense(q, k, v, fewer)[0])
    full = BlockMask.from_kv_blocks(0 * COUNTS, COLUMNS, COUNTS, COLUMNS, BLOCK_SIZE=16,
                                    mask_mod=lambda b, h, q, k: q < 0, seq_lengths=(KEYS, KEYS))
    assert near(flex_attention(q, k, v, change, full), expected)  # in full blocks the function does not count
    assert near(flex_attention(q, k, v, change, full.to("cpu")), expected)


def test_a_part_of_the_rows():
    q, k, v = operands()
    mask = create_block_mask(causal, None, None, KEYS, KEYS, "cpu", BLOCK_SIZE=16)
    part = mask[:, :, 1]
    part.mask_mod, part.seq_lengths = lambda b, h, q, k: q + 16 >= k, (16, KEYS)
    assert near(flex_attention(q[:, :, 16:32], k, v, block_mask=part),
                flex_attention(q, k, v, block_mask=mask)[:, :, 16:32])


@pytest.mark.parametrize("rule", [causal, lambda b, h, q, k: (q - k).abs() < 9, lambda b, h, q, k: k > 20])
@pytest.mark.parametrize("lengths", [(20, 30), (33, 8)])
def test_the_upper_left_part(rule, lengths):
    """The same blocks as of a mask that is made for these lengths, but for the last ones, which it cuts."""
    whole = create_block_mask(rule, None, None, KEYS, KEYS, "cpu", BLOCK_SIZE=8)
    part = whole._adjust(*lengths)
    assert part.shape == (1, 1, *lengths)
    rows, columns = (-(-n // 8) for n in lengths)
    assert part.to_dense().tolist() == whole.to_dense()[..., :rows, :columns].tolist()
    q, k, v = operands()
    q, k, v = q[:, :, :lengths[0]], k[:, :, :lengths[1]], v[:, :, :lengths[1]]
    expected = create_block_mask(rule, None, None, *lengths, "cpu", BLOCK_SIZE=8)
    assert near(flex_attention(q, k, v, block_mask=part), flex_attention(q, k, v, block_mask=expected))


def test_lists_and_matrices():
    def rule(b, h, q, k):
        return (q * 7 + k * 3 + h) % 5 < 2

    mask = create_block_mask(rule, None, 3, 30, 26, "cpu", BLOCK_SIZE=2)
    blocks = create_mask(mask.mask_mod, 1, 3, 30, 26, "cpu").reshape(1, 3, 15, 2, 13, 2)
    assert mask.to_dense().bool().tolist() == blocks.any(5).any(3).tolist()
    assert mask.full_kv_num_blocks.tolist() == blocks.all(5).all(3).sum(-1).tolist()
    for row in range(15):  # of each column its rows
        for column in mask.kv_indices[0, 1, row, :int(mask.kv_num_blocks[0, 1, row])].tolist():
            assert row in mask.q_indices[0, 1, column, :int(mask.q_num_blocks[0, 1, column])].tolist()
    assert mask.kv_num_blocks.sum() == mask.q_num_blocks.sum()
    assert mask.q_indices.dtype is mask.kv_num_blocks.dtype is torch.int32


def test_block_masks_are_copied_and_pickled():
    mask = create_block_mask(noop_mask, None, None, KEYS, KEYS, "cpu", BLOCK_SIZE=16)
    for other in (copy.deepcopy(mask), pickle.loads(pickle.dumps(mask))):
        assert repr(other) == repr(mask) and other.full_kv_indices.tolist() == mask.full_kv_indices.tolist()
        assert near(flex_attention(*operands(), block_mask=other), flex_attention(*operands()))


def test_lists_that_do_not_reach_are_refused():
    q, k, v = operands()
    short = BlockMask.from_kv_blocks(COUNTS, COLUMNS, BLOCK_SIZE=4, seq_lengths=(KEYS, KEYS))
    with pytest.raises(ValueError, match=r"do not reach to q_len=40 and kv_len=40"):
        flex_attention(q, k, v, block_mask=short)
    three = create_block_mask(lambda b, h, q, k: h > 0, None, 3, KEYS, KEYS, "cpu")
    with pytest.raises(ValueError, match=r"do not broadcast to those of query, \(2, 4\)"):
        flex_attention(q, k, v, block_mask=three)
    with pytest.raises(ValueError, match="Bq=2, Bkv=1, B_block_mask=1"):
        flex_attention(q, k[:1], v[:1], block_mask=create_block_mask(causal, None, None, KEYS, KEYS, "cpu"))
    with pytest.raises(RuntimeError, match="data-dependent control flow"):
        create_block_mask(lambda b, h, q, k: q if q > k else k, None, None, 2, 2, "cpu")


# ----------------------------------------------------------------------------------------- other results


def test_rows_that_see_nothing():
    q, k, v = operands()
    mask = create_block_mask(lambda b, h, q, k: q > k, None, None, KEYS, KEYS, "cpu")
    out, aux = flex_attention(q, k, v, block_mask=mask, return_aux=AuxRequest(lse=True, max_scores=True))
    assert not out[:, :, 0].any() and (aux.lse[:, :, 0] == -torch.inf).all()
    assert (aux.max_scores[:, :, 0] == -torch.inf).all() and not aux.max_scores.requires_grad
    at = torch.arange(KEYS)
    expected, lse = dense(q, k, v, at[:, None] > at[None, :])
    assert near(out, expected) and near(aux.lse[:, :, 1:], lse[:, :, 1:])
    assert flex_attention(q, k, v, return_aux=AuxRequest())[1] == (None, None)


def test_a_mask_stays_small_where_it_does_not_depend_on_heads():
    both = flex.and_masks(causal, lambda b, h, q, k: q - k < 3)
    for rule, shape in ((causal, (1, 1, 5, 6)), (lambda b, h, q, k: k < 3 - b, (2, 1, 1, 6)),
                        (both, (1, 1, 5, 6)), (noop_mask, (1, 1, 1, 1))):
        small = mask_over(rule, (2, 4, 5, 6), torch.device("cpu"))
        assert small.shape == shape
        assert small.expand(2, 4, 5, 6).tolist() == create_mask(rule, 2, 4, 5, 6, "cpu").tolist()


def test_groups_of_heads():
    at = [torch.arange(n) for n in (2, 3, 4)]
    heads = torch.arange(6).reshape(2, 3)
    grouped = _vmap_for_bhqkv(lambda b, h, q, k: h * 10 + k, (), group_dim=True)(at[0], heads, at[1], at[2])
    assert grouped.shape == (2, 2, 3, 3, 4) and grouped[1, 1, 2, 0].tolist() == [50, 51, 52, 53]


def test_names_of_pytorch():
    assert flex._DEFAULT_SPARSE_BLOCK_SIZE == 128 and flex._identity(1, 0, 0, 0, 0) == 1
    assert BlockMask.__module__ == flex_attention.__module__ == flex.and_masks.__module__ == flex.__name__
    options: flex.FlexKernelOptions = {"BLOCK_M": 16}
    assert near(flex_attention(*operands(), kernel_options=options), flex_attention(*operands()))


def test_a_causal_bias_is_computed_without_a_mask():
    q, k, v = operands()
    for n, made in ((KEYS, bias.causal_upper_left), (KEYS, bias.causal_lower_right)):
        assert near(F.scaled_dot_product_attention(q, k, v, made(n, n)),
                    F.scaled_dot_product_attention(q, k, v, is_causal=True))
    last = F.scaled_dot_product_attention(q[:, :, -3:], k, v, bias.causal_lower_right(3, KEYS))
    assert near(last, F.scaled_dot_product_attention(q, k, v, is_causal=True)[:, :, -3:])


def test_kernels_of_other_packages(caplog, monkeypatch):
    attention = torch.nn.attention
    monkeypatch.setattr(attention._registry, "_offered", {})
    removed = []

    class Handle:
        def remove(self):
            removed.append(1)

    attention.register_flash_attention_impl("b", register_fn=Handle)
    attention.register_flash_attention_impl("a", register_fn=lambda: None)
    assert attention.list_flash_attention_impls() == ["a", "b"] and current_flash_attention_impl() is None
    attention.activate_flash_attention_impl("b")
    assert current_flash_attention_impl() == "b" and not removed
    attention.activate_flash_attention_impl("a")
    assert current_flash_attention_impl() is None and removed == [1]
    with pytest.raises(ValueError, match=r"Unknown .* impl 'c'. Available implementations: \['a', 'b'\]"):
        attention.activate_flash_attention_impl("c")
    attention.restore_flash_attention_impl()
    assert "no other one was activated" in caplog.text

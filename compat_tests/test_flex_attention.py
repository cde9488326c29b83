"""``torch.nn.attention``: functions of single positions, block masks and causal biases, against PyTorch."""

import importlib
import math

import numpy as np
import pytest
import torch
from torch._higher_order_ops.flex_attention import math_attention

import jaxflow
from compat_tests.judge import assert_close

BATCHES, HEADS, QUERIES, KEYS, WIDTH = 2, 4, 21, 37, 8

#: Each takes a namespace and gives a function of a score and its position.
SCORES = {
    "none": lambda T: None,
    "unchanged": lambda T: lambda score, b, h, q, k: score,
    "causal": lambda T: lambda score, b, h, q, k: T.where(q >= k, score, -float("inf")),
    "relative": lambda T: lambda score, b, h, q, k: score + (q - k),
    "alibi": lambda T: lambda score, b, h, q, k: score + T.exp2(-((h + 1) * 8.0 / HEADS)) * (k - q),
    "soft cap": lambda T: lambda score, b, h, q, k: 5 * T.tanh(score / 5),
    "table": lambda T: lambda score, b, h, q, k: score + table(T)[h, q - k + KEYS],
    "learned": lambda T: lambda score, b, h, q, k: score * learned(T)[b][h] + learned(T)[b, h] ** 2,
    "of two": lambda T: lambda score, b, h, q, k: T.where(h < 2, score, T.stack([score, score * b]).sum()),
}
#: Likewise, of a position alone; and for how many batches and heads a block mask of it is made.
MASKS = {
    "none": (None, None, None),
    "causal": (lambda T: lambda b, h, q, k: q >= k, None, None),
    "window": (lambda T: lambda b, h, q, k: (q >= k) & (q - k < 9), None, None),
    "prefix": (lambda T: flex(T).or_masks(lambda b, h, q, k: k < 3, lambda b, h, q, k: q >= k), None, None),
    "documents": (lambda T: flex(T).and_masks(lambda b, h, q, k: documents(T)[q] == documents(T)[k],
                                              lambda b, h, q, k: q >= k), None, None),
    "late": (lambda T: lambda b, h, q, k: q - k >= 10, None, None),
    "each": (lambda T: lambda b, h, q, k: (k + h) % 3 != b, BATCHES, HEADS),
    "batch": (lambda T: lambda b, h, q, k: k < lengths(T)[b], BATCHES, None),
    "nothing": (lambda T: lambda b, h, q, k: q < 0, None, None),
}


def flex(T):
    return importlib.import_module(f"{T.__name__}.nn.attention.flex_attention")


def numbers(T, seed, *shape, dtype="float64", grad=False):
    array = np.random.default_rng(seed).standard_normal(shape)
    made = T.tensor(array).to(getattr(T, dtype))
    return made.requires_grad_() if grad else made


def table(T):
    return numbers(T, 11, HEADS, 2 * KEYS, dtype="float32")


def learned(T):
    return numbers(T, 12, BATCHES, HEADS, dtype="float32")


def documents(T):
    return T.arange(64) // 7


def lengths(T):
    return T.tensor([5, 30])


def operands(T, dtype="float32", kv_heads=HEADS, kv_batches=BATCHES, grad=False):
    """Queries, keys and values; the heads of the queries beside each other in memory."""
    query = numbers(T, 1, BATCHES, QUERIES, HEADS, WIDTH, dtype=dtype, grad=grad)
    key = numbers(T, 2, kv_batches, kv_heads, KEYS, WIDTH, dtype=dtype, grad=grad)
    return query, key, numbers(T, 3, kv_batches, kv_heads, KEYS, 6, dtype=dtype, grad=grad)


def mask_of(T, name, block=16):
    make, batches, heads = MASKS[name]
    if make is None:
        return None
    return flex(T).create_block_mask(make(T), batches, heads, QUERIES, KEYS, "cpu", BLOCK_SIZE=block)


def attention(T, score, mask, dtype="float32", **options):
    """The output, its strides, and the logarithms of sums."""
    of_operands = {name: options.pop(name) for name in ("kv_heads", "kv_batches") if name in options}
    query, key, value = operands(T, dtype, **of_operands)
    module = flex(T)
    arguments = (query.transpose(1, 2), key, value, SCORES[score](T), mask_of(T, mask))
    out = module.flex_attention(*arguments, **options)
    also, aux = module.flex_attention(*arguments, **options, return_aux=module.AuxRequest(lse=True))
    return out, also, aux.lse


@pytest.fixture(autouse=True)
def uncompiled(monkeypatch):
    """PyTorch's own computation without a compiler, which warns that it is slow."""
    monkeypatch.setattr(flex(torch), "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", True)


def as_torch(t):
    wide = t.detach().to(jaxflow.float64).numpy()
    return torch.from_numpy(np.array(wide)).to(getattr(torch, str(t.dtype).split(".")[1]))


def compare(run):
    """``run`` with both namespaces: the same numbers, dtypes and strides."""
    exact = []

    def of_wide(i):
        if not exact:
            exact.extend(run(torch, "float64"))
        return exact[i]

    for i, (ours, theirs) in enumerate(zip(run(jaxflow, None), run(torch, None), strict=True)):
        assert ours.stride() == theirs.stride()
        assert_close(as_torch(ours), theirs.detach(), lambda i=i: of_wide(i), where=str(i))


PAIRS = [*((score, "none") for score in SCORES), *(("none", mask) for mask in MASKS if mask != "none"),
         ("alibi", "causal"), ("table", "documents"), ("relative", "late"), ("soft cap", "each"),
         ("learned", "nothing")]


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize(("score", "mask"), PAIRS)
def test_numbers(score, mask):
    compare(lambda T, wide: attention(T, score, mask, wide or "float32"))


@pytest.mark.parametrize("dtype", ["float64", "bfloat16", "float16"])
@pytest.mark.parametrize(("score", "mask"), [("none", "causal"), ("alibi", "window"), ("table", "none")])
def test_dtypes(score, mask, dtype):
    compare(lambda T, wide: attention(T, score, mask, wide or dtype))


@pytest.mark.parametrize("options", [
    dict(kv_heads=2, enable_gqa=True), dict(kv_heads=1, enable_gqa=True), dict(enable_gqa=True),
    dict(scale=0.3), dict(kv_batches=1), dict(kernel_options=dict(BLOCK_M=16)),
], ids=str)
@pytest.mark.parametrize("score", ["none", "alibi"])
def test_options(score, options):
    compare(lambda T, wide: attention(T, score, "each", wide or "float32", **options))


def test_autocast():
    def run(T, wide):
        with T.autocast("cpu", dtype=T.bfloat16, enabled=wide is None):
            return attention(T, "relative", "causal", wide or "float32")

    compare(run)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_operands_of_other_dtypes(dtype):
    """Keys and values are cast to what queries are."""
    def run(T, wide):
        query, key, value = operands(T, wide or "float32")
        key, value = (t if wide else t.to(getattr(T, dtype)) for t in (key, value))
        return [flex(T).flex_attention(query.transpose(1, 2), key, value)]

    compare(run)


def gradients(T, score, mask, kv_heads, lse):
    """Of the operands and of what the function of scores looks up; PyTorch's through its formula."""
    query, key, value = operands(T, "float64", kv_heads, grad=True)
    bias = numbers(T, 4, HEADS, 2 * KEYS, grad=True)
    factor = numbers(T, 5, HEADS, grad=True)
    changes = {
        "none": None, "soft cap": SCORES["soft cap"](T),
        "bias": lambda score, b, h, q, k: score * factor[h] + bias[h, q - k + KEYS],
    }
    block_mask, change, module = mask_of(T, mask), changes[score], flex(T)
    if T is torch:
        rule = module.noop_mask if block_mask is None else block_mask.mask_mod
        out, sums, _ = math_attention(query.transpose(1, 2), key, value, change or (lambda score, *_: score),
                                      (rule,), 1 / math.sqrt(WIDTH), {})
        sums = sums * math.log(2)
    else:
        out, aux = module.flex_attention(query.transpose(1, 2), key, value, change, block_mask,
                                         enable_gqa=True, return_aux=module.AuxRequest(lse=lse))
        sums = aux.lse
    loss = (out * T.arange(6)).sum()
    if lse:
        loss = loss + T.where(sums == -math.inf, 0.0, sums).sin().sum()
    found = T.autograd.grad(loss, [query, key, value, bias, factor], allow_unused=True)
    return [t for t in found if t is not None]


@pytest.mark.parametrize(("score", "mask", "kv_heads", "lse"), [
    ("none", "none", 4, False), ("none", "late", 2, True), ("soft cap", "causal", 4, False),
    ("bias", "documents", 4, True), ("bias", "late", 2, False), ("bias", "none", 1, True),
])
def test_gradients(score, mask, kv_heads, lse):
    ours, theirs = (gradients(T, score, mask, kv_heads, lse) for T in (jaxflow, torch))
    assert len(ours) == len(theirs) == (5 if score == "bias" else 3)
    for one, other in zip(ours, theirs, strict=True):
        assert_close(as_torch(one), other)


# ------------------------------------------------------------------------------------------- block masks


def seen(x):
    """What is compared of a result: text, numbers, and of tensors all but the strides of what is expanded."""
    if hasattr(x, "stride"):
        laid_out = x.stride() if x.dtype in (torch.int32, jaxflow.int32) else None
        return str(x.dtype).split(".")[1], tuple(x.shape), laid_out, x.tolist()
    if hasattr(x, "kv_indices"):
        return repr(x), str(x), [seen(t) for t in x.as_tuple()[:-1]]
    return [seen(y) for y in x] if isinstance(x, (tuple, list)) else x


def lists(T, counts, columns):
    return T.tensor(counts, dtype=T.int32), T.tensor(columns, dtype=T.int32)


def own(T, **options):
    return flex(T).BlockMask.from_kv_blocks(*lists(T, [[[1, 2]]], [[[[1, 0], [0, 1]]]]), **options)


def whole(T, **options):
    mask_mod = MASKS["causal"][0](T)
    return flex(T).create_block_mask(mask_mod, None, None, 300, 200, "cpu", **options)


BLOCK_MASKS = {
    "causal": lambda T: mask_of(T, "causal"),
    "other blocks": lambda T: mask_of(T, "window", (8, 16)),
    "each": lambda T: mask_of(T, "each"),
    "batch": lambda T: mask_of(T, "batch", 4),
    "nothing": lambda T: mask_of(T, "nothing"),
    "large": whole,
    "partial alone": lambda T: whole(T, separate_full_blocks=False),
    "with turns": lambda T: whole(T, BLOCK_SIZE=64, compute_dq_write_order=True),
    "other turns": lambda T: whole(T, BLOCK_SIZE=64, compute_dq_write_order=True, dq_kv_order=False),
    "part with turns": lambda T: whole(T, BLOCK_SIZE=64, compute_dq_write_order=True)[:, :, 1:3],
    "from blocks": own,
    "of lengths": lambda T: own(T, BLOCK_SIZE=16, seq_lengths=(30, 25)),
    "without rows": lambda T: own(T, compute_q_blocks=False),
    "two lists": lambda T: flex(T).BlockMask.from_kv_blocks(
        *lists(T, [[[1, 0]]], [[[[1, 0], [0, 1]]]]), *lists(T, [[[1, 2]]], [[[[0, 1], [0, 1]]]])),
    "two dimensions": lambda T: flex(T).BlockMask.from_kv_blocks(*lists(T, [1, 2], [[1, 0], [0, 1]])),
    "a batch": lambda T: mask_of(T, "each")[1],
    "the last batch": lambda T: mask_of(T, "each")[-1],
    "a head": lambda T: mask_of(T, "each")[0, 1],
    "slices": lambda T: mask_of(T, "each")[0:1, 1:3],
    "a row": lambda T: whole(T)[:, :, 1],
    "rows": lambda T: whole(T)[:, :, T.tensor([2, 0], dtype=T.int32)],
    "smaller": lambda T: [f(whole(T)._adjust(150, 150)) for f in (
        repr, str, lambda m: [t.tolist() for t in m.as_tuple() if isinstance(t, T.Tensor)])],
    "elsewhere": lambda T: whole(T).to("cpu"),
    "dense": lambda T: mask_of(T, "window", 8).to_dense(),
    "dense of parts": lambda T: own(T).to_dense(),
    "text": lambda T: whole(T, BLOCK_SIZE=4).to_string(),
    "coarse text": lambda T: whole(T, BLOCK_SIZE=4).to_string((3, 5)),
    "every block": lambda T: whole(T, BLOCK_SIZE=8).to_string(-1),
    "few": lambda T: mask_of(T, "each").to_string(limit=1),
    "numbers": lambda T: [f(mask_of(T, "each", 8)) for f in (
        lambda m: m.sparsity(), lambda m: m.numel(), lambda m: m.shape, lambda m: m.as_tuple(False)[0],
        lambda m: len(m.as_tuple(False)), lambda m: len(m.as_tuple()), lambda m: m.BLOCK_SIZE)],
    "mask": lambda T: flex(T).create_mask(MASKS["each"][0](T), 2, 3, 4, 5, "cpu"),
    "mask of scores": lambda T: flex(T).create_mask(SCORES["causal"](T), None, 2, 3, 4, "cpu"),
    "none of none": lambda T: flex(T).create_mask(flex(T).or_masks(), 1, 1, 2, 2, "cpu"),
    "all of none": lambda T: flex(T).create_mask(flex(T).and_masks(), 1, 1, 2, 2, "cpu"),
    "noop": lambda T: flex(T).create_mask(flex(T).noop_mask, 1, 2, 2, 2, "cpu"),
    "leaves": lambda T: [len(x) for x in whole(T)._flatten()],
}


@pytest.mark.parametrize("name", BLOCK_MASKS)
def test_block_masks(name):
    assert seen(BLOCK_MASKS[name](jaxflow)) == seen(BLOCK_MASKS[name](torch))


def test_a_block_mask_of_its_own_parts():
    for T in (jaxflow, torch):
        mask = whole(T)
        again = type(mask)._unflatten(*mask._flatten())
        assert repr(again) == repr(mask) and again.mask_mod(0, 0, 1, 0)


def call(T, mask=None, score=None, **options):
    query, key, value = operands(T)
    return flex(T).flex_attention(query.transpose(1, 2), key, value, score, mask, **options)


REFUSED = {
    "fewer heads": lambda T: flex(T).flex_attention(*[t[:, :n] for t, n in zip(operands(T), (4, 2, 2))]),
    "three dimensions": lambda T: flex(T).flex_attention(*[t[0] for t in operands(T, kv_heads=21)]),
    "odd heads": lambda T: flex(T).flex_attention(*operands(T, kv_heads=2), enable_gqa=True),
    "other batches": lambda T: flex(T).flex_attention(*operands(T, kv_batches=3, kv_heads=21)),
    "other widths": lambda T: flex(T).flex_attention(*[t[..., :n] for t, n in zip(operands(T), (8, 4, 4))]),
    "one dimension": lambda T: flex(T).flex_attention(*[t[0, 0, 0] for t in operands(T)]),
    "longer mask": lambda T: call(T, whole(T)),
    "shorter mask": lambda T: call(T, own(T, BLOCK_SIZE=4)),
    "part": lambda T: call(T, mask_of(T, "each")[0]),
    "part's function": lambda T: mask_of(T, "each")[0].mask_mod(1, 2, 3, 4),
    "both": lambda T: call(T, return_lse=True, return_aux=flex(T).AuxRequest()),
    "backend": lambda T: call(T, kernel_options=dict(BACKEND="x")),
    "two backends": lambda T: call(T, kernel_options=dict(BACKEND="AUTO", FORCE_USE_FLEX_ATTENTION=True)),
    "option": lambda T: call(T, kernel_options=dict(OUTPUT_MAX=True)),
    "a function of scores": lambda T: flex(T).create_block_mask(SCORES["causal"](T), 1, 1, 2, 2, "cpu"),
    "one argument": lambda T: flex(T).create_mask(lambda x: x, 1, 1, 2, 2, "cpu"),
    "no function": lambda T: flex(T).and_masks(3),
    "no functions": lambda T: flex(T).or_masks(3),
    "a vector": lambda T: flex(T).BlockMask.from_kv_blocks(T.ones(1), T.ones(1)),
    "counts alone": lambda T: flex(T).BlockMask.from_kv_blocks(*[T.ones(1, 1).int()] * 3),
    "an order": lambda T: own(T, dq_kv_order=1),
    "turns alone": lambda T: own(T, dq_write_order_full=T.ones(1)),
    "an order to slice": lambda T: own(T, dq_kv_order=T.ones(1))[0],
    "an order to adjust": lambda T: own(T, dq_kv_order=T.ones(1))._adjust(3, 3),
    "no bool": lambda T: whole(T, dq_kv_order=None),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    """The same type, and the same words at the start."""
    said = []
    for T in (torch, jaxflow):
        with pytest.raises(Exception) as caught:  # noqa: PT011 - whatever PyTorch raises
            REFUSED[name](T)
        said.append((type(caught.value), str(caught.value).split("function <")[0][:43]))
    assert said[0] == said[1]


def test_what_is_deprecated_is_said(monkeypatch):
    monkeypatch.setattr(jaxflow._core.warning, "_given", set())
    flex(torch)._WARNINGS_SHOWN.discard("deprecated_return_lse")
    for T in (torch, jaxflow):
        with pytest.warns(FutureWarning, match="return_lse is deprecated"):
            call(T, return_lse=True)
    with pytest.warns(DeprecationWarning, match="_compile"):
        assert repr(whole(jaxflow, _compile=True)) == repr(whole(torch))


# ---------------------------------------------------------------------------------------- causal biases


def biased(T, name, seq_lens, **options):
    bias = getattr(importlib.import_module(f"{T.__name__}.nn.attention.bias"), name)(*seq_lens)
    sizes = (*seq_lens, seq_lens[1])
    query, key, value = (numbers(T, i, 1, 2, n, 4, dtype="float32") for i, n in enumerate(sizes))
    out = T.nn.functional.scaled_dot_product_attention(query, key, value, bias, **options)
    return repr(bias), bias._materialize().tolist(), (bias.seq_len_q, bias.seq_len_kv, int(bias.variant)), out


@pytest.mark.parametrize("options", [{}, {"scale": 0.3}], ids=str)
@pytest.mark.parametrize("seq_lens", [(3, 5), (4, 4)], ids=str)
@pytest.mark.parametrize("name", ["causal_upper_left", "causal_lower_right"])
def test_causal_biases(name, seq_lens, options):
    (*ours, out), (*theirs, expected) = (biased(T, name, seq_lens, **options) for T in (jaxflow, torch))
    assert ours == theirs
    assert_close(as_torch(out), expected)


def test_causal_biases_are_refused_alike():
    for T in (jaxflow, torch):
        module = importlib.import_module(f"{T.__name__}.nn.attention.bias")
        with pytest.raises(ValueError, match="should not be used with causal=True"):
            biased(T, "causal_upper_left", (3, 5), is_causal=True)
        with pytest.raises(AssertionError, match="only supports 2D tensors"):
            module.causal_lower_right(3)
        with pytest.raises(AssertionError, match="variant must be a CausalVariant, got int"):
            module.CausalBias(1, 2, 3)
        with pytest.warns(UserWarning, match="will produce NaNs in the output when seq_len_q > seq_len_kv"):
            module.causal_lower_right(5, 3)


# ----------------------------------------------------------------------------------------------- kernels


def switches(T):
    names = ("flash", "math", "mem_efficient", "cudnn")
    return [getattr(T.backends.cuda, f"{name}_sdp_enabled")() for name in names]


@pytest.mark.parametrize(("names", "set_priority"), [
    (["MATH"], False), (["CUDNN_ATTENTION", "MATH"], True), ([], False), ("FLASH_ATTENTION", False),
    (["MATH", "MATH", "OVERRIDEABLE"], True), (["EFFICIENT_ATTENTION", "FLASH_ATTENTION"], False),
], ids=str)
def test_kernels_that_are_wanted(names, set_priority):
    def found(T):
        module = T.nn.attention
        kinds = (getattr(module.SDPBackend, names) if isinstance(names, str) else
                 [getattr(module.SDPBackend, name) for name in names])
        states = []
        with module.sdpa_kernel(kinds, set_priority) as given:
            wanted = [module._cur_sdpa_kernel_backends(in_order) for in_order in (False, True)]
            states += [given, repr(wanted), switches(T)]
        return states + [repr(module._cur_sdpa_kernel_backends(True)), switches(T)]

    assert found(jaxflow) == found(torch)


def test_kernels_that_can_be_used():
    for T in (jaxflow, torch):
        cuda, t = T.backends.cuda, T.ones(1, 2, 3, 4)
        call = cuda.SDPAParams(t, t, t, None, 0.0, False, False)
        assert [f(call, False) for f in (cuda.can_use_flash_attention, cuda.can_use_efficient_attention,
                                         cuda.can_use_cudnn_attention)] == [False] * 3
        assert not cuda.is_ck_sdpa_available() and not cuda.fp16_bf16_reduction_math_sdp_allowed()
        cuda.allow_fp16_bf16_reduction_math_sdp(True)
        try:
            assert cuda.fp16_bf16_reduction_math_sdp_allowed()
        finally:
            cuda.allow_fp16_bf16_reduction_math_sdp(False)
        with pytest.raises(RuntimeError, match="expects a bool, but got int"):
            cuda.allow_fp16_bf16_reduction_math_sdp(1)

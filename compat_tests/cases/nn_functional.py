"""`nn.functional` beyond what the layers show: argument forms, masks, in-place, draws and refusals."""

from compat_tests.harness import AnyStrides, attempt, case, each, leaf, raises, rand


def differentiated(T, result, *inputs):
    """A result's values and the gradients of a weighted sum of it; its node's name is not compared."""
    result.backward(rand(T, *result.shape))
    return result.detach(), AnyStrides([x.grad for x in inputs])


# ----------------------------------------------------------------------------------------- dropout


def _dropouts():
    names = ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")
    return {name: name for name in names}


@each(**_dropouts())
def dropout_edges(T, name):
    drop = getattr(T.nn.functional, name)
    x = leaf(T, 2, 3, 4) if name == "dropout1d" else leaf(T, 2, 3, 4, 5)
    return [
        drop(x, 0.5, False).detach(), drop(x, 0.0, True).detach(), drop(x, 1.0, True).detach(),
        drop(x[:0], 0.5, True).detach(),
        raises(lambda: drop(x, 1.5)), raises(lambda: drop(x, -0.5, False)),
        raises(lambda: drop(x, 0.5, True, True)),
        raises(lambda: drop(T.ones(2, 3, 4, dtype=T.long), 0.5, True)),
        raises(lambda: drop(T.ones(2, 3, 4, dtype=T.complex64), 0.5, True)),
    ]


@each(**_dropouts())
def dropout_statistics(T, name):
    """Share of zeros, mean, and how zeros lie: in whole channels or anywhere."""
    F = T.nn.functional
    shape = {"dropout1d": (200, 30, 20), "dropout3d": (200, 30, 4, 5, 1)}.get(name, (200, 30, 4, 5))
    x = T.ones(*shape)
    y = getattr(F, name)(x, 0.3, True)
    floor = y.min().item()
    lost = (y == floor).float()
    channels = lost.reshape(200, 30, -1).mean(-1)
    whole = ((channels == 0) | (channels == 1)).all().item()
    return round(lost.mean().item(), 1), round(y.mean().item(), 1), whole, y.dtype


@case
def dropout_keeps_or_doubles(T):
    x = leaf(T, 100)
    y = T.nn.functional.dropout(x, 0.5)
    y.sum().backward()
    ratio = (y / x).detach()
    return ((ratio == 0) | ((ratio - 2).abs() < 1e-6)).all(), ((x.grad == 0) == (y == 0)).all()


@case
def dropout_in_place(T):
    x = rand(T, 50, low=1.0, high=2.0)
    y = T.nn.functional.dropout(x, 0.5, True, True)
    return y is x, (x == 0).any(), T.dropout_(x, 1.0, True) is x, x


@each(two=(2, 3), three=(2, 3, 4), one=(3,))
def dropout2d_warns(T, shape):
    return attempt(lambda: T.nn.functional.dropout2d(T.ones(*shape), 0.5, False))


@case
def rrelu(T):
    F = T.nn.functional
    x = leaf(T, 50)
    y = F.rrelu(x, 0.2, 0.4, training=True)
    slope = (y / x).detach()[x.detach() < 0]
    return [
        F.rrelu(x).detach(), F.rrelu(x, 0.2, 0.4).detach(), bool((slope >= 0.2).all()),
        bool((slope <= 0.4).all()), bool(slope.std() > 0.01),
        raises(lambda: F.rrelu(x, 3, 1)), raises(lambda: F.rrelu(x, float("inf"), 1)),
    ]


@each(soft=False, hard=True)
def gumbel_softmax(T, hard):
    F = T.nn.functional
    y = F.gumbel_softmax(leaf(T, 6, 4), tau=0.5, hard=hard)
    return y.sum(1).detach(), tuple(y.shape), bool(((y == 0) | (y == 1)).all()), y.requires_grad


# ----------------------------------------------------------------------------------------- padding


@each(
    both=((2, 3), (1, 2)), negative=((2, 3), (-1, 2)), two_dims=((2, 3), (1, 2, 0, 1)), none=((2, 3), ()),
    zero=((2, 3), (0, 0)), all_negative=((4, 5), (-1, -2, -1, 0)),
)
def constant_pad(T, row):
    shape, pads = row
    x = leaf(T, *shape)
    return differentiated(T, T.nn.functional.pad(x, pads, value=1.5), x)


@each(integers="int64", bools="bool", halves="float16")
def constant_pad_dtype(T, dtype):
    x = T.ones(2, dtype=getattr(T, dtype))
    return T.nn.functional.pad(x, (1, 1)), T.nn.functional.pad(x, (1, 0), value=2.7)


@each(
    odd=((2, 3), (1,), "constant"), long=((2, 3), (1,) * 6, "constant"),
    small=((2, 3), (-2, -2), "constant"), reflect_big=((2, 3), (3, 1), "reflect"),
    reflect_one=((1, 2, 3, 3), (1, 1), "reflect"), reflect_1d=((3,), (1, 1), "reflect"),
    circular_big=((1, 2, 3), (4, 1), "circular"), mode=((1, 2, 3), (1, 1), "foo"),
)
def pad_refused(T, row):
    shape, pads, mode = row
    return raises(lambda: T.nn.functional.pad(T.ones(*shape), pads, mode))


@case
def pad_value_refused(T):
    return raises(lambda: T.nn.functional.pad(T.ones(1, 2, 3), (1, 1), "reflect", 3.0))


@each(
    reflect=((1, 2, 4), (-1, 1), "reflect"), replicate=((1, 2, 4), (-1, 1), "replicate"),
    unbatched=((2, 3, 4), (1, 1, 2, 1), "reflect"),
    circular_2d=((1, 1, 3, 4), (1, 2, 2, 1), "circular"),
    circular_cut_left=((1, 2, 4), (-1, 1), "circular"), circular_cut=((1, 2, 4), (-1, -1), "circular"),
    circular_cut_right=((1, 2, 4), (2, -1), "circular"),
    circular_cut_2d=((1, 1, 3, 4), (-1, 1, 1, -1), "circular"),
)
def pad_modes(T, row):
    shape, pads, mode = row
    x = leaf(T, *shape)
    return differentiated(T, T.nn.functional.pad(x, pads, mode), x)


# ----------------------------------------------------------------------------------------- resizing

IMAGE_MODES = ("nearest", "nearest-exact", "bilinear", "bicubic", "area")


def _resizings():
    rows = {}
    for mode in IMAGE_MODES:
        aligns = (None, True, False) if mode in ("bilinear", "bicubic") else (None,)
        for align in aligns:
            rows |= {
                f"{mode}_{align}_double": (mode, align, dict(scale_factor=2)),
                f"{mode}_{align}_uneven": (mode, align, dict(scale_factor=(1.7, 0.6))),
                f"{mode}_{align}_size": (mode, align, dict(size=(3, 9))),
                f"{mode}_{align}_one": (mode, align, dict(size=1)),
                f"{mode}_{align}_recomputed": (
                    mode, align, dict(scale_factor=1.3, recompute_scale_factor=True)),
            }
    return rows


@each(**_resizings())
def interpolate(T, row):
    mode, align, options = row
    x = leaf(T, 2, 3, 5, 4)
    y = T.nn.functional.interpolate(x, mode=mode, align_corners=align, **options)
    return differentiated(T, y, x)


@each(
    linear=((2, 3, 5), "linear"), nearest_1d=((2, 3, 5), "nearest"), area_1d=((2, 3, 5), "area"),
    trilinear=((1, 2, 3, 4, 5), "trilinear"), nearest_3d=((1, 2, 3, 4, 5), "nearest"),
    area_3d=((1, 2, 3, 4, 5), "area"),
)
def interpolate_other_dimensions(T, row):
    shape, mode = row
    x = leaf(T, *shape)
    y = T.nn.functional.interpolate(x, scale_factor=1.6, mode=mode)
    return differentiated(T, y, x)


@each(
    bilinear=("bilinear", (2, 3)), bicubic=("bicubic", (3, 2)), larger=("bilinear", (7, 9)),
    same=("bicubic", (5, 7)),
)
def interpolate_antialias(T, row):
    mode, size = row
    x = leaf(T, 1, 2, 5, 7)
    return differentiated(T, T.nn.functional.interpolate(x, size, mode=mode, antialias=True), x)


@each(
    neither={}, both=dict(size=2, scale_factor=2), length=dict(size=(2, 2, 2)),
    scales=dict(scale_factor=(2.0, 2.0, 2.0)), mode=dict(size=2, mode="foo"),
    align=dict(size=2, mode="nearest", align_corners=True), linear=dict(size=2, mode="linear"),
    recompute=dict(size=2, recompute_scale_factor=True),
    antialias=dict(size=3, mode="nearest", antialias=True), zero=dict(size=0),
    tiny=dict(scale_factor=0.1),
)
def interpolate_refused(T, options):
    return raises(lambda: T.nn.functional.interpolate(T.ones(1, 2, 4, 6), **options))


@case
def deprecated_resizing(T):
    F, x = T.nn.functional, rand(T, 1, 1, 2, 2)
    return F.upsample(x, 3), F.upsample_nearest(x, 3), F.upsample_bilinear(x, scale_factor=2)


# ----------------------------------------------------------------------------------------- attention


def operands(T, L=5, S=6, E=4, Ev=4, heads=(2, 3)):
    return leaf(T, *heads, L, E), leaf(T, *heads, S, E), leaf(T, *heads, S, Ev)


@each(
    plain={}, causal=dict(is_causal=True), scale=dict(scale=0.3),
    mask=dict(attn_mask=lambda T: rand(T, 5, 6)),
    mask_of_all=dict(attn_mask=lambda T: rand(T, 2, 3, 5, 6)),
    mask_broadcast=dict(attn_mask=lambda T: rand(T, 2, 1, 1, 6)),
    bools=dict(attn_mask=lambda T: rand(T, 5, 6) > -0.5),
    nothing_seen=dict(attn_mask=lambda T: T.zeros(5, 6, dtype=T.bool)),
    minus_infinity=dict(attn_mask=lambda T: T.full((5, 6), float("-inf"))),
    no_dropout=dict(dropout_p=0.0),
)
def attention(T, options):
    q, k, v = operands(T)
    options = {n: o(T) if callable(o) else o for n, o in options.items()}
    y = T.nn.functional.scaled_dot_product_attention(q, k, v, **options)
    return differentiated(T, y, q, k, v)


@each(
    values=dict(Ev=7), one_head=dict(heads=(2,)), no_head=dict(heads=()), single=dict(L=1, S=1),
    no_queries=dict(L=0), no_keys=dict(S=0), three_leading=dict(heads=(2, 1, 2)),
)
def attention_shapes(T, shape):
    q, k, v = operands(T, **shape)
    y = T.nn.functional.scaled_dot_product_attention(q, k, v)
    return differentiated(T, y, q, k, v)


@case
def attention_grouped_heads(T):
    q, k, v = leaf(T, 2, 6, 5, 4), leaf(T, 2, 3, 6, 4), leaf(T, 2, 3, 6, 4)
    y = T.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    return differentiated(T, y, q, k, v)


@case
def attention_mask_gradient(T):
    q, k, v = operands(T)
    mask = leaf(T, 5, 6)
    y = T.nn.functional.scaled_dot_product_attention(q, k, v, mask)
    return differentiated(T, y, mask, q)


@each(float32="float32", float64="float64")
def attention_dtypes(T, dtype):
    q, k, v = (x.detach().to(getattr(T, dtype)) for x in operands(T))
    return T.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


@case
def attention_dropout(T):
    q, k = T.zeros(1, 1, 50, 4), T.zeros(1, 1, 40, 4)
    y = T.nn.functional.scaled_dot_product_attention(q, k, T.ones(1, 1, 40, 1), dropout_p=0.25)
    return tuple(y.shape), round(y.mean().item(), 1), bool(y.std() > 0.01)


@each(
    dtype=lambda T, q, k, v: (q, k.double(), v),
    vector=lambda T, q, k, v: (q[0, 0, 0], k[0, 0, 0], v[0, 0, 0]),
    batches=lambda T, q, k, v: (q[:1].expand(3, 3, 5, 4), k, v),
    features=lambda T, q, k, v: (q[..., :3], k, v),
    features_2d=lambda T, q, k, v: (q[0, 0, :, :3], k[0, 0], v[0, 0]),
    integer_mask=lambda T, q, k, v: (q, k, v, T.ones(5, 6, dtype=T.long)),
    double_mask=lambda T, q, k, v: (q, k, v, T.ones(5, 6, dtype=T.double)),
    mask_shape=lambda T, q, k, v: (q, k, v, T.zeros(5, 7)),
    dropout=lambda T, q, k, v: (q, k, v, None, 2.0),
    scale_position=lambda T, q, k, v: (q, k, v, None, 0.0, False, 0.3),
    number=lambda T, q, k, v: (3, k, v),
    heads=lambda T, q, k, v: (T.ones(2, 6, 5, 4), k, v),
)
def attention_refused(T, arguments):
    q, k, v = operands(T)
    return raises(lambda: T.nn.functional.scaled_dot_product_attention(*arguments(T, q, k, v)))


def heads(T, **options):
    m = T.nn.MultiheadAttention(4, 2, **options)
    with T.no_grad():
        for p in m.parameters():
            p.copy_(rand(T, *p.shape))
    return m, rand(T, 3, 2, 4)


@each(
    no_weights=dict(need_weights=False), every_head=dict(average_attn_weights=False),
    mask=dict(attn_mask=lambda T: rand(T, 3, 3)),
    bools=dict(attn_mask=lambda T: rand(T, 3, 3) > 1.0),
    each_head=dict(attn_mask=lambda T: rand(T, 4, 3, 3), need_weights=False),
    padding=dict(key_padding_mask=lambda T: T.tensor([[False, False, True], [False, True, False]])),
    padding_numbers=dict(key_padding_mask=lambda T: rand(T, 2, 3), need_weights=False),
    both=dict(attn_mask=lambda T: rand(T, 3, 3) > 1.0,
              key_padding_mask=lambda T: T.tensor([[False, False, True], [False, True, False]])),
    mixed=dict(attn_mask=lambda T: rand(T, 3, 3) > 1.0, key_padding_mask=lambda T: rand(T, 2, 3)),
    causal=dict(attn_mask=lambda T: T.ones(3, 3, dtype=T.bool).triu(1), is_causal=True,
                need_weights=False),
    causal_weights=dict(attn_mask=lambda T: T.ones(3, 3, dtype=T.bool).triu(1), is_causal=True),
)
def multi_head_masks(T, options):
    m, x = heads(T)
    options = {n: o(T) if callable(o) else o for n, o in options.items()}
    out, weights = m(x, x, x, **options)
    return out.detach(), None if weights is None else weights.detach()


@each(
    one_dim=lambda m, x, T: m(T.ones(4), x, x), key_dims=lambda m, x, T: m(x, x[0], x),
    padding_batch=lambda m, x, T: m(x, x, x, key_padding_mask=T.zeros(3, 3)),
    padding_length=lambda m, x, T: m(x, x, x, key_padding_mask=T.zeros(2, 4)),
    padding_kind=lambda m, x, T: m(x, x, x, key_padding_mask=T.zeros(2, 3, dtype=T.long)),
    mask_2d=lambda m, x, T: m(x, x, x, attn_mask=T.zeros(2, 2)),
    mask_3d=lambda m, x, T: m(x, x, x, attn_mask=T.zeros(2, 2, 2)),
    mask_1d=lambda m, x, T: m(x, x, x, attn_mask=T.zeros(2)),
    mask_kind=lambda m, x, T: m(x, x, x, attn_mask=T.zeros(3, 3, dtype=T.int)),
    hint_alone=lambda m, x, T: m(x, x, x, is_causal=True),
    size=lambda m, x, T: m(T.ones(3, 2, 5), x, x), lengths=lambda m, x, T: m(x, x, x[:2]),
    unbatched_padding=lambda m, x, T: m(x[:, 0], x[:, 0], x[:, 0], key_padding_mask=T.zeros(2, 3)),
    unbatched_keys=lambda m, x, T: m(x[:, 0], x, x),
    unbatched_mask=lambda m, x, T: m(x[:, 0], x[:, 0], x[:, 0], attn_mask=T.zeros(1, 3, 3)),
)
def multi_head_refused(T, act):
    m, x = heads(T)
    try:
        act(m, x, T)
    except (AssertionError, RuntimeError) as error:
        return type(error).__name__, str(error).partition("\n")[0]


@each(sizes=(0, 2), heads=(4, 0), division=(5, 2))
def multi_head_sizes_refused(T, row):
    try:
        T.nn.MultiheadAttention(*row)
    except (AssertionError, ValueError) as error:
        return type(error).__name__, str(error)


# --------------------------------------------------------------------------------- vectors, tables


@each(plain={}, p=dict(p=1, dim=0), eps=dict(eps=3.0), last=dict(dim=-1), inf=dict(p=float("inf")))
def normalize(T, options):
    x = leaf(T, 3, 4)
    return differentiated(T, T.nn.functional.normalize(x, **options), x)


@case
def normalize_edges(T):
    F = T.nn.functional
    out = T.empty(0)
    same = F.normalize(T.ones(2, 2), out=out) is out
    return [
        F.normalize(T.zeros(2, 2)), same, out, raises(lambda: F.normalize(T.ones(2, 2), dim=4)),
        raises(lambda: F.normalize(T.ones(2, 2, dtype=T.long))),
    ]


@case
def cosine_similarity_of_short_vectors(T):
    x = T.tensor([[3.0, 4.0], [1e-9, 0.0], [0.0, 0.0]], requires_grad=True)
    y = T.tensor([[1.0, 2.0], [1.0, 1.0], [1.0, 1.0]], requires_grad=True)
    T.nn.functional.cosine_similarity(x, y).sum().backward()
    return x.grad, y.grad


@each(
    shape=lambda F, T: F.cosine_similarity(T.ones(2, 3), T.ones(4, 5)),
    integers=lambda F, T: F.cosine_similarity(T.ones(2, 2).long(), T.ones(2, 2).long()),
    shuffle_channels=lambda F, T: F.pixel_shuffle(T.ones(1, 7, 2, 2), 2),
    shuffle_dims=lambda F, T: F.pixel_shuffle(T.ones(7, 2), 2),
    shuffle_factor=lambda F, T: F.pixel_shuffle(T.ones(1, 8, 2, 2), -2),
    unshuffle_height=lambda F, T: F.pixel_unshuffle(T.ones(1, 2, 3, 4), 2),
    unshuffle_width=lambda F, T: F.pixel_unshuffle(T.ones(1, 2, 4, 3), 2),
    channels=lambda F, T: F.channel_shuffle(T.ones(1, 4, 2, 2), 3),
    channels_dims=lambda F, T: F.channel_shuffle(T.ones(4, 2), 2),
    channels_groups=lambda F, T: F.channel_shuffle(T.ones(1, 4, 2, 2), 0),
    row=lambda F, T: F.embedding(T.tensor([4]), T.ones(4, 2)),
    negative_row=lambda F, T: F.embedding(T.tensor([-1]), T.ones(4, 2)),
    table=lambda F, T: F.embedding(T.tensor([0]), T.ones(4)),
    float_rows=lambda F, T: F.embedding(T.ones(1), T.ones(4, 2)),
    short_rows=lambda F, T: F.embedding(T.ones(1).short(), T.ones(4, 2)),
    bag_mode=lambda F, T: F.embedding_bag(T.ones(2, 2).long(), T.ones(4, 2), mode="foo"),
    bag_no_offsets=lambda F, T: F.embedding_bag(T.ones(2).long(), T.ones(4, 2)),
    triplet_margin=lambda F, T: F.triplet_margin_loss(*[T.ones(2, 2)] * 3, margin=0),
    triplet_dims=lambda F, T: F.triplet_margin_loss(T.ones(2, 2), T.ones(2), T.ones(2, 2)),
    triplet_reduction=lambda F, T: F.triplet_margin_loss(*[T.ones(2, 2)] * 3, reduction="foo"),
)
def refused(T, act):
    return raises(lambda: act(T.nn.functional, T))


@each(padding=dict(padding_idx=1), by_frequency=dict(scale_grad_by_freq=True), both=dict(
    padding_idx=-1, scale_grad_by_freq=True), plain={})
def embedding(T, options):
    w = leaf(T, 4, 3)
    y = T.nn.functional.embedding(T.tensor([[0, 1], [1, 3]]), w, **options)
    return differentiated(T, y, w)


@case
def embedding_forms(T):
    F, w = T.nn.functional, rand(T, 4, 2)
    return [
        F.embedding(T.tensor(1), w), F.embedding(T.tensor([1], dtype=T.int32), w),
        F.embedding(T.zeros(0, dtype=T.long), w), F.embedding(T.tensor([1]), T.ones(4, 2).long()),
    ]


@each(two=2.0, one=1.0, inf=float("inf"), three=3.0)
def embedding_max_norm(T, p):
    w = T.tensor([[3.0, 4.0], [0.3, 0.4], [30.0, 40.0], [6.0, 8.0]], requires_grad=True)
    y = T.nn.functional.embedding(T.tensor([0, 1, 2, 0]), w, max_norm=1.0, norm_type=p)
    return y.detach(), w


@each(
    weights=dict(mode="sum", per_sample_weights=lambda T: rand(T, 5)),
    last_offset=dict(include_last_offset=True, offsets=lambda T: T.tensor([0, 2, 5])),
    padding=dict(padding_idx=1), padding_max=dict(mode="max", padding_idx=1), max=dict(mode="max"),
)
def embedding_bag(T, options):
    options = {n: o(T) if callable(o) else o for n, o in options.items()}
    options.setdefault("offsets", T.tensor([0, 3]))
    w = leaf(T, 4, 3)
    y = T.nn.functional.embedding_bag(T.tensor([0, 1, 3, 1, 2]), w, **options)
    return differentiated(T, y, w)

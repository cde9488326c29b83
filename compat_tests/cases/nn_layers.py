"""Every layer with equal weights: text, names and shapes of its state, results and gradients."""

from compat_tests.harness import AnyStrides, each, leaf, rand


def filled(T, module):
    """``module`` with values drawn by NumPy, the same on both sides; variances stay positive."""
    with T.no_grad():
        for name, value in module.state_dict().items():
            if value.is_floating_point():
                low = 0.5 if "var" in name else -1.0
                value.copy_(rand(T, *value.shape, low=low, high=1.0))
    return module


def flat(T, result):
    if isinstance(result, T.Tensor):
        return [result]
    return [t for item in result if item is not None for t in flat(T, item)]


def run(T, module, inputs):
    """What ``module`` says of itself, its results, and the gradients of a weighted sum of them."""
    results = flat(T, module(*inputs))
    total = sum((r * rand(T, *r.shape)).sum() for r in results if r.is_floating_point())
    if total.requires_grad:
        total.backward()
    state = {name: tuple(value.shape) for name, value in module.state_dict().items()}
    return (
        repr(module),
        state,
        [r.detach() for r in results],
        AnyStrides([i.grad for i in inputs if i.is_floating_point()]),
        AnyStrides([p.grad for p in module.parameters()]),
        list(module.buffers()),
    )


def integers(T, *shape, high):
    return rand(T, *shape, dtype="int64", low=0, high=high - 1)


POINTWISE = {
    name: (lambda nn, name=name: getattr(nn, name)())
    for name in (
        "ReLU", "ReLU6", "ELU", "SELU", "CELU", "GELU", "SiLU", "Mish", "LeakyReLU", "Sigmoid",
        "Tanh",
        "LogSigmoid", "Softsign", "Tanhshrink", "Softplus", "Softshrink", "Hardshrink", "Hardtanh",
        "Hardsigmoid", "Hardswish", "PReLU", "Identity",
    )
} | {
    "GELU_tanh": lambda nn: nn.GELU("tanh"),
    "ELU_alpha": lambda nn: nn.ELU(0.7),
    "CELU_alpha": lambda nn: nn.CELU(alpha=0.7),
    "LeakyReLU_slope": lambda nn: nn.LeakyReLU(0.3),
    "Hardtanh_bounds": lambda nn: nn.Hardtanh(-0.5, 0.8),
    "Softplus_args": lambda nn: nn.Softplus(2.0, 1.0),
    "Softshrink_lambd": lambda nn: nn.Softshrink(0.2),
    "Threshold": lambda nn: nn.Threshold(0.1, 20),
    "PReLU_channels": lambda nn: nn.PReLU(3),
    "RReLU_eval": lambda nn: nn.RReLU().eval(),
    "Dropout_eval": lambda nn: nn.Dropout(0.3).eval(),
    "AlphaDropout_eval": lambda nn: nn.AlphaDropout().eval(),
    "Softmax": lambda nn: nn.Softmax(1),
    "LogSoftmax": lambda nn: nn.LogSoftmax(-1),
    "Softmin": lambda nn: nn.Softmin(dim=0),
    "Linear": lambda nn: nn.Linear(4, 5),
    "Linear_no_bias": lambda nn: nn.Linear(4, 5, bias=False),
    "LayerNorm": lambda nn: nn.LayerNorm(4),
    "LayerNorm_two": lambda nn: nn.LayerNorm((3, 4)),
    "LayerNorm_no_bias": lambda nn: nn.LayerNorm(4, bias=False),
    "LayerNorm_plain": lambda nn: nn.LayerNorm(4, elementwise_affine=False),
    "RMSNorm": lambda nn: nn.RMSNorm(4),
    "RMSNorm_eps": lambda nn: nn.RMSNorm((3, 4), eps=1e-3),
    "RMSNorm_plain": lambda nn: nn.RMSNorm(4, elementwise_affine=False),
    "BatchNorm1d_eval": lambda nn: nn.BatchNorm1d(3).eval(),
    "BatchNorm1d": lambda nn: nn.BatchNorm1d(3),
    "BatchNorm1d_cumulative": lambda nn: nn.BatchNorm1d(3, momentum=None),
    "BatchNorm1d_plain": lambda nn: nn.BatchNorm1d(3, affine=False),
    "BatchNorm1d_no_bias": lambda nn: nn.BatchNorm1d(3, bias=False),
    "BatchNorm1d_untracked": lambda nn: nn.BatchNorm1d(3, track_running_stats=False).eval(),
    "InstanceNorm1d": lambda nn: nn.InstanceNorm1d(3),
    "InstanceNorm1d_tracked": lambda nn: nn.InstanceNorm1d(3, affine=True, track_running_stats=True),
    "GroupNorm": lambda nn: nn.GroupNorm(3, 3),
    "LocalResponseNorm": lambda nn: nn.LocalResponseNorm(2),
    "Flatten": lambda nn: nn.Flatten(),
    "Unflatten": lambda nn: nn.Unflatten(2, (2, 2)),
    "GLU": lambda nn: nn.GLU(),
    "ConstantPad1d": lambda nn: nn.ConstantPad1d((1, 2), 3.5),
    "ZeroPad1d": lambda nn: nn.ZeroPad1d(1),
    "ReflectionPad1d": lambda nn: nn.ReflectionPad1d((1, 2)),
    "ReplicationPad1d": lambda nn: nn.ReplicationPad1d((2, 1)),
    "CircularPad1d": lambda nn: nn.CircularPad1d((2, 1)),
    "Conv1d": lambda nn: nn.Conv1d(3, 4, 2),
    "Conv1d_same": lambda nn: nn.Conv1d(3, 4, 3, padding="same"),
    "Conv1d_circular": lambda nn: nn.Conv1d(3, 4, 3, padding=1, padding_mode="circular"),
    "ConvTranspose1d": lambda nn: nn.ConvTranspose1d(3, 4, 3, 2, 1, 1),
    "MaxPool1d": lambda nn: nn.MaxPool1d(2),
    "AvgPool1d": lambda nn: nn.AvgPool1d(2, 1, 1),
    "AdaptiveAvgPool1d": lambda nn: nn.AdaptiveAvgPool1d(3),
    "AdaptiveMaxPool1d": lambda nn: nn.AdaptiveMaxPool1d(3),
}


@each(**POINTWISE)
def of_three_dimensions(T, make):
    """Layers that take ``(2, 3, 4)``."""
    return run(T, filled(T, make(T.nn)), [leaf(T, 2, 3, 4)])


IMAGE = {
    "Conv2d": lambda nn: nn.Conv2d(4, 6, 3),
    "Conv2d_all": lambda nn: nn.Conv2d(4, 6, (3, 2), (2, 1), (1, 2), (1, 2), 2),
    "Conv2d_no_bias": lambda nn: nn.Conv2d(4, 6, 1, bias=False),
    "Conv2d_depthwise": lambda nn: nn.Conv2d(4, 4, 3, padding=1, groups=4),
    "Conv2d_same": lambda nn: nn.Conv2d(4, 3, (3, 4), padding="same", dilation=2),
    "Conv2d_valid": lambda nn: nn.Conv2d(4, 3, 3, padding="valid"),
    "Conv2d_reflect": lambda nn: nn.Conv2d(4, 3, 3, padding=1, padding_mode="reflect"),
    "Conv2d_replicate": lambda nn: nn.Conv2d(4, 3, 3, padding=(1, 2), padding_mode="replicate"),
    "ConvTranspose2d": lambda nn: nn.ConvTranspose2d(4, 6, 3, 2, 1, 1, 2),
    "ConvTranspose2d_dilated": lambda nn: nn.ConvTranspose2d(4, 2, (2, 3), dilation=2, bias=False),
    "BatchNorm2d": lambda nn: nn.BatchNorm2d(4),
    "BatchNorm2d_eval": lambda nn: nn.BatchNorm2d(4).eval(),
    "InstanceNorm2d": lambda nn: nn.InstanceNorm2d(4, affine=True),
    "GroupNorm": lambda nn: nn.GroupNorm(2, 4),
    "GroupNorm_plain": lambda nn: nn.GroupNorm(2, 4, affine=False),
    "LocalResponseNorm": lambda nn: nn.LocalResponseNorm(3, 0.1, 0.5, 2.0),
    "MaxPool2d": lambda nn: nn.MaxPool2d(2),
    "MaxPool2d_all": lambda nn: nn.MaxPool2d((3, 2), (2, 1), (1, 1), (1, 2), ceil_mode=True),
    "MaxPool2d_indices": lambda nn: nn.MaxPool2d(3, 2, return_indices=True),
    "AvgPool2d": lambda nn: nn.AvgPool2d(2),
    "AvgPool2d_all": lambda nn: nn.AvgPool2d(3, 2, 1, True, False),
    "AvgPool2d_divisor": lambda nn: nn.AvgPool2d(3, divisor_override=5),
    "AdaptiveAvgPool2d": lambda nn: nn.AdaptiveAvgPool2d((3, None)),
    "AdaptiveMaxPool2d": lambda nn: nn.AdaptiveMaxPool2d(3),
    "Softmax2d": lambda nn: nn.Softmax2d(),
    "PixelShuffle": lambda nn: nn.PixelShuffle(2),
    "PixelUnshuffle": lambda nn: nn.PixelUnshuffle(2),
    "ChannelShuffle": lambda nn: nn.ChannelShuffle(2),
    "ZeroPad2d": lambda nn: nn.ZeroPad2d((1, -1, 2, 0)),
    "ConstantPad2d": lambda nn: nn.ConstantPad2d(1, 0.5),
    "ReflectionPad2d": lambda nn: nn.ReflectionPad2d((1, 2, 3, 0)),
    "ReplicationPad2d": lambda nn: nn.ReplicationPad2d(2),
    "CircularPad2d": lambda nn: nn.CircularPad2d((1, 2, 0, 3)),
    "LPPool2d": lambda nn: nn.LPPool2d(3, (3, 2), ceil_mode=True),
    "Unfold": lambda nn: nn.Unfold(2, 2, 1, 2),
    "Dropout2d_eval": lambda nn: nn.Dropout2d().eval(),
    "Flatten": lambda nn: nn.Flatten(1, 2),
    "sequence": lambda nn: nn.Sequential(
        nn.Conv2d(4, 8, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.0), nn.Linear(32, 3),
    ),
}


@each(**IMAGE)
def of_images(T, make):
    """Layers that take ``(2, 4, 6, 6)``."""
    return run(T, filled(T, make(T.nn)), [leaf(T, 2, 4, 6, 6)])


VOLUME = {
    "Conv3d": lambda nn: nn.Conv3d(2, 3, (1, 2, 3), padding=1),
    "ConvTranspose3d": lambda nn: nn.ConvTranspose3d(2, 3, 2, 2),
    "BatchNorm3d": lambda nn: nn.BatchNorm3d(2),
    "InstanceNorm3d": lambda nn: nn.InstanceNorm3d(2),
    "MaxPool3d": lambda nn: nn.MaxPool3d(2),
    "LPPool3d": lambda nn: nn.LPPool3d(2, 2, 1),
    "AvgPool3d": lambda nn: nn.AvgPool3d(2, 1),
    "AdaptiveAvgPool3d": lambda nn: nn.AdaptiveAvgPool3d((2, 3, 1)),
    "AdaptiveMaxPool3d": lambda nn: nn.AdaptiveMaxPool3d(2),
    "ReflectionPad3d": lambda nn: nn.ReflectionPad3d(1),
    "ReplicationPad3d": lambda nn: nn.ReplicationPad3d(1),
    "CircularPad3d": lambda nn: nn.CircularPad3d(1),
    "ConstantPad3d": lambda nn: nn.ConstantPad3d(1, 2.0),
    "ZeroPad3d": lambda nn: nn.ZeroPad3d(1),
    "Dropout3d_eval": lambda nn: nn.Dropout3d().eval(),
}


@each(**VOLUME)
def of_volumes(T, make):
    """Layers that take ``(2, 2, 3, 4, 5)``."""
    return run(T, filled(T, make(T.nn)), [leaf(T, 2, 2, 3, 4, 5)])


UNBATCHED = {
    "Conv1d": (lambda nn: nn.Conv1d(3, 4, 2), (3, 5)),
    "Conv2d": (lambda nn: nn.Conv2d(3, 4, 2), (3, 5, 5)),
    "ConvTranspose2d": (lambda nn: nn.ConvTranspose2d(3, 4, 2), (3, 4, 4)),
    "MaxPool2d": (lambda nn: nn.MaxPool2d(2), (3, 4, 4)),
    "AdaptiveAvgPool2d": (lambda nn: nn.AdaptiveAvgPool2d(2), (3, 4, 4)),
    "InstanceNorm2d": (lambda nn: nn.InstanceNorm2d(3), (3, 4, 4)),
    "Softmax2d": (lambda nn: nn.Softmax2d(), (3, 4, 4)),
    "Linear": (lambda nn: nn.Linear(4, 5), (4,)),
    "Linear_2d": (lambda nn: nn.Linear(4, 5), (3, 4)),
    "Linear_4d": (lambda nn: nn.Linear(4, 5), (2, 3, 1, 4)),
    "BatchNorm1d_2d": (lambda nn: nn.BatchNorm1d(4), (5, 4)),
    "GroupNorm_2d": (lambda nn: nn.GroupNorm(2, 4), (5, 4)),
    "Fold": (lambda nn: nn.Fold((4, 5), (2, 2)), (1, 12, 12)),
    "RNNCell": (lambda nn: nn.RNNCell(3, 4), (3,)),
    "LSTMCell": (lambda nn: nn.LSTMCell(3, 4), (3,)),
    "GRUCell": (lambda nn: nn.GRUCell(3, 4), (2, 3)),
}


@each(**UNBATCHED)
def of_other_shapes(T, row):
    make, shape = row
    return run(T, filled(T, make(T.nn)), [leaf(T, *shape)])


SEVERAL = {
    "Bilinear": (lambda nn: nn.Bilinear(3, 4, 5), [(2, 3), (2, 4)]),
    "CosineSimilarity": (lambda nn: nn.CosineSimilarity(), [(3, 4), (3, 4)]),
    "CosineSimilarity_dim": (lambda nn: nn.CosineSimilarity(0, 1e-3), [(3, 4), (1, 4)]),
    "PairwiseDistance": (lambda nn: nn.PairwiseDistance(), [(3, 4), (3, 4)]),
    "PairwiseDistance_p": (lambda nn: nn.PairwiseDistance(1.0, keepdim=True), [(3, 4), (4,)]),
    "RNNCell": (lambda nn: nn.RNNCell(3, 4, nonlinearity="relu"), [(2, 3), (2, 4)]),
    "GRUCell": (lambda nn: nn.GRUCell(3, 4, bias=False), [(2, 3), (2, 4)]),
    "MultiheadAttention": (lambda nn: nn.MultiheadAttention(4, 2), [(3, 2, 4), (5, 2, 4), (5, 2, 4)]),
    "MultiheadAttention_sizes": (
        lambda nn: nn.MultiheadAttention(4, 2, kdim=3, vdim=5, bias=False),
        [(3, 2, 4), (6, 2, 3), (6, 2, 5)],
    ),
    "MultiheadAttention_extras": (
        lambda nn: nn.MultiheadAttention(4, 2, add_bias_kv=True, add_zero_attn=True, batch_first=True),
        [(2, 3, 4), (2, 5, 4), (2, 5, 4)],
    ),
    "MultiheadAttention_unbatched": (
        lambda nn: nn.MultiheadAttention(4, 2), [(3, 4), (5, 4), (5, 4)],
    ),
    "TransformerEncoderLayer": (
        lambda nn: nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), [(3, 2, 4)],
    ),
    "TransformerEncoderLayer_first": (
        lambda nn: nn.TransformerEncoderLayer(
            4, 2, 8, dropout=0.0, activation="gelu", batch_first=True, norm_first=True, bias=False
        ),
        [(2, 3, 4)],
    ),
    "TransformerDecoderLayer": (
        lambda nn: nn.TransformerDecoderLayer(4, 2, 8, dropout=0.0), [(3, 2, 4), (5, 2, 4)],
    ),
    "TransformerDecoder": (
        lambda nn: nn.TransformerDecoder(
            nn.TransformerDecoderLayer(4, 2, 8, dropout=0.0), 2, nn.LayerNorm(4)
        ),
        [(3, 2, 4), (5, 2, 4)],
    ),
    "Transformer": (
        lambda nn: nn.Transformer(4, 2, 1, 1, 8, dropout=0.0, batch_first=True),
        [(2, 3, 4), (2, 5, 4)],
    ),
}


@each(**SEVERAL)
def of_several_inputs(T, row):
    make, shapes = row
    return run(T, filled(T, make(T.nn)), [leaf(T, *shape) for shape in shapes])


@each(one=(1, (2, 3, 7)), two=(2, (2, 3, 4, 6)), three=(3, (1, 2, 4, 4, 4)), alone=(2, (3, 4, 6)))
def unpooling(T, row):
    n, shape = row
    pool = getattr(T.nn, f"MaxPool{n}d")(2, return_indices=True)
    values, where = pool(rand(T, *shape))
    return run(T, getattr(T.nn, f"MaxUnpool{n}d")(2), [values.requires_grad_(), where])


@each(
    plain=lambda nn: nn.Embedding(5, 3),
    padding=lambda nn: nn.Embedding(5, 3, padding_idx=-2),
    by_frequency=lambda nn: nn.Embedding(5, 3, scale_grad_by_freq=True),
    short_rows=lambda nn: nn.Embedding(5, 3, max_norm=0.7),
    short_rows_p=lambda nn: nn.Embedding(5, 3, max_norm=0.7, norm_type=1.0),
    bag=lambda nn: nn.EmbeddingBag(5, 3),
    bag_sum=lambda nn: nn.EmbeddingBag(5, 3, mode="sum", padding_idx=1),
    bag_max=lambda nn: nn.EmbeddingBag(5, 3, mode="max"),
)
def embedding(T, make):
    module = filled(T, make(T.nn))
    return (*run(T, module, [integers(T, 4, 3, high=5)]), module.weight.detach())


@each(sum="sum", mean="mean", max="max")
def embedding_bag_with_offsets(T, mode):
    module = filled(T, T.nn.EmbeddingBag(5, 3, mode=mode))
    indices = integers(T, 7, high=5)
    return run(T, module, [indices, T.tensor([0, 2, 2, 5])])


@each(freeze=True, train=False)
def embedding_from_pretrained(T, freeze):
    module = T.nn.Embedding.from_pretrained(rand(T, 4, 3), freeze=freeze, padding_idx=1)
    return repr(module), module.weight, module(T.tensor([1, 3]))


# ------------------------------------------------------------------------------------------ losses

REDUCTIONS = ("mean", "sum", "none")


def losses(**rows):
    return {
        f"{name}_{reduction}": (make, shapes, reduction)
        for name, (make, shapes) in rows.items()
        for reduction in REDUCTIONS
    }


@each(**losses(
    L1=(lambda nn, r: nn.L1Loss(reduction=r), 2),
    MSE=(lambda nn, r: nn.MSELoss(reduction=r), 2),
    SmoothL1=(lambda nn, r: nn.SmoothL1Loss(reduction=r, beta=0.7), 2),
    Huber=(lambda nn, r: nn.HuberLoss(r, 0.7), 2),
    HingeEmbedding=(lambda nn, r: nn.HingeEmbeddingLoss(0.8, reduction=r), 2),
    PoissonNLL=(lambda nn, r: nn.PoissonNLLLoss(reduction=r, full=False), 2),
    KLDiv=(lambda nn, r: nn.KLDivLoss(reduction=r, log_target=True), 2),
    GaussianNLL=(lambda nn, r: nn.GaussianNLLLoss(reduction=r, full=True), 3),
    TripletMargin=(lambda nn, r: nn.TripletMarginLoss(0.5, swap=True, reduction=r), 3),
    TripletMarginWithDistance=(
        lambda nn, r: nn.TripletMarginWithDistanceLoss(margin=0.5, reduction=r), 3,
    ),
))
def loss_of_alike(T, row):
    """Losses whose arguments all have one shape."""
    make, count, reduction = row
    module = make(T.nn, reduction)
    inputs = [leaf(T, 3, 4), *(leaf(T, 3, 4, low=0.2) for _ in range(count - 1))]
    return run(T, module, inputs)


@each(**losses(
    BCE=(lambda nn, r, w: nn.BCELoss(w, reduction=r), None),
    BCEWithLogits=(lambda nn, r, w: nn.BCEWithLogitsLoss(w, reduction=r, pos_weight=w), None),
    MultiLabelSoftMargin=(lambda nn, r, w: nn.MultiLabelSoftMarginLoss(w, reduction=r), None),
))
def loss_of_chances(T, row):
    make, _, reduction = row
    module = make(T.nn, reduction, rand(T, 4, low=0.5))
    return run(T, module, [leaf(T, 3, 4, low=0.1, high=0.9), leaf(T, 3, 4, low=0.0, high=1.0)])


@each(**losses(
    CrossEntropy=(lambda nn, r, w: nn.CrossEntropyLoss(reduction=r), None),
    CrossEntropy_weight=(lambda nn, r, w: nn.CrossEntropyLoss(w, reduction=r), None),
    CrossEntropy_smooth=(
        lambda nn, r, w: nn.CrossEntropyLoss(w, reduction=r, label_smoothing=0.1), None,
    ),
    CrossEntropy_ignore=(lambda nn, r, w: nn.CrossEntropyLoss(ignore_index=1, reduction=r), None),
    NLL=(lambda nn, r, w: nn.NLLLoss(w, reduction=r), None),
    NLL_ignore=(lambda nn, r, w: nn.NLLLoss(w, ignore_index=2, reduction=r), None),
    MultiMargin=(lambda nn, r, w: nn.MultiMarginLoss(2, 0.8, w, reduction=r), None),
))
def loss_of_classes(T, row):
    make, _, reduction = row
    module = make(T.nn, reduction, rand(T, 5, low=0.5))
    return run(T, module, [leaf(T, 6, 5), integers(T, 6, high=5)])


@each(**{reduction: reduction for reduction in REDUCTIONS})
def cross_entropy_of_images(T, reduction):
    module = T.nn.CrossEntropyLoss(reduction=reduction)
    return run(T, module, [leaf(T, 2, 3, 4, 4), integers(T, 2, 4, 4, high=3)])


@each(**{reduction: reduction for reduction in REDUCTIONS})
def cross_entropy_of_probabilities(T, reduction):
    module = T.nn.CrossEntropyLoss(rand(T, 5, low=0.5), reduction=reduction, label_smoothing=0.2)
    return run(T, module, [leaf(T, 6, 5), leaf(T, 6, 5, low=0.0)])


@each(**losses(
    MarginRanking=(lambda nn, r: nn.MarginRankingLoss(0.3, reduction=r), (3,)),
    CosineEmbedding=(lambda nn, r: nn.CosineEmbeddingLoss(0.1, reduction=r), (3, 4)),
))
def loss_of_pairs(T, row):
    make, shape, reduction = row
    signs = T.tensor([1.0, -1.0, 1.0])
    return run(T, make(T.nn, reduction), [leaf(T, *shape), leaf(T, *shape), signs])


@each(**losses(SoftMargin=(lambda nn, r: nn.SoftMarginLoss(reduction=r), None)))
def loss_of_signs(T, row):
    make, _, reduction = row
    return run(T, make(T.nn, reduction), [leaf(T, 2, 3), rand(T, 2, 3).sign()])


@each(**losses(MultiLabelMargin=(lambda nn, r: nn.MultiLabelMarginLoss(reduction=r), None)))
def loss_of_labels(T, row):
    make, _, reduction = row
    targets = T.tensor([[1, 0, -1, 2], [3, -1, 0, 1]])
    return run(T, make(T.nn, reduction), [leaf(T, 2, 4), targets])


@each(both=(True, True), sum=(False, True), none=(None, False), average=(True, None))
def legacy_reduction(T, row):
    return T.nn.MSELoss(*row).reduction


@each(float64="float64", float16="float16", bfloat16="bfloat16")
def other_dtypes(T, dtype):
    kind = getattr(T, dtype)
    module = filled(T, T.nn.Sequential(T.nn.Linear(4, 5), T.nn.LayerNorm(5), T.nn.GELU())).to(kind)
    x = rand(T, 2, 4).to(kind)
    return module(x), [p.dtype for p in module.parameters()]

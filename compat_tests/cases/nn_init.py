"""`nn.init`: exact fills, gains and fans, and what is refused. Draws are compared by their moments."""

from compat_tests.harness import case, each, raises


@each(
    constant=lambda i, t: i.constant_(t, 2.5), ones=lambda i, t: i.ones_(t),
    zeros=lambda i, t: i.zeros_(t), eye=lambda i, t: i.eye_(t),
)
def exact_fills(T, fill):
    w = T.nn.Parameter(T.empty(3, 4))
    half = T.empty(2, 3, dtype=T.float16)
    result = fill(T.nn.init, w)
    return result is w, w, fill(T.nn.init, half)


@each(one=((4, 3, 5), 1), groups=((4, 2, 3, 3), 2), more_outputs=((6, 2, 3), 1), volume=((2, 2, 3, 3, 3), 1))
def dirac(T, row):
    shape, groups = row
    return T.nn.init.dirac_(T.empty(*shape), groups)


@case
def gains(T):
    gain = T.nn.init.calculate_gain
    names = ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose2d", "sigmoid", "tanh", "relu",
             "leaky_relu", "selu")
    return [gain(name) for name in names], gain("leaky_relu", 0.2), gain("leaky_relu", 2)


@each(matrix=(3, 4), image=(5, 4, 3, 2), volume=(2, 3, 4, 5, 6), empty=(0, 3))
def fans(T, shape):
    return T.nn.init._calculate_fan_in_and_fan_out(T.empty(*shape))


@each(
    gain=lambda i, T: i.calculate_gain("foo"),
    slope=lambda i, T: i.calculate_gain("leaky_relu", "a"),
    slope_bool=lambda i, T: i.calculate_gain("leaky_relu", True),
    kaiming_vector=lambda i, T: i.kaiming_uniform_(T.empty(3)),
    kaiming_mode=lambda i, T: i.kaiming_uniform_(T.empty(3, 3), mode="foo"),
    kaiming_name=lambda i, T: i.kaiming_normal_(T.empty(3, 3), nonlinearity="foo"),
    xavier_vector=lambda i, T: i.xavier_normal_(T.empty(3)),
    xavier_uniform_vector=lambda i, T: i.xavier_uniform_(T.empty(3)),
    eye=lambda i, T: i.eye_(T.empty(3)),
    dirac_matrix=lambda i, T: i.dirac_(T.empty(3, 3)),
    dirac_groups=lambda i, T: i.dirac_(T.empty(3, 3, 3), 2),
    orthogonal=lambda i, T: i.orthogonal_(T.empty(3)),
    sparse=lambda i, T: i.sparse_(T.empty(3), 0.5),
    uniform_bounds=lambda i, T: i.uniform_(T.empty(3), 3.5, 2.5),
    uniform_integers=lambda i, T: i.uniform_(T.empty(3, dtype=T.long)),
)
def refused(T, act):
    return raises(lambda: act(T.nn.init, T))


@each(
    uniform=(True, lambda i, t: i.uniform_(t, -1.0, 2.0)),
    normal=(False, lambda i, t: i.normal_(t, 1.0, 0.5)),
    trunc_normal=(True, lambda i, t: i.trunc_normal_(t, 0.5, 1.0, -1.0, 1.5)),
    trunc_normal_tail=(True, lambda i, t: i.trunc_normal_(t, 0.0, 1.0, 1.5, 3.0)),
    xavier_uniform=(True, lambda i, t: i.xavier_uniform_(t, 2.0)),
    xavier_normal=(False, lambda i, t: i.xavier_normal_(t)),
    kaiming_uniform=(True, lambda i, t: i.kaiming_uniform_(t, 0.3, "fan_out")),
    kaiming_normal=(False, lambda i, t: i.kaiming_normal_(t, nonlinearity="relu")),
    sparse=(False, lambda i, t: i.sparse_(t, 0.25, 0.5)),
    orthogonal=(False, lambda i, t: i.orthogonal_(t, 3.0)),
)
def moments(T, row):
    """Mean, deviation and, where there are bounds, range of many draws, as far as one can tell."""
    bounded, draw = row
    t = T.nn.Parameter(T.empty(256, 512))
    draw(T.nn.init, t)
    spread, mean = t.std().item(), t.mean().item()
    width = t.max().item() - t.min().item()
    return (
        round(mean / spread, 1) + 0.0, float(f"{spread:.2g}"), t.requires_grad,
        round(width / spread) if bounded else None,
    )


@each(wide=(4, 6), tall=(6, 4), square=(5, 5), image=(4, 2, 3))
def orthogonal(T, shape):
    t = T.nn.init.orthogonal_(T.empty(*shape, dtype=T.float64), gain=2.0)
    m = t.reshape(shape[0], -1)
    m = m if m.shape[0] <= m.shape[1] else m.t()
    return tuple(t.shape), (m @ m.t()).round(decimals=6) + 0.0


@case
def sparse_columns(T):
    t = T.nn.init.sparse_(T.empty(8, 5), 0.3)
    return [(t[:, i] == 0).sum() for i in range(5)]


@each(
    kaiming=lambda i, T: i.kaiming_uniform_(T.empty(0, 3)),
    kaiming_normal=lambda i, T: i.kaiming_normal_(T.empty(2, 0)),
    orthogonal=lambda i, T: i.orthogonal_(T.empty(0, 3)),
    trunc_normal=lambda i, T: i.trunc_normal_(T.zeros(0), 10.0),
)
def warnings_and_empty_tensors(T, act):
    return act(T.nn.init, T)


@each(
    Linear=lambda nn: nn.Linear(64, 512), Conv2d=lambda nn: nn.Conv2d(16, 64, 3),
    ConvTranspose2d=lambda nn: nn.ConvTranspose2d(16, 64, 3), Bilinear=lambda nn: nn.Bilinear(16, 16, 64),
    Embedding=lambda nn: nn.Embedding(200, 64), LSTMCell=lambda nn: nn.LSTMCell(32, 64),
    MultiheadAttention=lambda nn: nn.MultiheadAttention(64, 4, add_bias_kv=True),
    BatchNorm2d=lambda nn: nn.BatchNorm2d(3), LayerNorm=lambda nn: nn.LayerNorm(3),
    PReLU=lambda nn: nn.PReLU(3), Transformer=lambda nn: nn.Transformer(
        32, 2, 1, 1, 64, batch_first=True),
)
def first_values_of_layers(T, make):
    """How each parameter of a layer starts: one value, or drawn, and then how widely."""
    found = {}
    for name, p in make(T.nn).named_parameters():
        low, high = p.min().item(), p.max().item()
        found[name] = low if low == high else "drawn"
        if p.numel() > 1500:
            spread = p.std().item()
            found[name] = float(f"{spread:.1g}"), high - low > 4.4 * spread
    return found

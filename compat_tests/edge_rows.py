"""What functions are called on where derivatives jump: ties, zeros, bounds, poles, infinities, nan.

A row is a function of ``T`` (one of the libraries) and tensors, and the numbers those hold. Rows named in
`LEFT` are compared on finite numbers only, with the reason why.
"""

import itertools
import math

INF, NAN = math.inf, math.nan
#: Numbers at which functions change their form, and what no finite row has.
LINE, BEYOND = [-200.0, -3.0, -1.0, -0.5, -0.0, 0.0, 0.3, 0.5, 1.0, 2.0, 3.0, 6.0, 20.0], [-INF, INF, NAN]
FEW = [-2.0, -1.0, 0.0, 0.5, 1.0]
UNIT = [0.0, 0.2, 0.5, 0.9, 1.0]

ROWS, LEFT = {}, {}
#: Rows that are not asked about gradients that arrive as infinity, or as nan: another form of the same
#: derivative takes the difference of two.
NOT_INFINITE = {"cumprod"}
NOT_NAN = NOT_INFINITE | {"logcumsumexp"}


def pairs(numbers):
    """All pairs, as two lists."""
    return [list(p) for p in zip(*itertools.product(numbers, numbers), strict=True)]


def triples(numbers):
    """All triples, as three lists."""
    return [list(p) for p in zip(*itertools.product(numbers, numbers, numbers), strict=True)]


def vectors(numbers):
    """All vectors of three, as one list."""
    return [list(v) for v in itertools.product(numbers, numbers, numbers)]


def row(name, function, domain, numbers, left=None):
    """Enter a row; ``domain`` makes its operands of ``numbers``."""
    ROWS[name] = (function, domain, numbers)
    if left is not None:
        LEFT[name] = left


def functional(name, **more):
    """A function of ``nn.functional`` by its name."""
    return lambda T, *xs: getattr(T.nn.functional, name)(*xs, **more)


def plain(name, *others, **more):
    """A function of the library by its name; of several results the first."""
    def call(T, *xs):
        made = getattr(T, name)(*xs, *others, **more)
        return made if isinstance(made, T.Tensor) else made[0]

    return call


def one(numbers):
    """One operand."""
    return [numbers]


def vector(numbers):
    """One operand of vectors."""
    return [vectors(numbers)]


def two_vectors(numbers):
    """Two operands of vectors, in different orders."""
    first = vectors(numbers)
    return [first, first[7:] + first[:7]]


# --------------------------------------------------------------------------------- of one number

for _name in ("relu relu6 elu selu celu gelu mish silu hardswish hardtanh logsigmoid softplus tanhshrink "
              "softshrink hardshrink softsign leaky_relu").split():
    row(_name, functional(_name), one, LINE)
row("gelu of tanh", functional("gelu", approximate="tanh"), one, LINE)
row("softplus with a threshold", functional("softplus", beta=2.0, threshold=1.0), one, LINE)
row("elu with alpha", functional("elu", alpha=0.5), one, LINE)
row("threshold", functional("threshold", threshold=1.0, value=7.0), one, LINE)
for _name in ("abs sgn square sqrt rsqrt reciprocal exp expm1 log log1p log2 sin cos tan tanh sigmoid asin "
              "acos atanh acosh asinh erf erfc erfinv lgamma digamma sinc logit i0 trunc round frac deg2rad "
              "nan_to_num").split():
    row(_name, plain(_name), one, LINE)
for _eps in (0.0, 0.1, 0.6):
    row(f"logit to {_eps}", plain("logit", _eps), one, LINE)
for _name in "ndtr log_ndtr entr i0e i1 i1e erfcx".split():
    row(_name, lambda T, x, name=_name: getattr(T.special, name)(x), one, LINE,
        {"log_ndtr": "PyTorch's slope at minus infinity is nan, the limit is infinite",
         "i1": "PyTorch's slope at nan is 0.5", "i1e": "PyTorch's slope at nan is 0.5"}.get(_name))
for _p in (0, 1, 2, 3, 0.5, -1, -2, -0.5, 1.5):
    row(f"power {_p}", plain("pow", _p), one, LINE,
        "roots of minus infinity" if _p in (-0.5, 1.5) else None)
for _low, _high in ((-0.5, 1.0), (2.0, -1.0), (0.0, 0.0)):
    row(f"clamp to {_low}, {_high}", plain("clamp", _low, _high), one, LINE)
row("remainder of a number", plain("remainder", 1.5), one, LINE)
row("number divided", lambda T, x: 3 / x, one, LINE)

# ------------------------------------------------------------------------------- of several numbers

for _name in ("pow atan2 hypot maximum minimum fmax fmin logaddexp logaddexp2 xlogy copysign div mul "
              "remainder fmod").split():
    row(_name, plain(_name), pairs, FEW + [-0.0, 2.0])
row("xlog1py", lambda T, x, y: T.special.xlog1py(x, y), pairs, FEW)
row("clamp to tensors", plain("clamp"), triples, FEW)
row("lerp", plain("lerp"), triples, FEW, "PyTorch's formula has no product of zero and infinity")
row("addcdiv", plain("addcdiv"), triples, FEW)
row("where", lambda T, x, y: T.where(x > y, x, y), pairs, LINE)
row("binary_cross_entropy", functional("binary_cross_entropy", reduction="none"), pairs, UNIT,
    "what is not a probability is refused")
for _name in ("binary_cross_entropy_with_logits mse_loss l1_loss smooth_l1_loss huber_loss kl_div "
              "poisson_nll_loss hinge_embedding_loss").split():
    row(_name, functional(_name, reduction="none"), pairs, LINE)
row("smooth_l1_loss without a bend", functional("smooth_l1_loss", beta=0.0, reduction="none"), pairs, LINE)
row("margin_ranking_loss", lambda T, x, y: T.nn.functional.margin_ranking_loss(
    x, y, T.ones_like(x), reduction="none"), pairs, FEW)
row("gaussian_nll_loss", lambda T, x, y, v: T.nn.functional.gaussian_nll_loss(
    x, y, v.abs(), reduction="none"), triples, FEW)

# ------------------------------------------------------------------------------------- of vectors

_NAN_ROOTS = "PyTorch's formula multiplies an element 0 by a nan"
for _name in "softmax log_softmax".split():
    row(_name, functional(_name, dim=-1), vector, FEW)
for _name in ("logsumexp prod cumsum std sum mean nansum amax amin median nanmedian cummax "
              "sort").split():
    row(_name, plain(_name, dim=-1), vector, FEW)
row("max", plain("max", dim=-1), vector, FEW)
row("var", plain("var", dim=-1), vector, FEW)
row("mean beside var", lambda T, x: T.var_mean(x, -1)[1], vector, FEW)
row("mean beside std", lambda T, x: T.std_mean(x, -1)[1], vector, FEW)
row("cumprod", plain("cumprod", dim=-1), vector, FEW, "PyTorch divides by the element, be it nan")
row("nanmean", plain("nanmean", dim=-1), vector, FEW, "of nan alone PyTorch's slope is 0 / 0")
row("logcumsumexp", plain("logcumsumexp", dim=-1), vector, FEW, "infinite sums")
row("aminmax", lambda T, x: sum(T.aminmax(x, dim=-1)), vector, FEW)
row("max of all", lambda T, x: T.stack([r.max() for r in x]), vector, FEW[1:4])
for _p in (0, 0.5, 1, 1.5, 2, 3, INF, -INF, -1):
    row(f"vector_norm {_p}", lambda T, x, p=_p: T.linalg.vector_norm(x, p, dim=-1), vector, FEW,
        _NAN_ROOTS if _p in (0.5, 1.5, 3, -1) else None)
for _p in (0, 0.5, 1, 1.5, 2, INF):
    row(f"cdist {_p}", lambda T, x, y, p=_p: T.cdist(x, y, p),
        lambda numbers: [vectors(numbers)[:40], vectors(numbers)[30:70]], FEW,
        "PyTorch's largest of a nan and a number is the number" if _p == INF else None)
row("cosine_similarity", functional("cosine_similarity"), two_vectors, FEW)
row("pairwise_distance", functional("pairwise_distance"), two_vectors, FEW)
for _name in ("multi_margin_loss", "nll_loss", "cross_entropy"):
    row(_name, lambda T, x, name=_name: getattr(T.nn.functional, name)(
        x, T.arange(len(x)) % 3, reduction="none"), vector, FEW)
row("multilabel_margin_loss", lambda T, x: T.nn.functional.multilabel_margin_loss(
    x, (T.arange(len(x)) % 3)[:, None].expand(-1, 3).contiguous(), reduction="none"), vector, FEW)
row("multilabel_soft_margin_loss", lambda T, x: T.nn.functional.multilabel_soft_margin_loss(
    x, T.ones_like(x), reduction="none"), vector, FEW)
row("triplet_margin_loss", lambda T, x, y: T.nn.functional.triplet_margin_loss(
    x, y, x * 0.5, reduction="none"), two_vectors, FEW)
row("layer_norm", lambda T, x: T.nn.functional.layer_norm(x, (3,)), vector, FEW)
row("max_pool1d", lambda T, x: T.nn.functional.max_pool1d(x[:, None], 2, 1), vector, FEW)
row("avg_pool1d", lambda T, x: T.nn.functional.avg_pool1d(x[:, None], 2, 1), vector, FEW,
    "a nan spreads along its line: pooling is a product with a matrix")
row("embedding_bag by maximum", lambda T, x: T.nn.functional.embedding_bag(
    T.arange(len(x) // 4 * 4).reshape(-1, 4), x, mode="max"), vector, FEW,
    "PyTorch's largest of a number and a later nan is the number")
row("scatter_reduce prod", lambda T, x: T.ones(len(x), 2, dtype=x.dtype).scatter_reduce(
    1, T.tensor([[0, 0, 1]]).expand(len(x), 3), x, "prod"), vector, FEW, "products of zero and nan")
row("scatter_reduce amax", lambda T, x: T.ones(len(x), 2, dtype=x.dtype).scatter_reduce(
    1, T.tensor([[0, 0, 1]]).expand(len(x), 3), x, "amax"), vector, FEW)
row("quantile", plain("quantile", 0.3, dim=-1), vector, FEW)
row("diff", plain("diff"), vector, FEW)

"""Element by element: one function of a number, or of two or three."""

import jaxflow as torch

from .row import public, row

F = torch.nn.functional
X = (2, 3)

# Called by public name on one real tensor: where to draw the elements from.
UNARY = {
    **dict.fromkeys(
        "abs angle asinh atan ceil clone cos cosh deg2rad erf erfc exp exp2 "
        "expm1 floor frac i0 neg rad2deg relu round sgn sigmoid sign sin sinc sinh square tanh "
        "trunc special.i0e special.i1 special.i1e special.log_ndtr special.ndtr special.erfcx "
        "nn.functional.gelu nn.functional.hardswish nn.functional.logsigmoid nn.functional.mish "
        "nn.functional.selu nn.functional.silu nn.functional.celu nn.functional.elu "
        "nn.functional.hardsigmoid nn.functional.hardtanh nn.functional.leaky_relu "
        "nn.functional.relu6 nn.functional.softplus nn.functional.softshrink hardshrink".split(),
        (-2.3, 2.4),
    ),
    **dict.fromkeys(
        "digamma lgamma log log10 log1p log2 reciprocal rsqrt sqrt special.entr".split(), (0.3, 2.5)
    ),
    **dict.fromkeys("acos asin atanh erfinv tan".split(), (-0.9, 0.9)),
    **dict.fromkeys("logit special.ndtri".split(), (0.1, 0.9)),
    "acosh": (1.2, 3.0),
}


def _seeded(fill):
    """A random fill, the same at every call; it must cut the history of what it overwrites."""
    return lambda x: fill(x * 1, torch.Generator().manual_seed(3)) * x


def _rrelu(x):
    torch.manual_seed(3)
    return F.rrelu(x, training=True)


def _alpha_dropout(x):
    torch.manual_seed(3)
    return F.alpha_dropout(x * 1, 0.5, training=True, inplace=True)


ROWS = {
    **{
        name.rpartition(".")[2]: row(public(name), X, low=low, high=high)
        for name, (low, high) in UNARY.items()
    },
    # complex ones whose derivative is not that of the real function read twice
    **{
        f"{name}/complex": row(public(name), (3,), dtype="complex128")
        for name in "abs angle conj_physical exp log reciprocal sgn sqrt tanh".split()
    },
    # one tensor, and numbers
    "clamp_max": row(lambda x: torch.clamp_max(x, 1.1), X),
    "clamp_min": row(lambda x: torch.clamp_min(x, 1.1), X),
    "fmod": row(lambda x: torch.fmod(x, 0.7), X),
    "frexp": row(lambda x: torch.frexp(x).mantissa, X),
    "gelu/tanh": row(lambda x: F.gelu(x, approximate="tanh"), X, low=-2.3, high=2.4),
    "glu": row(lambda x: F.glu(torch.cat([x, x * 2], 1)), X),
    "masked_fill": row(lambda x: x.masked_fill(x > 1.0, 0.5), X),
    "mvlgamma": row(lambda x: torch.mvlgamma(x + 2, 2), X),
    "nan_to_num": row(torch.nan_to_num, X),
    "polygamma": row(lambda x: torch.polygamma(1, x), X),
    "pow_fixed": row(lambda x: (x**3, x**-1.5), X),
    "remainder": row(lambda x: torch.remainder(x, 0.7), X),
    "rsub": row(lambda x: torch.rsub(x, 2.0), X),
    "threshold": row(lambda x: F.threshold(x, 1.1, 0.2), X),
    "_ldexp": row(torch.ldexp, X, X),
    "_ldexp/exact": row(lambda x: torch.ldexp(x, torch.tensor(-3)), X),
    "_rrelu": row(_rrelu, X, low=-2.3, high=2.4),
    "_scaled_and_shifted": row(_alpha_dropout, X),
    # two and three tensors
    "add": row(lambda x, y: torch.add(x, y, alpha=0.5), X, X),
    "addcdiv": row(lambda x, y, z: torch.addcdiv(x, y, z, value=0.5), X, X, X),
    "addcmul": row(lambda x, y, z: torch.addcmul(x, y, z, value=0.5), X, X, X),
    "atan2": row(torch.atan2, X, X),
    "clamp": row(lambda x, y, z: torch.clamp(x, y - 0.5, z + 0.5), X, X, X),
    "complex": row(torch.complex, X, X),
    "copysign": row(lambda x, y: torch.copysign(x, -y), X, X),
    "div": row(lambda x, y: x / y, X, X),
    "div/complex": row(lambda x, y: x / y, (2,), (2,), dtype="complex128"),
    "fmax": row(torch.fmax, X, X),
    "fmin": row(torch.fmin, X, X),
    "hypot": row(torch.hypot, X, X),
    "igamma": row(lambda x: torch.igamma(torch.full((2,), 1.7, dtype=x.dtype), x), (2,)),
    "igammac": row(lambda x: torch.igammac(torch.full((2,), 1.7, dtype=x.dtype), x), (2,)),
    "lerp": row(torch.lerp, X, X, X),
    "logaddexp": row(torch.logaddexp, X, X),
    "logaddexp2": row(torch.logaddexp2, X, X),
    "maximum": row(torch.maximum, X, X),
    "minimum": row(torch.minimum, X, X),
    "mul": row(lambda x, y: x * y[:1], X, X),
    "mul/complex": row(lambda x, y: x * y, (2,), (2,), dtype="complex128"),
    "nextafter": row(torch.nextafter, X, X),
    "polar": row(torch.polar, X, X),
    "pow": row(lambda x, y: (x**y, 2.0**y), X, X),
    "prelu": row(lambda x, y: F.prelu(x - 1.2, y[0, :1]), X, X),
    "sub": row(lambda x, y: x - y[0], X, X),
    "true_divide": row(torch.true_divide, X, X),
    "where": row(lambda x, y: torch.where(x > y, x, y), X, X),
    "xlog1py": row(torch.special.xlog1py, X, X),
    "xlogy": row(torch.xlogy, X, X),
    # PyTorch has a derivative in the offset alone
    "zeta": row(lambda x: torch.special.zeta(2.5, x), X),
    # writes over a whole tensor
    "_copy": row(lambda x, y: (x * 1).copy_(y[0]), X, X),
    "_drawn": row(_seeded(lambda t, generator: t.uniform_(generator=generator)), X),
    "_drawn/normal": row(_seeded(lambda t, generator: t.normal_(generator=generator)), X),
    "_fill": row(lambda x, y: (x * 1).fill_(y[0, 0]), X, X),
    "_to_dtype": row(lambda x: x.to(torch.complex128), X),
    "_zero": row(lambda x: (x * 1).zero_() + x, X),
}

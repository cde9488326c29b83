"""Many elements to one: sums, extremes, quantiles, and what runs along a dimension."""

import jaxflow as torch
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS

from .row import row

X = (2, 3)


def _segments(kind, *lengths, **options):
    return lambda x: torch.segment_reduce(x, kind, lengths=torch.tensor(lengths), **options)


ROWS = {
    "amax": row(lambda x: x.amax(1), X),
    "amin": row(lambda x: x.amin(0, keepdim=True), X),
    "aminmax": row(lambda x: tuple(torch.aminmax(x, dim=1)), X),
    "cummax": row(lambda x: x.cummax(1).values, X),
    "cummin": row(lambda x: x.cummin(1).values, X),
    "cumprod": row(lambda x: x.cumprod(1), X),
    "cumsum": row(lambda x: x.cumsum(0), X),
    "_diff": row(lambda x: torch.diff(x, dim=1), X),
    "dist": row(lambda x, y: torch.dist(x, y, 3), X, X),
    "kthvalue": row(lambda x: x.kthvalue(2, 1).values, X),
    "log_softmax": row(lambda x: x.log_softmax(1), X),
    "logcumsumexp": row(lambda x: x.logcumsumexp(1), X),
    "logsumexp": row(lambda x: x.logsumexp(1), X),
    "_logsumexp_into": row(lambda x: apply(OPS["_logsumexp_into"], (x,), (1, True, torch.float64)), X),
    "max_all": row(lambda x: x.max(), X),
    "max_dim": row(lambda x: x.max(1).values, X),
    "mean": row(lambda x: (x.mean(), x.mean(0, keepdim=True)), X),
    "median_all": row(lambda x: x.median(), X),
    "median_dim": row(lambda x: x.median(1).values, X),
    "min_all": row(lambda x: x.min(), X),
    "min_dim": row(lambda x: x.min(0).values, X),
    "mode": row(lambda x: x.mode(1).values, X),
    "nanmean": row(lambda x: x.nanmean(1), X),
    "nanmedian_all": row(lambda x: x.nanmedian(), X),
    "nanmedian_dim": row(lambda x: x.nanmedian(1).values, X),
    "nanquantile": row(lambda x: torch.nanquantile(x, 0.3, 1), X),
    "nansum": row(lambda x: x.nansum(0), X),
    "prod": row(lambda x: (x.prod(), x.prod(1)), X),
    "quantile": row(lambda x: torch.quantile(x, 0.3, 1), X),
    "softmax": row(lambda x: x.softmax(1), X),
    "sort": row(lambda x: x.sort(1, descending=True).values, X),
    "std": row(lambda x: (x.std(), x.std(1)), X),
    "std_mean": row(lambda x: tuple(torch.std_mean(x, 1)), X),
    "sum": row(lambda x: (x.sum(), x.sum(1)), X),
    "topk": row(lambda x: x.topk(2, 1).values, X),
    "trace": row(torch.trace, X),
    "var": row(lambda x: (x.var(), x.var(1)), X),
    "var_mean": row(lambda x: tuple(torch.var_mean(x, 0)), X),
    "_vector_norm": row(lambda x: (x.norm(), x.norm(1, 1), x.norm(3.0)), X),
    "_vector_norm/complex": row(lambda x: (x.norm(), x.norm(1, 1)), X, dtype="complex128"),
    **{
        f"_segment_reduce/{kind}": row(_segments(kind, 2, 0, 1, initial=0.9), (3, 2))
        for kind in ("sum", "mean", "max", "min", "prod")
    },
    "_segment_reduce/rows": row(_segments("prod", [1, 2], [2, 0], axis=1, unsafe=True), X),
}

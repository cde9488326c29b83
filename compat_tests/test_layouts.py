"""How results lie in memory beside PyTorch's, of operands in several orders, with gaps, without elements."""

import warnings

import pytest
import torch

import jaxflow


def _batch(x):
    return x.flatten(2) if x.dim() > 2 else x[None]


CALLS = {
    "scatter": lambda T, x, i: x.scatter(0, i, x.clone()),
    "scatter_v": lambda T, x, i: x.scatter(0, i, 1.0),
    "scatter_red": lambda T, x, i: x.scatter(0, i, x.clone(), reduce="add"),
    "scatter_add": lambda T, x, i: x.scatter_add(0, i, x.clone()),
    "scatter_reduce": lambda T, x, i: x.scatter_reduce(0, i, x.clone(), "sum"),
    "gather": lambda T, x, i: x.gather(0, i),
    "index_add": lambda T, x, i: x.index_add(0, T.tensor([0]), x[:1].clone()),
    "index_copy": lambda T, x, i: x.index_copy(0, T.tensor([0]), x[:1].clone()),
    "index_fill": lambda T, x, i: x.index_fill(0, T.tensor([0]), 1.0),
    "index_reduce": lambda T, x, i: x.index_reduce(0, T.tensor([0]), x[:1].clone(), "prod"),
    "index_put": lambda T, x, i: x.index_put((T.tensor([0]),), x[:1].clone()),
    "index_put_acc": lambda T, x, i: x.index_put((T.tensor([0]),), x[:1].clone(), accumulate=True),
    "index_select": lambda T, x, i: x.index_select(1, T.tensor([0, 1])),
    "take": lambda T, x, i: x.take(i),
    "take_along": lambda T, x, i: x.take_along_dim(i, 0),
    "put": lambda T, x, i: x.put(T.tensor([0]), T.tensor([1.])),
    "masked_fill": lambda T, x, i: x.masked_fill(x > 0, 1.0),
    "masked_fill_m": lambda T, x, i: x.masked_fill(x.contiguous() > 0, 1.0),
    "masked_scatter": lambda T, x, i: x.masked_scatter(x > 0, x.clone()),
    "masked_scatter2": lambda T, x, i: x.masked_scatter(x[:1] > 0, x.clone()),
    "where": lambda T, x, i: T.where(x > 0, x, x.contiguous()),
    "diagonal_scatter": lambda T, x, i: x.diagonal_scatter(x.diagonal().clone()),
    "select_scatter": lambda T, x, i: x.select_scatter(x[0].clone(), 0, 0),
    "slice_scatter": lambda T, x, i: x.slice_scatter(x[:1].clone(), 0, 0, 1),
    "as_strided_scatter": lambda T, x, i: x.as_strided_scatter(T.zeros(2), (2,), (1,)),
    "flip": lambda T, x, i: x.flip(0),
    "fliplr": lambda T, x, i: x.fliplr(),
    "roll": lambda T, x, i: x.roll(1, 0),
    "roll0": lambda T, x, i: x.roll(1),
    "rollm": lambda T, x, i: x.roll((1, 1), (0, 1)),
    "rot90": lambda T, x, i: x.rot90(),
    "rot902": lambda T, x, i: x.rot90(2),
    "tril": lambda T, x, i: x.tril(),
    "triu": lambda T, x, i: x.triu(),
    "cumsum": lambda T, x, i: x.cumsum(0),
    "cumprod": lambda T, x, i: x.cumprod(0),
    "cummax": lambda T, x, i: x.cummax(0)[0],
    "cummaxi": lambda T, x, i: x.cummax(0)[1],
    "cummin": lambda T, x, i: x.cummin(0)[0],
    "logcumsumexp": lambda T, x, i: x.logcumsumexp(0),
    "sort": lambda T, x, i: x.sort(0)[0],
    "sorti": lambda T, x, i: x.sort(0)[1],
    "argsort": lambda T, x, i: x.argsort(0),
    "topk": lambda T, x, i: x.topk(1, 0)[0],
    "topk1": lambda T, x, i: x.topk(1, 0)[1],
    "median": lambda T, x, i: x.median(0)[0],
    "argmax": lambda T, x, i: x.argmax(0),
    "sum": lambda T, x, i: x.sum(0),
    "mean": lambda T, x, i: x.mean(0),
    "std": lambda T, x, i: x.std(0),
    "var_mean": lambda T, x, i: T.var_mean(x, 0)[0],
    "vector_norm": lambda T, x, i: T.linalg.vector_norm(x, 2, 0),
    "matrix_norm": lambda T, x, i: T.linalg.matrix_norm(x, dim=(0, 1)),
    "softmax": lambda T, x, i: x.softmax(0),
    "log_softmax": lambda T, x, i: x.log_softmax(0),
    "logsumexp": lambda T, x, i: x.logsumexp(0),
    "quantile": lambda T, x, i: x.quantile(.5, 0),
    "quantile_v": lambda T, x, i: x.quantile(T.tensor([.5, .2]), 0),
    "quantile_vk": lambda T, x, i: x.quantile(T.tensor([.5, .2]), 1, keepdim=True),
    "quantile_vk0": lambda T, x, i: x.quantile(T.tensor([.5, .2]), 0, keepdim=True),
    "quantile_k": lambda T, x, i: x.quantile(.5, 1, keepdim=True),
    "quantile_k0": lambda T, x, i: x.quantile(.5, 0, keepdim=True),
    "quantile_n": lambda T, x, i: x.quantile(T.tensor([.5, .2])),
    "quantile_nk": lambda T, x, i: x.quantile(T.tensor([.5, .2]), keepdim=True),
    "nanquantile": lambda T, x, i: x.nanquantile(T.tensor([.5, .2]), 1),
    "repeat": lambda T, x, i: x.repeat(*((2,) * x.dim())),
    "tile": lambda T, x, i: x.tile(2, 1),
    "cat": lambda T, x, i: T.cat([x, x], 0),
    "stack": lambda T, x, i: T.stack([x, x], 1),
    "hstack": lambda T, x, i: T.hstack([x, x]),
    "vstack": lambda T, x, i: T.vstack([x, x]),
    "dstack": lambda T, x, i: T.dstack([x, x]),
    "column_stack": lambda T, x, i: T.column_stack([x, x]),
    "kron": lambda T, x, i: T.kron(x, x),
    "matmul": lambda T, x, i: x@x.transpose(-1, -2),
    "mm": lambda T, x, i: x.flatten(1).t()@x.flatten(1),
    "einsum2": lambda T, x, i: T.einsum("...ij->...ji", x),
    "diff": lambda T, x, i: x.diff(dim=0),
    "diff2": lambda T, x, i: x.diff(dim=0, n=2),
    "diffp": lambda T, x, i: x.diff(dim=0, prepend=x[:1]),
    "gradient": lambda T, x, i: T.gradient(x, dim=0)[0],
    "trapezoid": lambda T, x, i: T.trapezoid(x, dim=0),
    "cumtrapz": lambda T, x, i: T.cumulative_trapezoid(x, dim=0),
    "cross": lambda T, x, i: T.cross(x[:3], x[:3], dim=0),
    "renorm": lambda T, x, i: x.renorm(2, 0, 1.0),
    "clamp": lambda T, x, i: x.clamp(0, 1),
    "lerp": lambda T, x, i: x.lerp(x.contiguous(), .5),
    "addcmul": lambda T, x, i: x.addcmul(x.contiguous(), x),
    "pad": lambda T, x, i: T.nn.functional.pad(x, (1, 1)),
    "padr": lambda T, x, i: T.nn.functional.pad(x, (1, 1), mode="reflect"),
    "padrep": lambda T, x, i: T.nn.functional.pad(x, (1, 1), mode="replicate"),
    "unfold": lambda T, x, i: x.unfold(0, 2, 1),
    "diag_embed": lambda T, x, i: x.diag_embed(),
    "diagonal_copy": lambda T, x, i: T.diagonal_copy(x),
    "permute_copy": lambda T, x, i: T.permute_copy(x, tuple(range(x.dim()))[::-1]),
    "transpose_copy": lambda T, x, i: T.transpose_copy(x, 0, 1),
    "select_copy": lambda T, x, i: T.select_copy(x, 0, 0),
    "slice_copy": lambda T, x, i: T.slice_copy(x, 0, 0, 1),
    "squeeze_copy": lambda T, x, i: T.squeeze_copy(x),
    "alias_copy": lambda T, x, i: T.alias_copy(x),
    "unsqueeze_copy": lambda T, x, i: T.unsqueeze_copy(x, 0),
    "view_copy": lambda T, x, i: T.view_copy(x, x.shape),
    "split_copy": lambda T, x, i: T.split_copy(x, 1)[0],
    "unbind_copy": lambda T, x, i: T.unbind_copy(x)[0],
    "full_like": lambda T, x, i: T.full_like(x, 1.),
    "zeros_like": lambda T, x, i: T.zeros_like(x),
    "new_zeros": lambda T, x, i: x.new_zeros(x.shape),
    "dropoute": lambda T, x, i: T.dropout(x, .5, False),
    "rrelu": lambda T, x, i: T.rrelu(x, training=True),
    "rrelue": lambda T, x, i: T.rrelu(x),
    "binomial": lambda T, x, i: T.binomial(x * 0 + 1, x * 0),
    "heaviside": lambda T, x, i: T.heaviside(x, x),
    "bucketize": lambda T, x, i: T.bucketize(x, T.tensor([1., 2.])),
    "searchsorted": lambda T, x, i: T.searchsorted(T.tensor([1., 2.]), x),
    "unique": lambda T, x, i: T.unique(x, dim=0),
    "unique1": lambda T, x, i: T.unique(x, dim=1),
    "unique_i": lambda T, x, i: T.unique(x, return_inverse=True)[1],
    "unique_c": lambda T, x, i: T.unique_consecutive(x, dim=1),
    "unique_ci": lambda T, x, i: T.unique_consecutive(x, return_inverse=True)[1],
    "nonzero": lambda T, x, i: T.nonzero(x),
    "argwhere": lambda T, x, i: T.argwhere(x),
    "frexp": lambda T, x, i: T.frexp(x)[0],
    "glu": lambda T, x, i: T.nn.functional.glu(x[..., :2], -1),
    "logit": lambda T, x, i: T.logit(x),
    "polygamma": lambda T, x, i: T.polygamma(1, x),
    "nan_to_num": lambda T, x, i: T.nan_to_num(x),
    "celu": lambda T, x, i: T.celu(x),
    "prelu": lambda T, x, i: T.prelu(x, T.tensor(.1)),
    "logsigmoid": lambda T, x, i: T.nn.functional.logsigmoid(x),
    "hardshrink": lambda T, x, i: T.hardshrink(x),
    "threshold": lambda T, x, i: T.threshold(x, 1., 1.),
    "softplus": lambda T, x, i: T.nn.functional.softplus(x),
    "gelu": lambda T, x, i: T.nn.functional.gelu(x),
    "bce": lambda T, x, i: T.nn.functional.binary_cross_entropy(x * 0+.5, x * 0+.5, reduction="none"),
    "bcel": lambda T, x, i: T.nn.functional.binary_cross_entropy_with_logits(x, x, reduction="none"),
    "huber": lambda T, x, i: T.nn.functional.huber_loss(x, x, reduction="none"),
    "kl": lambda T, x, i: T.nn.functional.kl_div(x, x, reduction="none"),
    "soft_margin": lambda T, x, i: T.nn.functional.soft_margin_loss(x, x, reduction="none"),
    "poisson_nll": lambda T, x, i: T.nn.functional.poisson_nll_loss(x, x, reduction="none"),
    "rms_norm": lambda T, x, i: T.nn.functional.rms_norm(x, x.shape[-1:]),
    "normalize": lambda T, x, i: T.nn.functional.normalize(x),
    "cosine": lambda T, x, i: T.cosine_similarity(x, x, 0),
    "pairwise": lambda T, x, i: T.pairwise_distance(x, x),
    "index": lambda T, x, i: x[T.tensor([0, 1])],
    "index1": lambda T, x, i: x[:, T.tensor([0, 1])],
    "indexl": lambda T, x, i: x[..., T.tensor([0, 1])],
    "index2": lambda T, x, i: x[T.tensor([0, 1]), T.tensor([0, 1])],
    "index02": lambda T, x, i: x[T.tensor([0, 1]), ..., T.tensor([0, 1])],
    "indexm": lambda T, x, i: x[x > 0],
    "addmm": lambda T, x, i: T.addmm(T.zeros(2, 2), x.flatten(1)[:2], x.flatten(1)[:2].t()),
    "bmm": lambda T, x, i: T.bmm(_batch(x), _batch(x).transpose(1, 2)),
    "baddbmm": lambda T, x, i: T.baddbmm(T.zeros(()), _batch(x), _batch(x).transpose(1, 2)),
    "lvander": lambda T, x, i: T.linalg.vander(x),
    "complex": lambda T, x, i: T.complex(x, x.contiguous()),
    "polar": lambda T, x, i: T.polar(x, x),
    "prod": lambda T, x, i: x.prod(0),
    "count_nonzero": lambda T, x, i: x.count_nonzero(0),
    "nansum": lambda T, x, i: x.nansum(0),
    "float": lambda T, x, i: x.double(),
    "to_c": lambda T, x, i: x.to(T.complex64),
    "sgn": lambda T, x, i: x.sgn(),
    "reshape": lambda T, x, i: x.reshape(-1),
    "reshape2": lambda T, x, i: x.reshape(x.shape[0], -1),
    "flatten": lambda T, x, i: x.flatten(),
    "ravel": lambda T, x, i: x.ravel(),
    "contig": lambda T, x, i: x.contiguous(),
}


def _numbers(T, *shape):
    return T.arange(float(torch.Size(shape).numel())).reshape(shape)


LAYOUTS = {
    "contiguous": lambda T: _numbers(T, 3, 4, 5),
    "a matrix transposed": lambda T: _numbers(T, 4, 3).t(),
    "permuted": lambda T: _numbers(T, 4, 5, 3).permute(2, 0, 1),
    "four permuted": lambda T: _numbers(T, 3, 4, 3, 2).permute(3, 1, 0, 2),
    "transposed, with gaps": lambda T: _numbers(T, 3, 10, 4).transpose(1, 2)[..., ::2],
    "expanded": lambda T: _numbers(T, 3, 1, 5).expand(3, 4, 5),
    "channels last": lambda T: _numbers(T, 3, 4, 3, 2).contiguous(memory_format=T.channels_last),
    "one row": lambda T: _numbers(T, 3, 1, 4).permute(1, 0, 2),
    "empty": lambda T: _numbers(T, 3, 0, 4).permute(1, 0, 2),
}
#: A copy of all the memory, gaps included, is what PyTorch writes into: here the elements alone are copied.
_ALL_MEMORY = ("diagonal_scatter", "select_scatter", "slice_scatter", "as_strided_scatter")
#: Layouts of results that are still others, of calls on operands without elements or with a dimension of 1.
OTHERS = {"bcel": ("empty",), "rms_norm": ("one row", "empty")}


def lies(T, call, layout):
    """Shape and strides of what a call returns, or that it is refused."""
    x = LAYOUTS[layout](T)
    try:
        result = CALLS[call](T, x, (x * 0).long())
    except (RuntimeError, IndexError, TypeError, NotImplementedError):
        return None
    return tuple(result.shape), tuple(result.stride())


@pytest.mark.parametrize("call", CALLS)
def test_results_lie_as_pytorchs(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compared = 0
        for layout in LAYOUTS:
            if (call in _ALL_MEMORY and "gaps" in layout) or layout in OTHERS.get(call, ()):
                continue
            expected = lies(torch, call, layout)
            assert lies(jaxflow, call, layout) == expected, layout
            compared += expected is not None
        assert compared


_SIGNALS = ((3, 4, 2, 3), (2, 1, 3, 1), (4, 3))
_ORDERS = (
    lambda x: x,
    lambda x: x.movedim(0, -1),
    lambda x: x.permute(tuple(reversed(range(x.dim())))),
    lambda x: x.flip(0).movedim(-1, 0)[..., ::2],
    lambda x: x[:1].expand(3, *x.shape[1:]),
)
_PLACES = ((-1,), (0,), (1, 0), (0, -1), (2, 0, 1), (0, 1, 2, 3))


def _spectra(T, name, kind, size, order):
    """What is seen of the transforms of a signal over all places, with and without lengths."""
    seen = []
    for dims in _PLACES:
        for lengths in (None, tuple(2 + 2 * (d % 2) for d in dims)):
            x = order(_numbers(T, *size).to(getattr(T, kind)))
            if name[-1] == "t":
                where = {"dim": dims[0], "n": lengths and lengths[0]}
            else:
                where = {"dim": dims, "s": lengths}
            try:
                y = getattr(T.fft, name)(x, **where)
            except (RuntimeError, IndexError):
                seen.append("refused")
                continue
            seen.append((dims, tuple(y.shape), tuple(y.stride()), y.is_conj(), y._is_view()))
    return seen


@pytest.mark.parametrize("name", [kind + form for kind in ("", "i", "r", "ir", "h", "ih")
                                  for form in ("fft", "fft2", "fftn")])
def test_spectra_lie_as_pytorchs(name):
    for kind in ("float32", "complex64"):
        for size in _SIGNALS:
            for order in _ORDERS:
                assert _spectra(jaxflow, name, kind, size, order) == _spectra(torch, name, kind, size, order)


@pytest.mark.parametrize("kind", ["uint8", "float16", "float32", "int64"])
def test_a_view_of_the_bytes_is_no_view_to_autograd(kind):
    def seen(T):
        x = T.arange(12.0, dtype=T.float64).reshape(3, 4)
        y = x.view(getattr(T, kind))
        parts = y[1:]
        y.zero_()
        return [x.tolist(), y._base is None, y._is_view(), parts._base is y, x._version, y._version]

    assert seen(jaxflow) == seen(torch)


def test_indices_of_elements_are_columns_of_one_tensor():
    def seen(T):
        found = T.where(T.tensor([[1, 0, 2], [0, 3, 0]]))
        return [(t.tolist(), t.stride(), t.storage_offset(), t._is_view(), t._base.shape) for t in found]

    assert seen(jaxflow) == seen(torch)

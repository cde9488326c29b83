"""Paddle's functions on tensors: each line is Paddle's signature, and what jaxflow calls for it."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import jaxflow
from jaxflow.nn import functional as _functional

from . import _composed
from ._places import device_of, dtype_of
from ._rows import rows

NAMES = {
    **{fn.__name__: fn for fn in (
        _composed.axes, _composed.every, _composed.ints, _composed.is_flat, _composed.number,
        _composed.reshape_to, _composed.stacked,
    )},
    "F": _functional, "J": jaxflow, "C": _composed, "dtype_of": dtype_of, "device_of": device_of,
}

CREATION = rows("", """
to_tensor(data, dtype=None, place=None, stop_gradient=True) =
    C.to_tensor(data, dtype_of(dtype), place and device_of(place), stop_gradient)
zeros(shape, dtype=None) = J.zeros(ints(shape), dtype=dtype_of(dtype))
ones(shape, dtype=None) = J.ones(ints(shape), dtype=dtype_of(dtype))
full(shape, fill_value, dtype=None) =
    J.full(ints(shape), number(fill_value), dtype=dtype_of(dtype) or J.get_default_dtype())
empty(shape, dtype=None) = J.empty(ints(shape), dtype=dtype_of(dtype))
zeros_like(x, dtype=None) = J.zeros_like(x, dtype=dtype_of(dtype))
ones_like(x, dtype=None) = J.ones_like(x, dtype=dtype_of(dtype))
full_like(x, fill_value, dtype=None) = J.full_like(x, number(fill_value), dtype=dtype_of(dtype))
empty_like(x, dtype=None) = J.empty_like(x, dtype=dtype_of(dtype))
arange(start=0, end=None, step=1, dtype=None) =
    J.arange(*((number(start),) if end is None else (number(start), number(end))), **({} if end is None else
    {'step': number(step)}), dtype=dtype_of(dtype))
linspace(start, stop, num, dtype=None) =
    J.linspace(number(start), number(stop), number(num), dtype=dtype_of(dtype))
logspace(start, stop, num, base=10.0, dtype=None) =
    J.logspace(number(start), number(stop), number(num), number(base), dtype=dtype_of(dtype))
eye(num_rows, num_columns=None, dtype=None) = J.eye(num_rows, num_columns or num_rows, dtype=dtype_of(dtype))
tril_indices(row, col, offset=0, dtype='int64') = J.tril_indices(row, col, offset, dtype=dtype_of(dtype))
triu_indices(row, col=None, offset=0, dtype='int64') =
    J.triu_indices(row, row if col is None else col, offset, dtype=dtype_of(dtype))
complex(real, imag) = J.complex(real, imag)
polar(abs, angle) = J.polar(abs, angle)
rand(shape, dtype=None) = J.rand(ints(shape), dtype=dtype_of(dtype))
randn(shape, dtype=None) = J.randn(ints(shape), dtype=dtype_of(dtype))
standard_normal(shape, dtype=None) = J.randn(ints(shape), dtype=dtype_of(dtype))
randint(low=0, high=None, shape=[1], dtype=None) = C.randint(low, high, shape, dtype)
randperm(n, dtype='int64') = J.randperm(n, dtype=dtype_of(dtype))
uniform(shape, dtype=None, min=-1.0, max=1.0, seed=0) =
    J.rand(ints(shape), dtype=dtype_of(dtype)) * (max - min) + min
normal(mean=0.0, std=1.0, shape=None) = C.normal(mean, std, shape)
meshgrid(*args) = list(J.meshgrid(*stacked(args), indexing='ij'))
""", NAMES)

MATH = rows("", """
abs(x) = J.abs(x)
acos(x) = J.acos(x)
acosh(x) = J.acosh(x)
angle(x) = J.angle(x)
asin(x) = J.asin(x)
asinh(x) = J.asinh(x)
atan(x) = J.atan(x)
atanh(x) = J.atanh(x)
bitwise_not(x) = J.bitwise_not(x)
ceil(x) = J.ceil(x)
conj(x) = J.conj_physical(x)
cos(x) = J.cos(x)
cosh(x) = J.cosh(x)
deg2rad(x) = J.deg2rad(x)
digamma(x) = J.digamma(x)
erf(x) = J.erf(x)
erfinv(x) = J.erfinv(x)
exp(x) = J.exp(x)
expm1(x) = J.expm1(x)
floor(x) = J.floor(x)
frac(x) = J.frac(x)
i0(x) = J.i0(x)
i0e(x) = J.special.i0e(x)
i1(x) = J.special.i1(x)
i1e(x) = J.special.i1e(x)
imag(x) = J.imag(x)
isfinite(x) = J.isfinite(x)
isinf(x) = J.isinf(x)
isnan(x) = J.isnan(x)
isneginf(x) = J.isneginf(x)
isposinf(x) = J.isposinf(x)
isreal(x) = J.isreal(x)
lgamma(x) = J.lgamma(x)
log(x) = J.log(x)
log10(x) = J.log10(x)
log1p(x) = J.log1p(x)
log2(x) = J.log2(x)
logical_not(x) = J.logical_not(x)
logit(x, eps=None) = J.logit(x, eps)
nan_to_num(x, nan=0.0, posinf=None, neginf=None) = J.nan_to_num(x, nan, posinf, neginf)
neg(x) = J.neg(x)
polygamma(x, n) = J.polygamma(n, x)
positive(x) = J.positive(x)
rad2deg(x) = J.rad2deg(x)
real(x) = J.real(x)
reciprocal(x) = J.reciprocal(x)
round(x, decimals=0) = J.round(x, decimals=decimals)
rsqrt(x) = J.rsqrt(x)
sgn(x) = J.sgn(x)
sign(x) = J.sign(x)
signbit(x) = J.signbit(x)
sin(x) = J.sin(x)
sinc(x) = J.sinc(x)
sinh(x) = J.sinh(x)
sqrt(x) = J.sqrt(x)
square(x) = J.square(x)
tan(x) = J.tan(x)
tanh(x) = J.tanh(x)
trunc(input) = J.trunc(input)
add(x, y) = J.add(x, y)
subtract(x, y) = J.sub(x, y)
multiply(x, y) = J.mul(x, y)
divide(x, y) = J.div(x, y)
floor_divide(x, y) = J.floor_divide(x, y)
mod(x, y) = J.remainder(x, y)
remainder(x, y) = J.remainder(x, y)
floor_mod(x, y) = J.remainder(x, y)
pow(x, y) = J.pow(x, y)
maximum(x, y) = J.maximum(x, y)
minimum(x, y) = J.minimum(x, y)
fmax(x, y) = J.fmax(x, y)
fmin(x, y) = J.fmin(x, y)
atan2(x, y) = J.atan2(x, y)
hypot(x, y) = J.hypot(x, y)
copysign(x, y) = J.copysign(x, y)
nextafter(x, y) = J.nextafter(x, y)
gcd(x, y) = J.gcd(x, y)
lcm(x, y) = J.lcm(x, y)
ldexp(x, y) = J.ldexp(x, y)
heaviside(x, y) = J.heaviside(x, y)
logaddexp(x, y) = J.logaddexp(x, y)
kron(x, y) = J.kron(x, y)
inner(x, y) = J.inner(x, y)
outer(x, y) = J.outer(x.reshape(-1), y.reshape(-1))
bitwise_and(x, y) = J.bitwise_and(x, y)
bitwise_or(x, y) = J.bitwise_or(x, y)
bitwise_xor(x, y) = J.bitwise_xor(x, y)
bitwise_left_shift(x, y) = J.bitwise_left_shift(x, y)
bitwise_right_shift(x, y) = J.bitwise_right_shift(x, y)
clip(x, min=None, max=None) = J.clamp(x, min, max) if not min is max is None else x.clone()
lerp(x, y, weight) = J.lerp(x, y, weight)
scale(x, scale=1.0, bias=0.0, bias_after_scale=True) = C.affine(x, scale, bias, bias_after_scale)
stanh(x, scale_a=0.67, scale_b=1.7159) = scale_b * J.tanh(scale_a * x)
addmm(input, x, y, beta=1.0, alpha=1.0) = J.addmm(input, x, y, beta=beta, alpha=alpha)
baddbmm(input, x, y, beta=1.0, alpha=1.0) = J.baddbmm(input, x, y, beta=beta, alpha=alpha)
add_n(inputs) = C.sum_of(inputs)
sum(x, axis=None, dtype=None, keepdim=False) = J.sum(x, axes(axis), keepdim=keepdim, dtype=dtype_of(dtype))
nansum(x, axis=None, dtype=None, keepdim=False) =
    J.nansum(x, axes(axis), keepdim=keepdim, dtype=dtype_of(dtype))
mean(x, axis=None, keepdim=False) = J.mean(x, axes(axis), keepdim=keepdim)
nanmean(x, axis=None, keepdim=False) = J.nanmean(x, axes(axis), keepdim=keepdim)
prod(x, axis=None, keepdim=False, dtype=None) =
    J.prod(x.reshape([1] * x.ndim + [-1]) if keepdim else x.reshape([-1]), -1, dtype=dtype_of(dtype)) if
    axis is None else J.prod(x, axis, keepdim, dtype=dtype_of(dtype))
max(x, axis=None, keepdim=False) = C.extreme(J.amax, x, axis, keepdim)
min(x, axis=None, keepdim=False) = C.extreme(J.amin, x, axis, keepdim)
amax(x, axis=None, keepdim=False) = J.amax(x, every(axis, x), keepdim)
amin(x, axis=None, keepdim=False) = J.amin(x, every(axis, x), keepdim)
logsumexp(x, axis=None, keepdim=False) = J.logsumexp(x, every(axis, x), keepdim)
all(x, axis=None, keepdim=False) = J.all(x.bool(), every(axis, x), keepdim)
any(x, axis=None, keepdim=False) = J.any(x.bool(), every(axis, x), keepdim)
std(x, axis=None, unbiased=True, keepdim=False) = C.deviation(J.std, x, axis, unbiased, keepdim)
var(x, axis=None, unbiased=True, keepdim=False) = C.deviation(J.var, x, axis, unbiased, keepdim)
median(x, axis=None, keepdim=False, mode='avg') = C.median(x, axis, keepdim, mode, J.quantile)
nanmedian(x, axis=None, keepdim=False, mode='avg') = C.median(x, axis, keepdim, mode, J.nanquantile)
quantile(x, q, axis=None, keepdim=False) = C.quantiles(J.quantile, x.double(), q, axis, keepdim)
nanquantile(x, q, axis=None, keepdim=False) = C.quantiles(J.nanquantile, x.double(), q, axis, keepdim)
count_nonzero(x, axis=None, keepdim=False) = J.sum(x != 0, axes(axis), keepdim=keepdim)
cumsum(x, axis=None, dtype=None) = J.cumsum(*is_flat(axis, x), dtype=dtype_of(dtype))
cumprod(x, dim=None, dtype=None) = J.cumprod(*is_flat(dim, x), dtype=dtype_of(dtype))
logcumsumexp(x, axis=None, dtype=None) =
    J.logcumsumexp(*is_flat(axis, x if dtype is None else x.to(dtype_of(dtype))))
cummax(x, axis=None, dtype='int64') =
    (lambda r: (r[0], r[1].to(dtype_of(dtype))))(J.cummax(*is_flat(axis, x)))
cummin(x, axis=None, dtype='int64') =
    (lambda r: (r[0], r[1].to(dtype_of(dtype))))(J.cummin(*is_flat(axis, x)))
diff(x, n=1, axis=-1, prepend=None, append=None) = J.diff(x, n, axis, prepend, append)
trapezoid(y, x=None, dx=None, axis=-1) =
    J.trapezoid(y, x, dim=axis) if x is not None else J.trapezoid(y, dx=1.0 if dx is None else dx, dim=axis)
trace(x, offset=0, axis1=0, axis2=1) = J.diagonal(x, offset, axis1, axis2).sum(-1)
diagonal(x, offset=0, axis1=0, axis2=1) = J.diagonal(x, offset, axis1, axis2)
histogram(input, bins=100, min=0, max=0) = C.histogram(input, bins, min, max)
bincount(x, weights=None, minlength=0) = J.bincount(x, weights, minlength)
increment(x, value=1.0) = x.add_(value)
""", NAMES)

LOGIC = rows("", """
equal(x, y) = J.eq(x, y)
not_equal(x, y) = J.ne(x, y)
greater_than(x, y) = J.gt(x, y)
greater_equal(x, y) = J.ge(x, y)
less_than(x, y) = J.lt(x, y)
less_equal(x, y) = J.le(x, y)
logical_and(x, y) = J.logical_and(x, y)
logical_or(x, y) = J.logical_or(x, y)
logical_xor(x, y) = J.logical_xor(x, y)
isclose(x, y, rtol=1e-05, atol=1e-08, equal_nan=False) = J.isclose(x, y, rtol, atol, equal_nan)
allclose(x, y, rtol=1e-05, atol=1e-08, equal_nan=False) = J.isclose(x, y, rtol, atol, equal_nan).all()
equal_all(x, y) = J.tensor(J.equal(x, y))
is_empty(x) = J.tensor(not x.numel())
is_tensor(x) = J.is_tensor(x)
is_complex(x) = x.is_complex()
is_floating_point(x) = x.is_floating_point()
is_integer(x) = x.dtype.category == 1
isin(x, test_x, assume_unique=False, invert=False) =
    J.isin(x, test_x, assume_unique=assume_unique, invert=invert)
""", NAMES)

SEARCH = rows("", """
argmax(x, axis=None, keepdim=False, dtype='int64') = J.argmax(x, axis, keepdim).to(dtype_of(dtype))
argmin(x, axis=None, keepdim=False, dtype='int64') = J.argmin(x, axis, keepdim).to(dtype_of(dtype))
argsort(x, axis=-1, descending=False, stable=False) =
    J.argsort(x, dim=axis, descending=descending, stable=stable)
sort(x, axis=-1, descending=False, stable=False) =
    J.sort(x, dim=axis, descending=descending, stable=stable)[0]
topk(x, k, axis=None, largest=True, sorted=True) =
    tuple(J.topk(x, number(k), -1 if axis is None else axis, largest, sorted))
kthvalue(x, k, axis=None, keepdim=False) = tuple(J.kthvalue(x, k, -1 if axis is None else axis, keepdim))
mode(x, axis=-1, keepdim=False) = tuple(J.mode(x, axis, keepdim))
nonzero(x, as_tuple=False) = C.nonzero(x, as_tuple)
searchsorted(sorted_sequence, values, out_int32=False, right=False) =
    J.searchsorted(sorted_sequence, values, out_int32=out_int32, right=right)
bucketize(x, sorted_sequence, out_int32=False, right=False) =
    J.bucketize(x, sorted_sequence, out_int32=out_int32, right=right)
index_select(x, index, axis=0) = J.index_select(x, axis, index)
index_sample(x, index) = J.gather(x, 1, index)
masked_select(x, mask) = J.masked_select(x, mask)
where(condition, x=None, y=None) = C.where(condition, x, y)
unique(x, return_index=False, return_inverse=False, return_counts=False, axis=None, dtype='int64') =
    C.unique(x, return_index, return_inverse, return_counts, axis, dtype)
""", NAMES)

LINALG = rows("", """
matmul(x, y, transpose_x=False, transpose_y=False) = C.matmul(x, y, transpose_x, transpose_y)
mm(input, mat2) = J.matmul(input, mat2)
bmm(x, y) = J.bmm(x, y)
mv(x, vec) = J.mv(x, vec)
dot(x, y) = C.dot(x, y)
cross(x, y, axis=9) = C.cross(x, y, axis)
dist(x, y, p=2) = J.dist(x, y, p)
norm(x, p=None, axis=None, keepdim=False) = C.norm(x, p, axis, keepdim)
t(input) = J.t(input)
einsum(equation, *operands) = J.einsum(equation, *operands)
tensordot(x, y, axes=2) = J.tensordot(x, y, axes)
""", NAMES)

MANIPULATION = rows("", """
assign(x, output=None) = C.assign(x, output)
cast(x, dtype) = x.to(dtype_of(dtype))
clone(x) = x.clone()
reshape(x, shape) = J.reshape(x, reshape_to(x, shape))
view(x, shape_or_dtype) =
    x.view(ints(shape_or_dtype)) if isinstance(shape_or_dtype, (list, tuple)) else
    x.view(dtype_of(shape_or_dtype))
transpose(x, perm) = J.permute(x, ints(perm))
moveaxis(x, source, destination) =
    J.movedim(x, source if isinstance(source, int) else ints(source), destination if isinstance(destination,
    int) else ints(destination))
swapaxes(x, axis0, axis1) = J.transpose(x, axis0, axis1)
flatten(x, start_axis=0, stop_axis=-1) = J.flatten(x, start_axis, stop_axis)
squeeze(x, axis=None) = C.squeeze(x, axis)
unsqueeze(x, axis) = C.unsqueeze(x, axis)
concat(x, axis=0) = J.cat(x, int(number(axis)))
stack(x, axis=0) = J.stack(x, axis)
hstack(x) = J.hstack(x)
vstack(x) = J.vstack(x)
dstack(x) = J.dstack(x)
column_stack(x) = J.column_stack(x)
row_stack(x) = J.vstack(x)
split(x, num_or_sections, axis=0) = C.split(x, num_or_sections, axis)
chunk(x, chunks, axis=0) = C.split(x, chunks, axis)
unbind(input, axis=0) = list(J.unbind(input, axis))
unstack(x, axis=0, num=None) = list(J.unbind(x, axis))
tile(x, repeat_times) = J.tile(x, ints(repeat_times))
expand(x, shape) = C.expand_to(x, shape)
expand_as(x, y) = x.expand_as(y)
broadcast_to(x, shape) = C.expand_to(x, shape)
broadcast_tensors(input) = list(J.broadcast_tensors(*input))
broadcast_shape(x_shape, y_shape) = C.broadcast_shape(x_shape, y_shape)
flip(x, axis) = J.flip(x, ints(axis))
roll(x, shifts, axis=None) =
    J.roll(x, shifts if isinstance(shifts, int) else ints(shifts), () if axis is None else axes(axis))
rot90(x, k=1, axes=[0, 1]) = J.rot90(x, k, axes)
gather(x, index, axis=None) = J.index_select(x, 0 if axis is None else int(number(axis)), index.reshape(-1))
gather_nd(x, index) = x[C.coordinates(index)]
scatter(x, index, updates, overwrite=True) = C.scatter(x, index, updates, overwrite)
scatter_nd(index, updates, shape) = C.scatter_nd(index, updates, shape)
scatter_nd_add(x, index, updates) = x.index_put(C.coordinates(index), updates, accumulate=True)
take_along_axis(arr, indices, axis, broadcast=True) = C.take_along_axis(arr, indices, axis, broadcast)
put_along_axis(arr, indices, values, axis, reduce='assign', include_self=True, broadcast=True) =
    C.put_along_axis(arr, indices, values, axis, reduce, include_self, broadcast)
index_add(x, index, axis, value) = J.index_add(x, axis, index, value)
index_fill(x, index, axis, value) = J.index_fill(x, axis, index, value)
index_put(x, indices, value, accumulate=False) = J.index_put(x, tuple(indices), value, accumulate)
masked_fill(x, mask, value) = J.masked_fill(x, mask, value)
masked_scatter(x, mask, value) = J.masked_scatter(x, mask, value)
select_scatter(x, values, axis, index) = J.select_scatter(x, values, axis, index)
slice(input, axes, starts, ends) = C.parts(input, axes, starts, ends)
strided_slice(x, axes, starts, ends, strides) = C.parts(x, axes, starts, ends, strides)
repeat_interleave(x, repeats, axis=None) = J.repeat_interleave(x, repeats, axis)
as_strided(x, shape, stride, offset=0) = J.as_strided(x, ints(shape), ints(stride), offset)
unfold(x, axis, size, step) = x.unfold(axis, size, step)
as_complex(x) = J.complex(x[..., 0], x[..., 1])
as_real(x) = J.view_as_real(x)
diag(x, offset=0, padding_value=0) =
    J.diag(x, offset) if x.ndim > 1 or not padding_value else J.diag(x - padding_value, offset) +
    padding_value
diagflat(x, offset=0) = J.diagflat(x, offset)
diag_embed(input, offset=0, dim1=-2, dim2=-1) = J.diag_embed(input, offset, dim1, dim2)
tril(x, diagonal=0) = J.tril(x, diagonal)
triu(x, diagonal=0) = J.triu(x, diagonal)
take(x, index, mode='raise') =
    J.take(x, {'raise': lambda i: i, 'wrap': lambda i: i % x.numel(), 'clip': lambda i: i.clamp(0, x.numel()
    - 1)}[mode](index))
unique_consecutive(x, return_inverse=False, return_counts=False, axis=None, dtype='int64') =
    J.unique_consecutive(x, return_inverse, return_counts, axis)
combinations(x, r=2, with_replacement=False) = J.combinations(x, r, with_replacement)
cartesian_prod(x) = J.cartesian_prod(*x)
block_diag(inputs) = J.block_diag(*inputs)
vander(x, n=None, increasing=False) = J.vander(x, n, increasing)
bernoulli(x) = J.bernoulli(x)
multinomial(x, num_samples=1, replacement=False) = J.multinomial(x, num_samples, replacement)
numel(x) = J.tensor(x.numel())
shape(input) = J.tensor(list(input.shape), dtype=J.int32)
rank(input) = J.tensor(input.ndim, dtype=J.int32)
tolist(x) = x.tolist()
""", NAMES)

INPLACE = rows("Tensor", """
add_(x, y) = x.add_(y)
subtract_(x, y) = x.sub_(y)
multiply_(x, y) = x.mul_(y)
divide_(x, y) = x.div_(y)
remainder_(x, y) = x.remainder_(y)
floor_divide_(x, y) = x.floor_divide_(y)
pow_(x, y) = x.pow_(y)
scale_(x, scale=1.0, bias=0.0, bias_after_scale=True) = x.copy_(C.affine(x, scale, bias, bias_after_scale))
clip_(x, min=None, max=None) = x.clamp_(min, max)
lerp_(x, y, weight) = x.lerp_(y, weight)
abs_(x) = x.abs_()
ceil_(x) = x.ceil_()
cos_(x) = x.cos_()
exp_(x) = x.exp_()
floor_(x) = x.floor_()
log_(x) = x.log_()
neg_(x) = x.neg_()
reciprocal_(x) = x.reciprocal_()
round_(x, decimals=0) = x.round_(decimals=decimals)
rsqrt_(x) = x.rsqrt_()
sigmoid_(x) = x.sigmoid_()
sin_(x) = x.sin_()
sqrt_(x) = x.sqrt_()
square_(x) = x.square_()
tanh_(x) = x.tanh_()
reshape_(x, shape) =
    x.set_(x.reshape(reshape_to(x, shape))) if not x.requires_grad else C.no_history('reshape_')
squeeze_(x, axis=None) = x.squeeze_() if axis is None else x.squeeze_(axes(axis))
unsqueeze_(x, axis) = [x.unsqueeze_(d) for d in ints(axis)][-1]
fill_(x, value) = x.fill_(value)
zero_(x) = x.zero_()
masked_fill_(x, mask, value) = x.masked_fill_(mask, value)
index_add_(x, index, axis, value) = x.index_add_(axis, index, value)
uniform_(x, min=-1.0, max=1.0, seed=0) = x.uniform_(min, max)
normal_(x, mean=0.0, std=1.0) = x.normal_(mean, std)
copy_(x, other, blocking=True) = x.copy_(other)
sigmoid(x) = J.sigmoid(x)
cpu(x) = x.cpu()
cuda(x, device_id=0, blocking=True) = x.cuda(device_id)
contiguous(x) = x.contiguous()
rank(x) = J.tensor(x.ndim, dtype=J.int32)
""", NAMES)

FUNCTIONS: dict[str, Callable] = CREATION | MATH | LOGIC | SEARCH | LINALG | MANIPULATION

# Functions that Paddle has as such only, though their first argument is a tensor.
_FUNCTIONS_ONLY = frozenset("""
    to_tensor shape is_tensor meshgrid einsum add_n broadcast_shape stack concat hstack vstack dstack
    column_stack row_stack block_diag cartesian_prod polar complex broadcast_tensors assign clone rank
    scatter_nd
""".split())
_TENSORS = frozenset("x input y arr condition sorted_sequence".split())


def _methods() -> dict[str, Callable]:
    found = dict(INPLACE)
    for name, fn in FUNCTIONS.items():
        first = next(iter(inspect.signature(fn).parameters), None)
        if first in _TENSORS and name not in _FUNCTIONS_ONLY:
            found[name] = fn
    return found


METHODS = _methods()
MISSING = frozenset("""
    DataParallel Model LazyGuard amp atleast_1d atleast_2d atleast_3d audio batch bitwise_invert
    cdist cholesky crop cumulative_trapezoid dataset device_guard disable_signal_handler
    distribution distributed dsplit enable_static fft flops frexp gammainc gammaln hapi hsplit hub incubate
    inference inverse jit lu metric multigammaln multiplex onnx poisson pdist profiler
    reduce_as renorm shard_index signal slice_scatter sparse static stft summary sysconfig
    tensor_split text
    vision vsplit
""".split())
METHODS_MISSING = frozenset("""
    cholesky cholesky_solve cond corrcoef cov eig eigvals eigvalsh exponential_ gammainc gammaln inverse
    lstsq lu lu_unpack matrix_power multiplex pinv put_along_axis_ qr reverse shard_index solve stft
    strided_slice_ svd tensor_split to_dense to_sparse_coo triangular_solve unflatten values
""".split())

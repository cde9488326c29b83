"""Each family of primitives on edge values and all dtypes, against XLA."""

import itertools

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax

from jaxflow._interpreter import lower
from jaxflow._ops._products import product_or_zero

from .held import TOLERANCE, difference, misfit

FLOATS = {
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "float32": np.float32,
    "float64": np.float64,
}
INTS = {
    name: getattr(np, name) for name in ("int8", "int16", "int32", "int64", "uint8", "uint32", "uint64")
}
COMPLEX = {"complex64": np.complex64, "complex128": np.complex128}


def edges(dtype):
    """Values around which functions change, as one array."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        numbers = [
            0,
            1,
            2,
            3,
            7,
            8,
            31,
            63,
            100,
            info.max,
            info.max - 1,
            info.min,
            info.min + 1,
            -1,
            -2,
            -7,
            -8,
        ]
        return np.array([n for n in numbers if info.min <= n <= info.max], dtype)
    if dtype.kind == "c":
        parts = [0.0, -0.0, 1.0, -1.0, 0.5, -2.25, 3.7]
        return np.array([complex(a, b) for a, b in itertools.product(parts, parts)], dtype)
    info = ml_dtypes.finfo(dtype)
    numbers = [
        0.0,
        -0.0,
        0.25,
        0.5,
        1.0,
        1.5,
        2.0,
        2.5,
        3.5,
        3.7,
        5.3,
        9.9,
        40.0,
        88.0,
        1e3,
        3e4,
        np.inf,
        np.nan,
        float(info.max),
        float(info.tiny) * 4,
    ]
    return np.array(numbers + [-n for n in numbers]).astype(dtype)


def pairs(dtype, other=None):
    """All pairs of edge values."""
    a, b = edges(dtype), edges(other or dtype)
    return np.repeat(a, len(b)), np.tile(b, len(a))


def differences(functions, *args):
    """By name what of XLA's results the interpreter does not meet; compiled as one program.

    Where XLA's own formula is the less exact one, by its result in float64, it need not be met (``exp2`` of
    halves, ``sinh`` and ``cosh`` of large numbers).
    """
    names = list(functions)
    closed = jax.make_jaxpr(lambda *args: [functions[n](*args) for n in names])(*args)
    got = lower(closed)(*args)
    want = jax.jit(lambda *args: [functions[n](*args) for n in names])(*args)
    found = {n: misfit(g, w) for n, g, w in zip(names, got, want)}
    apart = [n for n in found if found[n]]
    if apart and args[0].dtype.kind not in "biuc" and args[0].dtype.itemsize < 8:
        wide = [x.astype(np.float64) for x in args]
        exact = dict(zip(apart, jax.jit(lambda *args: [functions[n](*args) for n in apart])(*wide)))
        for n, g, w in zip(names, got, want):
            if n in exact and no_further(g, np.asarray(w), np.asarray(exact[n])):
                found[n] = None
    return {n: f for n, f in found.items() if f}


def no_further(got, want, exact):
    """Whether ``got`` is near ``want``, or no further off from ``exact``, everywhere."""
    if got.dtype.kind in "biu":
        return False
    exact = exact.astype(np.float64)
    with np.errstate(all="ignore"):
        off, theirs = (np.abs(x.astype(np.float64) - exact) for x in (got, want))
    relative, absolute = TOLERANCE[got.dtype.name]
    same = np.isclose(got.astype(np.float64), want.astype(np.float64), relative, absolute, equal_nan=True)
    return bool(np.all(same | (off <= theirs)))


UNARY = {
    name: getattr(lax, name)
    for name in """
    neg sign floor ceil is_finite exp exp2 log log1p expm1 tanh logistic sin cos tan asin acos atan sinh cosh
    asinh acosh atanh abs sqrt rsqrt cbrt square erf erfc erf_inv lgamma digamma bessel_i0e bessel_i1e
""".split()
}
UNARY.update(
    {
        "round": lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
        "round away": lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
        **{f"power {n}": lambda x, n=n: lax.integer_pow(x, n) for n in (-3, -1, 0, 1, 2, 3, 4, 7)},
        "cumsum": lambda x: lax.cumsum(x[2:16]),
        "cummax": lax.cummax,
        "cummin": lambda x: lax.cummin(x, reverse=True),
        "argmax": lambda x: lax.argmax(x, 0, np.int32),
        "argmin": lambda x: lax.argmin(x, 0, np.int64),
        "argmax of numbers": lambda x: lax.argmax(jnp.concatenate([x[:16], x[:16]]), 0, np.int32),
        "max": lambda x: x[:17].max(),
        "min of all": lambda x: x.min(),
        "sort": lax.sort,
        "sort by": lambda x: lax.sort((x, jnp.arange(len(x))), num_keys=1)[1],
        "top": lambda x: lax.top_k(x[:16], 5)[1],
        "clamp": lambda x: lax.clamp(x[2], x, x[6]),
        "reduce precision": lambda x: lax.reduce_precision(x, 5, 10),
    }
)
CONVERSIONS = {
    name: lambda x, t=t: lax.convert_element_type(x, t)
    for name, t in {**FLOATS, **INTS, "bool": np.bool_}.items()
}


@pytest.mark.parametrize("dtype", FLOATS)
def test_functions_of_a_float(dtype):
    assert differences({**UNARY, **CONVERSIONS}, edges(FLOATS[dtype])) == {}


BINARY = {
    name: getattr(lax, name) for name in "add sub mul div rem max min pow atan2 eq ne lt le gt ge".split()
}


@pytest.mark.parametrize("dtype", FLOATS)
def test_functions_of_two_floats(dtype):
    functions = {
        **BINARY,
        "select": lambda x, y: lax.select(x < y, x, y),
        "integer exponent": lambda x, y: lax.pow(x, jnp.arange(len(x), dtype=np.int32) % 7 - 3),
        "product_or_zero": lambda x, y: product_or_zero(x, y, x < y),
    }
    if dtype != "bfloat16":
        functions["nextafter"] = lax.nextafter
    assert differences(functions, *pairs(FLOATS[dtype])) == {}


INT_UNARY = {
    name: getattr(lax, name) for name in "neg sign abs population_count clz bitwise_not square".split()
}
INT_UNARY.update(
    {
        **{f"power {n}": lambda x, n=n: lax.integer_pow(x, n) for n in (0, 1, 3, 5)},
        "sum": lambda x: lax.reduce(x, x.dtype.type(0), lax.add, (0,)),
        "prod": lax.cumprod,
        "cumsum": lax.cumsum,
        "max": lambda x: x.max(),
        "xor": lambda x: lax.reduce_xor(x, (0,)),
        "and": lambda x: lax.reduce_and(x, (0,)),
        "or": lambda x: lax.reduce_or(x, (0,)),
        "sort": lax.sort,
        "argmax": lambda x: lax.argmax(x, 0, np.int32),
        "top": lambda x: lax.top_k(x, 3)[0],
        "dot": lambda x: lax.dot(x, x),
    }
)
INT_BINARY = {
    name: getattr(lax, name)
    for name in """
    add sub mul div rem max min eq ne lt le gt ge bitwise_and bitwise_or bitwise_xor shift_left
    shift_right_logical
    shift_right_arithmetic
""".split()
}
INT_BINARY.update(
    {
        "by a constant": lambda x, y: lax.div(x, x.dtype.type(3)),
        "rest by a constant": lambda x, y: lax.rem(x, x.dtype.type(5)),
    }
)


@pytest.mark.parametrize("dtype", INTS)
def test_integers(dtype):
    unary = {n: f for n, f in INT_UNARY.items() if not (dtype.startswith("u") and n == "abs")}
    assert differences({**unary, **CONVERSIONS}, edges(INTS[dtype])) == {}
    assert differences(INT_BINARY, *pairs(INTS[dtype])) == {}


def test_booleans():
    x, y = pairs(np.bool_)
    names = "bitwise_and bitwise_or bitwise_xor eq ne max min".split()
    functions = {name: getattr(lax, name) for name in names}
    functions.update(
        {
            "not": lambda x, y: lax.bitwise_not(x),
            "all": lambda x, y: x.all(),
            "any": lambda x, y: y.any(),
            "sort": lambda x, y: lax.sort(y),
            "argmax": lambda x, y: lax.argmax(y, 0, np.int32),
        }
    )
    functions.update({f"to {n}": lambda x, y, f=f: f(x) for n, f in CONVERSIONS.items()})
    assert differences(functions, x, y) == {}


@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex(dtype):
    x, y = pairs(COMPLEX[dtype])
    names = "neg sign exp log log1p expm1 tanh sin cos asinh sqrt rsqrt real imag conj abs square logistic"
    functions = {name: lambda x, y, name=name: getattr(lax, name)(x) for name in names.split()}
    functions.update({name: getattr(lax, name) for name in "add sub mul div pow eq ne".split()})
    functions.update(
        {
            "cumsum": lambda x, y: lax.cumsum(x[:40]),
            "join": lambda x, y: lax.complex(x.real, y.imag),
            "sum": lambda x, y: x.sum(),
            "cube": lambda x, y: lax.integer_pow(x, 3),
            "to float": lambda x, y: x.real.astype(np.float32),
        }
    )
    assert differences(functions, x, y) == {}


# ----- shapes, indices, windows -------------------------------------------------------------------

X = np.arange(60, dtype=np.float32).reshape(3, 4, 5)

SHAPES = {
    "pads": lambda x: [
        lax.pad(x[0], np.float32(7), c)
        for c in (
            [(1, 2, 0), (0, 0, 1)],
            [(-1, 0, 0), (0, -2, 0)],
            [(-2, 3, 2), (1, -4, 1)],
            [(-3, 0, 1), (-5, 0, 0)],
        )
    ],
    "transposed": lambda x: lax.transpose(x, (2, 0, 1)),
    "reversed": lambda x: lax.rev(x, (0, 2)),
    "joined": lambda x: jnp.concatenate([x, x[:, :, :2]], 2),
    "stacked": lambda x: jnp.stack([x, x + 1], 1),
    "sliced": lambda x: lax.slice(x, (1, 0, 1), (3, 4, 5), (1, 2, 3)),
    "split": lambda x: jnp.split(x, 2, 1),
    "window at": lambda x: [
        lax.dynamic_slice(x, (i, 1, j), (2, 2, 2)) for i, j in ((-5, 1), (0, 9), (1, 3))
    ],
    "window set": lambda x: [
        lax.dynamic_update_slice(x, x[:2, :2, :2] - 9, (i, 1, j)) for i, j in ((-5, 1), (0, 9), (1, 3))
    ],
    "bits": lambda x: [lax.bitcast_convert_type(x, t) for t in (np.int32, np.uint8)],
    "bits joined": lambda x: lax.bitcast_convert_type(x[:, :, :4].reshape(3, 8, 2), np.float64),
    "reduced": lambda x: [
        x.sum((0, 2)),
        x.prod(1),
        x.max((1, 2)),
        x.min(0),
        (x > 3).all(1),
        (x > 57).any((0, 1)),
    ],
    "nothing reduced": lambda x: [
        x[:0].max(0, initial=-1),
        x[:0].sum(0),
        lax.reduce_max(x[:, :0], (1,)),
        lax.reduce_min(x[:, :0].astype(np.int32), (1,)),
    ],
    "numbered": lambda x: (
        lax.broadcasted_iota(np.int16, (2, 3), 1) + lax.broadcasted_iota(np.int16, (2, 3), 0)
    ),
    "running": lambda x: [
        lax.cumsum(x, 1, True),
        lax.cumprod(x / 9, 2),
        lax.cummax(-x, 0),
        lax.cumlogsumexp(x, 1),
    ],
    "sorted": lambda x: [lax.sort((x % 3, x % 2, x), dimension=1, num_keys=2), lax.sort(-x, dimension=0)],
    "spectra": lambda x: [jnp.fft.fft(x), jnp.fft.rfft2(x), jnp.fft.irfft(x, 6), jnp.fft.ifftn(x)],
    "products": lambda x: [
        jnp.einsum(e, x, x)
        for e in (
            "abc,abd->acd",
            "abc,adc->abd",
            "abc,dbc->ad",
            "abc,ade->bcde",
            "abc,abc->",
            "abc,abc->b",
            "abc,dec->abde",
        )
    ],
    "few rows": lambda x: [lax.dot_general(x[0, :, :], jnp.tile(x[1], (8, 1)), (((1,), (1,)), ((), ())))],
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name):
    assert difference(SHAPES[name], X) is None


INDICES = np.array([[0, 1], [2, 3], [-1, 0], [3, 1], [2, 9], [-7, 2], [1, 1], [1, 1]])
MODES = ("clip", "fill", "promise_in_bounds")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "dtype", [np.float32, np.int32, np.uint8, np.bool_, ml_dtypes.bfloat16, np.complex64]
)
def test_reading_at_indices(mode, dtype):
    """Rows, elements, windows, batches; out of range too."""

    def function(x, at):
        row, both = at[:, 0], at
        wide = lax.GatherDimensionNumbers(
            offset_dims=(1, 2), collapsed_slice_dims=(2,), start_index_map=(0, 1)
        )
        batched = lax.GatherDimensionNumbers(
            offset_dims=(1,),
            collapsed_slice_dims=(1,),
            start_index_map=(1,),
            operand_batching_dims=(0,),
            start_indices_batching_dims=(0,),
        )
        return [
            x.at[row].get(mode=mode),
            x.at[:, row].get(mode=mode),
            x.at[row, both[:, 1]].get(mode=mode),
            x.at[:, row, both[:, 1]].get(mode=mode),
            x.at[row.reshape(2, 4)].get(mode=mode),
            x.at[row, :, both[:, 1]].get(mode=mode),
            lax.gather(x, both, wide, (2, 3, 1), mode=mode),
            lax.gather(x, at[:3, :1], batched, (1, 1, 5), mode=mode),
            jnp.take_along_axis(x, jnp.abs(at[:3, None, :]) % 5, 2),
        ]

    assert difference(function, (X % 7).astype(dtype), INDICES) is None


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", [np.float32, np.int32, ml_dtypes.bfloat16, np.complex64])
def test_writing_at_indices(mode, dtype):
    """Sets, sums, products, extremes of rows, elements and windows; repeated, and out of range."""

    def function(x, at):
        row, col = at[:, 0], at[:, 1]
        found = [
            x.at[row].set(x[:1] * 2, mode=mode),
            x.at[row, col].add(x[0, :2, 0].repeat(4)[:, None], mode=mode),
            x.at[:, row].add(x[:, :1] + 1, mode=mode),
            x.at[row].add(x[0], mode=mode),
            x.at[row, :, col].multiply(x[0, :2, 1].repeat(4)[:, None], mode=mode),
            x.at[jnp.array([0, 2])].set(x[:2] - 3, mode=mode, unique_indices=True),
        ]
        if not jnp.issubdtype(x.dtype, jnp.complexfloating):
            found += [x.at[row].max(x[:1] * 2, mode=mode), x.at[row, col].min(x[:1, 0] - 2, mode=mode)]
        wide = lax.ScatterDimensionNumbers(
            update_window_dims=(1, 2), inserted_window_dims=(2,), scatter_dims_to_operand_dims=(0, 1)
        )
        updates = jnp.broadcast_to(x[0, 0, 0] + 1, (len(at), 2, 3))
        return [*found, lax.scatter_add(x, at, updates, wide, mode=mode)]

    at = INDICES if mode != "promise_in_bounds" else np.abs(INDICES) % 3
    assert difference(function, (X % 7 + 1).astype(dtype), at) is None


def conv(x, w, strides=(1, 1), padding=((0, 0), (0, 0)), spec=("NCHW", "OIHW", "NCHW"), **more):
    return lax.conv_general_dilated(x, w, strides, padding, dimension_numbers=spec, **more)


IMAGE = np.random.default_rng(0).standard_normal((4, 6, 7, 8)).astype(np.float32)
KERNEL = np.random.default_rng(1).standard_normal((4, 6, 3, 2)).astype(np.float32)

WINDOWS = {
    "plain": conv,
    "strided": lambda x, w: conv(x, w, (2, 3), ((1, 2), (0, 1))),
    "dilated": lambda x, w: conv(
        x, w, lhs_dilation=(2, 1), rhs_dilation=(1, 3), padding=((3, -1), (1, 1))
    ),
    "cropped": lambda x, w: conv(x, w, padding=((-1, -1), (2, -1))),
    "groups": lambda x, w: conv(x, w[:, :3], feature_group_count=2),
    "depthwise": lambda x, w: conv(
        x, jnp.concatenate([w[:, :1]] * 3), (2, 1), feature_group_count=6, rhs_dilation=(1, 2)
    ),
    "batch groups": lambda x, w: conv(x, w, batch_group_count=2),
    "one by one": lambda x, w: conv(x, w[:, :, :1, :1], (2, 2)),
    "channels last": lambda x, w: conv(
        x.transpose(0, 2, 3, 1),
        w.transpose(2, 3, 1, 0),
        (1, 2),
        ((1, 1), (0, 0)),
        ("NHWC", "HWIO", "NHWC"),
    ),
    "other layouts": lambda x, w: conv(
        x.transpose(1, 2, 3, 0),
        w.transpose(1, 2, 3, 0),
        (1, 1),
        ((1, 1), (1, 1)),
        ("CHWN", "IHWO", "CNHW"),
    ),
    "one axis": lambda x, w: conv(x[:, :, 0], w[:, :, 0], (2,), ((1, 0),), ("NCH", "OIH", "NCH")),
    "halves": lambda x, w: conv(x.astype(jnp.bfloat16), w.astype(jnp.bfloat16)),
    "pools": lambda x, w: [
        lax.reduce_window(
            x,
            init,
            combine,
            (1, 1, 3, 2),
            (1, 1, 2, 2),
            [(0, 0), (0, 0), (1, 1), (0, 1)],
            base_dilation=base,
            window_dilation=(1, 1, 1, 2),
        )
        for init, combine in ((0.0, lax.add), (-np.inf, lax.max), (np.inf, lax.min))
        for base in ((1, 1, 1, 1), (1, 1, 2, 1))
    ],
    "pool's gradient": lambda x, w: jax.grad(
        lambda x: lax.reduce_window(x, -np.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID").sum()
    )(x),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_windows(name):
    assert difference(WINDOWS[name], IMAGE, KERNEL) is None


# ----- loops, branches, random numbers ------------------------------------------------------------


def walk(x, n):
    """Every kind of control flow, nested."""
    swept, ys = lax.scan(lambda c, a: (c * 0.5 + a, (c, a.sum())), x[0], x)
    back = lax.scan(lambda c, a: (c + a, c * a), x[0], x, reverse=True)
    counted = lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * 1.5), (0, x))
    branches = [
        lambda a: a + 1,
        lambda a: a * lax.cond(n > 2, lambda: 3.0, lambda: 4.0).astype(a.dtype),
        jnp.sin,
    ]
    chosen = [lax.switch(i, branches, x) for i in (n - 9, n - 2, n + 4)]
    associative = lax.associative_scan(jnp.maximum, x, axis=1)
    return (
        swept,
        ys,
        back,
        counted,
        chosen,
        associative,
        lax.fori_loop(0, n, lambda i, a: a.at[i].add(i), x[0, 0]),
    )


def test_control_flow():
    assert difference(walk, X / 60, np.int64(3)) is None


def draws(seed):
    """Random bits of all widths, and what is made of them."""
    key = jax.random.key(seed)
    a, b = jax.random.split(key)
    more = jax.random.split(jax.random.fold_in(b, 7), (2, 3))
    return [
        *(jax.random.bits(a, (5, 3), t) for t in (np.uint8, np.uint16, np.uint32, np.uint64)),
        jax.random.uniform(b, (4,)),
        jax.random.normal(more[1, 2], (3, 3), np.float32),
        jax.random.randint(a, (6,), -5, 50),
        jax.random.permutation(b, 11),
        jax.random.bernoulli(a, 0.3, (9,)),
        jax.random.key_data(more),
        jax.random.categorical(key, jnp.zeros((4, 5), np.float32)),
        jax.vmap(lambda k: jax.random.uniform(k, (2,)))(more[0]),
    ]


@pytest.mark.parametrize("seed", [0, 123456789012345, -1])
def test_random_numbers_are_the_same(seed):
    assert difference(draws, np.int64(seed)) is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_choosing_between_many_numbers_and_zero(dtype):
    x = np.concatenate([np.arange(-4096, 4096).astype(dtype), edges(dtype)])
    functions = {
        "positive": lambda x: jnp.where(x > 0, x, dtype(0)),
        "others": lambda x: jnp.where(x > 0, dtype(0), x),
        "a row": lambda x: jnp.where((x > 0).reshape(4, -1), x.reshape(4, -1)[:1], dtype(0)),
        "minus zero": lambda x: jnp.where(x > 0, x, -dtype(0)),
        "one mask": lambda x: jnp.where((x > 0).reshape(4, -1)[:, :1], x.reshape(4, -1), dtype(0)),
        "one answer": lambda x: jnp.where(x[0] > 0, x, dtype(0)),
        "twice zero": lambda x: jnp.where(x > 0, dtype(0), jnp.zeros_like(x)),
    }
    x = x[: len(x) // 4 * 4]
    assert differences(functions, x) == {}
    run = lower(jax.make_jaxpr(functions["minus zero"])(x))
    np.testing.assert_array_equal(np.signbit(run(x)[0]), np.signbit(np.where(x > 0, x, -dtype(0))))

"""The text of seeded random tensors, compared with PyTorch's character for character."""

import contextlib

import jax.numpy as jnp
import numpy as np
import pytest
import torch

import jaxflow
from jaxflow._core import dtype as dtypes
from jaxflow._core import printing

TYPES = sorted({d.name for d in dtypes.ALL.values()})
DEFAULTS = ["float32", "float64", "bfloat16", "float16"]
SPECIAL = [0.0, -0.0, np.nan, np.inf, -np.inf]
LENGTHS = [0, 1, 1, 2, 3, 4, 5, 7, 12, 40]
CHOICES = {
    "precision": [0, 1, 2, 4, 8],
    "threshold": [0, 5, 50, 1000],
    "edgeitems": [0, 1, 2, 3, 5],
    "linewidth": [0, 10, 40, 80, 200],
    "profile": ["default", "short", "full"],
    "sci_mode": [None, True, False],
}
CASES_OF_A_TYPE = 300


def pick(rng, values):
    return values[rng.integers(len(values))]


def random_shape(rng):
    rank = pick(rng, [0, 1, 1, 2, 2, 3, 4])
    shape = [pick(rng, LENGTHS) for _ in range(rank)]
    if 0 < rank < 3 and rng.random() < 0.2:
        shape[rng.integers(rank)] = pick(rng, [150, 1300])
    return tuple(shape) if np.prod(shape) < 20000 else shape[-1:]


def random_reals(rng, shape):
    """Numbers of one magnitude, of many, or integral, with zeros, infinities and nans strewn in."""
    values = np.asarray(rng.standard_normal(shape)) * 10.0 ** rng.integers(-6, 7)
    style = pick(rng, ["plain", "plain", "integral", "small integral", "spread"])
    if style == "integral":
        values = np.round(values)
    elif style == "small integral":
        values = np.round(rng.standard_normal(shape) * 5)
    elif style == "spread":
        values = values * 10.0 ** rng.integers(-5, 6, shape)
    values = np.asarray(values)
    if rng.random() < 0.3:
        for special in SPECIAL:
            values = np.where(rng.random(shape) < pick(rng, [0, 0, 0.2]), special, values)
    return values


def random_array(rng, dtype):
    shape = random_shape(rng)
    values = random_reals(rng, shape)
    if dtype.is_complex:
        values = np.stack([values, random_reals(rng, shape)], -1).view(np.complex128)[..., 0]
    elif not dtype.is_floating_point:
        values = np.nan_to_num(values, posinf=5, neginf=3)
        values = values if dtype.is_signed else np.abs(values)
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(dtype.np)


def to_torch(array, dtype):
    """The same bits as a torch tensor; NumPy has no types of its own for the short floats."""
    bits = array.view({1: "u1", 2: "u2"}[dtype.itemsize]) if dtype.np.num >= 24 else array
    return torch.from_numpy(bits.copy()).view(getattr(torch, dtype.name))


def random_options(rng):
    if rng.random() < 0.5:
        return {}
    return {name: pick(rng, values) for name, values in CHOICES.items() if rng.random() < 0.4}


@contextlib.contextmanager
def settings(options, default):
    for T in (torch, jaxflow):
        T.set_printoptions(**options)
        T.set_default_dtype(getattr(T, default))
    try:
        yield
    finally:
        for T in (torch, jaxflow):
            T.set_printoptions(profile="default")
            T.set_default_dtype(T.float32)


@pytest.mark.parametrize("name", TYPES)
def test_random_arrays(name):
    dtype = dtypes.ALL[name]
    rng = np.random.default_rng(TYPES.index(name))
    for _ in range(CASES_OF_A_TYPE):
        array = random_array(rng, dtype)
        options = random_options(rng)
        requires_grad = bool(rng.random() < 0.2) and dtype.category >= dtypes.FLOATING
        with settings(options, pick(rng, DEFAULTS) if rng.random() < 0.3 else "float32"):
            expected = repr(to_torch(array, dtype).requires_grad_(requires_grad))
            actual = printing.tensor_repr(array, dtype, requires_grad=requires_grad)
        assert actual == expected, (array.shape, options)


@pytest.mark.parametrize("name", ["float32", "bfloat16", "int64", "complex64", "float8_e5m2"])
def test_jax_arrays_are_summarised_alike(name):
    dtype = dtypes.ALL[name]
    rng = np.random.default_rng(0)
    for shape in [(1001,), (30, 40), (4, 300), (11, 10, 10), (2, 3, 4, 50)]:
        array = rng.standard_normal(shape).astype(dtype.np)
        expected = repr(to_torch(array, dtype))
        assert printing.tensor_repr(jnp.asarray(array), dtype) == expected


@pytest.mark.parametrize("name", TYPES)
def test_random_tensors(name, executor):
    """The same through `jaxflow.Tensor`: what a print of a tensor just computed shows."""
    dtype = dtypes.ALL[name]
    rng = np.random.default_rng(1000 + TYPES.index(name))
    for _ in range(20):
        array = random_array(rng, dtype)
        options = random_options(rng)
        with settings(options, "float32"):
            expected = str(to_torch(array, dtype))
            actual = str(jaxflow.tensor(array))
        assert actual == expected, (array.shape, options)


def doubled(T, x):
    """Twice ``x`` by a Function, whose node has a name of its own."""

    class Twice(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    return Twice.apply(x)


def leaf(T, *shape):
    return T.ones(*shape, requires_grad=True)


def written_view(T):
    base = leaf(T, 3) * 2
    view = base[1:]
    base.mul_(3)
    return [base, view]


def unrecorded(T):
    with T.no_grad():
        return leaf(T, 2) * 2


TEXTS = {
    "leaf": lambda T: leaf(T, 2),
    "result": lambda T: leaf(T, 2) * 2,
    "long result": lambda T: leaf(T, 12) * 2.5,
    "result of another type": lambda T: leaf(T, 2).double() + 1,
    "reduction": lambda T: leaf(T, 2, 3).sum(),
    "custom function": lambda T: doubled(T, leaf(T, 2)),
    "several outputs": lambda T: (leaf(T, 2) * 2).unbind(),
    "view": lambda T: leaf(T, 2, 3).t()[1:],
    "written view": written_view,
    "detached": lambda T: (leaf(T, 2) * 2).detach(),
    "no grad": unrecorded,
    "tensors in containers": lambda T: {"a": [T.arange(3), T.tensor(1.5)]},
    "conjugate": lambda T: T.tensor([1 + 2j, -1.5j]).conj(),
    "transposed": lambda T: T.arange(2000).reshape(40, 50).t(),
    "expanded": lambda T: T.tensor([1.5]).expand(3, 4),
    "empty": lambda T: [T.empty(0), T.empty(2, 0), T.empty(0, dtype=T.int64)],
    "meta": lambda T: T.empty(2, 3, device="meta", dtype=T.float16),
    "formatted": lambda T: f"{T.tensor(2.5):.3f} {T.tensor(7):>4} {T.tensor(True)} {T.ones(2)}",
    "formatted leaf": lambda T: f"{leaf(T, ()):.1f} {leaf(T, ())}",
    "formatted half": lambda T: f"{T.tensor(2.3, dtype=T.bfloat16)} {T.tensor(1 + 2j):.2f}",
    "percent": lambda T: "%.2f %s %d" % (T.tensor(2.5), T.ones(2), T.tensor(3)),  # noqa: UP031
    "own contents": lambda T: T.ones(2).__repr__(tensor_contents="..."),
    "shape": lambda T: [T.ones(2, 3).shape, T.ones(()).size(), T.ones(1).dtype, T.ones(1).device],
    "parameter": lambda T: T.nn.Parameter(T.ones(2, 3)),
    "parameter of no dimensions": lambda T: f"{T.nn.Parameter(T.tensor(2.5))}",
    "frozen parameter": lambda T: T.nn.Parameter(T.ones(2), requires_grad=False),
    "parameter of a subclass": lambda T: type("Mine", (T.nn.Parameter,), {})(T.ones(2)),
    "linear": lambda T: [*T.nn.Linear(2, 1).state_dict(), T.nn.Linear(2, 1)],
}


@pytest.mark.parametrize("make", TEXTS.values(), ids=TEXTS)
def test_text(make, executor):
    assert repr(make(jaxflow)) == repr(make(torch))


@pytest.mark.parametrize("spec", ["d", ".2f", "x", "s", ">8"])
@pytest.mark.parametrize("values", [2.5, 3, True, 1 + 2j, [1.0, 2.0]])
def test_format(values, spec, executor):
    def answer(T):
        try:
            return format(T.tensor(values), spec)
        except (TypeError, ValueError) as error:
            return repr(error)

    assert answer(jaxflow) == answer(torch)

"""Random numbers whose distributions are given by tensors, element by element or row by row."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from jaxflow._api.creation.creation import SIZED, dtype_of, finish, size_of
from jaxflow._api.creation.placing import device_of, need_memory
from jaxflow._api.forms import given_out, invalid_combination, refuse_recorded_into
from jaxflow._core import dtype as dtypes
from jaxflow._core.indexing import refuse_outside
from jaxflow._core.layout import contiguous_format, strided
from jaxflow._core.tensor import Tensor
from jaxflow._core.typeinfo import finfo
from jaxflow._dispatch.dispatch import apply
from jaxflow._dispatch.not_derived import without_derivative
from jaxflow._plans.op import OPS
from jaxflow._publish.composite import composite
from jaxflow._publish.value_checks import Watch
from jaxflow._writes.inplace import check_overlaps

from .drawing import drawn, integer, need_float, shown, traced_back


def _refuse(t: Tensor, low: float, high: float, text: str) -> Watch:
    """Ask that all elements of ``t`` lie within two bounds; RuntimeError now or when they are known."""
    watch = Watch()
    watch.within((t,), ((low, high),), lambda value, k: RuntimeError(text))
    return watch


# -------------------------------------------------------------------------------------------- normal


def _check_deviation(std: float) -> None:
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {shown(std)}")


@composite("function")
def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, generator: Any = None,
           out: Tensor | None = None, dtype: Any = None, layout: Any = strided, device: Any = None,
           pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """Normal numbers: mean and std are tensors that broadcast together, or numbers with a ``size``.

    ``mean + std * z``, where each ``z`` is drawn from the normal distribution of mean 0 and variance 1.

    Args:
        mean: a floating point or complex tensor, or a number.
        std: a tensor, or a number; the standard deviation, not negative.
        size: the shape of the result, if neither of the two is a tensor, and only then.
        generator: source of randomness; default the default generator.
        out: where to put the result.
        dtype: with ``size``: the result's, floating point or complex; None for the default.
        layout: ``torch.strided``; there is no other one.
        device: with ``size``: where the result lies.
        pin_memory: with ``size``: refused where there is no accelerator, else of no effect.
        requires_grad: with ``size``: whether the result collects gradients.

    Returns:
        A tensor of the shape ``size``, or of the shape that ``mean`` and ``std`` broadcast to, in the dtype
        of the first tensor among them. No gradient passes to ``mean`` and ``std``: theirs are zeros.

    Raises:
        RuntimeError: for a negative ``std``.
        NotImplementedError: for tensors of integers.
        TypeError: for two numbers without ``size``, and for tensors with one.

    Example:
        >>> torch.normal(torch.tensor([1.0, 2.0]), 0.0)
        tensor([1., 2.])
        >>> torch.normal(torch.zeros(2, 1), torch.ones(3)).shape
        torch.Size([2, 3])
        >>> torch.normal(0.0, 1.0, (4,), dtype=torch.float64).dtype
        torch.float64
    """
    tensors = [a for a in (mean, std) if isinstance(a, Tensor)]
    if bool(tensors) is (size is not None) or not all(
            isinstance(a, (Tensor, float, int)) for a in (mean, std)):
        raise invalid_combination("normal", (mean, std) if size is None else (mean, std, size), {})
    if tensors:
        asked = {"dtype": dtype, "device": device, "pin_memory": pin_memory, "requires_grad": requires_grad}
        asked = {name: value for name, value in asked.items() if value is not None and value is not False}
        if asked or layout is not strided:
            raise invalid_combination("normal", (mean, std), asked or {"layout": layout})
    if tensors:
        refuse_recorded_into(out, "normal", mean, std)
    if not isinstance(std, Tensor):
        _check_deviation(std)
    if not tensors:
        kind = dtype_of(dtype, "normal", None if out is None else out._aval.dtype)
        need_float("normal_kernel_cpu", kind)
        need_memory("normal", layout, pin_memory, device, out)
        shape = size_of("normal", (size,))
        where = device_of(device)
        t = drawn("_normal", (float(mean), float(std)), (shape, kind, where), generator, where)
        return finish(t, out, requires_grad, "normal")
    for number in (*tensors, *(() if out is None else (out,))):
        need_float("normal_kernel_cpu", number._aval.dtype)
    numbers = [a.detach() if isinstance(a, Tensor) else a for a in (mean, std)]
    t = drawn("_normal_of", numbers, (tensors[0]._aval.dtype,), generator, tensors[0]._aval.device)
    if isinstance(std, Tensor) and not std._aval.dtype.is_complex:
        t = _refuse(numbers[1], 0.0, math.inf, "normal expects all elements of std >= 0.0").over(t)
    if out is not None:
        check_overlaps(out, (mean, std), t._aval.shape)
    node = 3 if len(tensors) == 2 else 1 if isinstance(mean, Tensor) else 2
    return given_out("normal", out, traced_back(t, f"NormalBackward{node}", mean, std))


# ------------------------------------------------------------------------------------ coins and counts

_NO_CHANCE = ("Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be "
              "improved?  If so, please report an enhancement request to PyTorch.)")


def tossed(
    p: Tensor, dtype: dtypes.dtype, generator: Any, strides: tuple[int, ...] | None = None
) -> Tensor:
    """1 with the chances ``p``, else 0, in ``dtype``. RuntimeError for what is no chance."""
    p = p.detach()
    watch = _refuse(p, 0.0, 1.0, _NO_CHANCE)  # before anything is drawn
    return watch.over(drawn("_bernoulli", (p,), (dtype,), generator, p._aval.device, strides))


@composite()
def bernoulli(input: Tensor, p: float | None = None, *, generator: Any = None,
              out: Tensor | None = None) -> Tensor:
    """1 with the probability that each element (or ``p``) says, else 0, in the dtype of ``input``.

    Args:
        input: probabilities from 0 to 1, floating point, of any shape; with ``p`` of any dtype, and only
            its shape and dtype count.
        p: one probability for all elements, instead of those in ``input``.
        generator: source of randomness; default the default generator.
        out: without ``p``: where to put the result, in the dtype of ``out``.

    Returns:
        A tensor of ones and zeros of the shape and dtype of ``input``.

    Raises:
        RuntimeError: for what is no probability.
        NotImplementedError: for integers, unless there is a ``p``.
        TypeError: for ``out`` together with ``p``.

    Example:
        >>> torch.bernoulli(torch.tensor([0.0, 1.0, 1.0]))
        tensor([0., 1., 1.])
        >>> torch.bernoulli(torch.tensor([5, 7]), 1.0)
        tensor([1, 1])
    """
    if p is not None:
        if not isinstance(p, (int, float)) or out is not None:
            raise invalid_combination("bernoulli", (input, p), {} if out is None else {"out": out})
        sample = input.detach().clone(memory_format=contiguous_format).bernoulli_(p, generator=generator)
        return without_derivative(sample, "aten::bernoulli", input)
    refuse_recorded_into(out, "bernoulli", input)
    need_float("bernoulli_tensor_cpu_p_", input._aval.dtype)
    need_float("bernoulli_tensor_cpu_self_", input._aval.dtype, complex_too=False)
    kind = (input if out is None else out)._aval.dtype
    t = traced_back(tossed(input, kind, generator), "BernoulliBackward0", input)
    if out is not None:
        check_overlaps(out, (input,), t._aval.shape)
    return given_out("bernoulli", out, t, rule=SIZED)


@composite("function")
def poisson(input: Tensor, generator: Any = None) -> Tensor:
    """Poisson numbers whose rates are the elements, in their dtype.

    Raises:
        RuntimeError: for negative rates.
        NotImplementedError: for integers and complex numbers.
    """
    need_float("poisson_cpu", input._aval.dtype, complex_too=False)
    rate = input.detach()
    watch = _refuse(rate, 0.0, math.inf, "invalid Poisson rate, expected rate to be non-negative")
    counts = drawn("_poisson", (rate,), (), generator, rate._aval.device)
    return traced_back(watch.over(counts), "PoissonBackward0", input)


def _need_single(kernel: str, t: Tensor) -> None:
    """Refuse what is no float32 or float64. NotImplementedError."""
    kind = t._aval.dtype
    if kind.category != dtypes.FLOATING or kind.itemsize < 4:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{kind.scalar_name}'")


@composite("function")
def _standard_gamma(input: Tensor, generator: Any = None) -> Tensor:
    """Gamma numbers of scale 1 with these shape parameters, and the derivative by them.

    Raises:
        NotImplementedError: for other dtypes than float32 and float64.
    """
    _need_single("gamma_cpu", input)
    sample = drawn("_gamma", (input.detach(),), (), generator, input._aval.device)
    return apply(OPS["_gamma_traced"], (input, sample)) if input._requires_grad else sample


@composite("function")
def _sample_dirichlet(input: Tensor, generator: Any = None) -> Tensor:
    """Rows along the last dimension that add up to 1, with these concentrations. Not differentiable.

    Raises:
        NotImplementedError: for other dtypes than float32 and float64.
    """
    _need_single("dirichlet", input)
    sample = drawn("_dirichlet", (input.detach(),), (), generator, input._aval.device)
    return without_derivative(sample, "aten::_sample_dirichlet", input)


@composite("function")
def binomial(count: Tensor, prob: Tensor, generator: Any = None) -> Tensor:
    """How many of ``count`` trials of chance ``prob`` succeed; the two broadcast. Not differentiable.

    Raises:
        ValueError: for integers.
        RuntimeError: for two different dtypes.
        NotImplementedError: for half precision.
    """
    for name, t in (("count", count), ("prob", prob)):
        if t._aval.dtype.category != dtypes.FLOATING:
            raise ValueError(
                f"binomial only supports floating-point dtypes for {name}, got: {t._aval.dtype.scalar_name}"
            )
    kind, other = count._aval.dtype, prob._aval.dtype
    if kind is not other:
        raise RuntimeError(f"Found dtype {other.scalar_name} but expected {kind.scalar_name}")
    if kind.itemsize < 4:
        raise NotImplementedError(f"\"binomial_cpu\" not implemented for '{kind.scalar_name}'")
    successes = drawn("_binomial", (count.detach(), prob.detach()), (), generator, count._aval.device)
    return without_derivative(successes, "aten::binomial", count, prob)


# --------------------------------------------------------------------------------------- multinomial

_LARGEST = 1 << 24
_BAD_WEIGHTS = "probability tensor contains either `inf`, `nan` or element < 0"
_NEGATIVE = "invalid multinomial distribution (encountering probability entry < 0)"
_ENDLESS = "invalid multinomial distribution (encountering probability entry = infinity or NaN)"
_NOTHING = "invalid multinomial distribution (sum of probabilities <= 0)"


def _check_weights(watch: Watch, weights: Tensor, replacement: bool) -> None:
    """Ask that every row of weights can be shared out; faults are looked for in PyTorch's order."""
    present = watch.known(weights)
    if present is not None and _sound(present):
        return
    limits = finfo(weights._aval.dtype)
    if replacement:
        rules = [(0.0, math.inf, _NEGATIVE), (0.0, limits.max, _ENDLESS)]
    else:
        rules = [(0.0, limits.max, _BAD_WEIGHTS)]
    sums = weights.sum(-1) if present is None else present.sum(-1)
    for low, high, text in (*rules, (limits.tiny, math.inf, _NOTHING)):
        about = sums if text is _NOTHING else weights if present is None else present
        ask = watch.within if present is None else refuse_outside
        ask([about], [(low, high)], lambda value, k, text=text: RuntimeError(text))


def _sound(weights: np.ndarray) -> bool:
    """Whether nothing is wrong with the weights; in as few steps as there can be, for loops that draw one."""
    if not weights.size:
        return True
    if not np.minimum.reduce(weights, None) >= 0:  # or nan
        return False
    with np.errstate(over="ignore"):
        sums = np.add.reduce(weights, -1)
    return bool(np.minimum.reduce(sums, None) > 0 and np.maximum.reduce(sums, None) < math.inf)


@composite()
def multinomial(input: Tensor, num_samples: int, replacement: bool = False, *,
                generator: Any = None, out: Tensor | None = None) -> Tensor:
    """Indices drawn with probability proportional to the weights in the last dimension.

    The index ``i`` of a row has the probability ``input[i] / sum(input)``. Without replacement an index
    that was drawn takes no part in the draws after it.

    Args:
        input: weights, floating point, at least 0, of shape ``(C,)`` or ``(N, C)``; they need not add up to
            1.
        num_samples: how many indices are drawn from each row.
        replacement: whether an index can be drawn more than once.
        generator: a ``torch.Generator`` (default: the default generator).
        out: an int64 tensor to write the result to.

    Returns:
        Indices, int64, of shape ``(num_samples,)`` or ``(N, num_samples)``.

    Raises:
        RuntimeError: for other than 1 or 2 dimensions, more samples than weights without replacement,
            weights that are negative, infinite or nan, and rows without any.

    Example:
        >>> torch.multinomial(torch.tensor([0.0, 3.0, 0.0]), 4, replacement=True)
        tensor([1, 1, 1, 1])
        >>> torch.multinomial(torch.ones(5), 5).sort().values  # each once
        tensor([0, 1, 2, 3, 4])
    """
    num_samples = integer("multinomial", "num_samples", 2, num_samples)
    kind, shape = input._aval.dtype, input._aval.shape
    if len(shape) not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if kind.category != dtypes.FLOATING:
        raise RuntimeError(
            f"multinomial only supports floating-point dtypes for input, got: {kind.scalar_name}"
        )
    if out is not None and out._aval.dtype is not dtypes.int64:
        raise RuntimeError(f"multinomial expects Long tensor out, got: {out._aval.dtype.scalar_name}")
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if shape[-1] > _LARGEST:
        raise RuntimeError("number of categories cannot exceed 2^24")
    if not shape[-1] and 0 not in shape[:-1]:
        raise RuntimeError(_NOTHING)
    weights, watch = input.detach(), Watch()
    _check_weights(watch, weights, replacement)
    static = num_samples, bool(replacement)
    t = watch.over(drawn("_multinomial", (weights,), static, generator, weights._aval.device))
    return given_out("multinomial", out, t, rule=SIZED)

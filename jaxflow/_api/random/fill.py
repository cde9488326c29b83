"""Random numbers written into a tensor: the methods whose names end in an underscore."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from jaxflow._api.forms import invalid_combination
from jaxflow._core import dtype as dtypes
from jaxflow._core.generator import Generator
from jaxflow._core.state import filling
from jaxflow._core.tensor import Tensor
from jaxflow._plans.op import OPS
from jaxflow._publish.composite import composite
from jaxflow._writes.inplace import apply_drawn, check_overlaps, check_recorded

from .distributions import tossed
from .drawing import check_bounds, check_range, drawn, integer, integers, need_float, shown, upper_end


def _write(self: Tensor, draws: Callable[[Any], Tensor], generator: Any, node: str) -> Tensor:
    """Write ``draws(generator)``, which is given a copy: the tensor and the generator change at once."""
    if generator is not None and not isinstance(generator, Generator):
        draws(generator)  # says what is wrong
    return apply_drawn(OPS["_drawn"], self, lambda source: (draws(source),), (node,), generator)


#: From how many numbers on a view of them is worth a kernel that others can use.
_MANY = 1 << 16


def _filled(self: Tensor, name: str, numbers: tuple, generator: Any, node: str) -> Tensor:
    """Draw at once, then write.

    This is how models are initialised. Recorded, all draws would be compiled into one program, with the
    generator's code inlined once a parameter (a 16-layer perceptron on two busy cores: 22 s): NOTE [Draws
    that fill]. In one dimension, which gives the same numbers: XLA compiles that in a fifth of the time of
    four, and one kernel serves all shapes of so many numbers.
    """
    aval = self._aval
    flat = len(aval.shape) > 2 and aval.numel >= _MANY
    size = (aval.numel,) if flat else aval.shape

    def draws(source: Any) -> Tensor:
        if source.stream == "torch":
            static = aval.shape, aval.dtype, aval.device
            return drawn(name, tuple(map(float, numbers)), static, source, aval.device, self.stride())
        with filling():
            values = drawn(name, tuple(map(float, numbers)), (size, aval.dtype, aval.device), source,
                           aval.device)
        return values.view(aval.shape) if flat else values

    return _write(self, draws, generator, node)


def _fill(method: Callable) -> Callable:
    """Publish a method that fills a tensor; it first checks that the tensor may be written to."""

    @functools.wraps(method)
    def call(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        check_recorded((self,))
        return method(self, *args, **kwargs)

    return composite("method")(call)


@_fill
def uniform_(self: Tensor, from_: float = 0, to: float = 1, *, generator: Any = None,
             **kwargs: Any) -> Tensor:
    """Fill with numbers from [from, to), evenly spread; both parts of complex ones.

    Args:
        from_: the lower bound, also accepted by the name ``from``.
        to: the upper bound; with ``to`` equal to ``from`` every element is that number.
        generator: a ``torch.Generator`` (default: the default generator).
        **kwargs: only ``from``, which Python does not allow as the name of a parameter.

    Returns:
        The tensor itself.

    Raises:
        RuntimeError: if ``from`` is larger than ``to``, or a bound is beyond what the dtype holds.
        NotImplementedError: for a tensor of integers or bools.

    Example:
        >>> x = torch.empty(1000).uniform_(-1, 1)
        >>> bool((x >= -1).all() and (x < 1).all())
        True
        >>> torch.empty(2).uniform_(3, 3)
        tensor([3., 3.])
    """
    low = kwargs.pop("from", from_)
    if kwargs:
        raise TypeError(f"uniform_() got an unexpected keyword argument '{next(iter(kwargs))}'")
    low, high = float(low), float(to)
    check_bounds(self._aval.dtype, low, high)
    return _filled(self, "_uniform", (low, high), generator, "UniformBackward0")


@_fill
def normal_(self: Tensor, mean: float = 0, std: float = 1, *, generator: Any = None) -> Tensor:
    """Fill with normal numbers.

    The real and the imaginary part of a complex number each get half of the variance ``std ** 2``.

    Args:
        mean: mean of the distribution.
        std: standard deviation, at least 0.
        generator: a ``torch.Generator`` (default: the default generator).

    Returns:
        The tensor itself.

    Raises:
        RuntimeError: if ``std`` is negative.
        NotImplementedError: for a tensor of integers or bools.

    Example:
        >>> torch.empty(3).normal_(5, 0)
        tensor([5., 5., 5.])
        >>> x = torch.zeros(2, 3)
        >>> x.normal_(generator=torch.Generator().manual_seed(7)) is x
        True
    """
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {shown(std)}")
    need_float("normal_kernel_cpu", self._aval.dtype)
    return _filled(self, "_normal", (mean, std), generator, "NormalBackward0")


@_fill
def log_normal_(self: Tensor, mean: float = 1, std: float = 2, *, generator: Any = None) -> Tensor:
    """Fill with numbers whose logarithms are normal, of that mean and deviation."""
    if std <= 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={shown(std)}")
    need_float("log_normal_cpu", self._aval.dtype, complex_too=False)
    return _filled(self, "_log_normal", (mean, std), generator, "LogNormalBackward0")


def _need_continuous(self: Tensor, distribution: str, shown_as: str) -> None:
    if self._aval.dtype.category != dtypes.FLOATING:
        raise RuntimeError(
            f"{distribution} distribution is a continuous probability distribution. dtype must be a "
            f"floating point but you specified {shown_as}"
        )


@_fill
def cauchy_(self: Tensor, median: float = 0, sigma: float = 1, *, generator: Any = None) -> Tensor:
    """Fill with Cauchy numbers around ``median``, of scale ``sigma``."""
    if sigma <= 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={shown(sigma)}")
    kind = self._aval.dtype
    parts = f"c10::complex<{kind.to_real().c_name}>" if kind.is_complex else kind.c_name
    _need_continuous(self, "Cauchy", parts)
    return _filled(self, "_cauchy", (median, sigma), generator, "CauchyBackward0")


@_fill
def exponential_(self: Tensor, lambd: float = 1, *, generator: Any = None) -> Tensor:
    """Fill with exponential numbers of rate ``lambd``; none is 0."""
    if lambd <= 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={shown(lambd)}")
    _need_continuous(self, "Exponential", self._aval.dtype.scalar_name)
    return _filled(self, "_exponential", (lambd,), generator, "ExponentialBackward0")


@_fill
def geometric_(self: Tensor, p: float, *, generator: Any = None) -> Tensor:
    """Fill with how many trials of chance ``p`` it takes to the first success: 1, 2, ..."""
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={shown(p)}")
    kind = self._aval.dtype
    if kind is dtypes.bool or kind.is_complex:
        raise NotImplementedError(f"\"geometric_cpu\" not implemented for '{kind.scalar_name}'")
    return _filled(self, "_geometric", (p,), generator, "GeometricBackward0")


@_fill
def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """Fill with 1 with probability ``p`` (a number, or a tensor element by element), else 0.

    Args:
        p: from 0 to 1: a number, or a floating point tensor that broadcasts to the shape of this one.
        generator: source of randomness; default the default generator.

    Returns:
        This tensor, of any real dtype, overwritten.

    Raises:
        RuntimeError: for what is no probability, and for a ``p`` that does not broadcast to this shape.
        NotImplementedError: for a ``p`` of integers, and for complex tensors.

    Example:
        >>> t = torch.tensor([[5, 6, 7], [8, 9, 10]])
        >>> t.bernoulli_(torch.tensor([0.0, 1.0, 1.0]))
        tensor([[0, 1, 1],
                [0, 1, 1]])
        >>> bool(torch.isin(torch.empty(100).bernoulli_(0.5), torch.tensor([0.0, 1.0])).all())
        True
    """
    aval = self._aval
    if isinstance(p, Tensor):
        need_float("bernoulli_tensor_cpu_p_", p._aval.dtype, complex_too=False)
        chances = p.expand(aval.shape)
        check_overlaps(self, (chances,), aval.shape)
        return _write(self, lambda source: tossed(chances, aval.dtype, source, self.stride()), generator,
                      "BernoulliBackward1")
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={shown(p)}")
    if aval.dtype.is_complex:
        raise NotImplementedError(
            f"\"bernoulli_scalar_cpu_\" not implemented for '{aval.dtype.scalar_name}'"
        )
    static = aval.shape, aval.dtype, aval.device

    def draws(source: Any) -> Tensor:
        return drawn("_coins", (float(p),), static, source, aval.device, self.stride())

    return _write(self, draws, generator, "BernoulliBackward2")


@_fill
def random_(self: Tensor, *args: Any, generator: Any = None, **kwargs: Any) -> Tensor:
    """Fill with integers from [from, to); ``random_(to)`` starts at 0.

    Without ``to`` up to the largest that the dtype holds (2 ** 24 for float32).
    """
    bounds = dict(zip(("to",) if len(args) == 1 else ("from", "to"), args))
    wrong = any(isinstance(b, (bool, float, str)) for b in (*args, *kwargs.values()))
    if wrong or kwargs.keys() - {"from", "to"} or kwargs.keys() & bounds.keys() or (
            "from" in kwargs and len(kwargs) + len(args) < 2):
        raise invalid_combination("random_", (*args,), kwargs)
    if len(args) > 2:
        raise TypeError(f"random_() takes 2 positional arguments but {len(args)} were given")
    bounds.update(kwargs)
    aval, low, high = self._aval, bounds.get("from", 0), bounds.get("to")
    if not bounds and aval.dtype.is_complex:
        raise NotImplementedError(f"\"random_kernel_cpu\" not implemented for '{aval.dtype.scalar_name}'")
    low = integer("random_", "from", 1, low)
    high = upper_end(aval.dtype) if high is None else integer("random_", "to", 2, high)
    if bounds:
        check_range(aval.dtype, low, high)

    def draws(source: Any) -> Tensor:
        if not bounds and source.stream == "torch":
            static = aval.shape, aval.dtype, aval.device
            return drawn("_random", (), static, source, aval.device, self.stride())
        with filling():
            return integers(aval.shape, aval.dtype, aval.device, low, high, source, self.stride())

    return _write(self, draws, generator, f"RandomBackward{2 - len(bounds)}")

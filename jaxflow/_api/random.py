"""Random tensors and random fills, in PyTorch's argument forms."""

from __future__ import annotations

from typing import Any

from jaxflow._core import dtype as dtypes
from jaxflow._core.layout import preserve_format, strided
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.bind import draw
from jaxflow._dispatch.composite import composite
from jaxflow._dispatch.door import apply
from jaxflow._dispatch.inplace import apply_inplace
from jaxflow._dispatch.op import OPS
from jaxflow._dispatch.publish import write_out
from jaxflow._dispatch.state import execution

from .construct import finished
from .creation import check_size, device_of, dtype_of, size_of


def _draw(name: str, numbers: tuple, static: tuple, generator: Any) -> Tensor:
    return apply(OPS[name], (*numbers, *draw(generator)), static)


def _done(t: Tensor, name: str, out: Tensor | None, requires_grad: bool) -> Tensor:
    if out is not None:
        return write_out(name, out, t, ())
    return finished(t, requires_grad, name)


def _sized(name: str, op_name: str, doc: str) -> None:
    """``rand`` and ``randn`` differ in the op they draw with; each has a ``_like`` form."""

    def make(*size: Any, generator: Any = None, out: Tensor | None = None, dtype: Any = None,
             layout: Any = strided, device: Any = None, requires_grad: bool = False,
             pin_memory: bool = False, **kwargs: Any) -> Tensor:
        given = "size" in kwargs
        shape = size_of(name, (kwargs.pop("size"),) if given else size, given=given)
        if kwargs:
            raise TypeError(f"{name}() got an unexpected keyword argument '{next(iter(kwargs))}'")
        check_size(name, shape)
        kind = out._aval.dtype if dtype is None and out is not None else dtype_of(dtype, name)
        _need_float(name, kind)
        t = _draw(op_name, (None, None), (shape, kind, device_of(device)), generator)
        return _done(t, name, out, requires_grad)

    def like(input: Tensor, *, generator: Any = None, dtype: Any = None, layout: Any = None,
             device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
             memory_format: Any = preserve_format) -> Tensor:
        kind = dtype_of(dtype, name + "_like", input._aval.dtype)
        _need_float(name + "_like", kind)
        where = input._aval.device if device is None else device_of(device)
        t = _draw(op_name, (None, None), (input._aval.shape, kind, where), generator)
        return _done(t, name, None, requires_grad)

    for fn, fn_name in ((make, name), (like, name + "_like")):
        fn.__name__ = fn.__qualname__ = fn_name
        fn.__doc__ = doc
        composite("function")(fn)


def _need_float(name: str, dtype: dtypes.dtype) -> None:
    if dtype.category < dtypes.FLOATING:
        kernel = {"rand": "check_uniform_bounds", "randn": "normal_kernel_cpu"}
        raise NotImplementedError(
            f"\"{kernel[name.removesuffix('_like')]}\" not implemented for '{dtype.scalar_name}'"
        )


_sized("rand", "_uniform", "Numbers from [0, 1), evenly spread.")
_sized("randn", "_normal", "Normal numbers of mean 0 and variance 1.")


def _bounds(args: tuple, high: Any) -> tuple[int, int, tuple]:
    """``randint(high, size)`` and ``randint(low, high, size)`` alike."""
    if high is not None:
        return (args[0] if args else 0), high, args[1:]
    if len(args) >= 2 and not isinstance(args[1], (tuple, list)):
        return args[0], args[1], args[2:]
    return 0, args[0], args[1:]


@composite("function")
def randint(*args: Any, generator: Any = None, out: Tensor | None = None, dtype: Any = None,
            layout: Any = strided, device: Any = None, requires_grad: bool = False,
            pin_memory: bool = False, **kwargs: Any) -> Tensor:
    """Integers from ``low`` (0) to ``high`` - 1: ``randint(high, size)``, ``randint(low, high, size)``.

    Raises:
        RuntimeError: when the range is empty.
    """
    if "low" in kwargs:
        args = (kwargs.pop("low"), *args)
    low, high, rest = _bounds(args, kwargs.pop("high", None))
    shape = size_of("randint", (kwargs.pop("size"),) if "size" in kwargs else rest)
    check_size("randint", shape)
    low, high = int(low), int(high)
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    kind = dtype_of(dtype, "randint", dtypes.int64 if out is None else out._aval.dtype)
    t = _draw("_randint", (low, high), (shape, kind, device_of(device)), generator)
    return _done(t, "randint", out, requires_grad)


@composite("function")
def randint_like(input: Tensor, *args: Any, dtype: Any = None, device: Any = None,
                 requires_grad: bool = False, memory_format: Any = preserve_format,
                 **kwargs: Any) -> Tensor:
    """``randint`` of the shape and dtype of ``input``."""
    kind = dtype_of(dtype, "randint_like", input._aval.dtype)
    where = input._aval.device if device is None else device
    return randint(*args, size=input._aval.shape, dtype=kind, device=where,
                   requires_grad=requires_grad, **kwargs)


@composite("function")
def randperm(n: int, *, generator: Any = None, out: Tensor | None = None, dtype: Any = None,
             layout: Any = strided, device: Any = None, requires_grad: bool = False,
             pin_memory: bool = False) -> Tensor:
    """The numbers 0 to ``n - 1`` in random order."""
    check_size("randperm", (n,))
    kind = dtype_of(dtype, "randperm", dtypes.int64 if out is None else out._aval.dtype)
    t = _draw("_randperm", (), (int(n), kind, device_of(device)), generator)
    return _done(t, "randperm", out, requires_grad)


@composite("function")
def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, generator: Any = None,
           out: Tensor | None = None, dtype: Any = None, device: Any = None,
           requires_grad: bool = False, layout: Any = strided, pin_memory: bool = False) -> Tensor:
    """Normal numbers: mean and std are tensors that broadcast together, or numbers with a ``size``."""
    for number in (mean, std):
        if isinstance(number, Tensor) and number._aval.dtype.category < dtypes.FLOATING:
            raise RuntimeError("normal expects floating point tensors for mean and std")
    if not isinstance(std, Tensor) and std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    if size is not None:
        kind = dtype_of(dtype, "normal")
        t = _draw("_normal", (float(mean), float(std)),
                  (size_of("normal", (size,)), kind, device_of(device)), generator)
    else:
        like = mean if isinstance(mean, Tensor) else std
        t = _draw("_normal_of", (mean, std), (like._aval.dtype,), generator)
    return _done(t, "normal", out, requires_grad)


@composite()
def bernoulli(input: Tensor, p: float | None = None, *, generator: Any = None,
              out: Tensor | None = None) -> Tensor:
    """1 with the probability that each element (or ``p``) says, else 0, in the dtype of ``input``."""
    if p is not None:
        return input.clone().bernoulli_(p, generator=generator)
    if input._aval.dtype.category < dtypes.FLOATING:
        raise NotImplementedError(
            f"\"bernoulli_tensor_cpu_p_\" not implemented for '{input._aval.dtype.scalar_name}'"
        )
    t = _draw("_bernoulli", (input,), (input._aval.dtype,), generator)
    return _done(t, "bernoulli", out, False)


@composite()
def multinomial(input: Tensor, num_samples: int, replacement: bool = False, *,
                generator: Any = None, out: Tensor | None = None) -> Tensor:
    """Indices drawn with probability proportional to the weights in the last dimension.

    Raises:
        RuntimeError: for other than 1 or 2 dimensions, or more samples than weights without
            replacement.
    """
    if input._aval.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > input._aval.shape[-1]:
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        )
    if input._aval.dtype.category != dtypes.FLOATING:
        raise RuntimeError(
            "multinomial only supports floating-point dtypes for input, got: "
            f"{input._aval.dtype.scalar_name}"
        )
    t = _draw("_multinomial", (input.detach(),), (int(num_samples), bool(replacement)), generator)
    return _done(t, "multinomial", out, False)


# ---------------------------------------------------------------------------------------- in place


def _write(self: Tensor, drawn: Tensor, name: str) -> Tensor:
    return apply_inplace(OPS["_drawn"], (self, drawn), (name.strip("_"),))


def _drawn(self: Tensor, name: str, numbers: tuple, generator: Any) -> Tensor:
    """Draw at once, then write.

    This is how models are initialised. Recorded, all draws would be compiled into one program, with the
    generator's code inlined once a parameter (a 16-layer perceptron on two busy cores: 22 s); run at
    once they share a kernel for each shape (8 s).
    """
    aval = self._aval
    with execution("eager"):
        values = _draw(name, numbers, (aval.shape, aval.dtype, aval.device), generator)
    return _write(self, values, name)


@composite("method")
def uniform_(self: Tensor, from_: float = 0, to: float = 1, *, generator: Any = None,
             **kwargs: Any) -> Tensor:
    """Fill with numbers from [from, to), evenly spread."""
    low = kwargs.pop("from", from_)
    if low > to:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={low} > to={to}"
        )
    _need_float("rand", self._aval.dtype)
    return _drawn(self, "_uniform", (float(low), float(to)), generator)


@composite("method")
def normal_(self: Tensor, mean: float = 0, std: float = 1, *, generator: Any = None) -> Tensor:
    """Fill with normal numbers."""
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    _need_float("randn", self._aval.dtype)
    return _drawn(self, "_normal", (float(mean), float(std)), generator)


@composite("method")
def exponential_(self: Tensor, lambd: float = 1, *, generator: Any = None) -> Tensor:
    """Fill with exponential numbers of rate ``lambd``."""
    if lambd <= 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    return _drawn(self, "_exponential", (float(lambd),), generator)


@composite("method")
def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """Fill with 1 with probability ``p`` (a number, or a tensor element by element), else 0."""
    if isinstance(p, Tensor):
        drawn = _draw("_bernoulli", (p.expand(self._aval.shape),), (self._aval.dtype,), generator)
        return _write(self, drawn, "bernoulli")
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    aval = self._aval
    chance = apply(OPS["_full"], (float(p),), (aval.shape, dtypes.float32, aval.device))
    drawn = _draw("_bernoulli", (chance,), (aval.dtype,), generator)
    return _write(self, drawn, "bernoulli")


@composite("method")
def random_(self: Tensor, from_: int = 0, to: int | None = None, *, generator: Any = None,
            **kwargs: Any) -> Tensor:
    """Fill with integers from [from, to); ``random_(to)`` starts at 0."""
    low = kwargs.pop("from", from_)
    if to is None and "from" not in kwargs and low:
        low, to = 0, low
    if to is None:
        dtype = self._aval.dtype
        digits = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8, "bool": 1}
        bits = digits.get(dtype.name, dtype.itemsize * 8 - dtype.is_signed)
        to = min((1 << bits) + (dtype.category == dtypes.FLOATING), (1 << 63) - 1)
    if low >= to:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={to}"
        )
    return _drawn(self, "_randint", (int(low), int(to)), generator)

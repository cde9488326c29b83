"""Activations of ``nn.functional``: their ``inplace`` argument, and what is made of other operations."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from jaxflow._api.forms import given_out, required_dim
from jaxflow._core.arguments import fits, misfit
from jaxflow._core.tensor import Tensor
from jaxflow._core.warning import user_level
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS, Number
from jaxflow._publish.composite import composite
from jaxflow._publish.out import computed, refuse_recorded, write_out
from jaxflow._publish.value_checks import guarded
from jaxflow._writes.inplace import apply_inplace

_F = "nn.functional"


def _run(name: str, input: Tensor, numbers: tuple, inplace: bool, left_out: tuple = ()) -> Tensor:
    run = apply_inplace if inplace else apply
    for place, (value, p) in enumerate(zip(numbers, OPS[name].params[1:]), 2):
        if not fits("Number", value):
            raise misfit(name + "_" * inplace, p.name, place, "Number", value)
    numbers = (*numbers, *left_out)
    if OPS[name].guard is not None:
        return guarded(run, OPS[name], (input, *numbers), ())
    return run(OPS[name], (input, *numbers))


@composite("function", namespace=_F)
def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Each element, or 0 where it is negative.

    ``max(input, 0)``, with the derivative 0 at 0. Used in networks since Nair and Hinton, 2010, "Rectified
    linear units improve restricted Boltzmann machines".

    Args:
        input: a tensor of any shape, not bool or complex; nan stays nan.
        inplace: whether to write the result into ``input``.

    Returns:
        A new tensor of the shape and dtype of ``input``; with ``inplace`` it is ``input`` itself.

    Raises:
        RuntimeError: for bools; in place also for a leaf that requires a gradient.
        NotImplementedError: for complex numbers.

    Example:
        >>> F.relu(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([0., 0., 2.])
        >>> x = torch.tensor([-3, 4])
        >>> F.relu(x, inplace=True) is x
        True
        >>> x
        tensor([0, 4])
    """
    return _run("relu", input, (), inplace)


@composite("function", namespace=_F)
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Each element limited to ``[0, 6]``."""
    return _run("relu6", input, (), inplace)


@composite("function", namespace=_F)
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Each element, times ``negative_slope`` where it is not positive.

    ``max(0, x) + negative_slope * min(0, x)``. Maas, Hannun and Ng, 2013, "Rectifier Nonlinearities Improve
    Neural Network Acoustic Models".

    Args:
        input: floating point, of any shape.
        negative_slope: the factor of negative elements, a number.
        inplace: write the result into ``input``.

    Returns:
        A tensor of the input's shape and dtype; ``input`` itself with ``inplace``.

    Raises:
        NotImplementedError: for integers and complex numbers.
        TypeError: when ``negative_slope`` is no number.

    Example:
        >>> F.leaky_relu(torch.tensor([-2.0, 0.0, 3.0]), negative_slope=0.5)
        tensor([-1.,  0.,  3.])
    """
    return _run("leaky_relu", input, (negative_slope,), inplace)


@composite("function", namespace=_F)
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Each element where positive, ``alpha * (exp(input) - 1)`` elsewhere.

    Clevert, Unterthiner and Hochreiter, 2015, "Fast and Accurate Deep Network Learning by Exponential
    Linear Units (ELUs)".

    Args:
        input: floating point, of any shape.
        alpha: a number; the result goes to ``-alpha`` for very negative elements.
        inplace: write the result into ``input``.

    Returns:
        A tensor of the input's shape and dtype; ``input`` itself with ``inplace``.

    Raises:
        NotImplementedError: for integers and complex numbers.
        TypeError: when ``alpha`` is no number.

    Example:
        >>> F.elu(torch.tensor([-math.inf, 0.0, 3.0]), alpha=0.5)
        tensor([-0.5000,  0.0000,  3.0000])
    """
    return _run("elu", input, (alpha,), inplace, (None, None))


@composite("function", namespace=_F)
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """The exponential linear unit whose constants keep mean 0 and variance 1."""
    return _run("selu", input, (), inplace)


def _refuse_zero(input: Tensor, alpha: float) -> None:
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")


@composite("function", namespace=_F)
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Each element where positive, ``alpha * (exp(input / alpha) - 1)`` elsewhere."""
    _refuse_zero(input, alpha)
    return _run("celu", input, (alpha,), inplace)


@composite("function", namespace=_F)
def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0,
             inplace: bool = False) -> Tensor:
    """Each element limited to ``[min_val, max_val]``."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return _run("hardtanh", input, (min_val, max_val), inplace)


@composite("function", namespace=_F)
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Each element, or ``value`` where it does not exceed ``threshold``."""
    return _run("threshold", input, (threshold, value), inplace)


@composite("function", namespace=_F)
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * sigmoid(input)``.

    From Hendrycks and Gimpel, 2016, "Gaussian error linear units (GELUs)", and Elfwing, Uchibe and Doya,
    2017, "Sigmoid-weighted linear units"; also called Swish (Ramachandran, Zoph and Le, 2017).

    Args:
        input: floating point or complex, of any shape.
        inplace: whether to write the result into ``input``.

    Returns:
        A new tensor of the shape and dtype of ``input``; with ``inplace`` it is ``input`` itself.

    Raises:
        NotImplementedError: for integers and bools.

    Example:
        >>> F.silu(torch.tensor([0.0, 100.0, math.inf]))
        tensor([  0., 100.,  inf])
    """
    return _run("silu", input, (), inplace)


@composite("function", namespace=_F)
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * tanh(softplus(input))``."""
    return _run("mish", input, (), inplace)


@composite("function", namespace=_F)
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * relu6(input + 3) / 6``."""
    return _run("hardswish", input, (), inplace)


@composite("function", namespace=_F)
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """``relu6(input + 3) / 6``."""
    return _run("hardsigmoid", input, (), inplace)


@composite("function", namespace=_F)
def softsign(input: Tensor) -> Tensor:
    """``input / (1 + |input|)``."""
    return input / (input.abs() + 1)


@composite("function", namespace=_F)
def tanhshrink(input: Tensor) -> Tensor:
    """``input - tanh(input)``."""
    return input - input.tanh()


@composite("function", namespace=_F)
def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent of each element."""
    return input.tanh()


@composite("function", namespace=_F)
def sigmoid(input: Tensor) -> Tensor:
    """``1 / (1 + exp(-input))``.

    Args:
        input: of any shape and dtype; integers and bools become the default dtype.

    Returns:
        A new tensor of the shape of ``input``, with values from 0 to 1.

    Example:
        >>> F.sigmoid(torch.tensor([-math.inf, 0.0, math.inf]))
        tensor([0.0000, 0.5000, 1.0000])
    """
    return input.sigmoid()


# ------------------------------------------------------------------ in-place forms, also of torch.*


def _inplace(name: str, parameters: tuple[tuple[str, Any], ...], places: tuple[str, ...],
             check: Callable[..., None] = lambda input, *numbers: None) -> None:
    def call(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        numbers = list(args)
        for parameter, default in parameters[len(args):]:
            numbers.append(kwargs.pop(parameter, default))
        if kwargs or len(numbers) != len(parameters) or ... in numbers:
            raise TypeError(f"{name}_() takes ({', '.join(p for p, _ in parameters)}) after input")
        check(input, *numbers)
        return _run(name, input, tuple(numbers), True)

    call.__name__ = call.__qualname__ = name + "_"
    call.__doc__ = f"`{name}` written into ``input``."
    for place in places:
        composite("function", namespace=place)(call)


_inplace("relu", (), (_F, ""))
_inplace("leaky_relu", (("negative_slope", 0.01),), (_F,))
_inplace("elu", (("alpha", 1.0), ("scale", 1.0), ("input_scale", 1.0)), (_F,))
_inplace("selu", (), (_F, ""))
_inplace("celu", (("alpha", 1.0),), (_F, ""), _refuse_zero)
_inplace("hardtanh", (("min_val", -1.0), ("max_val", 1.0)), (_F,))
_inplace("threshold", (("threshold", ...), ("value", ...)), (_F, ""))


@composite("function", name="selu")
def _selu(input: Tensor) -> Tensor:
    """The exponential linear unit whose constants keep mean 0 and variance 1."""
    return _run("selu", input, (), False)


@composite("function", name="celu")
def _celu(input: Tensor, alpha: Number = 1.0) -> Tensor:
    """Each element where positive, ``alpha * (exp(input / alpha) - 1)`` elsewhere."""
    return celu(input, alpha)


@composite("function", name="threshold")
def _threshold(input: Tensor, threshold: Number, value: Number, *, out: Tensor | None = None) -> Tensor:
    """Each element, or ``value`` where it does not exceed ``threshold``."""
    if out is not None:
        refuse_recorded(OPS["threshold"], out, (input,), {})
    return given_out("threshold", out, _run("threshold", input, (threshold, value), False))


# ------------------------------------------------------------------------------------------ softmax


def _softmax(name: str, doc: str) -> None:
    op = OPS[name]

    def softmax(input: Tensor, dim: int | None = None, dtype: Any = None, *, axis: int | None = None,
                out: Tensor | None = None):
        if dim is None:
            dim = required_dim(name, dim, axis)
        if out is None:
            return apply(op, (input,), (dim, dtype))
        return write_out(name, out, computed(op, out, apply, (input,), (dim, dtype)), (input,))

    softmax.__name__ = softmax.__qualname__ = name
    softmax.__doc__ = doc
    composite()(softmax)

    def special(input: Tensor, dim: int | None = None, dtype: Any = None) -> Tensor:
        return softmax(input, required_dim("special_" + name, dim, None), dtype)

    special.__name__ = special.__qualname__ = name
    special.__doc__ = doc
    composite("function", namespace="special")(special)

    def functional(input: Tensor, dim: int | None = None, _stacklevel: int = 3,
                   dtype: Any = None) -> Tensor:
        if dim is None:
            dim = _implicit_dim(name, input.dim())
        return apply(op, (input,), (dim, dtype))

    functional.__name__ = functional.__qualname__ = name
    functional.__doc__ = doc
    composite("function", namespace=_F)(functional)


def _implicit_dim(name: str, ndim: int) -> int:
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X "
        "as an argument.", stacklevel=user_level(),
    )
    return 0 if ndim in (0, 1, 3) else 1


_SOFTMAX_PARTS = """
    Args:
        input: floating point, of any shape; of integers only with a ``dtype``.
        dim: the dimension along which the sum is taken. ``nn.functional`` guesses one where it is left out,
            with a warning.
        _stacklevel: accepted without effect; only in ``nn.functional``.
        dtype: what ``input`` is converted to first; the dtype of the result.
        axis: another name of ``dim``; not in ``nn.functional``.
        out: where to write the result; not in ``nn.functional``.

    Returns:
        A new tensor of the shape of ``input``.

    Raises:
        IndexError: for a dimension that is not there.
        NotImplementedError: for integers, bools and complex numbers.
"""

_softmax("softmax", f"""Exponentials along ``dim``, scaled to add up to 1; ``dtype`` is converted to first.

    ``exp(input) / sum(exp(input))``; the largest element is subtracted first, so that nothing overflows.
{_SOFTMAX_PARTS}
    Example:
        >>> F.softmax(torch.tensor([[0.0, 0.0], [1000.0, 0.0]]), dim=1)
        tensor([[0.5000, 0.5000],
                [1.0000, 0.0000]])
        >>> F.softmax(torch.tensor([0, 0]), dim=0, dtype=torch.float64)
        tensor([0.5000, 0.5000], dtype=torch.float64)
    """)
_softmax("log_softmax", f"""The logarithm of `softmax` along ``dim``, without its loss of precision.

    ``input - log(sum(exp(input)))``; the largest element is subtracted first, so that nothing overflows.
{_SOFTMAX_PARTS}
    Example:
        >>> F.log_softmax(torch.tensor([0.0, -1000.0]), dim=0)
        tensor([    0., -1000.])
        >>> F.log_softmax(torch.zeros(2, 3), dim=1).shape
        torch.Size([2, 3])
    """)


@composite("function", namespace=_F)
def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3,
            dtype: Any = None) -> Tensor:
    """`softmax` of minus ``input``."""
    if dim is None:
        dim = _implicit_dim("softmin", input.dim())
    return apply(OPS["softmax"], (-input,), (dim, dtype))

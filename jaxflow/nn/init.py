"""The values that training starts from; each function fills its tensor and returns it."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

from jaxflow import _functions as functions
from jaxflow import linalg
from jaxflow._core import dtype as dtypes
from jaxflow._core.generator import source_of
from jaxflow.autograd.grad_mode import no_grad

if TYPE_CHECKING:
    from jaxflow._core.generator import Generator
    from jaxflow._core.tensor import Tensor

_LINEAR = ("linear", "conv1d", "conv2d", "conv3d",
           "conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
_GAINS = dict.fromkeys((*_LINEAR, "sigmoid"), 1) | {
    "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0),
    "selu": 3.0 / 4,
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Factor by which weights grow to make up for what ``nonlinearity`` shrinks.

    Args:
        nonlinearity: name of the function that follows the layer.
        param: negative slope, for ``leaky_relu`` (default 0.01).

    Raises:
        ValueError: for an unknown name or a slope that is no number.
    """
    if nonlinearity != "leaky_relu":
        if nonlinearity not in _GAINS:
            raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
        return _GAINS[nonlinearity]
    if param is None:
        param = 0.01
    elif isinstance(param, bool) or not isinstance(param, (int, float)):
        raise ValueError(f"negative_slope {param} not a valid number")
    return math.sqrt(2.0 / (1 + param**2))


def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Draw from the uniform distribution on ``[a, b)``.

    Args:
        tensor: what is filled, floating point or complex, of any shape; it may require a gradient.
        a: lower bound.
        b: upper bound.
        generator: source of randomness (default: the default generator).

    Returns:
        ``tensor`` itself. Nothing is recorded for autograd.

    Raises:
        RuntimeError: if ``a`` is larger than ``b``.
        NotImplementedError: for a tensor of integers or bools.

    Example:
        >>> weight = nn.init.uniform_(torch.empty(2, 3, requires_grad=True), -0.5, 0.5)
        >>> weight.shape
        torch.Size([2, 3])
        >>> bool((weight >= -0.5).all() and (weight < 0.5).all())
        True
    """
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Draw from the normal distribution.

    Args:
        tensor: what is filled, floating point or complex, of any shape; it may require a gradient.
        mean: mean of the distribution.
        std: standard deviation, at least 0.
        generator: source of randomness (default: the default generator).

    Returns:
        ``tensor`` itself. Nothing is recorded for autograd.

    Raises:
        RuntimeError: if ``std`` is negative.
        NotImplementedError: for a tensor of integers or bools.

    Example:
        >>> layer = nn.Linear(3, 2)
        >>> nn.init.normal_(layer.weight, std=0.02) is layer.weight
        True
        >>> nn.init.normal_(torch.empty(3), mean=5.0, std=0.0)
        tensor([5., 5., 5.])
    """
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Draw from the normal distribution, leaving out what falls outside ``[a, b]``.

    What falls outside is drawn again, until nothing does. Where the generator's stream is "counter", a
    uniform number between the distribution function's values at ``a`` and at ``b`` is put through the
    inverse of this function instead, unless that is not exact there, far from the mean.

    Args:
        tensor: floating point, of any shape; it is overwritten.
        mean: mean of the distribution before it is cut off.
        std: its standard deviation before it is cut off.
        a: the least value; it is not measured in ``std``.
        b: the largest value.
        generator: source of randomness; default the default generator.

    Returns:
        ``tensor`` itself. Nothing is recorded for gradients. A warning says so when ``mean`` is more than
        two ``std`` away from ``[a, b]``.

    Example:
        >>> w = nn.init.trunc_normal_(torch.empty(4, 25), std=0.5, a=-1.0, b=1.0)
        >>> w.shape, bool((w.abs() <= 1).all())
        (torch.Size([4, 25]), True)
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
            "The distribution of values may be incorrect.",
            stacklevel=2,
        )

    def below(x: float) -> float:
        return (1.0 + math.erf((x - mean) / std / math.sqrt(2.0))) / 2.0

    low, high = below(a), below(b)
    with no_grad():
        if high - low <= 0.3:
            return _draw_by_rejection(tensor, mean, std, a, b, generator)
        if source_of(generator, tensor.device).stream == "torch":
            return _draw_until_inside(tensor, mean, std, a, b, generator)
        # The inverse of the distribution function, at points drawn between its values at a and b:
        # unlike rejection it does not have to look at what it drew.
        tensor.uniform_(2 * low - 1, 2 * high - 1, generator=generator)
        tensor.erfinv_()
        tensor.mul_(std * math.sqrt(2.0))
        tensor.add_(mean)
        return tensor.clamp_(min=a, max=b)


def _draw_until_inside(
    tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Generator | None
) -> Tensor:
    """Normal numbers; those outside of the bounds, as the dtype holds these, are drawn again, all others
    with them."""
    low, high = (tensor.new_tensor(bound).item() for bound in (a, b))
    tensor.normal_(mean, std, generator=generator)
    while True:
        outside = (tensor < low) | (tensor > high)
        if not outside.any():
            return tensor
        again = functions.empty_like(tensor).normal_(mean, std, generator=generator)
        tensor.copy_(functions.where(outside, again, tensor))


def _draw_by_rejection(
    tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Generator | None
) -> Tensor:
    """A tail of the normal distribution, where its inverse has no digits left.

    Uniform points are kept as often as their density says, until every element has one.
    """
    highest = ((min(max(mean, a), b) - mean) / std) ** 2
    kept = functions.zeros(tensor.shape, dtype=dtypes.bool, device=tensor.device)
    while not kept.all():
        points = functions.empty_like(tensor).uniform_(a, b, generator=generator)
        chances = functions.empty_like(tensor).uniform_(generator=generator)
        tensor.copy_(functions.where(kept, tensor, points))
        kept = kept | (chances.log() * 2 <= highest - ((points - mean) / std) ** 2)
    return tensor


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with ``val``.

    Args:
        tensor: what is filled, of any shape and dtype; it may require a gradient.
        val: the number; converted to the dtype of ``tensor``.

    Returns:
        ``tensor`` itself. Nothing is recorded for autograd.

    Example:
        >>> nn.init.constant_(torch.empty(2, 2), 0.5)
        tensor([[0.5000, 0.5000],
                [0.5000, 0.5000]])
    """
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones.

    Args:
        tensor: what is filled, of any shape and dtype; it may require a gradient.

    Returns:
        ``tensor`` itself. Nothing is recorded for autograd.

    Example:
        >>> norm = nn.LayerNorm(3)
        >>> nn.init.ones_(norm.weight) is norm.weight
        True
        >>> nn.init.ones_(torch.empty(2))
        tensor([1., 1.])
    """
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros.

    Args:
        tensor: what is filled, of any shape and dtype; it may require a gradient.

    Returns:
        ``tensor`` itself. Nothing is recorded for autograd.

    Example:
        >>> layer = nn.Linear(3, 2)
        >>> bias = nn.init.zeros_(layer.bias)
        >>> layer.bias.detach()
        tensor([0., 0.])
    """
    with no_grad():
        return tensor.zero_()


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with the identity.

    Raises:
        ValueError: unless ``tensor`` has two dimensions.
    """
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with no_grad():
        return tensor.copy_(functions.eye(*tensor.shape, dtype=tensor.dtype, device=tensor.device))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill a convolution's weight so that it passes on as many of its inputs as it can.

    Args:
        tensor: weight of 3 to 5 dimensions.
        groups: groups of the convolution; each passes on its own inputs.

    Raises:
        ValueError: for other dimensions, or outputs that the groups do not divide.
    """
    dimensions = tensor.ndimension()
    if dimensions not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.size(0) % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    out_per_group = tensor.size(0) // groups
    centre = tuple(n // 2 for n in tensor.shape[2:])
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for i in range(min(out_per_group, tensor.size(1))):
                tensor[(group * out_per_group + i, i, *centre)] = 1
    return tensor


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """How many inputs reach one output of a weight, and how many outputs one input reaches."""
    if tensor.dim() < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    field = math.prod(tensor.shape[2:])
    return tensor.size(1) * field, tensor.size(0) * field


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    mode = mode.lower()
    modes = ["fan_in", "fan_out"]
    if mode not in modes:
        raise ValueError(f"Mode {mode} not supported, please use one of {modes}")
    return _calculate_fan_in_and_fan_out(tensor)[modes.index(mode)]


def xavier_uniform_(
    tensor: Tensor, gain: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Uniform values whose variance is ``2 * gain**2 / (fan_in + fan_out)``.

    They are drawn from ``[-bound, bound)`` with ``bound = gain * sqrt(6 / (fan_in + fan_out))``. For a
    weight of shape ``(out, in, *kernel)``, ``fan_in`` is ``in * prod(kernel)`` and ``fan_out`` is ``out *
    prod(kernel)``. From Glorot and Bengio, 2010, "Understanding the difficulty of training deep feedforward
    neural networks".

    Args:
        tensor: the weight that is filled, floating point, of at least two dimensions.
        gain: factor of the bound, see `calculate_gain`.
        generator: source of randomness (default: the default generator).

    Returns:
        ``tensor`` itself. Nothing is recorded for autograd.

    Raises:
        ValueError: when ``tensor`` has fewer than two dimensions.

    Example:
        >>> weight = nn.init.xavier_uniform_(torch.empty(4, 2))
        >>> bool((weight.abs() <= 1).all())  # the bound is sqrt(6 / (2 + 4))
        True
    """
    bound = math.sqrt(3.0) * _xavier_std(tensor, gain)
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(
    tensor: Tensor, gain: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Normal values whose variance is ``2 * gain**2 / (fan_in + fan_out)``.

    ``fan_in = size(1) * field`` and ``fan_out = size(0) * field``, where ``field`` is the product of the
    sizes after the second. Glorot and Bengio, 2010, "Understanding the difficulty of training deep
    feedforward neural networks".

    Args:
        tensor: a weight of at least two dimensions, floating point; it is overwritten.
        gain: factor of the standard deviation; see `calculate_gain`.
        generator: source of randomness; default the default generator.

    Returns:
        ``tensor`` itself. Nothing is recorded for gradients.

    Raises:
        ValueError: when ``tensor`` has fewer than two dimensions.

    Example:
        >>> w = torch.empty(200, 600)
        >>> nn.init.xavier_normal_(w, gain=2.0) is w
        True
        >>> 0.08 < float(w.std()) < 0.12  # 2 * sqrt(2 / 800) = 0.1
        True
    """
    return normal_(tensor, 0.0, _xavier_std(tensor, gain), generator)


def _xavier_std(tensor: Tensor, gain: float) -> float:
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return gain * math.sqrt(2.0 / float(fan_in + fan_out))


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Uniform values whose variance is ``gain**2 / fan``.

    They are drawn from ``[-bound, bound)`` with ``bound = gain * sqrt(3 / fan)``. For a weight of shape
    ``(out, in, *kernel)``, ``fan`` is ``in * prod(kernel)`` or ``out * prod(kernel)``. From He, Zhang, Ren
    and Sun, 2015, "Delving deep into rectifiers".

    Args:
        tensor: the weight that is filled, floating point, of at least two dimensions.
        a: negative slope, for ``leaky_relu``.
        mode: ``"fan_in"`` keeps the scale of activations, ``"fan_out"`` that of gradients.
        nonlinearity: what the gain is calculated for.
        generator: source of randomness.

    Returns:
        ``tensor`` itself. Nothing is recorded for autograd. A tensor without elements stays as it is, with
        a warning.

    Raises:
        ValueError: for fewer dimensions, or an unknown mode or nonlinearity.

    Example:
        >>> weight = nn.init.kaiming_uniform_(torch.empty(5, 6), nonlinearity="relu")
        >>> bool((weight.abs() <= 1).all())  # the bound is sqrt(2) * sqrt(3 / 6)
        True
    """
    if 0 in tensor.shape:
        return _leave_empty(tensor)
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Normal values whose variance is ``gain**2 / fan``; arguments as in `kaiming_uniform_`.

    The gain is that of `calculate_gain`: ``sqrt(2 / (1 + a**2))`` for ``leaky_relu``, ``sqrt(2)`` for
    ``relu``. He, Zhang, Ren and Sun, 2015, "Delving Deep into Rectifiers".

    Args:
        tensor: a weight of at least two dimensions, floating point; it is overwritten.
        a: negative slope, for ``leaky_relu``.
        mode: ``"fan_in"`` keeps the scale of activations, ``"fan_out"`` that of gradients.
        nonlinearity: name of the function that follows the layer, of which the gain is.
        generator: source of randomness; default the default generator.

    Returns:
        ``tensor`` itself; without elements it is left as it is, with a warning. Nothing is recorded for
        gradients.

    Raises:
        ValueError: for fewer dimensions, or an unknown mode or nonlinearity.

    Example:
        >>> w = torch.empty(300, 200)
        >>> nn.init.kaiming_normal_(w, nonlinearity="relu") is w
        True
        >>> 0.08 < float(w.std()) < 0.12  # sqrt(2 / 200) = 0.1
        True
    """
    if 0 in tensor.shape:
        return _leave_empty(tensor)
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def _leave_empty(tensor: Tensor) -> Tensor:
    warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
    return tensor


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """Rows (or columns, where there are fewer) that are orthogonal and of length ``gain``.

    Dimensions after the first count as one. The matrix is the orthogonal factor of the QR decomposition of
    normal numbers, with signs that make all orthogonal matrices equally likely. Saxe, McClelland and
    Ganguli, 2013, "Exact solutions to the nonlinear dynamics of learning in deep linear neural networks".

    Args:
        tensor: at least two dimensions, floating point; it is overwritten.
        gain: factor of the orthogonal matrix.
        generator: source of randomness; default the default generator.

    Returns:
        ``tensor`` itself. Nothing is recorded for gradients.

    Raises:
        ValueError: when ``tensor`` has fewer than two dimensions.

    Example:
        >>> w = nn.init.orthogonal_(torch.empty(2, 5), gain=2.0)
        >>> torch.allclose(w @ w.T, 4 * torch.eye(2), atol=1e-4)
        True
    """
    if tensor.ndimension() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    columns = tensor.numel() // rows
    with no_grad():
        drawn = tensor.new_empty((rows, columns)).normal_(0, 1, generator=generator)
        if rows < columns:
            drawn = drawn.t()
        q, r = linalg.qr(drawn)
        # Without the signs of the diagonal the result would not be uniform among orthogonal
        # matrices.
        q = q * functions.diag(r, 0).sign()
        if rows < columns:
            q = q.t()
        tensor.copy_(q.reshape(tensor.shape))
        return tensor.mul_(gain)


def sparse_(
    tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None
) -> Tensor:
    """Normal values in a matrix, with the fraction ``sparsity`` of each column set to zero.

    Raises:
        ValueError: unless ``tensor`` has two dimensions.
    """
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        if not columns or source_of(None, tensor.device).stream == "counter":
            # A random permutation for each column, all at once: a loop over columns is a long program.
            order = functions.rand(rows, columns, device=tensor.device).argsort(0)
            return tensor.masked_fill_(order < zeros, 0)
        places = [functions.randperm(rows, device=tensor.device)[:zeros] for _ in range(columns)]
        return tensor.scatter_(0, functions.stack(places, 1), 0)


def _deprecated(name: str) -> None:
    """Publish a function under its old name, without the underscore that says what it does."""
    function = globals()[name + "_"]

    def call(*args, **kwargs):
        warnings.warn(
            f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`.", FutureWarning, stacklevel=2
        )
        return function(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"The old name of `{name}_`."
    globals()[name] = call


for _name in ("uniform", "normal", "constant", "eye", "dirac", "xavier_uniform", "xavier_normal",
              "kaiming_uniform", "kaiming_normal", "orthogonal", "sparse"):
    _deprecated(_name)

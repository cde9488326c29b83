"""Linear maps, and the identity."""

from __future__ import annotations

import math
from typing import Any

from jaxflow import _functions as functions
from jaxflow._core.tensor import Tensor
from jaxflow.nn import functional as F
from jaxflow.nn import init
from jaxflow.nn.modules.lazy import Waiting
from jaxflow.nn.modules.module import Module
from jaxflow.nn.parameter import Parameter, UninitializedParameter


class Identity(Module):
    """Returns its input. Constructor arguments are accepted and ignored.

    It can stand where a layer is expected, for example in place of the last layer of a model.

    Args:
        args: anything; it has no effect.
        kwargs: likewise.

    Example:
        >>> x = torch.ones(2, 3)
        >>> nn.Identity(54, unused=True)(x) is x
        True
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """``input`` itself."""
        return input


class Linear(Module):
    """``input @ weight.T + bias``.

    The parameters are ``weight``, ``(out_features, in_features)``, and ``bias``, ``(out_features,)``, both
    drawn uniformly between ``-1 / sqrt(in_features)`` and ``1 / sqrt(in_features)``.

    The input is ``(*, in_features)`` of their dtype; the result is ``(*, out_features)``, of that dtype
    too.

    Args:
        in_features: size of the input's last dimension.
        out_features: size of the output's.
        bias: whether to learn a bias.
        device: where to put the parameters.
        dtype: their dtype, floating point or complex.

    Raises:
        RuntimeError: when called with another size or dtype; and for a negative size.

    Example:
        >>> m = nn.Linear(3, 2)
        >>> m(torch.ones(5, 4, 3)).shape
        torch.Size([5, 4, 2])
        >>> with torch.no_grad():
        ...     _ = m.weight.copy_(torch.tensor([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0]]))
        ...     _ = m.bias.fill_(0.5)
        >>> m(torch.tensor([1.0, 2.0, 3.0])).tolist()
        [7.5, 2.5]
    """

    in_features: int
    out_features: int
    weight: Tensor

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device=None, dtype=None
    ) -> None:
        factory = {"device": device, "dtype": dtype}
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(functions.empty((out_features, in_features), **factory))
        self.register_parameter(
            "bias", Parameter(functions.empty(out_features, **factory)) if bias else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw both parameters uniformly within ``1 / sqrt(in_features)`` of zero."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """``(..., in_features)`` to ``(..., out_features)``."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class NonDynamicallyQuantizableLinear(Linear):
    """A `Linear` under the name that PyTorch's attention gives its output projection."""


class LazyLinear(Waiting, Linear):
    """A `Linear` that takes its ``in_features`` from the first input, ``(*, in_features)``.

    Until it is called its parameters are `UninitializedParameter`, which the module can be moved and cast
    with. The first call gives them shapes and values and makes the module a `Linear`. A checkpoint can be
    loaded before.

    Args:
        out_features: size of the output's last dimension.
        bias: whether to learn a bias.
        device: where to put the parameters.
        dtype: their dtype, floating point or complex.

    Raises:
        AssertionError: when first called, with another size than the parameters that were loaded have.

    Example:
        >>> m = nn.LazyLinear(2)
        >>> m
        LazyLinear(in_features=0, out_features=2, bias=True)
        >>> m(torch.ones(5, 3)).shape
        torch.Size([5, 2])
        >>> m
        Linear(in_features=3, out_features=2, bias=True)
    """

    cls_to_become = Linear
    _size = "in_features"

    def __init__(self, out_features: int, bias: bool = True, device=None, dtype=None) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def _size_of(self, input: Tensor) -> int:
        return input.shape[-1]

    def _shapes(self, size: int) -> dict[str, tuple[int, ...]]:
        shapes = {"weight": (self.out_features, size)}
        return shapes if self.bias is None else {**shapes, "bias": (self.out_features,)}

    def _check_loaded(self, size: int) -> None:
        if size != self.weight.shape[-1]:
            raise AssertionError(f"The in_features inferred from input: {size} is not equal to in_features "
                                 f"from self.weight: {self.weight.shape[-1]}")


class Bilinear(Module):
    """``input1 @ weight[k] @ input2 + bias[k]`` for every output ``k``.

    The parameters are ``weight``, ``(out_features, in1_features, in2_features)``, and ``bias``,
    ``(out_features,)``, both drawn uniformly between ``-1 / sqrt(in1_features)`` and
    ``1 / sqrt(in1_features)``.

    The inputs are ``(*, in1_features)`` and ``(*, in2_features)`` of their dtype, alike in the other
    dimensions; the result is ``(*, out_features)``, of that dtype too.

    Args:
        in1_features: size of the first input's last dimension.
        in2_features: size of the second's.
        out_features: size of the output's.
        bias: whether to learn a bias.
        device: where to put the parameters.
        dtype: their dtype.

    Raises:
        ValueError: when ``in1_features`` is not positive.
        RuntimeError: when called with other sizes or dtypes, or with inputs that are not alike in the
            others.

    Example:
        >>> m = nn.Bilinear(2, 3, 4)
        >>> m(torch.ones(5, 2), torch.ones(5, 3)).shape
        torch.Size([5, 4])
        >>> with torch.no_grad():
        ...     _, _ = m.weight.fill_(2.0), m.bias.fill_(0.5)
        >>> m(torch.ones(2), torch.tensor([1.0, 2.0, 3.0])).tolist()
        [24.5, 24.5, 24.5, 24.5]
    """

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device=None,
        dtype=None,
    ) -> None:
        factory = {"device": device, "dtype": dtype}
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got (in1_features={in1_features})")
        self.in1_features, self.in2_features = in1_features, in2_features
        self.out_features = out_features
        self.weight = Parameter(
            functions.empty((out_features, in1_features, in2_features), **factory)
        )
        self.register_parameter(
            "bias", Parameter(functions.empty(out_features, **factory)) if bias else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw both parameters uniformly within ``1 / sqrt(in1_features)`` of zero."""
        bound = 1 / math.sqrt(self.weight.size(1))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """``(..., in1_features)`` and ``(..., in2_features)`` to ``(..., out_features)``."""
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )

"""A linear layer and the cross entropy of what it gives, in one."""

from __future__ import annotations

import dataclasses
import math

from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor
from jaxflow.nn import functional as F
from jaxflow.nn.modules.linear import Linear
from jaxflow.nn.modules.loss import _WeightedLoss


@dataclasses.dataclass(slots=True, frozen=True)
class LinearCrossEntropyOptions:
    """How PyTorch cuts the batch of `nn.functional.linear_cross_entropy`; kept, but of no effect here.

    PyTorch saves memory by that. Here the loss of the whole batch is computed, whatever they are; only,
    when any are given, a loss of half precision is computed in float32 and rounded once. An object of this
    class cannot be changed.

    Args:
        allow_retain_graph: whether backward may run twice (here it always may).
        batch_chunk_size: samples at a time.
        chunking_method: or how to choose that number: ``"auto"``, ``"aspect_ratio"``, ``"aspect_ratio:N"``.
        acc_policy: ``"auto"``, ``"accurate"``, ``"balanced"`` or ``"compact"``.
        acc_dtype: floating dtype in which gradients are added up.

    Raises:
        ValueError: for other values.

    Example:
        >>> options = nn.LinearCrossEntropyOptions(batch_chunk_size=64, chunking_method=None)
        >>> options.batch_chunk_size, options.acc_policy
        (64, 'auto')
        >>> nn.LinearCrossEntropyLoss(3, 4, options=options)(torch.ones(2, 3), torch.tensor([0, 3])).shape
        torch.Size([])
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: dtypes.dtype | None = None

    def __post_init__(self) -> None:
        if self.acc_policy not in ("auto", "accurate", "balanced", "compact"):
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        if self.chunking_method not in (None, "auto"):
            name, colon, number = self.chunking_method.partition(":")
            if name != "aspect_ratio" or (colon and not (number.isdigit() and int(number) > 0)):
                raise ValueError(f"invalid chunking_method: {self.chunking_method!r}")
        size = self.batch_chunk_size
        if size is not None and not (isinstance(size, int) and size > 0):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {size!r}")
        known = (None, dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)
        if self.acc_dtype not in known:
            raise ValueError(
                "acc_dtype must be one of {None, torch.float16, torch.bfloat16, torch.float32, "
                f"torch.float64}}, got {self.acc_dtype!r}. Pass acc_dtype=None to let the op pick "
                "automatically.")


class LinearCrossEntropyLoss(_WeightedLoss):
    """The cross entropy of a linear map, whose weights are its own, with the target.

    ``cross_entropy(linear(input), target)``: with ``z = input @ W.T + b`` and a target of class ``y`` it is
    ``-weight[y] * (z[y] - log(sum_c exp(z[c])))``, summed up, or divided by the sum of ``weight[y]`` for
    the mean. For label smoothing: Szegedy, Vanhoucke, Ioffe, Shlens and Wojna, "Rethinking the Inception
    Architecture for Computer Vision", 2015.

    The input is ``(N, in_features)`` or ``(in_features,)``, floating point. The target holds classes,
    ``(N, *out_features)`` of integers, or probabilities of them, ``(N, C, *out_features)``. The result is a
    number, or ``(N, *out_features)`` with ``reduction="none"``.

    Args:
        in_features: size of each input.
        num_classes: number of classes, ``C``.
        out_features: sizes ``(d1, ...)`` for a loss at each of many places.
        bias: whether the map learns a bias.
        device: where to put the weights.
        dtype: their dtype.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        weight: one factor a class, ``(C,)``.
        ignore_index: a class that counts for nothing (default: -100).
        label_smoothing: how much of each target is spread over all classes, 0 to 1.
        options: see `LinearCrossEntropyOptions`.

    Raises:
        RuntimeError: for weights of another number of classes, or a smoothing out of range.
        ValueError: when called with another ``reduction``.
        IndexError: when called with a class that is not below ``num_classes``.

    Example:
        >>> m = nn.LinearCrossEntropyLoss(3, 4, reduction="none")
        >>> x, target = torch.ones(2, 3), torch.tensor([0, 3])
        >>> m(x, target).shape
        torch.Size([2])
        >>> torch.allclose(m(x, target), F.cross_entropy(m.linear(x), target, reduction="none"))
        True
        >>> m = nn.LinearCrossEntropyLoss(3, 4, out_features=(5,), reduction="none")
        >>> m(x, torch.zeros(2, 5, dtype=torch.int64)).shape
        torch.Size([2, 5])
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device=None,
        dtype=None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ) -> None:
        if weight is not None and weight.shape != (num_classes,):
            raise RuntimeError(
                f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}")
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(f"expected label_smoothing to be in range [0, 1], got {label_smoothing}")
        super().__init__(weight, reduction=reduction)
        self.num_classes, self.out_features = num_classes, out_features
        self.ignore_index, self.label_smoothing, self.options = ignore_index, label_smoothing, options
        rows = num_classes * math.prod(out_features)
        self.linear = Linear(in_features, rows, bias=bias, device=device, dtype=dtype)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """``(N, in_features)`` and classes ``(N, d1, ...)`` to a number, or one for each class given."""
        shape, bias = (self.num_classes, *self.out_features), self.linear.bias
        return F.linear_cross_entropy(
            input, self.linear.weight.reshape(*shape, self.linear.in_features), target,
            linear_bias=None if bias is None else bias.reshape(shape), weight=self.weight,
            reduction=self.reduction, ignore_index=self.ignore_index, label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        shown = {"in_features": self.linear.in_features, "num_classes": self.num_classes,
                 "out_features": self.out_features, "bias": self.linear.bias is not None,
                 "reduction": self.reduction, "ignore_index": self.ignore_index,
                 "label_smoothing": self.label_smoothing, "options": self.options}
        return ", ".join(f"{name}={value}" for name, value in shown.items())

"""Losses: how far a prediction is from its target."""

from __future__ import annotations

from collections.abc import Callable

from jaxflow import Tensor
from jaxflow.nn import _reduction as _Reduction
from jaxflow.nn import functional as F
from jaxflow.nn.modules.distance import PairwiseDistance
from jaxflow.nn.modules.module import Module

# Every loss takes ``reduction``: ``"mean"`` (default), ``"sum"``, or ``"none"`` for one value an
# element. ``size_average`` and ``reduce`` are its deprecated spelling.


class _Loss(Module):
    reduction: str

    def __init__(self, size_average=None, reduce=None, reduction: str = "mean") -> None:
        super().__init__()
        if size_average is not None or reduce is not None:
            reduction = _Reduction.legacy_get_string(size_average, reduce)
        self.reduction = reduction


class _WeightedLoss(_Loss):
    def __init__(
        self,
        weight: Tensor | None = None,
        size_average=None,
        reduce=None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class _PlainLoss(_Loss):
    """A loss of input and target with nothing else to set."""

    _function: Callable

    def __init_subclass__(cls, function: Callable | None = None) -> None:
        super().__init_subclass__()
        if function is not None:
            cls._function = staticmethod(function)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """A number, or with ``reduction="none"`` one for each element or sample."""
        return self._function(input, target, reduction=self.reduction)


class L1Loss(_PlainLoss, function=F.l1_loss):
    """Absolute difference."""


class MSELoss(_PlainLoss, function=F.mse_loss):
    """Squared difference."""


class SoftMarginLoss(_PlainLoss, function=F.soft_margin_loss):
    """``log(1 + exp(-target * input))`` for targets 1 and -1."""


class MultiLabelMarginLoss(_PlainLoss, function=F.multilabel_margin_loss):
    """Hinge between every target class of a sample and every other; targets end at the first -1."""


class SmoothL1Loss(_Loss):
    """Squared difference below ``beta``, absolute above, joined smoothly."""

    def __init__(
        self, size_average=None, reduce=None, reduction: str = "mean", beta: float = 1.0
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """A number, or with ``reduction="none"`` one for each element."""
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """`SmoothL1Loss` times ``delta``."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """A number, or with ``reduction="none"`` one for each element."""
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class CrossEntropyLoss(_WeightedLoss):
    """Negative log of the softmax of ``input`` at the target class, or of target probabilities.

    Args:
        weight: factor for each class.
        size_average: deprecated.
        ignore_index: target class that counts as nothing.
        reduce: deprecated.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        label_smoothing: share of the target spread over all classes.
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average=None,
        ignore_index: int = -100,
        reduce=None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """``(N, C, ...)`` scores; targets ``(N, ...)`` classes or ``(N, C, ...)`` probabilities."""
        return F.cross_entropy(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class NLLLoss(_WeightedLoss):
    """Negative of ``input``, log probabilities, at the target class.

    Args:
        weight: factor for each class.
        size_average: deprecated.
        ignore_index: target class that counts as nothing.
        reduce: deprecated.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average=None,
        ignore_index: int = -100,
        reduce=None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """``(N, C, ...)`` log probabilities and ``(N, ...)`` classes."""
        return F.nll_loss(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
        )


class BCELoss(_WeightedLoss):
    """Binary cross entropy of probabilities."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """A number, or with ``reduction="none"`` one for each element."""
        return F.binary_cross_entropy(
            input, target, weight=self.weight, reduction=self.reduction
        )


class BCEWithLogitsLoss(_Loss):
    """Binary cross entropy of the sigmoid of ``input``.

    Args:
        weight: factor for each element.
        size_average: deprecated.
        reduce: deprecated.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        pos_weight: factor for the positive targets of each class.
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average=None,
        reduce=None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """A number, or with ``reduction="none"`` one for each element."""
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class KLDivLoss(_Loss):
    """Kullback-Leibler divergence; ``input`` holds log probabilities.

    Args:
        size_average: deprecated.
        reduce: deprecated.
        reduction: also ``"batchmean"``, the sum divided by the size of dimension 0.
        log_target: whether ``target`` holds log probabilities too.
    """

    def __init__(
        self, size_average=None, reduce=None, reduction: str = "mean", log_target: bool = False
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """A number, or with ``reduction="none"`` one for each element."""
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class PoissonNLLLoss(_Loss):
    """Negative log likelihood of counts under a Poisson distribution.

    Args:
        log_input: whether ``input`` is the log of the rate.
        full: add an approximation of the constant term.
        size_average: deprecated.
        eps: keeps the log of a rate finite.
        reduce: deprecated.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average=None,
        eps: float = 1e-8,
        reduce=None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        """A number, or with ``reduction="none"`` one for each element."""
        return F.poisson_nll_loss(
            log_input,
            target,
            log_input=self.log_input,
            full=self.full,
            eps=self.eps,
            reduction=self.reduction,
        )


class GaussianNLLLoss(_Loss):
    """Negative log likelihood under normal distributions of given mean and variance.

    Args:
        full: add the constant term.
        eps: smallest variance.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full, self.eps = full, eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        """A number, or with ``reduction="none"`` one for each element."""
        return F.gaussian_nll_loss(
            input, target, var, full=self.full, eps=self.eps, reduction=self.reduction
        )


class HingeEmbeddingLoss(_Loss):
    """``input`` where the target is 1, ``max(0, margin - input)`` where it is -1."""

    def __init__(
        self, margin: float = 1.0, size_average=None, reduce=None, reduction: str = "mean"
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """A number, or with ``reduction="none"`` one for each element."""
        return F.hinge_embedding_loss(
            input, target, margin=self.margin, reduction=self.reduction
        )


class MarginRankingLoss(_Loss):
    """``max(0, margin - target * (input1 - input2))``."""

    def __init__(
        self, margin: float = 0.0, size_average=None, reduce=None, reduction: str = "mean"
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """A number, or with ``reduction="none"`` one for each element."""
        return F.margin_ranking_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


class CosineEmbeddingLoss(_Loss):
    """One minus the cosine where the target is 1, ``max(0, cosine - margin)`` where it is -1."""

    def __init__(
        self, margin: float = 0.0, size_average=None, reduce=None, reduction: str = "mean"
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """``(N, D)`` twice and ``(N,)`` targets to a number, or one for each sample."""
        return F.cosine_embedding_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """Mean over classes of the binary cross entropy of the sigmoid."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """``(N, C)`` scores and 0 or 1 targets to a number, or one for each sample."""
        return F.multilabel_soft_margin_loss(
            input, target, weight=self.weight, reduction=self.reduction
        )


class MultiMarginLoss(_WeightedLoss):
    """Hinge between the target class and every other.

    Args:
        p: power of the hinge, 1 or 2.
        margin: how far the target class should be ahead.
        weight: factor for each class.
        size_average: deprecated.
        reduce: deprecated.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Raises:
        ValueError: for other powers.
        AssertionError: when ``weight`` is not one-dimensional.
    """

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average=None,
        reduce=None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        if weight is not None and weight.dim() != 1:
            raise AssertionError(
                f"MultiMarginLoss: expected weight to be None or 1D tensor, got {weight.dim()}D"
            )
        self.p, self.margin = p, margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """``(N, C)`` scores and ``(N,)`` classes to a number, or one for each sample."""
        return F.multi_margin_loss(
            input,
            target,
            p=self.p,
            margin=self.margin,
            weight=self.weight,
            reduction=self.reduction,
        )


class TripletMarginLoss(_Loss):
    """``max(0, distance(anchor, positive) - distance(anchor, negative) + margin)``.

    Args:
        margin: how much further the negative should be.
        p: which norm the distance is.
        eps: keeps the norm's gradient finite.
        swap: use the distance from positive to negative where that is smaller.
        size_average: deprecated.
        reduce: deprecated.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Raises:
        ValueError: when ``margin`` is not positive.
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average=None,
        reduce=None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        if margin <= 0:
            raise ValueError(
                f"TripletMarginLoss: expected margin to be greater than 0, got {margin} instead"
            )
        self.margin, self.p, self.eps, self.swap = margin, p, eps, swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """``(N, D)`` three times to a number, or one for each sample."""
        return F.triplet_margin_loss(
            anchor,
            positive,
            negative,
            margin=self.margin,
            p=self.p,
            eps=self.eps,
            swap=self.swap,
            reduction=self.reduction,
        )


class TripletMarginWithDistanceLoss(_Loss):
    """`TripletMarginLoss` with a distance of one's own.

    Args:
        distance_function: from two tensors to their distances (default: `PairwiseDistance`).
        margin: how much further the negative should be.
        swap: use the distance from positive to negative where that is smaller.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Raises:
        ValueError: when ``margin`` is not positive.
    """

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        if margin <= 0:
            raise ValueError(
                "TripletMarginWithDistanceLoss: expected margin to be greater than 0, got "
                f"{margin} instead"
            )
        self.distance_function = distance_function or PairwiseDistance()
        self.margin, self.swap = margin, swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """Three tensors alike to a number, or one for each distance."""
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )

"""Losses: how far a prediction is from its target."""

from __future__ import annotations

from collections.abc import Callable

from jaxflow._core.tensor import Tensor
from jaxflow.nn import _reduction as _Reduction
from jaxflow.nn import functional as F
from jaxflow.nn.modules.distance import PairwiseDistance
from jaxflow.nn.modules.module import Module

# Every loss takes ``reduction``: ``"mean"`` (default), ``"sum"``, or ``"none"`` for one value an
# element. ``size_average`` and ``reduce`` are its deprecated spelling.


class _Loss(Module):
    """One function of the tensors, the reduction, and the attributes that the class declares.

    Args of the declaration:
        function: called with the tensors, and by name ``reduction`` and the settings.
        settings: names of those attributes, separated by spaces.
    """

    reduction: str
    _function: Callable
    _settings: tuple[str, ...] = ()

    def __init_subclass__(cls, function: Callable | None = None, settings: str = "") -> None:
        super().__init_subclass__()
        if function is not None:
            cls._function = staticmethod(function)
            cls._settings += tuple(settings.split())

    def __init__(self, size_average=None, reduce=None, reduction: str = "mean") -> None:
        super().__init__()
        if size_average is not None or reduce is not None:
            reduction = _Reduction.legacy_get_string(size_average, reduce)
        self.reduction = reduction

    def _compute(self, *tensors: Tensor) -> Tensor:
        settings = {name: getattr(self, name) for name in self._settings}
        return self._function(*tensors, reduction=self.reduction, **settings)


class _WeightedLoss(_Loss):
    _settings = ("weight",)

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average=None,
        reduce=None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class _ElementLoss(_Loss):
    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """A number, or with ``reduction="none"`` one for each element."""
        return self._compute(input, target)


class _MarginLoss(_Loss):
    """A loss of two inputs, of which the target says how far apart they should be."""

    def __init__(
        self, margin: float = 0.0, size_average=None, reduce=None, reduction: str = "mean"
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """A number, or with ``reduction="none"`` one for each element."""
        return self._compute(input1, input2, target)


def _check_margin(loss: str, margin: float) -> None:
    if margin <= 0:
        raise ValueError(f"{loss}: expected margin to be greater than 0, got {margin} instead")


class L1Loss(_ElementLoss, function=F.l1_loss):
    """Absolute difference."""


class MSELoss(_ElementLoss, function=F.mse_loss):
    """Squared difference."""


class SoftMarginLoss(_ElementLoss, function=F.soft_margin_loss):
    """``log(1 + exp(-target * input))`` for targets 1 and -1."""


class MultiLabelMarginLoss(_ElementLoss, function=F.multilabel_margin_loss):
    """Hinge between every target class of a sample and every other; targets end at the first -1."""


class SmoothL1Loss(_ElementLoss, function=F.smooth_l1_loss, settings="beta"):
    """Squared difference below ``beta``, absolute above, joined smoothly."""

    def __init__(
        self, size_average=None, reduce=None, reduction: str = "mean", beta: float = 1.0
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta


class HuberLoss(_ElementLoss, function=F.huber_loss, settings="delta"):
    """`SmoothL1Loss` times ``delta``."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta


class CrossEntropyLoss(
    _WeightedLoss, function=F.cross_entropy, settings="ignore_index label_smoothing"
):
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
        return self._compute(input, target)


class NLLLoss(_WeightedLoss, function=F.nll_loss, settings="ignore_index"):
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
        return self._compute(input, target)


class BCELoss(_WeightedLoss, _ElementLoss, function=F.binary_cross_entropy):
    """Binary cross entropy of probabilities."""


class BCEWithLogitsLoss(
    _ElementLoss, function=F.binary_cross_entropy_with_logits, settings="weight pos_weight"
):
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


class KLDivLoss(_ElementLoss, function=F.kl_div, settings="log_target"):
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


class PoissonNLLLoss(_Loss, function=F.poisson_nll_loss, settings="log_input full eps"):
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
        return self._compute(log_input, target)


class GaussianNLLLoss(_Loss, function=F.gaussian_nll_loss, settings="full eps"):
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
        return self._compute(input, target, var)


class HingeEmbeddingLoss(_ElementLoss, function=F.hinge_embedding_loss, settings="margin"):
    """``input`` where the target is 1, ``max(0, margin - input)`` where it is -1."""

    def __init__(
        self, margin: float = 1.0, size_average=None, reduce=None, reduction: str = "mean"
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class MarginRankingLoss(_MarginLoss, function=F.margin_ranking_loss, settings="margin"):
    """``max(0, margin - target * (input1 - input2))``."""


class CosineEmbeddingLoss(_MarginLoss, function=F.cosine_embedding_loss, settings="margin"):
    """One minus the cosine where the target is 1, ``max(0, cosine - margin)`` where it is -1."""

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """``(N, D)`` twice and ``(N,)`` targets to a number, or one for each sample."""
        return self._compute(input1, input2, target)


class MultiLabelSoftMarginLoss(_WeightedLoss, function=F.multilabel_soft_margin_loss):
    """Mean over classes of the binary cross entropy of the sigmoid."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """``(N, C)`` scores and 0 or 1 targets to a number, or one for each sample."""
        return self._compute(input, target)


class MultiMarginLoss(_WeightedLoss, function=F.multi_margin_loss, settings="p margin"):
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
        return self._compute(input, target)


class CTCLoss(_Loss, function=F.ctc_loss, settings="blank zero_infinity"):
    """How unlikely a sequence of labels is, over all ways to align it with a longer sequence of steps.

    Args:
        blank: the class that means no label.
        reduction: ``"mean"`` (each loss first divided by its number of labels), ``"sum"`` or ``"none"``.
        zero_infinity: count a target that has no alignment as zero, not as infinite.
    """

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Tensor,
                target_lengths: Tensor) -> Tensor:
        """``(T, N, C)`` log-probabilities, labels, and both lengths to a number, or one for each sample."""
        return self._compute(log_probs, targets, input_lengths, target_lengths)


class TripletMarginLoss(_Loss, function=F.triplet_margin_loss, settings="margin p eps swap"):
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
        _check_margin("TripletMarginLoss", margin)
        self.margin, self.p, self.eps, self.swap = margin, p, eps, swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """``(N, D)`` three times to a number, or one for each sample."""
        return self._compute(anchor, positive, negative)


class TripletMarginWithDistanceLoss(
    _Loss,
    function=F.triplet_margin_with_distance_loss,
    settings="distance_function margin swap",
):
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
        _check_margin("TripletMarginWithDistanceLoss", margin)
        self.distance_function = distance_function or PairwiseDistance()
        self.margin, self.swap = margin, swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """Three tensors alike to a number, or one for each distance."""
        return self._compute(anchor, positive, negative)

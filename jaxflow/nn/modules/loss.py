"""Losses: how far a prediction is from its target."""

from __future__ import annotations

import warnings
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
    """Absolute difference.

    ``loss = |input - target|`` for each element.

    It is called with ``input`` and ``target`` of the same shape and any dtype that the reduction takes (the
    mean: floating point or complex). It returns a tensor without dimensions, or with ``"none"`` one of that
    shape.

    Args:
        size_average: deprecated, use ``reduction``; False stands for ``"sum"``.
        reduce: deprecated, use ``reduction``; False stands for ``"none"``.
        reduction: ``"mean"`` or ``"sum"`` of all values, or ``"none"`` for one value for each element.

    Raises:
        ValueError: when called, for another ``reduction``.
        RuntimeError: when called, for shapes that do not broadcast, or the mean of integers.

    Example:
        >>> input, target = torch.tensor([1.0, 2.0, 5.0]), torch.tensor([1.0, 4.0, 1.0])
        >>> nn.L1Loss()(input, target)
        tensor(2.)
        >>> nn.L1Loss(reduction="none")(input, target)
        tensor([0., 2., 4.])
    """


class MSELoss(_ElementLoss, function=F.mse_loss):
    """Squared difference.

    ``loss = (input - target) ** 2`` for each element.

    It is called with ``input`` and ``target`` of the same shape, floating point. It returns a tensor
    without dimensions, or with ``"none"`` one of that shape. Other shapes broadcast, with a warning.

    Args:
        size_average: deprecated, use ``reduction``; False stands for ``"sum"``.
        reduce: deprecated, use ``reduction``; False stands for ``"none"``.
        reduction: ``"mean"`` or ``"sum"`` of all values, or ``"none"`` for one value for each element.

    Raises:
        ValueError: when called, for another ``reduction``.
        RuntimeError: when called, for shapes that do not broadcast.
        NotImplementedError: when called with integers.

    Example:
        >>> input, target = torch.tensor([1.0, 2.0, 5.0, 0.0]), torch.tensor([1.0, 4.0, 1.0, 0.0])
        >>> nn.MSELoss()(input, target)
        tensor(5.)
        >>> nn.MSELoss(reduction="none")(input, target)
        tensor([ 0.,  4., 16.,  0.])
    """


class SoftMarginLoss(_ElementLoss, function=F.soft_margin_loss):
    """``log(1 + exp(-target * input))`` for targets 1 and -1.

    It is called with ``input`` of any shape, floating point, and ``target`` of the same shape. It returns a
    tensor without dimensions, or with ``"none"`` one of that shape.

    Args:
        size_average: deprecated, use ``reduction``; False stands for ``"sum"``.
        reduce: deprecated, use ``reduction``; False stands for ``"none"``.
        reduction: ``"mean"`` or ``"sum"`` of all values, or ``"none"`` for one value for each element.

    Raises:
        ValueError: when called, for another ``reduction``.
        RuntimeError: when called, for integers as ``input``, or a ``target`` of another shape that does not
            broadcast to that of ``input``.

    Example:
        >>> loss = nn.SoftMarginLoss(reduction="none")
        >>> found = loss(torch.tensor([0.0, 0.0, 50.0]), torch.tensor([1.0, -1.0, -1.0]))
        >>> torch.allclose(found, torch.tensor([math.log(2), math.log(2), 50.0]))
        True
    """


class MultiLabelMarginLoss(_ElementLoss, function=F.multilabel_margin_loss):
    """Hinge between every target class of a sample and every other; targets end at the first -1.

    ``loss = sum over j, i of max(0, 1 - (input[target[j]] - input[i])) / C``, where ``j`` counts the
    targets of the sample before the first -1, and ``i`` the classes that are not among them.

    It is called with ``input`` of shape ``(N, C)`` or ``(C,)``, float32 or float64, and ``target`` of the
    same shape, int64: class numbers, then -1. It returns a tensor without dimensions, or with ``"none"``
    one of shape ``(N,)`` (of no dimensions for ``(C,)``).

    Args:
        size_average: deprecated, use ``reduction``; False stands for ``"sum"``.
        reduce: deprecated, use ``reduction``; False stands for ``"none"``.
        reduction: ``"mean"`` or ``"sum"`` of all values, or ``"none"`` for one value for each sample.

    Raises:
        ValueError: when called, for another ``reduction``.
        RuntimeError: when called, for different shapes, or a target that is no class and not -1.
        NotImplementedError: when called with half precision.

    Example:
        >>> input = torch.tensor([[0.5, 0.25, 0.0, 1.0]])
        >>> nn.MultiLabelMarginLoss()(input, torch.tensor([[3, 0, -1, 1]]))  # the classes 3 and 0
        tensor(0.3750)
    """


class SmoothL1Loss(_ElementLoss, function=F.smooth_l1_loss, settings="beta"):
    """Squared difference below ``beta``, absolute above, joined smoothly.

    With ``d = |input - target|``: ``0.5 * d ** 2 / beta`` where ``d < beta``, else ``d - 0.5 * beta``. From
    Girshick, "Fast R-CNN", 2015.

    It is called with ``input`` and ``target`` of the same shape, floating point. It returns a tensor
    without dimensions, or with ``"none"`` one of that shape.

    Args:
        size_average: deprecated, use ``reduction``; False stands for ``"sum"``.
        reduce: deprecated, use ``reduction``; False stands for ``"none"``.
        reduction: ``"mean"`` or ``"sum"`` of all values, or ``"none"`` for one value for each element.
        beta: the difference at which the two parts join, at least 0; with 0 it is `L1Loss`.

    Raises:
        ValueError: when called, for another ``reduction``.
        RuntimeError: when called, for a negative ``beta``, or shapes that do not broadcast.

    Example:
        >>> loss = nn.SmoothL1Loss(reduction="none")
        >>> loss(torch.tensor([0.5, 2.0, -3.0]), torch.zeros(3))
        tensor([0.1250, 1.5000, 2.5000])
    """

    def __init__(
        self, size_average=None, reduce=None, reduction: str = "mean", beta: float = 1.0
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta


class HuberLoss(_ElementLoss, function=F.huber_loss, settings="delta"):
    """`SmoothL1Loss` with ``beta = delta``, times ``delta``.

    With ``d = |input - target|``: ``0.5 * d ** 2`` where ``d <= delta``, else
    ``delta * (d - 0.5 * delta)``. From Huber, "Robust Estimation of a Location Parameter", 1964.

    It is called with ``input`` and ``target`` of the same shape, floating point. It returns a tensor
    without dimensions, or with ``"none"`` one of that shape.

    Args:
        reduction: ``"mean"`` or ``"sum"`` of all values, or ``"none"`` for one value for each element.
        delta: where the squared part ends and the linear part starts; greater than 0.

    Raises:
        ValueError: when called, for another ``reduction``.
        RuntimeError: when called, for a ``delta`` that is not positive, or shapes that do not broadcast.

    Example:
        >>> loss = nn.HuberLoss(reduction="none", delta=2.0)
        >>> loss(torch.tensor([1.0, 4.0]), torch.zeros(2))
        tensor([0.5000, 6.0000])
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta


class CrossEntropyLoss(
    _WeightedLoss, function=F.cross_entropy, settings="ignore_index label_smoothing"
):
    """Negative log of the softmax of ``input`` at the target class, or of target probabilities.

    For a class ``t``: ``loss = -weight[t] * log_softmax(input)[t]``. For probabilities ``q``:
    ``loss = -sum over c of q[c] * weight[c] * log_softmax(input)[c]``. With ``label_smoothing`` ``s``, a
    target counts as ``(1 - s) * q + s / C``, where ``q`` is 1 at the class ``t`` and 0 elsewhere (Szegedy
    et al., "Rethinking the Inception Architecture for Computer Vision", 2016).

    It is called with ``input``, scores of shape ``(N, C, ...)`` or ``(C,)``, floating point, and
    ``target``: either classes of shape ``(N, ...)`` or ``()``, int64 or uint8, or probabilities of the
    shape of ``input``, floating point. It returns a tensor without dimensions, or with ``"none"`` one of
    shape ``(N, ...)``.

    Args:
        weight: factor for each class, shape ``(C,)``; the default is 1 for all.
        size_average: deprecated, use ``reduction``; False stands for ``"sum"``.
        ignore_index: target class that counts as nothing; only for classes, not for probabilities.
        reduce: deprecated, use ``reduction``; False stands for ``"none"``.
        reduction: ``"sum"``, ``"none"``, or ``"mean"``: the sum divided by the sum of the weights of the
            target classes that count; for probabilities, divided by the number of samples and positions.
        label_smoothing: share of the target spread over all classes, from 0 to 1.

    Raises:
        ValueError: when called, for another ``reduction``, or different batch sizes.
        IndexError: when called with a target that is no class.
        RuntimeError: when called, for shapes or dtypes that do not fit, or a ``label_smoothing`` above 1.

    Example:
        >>> scores = torch.tensor([[100.0, 0.0, 0.0], [0.0, 0.0, 100.0]])
        >>> nn.CrossEntropyLoss(reduction="none")(scores, torch.tensor([0, 1]))
        tensor([  0., 100.])
        >>> nn.CrossEntropyLoss(ignore_index=0)(scores, torch.tensor([0, 1]))
        tensor(100.)
        >>> nn.CrossEntropyLoss()(scores, torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]))
        tensor(25.)
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

    ``loss = -weight[target] * input[target]`` for each sample (and position).

    It is called with ``input``, log probabilities of shape ``(N, C, ...)`` or ``(C,)``, floating point, and
    ``target``, classes of shape ``(N, ...)`` or ``()``, int64 or uint8. It returns a tensor without
    dimensions, or with ``"none"`` one of the shape of ``target``.

    Args:
        weight: factor for each class, shape ``(C,)``; the default is 1 for all.
        size_average: deprecated, use ``reduction``; False stands for ``"sum"``.
        ignore_index: target class that counts as nothing.
        reduce: deprecated, use ``reduction``; False stands for ``"none"``.
        reduction: ``"sum"``, ``"none"``, or ``"mean"``: the sum divided by the sum of the weights of the
            target classes that count.

    Raises:
        ValueError: when called, for another ``reduction``, or different batch sizes.
        IndexError: when called with a target that is no class.
        RuntimeError: when called, for shapes or dtypes that do not fit.

    Example:
        >>> input = torch.tensor([[-1.0, -2.0, -3.0], [-4.0, -5.0, -6.0]])
        >>> nn.NLLLoss()(input, torch.tensor([0, 2]))
        tensor(3.5000)
        >>> loss = nn.NLLLoss(weight=torch.tensor([1.0, 1.0, 3.0]))
        >>> loss(input, torch.tensor([0, 2]))  # (1 + 3 * 6) / (1 + 3)
        tensor(4.7500)
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


class NLLLoss2d(NLLLoss):
    """`NLLLoss` under its former name for images.

    Args:
        weight: factor for each class, shape ``(C,)``; the default is 1 for all.
        size_average: deprecated, use ``reduction``; False stands for ``"sum"``.
        ignore_index: target class that counts as nothing.
        reduce: deprecated, use ``reduction``; False stands for ``"none"``.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Example:
        >>> issubclass(nn.NLLLoss2d, nn.NLLLoss)  # to make one is a FutureWarning
        True
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average=None,
        ignore_index: int = -100,
        reduce=None,
        reduction: str = "mean",
    ) -> None:
        if type(self) is NLLLoss2d:
            warnings.warn(
                "`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead as a drop-in replacement and "
                "see https://pytorch.org/docs/main/nn.html#torch.nn.NLLLoss for more details.",
                FutureWarning, stacklevel=2)
        super().__init__(weight, size_average, ignore_index, reduce, reduction)


class BCELoss(_WeightedLoss, _ElementLoss, function=F.binary_cross_entropy):
    """Binary cross entropy of probabilities.

    ``loss = -weight * (target * log(input) + (1 - target) * log(1 - input))`` for each element, where the
    logarithms count as at least -100, so that the loss stays finite.

    It is called with ``input`` and ``target`` of the same shape, floating point, with values from 0 to 1.
    It returns a tensor without dimensions, or with ``"none"`` one of that shape.

    Args:
        weight: factor for each element, of a shape that broadcasts to that of ``input``; the default is 1.
        size_average: deprecated, use ``reduction``; False stands for ``"sum"``.
        reduce: deprecated, use ``reduction``; False stands for ``"none"``.
        reduction: ``"mean"`` or ``"sum"`` of all values, or ``"none"`` for one value for each element.

    Raises:
        ValueError: when called, for another ``reduction``, or different shapes.
        RuntimeError: when called with values that are not from 0 to 1.

    Example:
        >>> input, target = torch.tensor([1.0, 0.0]), torch.tensor([0.0, 0.0])
        >>> nn.BCELoss()(input, target)  # the mean of 100 and 0
        tensor(50.)
        >>> torch.isclose(nn.BCELoss()(torch.full((3,), 0.5), torch.ones(3)), torch.tensor(math.log(2)))
        tensor(True)
    """


class BCEWithLogitsLoss(
    _ElementLoss, function=F.binary_cross_entropy_with_logits, settings="weight pos_weight"
):
    """Binary cross entropy of the sigmoid of ``input``.

    With ``p = sigmoid(input)``:
    ``loss = -weight * (pos_weight * target * log(p) + (1 - target) * log(1 - p))``, worked out so that
    large inputs neither overflow nor lose the small numbers.

    It is called with ``input``, scores of any shape, and ``target`` of the same shape, from 0 to 1; both
    floating point. It returns a tensor without dimensions, or with ``"none"`` one of that shape.

    Args:
        weight: factor for each element, of a shape that broadcasts to that of ``input``.
        size_average: deprecated, use ``reduction``; False stands for ``"sum"``.
        reduce: deprecated, use ``reduction``; False stands for ``"none"``.
        reduction: ``"mean"`` or ``"sum"`` of all values, or ``"none"`` for one value for each element.
        pos_weight: factor for the positive targets of each class, of a shape that broadcasts to that of
            ``input``, as ``(C,)`` for ``(N, C)``.

    Raises:
        ValueError: when called, for another ``reduction``, or different shapes.

    Example:
        >>> input, target = torch.tensor([-50.0, 50.0]), torch.tensor([1.0, 1.0])
        >>> nn.BCEWithLogitsLoss(reduction="sum")(input, target)
        tensor(50.)
        >>> nn.BCEWithLogitsLoss(reduction="sum", pos_weight=torch.tensor(3.0))(input, target)
        tensor(150.)
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

    ``loss = target * (log(target) - input)`` for each element, 0 where ``target`` is 0; with ``log_target``
    ``loss = exp(target) * (target - input)``. From Kullback and Leibler, "On Information and Sufficiency",
    1951.

    It is called with ``input`` and ``target`` of the same shape, ``(N, ...)``, floating point. It returns a
    tensor without dimensions, or with ``"none"`` one of that shape.

    Args:
        size_average: deprecated, use ``reduction``; False stands for ``"sum"``.
        reduce: deprecated, use ``reduction``; False stands for ``"none"``.
        reduction: ``"batchmean"``, the sum divided by the size of dimension 0, which is the divergence by
            its definition; ``"mean"`` over all elements, which warns that it is not; ``"sum"``; or
            ``"none"``.
        log_target: whether ``target`` holds log probabilities too.

    Raises:
        ValueError: when called, for another ``reduction``.
        RuntimeError: when called with integers or complex numbers.

    Example:
        >>> input, target = torch.tensor([[0.5, 0.5]]).log(), torch.tensor([[1.0, 0.0]])
        >>> found = nn.KLDivLoss(reduction="batchmean")(input, target)
        >>> torch.isclose(found, torch.tensor(math.log(2)))
        tensor(True)
        >>> nn.KLDivLoss(reduction="sum", log_target=True)(input, input)
        tensor(0.)
    """

    def __init__(
        self, size_average=None, reduce=None, reduction: str = "mean", log_target: bool = False
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target


class PoissonNLLLoss(_Loss, function=F.poisson_nll_loss, settings="log_input full eps"):
    """Negative log likelihood of counts under a Poisson distribution.

    ``loss = exp(input) - target * input``, or ``input - target * log(input + eps)`` where ``input`` is not
    a logarithm. The term ``log(target!)`` is left out, or with ``full`` approximated by Stirling's formula,
    ``target * log(target) - target + 0.5 * log(2 * pi * target)``, where ``target`` is greater than 1.

    It is called with the (log) rate and ``target``, of the same shape, floating point. It returns a tensor
    without dimensions, or with ``"none"`` one of that shape.

    Args:
        log_input: whether ``input`` is the log of the rate.
        full: add an approximation of the constant term.
        size_average: deprecated, use ``reduction``; False stands for ``"sum"``.
        eps: keeps the log of a rate finite; read only where ``log_input`` is False.
        reduce: deprecated, use ``reduction``; False stands for ``"none"``.
        reduction: ``"mean"`` or ``"sum"`` of all values, or ``"none"`` for one value for each element.

    Raises:
        ValueError: when called, for another ``reduction``.

    Example:
        >>> nn.PoissonNLLLoss()(torch.zeros(3), torch.tensor([2.0, 0.0, 1.0]))
        tensor(1.)
        >>> rates, counts = torch.tensor([1.0, 4.0]), torch.tensor([3.0, 0.0])
        >>> nn.PoissonNLLLoss(log_input=False, reduction="none")(rates, counts)
        tensor([1., 4.])
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

    ``loss = 0.5 * (log(var) + (input - target) ** 2 / var)``, with ``full`` plus ``0.5 * log(2 * pi)``; a
    ``var`` below ``eps`` counts as ``eps``. From Nix and Weigend, "Estimating the mean and variance of the
    target probability distribution", 1994.

    It is called with ``input`` (the mean), ``target`` and ``var``; the first two of the same shape,
    floating point, ``var`` of that shape, or with its last dimension of size 1 or left out, or a Python
    float. It returns a tensor without dimensions, or with ``"none"`` one of the shape of ``input``.

    Args:
        full: add the constant term.
        eps: smallest variance; the gradient of ``var`` does not see this bound.
        reduction: ``"mean"`` or ``"sum"`` of all values, or ``"none"`` for one value for each element.

    Raises:
        ValueError: when called, for another ``reduction``, a negative variance, or a ``var`` of another
            shape.

    Example:
        >>> loss = nn.GaussianNLLLoss(reduction="none")
        >>> loss(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 2.0]), torch.ones(2))
        tensor([2., 0.])
        >>> loss(torch.zeros(4, 3), torch.zeros(4, 3), torch.ones(4)).shape  # one variance for each row
        torch.Size([4, 3])
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full, self.eps = full, eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        """A number, or with ``reduction="none"`` one for each element."""
        return self._compute(input, target, var)


class HingeEmbeddingLoss(_ElementLoss, function=F.hinge_embedding_loss, settings="margin"):
    """``input`` where the target is 1, ``max(0, margin - input)`` where it is -1.

    It is called with ``input``, as a rule distances, of any shape, and ``target`` of the same shape with
    the values 1 and -1. It returns a tensor without dimensions, or with ``"none"`` one of that shape, in
    the dtype of ``input``.

    Args:
        margin: from what distance on a pair with target -1 costs nothing.
        size_average: deprecated, use ``reduction``; False stands for ``"sum"``.
        reduce: deprecated, use ``reduction``; False stands for ``"none"``.
        reduction: ``"mean"`` or ``"sum"`` of all values, or ``"none"`` for one value for each element.

    Raises:
        ValueError: when called, for another ``reduction``.
        RuntimeError: when called, for shapes that do not broadcast, or the mean of integers.

    Example:
        >>> loss = nn.HingeEmbeddingLoss(reduction="none")
        >>> loss(torch.tensor([1.0, 0.25, 2.0]), torch.tensor([1, -1, -1]))
        tensor([1.0000, 0.7500, 0.0000])
    """

    def __init__(
        self, margin: float = 1.0, size_average=None, reduce=None, reduction: str = "mean"
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class MarginRankingLoss(_MarginLoss, function=F.margin_ranking_loss, settings="margin"):
    """``max(0, margin - target * (input1 - input2))``.

    A target of 1 says that ``input1`` should be the larger one, -1 that ``input2`` should.

    It is called with ``input1``, ``input2`` and ``target``, of the same shape (or shapes of as many
    dimensions that broadcast), floating point. It returns a tensor without dimensions, or with ``"none"``
    one of that shape.

    Args:
        margin: by how much the one should be larger.
        size_average: deprecated, use ``reduction``; False stands for ``"sum"``.
        reduce: deprecated, use ``reduction``; False stands for ``"none"``.
        reduction: ``"mean"`` or ``"sum"`` of all values, or ``"none"`` for one value for each element.

    Raises:
        ValueError: when called, for another ``reduction``.
        RuntimeError: when called with tensors of different numbers of dimensions.

    Example:
        >>> loss = nn.MarginRankingLoss(margin=0.5, reduction="none")
        >>> loss(torch.tensor([1.0, 2.0]), torch.tensor([2.0, 0.0]), torch.tensor([1.0, 1.0]))
        tensor([1.5000, 0.0000])
    """


class CosineEmbeddingLoss(_MarginLoss, function=F.cosine_embedding_loss, settings="margin"):
    """One minus the cosine where the target is 1, ``max(0, cosine - margin)`` where it is -1.

    It is called with ``input1`` and ``input2`` of shape ``(N, D)`` and ``target`` of shape ``(N,)``, or
    ``(D,)`` and ``()``; the inputs floating point, the target 1 or -1. It returns a tensor without
    dimensions, or with ``"none"`` one of the shape of ``target``.

    Args:
        margin: up to what cosine a pair with target -1 costs nothing; sensible values are from 0 to 0.5.
        size_average: deprecated, use ``reduction``; False stands for ``"sum"``.
        reduce: deprecated, use ``reduction``; False stands for ``"none"``.
        reduction: ``"mean"`` or ``"sum"`` of all values, or ``"none"`` for one value for each sample.

    Raises:
        ValueError: when called, for another ``reduction``.
        RuntimeError: when called with shapes that do not fit.

    Example:
        >>> loss = nn.CosineEmbeddingLoss(margin=0.5, reduction="none")
        >>> first, second = torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([[0.0, 1.0], [2.0, 0.0]])
        >>> loss(first, second, torch.tensor([1, -1]))
        tensor([1.0000, 0.5000])
    """

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """``(N, D)`` twice and ``(N,)`` targets to a number, or one for each sample."""
        return self._compute(input1, input2, target)


class MultiLabelSoftMarginLoss(_WeightedLoss, function=F.multilabel_soft_margin_loss):
    """Mean over classes of the binary cross entropy of the sigmoid.

    With ``p = sigmoid(input)``:
    ``loss = -sum over c of weight[c] * (target[c] * log(p[c]) + (1 - target[c]) * log(1 - p[c])) / C``.

    It is called with ``input``, scores of shape ``(N, C)`` or ``(C,)``, and ``target`` of the same shape
    with the values 0 and 1; both floating point. It returns a tensor without dimensions, or with ``"none"``
    one of shape ``(N,)``.

    Args:
        weight: factor for each class, shape ``(C,)``; the default is 1 for all.
        size_average: deprecated, use ``reduction``; False stands for ``"sum"``.
        reduce: deprecated, use ``reduction``; False stands for ``"none"``.
        reduction: ``"mean"`` or ``"sum"`` of all values, or ``"none"`` for one value for each sample.

    Raises:
        ValueError: when called, for another ``reduction``.
        RuntimeError: when called with shapes that do not broadcast.

    Example:
        >>> input, target = torch.tensor([[100.0, -100.0]]), torch.tensor([[1.0, 1.0]])
        >>> nn.MultiLabelSoftMarginLoss()(input, target)
        tensor(50.)
        >>> nn.MultiLabelSoftMarginLoss(weight=torch.tensor([1.0, 0.5]), reduction="none")(input, target)
        tensor([25.])
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """``(N, C)`` scores and 0 or 1 targets to a number, or one for each sample."""
        return self._compute(input, target)


class MultiMarginLoss(_WeightedLoss, function=F.multi_margin_loss, settings="p margin"):
    """Hinge between the target class and every other.

    ``loss = sum over i != target of weight[target] * max(0, margin - input[target] + input[i]) ** p / C``.
    The sum over the other classes is from Weston and Watkins, "Multi-class Support Vector Machines", 1998.

    It is called with ``input``, scores of shape ``(N, C)`` or ``(C,)``, float32 or float64, and ``target``,
    classes of shape ``(N,)`` or ``()``, int64. It returns a tensor without dimensions, or with ``"none"``
    one of the shape of ``target``.

    Args:
        p: power of the hinge, 1 or 2.
        margin: how far the target class should be ahead.
        weight: factor for each class, shape ``(C,)``; the default is 1 for all.
        size_average: deprecated, use ``reduction``; False stands for ``"sum"``.
        reduce: deprecated, use ``reduction``; False stands for ``"none"``.
        reduction: ``"mean"`` or ``"sum"`` of all values, or ``"none"`` for one value for each sample.

    Raises:
        ValueError: for other powers; when called, for another ``reduction``.
        AssertionError: when ``weight`` is not one-dimensional.
        RuntimeError: when called, for shapes that do not fit, or a target that is no class.
        NotImplementedError: when called with half precision.

    Example:
        >>> input = torch.tensor([[0.5, 1.0, 0.0, -1.0]])
        >>> nn.MultiMarginLoss()(input, torch.tensor([0]))  # (1.5 + 0.5 + 0) / 4
        tensor(0.5000)
        >>> nn.MultiMarginLoss(p=2)(input, torch.tensor([0]))  # (1.5 ** 2 + 0.5 ** 2 + 0) / 4
        tensor(0.6250)
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

    ``loss = -log(sum of exp(log_probs) over all paths that spell the targets)``, where a path names one
    class for each step, and spells what is left after equal neighbours are merged and blanks removed. From
    Graves et al., "Connectionist Temporal Classification: Labelling Unsegmented Sequence Data with
    Recurrent Neural Networks", 2006.

    It is called with ``log_probs`` of shape ``(T, N, C)`` or ``(T, C)``, float32 or float64, ``targets`` of
    shape ``(N, S)`` or all in one row, ``(sum of target_lengths,)``, and ``input_lengths`` and
    ``target_lengths`` of shape ``(N,)``, integers, or lists of them. It returns a tensor without
    dimensions, or with ``"none"`` one of shape ``(N,)``.

    Args:
        blank: the class that means no label.
        reduction: ``"mean"`` (each loss first divided by its number of labels), ``"sum"`` or ``"none"``.
        zero_infinity: count a target that has no alignment as zero, not as infinite.

    Raises:
        ValueError: when called, for another ``reduction``.
        RuntimeError: when called, for lengths or shapes that do not fit.
        NotImplementedError: when called with other dtypes.

    Example:
        >>> log_probs = torch.full((2, 1, 2), 0.5).log()  # two steps, classes: blank and 1
        >>> one = torch.tensor([1])
        >>> found = nn.CTCLoss()(log_probs, torch.tensor([[1]]), torch.tensor([2]), one)
        >>> torch.isclose(found, torch.tensor(-math.log(0.75)))  # three of the four paths spell [1]
        tensor(True)
        >>> nn.CTCLoss(zero_infinity=True)(log_probs, torch.tensor([[1, 1]]), torch.tensor([2]), one + 1)
        tensor(0.)
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

    The distance is the ``p``-norm of ``x - y + eps``, as of `PairwiseDistance`. From Balntas et al.,
    "Learning local feature descriptors with triplets and shallow convolutional neural networks", 2016.

    It is called with ``anchor``, ``positive`` and ``negative`` of shape ``(N, D)`` or ``(D,)``, floating
    point. It returns a tensor without dimensions, or with ``"none"`` one of shape ``(N,)``.

    Args:
        margin: how much further the negative should be; greater than 0.
        p: which norm the distance is.
        eps: keeps the norm's gradient finite.
        swap: use the distance from positive to negative where that is smaller.
        size_average: deprecated, use ``reduction``; False stands for ``"sum"``.
        reduce: deprecated, use ``reduction``; False stands for ``"none"``.
        reduction: ``"mean"`` or ``"sum"`` of all values, or ``"none"`` for one value for each sample.

    Raises:
        ValueError: when ``margin`` is not positive; when called, for another ``reduction``.

    Example:
        >>> anchor, positive = torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0]])
        >>> loss = nn.TripletMarginLoss(margin=1.0, eps=0.0)
        >>> loss(anchor, positive, torch.tensor([[0.0, 1.0]]))  # 5 - 1 + 1
        tensor(5.)
        >>> loss(anchor, positive, torch.tensor([[0.0, 8.0]]))
        tensor(0.)
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

    ``loss = max(0, distance(anchor, positive) - distance(anchor, negative) + margin)``.

    It is called with ``anchor``, ``positive`` and ``negative`` of the same shape, which
    ``distance_function`` takes. It returns a tensor without dimensions, or with ``"none"`` one of the shape
    of the distances.

    Args:
        distance_function: from two tensors to their distances (default: `PairwiseDistance`).
        margin: how much further the negative should be; greater than 0.
        swap: use the distance from positive to negative where that is smaller.
        reduction: ``"mean"`` or ``"sum"`` of all values, or ``"none"`` for one value for each distance.

    Raises:
        ValueError: when ``margin`` is not positive; when called, for another ``reduction``.

    Example:
        >>> loss = nn.TripletMarginWithDistanceLoss(distance_function=lambda x, y: (x - y).abs().sum(1))
        >>> anchor, positive = torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0]])
        >>> loss(anchor, positive, torch.tensor([[0.0, 1.0]]))  # 7 - 1 + 1
        tensor(7.)
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

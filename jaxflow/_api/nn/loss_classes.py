"""Losses over classes as functions, and those of triplets: checks around
``_ops/loss_classes.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._ops.loss_classes import CROSS_ENTROPY, NLL_LOSS, NO_MEAN
from jaxflow._plans.op import OPS
from jaxflow._publish.composite import composite
from jaxflow._publish.value_checks import Watch

from .loss import not_differentiable, reduction_of


def _functional(fn: Callable) -> Callable:
    return composite("function", namespace="nn.functional")(fn)


def _over_classes(result: Tensor, target: Tensor, classes: int, ignore_index: int) -> Tensor:
    """The ``result``, unless a target is no class."""
    watch = Watch()
    if target._aval.numel and target._aval.dtype.np.kind in "iu":
        watch.within((target,), ((0, classes - 1),), lambda value, _: IndexError(
            f"Target {value} is out of bounds."), ignore_index)
    return watch.over(result)


def _classes(input: Tensor) -> int:
    shape = input._aval.shape
    return shape[0] if len(shape) == 1 else shape[1] if shape else 1


def _layout(input: Tensor) -> str:
    """Which of the ops that differ in their node's name: PyTorch has kernels for 1, 2 and 4
    dims.
    """
    dims = len(input._aval.shape)
    return "flat" if dims <= 2 else "images" if dims == 4 else "reshaped"


@_functional
def nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: Any = None,
    ignore_index: int = -100, reduce: Any = None, reduction: str = "mean",
) -> Tensor:
    """The negated score of the right class.

    For each ``n``: ``loss[n] = -weight[target[n]] * input[n, target[n]]``. The mean is
    ``sum(loss) / sum(weight[target[n]])`` over the targets that are not ignored.

    Args:
        input: scores, usually log-probabilities, ``(N, C, ...)`` or ``(C,)``; floating point.
        target: classes, ``(N, ...)`` or a 0-d tensor; int64 or uint8.
        weight: one factor a class, ``(C,)``; the mean is then over the weights.
        size_average: deprecated, as is ``reduce``.
        ignore_index: a target that counts for nothing.
        reduce: deprecated.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Returns:
        A tensor of no dimensions, or with ``"none"`` one of the shape of ``target``; the dtype is the
        input's.

    Raises:
        ValueError: for another reduction, or different batch sizes.
        IndexError: for a target that is no class.
        RuntimeError: for other shapes or dtypes that do not fit.

    Example:
        >>> scores = torch.tensor([[-1.0, -2.0], [-3.0, -4.0], [-5.0, -6.0]])
        >>> F.nll_loss(scores, torch.tensor([0, 1, -100]), reduction="none")
        tensor([1., 4., 0.])
        >>> F.nll_loss(scores, torch.tensor([0, 1, -100]))
        tensor(2.5000)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    not_differentiable("nll_loss_forward", weight=weight)
    static = (int(ignore_index), reduction)
    result = apply(NLL_LOSS[_layout(input)], (input, target, weight), static)
    return _over_classes(result, target, _classes(input), ignore_index)


@_functional
def cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: Any = None,
    ignore_index: int = -100, reduce: Any = None, reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Cross entropy of logits with the right classes, or with their probabilities.

    For one position ``-weight[target] * log_softmax(input)[target]``, or with probabilities
    ``-sum over c of weight[c] * target[c] * log_softmax(input)[c]``. The mean over classes divides by the
    sum of the weights of the targets that count. Label smoothing, from Szegedy and others, 2016,
    "Rethinking the Inception architecture for computer vision", replaces the target by ``(1 - s) * target +
    s / C``.

    Args:
        input: logits, floating point, ``(N, C, ...)`` or ``(C,)``.
        target: classes ``(N, ...)``, int64 or uint8, or probabilities of the input's shape.
        weight: one factor a class, ``(C,)``, of the dtype of ``input``.
        size_average: deprecated, as is ``reduce``.
        ignore_index: a target that counts for nothing.
        reduce: deprecated.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        label_smoothing: how much of the target is spread over all classes alike.

    Returns:
        A tensor without dimensions; with ``reduction="none"`` the losses, of shape ``(N, ...)``.

    Raises:
        ValueError: for another reduction, or different batch sizes.
        IndexError: for a target that is no class.
        RuntimeError: for other shapes or dtypes that do not fit.

    Example:
        >>> logits = torch.tensor([[0.0, -1000.0], [-1000.0, 0.0]])
        >>> F.cross_entropy(logits, torch.tensor([0, 0]))
        tensor(500.)
        >>> F.cross_entropy(logits, torch.tensor([0, -100]), reduction="none")  # the second is left out
        tensor([0., 0.])
        >>> F.cross_entropy(logits, torch.tensor([[0.5, 0.5], [0.0, 1.0]]), reduction="none")
        tensor([500.,   0.])
    """
    reduction = reduction_of(size_average, reduce, reduction)
    label_smoothing = label_smoothing if label_smoothing > 0 else 0.0  # nor does PyTorch refuse less, or nan
    if label_smoothing > 1:
        raise RuntimeError(
            f"label_smoothing must be between 0.0 and 1.0. Got: {float(label_smoothing):g}"
        )
    operands = (input, target, weight)
    if input._aval.shape == target._aval.shape:
        if not target._aval.dtype.is_floating_point:
            raise RuntimeError(
                "Expected floating point type for target with class probabilities, got "
                f"{target._aval.dtype.scalar_name}"
            )
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        if not input._aval.shape:
            raise IndexError("Dimension specified as 1 but tensor has no dimensions")
        classes = _classes(input)
        if weight is not None and weight._aval.shape != (classes,):
            raise RuntimeError(
                f"cross_entropy: weight tensor should be defined either for all {classes} classes or no "
                f"classes but got weight tensor of shape: {list(weight._aval.shape)}"
            )
        _refuse_scores(input)
        if reduction == "mean" and not input._aval.numel:
            reduction = NO_MEAN
        static = (reduction, float(label_smoothing))
        return apply(OPS["_cross_entropy_of_probabilities"], operands, static)
    if weight is not None:
        _refuse_scores(input)
        not_differentiable("nll_loss_forward", weight=weight)
    static = (int(ignore_index), reduction)
    if label_smoothing > 0:
        result = apply(OPS["_cross_entropy_smoothed"], operands, (*static, float(label_smoothing)))
    else:
        result = apply(CROSS_ENTROPY[_layout(input)], operands, static)
    return _over_classes(result, target, _classes(input), ignore_index)


def _refuse_scores(input: Tensor) -> None:
    """Refuse the dtypes that have no log-softmax: PyTorch takes it before it looks at anything else."""
    if not input._aval.dtype.is_floating_point:
        last = "lastdim_" if input._aval.ndim < 3 else ""
        raise NotImplementedError(f"\"log_softmax_{last}kernel_impl\" not implemented for "
                                  f"'{input._aval.dtype.scalar_name}'")


# ------------------------------------------------------------------------------------------ margins


@_functional
def multi_margin_loss(
    input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0, weight: Tensor | None = None,
    size_average: Any = None, reduce: Any = None, reduction: str = "mean",
) -> Tensor:
    """Hinge of the wrong classes against the right one, to the power ``p``.

    Raises:
        ValueError: unless ``p`` is 1 or 2, and for an unknown reduction.
        RuntimeError: for shapes or dtypes that do not fit, and targets that are no class.
    """
    reduction = reduction_of(size_average, reduce, reduction)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    not_differentiable("multi_margin_loss", weight=weight)
    static = (int(p), float(margin), reduction)
    result = apply(OPS["_multi_margin_loss"], (input, target, weight), static)
    return _within(result, target, 0, input.shape[-1] if input.dim() else 1, "target out of range")


@_functional
def multilabel_margin_loss(
    input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """Hinge of the classes not in each target list (ended by -1) against those in it."""
    reduction = reduction_of(size_average, reduce, reduction)
    words, classes = "argument #2 'target' is out of range", input.shape[-1] if input.dim() else 1
    taken = target._aval.dtype is dtypes.int64 and input._aval.dtype in (dtypes.float32, dtypes.float64)
    if not taken and target._aval.shape == input._aval.shape and target._aval.numel:
        # PyTorch looks at the numbers before it refuses these dtypes.
        if int(target.min()) < -1 or int(target.max()) >= classes:
            raise RuntimeError(words)
    result = apply(OPS["_multilabel_margin_loss"], (input, target), (reduction,))
    return _within(result, target, -1, classes, words)


def _within(result: Tensor, target: Tensor, low: int, high: int, words: str) -> Tensor:
    """The ``result``, unless a target is not in ``[low, high)``."""
    watch = Watch()
    if target._aval.numel:
        watch.within((target,), ((low, high - 1),), lambda *_: RuntimeError(words))
    return watch.over(result)

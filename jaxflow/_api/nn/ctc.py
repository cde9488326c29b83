"""The CTC loss in its public form: lengths as tensors or numbers, and its reductions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jaxflow._api.creation.construct import tensor
from jaxflow._api.forms import invalid_combination
from jaxflow._core.dtype import int64
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS
from jaxflow._publish.composite import composite
from jaxflow._publish.value_checks import Watch

from .loss import reduction_of

_WHILE = "(while checking arguments for ctc_loss_allocate_outputs)"
#: The reductions as `ctc_loss` of the root namespace counts them.
_REDUCTIONS = ("none", "mean", "sum")


def _lengths(name: str, given: Any, like: Tensor) -> Tensor:
    if not isinstance(given, Tensor):
        return tensor([int(n) for n in given], dtype=int64, device=like.device)
    if given._aval.dtype.np.kind not in "iu":
        raise RuntimeError(f"{name} must be integral")
    return given.reshape(1) if given.dim() == 0 else given


def _misfit(name: str, most: str) -> Callable[[Any, int], Exception]:
    """The error for a length out of bounds; ``most`` says what the upper one is."""

    def error(value: Any, _: int) -> Exception:
        least = f"Expected {name} to have value at least 0, but got value {value}"
        return RuntimeError(f"{least if value < 0 else most.format(value)} {_WHILE}")

    return error


def _check_lengths(watch: Watch, log_probs: Tensor, targets: Tensor, inputs: Tensor,
                   lengths: Tensor) -> None:
    steps, room, second = log_probs.shape[0], targets.shape[-1], "for argument #2 'targets'"
    watch.within((inputs,), ((0, steps),), _misfit(
        "input_lengths", f"Expected input_lengths to have value at most {steps}, but got value {{}}"))
    if targets.dim() == 2:
        watch.within((lengths,), ((0, room),), _misfit("target_lengths", (
            f"Expected tensor to have size at least {{}} at dimension 1, but got size {room} {second}")))
        return
    numbers = watch.known(lengths)
    watch.within((lengths,), ((0, 2**31 - 1),), _misfit("target_lengths", ""))
    # The sum of what is known is to be known too.
    total = lengths.sum() if numbers is None else tensor(int(numbers.sum()))
    watch.within((total,), ((room, room),), lambda value, _: RuntimeError(
        f"Expected tensor to have size {value} at dimension 0, but got size {room} {second} {_WHILE}"))


def _longest(watch: Watch, log_probs: Tensor, targets: Tensor, lengths: Tensor) -> int:
    """A bound of the targets' lengths; a longer one than there are steps has no alignment anyway."""
    if targets.dim() != 1:
        return 0
    numbers = watch.known(lengths)
    if numbers is not None:
        return int(numbers.max(initial=0))
    return min(targets.shape[0], log_probs.shape[0])


@composite("function")
def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Tensor | Sequence[int],
             target_lengths: Tensor | Sequence[int], blank: int = 0, reduction: int = 0,
             zero_infinity: bool = False) -> Tensor:
    """`nn.functional.ctc_loss` with the reduction by number: 0 none (as PyTorch's own default comes out), 1
    mean, 2 sum.
    """
    given = (log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity)
    kinds = {isinstance(x, Tensor) for x in (input_lengths, target_lengths)}
    if len(kinds) == 2 or isinstance(input_lengths, int) or isinstance(target_lengths, int):
        raise invalid_combination("ctc_loss", given, {})
    inputs, lengths = (
        _lengths(name, x, log_probs) for name, x in zip(("input_lengths", "target_lengths"), given[2:])
    )
    unbatched = log_probs.dim() != 3
    if unbatched:
        log_probs = log_probs.unsqueeze(1)
        targets = targets.unsqueeze(0) if targets.dim() == 1 else targets
    watch = Watch()
    static = (int(blank), _longest(watch, log_probs, targets, lengths), bool(zero_infinity))
    loss = apply(OPS["_ctc_loss"], (log_probs, targets, inputs, lengths), static)
    _check_lengths(watch, log_probs, targets, inputs, lengths)
    watch.over(loss)
    if zero_infinity:
        loss = apply(OPS["where"], (loss == float("inf"), 0.0, loss))
    if _REDUCTIONS[reduction] == "mean":
        return (loss / lengths.clamp_min(1)).mean()
    if _REDUCTIONS[reduction] == "sum":
        return loss.sum()
    return loss.squeeze(0) if unbatched else loss


@composite("function", namespace="nn.functional", name="ctc_loss")
def _functional_ctc_loss(
    log_probs: Tensor, targets: Tensor, input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int], blank: int = 0, reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """How unlikely a sequence of labels is, over all ways to align it with a longer sequence of steps.

    Args:
        log_probs: ``(T, N, C)`` or ``(T, C)`` log-probabilities of the classes; float32 or float64.
        targets: the labels, ``(N, S)`` padded to one length or all in one row.
        input_lengths: steps of each sample, at most ``T``.
        target_lengths: labels of each sample.
        blank: the class that means no label.
        reduction: ``"mean"`` (each loss first divided by its number of labels), ``"sum"`` or ``"none"``.
        zero_infinity: count a target that has no alignment as zero, without a gradient, not as infinite.

    Returns:
        Tensor: a number, or with ``"none"`` one a sample.

    Raises:
        ValueError: for another reduction.
        RuntimeError: when lengths or shapes do not fit.
        NotImplementedError: for other dtypes.
    """
    number = _REDUCTIONS.index(reduction_of(None, None, reduction))
    return ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, number, zero_infinity)

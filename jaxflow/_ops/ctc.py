"""Connectionist temporal classification (Graves et al., 2006)."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core.dtype import BOOL, COMPLEX, INTEGER
from jaxflow._plans.op import op

from ._support import _HALF, refuse, scalar_name, with_partials

# The logarithm of no chance at all. Finite: sums of it stay finite in float32, and the derivatives of a
# log-sum-exp of several of them are numbers.
_NEVER = -1e30


@with_partials(lambda out, x: jnp.exp(x))
def _normalizer(x):
    """Zero, with the slope of ``exp(x)``, whose sum over the classes is the constant one."""
    return jnp.zeros_like(x)


@with_partials(lambda out, loss, slope: slope, None)
def _or_infinite(loss, slope):
    """The loss, infinite where ``slope`` is not one: where there is no alignment."""
    return jnp.where(slope == 1, loss, np.inf)


def _check(log_probs, targets, input_lengths, target_lengths, blank) -> None:
    refuse("ctc_loss_cpu", log_probs, BOOL, INTEGER, COMPLEX)
    if log_probs.dtype in _HALF:
        raise NotImplementedError(f"\"ctc_loss_cpu\" not implemented for '{scalar_name(log_probs)}'")
    if log_probs.size == 0:
        raise RuntimeError("log_probs tensor must not be empty")
    where = "(while checking arguments for ctc_loss_allocate_outputs)"
    if log_probs.ndim != 3:
        raise RuntimeError(
            f"Expected 3-dimensional tensor, but got {log_probs.ndim}-dimensional tensor for argument #1 "
            f"'log_probs' {where}"
        )
    steps, batch, classes = log_probs.shape
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    for name, lengths in (("input_lengths", input_lengths), ("target_lengths", target_lengths)):
        if lengths.shape != (batch,):
            raise RuntimeError(f"{name} must be of size batch_size")
    if targets.ndim not in (1, 2):
        raise RuntimeError(
            f"Expected 1 to 2 dimensions, but got {targets.ndim}-dimensional tensor for argument #2 "
            f"'targets' {where}"
        )
    if targets.ndim == 2 and targets.shape[0] != batch:
        raise RuntimeError(
            f"Expected tensor to have size {batch} at dimension 0, but got size {targets.shape[0]} for "
            f"argument #2 'targets' {where}"
        )


def _in_rows(targets, lengths, longest):
    """Targets one after another as ``(N, longest)``; what is beyond a target's length is anything."""
    if targets.size == 0:
        return jnp.zeros((lengths.shape[0], longest), targets.dtype)
    first = jnp.cumsum(lengths) - lengths
    at = first[:, None] + jax.lax.iota(lengths.dtype, longest)
    return targets[jnp.clip(at, 0, targets.size - 1)]


def _with_blanks(targets, blank):
    """A blank before, between and after the labels: ``(N, 2 S + 1)``."""
    blanks = jnp.full_like(targets, blank)
    both = jnp.stack([blanks, targets], -1).reshape(targets.shape[0], -1)
    return jnp.concatenate([both, jnp.full_like(both, blank, shape=(both.shape[0], 1))], 1)


def _log_sum(*parts):
    stacked = jnp.stack(parts)
    most = jax.lax.stop_gradient(jnp.max(stacked, 0))
    return most + jnp.log(jnp.sum(jnp.exp(stacked - most), 0))


def _later(states, by):
    """Each state's value ``by`` states ago."""
    return jax.lax.pad(states, jnp.asarray(_NEVER, states.dtype), ((0, 0, 0), (by, -by, 0)))


@op(variants="", grad_name="CtcLossBackward0", saves=("log_probs", "targets", "result"))
def _ctc_loss(log_probs, targets, input_lengths, target_lengths, /, *, blank: int, longest,
              zero_infinity: bool):
    """The negated log-probability of all alignments of a target with the steps, one a sample.

    A log-probability's gradient is ``exp(log_prob)`` less the chance that the step emits the class given
    the target: the same as the exact one, the negated chance, once it went back through ``log_softmax``,
    and PyTorch's. ``longest`` bounds the targets' lengths where they stand one after another. Where
    there is no alignment the loss is infinite, its gradient nan or with ``zero_infinity`` zero.
    """
    _check(log_probs, targets, input_lengths, target_lengths, blank)
    steps, batch, classes = log_probs.shape
    dtype = log_probs.dtype
    targets, input_lengths, target_lengths = (
        x.astype(np.int32) for x in (targets, input_lengths, target_lengths)
    )
    labels = targets if targets.ndim == 2 else _in_rows(targets, target_lengths, longest)
    labels = jnp.clip(_with_blanks(labels, blank), 0, classes - 1)
    # May the blank before be left out: not between equal labels.
    differs = labels[:, 2:] != labels[:, :-2]
    skips = jnp.pad(differs, ((0, 0), (min(2, labels.shape[1]), 0))) & (labels != blank)

    running = jax.lax.iota(np.int32, steps)[:, None] < input_lengths
    # Rows of one class of one sample, so that a label takes (and its gradient adds to) a whole row.
    rows = log_probs.transpose(1, 2, 0).reshape(batch * classes, steps)
    at = jax.lax.iota(np.int32, batch)[:, None] * classes + labels
    emitted = jnp.maximum(rows.at[at].get(mode="promise_in_bounds"), _NEVER).transpose(2, 0, 1)
    state = jax.lax.broadcasted_iota(np.int32, labels.shape, 1)
    starts = jnp.where(state < jnp.where(target_lengths > 0, 2, 1)[:, None], emitted[0], _NEVER)

    def step(alpha, now):
        emission, runs = now
        skipping = jnp.where(skips, _later(alpha, 2), _NEVER)
        moved = _log_sum(alpha, _later(alpha, 1), skipping) + emission
        return jnp.where(runs[:, None], moved, alpha), None

    alpha, _ = jax.lax.scan(step, starts, (emitted[1:], running[1:]))
    last = 2 * target_lengths[:, None]
    ends = jnp.where((state == last) | (state == last - 1), alpha, _NEVER)
    # With no steps at all, only the empty target has a chance, and it is sure.
    empty = jnp.where(target_lengths == 0, 0, _NEVER).astype(dtype)
    loss = -jnp.where(input_lengths > 0, _log_sum(*jnp.moveaxis(ends, 1, 0)), empty)
    slope = jnp.where(running[..., None], _normalizer(log_probs), 0)
    loss = loss + jnp.sum(slope, (0, 2))
    # A loss of nan comes from a log-probability of nan or infinity, and is to be seen.
    reached = ~(loss >= -_NEVER / 2) & (2 * target_lengths < labels.shape[1])
    return _or_infinite(loss, jnp.where(reached, 1, 0 if zero_infinity else np.nan).astype(dtype))

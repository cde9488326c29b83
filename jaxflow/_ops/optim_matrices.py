"""Update rules of optimizers that treat a matrix as one: Adafactor and Muon.

The layout of their arguments is that of `jaxflow._ops.optim`: NOTE [Layout of an update].
"""

from __future__ import annotations

import math

import jax.numpy as jnp

from jaxflow._plans.op import Scalar, op

from .optim import _add, _divide, _lerp, _narrow, _product, _scale, _update, _wide

_rule = op(variants="", saves="none", differentiable=False)  # none of them takes ``differentiable``


@_rule
def adafactor(*tensors, layout, lr: Scalar, beta2_decay: Scalar, eps1: Scalar, eps2: Scalar, d: Scalar,
              weight_decay: Scalar, decays, own_eps, maximize):
    """Adafactor; ``own_eps``: ``eps1`` is the spacing of numbers of the parameter's dtype."""

    def schedule(step, lr, beta2_decay, eps1, eps2, d, weight_decay):
        step = step + 1
        size = jnp.minimum(lr, 1 / jnp.sqrt(step))
        return (step,), (size, step**beta2_decay, 1 - lr * weight_decay, eps1, eps2, d)

    hypers = dict(lr=lr, beta2_decay=beta2_decay, eps1=eps1, eps2=eps2, d=d, weight_decay=weight_decay)
    return _update(_adafactor, schedule, tensors, layout, hypers, maximize=maximize, decays=decays,
                   own_eps=own_eps, reduced=True)


def _adafactor(param, grad, *rest, decays, own_eps):
    *states, size, new, decay, eps1, eps2, d = rest
    shape = param.shape
    kept = [(*shape[:-1], 1), (*shape[:-2], 1, shape[-1])] if len(shape) > 1 else [shape]
    for state, expected in zip(states, kept):
        if state.shape != expected:
            raise RuntimeError(f"the optimizer cannot update a parameter of shape {shape} with a state of "
                               f"shape {state.shape}")
    if own_eps:
        eps1 = jnp.asarray(jnp.finfo(param.dtype).eps, jnp.float64)
    size = size * jnp.maximum(eps2, _root_mean_square(param))
    if decays:
        param = _scale(param, decay)
    if grad.ndim > 1:
        states = [_lerp(old, _mean_square_along(grad, axis), new) for old, axis in zip(states, (-1, -2))]
        rows, columns = states
        mean = _narrow(rows.astype(_wide(rows.dtype)).mean(-2, keepdims=True), rows.dtype)
        spread = _divide(_product(rows, columns), jnp.maximum(mean, eps1.astype(mean.dtype)))
    else:
        states = [_lerp(states[0], _product(grad, grad), new)]
        spread = states[0]
    spread = jnp.maximum(spread, (eps1 * eps1).astype(spread.dtype))
    update = _product(_inverse_root(spread), grad)
    size = size / jnp.maximum(1.0, _root_mean_square(update) / d)
    return _add(param, update, -size), *states


def _inverse_root(x):
    wide = x.astype(_wide(x.dtype))
    return _narrow(1 / jnp.sqrt(wide), x.dtype)


def _length(x, axis=None):
    """The Euclidean norm, rounded to the dtype."""
    wide = x.astype(_wide(x.dtype))
    return _narrow(jnp.sqrt(jnp.sum(wide * wide, axis, keepdims=axis is not None)), x.dtype)


def _root_mean_square(x):
    """As PyTorch computes it on the host: the norm in the dtype, the rest in double precision."""
    return _length(x).astype(jnp.float64) / max(math.sqrt(x.size), 1.0)


def _mean_square_along(x, axis):
    length = _length(x, axis)
    return _divide(_product(length, length), x.shape[axis])


@_rule
def muon(*tensors, layout, lr: Scalar, weight_decay: Scalar, momentum: Scalar, a: Scalar, b: Scalar,
         c: Scalar, eps: Scalar, nesterov, steps, ratio):
    """Muon; ``steps`` of the Newton-Schulz iteration, ``ratio`` says how sizes scale the learning rate."""

    def schedule(lr, weight_decay, momentum, a, b, c, eps):
        return (), (lr, 1 - lr * weight_decay, momentum, a, b, c, eps)

    hypers = dict(lr=lr, weight_decay=weight_decay, momentum=momentum, a=a, b=b, c=c, eps=eps)
    return _update(_muon, schedule, tensors, layout, hypers, maximize=False, nesterov=nesterov, steps=steps,
                   ratio=ratio)


def _muon(param, grad, buffer, lr, decay, momentum, a, b, c, eps, *, nesterov, steps, ratio):
    buffer = _lerp(buffer, grad, 1 - momentum)
    update = _lerp(grad, buffer, momentum) if nesterov else buffer
    update, normalized = _orthogonal(update, (a, b, c), steps, eps)
    if not nesterov and buffer.dtype == jnp.bfloat16:
        buffer = normalized  # PyTorch divides what is bfloat16 already in place, which is the buffer itself
    rows, columns = param.shape
    if ratio == "match_rms_adamw":
        lr = lr * (0.2 * math.sqrt(max(rows, columns)))
    else:
        lr = lr * math.sqrt(max(1, rows / columns))
    return _add(_scale(param, decay), update, -lr), buffer


def _orthogonal(x, coefficients, steps, eps):
    """``x`` with singular values near 1, by ``steps`` times an odd polynomial; and ``x`` over its norm.

    Both are bfloat16.
    """
    a, b, c = coefficients
    tall = x.shape[0] > x.shape[1]
    x = x.astype(jnp.bfloat16)
    x = x.T if tall else x
    x = first = _divide(x, jnp.maximum(_length(x), eps.astype(x.dtype)))
    for _ in range(steps):
        gram = _matmul(x, x.T)
        polynomial = _addmul(gram, gram, gram, b, c)
        x = _addmul(x, polynomial, x, a, 1.0)
    return (x.T, first.T) if tall else (x, first)


def _addmul(x, a, b, beta, alpha):
    """``beta * x + alpha * a @ b``, rounded once."""
    product = jnp.matmul(a, b, preferred_element_type=jnp.float32)
    beta, alpha = jnp.asarray(beta).astype(jnp.float32), jnp.asarray(alpha).astype(jnp.float32)
    return _narrow(beta * x.astype(jnp.float32) + alpha * product, x.dtype)


def _matmul(a, b):
    return _narrow(jnp.matmul(a, b, preferred_element_type=jnp.float32), a.dtype)

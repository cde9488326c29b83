"""Optimizer update rules: one multi-tensor op a rule, pure and free of synchronisation.

NOTE [Layout of an update]
    An op receives one flat list: the scalar states of every *unit*, the parameters, the gradients,
    and the elementwise states, state by state. A unit is a set of parameters whose scalar states
    ("step", ...) march together, so a model normally has one unit and one step counter. The op
    returns the new scalars, parameters and elementwise states in that order. Hyperparameters are
    numbers or tensors.

    Whatever depends on the step count is computed here, once a unit and in float64: asking for the
    counter on the host would end the recording of a training step.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxflow._plans.op import Scalar, op

from ._xla import materialized, on_cpu


class Layout(NamedTuple):
    """How the flat list of an update divides; hashable, a static argument of every op here."""

    unit_of: tuple[int, ...]  # for each parameter, the unit that holds its scalar states
    scalars: int  # scalar states of a unit

    def split(self, tensors):
        """The scalar states by unit, and a row (param, grad, *states) for every parameter."""
        count, units = len(self.unit_of), max(self.unit_of) + 1
        scalars = [tensors[u * self.scalars : (u + 1) * self.scalars] for u in range(units)]
        columns = [
            tensors[i : i + count] for i in range(units * self.scalars, len(tensors), count)
        ]
        return scalars, list(zip(*columns))


def _update(rule, schedule, tensors, layout, hypers, *, maximize, **static):
    """Run ``schedule`` for each unit, ``rule`` for each parameter; NOTE [Layout of an update]."""
    scalars, rows = layout.split(tensors)
    hypers = {name: _f64(value) for name, value in hypers.items()}
    advanced, coefficients = [], []
    for unit in scalars:
        new, schedules = schedule(*map(_f64, unit), **hypers)
        advanced += [value.astype(old.dtype) for value, old in zip(new, unit)]
        coefficients.append(schedules)
    if on_cpu():
        coefficients = _after_all([row[1] for row in rows], coefficients)
    static = (("maximize", maximize), *static.items())
    new_rows = [
        _one(rule, static, row, coefficients[unit]) for row, unit in zip(rows, layout.unit_of)
    ]
    return (*advanced, *(array for column in zip(*new_rows) for array in column))


def _after_all(grads, coefficients):
    """Each unit's coefficients, the first such that it is not there before all of ``grads`` are.

    NOTE [Updates come last]
        A weight's old value is read by the backward of its layer. If nothing says that its update comes
        later, XLA gives the update a copy of the weight, made when the step begins, of all weights. So the
        coefficient that every new parameter is computed from depends on one element of each gradient, by
        a selection that never takes it, which XLA cannot see. It is a number made once: fused into
        every update, it would give each all gradients to read.
    """
    heads = [_first_number(g) for g in grads if g.size]
    if not heads:
        return coefficients
    number = materialized(jnp.max(jnp.concatenate(heads)))
    never = (number < 0) & (number > 0)
    return [(jnp.where(never, number.astype(first.dtype), first), *rest) for first, *rest in coefficients]


def _first_number(g):
    """One element as a vector; in jax.lax, traced in half of the time, for it is done for each parameter."""
    first = jax.lax.reshape(jax.lax.slice(g, (0,) * g.ndim, (1,) * g.ndim), (1,))
    return jax.lax.convert_element_type(jax.lax.real(first) if jnp.iscomplexobj(g) else first, jnp.float32)


def _f64(x):
    return jnp.asarray(x).astype(jnp.float64).reshape(())


@functools.partial(jax.jit, static_argnums=(0, 1))
def _one(rule, static, row, coefficients):
    """Update one parameter. Jitted by itself, so parameters of one shape are traced once."""
    static = dict(static)
    param, grad, *states = row
    for other in (grad, *states)[: 1 if static.pop("reduced", False) else None]:
        if other.shape != param.shape or other.dtype != param.dtype:
            raise RuntimeError(
                f"the optimizer cannot update a {param.dtype} parameter of shape {param.shape} "
                f"with a {other.dtype} gradient or state of shape {other.shape}"
            )
    is_complex = jnp.iscomplexobj(param)
    if is_complex:  # PyTorch treats the two parts as independent real parameters
        param, grad, *states = (jnp.stack([x.real, x.imag], -1) for x in (param, grad, *states))
    if static.pop("maximize"):
        grad = -grad
    out = rule(param, grad, *states, *coefficients, **static)
    if is_complex:
        out = tuple(jax.lax.complex(x[..., 0], x[..., 1]) for x in out)
    return out


# ----- Elementwise steps -----
# Each is one rounding step of PyTorch's: half-precision operands are widened to float32 and the
# result is rounded to the dtype of the first operand. Coefficients stay wide too, except those of
# additions, which PyTorch's CPU kernels round first.


def _rounded(compute):
    def step(first, *others):
        wide = _wide(first.dtype)
        return _narrow(compute(*(_as(x, wide) for x in (first, *others))), first.dtype)

    return step


def _as(x, dtype):
    return jnp.asarray(x).astype(dtype)


def _wide(dtype):
    return jnp.float32 if dtype.itemsize < 4 else dtype


def _narrow(x, dtype):
    """Round to ``dtype``; between two steps XLA would skip a rounding that is only a cast."""
    if dtype == jnp.bfloat16:  # not for float16, whose small numbers reduce_precision flushes
        x = jax.lax.reduce_precision(x, 8, 7)
    return x.astype(dtype)


_scale = _rounded(lambda a, s: a * s)
_divide = _rounded(lambda a, b: a / b)
_addcmul = _rounded(lambda a, b, c, value: a + value * (b * c))
_product = _rounded(lambda a, b: a * b)
_addcdiv = _rounded(lambda a, b, c, value: a + value * (b / c))
_sqrt = _rounded(jnp.sqrt)
_plus = _rounded(lambda a, b, alpha: a + alpha * b)
_lerp = _rounded(
    # PyTorch starts from the nearer end, so that a weight of 1 gives the end itself.
    lambda a, b, w: jnp.where(jnp.abs(w) < 0.5, a + w * (b - a), b - (b - a) * (1 - w))
)


def _add(a, b, alpha=1):
    return _plus(a, _coefficient(b, a.dtype), _coefficient(alpha, a.dtype))


def _coefficient(x, dtype):
    x = jnp.asarray(x)
    return x if x.ndim else _narrow(x.astype(_wide(dtype)), dtype)


def _mean_square(average, grad, beta, rest):
    return _addcmul(_scale(average, beta), grad, grad, rest)


# ----- Rules -----
# A differentiable optimizer overwrites the parameters and states that its update was computed from.
# What backward keeps are immutable values, so that is no reason to refuse it.

_rule = op(variants="", saves="none")


@_rule
def sgd(*tensors, layout, lr: Scalar, momentum: Scalar, weight_decay: Scalar, fresh: Scalar,
        decays, has_momentum, nesterov, maximize):
    """Stochastic gradient descent; ``fresh`` is the gradient's weight in the momentum buffer."""

    def schedule(lr, momentum, weight_decay, fresh):
        return (), (lr, momentum, weight_decay, fresh)

    hypers = dict(lr=lr, momentum=momentum, weight_decay=weight_decay, fresh=fresh)
    return _update(_sgd, schedule, tensors, layout, hypers, maximize=maximize, decays=decays,
                   has_momentum=has_momentum, nesterov=nesterov)


def _sgd(param, grad, *rest, decays, has_momentum, nesterov):
    *buffer, lr, momentum, weight_decay, fresh = rest
    if decays:
        grad = _add(grad, param, weight_decay)
    if has_momentum:
        buffer = [_add(_scale(buffer[0], momentum), grad, fresh)]
        grad = _add(grad, buffer[0], momentum) if nesterov else buffer[0]
    return _add(param, grad, -lr), *buffer


@_rule
def adam(*tensors, layout, lr: Scalar, beta1: Scalar, beta2: Scalar, eps: Scalar,
         weight_decay: Scalar, decays, decoupled, amsgrad, maximize):
    """Adam, AdamW (``decoupled``) and AMSGrad."""

    def schedule(step, lr, beta1, beta2, eps, weight_decay):
        step = step + 1
        size = lr / (1 - beta1**step)
        root = jnp.sqrt(1 - beta2**step)
        decay = 1 - lr * weight_decay if decoupled else weight_decay
        return (step,), (size, root, 1 - beta1, beta2, 1 - beta2, eps, decay)

    hypers = dict(lr=lr, beta1=beta1, beta2=beta2, eps=eps, weight_decay=weight_decay)
    return _update(_adam, schedule, tensors, layout, hypers, maximize=maximize, decays=decays,
                   decoupled=decoupled, amsgrad=amsgrad)


def _decay(param, grad, decay, decays, decoupled):
    """Weight decay in either form; ``decay`` is a factor on the parameter when decoupled."""
    if decays and decoupled:
        param = _scale(param, decay)
    elif decays:
        grad = _add(grad, param, decay)
    return param, grad


def _adam(param, grad, mean, square, *rest, decays, decoupled, amsgrad):
    *peak, size, root, rest1, beta2, rest2, eps, decay = rest
    param, grad = _decay(param, grad, decay, decays, decoupled)
    mean = _lerp(mean, grad, rest1)
    square = _mean_square(square, grad, beta2, rest2)
    if amsgrad:
        peak = [jnp.maximum(peak[0], square)]
    denominator = _add(_divide(_sqrt(peak[0] if amsgrad else square), root), eps)
    return _addcdiv(param, mean, denominator, -size), mean, square, *peak


@_rule
def rmsprop(*tensors, layout, lr: Scalar, alpha: Scalar, eps: Scalar, weight_decay: Scalar,
            momentum: Scalar, decays, has_momentum, centered, maximize):
    """RMSprop, plain or centered, with or without momentum."""

    def schedule(step, lr, alpha, eps, weight_decay, momentum):
        return (step + 1,), (lr, alpha, 1 - alpha, eps, weight_decay, momentum)

    hypers = dict(lr=lr, alpha=alpha, eps=eps, weight_decay=weight_decay, momentum=momentum)
    return _update(_rmsprop, schedule, tensors, layout, hypers, maximize=maximize, decays=decays,
                   has_momentum=has_momentum, centered=centered)


def _rmsprop(param, grad, square, *rest, decays, has_momentum, centered):
    *states, lr, alpha, rest_alpha, eps, weight_decay, momentum = rest
    if decays:
        grad = _add(grad, param, weight_decay)
    square = _mean_square(square, grad, alpha, rest_alpha)
    spread = square
    if centered:
        mean = states[-1] = _lerp(states[-1], grad, rest_alpha)
        spread = _addcmul(square, mean, mean, -1)
    root = _add(_sqrt(spread), eps)
    if has_momentum:
        states[0] = _addcdiv(_scale(states[0], momentum), grad, root, 1)
        return _add(param, states[0], -lr), square, *states
    return _addcdiv(param, grad, root, -lr), square, *states


@_rule
def adagrad(*tensors, layout, lr: Scalar, lr_decay: Scalar, eps: Scalar, weight_decay: Scalar,
            decays, maximize):
    """Adagrad with a decaying learning rate."""

    def schedule(step, lr, lr_decay, eps, weight_decay):
        return (step + 1,), (lr / (1 + step * lr_decay), eps, weight_decay)

    hypers = dict(lr=lr, lr_decay=lr_decay, eps=eps, weight_decay=weight_decay)
    return _update(_adagrad, schedule, tensors, layout, hypers, maximize=maximize, decays=decays)


def _adagrad(param, grad, total, lr, eps, weight_decay, *, decays):
    if decays:
        grad = _add(grad, param, weight_decay)
    total = _addcmul(total, grad, grad, 1)
    return _addcdiv(param, grad, _add(_sqrt(total), eps), -lr), total


@_rule
def adadelta(*tensors, layout, lr: Scalar, rho: Scalar, eps: Scalar, weight_decay: Scalar, decays,
             maximize):
    """Adadelta: steps scaled by the running size of earlier steps."""

    def schedule(step, lr, rho, eps, weight_decay):
        return (step + 1,), (lr, rho, 1 - rho, eps, weight_decay)

    hypers = dict(lr=lr, rho=rho, eps=eps, weight_decay=weight_decay)
    return _update(_adadelta, schedule, tensors, layout, hypers, maximize=maximize, decays=decays)


def _adadelta(param, grad, square, travelled, lr, rho, rest, eps, weight_decay, *, decays):
    if decays:
        grad = _add(grad, param, weight_decay)
    square = _mean_square(square, grad, rho, rest)
    delta = _divide(_sqrt(_add(travelled, eps)), _sqrt(_add(square, eps)))
    delta = _scale(delta, grad)
    return _add(param, delta, -lr), square, _mean_square(travelled, delta, rho, rest)


@_rule
def adamax(*tensors, layout, lr: Scalar, beta1: Scalar, beta2: Scalar, eps: Scalar,
           weight_decay: Scalar, decays, maximize):
    """Adamax: Adam with an infinity norm in place of the second moment."""

    def schedule(step, lr, beta1, beta2, eps, weight_decay):
        step = step + 1
        return (step,), (lr / (1 - beta1**step), 1 - beta1, beta2, eps, weight_decay)

    hypers = dict(lr=lr, beta1=beta1, beta2=beta2, eps=eps, weight_decay=weight_decay)
    return _update(_adamax, schedule, tensors, layout, hypers, maximize=maximize, decays=decays)


def _adamax(param, grad, mean, norm, size, rest1, beta2, eps, weight_decay, *, decays):
    if decays:
        grad = _add(grad, param, weight_decay)
    mean = _lerp(mean, grad, rest1)
    norm = jnp.maximum(_scale(norm, beta2), _add(jnp.abs(grad), eps))
    return _addcdiv(param, mean, norm, -size), mean, norm


@_rule
def nadam(*tensors, layout, lr: Scalar, beta1: Scalar, beta2: Scalar, eps: Scalar,
          weight_decay: Scalar, momentum_decay: Scalar, decays, decoupled, maximize):
    """Adam with Nesterov momentum, whose momentum schedule is carried in ``mu_product``."""

    def schedule(step, product, lr, beta1, beta2, eps, weight_decay, momentum_decay):
        step = step + 1
        mu, mu_next = (
            beta1 * (1 - 0.5 * 0.96 ** (s * momentum_decay)) for s in (step, step + 1)
        )
        # The product is used as it is stored, which is in float32 by default.
        product = (product * mu).astype(tensors[1].dtype).astype(jnp.float64)
        grad_size = lr * (1 - mu) / (1 - product)
        mean_size = lr * mu_next / (1 - product * mu_next)
        decay = 1 - lr * weight_decay if decoupled else weight_decay
        return (step, product), (
            grad_size, mean_size, 1 - beta1, beta2, 1 - beta2, 1 - beta2**step, eps, decay
        )

    hypers = dict(lr=lr, beta1=beta1, beta2=beta2, eps=eps, weight_decay=weight_decay,
                  momentum_decay=momentum_decay)
    return _update(_nadam, schedule, tensors, layout, hypers, maximize=maximize, decays=decays,
                   decoupled=decoupled)


def _nadam(param, grad, mean, square, grad_size, mean_size, rest1, beta2, rest2, correction2, eps,
           decay, *, decays, decoupled):
    param, grad = _decay(param, grad, decay, decays, decoupled)
    mean = _lerp(mean, grad, rest1)
    square = _mean_square(square, grad, beta2, rest2)
    denominator = _add(_sqrt(_divide(square, correction2)), eps)
    param = _addcdiv(param, grad, denominator, -grad_size)
    return _addcdiv(param, mean, denominator, -mean_size), mean, square


@_rule
def radam(*tensors, layout, lr: Scalar, beta1: Scalar, beta2: Scalar, eps: Scalar,
          weight_decay: Scalar, decays, decoupled, maximize):
    """Rectified Adam: plain momentum until the variance estimate is long enough to trust."""

    def schedule(step, lr, beta1, beta2, eps, weight_decay):
        step = step + 1
        power = beta2**step
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * step * power / (1 - power)
        trusted = length > 5
        safe = jnp.where(trusted, length, 6.0)  # keeps the unused branch free of nan
        rectified = jnp.sqrt(
            (safe - 4) * (safe - 2) * longest / ((longest - 4) * (longest - 2) * safe)
        )
        decay = 1 - lr * weight_decay if decoupled else weight_decay
        return (step,), (
            lr, rectified, jnp.sqrt(1 - power), trusted, 1 - beta1**step, 1 - beta1, beta2,
            1 - beta2, eps, decay
        )

    hypers = dict(lr=lr, beta1=beta1, beta2=beta2, eps=eps, weight_decay=weight_decay)
    return _update(_radam, schedule, tensors, layout, hypers, maximize=maximize, decays=decays,
                   decoupled=decoupled)


def _radam(param, grad, mean, square, lr, rectified, root, trusted, correction1, rest1, beta2,
           rest2, eps, decay, *, decays, decoupled):
    param, grad = _decay(param, grad, decay, decays, decoupled)
    mean = _lerp(mean, grad, rest1)
    square = _mean_square(square, grad, beta2, rest2)
    move = _scale(_divide(mean, correction1), lr)
    adaptive = _divide(jnp.broadcast_to(root, square.shape).astype(square.dtype),
                       _add(_sqrt(square), eps))
    move = jnp.where(trusted, _scale(_scale(move, adaptive), rectified), move)
    return _add(param, move, -1), mean, square


@_rule
def asgd(*tensors, layout, lr: Scalar, lambd: Scalar, alpha: Scalar, t0: Scalar,
         weight_decay: Scalar, decays, maximize):
    """Averaged stochastic gradient descent; ``eta`` and ``mu`` are the rates of the next step."""

    def schedule(step, eta, mu, lr, lambd, alpha, t0, weight_decay):
        step = step + 1
        new_eta = lr / (1 + lambd * lr * step) ** alpha
        new_mu = 1 / jnp.maximum(1, step - t0)
        return (step, new_eta, new_mu), (eta, mu, 1 - lambd * eta, weight_decay)

    hypers = dict(lr=lr, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay)
    return _update(_asgd, schedule, tensors, layout, hypers, maximize=maximize, decays=decays)


def _asgd(param, grad, average, eta, mu, shrink, weight_decay, *, decays):
    if decays:
        grad = _add(grad, param, weight_decay)
    param = _add(_scale(param, shrink), grad, -eta)
    moved = _add(average, _scale(_add(param, average, -1), mu), 1)
    return param, jnp.where(mu == 1, param, moved)


@_rule
def rprop(*tensors, layout, eta_minus: Scalar, eta_plus: Scalar, step_min: Scalar,
          step_max: Scalar, maximize):
    """Resilient backpropagation: only the signs of successive gradients matter."""

    def schedule(step, eta_minus, eta_plus, step_min, step_max):
        return (step + 1,), (eta_minus, eta_plus, step_min, step_max)

    hypers = dict(eta_minus=eta_minus, eta_plus=eta_plus, step_min=step_min, step_max=step_max)
    return _update(_rprop, schedule, tensors, layout, hypers, maximize=maximize)


def _rprop(param, grad, previous, size, eta_minus, eta_plus, step_min, step_max):
    agreement = _scale(grad, previous)
    factor = jnp.where(agreement > 0, eta_plus, jnp.where(agreement < 0, eta_minus, 1.0))
    size = _scale(size, _narrow(factor.astype(_wide(grad.dtype)), grad.dtype))
    size = _rounded(jnp.clip)(size, step_min, step_max)
    grad = jnp.where(agreement < 0, jnp.zeros_like(grad), grad)
    return _addcmul(param, jnp.sign(grad), size, -1), grad, size

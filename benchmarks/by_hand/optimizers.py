"""Updates of a dict of parameters; PyTorch's formulas."""

import jax.numpy as jnp


class SGD:
    def __init__(self, lr, momentum=0.0, weight_decay=0.0, nesterov=False):
        self.lr, self.momentum, self.decay, self.nesterov = lr, momentum, weight_decay, nesterov

    def start(self, p):
        # A buffer of zeros gives PyTorch's first step too: there it starts as the gradient itself.
        return {name: jnp.zeros_like(value) for name, value in p.items()}

    def update(self, p, gradients, state):
        new, buffers = {}, {}
        for name, g in gradients.items():
            g = g + self.decay * p[name]
            buffers[name] = self.momentum * state[name] + g
            step = g + self.momentum * buffers[name] if self.nesterov else buffers[name]
            new[name] = p[name] - self.lr * step
        return new, buffers


class AdamW:
    """`decays` says which parameters decay; `schedule` gives the factor of the rate by step."""

    def __init__(self, lr, weight_decay=0.01, betas=(0.9, 0.999), decays=None, schedule=None):
        self.lr, self.decay, self.betas = lr, weight_decay, betas
        self.decays = decays or (lambda value: True)
        self.schedule = schedule or (lambda step: 1.0)

    def start(self, p):
        first, second = ({name: jnp.zeros_like(v) for name, v in p.items()} for _ in range(2))
        return jnp.float32(0), first, second

    def update(self, p, gradients, state):
        step, first, second = state
        b1, b2 = self.betas
        lr = self.lr * self.schedule(step)
        size, root = lr / (1 - b1 ** (step + 1)), jnp.sqrt(1 - b2 ** (step + 1))
        new = {}, {}, {}
        for name, g in gradients.items():
            dtype = g.dtype
            m = new[1][name] = b1 * first[name] + (1 - b1) * g
            s = new[2][name] = b2 * second[name] + (1 - b2) * g * g
            decay = self.decay if self.decays(p[name]) else 0.0
            change = (size * m) / (jnp.sqrt(s) / root + 1e-8)
            new[0][name] = (p[name] * (1 - lr * decay) - change).astype(dtype)
        return new[0], (step + 1, new[1], new[2])


def clipped(gradients, most):
    """All gradients scaled so that their common norm is at most `most`."""
    norm = jnp.sqrt(sum(jnp.sum(jnp.square(g)) for g in gradients.values()))
    factor = jnp.minimum(1, most / (norm + 1e-6))
    return {name: g * factor for name, g in gradients.items()}

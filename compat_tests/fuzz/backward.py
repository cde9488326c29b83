"""Random graphs of functions, writes, hooks and shared paths, walked from random roots to random inputs.

``run(seed, T)`` tells all a user can see: gradients, whether they require grad, what hooks got, refusals.
"""

import random

import numpy as np

STEPS = {}


def step(function):
    """Register a step: it may add tensors to the pool or do something to one."""
    STEPS[function.__name__] = function
    return function


class Program:
    """The tensors made so far, and what was seen."""

    def __init__(self, seed, T):
        self.T, self.random, self.numbers = T, random.Random(seed), np.random.default_rng(seed)
        self.pool = [self.leaf() for _ in range(3)]
        self.seen, self.hooks = [], 0

    def draw(self, low):
        return self.T.tensor(self.numbers.uniform(low, 1.5, (2, 3)), dtype=self.T.float64)

    def leaf(self):
        return self.draw(0.5).requires_grad_(self.random.random() < 0.8)


@step
def multiply(p, a, b):
    return [a * b]


@step
def add(p, a, b):
    return [a + b]


@step
def exponentiate(p, a, b):
    return [a.exp() * 0.1]


@step
def take_rows(p, a, b):
    return [row.expand(2, 3) for row in a.unbind(0)][: p.random.randint(1, 2)]


@step
def concatenate(p, a, b):
    return [p.T.cat([a[:, :1], b[:, 1:]], 1)]


@step
def call_a_function(p, a, b):
    pair, loose, half = (p.random.random() < 0.5 for _ in range(3))

    class Made(p.T.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.set_materialize_grads(not loose)
            ctx.save_for_backward(x, y)
            return (x * y, x + y) if pair else x * y

        @staticmethod
        def backward(ctx, g, h=None):
            x, y = ctx.saved_tensors
            found = [None if g is None else g * y, None if g is None else g * x]
            if h is not None:
                found = [h if f is None else f + h for f in found]
            return found[0], None if half else found[1]

    out = Made.apply(a, b)
    return list(out) if pair else [out]


@step
def detach(p, a, b):
    return [a.detach()]


@step
def make_without_grad(p, a, b):
    with p.T.no_grad():
        return [a * b]


@step
def write_a_row(p, a, b):
    copy = a * 1
    copy[0] = b[1]
    return [copy]


@step
def write_in_place(p, a, b):
    a.mul_(1.5)


@step
def write_through_a_view(p, a, b):
    part = a[:1]
    part.add_(b[1:].detach())
    return [part.expand(2, 3)]


@step
def hook(p, a, b):
    number, factor = p.hooks, p.random.choice([None, 2.0])
    p.hooks += 1

    def called(g):
        p.seen.append((number, None if g is None else tuple(g.shape)))
        return None if g is None or factor is None else g * factor

    a.register_hook(called)


@step
def retain(p, a, b):
    a.retain_grad()


@step
def choose(p, a, b):
    return [p.T.where(a > 1, a, b)]


@step
def contract(p, a, b):
    return [a.softmax(1) @ (b.t() @ a)]


def _walk(p):
    r, T, pool = p.random, p.T, p.pool
    roots = r.sample(pool, r.randint(1, 3))
    inputs = [r.choice(pool) for _ in range(r.randint(1, 3))]
    vectors = [p.draw(-1.0) if r.random() < 0.85 else None for _ in roots]
    options = dict(retain_graph=r.choice([None, True, True, False]), create_graph=r.random() < 0.3)
    way, unused = r.choice(["all", "inputs", "grad", "batched"]), r.random() < 0.7
    if way in ("all", "inputs"):
        T.autograd.backward(roots, vectors, inputs=inputs if way == "inputs" else None, **options)
        return [t.grad for t in pool]
    if way == "batched":
        vectors = [None if v is None else T.stack([v, v * 2]) for v in vectors]
    return T.autograd.grad(
        roots, inputs, vectors, allow_unused=unused, is_grads_batched=way == "batched", **options
    )


def run(seed, T):
    """Everything seen of one program."""
    p = Program(seed, T)
    for _ in range(p.random.randint(3, 12)):
        name, a, b = p.random.choice(list(STEPS)), p.random.choice(p.pool), p.random.choice(p.pool)
        try:
            p.pool += STEPS[name](p, a, b) or []
        except RuntimeError as error:
            p.seen.append((name, _line(error)))
    for _ in range(p.random.randint(1, 3)):
        try:
            found = [g if g is None else (g.requires_grad, g.detach().tolist()) for g in _walk(p)]
        except (RuntimeError, ValueError) as error:
            found = (type(error).__name__, _line(error))
        p.seen.append(found)
    return p.seen


def _line(error):
    return str(error).partition("\n")[0][:110]


def alike(a, b):
    """Whether two accounts agree, numbers up to rounding."""
    if isinstance(a, (list, tuple)) and type(a) is type(b):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return bool(np.isclose(a, b, rtol=1e-6, atol=1e-8, equal_nan=True))
    return a == b

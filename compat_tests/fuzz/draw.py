"""The generator's hand: random choices among live tensors, and questions about their memory."""

import random

import numpy as np

# Few shapes, so that compiled kernels are met again. All kinds are here: 0-d, empty, size 1.
SHAPES = ((), (0,), (1,), (4,), (2, 3), (3, 2), (2, 2), (3, 1), (0, 2), (2, 1, 2), (2, 3, 2))
NUMBERS = (-1.5, -1.0, -0.5, 0.5, 1.0, 2.0, 2, 3)


class Draw:
    """Random choices over a live pool; ``pool`` maps names to torch tensors."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.pool = {}
        self.count = 0
        self.keenness = self.rng.choice((0.0, 0.3, 0.7))  # how many leaves require grad

    def fresh(self):
        """A name not used before."""
        self.count += 1
        return f"t{self.count - 1}"

    def chance(self, p):
        """True with probability ``p``."""
        return self.rng.random() < p

    def choice(self, items):
        """One of ``items``."""
        return self.rng.choice(list(items))

    def between(self, low, high):
        """An integer from ``low`` to ``high``, or ``low`` where that is no range."""
        return self.rng.randint(low, max(low, high))

    def number(self):
        """A scalar with an exact binary fraction."""
        return self.choice(NUMBERS)

    def name(self, fits=lambda t: True):
        """The name of a tensor that ``fits``, recent ones more often; None if there is none."""
        names = [n for n, t in self.pool.items() if fits(t)]
        if not names:
            return None
        return self.rng.choices(names, weights=range(1, len(names) + 1))[0]

    def dim(self, ndim):
        """A dimension number, negative half of the time and out of range now and then."""
        if self.chance(0.03):
            return self.choice((ndim, -ndim - 1, ndim + 1))
        return self.rng.randint(-ndim, ndim - 1) if ndim else self.choice((0, -1))

    def data(self, shape, kind="float"):
        """Nested lists of numbers for ``T.tensor``; ``shape`` may not have a 0 but at the end."""
        if shape:
            return [self.data(shape[1:], kind) for _ in range(shape[0])]
        if kind == "int":
            return self.rng.randint(-3, 3)
        if kind == "bool":
            return self.chance(0.5)
        return self.rng.randint(-8, 8) / 4

    def leaf(self, shape, dtype="float64", grad=False):
        """Source text of a new tensor."""
        suffix = f"dtype=T.{dtype}{', requires_grad=True' if grad else ''}"
        if 0 in shape:
            return f"T.zeros({shape}, {suffix})"
        kind = "int" if dtype == "int64" else "bool" if dtype == "bool" else "float"
        if dtype == "complex128":
            pair = self.data((2, *shape))
            return f"T.tensor({_complex(*pair)}, {suffix})"
        return f"T.tensor({self.data(shape, kind)}, {suffix})"

    def broadcastable(self, shape):
        """A shape that broadcasts to ``shape``."""
        cut = self.choice((0, 0, 0, len(shape), self.rng.randint(0, len(shape))))
        return tuple(1 if n != 1 and self.chance(0.2) else n for n in shape[cut:])


def _complex(re, im):
    if isinstance(re, list):
        return [_complex(a, b) for a, b in zip(re, im, strict=True)]
    return complex(re, im)


def positions(t):
    """Where each element of a tensor lies in its storage, in order."""
    # PyTorch makes tensors of (-1, 0) elements.
    index = np.indices([max(0, n) for n in t.shape]).reshape(t.dim(), max(0, t.numel()))
    return t.storage_offset() + np.array(t.stride(), int) @ index


def overlaps_itself(t):
    """Whether two indices share an element."""
    where = positions(t)
    return len(np.unique(where)) < len(where)


def storage(t):
    """Something equal for tensors on one storage; None for an empty one."""
    return t.untyped_storage().data_ptr() or None


def share_memory(t, u):
    """Whether a write to one tensor shows in the other."""
    if storage(t) is None or storage(t) != storage(u):
        return False
    spans = [
        {(p * x.element_size() + b) for p in positions(x) for b in range(x.element_size())}
        for x in (t, u)
    ]
    return not spans[0].isdisjoint(spans[1])


def same_layout(t, u):
    """Whether two tensors show the same elements in the same places."""
    facts = [(x.dtype, x.shape, x.stride(), x.storage_offset()) for x in (t, u)]
    return facts[0] == facts[1]

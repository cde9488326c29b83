"""The generator's hand for programs that meet several shapes: sizes have names in them."""

from .draw import Draw, share_memory
from .make import KINDS

NAMES = ("n", "m", "k")
DTYPES = {"float32": 12, "float64": 7, "int64": 6, "int32": 2, "bool": 3, "uint8": 2, "int8": 1,
          "int16": 1, "float16": 2, "bfloat16": 2, "complex64": 2, "complex128": 1}
#: Shapes in names of sizes and numbers, so that a program's tensors broadcast and meet.
SHAPES = (("n", "m"), ("n", "m"), ("n", "m"), ("m",), ("m",), ("n", 1), (1, "m"), ("m", "n"), ("n", "n"),
          ("k",), ("k", "n", "m"), ("n", "m", "k"), ("k", 1, "m"), ("m", "k"), (), (0,), (1,), ("n", 0),
          ("n", 2, "m"))


class SizedDraw(Draw):
    """Random choices that write down sizes by their names, so that the program fits other sizes too.

    Attributes:
        rounds: the sizes that the program meets one after the other, by name; the first again at the end.
        main: the dtype of most of its tensors; None where they are of many.
    """

    def __init__(self, seed):
        super().__init__(seed)
        self.seed = seed
        first = self.rng.sample((2, 3, 4, 5), len(NAMES))
        others = [[self.choice((0, 1, 1, 2, 2, 3, 4, 5, 6)) for _ in NAMES]
                  for _ in range(self.between(1, 2))]
        self.rounds = [dict(zip(NAMES, sizes, strict=True)) for sizes in (first, *others, first)]
        self.main = None
        main = self.dtype()
        self.main = main if self.chance(0.5) else None

    def dtype(self):
        """The name of a dtype; mostly the program's main one where it does not mix them."""
        if self.main and self.chance(0.8):
            return self.main
        return self.rng.choices(list(DTYPES), list(DTYPES.values()))[0]

    def size_text(self, size):
        """A size by its name in the first round, where it has one."""
        for name, value in self.rounds[0].items():
            if value == size:
                return name
        return str(size)

    def shape_text(self, shape):
        """The text of a shape of concrete or named sizes."""
        parts = [s if isinstance(s, str) else self.size_text(s) for s in shape]
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"

    def leaf(self, shape, dtype=None, grad=None, kind=None):
        """Source text of a new tensor."""
        dtype = dtype or self.dtype()
        if grad is None:
            grad = ("float" in dtype or "complex" in dtype) and self.chance(self.keenness)
        kind = kind or self.rng.choices(list(KINDS), list(KINDS.values()))[0]
        text = f"make.new(T, {self.shape_text(shape)}, '{dtype}', {self.rng.randrange(1000)}, '{kind}'"
        return f"{text}, grad=True)" if grad else f"{text})"

    def operand_for(self, t, *, written=False):
        """The text of a tensor to go with ``t``: one of the pool, or a new one that broadcasts to it."""
        way = self.rng.random()
        if way < 0.55:
            found = self.name(lambda u: (fits(t, u) or way < 0.03)
                              and not (written and share_memory(t, u)))
            if found:
                return found
        shape = self.broadcastable(tuple(t.shape))
        return self.leaf(shape, str(t.dtype).removeprefix("torch.") if self.chance(0.6) else None)


def fits(t, u):
    """Whether two tensors broadcast."""
    pairs = zip(tuple(t.shape)[::-1], tuple(u.shape)[::-1], strict=False)
    return all(a == b or 1 in (a, b) for a, b in pairs)

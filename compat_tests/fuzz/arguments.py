"""How an argument is drawn, by the name and the type that PyTorch's schema gives it."""

from .draw import overlaps_itself
from .operators import REQUIRED

#: Given by name alone: what is drawn for a parameter called so. Each takes the hand, the parameter and the
#: first operand, and returns the argument's text.
BY_NAME = {}
#: Otherwise by its type.
BY_TYPE = {}

NUMBERS = ("2", "-1", "0", "1", "3", "0.5", "-1.5", "2.0", "0.0", "True", "False", "-2", "1e-3", "100")
INTEGERS = ("1", "2", "0", "-1", "3", "1", "2", "-2", "7")
WORDS = {
    "rounding_mode": ("None", "'floor'", "'trunc'"),
    "reduce": ("'sum'", "'prod'", "'mean'", "'amax'", "'amin'"),
    "norm": ("None", "'forward'", "'backward'", "'ortho'"),
    "side": ("'left'", "'right'"),
    "approximate": ("'none'", "'tanh'"), "indexing": ("'ij'", "'xy'"), "ord": ("'fro'", "'nuc'"),
    "UPLO": ("'L'", "'U'"), "p": ("'fro'", "'nuc'"),
}


def named(*names):
    """Register how parameters of these names are drawn."""
    return lambda function: BY_NAME.update(dict.fromkeys(names, function)) or function


def typed(*types):
    """Register how parameters of these types are drawn."""
    return lambda function: BY_TYPE.update(dict.fromkeys(types, function)) or function


def argument(d, parameter, first, written=False):
    """The text of an argument; None to leave out one that has a default.

    ``first`` is the first operand, a torch tensor; ``written`` whether the call writes into it.
    """
    optional = parameter.default is not REQUIRED
    if optional and d.chance(0.5):
        return None
    kind = parameter.type
    if optional and kind.startswith("Optional[") and d.chance(0.1):
        return "None"
    kind = kind.removeprefix("Optional[").removesuffix("]") if kind.startswith("Optional[") else kind
    if "Tensor" not in kind and parameter.name in BY_NAME and kind in ("int", "List[int]"):
        return BY_NAME[parameter.name](d, kind, first)
    if kind == "Tensor":
        return tensor(d, parameter.name, first, written)
    if kind == "str":
        return d.choice(WORDS.get(parameter.name, ("'wrong'",))) if d.chance(0.97) else "'wrong'"
    drawer = BY_TYPE.get(kind)
    return drawer(d, parameter.name, first) if drawer else None


def tensor(d, name, first, written):
    """An operand after the first."""
    if name in ("index", "indices"):
        return index(d, first)
    if name in ("mask", "condition"):
        return d.leaf(d.broadcastable(tuple(first.shape)), "bool", False)
    if name in ("mat2", "tensor2", "vec2") and first.dim() and d.chance(0.6):
        found = d.name(lambda u: u.dim() and u.shape[-2 if u.dim() > 1 else 0] == first.shape[-1]
                       and u.dtype == first.dtype)
        if found and not written:
            return found
        lead = tuple(first.shape[:-2])
        return d.leaf((*lead, first.shape[-1], d.choice(("n", "m"))), _dtype(first))
    if d.chance(0.2):
        return d.leaf(tuple(first.shape), _dtype(first))
    return d.operand_for(first, written=written)


def index(d, first):
    """Places that fit most dimensions."""
    shape = tuple(first.shape) if d.chance(0.5) else d.choice(((2,), ("n",), (1,), (0,)))
    return d.leaf(shape, d.choice(("int64", "int64", "int64", "int32")), False, "index")


def _dtype(t):
    return str(t.dtype).removeprefix("torch.")


@named("dim", "dim0", "dim1", "dim2", "axis", "axis0", "axis1", "source", "destination", "start_dim",
       "end_dim", "dims")
def dimension(d, kind, first):
    if kind == "int" or (kind == "List[int]" and d.chance(0.4)):
        one = str(d.dim(first.dim()))
        return one if kind == "int" else f"({one},)"
    count = d.choice((0, 1, 2, 2, 3))
    dims = [d.dim(first.dim()) for _ in range(count)]
    if d.chance(0.7):
        dims = [x for i, x in enumerate(dims)
                if x % max(first.dim(), 1) not in [y % max(first.dim(), 1) for y in dims[:i]]]
    return str(tuple(dims)) if d.chance(0.8) else str(dims)


@named("size", "sizes", "shape")
def size(d, kind, first):
    if kind == "int":
        return d.choice(("n", "m", "1", "2", "0", "-1"))
    way = d.choice(("expand", "reshape", "free"))
    shape = list(first.shape)
    if way == "expand":
        shape = [d.choice((n, -1)) if n != 1 else d.choice(("n", 2, 1)) for n in shape]
        return d.shape_text(([d.choice((2, "n", 1))] if d.chance(0.3) else []) + shape)
    if way == "reshape":
        d.rng.shuffle(shape)
        if shape and d.chance(0.4):
            shape[d.rng.randrange(len(shape))] = -1
        return d.shape_text(shape)
    return d.shape_text([d.choice(("n", "m", 1, 2, 0, -1)) for _ in range(d.between(0, 3))])


@named("repeats", "shifts", "split_sizes", "pad", "dimensions")
def small(d, kind, first):
    if kind == "int":
        return d.choice(("1", "2", "0", "-1", "3"))
    if d.chance(0.5):
        return str(tuple(d.choice((1, 2, 0, 1)) for _ in range(first.dim())))
    return str(tuple(d.choice((1, 2, 0, -1, 3)) for _ in range(d.between(0, 4))))


@typed("int")
def integer(d, name, first):
    return d.choice(INTEGERS)


#: What is never True: `isin` of elements that are not unique, though it is promised that they are, is left
#: undefined; and sparse gradients, which PyTorch then has no kernel for, are dense here.
NEVER = ("assume_unique", "sparse_grad")


@typed("bool")
def flag(d, name, first):
    drawn = d.choice(("True", "False"))
    return "False" if name in NEVER else drawn


@typed("number")
def number(d, name, first):
    if d.scalars and d.chance(0.3):
        return d.choice(d.scalars)
    if first.is_complex() and d.chance(0.2):
        return "(0.5-1j)"
    return d.choice(NUMBERS)


@typed("float")
def real(d, name, first):
    return d.choice(("0.5", "1.0", "2.0", "-1.0", "0.0", "3", "1e-3"))


@typed("List[int]")
def integers(d, name, first):
    return small(d, "List[int]", first)


@typed("List[float]", "List[number]")
def reals(d, name, first):
    return str([d.choice((0.5, 1.0, 2.0)) for _ in range(d.between(1, 2))])


@typed("ScalarType")
def dtype(d, name, first):
    return f"T.{d.dtype()}"


@typed("MemoryFormat")
def memory_format(d, name, first):
    return d.choice(("T.contiguous_format", "T.preserve_format", "T.contiguous_format", "T.channels_last"))


@typed("List[Tensor]")
def tensors(d, name, first):
    count = d.choice((1, 2, 2, 3, 0) if d.chance(0.1) else (1, 2, 2, 3))
    found = []
    for _ in range(count):
        mine = d.name(lambda u: u.dim() == first.dim() and (u.dtype == first.dtype or d.chance(0.2)))
        found.append(mine if mine and d.chance(0.7) else d.leaf(tuple(first.shape), _dtype(first)))
    return f"[{', '.join(found)}]"


def writable(t):
    """Whether a write to each element is defined."""
    return not overlaps_itself(t)

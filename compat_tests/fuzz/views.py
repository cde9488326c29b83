"""Writers of view statements: one function per view op, from a tensor to the text of a call."""

import math

import torch

from .program import Instruction

WRITERS = {}


def writer(function):
    """Register ``function(d, name, t)``, which gives the text of a view of ``name``, or None."""
    WRITERS[function.__name__] = function
    return function


def view_of(d):
    """A statement that makes one view, or unpacks several; None where the draw does not fit."""
    name = d.name()
    if name is None:
        return None
    t = d.pool[name]
    text = d.choice(WRITERS.values())(d, name, t)
    if text is None:
        return None
    makes = (d.fresh(),)
    if text.endswith("*"):
        text = text[:-1]
        makes = tuple(d.fresh() for _ in range(d.between(1, min(_pieces(text, name, t), 3))))
        target = ", ".join(makes)
        return Instruction(f"({target},) = {text}[:{len(makes)}]", makes)
    guard = "with T.no_grad(): " if d.chance(0.05) else "with T.inference_mode(): " if d.chance(0.03) else ""
    return Instruction(f"{guard}{makes[0]} = {text}", makes)


def _pieces(text, name, t):
    """How many tensors a split gives; 1 where it is refused."""
    try:
        return len(eval(text, {name: t.detach()}))
    except (RuntimeError, IndexError):
        return 1


@writer
def select(d, name, t):
    dim = d.dim(t.dim())
    size = t.shape[dim] if -t.dim() <= dim < t.dim() else 1
    return f"{name}.select({dim}, {d.between(-size, size - (not d.chance(0.05)))})"


@writer
def index(d, name, t):
    return f"{name}[{basic_index(d, t)}]"


@writer
def more_index(d, name, t):
    return f"{name}[{basic_index(d, t)}]"


@writer
def narrow(d, name, t):
    dim = d.dim(t.dim())
    size = t.shape[dim] if -t.dim() <= dim < t.dim() else 1
    start = d.between(0, size)
    return f"{name}.narrow({dim}, {start}, {d.between(0, size - start + d.chance(0.05))})"


@writer
def view(d, name, t):
    return f"{name}.view({shape_for(d, t)})"


@writer
def reshape(d, name, t):
    return f"{name}.reshape({shape_for(d, t)})"


@writer
def transpose(d, name, t):
    return f"{name}.transpose({d.dim(t.dim())}, {d.dim(t.dim())})"


@writer
def permute(d, name, t):
    return f"{name}.permute({d.rng.sample(range(t.dim()), t.dim())})"


@writer
def turned(d, name, t):
    return d.choice((f"{name}.t()", f"{name}.mT", f"{name}.T" if t.dim() <= 2 else f"{name}.mT"))


@writer
def expand(d, name, t):
    sizes = [d.choice((1, 2, 3, -1)) if n == 1 else d.choice((n, n, -1)) for n in t.shape]
    lead = [2] if d.chance(0.3) else []
    if d.chance(0.05):
        sizes = [3, *sizes]
        lead = [-1]
    return f"{name}.expand({lead + sizes})"


@writer
def squeeze(d, name, t):
    return f"{name}.squeeze({d.dim(t.dim()) if d.chance(0.7) else ''})"


@writer
def unsqueeze(d, name, t):
    return None if t.dim() > 3 else f"{name}.unsqueeze({d.dim(t.dim() + 1)})"


@writer
def diagonal(d, name, t):
    if t.dim() < 2:
        return None
    one, two = d.rng.sample(range(t.dim()), 2)
    return f"{name}.diagonal({d.choice((0, 0, 1, -1, 5))}, {one}, {two})"


@writer
def unfold(d, name, t):
    dim = d.dim(t.dim())
    size = t.shape[dim] if -t.dim() <= dim < t.dim() else 1
    return f"{name}.unfold({dim}, {d.between(0, size)}, {d.between(1, 2)})"


@writer
def split(d, name, t):
    dim = d.dim(t.dim())
    return f"{name}.split({d.between(1, 3)}, {dim})*"


@writer
def chunk(d, name, t):
    return f"{name}.chunk({d.between(1, 3)}, {d.dim(t.dim())})*"


@writer
def unbind(d, name, t):
    return f"{name}.unbind({d.dim(t.dim())})*"


@writer
def as_strided(d, name, t):
    # Memory behind a result, where PyTorch had another one in between, is no specification.
    base = t if t._base is None else t._base
    reach = base.storage_offset() + sum((n - 1) * s for n, s in zip(base.shape, base.stride()) if n) + 1
    room = min(t.untyped_storage().nbytes(), reach * base.element_size()) // t.element_size()
    size = d.choice(((), (2,), (2, 2), (1, 2), (0,), (3,)))
    stride = tuple(d.choice((1, 1, 2, 3)) for _ in size)
    if len(size) == 2 and 2 not in stride[:1]:
        stride = d.choice(((2, 1), (1, 2), (3, 1)))
    span = sum((n - 1) * s for n, s in zip(size, stride, strict=True)) if 0 not in size else 0
    spare = room - span - 1
    if spare < 0:
        return None
    return f"{name}.as_strided({size}, {stride}, {d.between(0, spare)})"


@writer
def complex_parts(d, name, t):
    if t.is_complex():
        return d.choice((f"T.view_as_real({name})", f"{name}.real", f"{name}.imag"))
    # XLA has no complex numbers of half precision.
    fits = t.dim() and t.shape[-1] == 2 and t.dtype.is_floating_point and t.dtype is not torch.float16
    return f"T.view_as_complex({name})" if fits else f"{name}.real"


@writer
def put_off(d, name, t):
    if t.is_complex():
        ways = [".conj()", ".conj().imag", "._neg_view()", *[".mH"] * (t.dim() > 1)]
        return name + d.choice(ways)
    return None if t.dtype is torch.bool else f"{name}._neg_view()"


@writer
def detached(d, name, t):
    # PyTorch does not notice writes through .data, and spoils gradients by them; jaxflow does not.
    return f"{name}.detach()" if d.keenness or d.chance(0.5) else f"{name}.data"


@writer
def flatten(d, name, t):
    first = d.between(0, max(t.dim() - 1, 0))
    return f"{name}.flatten({first}, {d.between(first, max(t.dim() - 1, 0))})"


@writer
def unflatten(d, name, t):
    if not t.dim() or t.shape[-1] % 2:
        return None
    return f"{name}.unflatten(-1, (2, -1))" if t.shape[-1] else None


@writer
def movedim(d, name, t):
    return f"{name}.movedim({d.dim(t.dim())}, {d.dim(t.dim())})"


def shape_for(d, t):
    """A shape with as many elements, now and then a wrong one."""
    if d.chance(0.05):
        return (2, 5)
    shape, rest = [], t.numel()
    while rest > 1 and len(shape) < 3:
        shape.append(d.choice([k for k in range(2, rest + 1) if rest % k == 0]))
        rest //= shape[-1]
    if rest != 1:
        shape.append(rest)
    if d.chance(0.3):
        shape.insert(d.between(0, len(shape)), 1)
    if shape and math.prod(shape) and d.chance(0.3):
        shape[d.rng.randrange(len(shape))] = -1
    return tuple(shape)


def basic_index(d, t):
    """The text of an index of integers, slices, ``...`` and ``None``."""
    items, left = [], t.dim()
    if d.chance(0.1):
        items.append("None")
    for size in t.shape[: d.between(0, t.dim())]:
        kind = d.choice(("int", "slice", "slice", "step", "all"))
        if kind == "int":
            items.append(str(d.between(-size, max(size - 1, 0))))
        elif kind == "slice":
            items.append(d.choice((":1", "1:", ":-1", "0:2", "-2:", "1:1", "2:9")))
        else:
            items.append("::2" if kind == "step" else ":")
        left -= 1
    if d.chance(0.2):
        items.append("...")
        if left and d.chance(0.5):
            items.append("-1" if t.shape[-1] else ":")
    return ", ".join(items) or "..."

"""Statements that no schema tells how to draw: indexing, Python numbers, places that differ, conversions."""

from .arguments import WORDS, writable
from .program import Instruction
from .sizes import SHAPES


def _kept(d, text):
    made = d.fresh()
    return Instruction(f"{made} = {text}", (made,))


def _dtype(t):
    return str(t.dtype).removeprefix("torch.")


def leaf(d):
    """A new tensor."""
    return _kept(d, d.leaf(d.choice(SHAPES)))


def factory(d):
    """A new tensor from sizes and numbers."""
    shape, dtype = d.shape_text(d.choice(SHAPES)), d.dtype()
    number = d.choice(d.scalars) if d.scalars and d.chance(0.6) else d.number()
    return _kept(d, d.choice((
        f"T.zeros({shape}, dtype=T.{dtype})", f"T.ones({shape}, dtype=T.{dtype})",
        f"T.full({shape}, {number})", f"T.full({shape}, {number}, dtype=T.{dtype})", f"T.tensor({number})",
        f"T.arange(0, m, {d.choice((1, 2, 0.5))}, dtype=T.float64)", "T.arange(n)", "T.eye(n, m)",
        f"T.tensor([{number}] * n)",
    )))


def scalar(d):
    """A Python number or list read from a tensor; it goes into what follows."""
    name = d.name(lambda t: t.numel() > 0 or d.chance(0.1))
    if name is None:
        return None
    t = d.pool[name]
    made = d.fresh_scalar()
    forms = [f"{name}.sum().item()", f"{name}.numel()", f"{name}.dim()", f"{name}.reshape(-1)[0].item()",
             f"{name}.any().item()", f"bool(({name} == {name}).all())"]
    if d.chance(0.4):
        forms += [f"{name}.tolist()", f"{name}.item()", f"bool({name})", f"list({name}.shape)"]
    if t.dim():
        forms += [f"{name}.shape[0]", f"len({name})"]
    if not t.is_complex():
        forms += [f"float({name}.reshape(-1)[-1])", f"int(({name} > 0).sum())"]
        if not t.is_floating_point():
            forms += [f"int({name}.reshape(-1)[0])"]
    return Instruction(f"{made} = {d.choice(forms)}", (made,), looks=d.chance(0.3))


def with_scalar(d):
    """An operation of a tensor and a number read before."""
    name = d.name()
    if name is None or not d.scalars:
        return None
    number, op = d.choice(d.scalars), d.choice(("+", "-", "*", "/", "//", "%", "**", ">", "==", "<="))
    one, two = (name, number) if d.chance(0.7) else (number, name)
    return _kept(d, f"{one} {op} {two}")


def binary(d):
    """A Python operator on two tensors of any dtypes."""
    name = d.name()
    if name is None:
        return None
    op = d.choice(("+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<", ">=", "==", "!=", "@"))
    other = d.operand_for(d.pool[name])
    return _kept(d, f"{name} {op} {other}" if d.chance(0.7) else f"{other} {op} {name}")


def augmented(d):
    """An operator that writes into its left side."""
    name = d.name(writable)
    if name is None:
        return None
    t = d.pool[name]
    op = d.choice(("+=", "-=", "*=", "/=", "//=", "%=", "**=", "&=", "|="))
    text = f"{name} {op} {d.operand_for(t, written=True) if d.chance(0.7) else d.number()}"
    leaf = t.requires_grad and t.is_leaf and d.chance(0.8)
    return Instruction(f"with T.no_grad(): {text}" if leaf else text)


def convert(d):
    """Another dtype, a copy or the tensor itself."""
    name = d.name()
    if name is None:
        return None
    dtype = d.dtype()
    return _kept(d, f"{name}." + d.choice((
        f"to(T.{dtype})", f"to(T.{dtype}, copy={d.chance(0.5)})", f"type(T.{dtype})", f"view(T.{dtype})",
        "float()", "double()", "long()", "int()", "bool()", "half()", "clone()", "contiguous()",
        "clone(memory_format=T.contiguous_format)",
    )))


def read_at(d):
    """Advanced indexing: tensors, lists, masks, slices, numbers and ``None`` together."""
    name = d.name(lambda t: t.dim() > 0)
    if name is None:
        return None
    return _kept(d, f"{name}[{advanced(d, d.pool[name])}]")


def write_at(d):
    """A write at places that differ, so that the order of writing does not matter."""
    name = d.name(lambda t: t.dim() > 0 and writable(t))
    if name is None:
        return None
    t = d.pool[name]
    place = advanced(d, t, once=True)
    value = d.number() if d.chance(0.6) else d.leaf(d.choice(((), (1,))), _dtype(t), False)
    op = d.choice(("=", "=", "=", "+=", "*="))
    leaf = t.requires_grad and t.is_leaf and d.chance(0.9)
    text = f"{name}[{place}] {op} {value}"
    return Instruction(f"with T.no_grad(): {text}" if leaf else text)


def advanced(d, t, once=False):
    """The text of an index; with ``once`` no element is meant twice."""
    items, used = [], 0
    for size in t.shape[: d.between(1, t.dim())]:
        kind = d.choice(("int", "slice", "list", "tensor", "mask", "all", "none"))
        if once and used and kind in ("list", "tensor", "mask"):
            kind = "slice"
        if kind == "int":
            items.append(str(d.between(-size, max(size - 1, 0))))
        elif kind == "list":
            chosen = d.rng.sample(range(-size, size), min(size, d.between(0, 2)))
            if once:
                chosen = d.rng.sample(range(size), min(size, d.between(0, 2)))
            items.append(str(chosen))
        elif kind == "tensor":
            shape = () if once else d.choice(((), (2,), ("n",), (2, 1), (0,)))
            dtype = d.choice(("int64", "int64", "int32", "int64" if once else "uint8"))
            items.append(d.leaf(shape, dtype, False, "index"))
        elif kind == "mask":
            items.append(d.leaf((size,), "bool", False))
        elif kind == "none":
            items += ["None", ":"]
        else:
            items.append(d.choice((":", "1:", ":-1", "::2", "1:1", "-2:")) if kind == "slice" else ":")
        used += kind in ("list", "tensor", "mask")
    if d.chance(0.15):
        items.append("...")
    return ", ".join(items)


def specified(d):
    """Of operators whose choice among equal elements is open, what is not: the elements themselves."""
    name = d.name()
    if name is None:
        return None
    t = d.pool[name]
    dim = d.dim(t.dim())
    text = d.choice((
        f"sort({dim})[0]", f"sort(stable=True, dim={dim}, descending={d.chance(0.5)})", f"topk(1, {dim})[0]",
        f"kthvalue(1, {dim})[0]", f"median({dim})[0]", "median()", f"nanmedian({dim})[0]", f"mode({dim})[0]",
        "unique()", "unique(return_counts=True)", f"unique(dim={dim})", "unique_consecutive()",
        f"argsort(dim={dim}, stable=True)", "msort()", f"quantile(0.5, dim={dim})",
    ))
    if t.requires_grad and text.startswith(("kthvalue", "topk", "median", "nanmedian", "mode")):
        text = f"detach().{text}"  # which of equal elements gets the gradient is open
    made = d.fresh()
    if text.startswith("sort(stable") or "counts" in text:
        other = d.fresh()
        return Instruction(f"{made}, {other} = {name}.{text}", (made, other))
    return Instruction(f"{made} = {name}.{text}", (made,))


def at_places(d):
    """Scatters and puts, one place at a time."""
    name = d.name(lambda t: t.dim() > 0 and writable(t) and not (t.requires_grad and t.is_leaf))
    if name is None:
        return None
    t = d.pool[name]
    dim, dtype = d.dim(t.dim()), _dtype(t)
    one = d.leaf((1,), "int64", False, "index")
    place = d.leaf((1,) * t.dim(), "int64", False, "index")
    source = d.leaf((1,) * t.dim(), dtype, False)
    rows = list(t.shape)
    rows[dim if -t.dim() <= dim < t.dim() else 0] = 1
    under = d.choice(("", "_"))
    return _kept(d, f"{name}." + d.choice((
        f"scatter{under}({dim}, {place}, {source})", f"scatter{under}({dim}, {place}, {d.number()})",
        f"scatter_add{under}({dim}, {place}, {source})",
        f"scatter_reduce{under}({dim}, {place}, {source}, "
        f"{d.choice(WORDS['reduce'])}, include_self={d.chance(0.5)})",
        f"index_copy{under}({dim}, {one}, {d.leaf(rows, dtype, False)})",
        f"index_put{under}(({one},), {d.leaf((1,), dtype, False)}, accumulate={d.chance(0.5)})",
        f"put{under}({one}, {d.leaf((1,), dtype, False)}, {d.chance(0.5)})",
        f"masked_scatter{under}({d.leaf(tuple(t.shape), 'bool', False)}, "
        f"{d.leaf(tuple(t.shape), dtype, False)})",
        f"index_reduce{under}({dim}, {one}, {d.leaf(rows, dtype, False)}, {d.choice(WORDS['reduce'])})",
    )))



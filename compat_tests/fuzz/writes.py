"""Writers of statements that change a tensor in place."""

from .draw import overlaps_itself, same_layout, share_memory
from .program import Instruction
from .views import basic_index


def write(d):
    """A statement that writes into one tensor, in one of many spellings; None if none fits."""
    name = d.name()
    if name is None:
        return None
    t = d.pool[name]
    stretched = any(s == 0 and n > 1 for n, s in zip(t.shape, t.stride(), strict=True))
    if overlaps_itself(t) and not stretched:
        return None  # PyTorch does not notice, and what such a write gives is not defined
    forms = (arithmetic,) if stretched else FORMS
    code = d.choice(forms)(d, name, t)
    if code is None:
        return None
    refused = t.requires_grad and (t.is_leaf or (t._base is not None and _fixed(t._base)))
    guard = "with T.no_grad(): " if d.chance(0.85 if refused else 0.1) else ""
    guard = guard or ("with T.inference_mode(): " if d.chance(0.05) else "")
    return Instruction(guard + code)


def _fixed(t):
    """Whether this is a leaf that requires grad, which only ``no_grad`` may write to."""
    return t.is_leaf and t.requires_grad


def operand(d, t):
    """A number or a tensor, old or new, that broadcasts to ``t`` and may be read meanwhile."""
    kind = d.choice(("number", "pool", "new"))
    if kind == "number":
        return str(d.number())
    if kind == "pool" and (found := d.name(lambda u: _fits(t, u))):
        return found
    dtype = str(t.dtype).removeprefix("torch.")
    grad = "float" in dtype and d.chance(d.keenness / 2)
    return d.leaf(d.broadcastable(tuple(t.shape)), dtype, grad)


def _fits(t, u):
    if u.is_complex() and not t.is_complex():
        return False
    if share_memory(t, u) and not same_layout(t, u):
        return _both_dense(t, u)
    tail = t.shape[t.dim() - u.dim() :] if u.dim() <= t.dim() else None
    return tail is not None and all(n in (1, m) for n, m in zip(u.shape, tail, strict=True))


def _both_dense(t, u):
    """Layouts without gaps: PyTorch notices that they overlap, and refuses."""
    import torch

    dense = torch.ops.aten.is_non_overlapping_and_dense
    return t.shape == u.shape and dense(t) and dense(u)


def arithmetic(d, name, t):
    other = operand(d, t)
    form = d.choice(("{}.add_({})", "{}.mul_({})", "{}.sub_({})", "{} += {}", "{} *= {}"))
    return form.format(name, other)


def scaled(d, name, t):
    return f"{name}.add_({operand(d, t)}, alpha={d.choice((2, -1))})"


def copy(d, name, t):
    other = operand(d, t)
    return None if other in map(str, (d.number(),)) else f"{name}.copy_({_as_tensor(other)})"


def _as_tensor(text):
    return text if text[0] in "tT" else f"T.tensor({text})"


def fill(d, name, t):
    verb = d.choice((f"fill_({d.number()})", "zero_()", "fill_(T.tensor(2))"))
    return f"{name}.{verb}"


def unary(d, name, t):
    if not t.dtype.is_floating_point:
        return f"{name}.neg_()"
    return f"{name}.{d.choice(('neg_', 'abs_', 'relu_', 'tanh_', 'sin_'))}()"


def assign(d, name, t):
    """``t[basic] = value``, or an operator on it."""
    index = basic_index(d, t)
    value = d.number()
    if d.chance(0.3):
        return f"{name}[{index}] {d.choice(('+=', '*='))} {value}"
    if d.chance(0.3):
        found = d.name(lambda u: u.dim() <= 1 and u.numel() == 1 and not share_memory(t, u)
                       and (t.is_complex() or not u.is_complex())
                       # PyTorch's fill_ lets an integer tensor require grad after this.
                       and (t.is_complex() or t.is_floating_point() or not u.requires_grad))
        value = found or value
    return f"{name}[{index}] = {value}"


def assign_advanced(d, name, t):
    """``t[lists and masks] = number``."""
    if not t.dim():
        return f"{name}[{name} > 0] = {d.number()}" if not t.is_complex() else None
    size = t.shape[0]
    kind = d.choice(("list", "mask", "row mask", "last", "tensor"))
    if kind == "mask":
        return None if t.is_complex() else f"{name}[{name} > {d.number()}] = {d.number()}"
    if kind == "row mask":
        return f"{name}[{d.data((size,), 'bool')}] = {d.number()}"
    if kind == "last":
        last = t.shape[-1]
        return f"{name}[..., {d.rng.sample(range(last), min(last, 2))}] = {d.number()}"
    chosen = d.rng.sample(range(size), d.between(0, size))
    if kind == "list":
        return f"{name}[{chosen}] = {d.number()}"
    return f"{name}[T.tensor({chosen}, dtype=T.int64)] {d.choice(('=', '+=', '*='))} {d.number()}"


def masked_fill(d, name, t):
    shape = d.broadcastable(tuple(t.shape))
    if 0 in shape:
        return None
    return f"{name}.masked_fill_({d.leaf(shape, 'bool')}, {d.number()})"


def through_a_view(d, name, t):
    """A write through views nobody keeps."""
    route = d.choice((
        f"[{basic_index(d, t)}]", ".detach()", ".view(-1)", ".t()", ".unsqueeze(0)",
        f"[{basic_index(d, t)}].unsqueeze(-1)", ".mT" if t.dim() > 1 else ".unsqueeze(-1)[0]",
    ))
    number = d.number()
    verb = d.choice((f"add_({number})", f"mul_({number})", f"fill_({number})", "zero_()"))
    return f"{name}{route}.{verb}"


FORMS = (
    arithmetic, arithmetic, scaled, copy, fill, unary, assign, assign, assign_advanced,
    assign_advanced, masked_fill, through_a_view, through_a_view,
)

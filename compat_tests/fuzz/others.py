"""Writers of everything else: new tensors, operations out of place, gradients, and housekeeping."""

from .draw import SHAPES
from .functions import FORWARDS
from .program import Instruction


def leaf(d):
    """A new tensor, mostly float64."""
    dtype = d.choice(("float64",) * 8 + ("float32", "int64", "complex128"))
    grad = dtype != "int64" and d.chance(d.keenness)
    name = d.fresh()
    return Instruction(f"{name} = {d.leaf(d.choice(SHAPES), dtype, grad)}", (name,))


def unary(d):
    """A new tensor from one."""
    name = d.name()
    if name is None:
        return None
    t = d.pool[name]
    forms = ["{}.clone()", "{}.clone()", "{} * 2", "{} + 1", "-{}", "{}.contiguous()", "{} * {}",
             "{}.sum()", "T.zeros_like({})", "T.ones_like({})"]
    if t.dtype.is_floating_point:
        forms += ["{}.tanh()", "{}.sin()", "{}.abs()", "{}.relu()", "{}.double()", "{}.mean()",
                  "{}.cos()", "{}.sigmoid()"]
    if t.dim():
        dim, keep = d.dim(t.dim()), d.chance(0.5)
        forms += [f"{{}}.sum({dim})", f"{{}}.sum({dim}, keepdim={keep})"]
        forms += [f"{{}}[{d.data((t.shape[0],), 'bool')}]", "{}[[0]]", "{}[..., [0, -1]]"]
    if not t.is_complex():
        forms += ["{}[{} > 0]", "T.where({} > 0, {}, 0.5)"]
    made = d.fresh()
    text = d.choice(forms)
    return Instruction(f"{made} = {text.replace('{}', name)}", (made,))


def custom(d):
    """A custom function of one tensor."""
    name = d.name(lambda t: t.dtype.is_floating_point)
    if name is None:
        return None
    made = d.fresh()
    return Instruction(f"{made} = functions.call(T, {d.choice(FORWARDS)!r}, {name})", (made,))


def binary(d):
    """A new tensor from two."""
    one = d.name()
    if one is None:
        return None
    t = d.pool[one]
    two = d.name() if d.chance(0.05) else d.name(lambda u: _broadcast(t.shape, u.shape))
    forms = ["{} + {}", "{} - {}", "{} * {}", "{}.add({}, alpha=2)"]
    if t.dim() == 2 and d.chance(0.5):
        inner = (t.shape[1], t.dtype)
        found = d.name(lambda u: u.dim() in (1, 2) and (u.shape[0], u.dtype) == inner)
        if found:
            two, forms = found, ["{} @ {}", "T.matmul({}, {})"]
    elif d.chance(0.2):
        forms = ["T.stack([{}, {}])", "T.cat([{}, {}])"]
        two = d.name(lambda u: u.shape == t.shape)
    made = d.fresh()
    return Instruction(f"{made} = {d.choice(forms).format(one, two)}", (made,))


def _broadcast(one, two):
    return all(a == b or 1 in (a, b) for a, b in zip(one[::-1], two[::-1], strict=False))


def _scalar(name, t):
    """A differentiable real scalar from a tensor."""
    return f"{name}.abs().sum()" if t.is_complex() else f"({name} * {name}).sum()"


def backward(d):
    """Gradients into ``.grad``."""
    name = d.name(lambda t: t.requires_grad)
    if name is None:
        name = d.name() if d.chance(0.03) else None
    if name is None:
        return None
    keep = d.choice(("", "", "retain_graph=True"))
    return Instruction(f"{_scalar(name, d.pool[name])}.backward({keep})", looks=True, fatal=True)


def gradient(d):
    """A gradient as a new tensor."""
    name = d.name(lambda t: t.requires_grad)
    if name is None:
        return None
    other = d.name(lambda t: t.requires_grad)
    made = d.fresh()
    options = d.choice(("", ", retain_graph=True", ", create_graph=True"))
    # A gradient's strides and version are the engine's affair: a contiguous copy hides both.
    return Instruction(
        f"{made} = T.autograd.grad({_scalar(name, d.pool[name])}, [{other}], "
        f"materialize_grads=True{options})[0].clone(memory_format=T.contiguous_format)",
        (made,), looks=True, fatal=True,
    )


def flags(d):
    """Requires-grad flags, gradients kept or dropped."""
    name = d.name()
    if name is None:
        return None
    t = d.pool[name]
    forms = [f"{name}.requires_grad_()"] if d.keenness else []
    forms += [f"{name}.detach_()", f"{name}.unsqueeze_(0)", f"{name}.t_()" if t.dim() <= 2 else "pass"]
    if t.requires_grad and not t.is_leaf:
        forms += [f"{name}.retain_grad()"] * 4
    if t.is_leaf and t.grad is not None:
        forms += [f"{name}.grad = None", f"{name}.grad.zero_()", f"{name}.grad.mul_(2)"] * 2
        made = d.fresh()
        forms += [f"{made} = {name}.grad.clone()"] * 2
        text = d.choice(forms)
        return Instruction(text, (made,) if text.startswith(made) else (), looks=True)
    return Instruction(d.choice(forms))


def forget(d):
    """One name less: what no name holds may be freed, or live on behind a view."""
    if len(d.pool) < 4:
        return None
    name = d.choice(d.pool)
    return Instruction(f"del {name}")


def look(d):
    """Read every value."""
    return Instruction("pass", looks=True)

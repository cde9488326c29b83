"""Every combination of how a tensor was made and how it is written, as a program that tells what happened.

A row is (root, view, mode it is made in, mode it is written in, write, what is written). `outcome` runs it
on one library and returns all a user can see afterwards, errors included.
"""

import itertools
import warnings

from compat_tests.fuzz.interpret import described

NUMBERS = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]

ROOTS = {
    "leaf": lambda T: T.tensor(NUMBERS, requires_grad=True),
    "result": lambda T: T.tensor(NUMBERS, requires_grad=True) * 1,
    "plain": lambda T: T.tensor(NUMBERS),
}

# The same of complex numbers, for the views that conjugate.
COMPLEX_ROOTS = {f"complex {name}": lambda T, name=name: _complex(T, name) for name in ROOTS}


def _complex(T, root):
    t = T.tensor([[1 + 2j, 2 - 1j, 3j], [4.0, 5 - 2j, 6 + 1j]], requires_grad=root != "plain")
    return t * 1 if root == "result" else t


VIEWS = {
    "itself": lambda t: t,
    "select": lambda t: t[0],
    "whole": lambda t: t.view(3, 2),
    "alias": lambda t: t.view_as(t),
    "of_view": lambda t: t.t()[1:],
    "expand": lambda t: t.expand(2, 2, 3),
    "as_strided": lambda t: t.as_strided((2, 2), (1, 2)),
    "unbind": lambda t: t.unbind()[1],
    "split": lambda t: t.split(1, 1)[2],
    "chunk": lambda t: t.chunk(2)[0],
    "only_chunk": lambda t: t.chunk(1)[0],
    "of_unbind": lambda t: t.unbind()[1].view(1, 3),
    "unbind_of_view": lambda t: t.t().unbind()[0],
    "detach": lambda t: t.detach(),
    "of_detach": lambda t: t.detach()[1:],
    "data": lambda t: t.data,
}

# Views that show their memory conjugated or negated, and views of these.
COMPLEX_VIEWS = {
    "conj": lambda t: t.conj(),
    "mH": lambda t: t.mH,
    "adjoint": lambda t: t.adjoint(),
    "conj_twice": lambda t: t.conj().conj(),
    "negative": lambda t: t._neg_view(),
    "real_of_conj": lambda t: t.conj().real,
    "imag_of_conj": lambda t: t.conj().imag,
    "imag_of_negative": lambda t: t._neg_view().imag,
    "part_of_negative": lambda t: t._neg_view()[1],
    "part_of_mH": lambda t: t.mH[1:],
    "conj_of_part": lambda t: t[0].conj(),
    "expand_of_conj": lambda t: t.conj().expand(2, 2, 3),
    "as_strided_of_conj": lambda t: t.conj().as_strided((2, 2), (1, 2)),
    "as_strided_of_imag": lambda t: t.conj().imag.as_strided((2, 3), (6, 2), 1),
    "unbind_of_conj": lambda t: t.conj().unbind()[1],
    "conj_of_split": lambda t: t.split(1, 1)[2].conj(),
    "detach_of_conj": lambda t: t.conj().detach(),
    "conj_of_detach": lambda t: t.detach().conj(),
    "imag_of_detached_conj": lambda t: t.conj().detach().imag,
    "data_of_conj": lambda t: t.conj().data,
}

# What a custom function's forward returns of its argument; the first of several results is looked at.
FORWARDS = {
    "f_itself": lambda ctx, t: t,
    "f_plain": lambda ctx, t: t * 2,
    "f_view": lambda ctx, t: t[:1],
    "f_view_of_view": lambda ctx, t: t.t()[1:],
    "f_detached": lambda ctx, t: t.detach(),
    "f_two": lambda ctx, t: (t[:1], t * 2),
    "f_two_views": lambda ctx, t: (t[:1], t[1:]),
    "f_unbind": lambda ctx, t: t.unbind(),
    "f_itself_twice": lambda ctx, t: (t, t),
    "f_itself_and_more": lambda ctx, t: (t, t * 2),
    "f_marked": lambda ctx, t: (ctx.mark_non_differentiable(t), t)[1],
    "f_marked_view": lambda ctx, t: _marked(ctx, t[:1]),
    "f_marked_plain": lambda ctx, t: _marked(ctx, t * 2),
    "f_dirty": lambda ctx, t: (ctx.mark_dirty(t), t.mul_(2))[1],
    "f_dirty_marked": lambda ctx, t: (ctx.mark_dirty(t), _marked(ctx, t.mul_(2)))[1],
    "f_dirty_and_more": lambda ctx, t: (ctx.mark_dirty(t), (t.mul_(2), t * 2))[1],
    "f_dirty_inside": lambda ctx, t: t.mul_(2),
    "f_saved": lambda ctx, t: (ctx.save_for_backward(t), t * 2)[1],
    "f_saved_result": lambda ctx, t: _saved(ctx, t * 2),
    "f_saved_itself": lambda ctx, t: (ctx.save_for_backward(t), t)[1],
}


def _marked(ctx, t):
    ctx.mark_non_differentiable(t)
    return t


def _saved(ctx, t):
    ctx.save_for_backward(t)
    return t


def _function(T, forward):
    def backward(ctx, *grads):
        kept = [k * 1 for k in ctx.saved_tensors]
        return T.ones(2, 3) * sum(g.sum() for g in grads) + (sum(k.sum() for k in kept) if kept else 0)

    return type("Made", (T.autograd.Function,), {
        "forward": staticmethod(forward), "backward": staticmethod(backward)
    })


def _seen(T, view, t):
    if view in VIEWS:
        return VIEWS[view](t)
    if view in COMPLEX_VIEWS:
        return COMPLEX_VIEWS[view](t)
    made = _function(T, FORWARDS[view]).apply(t)
    return made[0] if isinstance(made, tuple) else made


# What a function is given: the root itself or a view of it.
INPUTS = {"": lambda t: t, " of t()": lambda t: t.t().t(), " of unbind": lambda t: t[None].unbind()[0]}

MODES = {
    "grad": lambda T: T.enable_grad(),
    "no_grad": lambda T: T.no_grad(),
    "inference": lambda T: T.inference_mode(),
}

WRITES = {
    "mul": lambda T, t, w: t.mul_(2),
    "mul_w": lambda T, t, w: t.mul_(w),
    "relu": lambda T, t, w: t.relu_(),
    "zero": lambda T, t, w: t.zero_(),
    "copy_w": lambda T, t, w: t.copy_(w),
    "set_number": lambda T, t, w: t.__setitem__(0, 2.0),
    "set_w": lambda T, t, w: t.__setitem__((..., slice(0, 1)), w),
    "detach": lambda T, t, w: t.detach_(),
    "requires": lambda T, t, w: t.requires_grad_(),
    "requires_not": lambda T, t, w: t.requires_grad_(False),
    "resize_same": lambda T, t, w: t.resize_(tuple(t.shape)),
    "set": lambda T, t, w: t.set_(T.ones(2, 3)),
    "through_data": lambda T, t, w: t.data.mul_(2),
    "through_detach": lambda T, t, w: t.detach().mul_(2),
    "transpose": lambda T, t, w: t.unsqueeze_(0),
    "fill_w": lambda T, t, w: t.fill_(w[0] if w.dim() else w),
    "clone_of_it": lambda T, t, w: t.clone().mul_(w),
    "nothing": lambda T, t, w: None,
}

# Those of real tensors alone. PyTorch's gradient of a complex fill with a real number is an error of its own,
# and so is that of a view which conjugates a base that was given another shape in place.
REAL_WRITES = ("relu", "set", "fill_w", "transpose")


def function_rows(write):
    """All rows of one kind of write about custom functions."""
    targets = () if write == "set" else ("view", "root")
    for row in itertools.product(ROOTS, FORWARDS, MODES, MODES, MODES, (write,), targets, INPUTS):
        # Writes through .data to what is saved are not noticed by PyTorch, and spoil its gradients.
        unnoticed = write == "through_data" and row[1].startswith("f_saved")
        if not unnoticed and not _oddly_counted(row, "f_detached"):
            yield row


def rows(write):
    """All rows of one kind of write."""
    # What PyTorch shows of a view after that is half of the old memory and half of the new.
    targets = ("root",) if write == "set" else ("view", "root")
    for row in itertools.product(ROOTS, VIEWS, MODES, MODES, MODES, (write,), targets):
        if not _oddly_counted(row, "detach", "data"):
            yield row


def complex_rows(write):
    """All rows of one kind of write about views that conjugate and negate."""
    detached = [name for name in COMPLEX_VIEWS if "detach" in name or "data" in name]
    targets = ("view", "root")
    for row in itertools.product(COMPLEX_ROOTS, COMPLEX_VIEWS, MODES, MODES, MODES, (write,), targets):
        if not _oddly_counted(row, *detached):
            yield row


def _oddly_counted(row, *views):
    """Writes that PyTorch counts or not by whether another operand is a normal tensor."""
    return row[1] in views and row[2] == row[4] == "inference" and row[6] == "view"


def outcome(T, row):
    """What happened: (first error or None, the facts of root and view, gradients)."""
    root, view, root_mode, view_mode, write_mode, write, target, *given = row
    told = []

    def tell(what, call):
        try:
            told.append((what, call()))
        except Exception as error:
            told.append((what, _error(error)))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        w = T.tensor([0.5]).requires_grad_()
        with MODES[root_mode](T):
            base = (ROOTS.get(root) or COMPLEX_ROOTS[root])(T)
        try:
            with MODES[view_mode](T):
                seen = _seen(T, view, INPUTS[given[0]](base) if given else base)
        except Exception as error:
            return [("view", _error(error))]
        written = seen if target == "view" else base

        def change():
            with MODES[write_mode](T):
                WRITES[write](T, written, w)

        tell("write", change)
        # PyTorch computes before it finds this out, and then refuses what it has done already.
        if "Inplace update to inference tensor" in repr(told[0]):
            return told
        for name, t in (("base", base), ("view", seen)):
            tell(name, lambda t=t: _facts(t, base, seen))
            tell(f"{name} values", lambda t=t: _numbers(t, root))
            tell(f"{name} version", lambda t=t: t._version)
            tell(f"{name} grad_fn", lambda t=t: None if t.grad_fn is None else t.grad_fn.name())
        for name, t in (("view", seen), ("base", base)):
            tell(f"gradients of {name}", lambda t=t: _gradients(T, t, base, w, root))
    return told


def _error(error):
    kind, text = described(error)
    # After the first sentence PyTorch's advice is to ask on its forum.
    return kind, text[:70] if text.startswith("If your Function modifies inplace") else text


def _facts(t, base, seen):
    held = t._base
    whose = None if held is None else "base" if held is base else "view" if held is seen else "other"
    return (t.requires_grad, t.output_nr, t._is_view(), whose, t.is_inference(), tuple(t.shape),
            t.stride(), t.storage_offset(), t.is_conj(), t.is_neg())


def _gradients(T, t, base, w, root):
    loss = (t * t).sum()
    loss = loss.real if loss.is_complex() else loss
    found = T.autograd.grad(loss, (w, base), retain_graph=True, allow_unused=True)
    return [None if g is None else _numbers(g.flatten(), root) for g in found]


def _numbers(t, root):
    """The elements; of complex numbers not whether a zero is negative, and without asking for a history.

    To read a conjugate PyTorch makes a copy, which is an operation that it may refuse.
    """
    return _unsigned(t.data.tolist()) if root in COMPLEX_ROOTS else t.tolist()


def _unsigned(x):
    return [_unsigned(y) for y in x] if isinstance(x, list) else x + 0

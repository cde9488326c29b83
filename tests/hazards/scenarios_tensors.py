"""Scenarios of single operations: chains, writes in place, views, modes, random numbers."""

from __future__ import annotations

import numpy as np

import jaxflow as torch

from .scenario import scenario
from .world import World


def numbers(seed: int, *shape: int) -> torch.Tensor:
    """Normal numbers that depend on the seed alone."""
    return torch.tensor(np.random.default_rng((seed, *shape)).normal(size=shape).astype(np.float32))


@scenario(
    "w.y = w.x * 2",
    "w.z = w.y + w.x",
    "w.u = (w.z * 0.1).exp()",
    "w.s = w.u.sum().item()",
    "w.v = w.u - w.y",
    "w.v = w.v @ w.x",
    "w.m = w.v.mean().item()",
)
def chain(seed: int) -> World:
    return World(x=numbers(seed, 3, 3))


@scenario(
    "w.y = w.p * 2",
    "w.z = (w.y + w.p).tanh()",
    "w.s = w.z.sum()",
    "w.s.backward()",
    "w.n = w.s.item()",
    "w.t = (w.p * w.y.detach()).sum()",
    "w.t.backward()",
)
def chain_with_grad(seed: int) -> World:
    return World(p=numbers(seed, 2, 3).requires_grad_())


@scenario(
    "w.a.add_(1)",
    "w.a.mul_(w.b)",
    "w.b.copy_(w.a)",
    "w.a[0] = 3.0",
    "w.n = w.a.sum().item()",
    "w.a.clamp_(-1, 1)",
    "w.b[1:] = w.a[:2]",
    "w.a.zero_()",
    "w.b.sub_(w.a, alpha=2)",
)
def in_place(seed: int) -> World:
    return World(a=numbers(seed, 3, 2), b=numbers(seed + 1, 3, 2))


@scenario(
    "w.row = w.base[1]",
    "w.row.mul_(2)",
    "w.base.add_(1)",
    "w.turned.t()[0].fill_(5.0)",
    "w.n = w.row.sum().item()",
    "w.base.view(-1).sub_(1)",
    "w.row[1:].copy_(w.other)",
    "w.base.t_()",
)
def in_place_through_views(seed: int) -> World:
    base = numbers(seed, 3, 3)
    return World(base=base, turned=base.t(), other=numbers(seed, 2))


@scenario(
    "w.base = w.p * 1.5",
    "w.row = w.base[0]",
    "w.row.mul_(3)",
    "w.base.add_(w.q)",
    "w.row.sub_(1)",
    "w.loss = (w.base * w.q).sum()",
    "w.loss.backward()",
    "w.n = w.loss.item()",
)
def in_place_with_grad(seed: int) -> World:
    return World(p=numbers(seed, 2, 3).requires_grad_(), q=numbers(seed + 1, 2, 3).requires_grad_())


NO_GRAD = "with torch.no_grad():\n    w.p.add_(1)"
NESTED = "with torch.no_grad():\n    with torch.enable_grad():\n        w.z = w.p * 4"
DETOUR = "with torch.inference_mode():\n    w.i = w.p * 3"


@scenario(
    NO_GRAD,
    "w.y = w.p * 2",
    NESTED,
    DETOUR,
    "torch.set_grad_enabled(False)",
    "w.x = w.p * w.y",
    "torch.set_grad_enabled(True)",
    "w.v = w.p * w.p",
    "w.f = w._double(w.p)",
    "w.p.requires_grad_(False)",
    "w.p.requires_grad_(True)",
    "w.d = w.v.detach_()",
)
def modes(seed: int) -> World:
    @torch.no_grad()
    def double(x):
        return x * 2

    return World(p=numbers(seed, 2, 2).requires_grad_(), _double=double)


@scenario(
    "w.a = torch.rand(3)",
    "w.b = torch.randn(2, 2)",
    "w.c.normal_()",
    "w.d = F.dropout(w.c, 0.5)",
    "w.n = w.d.sum().item()",
    "w.k = torch.randint(0, 10, (4,))",
    "w.c.uniform_(1, 2)",
    "w.e = torch.randperm(5)",
)
def random_numbers(seed: int) -> World:
    return World(c=torch.zeros(2, 3))


@scenario(
    "w.a.data = w.b",
    "w.a.t_()",
    "w.c.set_(w.b)",
    "w.c.add_(1)",
    "w.d = w.p * 2",
    "w.d.transpose_(0, 1)",
    "w.d.unsqueeze_(0)",
    "w.d.sum().backward()",
    "w.e = w.p * 3",
    "w.e.detach_()",
    "w.e.resize_(3)",
    "w.e.requires_grad_()",
    "w.a.squeeze_()",
)
def other_memory(seed: int) -> World:
    return World(a=numbers(seed, 2, 3), b=numbers(seed + 1, 2, 3), c=numbers(seed + 2, 4),
                 p=numbers(seed + 3, 2, 3).requires_grad_())


@scenario(
    "torch.linalg.norm(w.p, out=w.grown)",
    "torch.linalg.norm(w.p, 2, 1, out=w.shrunk)",
    "w.grown.backward()",
    "w.n = w.shrunk.sum().item()",
    "torch.add(w.c, 1, out=w.base[1:1])",
    "torch.add(w.c, 1, out=w.empty)",
    "w.base.resize_(2)",
    "w.base.resize_(9)",
    "w.n = w.base.sum().item()",
    "w.part.resize_(3, 3)",
    "w.memory.mul_(2)",
    "w.part.add_(1)",
    "torch.add(w.c, 1, out=w.other[1:1])",
    "w.other.sub_(w.c)",
    "w.n = w.memory.sum().item() + w.part.sum().item() + w.kept.sum().item()",
)
def results_of_another_shape(seed: int) -> World:
    """Where an ``out=`` takes another shape, with history and without, in its memory and in other memory."""
    memory, kept = numbers(seed + 3, 6), numbers(seed + 4, 3)
    return World(p=numbers(seed, 2, 3).requires_grad_(), grown=torch.zeros(0), shrunk=torch.zeros(7)[3:3],
                 base=numbers(seed + 1, 6), c=numbers(seed + 2, 3), empty=torch.empty(0),
                 memory=memory, part=memory[1:3], kept=kept, other=kept.detach())


@scenario(
    "torch.sort(w.x, out=(w.values, w.places))",
    "torch.topk(w.x, 2, out=(w.more, w.where))",
    "torch.max(w.x, 1, out=(w.base[5:5], w.none))",
    "torch.frexp(w.x, out=(w.base[:3], w.whole[3:]))",
    "torch.aminmax(w.x[0], out=(w.ends[0], w.ends[1]))",
    "w.n = w.base.sum().item() + w.values.sum().item()",
    "torch.linalg.slogdet(w.x, out=(w.sign, w.size))",
    "torch.split_copy(w.x, 2, out=(w.base[1:3], w.base[4:5]))",
    "torch.linalg.lstsq(w.x, w.x, out=(w.solved, w.values[:0, 0], w.rank, w.values[3:, 1]))",
    "w.n = w.base.sum().item() + w.values.sum().item() + w.solved.sum().item()",
)
def several_results_into_out(seed: int) -> World:
    """Results that belong together: of the same shape, in their memory, in other memory, in one memory."""
    return World(x=numbers(seed, 3, 3), values=torch.zeros(3, 3), places=torch.zeros(3, 3, dtype=torch.long),
                 more=torch.empty(0), where=torch.empty(0, dtype=torch.long), base=torch.zeros(6, 3),
                 none=torch.empty(0, dtype=torch.long), whole=torch.zeros(6, 3, dtype=torch.int32),
                 ends=torch.zeros(2), sign=torch.zeros(()), size=torch.empty(0), solved=torch.zeros(3, 3),
                 rank=torch.zeros((), dtype=torch.long))


@scenario(
    "w.t.add_(1)",
    "w.a[0] = 7",
    "w.t[1:].mul_(w.b)",
    "w.n = w.t.sum().item()",
    "w.t[0] = w.t[1]",
    "w.shown = w.b.numpy()",
    "w.b.mul_(2)",
    "w.shown[0] = 5",
    "w.u = w.b * w.t[1:]",
    "w.a *= 2",
    "(w.p * w.t).sum().backward()",
    "w.shown = None",
    "w.b.sub_(w.u)",
    "w.part = w.u[1:].numpy()",
    "w.u[1] = w.b[0]",
    "w.sums = (w.b * w.t[1:]).sum().numpy()",
    "w.bools.view(torch.uint8).add_(3)",
    "w.bools.view(torch.int16)[1] = 7",
    "w.n = w.b.sum().item()",
)
def one_memory_with_numpy(seed: int) -> World:
    """Memory that an array shares with a tensor, from the beginning, for a while, and in part."""
    a = np.random.default_rng(seed).normal(size=(3, 2)).astype(np.float32)
    p = numbers(seed + 2, 3, 2).requires_grad_()
    return World(a=a, t=torch.from_numpy(a), b=numbers(seed + 1, 2, 2), p=p,
                 shown=None, part=None, sums=None, bools=torch.tensor([True, False, True, False]))


@scenario(
    "w.t[w.at] = 3",
    "w.t.index_add_(0, w.at, w.rows)",
    "w.t[2:, 1].masked_fill_(w.t[2:, 1] == 0, 4)",
    "w.t.index_put_((w.at, w.at), w.rows[:, 0], accumulate=True)",
    "w.t.scatter_(1, w.at[None], 5.0)",
    "w.t.T.index_copy_(1, w.at[:1], w.t.T[:, :1] + 1)",
    "w.n = w.t.sum().item()",
)
def parts_of_large_memory(seed: int) -> World:
    """Writes to parts of memory that is too large to be written anew: NOTE [Written in part]."""
    a = np.random.default_rng(seed).integers(0, 5, (200, 90)).astype(np.float64)
    return World(a=a, t=torch.from_numpy(a), at=torch.tensor([3, 8, 3]), rows=torch.ones(3, 90).double())


@scenario(
    "w.a = (w.x * 2).numpy()",
    "w.a[:9] = 3",
    "w.b = (w.x * 2).detach().cpu().numpy()",
    "w.n = (w.x * 2)[:9].sum().item()",
    "w.a = None",
    "w.x.add_(1)",
    "w.a = (w.x * 2).numpy()",
)
def memory_of_large_results(seed: int) -> World:
    """Results so large that NumPy is given their own memory: NOTE [Memory of a result]."""
    return World(x=torch.full((1 << 18,), 1.0 + seed % 3), a=None, b=None)


@scenario(
    "w.h = w.x * 2",
    "w.loss = (w.h * w.p).sum()",
    "w.d = w.h.data",
    "w.h = None",
    "w.d.add_(5)",
    "w.d = None",
    "w.loss.backward()",
    "w.h = w.x * 3",
    "w.loss = (w.h * w.p).sum()",
    "w.shown = w.h.detach().numpy()",
    "w.h = None",
    "w.shown[0] = 5",
    "w.shown = None",
    "w.loss.backward()",
    "w.h = w.x * 3",
    "w.loss = (w.h * w.p).sum()",
    "w.h.data = w.b",
    "w.loss.backward()",
    "w.k = w.b * 2",
    "w.part = w.k[:1]",
    "w.loss = (w.k * w.p).sum()",
    "w.k.data = w.b",
    "w.part.data.add_(1)",
    "w.loss.backward()",
)
def saved_tensors_that_are_gone(seed: int) -> World:
    """Operands that a node has saved are written to unseen, and gone when the backward comes."""
    return World(x=numbers(seed, 3).requires_grad_(), p=numbers(seed + 1, 3).requires_grad_(),
                 b=numbers(seed + 2, 3), h=None, d=None, k=None, part=None, shown=None, loss=None)

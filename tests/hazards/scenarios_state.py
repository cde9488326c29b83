"""Scenarios of operations that change several things: random numbers in place, buffers, whole models."""

from __future__ import annotations

import jaxflow as torch

from .scenario import operation, scenario
from .scenarios_tensors import numbers
from .scenarios_training import BACKWARD, FORWARD, ITEM, mlp
from .world import World


@scenario(
    "F.dropout(w.c, 0.5, inplace=True)",
    "torch.dropout_(w.c, 0.3, True)",
    "w.d = F.dropout(w.p * 1, 0.5, inplace=True)",
    "w.d.sum().backward()",
    "torch.feature_dropout_(w.c, 0.5, True)",
    "F.alpha_dropout(w.c, 0.4, True, True)",
    "w.n = w.c.sum().item()",
    "F.rrelu(w.c, training=True, inplace=True)",
    "w.row.bernoulli_(0.5)",
    "w.k.random_(10)",
    "torch.nn.init.xavier_uniform_(w.p)",
    "torch.manual_seed(3)",
    "w.e = torch.rand(2)",
    "torch.set_rng_state(w._state)",
    "w.e.exponential_()",
)
def random_in_place(seed: int) -> World:
    c = numbers(seed, 2, 3)
    p = numbers(seed + 1, 2, 3).requires_grad_()
    return World(c=c, row=c[1], p=p, k=torch.zeros(3, dtype=torch.int64),
                 _state=torch.Generator().manual_seed(5).get_state())


@scenario(
    "torch.random.set_stream('torch')",
    "w.a = torch.randn(3)",
    "w.c.normal_(1, 2)",
    "F.dropout(w.c, 0.5, inplace=True)",
    "w.d = F.dropout(w.p * 1, 0.5)",
    "w.d.sum().backward()",
    "F.rrelu(w.c, training=True, inplace=True)",
    "w.row.bernoulli_(torch.full((3,), 0.5))",
    "w.k.random_()",
    "w.i = torch.multinomial(w.c.abs() + 1, 2)",
    "torch.nn.init.trunc_normal_(w.p)",
    "torch.manual_seed(3)",
    "w.e = torch.poisson(torch.full((2,), 4.0))",
    "torch.set_rng_state(w._state)",
    "w.e.exponential_()",
    "torch.random.set_stream('counter')",
)
def random_of_torch(seed: int) -> World:
    torch.random.set_stream("torch")
    c = numbers(seed, 2, 3)
    p = numbers(seed + 1, 2, 3).requires_grad_()
    return World(c=c, row=c[1], p=p, k=torch.zeros(3, dtype=torch.int64),
                 _state=torch.Generator(stream="torch").manual_seed(5).get_state())


@scenario(
    "w.row = w.base[1]",
    "w.part = w.row[1:]",
    "w.part.mul_(2)",
    "w.part[0].fill_(3.0)",
    "w.turned = w.base.t()",
    "w.turned[1].add_(w.row)",
    "w.n = w.part.sum().item()",
    "w.turned[0][1:].copy_(w.part)",
    "w.whole = w.p * 2",
    "w.half = w.whole[0]",
    "w.end = w.half[1:]",
    "w.end.mul_(w.p[0, 0])",
    "w.half.sub_(1)",
    "w.loss = (w.whole * w.p).sum()",
    BACKWARD,
)
def views_of_views(seed: int) -> World:
    return World(base=numbers(seed, 3, 3), p=numbers(seed + 1, 2, 3).requires_grad_())


def _refuses(loss: torch.Tensor, leaf: torch.Tensor) -> int:
    """Whether the gradient of ``loss`` is refused, as it is where what it saved was detached in place."""
    try:
        torch.autograd.grad(loss, leaf, retain_graph=True)
    except RuntimeError as error:
        return int("detached in-place" in str(error))
    return 0


@scenario(
    "w.h = w.p * 2",
    "w.out = w.h * w.h",
    "w.loss = w.out.sum()",
    "w.h.detach_()",
    "w.n = w._refuses(w.loss, w.p)",
    "w.h.add_(1)",
    "w.h.requires_grad_()",
    "w.other = (w.h * w.p).sum()",
    "w.other.backward()",
    "w.p.detach_()",
)
def detached_in_place(seed: int) -> World:
    return World(p=numbers(seed, 2, 3).requires_grad_(), _refuses=_refuses)


# PyTorch counts the batch and normalizes it in two operations; the second moves both running statistics.
TRAIN_NORM = operation(
    "w.out = w.norm(w.x)",
    "w.norm.num_batches_tracked.add_(1)",
    "F.batch_norm(w.x, w.norm.running_mean, w.norm.running_var, w.norm.weight, w.norm.bias, True, 0.1)",
)


@scenario(TRAIN_NORM, "w.loss = (w.out ** 2).sum()", BACKWARD, TRAIN_NORM, "w.n = w.out.sum().item()",
          "w.norm.eval()", "w.out = w.norm(w.x)",
          operation("w.norm.reset_running_stats()", "w.norm.running_mean.zero_()",
                    "w.norm.running_var.fill_(1)", "w.norm.num_batches_tracked.zero_()"))
def batch_norm(seed: int) -> World:
    norm = torch.nn.BatchNorm1d(3)
    return World(norm=norm, x=numbers(seed, 5, 3))


# As in PyTorch, tensor by tensor.
LOAD = operation("w.model.load_state_dict(w._saved)", *(
    f"with torch.no_grad():\n    [*w.model.parameters()][{i}].copy_([*w._saved.values()][{i}])"
    for i in range(4)
))
ZEROS = operation("w.model.zero_grad(set_to_none=False)",
                  *(f"[*w.model.parameters()][{i}].grad.zero_()" for i in range(4)))


FROZEN = [operation(f"w.model.requires_grad_({on})",
                    *(f"[*w.model.parameters()][{i}].requires_grad_({on})" for i in range(4)))
          for on in (False, True)]


@scenario(FORWARD, BACKWARD, "w.norm = torch.nn.utils.clip_grad_norm_(w.model.parameters(), 0.1)", LOAD,
          FORWARD, BACKWARD, "torch.nn.utils.clip_grad_value_(w.model.parameters(), 0.01)", ITEM, ZEROS, LOAD,
          *FROZEN)
def whole_models(seed: int) -> World:
    world = mlp(seed)
    world._saved = {name: t.clone() for name, t in mlp(seed + 10).model.state_dict().items()}
    return world


@scenario(FORWARD, BACKWARD, FORWARD, BACKWARD, ITEM, FORWARD, BACKWARD)
def hooks_and_accumulation(seed: int) -> World:
    world = mlp(seed)
    world.model[0].weight.register_hook(lambda grad: grad * 2)
    world.model[1].register_full_backward_hook(lambda module, given, found: (given[0] * 3,))
    return world


@scenario(
    "w.g = torch.func.grad(lambda p: (p * w.x).sin().sum())(w.p)",
    "w.v = torch.vmap(lambda row: row * 2 + w.x[0])(w.x)",
    "w.t = torch.func.jvp(torch.sin, (w.x,), (w.p.detach(),))[1]",
    "w.n = w.v.sum().item()",
    "w.out = torch.func.functional_call(w.model, w._other, (w.rows,))",
    "w.j = torch.func.jacrev(torch.sin)(w.x[0])",
    "w.h = torch.utils.checkpoint.checkpoint(w.model, w.rows, use_reentrant=False)",
    "w.h.sum().backward()",
)
def transforms(seed: int) -> World:
    world = mlp(seed)
    world.rows, world.x, world.p = world.x, numbers(seed, 2, 2), numbers(seed + 1, 2, 2).requires_grad_()
    world._other = {name: t.clone() for name, t in mlp(seed + 10).model.state_dict().items()}
    return world


@scenario(
    "w.i = w.k + 1",
    "w.t[w.i] = 2.0",
    "w.t.index_add_(0, w.i, w.s)",
    "w.j = w.k * 1",
    "w.t.scatter_(0, w.j, w.s)",
    "w.n = w.t.sum().item()",
    "w.i = w.k + 1",
    "w.t[w.i] += w.s",
    "w.t.index_fill_(0, w.i, 1.0)",
    "w.t.scatter_add_(0, w.j, w.s)",
    "w.u = w.e(w.i)",
    "w.t.index_copy_(0, w.i, w.s)",
)
def indices_to_come(seed: int) -> World:
    """Writes at indices that are pending."""
    table = torch.nn.Embedding(4, 2, max_norm=1.0)
    with torch.no_grad():
        table.weight.copy_(numbers(seed, 4, 2))
    return World(t=torch.zeros(4), s=numbers(seed, 2, 1)[:, 0], k=torch.tensor([0, 2]), e=table)

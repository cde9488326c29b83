"""Scenarios for runs that fail: accumulated gradients, hidden state, what does not depend on the failure."""

from __future__ import annotations

import jaxflow as torch

from .scenario import Scenario, scenario
from .scenarios_tensors import numbers
from .scenarios_training import BACKWARD, FORWARD, ITEM, STEP, TWO_STEPS, ZERO_GRAD, mlp, with_optimizer
from .world import World

# Of the harness `failures` alone.
MEMORY: dict[str, Scenario] = {}


@scenario(FORWARD, BACKWARD, "w.loss = w.model(w.x * 0.5).tanh().sum()", BACKWARD, STEP, ZERO_GRAD,
          FORWARD, BACKWARD, FORWARD, BACKWARD, STEP, ITEM, into=MEMORY)
def accumulation(seed: int) -> World:
    return with_optimizer(lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), seed)


@scenario(*TWO_STEPS, *[ZERO_GRAD, FORWARD, BACKWARD, STEP, ITEM], into=MEMORY)
def adam_later(seed: int) -> World:
    """Adam with states that two steps made."""
    world = with_optimizer(lambda p: torch.optim.Adam(p, lr=0.01), seed)
    for _ in range(2):
        world.opt.zero_grad()
        ((world.model(world.x) - world.y) ** 2).mean().backward()
        world.opt.step()
    return world


@scenario(
    "w.h = (w.x @ w.u + w.h).tanh()",
    "w.count.add_(1)",
    "w.loss = (w.h ** 2).sum()",
    BACKWARD,
    "w.h.detach_()",
    "w.mean.mul_(0.9)",
    "w.mean.add_(w.h.mean(0), alpha=0.1)",
    "w.n = w.loss.item()",
    "w.h = (w.x @ w.u + w.h).tanh()",
    "w.mean.lerp_(w.h.detach().mean(0), 0.5)",
    "w.loss = w.h.sum() + w.mean.sum()",
    BACKWARD,
    "w.n = w.loss.item()",
    into=MEMORY,
)
def hidden_state(seed: int) -> World:
    return World(u=numbers(seed, 3, 4).requires_grad_(), x=numbers(seed, 5, 3), h=torch.zeros(5, 4),
                 mean=torch.zeros(4), count=torch.zeros(()))


@scenario(FORWARD, BACKWARD, "w.norm = sum((p.grad ** 2).sum() for p in w.model.parameters())",
          "w.seen.add_(w.norm)", "w.rows[1].add_(w.loss.detach())", "w.rows.view(-1)[0:2].mul_(3)",
          "w.half = w.rows[0] / 2", "w.n = w.norm.item()", "w.model.zero_grad()", FORWARD, BACKWARD, ITEM,
          into=MEMORY)
def statistics(seed: int) -> World:
    world = mlp(seed)
    world.seen, world.rows = torch.zeros(()), numbers(seed, 2, 3)
    return world


@scenario(
    "w.z.add_(w.p * 2)",
    "w.row = w.z[0]",
    "w.row.sub_(w.p[1])",
    "w.flat = w.z.view(-1)",
    "w.flat.add_(w.p.view(-1))",
    "w.z[1] = w.p[0].exp()",
    "w.loss = w.z.sum()",
    BACKWARD,
    "w.n = w.loss.item()",
    into=MEMORY,
)
def histories(seed: int) -> World:
    """A tensor that comes to require grad by what is written to it, and views of it."""
    return World(z=numbers(seed + 1, 2, 3), p=numbers(seed, 2, 3).requires_grad_())


@scenario(
    "w.row = w.base[1]",
    "w.row.mul_(w.other)",
    "w.n = w.base.sum().item()",
    "w.column = w.base.t()[0]",
    "w.column.sub_(1)",
    "w.n = w.column.sum().item()",
    "w.row.add_(w.column)",
    into=MEMORY,
)
def views(seed: int) -> World:
    """Views that remember what was written through them."""
    return World(base=numbers(seed, 3, 3), other=numbers(seed + 1, 3))


CREATING = "w.loss.backward(create_graph=True)"


@scenario(FORWARD, CREATING, "w.loss = w.model(w.x * 0.5).tanh().sum()", CREATING,
          "w.loss = sum((p.grad ** 2).sum() for p in w.model.parameters())", BACKWARD,
          "w.n = w.loss.item()", "w.model.zero_grad()", FORWARD, CREATING, ITEM, into=MEMORY)
def gradients_of_gradients(seed: int) -> World:
    world = mlp(seed)
    return World(model=world.model.double(), x=world.x.double(), y=world.y.double())


@scenario(
    "w.h = w._fragile(w.x @ w.u)",
    "w.other = w.x.sum(0)",
    "w.total.add_(w.h)",
    "w.count.add_(1)",
    "w.n = w.total.sum().item()",
    "w.total.add_(1)",
    "w.h = w._fragile(w.x @ w.u)",
    "w.total.mul_(w.h)",
    "w.n = w.h.sum().item()",
    into=MEMORY,
)
def fragile(seed: int) -> World:
    """One operation calls the host, and can fail there."""
    from jaxflow._dispatch.dispatch import apply_plan

    from .injections import FRAGILE

    return World(x=numbers(seed, 5, 3), u=numbers(seed, 3, 4), total=torch.zeros(5, 4), count=torch.zeros(()),
                 _fragile=lambda t: apply_plan(FRAGILE.plan, [t])[0])

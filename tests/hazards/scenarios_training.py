"""Scenarios of training: backward passes, optimizers, whole loops, compiled steps."""

from __future__ import annotations

import collections
import copy
from collections.abc import Callable

import numpy as np

import jaxflow as torch

from .scenario import operation, scenario
from .scenarios_tensors import numbers
from .world import World

FORWARD = "w.loss = ((w.model(w.x) - w.y) ** 2).mean()"
BACKWARD = "w.loss.backward()"
STEP = "w.opt.step()"
ITEM = "w.n = w.loss.item()"

# PyTorch's drops one ``.grad`` after the other, too.
DROPS = [f"[*w.model.parameters()][{i}].grad = None" for i in range(4)]
ZERO_GRAD = operation("w.opt.zero_grad()", *DROPS)


def mlp(seed: int) -> World:
    """A network with two layers, and a batch."""
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    with torch.no_grad():
        for i, parameter in enumerate(model.parameters()):
            parameter.copy_(numbers(seed + i, *parameter.shape))
    return World(model=model, x=numbers(seed, 5, 3), y=numbers(seed, 5, 2))


@scenario(FORWARD, BACKWARD, "w.loss = w.model(w.x).sin().sum()", BACKWARD, ITEM, FORWARD, BACKWARD)
def backward_twice(seed: int) -> World:
    return mlp(seed)


@scenario(FORWARD, "w.loss.backward(retain_graph=True)", BACKWARD, ITEM)
def backward_retained(seed: int) -> World:
    return mlp(seed)


@scenario(
    "w.h = w.model[0](w.x)",
    "w.h.register_hook(lambda grad: grad * 2)",
    "w.h.retain_grad()",
    "w.loss = w.model[2](w.h.tanh()).sum()",
    BACKWARD,
    "w.g = torch.autograd.grad((w.model(w.x) ** 2).sum(), [*w.model.parameters()])",
    ITEM,
)
def backward_with_hook(seed: int) -> World:
    return mlp(seed)


def with_optimizer(make, seed: int) -> World:
    world = mlp(seed)
    world.opt = make(world.model.parameters())
    return world


TWO_STEPS = (FORWARD, BACKWARD, STEP, ZERO_GRAD, FORWARD, BACKWARD, STEP, ITEM)


@scenario(*TWO_STEPS)
def sgd(seed: int) -> World:
    return with_optimizer(lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01), seed)


@scenario(*TWO_STEPS)
def adam(seed: int) -> World:
    return with_optimizer(lambda p: torch.optim.Adam(p, lr=0.01), seed)


@scenario(*TWO_STEPS)
def adamw(seed: int) -> World:
    return with_optimizer(lambda p: torch.optim.AdamW(p, lr=0.01, amsgrad=True), seed)


@scenario(*[ZERO_GRAD, FORWARD, BACKWARD, STEP, ITEM] * 3)
def training_loop(seed: int) -> World:
    return with_optimizer(lambda p: torch.optim.Adam(p, lr=0.01), seed)


def with_step(world: World, first: Callable[[], None] = lambda: None) -> World:
    """The world with a step of training to be compiled, which begins with ``first``."""
    model, opt = world.model, world.opt

    def step(x, y):
        first()
        opt.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        opt.step()
        return loss.detach()

    world._step = step
    return world


COMPILED = operation("w.loss = w._step(w.x, w.y)", *DROPS, FORWARD, BACKWARD, STEP)


@scenario(COMPILED, COMPILED, ITEM, COMPILED, compiled="_step", warm="[w._step(w.x, w.y) for _ in range(4)]")
def compiled_step(seed: int) -> World:
    return with_step(with_optimizer(lambda p: torch.optim.Adam(p, lr=0.01), seed))


SCHEDULED = operation("w.loss = w._step(w.x, w.y)", "w._schedule.step()", *DROPS, FORWARD, BACKWARD, STEP)


@scenario(SCHEDULED, SCHEDULED, ITEM, SCHEDULED, compiled="_step",
          warm="[w._step(w.x, w.y) for _ in range(4)]")
def compiled_step_after_a_schedule(seed: int) -> World:
    """Its learning rate is known when the schedule has stepped."""
    world = with_optimizer(lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), seed)
    world._schedule = torch.optim.lr_scheduler.ExponentialLR(world.opt, 0.9)
    world.opt.step()  # of no gradients: a schedule that steps first warns
    return with_step(world, world._schedule.step)


KEEP = "w.kept = [p.detach().clone() for p in w.model.parameters()]"


@scenario(COMPILED, COMPILED, ITEM, COMPILED, ITEM, compiled="_step")
def captured_step(seed: int) -> World:
    """The first calls, which run as Python and are recorded whole."""
    return compiled_step(seed)


FILL = "w.a *= 0.5"


def on_a_batch_of_numpy(seed: int) -> World:
    """The step on a batch that an array shares, which NumPy fills."""
    world = compiled_step(seed)
    world.a = world.x.detach().clone().numpy().copy()
    world.x = torch.from_numpy(world.a)
    return world


@scenario(FILL, COMPILED, FILL, COMPILED, ITEM, compiled="_step",
          warm="[w._step(w.x, w.y) for _ in range(4)]")
def compiled_step_on_a_batch_of_numpy(seed: int) -> World:
    """Its calls copy what they read: NOTE [Shared arguments]."""
    return on_a_batch_of_numpy(seed)


@scenario(COMPILED, FILL, COMPILED, ITEM, COMPILED, ITEM, compiled="_step")
def captured_step_on_a_batch_of_numpy(seed: int) -> World:
    """While the first calls are recorded, the batch is a leaf."""
    return on_a_batch_of_numpy(seed)


WRITE = operation("w.n = w._write(w.x)", "w.x.mul_(2)", "w.n = w.x.sum() + 1")


@scenario(WRITE, FILL, WRITE, "w.m = w.x.sum().item()", WRITE, "w.m = w.n.item()", compiled="_write")
def captured_write_to_memory_of_numpy(seed: int) -> World:
    """A function that writes to memory which an array shares."""
    a = np.random.default_rng(seed).normal(size=(3, 2)).astype(np.float32)
    return World(a=a, x=torch.from_numpy(a), _write=lambda x: x.mul_(2).sum() + 1)


@scenario(KEEP, COMPILED, KEEP, COMPILED, ITEM, KEEP, COMPILED, compiled="_step",
          warm=f"[w._step(w.x, w.y) for _ in range(4)]; {KEEP}; w._step(w.x, w.y)")
def compiled_step_beside_clones(seed: int) -> World:
    """Somebody refers to what it would give away: it publishes first, and is run afterwards."""
    return compiled_step(seed)


LATER = operation("w.loss = w._step(w.x, w.y)", "w.out = w.model(w.x)", "w.seen.mul_(0.5)",
                  "w.seen.add_(w.out.detach().sum(0))", FORWARD)
OUTSIDE = (LATER, BACKWARD, STEP, ZERO_GRAD) * 2
WARM = """
for _ in range(4):
    w._step(w.x, w.y).backward()
    w.opt.step()
    w.opt.zero_grad()
"""


@scenario(*OUTSIDE, LATER, BACKWARD, ITEM, compiled="_step", warm=WARM)
def compiled_call_before_backward(seed: int) -> World:
    """Its graph is walked after the call, which also writes to a tensor."""
    world = with_optimizer(lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), seed)
    model, seen = world.model, torch.zeros(2)
    world.seen = seen

    def step(x, y):
        out = model(x)
        seen.mul_(0.5).add_(out.detach().sum(0))
        return ((out - y) ** 2).mean()

    world._step = step
    return world


@scenario(*OUTSIDE, ITEM, compiled="_step")
def captured_call_before_backward(seed: int) -> World:
    """Its first calls."""
    return compiled_call_before_backward(seed)


@scenario(*(operation("w.loss = w._step(w.x, w.y)", FORWARD), BACKWARD, STEP, ZERO_GRAD) * 2, ITEM,
          compiled="_step", warm=WARM)
def compiled_model_before_backward(seed: int) -> World:
    """The same, where it writes nothing."""
    world = with_optimizer(lambda p: torch.optim.Adam(p, lr=0.01), seed)
    model = world.model
    world._step = lambda x, y: ((model(x) - y) ** 2).mean()
    return world


READING = operation("w.loss = w._step(w.x, w.y)", *DROPS, FORWARD, BACKWARD, STEP,
                    "w.log[0] += w.loss.item()")


@scenario(READING, READING, READING, compiled="_step", warm="[w._step(w.x, w.y) for _ in range(5)]")
def compiled_step_that_reads(seed: int) -> World:
    """It looks at its loss before the update, and keeps it as a number."""
    world = with_optimizer(lambda p: torch.optim.Adam(p, lr=0.01), seed)
    model, opt = world.model, world.opt
    log = world.log = [0.0]

    def step(x, y):
        opt.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        if loss.item() > 100.0:
            return None
        loss.backward()
        opt.step()
        log[0] += loss.item()
        return loss.detach()

    world._step = step
    return world


@scenario(READING, READING, READING, compiled="_step", warm="w._step(w.x, w.y)")
def captured_step_that_reads(seed: int) -> World:
    """The calls before that: Python runs and is recorded, with the loss computed beside the recording."""
    return compiled_step_that_reads(seed)


SCALING = operation("w.loss = w._step(w.x, w.y)", *DROPS, FORWARD,
                    "(w.loss / (1.0 + w.loss.item())).backward()", STEP)


@scenario(SCALING, SCALING, SCALING, compiled="_step", warm="[w._step(w.x, w.y) for _ in range(5)]")
def compiled_step_that_scales(seed: int) -> World:
    """It divides its loss by a number that is read from it, which the program computes."""
    world = with_optimizer(lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), seed)
    model, opt = world.model, world.opt

    def step(x, y):
        opt.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        (loss / (1.0 + loss.item())).backward()
        opt.step()
        return loss.detach()

    world._step = step
    return world


@scenario(SCALING, SCALING, SCALING, compiled="_step", warm="w._step(w.x, w.y)")
def captured_step_that_scales(seed: int) -> World:
    """The calls before that."""
    return compiled_step_that_scales(seed)


WINDOW = operation("w.loss = w._step(w.x, w.y)", *DROPS, FORWARD, BACKWARD, STEP,
                   "w.latest.append((w.loss.detach(), 0.5))", "w.latest[:] = w.latest[-2:]")


@scenario(WINDOW, WINDOW, WINDOW, compiled="_step", warm="[w._step(w.x, w.y) for _ in range(5)]")
def compiled_step_with_a_window(seed: int) -> World:
    """It keeps its latest losses in a list, which it changes in place."""
    world = with_optimizer(lambda p: torch.optim.SGD(p, lr=0.1), seed)
    model, opt = world.model, world.opt
    latest = world.latest = []

    def step(x, y):
        opt.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        opt.step()
        latest.append((loss.detach(), 0.5))
        latest[:] = latest[-2:]
        return loss.detach()

    world._step = step
    return world


DESCENTS = [f"p = [*w.model.parameters()][{i}]; p.data = p.data - p.grad * 0.125" for i in range(4)]
DESCENT = operation("w.loss = w._step(w.x, w.y)", *DROPS, FORWARD, BACKWARD, *DESCENTS,
                    "w.latest.append(w.loss.detach())")


@scenario(DESCENT, DESCENT, DESCENT, compiled="_step", warm="[w._step(w.x, w.y) for _ in range(5)]")
def compiled_step_by_data(seed: int) -> World:
    """It gives its parameters other memory, and keeps its latest losses in a deque."""
    world = mlp(seed)
    model = world.model
    latest = world.latest = collections.deque(maxlen=2)

    def step(x, y):
        model.zero_grad()
        loss = ((model(x) - y) ** 2).mean() + sum(latest) * 0.0
        loss.backward()
        for p in model.parameters():
            p.data = p.data - p.grad * 0.125
        latest.append(loss.detach())
        return loss.detach()

    world._step = step
    return world


@scenario(DESCENT, DESCENT, DESCENT, compiled="_step", warm="w._step(w.x, w.y)")
def captured_step_by_data(seed: int) -> World:
    """The calls before that."""
    return compiled_step_by_data(seed)


SCALES = [f"with torch.no_grad():\n    [*w.model.parameters()][{i}].mul_(0.75)" for i in range(4)]
COPY = operation("w.loss = w._step(w.x, w.y)", FORWARD, *SCALES, "w.kept[0] = w._copied(w.model)",
                 "w._own['scaled'] = w._scaling(w.loss.detach())", "w.kept[1].append(w.loss.detach())",
                 "w.kept[1] = w.kept[1][-2:]", "w._kind.taken += 1")
FOLLOWED = "w.seen = [w._kind.taken, w._own['scaled'](torch.ones(1)).item()]"


@scenario(COPY, FOLLOWED, COPY, FOLLOWED, COPY, compiled="_step",
          warm="[w._step(w.x, w.y) for _ in range(5)]")
def compiled_step_by_objects(seed: int) -> World:
    """It makes a copy of its model and a function, replaces a list that it has changed, and counts."""
    world = mlp(seed)
    model, own = world.model, {"scaled": torch.abs}
    kept = world.kept = [None, [torch.zeros(())]]
    world._copied, world._own = copy.deepcopy, own
    world._kind = Counter = type("Counter", (), {"taken": 0, "__module__": __name__})

    def scaling(by):
        return lambda t: t * by

    def step(x, y):
        loss = ((model(x) - y) ** 2).mean()
        with torch.no_grad():
            for p in model.parameters():
                p.mul_(0.75)
        kept[0] = copy.deepcopy(model)
        own["scaled"] = scaling(loss.detach())
        kept[1].append(loss.detach())
        kept[1] = kept[1][-2:]
        Counter.taken += 1
        return loss

    world._step, world._scaling = step, scaling
    return world


@scenario(COPY, FOLLOWED, COPY, FOLLOWED, COPY, compiled="_step", warm="w._step(w.x, w.y)")
def captured_step_by_objects(seed: int) -> World:
    """The calls before that."""
    return compiled_step_by_objects(seed)


@scenario("w.out = w._predict(w.x)", "w.n = w.out.sum().item()", "w.out = w._predict(w.x)",
          compiled="_predict", warm="[w._predict(w.x) for _ in range(4)]")
def compiled_forward(seed: int) -> World:
    world = mlp(seed)
    model = world.model

    def predict(x):
        with torch.no_grad():
            return model(x)

    world._predict = predict
    return world


@scenario("w._update()", "w._update()", "w.n = w.model[0].weight.sum().item()", "w._update()",
          compiled="_update", warm=f"{FORWARD}; {BACKWARD}; [w._update() for _ in range(4)]")
def compiled_update(seed: int) -> World:
    world = with_optimizer(lambda p: torch.optim.Adam(p, lr=0.01), seed)
    opt = world.opt

    def update():
        opt.step()

    world._update = update
    return world

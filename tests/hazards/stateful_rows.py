"""What random stateful programs are made of: statements of a step, and what happens between its calls.

Each row is source text. In a statement ``y`` is the step's tensor of shape (2, 3) in float64, ``n`` its
number and ``self`` the program. Numbers stay small, so that rounding does not grow into another number.
"""

from __future__ import annotations

# What there is before the first call.
SETUP = '''
import torch_under_test as torch
import copy, dataclasses, functools, math, types
import numpy as np
F = torch.nn.functional
RATE = 0.5
CALLS = [0]

def counter():
    taken = 0

    def step():
        nonlocal taken
        taken += 1
        return taken * 0.125

    return step

STEPS = counter()
MEMORY = torch.zeros(2, 3, dtype=torch.float64)

def remembering():
    kept = torch.ones(2, 3, dtype=torch.float64)

    def step(y):
        nonlocal kept
        old, kept = kept, (kept * 0.5 + y).detach()
        return old

    return step

REMEMBER = remembering()

def gain(t, factor=0.5):
    return t * factor

Pair = dataclasses.make_dataclass("Pair", [("value", object), ("scale", object, 0.5)])

class Settings:
    def __init__(self):
        self.mode, self.scale, self.seen = "a", 1.5, None

class Program:
    """One random program."""

    def __init__(self):
        torch.manual_seed(7)
        self.a = torch.linspace(-1.0, 1.0, 6, dtype=torch.float64).reshape(2, 3)
        self.b = self.a.clone()
        self.array = np.full((2, 3), 0.25)
        self.high = torch.ones((), dtype=torch.float64)
        self.low = self.high.clone()
        self.h = self.total = self.hidden = None
        self.items, self.numbers, self.history, self.pairs = [], [0.5, 0.25], [], []
        self.table = {"first": torch.ones(2, 3, dtype=torch.float64), "second": 0.5}
        self.settings, self.spare = Settings(), Settings()
        self.flag, self.count, self.name, self.bad = False, 0, "x", False
        self.net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 3)).double()
        self.target = copy.deepcopy(self.net)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1, momentum=0.9)
        self.other = torch.optim.Adam([self.net[0].bias], lr=0.05)
        self.schedule = torch.optim.lr_scheduler.ExponentialLR(self.opt, 0.7)
        self.drop = torch.nn.Dropout(0.5)
        self.w = torch.full((3,), 0.5, dtype=torch.float64, requires_grad=True)
        self.o = others()

    def step(self, x, n):
        global RATE, MEMORY
{body}
        return y
'''

# How a step begins. The history of a sum keeps nothing that says which call it belongs to.
BEGINNINGS = ("y = torch.tanh(x)", "y = torch.tanh(x)", "y = torch.tanh(x)", "y = x + 0.5")

# One statement is as likely as another. Lines of a row that follow the first are indented as in Python.
STATEMENTS = (
    # a state that begins as None, is replaced, cloned, detached, dropped
    "self.h = y.detach() if self.h is None else (self.h + y).detach() * 0.5",
    "if self.total is None:\n    self.total = torch.zeros(2, 3, dtype=torch.float64)\n"
    "self.total = self.total * 0.5 + y.detach()",
    "if self.h is not None:\n    self.h = self.h.clone()",
    "if self.h is not None:\n    y = y + self.h * 0.25",
    "self.h = None",
    "self.a = (self.a * 0.5 + y).detach()",
    "self.a, self.b = self.b, self.a",
    "self.b = self.a",
    # globals, variables of enclosing functions and lists that nobody reads
    "MEMORY = (MEMORY * 0.5 + y).detach()",
    "MEMORY, self.a = self.a, MEMORY",
    "self.b = MEMORY\nMEMORY = y.detach()",
    "y = y + MEMORY * 0.125",
    "y = y + REMEMBER(y) * 0.25",
    "self.history.append(y.detach().sum())",
    "self.history.extend([(y.detach(), n), {'b': self.b}])",
    "if self.h is not None:\n    self.a, self.b, self.h = self.b, self.h, self.a",
    "if len(self.items) > 1:\n    self.items.append(self.items.pop(0))",
    "self.hidden = (self.a, [self.b, {'k': self.a}])",
    # tensors of one number, which may be one immutable number in several tensors
    "self.high = self.low.clone()",
    "self.low = self.low * 0.5 + y.detach().mean()",
    "self.low.mul_(0.5)",
    "y = y + self.high - self.low",
    "self.high.grad = self.low.clone()",
    "if self.high.grad is not None:\n    y = y + self.high.grad * 0.5",
    "self.b = self.a.clone()",
    "y = y + self.a - self.b",
    # attributes that appear, vanish, change what they are
    "self.extra = y.detach()",
    "if hasattr(self, 'extra'):\n    y = y + self.extra * 0.5",
    "if hasattr(self, 'extra'):\n    del self.extra",
    "self.extra = 0.5",
    "self.__dict__.setdefault('late', y.detach())",
    "y = y * getattr(self, 'late', 0.5)",
    # in-place writes, through views and aliases
    "self.a.mul_(0.5).add_(y.detach())",
    "self.a[0].add_(y.detach()[1])",
    "self.a.view(-1)[1:4] = y.detach().view(-1)[:3]",
    "self.a.t().copy_(y.detach().t())",
    "self.b.data = self.a.data.clone()",
    "self.b.data.add_(0.5)",
    "self.b.data = (self.b * 0.5 + y).detach()",
    "self.b.data = self.a.detach()",
    "self.a.data, self.b.data = self.b.data, self.a.data",
    "self.w.data = self.w.data * 0.75",
    "self.b.set_(y.detach() * 0.5)",
    "v = self.b[:, 1]\nself.b.zero_()\ny = y + v.sum()",
    "self.a[1, 2] = 0.75",
    # memory that NumPy shares, for a moment or for long
    "self.a.detach().numpy()[0, 0] = 0.5",
    "self.shown = self.b.detach().numpy()",
    "if getattr(self, 'shown', None) is not None:\n    self.shown[1] *= 0.5",
    "self.shown = None",
    "y = y + torch.from_numpy(self.array) * 0.25",
    "torch.from_numpy(self.array).copy_(y.detach())",
    # containers
    "self.items.append(y.detach())",
    "for t in self.items:\n    y = y + t * 0.125",
    "if len(self.items) > 2:\n    self.items.pop(0)",
    "self.items.clear()",
    "if self.items:\n    self.items[0] = (self.items[0] + y).detach() * 0.5",
    "self.items[:] = [t * 0.5 for t in self.items]",
    "self.table['first'] = (self.table['first'] * 0.5 + y).detach()",
    "for name, value in self.table.items():\n    y = y + value * (0.125 * len(name))",
    "if 'third' in self.table:\n    y = y * 0.5",
    "self.table['third'] = y.detach()",
    "self.table.pop('third', None)",
    "self.table = {**self.table, 'second': 0.25}",
    "y = y * sum(self.numbers)",
    "self.numbers[0] = 0.75 - self.numbers[0]",
    # containers made anew
    "self.items = [t * 0.5 for t in self.items]",
    "self.items = [*self.items[-1:], y.detach()]",
    "self.items = list(reversed(self.items))",
    "self.hidden = (y.detach(), 0.5) if self.hidden is None else ((self.hidden[0] + y).detach() * 0.5, 0.5)",
    "self.hidden = (y.detach(), [y.detach() * 0.5, {'k': self.a}])",
    "if self.hidden is not None:\n    y = y + self.hidden[0] * 0.25",
    "self.hidden = (self.hidden, y.detach())[1:]",
    "self.hidden = None",
    "self.table = {k: (v if k == 'second' else v * 0.5) for k, v in self.table.items()}",
    "self.table = dict(self.table)",
    "self.numbers = [self.numbers[0], n]",
    "self.numbers = sorted(self.numbers)",
    "self.items = self.table['list'] = [y.detach()]",
    "if self.hidden is not None:\n    return self.hidden",
    "self.hidden = self.h = self.a = (self.a * 0.5).detach()",
    "self.hidden = y, self.hidden",
    # containers that stand in the next one, records, lists that change in place
    "self.hidden = (y.detach(), self.hidden[0]) if isinstance(self.hidden, tuple) else (y.detach(), self.a)",
    "self.hidden = (Pair(self.a, n), y.detach())",
    "if isinstance(self.hidden, tuple):\n    self.hidden = (*self.hidden[:1], y.detach())",
    "if isinstance(self.hidden, tuple) and isinstance(self.hidden[0], Pair):\n"
    "    y = y + self.hidden[0].value * self.hidden[0].scale",
    "if isinstance(self.hidden, tuple) and isinstance(self.hidden[0], Pair):\n"
    "    self.hidden[0].scale = 0.75",
    "self.best = dataclasses.replace(getattr(self, 'best', Pair(self.a)), value=y.detach())",
    "if hasattr(self, 'best'):\n    self.best = Pair(self.best.value * 0.5 + self.a, self.best.scale)",
    "if hasattr(self, 'best'):\n    self.pairs.append(self.best)",
    "self.pairs.append((y.detach(), n))",
    "self.pairs.insert(0, Pair(y.detach()))",
    "if len(self.pairs) > 2:\n    del self.pairs[0]",
    "self.pairs.reverse()",
    "self.pairs[:] = self.pairs[-1:]",
    "for p in self.pairs:\n    y = y + (p.value * p.scale if isinstance(p, Pair) else p[0] * 0.125)",
    "if self.pairs and isinstance(self.pairs[0], Pair):\n    self.pairs[0].value = y.detach()",
    "if self.pairs and isinstance(self.pairs[0], tuple):\n    self.pairs[0][0].mul_(0.5)",
    "self.pairs = [*self.pairs[1:], (self.a, [y.detach()])]",
    "if self.pairs:\n    return self.pairs[-1]",
    "old, self.hidden = self.hidden, (y.detach(), n)\nif self.flag:\n    return old",
    "old, self.pairs = self.pairs, [(y.detach(), n)]\nif old:\n    return old, old[0]",
    "if self.pairs:\n    return self.pairs.pop(0), self.pairs",
    "old, self.b = self.b, y.detach() * 0.5\nif self.flag:\n    return old",
    "return [self.a, self.items, y]",
    # plain Python that changes
    "self.count += 1",
    "if self.count % 2:\n    y = y * 0.5",
    "CALLS[0] += 1",
    "RATE = 0.75 - RATE",
    "y = y * RATE",
    # numbers that the call changes, and what is done with them
    "self.count = self.count + self.numbers[0]",
    "self.count = -self.count if self.count > 2 else self.count + 1",
    "self.count, self.numbers[1] = self.numbers[1], self.count",
    "self.numbers[1] = self.numbers[1] * 0.5 + n * 0.25",
    "self.numbers[1] = RATE",
    "for i in range(int(self.count) % 3):\n    y = y + i",
    "y = y + self.numbers[int(self.count) % 2]",
    "y = y * (self.count % 4) + self.numbers[1]",
    "y = y[:, : 1 + int(self.count) % 3].sum() + y",
    "self.settings.scale = min(self.settings.scale * 0.75, 1.0)",
    "self.settings.scale = self.settings.scale if self.flag else 1.25 - self.settings.scale",
    "self.settings.seen = self.count",
    "self.settings.seen = None if self.count % 3 == 1 else float(self.count)",
    "self.table['second'] = self.count * 0.125",
    "self.count = self.bad",
    "self.count = None",
    "if self.count is None:\n    self.count = 1",
    "y = y + torch.full((2, 3), self.numbers[0], dtype=torch.float64)",
    "self.a.mul_(self.numbers[1]).clamp_(-2.0, 2.0 + abs(self.settings.scale))",
    "y = y + len(f'{self.count}'[:3])",  # not the last digits, which are a matter of rounding
    "y = y * {0: 0.5, 1: 0.25}.get(self.count, 0.75)",
    "self.numbers.sort()",
    "STEPS()",
    "y = y + STEPS()",
    "self.count = round(self.count * 0.75, 2)",
    "self.numbers[0] = math.sin(self.numbers[0])",
    "self.name = str(self.count)[:2]",
    "self.opt.param_groups[0]['lr'] = 0.1 / (1 + self.numbers[0] ** 2)",
    "self.opt.param_groups[0]['momentum'] = 0.9 - self.opt.param_groups[0]['momentum'] * 0.5",
    "self.drop.p = 0.75 - self.drop.p",
    "if self.count == 3:\n    raise KeyError('count')",
    "self.settings, self.spare = self.spare, self.settings",
    "self.settings = self.spare",
    "self.net, self.target = self.target, self.net",
    "self.chosen = self.net if getattr(self, 'chosen', None) is not self.net else self.target",
    "if hasattr(self, 'chosen'):\n    y = self.chosen(y.detach()).detach()",
    "self.flag = self.count > 1",
    "self.flag = not self.flag",
    "if self.flag:\n    y = -y",
    "if self.name == 'x':\n    y = y + 0.5",
    "self.settings.seen = y.detach()",
    "if self.settings.mode == 'a':\n    y = y * self.settings.scale",
    "if self.settings.seen is not None:\n    y = y + self.settings.seen * 0.5",
    "y = gain(y)",
    "self.a.note = 0.5",
    "y = y + getattr(self.a, 'note', 0.25)",
    "y = y * getattr(x, 'note', 0.5)",
    "if self.h is not None:\n    y = y * getattr(self.h, 'note', 0.5)",
    "y.note = 0.25",
    "x.note = 0.75",
    # numbers of the call
    "y = y * n",
    "y = y / (1 + n)",
    "if n > 1:\n    y = y * 0.5",
    "if n > 2:\n    return y + 1.0",
    "if type(n) is float:\n    y = y + n",
    # early ends
    "if self.flag:\n    return y * 2.0",
    "if self.bad:\n    raise ValueError('bad')",
    "if self.bad:\n    y = y + torch.ones(4, 5, dtype=torch.float64)",
    "try:\n    y = y + torch.ones(2, 3 + self.bad, dtype=torch.float64)\n"
    "except RuntimeError:\n    y = y * 0.5",
    # training
    "y = self.net(y)",
    "self.opt.zero_grad()",
    "self.opt.zero_grad(set_to_none=False)",
    "(self.net(y.detach()) ** 2).mean().backward()",
    "if self.net[0].weight.grad is not None:\n    self.opt.step()",
    "if self.net[0].bias.grad is not None:\n    self.other.step()",
    "self.schedule.step()",
    "self.opt.param_groups[0]['lr'] *= 0.75",
    "for p in self.net.parameters():\n    if p.grad is not None:\n        p.grad.mul_(0.5)",
    "for p in self.net.parameters():\n    if p.grad is not None:\n        p.grad = p.grad * 0.5",
    "torch.nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)",
    "(self.w * y.detach()).sum().backward()",
    "if self.w.grad is not None:\n    y = y + self.w.grad\n    self.w.grad = None",
    "with torch.no_grad():\n    self.w.mul_(0.5)",
    "self.w.requires_grad_(not self.w.requires_grad)\nself.w.requires_grad_(True)",
    # histories that are walked after the call
    "y = y * self.w",
    "y = torch.exp(self.net(y) * 0.5).clamp(max=2.0)",
    "y = sum(t * (i + 1) for i, t in enumerate(self.net(y).chunk(3, 1))) * 0.25 + y",
    "y = y + self.drop(self.net(y))",
    "y[:, :1].mul_(0.5)",
    "v = y[0]\ny.mul_(0.75)\ny = y + v",
    "if y.requires_grad:\n    return y[:1]",
    "y = x + n",  # whose history keeps nothing of the call
    "if x.requires_grad:\n    return x[1] * 0.5",
    "if x.requires_grad:\n    (x * self.w).sum().backward()",
    "if x.requires_grad:\n    y = (x * self.w).sum()\n    y.backward()\n    return y * 0.5",
    "self.h = y if self.h is None else self.h * 0.5 + y * self.w",
    "if self.h is not None and self.h.requires_grad:\n    self.h.sum().backward()\n    self.h = None",
    "if x.grad_fn is not None:\n    y = y * len(x.grad_fn.name()) * 0.125",
    "self.grads = torch.autograd.grad((y * self.w).sum(), self.w)",
    "if y.requires_grad:\n    return y.sum()",
    "y = y + (self.h if self.h is not None else y).detach() ** 2 * self.w",
    "self.a.mul_(0.5)\ny = y + (self.w * self.a).sum()",
    "self.net.eval()\ny = y + self.net(x)",
    # target networks
    "with torch.no_grad():\n    for p, q in zip(self.target.parameters(), self.net.parameters()):\n"
    "        p.lerp_(q, 0.25)",
    "self.target.load_state_dict(self.net.state_dict())",
    "y = y + self.target(y.detach())",
    "self.target = copy.deepcopy(self.net)",
    "for p, q in zip(self.target.parameters(), self.net.parameters()):\n    p.data.copy_(q.data)",
    "for p, q in zip(self.target.parameters(), self.net.parameters()):\n"
    "    p.data = p.data * 0.75 + q.data * 0.25",
    "for p in self.net.parameters():\n    if p.grad is not None:\n        p.data = p.data - p.grad * 0.125",
    # random numbers
    "y = y + torch.rand(2, 3, dtype=torch.float64)",
    "y = self.drop(y)",
    "y = y + torch.randint(0, 3, (2, 3))",
    # a number is read, a branch hangs on it, it is kept, returned, used
    "if y.sum().item() > 0.5:\n    y = y * 0.5",
    "if y.sum() > 0.25:\n    self.a = self.a * 0.5",
    "if not torch.isfinite(y).all():\n    return y",
    "if self.a.mean().item() > self.settings.scale:\n    self.a.mul_(0.25)",
    "self.count = y.abs().max().item()",
    "self.numbers[0] = self.numbers[0] * 0.5 + y.mean().item() * 0.25",
    "self.settings.seen = y.sum().item()",
    "self.history.append(y.sum().item())",
    "self.most = max(getattr(self, 'most', 0.0), y.detach().sum().item())",
    "self.table['second'] = (self.w.detach() * y.detach()).mean().item()",
    "y = y * y.max().item()",
    "y = y / (1.0 + y.detach().norm().item())",
    "self.a.mul_(0.5 - abs(self.w.detach()[0, 1]).item() / 4).add_(y.detach().mean().item(), alpha=0.25)",
    "if self.flag:\n    return y, y.argmax().item()",
    "if torch.rand(1).item() > 0.5:\n    self.flag = not self.flag",
)

# What happens between two calls, to ``p``; ``q`` keeps what is held. ``x`` and ``n`` are the next call's, and
# ``last`` is the result of the one before, if that requires grad. While ``renewed``, ``x`` is another leaf at
# each call; while ``walked``, a backward() comes after each.
BETWEEN = (
    "p.flag = not p.flag",
    "p.bad = True",
    "p.bad = False",
    "p.name = 'z' if p.name == 'x' else 'x'",
    "p.settings.mode = 'b' if p.settings.mode == 'a' else 'a'",
    "p.settings.scale = 0.5",
    "p.settings = Settings()",
    "p.h = None",
    "p.h = torch.ones(2, 3, dtype=torch.float64)",
    "p.a.add_(0.5)",
    "p.a = torch.zeros(2, 3, dtype=torch.float64)",
    "p.a.note = 0.75",
    "x.note = 2.0",
    "if p.h is not None:\n    p.h.note = 0.75",
    "p.b = p.a",
    "p.b = p.a.clone()",
    "p.b.data = p.a.clone()",
    "p.b.data = p.a",
    "p.w.data = p.w.data * 0.5",
    "q.append(p.w.data)",
    "p.high = p.low.clone()",
    "p.low.add_(0.25)",
    "x = p.low.expand(2, 3).clone()",
    "p.a = p.a.t().contiguous().t()",
    "q.append(p.a.clone())",
    "q.append(p.a[0])",
    "q.append([t.clone() for t in p.net.parameters()])",
    "q.append(p.w.grad)",
    "p.items.append(torch.ones(2, 3, dtype=torch.float64))",
    "p.items.clear()",
    "p.hidden = (torch.ones(2, 3, dtype=torch.float64), 0.5)",
    "p.hidden = None",
    "q.append(p.hidden)",
    "p.hidden = (Pair(torch.ones(2, 3, dtype=torch.float64)), p.b)",
    "p.pairs.clear()",
    "p.pairs[:] = [Pair(p.a, 2), (p.b, 0.5)]",
    "q.extend(p.pairs)",
    "p.pairs = list(p.pairs)",
    "if isinstance(p.hidden, tuple) and isinstance(p.hidden[0], Pair):\n    p.hidden[0].scale = 0.25",
    "q.append(p.history)",
    "p.history.clear()",
    "q.append(MEMORY)",
    "globals()['MEMORY'] = p.a",
    "globals()['REMEMBER'] = remembering()",
    "q.append(p.items)",
    "p.items.reverse()",
    "p.table = dict(reversed(list(p.table.items())))",
    "p.table = {('1st' if k == 'first' else k): v for k, v in p.table.items()}\n"
    "p.table.setdefault('first', 0.5)",
    "p.table['third'] = 0.25",
    "p.table['second'] = torch.full((3,), 0.5, dtype=torch.float64)",
    "p.numbers.append(0.125)",
    "p.extra = 0.25",
    "p.extra = torch.ones(3, dtype=torch.float64)",
    "p.__dict__.pop('extra', None)",
    "p.count = 0",
    "p.count = 2",
    "p.numbers[1] = 0.25",
    "p.numbers = [0.5, 2]",
    "STEPS()",
    "globals()['STEPS'] = counter()",
    "p.drop.eval()",
    "p.drop.train()",
    "p.opt.param_groups[0]['lr'] = 0.05",
    "p.opt.param_groups[0]['momentum'] = 0.5",
    "p.opt.zero_grad()",
    "p.net.load_state_dict(p.target.state_dict())",
    "p.net[1] = torch.nn.ReLU()",
    "p.net[2].bias.requires_grad_(False)",
    "p.target = copy.deepcopy(p.net)",
    "gain.__defaults__ = (0.25,)",
    "globals()['gain'] = lambda t: t * 0.75",
    "globals()['RATE'] = 0.25",
    "torch.manual_seed(3)",
    "torch.rand(2)",
    "if last is not None:\n    last.sum().backward()",
    "if last is not None:\n    last.sum().backward(retain_graph=True)",
    "if last is not None:\n    last.pow(2).sum().backward()\n    p.opt.step()",
    "if last is not None:\n    q.append(torch.autograd.grad(last.pow(2).sum(), p.w, create_graph=True,"
    " allow_unused=True)[0])",
    "if last is not None:\n    last.detach().mul_(0.5)\n    last.pow(2).sum().backward()",
    "if last is not None:\n    p.a.mul_(0.5)\n    last.sum().backward()",
    "with torch.no_grad():\n    p.w.mul_(0.5)\nif last is not None:\n    last.sum().backward()",
    "x = torch.full((2, 3), 0.5, dtype=torch.float64, requires_grad=True)",
    *["renewed = not renewed"] * 4,
    *["walked = not walked"] * 3,
    "x = p.w * torch.ones(2, 1, dtype=torch.float64)",
    "x = torch.exp(p.w) + p.a",
    "x = (p.w * p.a).chunk(1)[0]",
    "n = 2.0",
    "n = 3",
    "n = 0.5",
    "x = torch.ones(2, 3, dtype=torch.float64)",
    "x = p.a",
    "x = torch.ones(3, dtype=torch.float64).expand(2, 3)",
)

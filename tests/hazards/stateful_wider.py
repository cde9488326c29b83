"""More of what random stateful programs are made of: other kinds of state than tensors of floats and numbers.

Rows as in `stateful_rows`; ``self.o`` holds what they need besides.
"""

from __future__ import annotations

# What there is besides, before the first call.
SETUP = '''
import collections, contextlib, enum, itertools, operator, random

class Phase(enum.Enum):
    FIRST = 1
    SECOND = 2

class Slotted:
    __slots__ = ("value", "rate")

    def __init__(self):
        self.value, self.rate = torch.ones(2, 3, dtype=torch.float64), 0.5

class Lazy:
    made = 0

    def __init__(self):
        self._rate = 0.5

    @property
    def rate(self):
        return self._rate

    @rate.setter
    def rate(self, x):
        self._rate = min(x, 2.0)

    def __getattr__(self, name):
        if name.startswith("auto"):
            return 0.25
        raise AttributeError(name)

    @classmethod
    def count(cls):
        cls.made += 1
        return cls.made

class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 2 + x.detach() * 0.125

class Cell(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(3, 3).double()
        self.register_buffer("seen", torch.zeros((), dtype=torch.int64))
        self.register_buffer("mean", torch.zeros(3, dtype=torch.float64))
        self.scale = 1.0
        self.cache = {}

    def forward(self, x):
        if self.training:
            self.seen += 1
            with torch.no_grad():
                self.mean.mul_(0.75).add_(x.mean(0), alpha=0.25)
        return torch.tanh(self.lin(x - self.mean)) * self.scale

def others():
    random.seed(7)
    o = types.SimpleNamespace()
    o.ints = torch.arange(6).reshape(2, 3)
    o.mask = torch.tensor([[True, False, True], [False, True, False]])
    o.small = torch.ones(2, 3)
    o.half = torch.ones(2, 3, dtype=torch.bfloat16)
    o.buffer = torch.zeros(4, 2, 3, dtype=torch.float64)
    o.row, o.at = o.buffer[1], 0
    o.norm = torch.nn.BatchNorm1d(3).double()
    o.cell = Cell()
    o.rnn = torch.nn.LSTM(3, 3, batch_first=True).double()
    o.state = None
    o.adam = torch.optim.AdamW(list(o.cell.parameters()), lr=0.02, amsgrad=True)
    o.plan = torch.optim.lr_scheduler.LambdaLR(o.adam, lambda k: 1.0 / (1 + k))
    o.cosine = torch.optim.lr_scheduler.CosineAnnealingLR(o.adam, 10)
    o.slots, o.lazy, o.phase = Slotted(), Lazy(), Phase.FIRST
    o.queue, o.seen = collections.deque(maxlen=2), set()
    o.counts, o.grouped = collections.Counter(), collections.defaultdict(list)
    o.gen = torch.Generator().manual_seed(3)
    o.fn = torch.tanh
    o.layers = torch.nn.ModuleList([torch.nn.Linear(3, 3).double(), torch.nn.Linear(3, 3).double()])
    o.params = torch.nn.ParameterDict({"u": torch.nn.Parameter(torch.ones(3, dtype=torch.float64))})
    return o
'''

STATEMENTS = (
    # integers, conditions, other dtypes
    "self.o.ints += 1\ny = y + self.o.ints * 0.125",
    "self.o.ints = (self.o.ints * 3 + 1) % 7",
    "y = y + self.o.ints.to(y.dtype).sin()",
    "y = y.gather(1, self.o.ints % 3)",
    "self.o.mask = ~self.o.mask",
    "y = torch.where(self.o.mask, y, y * 0.5)",
    "self.o.mask = y.detach() > 0.25",
    "y = y.masked_fill(self.o.mask, 0.5)",
    "self.a[self.o.mask] = 0.125",
    "self.o.small = (self.o.small + y.detach()).to(torch.float32) * 0.5",
    "self.o.small.copy_(y.detach())",
    "y = y + self.o.small",
    "self.o.half = (self.o.half * 0.5).detach()",
    "y = y + self.o.half.double() * 0.125",
    # a ring of rows, views as state
    "self.o.buffer[self.o.at] = y.detach()\nself.o.at = (self.o.at + 1) % 4",
    "y = y + self.o.buffer.mean(0)",
    "y = y + self.o.row",
    "self.o.row.add_(y.detach() * 0.25)",
    "self.o.row = self.o.buffer[2]",
    "self.o.row = self.o.buffer[self.o.at]",
    "self.o.buffer = torch.roll(self.o.buffer, 1, 0)",
    "self.o.buffer = torch.cat([self.o.buffer[1:], y.detach()[None]])",
    "self.o.row = self.o.row.t().contiguous().t()",
    # modules with state of their own
    "y = self.o.norm(y)",
    "self.o.norm.train(not self.o.norm.training)",
    "self.o.norm.momentum = 0.3 - self.o.norm.momentum * 0.5",
    "y = self.o.cell(y)",
    "self.o.cell.scale *= 0.75",
    "self.o.cell.eval() if self.flag else self.o.cell.train()",
    "self.o.cell.cache['y'] = y.detach()",
    "y = y + self.o.cell.cache.get('y', 0.25)",
    "self.o.cell.mean = y.detach().mean(0)",
    "h, self.o.state = self.o.rnn(y[None].detach(), self.o.state)\n"
    "self.o.state = tuple(t.detach() for t in self.o.state)\ny = y + h[0].detach() * 0.5",
    "self.o.state = None",
    "for layer in self.o.layers:\n    y = torch.tanh(layer(y))",
    "self.o.layers[0], self.o.layers[1] = self.o.layers[1], self.o.layers[0]",
    "y = y * self.o.params['u']",
    "self.o.params['u'].requires_grad_(not self.o.params['u'].requires_grad)",
    "if not hasattr(self.o.cell, 'more'):\n    self.o.cell.more = torch.nn.Linear(3, 3).double()",
    "if hasattr(self.o.cell, 'more'):\n    y = self.o.cell.more(y)",
    "for m in self.o.cell.modules():\n    if isinstance(m, torch.nn.Linear):\n        y = y + m.bias * 0.125",
    "for name, p in self.o.cell.named_parameters():\n    y = y + p.mean() * (0.0625 * len(name))",
    # training
    "(self.o.cell(y.detach()) ** 2).mean().backward()",
    "if self.o.cell.lin.weight.grad is not None:\n    self.o.adam.step()",
    "self.o.adam.zero_grad()",
    "self.o.plan.step()",
    "self.o.cosine.step()",
    "for g in self.o.adam.param_groups:\n    g['lr'] = g['lr'] * 0.5 + 0.005",
    "if self.o.cell.lin.weight.grad is not None:\n"
    "    torch.nn.utils.clip_grad_value_(self.o.cell.parameters(), 0.125)",
    "if self.o.cell.lin.weight.grad is not None:\n    self.o.cell.lin.weight.grad[0] = 0.25",
    "total = sum(p.grad.norm() for p in self.o.cell.parameters() if p.grad is not None)\n"
    "y = y + total * 0.125",
    "with torch.no_grad():\n    for p in self.o.cell.parameters():\n        p.sub_(p * 0.0625)",
    "y = Twice.apply(y)",
    "y = torch.utils.checkpoint.checkpoint(self.net, y, use_reentrant=False)",
    "y = y + torch.func.grad(lambda t: (t ** 2).sum() * 0.25)(self.a)",
    "g, = torch.autograd.grad((y * self.w).sum(), self.w, create_graph=True)\ny = y + (g * self.w).sum()",
    # objects of other kinds
    "self.o.slots.value = (self.o.slots.value * 0.5 + y).detach()",
    "y = y + self.o.slots.value * self.o.slots.rate",
    "self.o.slots.rate = 0.75 - self.o.slots.rate",
    "self.o.lazy.rate = self.o.lazy.rate * 1.5",
    "y = y * self.o.lazy.rate + self.o.lazy.auto_one",
    "self.o.lazy.auto_one = 0.5",
    "y = y + Lazy.count() * 0.0625",
    "y = y * (0.5 if self.o.phase is Phase.FIRST else 0.75)",
    "self.o.phase = Phase.SECOND if self.o.phase is Phase.FIRST else Phase.FIRST",
    "self.o.queue.append(y.detach())",
    "y = y + sum(self.o.queue)",
    "self.o.queue.rotate()",
    "self.o.seen.add(self.count)\ny = y + len(self.o.seen) * 0.125",
    "self.o.counts[self.name] += 1\ny = y + self.o.counts[self.name] * 0.125",
    "self.o.grouped[self.name].append(y.detach())",
    "y = y + sum(len(v) for v in self.o.grouped.values()) * 0.125",
    "y = self.o.fn(y)",
    "self.o.fn = torch.sin if self.o.fn is torch.tanh else torch.tanh",
    "self.o.fn = functools.partial(torch.clamp, max=0.75)",
    "self.o.fn = lambda t: t * 0.5",
    "k = self.o.at\nself.o.fn = lambda t: t * (0.5 + k)",
    "y = y + functools.reduce(operator.mul, [0.5, *self.numbers])",
    "y = y + max((t.detach().sum() for t in (self.a, self.b)), key=lambda t: 0)",
    "y = y * next(iter(self.table.values()), 0.5) if isinstance(self.table.get('first'), float) else y",
    "match self.hidden:\n    case (first, *_) if isinstance(first, torch.Tensor):\n"
    "        y = y + first * 0.25\n"
    "    case None:\n        y = y * 0.5",
    "y, z = (y, self.a) if self.flag else (self.a, y)\ny = y + z * 0.5",
    "first, *rest = [self.a, self.b, y]\ny = y + rest[0] * 0.25",
    "a = {k: v for k, v in self.table.items() if isinstance(v, torch.Tensor)}\ny = y + sum(a.values())",
    "x = x + 0.25\ny = y + x * 0.5",
    "try:\n    y = y + self.missing\nexcept AttributeError:\n    y = y + 0.25",
    "try:\n    y = y * 0.5\nfinally:\n    self.o.at = (self.o.at + 2) % 4",
    "with contextlib.suppress(KeyError):\n    y = y + self.table['none']",
    "def inner(t, depth=0):\n    return t if depth > 2 else inner(t * 0.5 + 0.25, depth + 1)\ny = inner(y)",
    "y = torch.stack([row * (i + 1) * 0.5 for i, row in enumerate(y)])",
    "y = sum(itertools.accumulate([y * 0.25, self.a, self.b]))",
    "assert y.shape == (2, 3), 'shape'",
    "y = y.view(-1, 3) if y.dim() == 2 else y",
    "y = y + len(self.items) * 0.125 + (self.hidden is None)",
    # random numbers
    "y = y + torch.rand(2, 3, generator=self.o.gen, dtype=torch.float64)",
    "y = y + torch.randperm(3, generator=self.o.gen) * 0.125",
    "y = y + torch.nn.functional.dropout(self.a, 0.25, training=self.flag)",
    "y = y + random.random() * 0.125",
    "torch.manual_seed(5)",
    "state = torch.get_rng_state()\ny = y + torch.rand(3, dtype=torch.float64)\ntorch.set_rng_state(state)",
    # modes and settings
    "with torch.no_grad():\n    y = y * 0.5\ny = y + self.w",
    "with torch.set_grad_enabled(self.flag):\n    z = self.net(y)\ny = y + z * 0.5",
    "y = y + torch.ones(2, 3) * (0.5 if torch.is_grad_enabled() else 0.25)",
    "y = y + torch.tensor(self.numbers[0]).double()",
    "y = y + torch.tensor([[self.count or 0, 1, 2]]).double() * 0.125",
    "y = y + torch.as_tensor(self.numbers[:1], dtype=torch.float64)",
)

BETWEEN = (
    "p.o.ints.zero_()",
    "p.o.mask = torch.ones(2, 3, dtype=torch.bool)",
    "p.o.at = 1",
    "p.o.row = p.o.buffer[3]",
    "p.o.buffer.mul_(0.5)",
    "p.o.norm.eval()",
    "p.o.norm.train()",
    "p.o.norm.reset_running_stats()",
    "p.o.cell.eval()",
    "p.o.cell.train()",
    "p.o.cell.scale = 0.5",
    "p.o.cell.cache.clear()",
    "p.o.cell.load_state_dict(copy.deepcopy(p.o.cell.state_dict()))",
    "p.o.cell.lin = torch.nn.Linear(3, 3).double()",
    "p.o.state = None",
    "p.o.adam.param_groups[0]['weight_decay'] = 0.125",
    "p.o.adam.load_state_dict(copy.deepcopy(p.o.adam.state_dict()))",
    "p.o.slots.rate = 0.25",
    "p.o.lazy = Lazy()",
    "Lazy.rate = property(lambda self: 0.125)",
    "Lazy.made = 3",
    "p.o.phase = Phase.SECOND",
    "p.o.queue.clear()",
    "p.o.seen.clear()",
    "p.o.counts.clear()",
    "p.o.fn = torch.sigmoid",
    "p.o.gen.manual_seed(4)",
    "random.seed(1)",
    "p.o.layers.append(torch.nn.Linear(3, 3).double())",
    "p.o.params['v'] = torch.nn.Parameter(torch.ones(3, dtype=torch.float64))",
    "p.o.cell.lin.weight.requires_grad_(False)",
    "p.o.cell.double()",
    "q.append(p.o.row)",
    "q.append(p.o.ints)",
    "q.append(copy.deepcopy(p.o.cell))",
    "Cell.forward = (lambda forward: lambda self, x: forward(self, x) * 0.5)(Cell.forward)",
)

"""Programs that read and write all kinds of state, compiled and as they are."""

import copy
import weakref

import pytest
from running import check_same, numbers

import jaxflow as torch
from jaxflow import nn

F = nn.functional
PROGRAMS = []


def program(hits, **options):
    """A function of a compiler that returns what it computed; ``hits`` calls need no Python."""

    def add(fn):
        PROGRAMS.append(pytest.param(fn, hits, options, id=fn.__name__))
        return fn

    return add


@program(6)
def learning_rate_schedule_inside(compiler):
    model = nn.Linear(3, 2)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.StepLR(opt, 2, 0.5)

    @compiler
    def step(x):
        opt.zero_grad()
        model(x).pow(2).sum().backward()
        opt.step()
        schedule.step()

    for _ in range(8):
        step(torch.randn(4, 3))
    return [*model.parameters(), schedule.get_last_lr(), schedule.last_epoch]


@program(6)
def gradients_accumulate_over_calls(compiler):
    model = nn.Linear(3, 2)

    @compiler
    def step(x):
        loss = model(x).pow(2).sum()
        loss.backward()
        return loss.detach()

    out = []
    for i in range(8):
        out.append(step(torch.randn(4, 3)))
        if i % 4 == 3:
            out.append(model.weight.grad.clone())
            model.zero_grad()
    return out


@program(3)
def gradients_accumulate_in_a_call(compiler):
    model = nn.Linear(3, 2)
    opt = torch.optim.Adam(model.parameters())

    @compiler
    def step(xs):
        opt.zero_grad(set_to_none=False)
        for x in xs.chunk(2):
            model(x).pow(2).sum().backward()
        opt.step()

    kept = []
    for _ in range(5):
        step(torch.randn(4, 3))
        kept.append(model.weight.grad)
    return [*model.parameters(), kept[-1], kept[-1] is kept[-2]]


@program(3)
def tied_parameters_and_ema(compiler):
    embedding, head = nn.Embedding(5, 4), nn.Linear(4, 5, bias=False)
    head.weight = embedding.weight
    average = copy.deepcopy(embedding)
    opt = torch.optim.AdamW([embedding.weight], lr=0.1)

    @compiler
    def step(i):
        opt.zero_grad()
        loss = F.cross_entropy(head(embedding(i)), i)
        loss.backward()
        opt.step()
        with torch.no_grad():
            average.weight.lerp_(embedding.weight, 0.1)
        return loss

    out = [step(torch.randint(0, 5, (6,))) for _ in range(5)]
    return [*out, embedding.weight, average.weight, head.weight is embedding.weight]


@program(5)
def captured_tensor_and_its_view_written(compiler):
    buffer = torch.zeros(3)
    view = buffer[1:]

    @compiler
    def f(x):
        buffer.add_(x)
        view.mul_(2.0)
        return buffer.sum(), buffer, view

    out = [f(torch.ones(3) * i)[0] for i in range(5)]
    _, b, v = f(torch.ones(3))
    return [*out, buffer, view, buffer._version, b is buffer, v is view]


@program(2)
def argument_written(compiler):
    @compiler
    def f(x, y):
        x.add_(y)
        return x * 2, x, x.view(-1)

    out = []
    for _ in range(3):
        x = torch.zeros(2, 2)
        above = x[0]
        twice, same, view = f(x, torch.ones(2, 2))
        view.add_(1)
        out += [twice, same is x, view._base is x, x, above, x._version]
    return out


@program(4)
def views_as_arguments(compiler):
    data = torch.arange(20.0).reshape(10, 2)
    double = compiler(lambda x: (x * 2).sum())
    return [double(data[i : i + 2]) for i in range(0, 10, 2)]


@program(3)
def create_graph(compiler):
    model = nn.Linear(3, 1)
    opt = torch.optim.SGD(model.parameters(), 0.1)

    @compiler
    def step(x):
        x.requires_grad_()
        opt.zero_grad()
        y = model(x).tanh().sum()
        (slope,) = torch.autograd.grad(y, x, create_graph=True)
        loss = y + slope.pow(2).sum()
        loss.backward()
        opt.step()
        return loss

    return [*[step(torch.randn(2, 3)) for _ in range(5)], *model.parameters()]


@program(4)
def state_in_an_attribute(compiler):
    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell, self.state = nn.RNNCell(3, 3), torch.zeros(2, 3)

        def forward(self, x):
            self.state = self.cell(x, self.state.detach())
            return self.state

    model = Recurrent()
    run = compiler(model)
    with torch.no_grad():
        out = [run(torch.randn(2, 3)) for _ in range(5)]
    return [*out, model.state, model.state is out[-1]]


@program(4)
def modes_switched_inside(compiler):
    model = nn.Sequential(nn.BatchNorm1d(3), nn.Dropout(0.5))

    @compiler
    def evaluate(x):
        model.eval()
        with torch.no_grad():
            return model(x)

    out = []
    for _ in range(3):
        with torch.no_grad():
            out.append(model.train()(torch.randn(4, 3)))
        out += [evaluate(torch.randn(4, 3)), evaluate(torch.randn(4, 3)), model.training]
    return [*out, *model.buffers()]


@program(3)
def generators(compiler):
    own = torch.Generator().manual_seed(5)
    draw = compiler(lambda x: x + torch.randn(3, generator=own) + torch.rand(3))
    return [*[draw(torch.ones(3)) for _ in range(4)], own.get_state(), torch.get_rng_state()]


@program(3)
def numbers_drawn_at_once(compiler):
    """Without `compile` these are drawn before anything else runs."""

    @compiler
    def draw(x):
        with torch.execution("eager"):
            noise = torch.rand(3)
        return torch.empty(3).uniform_(0, 2), F.gumbel_softmax(x), noise

    return [draw(torch.ones(3)) for _ in range(4)]


def descent(compiler, model=None, opt=None):
    """A module and a step of it."""
    model = model or nn.Linear(3, 2)
    opt = opt or torch.optim.SGD(model.parameters(), 0.1)

    @compiler
    def step(x):
        opt.zero_grad()
        loss = model(x).pow(2).sum()
        loss.backward()
        opt.step()
        return loss

    return model, step


@program(3)
def what_others_hold_is_not_donated(compiler):
    model, step = descent(compiler)
    held = []
    for _ in range(5):
        held += [model.weight.detach().clone(), model.weight.grad]
        step(torch.randn(4, 3))
    return [[h for h in held if h is not None], *model.parameters()]


@program(10)  # as long as an array shows the memory of a gradient, Python runs
def gradients_that_somebody_holds(compiler):
    model, step = descent(compiler)

    def write(grad):
        grad.mul_(2.0)

    def read(grad):
        kept.append(grad.numpy().copy())
        marks.extend(k() is None for k in kept if isinstance(k, weakref.ref))

    def mark(grad):
        grad.mark = "marked"

    kept, marks = [], []
    for act in (read, kept.append, lambda g: kept.append(g[0]), lambda g: kept.append(g.detach()), write,
                mark, read, lambda g: kept.append(weakref.ref(g)), read, lambda g: kept.append(g * 2),
                lambda g: kept.append(g.numpy()), kept.append, read):
        step(torch.randn(4, 3))
        grad = model.weight.grad
        marks += [grad._version, hasattr(grad, "mark"), grad.is_leaf]
        act(grad)
        del grad
    return [*marks, *[k for k in kept if not isinstance(k, weakref.ref)], model.weight.grad]


@program(6)
def loaded_state(compiler):
    model = nn.Linear(3, 2)
    opt = torch.optim.Adam(model.parameters(), 0.1)
    _, step = descent(compiler, model, opt)
    x = torch.randn(4, 3)
    out = [step(x) for _ in range(4)]
    saved = copy.deepcopy((model.state_dict(), opt.state_dict()))
    out += [step(x) for _ in range(2)]
    model.load_state_dict(saved[0])
    opt.load_state_dict(saved[1])
    return out + [step(x) for _ in range(3)]


@program(2, fullgraph=True)
def backward_outside(compiler):
    model = nn.Linear(3, 2)
    run = compiler(model)
    opt = torch.optim.SGD(model.parameters(), 0.1)
    out = []
    for _ in range(3):
        opt.zero_grad()
        loss = run(torch.randn(4, 3)).pow(2).sum()
        loss.backward()
        opt.step()
        out.append(loss)
    return [*out, *model.parameters()]


@program(3)
def nested_results(compiler):
    @compiler
    def f(x, options):
        return {"sum": x.sum(), "pair": (x + 1, [options["k"], None])}, x.shape, x.detach()

    out = [f(torch.ones(2) * i, {"k": 3}) for i in range(4)]
    return [[a["sum"], a["pair"], shape == (2,), d] for a, shape, d in out]


@pytest.mark.parametrize(("make", "hits", "options"), PROGRAMS)
def test_compiled_is_the_same(make, hits, options, executor):
    torch.manual_seed(0)
    expected = numbers(make(lambda f: f))
    functions = []

    def compiler(f):
        functions.append(torch.compile(f, **options))
        return functions[-1]

    torch.manual_seed(0)
    found = numbers(make(compiler))
    check_same(found, expected)
    run = functions[-1]
    report = (run.__dict__["_compiled"] if isinstance(run, nn.Module) else run).explain()
    assert report["hits"] == hits, report

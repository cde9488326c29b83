"""NOTE [A backward after the call]: graphs that a compiled call leaves to be walked."""

import gc

import pytest
from running import check_same, in_threads, numbers

import jaxflow as torch
from jaxflow import nn
from jaxflow._core.value import Value

F = nn.functional


class Net(nn.Module):
    """Views of several outputs, a buffer that each call writes, saved results and saved operands."""

    def __init__(self, p=0.0):
        super().__init__()
        self.table, self.norm = nn.Embedding(6, 12), nn.BatchNorm1d(12)
        self.mix, self.drop = nn.Linear(4, 4), nn.Dropout(p)

    def forward(self, at):
        q, k, v = self.norm(self.table(at)).chunk(3, 1)
        return self.mix(self.drop(torch.exp(q * 0.1) * torch.tanh(k) + v.relu()))


class OfOneExample(Net):
    """The same of one example, mapped over all; the row of the table is looked up inside."""

    def forward(self, at):
        def of_one(i):
            q, k, v = self.table.weight[i].chunk(3)
            return self.mix(torch.exp(q * 0.1) * torch.tanh(k) + v.relu()) * (at.sum() * 0.05)

        return torch.vmap(of_one)(at)


def trained(model, way, steps=6):
    """Losses and parameters; ``way(out, loss, i)`` does with a step's result what is to be done."""
    opt = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    found = []
    for i in range(steps):
        opt.zero_grad()
        out = model(torch.randint(0, 6, (5,)))
        found.append(way(out, (out ** 2).mean(), i))
        opt.step()
        found.append(out)
    return [*found, *model.state_dict().values()]


def once(out, loss, i):
    loss.backward()
    return loss


def twice(out, loss, i):
    loss.backward(retain_graph=True)
    out.sum().backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        loss.backward()


def gradients_of_gradients(out, loss, i):
    (grad,) = torch.autograd.grad(loss, out, create_graph=True)
    (loss + grad.pow(2).sum()).backward()
    return grad


def names_of_the_graph(out, loss, i):
    names, todo = [], [out.grad_fn]
    while todo:
        node = todo.pop()
        if node is not None:
            names.append(node.name())
            todo += [n for n, _ in node.next_functions]
    loss.backward()
    return sorted(names)


def hooks_on_the_result(out, loss, i):
    seen = []
    out.register_hook(lambda g: seen.append(g.sum()) or g * 0.5)
    out.retain_grad()
    loss.backward()
    return [seen[0], out.grad]


def written_before_the_backward(out, loss, i):
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as error:
        (out * torch.exp(out).mul_(2)).sum().backward()
    out.mul_(0.5)
    out.sum().backward()
    return str(error.value)


WAYS = [once, twice, gradients_of_gradients, names_of_the_graph, hooks_on_the_result,
        written_before_the_backward]


@pytest.mark.parametrize("net", [Net, OfOneExample])
@pytest.mark.parametrize("way", WAYS, ids=lambda f: f.__name__)
def test_a_step_is_the_same(executor, way, net):
    found = []
    for compiles in (False, True):
        torch.manual_seed(0)
        model = net(0.25).double()  # where the order of a sum makes no difference
        if compiles:
            model.compile()
        found.append(numbers(trained(model, way)))
    check_same(found[1], found[0])
    report = model._compiled_call_impl.explain()
    assert report["hits"] == 5 and not report["python"], report


@pytest.mark.usefixtures("deferred")
def test_the_graph_goes_on_in_what_the_argument_comes_from():
    def run(compiles):
        torch.manual_seed(0)
        layers = [nn.Sequential(nn.Linear(3, 3), nn.Tanh()) for _ in range(3)]
        wrapped = [torch.compile(layer) if compiles else layer for layer in layers]
        found = []
        for _ in range(5):
            x = torch.randn(2, 3, requires_grad=True)
            y = x
            for layer in wrapped:
                y = y + layer(y)
            y.sum().backward()
            found.append(x.grad)
        return numbers([*found, *(p.grad for layer in layers for p in layer.parameters())]), wrapped

    expected, _ = run(False)
    found, wrapped = run(True)
    check_same(found, expected)
    # With and without a .grad before the call, and with a leaf or another tensor as the argument.
    assert [m._compiled.explain()["hits"] for m in wrapped] == [3, 3, 3]


def plus_one(x, w):
    return x + 1  # its node keeps nothing, so nothing in it says which call it belongs to


def a_view(x, w):
    return x.t()[0]


def freed_inside(x, w):
    loss = (x * w).sum()
    loss.backward()
    return loss * 2


def freed_beside_the_argument(x, w):
    loss = (w * w).sum() + x.sum()
    loss.backward()
    return loss


def its_own_graph_twice(x, w):
    y = x + w
    return y, y + 1


@pytest.mark.parametrize("makes", ["a leaf", "a result"])
@pytest.mark.parametrize("function", [
    plus_one, a_view, freed_inside, freed_beside_the_argument, its_own_graph_twice,
], ids=lambda f: f.__name__)
def test_gradients_reach_the_argument_of_each_call(executor, function, makes):
    def run(wrap):
        w = torch.full((2, 2), 0.5, requires_grad=True)
        step, found = wrap(function), []
        for i in range(5):
            leaf = torch.full((2, 2), 1.0 + i, requires_grad=True)
            x = leaf if makes == "a leaf" else leaf + 0.5
            results = step(x, w)
            for y in results if isinstance(results, tuple) else (results,):
                found.append(y)
                # What a backward inside the call has freed is refused, and yet leads to some.
                for to in (x, leaf, w):
                    try:
                        (grad,) = torch.autograd.grad(y.sum(), to, allow_unused=True, retain_graph=True)
                    except RuntimeError as error:
                        grad = str(error)[:60]
                    found.append(grad)
            found += [leaf.grad, None if w.grad is None else w.grad.clone()]
            w.grad = None
        return numbers(found)

    check_same(run(torch.compile), run(lambda f: f))


@pytest.mark.usefixtures("deferred")
def test_a_step_that_returns_its_loss_is_one_program():
    model = nn.Linear(3, 1)
    opt = torch.optim.SGD(model.parameters(), 0.1)

    @torch.compile
    def step(x):
        opt.zero_grad()
        loss = (model(x) ** 2).mean()
        loss.backward()
        opt.step()
        return loss / 2

    for _ in range(5):
        step(torch.ones(2, 3))
    (entry,) = step.entries.values()
    assert [s.joins for s in entry.specialisations] == [False, False] and step.explain()["hits"] == 3


@pytest.mark.usefixtures("deferred")
def test_what_is_written_between_the_call_and_the_backward_is_noticed():
    weight = torch.ones(3, requires_grad=True)
    step = torch.compile(lambda x: (weight * weight * x).sum())
    for _ in range(3):
        loss = step(torch.ones(3))
        with torch.no_grad():
            weight.mul_(2.0)
        with pytest.raises(RuntimeError, match="is at version (1|2|3); expected version (0|1|2) instead"):
            torch.autograd.grad(loss, weight)
    loss = step(torch.ones(3))
    assert torch.autograd.grad(loss, weight)[0].tolist() == [16.0] * 3
    assert step.explain()["hits"] == 3


@pytest.mark.usefixtures("deferred")
def test_a_hidden_state_keeps_its_graph_from_call_to_call():
    def run(wrap):
        weight = torch.full((2,), 0.5, requires_grad=True)
        state = [torch.ones(2)]

        @wrap
        def step(x):
            state[0] = torch.tanh(state[0] * weight + x)
            return state[0]

        found = []
        for i in range(12):
            step(torch.full((2,), i * 0.1))
            if i % 4 == 3:
                state[0].sum().backward()
                found.append(weight.grad.clone())
                state[0] = state[0].detach()
        return numbers(found), step

    expected, _ = run(lambda f: f)
    found, step = run(torch.compile)
    check_same(found, expected)
    assert step.explain()["hits"] >= 6 and not step.explain()["python"]


@pytest.mark.usefixtures("deferred")
def test_nothing_of_an_earlier_call_is_kept():
    model = nn.Sequential(nn.Linear(3, 37), nn.Tanh(), nn.Linear(37, 2))
    model.compile()
    for _ in range(4):
        model(torch.ones(5, 3)).sum().backward()
    torch.flush()  # the latest gradients
    gc.collect()
    assert not [v for v in gc.get_objects() if type(v) is Value and v.aval.shape == (5, 37)]
    assert model._compiled_call_impl.explain()["hits"] >= 2


@pytest.mark.usefixtures("deferred")
def test_threads_walk_graphs_of_their_own():
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    run = torch.compile(model)
    parameters = [*model.parameters()]
    for _ in range(2):
        run(torch.ones(3, 4))

    def work(k):
        for i in range(20):
            x = torch.full((3, 4), 0.1 * k + 0.01 * i)
            found = torch.autograd.grad(run(x).sum(), parameters)
            expected = torch.autograd.grad(model(x).sum(), parameters)
            check_same(numbers(found), numbers(expected))

    in_threads(work, 4)
    assert run._compiled.explain()["hits"] >= 40


@pytest.mark.usefixtures("deferred")
def test_an_index_out_of_range_is_told_of_when_numbers_are_read():
    table = nn.Embedding(3, 2)
    step = torch.compile(lambda at: table(at).sum())
    for _ in range(3):
        step(torch.tensor([0, 1]) * 1).backward()
    bad = step((torch.tensor([0, 4]) + 1) * 1)
    with pytest.raises(IndexError, match="index out of range"):
        bad.item()
    assert step.explain()["hits"] >= 2
    assert step(torch.tensor([0, 1]) * 1).item() == pytest.approx(table.weight[:2].sum().item())


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


def with_a_function(x, w):
    return Doubled.apply(w * x)


def with_a_hook(x, w):
    y = w * x
    y.register_hook(lambda g: g * 2)
    return y


def with_a_hook_on_the_argument(x, w):
    x.register_hook(lambda g: g * 2)
    return w * x


def that_asks_for_the_history(x, w):
    return w * x * len(x.grad_fn.name())


@pytest.mark.parametrize("function", [
    with_a_function, with_a_hook, with_a_hook_on_the_argument, that_asks_for_the_history,
], ids=lambda f: f.__name__)
@pytest.mark.usefixtures("deferred")
def test_what_belongs_to_one_call_is_left_to_python(function):
    def run(wrap):
        w = torch.ones(2, requires_grad=True)
        step, found = wrap(function), []
        for makes in (torch.exp, torch.exp, torch.tanh, torch.sin, torch.exp):
            x = torch.full((2,), 0.5, requires_grad=True)
            step(makes(x), w).sum().backward()
            found += [x.grad, w.grad.clone()]
        return numbers(found), step

    expected, _ = run(lambda f: f)
    found, step = run(torch.compile)
    check_same(found, expected)
    assert step.explain()["hits"] == 0


@pytest.mark.parametrize("mode", ["deferred", "compiled"])
def test_a_number_among_the_arguments_is_that_of_its_own_call(mode, request):
    request.getfixturevalue(mode)

    def gradients(compiler):
        w = torch.tensor([1.0, 2.0], requires_grad=True)
        step, found = compiler(lambda x, n: (w * x * n / (n + 1)).sum()), []
        for k in range(8):
            w.grad = None
            first, second = step(torch.full((2,), float(k)), k + 0.5), step(torch.ones(2), k + 1.0)
            second.backward()
            found.append(w.grad.tolist())
            first.backward()
            found.append(w.grad.tolist())
        return found, step

    found, step = gradients(torch.compile)
    expected, _ = gradients(lambda f: f)
    assert sum(found, []) == pytest.approx(sum(expected, []))
    assert step.explain()["hits"] == 14, str(step.explain())

"""Numbers of tensors that operations of a compiled call take: NOTE [Computed numbers]."""

import numpy as np
import pytest

import jaxflow as torch
from jaxflow import nn
from jaxflow.utils._pytree import tree_leaves

CASES = {}


def case(f):
    CASES[f.__name__.strip("_")] = f
    return f


@case
def by_its_largest(x):
    return x / x.max().item()


@case
def in_arithmetic(x):
    m, n = x.mean().item(), x.norm().item()
    return x * (1.0 - 2 * abs(-m)) + (n / (m + 4.0) - 1)


@case
def of_a_narrow_type(x):
    y = x.float()
    return y * (y[0] / 3).item() + y.half().sum().item()


@case
def whole_numbers(x):
    return x + x.argmax().item(), torch.arange(3) * x.argmin().item(), x * (x.argmax().item() * 1.5)


@case
def of_one_element(x):
    return x - x[1:2].item() + x.view(1, 3)[:, :1].item()


@case
def of_an_argument(x):
    return x * x[0].item()


@case
def in_place(x):
    y = x.clone()
    y.mul_(y.sum().item()).add_(1.0, alpha=y.mean().item())
    return y.clamp_(max=2.0)


@case
def also_returned(x):
    m = x.max().item()
    return x * m, m, m + 1


@case
def also_asked(x):
    m = x.sum().item()
    return x / m if m > 100.0 else x * m


@case
def with_a_gradient(x):
    w = x.detach().clone().requires_grad_()
    y = w * w.sum().item()
    (y * y / y.max().item()).sum().backward()
    return w.grad


@case
def with_a_gradient_of_a_gradient(x):
    w = x.detach().clone().requires_grad_()
    y = w**3 * w.mean().item()
    (g,) = torch.autograd.grad(y.sum(), w, create_graph=True)
    return torch.autograd.grad((g * g.max().item()).sum(), w)[0]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("mode", ["deferred", "compiled"])
def test_an_operation_takes_it_and_no_python_runs(name, mode, request):
    request.getfixturevalue(mode)
    f = CASES[name]
    step = torch.compile(f)
    for k in range(1, 9):
        x = torch.tensor([0.5, -1.25, 2.0], dtype=torch.float64) * k + 1
        for a, b in zip(tree_leaves(step(x)), tree_leaves(f(x)), strict=True):
            assert type(a) is type(b)
            if isinstance(a, torch.Tensor):
                assert a.dtype is b.dtype
                a, b = a.detach().numpy(), b.detach().numpy()
            np.testing.assert_allclose(a, b, rtol=1e-6)
    assert step.explain()["hits"] == 6 and not step.explain()["python"], str(step.explain())


@pytest.mark.parametrize("mode", ["deferred", "compiled"])
def test_a_training_step_clips_and_scales_by_numbers(mode, request):
    request.getfixturevalue(mode)

    def trained(compiler):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1)).double()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)

        @compiler
        def step(x):
            optimizer.zero_grad()
            loss = (model(x / x.abs().max().item()) ** 2).mean()
            loss.backward()
            norm = torch.cat([p.grad.flatten() for p in model.parameters()]).norm().item()
            for p in model.parameters():
                p.grad.mul_(0.5 / (norm + 0.1))
            optimizer.step()
            return loss

        losses = [step(torch.randn(4, 3, dtype=torch.float64)).item() for _ in range(10)]
        return losses, [p.tolist() for p in model.parameters()], step

    losses, parameters, _ = trained(lambda f: f)
    found, others, step = trained(torch.compile)
    np.testing.assert_allclose(found, losses, rtol=1e-9)
    for a, b in zip(others, parameters):
        np.testing.assert_allclose(a, b, rtol=1e-9)
    assert step.explain()["hits"] == 8 and not step.explain()["python"], str(step.explain())


def test_nothing_waits_for_a_number_that_only_operations_take(deferred):
    step = torch.compile(lambda x: x / x.max().item())
    for k in range(1, 6):
        step(torch.ones(3) * k)
    (spec,) = [s for e in step.entries.values() for s in e.specialisations if s.hits]
    assert not spec.reads


@pytest.mark.parametrize("mode", ["deferred", "compiled"])
def test_python_says_where_it_divides_by_zero(mode, request):
    request.getfixturevalue(mode)

    def outcome(f, x):
        try:
            return f(x).tolist()
        except ZeroDivisionError as error:
            return str(error)

    def by_sum(x):
        return x * (1.0 / x.sum().item())

    def by_tensor(x):
        return x / x.sum().item()

    for f in (by_sum, by_tensor):
        step = torch.compile(f)
        for n in (1.0, 2.0, 4.0, 8.0, 0.0, 16.0):
            assert str(outcome(step, torch.full((2,), n))) == str(outcome(f, torch.full((2,), n)))
    assert step.explain()["hits"] == 4


@pytest.mark.parametrize("mode", ["deferred", "compiled"])
def test_a_backward_after_the_call_takes_the_number_of_its_own_call(mode, request):
    request.getfixturevalue(mode)

    def gradients(compiler):
        w = torch.tensor([1.0, 2.0], requires_grad=True)
        step, found = compiler(lambda x: (w * x * w.max().item() / (x.sum().item() + 1)).sum()), []
        for k in range(8):
            w.grad = None
            first, second = step(torch.full((2,), float(k))), step(torch.full((2,), k + 0.5))
            second.backward()
            found.append(w.grad.tolist())
            first.backward()
            found.append(w.grad.tolist())
            with torch.no_grad():
                w[1] += 1.0
        return found, step

    found, step = gradients(torch.compile)
    np.testing.assert_allclose(found, gradients(lambda f: f)[0], rtol=1e-6)
    assert step.explain()["hits"] == 14, str(step.explain())

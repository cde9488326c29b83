"""Averages of weights: numbers, checkpoints, schedules and refusals as in PyTorch."""

import pytest

import jaxflow
from compat_tests.harness import Case, check, raises


def run(function):
    @pytest.mark.usefixtures("executor")
    def test():
        check(Case(function.__name__, function), jaxflow)

    return test


def net_of(T):
    net = T.nn.Sequential(T.nn.Linear(2, 3), T.nn.BatchNorm1d(3))
    with T.no_grad():
        for i, p in enumerate(net.parameters()):
            p.copy_(T.arange(p.numel()).reshape(p.shape) * 0.25 - i)
    return net


def averages(T, **options):
    swa = T.optim.swa_utils
    made = {name: getattr(swa, value[0])(*value[1:]) if isinstance(value, tuple) else value
            for name, value in options.items()}
    net = net_of(T)
    average = swa.AveragedModel(net, **made)
    seen = []
    for k in range(3):
        with T.no_grad():
            for p in net.parameters():
                p.mul_(0.5).add_(k)
        net(T.arange(8.0).reshape(4, 2) * (k + 1))
        average.update_parameters(net)
        seen.append({name: x.clone() for name, x in average.state_dict().items()})
    return seen, list(average.state_dict()), average.eval()(T.ones(2, 2)), [p.requires_grad for p in
                                                                            average.parameters()]


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("options", [
    {}, dict(use_buffers=True), dict(avg_fn=("get_ema_avg_fn", 0.75)), dict(avg_fn=("get_swa_avg_fn",)),
    dict(multi_avg_fn=("get_ema_multi_avg_fn", 0.75), use_buffers=True),
    dict(multi_avg_fn=("get_swa_multi_avg_fn",)),
    dict(avg_fn=("get_ema_avg_fn", 0.25), use_buffers=True)], ids=str)
def test_averages(options):
    check(Case("averages", lambda T: averages(T, **options)), jaxflow)


@run
def test_functions_of_lists(T):
    swa = T.optim.swa_utils
    lists = []
    for make in (lambda: swa.get_ema_multi_avg_fn(0.75), swa.get_swa_multi_avg_fn):
        for dtype in (T.float32, T.int64):
            average = [T.arange(3, dtype=dtype), T.ones(2, dtype=dtype)]
            current = [T.full((3,), 8, dtype=dtype), T.full((2,), 5, dtype=dtype)]
            if dtype is T.float32 or make is not swa.get_swa_multi_avg_fn:
                make()(average, current, 1)
            lists.append(average)
    return (lists, raises(lambda: swa.get_ema_avg_fn(1.5)), raises(lambda: swa.get_ema_multi_avg_fn(-1)),
            raises(lambda: swa.AveragedModel(T.nn.ReLU(), avg_fn=min, multi_avg_fn=max)))


@run
def test_batch_norms(T):
    net = net_of(T)
    net[1].momentum = 0.3
    batches = [T.arange(8.0).reshape(4, 2), (T.ones(3, 2), 5), [T.arange(6.0).reshape(3, 2) - 2]]
    net.eval()
    T.optim.swa_utils.update_bn(batches, net)
    return dict(net.state_dict()), net[1].momentum, net.training, T.optim.swa_utils.update_bn([], T.nn.ReLU())


@pytest.mark.parametrize("options", [{}, dict(anneal_epochs=3), dict(anneal_epochs=0),
                                     dict(swa_lr=[0.3, 0.1]),
                                     dict(anneal_strategy="linear", anneal_epochs=4)], ids=str)
def test_schedule(options):
    def case(T):
        optimizer = T.optim.SGD([{"params": T.nn.Linear(1, 1).parameters()},
                                 {"params": T.nn.Linear(1, 1).parameters(), "lr": 0.5}], lr=1.0)
        options_here = {"swa_lr": 0.05, **options}
        schedule = T.optim.swa_utils.SWALR(optimizer, **options_here)
        rates = [schedule.get_last_lr()]
        for _ in range(6):
            optimizer.step()
            schedule.step()
            rates.append(schedule.get_last_lr())
        state = schedule.state_dict()
        other = T.optim.swa_utils.SWALR(optimizer, 0.2)
        other.load_state_dict(state)
        return rates, sorted(state), other.last_epoch, [g["swa_lr"] for g in optimizer.param_groups]

    check(Case("schedule", case), jaxflow)


@run
def test_refused_schedules(T):
    optimizer = T.optim.SGD(T.nn.Linear(1, 1).parameters(), lr=1.0)
    make = T.optim.swa_utils.SWALR
    return (raises(lambda: make(optimizer, 0.1, anneal_strategy="square")),
            raises(lambda: make(optimizer, 0.1, anneal_epochs=-1)),
            raises(lambda: make(optimizer, [0.1, 0.2])))

"""Learning-rate schedules: the rates over an epoch count, checkpoints, warnings and errors."""

import copy

import pytest

import jaxflow
from compat_tests.harness import Case, check, raises, warns

EPOCHS = 14


def halving(epoch):
    return 0.5**epoch


class Slope:
    """A callable object, whose attributes a checkpoint keeps."""

    def __init__(self, slope):
        self.slope = slope

    def __call__(self, epoch):
        return 1 / (1 + self.slope * epoch)


# name -> function (schedules module, optimizer) -> schedule
TABLE = {
    "lambda": lambda S, o: S.LambdaLR(o, halving),
    "lambdas": lambda S, o: S.LambdaLR(o, [halving, Slope(0.2)]),
    "multiplicative": lambda S, o: S.MultiplicativeLR(o, lambda e: 0.9 + 0.01 * e),
    "step": lambda S, o: S.StepLR(o, 3),
    "step gamma": lambda S, o: S.StepLR(o, 4, gamma=0.7),
    "multistep": lambda S, o: S.MultiStepLR(o, [2, 5, 5, 9], gamma=0.5),
    "constant": lambda S, o: S.ConstantLR(o),
    "constant factor": lambda S, o: S.ConstantLR(o, factor=0.2, total_iters=8),
    "linear": lambda S, o: S.LinearLR(o),
    "linear down": lambda S, o: S.LinearLR(o, start_factor=0.9, end_factor=0.1, total_iters=7),
    "exponential": lambda S, o: S.ExponentialLR(o, 0.8),
    "polynomial": lambda S, o: S.PolynomialLR(o),
    "polynomial square": lambda S, o: S.PolynomialLR(o, total_iters=9, power=2.0),
    "cosine": lambda S, o: S.CosineAnnealingLR(o, 5),
    "cosine floor": lambda S, o: S.CosineAnnealingLR(o, 4, eta_min=0.01),
    "restarts": lambda S, o: S.CosineAnnealingWarmRestarts(o, 3),
    "restarts longer": lambda S, o: S.CosineAnnealingWarmRestarts(o, 2, T_mult=2, eta_min=0.01),
    "one cycle": lambda S, o: S.OneCycleLR(o, max_lr=0.5, total_steps=EPOCHS),
    "one cycle linear": lambda S, o: S.OneCycleLR(
        o, max_lr=[0.5, 1.0], epochs=5, steps_per_epoch=3, anneal_strategy="linear",
        pct_start=0.4, div_factor=10.0, final_div_factor=100.0, base_momentum=0.7,
    ),
    "one cycle in three": lambda S, o: S.OneCycleLR(
        o, max_lr=0.5, total_steps=EPOCHS, three_phase=True, cycle_momentum=False
    ),
    "cyclic": lambda S, o: S.CyclicLR(o, 0.01, 0.1, step_size_up=3),
    "cyclic uneven": lambda S, o: S.CyclicLR(
        o, [0.01, 0.02], [0.1, 0.3], step_size_up=2, step_size_down=4, mode="triangular2"
    ),
    "cyclic exponential": lambda S, o: S.CyclicLR(
        o, 0.01, 0.1, step_size_up=3, mode="exp_range", gamma=0.9, cycle_momentum=False
    ),
    "cyclic own": lambda S, o: S.CyclicLR(
        o, 0.01, 0.1, step_size_up=3, scale_fn=Slope(0.3), scale_mode="iterations"
    ),
    "sequence": lambda S, o: S.SequentialLR(
        o,
        [S.ConstantLR(o, 0.1, 3), S.ExponentialLR(o, 0.9), S.CosineAnnealingLR(o, 4)],
        milestones=[3, 8],
    ),
    "chain": lambda S, o: S.ChainedScheduler(
        [S.ConstantLR(o, 0.1, 4), S.ExponentialLR(o, 0.9), S.StepLR(o, 5, 0.5)]
    ),
}
OPTIMIZERS = {
    "SGD": lambda T, groups: T.optim.SGD(groups, lr=0.1, momentum=0.9),
    "AdamW": lambda T, groups: T.optim.AdamW(groups, lr=0.1),
}


def optimizer_of(T, kind="SGD", tensor_lr=False):
    rate = T.tensor(0.1) if tensor_lr else 0.1
    groups = [
        {"params": [T.zeros(2, requires_grad=True)], "lr": rate},
        {"params": [T.zeros(3, requires_grad=True)], "lr": 0.02},
    ]
    return OPTIMIZERS[kind](T, groups)


def settings(optimizer):
    """What a schedule writes: rates and momenta."""
    return [
        {k: copy.copy(v) for k, v in group.items() if k in ("lr", "momentum", "betas")}
        for group in optimizer.param_groups
    ]


def walk(T, name, kind="SGD", epochs=EPOCHS, tensor_lr=False):
    optimizer = optimizer_of(T, kind, tensor_lr)
    schedule = TABLE[name](T.optim.lr_scheduler, optimizer)
    seen = [(list(schedule.get_last_lr()), settings(optimizer))]
    for _ in range(epochs):
        optimizer.step()
        schedule.step()
        rates = [float(r) if tensor_lr else r for r in schedule.get_last_lr()]
        seen.append((rates, [] if tensor_lr else settings(optimizer)))
    return seen


@pytest.mark.parametrize("kind", OPTIMIZERS)
@pytest.mark.parametrize("name", TABLE)
def test_rates(name, kind):
    check(Case("rates", lambda T: walk(T, name, kind)), jaxflow)


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("name", ["step", "cosine", "linear", "sequence", "chain", "polynomial"])
def test_rates_that_are_tensors(name):
    check(Case("tensor rates", lambda T: walk(T, name, epochs=6, tensor_lr=True)[1:]), jaxflow)


def public(state):
    """A state_dict without what only names functions of this file."""
    if isinstance(state, dict):
        return {str(k): public(v) for k, v in state.items()}
    if isinstance(state, (list, tuple)):
        return [public(v) for v in state]
    return state


@pytest.mark.parametrize("name", TABLE)
def test_checkpoint(name):
    def case(T):
        S = T.optim.lr_scheduler
        optimizer = optimizer_of(T)
        schedule = TABLE[name](S, optimizer)
        for _ in range(5):
            optimizer.step()
            schedule.step()
        state = schedule.state_dict()
        options = copy.deepcopy(optimizer.state_dict())
        other_optimizer = optimizer_of(T)
        other = TABLE[name](S, other_optimizer)
        other.load_state_dict(copy.deepcopy(state))
        other_optimizer.load_state_dict(options)
        seen = []
        for _ in range(4):
            for o, s in ((optimizer, schedule), (other_optimizer, other)):
                o.step()
                s.step()
                seen.append(list(s.get_last_lr()))
        return sorted(state), public(state), seen, seen[::2] == seen[1::2]

    check(Case("checkpoint", case), jaxflow)


RESUMED = {
    "step": lambda S, o, e: S.StepLR(o, 3, last_epoch=e),
    "cosine": lambda S, o, e: S.CosineAnnealingLR(o, 5, last_epoch=e),
    "linear": lambda S, o, e: S.LinearLR(o, last_epoch=e),
    "exponential": lambda S, o, e: S.ExponentialLR(o, 0.8, last_epoch=e),
    "polynomial": lambda S, o, e: S.PolynomialLR(o, last_epoch=e),
    "lambda": lambda S, o, e: S.LambdaLR(o, halving, last_epoch=e),
    "one cycle": lambda S, o, e: S.OneCycleLR(o, 0.5, total_steps=EPOCHS, last_epoch=e),
    "cyclic": lambda S, o, e: S.CyclicLR(o, 0.01, 0.1, step_size_up=3, last_epoch=e),
    "restarts": lambda S, o, e: S.CosineAnnealingWarmRestarts(o, 3, last_epoch=e),
}


@pytest.mark.parametrize("name", RESUMED)
def test_resuming_by_last_epoch(name):
    """A new schedule with ``last_epoch`` goes on from the groups of an old optimizer."""

    def case(T):
        S = T.optim.lr_scheduler
        optimizer = optimizer_of(T)
        schedule = RESUMED[name](S, optimizer, -1)
        for _ in range(4):
            optimizer.step()
            schedule.step()
        schedule = RESUMED[name](S, optimizer, schedule.last_epoch)
        seen = [list(schedule.get_last_lr())]
        for _ in range(3):
            optimizer.step()
            schedule.step()
            seen.append(list(schedule.get_last_lr()))
        return seen

    check(Case("resume", case), jaxflow)


def run(function):
    def test():
        check(Case(function.__name__, function), jaxflow)

    return test


@run
def test_plateau(T):
    S = T.optim.lr_scheduler
    metrics = [1.0, 0.9, 0.9, 0.95, 0.8999, 0.9, 0.5, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.7, float("nan")]
    rows = [
        dict(patience=1),
        dict(patience=0, factor=0.5, min_lr=0.02),
        dict(patience=1, mode="max"),
        dict(patience=1, threshold_mode="abs", threshold=0.05),
        dict(patience=1, mode="max", threshold_mode="abs"),
        dict(patience=1, cooldown=2),
        dict(patience=0, min_lr=[0.05, 0.001]),
        dict(patience=0, eps=0.05),
    ]
    out = []
    for row in rows:
        optimizer = optimizer_of(T)
        schedule = S.ReduceLROnPlateau(optimizer, **row)
        for metric in metrics:
            schedule.step(T.tensor(metric))
            out.append((list(schedule.get_last_lr()), schedule.num_bad_epochs, schedule.best,
                        schedule.in_cooldown))
        other = S.ReduceLROnPlateau(optimizer_of(T))
        other.load_state_dict(schedule.state_dict())
        out.append((sorted(schedule.state_dict()), other.mode, other.threshold, other.best))
    return out


@run
def test_plateau_errors(T):
    S = T.optim.lr_scheduler
    o = optimizer_of(T)
    late = S.ReduceLROnPlateau(o, patience=0, min_lr=[0.0, 0.0])
    plain = S.ReduceLROnPlateau(o, patience=0)
    o.add_param_group({"params": [T.zeros(1, requires_grad=True)]})

    def worsen(schedule):
        for metric in (1.0, 2.0):
            schedule.step(metric)
        return len(schedule.min_lrs)

    return [
        raises(lambda: S.ReduceLROnPlateau(o, factor=1.0)),
        raises(lambda: S.ReduceLROnPlateau(3)),
        raises(lambda: S.ReduceLROnPlateau(o, min_lr=[0.1])),
        raises(lambda: S.ReduceLROnPlateau(o, mode="middle")),
        raises(lambda: S.ReduceLROnPlateau(o, threshold_mode="middle")),
        raises(lambda: worsen(late)),
        worsen(plain),
        warns(lambda: plain.step(1.0, epoch=7)),
        plain.last_epoch,
    ]


@run
def test_errors(T):
    S = T.optim.lr_scheduler
    o, other = optimizer_of(T), optimizer_of(T)
    adagrad = T.optim.Adagrad([T.zeros(1, requires_grad=True)])
    step = S.StepLR(o, 1)
    plateau = S.ReduceLROnPlateau(o)
    short = S.OneCycleLR(optimizer_of(T), 0.1, total_steps=1 + 1)

    def over():
        for _ in range(3):
            short.optimizer.step()
            short.step()

    return [
        raises(lambda: S.StepLR(3, 1)),
        raises(
            lambda: S.StepLR(other, 1, last_epoch=3),
            phrase="param 'initial_lr' is not specified in param_groups[0] when resuming scheduler",
            because="the advice is in other words",
        ),
        raises(lambda: S.LambdaLR(o, [halving])),
        raises(lambda: S.MultiplicativeLR(o, [halving])),
        raises(lambda: S.MultiplicativeLR(o, [halving, 3])),
        raises(lambda: S.ConstantLR(o, factor=2.0)),
        raises(lambda: S.LinearLR(o, start_factor=0)),
        raises(lambda: S.LinearLR(o, end_factor=2)),
        raises(lambda: S.SequentialLR(o, [], [])),
        raises(lambda: S.SequentialLR(o, [step], [1])),
        raises(lambda: S.SequentialLR(o, [step, plateau], [1])),
        raises(lambda: S.SequentialLR(o, [3], [])),
        raises(lambda: S.ChainedScheduler([])),
        raises(lambda: S.ChainedScheduler([plateau])),
        raises(lambda: S.ChainedScheduler([step, 3])),
        raises(lambda: S.CosineAnnealingWarmRestarts(o, 0)),
        raises(lambda: S.CosineAnnealingWarmRestarts(o, 1.5)),
        raises(lambda: S.CosineAnnealingWarmRestarts(o, 1, T_mult=0)),
        raises(lambda: S.CosineAnnealingWarmRestarts(o, 1, eta_min="x")),
        raises(lambda: S.CosineAnnealingWarmRestarts(o, 1).step(-1)),
        raises(lambda: S.OneCycleLR(o, 0.1)),
        raises(lambda: S.OneCycleLR(o, 0.1, total_steps=0)),
        raises(lambda: S.OneCycleLR(o, 0.1, epochs=0, steps_per_epoch=2)),
        raises(lambda: S.OneCycleLR(o, 0.1, epochs=2, steps_per_epoch=1.5)),
        raises(lambda: S.OneCycleLR(o, 0.1, total_steps=5, pct_start=2.0)),
        raises(lambda: S.OneCycleLR(o, 0.1, total_steps=5, pct_start=1)),
        raises(lambda: S.OneCycleLR(o, 0.1, total_steps=5, anneal_strategy="sin")),
        raises(lambda: S.OneCycleLR(o, [0.1], total_steps=5)),
        raises(lambda: S.OneCycleLR(adagrad, 0.1, total_steps=5)),
        raises(lambda: S.OneCycleLR(3, 0.1, total_steps=5)),
        raises(over),
        raises(lambda: S.CyclicLR(o, 0.1, 0.2, mode="square")),
        raises(lambda: S.CyclicLR(o, [0.1], 0.2)),
        raises(lambda: S.CyclicLR(adagrad, 0.1, 0.2)),
        raises(lambda: S.CyclicLR(3, 0.1, 0.2)),
        raises(lambda: S.LRScheduler(optimizer_of(T))),
    ]


@run
def test_mixed_optimizers_are_refused(T):
    S = T.optim.lr_scheduler
    o, other = optimizer_of(T), optimizer_of(T, "AdamW")
    parts = [S.StepLR(o, 1), S.StepLR(other, 1)]
    text = "expects all schedulers to belong to the same optimizer, but got scheduler StepLR"
    why = "the whole optimizer is printed in the message"
    return [
        raises(lambda: S.SequentialLR(o, parts, [1]), phrase=text, because=why),
        raises(lambda: S.ChainedScheduler(parts), phrase=text, because=why),
    ]


@run
def test_warnings(T):
    S = T.optim.lr_scheduler

    def early():
        schedule = S.StepLR(optimizer_of(T), 1)
        schedule.step()

    def overridden():
        optimizer = optimizer_of(T)
        schedule = S.StepLR(optimizer, 1)
        optimizer.step = lambda closure=None: None
        schedule.step()

    def by_epoch():
        optimizer = optimizer_of(T)
        schedule = S.MultiStepLR(optimizer, [2, 4])
        optimizer.step()
        schedule.step(3)
        return schedule.get_last_lr()

    def asked():
        return S.ExponentialLR(optimizer_of(T), 0.5).get_lr()

    return [warns(early), warns(overridden), warns(by_epoch), warns(asked)]


@run
def test_closed_forms(T):
    S = T.optim.lr_scheduler
    out = []
    for name in ("step", "multistep", "constant", "linear", "exponential", "polynomial", "cosine"):
        optimizer = optimizer_of(T)
        schedule = TABLE[name](S, optimizer)
        for epoch in (3, 0, 7):
            optimizer.step()
            _, caught = warns(lambda s=schedule, e=epoch: s.step(e))
            out.append((list(schedule.get_last_lr()), len(caught), schedule.last_epoch))
    return out


@run
def test_restarts_between_batches(T):
    optimizer = optimizer_of(T)
    rows = []
    for options in (dict(T_0=3), dict(T_0=2, T_mult=2)):
        schedule = T.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, **options)
        for i in range(30):
            schedule.step(i / 4)
            rows.append((list(schedule.get_last_lr()), schedule.T_cur, schedule.T_i))
    return rows


@run
def test_own_schedule(T):
    class Halves(T.optim.lr_scheduler.LRScheduler):
        def get_lr(self):
            return [base * 0.5**self.last_epoch for base in self.base_lrs]

    optimizer = optimizer_of(T)
    schedule = Halves(optimizer)
    for _ in range(3):
        optimizer.step()
        schedule.step()
    return schedule.get_last_lr(), schedule.last_epoch, schedule.base_lrs


@run
def test_optimizer_step_still_works(T):
    """A schedule wraps ``optimizer.step``: hooks, closures and results go through."""
    optimizer = optimizer_of(T)
    log = []
    optimizer.register_step_post_hook(lambda o, args, kwargs: log.append("hook"))
    T.optim.lr_scheduler.StepLR(optimizer, 1)
    T.optim.lr_scheduler.StepLR(optimizer, 1)
    return optimizer.step(lambda: 5), log, optimizer.step.__name__

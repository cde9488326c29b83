"""Every optimizer over a table of options: same start, same gradients, several steps, all state."""

import copy
import importlib
import io
import itertools
import pickle

import pytest

import jaxflow
import jaxflow.optim
from compat_tests.harness import Case, check, raises, rand, warns

STEPS = 5

SGD = [
    {},
    dict(momentum=0.9),
    dict(momentum=0.9, dampening=0.3),
    dict(momentum=0.9, nesterov=True),
    dict(momentum=0.9, nesterov=True, weight_decay=0.1),
    dict(weight_decay=0.1),
    dict(momentum=0.5, weight_decay=0.1, maximize=True),
    dict(foreach=True, momentum=0.9),
    dict(fused=True, momentum=0.9),
]
ADAM = [
    {},
    dict(betas=(0.5, 0.9), eps=1e-3),
    dict(weight_decay=0.1),
    dict(amsgrad=True),
    dict(amsgrad=True, weight_decay=0.1, maximize=True),
    dict(maximize=True),
    dict(foreach=True),
    dict(fused=True),
    dict(betas=(0.3, 0.0), eps=0.1),
]
TABLE = {
    "SGD": SGD,
    "Adam": [*ADAM, dict(weight_decay=0.1, decoupled_weight_decay=True)],
    "AdamW": ADAM,
    "RMSprop": [
        {},
        dict(alpha=0.5, eps=1e-3),
        dict(momentum=0.9),
        dict(centered=True),
        dict(centered=True, momentum=0.9, weight_decay=0.1),
        dict(maximize=True, weight_decay=0.1),
    ],
    "Adagrad": [
        {},
        dict(lr_decay=0.1),
        dict(initial_accumulator_value=0.3, weight_decay=0.1),
        dict(eps=1e-2, maximize=True),
    ],
    "Adadelta": [{}, dict(rho=0.5, weight_decay=0.1), dict(eps=1e-2, maximize=True)],
    "Adamax": [{}, dict(betas=(0.5, 0.9), weight_decay=0.1), dict(maximize=True, eps=1e-2)],
    "NAdam": [
        {},
        dict(momentum_decay=0.1, weight_decay=0.1),
        dict(decoupled_weight_decay=True, weight_decay=0.1),
        dict(maximize=True),
    ],
    "RAdam": [
        {},
        dict(betas=(0.9, 0.9), weight_decay=0.1),
        dict(betas=(0.9, 0.9), decoupled_weight_decay=True, weight_decay=0.1),
        dict(maximize=True),
    ],
    "ASGD": [
        {},
        dict(t0=2, lambd=0.1),
        dict(t0=0, alpha=0.5, weight_decay=0.1),
        dict(maximize=True),
    ],
    "Rprop": [{}, dict(etas=(0.3, 1.5), step_sizes=(1e-3, 0.05)), dict(maximize=True)],
}
MATRICES = {  # what treats a matrix as one; of floating point dtypes only
    "Adafactor": [
        {},
        dict(beta2_decay=-0.5, eps=(1e-3, 0.1), weight_decay=0.1),
        dict(d=1.5, maximize=True),
        dict(foreach=False),
    ],
    "Muon": [
        {},
        dict(nesterov=False, momentum=0.5),
        dict(adjust_lr_fn="match_rms_adamw", weight_decay=0.0),
        dict(ns_steps=2, ns_coefficients=(1.5, -0.5, 0.0), eps=1e-3),
    ],
}
LR = 0.05
ROWS = [(name, options, "float32") for name, rows in TABLE.items() for options in rows]
# One row with every kind of term, for each other dtype. (PyTorch's fused kernels round differently
# in half precision and refuse complex numbers.)
ROWS += [
    (name, max((row for row in rows if "fused" not in row), key=len), dtype)
    for name, rows in TABLE.items()
    for dtype in ("float64", "complex64", "bfloat16", "float16")
]
ROWS += [(name, row, "float32") for name, rows in MATRICES.items() for row in rows]
ROWS += [(name, rows[1], dtype) for name, rows in MATRICES.items() for dtype in ("float64", "bfloat16")]
# PyTorch's CPU kernels round differently in the last elements of a half-precision tensor, which do
# not fill a vector register; a size without such a rest has one answer.
SIZES = {"bfloat16": [(32,), (2, 64)], "float16": [(32,), (2, 64)]}


def trajectory(T, name, options, dtype, lr=LR):
    shapes = SIZES.get(dtype, [(5,), (2, 3), ()])
    if name in MATRICES:
        shapes = [(4, 6), (6, 4)] if name == "Muon" else [*shapes, (2, 4, 8)]
    params = [rand(T, *shape, dtype=dtype, requires_grad=True) for shape in shapes]
    optimizer = getattr(T.optim, name)(params, lr=lr, **options)
    seen = []
    for step in range(STEPS):
        for param in params:
            param.grad = rand(T, *param.shape, dtype=dtype)
        if step == 2:
            params[0].grad = None
        optimizer.step()
        seen.append([param.detach().clone() for param in params])
    return seen, optimizer.state_dict()


def name_of(value):
    if isinstance(value, dict):
        return ",".join(f"{k}={v}" for k, v in value.items()) or "default"
    return str(value)


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("name, options, dtype", ROWS, ids=name_of)
def test_trajectory(name, options, dtype):
    check(Case("trajectory", lambda T: trajectory(T, name, options, dtype)), jaxflow)


def run(function):
    """Check ``function(T)`` under both executors."""

    @pytest.mark.usefixtures("executor")
    def test():
        check(Case(function.__name__, function), jaxflow)

    return test


def params_of(T, *shapes):
    return [rand(T, *shape, requires_grad=True) for shape in shapes]


def give_grads(T, params):
    for param in params:
        param.grad = rand(T, *param.shape)


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("name", TABLE)
def test_tensor_lr(name):
    def case(T):
        rate = T.tensor(0.05)
        params = params_of(T, (4,))
        optimizer = getattr(T.optim, name)(params, lr=rate)
        for _ in range(3):
            give_grads(T, params)
            optimizer.step()
            rate.mul_(0.5)
        return params, optimizer.param_groups[0]["lr"]

    check(Case("tensor lr", case), jaxflow)


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("name", ["Adam", "AdamW"])
def test_tensor_betas(name):
    def case(T):
        params = params_of(T, (4,))
        betas = (T.tensor(0.8), T.tensor([0.9]))
        optimizer = getattr(T.optim, name)(params, lr=T.tensor([0.1]), betas=betas)
        for _ in range(3):
            give_grads(T, params)
            optimizer.step()
        return params, optimizer.param_groups[0]["betas"]

    check(Case("tensor betas", case), jaxflow)


@run
def test_groups_with_options_of_their_own(T):
    a, b, c = params_of(T, (2,), (3,), (4,))
    optimizer = T.optim.AdamW(
        [{"params": [a], "lr": 0.5}, {"params": b, "weight_decay": 0.0, "amsgrad": True}],
        lr=0.01,
    )
    for step in range(3):
        if step == 1:
            optimizer.add_param_group({"params": [c], "betas": (0.5, 0.6)})
        give_grads(T, [a, b, c])
        optimizer.step()
    return a, b, c, optimizer.state_dict()


@run
def test_named_parameters(T):
    a, b = params_of(T, (2,), (3,))
    optimizer = T.optim.SGD([("a", a), ("b", b)], lr=0.1, momentum=0.9)
    give_grads(T, [a, b])
    optimizer.step()
    return optimizer.state_dict(), repr(optimizer)


@run
def test_repr(T):
    return [
        repr(T.optim.SGD(params_of(T, (2,)), lr=0.1)),
        repr(T.optim.Adam([{"params": params_of(T, (2,))}, {"params": params_of(T, (1,))}])),
        repr(T.optim.Rprop(params_of(T, (2,)))),
    ]


@run
def test_duplicate_parameters_are_updated_twice(T):
    (p,) = params_of(T, (3,))
    optimizer, warned = warns(lambda: T.optim.SGD([p, p], lr=0.1, momentum=0.9))
    for _ in range(2):
        give_grads(T, [p])
        optimizer.step()
    return p, warned, optimizer.state_dict()


@run
def test_closure(T):
    (p,) = params_of(T, (3,))
    optimizer = T.optim.SGD([p], lr=0.1)

    def closure():
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with T.no_grad():
        return [optimizer.step(closure).detach() for _ in range(3)], p


@run
def test_zero_grad(T):
    a, b = params_of(T, (2,), (3,))
    optimizer = T.optim.SGD([a, b])
    a.grad = rand(T, 2)
    kept = a.grad
    optimizer.zero_grad(set_to_none=False)
    zeros = a.grad.clone()
    same = a.grad is kept
    optimizer.zero_grad()
    return zeros, same, a.grad, b.grad


@run
def test_zero_grad_detaches(T):
    (a,) = params_of(T, (2,))
    optimizer = T.optim.SGD([a])
    (a * a).sum().backward(create_graph=True)
    before = a.grad.requires_grad
    optimizer.zero_grad(set_to_none=False)
    return before, a.grad.requires_grad, a.grad


@run
def test_versions_and_identity(T):
    (p,) = params_of(T, (3,))
    optimizer = T.optim.AdamW([p])
    # Where its bytes lie changes with a write: NOTE [Addresses].
    storage, view = p.untyped_storage()._cdata, p.detach()[1:]
    give_grads(T, [p])
    optimizer.step()
    state = optimizer.state[p]
    first = state["exp_avg"]
    give_grads(T, [p])
    optimizer.step()
    return (
        p.untyped_storage()._cdata == storage,
        view,
        state["exp_avg"] is first,
        p.grad_fn is None,
        p.is_leaf,
        state["step"],
        list(state),
    )


@run
def test_state_dict_round_trip(T):
    results = []
    for name in TABLE:
        a, b = params_of(T, (2, 2), (3,))
        first = getattr(T.optim, name)([a, b], lr=0.1)
        give_grads(T, [a, b])
        first.step()
        c, d = a.detach().clone().requires_grad_(), b.detach().clone().requires_grad_()
        second = getattr(T.optim, name)([c, d], lr=0.7)
        second.load_state_dict(copy.deepcopy(first.state_dict()))
        for optimizer, params in ((first, [a, b]), (second, [c, d])):
            for i, param in enumerate(params):
                param.grad = T.ones_like(param) * (i + 1)
            optimizer.step()
        results.append((T.equal(a, c), T.equal(b, d), second.state_dict()))
    return results


@run
def test_load_casts_state_to_the_parameter(T):
    (a,) = params_of(T, (2,))
    first = T.optim.Adam([a])
    give_grads(T, [a])
    first.step()
    b = rand(T, 2, dtype="float64", requires_grad=True)
    second = T.optim.Adam([b])
    second.load_state_dict(first.state_dict())
    return second.state_dict()


@run
def test_load_of_numbers_for_steps(T):
    (a,) = params_of(T, (2,))
    optimizer = T.optim.Adam([a])
    give_grads(T, [a])
    optimizer.step()
    state = copy.deepcopy(optimizer.state_dict())
    state["state"][0]["step"] = 1
    for option in ("foreach", "maximize", "capturable", "fused", "differentiable"):
        del state["param_groups"][0][option]
    optimizer.load_state_dict(state)
    give_grads(T, [a])
    optimizer.step()
    return a, optimizer.state_dict()


@run
def test_pickle_and_deepcopy(T):
    a, b = params_of(T, (2,), (3,))
    optimizer = T.optim.AdamW([a, b], lr=0.1)
    give_grads(T, [a, b])
    optimizer.step()
    out = []
    for other in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
        params = other.param_groups[0]["params"]
        for i, param in enumerate(params):
            param.grad = T.ones_like(param) * (i + 1)
        other.step()
        out.append([param.detach() for param in params])
    return out, a, b


@run
def test_hooks(T):
    (p,) = params_of(T, (2,))
    log = []
    optimizer = T.optim.SGD([p], lr=0.1)
    handles = [
        optimizer.register_step_pre_hook(lambda o, args, kwargs: log.append(("pre", len(args)))),
        optimizer.register_step_post_hook(lambda o, args, kwargs: log.append(("post", len(args)))),
        optimizer.register_state_dict_pre_hook(lambda o: log.append("saving")),
        optimizer.register_state_dict_post_hook(lambda o, d: {**d, "more": 1}),
        optimizer.register_state_dict_post_hook(lambda o, d: log.append(sorted(d)), prepend=True),
        optimizer.register_load_state_dict_pre_hook(
            lambda o, d: {**d, "param_groups": [{**d["param_groups"][0], "lr": 9.0}]}
        ),
        optimizer.register_load_state_dict_post_hook(lambda o: log.append("loaded")),
    ]
    give_grads(T, [p])
    optimizer.step()
    state = optimizer.state_dict()
    optimizer.load_state_dict(state)
    rate = optimizer.param_groups[0]["lr"]
    for handle in handles:
        handle.remove()
    optimizer.step()
    return log, rate, sorted(state), p


@run
def test_global_hooks(T):
    (p,) = params_of(T, (2,))
    log = []
    module = importlib.import_module(T.__name__ + ".optim.optimizer")
    handles = [
        module.register_optimizer_step_pre_hook(lambda o, a, k: log.append("before all")),
        module.register_optimizer_step_post_hook(lambda o, a, k: log.append("after all")),
    ]
    optimizer = T.optim.Adam([p])
    optimizer.register_step_pre_hook(lambda o, a, k: log.append("before"))
    optimizer.register_step_post_hook(lambda o, a, k: log.append("after"))
    optimizer.step()
    for handle in handles:
        handle.remove()
    optimizer.step()
    return log


@run
def test_pre_hook_changes_arguments(T):
    (p,) = params_of(T, (2,))
    optimizer = T.optim.SGD([p])
    optimizer.register_step_pre_hook(lambda o, args, kwargs: ((o, lambda: 7), {}))
    return optimizer.step()


@run
def test_own_optimizer(T):
    class Signs(T.optim.Optimizer):
        def __init__(self, params, lr):
            super().__init__(params, dict(lr=lr))

        @T.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    state = self.state[p]
                    state["count"] = state.get("count", 0) + 1
                    p.add_(p.grad.sign(), alpha=-group["lr"])

    log = []
    (p,) = params_of(T, (3,))
    optimizer = Signs([p], 0.1)
    optimizer.register_step_post_hook(lambda o, a, k: log.append("stepped"))
    give_grads(T, [p])
    optimizer.step()
    return p, log, optimizer.state_dict(), repr(optimizer)


@run
def test_differentiable(T):
    p = rand(T, 3, requires_grad=True)
    rate = T.tensor(0.1, requires_grad=True)
    weight = p.clone()
    optimizer = T.optim.SGD([weight], lr=rate, weight_decay=0.1, differentiable=True)
    for _ in range(2):
        weight.grad = rand(T, 3)
        optimizer.step()
    (weight * rand(T, 3)).sum().backward()
    return weight.detach(), p.grad, rate.grad


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "Adadelta", "NAdam", "ASGD"])
def test_differentiable_through_the_gradient(name):
    """Two steps whose gradients are functions of the start: what meta-learning differentiates."""

    def case(T):
        p = rand(T, 3, requires_grad=True)
        weight, scale = p.clone(), rand(T, 3)
        optimizer = getattr(T.optim, name)([weight], lr=0.1, differentiable=True)
        for _ in range(2):
            weight.grad = p * p * scale + 1
            optimizer.step()
        (weight * scale).sum().backward()
        return weight.detach(), p.grad

    check(Case("differentiable", case), jaxflow)


@run
def test_constructor_errors(T):
    p = params_of(T, (2,))
    make = {name: getattr(T.optim, name) for name in TABLE}
    wrong = [
        *itertools.product(TABLE, [dict(lr=-1.0)]),
        *itertools.product(TABLE, [dict(lr=T.ones(2))]),
        *itertools.product([n for n in TABLE if n != "Rprop"], [dict(weight_decay=-1)]),
        *itertools.product(
            ["Adam", "AdamW", "Adamax", "NAdam", "RAdam"],
            [dict(betas=(-0.1, 0.9)), dict(betas=(0.9, 1.0)), dict(eps=-1.0)],
        ),
        ("SGD", dict(momentum=-1.0)),
        ("SGD", dict(nesterov=True)),
        ("SGD", dict(nesterov=True, momentum=0.9, dampening=0.1)),
        ("SGD", dict(fused=True, foreach=True)),
        ("SGD", dict(fused=True, differentiable=True)),
        ("Adam", dict(fused=True, foreach=True)),
        ("Adam", dict(betas=(0.9, T.tensor(0.9)))),
        ("Adam", dict(betas=(T.tensor(0.5), T.tensor(0.9)), foreach=True)),
        ("Adam", dict(lr=T.tensor(0.1), foreach=True)),
        ("RMSprop", dict(alpha=-1.0)),
        ("RMSprop", dict(momentum=-1.0)),
        ("RMSprop", dict(eps=-1.0)),
        ("Adagrad", dict(lr_decay=-1.0)),
        ("Adagrad", dict(initial_accumulator_value=-1.0)),
        ("Adagrad", dict(eps=-1.0)),
        ("Adadelta", dict(rho=1.5)),
        ("Adadelta", dict(eps=-1.0)),
        ("NAdam", dict(momentum_decay=-1.0)),
        ("Rprop", dict(etas=(1.5, 0.5))),
    ]
    return [raises(lambda n=n, o=o: make[n](p, **o)) for n, o in wrong]


@run
def test_fused_refuses_complex_parameters(T):
    p = rand(T, 3, dtype="complex64", requires_grad=True)
    optimizer = T.optim.SGD([p], fused=True)
    p.grad = rand(T, 3, dtype="complex64")
    return raises(
        optimizer.step,
        phrase="`fused=True` requires all the params to be floating point Tensors of supported",
        because="the message lists PyTorch's back ends",
    )


@run
def test_parameter_errors(T):
    a, b = params_of(T, (2,), (3,))
    make = T.optim.SGD
    optimizer = make([a])
    return [
        raises(lambda: make(a)),
        raises(lambda: make([])),
        raises(lambda: make([1.0])),
        raises(lambda: make(["x"])),
        raises(lambda: make([a * 2])),
        raises(lambda: make([{"params": {a, b}}])),
        raises(lambda: make([{"params": [a]}, {"params": [a, b]}])),
        raises(lambda: make([("a", a), b])),
        raises(lambda: optimizer.add_param_group([b])),
        raises(lambda: optimizer.add_param_group({"params": [a]})),
        raises(lambda: optimizer.add_param_group({"params": [("b", b)]})),
        raises(lambda: optimizer.add_param_group({})),
        len(optimizer.param_groups),
    ]


@run
def test_required_option(T):
    required = importlib.import_module(T.__name__ + ".optim.optimizer").required

    class Own(T.optim.Optimizer):
        def step(self, closure=None):
            pass

    (a,) = params_of(T, (2,))
    good = Own([{"params": [a], "lr": 1.0}], dict(lr=required))
    return raises(lambda: Own([a], dict(lr=required))), good.param_groups[0]["lr"]


@run
def test_load_errors_change_nothing(T):
    a, b = params_of(T, (2,), (3,))
    optimizer = T.optim.Adam([a, b])
    give_grads(T, [a, b])
    optimizer.step()
    state = optimizer.state_dict()
    groups = state["param_groups"]
    return (
        raises(lambda: optimizer.load_state_dict({**state, "param_groups": groups * 2})),
        raises(
            lambda: optimizer.load_state_dict(
                {**state, "param_groups": [{**groups[0], "params": [0]}]}
            )
        ),
        raises(lambda: optimizer.load_state_dict({"state": {}})),
        optimizer.state_dict(),
    )


@run
def test_channels_last_parameter(T):
    p = rand(T, 2, 3, 4, 5).to(memory_format=T.channels_last).requires_grad_()
    optimizer = T.optim.Adam([p], lr=0.1)
    for _ in range(2):
        p.grad = rand(T, 2, 3, 4, 5)
        optimizer.step()
    return p, optimizer.state_dict()["state"]


def test_state_dict_goes_through_a_buffer():
    """What a state_dict holds is what a checkpoint of it gives back."""
    p = jaxflow.ones(3, requires_grad=True)
    optimizer = jaxflow.optim.AdamW([p])
    p.grad = jaxflow.ones(3)
    optimizer.step()
    file = io.BytesIO()
    jaxflow.save(optimizer.state_dict(), file)
    file.seek(0)
    state = jaxflow.load(file)
    assert jaxflow.equal(state["state"][0]["exp_avg"], optimizer.state[p]["exp_avg"])

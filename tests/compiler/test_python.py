"""What Python does besides computing: it is not lost, explained, and refused under ``fullgraph``."""

import collections
import copy
import functools
import gc
import itertools
import random
import re
import time

import jax
import numpy as np
import pytest

import jaxflow as torch
from jaxflow import nn
from jaxflow._core.graph import Node
from jaxflow._core.value import Storage, Value

ONES = torch.ones(2)
EFFECTS = []


def effect(reason):
    """A function of a compiler that returns plain values, and what ``explain`` says of it."""

    def add(fn):
        EFFECTS.append(pytest.param(fn, reason, id=fn.__name__))
        return fn

    return add


def called(f, times=6):
    return [f(ONES * i).tolist() for i in range(times)]


@effect(r"the length of .*seen from \d to \d")
def a_list_grows(compiler):
    seen = []
    f = compiler(lambda x: seen.append(x * 2) or x + len(seen))
    return called(f, 8), [x.tolist() for x in seen]


@effect(r"it changes .*count from 2 to 3 \(.*test_python.py:\d+\)")
def a_counter_of_a_class_that_does_more(compiler):
    class Kind(type):
        def __setattr__(cls, name, x):
            super().__setattr__(name, x)

    class Counted(metaclass=Kind):
        count = 0

    @compiler
    def f(x):
        Counted.count += 1
        return x * Counted.count

    return called(f), Counted.count


@effect(r"print\(\) is called at .*test_python.py:\d+")
def a_print(compiler):
    return called(compiler(lambda x: print("now") or x + 1))


@effect(r"Random.random\(\) is called at .*test_python.py")
def random_numbers_of_python(compiler):
    random.seed(0)
    return called(compiler(lambda x: x * random.random()))


@effect(r"perf_counter_ns\(\) is called at")
def the_time(compiler):
    f = compiler(lambda x: (x, time.perf_counter_ns()))
    stamps = [f(ONES)[1] for _ in range(5)]
    return len(set(stamps)) == 5


@effect(r"an? ndarray, which cannot be guarded")
def an_array_of_numpy(compiler):
    array = np.zeros(2, np.float32)
    f = compiler(lambda x: x + torch.from_numpy(array))
    out = []
    for i in range(5):
        array[:] = i
        out.append(f(ONES).tolist())
    return out


@effect(r"an? ndarray, which cannot be guarded")
def an_array_of_numpy_as_argument(compiler):
    array = np.zeros(2, np.float32)
    f = compiler(lambda a: torch.from_numpy(a) + 1)
    out = []
    for i in range(5):
        array[:] = i
        out.append(f(array).tolist())
    return out


@effect(r"a count, which cannot be guarded|next\(\) is called at")
def an_iterator(compiler):
    numbers = itertools.count()
    f = compiler(lambda x: x + next(numbers))
    return called(f)


@effect(r"a number of a tensor is needed at .*test_python.py:\d+")
def a_number_as_text(compiler):
    f = compiler(lambda x: x + len(f"{x.sum().item()}"))
    return called(f)


@effect(r"a number of a tensor is needed at .*test_python.py:\d+")
def all_numbers_of_a_tensor(compiler):
    f = compiler(lambda x: (x + 1).tolist())
    return [f(ONES * i) for i in range(5)]


@effect(r"a number of a tensor is needed at .*test_python.py:\d+")
def a_whole_number_of_an_argument(compiler):
    f = compiler(lambda x: x * int(x[0].item()))
    return called(f)


@effect(r"a number of a tensor is needed at .*test_python.py:\d+")
def a_loss_as_a_float_before_the_update(compiler):
    weight = torch.ones(2, requires_grad=True)
    opt = torch.optim.SGD([weight], lr=0.1)

    @compiler
    def step(x):
        opt.zero_grad()
        loss = (weight * x).sum()
        loss.backward()
        if float(loss.detach()) > 0:
            opt.step()
        return weight.detach().clone()

    return called(step)


@effect(r"changes a container or an object among its arguments")
def an_argument_that_grows(compiler):
    f = compiler(lambda x, held: held.append(x) or x + 1)
    out = []
    for i in range(5):
        held = []
        f(ONES * i, held)
        out.append([x.tolist() for x in held])
    return out


@effect(r"an object of type Box")
def a_result_that_does_more_when_it_goes(compiler):
    class Box:
        def __init__(self, x):
            self.x = x

        def __del__(self):
            self.x = None

    f = compiler(lambda x: Box(x + 1))
    return [f(ONES * i).x.tolist() for i in range(5)]


@effect(r"ReduceLROnPlateau|a number of a tensor is needed")
def a_schedule_that_looks_at_the_loss(compiler):
    weight = torch.ones(2, requires_grad=True)
    opt = torch.optim.SGD([weight], lr=0.1)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=0)

    @compiler
    def step(x):
        opt.zero_grad()
        loss = (weight * x).pow(2).sum()
        loss.backward()
        opt.step()
        schedule.step(loss.detach() * 0 + 1)
        return loss

    return called(step), opt.param_groups[0]["lr"]


@effect(r"it changes|it asks a generator for its seed")
def rates_read_by_hand(compiler):
    weight = torch.ones(2, requires_grad=True)
    opt = torch.optim.SGD([weight], lr=0.5)

    @compiler
    def step(x):
        opt.param_groups[0]["lr"] *= 0.5
        return x * opt.param_groups[0]["lr"] + torch.initial_seed()

    return called(step)


@pytest.mark.parametrize(("make", "reason"), EFFECTS)
def test_effects_are_kept_and_explained(make, reason, deferred, capsys):
    expected, printed = make(lambda f: f), capsys.readouterr().out
    functions = []
    found = make(lambda f: functions.append(torch.compile(f)) or functions[-1])
    assert (found, capsys.readouterr().out) == (expected, printed)
    report = functions[0].explain()
    assert report["hits"] == 0
    assert any(re.search(reason, said) for said in report["python"]), report
    assert not any("in a way of its own" in said for said in report["python"]), report


@pytest.mark.parametrize(("make", "reason"), EFFECTS)
def test_fullgraph_refuses_them(make, reason, deferred):
    with pytest.raises(torch.compiler.Unsupported, match="fullgraph=True, but"):
        make(lambda f: torch.compile(f, fullgraph=True))
    assert issubclass(torch.compiler.Unsupported, RuntimeError)


def state_of(model, opt):
    params = list(model.parameters())
    tensors = [*params, *model.buffers(), *(s for v in opt.state.values() for s in v.values())]
    values, versions = [t.detach().numpy().copy() for t in tensors], [t._version for t in tensors]
    return values, versions, [p.grad for p in params], torch.get_rng_state().tolist()


@pytest.mark.parametrize("fullgraph", [False, True])
def test_an_exception_leaves_what_was_done_before_it(fullgraph, deferred):
    """As without ``compile``: the failed calls have trained the model, drawn numbers, kept tensors."""

    def trained(compiler):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.Dropout(0.5)).double()
        model.last = torch.zeros((), dtype=torch.float64)
        opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)

        @compiler
        def step(x, width):
            opt.zero_grad()
            loss = model(x).pow(2).sum()
            loss.backward()
            model.last = model.last + loss.detach()
            opt.step()
            return x.reshape(width)

        x, shown = torch.randn(3, 2, dtype=torch.float64), []

        def look():
            values, versions, grads, seed = state_of(model, opt)
            shown.append((values + [g.numpy().copy() for g in grads], versions, seed, model.last.item()))

        for _ in range(3):
            step(x, 6)
        for _ in range(2):
            with pytest.raises(RuntimeError, match="invalid"):
                step(x, 5)
            look()
        before = step.explain()["hits"] if compiler is not plain else 0
        step(x, 6)
        look()
        assert compiler is plain or step.explain()["hits"] == before + 1
        return shown

    def plain(f):
        return f

    found = trained(functools.partial(torch.compile, fullgraph=fullgraph))
    for (a, *rest), (b, *expected) in zip(found, trained(plain), strict=True):
        for x, y in zip(a, b, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12)
        assert rest[:2] == expected[:2] and rest[2] == pytest.approx(expected[2], rel=1e-9)


def test_explain_prints(deferred):
    torch.compiler.reset()
    f = torch.compile(lambda x, k: x * k, name="scaled")
    for k in (1, 1, 2, 2):
        f(ONES, k)
    text, line = str(torch.compiler.explain()), "scaled: 4 calls, 2 of them compiled, by 2 specialisation(s)"
    assert line in text
    assert "a call missed: argument 1 was 1 and is 2" in text
    assert line in str(torch.explain())  # functions of other tests may be gone by now


def test_the_interface(deferred):
    compiled = torch.compile(lambda x: torch.compiler.is_compiling(), name="asks")
    assert compiled(ONES) is True and not torch.compiler.is_compiling()

    @torch.compiler.disable
    def outside(x):
        return x.sum().item(), torch.compiler.is_compiling()

    def calls_it(x):
        return outside(x)

    refused = torch.compile(calls_it, fullgraph=True)
    with pytest.raises(torch.compiler.Unsupported, match=r"calls .*outside\(\)"):
        refused(ONES)
    assert torch.compile(calls_it)(ONES)[0] == 2.0
    f = torch.compile(lambda x: x + 1)
    with torch.compiler.set_stance("force_eager"):
        f(ONES)
    assert f.explain()["hits"] == 0 and f.explain()["skipped"] == 1
    with torch.compiler.set_stance("fail_on_recompile"):
        with pytest.raises(RuntimeError, match="compiled anew"):
            f(ONES)
    for bad, message in (
        ({"mode": "a", "options": {}}, "Either mode or options"),
        ({"mode": "nope"}, "Unrecognized mode=nope"),
        ({"backend": "nope"}, "Invalid backend: 'nope'"), ({"backend": print}, "a callable as backend="),
    ):
        with pytest.raises(RuntimeError, match=message):
            torch.compile(lambda x: x, **bad)
    with pytest.raises(AssertionError, match="A callable function is expected"):
        torch.compile(5)
    same = collections.OrderedDict
    assert torch.compile(same, disable=True) is same
    assert "inductor" in torch.compiler.list_backends()


def test_modules(deferred):
    model = nn.Linear(2, 2)
    wrapped = torch.compile(model)
    assert list(wrapped.state_dict()) == ["_orig_mod.weight", "_orig_mod.bias"]
    assert wrapped.weight is model.weight and wrapped._orig_mod is model
    wrapped.eval()
    wrapped.note = 3
    assert not model.training and model.note == 3
    expected = model(ONES).tolist()
    with torch.no_grad():
        assert [wrapped(ONES).tolist() for _ in range(3)] == [expected] * 3
    other = copy.deepcopy(wrapped)
    with torch.no_grad():
        other.weight.zero_()
        assert wrapped(ONES).tolist() == expected != other(ONES).tolist()
    model.compile(fullgraph=True)
    with torch.no_grad():
        assert [model(ONES).tolist() for _ in range(3)] == [expected] * 3
    assert model._compiled_call_impl.explain()["hits"] == 2
    copied = copy.deepcopy(model)
    assert copied._compiled_call_impl is None and copied(ONES).tolist() == expected


def test_inside_a_transformation_of_jax_python_runs_and_afterwards_it_does_not(deferred):
    f = torch.compile(lambda x: x * 2)
    for _ in range(2):
        f(ONES)
    slopes = torch.func.grad(lambda x: f(x).sum())(ONES)
    traced = jax.jit(lambda a: torch.from_jax(a).mul(1).jax() + f(torch.from_jax(a)).jax())(jax.numpy.ones(2))
    assert slopes.tolist() == [2, 2] and traced.tolist() == [3, 3]
    assert f(ONES).tolist() == [2, 2]
    assert (f.explain()["hits"], f.explain()["skipped"]) == (2, 2)


def test_what_the_collector_was_told_to_forget_is_read_all_the_same(deferred):
    weight = torch.full((2,), 3.0)

    @torch.compile
    def f(x):
        weight.mul_(2)
        return x * weight

    gc.collect()
    gc.freeze()
    try:
        assert [f(torch.ones(2))[0].item() for _ in range(3)] == [6.0, 12.0, 24.0]
    finally:
        gc.unfreeze()
    assert f(torch.ones(2))[0].item() == 48.0


@pytest.mark.parametrize("kind", [torch.Tensor, torch.Generator, torch.optim.SGD, Storage, Value, Node],
                         ids=lambda kind: kind.__name__)
def test_what_an_interrupt_left_half_made_is_in_nobodys_way(kind, executor):
    left = kind.__new__(kind)  # as a traceback holds it, whose constructor was interrupted
    f = torch.compile(lambda x: x * 2, fullgraph=True)
    assert called(f, 3) == [[0, 0], [2, 2], [4, 4]]
    assert f.explain()["hits"] == 2
    del left


def test_code_without_a_module_is_watched_like_any_other(deferred):
    space = {"torch": torch, "random": random}
    exec("def f(x):\n    return x * random.random()", space)
    del space["__builtins__"]
    f = torch.compile(space["f"])
    assert len({f(torch.ones(1)).item() for _ in range(5)}) == 5


def test_a_generator_whose_seed_left_a_jax_function(deferred):
    """It lives on, unusable, and a capture that a number ends does not touch it."""
    kept = []

    @jax.jit
    def inside(key):
        kept.append(torch.Generator.from_key(key))
        return key

    inside(jax.random.key(0))
    shown = []

    @torch.compile
    def f(x):
        shown.append((x * 2).sum().item())
        return x + torch.rand(2)

    def called(f):
        torch.manual_seed(0)
        return [f(ONES).tolist() for _ in range(3)]

    assert called(f) == called(f.fn) and shown == [4.0] * 6


def test_what_new_sizes_make_of_an_operation_is_no_code_of_the_users(deferred):
    """Functions of sizes are made while it runs: the first call knows all of the user's code."""
    x = torch.ones(23, 7)

    @torch.compile
    def f():
        return sum(x[:n].cumsum(0).flatten().logsumexp(0) for n in range(3, 23, 2))

    assert f().item() == pytest.approx(f.fn().item(), rel=1e-5)
    assert not any("<string>" in reason for reason in f.explain()["warm_up"])

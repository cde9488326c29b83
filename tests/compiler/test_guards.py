"""Every guard has a case where missing it would give a wrong number; without it, the test sees that."""

import types

import numpy as np
import pytest

import jaxflow as torch
from jaxflow import nn
from jaxflow.compiler import (
    _arguments,
    _first_call,
    _function,
    _guard,
    _outlines,
    _python_guards,
    _rows,
    _specialisation,
)

CASES = []


def case(*without):
    """A function of a compiler; ``without``, rows (owner, name, value), switches its guard off."""

    def add(fn):
        CASES.append(pytest.param(fn, without, id=fn.__name__))
        return fn

    return add


def holds(self):
    return True


PYTHON = (_guard.Guard, "holds", holds)
ONES = torch.ones(2)


@case(PYTHON)
def a_closure_variable(compiler):
    scale = 2.0
    f = compiler(lambda x: x * scale)
    out = [f(ONES), f(ONES)]
    scale = 3.0
    return [*out, f(ONES)]


SCALE = {"by": 2.0}


@case(PYTHON)
def an_entry_of_a_global(compiler):
    SCALE["by"] = 2.0

    @compiler
    def f(x):
        return x * SCALE["by"]

    out = [f(ONES), f(ONES)]
    SCALE["by"] = 3.0
    return [*out, f(ONES)]


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.power = 1

    def forward(self, x):
        return x * self.weight + self.power if self.training else x - self.power


def layer_after(change):
    def run(compiler):
        layer = Layer()
        f = compiler(layer)
        with torch.no_grad():
            out = [f(ONES), f(ONES)]
            change(layer)
            return [*out, f(ONES)]

    return run


def replace_parameter(layer):
    layer.weight = nn.Parameter(torch.full((2,), 5.0))


def replace_data(layer):
    layer.weight.data = torch.full((2,), 7.0)


def add_hook(layer):
    layer.register_forward_hook(lambda module, args, out: out * 10)


def change_power(layer):
    layer.power = 4


for change, guard in (
    (Layer.eval, PYTHON), (replace_parameter, PYTHON), (add_hook, PYTHON), (change_power, PYTHON),
    (replace_data, (_outlines, "tensor", lambda t: t._aval)),
):
    fn = layer_after(change)
    fn.__name__ = f"module_after_{change.__name__}"
    case(guard)(fn)


@case(PYTHON)
def a_method_replaced_on_its_class(compiler):
    class Local(nn.Module):
        def forward(self, x):
            return x + 1

    f = compiler(Local())
    out = [f(ONES), f(ONES)]
    Local.forward = lambda self, x: x - 1
    return [*out, f(ONES)]


@case((_arguments, "same", lambda a, b: True))
def a_number_as_argument(compiler):
    f = compiler(lambda x, k, mode="plus": x * k if mode == "plus" else x - k)
    return [f(ONES, 2), f(ONES, 2), f(ONES, 3), f(ONES, 3.5), f(ONES, 2, mode="minus"), f(ONES, True)]


@case((_arguments, "meta", lambda t: None))
def what_an_argument_is_like(compiler):
    f = compiler(lambda x: x.detach() * (3 if x.requires_grad else 2))
    return [f(ONES), f(ONES), f(torch.ones(2, requires_grad=True))]


@case((_arguments.Arguments, "_sharing", lambda self, tensors: list(range(len(tensors)))), (
    _arguments.Arguments, "apart", property(lambda self: False, lambda self, value: None)
))
def arguments_that_share_memory(compiler):
    @compiler
    def f(x, y):
        x.add_(1)
        return x * y

    a, b = torch.ones(2), torch.ones(2)
    return [f(a, b), f(a, b), f(a, a), f(a, a), a, b]


@case((_arguments.Arguments, "_views_match", lambda self, tensors: True))
def which_part_of_its_base_a_written_view_is(compiler):
    data = torch.zeros(4, 2)

    @compiler
    def f(x):
        x.add_(1)
        return x.sum()

    return [*[f(data[i]) for i in range(4)], data]


@case((_arguments, "_view_outline", lambda t: t._view is not None))
def whether_a_view_is_a_conjugate(compiler):
    data = torch.tensor([1 + 2j, 3j])
    f = compiler(lambda x: x * 2 if x.is_conj() else x * 3)
    g = compiler(lambda x: x + x.conj().imag.is_neg())
    return [run(x) for x in (data.conj(), data.conj(), data[:], data._neg_view()) for run in (f, g)]


@case((_specialisation.Specialisation, "_grads_fit", lambda self, tensors: True))
def whether_there_is_a_grad(compiler):
    weight = torch.ones(2, requires_grad=True)

    @compiler
    def f(x):
        (weight * x).sum().backward()
        return weight.grad.detach().clone()

    out = [f(ONES)]
    weight.grad = None
    out += [f(ONES), f(ONES)]
    return [*out, f(ONES)]


@case((_specialisation.Specialisation, "_grads_fit", lambda self, tensors: True))
def whose_memory_a_grad_is(compiler):
    weight, buffer = torch.ones(2, requires_grad=True), torch.zeros(2)

    @compiler
    def f(x):
        (weight * x).sum().backward()
        return weight.grad + buffer

    weight.grad = buffer
    out = [f(ONES), f(ONES), buffer.clone()]
    weight.grad = torch.full((2,), 5.0)
    return [*out, f(ONES), f(ONES), weight.grad, buffer, f(weight.grad), weight.grad]


def descent(compiler):
    weight = torch.ones(2, requires_grad=True)
    opt = torch.optim.SGD([weight], lr=0.5)

    @compiler
    def step(x):
        opt.zero_grad()
        (weight * x).sum().backward()
        opt.step()

    return weight, opt, step


@case((_specialisation.Specialisation, "_numbers_fit", lambda self, which: True))
def a_learning_rate(compiler):
    weight, opt, f = descent(compiler)
    out = []
    for rate in (0.5, 0.5, 0.25, 0.125):
        opt.param_groups[0]["lr"] = rate
        f(ONES)
        out.append(weight.detach().clone())
    return out


@case((_specialisation.Specialisation, "_numbers_fit", lambda self, which: True))
def options_of_an_optimizer(compiler):
    weight, opt, f = descent(compiler)
    for i in range(4):
        opt.param_groups[0]["maximize"] = i == 3
        f(ONES)
    return [weight]


@case((_function, "modes", lambda: ()))
def grad_mode(compiler):
    weight = torch.ones(2, requires_grad=True)

    @compiler
    def f(x):
        return (x + 1 if torch.is_grad_enabled() else x - 1).clone()

    out = [f(ONES), f(ONES)]
    with torch.no_grad():
        return [*out, f(ONES), weight]


@case((_specialisation.Specialisation, "drawn", property(lambda self: [], lambda self, value: None)))
def the_next_random_numbers(compiler):
    generator = torch.Generator(stream="counter")
    f = compiler(lambda x: x + torch.rand(2, generator=generator))
    return [f(ONES) for _ in range(4)]


def numbers(out):
    return [x.detach().numpy().copy() for x in out]


def run(make, compiler):
    torch.manual_seed(0)
    return numbers(make(compiler))


def same(a, b):
    return all(x.dtype == y.dtype and np.array_equal(x, y) for x, y in zip(a, b, strict=True))


KEYS = (_guard, "_has_names", lambda row: False)


@case(KEYS)
def the_keys_of_a_dict(compiler):
    weights = {"sum": 2.0}
    f = compiler(lambda x: x.sum() * weights["sum"] if "sum" in weights else x.mean() * weights["mean"])
    out = [f(ONES), f(ONES)]
    weights["mean"] = weights.pop("sum")
    return [*out, f(ONES)]


@case(KEYS)
def the_order_of_a_dict(compiler):
    one = {"a": nn.ReLU(), "b": nn.ReLU()}
    one["b"] = one["a"]
    f = compiler(lambda x: x * 2.0 if list(one)[0] == "a" else x * 3.0)
    out = [f(ONES), f(ONES)]
    one["a"] = one.pop("a")
    return [*out, f(ONES)]


@case(KEYS)
def an_entry_of_a_module_dict_is_renamed(compiler):
    parts = nn.ModuleDict({"first": nn.Identity()})
    f = compiler(lambda x: parts["first"](x) + 1.0 if "first" in parts else x * 3.0)
    out = [f(ONES), f(ONES)]
    parts["second"] = parts.pop("first")
    return [*out, f(ONES)]


@case(KEYS)
def an_attribute_takes_another_name(compiler):
    class Options:
        pass

    o = Options()
    o.double = True
    f = compiler(lambda x: x * 2.0 if hasattr(o, "double") else x)
    out = [f(ONES), f(ONES)]
    del o.double
    o.single = True
    return [*out, f(ONES)]


@case((_python_guards.Reach, "_attributes", lambda self, x, shown, name: None))
def an_attribute_of_a_tensor(compiler):
    scale = torch.ones(2)
    f = compiler(lambda x: x * scale * getattr(scale, "by", 2.0))
    out = [f(ONES), f(ONES)]
    scale.by = 3.0
    return [*out, f(ONES), f(ONES)]


@case((_arguments, "_attributes_of", lambda t: None))
def an_attribute_of_an_argument(compiler):
    f = compiler(lambda x: x * getattr(x, "by", 2.0))
    with_attribute = torch.ones(2)
    with_attribute.by = 3.0
    return [f(ONES), f(ONES), f(with_attribute), f(ONES)]


@case((_arguments.Arguments, "_attributed", lambda self, tensors: True))
def another_attribute_of_an_argument(compiler):
    f = compiler(lambda x: x * x.by)
    out = []
    for by in (2.0, 2.0, 3.0, 4.0):
        x = torch.ones(2)
        x.by = by
        out.append(f(x))
    return out


@case((_first_call, "same_attributes", lambda then, now: True))
def a_call_that_marks_its_argument(compiler):
    @compiler
    def f(x):
        x.seen = getattr(x, "seen", 0) + 1
        return x * x.seen

    given = [torch.ones(2) for _ in range(6)]
    out = [f(x) for x in given]
    return [*out, *[f(x) for x in given], torch.tensor([getattr(x, "seen", 0) for x in given])]


@case((_outlines, "item", lambda t: None))
def an_attribute_of_a_tensor_that_is_replaced(compiler):
    state = types.SimpleNamespace(h=torch.zeros(2))

    @compiler
    def f(x):
        state.h = state.h * getattr(state.h, "by", 0.5) + x
        return state.h

    out = [f(ONES) for _ in range(4)]
    state.h.by = 3.0
    return [*out, f(ONES), f(ONES), f(ONES)]


@case((_specialisation.Specialisation, "_dropped_fit", lambda self: True))
def an_attribute_of_a_tensor_that_is_dropped(compiler):
    state = types.SimpleNamespace(h=torch.zeros(2))

    @compiler
    def f(x):
        by = getattr(state.h, "by", 0.5)
        state.h = x * by
        return state.h

    out = [f(ONES) for _ in range(4)]
    state.h.by = 3.0
    return [*out, f(ONES), f(ONES), f(ONES)]


@case((_python_guards, "_PARTS", lambda f: ()))
def the_defaults_of_a_function(compiler):
    def scaled(x, by=2.0):
        return x * by

    f = compiler(lambda x: scaled(x) + 1.0)
    out = [f(ONES), f(ONES)]
    scaled.__defaults__ = (3.0,)
    return [*out, f(ONES)]


@case((_python_guards, "_PARTS", lambda f: ()))
def the_code_of_a_function(compiler):
    def scaled(x):
        return x * 2.0

    def shifted(x):
        return x + 5.0

    f = compiler(lambda x: scaled(x) + 1.0)
    out = [f(ONES), f(ONES)]
    scaled.__code__ = shifted.__code__
    return [*out, f(ONES)]


@case((_python_guards.Reach, "_of_others", lambda self, space, shown: None))
def a_function_of_the_library_is_replaced(compiler):
    f = compiler(lambda x: torch.nn.functional.relu(x) + 1.0)
    out = [f(ONES), f(ONES)]
    before = torch.nn.functional.relu
    torch.nn.functional.relu = lambda x: x * 7.0
    try:
        return [*out, f(ONES)]
    finally:
        torch.nn.functional.relu = before


@case(PYTHON)
def a_global_that_appears_later(compiler):
    space = {}
    body = "    try:\n        return x * by\n    except NameError:\n        return x + 1.0"
    exec(f"def scaled(x):\n{body}", space)
    f = compiler(space["scaled"])
    out = [f(ONES), f(ONES)]
    space["by"] = 3.0
    return [*out, f(ONES)]


class Total(nn.Module):
    total = None

    def forward(self, x):
        if self.total is None:
            self.total = torch.zeros(2)
        self.total = self.total + x
        return self.total


def a_state_that_begins_as_none(compiler):
    model = Total()
    model.total = None
    f = compiler(model)
    out = []
    for _ in range(3):
        out += [f(ONES) for _ in range(4)]
        model.total = None
    return out


def a_tensor_is_replaced_by_its_clone(compiler):
    model = Total()
    model.total = torch.ones(2)

    def clone():
        model.total = model.total.clone()
        return model.total * 2.0

    f = compiler(clone)
    out = [f() for _ in range(3)]
    model.total.add_(1.0)
    return [*out, f(), model.total]


@pytest.mark.parametrize("make", [a_state_that_begins_as_none, a_tensor_is_replaced_by_its_clone])
def test_state_in_attributes(make, deferred):
    compiled = []
    found = run(make, lambda f: (compiled.append(torch.compile(f)), compiled[-1])[1])
    assert same(found, run(make, lambda f: f))
    about = vars(compiled[0]).get("_compiled", compiled[0]).explain()
    assert about["specialisations"] <= 2 and not about["python"]


@pytest.mark.filterwarnings("ignore:Detected call of")
@pytest.mark.parametrize("order", [
    "update, schedule, update", "schedule, update", "update, schedule", "another's",
    "schedule, update, schedule, update, schedule",
])
def test_schedules_step_where_they_stand(order, deferred):
    def trained(compiler):
        weight = torch.ones(1, requires_grad=True)
        update = torch.optim.SGD([weight], lr=1.0)
        other = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
        schedule = torch.optim.lr_scheduler.ExponentialLR(other if order == "another's" else update, 0.5)
        steps = {"update": update.step, "schedule": schedule.step}

        def step():
            update.zero_grad()
            weight.sum().backward()
            for name in ("schedule, update" if order == "another's" else order).split(", "):
                steps[name]()

        f, found = compiler(step), []
        for k in range(7):
            if k == 5:
                update.param_groups[0]["lr"] = 0.75
            f()
            found += weight.item(), schedule.get_last_lr()[0], schedule.last_epoch
        if compiler is torch.compile:
            assert f.explain()["hits"] >= 4 and not f.explain()["python"]
        return found

    assert trained(torch.compile) == trained(lambda f: f)


@pytest.mark.parametrize(("make", "without"), CASES)
def test_the_guard_is_there_and_needed(make, without, deferred, monkeypatch):
    expected = run(make, lambda f: f)
    assert same(run(make, torch.compile), expected)
    for owner, name, value in without:
        monkeypatch.setattr(owner, name, value, raising=False)
    assert not same(run(make, torch.compile), expected)


def test_a_value_that_is_equal_but_not_identical_is_no_miss(deferred):
    options = {"by": 1000.5, "name": "a"}
    f = torch.compile(lambda x: x * options["by"] if options["name"] == "a" else x)
    f(ONES)
    options["by"] = float("1000.5")
    f(ONES)
    report = f.explain()
    assert (report["specialisations"], report["hits"], report["misses"]) == (1, 1, [])
    options["by"] = 2.0
    assert f(ONES).tolist() == [2, 2]
    (reasons,) = f.explain()["misses"]
    assert len(reasons) == 1 and "by was 1000.5 and is 2.0" in reasons[0]


def test_nan_is_itself_and_zeros_have_signs():
    assert _rows.same(float("nan"), float("nan"))
    assert not _rows.same(0.0, -0.0)
    assert not _rows.same(1, True) and not _rows.same(1, 1.0)
    assert not _rows.same([1], [1])


def test_structures_count_as_specialisations(deferred):
    f = torch.compile(lambda xs: sum(xs) + 0, recompile_limit=2, name="summed")
    with pytest.warns(UserWarning, match=r"summed was compiled 2 times .*structure"):
        for n in (1, 2, 3, 4, 3):
            assert f([ONES] * n).tolist() == [n, n]
    report = f.explain()
    assert (report["specialisations"], report["calls"], len(f.entries)) == (2, 5, 2)


def test_too_many_specialisations_warn_once_and_go_on(deferred):
    f = torch.compile(lambda x, k: x * k, recompile_limit=2, name="scaled", dynamic=False)
    with pytest.warns(UserWarning, match=r"scaled was compiled 2 times .*argument 1 was .*recompile_limit"):
        for k in range(5):
            assert f(ONES, k).tolist() == [k, k]
    report = f.explain()
    assert report["specialisations"] == 2
    assert report["python"] == ["more than 2 specialisations"]
    hits = report["hits"]
    assert f(ONES, 0).tolist() == [0, 0] and f.explain()["hits"] == hits + 1


def test_a_change_beside_a_comparison_by_value_is_not_taken_over():
    """What is equal is remembered as it was compared, not as another thread has made it since."""
    listed = [["1.5"], ["1.5"], ["1.5"]]  # when the guard is made, by identity, by value
    row = _rows.Row([], lambda: map(float, listed.pop(0) if listed else ["2.5"]), lambda: [0], "a list")
    guard = _guard.Guard([row])
    assert guard.holds() and not listed
    assert not guard.holds() and not guard.holds()


def test_names_of_a_function_among_the_builtins_are_followed(deferred, monkeypatch):
    settings = types.SimpleNamespace(scaling=2.0)
    space = {"settings": settings}
    exec("def of_a_test(x):\n    return x * settings.scaling", space)
    monkeypatch.setattr("builtins.of_a_test", space["of_a_test"], raising=False)
    f = torch.compile(lambda x: of_a_test(x))  # noqa: F821, PLW0108
    out = [f(ONES) for _ in range(3)]
    settings.scaling = 3.0
    assert [x.tolist() for x in (*out, f(ONES))] == [[2.0, 2.0]] * 3 + [[3.0, 3.0]]


def test_a_class_that_cannot_be_hashed_is_followed(deferred):
    class Meta(type):
        __hash__ = None

        def __eq__(cls, other):
            return cls is other

    class Scaled(metaclass=Meta):
        factor = 2.0

        def scale(self, x):
            return x * self.factor

    scaled = Scaled()
    f = torch.compile(lambda x: scaled.scale(x))  # noqa: PLW0108
    assert [f(ONES).tolist() for _ in range(2)] == [[2.0, 2.0]] * 2
    Scaled.factor = 3.0
    assert f(ONES).tolist() == [3.0, 3.0]
    Scaled.scale = lambda self, x: x - self.factor
    assert f(ONES).tolist() == [-2.0, -2.0]


def test_where_in_its_storage_an_argument_starts(deferred):
    x = torch.arange(10.0)
    offset = torch.compile(lambda t: (t.storage_offset(), t + 1))
    assert [offset(x[i : i + 2])[0] for i in (1, 1, 1, 2, 2, 1, 3)] == [1, 1, 1, 2, 2, 1, 3]
    assert offset.explain()["hits"] == 4
    address = torch.compile(lambda t: (t.data_ptr(), t + 1))
    for i in (1, 1, 1, 2):
        t = x[i : i + 2]
        assert address(t)[0] == t.data_ptr()
    (reason,) = address.explain()["python"]
    assert reason.startswith("a number of a tensor is needed at")

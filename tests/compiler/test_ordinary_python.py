"""What ordinary Python reads in a call, and somebody changes afterwards: guarded, or called each time.

Each case gives a function of a tensor, and what changes something that the function reads.
"""

import abc
import argparse
import builtins
import collections
import contextlib
import copy
import dataclasses
import enum
import functools
import math
import operator
import os
import re
import string
import sys
import threading
import types
import weakref

import numpy as np
import pytest

import jaxflow as torch
from jaxflow import nn
from jaxflow.compiler import _guard

ONES = torch.ones(2)
GUARDED, CALLED = [], []
Space = types.SimpleNamespace


def guarded(make):
    GUARDED.append(pytest.param(make, id=make.__name__))
    return make


def called(reason):
    """Cases that cannot be guarded: Python runs at each call, and ``explain`` says why."""

    def add(make):
        CALLED.append(pytest.param(make, reason, id=make.__name__))
        return make

    return add


@contextlib.contextmanager
def put_back():
    """What cases change in libraries and settings is as before afterwards."""
    precision, threads = torch.get_float32_matmul_precision(), torch.get_num_threads()
    with pytest.MonkeyPatch.context() as patch:
        for owner, name in ((nn.Linear, "forward"), (nn.Module, "__call__"), (torch.Tensor, "relu"),
                            (math, "sqrt"), (np, "sqrt")):
            patch.setattr(owner, name, getattr(owner, name))
        patch.setattr(torch.Tensor, "twice", lambda self: self * 2.0, raising=False)
        patch.setattr(builtins, "of_a_test", 2.0, raising=False)
        patch.setattr(sys, "argv", ["program"])
        patch.setattr(os.environ, "_data", dict(os.environ._data))
        try:
            yield
        finally:
            torch.set_float32_matmul_precision(precision)
            torch.set_num_threads(threads)
            torch.use_deterministic_algorithms(False)
            torch.set_printoptions(profile="default")


def numbers(make, compiler):
    torch.manual_seed(0)
    with put_back():
        f, change = make()
        f = compiler(f)
        out = [f(ONES) for _ in range(3)]
        change()
        return f, [x.tolist() for x in (*out, f(ONES), f(ONES))]


def plain(f):
    return f


@pytest.mark.parametrize("make", GUARDED)
def test_a_change_is_noticed(make, deferred, monkeypatch):
    expected = numbers(make, plain)[1]
    f, found = numbers(make, torch.compile)
    assert found == expected and expected[2] != expected[3]
    assert f.explain()["hits"] >= 2 and not f.explain()["python"]
    monkeypatch.setattr(_guard.Guard, "holds", lambda self: True)
    assert numbers(make, torch.compile)[1] != expected


@pytest.mark.parametrize(("make", "reason"), CALLED)
def test_what_cannot_be_guarded_is_called(make, reason, deferred):
    expected = numbers(make, plain)[1]
    f, found = numbers(make, torch.compile)
    assert found == expected and expected[2] != expected[3]
    assert any(re.search(reason, why) for why in f.explain()["python"])


class Overriding:
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return 2.0


@pytest.mark.parametrize(("make", "reason"), CALLED)
def test_it_is_called_where_classes_override_functions(make, reason, deferred):
    assert torch.add(Overriding(), 1) == 2.0  # from now on functions look for such classes
    test_what_cannot_be_guarded_is_called(make, reason, deferred)


# ----------------------------------------------------------------------------------- classes


class Two:
    def by(self):
        return 2.0


class Three:
    def by(self):
        return 3.0


@guarded
def the_class_of_an_object():
    o = Two()
    return lambda x: x * o.by(), lambda: setattr(o, "__class__", Three)


@guarded
def the_class_that_isinstance_sees():
    o = Two()
    return lambda x: x * (2.0 if isinstance(o, Two) else 3.0), lambda: setattr(o, "__class__", Three)


@guarded
def the_class_of_a_module():
    class Doubles(nn.Module):
        def forward(self, x):
            return x * 2.0

    class Triples(nn.Module):
        def forward(self, x):
            return x * 3.0

    m = Doubles()
    return lambda x: m(x), lambda: setattr(m, "__class__", Triples)  # noqa: PLW0108 (a function, not a module)


@guarded
def an_attribute_of_a_class_that_comes_later():
    class Settings:
        pass

    o = Settings()
    return lambda x: x * (o.by if hasattr(o, "by") else 2.0), lambda: setattr(Settings, "by", 3.0)


@guarded
def an_attribute_of_a_base_that_comes_later():
    class Base:
        pass

    class Settings(Base):
        pass

    o = Settings()
    return lambda x: x * getattr(o, "by", 2.0), lambda: setattr(Base, "by", 3.0)


@guarded
def an_attribute_of_a_class_of_modules_that_comes_later():
    class Net(nn.Module):
        def forward(self, x):
            return x * (self.by if hasattr(self, "by") else 2.0)

    m = Net()
    return lambda x: m(x), lambda: setattr(Net, "by", 3.0)  # noqa: PLW0108


@guarded
def the_bases_of_a_class():
    class Root:
        by = 1.0

    class Old(Root):
        by = 2.0

    class New(Root):
        by = 3.0

    class Settings(Old):
        pass

    o = Settings()
    return lambda x: x * o.by, lambda: setattr(Settings, "__bases__", (New,))


@guarded
def an_attribute_of_a_metaclass():
    class Meta(type):
        by = 2.0

    class Settings(metaclass=Meta):
        pass

    return lambda x: x * Settings.by, lambda: setattr(Meta, "by", 3.0)


@guarded
def a_class_that_is_registered():
    class Abstract(abc.ABC):  # noqa: B024 - there is nothing to implement
        pass

    class Real:
        pass

    o = Real()
    return lambda x: x * (3.0 if isinstance(o, Abstract) else 2.0), lambda: Abstract.register(Real)


# -------------------------------------------------------------------- functions and modules of Python


@guarded
def an_attribute_of_a_function_that_comes_later():
    def helper(x):
        return x

    return (lambda x: helper(x) * (helper.by if hasattr(helper, "by") else 2.0),
            lambda: setattr(helper, "by", 3.0))


@guarded
def a_name_of_a_python_module_that_comes_later():
    module = types.ModuleType("settings_of_a_test")
    return lambda x: x * (module.by if hasattr(module, "by") else 2.0), lambda: setattr(module, "by", 3.0)


@guarded
def a_variable_of_the_environment():
    os.environ["JAXFLOW_OF_A_TEST"] = "2"
    return (lambda x: x * float(os.environ["JAXFLOW_OF_A_TEST"]),
            lambda: os.environ.update(JAXFLOW_OF_A_TEST="3"))


@guarded
def a_variable_of_the_environment_that_comes_later():
    os.environ.pop("JAXFLOW_OF_A_TEST", None)
    return (lambda x: x * float(os.getenv("JAXFLOW_OF_A_TEST", "2")),
            lambda: os.environ.update(JAXFLOW_OF_A_TEST="3"))


@guarded
def an_argument_of_the_program():
    sys.argv = ["program"]
    return lambda x: x * len(sys.argv), lambda: sys.argv.append("more")


@guarded
def other_arguments_of_the_program():
    sys.argv = ["program"]
    return lambda x: x * len(sys.argv), lambda: setattr(sys, "argv", ["program", "more"])


@guarded
def the_name_of_a_function():
    def helper():
        pass

    return lambda x: x * len(helper.__name__), lambda: setattr(helper, "__name__", "other")


@guarded
def an_annotation_of_a_function():
    def helper(a: int):
        pass

    return lambda x: x * len(helper.__annotations__), lambda: helper.__annotations__.update(b=int)


@guarded
def the_name_of_a_class():
    class Settings:
        pass

    o = Settings()
    return lambda x: x * len(type(o).__name__), lambda: setattr(Settings, "__name__", "Other")


@guarded
def an_entry_of_the_value_of_an_enum():
    class Kind(enum.Enum):
        ONE = [2.0]  # noqa: RUF012 - it changes

    return lambda x: x * Kind.ONE.value[0], lambda: operator.setitem(Kind.ONE.value, 0, 3.0)


@guarded
def an_attribute_of_a_member_of_an_enum():
    class Kind(enum.Enum):
        ONE = 1

    Kind.ONE.by = 2.0
    return lambda x: x * Kind.ONE.by, lambda: setattr(Kind.ONE, "by", 3.0)


# --------------------------------------------------------------------- what is replaced in libraries


@guarded
def the_forward_of_a_layer():
    m = nn.Linear(2, 2)
    return (lambda x: m(x).detach(),
            lambda: setattr(nn.Linear, "forward", lambda self, x: x * 3.0))


@guarded
def the_call_of_all_modules():
    m = nn.ReLU()
    return lambda x: m(x), lambda: setattr(nn.Module, "__call__", lambda self, x: x * 3.0)  # noqa: PLW0108


@guarded
def a_method_of_tensors():
    return lambda x: x.relu(), lambda: setattr(torch.Tensor, "relu", lambda self: self * 3.0)


@guarded
def a_method_of_the_users_of_tensors():
    return lambda x: x.twice(), lambda: setattr(torch.Tensor, "twice", lambda self: self * 3.0)


@guarded
def a_function_of_the_standard_library():
    return lambda x: x * math.sqrt(4.0), lambda: setattr(math, "sqrt", lambda x: 3.0)


@guarded
def a_function_of_numpy():
    return lambda x: x * float(np.sqrt(4.0)), lambda: setattr(np, "sqrt", lambda x: 3.0)


@guarded
def a_builtin():
    return lambda x: x * of_a_test, lambda: setattr(builtins, "of_a_test", 3.0)  # noqa: F821


def test_the_step_of_an_optimizer_is_replaced(deferred, monkeypatch):
    p = nn.Parameter(torch.ones(2))
    p.grad = torch.ones(2)
    update = torch.optim.SGD([p], lr=0.25)
    f = torch.compile(lambda: update.step())  # noqa: PLW0108
    for _ in range(3):
        f()
    monkeypatch.setattr(torch.optim.SGD, "step", lambda self: None)
    f()
    assert p.tolist() == [0.25, 0.25] and f.explain()["hits"] == 2


# ------------------------------------------------------- what library functions read without a mention


@dataclasses.dataclass
class Config:
    by: float = 2.0
    other: float = 1.0


@guarded
def a_field_that_astuple_reads():
    c = Config()
    return lambda x: x * dataclasses.astuple(c)[0], lambda: setattr(c, "by", 3.0)


@guarded
def a_field_that_asdict_reads():
    c = Config()
    return lambda x: x * sum(dataclasses.asdict(c).values()), lambda: setattr(c, "by", 3.0)


@guarded
def a_field_that_equality_reads():
    c, d = Config(), Config()
    return lambda x: x * (2.0 if c == d else 3.0), lambda: setattr(c, "by", 3.0)


@guarded
def a_field_that_repr_shows():
    c = Config()
    return lambda x: x * len(repr(c)), lambda: setattr(c, "by", 3.25)


@guarded
def an_attribute_that_a_format_names():
    o = Two()
    o.mode = "a"
    return lambda x: x * len("{0.mode}".format(o)), lambda: setattr(o, "mode", "abc")  # noqa: UP030, UP032


@guarded
def an_attribute_of_an_attribute_that_a_format_names():
    o = Two()
    o.inner = Three()
    o.inner.mode = "a"
    return (lambda x: x * len("{0.inner.mode!r:>2}".format(o)),  # noqa: UP030, UP032
            lambda: setattr(o.inner, "mode", "abc"))


@guarded
def an_attribute_that_a_format_from_elsewhere_names():
    o, text = Two(), "{0.mode}"
    o.mode = "a"
    return lambda x: x * len(text.format(o)), lambda: setattr(o, "mode", "abc")


@guarded
def an_entry_that_a_format_names():
    o = {"mode": "a"}
    return lambda x: x * len("{mode}".format_map(o)), lambda: o.update(mode="abc")


@guarded
def an_entry_of_a_template():
    o = {"mode": "a"}
    return lambda x: x * len(string.Template("$mode").substitute(o)), lambda: o.update(mode="abc")


@guarded
def an_attribute_that_a_namespace_shows():
    o = Space(mode="a")
    return lambda x: x * len(str(o)), lambda: setattr(o, "mode", "abc")


@guarded
def an_attribute_by_which_namespaces_differ():
    o, p = Space(by=2.0), Space(by=2.0)
    return lambda x: x * (2.0 if o == p else 3.0), lambda: setattr(o, "by", 3.0)


@guarded
def an_option_that_vars_lists():
    o = argparse.Namespace(by=2.0)
    return lambda x: x * sum(vars(o).values()), lambda: setattr(o, "more", 1.0)


@called("attrgetter, which cannot be guarded")
def an_attribute_that_attrgetter_gets():
    o, get = Two(), operator.attrgetter("number")
    o.number = 2.0
    return lambda x: x * get(o), lambda: setattr(o, "number", 3.0)


@guarded
def an_attribute_that_is_copied():
    o = Space(by=2.0)
    return lambda x: x * sum(vars(copy.copy(o)).values()), lambda: setattr(o, "by", 3.0)


@guarded
def an_attribute_that_a_pattern_names():
    o = Space(mode="a")

    def f(x):
        match o:
            case Space(mode="a"):
                return x * 2.0
        return x * 3.0

    return f, lambda: setattr(o, "mode", "b")


@guarded
def a_field_that_a_pattern_takes_by_position():
    c = Config()

    def f(x):
        match c:
            case Config(2.0):
                return x * 2.0
        return x * 3.0

    return f, lambda: setattr(c, "by", 1.0)


# ----------------------------------------------------------------------------------- containers


@guarded
def an_entry_of_a_userdict():
    d = collections.UserDict(by=2.0)
    return lambda x: x * d["by"], lambda: d.update(by=3.0)


@guarded
def an_entry_of_a_userlist():
    d = collections.UserList([2.0])
    return lambda x: x * d[0], lambda: operator.setitem(d, 0, 3.0)


@guarded
def an_entry_of_a_chainmap():
    first = {"by": 2.0}
    d = collections.ChainMap(first, {"other": 1.0})
    return lambda x: x * d["by"], lambda: first.update(by=3.0)


@guarded
def a_count():
    d = collections.Counter("aab")
    return lambda x: x * d["a"], lambda: d.update("a")


class AttrDict(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


@guarded
def an_entry_that_is_read_as_an_attribute():
    d = AttrDict(by=2.0)
    return lambda x: x * d.by, lambda: setattr(d, "by", 3.0)


class Stored:
    def __init__(self):
        self.__dict__["store"] = {"by": 2.0}

    def __getattr__(self, name):
        return self.__dict__["store"][name]


@guarded
def an_entry_behind_getattr():
    o = Stored()
    return lambda x: x * o.by, lambda: o.store.update(by=3.0)


# ----------------------------------------------------------------------------- what cannot be guarded


class Held:
    by = 2.0


@called("a ReferenceType, which cannot be guarded")
def what_a_weak_reference_refers_to():
    held = [Held()]
    refers = weakref.ref(held[0])
    return lambda x: x * (2.0 if refers() is not None else 3.0), held.clear


@called("a ReferenceType, which cannot be guarded")
def the_attribute_behind_a_weak_reference():
    held = Held()
    refers = weakref.ref(held)
    return lambda x: x * refers().by, lambda: setattr(held, "by", 3.0)


@called("a KeyedRef, which cannot be guarded")
def an_entry_of_a_weak_dict():
    held = [Held(), Held()]
    held[1].by = 3.0
    d = weakref.WeakValueDictionary(one=held[0])
    return lambda x: x * d["one"].by, lambda: operator.setitem(d, "one", held[1])


@called("a ReferenceType, which cannot be guarded")
def the_size_of_a_weak_set():
    held = [Held()]
    s = weakref.WeakSet(held)
    return lambda x: x * (2.0 if len(s) else 3.0), held.clear


@called("a _lru_cache_wrapper, which cannot be guarded")
def a_cache_that_is_cleared():
    found = [2.0]

    @functools.lru_cache
    def get():
        return found[0]

    def change():
        found[0] = 3.0
        get.cache_clear()

    return lambda x: x * get(), change


class Hidden:
    def __init__(self):
        self.array = np.full(1, 2.0)


@called("an? ndarray, which cannot be guarded")
def an_array_that_vars_finds():
    o = Hidden()
    return lambda x: x * float(sum(a[0] for a in vars(o).values())), lambda: o.array.fill(3.0)


@called("an? ndarray, which cannot be guarded")
def an_array_by_a_name_that_is_computed():
    o, name = Hidden(), "an array"
    return lambda x: x * float(getattr(o, name[3:])[0]), lambda: o.array.fill(3.0)


@called(r"a setting by are_deterministic_algorithms_enabled\(\) at")
def whether_algorithms_are_deterministic():
    return (lambda x: x * (3.0 if torch.are_deterministic_algorithms_enabled() else 2.0),
            lambda: torch.use_deterministic_algorithms(True))


@called(r"a setting by get_float32_matmul_precision\(\) at")
def the_precision_of_products():
    return (lambda x: x * len(torch.get_float32_matmul_precision()),
            lambda: torch.set_float32_matmul_precision("high"))


@called(r"a setting by get_num_threads\(\) at")
def the_number_of_threads():
    return lambda x: x * torch.get_num_threads(), lambda: torch.set_num_threads(torch.get_num_threads() + 1)


@called(r"a setting by \w+\(\) at")
def how_many_digits_are_printed():
    return lambda x: x * len(str(torch.tensor(1 / 3))), lambda: torch.set_printoptions(precision=8)


def test_the_default_device(deferred):
    f = torch.compile(lambda x: (x * 2.0, torch.zeros(2)))
    devices = [f(ONES)[1].device.type for _ in range(3)]
    with torch.device("meta"):
        devices.append(f(ONES)[1].device.type)
    assert [*devices, f(ONES)[1].device.type] == ["cpu", "cpu", "cpu", "meta", "cpu"]


@called("a _local, which cannot be guarded")
def an_attribute_of_this_thread():
    local = threading.local()
    local.by = 2.0
    return lambda x: x * local.by, lambda: setattr(local, "by", 3.0)


def test_an_attribute_of_another_thread(deferred):
    local = threading.local()
    local.by = 2.0
    f = torch.compile(lambda x: x * local.by)
    out = [f(ONES) for _ in range(3)]

    def elsewhere():
        local.by = 3.0
        out.append(f(ONES))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert [x.tolist() for x in (*out, f(ONES))] == [[2.0, 2.0]] * 3 + [[3.0, 3.0], [2.0, 2.0]]

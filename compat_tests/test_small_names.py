"""Small modules of PyTorch's: types, versions, functions under a second name, arguments of layers."""

import importlib

import pytest
import torch

import jaxflow
from compat_tests.harness import Case, check, leaf, raises

BOTH = (torch, jaxflow)


def test_functional_has_the_functions_of_the_top_namespace():
    for T in BOTH:
        module = importlib.import_module(f"{T.__name__}.functional")
        assert module is T.functional
        assert all(getattr(module, name) is getattr(T, name) for name in module.__all__)
    assert sorted(torch.functional.__all__) == sorted(jaxflow.functional.__all__)


VERSIONS = ["2.13.0+cpu", "2.13.0", "2.13", "parrot", "1.10.0a", "1.10.0.dev20210101", "1.10.0rc1",
            "1.10.post1", "2.0-1", "1!0.1", "2.13.0+cu118", "2.13.0+12.1"]
OTHERS = [*VERSIONS, (2, 13), (2, 13, 0), [2, 6], (2, "x"), (), 5, None]


@pytest.mark.parametrize("name", ["__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"])
def test_versions_compare(name):
    def answers(T):
        make = T.torch_version.TorchVersion
        return [getattr(make(a), name)(b) for a in VERSIONS for b in OTHERS]

    assert answers(jaxflow) == answers(torch)


def test_versions_of_packaging():
    packaging = pytest.importorskip("packaging.version")
    ours = jaxflow.torch_version.TorchVersion("2.13.0+cpu")  # PyTorch's compares with a copy of packaging's
    assert ours > packaging.Version("2.12") and ours == packaging.Version("2.13.0+cpu")
    for T in BOTH:
        version = T.torch_version.TorchVersion("2.13.0+cpu")
        assert hash(version) == hash("2.13.0+cpu") and isinstance(version, str)
        assert isinstance(T.torch_version.__version__, T.torch_version.TorchVersion)
    assert sorted(n for n in dir(torch.version) if n[0] != "_" and n not in dir(jaxflow.version)) == [
        "Optional"]


def test_types():
    for T in BOTH:
        types = importlib.import_module(f"{T.__name__}.types")
        assert types is T.types
        assert isinstance(3, types.Number) and isinstance(True, types.Number)
        assert not isinstance(1j, types.Number) and not isinstance("a", types.Number)
        assert types._Number == (int, float, bool)
        assert isinstance(T.device("cpu"), types.Device) and isinstance(None, types.Device)
        assert types._dtype is T.dtype and types._device is T.device and types._layout is T.layout
        assert isinstance(T.Size([2]), types._size.__args__[0])
        assert [types._int, types._float, types._bool, types._str, types._bytes, types._complex] == [
            int, float, bool, str, bytes, complex]
        assert not isinstance(T.ones(2).untyped_storage(), types.Storage)
        assert not isinstance(3, types.py_sym_types)
        with pytest.raises(NotImplementedError):
            types.Storage().nbytes()


def test_common_types():
    theirs, ours = (importlib.import_module(f"{T.__name__}.nn.common_types") for T in BOTH)
    for name in vars(theirs):
        if name.startswith(("_size", "_ratio")):
            assert getattr(ours, name) == getattr(theirs, name), name
        if name.endswith("_t"):
            assert hasattr(ours, name), name


def test_factory_kwargs():
    def case(T):
        f = T.nn.factory_kwargs
        inner = {"dtype": 3}
        given = f({"dtype": 1, "device": 2}), f({"factory_kwargs": inner, "device": 4})
        return [f(None), f({}), *(sorted(kwargs.items()) for kwargs in given),  # PyTorch keeps no order
                raises(lambda: f({"size": 1})), raises(lambda: f({"factory_kwargs": inner, "dtype": 4}))]

    check(Case("factory_kwargs", case), jaxflow)


def test_former_containers_and_losses():
    def case(T):
        box = T.nn.Container(a=T.nn.ReLU(), b=None)
        x = leaf(T, 2, 3, 4, 4)
        loss = T.nn.NLLLoss2d(weight=T.ones(3))(x, T.zeros(2, 4, 4, dtype=T.long))
        loss.backward()
        return [repr(box), list(box._modules), raises(lambda: T.nn.Container(a=3)),
                raises(lambda: box(T.ones(1)), phrase="forward", because="the class's name differs"),
                loss, x.grad, repr(T.nn.NLLLoss2d())]

    check(Case("former", case), jaxflow)

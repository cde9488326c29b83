"""Every public function and class is found under the name it says, so that what refers to it pickles."""

import copy
import importlib
import io
import pickle
import pkgutil
import types

import pytest

import jaxflow
import jaxflow.nn.functional as F


def public_modules():
    """The package and all its modules without an underscore in their names."""
    yield jaxflow
    for found in pkgutil.walk_packages(jaxflow.__path__, "jaxflow."):
        # Importing jaxflow.as_torch gives everything PyTorch's names; tests/test_as_torch.py does that.
        private = any(part.startswith("_") for part in found.name.split("."))
        if not private and found.name != "jaxflow.as_torch":
            yield importlib.import_module(found.name)


def public_things():
    """The functions and classes there, and those that are attributes of Tensor, by their places."""
    for module in public_modules():
        for name, thing in vars(module).items():
            if not name.startswith("_") and isinstance(thing, (types.FunctionType, type)):
                yield f"{module.__name__}.{name}", thing
    for name, thing in vars(jaxflow.Tensor).items():
        if isinstance(thing, types.FunctionType):
            yield f"jaxflow.Tensor.{name}", thing


def test_all_come_back_as_themselves():
    things, wrong = list(public_things()), []
    for place, thing in things:
        for protocol in (2, 4):
            try:
                same = pickle.loads(pickle.dumps(thing, protocol)) is thing
            except (pickle.PicklingError, AttributeError, ImportError) as error:
                same = f"{place}: {error}"
            if same is not True:
                wrong.append(same or place)
    assert len(things) > 3000
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("module", [jaxflow, F, jaxflow.linalg, jaxflow.fft, jaxflow.special])
def test_operations_are_known_by_public_names(module):
    homes = {name: thing.__module__ for name, thing in vars(module).items()
             if isinstance(thing, types.FunctionType) and not name.startswith("_")}
    private = ("jaxflow._api.", "jaxflow._publish.publish")
    hidden = [name for name, home in homes.items() if home.startswith(private)]
    assert len(homes) > 15 and not hidden


def test_names_tell_the_namespace():
    assert (jaxflow.tanh.__module__, jaxflow.tanh.__qualname__) == ("jaxflow", "tanh")
    assert (F.gelu.__module__, F.gelu.__qualname__) == ("jaxflow.nn.functional", "gelu")
    assert (jaxflow.Tensor.add_.__module__, jaxflow.Tensor.add_.__qualname__) == ("jaxflow", "Tensor.add_")
    assert jaxflow.linalg.LinAlgError is jaxflow._C._LinAlgError


class Net(jaxflow.nn.Module):
    """A model that keeps functions as attributes."""

    def __init__(self):
        super().__init__()
        self.act, self.pool, self.layer = jaxflow.tanh, F.max_pool2d, jaxflow.nn.Linear(2, 2)
        self.block = jaxflow.nn.TransformerEncoderLayer(4, 2, activation=F.gelu)


def test_models_that_hold_functions_are_saved_and_copied():
    file = io.BytesIO()
    jaxflow.save(Net(), file)
    file.seek(0)
    loaded = jaxflow.load(file, weights_only=False)
    for got in (loaded, copy.deepcopy(Net()), pickle.loads(pickle.dumps(Net()))):
        assert got.act is jaxflow.tanh and got.pool is F.max_pool2d and got.block.activation is F.gelu


def test_functions_that_ask_for_overrides_are_found_too():
    class Mine(jaxflow.Tensor):
        pass

    assert type(jaxflow.ones(2).as_subclass(Mine).add(1)) is Mine
    assert pickle.loads(pickle.dumps(jaxflow.tanh)) is jaxflow.tanh


@pytest.mark.parametrize("results", [
    lambda x: x.max(0), lambda x: x.sort(), jaxflow.linalg.slogdet, jaxflow.frexp,
])
def test_named_results_come_back(results):
    named = results(jaxflow.tensor([[1.0, 2.0], [4.0, 3.0]]))
    file = io.BytesIO()
    jaxflow.save(named, file)
    file.seek(0)
    loaded = jaxflow.load(file, weights_only=False)
    for got in (loaded, pickle.loads(pickle.dumps(named)), copy.deepcopy(named)):
        assert type(got) is type(named) and got._fields == named._fields
        assert [t.tolist() for t in got] == [t.tolist() for t in named]
    assert getattr(jaxflow.return_types, type(named).__name__) is type(named)
    assert repr(named).startswith(f"torch.return_types.{type(named).__name__}(\n")


def test_errors_come_back():
    for error in (jaxflow.OutOfMemoryError("full"), jaxflow.linalg.LinAlgError("singular")):
        got = pickle.loads(pickle.dumps(error))
        assert type(got) is type(error) and got.args == error.args


def test_a_module_is_made_without_its_own_setstate():
    class Metric(jaxflow.nn.Module):
        def __init__(self):
            super().__init__()
            self.update = self.forward

        def __setstate__(self, state):
            raise RuntimeError("not while it is made")

    assert Metric().training


def test_types_of_tensors_join_in_annotations():
    def f(x: jaxflow.LongTensor | None, y: None | jaxflow.cuda.FloatTensor = None) -> (
            jaxflow.LongTensor | jaxflow.FloatTensor | int):
        return x

    kind = f.__annotations__["x"]
    assert isinstance(None, kind) and isinstance(jaxflow.tensor([1]), kind)
    assert not isinstance(jaxflow.tensor([1.0]), kind)
    assert isinstance(jaxflow.tensor([1.0]), jaxflow.LongTensor | jaxflow.FloatTensor)
    assert isinstance(jaxflow.tensor([1.0]), (jaxflow.LongTensor, jaxflow.FloatTensor))
    assert not issubclass(jaxflow.LongTensor, jaxflow.Tensor)
    with pytest.raises(TypeError, match=r"torch.LongTensor' is not an acceptable base type"):
        type("Mine", (jaxflow.LongTensor,), {})


def test_a_gradient_may_be_deleted():
    x = jaxflow.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    del x.grad
    assert x.grad is None
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3, 3]

"""Scripted and traced functions and modules run as Python; archives of them hold programs of StableHLO."""

import copy
import functools
import io
import pickle
import zipfile

import pytest

import jaxflow as torch
from jaxflow import jit, nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)
        self.bn = nn.BatchNorm1d(4)
        self.dropout = nn.Dropout(0.5)
        self.scale = 2.0
        self.layers = [self.fc]

    def forward(self, x):
        return self.dropout(self.bn(self.layers[0](x))) * self.scale

    def helper(self, x):
        return self.fc(x)


def saved(m, **options):
    file = io.BytesIO()
    jit.save(m, file, **options)
    file.seek(0)
    return file


def again(m):
    return jit.load(saved(m))


def test_programs_stay_python():
    @jit.script
    def f(x):
        return x * 2 if not jit.is_scripting() else x

    class Scripted(jit.ScriptModule):
        __constants__ = ("n",)
        n: jit.Final[int] = 3

        @jit.script_method
        def forward(self, x):
            return self.helper(x) * self.n

        @jit.ignore
        def helper(self, x):
            return f(x)

        @jit.ignore(drop=True)
        def other(self, x):
            return x

        @jit.unused
        def unused(self, x):
            return jit.annotate(int, x)

    model = Scripted()
    x = torch.ones(2)
    assert model(x).tolist() == [6.0, 6.0] and model.other(1) == model.unused(1) == 1
    assert isinstance(model, jit.ScriptModule) and not isinstance(torch.nn.ReLU(), jit.ScriptModule)
    with pytest.warns(UserWarning, match="already a ScriptModule"):
        assert jit.trace(model, x) is model
    assert jit.script(model) is model and jit.script(f) is f and not jit.is_tracing()
    assert pickle.loads(pickle.dumps(nn.ReLU()))(x).tolist() == [1, 1]


def test_a_scripted_module_is_of_its_class_and_has_modes_of_its_own():
    model = Net()
    scripted = jit.script(model)
    assert isinstance(scripted, Net) and isinstance(scripted, jit.RecursiveScriptModule)
    assert isinstance(scripted.fc, nn.Linear) and scripted.fc.weight is model.fc.weight
    assert scripted.layers[0] is scripted.fc is not model.fc
    assert scripted.original_name == "Net" and scripted.helper(torch.ones(1, 3)).shape == (1, 4)
    scripted.eval()
    scripted.scale = 1.0
    assert model.training and model.bn.training and model.scale == 2.0
    copied = copy.deepcopy(scripted)
    assert copied.fc.weight is not model.fc.weight and torch.equal(copied.fc.weight, model.fc.weight)
    with pytest.raises(pickle.PickleError, match="torch.jit.save"):
        pickle.dumps(scripted)


def test_classes_that_register_their_subclasses_do_not_see_scripted_ones():
    class Registered(nn.Module):
        found = []

        def __init_subclass__(cls, **kwargs):
            Registered.found.append(cls.__name__)

        def save(self):
            raise AssertionError("a scripted module's save is that of archives")

        def forward(self, x):
            return x + 1

    class Child(Registered):
        pass

    scripted = jit.script(Child())
    assert Registered.found == ["Child"]
    assert scripted(torch.ones(1)).item() == 2
    assert again(scripted)(torch.ones(3)).tolist() == [2, 2, 2]


def test_a_traced_module_stays_in_its_mode():
    model = Net().eval()
    x = torch.randn(5, 3)
    traced = jit.trace(model, x)
    assert type(traced) is jit.TopLevelTracedModule and type(traced.fc) is jit.TracedModule
    traced.train()
    assert traced.training and traced.fc.training and not model.training
    assert torch.equal(traced(x), model(x))
    assert traced.scale == 2.0 and not hasattr(traced, "nope")
    traced.to(torch.float64)
    assert traced(x.double()).dtype == model.fc.weight.dtype == torch.float64
    assert traced.fc.weight is model.fc.weight
    copied = copy.deepcopy(traced)
    assert torch.equal(copied(x.double()), traced(x.double()))
    assert copied.fc.weight is not model.fc.weight
    with pytest.raises(RuntimeError, match="would not be run"):
        traced.fc = nn.Linear(3, 4)


def test_a_trace_runs_as_one():
    seen = []

    def f(x):
        seen.append(jit.is_tracing())
        return x + 1

    traced = jit.trace(f, torch.ones(2), check_trace=False)
    traced(torch.ones(2))
    f(torch.ones(2))
    assert seen == [True, True, False]
    with pytest.raises(ZeroDivisionError):
        jit.trace(lambda x: x * (1 // 0), torch.ones(2))
    assert not jit.is_tracing()


def test_what_a_trace_refuses_and_warns_of():
    x = torch.ones(2)
    for args, words in [((x, 2), "cannot be traced"), ("text", "cannot be traced")]:
        with pytest.raises(RuntimeError, match=words):
            jit.trace(lambda *args: args[0], args)
    for result, words in [(None, "didn't return any values"), (3, "Only tensors"), ({"a": x}, "Encountering "
                                                                                              "a dict")]:
        with pytest.raises(RuntimeError, match=words):
            jit.trace(lambda x, result=result: result, x)
    assert jit.trace(lambda x: {"a": x}, x, strict=False)(x)["a"] is x
    with pytest.warns(jit.TracerWarning, match="Encountering a list"):
        jit.trace(lambda x: [x], x, check_trace=False)
    with pytest.warns(jit.TracerWarning, match=r"Output nr 1\. .* does not match"):
        jit.trace(nn.Dropout(), torch.ones(100))
    with pytest.raises(AttributeError, match="trace_module"):
        jit.trace(Net().helper, x)
    with pytest.raises(ValueError, match="backward hooks"):
        model = nn.ReLU()
        model.register_full_backward_hook(lambda *args: None)
        jit.trace(model, x)


@pytest.mark.usefixtures("executor")
def test_an_archive_runs_and_trains_without_the_class():
    model = Net()
    x = torch.randn(5, 3)
    scripted = jit.script(model)
    scripted.eval()(x)
    loaded = again(scripted)
    assert not isinstance(loaded, Net) and type(loaded.fc) is type(loaded)
    assert list(loaded.state_dict()) == list(model.state_dict())
    assert repr(loaded) == repr(scripted) and loaded.scale == 2.0
    for size in (1, 5, 11):
        x = torch.randn(size, 3)
        assert torch.allclose(loaded(x), scripted(x), atol=1e-6)
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.1) for m in (loaded, scripted)]
    for _ in range(2):
        for m, optimizer in zip((loaded, scripted), optimizers, strict=True):
            optimizer.zero_grad()
            m(x).square().mean().backward()
            optimizer.step()
    assert torch.allclose(loaded(x), scripted(x), atol=1e-5)
    assert torch.allclose(again(loaded)(x), loaded(x))
    with pytest.raises(RuntimeError, match=r"not saved in this mode: .*random numbers"):
        loaded.train()(x)
    loaded.eval().bn.train()
    with pytest.raises(RuntimeError, match="another mode than the rest"):
        loaded(x)


def test_running_statistics_are_written():
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    x = torch.randn(6, 3)
    loaded = again(jit.trace(model, x, check_trace=False))
    expected = copy.deepcopy(model)
    result, theirs = loaded(x), expected(x)
    result.sum().backward()
    assert torch.allclose(result, theirs, atol=1e-5)
    for a, b in zip(loaded.buffers(), expected.buffers(), strict=True):
        assert torch.allclose(a, b, atol=1e-6)
    with pytest.raises(RuntimeError, match="at least 2"):
        loaded(x[:1])


def test_arguments_that_are_written_to_and_containers():
    def f(pair, named):
        pair[0][0] = 5.0
        return pair[1] + 1, {"sum": [named["x"] * 2]}

    x, y, z = torch.zeros(4, 2), torch.ones(4, 2), torch.ones(3)
    traced = jit.trace(f, ((x, y), {"x": z}), strict=False)
    loaded = again(traced)
    x = torch.zeros(7, 2)
    first, second = loaded((x, torch.ones(7, 2)), {"x": z})
    assert x[:2].tolist() == [[5, 5], [0, 0]] and first.shape == (7, 2)
    assert second["sum"][0].tolist() == [2, 2, 2]
    with pytest.raises(RuntimeError, match=r"for the arguments .*is called with \(tensor\)"):
        loaded(x)
    with pytest.raises(RuntimeError, match=r"shape \[batch, 2\]"):
        loaded((x, torch.ones(6, 2)), {"x": z})
    with pytest.raises(RuntimeError, match="torch.float64"):
        loaded((x.double(), torch.ones(7, 2)), {"x": z})


def test_methods_and_named_results():
    class Both(nn.Module):
        def forward(self, x):
            return x.sort(dim=-1)

        def twice(self, x, y):
            return 2 * x + y

    x = torch.tensor([[3.0, 1.0], [1.0, 2.0]])
    traced = jit.trace_module(Both(), {"forward": x, "twice": (x, x)})
    loaded = again(traced)
    assert loaded(x).indices.tolist() == [[1, 0], [0, 1]]
    assert loaded.twice(x, x).tolist() == traced.twice(x, x).tolist() == (3 * x).tolist()
    named = jit.trace(Both(), example_kwarg_inputs={"x": x})
    assert again(named)(x=x).values.tolist() == [[1, 3], [1, 2]]
    with pytest.raises(AttributeError, match="nope"):
        jit.trace_module(Both(), {"nope": x})


def test_sizes_that_cannot_change_are_fixed():
    loaded = again(jit.trace(lambda x: x.reshape(2, 6), torch.ones(4, 3)))
    assert loaded(torch.ones(4, 3)).shape == (2, 6)
    with pytest.raises(RuntimeError, match=r"shape \[4, 3\].*shape '\[2, 6\]' is invalid"):
        loaded(torch.ones(5, 3))
    branch = again(jit.trace(lambda x: x * 2 if len(x) < 8 else x * 3, torch.ones(4, 3)))
    with pytest.raises(RuntimeError, match="decides something by sizes"):
        branch(torch.ones(9, 3))


def test_what_no_program_does_is_refused():
    x = torch.ones(2, 3)
    weight = torch.ones(3, requires_grad=True)
    for f, words in [
        (nn.Dropout(), "draws random numbers"),
        (lambda x: x if x.sum() > 0 else -x, "reads numbers"),
        (lambda x: x[x > 0], "reads numbers"),
        (lambda x: x * weight, "requires grad"),
    ]:
        with pytest.raises(RuntimeError, match=words):
            jit.trace(f, x, check_trace=False).save(io.BytesIO())
    with pytest.raises(RuntimeError, match="not called yet"):
        jit.script(Net()).save(io.BytesIO())
    with pytest.raises(AttributeError, match="save_to_buffer"):
        jit.save(Net(), io.BytesIO())

    class Other:
        pass

    scripted = jit.script(lambda x, other: x)
    scripted(x, Other())
    with pytest.raises(RuntimeError, match="does not take"):
        scripted.save(io.BytesIO())
    loaded = again(jit.trace(lambda x: (x * x * x).sum(), x))
    y = torch.ones(2, 3, requires_grad=True)
    (g,) = torch.autograd.grad(loaded(y), y)
    assert g.tolist() == (3 * torch.ones(2, 3)).tolist()


def test_saving_changes_nothing():
    class Counts(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("calls", torch.zeros(()))
            self.last = None

        def forward(self, x):
            self.calls += 1
            self.last = x
            return x * self.calls

    model = Counts()
    traced = jit.trace(model, torch.ones(2), check_trace=False)
    file = saved(traced)
    assert model.calls.item() == 1 and model.last is None
    loaded = jit.load(file)
    assert [loaded(torch.ones(3))[0].item() for _ in range(2)] == [2, 3] and loaded.calls.item() == 3


def test_extra_files_paths_and_other_files(tmp_path):
    path = tmp_path / "model.pt"
    traced = jit.trace(nn.Linear(3, 2), torch.ones(1, 3))
    traced.save(path, {"a.txt": "text", "b": b"bytes"})
    files = {"a.txt": "", "b": "", "missing": ""}
    loaded = jit.load(str(path), "cpu", files)
    assert files == {"a.txt": b"text", "b": b"bytes", "missing": b""}
    assert torch.equal(loaded.weight, traced.weight) and loaded.weight.requires_grad
    assert jit.load(io.BytesIO(traced.save_to_buffer())).original_name == "Linear"
    assert torch.load(path)["format"] == "jaxflow program"  # plain data and tensors, read by the safe reader
    with pytest.raises(TypeError, match="not str or bytes"):
        traced.save(tmp_path / "other.pt", {"a": 3})
    assert not (tmp_path / "other.pt").exists()
    with pytest.raises(ValueError, match="does not exist"):
        jit.load(tmp_path / "nope.pt")
    with pytest.raises(ValueError, match="is a directory"):
        jit.load(tmp_path)
    torch.save({"a": 1}, path)
    with pytest.raises(RuntimeError, match="torch.load"):
        jit.load(path)
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("version", "constants.pkl", "code/__torch__.py"):
            archive.writestr(f"model/{name}", b"3\n")
    for load in (jit.load, torch.load):
        with pytest.raises(RuntimeError, match="TorchScript archive"):
            load(path)


def test_frozen_modules():
    scripted = jit.script(Net())
    with pytest.raises(RuntimeError, match="eval mode"):
        jit.freeze(scripted)
    with pytest.raises(RuntimeError, match="expects a ScriptModule"):
        jit.freeze(Net())
    x = torch.randn(4, 3)
    frozen = jit.freeze(scripted.eval(), ["scale"])
    expected = scripted(x)
    assert torch.equal(frozen(x), expected) and not frozen(x).requires_grad
    assert list(frozen.state_dict()) == [] and frozen.scale == 2.0 and not hasattr(frozen, "fc")
    with torch.no_grad():
        scripted.fc.weight.zero_()
    assert torch.equal(frozen(x), expected)
    assert torch.allclose(again(frozen)(x), expected, atol=1e-6)
    assert jit.optimize_for_inference(jit.script(Net()))(x).shape == (4, 4)


def test_wrappers_in_compiled_functions():
    x = torch.randn(4, 3)
    model = Net().eval()
    traced = jit.trace(model, x)
    for m in (jit.script(model), traced, again(traced), jit.script(lambda x: model(x) * 1)):
        step = torch.compile(lambda x, m=m: m(x).sum())
        for _ in range(3):
            assert torch.allclose(step(x), model(x).sum(), atol=1e-5)


def test_small_names():
    assert jit.wait(jit.fork(lambda a, b: a + b, 1, b=2)) == 3
    with pytest.raises(TypeError, match="Future"):
        jit.wait(3)
    assert jit.Attribute(3, int).value == 3
    tensors, form = jit._flatten((torch.ones(1), [torch.zeros(1), {"a": torch.ones(2)}]))
    assert len(tensors) == 3 and jit._unflatten(tensors, form)[1][1]["a"] is tensors[2]
    before = jit.set_fusion_strategy([("STATIC", 4)])
    assert jit.set_fusion_strategy(before) == [("STATIC", 4)]
    enabled = jit.onednn_fusion_enabled()
    jit.enable_onednn_fusion(True)
    assert jit.onednn_fusion_enabled()
    jit.enable_onednn_fusion(enabled)
    with pytest.warns(UserWarning, match="script mode"), jit.strict_fusion():
        assert jit.script([1]) == [1]
    for refused in (lambda: jit.CompilationUnit("def f(x): return x"), lambda: jit.export_opnames(None),
                    lambda: jit.script(nn.ReLU()).graph, lambda: jit.script(abs).code):
        with pytest.raises(NotImplementedError, match="TorchScript"):
            refused()
    with pytest.raises(pickle.PickleError, match="ScriptFunction"):
        pickle.dumps(jit.script(abs))


@pytest.mark.usefixtures("executor")
def test_gradients_of_loaded_programs():
    x, labels = torch.randn(4, 3), torch.tensor([0, 2, 1, 0])
    model = nn.Linear(3, 3)
    with torch.no_grad():  # a program that is saved where gradients are off has them all the same
        loaded = again(jit.trace(nn.functional.cross_entropy, (x, labels)))
        layer = again(jit.trace(model, x))
    x = torch.randn(6, 3, requires_grad=True)
    labels = torch.tensor([0, 2, 1, 0, 1, 1])
    (found,) = torch.autograd.grad(loaded(x, labels), x)
    (expected,) = torch.autograd.grad(nn.functional.cross_entropy(x, labels), x)
    assert torch.allclose(found, expected, atol=1e-6)
    one = torch.func.grad(lambda row: layer(row[None]).square().sum())
    rows = torch.func.vmap(one)(x.detach())
    assert torch.allclose(rows, 2 * model(x) @ model.weight, atol=1e-5)
    first = torch.autograd.grad(layer(x).square().sum(), x, create_graph=True)[0]
    assert torch.allclose(first, rows, atol=1e-5)
    with pytest.raises(RuntimeError, match="no gradient of its gradient"):
        torch.autograd.grad(first.sum(), x)[0].tolist()


def test_what_attributes_hold_is_the_twins():
    class Held(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 2)
            self.calls = {"first": (self.fc, [functools.partial(self.double, self.fc)])}
            self.direct = lambda x: 1 * self.fc(x)

        def double(self, layer, x):
            return 2 * layer(x)

        def forward(self, x):
            return self.calls["first"][1][0](x) + self.calls["first"][0](x)

    model, x = Held(), torch.ones(4, 3)
    scripted = jit.script(model)
    layer, (call,) = scripted.calls["first"]
    assert layer is call.args[0] is scripted.fc is not model.fc and call.func.__self__ is scripted
    loaded = again(jit.trace(model, x))
    with torch.no_grad():
        loaded.fc.weight.zero_()
    assert torch.allclose(loaded(x), 3 * loaded.fc.bias.expand(4, 2))
    model.forward = model.direct  # which reads the parameters of the module itself, not those of its twin
    with pytest.raises(RuntimeError, match="requires grad"):
        jit.trace(model, x, check_trace=False).save(io.BytesIO())

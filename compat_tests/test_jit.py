"""Traced, scripted, saved and exported modules, held against PyTorch's own."""

import copy
import io
import typing
import warnings

import numpy as np
import pytest
import torch

import jaxflow

pytestmark = pytest.mark.filterwarnings("ignore:.*deprecated.*:DeprecationWarning",
                                        "ignore:.*is not supported in Python 3.14.*:DeprecationWarning",
                                        "ignore:.*LeafSpec.*:FutureWarning")
BOTH = pytest.mark.parametrize("lib", [torch, jaxflow], ids=["torch", "jaxflow"])

#: Modules, and the shapes that they are traced and called with.
MODULES = {
    "perceptron": (lambda nn: nn.Sequential(nn.Linear(3, 8), nn.GELU(), nn.Linear(8, 2)), (4, 3), (7, 3)),
    "convolutions": (lambda nn: nn.Sequential(
        nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(4, 4, 3, groups=2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3)).eval(),
                     (2, 2, 10, 10), (5, 2, 10, 10)),
    "transposed": (lambda nn: nn.Sequential(
        nn.ConvTranspose1d(2, 3, 3, stride=2), nn.GroupNorm(3, 3), nn.SiLU()), (2, 2, 6), (3, 2, 6)),
    "recurrent": (lambda nn: nn.GRU(3, 4, num_layers=2, batch_first=True), (2, 5, 3), (4, 5, 3)),
    "attention": (lambda nn: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval(),
                  (2, 5, 8), (3, 5, 8)),
    "normalized": (lambda nn: nn.Sequential(nn.LayerNorm(6), nn.Softmax(-1), nn.Dropout(0.5)).eval(),
                   (3, 6), (1, 6)),
}

FUNCTIONS = {
    "mean": (lambda t, x: x.mean(0) + x.var(0), (4, 3), (6, 3)),
    "reshape": (lambda t, x: x.view(x.size(0), -1).transpose(0, 1) @ x.flatten(1), (4, 3, 2), (6, 3, 2)),
    "choices": (lambda t, x: t.where(x > 0, x, x.exp())[1:], (4, 3), (6, 3)),
    "several": (lambda t, x: (t.cat([x, x * 2]), x.max(dim=1).values, x.argsort(-1)), (4, 3), (6, 3)),
    "scores": (lambda t, x: t.softmax(x @ x.transpose(-1, -2) / x.size(-1) ** 0.5, -1) @ x,
               (4, 3, 2), (2, 3, 2)),
    "linear algebra": (lambda t, x: t.linalg.solve(x + 3 * t.eye(3), x), (4, 3, 3), (2, 3, 3)),
    "zeros": (lambda t, x: t.zeros(x.size(0), 2) + x.sum(-1, keepdim=True), (4, 3), (6, 3)),
}


def numbers(shape):
    return np.random.default_rng(len(shape)).normal(size=shape).astype(np.float32)


def saved_and_loaded(lib, traced):
    file = io.BytesIO()
    lib.jit.save(traced, file)
    file.seek(0)
    return lib.jit.load(file)


def results(x):
    return [r for item in x for r in results(item)] if isinstance(x, (tuple, list)) else [x.detach().numpy()]


def assert_same(ours, theirs):
    for a, b in zip(results(ours), results(theirs), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", MODULES)
def test_modules(name):
    make, shape, other = MODULES[name]
    theirs, ours = make(torch.nn), make(jaxflow.nn)
    ours.load_state_dict({key: jaxflow.tensor(x.numpy()) for key, x in theirs.state_dict().items()})
    loaded = []
    for lib, module in ((torch, theirs), (jaxflow, ours)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # TracerWarning of PyTorch's own layers
            traced = lib.jit.trace(module, lib.tensor(numbers(shape)), check_trace=False)
            loaded.append(saved_and_loaded(lib, traced))
    assert list(loaded[0].state_dict()) == list(loaded[1].state_dict())
    gradients = []
    for x in (numbers(shape), numbers(other)):
        a, b = (m(lib.tensor(x)) for lib, m in zip((torch, jaxflow), loaded, strict=True))
        assert_same(b, a)
        assert_same(ours(jaxflow.tensor(x)), a)
    for result, m in ((a, loaded[0]), (b, loaded[1])):
        (result[0] if isinstance(result, tuple) else result).square().sum().backward()
        gradients.append([p.grad for p in m.parameters()])
    assert_same(gradients[1], gradients[0])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    function, shape, other = FUNCTIONS[name]
    traced = jaxflow.jit.trace(lambda x: function(jaxflow, x), jaxflow.tensor(numbers(shape)))
    ours = saved_and_loaded(jaxflow, traced)
    for x in (numbers(shape), numbers(other)):
        assert_same(ours(jaxflow.tensor(x)), function(torch, torch.tensor(x)))


def net(lib):
    class Net(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = lib.nn.Linear(3, 2)
            self.drop = lib.nn.Dropout(0.5)
            self.register_buffer("shift", lib.ones(2))
            self.scale = 2.0

        def forward(self, x):
            return self.drop(self.fc(x)) * self.scale + self.shift

    return Net()


def helper(x):
    return x * 2


@BOTH
def test_wrappers(lib):
    """What programs see of a scripted and of a traced module: the same in both libraries."""
    model, x = net(lib), lib.ones(4, 3)
    traced = lib.jit.trace(model.eval(), x)
    scripted = lib.jit.script(model)
    for m in (traced, scripted):
        assert isinstance(m, lib.jit.ScriptModule) and isinstance(m, lib.nn.Module)
        assert list(m.state_dict()) == list(model.state_dict()) and m.original_name == "Net"
        assert m.fc.weight is model.fc.weight and not m.training
        assert [name for name, _ in m.named_modules()] == [name for name, _ in model.named_modules()]
        assert m.fc.weight.requires_grad and lib.allclose(m(x), model(x))
        with pytest.raises(AttributeError, match="has no attribute 'nope'"):
            m.nope  # noqa: B018
        copied = copy.deepcopy(m)
        assert copied.fc.weight is not model.fc.weight and lib.allclose(copied(x), model(x))
    assert repr(traced) == ("Net(\n  original_name=Net\n  (fc): Linear(original_name=Linear)\n"
                            "  (drop): Dropout(original_name=Dropout)\n)")
    assert repr(scripted).startswith("RecursiveScriptModule(\n  original_name=Net\n  (fc): "
                                     "RecursiveScriptModule(")
    assert scripted.scale == 2.0
    traced.train()
    scripted.train()
    assert not model.training and lib.allclose(traced(x), model(x)) and scripted.drop.training
    with lib.no_grad():
        model.fc.weight.zero_()
    assert lib.allclose(traced(x), lib.ones(2) + 2 * model.fc.bias)
    with pytest.warns(UserWarning, match="already a ScriptModule"):
        assert lib.jit.trace(traced, x) is traced
    assert lib.jit.script(scripted) is scripted
    function = lib.jit.script(helper)
    assert isinstance(function, lib.jit.ScriptFunction) and function(x=lib.ones(1)).item() == 2
    assert lib.jit.trace(helper, x)(lib.ones(3)).tolist() == [2, 2, 2]


@BOTH
def test_archives(lib, tmp_path):
    traced = lib.jit.trace(net(lib).eval(), lib.ones(4, 3))
    path = str(tmp_path / "m.pt")
    traced.save(path, _extra_files={"a.txt": "text"})
    files = {"a.txt": "", "missing": ""}
    loaded = lib.jit.load(path, map_location="cpu", _extra_files=files)
    assert files == {"a.txt": b"text", "missing": b""}
    assert isinstance(loaded, lib.jit.ScriptModule) and loaded.original_name == "Net"
    assert repr(loaded).startswith("RecursiveScriptModule(\n  original_name=Net")
    assert [name for name, _ in loaded.named_buffers()] == ["shift"]
    assert lib.allclose(loaded(lib.ones(2, 3)), traced(lib.ones(2, 3)))
    loaded.load_state_dict(traced.state_dict())
    with pytest.raises(RuntimeError):
        loaded(lib.ones(2, 4))
    with pytest.raises(RuntimeError):
        loaded(lib.ones(2, 3), lib.ones(2, 3))
    with pytest.raises(ValueError, match=r"The provided filename .* does not exist"):
        lib.jit.load(str(tmp_path / "nope.pt"))
    with pytest.raises(ValueError, match="is a directory"):
        lib.jit.load(str(tmp_path))
    with pytest.raises(AttributeError, match="save_to_buffer"):
        lib.jit.save(net(lib), io.BytesIO())


def test_archives_of_pytorch_are_refused(tmp_path):
    path = str(tmp_path / "m.pt")
    torch.jit.trace(net(torch).eval(), torch.ones(4, 3)).save(path)
    with pytest.raises(RuntimeError, match="TorchScript archive of PyTorch"):
        jaxflow.jit.load(path)
    path = str(tmp_path / "m.pt2")
    torch.export.save(torch.export.export(net(torch).eval(), (torch.ones(4, 3),)), path)
    with pytest.raises(RuntimeError, match=r"archive of PyTorch's torch\.export"):
        jaxflow.export.load(path)


@BOTH
@pytest.mark.parametrize(("call", "error", "words"), [
    (lambda lib, x: lib.jit.trace(lambda x, n: x + n, (x, 2)), RuntimeError, "cannot be traced"),
    (lambda lib, x: lib.jit.trace(lambda x: None, x), RuntimeError, "didn't return any values"),
    (lambda lib, x: lib.jit.trace(lambda x: 3, x), RuntimeError, "Only tensors, lists, tuples of tensors"),
    (lambda lib, x: lib.jit.trace(lambda x: {"a": x}, x), RuntimeError, "Encountering a dict at the output"),
    (lambda lib, x: lib.jit.trace(net(lib)), RuntimeError, "example_kwarg_inputs should be a dict"),
    (lambda lib, x: lib.jit.trace(net(lib).zero_grad, x), AttributeError, "Please use trace_module"),
    (lambda lib, x: lib.jit.trace_module(3, {}), AttributeError, r"expected torch\.nn\.Module"),
    (lambda lib, x: lib.jit.trace_module(net(lib), x), AttributeError, "expected a dictionary"),
    (lambda lib, x: lib.jit.trace_module(net(lib), {"nope": x}), AttributeError, "nope"),
    (lambda lib, x: lib.jit.freeze(lib.jit.script(net(lib))), RuntimeError, "eval mode"),
    (lambda lib, x: lib.jit.freeze(net(lib)), RuntimeError, "Freezing expects a ScriptModule"),
    (lambda lib, x: lib.jit.isinstance([1], list), RuntimeError, "without a contained type"),
    (lambda lib, x: lib.jit.interface(3), RuntimeError, "must be applied to a class"),
    (lambda lib, x: lib.jit.ignore(3), RuntimeError, "must be a bool or a function"),
    (lambda lib, x: lib.jit.wait(3), TypeError, "wait"),
    (lambda lib, x: lib.jit.script(3), TypeError, "int"),
])
def test_errors(lib, call, error, words):
    with pytest.raises(error, match=words):
        call(lib, lib.ones(4, 3))


@pytest.mark.filterwarnings("ignore:.*inner type.*:UserWarning")
@pytest.mark.parametrize(("value", "kind"), [
    ([1], list[int]), ([1], list[str]), ({"a": 1}, dict[str, int]), ({"a": 1}, dict[int, int]),
    (None, typing.Optional[int]), (3, typing.Optional[int]), ("a", typing.Optional[int]),  # noqa: UP045
    ((1, "a"), tuple[int, str]), ((1,), tuple[int, str]), (3, (int, str)), ([], list[int]), (3, float),
    ([[1], [2]], list[list[int]]), ([[1], ["a"]], typing.List[typing.List[int]]),  # noqa: UP006
])
def test_isinstance(value, kind):
    assert jaxflow.jit.isinstance(value, kind) == torch.jit.isinstance(value, kind)


@BOTH
def test_exported_programs(lib):
    model, x = net(lib).eval(), lib.ones(4, 3)
    batch = lib.export.Dim("batch", max=8)
    program = lib.export.export(model, (x,), dynamic_shapes={"x": {0: batch}})
    signature = program.graph_signature
    assert signature.parameters == ("fc.weight", "fc.bias") and signature.buffers == ("shift",)
    assert signature.user_inputs == ("x",) and len(signature.user_outputs) == 1
    assert signature.inputs_to_parameters == {"p_fc_weight": "fc.weight", "p_fc_bias": "fc.bias"}
    assert signature.inputs_to_buffers == {"b_shift": "shift"} and signature.backward_signature is None
    assert sorted(program.state_dict) == sorted(model.state_dict())
    assert str(signature).startswith("\n# inputs\np_fc_weight: PARAMETER target='fc.weight'\n")
    file = io.BytesIO()
    lib.export.save(program, file, extra_files={"a": "text"})
    file.seek(0)
    files = {"a": ""}
    loaded = lib.export.load(file, extra_files=files)
    assert files == {"a": "text"} and loaded.graph_signature == signature
    for run in (program.module(), loaded.module()):
        assert lib.allclose(run(lib.ones(7, 3)), model(lib.ones(7, 3)))
        for n, m, words in ((9, 3, r"x\.size\(\)\[0\] <= 8"), (4, 2, r"x\.size\(\)\[1\] == 3")):
            with pytest.raises(AssertionError, match=f"Guard failed: {words}"):
                run(lib.ones(n, m))
        with pytest.raises(ValueError, match="same number and type"):
            run(x, x)
        with pytest.raises(NotImplementedError, match=r"Calling eval\(\)"):
            run.eval()
    with pytest.raises(RuntimeError, match="Unable to call ExportedProgram directly"):
        program(x)
    with pytest.raises(RuntimeError, match=r"Constraints violated \(c\)"):
        lib.export.export(model, (x,), dynamic_shapes={"x": {1: lib.export.Dim("c")}})
    with pytest.raises(RuntimeError, match="top-level keys must be the arg names"):
        lib.export.export(model, (x,), dynamic_shapes={"y": None})
    with pytest.raises(ValueError, match=r"instance of `torch\.nn\.Module`"):
        lib.export.export(helper, (x,))
    with pytest.raises(TypeError, match="must be an instance of 'ExportedProgram'"):
        lib.export.save(model, io.BytesIO())

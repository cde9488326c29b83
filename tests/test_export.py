"""Modules as exported programs, with sizes that may change."""

import io

import pytest

import jaxflow as torch
from jaxflow import nn
from jaxflow._dynamo.exc import UserError
from jaxflow.export import Dim, ShapesCollection, dims, export, load, save


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
        self.bn = nn.BatchNorm1d(2)
        self.register_buffer("shift", torch.ones(2), persistent=False)
        self.constant = torch.ones(2)

    def forward(self, x, y=None, *, k=1.0):
        r = self.bn(self.fc(x)) + self.shift + self.constant
        return r if y is None else {"r": r * k, "y": (y + 1, 3)}


@pytest.mark.usefixtures("executor")
def test_a_program_does_what_its_module_does():
    model, x = Net().eval(), torch.randn(4, 3)
    program = export(model, (x,))
    run = program.module()
    assert torch.allclose(run(x), model(x), atol=1e-6)
    assert run.fc.weight is model.fc.weight is program.state_dict["fc.weight"]
    run(x).sum().backward()
    assert model.fc.weight.grad is not None
    s = program.graph_signature
    assert s.parameters == ("fc.weight", "fc.bias", "bn.weight", "bn.bias")
    assert s.buffers == ("shift", "bn.running_mean", "bn.running_var", "bn.num_batches_tracked")
    assert s.non_persistent_buffers == ("shift",) and list(program.constants) == ["shift"]
    assert s.user_inputs == ("x",) and s.user_outputs == ("output",) and not s.buffers_to_mutate
    assert set(program.state_dict) == set(model.state_dict())
    assert "b_shift: BUFFER target='shift' persistent=False" in str(s)


def test_arguments_are_checked():
    model, x = Net().eval(), torch.randn(4, 3)
    program = export(model, (x,), {"y": x, "k": 2.0})
    run = program.module()
    result = run(x, y=x, k=2.0)
    assert torch.allclose(result["r"], model(x) * 2, atol=1e-5) and result["y"][1] == 3
    assert program.graph_signature.user_inputs == ("x", "y", 2.0)
    assert program.graph_signature.user_outputs == ("output", "output_1", 3)
    for call, error, words in [
        (lambda: run(x[:2], y=x, k=2.0), AssertionError, r"Guard failed: x\.size\(\)\[0\] == 4"),
        (lambda: run(x, y=x.double(), k=2.0), AssertionError, r"Guard failed: y\.dtype"),
        (lambda: run(x, y=x[0], k=2.0), AssertionError, r"Guard failed: y\.ndim"),
        (lambda: run(x, y=x, k=3.0), AssertionError, "Guard failed"),
        (lambda: run(x, y=x), ValueError, "kwarg keyword mismatch"),
        (lambda: run(x, x, y=x, k=2.0), ValueError, "same number and type"),
        (lambda: program(x), RuntimeError, "Unable to call ExportedProgram directly"),
        (run.eval, NotImplementedError, r"Calling eval\(\)"),
        (lambda: run.fc(x), NotImplementedError, "inside it"),
        (lambda: program.graph_module, NotImplementedError, "stablehlo"),
        (lambda: export(lambda x: x, (x,)), ValueError, "instance of `torch.nn.Module`"),
        (lambda: export(model, x), UserError, "tuple of example positional inputs"),
        (lambda: export(torch.jit.script(model), (x,)), ValueError, "ScriptModule"),
        (lambda: export(nn.Dropout(), (x,)), RuntimeError, "random numbers"),
    ]:
        with pytest.raises(error, match=words):
            call()


def test_sizes_that_may_change():
    model, x = Net().eval(), torch.randn(4, 3)
    for shapes in ({"x": {0: Dim("batch")}}, ({0: Dim.AUTO},), [(Dim.DYNAMIC, Dim.STATIC)],
                   {"x": (Dim.AUTO, Dim.AUTO)}):
        run = export(model, (x,), dynamic_shapes=shapes).module()
        assert torch.allclose(run(torch.ones(7, 3)), model(torch.ones(7, 3)), atol=1e-6)
        with pytest.raises(AssertionError, match=r"x\.size\(\)\[1\] == 3"):
            run(torch.ones(7, 4))
    program = export(model, (x,), dynamic_shapes={"x": {0: Dim("b", min=2, max=8)}})
    assert program.range_constraints["b"] == (2, 8)
    for n, words in ((9, r"\[0\] <= 8"), (1, r"\[0\] >= 2")):
        with pytest.raises(AssertionError, match=words):
            program.module()(torch.ones(n, 3))
    collection = ShapesCollection()
    collection[x] = {0: Dim("b")}
    assert export(model, (x,), dynamic_shapes=collection).module()(torch.ones(2, 3)).shape == (2, 2)


def test_several_sizes_and_sizes_that_follow():
    class Two(nn.Module):
        def forward(self, pair, named, *rest):
            return pair[0].repeat(2) + pair[1], named["x"] @ rest[0]

    a, b = dims("a", "b")
    args = ([torch.ones(4), torch.ones(8)], {"x": torch.ones(3, 5)}, torch.ones(5, 2))
    program = export(Two(), args, dynamic_shapes=([(a,), {0: 2 * a}], {"x": {1: b}}, {0: b}))
    assert program.graph_signature.user_inputs == ("pair_0", "pair_1", "named_x", "rest_0")
    run = program.module()
    first, second = run([torch.ones(3), torch.ones(6)], {"x": torch.ones(3, 9)}, torch.ones(9, 2))
    assert first.tolist() == [2.0] * 6 and second.tolist() == [[9.0, 9.0]] * 3
    with pytest.raises(AssertionError, match=r"pair_1\.size\(\)\[0\] == 2 \* a"):
        run([torch.ones(3), torch.ones(7)], {"x": torch.ones(3, 9)}, torch.ones(9, 2))
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    shapes = {"src": {0: Dim("batch"), 1: Dim("length")}}
    run = export(layer, (torch.randn(2, 5, 8),), dynamic_shapes=shapes).module()
    x = torch.randn(3, 9, 8)
    assert torch.allclose(run(x), layer(x), atol=1e-5)


def test_positions_and_masks_of_a_length_that_may_change():
    class Causal(nn.Module):
        def __init__(self):
            super().__init__()
            self.positions = nn.Embedding(16, 4)
            self.register_buffer("table", torch.randn(1, 16, 4))

        def forward(self, x):
            b, t, c = x.shape
            x = x + self.positions(torch.arange(t)) + self.table[:, :t]
            mask = torch.full((t, t), float("-inf")).triu(1)
            return (x @ x.transpose(1, 2) / c**0.5 + mask).softmax(-1) @ x

    model, x = Causal(), torch.randn(3, 9, 4)
    shapes = {"x": {0: Dim("b"), 1: Dim("t", max=16)}}
    program = export(model, (torch.randn(2, 5, 4),), dynamic_shapes=shapes)
    save(program, file := io.BytesIO())
    file.seek(0)
    for run in (program.module(), load(file).module()):
        assert torch.allclose(run(x), model(x), atol=1e-5)
        with pytest.raises(AssertionError, match=r"x\.size\(\)\[1\] <= 16"):
            run(torch.randn(3, 17, 4))
    with pytest.raises(UserError, match=r"Constraints violated \(t\).*<= '?16"):
        export(model, (torch.randn(2, 5, 4),), dynamic_shapes={"x": {1: Dim("t")}})


def test_sizes_that_cannot_change():
    class BySize(nn.Module):
        def forward(self, x):
            return x * 2 if len(x) < 8 else x * 3

    class Squeezed(nn.Module):
        def forward(self, x):
            return x.squeeze()

    x = torch.ones(4, 3)
    for module, shapes, words in [
        (BySize(), {"x": {0: Dim("b")}}, r"Constraints violated \(b\).*something else at \(16,\)"),
        (nn.Linear(3, 2), {"input": {1: Dim("c")}}, r"Constraints violated \(c\)"),
        (nn.Linear(3, 2), {"input": {1: Dim.DYNAMIC}}, "Constraints violated"),
        (nn.Linear(3, 2), {"input": {1: 4}}, "Constraints violated"),
        (nn.Linear(3, 2), {"nope": None}, "must be the arg names"),
        (nn.Linear(3, 2), (None, None), "has 1 elements"),
        (nn.Linear(3, 2), {"input": (None,)}, "length"),
        (nn.Linear(3, 2), {"input": 3}, "Unexpected dynamic shape spec"),
        (nn.Linear(3, 2), {"input": {0: "b"}}, "Unexpected dimension spec"),
    ]:
        with pytest.raises(UserError, match=words):
            export(module, (x,), dynamic_shapes=shapes)
    assert export(BySize(), (x,), dynamic_shapes={"x": {0: Dim("b", max=7)}}).module()(x[:2]).sum() == 12
    with pytest.raises(AssertionError, match=r"x\.size\(\)\[0\] == 4"):
        export(BySize(), (x,), dynamic_shapes={"x": {0: Dim.AUTO}}).module()(x[:2])
    with pytest.raises(AssertionError, match=r"x\.size\(\)\[0\] >= 2"):
        export(Squeezed(), (x,), dynamic_shapes={"x": {0: Dim("b")}}).module()(x[:1])
    with pytest.raises(UserError, match="data-dependent"):
        export(Branch(), (x,))


class Branch(nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x


def test_state_is_written_and_exporting_is_seen():
    class Counts(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("calls", torch.zeros(()))

        def forward(self, x):
            self.calls += 1
            return x + (10 if torch.compiler.is_exporting() else 20)

    model = Counts()
    program = export(model, (torch.zeros(2),))
    assert model.calls.item() == 0 and not torch.compiler.is_exporting()
    run = program.module()
    assert run(torch.zeros(2)).tolist() == [10, 10] and run.calls.item() == 1
    assert program.graph_signature.buffers_to_mutate == {"new_b_calls": "calls"}


def test_archives(tmp_path):
    model, x = Net().eval(), torch.randn(4, 3)
    program = export(model, (x,), dynamic_shapes={"x": {0: Dim("batch", max=9)}})
    path = tmp_path / "program.pt2"
    save(program, path, extra_files={"note": "text"})
    files = {"note": ""}
    loaded = load(path, extra_files=files)
    assert files == {"note": "text"} and loaded.graph_signature == program.graph_signature
    assert loaded.range_constraints == program.range_constraints and loaded.example_inputs is None
    assert torch.allclose(loaded.module()(torch.ones(9, 3)), model(torch.ones(9, 3)), atol=1e-6)
    assert "stablehlo.dot_general" in loaded.stablehlo()
    assert loaded.run_decompositions() is loaded
    with pytest.raises(RuntimeError, match="torch.export.load"):
        torch.jit.load(path)
    torch.jit.trace(model, x).save(path)
    with pytest.raises(RuntimeError, match="torch.jit.load"):
        load(path)
    with pytest.raises(TypeError, match="must be an instance of 'ExportedProgram'"):
        save(model, io.BytesIO())


def test_dimensions():
    b = Dim("b", max=4)
    assert repr(b) == "Dim('b', min=0, max=4)" and repr(2 * b + 1) == "2*b + 1" and (2 * b + 1).max == 9
    assert repr(Dim.AUTO(min=2)) == "DimHint(AUTO, min=2)"
    for wrong in (lambda: Dim("a b"), lambda: Dim("a", min=4, max=2)):
        with pytest.raises(AssertionError):
            wrong()
    with pytest.raises(NotImplementedError, match="whole factor"):
        b * 0.5

"""Symbolic tracing without PyTorch: executors, compiled and saved modules, threads, interrupts, refusals."""

import copy
import doctest
import gc
import importlib
import inspect
import io
import linecache
import math
import operator
import os
import pathlib
import pickle
import pkgutil
import subprocess
import sys
import textwrap
import threading
import traceback
import warnings

import pytest

import jaxflow as torch
from jaxflow import fx, nn
from jaxflow.fx import _patching
from jaxflow.fx._names import find, qualified_name
from jaxflow.fx.experimental.optimization import fuse
from jaxflow.fx.experimental.proxy_tensor import make_fx
from jaxflow.fx.experimental.symbolic_shapes import (
    ShapeEnv,
    free_symbols,
    guard_or_false,
    statically_known_true,
    sym_eq,
)
from jaxflow.fx.passes.graph_drawer import FxGraphDrawer
from jaxflow.fx.passes.infra.pass_base import PassBase, PassResult
from jaxflow.fx.passes.infra.pass_manager import PassManager
from jaxflow.fx.passes.shape_prop import ShapeProp
from jaxflow.nn import functional as F


@fx.wrap
def shifted(x, by=1):
    """Recorded whole."""
    return x + by if len(x) > 1 else x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first = nn.Linear(4, 4)
        self.rest = nn.Sequential(nn.ReLU(), nn.Linear(4, 2))
        self.scale = nn.Parameter(torch.ones(2))

    def forward(self, x):
        x = F.gelu(self.first(shifted(x))) * math.sqrt(x.size(0))
        return self.rest(x) * self.scale + torch.full((2,), 0.5)


def places():
    """What tracing patches, as it stands now."""
    return (nn.Module.__call__, nn.Module.__getattr__, math.sqrt, vars(math)["floor"], shifted,
            "__getattr__" in vars(nn.Module))


def test_values_and_gradients_are_the_modules(executor):
    net, x = Net(), torch.arange(12.0).reshape(3, 4)
    traced = fx.symbolic_trace(net)
    wanted = net(x)
    wanted.sum().backward()
    grads = [p.grad.tolist() for p in net.parameters()]
    net.zero_grad()
    found = traced(x)
    found.sum().backward()
    assert torch.allclose(found, wanted) and [p is q for p, q in zip(net.parameters(), traced.parameters())]
    for p, grad in zip(net.parameters(), grads, strict=True):
        assert torch.allclose(p.grad, torch.tensor(grad))
    assert torch.allclose(fx.Interpreter(traced).run(x), wanted)
    assert torch.allclose(fx.Transformer(traced).transform()(x), wanted)


def test_it_is_trained_and_compiled(executor):
    traced, x = fx.symbolic_trace(Net()), torch.ones(3, 4)
    optimizer = torch.optim.SGD(traced.parameters(), lr=0.01)
    losses = []
    step = torch.compile(lambda x: traced(x).square().mean())
    for _ in range(4):
        loss = step(x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses == sorted(losses, reverse=True)
    assert torch.allclose(torch.compile(traced)(x), traced(x))
    plain = fx.symbolic_trace(lambda x: torch.relu(x - 1) * 2)
    assert torch.func.vmap(plain)(x).tolist() == plain(x).tolist()
    assert torch.func.grad(lambda x: plain(x).sum())(x + 1).tolist() == [[2.0] * 4] * 3


def activated(x):
    return torch.relu(x)


def test_states_are_loaded(executor):
    net, other = Net(), fx.symbolic_trace(Net())
    with torch.no_grad():
        net.scale.fill_(3)
    other.load_state_dict(net.state_dict(), strict=False)
    assert other.scale.tolist() == [3, 3] and "_tensor_constant0" in other.state_dict()


@pytest.mark.parametrize("way", ["pickle", "save", "deepcopy", "copy"])
def test_copies_compute_the_same(way):
    traced, x = fx.symbolic_trace(Net()), torch.ones(3, 4)
    traced.note = "kept"
    if way == "pickle":
        made = pickle.loads(pickle.dumps(traced))
    elif way == "save":
        file = io.BytesIO()
        torch.save(traced, file)
        file.seek(0)
        made = torch.load(file, weights_only=False)
    else:
        made = getattr(copy, way)(traced)
    assert made.code == traced.code and torch.equal(made(x), traced(x))
    assert type(made) is not type(traced) and isinstance(made, fx.GraphModule)
    if way != "copy":
        assert made.first is not traced.first and made.note == "kept"
    made.graph.lint()


def test_saved_code_means_jaxflow_by_torch():
    """Its imports are PyTorch's words, so that files go both ways."""
    body, block = fx.symbolic_trace(Net()).__reduce__()[1]
    assert "import torch\n" in f"{block}\n" and "jaxflow" not in block + body["_code"]
    made = fx.graph_module.reduce_graph_module(body, block)
    assert torch.equal(made(torch.ones(2, 4)), Net()(torch.ones(2, 4)))


def test_what_cannot_be_imported_is_named_when_it_is_saved():
    def inner(x):
        return x

    tracer = fx.Tracer(autowrap_functions=(inner,))
    graph = tracer.trace(lambda x: x)
    with graph.inserting_before(graph.output_node()):
        graph.call_function(inner, (1,))
    with pytest.raises(ValueError, match="put it at the top of a module"):
        pickle.dumps(fx.GraphModule(nn.Module(), graph))


def test_a_package_of_code(tmp_path, monkeypatch):
    traced, x = fx.symbolic_trace(Net()).eval(), torch.ones(3, 4)
    traced.to_folder(tmp_path / "written_net", "Written")
    monkeypatch.syspath_prepend(tmp_path)
    try:
        made = importlib.import_module("written_net").Written()
    finally:
        for name in [n for n in sys.modules if n.startswith("written_net")]:
            del sys.modules[name]
    assert torch.equal(made(x), traced(x))
    assert made.state_dict().keys() == traced.state_dict().keys()


# ----------------------------------------------------------------------------------- patches


def failing(x):
    raise KeyError("inside")


def bool_of(x):
    return x if x else -x


@pytest.mark.parametrize("fn", [failing, lambda x: 1 / 0, bool_of, lambda x: math.floor(x) + 1])
def test_what_was_patched_is_put_back(fn):
    before = places()
    try:
        fx.symbolic_trace(fn)
    except (KeyError, ZeroDivisionError, fx.proxy.TraceError) as error:
        assert error is not None
    assert places() == before and not fx._symbolic_trace.is_fx_tracing()


def is_free(lock):
    """Whether another thread may take it."""
    found = []

    def take():
        found.append(lock.acquire(blocking=False))
        if found[0]:
            lock.release()

    thread = threading.Thread(target=take)
    thread.start()
    thread.join()
    return found[0]


def test_an_interrupt_at_any_line_leaves_nothing_patched():
    """A signal handler may raise between any two lines of the tracer, and of what puts things back."""
    before = places()
    files = {str(pathlib.Path(_patching.__file__)), str(pathlib.Path(fx.__file__).parent / "_tracer.py")}
    nets, seen = [Net(), Net()], 0  # each trace gives its module one more constant
    gc.collect()  # what earlier tests have traced adds lines to a trace, as long as it is there

    def raise_at(number):
        count = 0

        def watch(frame, event, arg):
            nonlocal count
            # Tracer.trace itself is a block with a lock, whose C code answers no signal as it ends.
            if frame.f_code.co_filename not in files or frame.f_code.co_name == "trace":
                return None
            if event == "line":
                count += 1
                if count == number:
                    raise KeyboardInterrupt
            return watch

        return watch, lambda: count

    def interrupted(net, watch):
        tracer = fx.Tracer()
        sys.settrace(watch)
        try:
            tracer.trace(net)
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(None)
        return False

    watch, lines = raise_at(-1)
    assert not interrupted(nets[0], watch)
    watch, lines = raise_at(-1)
    assert not interrupted(nets[1], watch)
    for number in [*range(1, 60), *range(60, lines(), 29), *range(lines() - 60, lines() + 1)]:
        seen += interrupted(Net(), raise_at(number)[0])
        assert places() == before, number
        assert not fx._symbolic_trace.is_fx_tracing(), number
        assert is_free(_patching.LOCK), number
    assert seen > 120 and not interrupted(Net(), raise_at(lines() + 1)[0])


def test_other_threads_call_modules_meanwhile():
    """They compute; what traces records its own calls only."""
    net, found, inside, go_on = Net(), [], threading.Event(), threading.Event()

    class Waiting(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = Net()

        def forward(self, x):
            inside.set()
            go_on.wait(20)
            return self.net(x)

    def compute():
        inside.wait(20)
        found.append(net(torch.ones(3, 4)))
        go_on.set()

    thread = threading.Thread(target=compute)
    thread.start()
    graph = fx.symbolic_trace(Waiting()).graph
    thread.join()
    assert torch.allclose(found[0], net(torch.ones(3, 4)))
    assert [n.target for n in graph.nodes if n.op == "call_module"] == ["net.first", "net.rest.0",
                                                                        "net.rest.1"]


def test_several_threads_trace():
    results = []

    def trace():
        results.extend(fx.symbolic_trace(Net()).code for _ in range(5))

    before = places()
    threads = [threading.Thread(target=trace) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 20 and len(set(results)) == 1 and places() == before


def test_tracing_within_tracing():
    inner = []

    def outer(x):
        inner.append(fx.symbolic_trace(Net()).code)
        return shifted(x) + math.floor(x.size(0))

    graph = fx.symbolic_trace(outer).graph
    assert "self.first" in inner[0]
    assert [n.name for n in graph.nodes] == ["x", "shifted", "size", "floor", "add", "output"]


def test_code_that_is_gone_leaves_nothing():
    def left():
        gc.collect()
        files = [name for name in list(linecache.cache) if "<eval_with_key>" in name]
        return {*_patching._wrapped_fns_to_patch, *files}

    before = left()  # some of it may go later
    for _ in range(5):
        traced = fx.symbolic_trace(Net())
        traced.recompile()
    assert left() - before
    del traced
    assert not left() - before


# ------------------------------------------------------------------------------------ code


def test_names_lead_to_what_they_name():
    """Every public function is found under the name that generated code has for it."""
    checked = 0
    for module in (torch, F, torch.linalg, torch.fft, torch.special):
        for name, fn in vars(module).items():
            if inspect.isfunction(fn) and not name.startswith("_") and hasattr(fn, "__op__"):
                full = qualified_name(fn)
                found = find(full)
                assert found is fn or qualified_name(found) == full, name
                checked += 1
    assert checked > 300


def test_errors_show_the_line_of_the_code():
    traced = fx.symbolic_trace(Net())
    try:
        traced(torch.ones(3, 7))
    except RuntimeError as error:
        text = "".join(traceback.format_exception(error))
    assert "first = self.first(shifted)" in text and "<eval_with_key>" in text
    with pytest.raises(RuntimeError) as caught:
        fx.Interpreter(traced).run(torch.ones(3, 7))
    assert "While executing %first" in "".join(caught.value.__notes__)


def test_a_changed_graph_runs_after_it_is_compiled_anew():
    traced = fx.symbolic_trace(lambda x: torch.relu(x) + 1)
    for node in traced.graph.find_nodes(op="call_function", target=torch.relu):
        node.target = torch.neg
    x = torch.tensor([-1.0, 2.0])
    assert traced(x).tolist() == [1.0, 3.0]
    traced.recompile()
    assert traced(x).tolist() == [2.0, -1.0]
    traced.graph = fx.symbolic_trace(lambda x: x * 2).graph
    assert traced(x).tolist() == [-2.0, 4.0]


def test_subclasses_keep_their_class():
    class Own(fx.GraphModule):
        def extra(self):
            return len(self.graph.nodes)

    made = Own(nn.Module(), fx.symbolic_trace(lambda x: x).graph)
    again = copy.deepcopy(made)
    assert made.extra() == again.extra() == 2 and isinstance(again, Own) and type(again) is not type(made)


def test_hooks_see_changes_of_nodes():
    traced, seen = fx.symbolic_trace(activated), []
    traced._register_create_node_hook(lambda node: seen.append(("made", node.name)))
    traced._register_erase_node_hook(lambda node: seen.append(("gone", node.name)))
    (relu,) = traced.graph.find_nodes(op="call_function", target=torch.relu)
    with traced.graph.inserting_after(relu):
        other = traced.graph.call_function(torch.neg, (relu.args[0],))
    with traced._set_replace_hook(lambda old, new, user: seen.append((old.name, new, user.name))):
        relu.replace_all_uses_with(other)
    traced.graph.erase_node(relu)
    assert seen == [("made", "neg"), ("relu", "neg", "output"), ("gone", "relu")]


def test_classes_that_are_made_within_traced_functions():
    class Pair(metaclass=fx.ProxyableClassMeta):
        def __init__(self, a, b=2):
            self.a, self.b = a, b

    kept = Pair(3)
    graph = fx.symbolic_trace(lambda x: (Pair(x).b, Pair(1).b, operator.add(x, kept))).graph
    assert [n.op for n in graph.nodes].count("call_function") == 3
    assert [n.target for n in graph.nodes if n.op == "get_attr"] == ["_Pair_constant_0"]


def test_lines_of_the_program_are_noted():
    tracer = fx.Tracer()
    tracer.record_stack_traces = True
    graph = tracer.trace(Net())
    module = fx.GraphModule(tracer.root, graph)
    (first,) = graph.find_nodes(op="call_module", target="first")
    assert "F.gelu(self.first(shifted(x)))" in first.stack_trace
    text = module.print_readable(print_output=False)
    assert "# File: " in text and "code: x = F.gelu(self.first(shifted(x))) * math.sqrt(x.size(0))" in text


def test_tables_need_a_package(capsys, monkeypatch):
    graph = fx.symbolic_trace(lambda x: x + 1).graph
    monkeypatch.setitem(sys.modules, "tabulate", None)
    with pytest.raises(ImportError):
        graph.print_tabular()
    assert "pip install tabulate" in capsys.readouterr().out

    class Table:
        @staticmethod
        def tabulate(rows, headers):
            return "\n".join(map(str, [headers, *rows]))

    monkeypatch.setitem(sys.modules, "tabulate", Table)
    graph.print_tabular()
    assert "call_function" in capsys.readouterr().out


# ------------------------------------------------------------------------------------ uses


def test_fused_layers_compute_the_same(executor):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten(), nn.Linear(12, 2),
                          nn.BatchNorm1d(2)).eval()
    model[1].running_mean.fill_(0.3)
    model[5].running_var.fill_(2.0)
    x = torch.arange(16.0).reshape(1, 1, 4, 4)
    fused = fuse(model)
    kinds = [type(m).__name__ for _, m in fused.named_children()]
    assert torch.allclose(fused(x), model(x), atol=1e-4) and kinds == ["Conv2d", "ReLU", "Flatten", "Linear"]
    assert isinstance(model[1], nn.BatchNorm2d)


def test_patterns_with_modules_and_constants():
    class Pattern(nn.Module):
        def __init__(self):
            super().__init__()
            self.act = nn.ReLU()

        def forward(self, x):
            return self.act(x)

    class Replacement(nn.Module):
        def __init__(self):
            super().__init__()
            self.other = nn.Tanh()

        def forward(self, x):
            return self.other(x)

    traced = fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
    wanted = traced(torch.ones(1, 2))
    found = fx.replace_pattern(traced, fx.symbolic_trace(Pattern()), fx.symbolic_trace(Replacement()))
    assert len(found) == 1 and isinstance(traced.other, nn.Tanh) and not hasattr(traced, "1")
    assert traced(torch.ones(1, 2)).shape == wanted.shape
    traced = fx.symbolic_trace(activated)
    fx.replace_pattern(traced, activated, lambda x: torch.mul(x, torch.tensor([2.0])))
    assert traced(torch.tensor([3.0])).tolist() == [6.0]
    with pytest.raises(NotImplementedError,
                       match="both the module and the replacement have a _tensor_constant0"):
        fx.replace_pattern(traced, lambda x: torch.mul(x, x), lambda x: x * torch.tensor([5.0]))
    with pytest.raises(RuntimeError, match="used before it has been defined"):
        fx.replace_pattern(fx.symbolic_trace(lambda x, y: (x + y) * torch.relu(x + y)),
                           lambda a, b: (a + b, b), lambda a, b: (a - b, torch.neg(b)))


def test_functions_by_calling_them(executor):
    layer = nn.Linear(2, 2)
    made = make_fx(lambda x, k: {"a": layer(x["b"]) * k})({"b": torch.ones(3, 2)}, 2)
    x = torch.arange(6.0).reshape(3, 2)
    assert torch.allclose(made({"b": x}, 2)["a"], layer(x) * 2)
    assert [n.op for n in made.graph.nodes].count("get_attr") == 2
    for option in ("pre_dispatch", "record_module_stack", "_allow_non_fake_inputs"):
        with pytest.raises(NotImplementedError, match=option):
            make_fx(lambda x: x, **{option: True})
    with pytest.raises(NotImplementedError, match="tracing_mode='symbolic'"):
        make_fx(lambda x: x, tracing_mode="symbolic")


def test_passes_run_one_after_the_other():
    class Neg(PassBase):
        def requires(self, graph_module):
            graph_module.graph.lint()

        def call(self, graph_module):
            found = graph_module.graph.find_nodes(op="call_function", target=torch.relu)
            for node in found:
                node.target = torch.neg
            return PassResult(graph_module, bool(found))

    runs = []
    manager = PassManager([Neg(), lambda gm: PassResult(gm, bool(runs.append(1)))], steps=5)
    result = manager(fx.symbolic_trace(activated))
    assert result.modified and len(runs) == 2
    assert result.graph_module(torch.ones(1)).tolist() == [-1]
    with pytest.raises(RuntimeError, match="pass schedule constraint violated"):
        PassManager([len, str], [lambda a, b: a is str]).validate_constraints()
    with pytest.raises(TypeError, match="should be type PassResult"):
        PassManager([lambda gm: None])(fx.symbolic_trace(lambda x: x))


def test_sizes_are_numbers():
    assert guard_or_false(1 == 1) is True and statically_known_true(2 > 3) is False
    assert free_symbols(torch.ones(2)) == set() and sym_eq((1, 2), [1, 2]) and not sym_eq((1,), (1, 2))


@pytest.mark.parametrize(("call", "words"), [
    (lambda: ShapeProp(fx.symbolic_trace(nn.ReLU()), fake_mode=1), "fake_mode"),
    (lambda: FxGraphDrawer(None, "x"), r"pydot|FxGraphDrawer"),
    (lambda: fx.symbolic_trace(nn.ReLU()).graph.python_code("self", colored=True), "colored=True"),
    (lambda: fx.symbolic_trace(nn.ReLU()).print_readable(additional_meta=["x"]), "additional_meta"),
    (ShapeEnv, "ShapeEnv"),
])
def test_what_is_refused_by_name(call, words):
    with pytest.raises((NotImplementedError, RuntimeError), match=words):
        call()


def test_asserts_of_proxies_are_refused_by_name():
    tracer = fx.Tracer()
    tracer.trace_asserts = True

    def fn(x):
        assert x > 0
        return x

    with pytest.raises(NotImplementedError, match="trace_asserts"):
        tracer.trace(fn)


def test_programs_that_say_torch(tmp_path):
    """Generated and saved code says torch, too, and its functions are found."""
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent("""
        import pickle, torch, torch.fx
        from torch import nn
        from torch.nn import functional as F
        from torch.fx.experimental.optimization import fuse

        @torch.fx.wrap
        def helped(x):
            return x + len(x)

        class Net(nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return F.gelu(helped(x)).to(torch.device("cpu"), torch.float32) + F.relu(x)

        traced = torch.fx.symbolic_trace(Net())
        again = pickle.loads(pickle.dumps(traced))
        x = torch.ones(3)
        print(torch.equal(again(x), traced(x)), again.code == traced.code, torch.fx.GraphModule)
        print(traced.code)
        print(fuse(nn.Sequential(nn.Linear(1, 1), nn.BatchNorm1d(1)).eval()).code)
    """))
    root = str(pathlib.Path(torch.__file__).parent.parent)
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    done = subprocess.run([sys.executable, "-m", "jaxflow", script], capture_output=True, text=True,
                          check=False, env={**os.environ, "PYTHONPATH": path})
    assert done.returncode == 0, done.stderr
    first, *lines = done.stdout.splitlines()
    assert first == "True True <class 'torch.fx.graph_module.GraphModule'>"
    for line in ('torch.fx._symbolic_trace.wrap("__main___helped")',
                 "def forward(self, x : torch.Tensor) -> torch.Tensor:",
                 "    gelu = torch._C._nn.gelu(helped);  helped = None",
                 "    to = gelu.to(device(type='cpu'), torch.float32);  gelu = None",
                 "    relu = torch.nn.functional.relu(x, inplace = False);  x = None",
                 "def forward(self, input):"):
        assert line in lines, line


def modules():
    for found in pkgutil.walk_packages(fx.__path__, "jaxflow.fx."):
        yield importlib.import_module(found.name)


def test_examples_of_docstrings():
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE, verbose=False)
    printed, count = [], 0
    finder = doctest.DocTestFinder(exclude_empty=True, recurse=True)
    for module in modules():
        for test in finder.find(module, module.__name__, module, extraglobs={"torch": torch, "nn": nn}):
            if test.examples:
                count += 1
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    runner.run(test, out=printed.append)
    assert count > 30 and not printed, "".join(printed)


def test_public_classes_and_functions_are_documented():
    lacking = [f"{m.__name__}.{name}" for m in modules() for name, x in vars(m).items()
               if inspect.isfunction(x) or isinstance(x, type)
               if not name.startswith("_") and x.__module__ == m.__name__ and not inspect.getdoc(x)]
    assert not lacking

"""``python -m jaxflow`` and ``import jaxflow.as_torch``: programs that say ``import torch``, in processes of
their own."""

import os
import pathlib
import signal
import subprocess
import sys
import textwrap

import pytest

from jaxflow._as_torch import command

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(*argv, cwd=None, stdin=None, **env):
    """What Python said with these arguments, which begin after ``python``."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return subprocess.run([sys.executable, *map(str, argv)], capture_output=True, text=True, check=False,
                          cwd=cwd, input=stdin, env={**os.environ, "PYTHONPATH": path, **env})


@pytest.fixture
def script(tmp_path):
    """Writes a program to a file of a folder of its own."""

    def write(text, name="script.py"):
        path = tmp_path / name
        path.write_text(textwrap.dedent(text))
        return path

    return write


def out(done, status=0):
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_every_import_of_torch_is_jaxflow(script):
    path = script("""
        import torch, torch.nn as nn, importlib
        import torch.nn.functional as F
        from torch.utils.data import DataLoader
        from torch.optim import lr_scheduler
        import jaxflow
        assert torch is jaxflow and F is jaxflow.nn.functional and nn is importlib.import_module("torch.nn")
        assert DataLoader is jaxflow.utils.data.DataLoader and lr_scheduler is jaxflow.optim.lr_scheduler
        print(torch.__name__, nn.__name__, F.__name__, torch.__version__)
        print(nn.Linear, torch.Tensor, torch.Size, torch.optim.SGD, torch.float32)
        print(torch.relu.__module__, F.gelu.__module__, nn.Linear.__qualname__, torch.__spec__ is not None)
    """)
    assert out(run("-m", "jaxflow", path)) == [
        "torch torch.nn torch.nn.functional 2.13.0+jaxflow",
        "<class 'torch.nn.modules.linear.Linear'> <class 'torch.Tensor'> <class 'torch.Size'> "
        "<class 'torch.optim.sgd.SGD'> torch.float32",
        "torch torch.nn.functional Linear True",
    ]


def test_the_version_is_said_wherever_libraries_look():
    program = """
import jaxflow.as_torch, importlib.metadata, importlib.util
import torch
assert importlib.metadata.version("torch") == "2.13.0+jaxflow"
assert importlib.metadata.version("numpy")
assert importlib.util.find_spec("torch") is not None and importlib.util.find_spec("torch.nn") is not None
assert importlib.util.find_spec("torch.no_such_thing") is None
assert torch.__version__ >= (2, 6) and torch.__version__ >= "2.6" and not torch.__version__ < "2.13"
assert torch.__version__ < "3" and torch.__version__.startswith("2.13") and torch.__version__ != "2.13.0"
"""
    out(run("-c", program))


def test_what_is_missing_is_named():
    done = run("-m", "jaxflow", "-c", """
import torch
for missing in ("import torch.no_such_thing", "import torch._core", "from torch import no_such_thing",
                "torch.no_such_thing"):
    try:
        exec(missing)
    except (ImportError, AttributeError) as error:
        print(type(error).__name__, error, sep=": ")
""")
    assert out(done)[:2] == ["ModuleNotFoundError: No module named 'torch.no_such_thing'",
                             "ModuleNotFoundError: No module named 'torch._core'"]
    assert out(done)[2].startswith("ImportError: cannot import name 'no_such_thing' from 'torch'")
    assert out(done)[3].startswith("AttributeError: module 'torch' has no attribute 'no_such_thing'")


def test_pytorch_itself_is_not_replaced(script):
    script("x = 1", "torch.py")
    done = run("-c", "import torch, jaxflow.as_torch", cwd=script("").parent)
    assert done.returncode == 1 and "ImportError: PyTorch is imported already, from" in done.stderr


def test_a_script_sees_what_python_shows_it(script):
    script("value = __name__", "beside.py")
    path = script("""
        import sys, beside, os
        print(sys.argv, __name__, __file__, sys.path[0], __spec__, __package__, beside.value)
        print(sys.modules["__main__"].__dict__ is globals(), "torch" in sys.modules)
        sys.exit(7)
    """)
    found, plain = (out(run(*how, path.name, "--epochs", "3", cwd=path.parent), 7)
                    for how in (("-m", "jaxflow"), ()))
    assert found[0] == plain[0] and found[1] == "True True"


def test_modules_code_and_standard_input(script):
    path = script("import sys; print(sys.argv, __name__, __spec__.name)", "part.py")
    for how in (("-m", "part", "a"), ("-c", "import sys; print(sys.argv, __name__)", "a", "-b")):
        found, plain = (out(run(*first, *how, cwd=path.parent)) for first in (("-m", "jaxflow"), ()))
        assert found == plain
    assert out(run("-m", "jaxflow", "-", "a", stdin="import sys, torch; print(sys.argv, torch.ones(1))")) == [
        "['-', 'a'] tensor([1.])"]


def test_exit_statuses(script):
    done = run("-m", "jaxflow", "nowhere.py")
    assert done.returncode == 2 and "can't open file" in done.stderr
    assert run("-m", "jaxflow", script("raise SystemExit('no')")).stderr == "no\n"
    assert run("-m", "jaxflow", script("1 / 0")).returncode == 1


@pytest.mark.skipif(os.name == "nt", reason="there are no such signals")
def test_ctrl_c_and_signals_end_it_as_they_end_python(script):
    path = script("""
        import atexit, os, signal, torch
        atexit.register(print, "left")
        signal.signal(signal.SIGINT, signal.default_int_handler)  # what starts the tests may ignore it
        os.kill(os.getpid(), getattr(signal, os.environ["SENT"]))
    """)
    done = run("-m", "jaxflow", path, SENT="SIGINT")
    assert done.returncode == -signal.SIGINT and done.stdout == "left\n"
    assert done.stderr.rstrip().endswith("KeyboardInterrupt") and "_as_torch" not in done.stderr
    assert run("-m", "jaxflow", path, SENT="SIGTERM").returncode == -signal.SIGTERM


def test_tracebacks_end_in_the_users_line(script):
    path = script("""
        import torch
        class Net(torch.nn.Module):
            def forward(self, x):
                return torch.nn.Linear(3, 2)(x)
        import threading
        thread = threading.Thread(target=torch.func.vmap(lambda x: 1 / 0), args=(torch.ones(2),))
        thread.start(), thread.join()
        Net()(torch.ones(2, 5))
    """)
    of_thread, _, err = run("-m", "jaxflow", path).stderr.partition("ZeroDivisionError: division by zero")
    assert f'"{path}", line 7' in of_thread and str(ROOT / "jaxflow") not in of_thread
    lines = err.splitlines()
    frames = [line for line in lines if line.startswith("  File ")]
    ours = [line for line in frames if str(ROOT / "jaxflow") in line]
    assert len(ours) <= 2 and frames[: len(frames) - len(ours)] == [
        f'  File "{path}", line 9, in <module>', f'  File "{path}", line 5, in forward']
    assert "mat1 and mat2 shapes cannot be multiplied" in lines[-1]


def test_children_have_it_too(script):
    script("""
        import torch
        def double(x):
            return torch.__name__, (torch.ones(2) * x).sum().item()
    """, "work.py")
    path = script("""
        import multiprocessing, subprocess, sys, torch
        from work import double
        if __name__ == "__main__":
            for method in ("spawn", "forkserver"):
                with multiprocessing.get_context(method).Pool(1) as pool:
                    assert pool.map(double, [3]) == [("torch", 6.0)], method
            code = "import sys; assert 'jaxflow' not in sys.modules; import torch.nn; print(torch.nn.Linear)"
            print(subprocess.check_output([sys.executable, "-c", code], text=True), end="")
    """)
    assert out(run("-m", "jaxflow", path, cwd=path.parent)) == ["<class 'torch.nn.modules.linear.Linear'>"]


def test_a_sitecustomize_of_the_users_runs_as_well(script):
    path = script("import os; print('mine')", "sitecustomize.py")
    done = run("-m", "jaxflow", "-c", "import subprocess, sys; subprocess.run([sys.executable, '-c', ''])",
               PYTHONPATH=os.pathsep.join((str(ROOT), str(path.parent))))
    assert done.stdout.splitlines() == ["mine", "mine"], done.stderr


def test_pickles_of_either_spelling_load(tmp_path):
    plain = "import jaxflow as torch, pickle, sys; m = torch.nn.Linear(2, 1); "
    write = "pickle.dump((torch.nn.Linear, torch.tanh, m), open(sys.argv[1], 'wb'))"
    read = ("import torch, pickle, sys; c, f, m = pickle.load(open(sys.argv[1], 'rb')); "
            "assert c is torch.nn.Linear and f is torch.tanh and type(m) is c; print(m(torch.ones(2)).shape)")
    out(run("-c", plain + write, tmp_path / "plain"))
    out(run("-m", "jaxflow", "-c", plain.replace("jaxflow as torch", "torch") + write, tmp_path / "torch"))
    for name in ("plain", "torch"):
        assert out(run("-m", "jaxflow", "-c", read, tmp_path / name)) == ["torch.Size([1])"]


def test_all_come_back_as_themselves_under_these_names():
    """Every public function and class is found by the name it says, which is PyTorch's or still jaxflow's."""
    assert out(run("-m", "jaxflow", "-c", """
import pickle, sys, types
import torch, torch.optim.swa_utils, torch.nn.utils.prune, torch.library, torch.distributed.tensor
import jaxflow.oneflow
count = 0
for module in [m for n, m in sorted(sys.modules.items()) if n == "torch" or n.startswith("torch.")]:
    for name, x in list(vars(module).items()):
        if isinstance(x, (type, types.FunctionType)) and not name.startswith("_"):
            assert pickle.loads(pickle.dumps(x)) is x, (module, name)
            count += 1
print(count > 2000, jaxflow.oneflow.__name__)
for x in (torch.frexp(torch.ones(2)), torch.linalg.LinAlgError("no"), torch.nn.Parameter(torch.ones(1))):
    assert type(pickle.loads(pickle.dumps(x))) is type(x)
""")) == ["True jaxflow.oneflow"]


def test_compiled_steps_are_found_again_under_these_names(script):
    path = script("""
        import torch
        net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
        optimizer = torch.optim.AdamW(net.parameters())
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)

        @torch.compile
        def step(x):
            optimizer.zero_grad()
            loss = net(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss

        x = torch.ones(3, 4)
        for _ in range(8):
            step(x)
            scheduler.step()
        print([(f["calls"], f["hits"], f["specialisations"]) for f in torch.explain()["functions"]])
    """)
    found, plain = (out(run("-m", "jaxflow", path)),
                    out(run("-c", f"import jaxflow, sys; sys.modules['torch'] = jaxflow; "
                                  f"exec(open({str(path)!r}).read())")))
    assert found == plain


def test_options(script):
    path = script("import torch; x = torch.ones(3) + 1; print(x.sum().item())")
    assert out(run("-m", "jaxflow", "--eager", path)) == ["6.0"]
    done = run("-m", "jaxflow", "--explain", path)
    assert done.stdout == "6.0\n" and done.stderr.startswith("jaxflow: ")
    assert run("-m", "jaxflow", "--nonsense", path).returncode == 2
    assert any(line.startswith("devices: cpu") for line in out(run("-m", "jaxflow", JAX_PLATFORMS="cpu")))


def test_the_command_line_without_a_program(capsys, tmp_path):
    assert command.main(["--help"]) == 0 and "--eager" in capsys.readouterr().out
    (tmp_path / "program.py").write_text("import torch\ntorch.no_such_thing\n")
    assert command.main(["--check", str(tmp_path)]) == 1
    assert "program.py:2: torch.no_such_thing: " in capsys.readouterr().out


def test_sources_are_found_and_libraries_are_told_that_it_is_torch():
    out(run("-m", "jaxflow", "-c", """
import inspect, os, torch
assert inspect.getsource(torch.nn.Linear).startswith("class Linear(")
assert all(inspect.getsource(c).startswith(f"class {c.__name__}") for c in torch.nn.Linear.__mro__[:-1])
assert "def elu(" in inspect.getsource(torch.nn.functional.elu)
assert os.path.basename(torch.__file__) == "__init__.py" and "relu" in torch.__dict__
assert torch.nn.modules.linear.Linear is torch.nn.Linear
assert not torch.cuda.is_available() and not torch.backends.mps.is_available()
"""))

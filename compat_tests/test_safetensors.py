"""safetensors on jaxflow: it reads the memory of tensors by their address, and maps files as storages.

The package imports ``torch``, so each library runs in a process of its own, which has its name for it.
"""

import subprocess
import sys

import pytest

ALIAS = "import sys, jaxflow; sys.modules['torch'] = jaxflow; jaxflow.__version__ = '2.13.0'\n"
TORCH, JAXFLOW = "", ALIAS

MADE = """
import torch
from safetensors import safe_open
from safetensors.torch import load, load_file, save, save_file

def made():
    base = torch.arange(24.0).reshape(4, 6)
    layer = torch.nn.Linear(3, 2)
    with torch.no_grad():
        for i, p in enumerate(layer.parameters()):
            p.copy_(torch.arange(p.numel()).reshape(p.shape) * 0.25 + i)
    layer(torch.ones(2, 3)).sum().backward()
    torch.optim.SGD(layer.parameters(), lr=0.5).step()
    found = {f"layer.{name}": p for name, p in layer.state_dict().items()}
    found |= {"rows": base[1:3].contiguous(), "result": base * 2 + 1, "number": torch.tensor(3),
              "none": torch.zeros(0, 3)}
    for dtype in DTYPES:
        found[dtype] = torch.tensor([0, 1, 2]).to(getattr(torch, dtype))
    return found

DTYPES = ("float64 float32 float16 bfloat16 float8_e4m3fn float8_e5m2 int64 int32 int16 int8 uint8 uint16 "
          "uint32 uint64 bool complex64").split()

def show(tensors):
    for name in sorted(tensors):
        t = tensors[name]
        if t.dtype.is_floating_point:
            t = t.float()
        print(name, str(tensors[name].dtype), tuple(t.shape), t.tolist())
"""
SAVED = MADE + """
tensors = made()
save_file(tensors, sys.argv[1])
show(load_file(sys.argv[1]))
show(load(save(tensors)))
with safe_open(sys.argv[1], "pt") as file:
    print(file.get_tensor("rows").tolist(), file.get_slice("rows")[0:1].tolist())
loaded = load_file(sys.argv[1])
loaded["result"].add_(1)  # the mapping is this process's own
print(loaded["result"].tolist(), load_file(sys.argv[1])["result"].tolist())
for wrong in ({"x": tensors["rows"], "y": tensors["rows"]}, {"x": tensors["rows"].T}):
    try:
        save_file(wrong, sys.argv[1] + ".wrong")
    except Exception as error:
        print(type(error).__name__, str(error)[:60])
"""
LOADED = MADE + "show(load_file(sys.argv[1]))\n"


def _printed(library: str, program: str, path) -> str:
    done = subprocess.run([sys.executable, "-c", f"import sys\n{library}{program}", str(path)],
                          capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Library -> the file that it has saved, and what it has printed."""
    folder = tmp_path_factory.mktemp("safetensors")
    paths = {TORCH: folder / "torch.safetensors", JAXFLOW: folder / "jaxflow.safetensors"}
    return {library: (path, _printed(library, SAVED, path)) for library, path in paths.items()}


def test_files_are_written_and_read_as_on_torch(saved):
    assert saved[JAXFLOW][1] == saved[TORCH][1]
    assert saved[JAXFLOW][0].read_bytes() == saved[TORCH][0].read_bytes()


@pytest.mark.parametrize(("reader", "writer"), [(TORCH, JAXFLOW), (JAXFLOW, TORCH)],
                         ids=["torch reads", "jaxflow reads"])
def test_files_of_the_one_are_read_by_the_other(saved, reader, writer):
    assert _printed(reader, LOADED, saved[writer][0]) == _printed(writer, LOADED, saved[writer][0])

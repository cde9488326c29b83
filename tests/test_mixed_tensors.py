"""Tensors of PyTorch among ours, told by their class alone: there is no PyTorch here, so a class plays it."""

import subprocess
import sys

import numpy as np
import pytest

import jaxflow

WORDS = "torch.from_dlpack"


class Kind:
    """What has a name that PyTorch prints."""

    def __init__(self, name, type=""):
        self.name, self.type = name, type

    def __str__(self):
        return self.name


class Tensor:
    """As much of PyTorch's tensor as is asked for, around a NumPy array."""

    __module__ = "torch"
    layout, device = Kind("torch.strided"), Kind("cpu", "cpu")
    requires_grad = False

    def __init__(self, array):
        self.array = np.asarray(array)
        self.dtype = Kind(f"torch.{self.array.dtype}")
        self.shape = self.array.shape

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))

    def __len__(self):
        return len(self.array)

    def __getitem__(self, at):
        return Tensor(self.array[at])

    def __float__(self):
        return float(self.array)

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def is_conj(self):
        return False

    is_neg = is_conj

    def numel(self):
        return self.array.size

    def numpy(self):
        return self.array

    def detach(self):
        return self

    cpu = resolve_conj = resolve_neg = detach


class Parameter(Tensor):
    """Its subclass, elsewhere."""

    __module__ = "torch.nn.parameter"
    requires_grad = True


each = pytest.mark.usefixtures("executor")


@each
@pytest.mark.parametrize("kind", [Tensor, Parameter])
@pytest.mark.parametrize("mixed", [
    lambda x, y: x + y, lambda x, y: y - x, lambda x, y: x == y, lambda x, y: y != x, lambda x, y: y < x,
    lambda x, y: x**y, lambda x, y: y / x, lambda x, y: x @ y, jaxflow.mul,
    lambda x, y: jaxflow.cat([x, y]), lambda x, y: jaxflow.sin(y), lambda x, y: x.add_(y),
    lambda x, y: jaxflow.nn.Parameter(y), lambda x, y: jaxflow.nn.Linear(3, 3).register_buffer("y", y),
    lambda x, y: setattr(jaxflow.nn.Linear(3, 3), "weight", y), lambda x, y: jaxflow.optim.SGD([y], lr=1),
    lambda x, y: jaxflow.autograd.backward(x.requires_grad_() * 2, y),
    lambda x, y: jaxflow.utils.data.default_collate([y]),
])
def test_as_an_operand_it_is_refused(mixed, kind):
    with pytest.raises(TypeError, match=WORDS):
        mixed(jaxflow.ones(3), kind(np.ones(3, np.float32)))


@each
@pytest.mark.parametrize("kind", [Tensor, Parameter])
def test_as_data_it_is_copied(kind):
    array = np.arange(6, dtype=np.float32).reshape(2, 3).T
    given = kind(array)
    got = [jaxflow.tensor(given), jaxflow.as_tensor(given), jaxflow.asarray(given, copy=True),
           jaxflow.tensor(given, dtype=jaxflow.int32)]
    shared = jaxflow.asarray(given)
    array[0, 0] = 7
    for t in got:
        assert t.tolist() == [[0, 3], [1, 4], [2, 5]] and not t.requires_grad
    assert shared.tolist() == [[7, 3], [1, 4], [2, 5]] and not shared.requires_grad
    assert [t.stride() for t in (*got[:3], shared)] == [(1, 3)] * 4 and got[3].dtype is jaxflow.int32
    assert jaxflow.tensor([kind(2.5), 1]).tolist() == [2.5, 1]


@each
def test_states_are_taken_over():
    layer = jaxflow.nn.Linear(2, 1)
    state = {"weight": Parameter(np.float32([[1, 2]])), "bias": Tensor(np.float32([3]))}
    for assign in (False, True):
        assert not any(layer.load_state_dict(state, assign=assign))
        assert layer(jaxflow.ones(2)).tolist() == [6.0]
    with pytest.raises(RuntimeError, match="size mismatch for weight"):
        jaxflow.nn.Linear(3, 1).load_state_dict(state)


def test_what_cannot_be_converted_says_why():
    sparse, strange = Tensor(np.ones(2)), Tensor(np.ones(2))
    sparse.layout, strange.dtype = Kind("torch.sparse_coo"), Kind("torch.quint8")
    for given, words in ((sparse, "to_dense"), (strange, "torch.quint8")):
        with pytest.raises(TypeError, match=words):
            jaxflow.as_tensor(given)


_SCRIPT = """
import sys, types
import jaxflow
from test_mixed_tensors import Tensor
import numpy as np

def refused(call):
    try:
        call()
    except TypeError as error:
        return "torch.from_dlpack" in str(error)

p, j = Tensor(np.ones(3, np.float32)), jaxflow.ones(3)
sys.modules["torch"] = types.ModuleType("torch")
sys.modules["torch"].Tensor = Tensor
(j + 1).tolist()
calls = [
    lambda: jaxflow.reshape(p, (3, 1)), lambda: jaxflow.nn.functional.linear(p, j), lambda: j.view_as(p),
    lambda: j[p], lambda: j.__setitem__(0, p), lambda: setattr(j, "data", p), lambda: setattr(j, "grad", p),
    lambda: jaxflow.nn.Linear(3, 2)(p), lambda: jaxflow.nn.LSTM(3, 2)(p), lambda: jaxflow.equal(j, p),
    lambda: jaxflow.einsum("i,i->", j, p), lambda: j.copy_(p), lambda: jaxflow.mean(p),
]
print([refused(call) for call in calls])
class Own(jaxflow.Tensor): pass  # from here on functions ask for overrides
print([refused(call) for call in calls], type(jaxflow.mean(j.as_subclass(Own))).__name__)
try:
    jaxflow.reshape(j, (2, 2))
except RuntimeError as error:
    print(error)
"""


def test_functions_made_of_others_explain_where_pytorch_is_imported():
    code = f"import sys; sys.path.insert(0, {str(sys.path[0])!r}); sys.path.insert(0, 'tests')\n{_SCRIPT}"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    first, second, third = out.strip().splitlines()
    assert first == str([True] * 13) and second == f"{[True] * 13} Own"
    assert third == "shape '[2, 2]' is invalid for input of size 3"


def test_classes_without_a_module_are_no_ones():
    own = eval('type("Own", (Tensor,), {})', {"Tensor": jaxflow.Tensor})
    assert (jaxflow.ones(2).as_subclass(own) + 1).tolist() == [2, 2]

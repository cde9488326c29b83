"""``__torch_function__``: what functions cost before it is used, and what compat_tests cannot see."""

import copy
import pickle
import subprocess
import sys

import pytest

import jaxflow


@pytest.fixture
def kept(executor):
    """A subclass, imported when wanted: from then on the functions of this process ask for overrides."""
    from subclassed import Kept

    return Kept


def test_nothing_asks_until_somebody_overrides():
    program = """
import jaxflow
from jaxflow.nn.functional import linear
before = jaxflow.add.__code__, linear.__code__, jaxflow.sum.__code__
class Parameter(jaxflow.nn.Parameter): pass
assert before == (jaxflow.add.__code__, linear.__code__, jaxflow.sum.__code__)
class Mine(jaxflow.Tensor): pass
x = jaxflow.ones(2, 3).as_subclass(Mine)
assert jaxflow.add.__code__ is not before[0] and linear.__code__ is not before[1]
for y in (x + 1, linear(x, x), jaxflow.sum(x), jaxflow.nn.Linear(3, 1)(x)):
    assert type(y) is Mine, y
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=None)


@pytest.mark.parametrize("first", [
    'jaxflow.add(Duck(), 1, alpha=2) == ("add", 2, ["alpha"])',
    'jaxflow.flatten(Duck(), start_dim=1) == ("flatten", 1, ["start_dim"])',  # made of other functions
    'jaxflow.numel(Duck()) == ("numel", 1, [])',
    'jaxflow.nn.functional.elu(Duck(), alpha=2.0) == ("elu", 1, ["alpha"])',
])
def test_a_duck_is_met_by_a_function_first(first):
    program = f"""
import jaxflow
class Duck:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func.__name__, len(args), sorted(kwargs or {{}})
assert {first}
assert jaxflow.stack([jaxflow.ones(1), Duck()], 0) == ("stack", 2, [])
assert jaxflow.ones(1) * Duck() == ("mul", 2, [])
assert jaxflow.mean(Duck()) == ("mean", 1, [])
assert jaxflow.ones(1).add(2).item() == 3
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=None)


def test_an_interrupt_while_functions_are_given_other_code_loses_nothing():
    """Each attempt is interrupted some bytecodes after its start; in between functions do what they did."""
    program = """
import inspect, itertools, sys
import jaxflow
from jaxflow._publish import overrides
x = jaxflow.ones(2, 3)
before = {f: str(inspect.signature(f)) for f in (jaxflow.flatten, jaxflow.add, jaxflow.Tensor.sum)}

def works():
    assert jaxflow.flatten(x, start_dim=0).shape == (6,) and jaxflow.add(x, 1, alpha=2)[0, 0].item() == 3
    assert x.sum(dim=1).tolist() == [3.0, 3.0] and (x * 2).tolist() == [[2.0] * 3] * 2

def interrupted(after):
    left = itertools.count(after, -1)
    def trace(frame, event, argument):
        if frame.f_code.co_filename != overrides.__file__:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode" and not next(left):
            raise KeyboardInterrupt
        return trace
    sys.settrace(trace)
    try:
        overrides.install_overrides()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    return False

attempts = 0
while interrupted(50 + attempts * 997):
    attempts += 1
    assert not overrides.overrides_are_installed()
    works()
assert attempts > 20 and overrides.overrides_are_installed(), attempts
works()
assert {f: str(inspect.signature(f)) for f in before} == before

class Foreign:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func.__name__, len(args), sorted(kwargs or {})

assert jaxflow.flatten(Foreign(), start_dim=1) == ("flatten", 1, ["start_dim"])
assert x * Foreign() == ("mul", 2, []) and jaxflow.Tensor.sum(Foreign(), dim=1) == ("sum", 1, ["dim"])
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=None)


def test_instances_are_copied_and_pickled(kept):
    x = jaxflow.arange(3.0).as_subclass(kept)
    x.label = "x"
    for y in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert type(y) is kept and y.label == "x" and y.tolist() == [0.0, 1.0, 2.0]
    shared = copy.deepcopy([x, x])
    assert shared[0] is shared[1]


def test_gradients_keep_what_autograd_made(kept):
    w = jaxflow.ones(3).as_subclass(kept).requires_grad_()
    loss = (w * 2).sum()
    loss.backward()
    assert type(loss) is kept and w.grad.tolist() == [2.0] * 3
    jaxflow.optim.SGD([w], lr=0.5).step()
    assert type(w) is kept and w.tolist() == [0.0] * 3


def test_compiled_functions_take_them(kept):
    double = jaxflow.compile(lambda x: x * 2 + 1)
    x = jaxflow.ones(3).as_subclass(kept)
    for _ in range(3):
        assert double(x).tolist() == [3.0] * 3

"""Which operands a node holds: overwriting one before backward is refused where PyTorch refuses it."""

import pytest
import torch

import jaxflow
from compat_tests.ops.arguments import subject
from compat_tests.ops.records import keys, record, resolve, take_samples

#: Records none of whose operands PyTorch lets be overwritten (several views of one), or whose result here
#: (a loss that depends on the phase of eigenvectors, a sparse tensor) has no backward.
NOTHING_TO_ASK = ("chunk", "split", "split/list_args", "split_with_sizes", "unbind", "linalg.eig",
                  "to_sparse")
KEYS = [key for key in keys() if record(key).supports_autograd and key not in NOTHING_TO_ASK
        and torch.float64 in record(key).dtypes]
REFUSED = "modified by an inplace operation"


def overwritten(T, function, sample, which):
    """How backward goes after operand number ``which`` was overwritten; None if there is no such operand.

    Operands are results themselves, so that they may be written to. Backward needs none of an empty one.
    """
    operands = []

    def operand(t):
        if not isinstance(t, T.Tensor):
            return t
        copy = t.detach().clone()
        operands.append(copy.requires_grad_() * 1 if t.requires_grad else copy)
        return operands[-1]

    arguments, options = sample
    result = function(*_mapped(arguments, operand), **_mapped(options, operand))
    if which >= len(operands):
        return None
    with T.no_grad():
        operands[which].copy_(operands[which].clone())
    found = []
    for out in result if isinstance(result, (tuple, list)) else (result,):
        if isinstance(out, T.Tensor) and out.requires_grad and operands[which].numel():
            try:
                out.backward(T.ones_like(out), retain_graph=True)
                found.append("passes")
            except RuntimeError as error:
                if REFUSED not in str(error):
                    raise
                found.append("refused")
    return found


def _mapped(x, change):
    if type(x) in (list, tuple):
        return type(x)(_mapped(i, change) for i in x)
    if isinstance(x, dict):
        return {k: _mapped(v, change) for k, v in x.items()}
    return change(x)


@pytest.mark.filterwarnings("ignore")  # of PyTorch, about calls that are going to go
@pytest.mark.parametrize("key", KEYS)
def test_overwritten_operand(executor, key):
    asked = 0
    for s in take_samples(key, "float64", True, 3):
        sample = ((s.input, *s.args), s.kwargs)
        for which in range(6):
            try:
                expected = overwritten(torch, record(key).op, sample, which)
            except RuntimeError:  # written to where it shows an element twice, or no operand to differentiate
                continue
            if expected is None:
                break
            actual = overwritten(jaxflow, resolve(key), subject(sample), which)
            assert (which, actual) == (which, expected)
            asked += len(expected)
    assert asked

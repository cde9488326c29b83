"""Which gradients require grad under ``create_graph=True``, sample by sample of PyTorch's operator table.

A gradient whose formula reads no operand and no cotangent that requires grad is a constant, and PyTorch says
so; where it differs here, `known_gaps.txt` says why.
"""

import pytest
import torch

import jaxflow
from compat_tests.ops.arguments import call_of, copied, describe, flat, subject
from compat_tests.ops.findings import quiet
from compat_tests.ops.records import keys, record, resolve, take_samples
from compat_tests.ops.values import cotangent

KEYS = [key for key in keys() if record(key).supports_autograd and record(key).supports_gradgrad
        and torch.float64 in record(key).dtypes]


def recorded(T, fn, call, varying):
    """Which gradients of a call require grad; None for a gradient that is not there.

    ``varying`` says whether the cotangents do.
    """
    inputs = [t for t in flat(call) if t.requires_grad]
    outs = [o for o in flat(fn(call[0], *call[1], **call[2])) if o.requires_grad]
    if not (inputs and outs):
        return None
    cotangents = [cotangent(T, o, i) for i, o in enumerate(outs)]
    if varying:
        cotangents = [c.requires_grad_() for c in cotangents]
    grads = T.autograd.grad(outs, inputs, cotangents, create_graph=True, allow_unused=True)
    return [None if g is None else g.requires_grad for g in grads]


def differences(key, varying=False, count=3):
    """``(how many samples were asked, the lines of those that differ)``."""
    asked, found = 0, []
    for i, sample in enumerate(take_samples(key, "float64", True, count)):
        call = call_of(sample)
        try:
            expected = quiet(recorded, torch, record(key).op, copied(call), varying)
        except Exception:  # a sample that torch has no kernel for
            continue
        if expected is None:
            continue
        actual = quiet(recorded, jaxflow, resolve(key), subject(copied(call)), varying)
        asked += 1
        # Whether an input that does not matter has a zero gradient or none is a kernel's affair.
        if actual is None or any(a is not e for a, e in zip(actual, expected, strict=True)
                                 if a is not None and e is not None):
            found.append(f"sample {i} {describe(sample)}: torch {expected}, jaxflow {actual}")
    return asked, found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("key", KEYS)
def test_constants(key):
    _, found = differences(key)
    assert not found, "\n".join(found)

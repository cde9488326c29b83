"""What the programs of a walk call: an operator with one of its samples, in which something was changed.

Samples and changes are made on torch, and taken over by the other library, so that both begin alike.
"""

import torch

import jaxflow
from compat_tests.ops import records
from compat_tests.ops.arguments import call_of, flat, mapped, subject

from .. import samples
from . import changes, outputs


def _detached(t):
    return t.detach()


def _tensors(result):
    several = isinstance(result, (list, tuple))
    if several and all(isinstance(x, (torch.Tensor, jaxflow.Tensor)) for x in result):
        return tuple(result)
    return (result,)


def changed(T, key, dtype, number, change, *which):
    """What the operator gives, and its operands that require a gradient."""
    call = mapped(call_of(samples.sample(key, dtype, number)),
                  lambda t: t.detach().clone().requires_grad_(t.requires_grad))
    call = changes.CHANGES[change].apply(call, *which)
    first, others, by_name = call if T is torch else subject(call)
    leaves = [t for t in flat([first, others, by_name]) if t.requires_grad]
    return (*_tensors(_function(T, key)(first, *others, **by_name)), *leaves)


def into(T, key, dtype, number, kind):
    """What the operator gives with ``out=`` of a kind, and that tensor."""
    call = mapped(samples.given(torch, key, dtype, number, "plain"), _detached)
    first, others, by_name = call
    result = records.record(key).op(first, *others, **by_name)
    out = mapped(result if isinstance(result, torch.Tensor) else tuple(result), outputs.OUTS[kind])
    if T is not torch:
        (first, others, by_name), out = subject((call, out))
    result = _function(T, key)(first, *others, **by_name, out=out)
    return _tensors(result)[0], _tensors(out)[0]


def in_place(T, key, dtype, number, kind):
    """What the operator's method that writes gives on a tensor of a kind, and that tensor."""
    call = samples.given(T, key, dtype, number, "plain")
    first, others, by_name = call if kind == "leaf" else mapped(call, _detached)
    name = records.record(key).inplace_variant.__name__
    target = outputs.TARGETS[kind](T, first)
    return getattr(T.Tensor, name)(target, *others, **by_name), target


def _function(T, key):
    return records.record(key).op if T is torch else records.resolve(key)

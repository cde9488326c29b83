"""The programs of the walks: a call of an operator each, and its gradients."""

import functools

import torch

from compat_tests.ops import records
from compat_tests.ops.arguments import call_of

from .. import calls, programs, rows, samples, views
from ..program import Instruction
from . import changed, changes, in_place, into, outputs

#: Statements around one operator: tensors, views of them, and mostly the operator.
_KINDS = ((rows.leaf, 3), (views.view_of, 3), (calls.operator, 14), (rows.convert, 1), (rows.augmented, 1))
_LENGTH = 9
#: Programs for each operator.
_EACH = 6


def _samples(keys, dtypes):
    for key in keys:
        for dtype in dtypes:
            if dtype not in records.dtypes(key):
                continue
            for number in range(samples.MOST):
                if samples.usable(key, dtype, number):
                    yield key, dtype, number


def _step(function, *arguments):
    words = ", ".join(map(repr, arguments))
    return words, lambda: _call(f"walks.{function.__name__}(T, {words})", function, *arguments)


def _call(text, function, *arguments):
    """The call, with as many names as it gives tensors on torch, and its gradients; one round of no sizes."""
    try:
        result = function(torch, *arguments)
    except Exception:
        # What is refused here only where it is read (NOTE [Faults found late]) has to have a name to be read.
        return [Instruction(f"t0, *_ = {text}", ("t0",), looks=True)], [{}]
    if not result or not all(isinstance(x, torch.Tensor) and x.layout is torch.strided for x in result):
        return None
    makes = tuple(f"t{k}" for k in range(len(result)))
    program = [Instruction(f"{', '.join(makes)}, = {text}", makes, looks=True)]
    if result[0].requires_grad and not result[0].is_leaf:
        program.append(Instruction("t0.backward(t0.detach())", looks=True, fatal=True))
    return program, [{}]


def _changed(change):
    def walk(keys, dtypes, seed):
        for sample in _samples(keys, dtypes):
            for which in changes.CHANGES[change].choices(call_of(samples.sample(*sample))):
                yield _step(changed, *sample, change, *which)

    return walk


def _outs(keys, dtypes, seed):
    for sample in _samples([key for key in keys if records.record(key).supports_out], dtypes):
        for kind in outputs.OUTS:
            yield _step(into, *sample, kind)


def _targets(keys, dtypes, seed):
    for sample in _samples([key for key in keys if records.record(key).inplace_variant], dtypes):
        if isinstance(samples.sample(*sample).input, torch.Tensor):
            for kind in outputs.TARGETS:
                yield _step(in_place, *sample, kind)


def _operators(names, dtypes, seed):
    """Random programs around one operator after the other, with random arguments."""
    for place, name in enumerate(names):
        for k in range(_EACH):
            number = seed + k * 10_007 + place * 131
            yield f"{name} {number}", functools.partial(_drawn, name, number)


def _drawn(name, number):
    program, rounds = programs.drawn(number, _around(name), _LENGTH)
    return (program, rounds[:2]) if any(name in i.code for i in program) else None


def _around(name):
    def operator(d):
        return calls.operator(d, calls.names()[name])

    return tuple((operator if kind is calls.operator else kind, weight) for kind, weight in _KINDS)


def _record_keys():
    return [key for key in samples.keys() if samples.present(key)]


#: By name: what it goes through, and for a part of that the programs in some dtypes: the name of each, and a
#: function that gives it with the sizes of its rounds (None where nothing can be compared).
WALKS = {change: (_record_keys, _changed(change)) for change in changes.CHANGES}
WALKS |= {"outs": (_record_keys, _outs), "targets": (_record_keys, _targets),
          "operators": (lambda: list(calls.names()), _operators)}

"""The records of ``op_db``: their keys, their samples, and jaxflow's function for each."""

import functools
import random
import types
import zlib
from unittest import mock

import numpy as np
import torch
from torch.testing._internal import common_methods_invocations, common_utils
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo import core

import jaxflow

RECORDS = {(r.name, r.variant_test_name): r for r in op_db}

#: The dtypes of the sweep, in the order of its reports.
DTYPES = ("float32", "float64", "bfloat16", "float16", "int64", "int32", "uint8", "bool", "complex64",
          "complex128")

#: How many samples of a record and dtype a check takes, spread over all there are; ``None``: all.
SAMPLES = 3


def keys():
    """The keys of all records, ``name`` or ``name/variant``, in order."""
    return sorted(f"{n}/{v}" if v else n for n, v in RECORDS)


def chosen(names):
    """The keys that some names mean: keys, records with all their variants, namespaces; without any: all.

    Raises:
        ValueError: for a name that means no record.
    """
    known = keys()
    found = []
    for name in names:
        meant = [k for k in known if k == name or k.partition("/")[0] == name or k.startswith(name + ".")]
        if not meant:
            raise ValueError(f"op_db has no record of the name {name}")
        found += meant
    return list(dict.fromkeys(found)) or known


def record(key):
    """The record of a key."""
    name, _, variant = key.partition("/")
    return RECORDS[name, variant]


def dtypes(key):
    """Names of the swept dtypes that torch supports on the CPU for the record."""
    if record(key).name.startswith("jiterator"):
        return []  # for GPUs alone, whatever the table says
    supported = record(key).dtypes
    return [name for name in DTYPES if getattr(torch, name) in supported]


def second_dtype(key):
    """The dtype that the tests take beside float32: one for each record, by its name."""
    others = [name for name in dtypes(key) if name != "float32"]
    return others[zlib.crc32(key.encode()) % len(others)] if others else None


def differentiable(key, dtype):
    """Whether torch differentiates the record in the dtype."""
    rec = record(key)
    return rec.supports_autograd and getattr(torch, dtype) in rec.supported_backward_dtypes("cpu")


def _seed(seed=common_utils.SEED):
    """What PyTorch's table does before each sample, without a look at the stack for what no GPU would run."""
    torch.default_generator.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)


def take_samples(key, dtype, requires_grad, count=SAMPLES):
    """Sample inputs, spread over all there are, the last among them; the same at every run."""
    with (mock.patch.multiple(common_utils, set_rng_seed=_seed),
          mock.patch.object(core, "extract_test_fn", lambda: None),
          mock.patch.object(common_utils, "extract_test_fn", lambda: None)):
        found = list(record(key).sample_inputs("cpu", getattr(torch, dtype), requires_grad=requires_grad))
    if count is None or len(found) <= count:
        return found
    if count == 1:
        return found[:1]
    return [found[round(i * (len(found) - 1) / (count - 1))] for i in range(count)]


def _seeded(fn, *args, **kwargs):
    jaxflow.manual_seed(42)
    return fn(*args, **kwargs)


def is_random(key):
    """Whether the record draws numbers: the same ones in both libraries, after the same seed."""
    code = getattr(record(key).op, "__code__", None)
    return code is not None and "wrapper_set_seed" in code.co_names


def seed_both(key):
    """Start the generators of both libraries from one seed, where the record draws numbers."""
    if is_random(key):
        torch.manual_seed(common_utils.SEED)
        jaxflow.manual_seed(common_utils.SEED)


def resolve(key):
    """jaxflow's function of a record: of the same name, or the record's own adapter run on jaxflow.

    Raises:
        AttributeError: if jaxflow has no such name.
    """
    rec = record(key)
    if isinstance(rec.op, types.FunctionType) and rec.op.__module__.startswith("torch.testing"):
        return on_jaxflow(rec.op)
    if isinstance(rec.op, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        packet, _, overload = str(rec.op).removeprefix("aten.").partition(".")
        found = getattr(jaxflow.ops.aten, packet)
        return getattr(found, overload) if overload else found
    if getattr(torch.Tensor, rec.name, None) is rec.op:  # `torch.cdouble` is a dtype, the method is meant
        return getattr(jaxflow.Tensor, rec.name)
    return named(rec.name)


def named(name):
    """jaxflow's function or, where there is only that, method of a name.

    Raises:
        AttributeError: if there is neither.
    """
    name = name.removeprefix("torch.")
    try:
        return functools.reduce(getattr, name.split("."), jaxflow)
    except AttributeError:
        if "." in name:
            raise
        return getattr(jaxflow.Tensor, name)


def on_jaxflow(fn):
    """An adapter of the table (``lambda x, n: torch.polygamma(n, x)``) that finds jaxflow under ``torch``."""
    names = dict(vars(common_methods_invocations))
    names.update(fn.__globals__, torch=jaxflow, wrapper_set_seed=_seeded)
    adapted = types.FunctionType(fn.__code__, names, fn.__name__, fn.__defaults__, fn.__closure__)
    adapted.__kwdefaults__ = fn.__kwdefaults__
    return adapted


def tolerance(key, dtype, devices=("cpu",)):
    """torch's own ``(rtol, atol)``: the dtype's, or what its tests of values on devices allow the record."""
    dtype = getattr(torch, dtype) if isinstance(dtype, str) else dtype
    rtol, atol = torch.testing._comparison.default_tolerances(dtype)
    for test in ("test_noncontiguous_samples", "test_variant_consistency_eager", "test_compare_cpu"):
        for decorator in [d for device in devices
                          for d in record(key).get_decorators("TestCommon", test, device, dtype, {})]:
            override = getattr(decorator, "d", {}).get(dtype)
            if override is None:
                continue
            if isinstance(override, float):  # a precisionOverride
                atol = max(atol, override)
            else:
                rtol, atol = max(rtol, override.rtol), max(atol, override.atol)
    return rtol, atol

"""The operator table inside autocast regions: results have PyTorch's dtypes.

On the CPU PyTorch computes. Its list for CUDA is observed on fake tensors, which have a device and no data,
so no GPU is necessary; jaxflow's list for CUDA is applied to tensors on the CPU.
"""

from __future__ import annotations

import itertools
import zlib

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils import _pytree

import jaxflow
from compat_tests.ops import records
from compat_tests.ops.arguments import flat, subject
from jaxflow._core import autocast
from jaxflow._dispatch import autocast_lists

#: One record in so many, by name, and all of these.
SAMPLE = 60
ALWAYS = """
    mm matmul bmm addmm baddbmm prod cat stack softmax/ log_softmax/ nn.functional.linear nn.functional.conv2d
    nn.functional.conv_transpose1d nn.functional.scaled_dot_product_attention nn.functional.cross_entropy
    nn.functional.mse_loss nn.functional.layer_norm nn.functional.multi_head_attention_forward pow sum norm
    nn.functional.prelu nn.functional.max_pool3d linalg.solve linalg.vecdot einsum fft.rfft __rmatmul__
""".split()

#: Records whose dtypes are others, and why.
DIFFERENT = {
    "cpu": {
        "linalg.pinv": "PyTorch's result passes a product that is cast; here it stays float32",
        "linalg.pinv/hermitian": "likewise",
        "tensordot": "a product of one element is no product of matrices in PyTorch",
        "native_layer_norm": "of a lower precision the moments are of that precision, in a region or not",
    },
    "cuda": {
        "normal": "with the CPU's generator",
        "_softmax_backward_data": "fake tensors decompose it into operations that are cast",
    },
}
#: What only fake tensors, or only GPUs, take: no dtype to compare.
ERRORS = (NotImplementedError, RuntimeError, TypeError, ValueError)


def wanted(device):
    return [key for key in records.keys()
            if (key in ALWAYS or f"{key}/" in ALWAYS or zlib.crc32(key.encode()) % SAMPLE == 0)
            and "float32" in records.dtypes(key) and key not in DIFFERENT[device]]


def mixtures(sample, lower):
    """The arguments in float32, in the lower precision, and in both by turns."""
    for choose in (lambda n: False, lambda n: True, lambda n: n % 2, lambda n: not n % 2):
        numbers = itertools.count()

        def cast(x, choose=choose, numbers=numbers):
            if not isinstance(x, torch.Tensor) or not x.is_floating_point():
                return x
            return x.detach().to(lower if choose(next(numbers)) else x.dtype)

        yield _pytree.tree_map(cast, (sample.input, sample.args, sample.kwargs))


def names(result):
    return [str(t.dtype).rpartition(".")[2] for t in flat(result)]


def of_torch(key, arguments, device, lower):
    """The dtypes in PyTorch, None where it refuses the call."""
    first, rest, named = arguments
    op = records.record(key).op
    try:
        if device == "cpu":
            with torch.autocast("cpu", dtype=lower):
                return names(op(first, *rest, **named))
        with FakeTensorMode():
            first, rest, named = _pytree.tree_map(
                lambda x: torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device="cuda")
                if isinstance(x, torch.Tensor) else x, arguments)
            torch.set_autocast_enabled("cuda", True)
            torch.set_autocast_dtype("cuda", lower)
            try:
                return names(op(first, *rest, **named))
            finally:
                torch.set_autocast_enabled("cuda", False)
                torch.clear_autocast_cache()
    except (*ERRORS, AssertionError):  # the last where a fake tensor needs a real one
        return None


def of_jaxflow(key, arguments, lower):
    """The dtypes here, or the error's text."""
    first, rest, named = subject(arguments)
    settings = autocast.settings().with_enabled("cpu", True).with_dtype(
        "cpu", getattr(jaxflow, str(lower).rpartition(".")[2]))
    try:
        found = autocast.within(settings).run(records.resolve(key), first, *rest, **named)
    except ERRORS as error:
        return f"{type(error).__name__}: {error}"
    return names(found)


#: What jaxflow says where a dtype has no kernel on the CPU, which a GPU has, or which PyTorch does not need
#: for a matrix without elements.
NO_KERNEL = ("not implemented for", "Unsupported dtype", "complex counterpart", "mixed dtype (CPU)",
             "not supported: ")
#: What it says of dtypes that do not go together, which fake tensors do not look at.
MIXED = ("dtype", "scalar type", "scalar_type", "same type")


def compare(key, device, lower):
    """How many calls had dtypes to compare, which are the same."""
    compared = 0
    for sample in records.take_samples(key, "float32", False):
        for arguments in mixtures(sample, lower):
            expected = of_torch(key, arguments, device, lower)
            if expected is None:
                continue
            found = of_jaxflow(key, arguments, lower)
            if isinstance(found, str) and any(words in found for words in NO_KERNEL):
                continue
            if device == "cuda" and isinstance(found, str) and any(words in found for words in MIXED):
                continue
            assert found == expected, (arguments, found, expected)
            compared += 1
    return compared


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("key", wanted("cpu"))
def test_on_the_cpu(key):
    lower = (torch.bfloat16, torch.float16)[zlib.crc32(key.encode()) // SAMPLE % 2]
    assert compare(key, "cpu", lower) or key not in ALWAYS


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("key", wanted("cuda"))
def test_as_on_cuda(key, monkeypatch):
    monkeypatch.setitem(autocast_lists.LISTS, "cpu", autocast_lists.LISTS["cuda"])
    assert compare(key, "cuda", torch.float16) or key not in ALWAYS

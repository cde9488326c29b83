"""Pinned memory where there is nothing to pin it for, and layouts that there are not: refused by name."""

import inspect
import warnings

import numpy as np
import pytest

import jaxflow as torch
from jaxflow._core.device import accelerator
from jaxflow._publish.composite import COMPOSITES

pytestmark = pytest.mark.skipif(accelerator() is not None, reason="memory can be pinned for an accelerator")

_CSR = ([0, 1], [0], [1.0])
#: What the functions that take ``pin_memory`` are given before it.
ARGUMENTS = {
    "tensor": ([1.0],), "full": ((2,), 1.0), "scalar_tensor": (1.0,), "empty_strided": ((2,), (1,)),
    "empty_permuted": ((2,), (0,)), "normal": (0.0, 1.0, (2,)), "eye": (2,), "randint": (3, (2,)),
    "linspace": (0, 1, 3), "logspace": (0, 1, 3), "tril_indices": (2, 2), "triu_indices": (2, 2),
    "from_file": ("a file that nobody makes", True, 3),
    "new_full": ((2,), 1.0), "new_empty_strided": ((2,), (1,)),
    "full_like": (2.0,), "randint_like": (3,), "sparse_csr_tensor": _CSR, "sparse_csc_tensor": _CSR,
    "sparse_bsr_tensor": ([0, 1], [0], [[[1.0]]]), "sparse_bsc_tensor": ([0, 1], [0], [[[1.0]]]),
    "sparse_compressed_tensor": _CSR,
}
#: What copies a tensor to where that lies, and what makes quantized tensors: PyTorch ignores the argument.
NOT_FACTORIES = {"_empty_affine_quantized", "_empty_per_channel_affine_quantized", "_to_copy"}
TAKING = {c.name: c for c in COMPOSITES.values()
          if "pin_memory" in inspect.signature(c.fn).parameters and c.name not in NOT_FACTORIES}


def call(name, **kwargs):
    composite = TAKING[name]
    of_tensor = name.startswith("new_") or name.endswith("_like")
    arguments = ARGUMENTS.get(name, () if name.endswith("_like") else (2,))
    return composite.fn(*((torch.ones(2),) if of_tensor else ()), *arguments, **kwargs)


@pytest.mark.parametrize("name", TAKING)
def test_factories_refuse_to_pin_without_an_accelerator(name):
    words = "pin_memory=True requires a CUDA or other accelerator|from a file cannot be pinned"
    torch.manual_seed(0)
    before = torch.get_rng_state().tolist()
    with pytest.raises(RuntimeError, match=words):
        call(name, pin_memory=True)
    assert torch.get_rng_state().tolist() == before
    for given, called in ((1, "int"), (np.bool_(True), r"numpy\.bool_?")):
        with pytest.raises(TypeError, match=rf"{name}\(\): argument 'pin_memory' must be bool, not {called}"):
            call(name, pin_memory=given)
    if name.startswith("sparse_"):  # whose parts are read
        return
    if name not in ("from_file", "empty_permuted", "tensor"):
        assert call(name, pin_memory=True, device="meta").is_meta
    if "layout" in inspect.signature(TAKING[name].fn).parameters and name != "scalar_tensor":
        if name in ("zeros", "empty", "zeros_like", "empty_like"):  # which have no entries then
            assert call(name, layout=torch.sparse_coo).layout is torch.sparse_coo
            return
        words = "layout torch.sparse_coo is not supported|not implemented for sparse layout"
        with pytest.raises((NotImplementedError, RuntimeError), match=words):
            call(name, layout=torch.sparse_coo)


def test_an_out_is_not_pinned():
    out = torch.empty(3)
    assert torch.zeros(3, pin_memory=True, out=out) is out
    assert torch.linspace(0, 2, 3, pin_memory=True, out=out).tolist() == [0.0, 1.0, 2.0]
    assert torch.full((3,), 2.0, pin_memory=None).tolist() == [2.0] * 3
    with pytest.raises(RuntimeError, match="Can't pin tensor constructed from a variable"):
        torch.tensor(out, pin_memory=True)


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_tensors_and_storages_are_not_pinned_without_an_accelerator():
    x = torch.ones(2)
    packed = torch.nn.utils.rnn.pack_padded_sequence(torch.ones(3, 2, 1), torch.tensor([3, 2]))
    for one in (x, x.untyped_storage(), x.storage(), packed):
        assert one.is_pinned() is False
        with pytest.raises(RuntimeError, match="Cannot access accelerator device when none is available"):
            one.pin_memory()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # says, once in a process, that no device should be given
        with pytest.raises(RuntimeError, match="CPU device type not an accelerator"):
            x.pin_memory("cpu")
    with pytest.raises(RuntimeError, match="only dense CPU tensors can be pinned"):
        x.to("meta").pin_memory()


def test_a_loader_only_warns():
    data = torch.utils.data.TensorDataset(torch.arange(2))
    loader = torch.utils.data.DataLoader(data, pin_memory=True, pin_memory_device="cuda")
    with pytest.warns(UserWarning) as caught:
        assert [x.item() for x, in loader] == [0, 1]
    assert ["pin_memory_device is deprecated" in str(w.message) for w in caught] == [True, False]
    assert "no accelerator is found" in str(caught[1].message)


def test_tensors_of_parameters_take_no_place():
    with pytest.raises(TypeError, match=r"normal\(\) received an invalid combination of arguments"):
        torch.normal(torch.zeros(2), 1.0, dtype=torch.float64)

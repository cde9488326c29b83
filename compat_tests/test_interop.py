"""Tensors handed from real PyTorch to jaxflow and back, by DLPack."""

import pytest
import torch

import jaxflow

pytestmark = pytest.mark.usefixtures("executor")

DTYPES = ("float32", "float64", "float16", "bfloat16", "bool", "uint8", "int8", "int16", "int32", "int64",
          "complex64", "complex128", "uint16", "float8_e5m2", "float8_e4m3fn")


@pytest.mark.parametrize("dtype", DTYPES)
def test_there_and_back(dtype):
    theirs = torch.arange(6).reshape(2, 3).to(getattr(torch, dtype))
    ours = jaxflow.from_dlpack(theirs)
    assert ours.dtype is getattr(jaxflow, dtype) and ours.shape == (2, 3)
    wide = "complex128" if ours.is_complex() else "float64"
    assert ours.to(getattr(jaxflow, wide)).tolist() == theirs.to(getattr(torch, wide)).tolist()
    given_away = jaxflow.utils.dlpack.to_dlpack(ours)
    for back in (torch.from_dlpack(ours), torch.utils.dlpack.from_dlpack(given_away)):
        assert back.dtype is theirs.dtype
        assert back.to(getattr(torch, wide)).tolist() == theirs.to(getattr(torch, wide)).tolist()
    capsule = torch.utils.dlpack.to_dlpack(theirs)
    assert jaxflow.utils.dlpack.from_dlpack(capsule).dtype is ours.dtype


def test_layouts():
    theirs = torch.arange(24.0).reshape(4, 6)
    for part in (theirs.t(), theirs[::2, 1:], theirs[1, 2], theirs[:0], theirs.expand(2, 4, 6)):
        assert jaxflow.from_dlpack(part).tolist() == part.tolist()
    ours = jaxflow.from_dlpack(theirs.t())
    assert ours.stride() == theirs.t().stride()
    assert torch.from_dlpack(ours[1:].t()).tolist() == ours[1:].t().tolist()
    narrow = theirs.bfloat16()[:, ::2]
    assert jaxflow.from_dlpack(narrow).tolist() == narrow.tolist()
    with pytest.raises(BufferError, match="make the tensor contiguous"):
        jaxflow.from_dlpack(torch.utils.dlpack.to_dlpack(narrow))


def test_writes_stay_on_their_side():
    theirs = torch.zeros(3)
    ours = jaxflow.from_dlpack(theirs)
    theirs += 1
    assert ours.tolist() == [0.0] * 3
    kept = ours.clone()
    torch.from_dlpack(ours).fill_(5)
    assert ours.tolist() == kept.tolist() == [0.0] * 3
    with pytest.raises(BufferError, match="require gradient"):
        jaxflow.from_dlpack(theirs.requires_grad_())
    with pytest.raises(BufferError, match="require gradient"):
        torch.from_dlpack(ours.requires_grad_())

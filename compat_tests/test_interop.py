"""Tensors handed from real PyTorch to jaxflow and back, by DLPack."""

import gc

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
        ours = jaxflow.from_dlpack(part)
        assert ours.tolist() == part.tolist() and ours.stride() == part.stride()
        back = torch.from_dlpack(ours)
        assert back.stride() == part.stride() and back.data_ptr() == part.data_ptr()
    ours = jaxflow.from_dlpack(theirs.t())
    assert ours.stride() == theirs.t().stride()
    assert torch.from_dlpack(ours[1:].t()).tolist() == ours[1:].t().tolist()
    narrow = theirs.bfloat16()[:, ::2]
    for given in (narrow, torch.utils.dlpack.to_dlpack(narrow)):
        ours = jaxflow.from_dlpack(given)
        assert ours.tolist() == narrow.tolist() and ours.stride() == narrow.stride()


def noted_of_capsule(producer, consumer, change):
    """What a consumer finds of a view that a producer exports, and both after each has written."""
    x = change(producer, producer.arange(24).reshape(4, 6).float())
    y = consumer.from_dlpack(x)
    seen = [x.shape == y.shape, x.stride() == y.stride(), str(y.dtype).partition(".")[2]]
    if x.numel():
        x[..., :1] = 7
        seen.append(y.tolist())
        y[..., :2] = 3
    return [*seen, x.tolist(), y.tolist(), y._version, y.is_leaf]


CHANGES = {
    "all": lambda T, x: x, "transposed": lambda T, x: x.t(), "part": lambda T, x: x[1:, ::2],
    "row": lambda T, x: x[2], "empty": lambda T, x: x[:0].t(), "one": lambda T, x: x[:, None, :1],
    "bfloat16": lambda T, x: x.bfloat16()[:, 1:], "bool": lambda T, x: x > 3,
    "integers": lambda T, x: x.long().t(), "large": lambda T, x: T.ones(300, 400)[1:],
}


@pytest.mark.parametrize("name", CHANGES)
def test_both_sides_are_one_memory(name):
    expected = noted_of_capsule(torch, torch, CHANGES[name])
    assert noted_of_capsule(torch, jaxflow, CHANGES[name]) == expected
    assert noted_of_capsule(jaxflow, torch, CHANGES[name]) == expected
    assert noted_of_capsule(jaxflow, jaxflow, CHANGES[name]) == expected


def test_what_is_refused():
    theirs, ours = torch.zeros(3), jaxflow.zeros(3)
    with pytest.raises(BufferError, match="require gradient"):
        jaxflow.from_dlpack(theirs.requires_grad_())
    with pytest.raises(BufferError, match="require gradient"):
        torch.from_dlpack(ours.requires_grad_())
    marked = torch.ones(2, dtype=torch.complex64).conj()
    for given, words in ((marked, "conjugate bit"), (marked.imag, "negative bit"),
                         (torch.ones(2).to_sparse(), "layout other than torch.strided")):
        with pytest.raises(BufferError, match=words):
            jaxflow.from_dlpack(given)
    with pytest.raises(BufferError, match="lanes != 1"):
        jaxflow.from_dlpack(torch.empty(2, dtype=torch.float4_e2m1fn_x2))


def test_the_other_side_may_go_first():
    theirs, ours = torch.ones(400), jaxflow.ones(400)
    given, taken = jaxflow.from_dlpack(theirs), torch.from_dlpack(ours)
    del theirs, ours
    gc.collect()
    given[0] = taken[0] = 3
    assert given.sum().item() == taken.sum().item() == 402

"""Quantized tensors beside PyTorch's: text, functions, refusals, files read by the other."""

import io

import numpy as np
import pytest
import torch

import jaxflow

# PyTorch warns that its quantized tensors and typed storages are deprecated.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

X = (np.random.default_rng(5).standard_normal((2, 3, 4)) * 2).astype("float32")


def _made(T):
    x = T.tensor(X)
    return {
        "q": T.quantize_per_tensor(x, 0.07, 100, T.quint8),
        "s": T.quantize_per_tensor(x, 0.05, -3, T.qint8),
        "w": T.quantize_per_tensor(x, 0.001, 7, T.qint32),
        "c": T.quantize_per_channel(x, T.tensor([0.1, 0.2, 0.15]), T.tensor([0, 1, -4]), 1, T.qint8),
        "f": T.quantize_per_channel(x, T.tensor([0.1, 0.2]), T.tensor([0.5, 10.25]), 0, T.quint8),
        "x": x, "T": T, "F": T.nn.functional,
    }


CALLS = """
q
s
w
c
f
q[0]
q[0, 1, 2]
c[:, 1]
c[1, 0:2]
c.select(1, 2)
c.unsqueeze(0)
c.squeeze()
c.view(2, 3, 2, 2)
c.q_per_channel_scales(), c.q_per_channel_zero_points(), c.q_per_channel_axis(), c.qscheme(), f.qscheme()
q.q_scale(), q.q_zero_point(), q.qscheme(), q.is_quantized, q.dtype, q.shape, q.stride(), q.element_size()
q.dequantize(), c.dequantize(), f.dequantize(), w.dequantize()
q.int_repr(), c.int_repr(), f.int_repr(), w.int_repr()
T.dequantize([q, c])
q.transpose(0, 1), q.permute(2, 0, 1), q.reshape(-1), q.flatten(1), q.unsqueeze(1)
q.transpose(0, 2).is_contiguous(), q.transpose(0, 2).contiguous()
T.cat([q, q], 1), T.stack([s, s])
T.relu(q), F.relu(s), F.relu6(q), F.hardtanh(s), F.leaky_relu(q, 0.1), T.clamp(q, -0.5, 0.5)
T.sigmoid(q), T.tanh(q), T.sigmoid(s), T.tanh(s), F.hardsigmoid(q)
q > 0.3, q == q, q != s, q <= 1, s < q
q.max(), s.min(), q.max(1), T.topk(q, 2), T.sort(s)
q.equal(q), q.equal(s), T.equal(c, c.clone())
F.max_pool2d(q, 2), F.interpolate(q.unsqueeze(0), scale_factor=2), F.pad(q, (1, 1))
q.clone().copy_(x * 0 + 1), s.clone().fill_(2.0), c.clone().copy_(x)
T.chunk(q, 2, 1), T.split(q, 1), q.unbind(0), T.index_select(q, 1, T.tensor([0, 2])), q.repeat(1, 2, 1)
q.masked_fill(x > 0, 0.0), q.expand(2, 3, 4).shape, q.numel(), q.dim(), len(q), q.type()
T.quantize_per_tensor([x, x[0]], T.tensor([0.1, 0.2]), T.tensor([0, 1]), T.qint8)
T.quantize_per_tensor(x, T.tensor(0.1), T.tensor(3), T.qint32)
T.quantize_per_tensor_dynamic(x, T.qint8, True).q_scale()
T.quantize_per_tensor_dynamic(x, T.quint8, False).q_scale()
T.quantize_per_tensor_dynamic(x, T.float16, True)
T._make_per_tensor_quantized_tensor(T.tensor([1, 2], dtype=T.int8), 0.5, 1)
T._make_per_channel_quantized_tensor(T.tensor([1, 2], dtype=T.uint8), T.tensor([0.5, 1]), T.tensor([0, 1]), 0)
T._empty_affine_quantized([2, 3], scale=0.5, zero_point=2, dtype=T.quint8).shape
T.quantize_per_tensor(T.empty(0), 0.1, 0, T.qint8), T.quantize_per_tensor(T.tensor(1.0), 0.1, 0, T.qint8)
T.quantize_per_tensor(T.tensor([0.05, 0.15, 0.25, -0.05, 1e9, -1e9]), 0.1, 0, T.qint8).int_repr()
T.ones(2, dtype=T.int32).dequantize(), T.iinfo(T.quint8).max, T.qint8.itemsize, T.quint8.is_floating_point
T.per_tensor_affine, T.per_channel_affine, T.per_tensor_symmetric, T.per_channel_symmetric
""".strip().splitlines()


@pytest.mark.parametrize("call", CALLS)
def test_text_is_pytorchs(call):
    assert repr(eval(call, _made(jaxflow))) == repr(eval(call, _made(torch)))


REFUSED = """
q.q_per_channel_scales()
c.q_scale()
x.q_scale()
x.int_repr()
T.quantize_per_tensor(x.double(), 0.1, 0, T.qint8)
T.quantize_per_tensor(x, 0.1, 300, T.quint8)
T.quantize_per_tensor(x, 0.1, -3, T.quint8)
T.quantize_per_tensor(x, 0.1, 0, T.int8)
T.quantize_per_tensor(q, 0.1, 0, T.quint8)
T.quantize_per_tensor_dynamic(x, T.qint32, True)
T.quantize_per_tensor_dynamic(x[:0], T.quint8, True)
T.quantize_per_channel(x, T.tensor([0.1, 0.2]), T.tensor([0, 1]), 1, T.qint8)
T.quantize_per_channel(x, T.tensor([0.1, 0.2]), T.tensor([0, 1]), 3, T.qint8)
T.quantize_per_channel(x, T.tensor([0.1, 0.2]), T.tensor([0]), 0, T.qint8)
T.quantize_per_channel(x, T.tensor([0.1, 0.2]), T.tensor([0, 500]), 0, T.qint8)
T._make_per_tensor_quantized_tensor(T.tensor([1, 2]), 0.5, 1)
T._empty_affine_quantized([2, 3])
q + q
T.sum(q)
T.where(x > 0, q, q)
F.silu(q)
c.permute(2, 1, 0)
T.cat([q, s])
q.copy_(s)
x.copy_(q)
q.to(T.float32)
q.float()
q.zero_()
q.item()
q.tolist()
q.numpy()
q.requires_grad_()
T.promote_types(T.qint8, T.float32)
T.finfo(T.quint8)
T.qint8.is_signed
""".strip().splitlines()


@pytest.mark.parametrize("call", REFUSED)
def test_refusals_are_pytorchs(call):
    said = []
    for T in (torch, jaxflow):
        with pytest.raises(Exception) as caught:
            eval(call, _made(T))
        text = str(caught.value)
        backend = "backend" in text
        said.append((caught.type.__name__, text.split("arguments from")[1][:20] if backend else text[:24]))
    assert said[0] == said[1]


@pytest.mark.parametrize("weights_only", [True, False])
def test_files_are_read_by_the_other(weights_only):
    for writer, reader in ((jaxflow, torch), (torch, jaxflow)):
        made = {k: v for k, v in _made(writer).items() if k in "qswcf"}
        made.update(view=made["q"].transpose(0, 2), dtype=writer.qint8, scheme=writer.per_tensor_affine)
        file = io.BytesIO()
        writer.save(made, file)
        file.seek(0)
        read = reader.load(file, weights_only=weights_only)
        assert {k: repr(v) for k, v in read.items()} == {k: repr(v) for k, v in made.items()}

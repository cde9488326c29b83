"""Quantized models: dynamic, after training, and trained with fake quantization."""

import copy
import io
import pickle

import numpy as np
import pytest

import jaxflow as torch
from jaxflow import nn
from jaxflow.ao.quantization import observer as observer_module

Q = torch.ao.quantization


def _close(found, expected, share=0.05):
    """The error of quantization is a small share of the range."""
    found, expected = found.detach().numpy(), expected.detach().numpy()
    return np.abs(found - expected).max() < share * (np.abs(expected).max() + 1e-3)


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(3)


class Net(nn.Module):
    """A small network with a place of each kind."""

    def __init__(self):
        super().__init__()
        self.quant, self.dequant = Q.QuantStub(), Q.DeQuantStub()
        self.conv, self.bn, self.relu = nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU()
        self.add, self.pool = nn.quantized.FloatFunctional(), nn.AdaptiveAvgPool2d(2)
        self.fc = nn.Linear(16, 3)

    def forward(self, x):
        x = self.relu(self.bn(self.conv(self.quant(x))))
        return self.dequant(self.fc(self.pool(self.add.add(x, x)).reshape(-1, 16)))


@pytest.mark.parametrize("dtype", [torch.qint8, torch.float16])
def test_dynamic_linear(dtype, executor):
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4, bias=False))
    small, x = Q.quantize_dynamic(model, {nn.Linear}, dtype=dtype), torch.randn(5, 16)
    assert type(model[0]) is nn.Linear and type(small[0]) is torch.ao.nn.quantized.dynamic.Linear
    assert _close(small(x), model(x)) and not small(x).requires_grad
    with torch.no_grad():
        assert torch.equal(small(x), copy.deepcopy(small)(x))
    assert torch.allclose(torch.compile(small)(x), small(x), atol=1e-6)
    assert torch.allclose(pickle.loads(pickle.dumps(small))(x), small(x))


@pytest.mark.parametrize("dtype", [torch.qint8, torch.float16])
@pytest.mark.parametrize("kind, options", [
    (nn.LSTM, {"num_layers": 2, "bidirectional": True, "batch_first": True}), (nn.GRU, {"bias": False}),
])
def test_dynamic_layers_over_sequences(kind, options, dtype, executor):
    model = nn.Sequential(kind(6, 8, **options))
    small, x = Q.quantize_dynamic(model, dtype=dtype), torch.randn(4, 3, 6)
    (out, last), (expected, expected_last) = small(x), model(x)
    assert _close(out, expected)
    last, expected_last = (s[0] if isinstance(s, tuple) else s for s in (last, expected_last))
    assert last.shape == expected_last.shape and _close(last, expected_last)
    file = io.BytesIO()
    torch.save(small.state_dict(), file)
    file.seek(0)
    other = Q.quantize_dynamic(nn.Sequential(kind(6, 8, **options)), dtype=dtype)
    other.load_state_dict(torch.load(file))
    assert torch.equal(other(x)[0], out)


def test_dynamic_cells(executor):
    model = nn.ModuleList([nn.LSTMCell(4, 5), nn.GRUCell(4, 5), nn.RNNCell(4, 5, nonlinearity="relu")])
    small, x = Q.quantize_dynamic(model), torch.randn(3, 4)
    for cell, expected in zip(small, model, strict=True):
        found, wanted = cell(x), expected(x)
        assert type(cell).__module__.endswith("quantized.dynamic.rnn")
        for f, w in zip(*((r if isinstance(r, tuple) else (r,)) for r in (found, wanted)), strict=True):
            assert _close(f, w)


@pytest.mark.filterwarnings("ignore:.*reduce_range:UserWarning", "ignore:must run observer:UserWarning")
def test_after_training(executor):
    model, x = Net(), torch.randn(8, 2, 6, 6)
    model(x)
    model.eval()
    expected = model(x)
    fused = Q.fuse_modules(model, ["conv", "bn", "relu"])
    fused.qconfig = Q.get_default_qconfig("x86")
    observed = Q.prepare(fused)
    assert _close(observed(x), expected, 1e-4)
    small = Q.convert(observed)
    assert type(small.conv) is torch.ao.nn.intrinsic.quantized.ConvReLU2d
    assert type(small.fc) is torch.ao.nn.quantized.Linear
    assert type(small.quant) is torch.ao.nn.quantized.Quantize
    assert _close(small(x), expected) and small.conv(small.quant(x)).is_quantized
    other = Q.convert(Q.prepare(fused))
    file = io.BytesIO()
    torch.save(small.state_dict(), file)
    file.seek(0)
    other.load_state_dict(torch.load(file))
    assert torch.equal(other(x), small(x)) and not any(hasattr(m, "qconfig") for m in small.modules())


@pytest.mark.filterwarnings("ignore:.*reduce_range:UserWarning")
def test_training_with_fake_quantization(executor):
    model, x, y = Net(), torch.randn(8, 2, 6, 6), torch.randn(8, 3)
    model = Q.fuse_modules_qat(model.train(), ["conv", "bn", "relu"])
    model.qconfig = Q.get_default_qat_qconfig("x86")
    trained = Q.prepare_qat(model)
    assert type(trained.conv) is torch.ao.nn.intrinsic.qat.ConvBnReLU2d
    optimizer, losses = torch.optim.SGD(trained.parameters(), lr=0.05), []
    for _ in range(8):
        optimizer.zero_grad()
        loss = ((trained(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    trained.apply(Q.disable_observer).apply(torch.ao.nn.intrinsic.qat.freeze_bn_stats)
    trained.eval()
    small = Q.convert(trained)
    assert type(small.conv) is torch.ao.nn.intrinsic.quantized.ConvReLU2d
    assert _close(small(x), trained(x), 0.1)


def test_switches_of_fake_quantization(executor):
    fake = Q.FakeQuantize(quant_min=0, quant_max=255)
    x = torch.tensor([0.0, 0.013, 2.55])
    assert fake(x).tolist() == pytest.approx([0.0, 0.01, 2.55])
    Q.disable_observer(fake)
    fake(x * 2)
    assert fake.scale.tolist() == pytest.approx([0.01])
    Q.disable_fake_quant(fake)
    assert torch.equal(fake(x), x)
    Q.enable_observer(fake)
    Q.enable_fake_quant(fake)
    fake(x * 2)
    assert fake.scale.item() > 0.01


def test_an_observer_that_fails_keeps_its_range():
    observer = Q.HistogramObserver()
    observer(torch.tensor([0.0, 1.0]))
    before = {k: v.clone() for k, v in observer.state_dict().items()}
    with pytest.raises(ValueError, match="nan"):
        observer(torch.tensor([float("nan")]))
    assert all(torch.equal(v, before[k]) for k, v in observer.state_dict().items())


def test_embeddings_in_8_bits(executor):
    model = nn.Sequential(nn.Embedding(10, 6))
    small = Q.quantize_dynamic(model, dtype=torch.quint8)
    places = torch.tensor([[1, 2], [9, 0]])
    assert type(small[0]) is torch.ao.nn.quantized.Embedding and _close(small(places), model(places), 0.02)


@pytest.mark.parametrize("call, error, said", [
    (lambda: Q.quantize_dynamic(nn.Linear(1, 1), dtype=torch.int8), ValueError, "default settings"),
    (lambda: Q.prepare_qat(nn.Linear(1, 1).eval()), AssertionError, "training mode"),
    (lambda: Q.fuse_modules(nn.Sequential(nn.ReLU(), nn.ReLU()), ["0", "1"]), NotImplementedError, "Cannot"),
    (lambda: Q.convert(nn.Linear(1, 1), is_reference=True), NotImplementedError, "reference modules"),
    (lambda: torch.ao.nn.quantized.Linear(1, 1)(torch.ones(1, 1)), NotImplementedError, "quantized::linear"),
    (lambda: torch.ao.nn.quantized.Conv1d(1, 1, 1)(torch.ones(1, 1, 1)), NotImplementedError,
     "quantized::conv1d"),
    (lambda: torch.ao.nn.quantized.dynamic.Linear.from_float(nn.ReLU()), AssertionError, "from_float only"),
    (lambda: Q.get_default_qconfig("another"), AssertionError, "not supported"),
    (lambda: Q.QConfig(activation=nn.Identity(), weight=None), ValueError, "observer instance"),
    (lambda: Q.MinMaxObserver(qscheme=torch.per_channel_affine), NotImplementedError, "qscheme only support"),
    (lambda: Q.quantize_fx.prepare_fx(None, None, None), NotImplementedError, "graph mode"),
])
def test_refusals(call, error, said):
    with pytest.raises(error, match=said):
        call()


def test_the_older_place():
    assert torch.quantization.quantize_dynamic is Q.quantize_dynamic
    assert nn.quantized.dynamic.LSTM is torch.ao.nn.quantized.dynamic.LSTM


def test_an_observer_that_is_interrupted_has_seen_all_channels_or_none(monkeypatch):
    observer = torch.ao.quantization.PerChannelMinMaxObserver()

    def interrupted(rows):
        raise KeyboardInterrupt

    monkeypatch.setattr(observer_module, "commit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        observer(torch.ones(3, 2))
    monkeypatch.undo()
    assert observer.min_val.numel() == observer.max_val.numel() == 0
    observer(torch.arange(6.0).reshape(3, 2))
    observer(torch.full((3, 2), 4.0))
    assert observer.min_val.tolist() == [0.0, 2.0, 4.0] and observer.max_val.tolist() == [4.0, 4.0, 5.0]

"""Quantized models beside PyTorch's: text, results, state dicts that the other loads."""

import copy
import io
import re

import numpy as np
import pytest
import torch

import jaxflow

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning",
                                        "ignore::FutureWarning")
X = np.random.default_rng(7).standard_normal((6, 5, 4)).astype("float32")
IMAGES = np.random.default_rng(8).standard_normal((6, 3, 8, 8)).astype("float32")


def _numbers_left_out(text):
    return re.sub(r"-?\d+\.\d+(e-?\d+)?|zero_point=\d+|tensor\(\[[^\]]*\]", "#", text)


def _same_weights(theirs, ours):
    ours.load_state_dict({k: jaxflow.tensor(v.numpy()) for k, v in theirs.state_dict().items()})
    return theirs, ours


def _flat(found):
    if isinstance(found, (tuple, list)):
        return [x for part in found for x in _flat(part)]
    return [found.detach().numpy()]


DYNAMIC = {
    "Linear": lambda nn: nn.Sequential(nn.Linear(4, 30), nn.ReLU(), nn.Linear(30, 2, bias=False)),
    "LSTM": lambda nn: nn.Sequential(nn.LSTM(4, 6, 2, bidirectional=True, batch_first=True)),
    "GRU": lambda nn: nn.Sequential(nn.GRU(4, 6, 2)),
    "RNNCell": lambda nn: nn.Sequential(nn.RNNCell(4, 3, nonlinearity="relu")),
    "LSTMCell": lambda nn: nn.Sequential(nn.LSTMCell(4, 3)),
    "GRUCell": lambda nn: nn.Sequential(nn.GRUCell(4, 3)),
}


@pytest.mark.parametrize("dtype", ["qint8", "float16"])
@pytest.mark.parametrize("name", DYNAMIC)
def test_dynamic(name, dtype):
    torch.manual_seed(1)
    theirs, ours = _same_weights(DYNAMIC[name](torch.nn), DYNAMIC[name](jaxflow.nn))
    theirs = torch.ao.quantization.quantize_dynamic(theirs, dtype=getattr(torch, dtype))
    ours = jaxflow.ao.quantization.quantize_dynamic(ours, dtype=getattr(jaxflow, dtype))
    assert repr(theirs) == repr(ours)
    x = X[0] if name.endswith("Cell") else X
    for expected, found in zip(_flat(theirs(torch.tensor(x))), _flat(ours(jaxflow.tensor(x))), strict=True):
        # A number at a tie may be rounded to the other side: a step of the input's 7 bits.
        np.testing.assert_allclose(found, expected, atol=0.02)


@pytest.mark.parametrize("dtype", ["qint8", "float16"])
def test_state_dicts_of_dynamic_layers(dtype):
    torch.manual_seed(1)
    made = {}
    for lib in (torch, jaxflow):
        model = DYNAMIC["Linear"](lib.nn)
        made[lib] = lib.ao.quantization.quantize_dynamic(model, dtype=getattr(lib, dtype))
    assert list(made[torch].state_dict()) == list(made[jaxflow].state_dict())
    for writer, reader in ((torch, jaxflow), (jaxflow, torch)):
        file = io.BytesIO()
        writer.save(made[writer].state_dict(), file)
        file.seek(0)
        reading = copy.deepcopy(made[reader])
        reading.load_state_dict(reader.load(file))
        np.testing.assert_allclose(reading(reader.tensor(X)).detach().numpy(),
                                   made[writer](writer.tensor(X)).detach().numpy(), atol=0.02)


def _net(lib):
    nn, q = lib.nn, lib.ao.quantization

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.quant, self.dequant = q.QuantStub(), q.DeQuantStub()
            self.conv, self.bn, self.relu = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU()
            self.conv2, self.bn2 = nn.Conv2d(8, 8, 3, stride=2, groups=2, bias=False), nn.BatchNorm2d(8)
            self.pool, self.ff = nn.AdaptiveAvgPool2d(2), nn.quantized.FloatFunctional()
            self.fc, self.relu2 = nn.Linear(32, 10), nn.ReLU()
            self.fc2, self.last = nn.Linear(10, 4), nn.Sigmoid()

        def forward(self, x):
            x = self.relu(self.bn(self.conv(self.quant(x))))
            y = self.bn2(self.conv2(x))
            y = self.pool(self.ff.add(y, y)).reshape(-1, 32)
            return self.dequant(self.last(self.fc2(self.relu2(self.fc(y)))))

    return Net()


FUSED = [["conv", "bn", "relu"], ["conv2", "bn2"], ["fc", "relu2"]]


def _pair():
    torch.manual_seed(0)
    theirs = _net(torch)
    theirs(torch.randn(4, 3, 8, 8))
    return _same_weights(theirs, _net(jaxflow))


@pytest.mark.parametrize("backend", ["x86", "qnnpack"])
def test_after_training(backend):
    made = {}
    for lib, model in zip((torch, jaxflow), _pair(), strict=True):
        q = lib.ao.quantization
        model = q.fuse_modules(model.eval(), FUSED)
        model.qconfig = q.get_default_qconfig(backend)
        observed = q.prepare(model)
        observed(lib.tensor(IMAGES))
        observed(lib.tensor(IMAGES * 1.5))
        made[lib] = observed, q.convert(observed)
    for theirs, ours in zip(made[torch], made[jaxflow], strict=True):
        assert _numbers_left_out(repr(theirs)) == _numbers_left_out(repr(ours))
        assert list(theirs.state_dict()) == list(ours.state_dict())
    results = {lib: made[lib][1](lib.tensor(IMAGES)).numpy() for lib in made}
    step = 1 / 256  # of the sigmoid's results
    np.testing.assert_allclose(results[jaxflow], results[torch], atol=2.1 * step)
    for writer, reader in ((torch, jaxflow), (jaxflow, torch)):
        file = io.BytesIO()
        writer.save(made[writer][1].state_dict(), file)
        file.seek(0)
        made[reader][1].load_state_dict(reader.load(file))
        found = made[reader][1](reader.tensor(IMAGES)).numpy()
        np.testing.assert_allclose(found, results[writer], atol=2.1 * step)


def test_training_with_fake_quantization():
    made, losses = {}, {}
    for lib, model in zip((torch, jaxflow), _pair(), strict=True):
        q, x = lib.ao.quantization, lib.tensor(IMAGES)
        model = q.fuse_modules_qat(model.train(), FUSED)
        model.qconfig = q.get_default_qat_qconfig("x86")
        model = q.prepare_qat(model)
        optimizer, losses[lib] = lib.optim.SGD(model.parameters(), lr=0.1), []
        for _ in range(3):
            optimizer.zero_grad()
            loss = ((model(x) - x.mean((1, 2, 3))[:, None]) ** 2).mean()
            loss.backward()
            optimizer.step()
            losses[lib].append(loss.item())
        model.eval()
        made[lib] = model, q.convert(model)
    np.testing.assert_allclose(losses[jaxflow], losses[torch], rtol=0.02)
    for theirs, ours in zip(made[torch], made[jaxflow], strict=True):
        assert _numbers_left_out(repr(theirs)) == _numbers_left_out(repr(ours))
        assert list(theirs.state_dict()) == list(ours.state_dict())
    np.testing.assert_allclose(made[jaxflow][1](jaxflow.tensor(IMAGES)).numpy(),
                               made[torch][1](torch.tensor(IMAGES)).numpy(), atol=0.02)


OBSERVERS = {
    "min_max": lambda T, q: q.MinMaxObserver(),
    "symmetric": lambda T, q: q.MinMaxObserver(dtype=T.qint8, qscheme=T.per_tensor_symmetric),
    "unsigned symmetric": lambda T, q: q.MinMaxObserver(qscheme=T.per_tensor_symmetric),
    "range": lambda T, q: q.MinMaxObserver(quant_min=0, quant_max=127),
    "reduced": lambda T, q: q.MinMaxObserver(dtype=T.qint8, reduce_range=True),
    "moving": lambda T, q: q.MovingAverageMinMaxObserver(averaging_constant=0.1),
    "channels": lambda T, q: q.PerChannelMinMaxObserver(ch_axis=1),
    "channels, symmetric": lambda T, q: q.default_per_channel_weight_observer(),
    "channels, floating": lambda T, q: q.default_float_qparams_observer(),
    "channels, moving": lambda T, q: q.MovingAveragePerChannelMinMaxObserver(averaging_constant=0.1),
    "fixed": lambda T, q: q.default_fixed_qparams_range_neg1to1_observer(),
    "histogram": lambda T, q: q.HistogramObserver(bins=256),
    "histogram, symmetric": lambda T, q: q.HistogramObserver(dtype=T.qint8, qscheme=T.per_tensor_symmetric),
}


@pytest.mark.parametrize("name", OBSERVERS)
def test_observers(name):
    found = {}
    for lib in (torch, jaxflow):
        observer = OBSERVERS[name](lib, lib.ao.quantization)
        for factor in (1.0, 0.5, 2.5):
            observer(lib.tensor(X * factor))
        found[lib] = observer
    assert list(found[torch].state_dict()) == list(found[jaxflow].state_dict())
    assert type(found[torch]).__name__ == type(found[jaxflow]).__name__
    (scale, zero), (our_scale, our_zero) = (found[lib].calculate_qparams() for lib in (torch, jaxflow))
    # Ends of a histogram's range may differ by a bin.
    tolerance = 0.02 if "histogram" in name else 1e-6
    np.testing.assert_allclose(our_scale.numpy(), scale.numpy(), rtol=tolerance)
    np.testing.assert_allclose(our_zero.numpy(), zero.numpy(), atol=2 if "histogram" in name else 1e-4)
    assert str(our_zero.dtype) == str(zero.dtype) and our_zero.shape == zero.shape


def test_configurations_make_the_same():
    for name in ("x86", "fbgemm", "qnnpack", "onednn"):
        for maker in ("get_default_qconfig", "get_default_qat_qconfig"):
            shown = [_numbers_left_out(repr([made() for made in getattr(lib.ao.quantization, maker)(name)]))
                     for lib in (torch, jaxflow)]
            assert shown[0] == shown[1]
    for name in ("default_qconfig", "default_dynamic_qconfig", "float16_dynamic_qconfig",
                 "per_channel_dynamic_qconfig", "float_qparams_weight_only_qconfig", "default_qat_qconfig",
                 "default_weight_only_qconfig", "default_activation_only_qconfig", "default_qat_qconfig_v2",
                 "default_per_channel_qconfig", "default_embedding_qat_qconfig"):
        shown = [repr([made() for made in getattr(lib.ao.quantization, name)]) for lib in (torch, jaxflow)]
        assert shown[0] == shown[1], name

"""Paddle's layers, losses and optimizers: NumPy is the oracle, in Paddle's own conventions."""

import copy
import io

import numpy as np
import pytest

import jaxflow
from jaxflow import paddle
from jaxflow.paddle.nn import functional as F

X = np.array([[0.5, -1.25, 2.0], [3.0, 0.25, -0.75]], np.float32)
IMAGE = np.arange(32, dtype=np.float32).reshape(1, 2, 4, 4) / 10


def log_softmax(a):
    return a - np.log(np.exp(a).sum(-1, keepdims=True))


def windows(a):
    """The 2 x 2 windows of every channel, in the last two dimensions."""
    rows = [[a[..., i : i + 2, j : j + 2] for j in (0, 2)] for i in (0, 2)]
    return np.stack(rows).transpose(2, 3, 0, 1, 4, 5)


def test_functions_agree_with_numpy(deferred):
    x, image = paddle.to_tensor(X), paddle.to_tensor(IMAGE)
    weight, bias = paddle.to_tensor(np.ones((3, 2), np.float32)), paddle.to_tensor([1.0, 2.0])
    labels, ls = paddle.to_tensor([2, 0]), log_softmax(X)
    picked = -ls[[0, 1], [2, 0]]
    soft = np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]], np.float32)
    d = X - soft
    pool = windows(IMAGE)
    cases = [
        (F.relu(x), X.clip(0)),
        (F.leaky_relu(x, 0.5), np.where(X > 0, X, X / 2)),
        (F.hardsigmoid(x), (X * 0.1666667 + 0.5).clip(0, 1)),
        (F.selu(x, 1.0, 2.0), np.where(X > 0, X, 2 * np.expm1(X))),
        (F.thresholded_relu(x), np.where(X > 1, X, 0)),
        (F.swish(x), X / (1 + np.exp(-X))),
        (F.softmax(x, axis=0), np.exp(X) / np.exp(X).sum(0)),
        (F.linear(x, weight, bias), X.sum(1, keepdims=True) + [1, 2]),
        (F.one_hot(labels, 3), np.eye(3)[[2, 0]]),
        (F.embedding(labels, weight), np.ones((2, 2))),
        (F.normalize(x), X / np.linalg.norm(X, axis=1, keepdims=True)),
        (F.layer_norm(x, 3), (X - X.mean(1, keepdims=True)) / np.sqrt(X.var(1, keepdims=True) + 1e-5)),
        (F.pad(x, [1, 2], value=5.0), np.pad(X, ((0, 0), (1, 2)), constant_values=5)),
        (F.pad(x, [1, 0, 0, 2]), np.pad(X, ((1, 0), (0, 2)))),
        (F.max_pool2d(image, 2), pool.max((-1, -2))),
        (F.avg_pool2d(image, 2), pool.mean((-1, -2))),
        (F.avg_pool2d(image, 2, padding=1)[0, 0, 0, 0], IMAGE[0, 0, 0, 0]),  # padding does not count
        (F.adaptive_avg_pool2d(image, 1)[..., 0, 0], IMAGE.mean((2, 3))),
        (F.conv2d(image, paddle.ones([1, 2, 2, 2]), stride=2)[0, 0], pool.sum((-1, -2)).sum(1)[0]),
        (F.interpolate(image, scale_factor=2).shape, [1, 2, 8, 8]),
        (F.dropout(x, 0.5, training=False), X),
        (F.dropout(x, 0.5, training=False, mode="downscale_in_infer"), X / 2),
        (F.cross_entropy(x, labels), picked.mean()),
        (F.cross_entropy(x, labels.unsqueeze(1), reduction="none"), picked[:, None]),
        (F.cross_entropy(x, paddle.to_tensor([2, -100])), picked[0]),
        (F.cross_entropy(x, paddle.to_tensor([-100, -100])), 0.0),
        (F.cross_entropy(x, paddle.to_tensor(soft), soft_label=True), -(soft * ls).sum(1).mean()),
        (F.cross_entropy(x, labels, weight=paddle.to_tensor([1.0, 2.0, 3.0])),
         (3 * picked[0] + picked[1]) / 4),
        (F.cross_entropy(x, labels, label_smoothing=0.3), (0.7 * picked - 0.1 * ls.sum(1)).mean()),
        (F.softmax_with_cross_entropy(x, labels.unsqueeze(1)), picked[:, None]),
        (F.mse_loss(x, paddle.to_tensor(soft)), (d**2).mean()),
        (F.l1_loss(x, paddle.to_tensor(soft), "sum"), np.abs(d).sum()),
        (F.smooth_l1_loss(x, paddle.to_tensor(soft), "none", 0.5),
         np.where(np.abs(d) < 0.5, d * d / 2, 0.5 * np.abs(d) - 0.125)),
        (F.binary_cross_entropy_with_logits(x, paddle.to_tensor(soft)),
         (np.log1p(np.exp(X)) - soft * X).mean()),
        (F.nll_loss(F.log_softmax(x), labels), picked.mean()),
        (F.kl_div(x, paddle.to_tensor(soft + 0.1)), ((soft + 0.1) * (np.log(soft + 0.1) - X)).mean()),
        (F.scaled_dot_product_attention(*[image.reshape([1, 4, 2, 4])] * 3).shape, [1, 4, 2, 4]),
        (paddle.linalg.vector_norm(x, axis=1), np.linalg.norm(X, axis=1)),
        (paddle.linalg.cov(x), np.cov(X)),
    ]
    for i, (result, expected) in enumerate(cases):
        np.testing.assert_allclose(np.asarray(result), expected, 1e-5, 1e-6, err_msg=f"case {i}")
        assert isinstance(result, list) or type(result) is paddle.Tensor
    with pytest.raises(ValueError, match="data_format 'NHWC' is not supported"):
        F.pixel_shuffle(image, 1, data_format="NHWC")


def test_batch_norm_keeps_paddles_share_of_old_statistics(executor):
    layer = paddle.nn.BatchNorm1D(3, momentum=0.75)
    out = layer(paddle.to_tensor(X))
    normalized = (X - X.mean(0)) / np.sqrt(X.var(0) + 1e-5)
    np.testing.assert_allclose(out.numpy(), normalized, rtol=1.3e-6, atol=1e-5)
    np.testing.assert_allclose(layer._mean.numpy(), X.mean(0) / 4, rtol=1e-6)
    np.testing.assert_allclose(layer._variance.numpy(), 0.75 + X.var(0) / 4, rtol=1e-6)
    layer.eval()
    expected = (X - layer._mean.numpy()) / np.sqrt(layer._variance.numpy() + 1e-5)
    np.testing.assert_allclose(layer(paddle.to_tensor(X)).numpy(), expected, rtol=1e-5)


def test_layers_with_parameters(deferred):
    nn, image = paddle.nn, paddle.to_tensor(IMAGE)
    ones = nn.initializer.Constant(1.0)
    spread = nn.Conv2DTranspose(2, 1, 2, stride=2, weight_attr=ones)(image)
    assert nn.Conv1DTranspose(2, 3, 2)(image[:, :, 0]).shape == [1, 3, 5]
    across = IMAGE.mean((2, 3), keepdims=True), IMAGE.var((2, 3), keepdims=True)
    normal = (IMAGE - across[0]) / np.sqrt(across[1] + 1e-5)
    cases = [
        (spread, np.kron(IMAGE.sum(1, keepdims=True), np.ones((2, 2)))),
        (nn.InstanceNorm2D(2)(image), normal),
        (nn.GroupNorm(2, 2)(image), normal),
        (nn.PReLU(1, 0.5)(-image), -IMAGE / 2),
        (nn.Pad2D(1, value=3.0)(image), np.pad(IMAGE, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=3)),
        (nn.Pad2D([1, 0, 0, 0], mode="reflect")(image)[..., 0], IMAGE[..., 1]),
        (nn.Embedding(4, 2, padding_idx=1)(paddle.to_tensor([1])), [[0.0, 0.0]]),
        (nn.LayerNorm([4])(image).mean(-1), np.zeros((1, 2, 4))),
        (nn.Linear(4, 3, weight_attr=ones, bias_attr=ones)(image), IMAGE.sum(-1, keepdims=True) + [1, 1, 1]),
        (nn.MaxPool2D(2, return_mask=True)(image)[1], [[[[5, 7], [13, 15]]] * 2]),
        (nn.Conv1D(2, 1, 1, weight_attr=ones)(image[:, :, 0]), IMAGE[:, :, 0].sum(1, keepdims=True)),
    ]
    for i, (result, expected) in enumerate(cases):
        expected = np.asarray(expected)
        np.testing.assert_allclose(np.asarray(result), np.broadcast_to(expected, result.shape), 1e-4, 1e-5,
                                   err_msg=f"case {i}")
    frozen = nn.Linear(2, 2, weight_attr=paddle.ParamAttr(initializer=ones, trainable=False), bias_attr=False)
    assert frozen.weight.stop_gradient and frozen.bias is None and frozen.weight.tolist() == [[1, 1], [1, 1]]


class Net(paddle.nn.Layer):
    """A model as a user writes it; what its own code sees is Paddle's tensor."""

    def __init__(self):
        super().__init__()
        self.conv = paddle.nn.Conv2D(2, 3, 3, padding=1, bias_attr=False)
        self.head = paddle.nn.Sequential(
            ("flat", paddle.nn.Flatten()), ("linear", paddle.nn.Linear(48, 2)),
            ("drop", paddle.nn.Dropout(0.0)),
        )
        self.scale = self.create_parameter([1], default_initializer=paddle.nn.initializer.Constant(2.0))

    def forward(self, x):
        h = paddle.nn.functional.relu(self.conv(x))
        assert h.shape == [x.shape[0], 3, 4, 4] and type(h) is paddle.Tensor
        return self.head(h) * self.scale


def test_a_model_trains_and_is_saved(executor, tmp_path):
    paddle.seed(1)
    net = Net()
    assert [list(p.shape) for p in net.parameters()] == [[1], [3, 2, 3, 3], [48, 2], [2]]
    assert len(net.sublayers()) == 5 and net.head.linear.weight.stop_gradient is False
    schedule = paddle.optimizer.lr.StepDecay(0.01, step_size=2, gamma=0.5)
    optimizer = paddle.optimizer.AdamW(
        schedule, parameters=net.parameters(), grad_clip=paddle.nn.ClipGradByGlobalNorm(1.0)
    )
    x, labels = paddle.to_tensor(IMAGE), paddle.to_tensor([[1]])
    losses = []
    for _ in range(3):
        loss = paddle.nn.CrossEntropyLoss()(net(x), labels)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        schedule.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] and optimizer.get_lr() == 0.005
    assert net.conv.weight.grad.abs().sum().item() == 0.0
    paddle.save(net.state_dict(), str(tmp_path / "net.pdparams"))
    other = Net()
    assert other.set_state_dict(paddle.load(str(tmp_path / "net.pdparams"))) == ([], [])
    net.eval(), other.eval()
    np.testing.assert_array_equal(other(x).numpy(), net(x).numpy())
    twin = copy.deepcopy(net)
    assert type(twin.scale) is type(net.scale) is not paddle.Tensor and twin.scale is not net.scale
    with io.BytesIO() as file:
        jaxflow.save(net.state_dict(), file)
        file.seek(0)
        assert {type(v) for v in jaxflow.load(file).values()} == {jaxflow.Tensor}


class Squares(paddle.io.Dataset):
    """Samples as NumPy arrays, as most of Paddle's datasets give them."""

    def __getitem__(self, i):
        return np.full(2, i, np.float32), i * i

    def __len__(self):
        return 5


def test_data_and_helpers():
    batches = list(paddle.io.DataLoader(Squares(), batch_size=2, drop_last=True))
    assert [[t.tolist() for t in batch] for batch in batches] == [
        [[[0, 0], [1, 1]], [0, 1]], [[[2, 2], [3, 3]], [4, 9]]
    ]
    assert {type(t) for batch in batches for t in batch} == {paddle.Tensor} and type(batches[0]) is list
    rows = paddle.io.TensorDataset([paddle.arange(3), paddle.ones([3])])
    sampler = paddle.io.BatchSampler(rows, batch_size=2)
    assert [b[0].tolist() for b in paddle.io.DataLoader(rows, batch_sampler=sampler)] == [[0, 1], [2]]
    assert paddle.set_device("cpu") == paddle.CPUPlace() and paddle.get_device() == "cpu"
    layer = paddle.nn.Linear(2, 1, bias_attr=False)
    layer(paddle.ones([1, 2])).backward()
    assert paddle.nn.utils.clip_grad_norm_(layer.parameters(), 1.0).item() == pytest.approx(2**0.5)
    np.testing.assert_allclose(layer.weight.grad.numpy(), np.full((2, 1), 0.5**0.5), rtol=1e-5)
    assert paddle.nn.utils.parameters_to_vector(layer.parameters()).shape == [2]
    layer.clear_gradients()
    assert layer.weight.grad.tolist() == [[0.0], [0.0]]


def stepped(make, steps=2):
    p = paddle.create_parameter([2], default_initializer=paddle.nn.initializer.Assign([1.0, -2.0]))
    optimizer = make([p])
    for _ in range(steps):
        (p * p).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
    return p.numpy()


def test_optimizers_take_paddles_steps(executor):
    start, optim = np.array([1.0, -2.0]), paddle.optimizer
    np.testing.assert_allclose(
        stepped(lambda ps: optim.SGD(0.1, ps, paddle.regularizer.L2Decay(0.5)), 1), start * 0.75, rtol=1e-6)
    np.testing.assert_allclose(
        stepped(lambda ps: optim.Momentum(0.1, 0.5, ps)), start * (0.8 - 0.1 * (1.6 + 1.0)), rtol=1e-6)
    np.testing.assert_allclose(
        stepped(lambda ps: optim.Adam(0.1, parameters=ps), 1), start - 0.1 * np.sign(start), rtol=1e-5)
    np.testing.assert_allclose(
        stepped(lambda ps: optim.AdamW(0.1, parameters=ps, weight_decay=0.2), 1),
        start * 0.98 - 0.1 * np.sign(start), rtol=1e-5)
    np.testing.assert_allclose(
        stepped(lambda ps: optim.Adagrad(0.1, parameters=ps), 1), start - 0.1 * np.sign(start), rtol=1e-5)
    clip = paddle.nn.ClipGradByNorm(1.0)
    np.testing.assert_allclose(
        stepped(lambda ps: optim.SGD(1.0, ps, grad_clip=clip), 1), start - start / np.sqrt(5), rtol=1e-5)
    with pytest.raises(ValueError, match="parameters argument"):
        optim.SGD(0.1)
    with pytest.raises(AttributeError, match=r"paddle\.optimizer\.RMSProp exists in Paddle but not here"):
        optim.RMSProp


def test_schedules():
    lr = paddle.optimizer.lr
    for schedule, expected in (
        (lr.ExponentialDecay(1.0, 0.5), [1, 0.5, 0.25, 0.125]),
        (lr.MultiStepDecay(1.0, [1, 3]), [1, 0.1, 0.1, 0.01]),
        (lr.PiecewiseDecay([1, 2], [3.0, 2.0, 1.0]), [3, 2, 1, 1]),
        (lr.PolynomialDecay(1.0, 2, 0.0), [1, 0.5, 0, 0]),
        (lr.PolynomialDecay(1.0, 2, 0.0, cycle=True), [1, 0.5, 0, 0.25]),
        (lr.CosineAnnealingDecay(1.0, 2), [1, 0.5, 0, 0.5]),
        (lr.InverseTimeDecay(1.0, 1.0), [1, 1 / 2, 1 / 3, 1 / 4]),
        (lr.NaturalExpDecay(1.0, 1.0), np.exp([0, -1, -2, -3])),
        (lr.LambdaDecay(2.0, lambda epoch: epoch), [0, 2, 4, 6]),
        (lr.NoamDecay(4, 2), [0, 2**-2.5, 2**-1.5, 0.5 * 3**-0.5]),
        (lr.LinearWarmup(lr.ExponentialDecay(1.0, 0.5), 2, 0.0, 1.0), [0, 0.5, 1, 0.5]),
    ):
        seen = []
        for _ in expected:
            seen.append(schedule())
            schedule.step()
        np.testing.assert_allclose(seen, expected, rtol=1e-6, atol=1e-12, err_msg=type(schedule).__name__)
    again = lr.StepDecay(1.0, 1)
    again.set_state_dict({"last_epoch": 3, "last_lr": 0.001})
    assert again() == 0.001
    with pytest.raises(TypeError, match="lacks argument 'gamma'"):
        lr.ExponentialDecay(1.0)

"""Activations, losses and dropout against their formulas, written out in NumPy."""

import math

import numpy as np
import pytest
from nearness import close, tensor

import jaxflow as torch
from jaxflow import nn

F = nn.functional

pytestmark = pytest.mark.usefixtures("executor")


# ----- activations ---------------------------------------------------------------------------------


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def normal_cdf(x):
    return np.vectorize(lambda v: 0.5 * (1 + math.erf(v / math.sqrt(2))))(x)


ACTIVATIONS = {
    nn.ReLU(): lambda x: np.maximum(x, 0),
    nn.ReLU6(): lambda x: np.clip(x, 0, 6),
    nn.LeakyReLU(0.1): lambda x: np.where(x > 0, x, 0.1 * x),
    nn.ELU(0.7): lambda x: np.where(x > 0, x, 0.7 * (np.exp(x) - 1)),
    nn.CELU(0.7): lambda x: np.maximum(x, 0) + np.minimum(0, 0.7 * (np.exp(x / 0.7) - 1)),
    nn.SELU(): lambda x: 1.0507009873554804934193349852946
    * np.where(x > 0, x, 1.6732632423543772848170429916717 * (np.exp(x) - 1)),
    nn.GELU(): lambda x: x * normal_cdf(x),
    nn.GELU("tanh"): lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    nn.SiLU(): lambda x: x * sigmoid(x),
    nn.Mish(): lambda x: x * np.tanh(np.log1p(np.exp(x))),
    nn.Sigmoid(): sigmoid,
    nn.Tanh(): np.tanh,
    nn.LogSigmoid(): lambda x: np.log(sigmoid(x)),
    nn.Softplus(2.0): lambda x: np.log1p(np.exp(2 * x)) / 2,
    nn.Softsign(): lambda x: x / (1 + np.abs(x)),
    nn.Tanhshrink(): lambda x: x - np.tanh(x),
    nn.Hardtanh(-0.5, 2.0): lambda x: np.clip(x, -0.5, 2.0),
    nn.Hardsigmoid(): lambda x: np.clip(x + 3, 0, 6) / 6,
    nn.Hardswish(): lambda x: x * np.clip(x + 3, 0, 6) / 6,
    nn.Hardshrink(0.8): lambda x: np.where(np.abs(x) > 0.8, x, 0),
    nn.Softshrink(0.8): lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.8, 0),
    nn.Threshold(0.3, -9.0): lambda x: np.where(x > 0.3, x, -9.0),
    nn.Softmax(1): lambda x: np.exp(x) / np.exp(x).sum(1, keepdims=True),
    nn.Softmin(0): lambda x: np.exp(-x) / np.exp(-x).sum(0),
    nn.LogSoftmax(1): lambda x: x - np.log(np.exp(x).sum(1, keepdims=True)),
    nn.GLU(1): lambda x: x[:, :2] * sigmoid(x[:, 2:]),
}


@pytest.mark.parametrize("module", ACTIVATIONS, ids=repr)
def test_activation(module):
    x = np.linspace(-4, 7, 12).reshape(3, 4)
    close(module(tensor(x)), ACTIVATIONS[module](x))


def test_prelu_learns_its_slope():
    layer = nn.PReLU(2, init=0.1, dtype=torch.float64)
    x = np.array([[-1.0, -2.0], [3.0, -4.0]])
    out = layer(tensor(x))
    close(out, np.where(x > 0, x, 0.1 * x))
    out.sum().backward()
    close(layer.weight.grad, [-1.0, -6.0])


def test_inplace_activation_writes_its_input():
    x = tensor([-1.0, 2.0])
    assert nn.ReLU(inplace=True)(x) is x
    close(x, [0.0, 2.0])


# ----- losses --------------------------------------------------------------------------------------

RNG = np.random.default_rng(6)
X, Y = RNG.normal(size=(2, 3, 4))
P, Q = (RNG.uniform(0.05, 0.95, (2, 3, 4)))
SIGNS = np.where(Y > 0, 1.0, -1.0)
CLASS = np.array([3, 0, 2])
WEIGHT = np.array([0.5, 1.0, 2.0, 0.25])


def log_softmax(x):
    return x - np.log(np.exp(x).sum(1, keepdims=True))


def distance(a, b):
    return np.sqrt(((a - b + 1e-6) ** 2).sum(1))


def multi_margin(x, target, p, margin, weight):
    rows = []
    for row, k in zip(x, target):
        hinge = np.maximum(0, margin - row[k] + row) ** p * weight[k]
        rows.append((hinge.sum() - hinge[k]) / len(row))
    return np.array(rows)


COSINE = (X * Y).sum(1) / np.sqrt((X**2).sum(1) * (Y**2).sum(1))

# The loss, its arguments, and what it is for each element (or sample).
LOSSES = [
    (nn.L1Loss, (X, Y), np.abs(X - Y)),
    (nn.MSELoss, (X, Y), (X - Y) ** 2),
    (nn.SmoothL1Loss, (X, Y), np.where(abs(X - Y) < 1, (X - Y) ** 2 / 2, abs(X - Y) - 0.5)),
    (lambda **o: nn.HuberLoss(delta=0.5, **o), (X, Y),
     np.where(abs(X - Y) < 0.5, (X - Y) ** 2 / 2, 0.5 * (abs(X - Y) - 0.25))),
    (nn.SoftMarginLoss, (X, SIGNS), np.log1p(np.exp(-SIGNS * X))),
    (nn.BCELoss, (P, Q), -(Q * np.log(P) + (1 - Q) * np.log(1 - P))),
    (nn.BCEWithLogitsLoss, (X, Q), -(Q * np.log(sigmoid(X)) + (1 - Q) * np.log(1 - sigmoid(X)))),
    (lambda **o: nn.BCEWithLogitsLoss(pos_weight=tensor(WEIGHT), **o), (X, Q),
     -(WEIGHT * Q * np.log(sigmoid(X)) + (1 - Q) * np.log(1 - sigmoid(X)))),
    (nn.PoissonNLLLoss, (X, Q), np.exp(X) - Q * X),
    (nn.GaussianNLLLoss, (X, Y, P), (np.log(P) + (X - Y) ** 2 / P) / 2),
    (nn.HingeEmbeddingLoss, (X, SIGNS), np.where(SIGNS == 1, X, np.maximum(0, 1 - X))),
    (lambda **o: nn.MarginRankingLoss(0.3, **o), (X, Y, SIGNS), np.maximum(0, 0.3 - SIGNS * (X - Y))),
    (lambda **o: nn.CosineEmbeddingLoss(0.1, **o), (X, Y, SIGNS[:, 0]),
     np.where(SIGNS[:, 0] == 1, 1 - COSINE, np.maximum(0, COSINE - 0.1))),
    (nn.TripletMarginLoss, (X, Y, P), np.maximum(0, distance(X, Y) - distance(X, P) + 1)),
    (nn.TripletMarginWithDistanceLoss, (X, Y, P), np.maximum(0, distance(X, Y) - distance(X, P) + 1)),
    (nn.CrossEntropyLoss, (X, CLASS), -log_softmax(X)[range(3), CLASS]),
    (nn.CrossEntropyLoss, (X, Q), -(Q * log_softmax(X)).sum(1)),
    (lambda **o: nn.CrossEntropyLoss(label_smoothing=0.2, **o), (X, CLASS),
     -0.8 * log_softmax(X)[range(3), CLASS] - 0.2 * log_softmax(X).mean(1)),
    (nn.NLLLoss, (X, CLASS), -X[range(3), CLASS]),
    (lambda **o: nn.MultiMarginLoss(2, 0.7, tensor(WEIGHT), **o), (X, CLASS),
     multi_margin(X, CLASS, 2, 0.7, WEIGHT)),
    (nn.MultiLabelSoftMarginLoss, (X, (Q > 0.5) * 1.0),
     -np.where(Q > 0.5, np.log(sigmoid(X)), np.log(sigmoid(-X))).mean(1)),
]


@pytest.mark.parametrize("row", range(len(LOSSES)))
def test_loss(row):
    make, arguments, each = LOSSES[row]
    arguments = [torch.tensor(a) for a in arguments]
    close(make(reduction="none")(*arguments), each)
    close(make(reduction="sum")(*arguments), each.sum())
    close(make()(*arguments), each.mean())


def test_kl_divergence():
    each = Q * (np.log(Q) - X)
    close(F.kl_div(tensor(X), tensor(Q), reduction="none"), each)
    close(F.kl_div(tensor(X), tensor(Q), reduction="batchmean"), each.sum() / 3)
    close(F.kl_div(tensor(X), tensor(np.log(Q)), reduction="sum", log_target=True), each.sum())


def test_weighted_cross_entropy_divides_by_the_weights():
    each = -WEIGHT[CLASS] * log_softmax(X)[range(3), CLASS]
    loss = nn.CrossEntropyLoss(tensor(WEIGHT))
    close(loss(tensor(X), torch.tensor(CLASS)), each.sum() / WEIGHT[CLASS].sum())
    assert list(loss.state_dict()) == ["weight"]


def test_ignored_classes_count_for_nothing():
    x = tensor(X).requires_grad_()
    target = torch.tensor([3, -100, 2])
    loss = F.cross_entropy(x, target)
    close(loss, -log_softmax(X)[[0, 2], [3, 2]].mean())
    loss.backward()
    assert not x.grad[1].numpy().any()
    assert x.grad[0].numpy().all()


def test_cross_entropy_of_images():
    scores, target = RNG.normal(size=(2, 3, 2, 2)), np.array([[[0, 2], [1, 1]], [[2, 0], [0, 1]]])
    picked = np.take_along_axis(log_softmax(scores), target[:, None], 1)
    close(F.cross_entropy(tensor(scores), torch.tensor(target)), -picked.mean())


def test_legacy_arguments_of_losses():
    with pytest.warns(UserWarning, match="reduction='sum'"):
        loss = nn.MSELoss(size_average=False)
    assert loss.reduction == "sum"


def test_losses_refuse():
    with pytest.raises(ValueError, match="is not a valid value for reduction"):
        F.l1_loss(torch.ones(2), torch.ones(2), reduction="average")
    with pytest.raises(ValueError, match=r"Expected input batch_size \(2\) to match target batch_size"):
        F.cross_entropy(torch.ones(2, 3), torch.zeros(3, dtype=torch.int64))
    with pytest.raises(IndexError, match="Target 7 is out of bounds"):
        F.cross_entropy(torch.ones(1, 3), torch.tensor([7]))


# ----- distances -----------------------------------------------------------------------------------


def test_distances():
    close(nn.PairwiseDistance()(tensor(X), tensor(Y)), distance(X, Y))
    close(nn.CosineSimilarity()(tensor(X), tensor(Y)), COSINE)
    close(F.normalize(tensor(X), p=1, dim=0), X / np.abs(X).sum(0))


def test_one_hot():
    assert F.one_hot(torch.tensor([1, 0, 3]), 4).tolist() == np.eye(4, dtype=int)[[1, 0, 3]].tolist()


# ----- dropout -------------------------------------------------------------------------------------


def test_dropout_drops_its_share_and_scales_the_rest():
    x = torch.ones(200, 50)
    out = F.dropout(x, 0.3).numpy()
    kept = out != 0
    np.testing.assert_allclose(out[kept], 1 / 0.7, rtol=1e-6)
    # 10,000 draws: five standard deviations are 0.023
    assert abs(kept.mean() - 0.7) < 0.023
    assert abs(kept.mean(0) - 0.7).max() < 0.17
    assert not np.array_equal(F.dropout(x, 0.3).numpy(), out)


def test_dropout_of_channels_in_place_adds_a_dimension_and_takes_it_away():
    for fn, shape, version in ((F.dropout1d, (4, 3), 3), (F.dropout3d, (4, 2, 2, 2), 3),
                               (F.dropout1d, (2, 4, 3), 1), (F.dropout3d, (2, 4, 1, 2, 3), 1)):
        x = torch.ones(shape)
        assert fn(x, 0.5, True, True) is x and x.shape == shape and x._version == version
        channel = 1 if version == 3 else 2
        rows = x.numpy().reshape(-1, math.prod(shape[channel:]))
        assert set(rows.ravel()) <= {0.0, 2.0} and (rows == rows[:, :1]).all()


def test_dropout_repeats_with_its_seed():
    x = torch.ones(5, 5)
    torch.manual_seed(7)
    first = F.dropout(x, 0.5)
    torch.manual_seed(7)
    assert torch.equal(F.dropout(x, 0.5), first)


def test_dropout_passes_gradients_where_it_passed_values():
    x = torch.ones(50, requires_grad=True)
    out = F.dropout(x, 0.5)
    out.sum().backward()
    assert torch.equal(x.grad, out.detach())


def test_dropout_out_of_training():
    x = torch.ones(10)
    layer = nn.Dropout(0.9)
    assert torch.equal(layer.eval()(x), x)
    assert not torch.equal(layer.train()(x), x)
    assert not F.dropout(x, 1.0).any()
    with pytest.raises(ValueError, match="dropout probability has to be between 0 and 1, but got 1.5"):
        nn.Dropout(1.5)


def test_dropout_of_channels():
    out = nn.Dropout2d(0.5)(torch.ones(20, 10, 3, 3)).numpy()
    whole = out.reshape(200, 9)
    assert (whole == whole[:, :1]).all()
    assert abs((whole[:, 0] == 0).mean() - 0.5) < 0.18


def test_alpha_dropout_keeps_mean_and_variance():
    x = torch.randn(40_000)
    out = F.alpha_dropout(x, 0.2, training=True).numpy()
    assert abs(out.mean()) < 0.03
    assert abs(out.std() - 1) < 0.03


def test_channels_that_cannot_be_dropped_in_place_keep_their_shape(executor):
    for x in (torch.ones(3, 2, 2, 2, dtype=torch.int64), torch.ones(1).expand(3, 2, 2, 2)):
        with pytest.raises(RuntimeError):
            torch.nn.functional.dropout3d(x, 0.5, inplace=True)
        assert x.shape == (3, 2, 2, 2) and bool((x == 1).all())


def test_cosine_similarity_promotes_what_it_has_broadcast():
    half, single = torch.ones(2, 3, dtype=torch.bfloat16), torch.tensor(2.0)
    assert F.cosine_similarity(single, half).dtype is torch.float32
    assert F.cosine_similarity(half, single).dtype is torch.float32
    assert F.cosine_similarity(half, torch.ones(3)).dtype is torch.float32
    assert F.cosine_similarity(torch.tensor(2), half).dtype is torch.bfloat16
    with pytest.raises(RuntimeError, match="yet common dtype is Int"):
        F.cosine_similarity(torch.tensor(2), torch.ones(2, 2, dtype=torch.int32))


def test_the_linear_cross_entropy_that_is_not_cut_is_the_composition():
    x = torch.tensor([[1.0, 0.25, -2.0], [0.5, 3.0, 1.5]], dtype=torch.bfloat16, requires_grad=True)
    weight = torch.tensor([[0.5, 1.0, 0.75], [1.0, -1.0, 0.25]], dtype=torch.bfloat16)
    shares = torch.tensor([[0.25, 0.75], [1.0, 0.0]], dtype=torch.bfloat16)
    for target, options, name in ((torch.tensor([0, 1]), None, "NllLossBackward0"),
                                  (shares, nn.LinearCrossEntropyOptions(), "NegBackward0")):
        loss = F.linear_cross_entropy(x, weight, target, reduction="sum", options=options)
        composed = F.cross_entropy(F.linear(x, weight), target, reduction="sum")
        assert loss.dtype is torch.bfloat16
        assert loss.item() == composed.item()
        assert loss.grad_fn.name() == composed.grad_fn.name() == name


def test_one_sample_alone_is_cut_as_a_batch_of_one():
    x = torch.tensor([1.0, 0.25, -2.0], requires_grad=True)
    weight = torch.tensor([[0.5, 1.0, 0.75], [1.0, -1.0, 0.25]])
    options = nn.LinearCrossEntropyOptions()
    loss = F.linear_cross_entropy(x, weight, torch.tensor(1), options=options)
    assert loss.grad_fn.name() == "SqueezeBackward1"
    assert loss.shape == ()
    close(loss, F.linear_cross_entropy(x, weight, torch.tensor(1)).detach().numpy())

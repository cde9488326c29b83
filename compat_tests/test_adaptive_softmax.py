"""`AdaptiveLogSoftmaxWithLoss`: values, gradients, names and refusals as in PyTorch."""

import pytest

import jaxflow
from compat_tests.harness import Case, check, leaf, raises


def run(function):
    @pytest.mark.usefixtures("executor")
    def test():
        check(Case(function.__name__, function), jaxflow)

    return test


def layer_of(T, **options):
    layer = T.nn.AdaptiveLogSoftmaxWithLoss(8, 12, [3, 7], div_value=2.0, **options)
    with T.no_grad():
        for k, p in enumerate(layer.parameters()):
            p.copy_(((T.arange(p.numel()) * (k + 3)) % 11 - 5).reshape(p.shape) * 0.1)
    return layer


@run
def test_adaptive_softmax(T):
    found = []
    for options in ({}, {"head_bias": True}):
        layer, x = layer_of(T, **options), leaf(T, 6, 8)
        for target in ([0, 2, 5, 11, 3, 6], [0, 1, 2, 0, 1, 2], [3] * 6):
            result = layer(x, T.tensor(target))
            result.loss.backward()
            found += [result.output, result.loss, type(result).__name__]
        found += [x.grad, {name: p.grad for name, p in layer.named_parameters()}]
        found += [layer.log_prob(x).detach(), layer.predict(x), layer.predict(x * 0)]
        found += [layer.cutoffs, layer.head_size]
        found += [layer(x[0], T.tensor(9)).output, repr(layer), list(layer.state_dict())]
    return found


@run
def test_refusals_of_adaptive_softmax(T):
    make, layer = T.nn.AdaptiveLogSoftmaxWithLoss, layer_of(T)
    return [raises(call) for call in (
        lambda: make(4, 9, []), lambda: make(4, 9, [3, 3]), lambda: make(4, 9, [5, 3]),
        lambda: make(4, 9, [0, 3]), lambda: make(4, 9, [3, 9]), lambda: make(4, 9, [2.5]),
        lambda: layer(T.ones(2, 8), T.tensor([0, 12])), lambda: layer(T.ones(2, 8), T.tensor([0])),
        lambda: layer(T.ones(2, 8), T.tensor(1)), lambda: layer(T.ones(1), T.tensor([1])),
        lambda: layer(T.ones(2, 8), T.tensor([[0], [1]])))]

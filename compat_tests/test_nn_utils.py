"""Fusion of batch norms, spectral norms by hooks, and memory formats of weights, as in PyTorch."""

import copy

import pytest

import jaxflow
from compat_tests.harness import Case, check, raises


def run(function):
    @pytest.mark.usefixtures("executor")
    def test():
        check(Case(function.__name__, function), jaxflow)

    return test


def filled(T, module):
    with T.no_grad():
        for k, x in enumerate([*module.parameters(), *module.buffers()]):
            if x.is_floating_point():
                x.copy_((T.arange(x.numel()).reshape(x.shape) % 7) * 0.25 + 0.5 - 0.125 * k)
    return module


@run
def test_fusion(T):
    nn, found = T.nn, []
    bias = nn.Parameter(T.ones(4), requires_grad=False)
    for conv, bn, transpose, x in (
            (nn.Conv2d(2, 4, 2), nn.BatchNorm2d(4), False, T.ones(1, 2, 3, 3)),
            (nn.Conv1d(2, 4, 2, bias=False), nn.BatchNorm1d(4, affine=False), False, T.ones(1, 2, 3)),
            (nn.ConvTranspose2d(2, 4, 2), nn.BatchNorm2d(4), True, T.ones(1, 2, 3, 3))):
        filled(T, conv).eval(), filled(T, bn).eval()
        fused = nn.utils.fuse_conv_bn_eval(conv, bn, transpose)
        found += [fused(x), fused.weight, fused.bias, fused.bias.requires_grad, type(fused).__name__]
    linear, bn = filled(T, nn.Linear(3, 4)).eval(), filled(T, nn.BatchNorm1d(4)).eval()
    linear.bias = bias
    fused = nn.utils.fusion.fuse_linear_bn_eval(linear, bn)
    found += [fused.weight, fused.bias, fused.bias.requires_grad, linear.weight]
    return (found, raises(lambda: nn.utils.fuse_linear_bn_eval(linear, nn.BatchNorm1d(3).eval())),
            raises(lambda: nn.utils.fuse_conv_bn_eval(nn.Conv1d(1, 1, 1), bn)),
            raises(lambda: nn.utils.fuse_conv_bn_eval(nn.Conv1d(1, 4, 1).eval(),
                                                      nn.BatchNorm1d(4, track_running_stats=False).eval())))


@run
def test_spectral_norm(T):
    nn, found = T.nn, []
    for layer, x in ((nn.Linear(3, 2), T.ones(2, 3)), (nn.Conv2d(2, 3, 2), T.ones(1, 2, 3, 3)),
                     (nn.ConvTranspose1d(2, 3, 2), T.ones(1, 2, 3))):
        layer = nn.utils.spectral_norm(filled(T, layer), n_power_iterations=2)
        with T.no_grad():
            for v in (layer.weight_u, layer.weight_v):
                v.copy_(T.arange(1.0, v.numel() + 1) / v.numel())
        (layer(x).sum() - layer(2 * x).sum()).backward()
        found += [layer(x), layer.weight_orig.grad, list(layer.state_dict()), layer.weight_u, layer.weight_v,
                  layer.state_dict()._metadata[""], layer.eval()(x), [n for n, _ in layer.named_parameters()]]
        saved = copy.deepcopy(layer.state_dict())
        other = nn.utils.spectral_norm(copy.deepcopy(nn.utils.remove_spectral_norm(layer)))
        other.load_state_dict(saved)
        found += [other.eval()(x), layer(x), list(layer.state_dict()), len(layer._state_dict_hooks)]
    return found


@run
def test_older_spectral_norms_load(T):
    layer = T.nn.utils.spectral_norm(filled(T, T.nn.Linear(3, 2)))
    old = dict(weight_orig=T.tensor([[3.0, 1, 0], [0, 1, 2]]), weight=T.tensor([[1.5, 0.5, 0], [0, 0.5, 1]]),
               weight_u=T.tensor([0.6, 0.8]), bias=T.ones(2))
    old["weight"] = old["weight"] + 1e-9
    old["weight_orig"] = old["weight"] * 2
    layer.load_state_dict(old)
    return layer.weight_v, layer.eval()(T.ones(1, 3)), raises(
        lambda: layer.load_state_dict({"bias": T.ones(2)}))


@run
def test_refused_spectral_norms(T):
    make, layer = T.nn.utils.spectral_norm, T.nn.Linear(2, 2, bias=False)
    return (raises(lambda: make(layer, n_power_iterations=0)), raises(lambda: make(layer, "bias")),
            raises(lambda: make(layer, "other")), raises(lambda: make(make(layer))),
            raises(lambda: T.nn.utils.remove_spectral_norm(T.nn.Linear(2, 2))))


@run
def test_memory_formats(T):
    net = T.nn.Sequential(T.nn.Conv2d(2, 3, 2), T.nn.Sequential(T.nn.ConvTranspose2d(2, 3, 2)),
                          T.nn.Conv3d(2, 3, 2), T.nn.Conv1d(2, 3, 2))
    same = T.nn.utils.convert_conv2d_weight_memory_format(net, T.channels_last) is net
    first = [p.stride() for p in net.parameters()]
    T.nn.utils.convert_conv3d_weight_memory_format(net, T.channels_last_3d)
    return same, first, [p.stride() for p in net.parameters()], net[0].weight.is_leaf

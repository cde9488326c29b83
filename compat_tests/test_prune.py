"""Pruning chooses the same elements in jaxflow as in PyTorch, keeps the same names and refuses the same."""

import importlib

import pytest

import jaxflow
from compat_tests.harness import Case, check, raises


def run(function):
    @pytest.mark.usefixtures("executor")
    def test():
        check(Case(function.__name__, function), jaxflow)

    return test


def prune_of(T):
    return importlib.import_module(f"{T.__name__}.nn.utils.prune")


def layer_of(T, first=0):
    layer = T.nn.Linear(4, 3)
    with T.no_grad():
        layer.weight.copy_(((T.arange(12.0) * 5 + first) % 13 - 5.75).reshape(3, 4))
        layer.bias.copy_(T.tensor([0.5, -3.0, 2.0]))
    return layer


def about(layer):
    return (layer.weight, [n for n, _ in layer.named_parameters()], list(layer.state_dict()),
            [type(h).__name__ for h in layer._forward_pre_hooks.values()])


@run
def test_each_method(T):
    prune, found = prune_of(T), []
    for change in (lambda m: prune.l1_unstructured(m, "weight", 5), lambda m: prune.identity(m, "weight"),
                   lambda m: prune.l1_unstructured(m, "weight", 0.3, T.arange(12.0).reshape(3, 4)),
                   lambda m: prune.ln_structured(m, "weight", 0.5, 2, 1),
                   lambda m: prune.ln_structured(m, "weight", 1, float("inf"), -2),
                   lambda m: prune.ln_structured(m, "weight", 0, 1, 0),
                   lambda m: prune.custom_from_mask(m, "weight", T.arange(12).reshape(3, 4) % 2)):
        layer = change(layer_of(T))
        layer(T.ones(2, 4)).square().sum().backward()
        found += [*about(layer), layer.weight_mask, layer.weight_orig.grad, prune.is_pruned(layer)]
        prune.remove(layer, "weight")
        found += [*about(layer), prune.is_pruned(layer), layer(T.ones(1, 4))]
    return found


@run
def test_one_after_the_other(T):
    prune, layer = prune_of(T), layer_of(T)
    prune.ln_structured(layer, "weight", 1, 1, 0)
    prune.l1_unstructured(layer, "weight", 0.25)
    prune.ln_structured(layer, "weight", 1, 2, 1)
    prune.custom_from_mask(layer, "weight", T.ones(3, 4))
    (container,) = layer._forward_pre_hooks.values()
    return (*about(layer), layer.weight_mask, len(container), [type(m).__name__ for m in container],
            type(container[0]).__name__)


@run
def test_global(T):
    prune = prune_of(T)
    net = T.nn.Sequential(layer_of(T), layer_of(T, 3))
    pairs = [(net[0], "weight"), (net[1], "weight"), (net[0], "bias")]
    prune.global_unstructured(pairs, prune.L1Unstructured, amount=0.4)
    first = [net[0].weight, net[1].weight, net[0].bias]
    prune.global_unstructured(pairs, prune.L1Unstructured, {pairs[0]: T.ones(3, 4) * 9}, amount=4)
    return first, [net[0].weight, net[1].weight, net[0].bias], list(net.state_dict()), prune.is_pruned(net)


@run
def test_drawn(T):
    prune, found = prune_of(T), []
    for change in (lambda m: prune.random_unstructured(m, "weight", 5),
                   lambda m: prune.random_unstructured(m, "weight", 0.5)):
        found.append(int((change(layer_of(T)).weight_mask == 0).sum()))
    mask = prune.random_structured(layer_of(T), "weight", 2, 1).weight_mask
    return found, sorted(mask.sum(0).tolist()), prune.L1Unstructured(2).prune(T.tensor([3.0, -1, 2, 4]))


@run
def test_refusals(T):
    prune, layer = prune_of(T), layer_of(T)
    l1, ln = prune.l1_unstructured, prune.ln_structured
    found = [raises(call) for call in (
        lambda: l1(layer, "weight", "a"), lambda: l1(layer, "weight", -1), lambda: l1(layer, "weight", 1.5),
        lambda: l1(layer, "weight", 99), lambda: ln(layer, "bias", 1, 2, 0),
        lambda: ln(layer, "weight", 1, 2, 5), lambda: l1(layer, "weight", 1, T.ones(2)),
        lambda: prune.custom_from_mask(layer, "weight", T.ones(2)), lambda: prune.remove(layer, "weight"),
        lambda: prune.global_unstructured([(layer, "weight")], prune.LnStructured, amount=1, n=2),
        lambda: prune.global_unstructured(3, prune.L1Unstructured, amount=1))]
    return found[:9], [e.kind for e in found], about(layer)

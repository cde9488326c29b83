"""Scenarios of tensors that consist of others: quantized and nested ones, and what quantization observes."""

from __future__ import annotations

import warnings

import jaxflow as torch
from jaxflow.ao.quantization import FakeQuantize, MovingAverageMinMaxObserver, PerChannelMinMaxObserver

from .scenario import operation, scenario
from .scenarios_tensors import numbers
from .world import World


@scenario(
    "w.q = torch.quantize_per_tensor(w.x, 0.1, 3, torch.quint8)",
    "w.q.copy_(w.y)",
    "w.d = w.q.dequantize()",
    "w.q[0] = w.x[1]",
    "w.k = w.q.clone()",
    "w.k.fill_(0.5)",
    "w.n = w.q.dequantize().sum().item()",
    "w.seen(w.x)",
    "w.seen(w.y)",
    "w.rows(w.x)",
    "w.scale, w.zero = w.seen.calculate_qparams()",
    operation(
        "w.loss = (w.fake(w.p) * w.y).sum()",
        "w.fake.activation_post_process(w.p.detach())",
        "s, z = w.fake.calculate_qparams()\nw.fake.scale.copy_(s)\nw.fake.zero_point.copy_(z)",
    ),
    "w.loss.backward()",
    "w.rows.reset_min_max_vals()",
    "w.rows(w.y)",
)
def quantized(seed: int) -> World:
    return World(x=numbers(seed, 3, 4), y=numbers(seed + 1, 3, 4), p=numbers(seed + 2, 3, 4).requires_grad_(),
                 seen=MovingAverageMinMaxObserver(), rows=PerChannelMinMaxObserver(), fake=FakeQuantize())


@scenario(
    "w.n = torch.nested.nested_tensor_from_jagged(w.p * 2, w.offsets)",
    "w.n.mul_(3)",
    "w.m = F.softmax(w.n, -1)",
    "w.loss = (w.m.values() * w.q).sum()",
    "w.loss.backward()",
    "w.j.values().add_(1)",
    "w.j.copy_(w.j * 2)",
    "w.sums = w.j.sum(1)",
    "w.s.unbind()[1].zero_()",
    "w.s.mul_(2)",
    "w.padded = torch.nested.to_padded_tensor(w.s, 0.5)",
    "w.j = None",
)
def nested(seed: int) -> World:
    """Of both layouts; of the strided one PyTorch warns that it is not developed further."""
    offsets = torch.tensor([0, 2, 5])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        strided = torch.nested.nested_tensor([numbers(seed + 3, 2, 3), numbers(seed + 4, 1, 3)])
    return World(p=numbers(seed, 5, 2).requires_grad_(), q=numbers(seed + 1, 5, 2), offsets=offsets,
                 j=torch.nested.nested_tensor_from_jagged(numbers(seed + 2, 5, 2), offsets),
                 s=strided)

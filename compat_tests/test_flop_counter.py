"""Operations counted as PyTorch's counter counts them, where it counts all of them."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode as Theirs

import jaxflow
from jaxflow.utils.flop_counter import FlopCounterMode as Ours

#: Calls of a function of the library, each with the backward pass of its sum.
CALLS = [
    "nn.Linear(5, 7)(torch.ones(4, 5))",
    "nn.Linear(5, 7, bias=False)(torch.ones(3, 4, 5, requires_grad=True))",
    "torch.einsum('bij,bjk->bik', torch.ones(5, 2, 3, requires_grad=True), torch.ones(5, 3, 4))",
    "torch.baddbmm(torch.ones(5, 2, 4, requires_grad=True), torch.ones(5, 2, 3), torch.ones(5, 3, 4))",
    "nn.Conv1d(4, 8, 3, dilation=2)(torch.ones(2, 4, 20, requires_grad=True))",
    "nn.Conv2d(3, 8, 3, padding=2)(torch.ones(2, 3, 8, 8))",
    "nn.Conv2d(3, 8, 3, stride=2)(torch.ones(2, 3, 9, 9))",
    "nn.Conv3d(2, 4, 2)(torch.ones(1, 2, 4, 4, 4, requires_grad=True))",
    "nn.ConvTranspose2d(3, 8, 3, stride=2)(torch.ones(2, 3, 8, 8, requires_grad=True))",
    "F.conv2d(torch.ones(2, 3, 8, 8, requires_grad=True), torch.ones(8, 3, 3, 3))",
    "nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(288, 2))(torch.ones(2, 3, 8, 8))",
    "nn.Embedding(5, 3)(torch.tensor([1, 2])).exp()",
]


def counted(library, mode, call):
    space = {"torch": library, "nn": library.nn, "F": library.nn.functional}
    with mode(display=False) as counter:
        eval(call, space).sum().backward()
    return counter.get_total_flops()


@pytest.mark.parametrize("call", CALLS)
def test_counts(call):
    assert counted(jaxflow, Ours, call) == counted(torch, Theirs, call)

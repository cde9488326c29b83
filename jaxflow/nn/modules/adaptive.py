"""Softmax over many classes, in which rare ones are found by way of their cluster."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from jaxflow import _functions as functions
from jaxflow._core.tensor import Tensor
from jaxflow.nn import functional as F
from jaxflow.nn.modules.container import ModuleList, Sequential
from jaxflow.nn.modules.linear import Linear
from jaxflow.nn.modules.module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _ASMoutput(NamedTuple):
    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log probabilities of target classes, and their mean loss, where classes are sorted by frequency.

    The head gives the frequent classes, below the first cutoff, and one cluster for each interval between
    cutoffs; a class of a cluster has the cluster's probability times its own in it. From Grave, Joulin,
    Cisse, Grangier and Jegou, "Efficient softmax approximation for GPUs", 2017.

    It is called with ``input``, ``(N, in_features)`` or ``(in_features,)``, and ``target``, classes of shape
    ``(N,)`` or ``()``. It returns a named tuple of ``output``, the log probabilities of the targets, of the
    shape of ``target``, and ``loss``, the negative mean of them.

    Args:
        in_features: size of the input's last dimension.
        n_classes: number of classes; the most frequent is 0.
        cutoffs: increasing classes with which clusters begin.
        div_value: each cluster's layers are narrower by this factor than those of the one before.
        head_bias: whether the head has a bias.
        device: where to put the parameters.
        dtype: their dtype.

    Raises:
        ValueError: for cutoffs that are not increasing, or not between 1 and ``n_classes - 1``.
        RuntimeError: when called, for shapes that do not fit, and targets that are no classes.

    Example:
        >>> layer = nn.AdaptiveLogSoftmaxWithLoss(16, 20, cutoffs=[4, 10])
        >>> x = torch.ones(3, 16)
        >>> layer(x, torch.tensor([0, 5, 19])).output.shape, layer.log_prob(x).shape
        (torch.Size([3]), torch.Size([3, 20]))
        >>> torch.allclose(layer.log_prob(x).exp().sum(1), torch.ones(3))
        True
    """

    in_features: int
    n_classes: int
    cutoffs: list[int]
    div_value: float
    head_bias: bool
    head: Linear
    tail: ModuleList

    def __init__(self, in_features: int, n_classes: int, cutoffs: Sequence[int], div_value: float = 4.0,
                 head_bias: bool = False, device=None, dtype=None) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        increasing = all(a < b for a, b in itertools.pairwise([0, *cutoffs, n_classes]))
        if not increasing or any(int(c) != c for c in cutoffs):
            raise ValueError("cutoffs should be a sequence of unique, positive integers sorted in an "
                             "increasing order, where each value is between 1 and n_classes-1")
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size = cutoffs[0]
        self.n_clusters = len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, device=device, dtype=dtype)
        self.tail = ModuleList()
        for i, (low, high) in enumerate(itertools.pairwise(self.cutoffs)):
            inner = int(in_features // div_value ** (i + 1))
            self.tail.append(Sequential(
                Linear(in_features, inner, bias=False, device=device, dtype=dtype),
                Linear(inner, high - low, bias=False, device=device, dtype=dtype)))

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        self.head.reset_parameters()
        for first, second in self.tail:
            first.reset_parameters()
            second.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        """The targets' log probabilities and their negative mean."""
        batched = _check(input_, target_)
        input, target = (input_, target_) if batched else (input_.unsqueeze(0), target_.unsqueeze(0))
        in_head, inside = target.clone(), input.new_zeros(target.size(0))
        found = 0
        for i, (low, high) in enumerate(itertools.pairwise([0, *self.cutoffs])):
            rows = ((target >= low) & (target < high)).nonzero().squeeze(1)
            found += rows.numel()
            if i == 0 or rows.numel() == 0:
                continue
            # Only the rows of this cluster pass through its layers.
            logs = F.log_softmax(self.tail[i - 1](input.index_select(0, rows)), dim=1)
            picked = logs.gather(1, (target.index_select(0, rows) - low).unsqueeze(1)).squeeze(1)
            inside = inside.index_copy(0, rows, picked)
            in_head.index_fill_(0, rows, self.shortlist_size + i - 1)
        if found != target.size(0):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target.min().item()}, {target.max().item()}] were found. ")
        head = F.log_softmax(self.head(input), dim=1).gather(1, in_head.unsqueeze(1)).squeeze(1)
        output = inside + head
        return _ASMoutput(output if batched else output.squeeze(0), (-output).mean())

    def _get_full_log_prob(self, input: Tensor, head_output: Tensor) -> Tensor:
        head = F.log_softmax(head_output, dim=1)
        parts = [head[:, : self.shortlist_size]]
        for i, layers in enumerate(self.tail):
            cluster = head[:, self.shortlist_size + i].unsqueeze(1)
            parts.append(F.log_softmax(layers(input), dim=1) + cluster)
        return functions.cat(parts, 1)

    def log_prob(self, input: Tensor) -> Tensor:
        """Log probabilities of all classes, ``(N, n_classes)``, of an input ``(N, in_features)``."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class, ``(N,)``, of each row of an input ``(N, in_features)``."""
        head = self.head(input)
        best = functions.argmax(head, dim=1)
        rows = (best >= self.shortlist_size).nonzero().squeeze(1)
        if rows.numel() == 0:  # no cluster is more probable than the frequent classes
            return best
        rest = self._get_full_log_prob(input.index_select(0, rows), head.index_select(0, rows))
        return best.index_copy(0, rows, functions.argmax(rest, dim=1))


def _check(input: Tensor, target: Tensor) -> bool:
    """Whether there is a batch; RuntimeError for shapes that do not fit."""
    if target.dim() > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target.dim() == 1 and input.size(0) != target.size(0):
        raise RuntimeError("Input and target should have the same size in the batch dimension.")
    if input.dim() != target.dim() + 1:
        raise RuntimeError(f"{target.dim()}D target tensor expects {target.dim() + 1}D input tensors, but "
                           f"found inputs with size {input.size()}")
    return target.dim() == 1

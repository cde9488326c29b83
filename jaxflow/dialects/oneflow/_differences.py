"""Where OneFlow's documented behaviour is not PyTorch's: one row each, and the dialect follows OneFlow.

What is not listed is PyTorch's and so jaxflow's. Rows without a function describe what ``_dialect.py`` does
on the tensor and in autograd. Rows with ``arguments`` change the defaults of a class.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

import jaxflow
from jaxflow import Tensor
from jaxflow.nn import Module
from jaxflow.nn import functional as F
from jaxflow.optim.lr_scheduler import LambdaLR


@dataclasses.dataclass(frozen=True)
class Row:
    """One difference.

    Attributes:
        namespace, name: where the name is; the empty namespace is ``oneflow`` itself.
        pytorch, oneflow: what either does.
        function: what the dialect offers under the name; None where it is described only.
        arguments: OneFlow's arguments of a class to jaxflow's.
    """

    namespace: str
    name: str
    pytorch: str
    oneflow: str
    function: Any = None
    arguments: Callable[..., dict] | None = None


DIFFERENCES: list[Row] = [
    Row("autograd", "backward",
        "retain_graph defaults to create_graph, and False frees the graph even under create_graph",
        "retain_graph is False by default and follows create_graph: the graph is kept when either is True"),
    Row("autograd", "backward", "tensors, grad_tensors", "also takes the older names outputs, out_grads"),
    Row("autograd", "grad", "only_inputs, materialize_grads; retain_graph as above",
        "neither of the two; retain_graph as above; also takes the older name out_grads"),
    Row("autograd", "Function", "an instance cannot be called", "Exp()(x) is Exp.apply(x)"),
    Row("Tensor", "backward", "backward(gradient, retain_graph=None, create_graph, inputs)",
        "backward(gradient=None, retain_graph=False, create_graph=False)"),
    Row("Tensor", "__repr__", "names the dtype only where it is not obvious", "names it always"),
    Row("Tensor", "shape", "prints as torch.Size", "prints as oneflow.Size"),
    Row("Tensor", "mish", "a function only; so selu, silu, softplus, softsign", "methods too"),
    Row("", "dtype", "prints as torch.float32", "prints as oneflow.float32"),
]


def _add(namespace: str, name: str, oneflow: str, pytorch: str = "not there", **what: Any) -> None:
    DIFFERENCES.append(Row(namespace, name, pytorch, oneflow, **what))


def only_in_oneflow(namespace: str, oneflow: str, name: str = "") -> Callable[[Callable], Callable]:
    """Declare a function that PyTorch has not got under this name."""

    def declare(fn: Any) -> Any:
        _add(namespace, name or fn.__name__, oneflow, function=fn)
        return fn

    return declare


# ------------------------------------------------------------------------------------- other defaults


def defaults(namespace: str, cls: type, **changed: Any) -> None:
    """Declare that OneFlow's class has other defaults."""
    signature = inspect.signature(cls)
    new = signature.replace(parameters=[
        p.replace(default=changed.get(p.name, p.default)) for p in signature.parameters.values()
    ])

    def arguments(*args: Any, **kwargs: Any) -> dict:
        bound = new.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.arguments

    arguments.__signature__ = new

    def said(values: dict) -> str:
        return ", ".join(
            f"{name} is required" if value is inspect.Parameter.empty else f"{name}={value!r}"
            for name, value in values.items()
        )

    before = {name: signature.parameters[name].default for name in changed}
    _add(namespace, cls.__name__, said(changed), said(before), arguments=arguments)


defaults("nn", jaxflow.nn.RMSNorm, eps=1e-5)
for _cls in (jaxflow.nn.ConstantPad1d, jaxflow.nn.ConstantPad2d, jaxflow.nn.ConstantPad3d):
    defaults("nn", _cls, value=0)
defaults("optim", jaxflow.optim.Adagrad, lr=1e-3)
defaults("optim", jaxflow.optim.AdamW, weight_decay=0)
defaults("optim", jaxflow.optim.RMSprop, lr=1e-3)


# ------------------------------------------------------------------------------------ only in OneFlow

for _name in ("gelu", "mish", "softplus", "softsign", "silu", "pad", "adaptive_avg_pool2d",
              "adaptive_avg_pool3d"):
    _add("", _name, f"nn.functional.{_name}", "in nn.functional only", function=getattr(F, _name))
for _name in ("expand", "repeat", "new_ones", "new_zeros", "new_full", "new_empty", "contiguous", "view",
              "masked_fill_", "normal_", "lerp_"):
    _add("", _name, f"Tensor.{_name} as a function", "a method only", function=getattr(Tensor, _name))


@only_in_oneflow("", "the tensor in another dtype")
def cast(x: Tensor, dtype: jaxflow.dtype) -> Tensor:
    return x.to(dtype)


@only_in_oneflow("", "x expanded to the shape of like_tensor")
def broadcast_like(x: Tensor, like_tensor: Tensor) -> Tensor:
    return x.expand_as(like_tensor)


def _coordinates(index: Tensor) -> tuple[Tensor, ...]:
    return tuple(index[..., i] for i in range(index.size(-1)))


@only_in_oneflow("", "input at the coordinates in the last dimension of index")
def gather_nd(input: Tensor, index: Tensor) -> Tensor:
    return input[_coordinates(index)]


@only_in_oneflow("", "zeros of a shape, with update added at the coordinates in index")
def scatter_nd(index: Tensor, update: Tensor, shape: Sequence[int]) -> Tensor:
    zeros = jaxflow.zeros(tuple(shape), dtype=update.dtype, device=update.device)
    return zeros.index_put(_coordinates(index), update, accumulate=True)


@only_in_oneflow("", "a copy of tensor with updates written at the coordinates in indices")
def tensor_scatter_nd_update(tensor: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    return tensor.index_put(_coordinates(indices), updates)


def _slices(triples: Sequence[tuple]) -> tuple[slice, ...]:
    return tuple(slice(*triple) for triple in triples)


@only_in_oneflow("", "the part given by (start, stop, step) of each dimension", "slice")
def slice_(input: Tensor, slice_tup_list: Sequence[tuple]) -> Tensor:
    return input[_slices(slice_tup_list)]


@only_in_oneflow("", "writes update into the part given by (start, stop, step) of each dimension")
def slice_update(input: Tensor, update: Tensor, slice_tup_list: Sequence[tuple]) -> Tensor:
    input[_slices(slice_tup_list)] = update.to(input.dtype)
    return input


@only_in_oneflow("", "whether each target is among the k largest of its row of predictions")
def in_top_k(targets: Tensor, predictions: Tensor, k: int) -> Tensor:
    return (predictions.topk(k, dim=1).indices == targets.unsqueeze(1)).any(1)


@only_in_oneflow("", "rows (or deeper parts) at indices, batch by batch")
def batch_gather(in_: Tensor, indices: Tensor) -> Tensor:
    dim = indices.dim() - 1
    index = indices.reshape(*indices.shape, *(1 for _ in in_.shape[dim + 1 :]))
    return in_.gather(dim, index.expand(*indices.shape, *in_.shape[dim + 1 :]))


# --------------------------------------------------------------------------------- another convention


@only_in_oneflow("", "indices in int32")
def argwhere(input: Tensor, dtype: jaxflow.dtype = jaxflow.int32) -> Tensor:
    return input.argwhere().to(dtype)


@only_in_oneflow("", "indices and counts in int32; unsorted means in the order of first appearance")
def unique(
    input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
    dtype: jaxflow.dtype = jaxflow.int32,
) -> Any:
    values, inverse, counts = jaxflow.unique(input, return_inverse=True, return_counts=True)
    if not sorted:
        flat = inverse.reshape(-1)
        backwards = jaxflow.arange(flat.numel() - 1, -1, -1)
        order = jaxflow.zeros_like(counts).index_put((flat.flip(0),), backwards).argsort()
        values, counts, inverse = values[order], counts[order], order.argsort()[inverse]
    extra = [(return_inverse, inverse), (return_counts, counts)]
    found = (values, *(t.to(dtype) for asked, t in extra if asked))
    return found if len(found) > 1 else values


for _row, _pytorch in ((-2, "indices in int64"), (-1, "indices and counts in int64; always sorted")):
    DIFFERENCES[_row] = dataclasses.replace(DIFFERENCES[_row], pytorch=_pytorch)

# Arguments that OneFlow calls otherwise than PyTorch; the first one is `x` in most of its functions. Either
# name is taken.
ARGUMENTS: dict[str, dict[str, str]] = {
    "dot": dict(other="tensor"), "lerp": dict(start="input"), "logaddexp": dict(y="other"),
    "searchsorted": dict(values="input"), "broadcast_to": dict(shape="size"),
    "empty_strided": dict(shape="size"), "norm": dict(ord="p"), "where": dict(x="input", y="other"),
    "nn.functional.cosine_similarity": dict(x="x1", y="x2"),
    "nn.functional.embedding": dict(indices="input"), "nn.functional.one_hot": dict(input="tensor"),
    "nn.functional.prelu": dict(alpha="weight"), "nn.functional.leaky_relu": dict(alpha="negative_slope"),
    "nn.functional.softshrink": dict(alpha="lambd"),
}


# ------------------------------------------------------------------------------ activations, schedules


@only_in_oneflow("nn.functional", "x * sigmoid(1.702 x)")
def quick_gelu(x: Tensor) -> Tensor:
    return x * jaxflow.sigmoid(1.702 * x)


@only_in_oneflow("nn.functional", "relu(x) squared")
def square_relu(x: Tensor) -> Tensor:
    return F.relu(x) ** 2


_add("", "quick_gelu", "nn.functional.quick_gelu", function=quick_gelu)
_add("", "square_relu", "nn.functional.square_relu", function=square_relu)


class QuickGELU(Module):
    """``x * sigmoid(1.702 x)``."""

    def forward(self, x: Tensor) -> Tensor:
        """Elementwise."""
        return quick_gelu(x)


class SquareReLU(Module):
    """``relu(x) ** 2``."""

    def forward(self, x: Tensor) -> Tensor:
        """Elementwise."""
        return square_relu(x)


class CosineDecayLR(LambdaLR):
    """The learning rate falls along half a cosine to ``alpha`` times itself in ``decay_steps`` steps."""

    def __init__(self, optimizer: Any, decay_steps: int, alpha: float = 0.0, last_step: int = -1) -> None:
        def factor(step: int) -> float:
            done = min(step / decay_steps, 1.0)
            return (1 - alpha) * 0.5 * (1 + math.cos(math.pi * done)) + alpha

        super().__init__(optimizer, factor, last_step)


class PolynomialLR(LambdaLR):
    """The learning rate falls to ``end_learning_rate`` along a polynomial, once or (``cycle``) again."""

    def __init__(
        self, optimizer: Any, decay_batch: int, end_learning_rate: float = 1e-4, power: float = 1.0,
        cycle: bool = False, last_step: int = -1,
    ) -> None:
        def factor_for(base: float) -> Callable[[int], float]:
            def factor(step: int) -> float:
                laps = max(1, math.ceil(step / decay_batch)) if cycle else 1
                left = 1 - min(step / (decay_batch * laps), 1.0)
                return ((base - end_learning_rate) * left**power + end_learning_rate) / base

            return factor

        bases = [group.get("initial_lr", group["lr"]) for group in optimizer.param_groups]
        super().__init__(optimizer, [factor_for(base) for base in bases], last_step)


_add("nn", "QuickGELU", "x * sigmoid(1.702 x)", function=QuickGELU)
_add("nn", "SquareReLU", "relu(x) squared", function=SquareReLU)
_add("optim.lr_scheduler", "CosineDecayLR", "half a cosine, then constant", function=CosineDecayLR)
_add("optim.lr_scheduler", "PolynomialLR", "PolynomialLR(optimizer, decay_batch, end_learning_rate, power, "
     "cycle)", "PolynomialLR(optimizer, total_iters, power)", function=PolynomialLR)

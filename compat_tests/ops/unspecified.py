"""What PyTorch leaves open about a result, taken out of it before it is compared."""

import torch

import jaxflow

from .arguments import flat, subject
from .records import record

#: Results whose elements nobody promises.
_UNSPECIFIED = ("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided")
#: Results whose indices may point at any of several equal elements.
_ANY_OF_EQUALS = ("topk", "kthvalue", "median", "nanmedian", "sort", "argsort", "msort", "mode")


def open_dim(key, sample):
    """Along which dimension PyTorch leaves open which of several equal elements is meant, or None."""
    name = record(key).name
    if name not in _ANY_OF_EQUALS or sample.kwargs.get("stable") is True:
        return None
    if name == "msort":
        return 0
    numbers = [a for a in sample.args if isinstance(a, int) and not isinstance(a, bool)]
    if "dim" not in sample.kwargs and len(numbers) > (name in ("topk", "kthvalue")):
        return numbers[-1]
    return sample.kwargs.get("dim", -1)


def settled(key, sample, result):
    """A result without what PyTorch leaves open: unspecified elements, indices among equals."""
    if sample.output_process_fn_grad is not None:
        result = sample.output_process_fn_grad(result)
    if record(key).name in _UNSPECIFIED:
        return _blank(result)
    dim = open_dim(key, sample)
    if dim is None:
        return result
    # Detached: what the indices point at is compared, and is not to have a gradient of its own.
    x = sample.input if isinstance(flat(result)[0], torch.Tensor) else subject(sample.input)
    if record(key).name == "argsort":
        return x.detach().take_along_dim(result, dim)
    if isinstance(result, tuple) and x.dim():
        indices = result[1]
        if indices.dim() < x.dim():
            indices = indices.unsqueeze(dim)
        return result[0], x.detach().take_along_dim(indices, dim)
    return result


def _blank(result):
    if isinstance(result, torch.Tensor):
        return torch.zeros_like(result)
    if isinstance(result, jaxflow.Tensor):
        return jaxflow.zeros_like(result)
    if isinstance(result, (list, tuple)):
        return type(result)(map(_blank, result))
    return type(result)()


def settled_gradient(key, sample, gradient):
    """The gradient of a sample's input; which of several equal elements has which share is left open.

    Equal elements along the open dimension have their shares in order of size.
    """
    dim = open_dim(key, sample)
    if dim is None or sample.input.dim() == 0:
        return gradient
    x = sample.input.detach()
    by_size = gradient.argsort(dim)
    order = by_size.take_along_dim(x.take_along_dim(by_size, dim).sort(dim=dim, stable=True)[1], dim)
    return gradient.take_along_dim(order, dim)

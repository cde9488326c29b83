"""Arguments of torch as jaxflow's, and results of jaxflow as torch's."""

import itertools
import math

import numpy as np
import torch

import jaxflow


def subject(x):
    """A nested torch argument as jaxflow's.

    Tensors keep ``requires_grad``, strides, offset and whose memory they share; one met twice stays one.
    """
    return Converter().convert(x)


class Converter:
    """Converts arguments; those converted by the same one share memory where their originals do."""

    def __init__(self):
        self.tensors, self.storages, self.kept = {}, {}, []

    def convert(self, x):
        """``x`` as jaxflow's."""
        if isinstance(x, torch.Tensor):
            if id(x) not in self.tensors:
                # The original is kept too: its id is its name here.
                self.tensors[id(x)] = self._tensor(x), x
            return self.tensors[id(x)][0]
        if isinstance(x, torch.device):
            return str(x)
        if isinstance(x, torch.nn.PairwiseDistance):
            return jaxflow.nn.PairwiseDistance(x.norm, x.eps, x.keepdim)
        if isinstance(x, (torch.dtype, torch.memory_format, torch.layout)):
            return getattr(jaxflow, str(x).removeprefix("torch."))
        if isinstance(x, torch.Size):
            return jaxflow.Size(x)
        if isinstance(x, torch.Generator):
            return jaxflow.Generator().manual_seed(x.initial_seed())
        if type(x) in (list, tuple):
            return type(x)(map(self.convert, x))
        if isinstance(x, dict):
            return {k: self.convert(v) for k, v in x.items()}
        return x

    def _tensor(self, x):
        if x.layout is not torch.strided:
            return sparse_from_torch(x)
        leaf = x.detach().resolve_conj().resolve_neg()
        if x.device.type != "cpu":
            raise TypeError(f"a sample on the device {x.device}")
        self.kept.append(leaf)  # or another's memory could get the address, which is a storage's name here
        storage = leaf.untyped_storage()
        plain = leaf.stride() == torch.empty(leaf.shape).stride()  # an empty one is contiguous in any strides
        # NumPy's arrays have 64 dimensions at most.
        alone = plain and leaf.ndim <= 64 and leaf.numel() * leaf.element_size() == storage.nbytes()
        home = (storage.data_ptr(), leaf.dtype)
        if alone and home not in self.storages:
            t = from_torch(leaf)
            self.storages[home] = t
        else:
            if home not in self.storages:
                size = storage.nbytes() // leaf.element_size()
                self.storages[home] = from_torch(torch.as_strided(leaf, (size,), (1,), 0))
            with jaxflow.no_grad():
                t = self.storages[home].detach().as_strided(
                    tuple(leaf.shape), leaf.stride(), leaf.storage_offset())
        return t.detach().requires_grad_() if x.requires_grad else t.detach()


def from_torch(x):
    """A contiguous torch tensor as a jaxflow tensor of its own."""
    dtype = getattr(jaxflow, str(x.dtype).removeprefix("torch."))
    if not x.numel():  # of an array without elements both libraries take over strides, and NumPy's are others
        return jaxflow.zeros(tuple(x.shape), dtype=dtype)
    if x.dtype is torch.bfloat16:
        return jaxflow.tensor(x.float().clone().numpy(), dtype=dtype)
    return jaxflow.tensor(x.clone().numpy(), dtype=dtype)


def sparse_from_torch(x):
    """A sparse tensor of torch's as jaxflow's. TypeError for layouts that no sample has."""
    leaf = x.detach()
    if x.layout is torch.sparse_coo:
        t = jaxflow.sparse_coo_tensor(from_torch(leaf._indices()), from_torch(leaf._values()), tuple(x.shape),
                                      is_coalesced=x.is_coalesced())
    elif x.layout is torch.sparse_csr:
        parts = map(from_torch, (leaf.crow_indices(), leaf.col_indices(), leaf.values()))
        t = jaxflow.sparse_csr_tensor(*parts, tuple(x.shape))
    else:
        raise TypeError(f"a sample of layout {x.layout}")
    return t.requires_grad_() if x.requires_grad else t


def to_torch(x):
    """A jaxflow tensor as torch's, for comparing."""
    if x.layout is jaxflow.sparse_coo:
        parts = map(to_torch, (x._indices(), x._values()))
        return torch.sparse_coo_tensor(*parts, tuple(x.shape), is_coalesced=x.is_coalesced())
    if x.layout is jaxflow.sparse_csr:
        parts = map(to_torch, (x.crow_indices(), x.col_indices(), x.values()))
        return torch.sparse_csr_tensor(*parts, tuple(x.shape))
    array = np.asarray(x.detach()._value_array())
    dtype = getattr(torch, x.dtype.name)
    if dtype is torch.bfloat16:
        return torch.from_numpy(array.astype(np.float32)).to(dtype)
    return torch.from_numpy(np.array(array))


def flat(x):
    """The tensors of a nested result, in order."""
    if isinstance(x, (torch.Tensor, jaxflow.Tensor)):
        return [x]
    if isinstance(x, (list, tuple)):
        return list(itertools.chain.from_iterable(map(flat, x)))
    if isinstance(x, dict):
        return flat(list(x.values()))
    return []


def mapped(x, change):
    """A nested argument with ``change`` applied to each of its tensors."""
    if isinstance(x, (torch.Tensor, jaxflow.Tensor)):
        return change(x)
    if type(x) in (list, tuple):
        return type(x)(mapped(i, change) for i in x)
    if isinstance(x, dict):
        return {k: mapped(v, change) for k, v in x.items()}
    return x


def call_of(sample):
    """A sample as ``(input, args, kwargs)``."""
    return sample.input, tuple(sample.args), dict(sample.kwargs)


def copied(call):
    """A call with tensors of its own: same values, strides and sharing, so that it may be written to."""
    storages = {}

    def copy(x):
        if x.layout is not torch.strided:
            return x.detach().clone().requires_grad_(x.requires_grad)
        leaf = x.detach()
        home = leaf.untyped_storage().data_ptr()
        if home not in storages:
            size = leaf.untyped_storage().nbytes() // leaf.element_size()
            storages[home] = leaf.as_strided((size,), (1,), 0).clone()
        mine = storages[home].view(leaf.dtype).as_strided(leaf.shape, leaf.stride(), leaf.storage_offset())
        return mine.detach().requires_grad_(x.requires_grad)

    return mapped(call, copy)


def noncontiguous(call):
    """A call whose tensors of more than one element leave every second place of their memory out."""

    def spread(x):
        if x.numel() < 2 or x.layout is not torch.strided:
            return x
        home = torch.zeros(2 * x.numel(), dtype=x.dtype)
        t = home.as_strided(x.shape, tuple(2 * s for s in _row_major(x.shape)))
        t.copy_(x.detach())
        return t.detach().requires_grad_(x.requires_grad)

    return mapped(call, spread)


def _row_major(shape):
    return [math.prod(max(n, 1) for n in shape[i + 1:]) for i in range(len(shape))]


def describe(sample):
    """A sample's shapes and other arguments, in one short line."""
    given = mapped((sample.input, *sample.args, dict(sample.kwargs)), lambda t: tuple(t.shape))
    return " ".join(str(a) for a in given).replace("\n", " ")[:160]

"""Statements that call an operator with one of PyTorch's own samples of it, in memory of another layout."""

import functools
import re
import warnings

import torch

from compat_tests.ops import records, unspecified
from compat_tests.ops.arguments import call_of, mapped, subject

from .operators import REFUSED
from .program import Instruction

#: Records whose results are not specified to the last element, or are numbers that are drawn.
_OPEN = (*unspecified._UNSPECIFIED, *unspecified._ANY_OF_EQUALS, "item", "svd_lowrank", "pca_lowrank")
#: Parts of names: factors of no one sign, numbers that are drawn, kernels of other backends.
_APART = {"svd", "eig", "eigh", "eigvals", "qr", "geqrf", "lstsq", "lu", "ldl", "sparse", "jiterator",
          "empty", "dropout", "attention", "scaled"}
def _turned(t):
    return t.permute(tuple(range(t.dim()))[::-1])


def _odd_strides(t):
    """Strides of dimensions of one element (or of none at all) are any numbers."""
    nothing = t.numel() == 0
    return [7 if size == 1 or nothing else step for size, step in zip(t.shape, t.contiguous().stride())]


def _channels_last(t):
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    return t.contiguous(memory_format=formats[t.dim()]) if t.dim() in formats else t


LAYOUTS = {
    "plain": lambda t: t,
    "strided": lambda t: torch.stack([t, torch.zeros_like(t)], -1)[..., 0],
    "turned": lambda t: _turned(_turned(t).contiguous()),
    "offset": lambda t: torch.cat([t.new_zeros(3), t.reshape(-1)])[3:].view(t.shape),
    "stretched": lambda t: t[:1].expand(t.shape) if t.dim() and len(t) else t,
    "odd": lambda t: t.contiguous().as_strided(t.shape, _odd_strides(t)),
    "channels_last": _channels_last,
    "lazy": lambda t: t,  # made in the library itself
}


def _lazy(T, t):
    """A view that is the conjugate, or the negative, of what lies in memory; in the library ``T``."""
    kind = t.dtype
    with T.no_grad():
        if kind.is_complex:
            made = t.detach().conj().resolve_conj().conj()
        else:
            made = T._neg_view(-t.detach()) if kind.is_floating_point else t
    return made.detach().requires_grad_(t.requires_grad)


#: Parts of names of what is not defined of a stretched sample, whose rows are all one: factors of a singular
#: matrix, medians (see `faults`), statistics that are written to; and the last also of a lazy one.
_NOT_STRETCHED = {"linalg", "cholesky", "pinverse", "inverse", "logdet", "median", "nanmedian", "norm"}
_WRITES = {"batch", "native"}


def _fits(key, layout):
    parts = set(re.split(r"[._]", records.record(key).name))
    if layout == "stretched":
        return not parts & (_NOT_STRETCHED | _WRITES)
    return layout != "lazy" or not parts & _WRITES


_ITSELF = (lambda x: x).__code__.co_code
MOST = 3  # of a record and dtype


@functools.cache
def keys():
    """The records whose samples programs take."""
    return [key for key in records.keys() if _usable(key)]


def _usable(key):
    rec = records.record(key)
    if rec.name in _OPEN or records.is_random(key) or not records.dtypes(key):
        return False
    return not _APART & set(re.split(r"[._]", rec.name))


@functools.cache
def present(key):
    """Whether jaxflow has the record's function."""
    if key in REFUSED:
        return False
    try:
        records.resolve(key)
    except AttributeError:
        return False
    return True


@functools.lru_cache(maxsize=4000)
def sample(key, dtype, number):
    """One of a record's samples; None if it has not so many."""
    found = records.take_samples(key, dtype, records.differentiable(key, dtype), MOST)
    return found[number] if number < len(found) else None


def usable(key, dtype, number):
    """Whether there is such a sample, and what its call gives is compared as it is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = sample(key, dtype, number)
    return found is not None and found.output_process_fn_grad.__code__.co_code == _ITSELF


def given(T, key, dtype, number, layout):
    """The arguments of a sample as tensors of the library ``T``: the first, the others, those by name."""
    call = call_of(sample(key, dtype, number))

    def laid(t):
        leaf = t.detach().clone()  # the sample is there for other programs, which may write to it
        if t.layout is torch.strided and not t.is_conj():
            leaf = LAYOUTS[layout](leaf)
        return leaf.detach().requires_grad_(t.requires_grad)

    call = mapped(call, laid)
    if T is not torch:
        call = subject(call)
    return mapped(call, lambda t: _lazy(T, t)) if layout == "lazy" else call


def called(T, key, *sample):
    """What the record's function gives for a sample."""
    fn = records.record(key).op if T is torch else records.resolve(key)
    first, others, by_name = given(T, key, *sample)
    return fn(first, *others, **by_name)


def sampled(d):
    """A call with a sample."""
    key = d.choice(keys())
    dtype = d.choice(records.dtypes(key))
    layout = d.choice(LAYOUTS)
    number = d.between(0, MOST - 1)
    if not present(key) or not _fits(key, layout) or not usable(key, dtype, number):
        return None
    text = f"samples.called(T, {key!r}, {dtype!r}, {number}, {layout!r})"
    fine, result = d.tried(text)
    if not fine:
        return None
    if isinstance(result, torch.Tensor):
        made = d.fresh()
        return Instruction(f"{made} = {text}", (made,), looks=True)
    if isinstance(result, (list, tuple)) and result and all(isinstance(x, torch.Tensor) for x in result):
        makes = tuple(d.fresh() for _ in range(min(len(result), 3)))
        target = ", ".join(makes) + ("," if len(makes) == 1 else "")
        return Instruction(f"{target} = {text}[:{len(makes)}]", makes, looks=True)
    return None

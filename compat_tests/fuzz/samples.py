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
LAYOUTS = {
    "plain": lambda t: t,
    "strided": lambda t: torch.stack([t, torch.zeros_like(t)], -1)[..., 0],
    "turned": lambda t: _turned(_turned(t).contiguous()),
    "offset": lambda t: torch.cat([t.new_zeros(3), t.reshape(-1)])[3:].view(t.shape),
}
def _turned(t):
    return t.permute(tuple(range(t.dim()))[::-1])


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
def _present(key):
    if key in REFUSED:
        return False
    try:
        records.resolve(key)
    except AttributeError:
        return False
    return True


@functools.lru_cache(maxsize=4000)
def _sample(key, dtype, number):
    found = records.take_samples(key, dtype, records.differentiable(key, dtype), MOST)
    return found[number] if number < len(found) else None


def given(T, key, dtype, number, layout):
    """The arguments of a sample as tensors of the library ``T``: the first, the others, those by name."""
    call = call_of(_sample(key, dtype, number))

    def laid(t):
        leaf = t.detach().clone()  # the sample is there for other programs, which may write to it
        if t.layout is torch.strided and not t.is_conj():
            leaf = LAYOUTS[layout](leaf)
        return leaf.detach().requires_grad_(t.requires_grad)

    call = mapped(call, laid)
    return call if T is torch else subject(call)


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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = _sample(key, dtype, number := d.between(0, MOST - 1))
    if found is None or not _present(key) or found.output_process_fn_grad.__code__.co_code != _ITSELF:
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

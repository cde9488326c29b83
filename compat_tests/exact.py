"""What a program of PyTorch computes, in double precision: the reference of `compat_tests.judge`.

The program runs as it is, in its own dtypes, so it takes the same branches, draws the same numbers and meets
the same errors. Below autograd, each operation is done a second time, on twins of its operands in double
precision: their memory mirrors that of the storages, so that views and writes hold for twins as well.
What has no twin (numbers drawn, data from outside, operations without a kernel in double precision) is
PyTorch's own result.
"""

import contextlib

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

WIDE = {torch.float32: torch.float64, torch.bfloat16: torch.float64, torch.float16: torch.float64,
        torch.complex64: torch.complex128, torch.float64: torch.float64, torch.complex128: torch.complex128}
_READ = torch.ops.aten._local_scalar_dense.default
#: Tagged as drawing numbers, which this one refuses to do on CPUs.
_WITHOUT_DROPOUT = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default


def exactly(program):
    """``program()`` with each tensor of its nested result replaced by its twin.

    A number that the program reads from a tensor (``item``) is that of its twin, too.
    """
    with Twins() as twins:
        result = program()
    return tree_map(twins.value, result)


class Twins(TorchDispatchMode):
    """While it is entered, what is computed is computed in double precision, too; see `value`."""

    def __init__(self):
        super().__init__()
        # Storage to the storage itself (kept alive: its address is its name), the bytes of a real number
        # in it, and its numbers in double precision. Complex numbers are two real ones.
        self._homes = {}
        self._fused = None

    def __enter__(self):
        # oneDNN's fused kernels (of recurrent layers, say) know no double precision.
        self._fused = torch._C._get_mkldnn_enabled()
        torch._C._set_mkldnn_enabled(False)
        return super().__enter__()

    def __exit__(self, *error):
        torch._C._set_mkldnn_enabled(self._fused)
        return super().__exit__(*error)

    def value(self, x):
        """The double precision of a tensor, a plain copy; anything else as it is."""
        if isinstance(x, torch.Tensor) and x._is_zerotensor():
            return torch.zeros(x.shape, dtype=WIDE.get(x.dtype, x.dtype))
        if not _has_twin(x):
            return x
        return self._twin(x.detach()).resolve_conj().resolve_neg().clone()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        with _lazy_bits():
            return self._done_twice(function, args, kwargs or {})

    def _done_twice(self, function, args, kwargs):
        writes = function._schema.is_mutable
        # Before: the operation may write to its operands.
        twins = tree_map(lambda x: self._widened(x, writes), (args, kwargs))
        result = function(*args, **kwargs)
        exact, computed = None, False
        if torch.Tag.nondeterministic_seeded not in function.tags or function is _WITHOUT_DROPOUT:
            with contextlib.suppress(RuntimeError), _default(torch.float64):  # no kernel in double precision
                exact, computed = function(*twins[0], **twins[1]), True
        if function is _READ:
            return exact if computed else result
        if writes and not computed:
            for tensor in filter(_has_twin, tree_leaves((args, kwargs))):
                self._twin(tensor).copy_(tensor)
        results = tree_leaves(result)
        exact = tree_leaves(exact) if computed else [None] * len(results)
        for mine, twin in zip(results, exact, strict=True):
            self._keep(mine, twin, writes)
        return result

    def _keep(self, mine, twin, written):
        """Give a result its twin. That of a view is there, and that of a tensor written to has been, too."""
        if not _has_twin(mine):
            return
        fresh = mine.untyped_storage()._cdata not in self._homes
        home = self._twin(mine)
        if twin is not None and twin.shape == mine.shape and (fresh or written):
            # What shows an element more than once is not written to: it has no numbers yet.
            if not any(n > 1 and not s for n, s in zip(home.shape, home.stride(), strict=True)):
                home.copy_(twin)

    def _widened(self, x, writes):
        if isinstance(x, torch.Tensor):
            if _has_twin(x):
                return self._twin(x)
            return x.clone() if writes else x  # of integers, say: written to once, not twice
        return WIDE.get(x, x) if isinstance(x, torch.dtype) else x

    def _twin(self, x):
        """The tensor of double precision that lies in the mirrored memory as ``x`` lies in its own."""
        storage = x.untyped_storage()
        size = x.element_size() // (2 if x.is_complex() else 1)
        _, known, memory = self._homes.get(storage._cdata, (None, None, None))
        if known != size or memory.numel() != storage.nbytes() // size:
            old, memory = memory, self._of_memory(x, storage, size)
            if known == size:  # it was resized, and what was there is still there
                kept = min(old.numel(), memory.numel())
                memory[:kept] = old[:kept]
            self._homes[storage._cdata] = storage, size, memory
        if x.is_complex():
            memory = torch.view_as_complex(memory.unflatten(0, (-1, 2)))
        twin = memory.as_strided(x.shape, x.stride(), x.storage_offset())
        twin = twin.conj() if x.is_conj() else twin
        return torch._neg_view(twin) if x.is_neg() else twin

    def _of_memory(self, x, storage, size):
        real = {2: torch.float16, 4: torch.float32, 8: torch.float64}[size]
        real = x.dtype if x.dtype is torch.bfloat16 else real
        numbers = torch.empty(0, dtype=real).set_(storage, 0, (storage.nbytes() // size,), (1,))
        return numbers.to(torch.float64, copy=True)


@contextlib.contextmanager
def _default(dtype):
    """Let what is computed from integers alone be of ``dtype``."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


@contextlib.contextmanager
def _lazy_bits():
    """Let operations see that an operand is to be conjugated or negated yet.

    PyTorch leaves that out below a dispatch mode: ``linalg.pinv`` of complex numbers is wrong then.
    """
    keys = torch._C.DispatchKey
    with torch._C._SetExcludeDispatchKeyGuard(keys.Conjugate, False), \
            torch._C._SetExcludeDispatchKeyGuard(keys.Negative, False):
        yield


def _has_twin(x):
    """Whether this is a tensor of numbers in a memory; PyTorch has zeros without one."""
    return (isinstance(x, torch.Tensor) and x.dtype in WIDE and x.layout is torch.strided
            and not x._is_zerotensor())

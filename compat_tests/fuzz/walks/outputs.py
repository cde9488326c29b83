"""The kinds of tensors that a walk has operators write into."""

import torch

from ..samples import LAYOUTS


def _ones(dtype):
    return lambda result: torch.ones(result.shape, dtype=dtype)


def _requiring(result):
    ones = torch.ones(result.shape, dtype=result.dtype)
    return ones.requires_grad_(result.dtype.is_floating_point or result.dtype.is_complex)


#: Tensors for ``out=`` by the result they are to hold, made on torch.
OUTS = {
    "same": lambda result: torch.ones_like(result, memory_format=torch.contiguous_format),
    "empty": lambda result: result.new_empty(0),
    **{layout: lambda result, laid=LAYOUTS[layout]: laid(torch.ones_like(result))
       for layout in ("strided", "turned", "stretched", "offset")},
    "bigger": lambda result: result.new_ones((*result.shape, 2)),
    "flat": lambda result: result.new_ones(result.numel()),
    "one": lambda result: result.new_ones(1),
    **{dtype: _ones(getattr(torch, dtype))
       for dtype in ("float64", "float16", "int64", "uint8", "bool", "complex64")},
    "empty complex64": lambda result: torch.ones(0, dtype=torch.complex64),
    "empty int64": lambda result: torch.ones(0, dtype=torch.int64),
    "leaf": _requiring,
}


def _converted(dtype):
    return lambda T, t: t.to(getattr(T, dtype))


#: Targets of methods that write, by the library and the operand.
TARGETS = {
    "plain": lambda T, t: t,
    "leaf": lambda T, t: t,
    "strided": lambda T, t: T.stack([t] * 2, -1)[..., 0],
    "turned": lambda T, t: t.permute(tuple(range(t.dim()))[::-1]),
    "stretched": lambda T, t: t[:1].expand(t.shape) if t.dim() and len(t) else t,
    **{dtype: _converted(dtype) for dtype in ("float64", "float16", "int64", "uint8", "bool", "complex64")},
}

"""Options of XLA's that programs are compiled with.

NOTE [Library kernels]
    XLA's CPU compiler hands products, reductions and convolutions to libraries. The one it prefers for
    convolutions leaves those of few channels (64, for one) in one thread, and the
    other cores wait; the older kernels divide them among all. So convolutions are taken off the preferred
    library's list; products and reductions stay on it, they would be up to twice as slow without. Whoever
    sets the list in ``XLA_FLAGS`` decides for himself. What it knows as a maximum or minimum loses nan there:
    where one could be seen, ``_ops/_xla.py`` has its own.
"""

from __future__ import annotations

import os

import jax

from jaxflow._core import device as devices

_LIST = "xla_cpu_experimental_ynn_fusion_type"
# XLA's own default without LIBRARY_FUSION_TYPE_INDIVIDUAL_CONVOLUTION.
_CPU = {_LIST: "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT,LIBRARY_FUSION_TYPE_REDUCE"}
_UNKNOWN = ("No such compile option", "not a valid enum value")


def compiled(lowered, device):
    """``lowered`` (of ``jax.jit``) compiled for ``device``; without options that this XLA does not know."""
    if device is not devices.CPU or _LIST in os.environ.get("XLA_FLAGS", ""):
        return lowered.compile()
    try:
        return lowered.compile(compiler_options=_CPU or None)
    except jax.errors.JaxRuntimeError as error:
        if not any(text in str(error) for text in _UNKNOWN):
            raise
        _CPU.clear()  # a version without the option has not the library either
        return lowered.compile()

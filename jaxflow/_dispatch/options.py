"""Options of XLA's that programs are compiled with.

NOTE [Library kernels]
    XLA's CPU compiler hands products, reductions and convolutions to libraries. The one it prefers for
    convolutions leaves those of few channels (64, for one) in one thread, and the
    other cores wait; the older kernels divide them among all. So convolutions are taken off the preferred
    library's list; products and reductions stay on it, they would be up to twice as slow without. Whoever
    sets the list in ``XLA_FLAGS`` decides for himself.
"""

from __future__ import annotations

import os
from typing import Any

import jax

from jaxflow._core import device as devices

_CPU: dict[str, Any] = {
    # XLA's own default without LIBRARY_FUSION_TYPE_INDIVIDUAL_CONVOLUTION.
    "xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT,LIBRARY_FUSION_TYPE_REDUCE",
}
_UNKNOWN = ("No such compile option", "not a valid enum value")


def compiled(lowered: Any, device: devices.device) -> Any:
    """``lowered`` (of ``jax.jit``) compiled for ``device``; without options that this XLA does not know."""
    if device is not devices.CPU:
        return lowered.compile()
    chosen = os.environ.get("XLA_FLAGS", "")
    return _with_options(lowered, {name: value for name, value in _CPU.items() if name not in chosen})


def _with_options(lowered: Any, options: dict[str, Any]) -> Any:
    try:
        return lowered.compile(compiler_options=options or None)
    except jax.errors.JaxRuntimeError as error:
        text = str(error)
        unknown = [name for name in options if any(said in text for said in _UNKNOWN) and name in text]
        if not unknown:
            raise
        for name in unknown:  # a version without the option has not what it is about either
            _CPU.pop(name, None)
            del options[name]
        return _with_options(lowered, options)

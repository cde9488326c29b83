"""Options of XLA's that programs are compiled with. Whoever sets one in ``XLA_FLAGS`` decides for himself.

NOTE [Library kernels]
    XLA's CPU compiler hands products, reductions and convolutions to libraries. The one it prefers for
    convolutions leaves those of few channels (64, for one) in one thread, and the other cores wait; the
    older kernels divide them among all. So convolutions are taken off the preferred library's list; products
    and reductions stay on it, they would be up to twice as slow without. What that library recognises as a
    maximum or minimum loses nan there: where one could be seen, ``_ops/_xla.py`` has its own.

NOTE [Older code of fused operations]
    XLA's CPU compiler has two ways to make one loop of several operations, and the newer one gets some wrong.
    Where one element is written into a row by a scatter and the row put back into its matrix, the row becomes
    one that was read at another place, or memory is read that is not the program's (``t.view(2, 4)[1, ::4] =
    1``, seen with jax 0.10.2). The older way is right there, and takes less time to compile; but a training
    step of a small GPT takes a fifth longer with it. So programs that scatter to one place are compiled the
    older way, and no others. Newer versions of XLA (jax 0.12) have no older way, and end the process there:
    a slice of one element is therefore no scatter (``_ops/views.py``).
"""

from __future__ import annotations

import os
import re

import jax

from . import device as devices

#: XLA's own default of the first without LIBRARY_FUSION_TYPE_INDIVIDUAL_CONVOLUTION.
_CPU = {
    "xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT,LIBRARY_FUSION_TYPE_REDUCE",
    "xla_cpu_use_fusion_emitters": False,
}
#: What is given for programs alone that scatter to one place.
_SCATTERING = "xla_cpu_use_fusion_emitters"
# The types of a scatter's operands, among them that of its indices: one vector of them is one place.
_SCATTER = re.compile(r"stablehlo\.scatter\b.*?\}\) : \(([^)]*)\)", re.DOTALL)
_ONE_PLACE = re.compile(r"tensor<(?:1x)*(?:\d+x)?u?i(?:32|64)>")
_UNKNOWN = ("No such compile option", "not a valid enum value")


def compiled(lowered, device):
    """``lowered`` (of ``jax.jit``) compiled for ``device``; without options that this XLA does not have."""
    set_by_user = os.environ.get("XLA_FLAGS", "")
    # A copy: another thread may leave some out meanwhile.
    known = tuple(_CPU.items()) if device is devices.CPU else ()
    options = {name: value for name, value in known if name not in set_by_user}
    if _SCATTERING in options and not any(
            _ONE_PLACE.search(types) for types in _SCATTER.findall(lowered.as_text())):
        del options[_SCATTERING]
    while True:
        try:
            return lowered.compile(compiler_options=options or None)
        except jax.errors.JaxRuntimeError as error:
            unknown = [name for name in options if name in str(error)]
            if not unknown or not any(text in str(error) for text in _UNKNOWN):
                raise
            for name in unknown:
                del options[name]
                _CPU.pop(name, None)

"""Which kernels attention may use: remembered, without effect. XLA has one, in blocks where that pays."""

from __future__ import annotations

import enum
import warnings
from collections.abc import Iterable

from jaxflow._core.modes import Changed
from jaxflow.backends import cuda as _switches

from ._registry import activate_flash_attention_impl as activate_flash_attention_impl
from ._registry import current_flash_attention_impl as current_flash_attention_impl
from ._registry import list_flash_attention_impls as list_flash_attention_impls
from ._registry import register_flash_attention_impl as register_flash_attention_impl
from ._registry import restore_flash_attention_impl as restore_flash_attention_impl

__all__ = [
    "SDPBackend", "WARN_FOR_UNFUSED_KERNELS", "activate_flash_attention_impl",
    "current_flash_attention_impl", "list_flash_attention_impls", "register_flash_attention_impl",
    "restore_flash_attention_impl", "sdpa_kernel",
]

#: A switch of PyTorch's: whether attention with a `bias.CausalBias` warns where it has no kernel for it.
WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(enum.IntEnum):
    """PyTorch's kernels for `scaled_dot_product_attention`."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    def __repr__(self) -> str:
        return f"<SDPBackend.{self.name}: {self.value}>"

    def __str__(self) -> str:
        return f"SDPBackend.{self.name}"


#: In the order in which PyTorch lists them.
_SWITCHES = {
    SDPBackend.CUDNN_ATTENTION: "cudnn", SDPBackend.FLASH_ATTENTION: "flash",
    SDPBackend.EFFICIENT_ATTENTION: "mem_efficient", SDPBackend.MATH: "math",
    SDPBackend.OVERRIDEABLE: "overrideable",
}


def _backend_from_string(name: str) -> SDPBackend:
    return SDPBackend[name]


def _cur_sdpa_kernel_backends(with_priority: bool = False) -> list[SDPBackend]:
    """Those that are switched on, in the order in which they are preferred if that is wanted."""
    found = [backend for backend, name in _SWITCHES.items() if getattr(_switches.sdp, name)]
    return sorted(found, key=_switches.sdp.priority.index) if with_priority else found


def sdpa_kernel(backends: Iterable[SDPBackend] | SDPBackend, set_priority: bool = False) -> Changed:
    """Remember, within the block, that only these kernels are wanted; what is computed is the same.

    Args:
        backends: a kernel, or a list of kernels. Where none of them could run, PyTorch refuses to
            compute, and this does not: XLA's computation is the only one.
        set_priority: whether they are preferred in the order of the list.

    Returns:
        A context manager; ``torch.backends.cuda.flash_sdp_enabled()`` and its like say within the block
        what is wanted.

    Raises:
        AssertionError: for what is neither a `SDPBackend` nor a list of them.

    Example:
        >>> from jaxflow.nn.attention import SDPBackend, sdpa_kernel
        >>> with sdpa_kernel(SDPBackend.MATH):
        ...     torch.backends.cuda.flash_sdp_enabled(), torch.backends.cuda.math_sdp_enabled()
        (False, True)
    """
    if not isinstance(backends, (list, SDPBackend)):
        raise AssertionError(
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
            f"{type(backends).__name__}"
        )
    wanted = [backends] if isinstance(backends, SDPBackend) else list(dict.fromkeys(backends))
    values: dict = {name: backend in wanted for backend, name in _SWITCHES.items()}
    if set_priority:
        before = _switches.sdp.priority
        values["priority"] = (*wanted, *(backend for backend in before if backend not in wanted))
    return Changed(_switches.sdp, {}, **values)


def _raise_kernel_warnings(params: _switches.SDPAParams) -> None:
    """Where `WARN_FOR_UNFUSED_KERNELS` is set, warn that none of PyTorch's kernels is there."""
    if WARN_FOR_UNFUSED_KERNELS:
        for kernel in ("Efficient", "Flash"):
            warnings.warn(f"{kernel} attention can't be used because: XLA computes it, not PyTorch's kernel",
                          stacklevel=2)

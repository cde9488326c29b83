"""Which kernels attention may use: remembered, without effect. XLA has one, in blocks where that pays."""

from __future__ import annotations

import enum
from collections.abc import Iterable

from jaxflow._core.modes import Changed
from jaxflow.backends import cuda as _switches


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


_SWITCHES = {
    SDPBackend.MATH: "math", SDPBackend.FLASH_ATTENTION: "flash",
    SDPBackend.EFFICIENT_ATTENTION: "mem_efficient", SDPBackend.CUDNN_ATTENTION: "cudnn",
}


def _cur_sdpa_kernel_backends(with_priority: bool = False) -> list[SDPBackend]:
    """Those that are switched on."""
    return [backend for backend, name in _SWITCHES.items() if getattr(_switches.sdp, name)]


def sdpa_kernel(backends: Iterable[SDPBackend] | SDPBackend, set_priority: bool = False) -> Changed:
    """Remember, within the block, that only these kernels are wanted; what is computed is the same.

    Raises:
        AssertionError: for what is neither a `SDPBackend` nor a list of them.
    """
    if not isinstance(backends, (list, SDPBackend)):
        raise AssertionError(
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
            f"{type(backends).__name__}"
        )
    wanted = {backends} if isinstance(backends, SDPBackend) else set(backends)
    return Changed(_switches.sdp, {}, **{name: backend in wanted for backend, name in _SWITCHES.items()})

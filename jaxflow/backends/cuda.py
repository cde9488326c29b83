"""Switches of CUDA's libraries: remembered, without effect."""

from __future__ import annotations

import types
import warnings
from typing import Any, NamedTuple

import jaxflow.cuda
from jaxflow._core.modes import Changed

#: ``matmul.allow_tf32`` and its like.
matmul = types.SimpleNamespace(
    allow_tf32=False, allow_fp16_reduced_precision_reduction=True,
    allow_bf16_reduced_precision_reduction=True,
)

#: Which kernels of attention are switched on, in what order they are preferred (numbers of
#: `nn.attention.SDPBackend`), and whether they may add up in half precision.
sdp = types.SimpleNamespace(flash=True, math=True, mem_efficient=True, cudnn=True, overrideable=True,
                            priority=(1, 2, 0, 3, 4), half_sums=False)

def is_built() -> bool:
    """Whether tensors can be moved to a GPU."""
    return jaxflow.cuda.is_available()


def _switch(name: str) -> None:
    def enabled() -> bool:
        return getattr(sdp, name)

    def enable(enabled: bool) -> None:
        if not isinstance(enabled, bool):
            raise RuntimeError(f"set_sdp_use_{name} expects a bool, but got {type(enabled).__name__}")
        setattr(sdp, name, enabled)

    for fn, public, doc in (
        (enabled, f"{name}_sdp_enabled", "Whether this kernel of attention is switched on."),
        (enable, f"enable_{name}_sdp", "Switch this kernel of attention on or off: remembered alone."),
    ):
        fn.__name__ = fn.__qualname__ = public
        fn.__doc__ = doc
        globals()[public] = fn


for _name in ("flash", "math", "mem_efficient", "cudnn"):
    _switch(_name)


def fp16_bf16_reduction_math_sdp_allowed() -> bool:
    """Whether attention in half precision may add up in half precision."""
    return sdp.half_sums


def allow_fp16_bf16_reduction_math_sdp(enabled: bool) -> None:
    """Let attention in half precision add up in half precision: remembered alone.

    Args:
        enabled: a bool; RuntimeError for anything else.
    """
    if not isinstance(enabled, bool):
        raise RuntimeError(f"set_sdp_use_math expects a bool, but got {type(enabled).__name__}")
    sdp.half_sums = enabled


def is_ck_sdpa_available() -> bool:
    """False: PyTorch's kernel for AMD is not there."""
    return False


def sdp_kernel(enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True,
               enable_cudnn: bool = True) -> Changed:
    """Remember which kernels of attention are wanted within the block; deprecated."""
    warnings.warn(
        "`torch.backends.cuda.sdp_kernel()` is deprecated. In the future, this context manager will be "
        "removed. Please see `torch.nn.attention.sdpa_kernel()` for the new context manager, with updated "
        "signature.",
        FutureWarning, stacklevel=2,
    )
    return Changed(sdp, {}, flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient,
                   cudnn=enable_cudnn)


class SDPAParams(NamedTuple):
    """A call of `scaled_dot_product_attention`."""

    query: Any
    key: Any
    value: Any
    attn_mask: Any
    dropout: float
    is_causal: bool
    enable_gqa: bool


def is_flash_attention_available() -> bool:
    """False: PyTorch's kernel is not there."""
    return False


def can_use_flash_attention(params: SDPAParams, debug: bool = False) -> bool:
    """False: PyTorch's kernel is not there."""
    return False


def can_use_efficient_attention(params: SDPAParams, debug: bool = False) -> bool:
    """False: PyTorch's kernel is not there."""
    return False


def can_use_cudnn_attention(params: SDPAParams, debug: bool = False) -> bool:
    """False: PyTorch's kernel is not there."""
    return False

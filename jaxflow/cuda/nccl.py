"""NVIDIA's library for many GPUs, which XLA calls by itself."""

from __future__ import annotations

from typing import Any, NoReturn


def is_available(tensors: Any = None) -> bool:
    """False: its functions cannot be called from here."""
    return False


def version() -> NoReturn:
    """Raises RuntimeError: the library is XLA's own."""
    raise RuntimeError("torch.cuda.nccl.version() is not supported: XLA brings its own NCCL; see "
                       "jax.print_environment_info()")

"""Numbers of 64 bits in jax, which PyTorch's programs cannot do without."""

from __future__ import annotations

import os
import warnings

import jax


def set_up() -> None:
    """Switch them on for the whole process; warn where its environment says no."""
    if "JAX_ENABLE_X64" in os.environ and not jax.config.jax_enable_x64:
        warnings.warn(
            "JAX_ENABLE_X64 switches numbers of 64 bits off, and jaxflow switches them on again for the "
            "whole process: PyTorch's default integer is int64, and jax would make int32 of it.",
            stacklevel=3)
    jax.config.update("jax_enable_x64", True)

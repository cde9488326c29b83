"""What ``python -m jaxflow`` says without arguments."""

from __future__ import annotations

import os
import platform

import jax
import jaxlib
import numpy as np

from jaxflow._core import flags
from jaxflow.version import __version__

from .version import VERSION


def describe() -> str:
    """Versions, devices, and where compiled programs are kept."""
    devices = ", ".join(f"{d.platform}:{d.id} ({d.device_kind})" for d in jax.devices())
    return "\n".join((
        f"jaxflow {__version__}, with the interface of torch {str(VERSION).partition('+')[0]}",
        f"Python {platform.python_version()}, jax {jax.__version__}, jaxlib {jaxlib.__version__}, "
        f"numpy {np.__version__}",
        f"devices: {devices}",
        f"compiled programs: {_cache()}",
        "python -m jaxflow --help says how to run a program",
    ))


def _cache() -> str:
    folder = flags.cache_dir()
    if folder is None:
        return "kept in memory only"
    sizes = [e.stat().st_size for e in os.scandir(folder) if e.is_file()] if os.path.isdir(folder) else []
    return f"{len(sizes)} files, {sum(sizes) / 1e6:.1f} MB in {folder}"

"""What jaxflow was put together from."""

from __future__ import annotations

import os
import platform

import jax
import jaxlib
import numpy

from .version import __version__


def show() -> str:
    """Versions and devices, a line each."""
    devices = ", ".join(sorted({f"{d.platform} ({d.device_kind})" for d in jax.devices()}))
    lines = (f"jaxflow {__version__}", f"jax {jax.__version__}", f"jaxlib {jaxlib.__version__}",
             f"numpy {numpy.__version__}", f"Python {platform.python_version()}", f"devices: {devices}")
    return "jaxflow built on:\n" + "".join(f"  - {line}\n" for line in lines)


def parallel_info() -> str:
    """How many processors there are for XLA's threads."""
    return f"XLA:\n  processors: {os.cpu_count()}\n"

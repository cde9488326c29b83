"""Waiting for devices: what was recorded is handed over, and a computation after it is waited for."""

from __future__ import annotations

from collections.abc import Iterable

import jax

from .run import flush


def wait_for(devices: Iterable) -> None:
    """Run what was recorded, and wait until these devices of jax's have done all that they were handed."""
    flush()
    for device in devices:
        (jax.device_put(0.0, device) + 0).block_until_ready()

"""What belongs to a thread or the process and decides what operations do."""

from __future__ import annotations

from jaxflow._core import dtype as dtypes
from jaxflow._core.device import innermost
from jaxflow._core.generator import drawing
from jaxflow._core.state import state


def modes() -> tuple:
    """Grad modes, default dtype and device, the generator that draws where none is named, and autocasting."""
    return (state.grad, state.inference, state.constant, dtypes.get_default_dtype(), innermost(),
            drawing.generator, None if state.autocast is None else state.autocast[:3])

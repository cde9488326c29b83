"""Signal processing, under ``torch.signal``'s names."""

from . import windows as windows

__all__ = ["windows"]

"""What passes have in common."""

from __future__ import annotations

from . import matcher_utils as matcher_utils

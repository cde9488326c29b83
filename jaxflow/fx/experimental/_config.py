"""Settings of symbolic sizes, kept for programs that make them: sizes are numbers."""

from __future__ import annotations

use_duck_shape = True

"""Uses of graphs: fusing layers, and tracing functions by calling them."""

from __future__ import annotations

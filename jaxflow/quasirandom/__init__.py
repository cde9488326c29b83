"""Points that fill space evenly."""

from .engine import SobolEngine as SobolEngine

__all__ = ["SobolEngine"]

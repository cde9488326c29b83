"""Function transforms: ``vmap`` and the derivatives of functions."""

from .vmap import vmap as vmap

__all__ = ["vmap"]

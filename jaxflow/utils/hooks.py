"""The handle by which a hook is taken back."""

from jaxflow._core.hooks import RemovableHandle

__all__ = ["RemovableHandle"]

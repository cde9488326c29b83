"""Hooks of tensors: the handle by which one is taken back, and what becomes of them in checkpoints."""

from __future__ import annotations

from collections.abc import Callable

from jaxflow._core.hooks import RemovableHandle, warn_if_has_hooks

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


def unserializable_hook(f: Callable) -> Callable:
    """Mark a hook of a tensor as one that a checkpoint leaves out without a warning.

    Args:
        f: the hook.

    Returns:
        ``f``.

    Example:
        >>> import io
        >>> from jaxflow.utils.hooks import unserializable_hook
        >>> x = torch.ones(2, requires_grad=True)
        >>> handle = x.register_hook(unserializable_hook(lambda g: 2 * g))
        >>> torch.save(x, io.BytesIO())
    """
    f.__torch_unserializable__ = True
    return f

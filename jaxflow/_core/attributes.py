"""Attributes of tensors that are computed, and refuse to be set in PyTorch's words."""

from __future__ import annotations

from collections.abc import Callable


def read_only(name: str, get: Callable, doc: str | None = None,
              owner: str = "torch._C.TensorBase") -> property:
    """A property called ``name``. Setting or deleting it raises AttributeError."""

    def refuse(self, value=None) -> None:
        raise AttributeError(
            f"attribute '{name}' of '{owner}' objects is not writable"
        )

    return property(get, refuse, refuse, doc or get.__doc__)

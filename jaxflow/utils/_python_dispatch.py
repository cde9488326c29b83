"""``torch.utils._python_dispatch``: tensors that are made of other tensors, which there are none of."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["TorchDispatchMode", "is_traceable_wrapper_subclass", "is_traceable_wrapper_subclass_type"]


class TorchDispatchMode:
    """A mode that would be handed every operation below autograd; it cannot be made.

    Raises:
        NotImplementedError: when one is made.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(
            "torch.utils._python_dispatch.TorchDispatchMode is not supported: operations are recorded, not "
            "dispatched to Python. torch.overrides.TorchFunctionMode is handed every public function.")


def is_traceable_wrapper_subclass(t: object) -> bool:
    """Whether ``t`` is a tensor made of other tensors, which says how it is taken apart and put together.

    Args:
        t: any object.

    Returns:
        Whether its class is one by `is_traceable_wrapper_subclass_type`.

    Example:
        >>> from jaxflow.utils._python_dispatch import is_traceable_wrapper_subclass
        >>> is_traceable_wrapper_subclass(torch.ones(2))
        False
    """
    return is_traceable_wrapper_subclass_type(type(t))


def is_traceable_wrapper_subclass_type(t: type) -> bool:
    """False: tensors here hold their own numbers, and no class can be handed what is below autograd."""
    return False

"""The arguments of layers that go to the functions which make their tensors."""

from __future__ import annotations

from typing import Any

_NAMES = ("device", "dtype", "memory_format")


def factory_kwargs(kwargs: dict[str, Any] | None) -> dict[str, Any]:
    """The arguments for functions such as ``torch.empty`` among a layer's keyword arguments.

    Args:
        kwargs: a dict of some of ``device``, ``dtype``, ``memory_format``, and ``factory_kwargs``: a dict of
            the others of them, for layers with arguments of the same names. None is as an empty one.

    Returns:
        A new dict of those arguments, flat.

    Raises:
        TypeError: for another name, or one that is given twice.

    Example:
        >>> nn.factory_kwargs({"dtype": torch.float64, "factory_kwargs": {"device": "cpu"}})
        {'device': 'cpu', 'dtype': torch.float64}
    """
    if kwargs is None:
        return {}
    unexpected = kwargs.keys() - {*_NAMES, "factory_kwargs"}
    if unexpected:
        raise TypeError(f"unexpected kwargs {unexpected}")
    result = dict(kwargs.get("factory_kwargs", {}))
    for name in _NAMES:
        if name in kwargs:
            if name in result:
                raise TypeError(f"{name} specified twice, in **kwargs and in factory_kwargs")
            result[name] = kwargs[name]
    return result

"""Which device new tensors live on."""

import jaxflow as _jaxflow

from ._places import Place as _Place
from ._places import device_of as _device_of
from ._places import place_name as _place_name


def set_device(device: str) -> _Place:
    """Make new tensors live on ``"cpu"``, ``"gpu"`` or ``"gpu:0"``; returns the place."""
    where = _device_of(device)
    _jaxflow.set_default_device(where)
    return _Place(where)


def get_device() -> str:
    """The name of the device that new tensors live on."""
    return _place_name(_jaxflow.get_default_device())


def is_compiled_with_cuda() -> bool:
    """Whether jax sees a GPU."""
    return _jaxflow.cuda.is_available()

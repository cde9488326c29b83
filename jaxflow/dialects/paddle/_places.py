"""Where tensors live, and what they hold, in Paddle's words."""

from __future__ import annotations

from typing import Any

import numpy as np

import jaxflow
from jaxflow._dialect import Dialect, DType

DIALECT = Dialect("paddle")


class Place:
    """A device as Paddle names it: ``Place(cpu)``, ``Place(gpu:0)``."""

    __slots__ = ("device",)

    def __init__(self, where: Any = "cpu") -> None:
        self.device = device_of(where)

    def is_cpu_place(self) -> bool:
        """Whether this is the host."""
        return self.device.type == "cpu"

    def is_gpu_place(self) -> bool:
        """Whether this is a GPU."""
        return self.device.type == "cuda"

    def gpu_device_id(self) -> int:
        """The number of the GPU."""
        return self.device.index or 0

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Place) and self.device is other.device

    def __hash__(self) -> int:
        return hash(self.device)

    def __repr__(self) -> str:
        return f"Place({place_name(self.device)})"


class CPUPlace(Place):
    """The host."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("cpu")


class CUDAPlace(Place):
    """A GPU, by its number."""

    __slots__ = ()

    def __init__(self, id: int = 0) -> None:
        super().__init__(f"gpu:{id}")


def place_name(device: jaxflow.device) -> str:
    """``cpu``, ``gpu:0``: Paddle says gpu where PyTorch says cuda."""
    return str(device).replace("cuda", "gpu")


def device_of(place: Any) -> jaxflow.device:
    """The device a ``place=`` argument names: a Place, a text such as "gpu:0", or a device."""
    if isinstance(place, Place):
        return place.device
    if isinstance(place, jaxflow.device):
        return place
    if isinstance(place, str):
        name = place.lower()
        name = "gpu:0" if name == "gpu" else name
        return jaxflow.device(name.replace("gpu", "cuda"))
    raise ValueError(
        "place must be a Place (paddle.CPUPlace(), paddle.CUDAPlace(0)) or a text such as 'cpu' or 'gpu:0', "
        f"but got {type(place).__name__}"
    )


def dtype_of(dtype: Any) -> jaxflow.dtype | None:
    """The dtype a ``dtype=`` argument names: a dtype, a text, a NumPy or Python type; None stays None."""
    if dtype is None or isinstance(dtype, jaxflow.dtype):
        return dtype
    if isinstance(dtype, DType):
        return dtype.plain
    name = dtype.removeprefix("paddle.") if isinstance(dtype, str) else np.dtype(dtype).name
    found = getattr(jaxflow, name, None)
    if not isinstance(found, jaxflow.dtype):
        raise TypeError(f"there is no dtype {dtype!r} here; see paddle.float32 and its kin")
    return found


DIALECT.inward.update({Place: device_of, CPUPlace: device_of, CUDAPlace: device_of})

"""Tensors that are spread over processes, by name: libraries test whether a tensor is one."""

from __future__ import annotations

from typing import Any, NoReturn

from jaxflow._core.tensor import Tensor
from jaxflow._publish.overrides import disabled

__all__ = ["DTensor", "distribute_tensor"]

_INSTEAD = " is not supported: there is one process, whose devices JAX shares a program out to"


class DTensor(Tensor):
    """A tensor spread over processes; it cannot be made.

    Raises:
        NotImplementedError: when one is made.
    """

    __torch_function__ = disabled  # so that no public function needs to look for overrides

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"torch.distributed.tensor.DTensor{_INSTEAD}")

    @staticmethod
    def from_local(*args: Any, **kwargs: Any) -> NoReturn:
        """Raises NotImplementedError: there is one process."""
        raise NotImplementedError(f"torch.distributed.tensor.DTensor.from_local(){_INSTEAD}")


def distribute_tensor(tensor: Tensor, device_mesh: Any = None, placements: Any = None, *,
                      src_data_rank: int | None = 0) -> NoReturn:
    """Raises NotImplementedError: there is one process."""
    raise NotImplementedError(f"torch.distributed.tensor.distribute_tensor(){_INSTEAD}")

"""``DeviceMesh``: the processes of a world as an array with named dimensions; here all of its sizes are 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from jaxflow._core.dtype import int32
from jaxflow._core.tensor import Tensor
from jaxflow._functions import tensor, zeros

from ._world import ProcessGroup, init_process_group, is_initialized, new_group

__all__ = ["DeviceMesh", "init_device_mesh"]


class DeviceMesh:
    """An array of the ranks of processes, whose dimensions may have names.

    Args:
        device_type: ``"cpu"``, ``"cuda"``, ...
        mesh: the ranks, as a tensor or nested lists of integers. The world is one process: all of them are 0.
        mesh_dim_names: a name for each dimension.

    Raises:
        RuntimeError: for more or other ranks than the world has, or names that do not fit.
        ValueError: where there is no world, and nobody says how large it is.

    Example:
        >>> from jaxflow.distributed.device_mesh import DeviceMesh
        >>> torch.distributed.init_process_group("gloo", rank=0, world_size=1)
        >>> mesh = DeviceMesh("cpu", [[0]], mesh_dim_names=("data", "model"))
        >>> mesh["data"].size(), mesh.get_local_rank("model")
        (1, 0)
        >>> torch.distributed.destroy_process_group()
    """

    def __init__(self, device_type: str, mesh: Any, *, mesh_dim_names: Sequence[str] | None = None) -> None:
        ranks = mesh if isinstance(mesh, Tensor) else tensor(mesh)
        shape = tuple(ranks.shape)
        _check(shape, mesh_dim_names)
        if ranks.numel() != 1 or ranks.item() != 0:
            raise RuntimeError(f"The mesh has the ranks {ranks.tolist()}, and the world has the rank 0 alone")
        if not is_initialized():
            init_process_group()
        self.device_type = device_type
        self.mesh_dim_names = None if mesh_dim_names is None else tuple(mesh_dim_names)
        self._shape = shape
        self._groups = tuple(new_group([0]) for _ in shape)

    @staticmethod
    def from_group(group: ProcessGroup, device_type: str) -> DeviceMesh:
        """The mesh of one dimension that a group makes up."""
        return DeviceMesh(device_type, list(range(group.size())))

    @property
    def mesh(self) -> Tensor:
        """The ranks, an int32 tensor."""
        return zeros(self._shape, dtype=int32)

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each dimension."""
        return self._shape

    @property
    def ndim(self) -> int:
        """How many dimensions there are."""
        return len(self._shape)

    def size(self, mesh_dim: int | None = None) -> int:
        """How many processes there are, in all or along a dimension."""
        return math.prod(self._shape) if mesh_dim is None else self._shape[mesh_dim]

    def get_rank(self) -> int:
        """The number of this process in the world."""
        return 0

    def get_local_rank(self, mesh_dim: int | str | None = None) -> int:
        """The place of this process along a dimension."""
        self._dim(mesh_dim)
        return 0

    def get_coordinate(self) -> tuple[int, ...]:
        """The place of this process along each dimension."""
        return (0,) * self.ndim

    def get_group(self, mesh_dim: int | str | None = None) -> ProcessGroup:
        """The group of the processes along a dimension."""
        return self._groups[self._dim(mesh_dim)]

    def get_all_groups(self) -> list[ProcessGroup]:
        """The groups of all dimensions."""
        return list(self._groups)

    def _dim(self, mesh_dim: int | str | None) -> int:
        """The number of a dimension."""
        if mesh_dim is None:
            if self.ndim > 1:
                raise RuntimeError(f"Found the DeviceMesh have {self.ndim} dimensions: `mesh_dim` needs to "
                                   "be specified when device_mesh.ndim > 1.")
            return 0
        if isinstance(mesh_dim, str):
            if self.mesh_dim_names is None:
                raise KeyError("No `mesh_dim_names` found.")
            if mesh_dim not in self.mesh_dim_names:
                raise KeyError(f"Mesh dimension '{mesh_dim}' does not exist. Available mesh dimensions are: "
                               f"mesh_dim_names={self.mesh_dim_names}")
            return self.mesh_dim_names.index(mesh_dim)
        return range(self.ndim)[mesh_dim]

    def __getitem__(self, mesh_dim_names: str | tuple[str, ...]) -> DeviceMesh:
        """The mesh of some of the dimensions, by name."""
        if self.mesh_dim_names is None:
            raise RuntimeError("Cannot slice a DeviceMesh without mesh_dim_names!")
        names = (mesh_dim_names,) if isinstance(mesh_dim_names, str) else tuple(mesh_dim_names)
        if not set(names) <= set(self.mesh_dim_names):
            raise KeyError(f"Invalid mesh_dim_names {names} specified. Valid mesh_dim_names are "
                           f"{list(self.mesh_dim_names)}.")
        return DeviceMesh(self.device_type, zeros((1,) * len(names), dtype=int32), mesh_dim_names=names)

    def __enter__(self) -> DeviceMesh:
        return self

    def __exit__(self, *raised: object) -> None:
        """Nothing changes within."""

    def _key(self) -> tuple:
        return self.device_type, self._shape, self.mesh_dim_names

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceMesh) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        sizes = f"({', '.join('1' for _ in self._shape)}{',' * (self.ndim == 1)})"
        if self.mesh_dim_names is not None:
            sizes = f"({', '.join(f'{name}=1' for name in self.mesh_dim_names)})"
        strides = f"({', '.join('()' for _ in self._shape)}{',' * (self.ndim == 1)})"
        return f"DeviceMesh({sizes}, '{self.device_type}', stride={strides})"


def _check(shape: tuple[int, ...], mesh_dim_names: Sequence[str] | None) -> None:
    """Refuse names that do not fit the shape, and more ranks than there are."""
    if mesh_dim_names is not None and len(set(mesh_dim_names)) != len(mesh_dim_names):
        raise RuntimeError("Each mesh_dim_name must be unique. Found repeated mesh_dim_name in "
                           f"mesh_dim_names {tuple(mesh_dim_names)}")
    if mesh_dim_names is not None and len(mesh_dim_names) != len(shape):
        raise RuntimeError("mesh_shape and mesh_dim_names should have same length! Found "
                           f"len(mesh_dim_names): {len(mesh_dim_names)} and len(mesh_shape):{len(shape)}.")
    if math.prod(shape) > 1:
        raise RuntimeError("Mesh should not be bigger than default world size 1, but found "
                           f"{math.prod(shape)} ranks!")


def init_device_mesh(device_type: str, mesh_shape: tuple[int, ...], *,
                     mesh_dim_names: tuple[str, ...] | None = None) -> DeviceMesh:
    """The mesh of the whole world in that shape; the world is made from the environment where there is none.

    Args:
        device_type: ``"cpu"``, ``"cuda"``, ..., without an index.
        mesh_shape: the size of each dimension. The world is one process: all of them are 1.
        mesh_dim_names: a name for each dimension.

    Returns:
        The mesh.

    Raises:
        RuntimeError: for more processes than there are, names that do not fit, and a device with an index.
        ValueError: where there is no world, and nobody says how large it is.

    Example:
        >>> torch.distributed.init_process_group("gloo", rank=0, world_size=1)
        >>> torch.distributed.device_mesh.init_device_mesh("cpu", (1,), mesh_dim_names=("data",)).size()
        1
        >>> torch.distributed.destroy_process_group()
    """
    if not device_type.isalpha():
        raise RuntimeError(f"Device type with index is not supported but got {device_type}: pass device.type")
    _check(tuple(mesh_shape), mesh_dim_names)
    return DeviceMesh(device_type, zeros(tuple(mesh_shape), dtype=int32), mesh_dim_names=mesh_dim_names)

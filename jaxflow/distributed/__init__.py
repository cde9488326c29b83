"""``torch.distributed`` for a world of one process.

Programs written for several processes run here as the only one of them: groups, ranks, collectives with
PyTorch's checks. More than one process is refused when the group is made, with what to do. Several devices
are one program's affair in JAX, not several processes'.
"""

import importlib as _importlib

from . import rpc as rpc
from ._collectives import Work as Work
from ._collectives import all_gather as all_gather
from ._collectives import all_gather_into_tensor as all_gather_into_tensor
from ._collectives import all_gather_single as all_gather_single
from ._collectives import all_reduce as all_reduce
from ._collectives import all_to_all as all_to_all
from ._collectives import all_to_all_single as all_to_all_single
from ._collectives import barrier as barrier
from ._collectives import broadcast as broadcast
from ._collectives import gather as gather
from ._collectives import irecv as irecv
from ._collectives import isend as isend
from ._collectives import monitored_barrier as monitored_barrier
from ._collectives import recv as recv
from ._collectives import reduce as reduce
from ._collectives import reduce_scatter as reduce_scatter
from ._collectives import reduce_scatter_single as reduce_scatter_single
from ._collectives import reduce_scatter_tensor as reduce_scatter_tensor
from ._collectives import scatter as scatter
from ._collectives import send as send
from ._objects import all_gather_object as all_gather_object
from ._objects import broadcast_object_list as broadcast_object_list
from ._objects import gather_object as gather_object
from ._objects import scatter_object_list as scatter_object_list
from ._reductions import ReduceOp as ReduceOp
from ._world import Backend as Backend
from ._world import GroupMember as GroupMember
from ._world import ProcessGroup as ProcessGroup
from ._world import destroy_process_group as destroy_process_group
from ._world import get_backend as get_backend
from ._world import get_global_rank as get_global_rank
from ._world import get_group_rank as get_group_rank
from ._world import get_node_local_rank as get_node_local_rank
from ._world import get_process_group_ranks as get_process_group_ranks
from ._world import get_rank as get_rank
from ._world import get_world_size as get_world_size
from ._world import group as group
from ._world import init_process_group as init_process_group
from ._world import is_available as is_available
from ._world import is_gloo_available as is_gloo_available
from ._world import is_initialized as is_initialized
from ._world import is_mpi_available as is_mpi_available
from ._world import is_nccl_available as is_nccl_available
from ._world import is_torchelastic_launched as is_torchelastic_launched
from ._world import new_group as new_group


def __getattr__(name: str) -> object:
    """Meshes, which are loaded when they are first used."""
    if name in ("device_mesh", "DeviceMesh", "init_device_mesh"):
        module = _importlib.import_module(f"{__name__}.device_mesh")
        return module if name == "device_mesh" else getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

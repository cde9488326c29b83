"""Modules whose parameters are spread over processes, by name."""

from .fully_sharded_data_parallel import FSDPModule as FSDPModule
from .fully_sharded_data_parallel import FullyShardedDataParallel as FullyShardedDataParallel
from .fully_sharded_data_parallel import fully_shard as fully_shard

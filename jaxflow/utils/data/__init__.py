"""Datasets, samplers and the DataLoader."""

import importlib as _importlib

from ._utils.collate import default_collate as default_collate
from ._utils.collate import default_convert as default_convert
from ._utils.worker import get_worker_info as get_worker_info
from .dataloader import DataLoader as DataLoader
from .dataloader import _DatasetKind as _DatasetKind
from .dataset import ChainDataset as ChainDataset
from .dataset import ConcatDataset as ConcatDataset
from .dataset import Dataset as Dataset
from .dataset import IterableDataset as IterableDataset
from .dataset import StackDataset as StackDataset
from .dataset import Subset as Subset
from .dataset import TensorDataset as TensorDataset
from .dataset import random_split as random_split
from .distributed import DistributedSampler as DistributedSampler
from .sampler import BatchSampler as BatchSampler
from .sampler import RandomSampler as RandomSampler
from .sampler import Sampler as Sampler
from .sampler import SequentialSampler as SequentialSampler
from .sampler import SubsetRandomSampler as SubsetRandomSampler
from .sampler import WeightedRandomSampler as WeightedRandomSampler

_PIPES = ("IterDataPipe", "MapDataPipe", "functional_datapipe")


def __getattr__(name: str) -> object:
    """Pipes, which are loaded when they are used."""
    if name == "datapipes":
        return _importlib.import_module(f"{__name__}.datapipes")
    if name in _PIPES:
        return getattr(_importlib.import_module(f"{__name__}.datapipes.datapipe"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""Wrappers for training on several devices, which hold a model under the name ``module``."""

from .data_parallel import DataParallel as DataParallel
from .distributed import DistributedDataParallel as DistributedDataParallel

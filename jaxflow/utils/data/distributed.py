"""The sampler that gives each of several replicas its share of a dataset."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from jaxflow import _functions as functions
from jaxflow import distributed
from jaxflow._core.generator import Generator

from .sampler import Sampler


class DistributedSampler(Sampler[int]):
    """The indices of one replica: every ``num_replicas``-th of a shuffle that all agree on.

    The shares have one length: the dataset's end is dropped, or its beginning repeated, to fit.

    Raises:
        ValueError: for a ``rank`` out of range; and where ``num_replicas`` or ``rank`` is not given and
            there is no process group (`jaxflow.distributed`).
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None:
            num_replicas = distributed.get_world_size()
        if rank is None:
            rank = distributed.get_rank()
        if rank >= num_replicas or rank < 0:
            raise ValueError(
                f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]"
            )
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        if drop_last and len(dataset) % num_replicas:
            self.num_samples = math.ceil((len(dataset) - num_replicas) / num_replicas)
        else:
            self.num_samples = math.ceil(len(dataset) / num_replicas)
        self.total_size = self.num_samples * num_replicas
        self.shuffle = shuffle
        self.seed = seed

    def __iter__(self) -> Iterator[int]:
        n = len(self.dataset)
        if self.shuffle:
            generator = Generator()
            generator.manual_seed(self.seed + self.epoch)
            indices = functions.randperm(n, generator=generator).tolist()
        else:
            indices = list(range(n))
        if self.total_size > n:
            indices *= math.ceil(self.total_size / n)
        return iter(indices[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch comes next, so that every epoch shuffles differently."""
        self.epoch = epoch

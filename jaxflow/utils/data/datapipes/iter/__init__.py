"""Pipes that are iterated."""

from ..datapipe import IterDataPipe as IterDataPipe
from .pipes import BatcherIterDataPipe as Batcher
from .pipes import CollatorIterDataPipe as Collator
from .pipes import ConcaterIterDataPipe as Concater
from .pipes import FilterIterDataPipe as Filter
from .pipes import IterableWrapperIterDataPipe as IterableWrapper
from .pipes import MapperIterDataPipe as Mapper
from .pipes import ZipperIterDataPipe as Zipper

__all__ = ["Batcher", "Collator", "Concater", "Filter", "IterDataPipe", "IterableWrapper", "Mapper", "Zipper"]

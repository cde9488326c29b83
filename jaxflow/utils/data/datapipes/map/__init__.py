"""Pipes with samples by index."""

from ..datapipe import MapDataPipe as MapDataPipe
from .pipes import MapperMapDataPipe as Mapper
from .pipes import SequenceWrapperMapDataPipe as SequenceWrapper

__all__ = ["MapDataPipe", "Mapper", "SequenceWrapper"]

"""A sequence as a pipe, and a function of each sample."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..datapipe import MapDataPipe, functional_datapipe


class SequenceWrapperMapDataPipe(MapDataPipe):
    """What a sequence or mapping has; of a deep copy, where it can be copied.

    Args:
        sequence: what is indexed.
        deepcopy: whether it is copied.
    """

    def __init__(self, sequence: Sequence | Mapping, deepcopy: bool = True) -> None:
        self.sequence = sequence
        if deepcopy:
            try:
                self.sequence = copy.deepcopy(sequence)
            except TypeError:
                warnings.warn("The input sequence can not be deepcopied: changes in place are of its own.",
                              stacklevel=2)

    def __getitem__(self, index: Any) -> Any:
        return self.sequence[index]

    def __len__(self) -> int:
        return len(self.sequence)


@functional_datapipe("map")
class MapperMapDataPipe(MapDataPipe):
    """What a function returns for each sample.

    Args:
        datapipe: the source.
        fn: the function.
    """

    def __init__(self, datapipe: Any, fn: Callable) -> None:
        self.datapipe, self.fn = datapipe, fn

    def __getitem__(self, index: Any) -> Any:
        return self.fn(self.datapipe[index])

    def __len__(self) -> int:
        return len(self.datapipe)

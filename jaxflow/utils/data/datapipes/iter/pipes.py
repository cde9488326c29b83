"""Pipes over one or more others."""

from __future__ import annotations

import copy
import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Any

from ..._utils.collate import default_collate
from ..datapipe import IterDataPipe, functional_datapipe


def _length(pipe: Any, of: object) -> int:
    if isinstance(of, Sized):
        return len(of)
    raise TypeError(f"{type(pipe).__name__} instance doesn't have valid length")


class IterableWrapperIterDataPipe(IterDataPipe):
    """What an iterable gives; a deep copy of it, where it can be copied, for each iteration.

    Args:
        iterable: what is iterated.
        deepcopy: whether it is copied.
    """

    def __init__(self, iterable: Iterable, deepcopy: bool = True) -> None:
        self.iterable, self.deepcopy = iterable, deepcopy

    def __iter__(self) -> Iterator:
        source = self.iterable
        if self.deepcopy:
            try:
                source = copy.deepcopy(source)
            except TypeError:  # a generator, say
                warnings.warn("The input iterable can not be deepcopied: changes in place are of its own.",
                              stacklevel=2)
        yield from source

    def __len__(self) -> int:
        return _length(self, self.iterable)


def _column(fn: Callable, input_col: Any, sample: Any) -> Any:
    """What a function returns for a sample, or for one or more of its columns."""
    if input_col is None:
        return fn(sample)
    if isinstance(input_col, (list, tuple)):
        return fn(*(sample[column] for column in input_col))
    return fn(sample[input_col])


@functional_datapipe("map")
class MapperIterDataPipe(IterDataPipe):
    """What a function returns for each sample.

    Args:
        datapipe: the source.
        fn: the function.
        input_col: a column of the sample that is its argument, or several; None for the sample.
        output_col: the column that gets the result, -1 for a new one behind; None for the first input column,
            in which case further ones are left out.

    Raises:
        ValueError: for ``output_col`` without ``input_col``, or several of it.
    """

    def __init__(self, datapipe: Iterable, fn: Callable, input_col: Any = None,
                 output_col: Any = None) -> None:
        if input_col is None and output_col is not None:
            raise ValueError("`output_col` must be None when `input_col` is None.")
        if isinstance(output_col, (list, tuple)):
            if len(output_col) > 1:
                raise ValueError("`output_col` must be a single-element list or tuple")
            output_col = output_col[0]
        self.datapipe, self.fn, self.input_col, self.output_col = datapipe, fn, input_col, output_col

    def __iter__(self) -> Iterator:
        return map(self._mapped, self.datapipe)

    def _mapped(self, sample: Any) -> Any:
        result = _column(self.fn, self.input_col, sample)
        if self.input_col is None:
            return result
        changed = list(sample) if isinstance(sample, tuple) else sample
        several = isinstance(self.input_col, (list, tuple))
        if self.output_col is None:
            first, *others = self.input_col if several else [self.input_col]
            changed[first] = result
            for column in sorted(others, reverse=True):
                del changed[column]
        elif self.output_col == -1:
            changed.append(result)
        else:
            changed[self.output_col] = result
        return tuple(changed) if isinstance(sample, tuple) else changed

    def __len__(self) -> int:
        return _length(self, self.datapipe)


@functional_datapipe("collate")
class CollatorIterDataPipe(MapperIterDataPipe):
    """Batches of tensors of lists of samples.

    Args:
        datapipe: the source, of lists of samples.
        collate_fn: what puts samples together; default `default_collate`.
    """

    def __init__(self, datapipe: Iterable, collate_fn: Callable | None = None) -> None:
        super().__init__(datapipe, default_collate if collate_fn is None else collate_fn)


@functional_datapipe("filter")
class FilterIterDataPipe(IterDataPipe):
    """The samples for which a function returns True.

    Args:
        datapipe: the source.
        filter_fn: the function.
        input_col: a column of the sample that is its argument, or several; None for the sample.

    Raises:
        ValueError: when iterated, where the function returns no truth value.
    """

    def __init__(self, datapipe: Iterable, filter_fn: Callable, input_col: Any = None) -> None:
        self.datapipe, self.filter_fn, self.input_col = datapipe, filter_fn, input_col

    def __iter__(self) -> Iterator:
        for sample in self.datapipe:
            keep = _column(self.filter_fn, self.input_col, sample)
            if not isinstance(keep, bool):
                raise ValueError("Boolean output is required for `filter_fn` of FilterIterDataPipe, got",
                                 type(keep))
            if keep:
                yield sample


@functional_datapipe("batch")
class BatcherIterDataPipe(IterDataPipe):
    """Lists of so many samples; the last one may be shorter.

    Args:
        datapipe: the source.
        batch_size: how many.
        drop_last: whether a shorter last one is left out.
        wrapper_class: what a list is made into.

    Raises:
        AssertionError: for fewer than one.
    """

    def __init__(self, datapipe: Iterable, batch_size: int, drop_last: bool = False,
                 wrapper_class: Callable[[list], Any] = list) -> None:
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        self.datapipe, self.batch_size, self.drop_last = datapipe, batch_size, drop_last
        self.wrapper_class = wrapper_class

    def __iter__(self) -> Iterator:
        samples = iter(self.datapipe)
        while batch := list(itertools.islice(samples, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield self.wrapper_class(batch)

    def __len__(self) -> int:
        count = _length(self, self.datapipe)
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


class _Several(IterDataPipe):
    """Of several sources.

    Args:
        datapipes: the sources.

    Raises:
        ValueError: for none.
        TypeError: for what is no pipe.
    """

    def __init__(self, *datapipes: IterDataPipe) -> None:
        if not datapipes:
            raise ValueError(f"Expected at least one DataPipe for {type(self).__name__}, but got nothing")
        if not all(isinstance(pipe, IterDataPipe) for pipe in datapipes):
            raise TypeError(f"Expected all inputs to be `IterDataPipe` for {type(self).__name__}.")
        self.datapipes = datapipes

    def _lengths(self) -> list[int]:
        return [_length(self, pipe) for pipe in self.datapipes]


@functional_datapipe("concat")
class ConcaterIterDataPipe(_Several):
    """One source after the other."""

    def __iter__(self) -> Iterator:
        return itertools.chain.from_iterable(self.datapipes)

    def __len__(self) -> int:
        return sum(self._lengths())


@functional_datapipe("zip")
class ZipperIterDataPipe(_Several):
    """Tuples of a sample of each source, until one has no more."""

    def __iter__(self) -> Iterator:
        return zip(*self.datapipes)

    def __len__(self) -> int:
        return min(self._lengths())

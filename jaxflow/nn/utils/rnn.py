"""Sequences of different lengths, for recurrent networks: padded to one length, or packed.

A packed batch holds only what is there: of all sequences, the longest first, the first elements, then the
second ones, and so on. How long each is decides the shape of the data, so lengths are needed on the host,
and every new total length is a new shape to XLA.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxflow import _functions as functions
from jaxflow._core import device as devices
from jaxflow._core import dtype as dtypes
from jaxflow._core.levels import LEVELS
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._ops.sequences import (
    _pack_padded_sequence,
    _pad_packed_sequence,
    _pad_sequence,
    padded_places,
)
from jaxflow._views.reading import shown_on_host
from jaxflow.utils._host import from_host


class PackedSequence_(NamedTuple):
    """The fields of `PackedSequence`."""

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(PackedSequence_):
    """A batch of sequences step by step, each step with those that are that long.

    Made by `pack_padded_sequence` and `pack_sequence`; recurrent networks take and return it.

    Args:
        data: the elements, ``(sum of lengths, *)``.
        batch_sizes: how many sequences reach each step; int64, on the CPU.
        sorted_indices: which sequence stands at each place of the sorted batch; None where none was sorted.
        unsorted_indices: the inverse permutation.
    """

    def __new__(cls, data: Any, batch_sizes: Tensor | None = None, sorted_indices: Tensor | None = None,
                unsorted_indices: Tensor | None = None) -> PackedSequence:
        if batch_sizes is None:
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes should always be on CPU. Instances of PackedSequence should never be created "
                "manually. They should be instantiated by functions like pack_sequence and "
                "pack_padded_sequences in nn.utils.rnn")
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """With its data converted as `Tensor.to` does; the indices follow to its device."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        moved = (None if i is None else i.to(data.device) for i in self[2:])
        return type(self)(data, self.batch_sizes, *moved)

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """On a GPU."""
        return self.to(self.data.cuda(*args, **kwargs).device)

    def cpu(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """On the CPU."""
        return self.to(devices.device("cpu"), *args, **kwargs)

    def pin_memory(self) -> PackedSequence:
        """With its data in pinned memory, as `Tensor.pin_memory` has it."""
        return type(self)(self.data.pin_memory(), *self[1:])

    @property
    def is_cuda(self) -> bool:
        """Whether the data are on a GPU."""
        return self.data.is_cuda

    def is_pinned(self) -> bool:
        """Whether the data are in pinned memory."""
        return self.data.is_pinned()


def _conversion(name: str, dtype: Any) -> None:
    def convert(self: PackedSequence) -> PackedSequence:
        return self.to(dtype)

    convert.__name__, convert.__qualname__ = name, f"PackedSequence.{name}"
    convert.__doc__ = f"With its data as {dtype}."
    setattr(PackedSequence, name, convert)


for _name, _dtype in (("double", dtypes.float64), ("float", dtypes.float32), ("half", dtypes.float16),
                      ("long", dtypes.int64), ("int", dtypes.int32), ("short", dtypes.int16),
                      ("char", dtypes.int8), ("byte", dtypes.uint8)):
    _conversion(_name, _dtype)


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes one; None of None."""
    if permutation is None:
        return None
    known = shown_on_host(permutation)
    if known is not None:
        return from_host(np.argsort(known).astype(np.int64))
    places = functions.arange(permutation.numel(), device=permutation.device)
    return functions.empty_like(permutation).scatter_(0, permutation, places)


# ------------------------------------------------------------------------------------------ lengths


def _index(array: Any, like: Tensor) -> Tensor:
    t = from_host(np.asarray(array, np.int64))
    return t if like.device.type == "cpu" else t.to(like.device)


def _numbers(t: Tensor) -> np.ndarray:
    """The values of a tensor of lengths, which are waited for."""
    known = shown_on_host(t)
    return np.asarray(t.tolist(), np.int64) if known is None else known


class Steps:
    """Where the elements of a packed batch stand in the padded one, and the other way round.

    Args:
        batch_sizes: how many sequences reach each step, none more than the step before.
    """

    def __init__(self, batch_sizes: np.ndarray) -> None:
        self.sizes = np.asarray(batch_sizes, np.int64)
        self.count, self.batch = len(self.sizes), int(self.sizes[0])
        self.there = np.arange(self.batch) < self.sizes[:, None]
        self.lengths = self.there.sum(0)

    def in_data(self, absent: int) -> np.ndarray:
        """Row of the data for each step and sequence, ``absent`` behind its end."""
        first = np.cumsum(self.sizes) - self.sizes
        return np.where(self.there, first[:, None] + np.arange(self.batch), absent)

    def in_padded(self) -> np.ndarray:
        """For each row of the data its place among steps and sequences, counted through."""
        return np.flatnonzero(self.there)

    def turned(self) -> np.ndarray:
        """The places of all steps and sequences with each sequence turned round within its length."""
        step = np.arange(self.count)[:, None]
        step = np.where(self.there, self.lengths - 1 - step, step)
        return step * self.batch + np.arange(self.batch)

    def last(self) -> np.ndarray:
        """The place of each sequence's last element."""
        return (self.lengths - 1) * self.batch + np.arange(self.batch)


def unpacked(packed: PackedSequence) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """The padded batch ``(T, N, *)`` in packed order (behind an end is anything), and its places.

    Those are, among all steps and sequences counted through, where each sequence turned round within its
    length has its elements, and where each has its last one.
    """
    steps, data = Steps(_numbers(packed.batch_sizes)), packed.data
    padded = apply(_pad_packed_sequence, (data, _index(steps.in_data(0), data)), (0.0,))
    return padded, (_index(steps.turned(), data), _index(steps.last(), data))


def packed_like(packed: PackedSequence, padded: Tensor) -> PackedSequence:
    """``padded``, a batch ``(T, N, *)`` in packed order, packed as ``packed`` is."""
    places = _index(Steps(_numbers(packed.batch_sizes)).in_padded(), padded)
    return PackedSequence(apply(_pack_padded_sequence, (padded, places)), *packed[1:])


# ------------------------------------------------------------------------------------------- packing

_UNSORTED = (
    "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
    "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you "
    "do not need ONNX exportability."
)


def pack_padded_sequence(input: Tensor, lengths: Tensor | Sequence[int], batch_first: bool = False,
                         enforce_sorted: bool = True) -> PackedSequence:
    """A padded batch without its padding.

    The elements are kept step by step: those of the first step of all sequences, then those of the second
    step of all that are so long, and so on.

    Args:
        input: ``(T, N, *)``, or with ``batch_first`` ``(N, T, *)``, of any dtype.
        lengths: of each sequence, from 1 to ``T``: N integers; a tensor must be on the CPU.
        batch_first: whether the first dimension is the batch.
        enforce_sorted: refuse a batch that does not begin with the longest sequence; else it is sorted.

    Returns:
        A `PackedSequence`: its ``data`` is ``(sum(lengths), *)`` in the input's dtype, its ``batch_sizes``
        says how many sequences have each step; if the batch was sorted, two tensors of indices say how.

    Raises:
        RuntimeError: for lengths that do not fit, or are not sorted.

    Example:
        >>> batch = torch.tensor([[4, 0, 0], [1, 2, 3]])
        >>> from jaxflow.nn.utils.rnn import pack_padded_sequence
        >>> packed = pack_padded_sequence(batch, [1, 3], batch_first=True, enforce_sorted=False)
        >>> packed.data, packed.batch_sizes, packed.sorted_indices
        (tensor([1, 4, 2, 3]), tensor([2, 1, 1]), tensor([1, 0]))
    """
    sizes = lengths if isinstance(lengths, Tensor) else functions.tensor(
        [int(n) for n in lengths], dtype=dtypes.int64)
    if sizes.dim() != 1 or sizes.device.type != "cpu":
        raise RuntimeError(
            f"'lengths' argument should be a 1D CPU int64 tensor, but got {sizes.dim()}D "
            f"{sizes.device.type} {sizes.dtype.scalar_name} tensor")
    counts = _numbers(sizes).astype(np.int64)
    order = None
    if not enforce_sorted:
        order = np.argsort(-counts, kind="stable")
        counts = counts[order]
        input = input.index_select(0 if batch_first else 1, _index(order, input))
    _check_lengths(input, counts, batch_first)
    steps = Steps((counts > np.arange(counts[0])[:, None]).sum(1))
    places = steps.in_padded()
    if batch_first:
        places = places % steps.batch * input.shape[1] + places // steps.batch
    data = apply(_pack_padded_sequence, (input, _index(places, input)))
    if order is None:
        return PackedSequence(data, from_host(steps.sizes))
    return PackedSequence(data, from_host(steps.sizes), _index(order, input),
                          _index(np.argsort(order), input))


def _check_lengths(input: Tensor, counts: np.ndarray, batch_first: bool) -> None:
    input.size(1)
    if input.numel() == 0:
        raise RuntimeError("Cannot pack empty tensors.")
    batch, most = input.shape[:2] if batch_first else input.shape[1::-1]
    if len(counts) != batch:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(counts)} (batch_size={batch})")
    if counts[-1] <= 0 or counts.min() <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0")
    if (np.diff(counts) > 0).any():
        raise RuntimeError(_UNSORTED)
    if counts[0] > most:
        raise RuntimeError(
            f"Expected lengths of at most {most}, the padded length, but got {int(counts[0])}")


def pad_packed_sequence(sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0,
                        total_length: int | None = None) -> tuple[Tensor, Tensor]:
    """A packed batch with padding, in its original order, and the lengths.

    Args:
        sequence: what `pack_padded_sequence` made.
        batch_first: whether the batch is to be the first dimension; else it is the second.
        padding_value: what stands behind the ends.
        total_length: how long to make it, at least as the longest sequence (default).

    Raises:
        ValueError: for a smaller ``total_length``.
    """
    steps = Steps(_numbers(sequence.batch_sizes))
    length = steps.count
    if total_length is not None:
        if total_length < length:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {length}")
        length = total_length
    rows = np.full((length, steps.batch), -1)
    rows[: steps.count] = steps.in_data(-1)
    lengths = steps.lengths
    if sequence.unsorted_indices is not None:
        order = _numbers(sequence.unsorted_indices)
        rows, lengths = rows[:, order], lengths[order]
    if batch_first:
        rows = rows.T
    data = sequence.data
    padded = apply(_pad_packed_sequence, (data, _index(rows, data)), (padding_value,))
    return padded, from_host(lengths.astype(np.int64))


# ------------------------------------------------------------------------------------------ padding


def pad_sequence(sequences: Tensor | Sequence[Tensor], batch_first: bool = False, padding_value: float = 0.0,
                 padding_side: str = "right") -> Tensor:
    """Sequences of different lengths as one tensor.

    Args:
        sequences: tensors ``(L, *)`` alike but for ``L``, and the first one's dtype for all.
        batch_first: give ``(N, longest, *)`` instead of ``(longest, N, *)``.
        padding_value: what fills the shorter ones up.
        padding_side: on which side, ``"right"`` or ``"left"``.

    Returns:
        A new tensor of the first sequence's dtype, ``(longest, N, *)``, or ``(N, longest, *)`` with
        ``batch_first``; ``N`` is the number of sequences.

    Raises:
        RuntimeError: for no sequences, or such as differ in more than their length.

    Example:
        >>> sequences = [torch.tensor([1, 2, 3]), torch.tensor([4])]
        >>> nn.utils.rnn.pad_sequence(sequences, batch_first=True, padding_value=-1)
        tensor([[ 1,  2,  3],
                [ 4, -1, -1]])
        >>> nn.utils.rnn.pad_sequence([torch.ones(3, 5), torch.ones(2, 5)]).shape
        torch.Size([3, 2, 5])
    """
    if isinstance(sequences, Tensor):
        sequences = sequences.unbind(0)
    elif not isinstance(sequences, Iterable):
        raise RuntimeError(
            "pad_sequence: Expected iterable for input sequences, but got arg of type: "
            f"{type(sequences)}")
    sequences = tuple(sequences)
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    if not (LEVELS or state.axes or any(t.requires_grad for t in sequences)):
        arrays = [shown_on_host(t) for t in sequences]
        if all(a is not None and a.dtype == arrays[0].dtype for a in arrays):
            shape, places = padded_places([a.shape for a in arrays], batch_first, padding_side)
            out = np.full(shape, padding_value, arrays[0].dtype)
            for place, a in zip(places, arrays):
                out[place] = a
            return from_host(out)
    return apply(_pad_sequence, sequences, (bool(batch_first), padding_value, padding_side))


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The sequences that `pad_sequence` put together, of these lengths."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [row[: int(n)] for row, n in zip(padded_sequences, lengths, strict=False)]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Sequences of different lengths, packed; see `pad_sequence` and `pack_padded_sequence`."""
    lengths = [int(s.size(0)) for s in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences that `pack_sequence` put together."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)

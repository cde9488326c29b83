"""A mask of attention as lists of blocks."""

from __future__ import annotations

import itertools
import math
from typing import Any, Self

from jaxflow._core.tensor import Tensor
from jaxflow._functions import broadcast_shapes

from . import _blocks
from ._positions import _HOME, MaskMod, _sliced_mask_mod_error, noop_mask

DEFAULT_SIZE = 128

#: The size of blocks of a mask that is one block, whatever the lengths are.
LARGE_SIZE = 1 << 30

_TENSORS = ("kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices", "q_num_blocks",
            "q_indices", "full_q_num_blocks", "full_q_indices", "dq_write_order", "dq_write_order_full",
            "dq_kv_order")
_OTHERS = ("seq_lengths", "BLOCK_SIZE", "mask_mod", "dq_kv_order_spt")


class BlockMask:
    """Which blocks of the scores count in `flex_attention`, and a function that says what counts in them.

    Queries and keys are cut into blocks. For each row of blocks the columns that count are listed, in two
    lists: in a block of the first (``kv_indices``) what ``mask_mod`` says counts, in one of the second
    (``full_kv_indices``) everything. What is in neither is masked. Make one with `create_block_mask`, or with
    `from_kv_blocks` from lists of your own. From Dong and others, 2024, "Flex Attention",
    https://arxiv.org/abs/2412.05496.

    Args:
        seq_lengths: the numbers of queries and of keys.
        kv_num_blocks: int32 ``(B, H, rows)``, how many columns are listed for each row of blocks.
        kv_indices: int32 ``(B, H, rows, columns)``, the listed columns; the rest has no meaning.
        full_kv_num_blocks: likewise, of blocks without a mask; None for no such list.
        full_kv_indices: likewise.
        q_num_blocks: for each column the number of its rows, int32 ``(B, H, columns)``, or None.
        q_indices: for each column its rows, or None.
        full_q_num_blocks: likewise, of blocks without a mask.
        full_q_indices: likewise.
        BLOCK_SIZE: how many queries and keys a block has.
        mask_mod: ``(b, h, q_idx, kv_idx)``, tensors without dimensions, to a bool one.
        dq_write_order: in what turn blocks add to gradients of queries. Kept, and used by no kernel here.
        dq_write_order_full: likewise, of blocks without a mask.
        dq_kv_order: the order of columns that these are made from.
        dq_kv_order_spt: likewise: True for descending, False for ascending.

    Raises:
        RuntimeError: for ``kv_indices`` of fewer than two dimensions.
        AssertionError: for counts without columns, or columns without counts.
        ValueError: for ``dq_write_order_full`` alone.

    Example:
        >>> from jaxflow.nn.attention.flex_attention import BlockMask
        >>> counts, columns = torch.tensor([[[1, 2]]]), torch.tensor([[[[0, 1], [0, 1]]]])
        >>> print(BlockMask.from_kv_blocks(counts, columns, BLOCK_SIZE=16))
        BlockMask(shape=(1, 1, 32, 32), sparsity=25.00%,
        (0, 0)
        ██
        ████
        )
    """

    _TENSOR_ATTRS = list(_TENSORS)
    _CONTEXT_ATTRS = list(_OTHERS)

    #: The function that all lists were made from, as `create_block_mask` makes them.
    _made_of: MaskMod | None = None

    def __init__(
        self,
        seq_lengths: tuple[int, int],
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None,
        full_kv_indices: Tensor | None,
        q_num_blocks: Tensor | None,
        q_indices: Tensor | None,
        full_q_num_blocks: Tensor | None,
        full_q_indices: Tensor | None,
        BLOCK_SIZE: tuple[int, int] = (DEFAULT_SIZE, DEFAULT_SIZE),
        mask_mod: MaskMod = noop_mask,
        *,
        dq_write_order: Tensor | None = None,
        dq_write_order_full: Tensor | None = None,
        dq_kv_order: Tensor | None = None,
        dq_kv_order_spt: bool | None = None,
    ) -> None:
        if kv_num_blocks is None or kv_indices is None:
            raise AssertionError("kv_num_blocks and kv_indices must be provided")
        _check_lists(kv_indices, full_kv_num_blocks, full_kv_indices)
        if (full_q_num_blocks is None) != (full_q_indices is None):
            raise AssertionError("full_q_num_blocks and full_q_indices must be both provided or omitted")
        if dq_write_order_full is not None and dq_write_order is None:
            raise ValueError("dq_write_order_full requires dq_write_order")
        self.seq_lengths = seq_lengths
        self.kv_num_blocks = kv_num_blocks
        self.kv_indices = kv_indices
        self.full_kv_num_blocks = full_kv_num_blocks
        self.full_kv_indices = full_kv_indices
        self.q_num_blocks = q_num_blocks
        self.q_indices = q_indices
        self.full_q_num_blocks = full_q_num_blocks
        self.full_q_indices = full_q_indices
        self.dq_write_order = dq_write_order
        self.dq_write_order_full = dq_write_order_full
        self.dq_kv_order = dq_kv_order
        self.dq_kv_order_spt = dq_kv_order_spt
        self.BLOCK_SIZE = BLOCK_SIZE
        self.mask_mod = mask_mod

    @classmethod
    def from_kv_blocks(
        cls,
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None = None,
        full_kv_indices: Tensor | None = None,
        BLOCK_SIZE: int | tuple[int, int] = DEFAULT_SIZE,
        mask_mod: MaskMod | None = None,
        seq_lengths: tuple[int, int] | None = None,
        compute_q_blocks: bool = True,
        *,
        dq_write_order: Tensor | None = None,
        dq_write_order_full: Tensor | None = None,
        dq_kv_order: Tensor | bool | None = None,
    ) -> Self:
        """A block mask from the columns that are listed for each row of blocks.

        Args:
            kv_num_blocks: ``(B, H, rows)``, how many columns are listed for each row.
            kv_indices: ``(B, H, rows, columns)``, the listed columns, and then what has no meaning.
            full_kv_num_blocks: likewise, of blocks in which everything counts.
            full_kv_indices: likewise.
            BLOCK_SIZE: how many queries and keys a block has; one number for both.
            mask_mod: what counts in the blocks of the first list; by default everything.
            seq_lengths: the numbers of queries and of keys; by default all that the blocks hold.
            compute_q_blocks: also list the rows of each column.
            dq_write_order: kept as it is, like the next two.
            dq_write_order_full: likewise.
            dq_kv_order: likewise: a tensor, or a bool for ``dq_kv_order_spt``.

        Returns:
            A block mask.

        Raises:
            RuntimeError: for ``kv_indices`` of fewer than two dimensions.
            AssertionError: for counts without columns, or columns without counts.
            ValueError: for a ``dq_kv_order`` that is neither a bool nor a tensor.
        """
        _check_lists(kv_indices, full_kv_num_blocks, full_kv_indices)
        if dq_kv_order is not None and not isinstance(dq_kv_order, (bool, Tensor)):
            raise ValueError("dq_kv_order must be a bool, Tensor, or None")
        nothing = (None, None)
        rows = full_rows = nothing
        if compute_q_blocks:
            rows = _blocks.transposed(kv_num_blocks, kv_indices)
            if full_kv_num_blocks is not None:
                full_rows = _blocks.transposed(full_kv_num_blocks, full_kv_indices)
        if isinstance(BLOCK_SIZE, int):
            BLOCK_SIZE = (BLOCK_SIZE, BLOCK_SIZE)
        if seq_lengths is None:
            seq_lengths = (kv_indices.shape[-2] * BLOCK_SIZE[0], kv_indices.shape[-1] * BLOCK_SIZE[1])
        return cls(
            seq_lengths, kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices, *rows, *full_rows,
            BLOCK_SIZE=BLOCK_SIZE, mask_mod=noop_mask if mask_mod is None else mask_mod,
            dq_write_order=dq_write_order, dq_write_order_full=dq_write_order_full,
            dq_kv_order=dq_kv_order if isinstance(dq_kv_order, Tensor) else None,
            dq_kv_order_spt=dq_kv_order if isinstance(dq_kv_order, bool) else None,
        )

    # ------------------------------------------------------------------------------------- what it shows

    def as_tuple(self, flatten: bool = True) -> tuple[Any, ...]:
        """The lengths, the tensors, the sizes of blocks and the function, in the order of `from_kv_blocks`.

        Args:
            flatten: the two lengths, and the two sizes, each for itself instead of as a pair.

        Returns:
            A tuple of 17 entries, or of 15.
        """
        lengths, sizes = tuple(self.seq_lengths), tuple(self.BLOCK_SIZE)
        return (
            *(lengths if flatten else (lengths,)), *(getattr(self, name) for name in _TENSORS),
            self.dq_kv_order_spt, *(sizes if flatten else (sizes,)), self.mask_mod,
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of batches, of heads, of queries and of keys."""
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def numel(self) -> int:
        """How many elements the mask has, the masked ones among them."""
        return math.prod(self.shape)

    def sparsity(self) -> float:
        """How many percent of the elements are in blocks that do not count. Waits for the lists."""
        listed = self.kv_num_blocks.sum()
        if self.full_kv_num_blocks is not None:
            listed = listed + self.full_kv_num_blocks.sum()
        return 100 * (1 - listed.item() * self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1] / self.numel())

    def to_dense(self) -> Tensor:
        """Which blocks count: int32 ``(B, H, rows, columns)`` of ones and zeros."""
        dense = _blocks.dense_of(self.kv_num_blocks, self.kv_indices, self.kv_indices.shape[-1])
        if self.full_kv_num_blocks is None:
            return dense
        return dense | _blocks.dense_of(self.full_kv_num_blocks, self.full_kv_indices,
                                        self.full_kv_indices.shape[-1])

    def to_string(self, grid_size: int | tuple[int, int] = (20, 20), limit: int = 4) -> str:
        """The blocks as characters: full ones for what counts, spaces for what does not, shades for both.

        Args:
            grid_size: the most rows and columns of characters, of which each stands for as many blocks as
                needed; -1 for one character (written twice) a block.
            limit: how many batches and heads are shown.

        Returns:
            A text with a line for each row, below the indices of the batch and the head.
        """
        dense = self.to_dense().cpu().numpy()
        most = (grid_size, grid_size) if isinstance(grid_size, int) else grid_size
        down, across = (max(1, -(-n // m)) for n, m in zip(dense.shape[-2:], most, strict=True))
        places = list(itertools.product(*map(range, dense.shape[:-2])))
        shown = []
        for place in places if limit < 0 else places[:limit]:
            lines = [f"{place}"]
            for r in range(0, dense.shape[-2], down):
                parts = (dense[place][r:r + down, c:c + across] for c in range(0, dense.shape[-1], across))
                lines.append("".join(2 * ("█" if p.all() else "░" if p.any() else " ") for p in parts))
            shown.append("\n".join(lines) + "\n")
        if 0 <= limit < len(places):
            shown += ["...", "To print out more, set BlockMask.to_string(limit=N)",
                      "You can also index (BlockMask[batch, head]) to choose a specific batch or head"]
        return "\n".join(shown)

    def __str__(self) -> str:
        return (f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%, \n"
                f"{self.to_string().strip()}\n)")

    def __repr__(self) -> str:
        rows = [f"{name}={None if (t := getattr(self, name)) is None else t.shape}" for name in _TENSORS[:8]]
        rows += [f"BLOCK_SIZE={self.BLOCK_SIZE}", f"shape={self.shape}", f"sparsity={self.sparsity():.2f}%",
                 f"mask_mod={getattr(self.mask_mod, '__name__', self.mask_mod)}"]
        return "BlockMask(\n    " + ",\n    ".join(rows) + "\n)"

    # ----------------------------------------------------------------------------------- others of its kind

    def __getitem__(self, index: Any) -> BlockMask:
        """The block mask of some batches, heads and rows of blocks.

        Args:
            index: integers (which keep their dimension), slices or index tensors, up to three.

        Returns:
            A block mask of the same ``seq_lengths``, whose ``mask_mod`` has to be set before it is used.

        Raises:
            NotImplementedError: for a mask with a tensor ``dq_kv_order``.
        """
        self._refuse_order("Slicing")
        index = index if isinstance(index, tuple) else (index,)
        padded = (*index, slice(None), slice(None), slice(None))[:3]
        part = tuple(_kept(i, n) for i, n in zip(padded, self.kv_num_blocks.shape[:3], strict=True))
        lists = [None if (t := getattr(self, name)) is None else t[part] for name in _TENSORS[:4]]
        return self._like(lists, _sliced_mask_mod_error, self.seq_lengths)

    def _adjust(self, new_q_len: int, new_kv_len: int) -> BlockMask:
        """The upper left part, of so many queries and keys."""
        self._refuse_order("Adjusting")
        lengths = (new_q_len, new_kv_len)
        rows, width = (-(-n // size) for n, size in zip(lengths, self.BLOCK_SIZE, strict=True))
        lists = [*_blocks.cropped(self.kv_num_blocks, self.kv_indices, rows, width), None, None]
        if self.full_kv_num_blocks is not None:
            lists[2:] = _blocks.cropped(self.full_kv_num_blocks, self.full_kv_indices, rows, width)
        return self._like(lists, self.mask_mod, lengths)

    def _refuse_order(self, what: str) -> None:
        if self.dq_kv_order is not None:
            raise NotImplementedError(
                f"{what} BlockMask with tensor dq_kv_order is not supported: make one from its lists")

    def _like(self, lists: list[Tensor | None], mask_mod: MaskMod, lengths: tuple[int, int]) -> BlockMask:
        new = BlockMask.from_kv_blocks(*lists, BLOCK_SIZE=self.BLOCK_SIZE, mask_mod=mask_mod,
                                       seq_lengths=lengths, compute_q_blocks=self.q_indices is not None)
        new.dq_kv_order_spt = self.dq_kv_order_spt
        if self.dq_write_order is not None:
            new._set_write_order(self.dq_kv_order_spt)
        return new

    def _set_write_order(self, descending: bool | None) -> None:
        """Compute ``dq_write_order``, ``dq_write_order_full``."""
        if self.q_num_blocks is None or self.q_indices is None:
            raise ValueError("BlockMask must have q_num_blocks and q_indices to compute dq_write_order")
        names = [name for name in _TENSORS[:8] if getattr(self, name) is not None]
        lead = broadcast_shapes(*(getattr(self, name).shape[:2] for name in names))
        t = {name: getattr(self, name) for name in names}
        t = {name: x.expand(*lead, *x.shape[2:]) for name, x in t.items()}
        full = (t["full_kv_num_blocks"], t["full_kv_indices"]) if "full_kv_indices" in t else None
        self.dq_write_order, self.dq_write_order_full = _blocks.write_order(
            (t["kv_num_blocks"], t["kv_indices"]), full, t["q_indices"], t.get("full_q_indices"), descending)
        self.dq_kv_order, self.dq_kv_order_spt = None, descending

    def to(self, device: Any) -> BlockMask:
        """A block mask with its tensors on a device; this one stays as it is."""
        moved = {name: None if (t := getattr(self, name)) is None else t.to(device) for name in _TENSORS}
        new = BlockMask(self.seq_lengths, **moved, BLOCK_SIZE=self.BLOCK_SIZE, mask_mod=self.mask_mod,
                        dq_kv_order_spt=self.dq_kv_order_spt)
        new._made_of = self._made_of
        return new

    def _flatten(self) -> tuple[tuple[Tensor, ...], tuple[Any, ...]]:
        """Its tensors, and what else makes it up: for ``torch.utils._pytree.register_pytree_node``."""
        absent = tuple(name for name in _TENSORS if getattr(self, name) is None)
        tensors = tuple(getattr(self, name) for name in _TENSORS if name not in absent)
        return tensors, (*(getattr(self, name) for name in _OTHERS), absent)

    @classmethod
    def _unflatten(cls, leaves: Any, context: tuple[Any, ...]) -> Self:
        """The block mask of what `_flatten` gave."""
        *others, absent = context
        tensors = zip((name for name in _TENSORS if name not in absent), leaves, strict=True)
        return cls(**dict.fromkeys(absent), **dict(tensors), **dict(zip(_OTHERS, others, strict=True)))

    # ---------------------------------------------------------------------------------------- for attention

    def _mask(self, over: Any, queries: int, keys: int) -> Tensor:
        """What counts, of so many queries and keys; ``over(mask_mod)`` is that function at all positions."""
        mask = over(self.mask_mod)
        if self._made_of is self.mask_mod or tuple(self.BLOCK_SIZE) == (LARGE_SIZE, LARGE_SIZE):
            return mask
        listed = _blocks.dense_of(self.kv_num_blocks, self.kv_indices, self.kv_indices.shape[-1])
        mask = mask & _blocks.spread(listed, self.BLOCK_SIZE, queries, keys)
        if self.full_kv_num_blocks is None:
            return mask
        full = _blocks.dense_of(self.full_kv_num_blocks, self.full_kv_indices, self.full_kv_indices.shape[-1])
        return mask | _blocks.spread(full, self.BLOCK_SIZE, queries, keys)


def _kept(i: Any, n: int) -> Any:
    """An index that keeps its dimension."""
    if not isinstance(i, int):
        return i
    return slice(i + n, i + n + 1) if -n <= i < 0 else slice(i, i + 1)


def _check_lists(kv_indices: Tensor, full_counts: Tensor | None, full_indices: Tensor | None) -> None:
    if kv_indices.dim() < 2:
        raise RuntimeError("BlockMask must have at least 2 dimensions")
    if (full_counts is None) != (full_indices is None):
        raise AssertionError("full_kv_num_blocks and full_kv_indices must be both provided or omitted")


def make(mask_mod: MaskMod, mask: Tensor, lengths: tuple[int, int], block: tuple[int, int],
         separate: bool) -> BlockMask:
    """The block mask of a function, and of what it says at all positions: bool ``(B, H, queries, keys)``."""
    partial, full = _blocks.blocks_of(mask, *block, separate)
    made = BlockMask.from_kv_blocks(
        *_blocks.lists_of(partial), *((None, None) if full is None else _blocks.lists_of(full)),
        BLOCK_SIZE=block, mask_mod=mask_mod, seq_lengths=lengths)
    made._made_of = mask_mod
    return made


BlockMask.__module__ = _HOME

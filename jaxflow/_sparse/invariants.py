"""What indices have to be like, which is looked at only where a program wants it: looking takes time."""

from __future__ import annotations

import functools
from typing import Any

from jaxflow import _functions as F
from jaxflow._core.tensor import Tensor

from .coo import flat

# Whether indices are looked at where a call does not say: there is something in it then.
_enabled: list[bool] = []


def is_enabled() -> bool:
    """Whether indices are looked at by default."""
    return bool(_enabled)


def set_enabled(enabled: bool) -> None:
    """Say whether indices are looked at by default."""
    _enabled[:] = [True] if enabled else []


def wanted(given: bool | None) -> bool:
    """Whether a call that says ``given`` looks at indices."""
    return is_enabled() if given is None else bool(given)


def check_coo(indices: Tensor, shape: tuple[int, ...], coalesced: bool) -> None:
    """Refuse indices outside of ``shape``, or that are not coalesced but are said to be. RuntimeError."""
    if not indices.shape[1]:
        return
    for d, (least, most) in enumerate(zip(indices.amin(1).tolist(), indices.amax(1).tolist())):
        if least < 0:
            raise RuntimeError(f"found negative index {least} for dim {d}")
        if most >= shape[d]:
            raise RuntimeError(
                f"size is inconsistent with indices: for dim {d}, size is {shape[d]} but found index {most}")
    if coalesced:
        numbers = flat(indices, shape)
        if not bool((numbers[1:] > numbers[:-1]).all()):
            raise RuntimeError(
                "cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor")


def check_compressed(compressed: Tensor, plain: Tensor, values: Tensor, extents: tuple[int, int],
                     names: tuple[str, str], by_rows: bool) -> None:
    """Refuse compressed indices that do not describe a tensor. RuntimeError."""
    rows, columns = extents
    first, second = names
    most = "ncols" if by_rows else "nrows"
    if compressed.shape[-1] != rows + 1:
        raise RuntimeError(f"{first}.shape[-1] must be equal to the number of compressed lines plus one "
                           f"(={rows + 1}), but got {compressed.shape[-1]}")
    flat_rows = compressed.reshape(-1, rows + 1)
    if not bool((flat_rows[:, 0] == 0).all()):
        raise RuntimeError(f"`{first}[..., 0] == 0` is not satisfied.")
    if not bool((flat_rows[:, -1] == plain.shape[-1]).all()):
        raise RuntimeError(f"`{first}[..., -1] == nnz` is not satisfied.")
    if not bool(((flat_rows[:, 1:] - flat_rows[:, :-1]) >= 0).all()):
        raise RuntimeError(f"`0 <= {first}[..., 1:] - {first}[..., :-1] <= {most}` is not satisfied.")
    if plain.numel() and not bool(F.logical_and(plain >= 0, plain < columns).all()):
        raise RuntimeError(f"`0 <= {second} < {most}` is not satisfied.")


class check_sparse_tensor_invariants:
    """Look at the indices of sparse tensors that are made: in a block, in a function, or from now on.

    Args:
        enable: whether they are looked at in the block; True where it is left out.

    Example:
        >>> with torch.sparse.check_sparse_tensor_invariants():
        ...     torch.sparse_coo_tensor([[5]], [1.0], (3,))
        Traceback (most recent call last):
            ...
        RuntimeError: size is inconsistent with indices: for dim 0, size is 3 but found index 5
        >>> torch.sparse.check_sparse_tensor_invariants.is_enabled()
        False
    """

    def __init__(self, enable: bool = True) -> None:
        self.state = enable
        self.saved_state: bool | None = None

    @staticmethod
    def is_enabled() -> bool:
        """Whether indices are looked at by default."""
        return is_enabled()

    @staticmethod
    def enable() -> None:
        """Look at indices from now on."""
        set_enabled(True)

    @staticmethod
    def disable() -> None:
        """Look at indices no more."""
        set_enabled(False)

    def __enter__(self) -> None:
        if self.saved_state is not None:
            raise RuntimeError("This context manager instance is already activated. Use a different context "
                               "manager instance for context nesting.")
        self.saved_state = is_enabled()
        set_enabled(self.state)

    def __exit__(self, *error: Any) -> None:
        before, self.saved_state = self.saved_state, None
        set_enabled(bool(before))

    def __call__(self, function: Any) -> Any:
        """``function`` with this setting in force while it runs."""
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self.state):
                return function(*args, **kwargs)

        return call

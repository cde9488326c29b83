"""Collective operations on Python objects. As if they had travelled, results are copies of their own."""

from __future__ import annotations

import pickle
from typing import Any

from ._collectives import check_root, enter
from ._world import ProcessGroup


def _sent(x: Any) -> Any:
    return pickle.loads(pickle.dumps(x))


def all_gather_object(object_list: list[Any], obj: Any, group: ProcessGroup | None = None) -> None:
    """Put each process's object into ``object_list``. IndexError if that has no place for it."""
    if enter("all_gather_object", group):
        object_list[0] = _sent(obj)


def gather_object(obj: Any, object_gather_list: list[Any] | None = None, dst: int | None = None,
                  group: ProcessGroup | None = None, group_dst: int | None = None) -> None:
    """`all_gather_object` of which only the process ``dst`` (default: 0) gets the result.

    Raises:
        ValueError: without a list, and without a world.
        RuntimeError: for another process than 0.
    """
    if not enter("gather_object", group):
        return
    check_root("gather", 0 if dst is group_dst is None else dst, group_dst)
    if not object_gather_list:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    object_gather_list[0] = _sent(obj)


def broadcast_object_list(object_list: list[Any], src: int | None = None, group: ProcessGroup | None = None,
                          device: Any = None, group_src: int | None = None) -> None:
    """Fill the list with what that of the process ``src`` (default: 0) holds. RuntimeError if it is not 0."""
    if enter("broadcast_object_list", group):
        check_root("broadcast", 0 if src is group_src is None else src, group_src)
        object_list[:] = map(_sent, object_list)


def scatter_object_list(scatter_object_output_list: list[Any],
                        scatter_object_input_list: list[Any] | None = None, src: int | None = None,
                        group: ProcessGroup | None = None, group_src: int | None = None) -> None:
    """Put this process's object of the list that the process ``src`` (default: 0) has into the output list.

    Raises:
        ValueError: for an empty output list, without an input list, and without a world.
        RuntimeError: for another number of objects than one, or another process than 0.
    """
    if not enter("scatter_object_list", group):
        return
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    check_root("scatter", 0 if src is group_src is None else src, group_src)
    if scatter_object_input_list is None:
        raise ValueError("source rank must provide non-None scatter_object_input_list")
    if len(scatter_object_input_list) != 1:
        raise RuntimeError(
            f"ProcessGroup::scatter: Incorrect input list size {len(scatter_object_input_list)}. Input list "
            "size should be 1, same as size of the process group."
        )
    scatter_object_output_list[0] = _sent(scatter_object_input_list[0])

"""Collective operations on tensors: what a process of its own contributes is what it gets back."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NoReturn

from jaxflow._core.tensor import Tensor
from jaxflow.autograd.grad_mode import is_grad_enabled, no_grad

from ._reductions import ReduceOp, check_reduction
from ._world import ProcessGroup, group_of, outside

_DEPRECATED = "`torch.distributed.{old}` is deprecated. Please use `torch.distributed.{new}` instead."


class Work:
    """What an operation with ``async_op=True`` returns: it is done already."""

    def wait(self, timeout: Any = None) -> bool:
        """True, at once."""
        return True

    def is_completed(self) -> bool:
        """True."""
        return True

    is_success = is_completed

    def exception(self) -> None:
        """None: what fails raises where it is called."""

    def result(self) -> list[Tensor]:
        """No tensors: the call has written them to where its arguments say."""
        return []


def enter(name: str, group: Any) -> bool:
    """Whether this process takes part; a warning if not. ValueError without a world."""
    if outside(group):
        warnings.warn(f"Running {name} on global rank 0 which does not belong to the given group.",
                      stacklevel=3)
        return False
    group_of(group)
    return True


def check_root(name: str, root: int | None, in_group: int | None) -> None:
    """Refuse a root that is not this process, the only one there is."""
    if root is None and in_group is None:
        raise ValueError("Must specify global_rank or group_rank")
    if root is not None and in_group is not None:
        raise ValueError("Can't specify both group_rank and global_rank")
    rank = root if in_group is None else in_group
    if rank != 0:
        raise RuntimeError(f"ProcessGroup::{name}: invalid root rank: {rank}")


def _one(value: Any, name: str) -> Tensor:
    if not isinstance(value, Tensor):
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor")
    return value


def _many(value: Any, name: str) -> list[Tensor]:
    if not isinstance(value, list) or not all(isinstance(t, Tensor) for t in value):
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]")
    return value


def _same_dtype(*tensors: Tensor) -> None:
    for t in tensors:
        if t.dtype != tensors[0].dtype:
            raise ValueError("Invalid usage of tensors with different dtypes"
                             f"Found {tensors[0].dtype} and  {t.dtype}")


def _same_shape(name: str, target: Tensor, source: Tensor) -> None:
    if target.shape != source.shape:
        raise RuntimeError(
            f"ProcessGroup::{name}: invalid tensor size at index 0 (expected ({_sizes(source)}), "
            f"got ({_sizes(target)}))"
        )


def _sizes(t: Tensor) -> str:
    return ", ".join(map(str, t.shape))


def _put(target: Tensor, source: Tensor) -> None:
    """Write ``source`` into ``target``; no history is recorded, as by PyTorch's collectives."""
    if target.requires_grad and target.is_leaf and is_grad_enabled():
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    with no_grad():
        target.copy_(source.reshape(target.shape))


def _done(async_op: bool) -> Work | None:
    return Work() if async_op else None


def all_reduce(tensor: Tensor, op: Any = ReduceOp.SUM, group: ProcessGroup | None = None,
               async_op: bool = False) -> Work | None:
    """Reduce the processes' tensors, in place: of one process ``tensor`` stays as it is.

    Args:
        tensor: any tensor.
        op: a ``ReduceOp``, for instance ``SUM`` or ``MAX``; it is only checked.
        group: what `new_group` returned; None for the world.
        async_op: whether to return a handle at once.

    Returns:
        None; with ``async_op`` a handle with ``wait()``. The result is in ``tensor``.

    Raises:
        TypeError: for what is no tensor or no reduction.
        RuntimeError: for bits of floating point numbers.
        ValueError: for an order of complex numbers, and without a world.

    Example:
        >>> torch.distributed.init_process_group("gloo", rank=0, world_size=1)
        >>> x = torch.tensor([1.0, 2.0])
        >>> torch.distributed.all_reduce(x, op=torch.distributed.ReduceOp.SUM)
        >>> x
        tensor([1., 2.])
        >>> torch.distributed.destroy_process_group()
    """
    _one(tensor, "tensor")
    if not enter("all_reduce", group):
        return None
    check_reduction("all_reduce", op, tensor)
    return _done(async_op)


def reduce(tensor: Tensor, dst: int | None = None, op: Any = ReduceOp.SUM,
           group: ProcessGroup | None = None, async_op: bool = False,
           group_dst: int | None = None) -> Work | None:
    """`all_reduce` of which only the process ``dst`` gets the result. RuntimeError if that is not 0."""
    _one(tensor, "tensor")
    if not enter("reduce", group):
        return None
    check_root("reduce", dst, group_dst)
    check_reduction("reduce", op, tensor)
    return _done(async_op)


def broadcast(tensor: Tensor, src: int | None = None, group: ProcessGroup | None = None,
              async_op: bool = False, group_src: int | None = None) -> Work | None:
    """Fill ``tensor`` with that of the process ``src``, in place. RuntimeError if that is not 0.

    In a world of one process ``tensor`` is that of process 0 and stays as it is.

    Args:
        tensor: of any shape and dtype.
        src: the number of the sending process in the world; 0.
        group: the processes that take part; None for the world.
        async_op: whether to return a `Work`.
        group_src: the number of the sending process in the group, instead of ``src``.

    Returns:
        None, or with ``async_op`` a `Work`, which is done already. Of a group that this process does not
        belong to, None, with a warning.

    Raises:
        TypeError: for what is no tensor.
        ValueError: without a world, and unless exactly one of ``src`` and ``group_src`` is given.
        RuntimeError: for another process than 0.

    Example:
        >>> torch.distributed.init_process_group("gloo", rank=0, world_size=1)
        >>> t = torch.tensor([1, 2])
        >>> torch.distributed.broadcast(t, src=0)
        >>> t
        tensor([1, 2])
        >>> torch.distributed.broadcast(t, src=0, async_op=True).is_completed()
        True
        >>> torch.distributed.destroy_process_group()
    """
    _one(tensor, "tensor")
    if not enter("broadcast", group):
        return None
    check_root("broadcast", src, group_src)
    return _done(async_op)


def all_gather(tensor_list: list[Tensor], tensor: Tensor, group: ProcessGroup | None = None,
               async_op: bool = False) -> Work | None:
    """Write the processes' tensors into those of ``tensor_list``, one of each process.

    Args:
        tensor_list: a list of as many tensors as there are processes: one, of the shape and dtype of
            ``tensor``. It is overwritten, and no gradient is recorded.
        tensor: what this process contributes, of any shape and dtype.
        group: the processes that take part; None for the world.
        async_op: whether to return a `Work`.

    Returns:
        None, or with ``async_op`` a `Work`, which is done already. Of a group that this process does not
        belong to, None, with a warning.

    Raises:
        TypeError: for what are no tensors.
        ValueError: for other dtypes, and without a world.
        RuntimeError: for another number of tensors than one, or of another shape.

    Example:
        >>> torch.distributed.init_process_group("gloo", rank=0, world_size=1)
        >>> found = [torch.zeros(2) for _ in range(torch.distributed.get_world_size())]
        >>> torch.distributed.all_gather(found, torch.tensor([1.0, 2.0]))
        >>> found
        [tensor([1., 2.])]
        >>> torch.distributed.destroy_process_group()
    """
    _many(tensor_list, "tensor_list")
    _one(tensor, "tensor")
    _same_dtype(*tensor_list, tensor)
    if not enter("all_gather", group):
        return None
    if len(tensor_list) != 1:
        raise RuntimeError("ProcessGroup::allgather: invalid output tensor list at index 0 (expected "
                           f"length 1, got {len(tensor_list)})")
    _same_shape("allgather", tensor_list[0], tensor)
    _put(tensor_list[0], tensor)
    return _done(async_op)


def gather(tensor: Tensor, gather_list: list[Tensor] | None = None, dst: int | None = None,
           group: ProcessGroup | None = None, async_op: bool = False,
           group_dst: int | None = None) -> Work | None:
    """`all_gather` of which only the process ``dst`` (default: 0) gets the result.

    Raises:
        ValueError: without ``gather_list``, for other dtypes, and without a world.
        RuntimeError: for another process than 0, or a tensor of another shape.
    """
    return _rooted("gather", "destination", tensor, gather_list, dst, group_dst, group, async_op)


def scatter(tensor: Tensor, scatter_list: list[Tensor] | None = None, src: int | None = None,
            group: ProcessGroup | None = None, async_op: bool = False,
            group_src: int | None = None) -> Work | None:
    """Fill ``tensor`` with this process's tensor of the list that the process ``src`` (default: 0) has.

    Raises:
        ValueError: without ``scatter_list``, for other dtypes, and without a world.
        RuntimeError: for another process than 0, or a tensor of another shape.
    """
    return _rooted("scatter", "source", tensor, scatter_list, src, group_src, group, async_op)


def _rooted(name: str, root_is: str, tensor: Tensor, tensors: list[Tensor] | None, root: int | None,
            in_group: int | None, group: Any, async_op: bool) -> Work | None:
    """Between a process's tensor and its place in the root's list, in the direction of ``name``."""
    _one(tensor, "tensor")
    if not enter(name, group):
        return None
    check_root(name, 0 if root is in_group is None else root, in_group)
    if not tensors:
        raise ValueError(f"Argument ``{name}_list`` must be specified on {root_is} rank.")
    _same_dtype(*_many(tensors, f"{name}_list"), tensor)
    _same_shape(name, tensors[0], tensor)
    _put(*((tensors[0], tensor) if name == "gather" else (tensor, tensors[0])))
    return _done(async_op)


def reduce_scatter(output: Tensor, input_list: list[Tensor], op: Any = ReduceOp.SUM,
                   group: ProcessGroup | None = None, async_op: bool = False) -> Work | None:
    """Fill ``output`` with the reduction of what the processes' lists have for this one.

    Raises:
        ValueError: for other dtypes, and without a world.
        RuntimeError: for another number of tensors than one, or of another shape.
    """
    _one(output, "output")
    _same_dtype(*_many(input_list, "input_list"), output)
    if not enter("reduce_scatter", group):
        return None
    if len(input_list) != 1:
        raise RuntimeError("invalid input tensor list size, must be world size")
    check_reduction("reduce_scatter", op, output)
    _same_shape("reduce_scatter", output, input_list[0])
    _put(output, input_list[0])
    return _done(async_op)


def all_gather_single(output_tensor: Tensor, input_tensor: Tensor, group: ProcessGroup | None = None,
                      async_op: bool = False) -> Work | None:
    """`all_gather` into one tensor, with a process after the other along the first dimension."""
    _same_dtype(_one(output_tensor, "output_tensor"), _one(input_tensor, "input_tensor"))
    if not enter("all_gather_single", group):
        return None
    _same_number("allgather", output_tensor, input_tensor)
    _put(output_tensor, input_tensor)
    return _done(async_op)


def reduce_scatter_single(output: Tensor, input: Tensor, op: Any = ReduceOp.SUM,
                          group: ProcessGroup | None = None, async_op: bool = False) -> Work | None:
    """`reduce_scatter` of the pieces of one tensor along its first dimension."""
    _same_dtype(_one(output, "output"), _one(input, "input"))
    if not enter("reduce_scatter_single", group):
        return None
    check_reduction("reduce_scatter_single", op, output)
    _same_number("reduce_scatter", output, input)
    _put(output, input)
    return _done(async_op)


def _same_number(name: str, target: Tensor, source: Tensor) -> None:
    # The world's tensors may lie after each other or in a dimension of their own, which is 1 here.
    if target.numel() != source.numel():
        _same_shape(name, target, source)


def all_gather_into_tensor(output_tensor: Tensor, input_tensor: Tensor, group: ProcessGroup | None = None,
                           async_op: bool = False) -> Work | None:
    """The older name of `all_gather_single`."""
    _deprecated("all_gather_into_tensor", "all_gather_single")
    return all_gather_single(output_tensor, input_tensor, group, async_op)


def reduce_scatter_tensor(output: Tensor, input: Tensor, op: Any = ReduceOp.SUM,
                          group: ProcessGroup | None = None, async_op: bool = False) -> Work | None:
    """The older name of `reduce_scatter_single`."""
    _deprecated("reduce_scatter_tensor", "reduce_scatter_single")
    return reduce_scatter_single(output, input, op, group, async_op)


def _deprecated(old: str, new: str) -> None:
    warnings.warn(_DEPRECATED.format(old=old, new=new), FutureWarning, stacklevel=3)


def all_to_all(output_tensor_list: list[Tensor], input_tensor_list: list[Tensor],
               group: ProcessGroup | None = None, async_op: bool = False) -> Work | None:
    """Write the tensors that each process has for this one into ``output_tensor_list``.

    Raises:
        RuntimeError: for another number of tensors than one, or of other sizes.
    """
    _many(output_tensor_list, "output_tensor_list")
    _many(input_tensor_list, "input_tensor_list")
    _same_dtype(*output_tensor_list, *input_tensor_list)
    if not enter("all_to_all", group):
        return None
    for kind, tensors in (("input", input_tensor_list), ("output", output_tensor_list)):
        if len(tensors) != 1:
            raise RuntimeError(f"ProcessGroup::alltoall: {kind} tensor list size {len(tensors)} does not "
                               "match world size 1")
    if output_tensor_list[0].shape != input_tensor_list[0].shape:
        raise RuntimeError("ProcessGroup::alltoall: input and output tensors must have the same size")
    _put(output_tensor_list[0], input_tensor_list[0])
    return _done(async_op)


def all_to_all_single(output: Tensor, input: Tensor, output_split_sizes: list[int] | None = None,
                      input_split_sizes: list[int] | None = None, group: ProcessGroup | None = None,
                      async_op: bool = False) -> Work | None:
    """`all_to_all` of the pieces of one tensor along its first dimension; of one process, all of it.

    Raises:
        RuntimeError: for sizes of pieces that do not fit, and tensors of other sizes.
    """
    _same_dtype(_one(output, "output"), _one(input, "input"))
    if not enter("all_to_all_single", group):
        return None
    for t, sizes in ((output, output_split_sizes), (input, input_split_sizes)):
        if sizes and list(sizes) != [t.shape[0]]:
            raise RuntimeError("Split sizes doesn't match total dim 0 size")
    _same_shape("alltoall_base", output, input)
    _put(output, input)
    return _done(async_op)


def barrier(group: ProcessGroup | None = None, async_op: bool = False, device_ids: Any = None,
            timeout: Any = None) -> Work | None:
    """Wait for all processes, of which there is one. ValueError without a world.

    Args:
        group: what `new_group` returned; None for the world.
        async_op: whether to return a handle at once.
        device_ids: accepted without effect.
        timeout: accepted without effect.

    Returns:
        None; with ``async_op`` a handle with ``wait()``, which has nothing to wait for.

    Raises:
        ValueError: without a world, and for what is no group.

    Example:
        >>> torch.distributed.init_process_group("gloo", rank=0, world_size=1)
        >>> torch.distributed.barrier()
        >>> torch.distributed.destroy_process_group()
    """
    return _done(async_op) if enter("barrier", group) else None


def monitored_barrier(group: ProcessGroup | None = None, timeout: Any = None,
                      wait_all_ranks: bool = False) -> None:
    """Wait for all processes, of which there is one. ValueError without a world."""
    enter("monitored_barrier", group)


def _to_another(name: str, peer: str) -> Callable[..., NoReturn]:
    def call(tensor: Tensor, *args: Any, **kwargs: Any) -> NoReturn:
        _one(tensor, "tensor")
        group_of(kwargs.get("group"))
        raise ValueError(f"Invalid {peer} rank: torch.distributed.{name}() needs a second process, and "
                         "jaxflow's world has one.")

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Raises ValueError: in a world of one process there is no other {peer}."
    return call


send, isend = _to_another("send", "destination"), _to_another("isend", "destination")
recv, irecv = _to_another("recv", "source"), _to_another("irecv", "source")

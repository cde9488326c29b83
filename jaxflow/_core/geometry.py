"""Sizes, strides and offsets: the arithmetic of views, on plain tuples of integers.

Nothing here uses tensors or arrays. Strides count elements. JAX arrays have no strides, so what these
functions compute is bookkeeping: it decides which views exist, what ``stride()`` and ``is_contiguous()``
return, and which errors PyTorch programs see.
"""

from math import prod

Ints = tuple[int, ...]
Layout = tuple[Ints, Ints]


def contiguous_strides(size: Ints) -> Ints:
    """Row-major strides of ``size``; a dimension of size 0 counts as 1."""
    strides, step = [], 1
    for extent in reversed(size):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


def column_strides(size: Ints, apart: int | None = None) -> Ints | None:
    """Strides of matrices that lie column by column; None where they are contiguous.

    ``apart`` is how far apart the columns begin where that is more than their length.
    """
    if len(size) < 2:
        return None
    *batch, rows, columns = size
    strides = contiguous_strides((*batch, columns, rows if apart is None else apart))
    strides = (*strides[:-2], strides[-1], strides[-2])
    return None if strides == contiguous_strides(size) else strides


def channels_last_strides(size: Ints) -> Ints:
    """Strides of a 4-d or 5-d ``size`` whose channel dimension (1) varies fastest."""
    return dense_strides(size, (1, *range(len(size) - 1, 1, -1), 0))


def dense_strides(size: Ints, order) -> Ints:
    """Gap-free strides when the dimensions are laid out in ``order``, fastest first.

    Unlike in `contiguous_strides`, strides past a dimension of size 0 are 0: as in PyTorch.
    """
    strides, step = [0] * len(size), 1
    for dim in order:
        strides[dim] = step
        step *= size[dim]
    return tuple(strides)


def moved_strides(size: Ints, source: int, target: int) -> Ints:
    """Strides of a contiguous tensor of this ``size`` after one dimension was moved."""
    strides = list(contiguous_strides(size))
    moved = strides.pop(source)
    strides.insert(target, moved)
    return tuple(strides)


def _is_dense_in_order(size: Ints, stride: Ints, order) -> bool:
    step = 1
    for dim in order:
        if size[dim] == 1:
            continue
        if stride[dim] != step:
            return False
        step *= size[dim]
    return True


def is_contiguous(size: Ints, stride: Ints) -> bool:
    """Whether the elements lie in row-major order without gaps (size-1 strides do not matter)."""
    return 0 in size or _is_dense_in_order(size, stride, range(len(size) - 1, -1, -1))


def is_channels_last(size: Ints, stride: Ints) -> bool:
    """Whether a 4-d (or 5-d) layout is contiguous in the channels-last order."""
    if len(size) not in (4, 5):
        return False
    return _is_dense_in_order(size, stride, (1, *range(len(size) - 1, 1, -1), 0))


def suggests_channels_last(size: Ints, stride: Ints) -> bool:
    """Whether a 4-d (or 5-d) result made of such an operand lies in the channels-last order.

    As in PyTorch gaps do not matter (a slice of the channels), and what lies in both orders does not count.
    """
    if len(size) not in (4, 5) or stride[1] == 0:
        return False
    least = 0
    for dim in (1, *range(len(size) - 1, 1, -1), 0):
        if size[dim] == 0 or stride[dim] < least or (dim == 0 and least == stride[1]):
            return False
        least = stride[dim] * max(size[dim], 1)
    return True


def strides_like(size: Ints, operand: Layout) -> Ints:
    """Strides of a result of this size whose dimensions lie in the order of an operand of the same rank."""
    if operand[0] == size:
        return empty_like_strides(*operand)
    return dense_strides(size, _memory_order(size, [operand[1]]))


def is_non_overlapping_and_dense(size: Ints, stride: Ints) -> bool:
    """Whether some order of the dimensions makes the layout contiguous."""
    if 0 in size:
        return True
    order = sorted((d for d in range(len(size)) if size[d] > 1), key=lambda d: stride[d])
    return _is_dense_in_order(size, stride, order)


def has_internal_overlap(size: Ints, stride: Ints) -> bool:
    """Whether two indices certainly share an element: a stride of 0 along a real dimension.

    Overlaps that only appear by adding strides (``as_strided``) are not looked for, as in PyTorch.
    """
    if is_non_overlapping_and_dense(size, stride):
        return False
    return any(n > 1 and s == 0 for n, s in zip(size, stride, strict=True))


def storage_extent(size: Ints, stride: Ints, offset: int = 0) -> int:
    """How many elements a storage must have for this layout to stay inside it."""
    if 0 in size:
        return 0
    return offset + 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True))


def overlaps(a: tuple[Ints, Ints, int], b: tuple[Ints, Ints, int]) -> bool:
    """Whether two (size, stride, offset) layouts of one storage share any position.

    Layouts with gaps are never reported: PyTorch finds them too hard to judge and lets them pass.
    """
    for size, stride, _ in (a, b):
        if 0 in size or not is_non_overlapping_and_dense(size, stride):
            return False
    return a[2] < b[2] + prod(b[0]) and b[2] < a[2] + prod(a[0])


def overlaps_partially(a: tuple[Ints, Ints, int], b: tuple[Ints, Ints, int]) -> bool:
    """Whether they `overlaps` and are not one layout of the same elements."""
    same_span = a[2] == b[2] and prod(a[0]) == prod(b[0])
    return overlaps(a, b) and not (same_span and a[1] == b[1])


def wrap_dim(dim: int, ndim: int, *, wrap_scalar: bool = True) -> int:
    """Turn a possibly negative dimension number into one from 0 to ``ndim - 1``.

    A 0-d tensor accepts -1 and 0 unless ``wrap_scalar`` is false. Raises IndexError otherwise.
    """
    if 0 <= dim < ndim:
        return dim
    if ndim == 0:
        if not wrap_scalar:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        ndim = 1
    if not -ndim <= dim < ndim:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], "
            f"but got {dim})"
        )
    return dim % ndim


def infer_size(new_size: Ints, numel: int) -> Ints:
    """Fill in a single -1 so that ``new_size`` holds ``numel`` elements.

    Raises RuntimeError when the element counts cannot agree or the -1 is not determined.
    """
    known, unknown = 1, None
    for index, extent in enumerate(new_size):
        if extent == -1:
            if unknown is not None:
                raise RuntimeError("only one dimension can be inferred")
            unknown = index
        elif extent < 0:
            raise RuntimeError(
                f"invalid shape dimension {extent} at index {index} of shape {list(new_size)}"
            )
        else:
            known *= extent
    if unknown is None:
        if known == numel:
            return tuple(new_size)
    elif known == 0 and numel == 0:
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {list(new_size)} because the "
            "unspecified dimension size -1 can be any value and is ambiguous"
        )
    elif known and numel % known == 0:
        return (*new_size[:unknown], numel // known, *new_size[unknown + 1 :])
    raise RuntimeError(f"shape '{list(new_size)}' is invalid for input of size {numel}")


def view_strides(size: Ints, stride: Ints, new_size: Ints) -> Ints:
    """`compute_view_strides`; RuntimeError where a copy is needed."""
    found = compute_view_strides(size, stride, new_size)
    if found is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension "
            "spans across two contiguous subspaces). Use .reshape(...) instead."
        )
    return found


def compute_view_strides(size: Ints, stride: Ints, new_size: Ints) -> Ints | None:
    """Strides that show the same elements as ``new_size``, or None where a copy is needed.

    ``new_size`` must hold as many elements as ``size`` and contain no -1.
    """
    if 0 in size:
        return tuple(stride) if tuple(size) == tuple(new_size) else contiguous_strides(new_size)
    if not size:
        return (1,) * len(new_size)
    new_stride = [0] * len(new_size)
    pending = len(new_size) - 1
    block, block_stride = 1, stride[-1]
    for dim in range(len(size) - 1, -1, -1):
        block *= size[dim]
        # A block is a run of old dimensions that can be walked with one stride.
        if dim and (size[dim - 1] == 1 or stride[dim - 1] == block * block_stride):
            continue
        filled = 1
        while pending >= 0 and (filled < block or new_size[pending] == 1):
            new_stride[pending] = filled * block_stride
            filled *= new_size[pending]
            pending -= 1
        if filled != block:
            return None
        if dim:
            block, block_stride = 1, stride[dim - 1]
    return tuple(new_stride) if pending < 0 else None


def expand_geometry(
    size: Ints, stride: Ints, new_size: Ints, type_name: str = "torch.FloatTensor"
) -> Layout:
    """Size and strides of ``expand(new_size)``; -1 keeps a dimension, new strides are 0.

    ``type_name`` is only for the error raised when ``new_size`` has too few dimensions.
    """
    lead = len(new_size) - len(size)
    if lead < 0:
        raise RuntimeError(
            f"expand({type_name}{{{list(size)}}}, size={list(new_size)}): the number of sizes "
            f"provided ({len(new_size)}) must be greater or equal to the number of dimensions in "
            f"the tensor ({len(size)})"
        )
    out_size, out_stride = list(new_size), [0] * len(new_size)
    # From the last dimension on, so that the first error found is the one PyTorch reports.
    for dim in range(len(new_size) - 1, -1, -1) if size else ():
        target = new_size[dim]
        if dim >= lead:
            extent, step = size[dim - lead], stride[dim - lead]
        elif target == -1:
            raise RuntimeError(
                f"The expanded size of the tensor ({target}) isn't allowed in a leading, "
                f"non-existing dimension {dim}"
            )
        else:
            extent, step = 1, out_size[dim + 1] * out_stride[dim + 1]
        if target in (-1, extent):
            out_size[dim], out_stride[dim] = extent, step
        elif extent != 1:
            raise RuntimeError(
                f"The expanded size of the tensor ({target}) must match the existing size "
                f"({extent}) at non-singleton dimension {dim}.  Target sizes: {list(new_size)}.  "
                f"Tensor sizes: {list(size)}"
            )
    if any(extent < 0 for extent in out_size):
        raise RuntimeError("numel: integer multiplication overflow")
    return tuple(out_size), tuple(out_stride)


def broadcast_shapes(*shapes: Ints) -> Ints:
    """The common shape of operands that broadcast together, taken two at a time from the left."""
    result: Ints = tuple(shapes[0]) if shapes else ()
    for shape in shapes[1:]:
        if shape != result:
            result = _broadcast_pair(result, shape)
    return result


def _broadcast_pair(a: Ints, b: Ints) -> Ints:
    ndim = max(len(a), len(b))
    out = [0] * ndim
    for dim in range(ndim - 1, -1, -1):
        at_a, at_b = dim - ndim + len(a), dim - ndim + len(b)
        size_a = a[at_a] if at_a >= 0 else 1
        size_b = b[at_b] if at_b >= 0 else 1
        if size_a not in (size_b, 1) and size_b != 1:
            raise RuntimeError(
                f"The size of tensor a ({size_a}) must match the size of tensor b ({size_b}) "
                f"at non-singleton dimension {dim}"
            )
        out[dim] = size_b if size_a == 1 else size_a
    return tuple(out)


def empty_like_strides(size: Ints, stride: Ints) -> Ints:
    """Strides of ``empty_like`` (and ``clone``) with ``torch.preserve_format``.

    A gap-free layout is kept as it is; any other one is packed in the same order of dimensions.
    """
    if is_non_overlapping_and_dense(size, stride):
        return tuple(stride)
    return dense_strides(size, _memory_order(size, [stride]))


def preserve_strides(*operands: Layout) -> Ints:
    """Strides of a new elementwise result of these (size, stride) operands, broadcasting included.

    Operands come in argument order: the first one by which two dimensions can be ordered decides which of
    them is faster in memory. A Python scalar is ``((), ())``.
    """
    sizes = [tuple(size) for size, _ in operands]
    full = broadcast_shapes(*sizes)
    if all(size == full for size in sizes):
        strides = [tuple(stride) for _, stride in operands]
        if all(is_contiguous(full, s) for s in strides):
            return contiguous_strides(full)
        if len(full) == 4 and all(is_channels_last(full, s) for s in strides):
            return channels_last_strides(full)
        if all(s == strides[0] for s in strides) and is_non_overlapping_and_dense(full, strides[0]):
            return strides[0]
    order = _memory_order(full, [_broadcast_strides(op, full) for op in operands])
    if order == list(range(len(full) - 1, -1, -1)):
        return contiguous_strides(full)
    return dense_strides(full, order)


def _broadcast_strides(operand: Layout, full: Ints) -> Ints:
    size, stride = operand
    lead = len(full) - len(size)
    kept = (0 if n == 1 and full[lead + d] != 1 else stride[d] for d, n in enumerate(size))
    return (0,) * lead + tuple(kept)


def _memory_order(size: Ints, strides: list[Ints]) -> list[int]:
    """Dimensions from fastest to slowest, by insertion sort.

    A dimension with stride 0 compares as unknown, so the comparison is no total order and the
    result depends on the sorting algorithm: this one has to be PyTorch's.
    """

    def compare(a: int, b: int) -> int:
        for stride in strides:
            if stride[a] == 0 or stride[b] == 0:
                continue
            if stride[a] != stride[b]:
                return 1 if stride[a] > stride[b] else -1
            if size[a] > size[b]:
                return 1
        return 0

    order = list(range(len(size) - 1, -1, -1))
    for start in range(1, len(order)):
        moving = start
        for other in range(start - 1, -1, -1):
            verdict = compare(order[other], order[moving])
            if verdict > 0:
                order[other], order[moving] = order[moving], order[other]
                moving = other
            elif verdict < 0:
                break
    return order

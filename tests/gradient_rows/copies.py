"""Copies of what views show, and of the pieces of a split."""

import jaxflow as torch

from .row import index, row

X = (2, 3)

ROWS = {
    "alias_copy": row(torch.alias_copy, X),
    "expand_copy": row(lambda x: torch.expand_copy(x, (2, -1, 3)), (2, 1)),
    "diagonal_copy": row(lambda x: torch.diagonal_copy(x, 1), X),
    "narrow_copy": row(lambda x: torch.narrow_copy(x, 1, 1, 2), X),
    "select_copy": row(lambda x: torch.select_copy(x, 1, -1), X),
    "slice_copy": row(lambda x: torch.slice_copy(x, 1, 0, 3, 2), X),
    "permute_copy": row(lambda x: torch.permute_copy(x, (2, 0, 1)), (2, 1, 3)),
    "transpose_copy": row(lambda x: torch.transpose_copy(x, 0, 1), X),
    "t_copy": row(torch.t_copy, X),
    "unsqueeze_copy": row(lambda x: torch.unsqueeze_copy(x, 1), X),
    "squeeze_copy": row(lambda x: torch.squeeze_copy(x, (0, 2)), (1, 2, 1)),
    "unfold_copy": row(lambda x: torch.unfold_copy(x, 1, 2, 1), X),
    "view_copy": row(lambda x: torch.view_copy(x, (3, 2)), X),
    "view_as_real_copy": row(torch.view_as_real_copy, (2,), dtype="complex128"),
    "unbind_copy": row(torch.unbind_copy, X),
    "split_copy": row(lambda x: torch.split_copy(x, 2, 1), X),
    "split_with_sizes_copy": row(lambda x: torch.split_with_sizes_copy(x, (1, 2), 1), X),
    "_as_strided_scatter": row(lambda x, y: x.as_strided_scatter(y, (2, 2), (1, 2), 1), X, (2, 2)),
    "_unsafe_masked_index": row(
        lambda x: torch._unsafe_masked_index(x, x[0] > 1.0, [index(0, 5, 1), index(-1, 1, 2)], 0.5), X
    ),
    "_unsafe_masked_index_put_accumulate": row(
        lambda x, y: torch._unsafe_masked_index_put_accumulate(x, y > 1.0, [index(0, 0), index(1, 1)], y),
        X, (2,),
    ),
}

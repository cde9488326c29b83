"""The same elements in other places: joining, repeating, turning, triangles, shuffles, padding."""

import jaxflow as torch

from .row import row

F = torch.nn.functional
X = (2, 3)

ROWS = {
    "block_diag": row(torch.block_diag, X, X),
    "cat": row(lambda x, y: torch.cat([x, y], 1), X, X),
    "column_stack": row(lambda x, y: torch.column_stack([x, y]), X, X),
    "diag_embed": row(lambda x: torch.diag_embed(x, 1), X),
    "diag_of": row(torch.diag, X),
    "diagflat": row(torch.diagflat, X),
    "dstack": row(lambda x, y: torch.dstack([x, y]), X, X),
    "flip": row(lambda x: x.flip(0, 1), X),
    "fliplr": row(torch.fliplr, X),
    "flipud": row(torch.flipud, X),
    "hstack": row(lambda x, y: torch.hstack([x, y]), X, X),
    "repeat": row(lambda x: x.repeat(2, 1, 2), X),
    "repeat_interleave_int": row(lambda x: x.repeat_interleave(2, 0), X),
    "roll": row(lambda x: x.roll((1, 1), (0, 1)), X),
    "rot90": row(torch.rot90, X),
    "stack": row(lambda x, y: torch.stack([x, y], 1), X, X),
    "tile": row(lambda x: x.tile(2, 2), X),
    "tril": row(lambda x: x.tril(), X),
    "triu": row(lambda x: x.triu(), X),
    "vstack": row(lambda x, y: torch.vstack([x, y]), X, X),
    # a reshape that no strides can express
    "_unsafe_view": row(lambda x: x.t().reshape(6), X),
    "channel_shuffle": row(lambda x: F.channel_shuffle(x, 2), (1, 4, 1, 2)),
    "pixel_shuffle": row(lambda x: F.pixel_shuffle(x, 2), (4, 1, 2)),
    "pixel_unshuffle": row(lambda x: F.pixel_unshuffle(x, 2), (1, 2, 4)),
    # padding: one side more than the other, and a side cut off
    "constant_pad_nd": row(lambda x: F.pad(x, (2, -1, 0, 1), value=0.5), X),
    **{
        f"{family}_pad{n}d": row(
            lambda x, mode=mode, n=n: F.pad(x, (1, 0, 0, 1, 1, 1)[: 2 * n], mode=mode),
            (1, 1, *(2, 2, 3)[-n:]),
        )
        for family, mode in (("reflection", "reflect"), ("replication", "replicate"))
        for n in (1, 2, 3)
    },
    "_pad_circular": row(lambda x: F.pad(x, (1, 2, 0, 1), mode="circular"), (1, 1, 2, 3)),
    "_pad_circular/cut": row(lambda x: F.pad(x, (2, -1), mode="circular"), (1, 1, 3)),
}

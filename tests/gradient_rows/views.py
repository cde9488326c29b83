"""Views: reading through each, and writing through each into the base."""

import jaxflow as torch

from .row import row

X = (2, 3)

_READS = {
    "alias": row(lambda x: x[...], X),
    "select": row(lambda x: x.select(1, -1), X),
    "slice": row(lambda x: x[:, ::2], X),
    "view": row(lambda x: x.view(3, 2), X),
    "reshape_alias": row(lambda x: x.t().reshape(3, 1, 2), X),
    "permute": row(lambda x: x.permute(2, 0, 1), (2, 1, 3)),
    "transpose": row(lambda x: x.transpose(0, 1), X),
    "t": row(lambda x: x.t(), X),
    "expand": row(lambda x: x.expand(2, -1, 3), (2, 1)),
    "squeeze": row(lambda x: x.squeeze(), (2, 1, 2)),
    "squeeze_dim": row(lambda x: x.squeeze(1), (2, 1, 2)),
    "squeeze_dims": row(lambda x: x.squeeze((0, 2)), (1, 2, 1)),
    "unsqueeze": row(lambda x: x.unsqueeze(1), X),
    "diagonal": row(lambda x: x.diagonal(1), X),
    "unfold": row(lambda x: x.unfold(1, 2, 1), X),
    "as_strided": row(lambda x: x.as_strided((2, 2), (1, 2), 1), X),
    "view_as_real": row(torch.view_as_real, (2,), dtype="complex128"),
    "view_as_complex": row(torch.view_as_complex, (3, 2)),
    "real": row(lambda x: x.real, (2,), dtype="complex128"),
    "imag": row(lambda x: x.imag, (2,), dtype="complex128"),
    "conj": row(torch.conj, (2,), dtype="complex128"),
    "neg_view": row(torch._neg_view, X),
}

# PyTorch refuses to write where one element shows twice.
_NOT_WRITTEN = ("expand", "unfold")


def _through(read):
    """A write through the view of a copy; the result is the whole copy, which the write went into."""
    def call(x):
        whole = x * 1
        read(whole).exp_()
        return whole

    return call


ROWS = {
    **_READS,
    # three views of one op: all of them, and one of them
    "split": row(lambda x: x.split([1, 2], 1), X),
    "split/chunk": row(lambda x: x.chunk(3, 1)[1], X),
    "split/unbind": row(lambda x: x.unbind(0), X),
    "split/unsafe": row(lambda x: x.unsafe_split_with_sizes((1, 2), 1), X),
    "split/unsafe written": row(lambda x: [piece.exp_() for piece in (x * 1).unsafe_chunk(2, 1)][1], X),
    **{
        f"write_{name}": read._replace(call=_through(read.call))
        for name, read in _READS.items() if name not in _NOT_WRITTEN
    },
}

"""Decompositions of matrices, seen through what no choice of signs or phases changes."""

import jaxflow as torch

from .row import row

L = torch.linalg


def _apart(x):
    """Matrices with a diagonal that dominates: eigenvalues, and columns, well apart."""
    rows, columns = x.shape[-2:]
    steps = 3 * torch.arange(1.0, columns + 1, dtype=torch.float64)
    return x + (torch.eye(rows, columns, dtype=torch.float64) * steps).to(x.dtype)


def _hermitian(x):
    x = _apart(x)
    return x + x.mT.conj()


def _shown(values, vectors):
    return values, vectors.abs()


def _singular(parts):
    u, s, vh = parts
    count = s.shape[-1]
    return u[..., :count].abs(), s, u[..., :count] @ vh[..., :count, :], vh[..., :count, :].abs()


def _low_rank(x):
    """Matrices of one rank less than they have columns."""
    return torch.cat([x, x[..., :1] + x[..., 1:2]], -1)


def _real(call, *shapes):
    return row(call, *shapes, low=-1.1, high=1.3)


def _complex(call, *shapes):
    return row(call, *shapes, low=-1.1, high=1.3, dtype="complex128")


# Complex rows also check the real formulas; each kind of call has one of the two.
ROWS = {
    "eig": _complex(lambda x: _shown(*L.eig(_apart(x))), (2, 2)),
    "eigvals": _real(lambda x: L.eigvals(_apart(x)), (2, 2)),
    "eigh": _complex(lambda x: _shown(*L.eigh(_hermitian(x), "U")), (2, 2)),
    "eigvalsh": _real(lambda x: L.eigvalsh(_hermitian(x)), (1, 2, 2)),
    "svd": _real(lambda x: _singular(L.svd(_apart(x))), (3, 2)),
    "svd/wide": _complex(lambda x: _singular(L.svd(_apart(x), full_matrices=False)), (1, 1, 2)),
    "svdvals": _real(L.svdvals, (3, 2)),
    "qr": _real(lambda x: tuple(L.qr(_apart(x))), (3, 2)),
    "qr/wide": _complex(lambda x: tuple(L.qr(_apart(x), "complete")), (2, 3)),
    "_pinv": _complex(lambda x: L.pinv(_apart(x)), (2, 1)),
    "_pinv/low rank": _real(lambda x: L.pinv(_low_rank(_apart(x)), atol=1e-6), (2, 2)),
    "_pinv/hermitian": _real(lambda x: L.pinv(_hermitian(x), hermitian=True), (2, 2)),
    "orgqr": _real(torch.orgqr, (3, 2), (2,)),
    "ormqr": _complex(lambda a, t, c: torch.ormqr(a, t, c, False, True), (2, 1), (1,), (1, 2)),
}

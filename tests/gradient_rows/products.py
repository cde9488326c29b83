"""Products of vectors and matrices, and what is built of them."""

import jaxflow as torch
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS

from .row import row

F = torch.nn.functional
A, B, V = (2, 3), (3, 2), (3,)
STACK, STACK_T = (2, 2, 3), (2, 3, 2)


def _both(call, *shapes):
    """A row of real and one of complex matrices: the second needs conjugates in its gradients."""
    return row(call, *shapes, low=-1.1, high=1.3), row(call, *shapes, low=-1.1, high=1.3, dtype="complex128")


_BOTH = {
    "mm": _both(torch.mm, (2, 2), (2, 1)),
    "bmm": _both(torch.bmm, (2, 1, 2), (2, 2, 1)),
    "mv": _both(torch.mv, (2, 2), (2,)),
    "dot": _both(torch.dot, (3,), (3,)),
    "vdot": _both(torch.vdot, (3,), (3,)),
    "outer": _both(torch.outer, (2,), (3,)),
    "kron": _both(torch.kron, (1, 2), (2, 1)),
    "linalg_cross": _both(lambda x, y: torch.linalg.cross(x, y, dim=0), (3, 1), (3, 2)),
    "_einsum_pair": _both(lambda x, y: torch.einsum("ij,jk->ki", x, y), (2, 2), (2, 1)),
    "_multi_dot": _both(lambda x, y: torch.linalg.multi_dot((x, y)), (2, 2), (2, 1)),
}

def _grouped(*ends):
    offs = torch.tensor(ends, dtype=torch.int32) if ends else None
    return lambda a, b: apply(OPS["_grouped_mm"], (a, b, offs))


ROWS = {
    "_grouped_mm": row(_grouped(), (2, 1, 2), (2, 2, 3)),
    "_grouped_mm/rows": row(_grouped(2, 2, 3), (3, 2), (3, 2, 2)),
    "_grouped_mm/columns": row(_grouped(1, 3), (2, 2, 2), (2, 3)),
    "_grouped_mm/sums": row(_grouped(1, 3), (2, 3), (3, 2)),
    **{name: real for name, (real, _) in _BOTH.items()},
    **{f"{name}/complex": unreal for name, (_, unreal) in _BOTH.items()},
    # matmul, by the numbers of dimensions
    "_matmul_vec_mat": row(torch.matmul, V, B),
    "_matmul_folded": row(torch.matmul, STACK, B),
    "_matmul_folded/vector": row(torch.matmul, STACK, V),
    "_matmul_vec_batch": row(torch.matmul, V, STACK_T),
    "_matmul_mat_batch": row(torch.matmul, A, STACK_T),
    "_matmul_batched": row(torch.matmul, (2, 1, 2, 3), STACK_T),
    "_inner": row(torch.inner, A, (1, 3)),
    "_tensordot": row(lambda x, y: torch.tensordot(x, y, ([1, 0], [0, 1])), A, B),
    "_tensordot/outer": row(lambda x, y: torch.tensordot(x, y, 0), (2,), (3,)),
    "_multi_dot/three": row(lambda x, y, z: torch.linalg.multi_dot((x, y, z)), (2,), (2, 3), (3, 2)),
    "_einsum_pair/two": row(lambda x, y, z: torch.einsum("bi,oij,bj->bo", x, y, z), A, (2, 3, 2), (2, 2)),
    # a product and a sum in one
    "addmm": row(lambda x, y, z: torch.addmm(x, y, z, beta=0.5, alpha=2.0), (2,), A, B),
    "addmv": row(lambda x, y, z: torch.addmv(x, y, z, beta=0.5, alpha=2.0), (2,), A, V),
    "addr": row(lambda x, y, z: torch.addr(x, y, z, beta=0.5, alpha=2.0), A, (2,), V),
    "addbmm": row(lambda x, y, z: torch.addbmm(x, y, z, beta=0.5, alpha=2.0), (2, 2), STACK, STACK_T),
    "baddbmm": row(lambda x, y, z: torch.baddbmm(x, y, z, beta=0.5, alpha=2.0), (2, 1), STACK, STACK_T),
    "addmm/no input": row(lambda x, y, z: torch.addmm(x, y, z, beta=0.0), (2, 2), A, B),
    # linear layers
    "_linear_vector": row(F.linear, V, A),
    "_linear_vector_bias": row(F.linear, V, A, (2,)),
    "_linear_matrix": row(F.linear, A, A),
    "_linear_matrix_bias": row(F.linear, A, A, (2,)),
    "_linear_batched": row(F.linear, STACK, A),
    "_linear_batched_bias": row(F.linear, STACK, A, (2,)),
    "_bilinear": row(F.bilinear, (2, 2), A, (1, 2, 3)),
    # some rows shrunk, some left alone
    "renorm": row(lambda x: torch.renorm(x, 2, 0, 2.5), A),
    "renorm/1": row(lambda x: torch.renorm(x, 1, 1, 2.0), A),
    # distances, none of them 0
    "cdist": row(torch.cdist, A, (1, 3)),
    "cdist/1.5": row(lambda x, y: torch.cdist(x, y, 1.5), (1, 2), (2, 2)),
    "cdist/3": row(lambda x, y: torch.cdist(x, y, 3), (1, 2), (2, 2)),
    "cdist/inf": row(lambda x, y: torch.cdist(x, y, float("inf")), (1, 2), (2, 2)),
    "cdist/products": row(lambda x, y: torch.cdist(x, y, 2, "use_mm_for_euclid_dist"), (1, 2, 2), (1, 2)),
    "pdist": row(torch.pdist, (3, 2)),
}

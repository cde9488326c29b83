"""Sparse tensors: what computes with them, loaded when the first one is made."""

from jaxflow._core.layouts import HANDLERS as _HANDLERS

from . import (
    attributes,  # noqa: F401  (fills the tables)
    compressed_ops,
    coo,
    dispatch,
    elementwise,  # noqa: F401
    gradients,
    invariants,
    legacy,
    make,
    products,
    reductions,
    shapes,  # noqa: F401
)
from .compressed import of_dense as _of_dense

_HANDLERS.update(
    sparse_coo_tensor=make.sparse_coo_tensor, compressed_tensor=compressed_ops.compressed_tensor,
    empty_of=make.empty_of, sparse_mm=compressed_ops.sparse_mm, sparse_addmm=products.sparse_addmm,
    coo_of_dense=make.coo_of_dense, compressed_of_dense=_of_dense,
    hspmm=products.hspmm, smm=products.smm, sspaddmm=products.sspaddmm,
    sampled_addmm=compressed_ops.sampled_addmm, reduced_product=compressed_ops.reduced_product,
    sum=reductions.sparse_sum, softmax=reductions.sparse_softmax,
    add_gradients=gradients.summed, through_operation=gradients.through, taken=gradients.taken,
    rows_with_gradient=gradients.rows_with_gradient,
    check_invariants=invariants.check_sparse_tensor_invariants,
    type_named=legacy.TYPES.get, coalesce=coo.coalesce, places=coo.places, call=dispatch.call,
)

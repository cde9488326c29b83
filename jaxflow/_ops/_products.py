"""A product that can be 0 where its first factor is, however bad the second: what a gradient of 0 is worth.

PyTorch computes some gradients so, as ``xlogy(grad, other)``. For jax to transpose a derivative rule, the
rule has to be linear in the tangent. With a ``jnp.where`` that looks at the tangent it is not, to jax; so
this is a primitive of its own, with its derivatives.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from jaxflow._core.jax_compat import Primitive, ad, batching, mlir

product_or_zero_p = Primitive("product_or_zero")


def product_or_zero(linear: jax.Array, factor: jax.Array, counts: jax.Array) -> jax.Array:
    """``linear * factor``, but 0 where ``linear`` is 0 and ``counts`` is true.

    To jax it is linear in ``linear``, which has the dtype of ``factor``; ``counts`` holds bools.
    """
    return product_or_zero_p.bind(*jnp.broadcast_arrays(linear, factor, counts))


@product_or_zero_p.def_impl
def _compute(linear, factor, counts):
    return jnp.where((linear == 0) & counts, jnp.zeros_like(factor), linear * factor)


@product_or_zero_p.def_abstract_eval
def _shaped(linear, factor, counts):
    return jax.core.ShapedArray(factor.shape, factor.dtype)


def _transposed(cotangent, linear, factor, counts):
    if type(cotangent) is ad.Zero:
        return ad.Zero(linear.aval), None, None
    return product_or_zero_p.bind(cotangent, factor, counts), None, None


def _batched(operands, axes):
    """On all examples at once; an operand that is the same for all of them is repeated."""
    size = next(x.shape[axis] for x, axis in zip(operands, axes, strict=True) if axis is not None)
    return product_or_zero_p.bind(*(
        jnp.broadcast_to(x, (size, *x.shape)) if axis is None else jnp.moveaxis(x, axis, 0)
        for x, axis in zip(operands, axes, strict=True)
    )), 0


ad.defjvp(
    product_or_zero_p,
    lambda tangent, linear, factor, counts: product_or_zero_p.bind(tangent, factor, counts),
    lambda tangent, linear, factor, counts: linear * tangent,
    None,
)
ad.primitive_transposes[product_or_zero_p] = _transposed
batching.primitive_batchers[product_or_zero_p] = _batched
mlir.register_lowering(product_or_zero_p, mlir.lower_fun(_compute, multiple_results=False))

"""Table look-ups."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._core.dtype import from_numpy_dtype, type_name
from jaxflow._plans.op import op

from .gather import need_slices


@op(name="_embedding", variants="", grad_name="EmbeddingBackward0")
def embedding(weight, indices, /, *, padding_idx, scale_grad_by_freq):
    """Rows of ``weight`` at ``indices``: ``(*indices.shape, weight.shape[1])``.

    The row ``padding_idx`` gets no gradient; with ``scale_grad_by_freq`` a row's gradient is divided by
    how often it was looked up.
    """
    if weight.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    if indices.dtype not in (np.dtype(np.int64), np.dtype(np.int32)):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, "
            f"Int; but got {_word(indices)} instead (while checking arguments for embedding)"
        )
    need_slices(weight, 0, indices)
    rows = weight[indices]
    # The value stays the row; only its cotangent is stopped or scaled.
    if padding_idx is not None and padding_idx >= 0:
        rows = jnp.where((indices != padding_idx)[..., None], rows, jax.lax.stop_gradient(rows))
    if scale_grad_by_freq:
        flat = indices.reshape(-1)
        count = jnp.zeros(weight.shape[0], weight.dtype).at[flat].add(1)[indices]
        scaled = rows * (1 / count)[..., None]
        rows = jax.lax.stop_gradient(rows - scaled) + scaled
    return rows


def _word(x) -> str:
    return type_name(from_numpy_dtype(x.dtype))

"""Switches of CUDA's libraries: remembered, without effect."""

import types

import jaxflow.cuda

#: ``matmul.allow_tf32`` and its like.
matmul = types.SimpleNamespace(
    allow_tf32=False, allow_fp16_reduced_precision_reduction=True,
    allow_bf16_reduced_precision_reduction=True,
)


def is_built() -> bool:
    """Whether tensors can be moved to a GPU."""
    return jaxflow.cuda.is_available()

"""Which results of operations a checkpointed part keeps: the names, as here it keeps none."""

from __future__ import annotations

import enum
from typing import Any, NoReturn


class CheckpointPolicy(enum.Enum):
    """What becomes of a result of an operation in a checkpointed part."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


def create_selective_checkpoint_contexts(policy_fn_or_list: Any,
                                         allow_cache_entry_mutation: bool = False) -> NoReturn:
    """Raises NotImplementedError: a checkpointed part computes all of its results again."""
    raise NotImplementedError(
        "torch.utils.checkpoint.create_selective_checkpoint_contexts() is not supported: checkpoint() "
        "without context_fn computes everything again; call it on smaller parts to keep what is between")

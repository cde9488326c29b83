"""Names that programs take from ``torch._prims_common``."""

from __future__ import annotations

import warnings

from ._functions import are_deterministic_algorithms_enabled, is_deterministic_algorithms_warn_only_enabled


def alert_not_deterministic(caller: str) -> None:
    """Refuse ``caller``, or warn of it, where only deterministic algorithms are allowed.

    Raises:
        RuntimeError: after ``use_deterministic_algorithms(True)``.
    """
    if not are_deterministic_algorithms_enabled():
        return
    text = (f"{caller} does not have a deterministic implementation, but you set "
            "'torch.use_deterministic_algorithms(True")
    if not is_deterministic_algorithms_warn_only_enabled():
        raise RuntimeError(f"{text})'.")
    warnings.warn(f"{text}, warn_only=True)'.", UserWarning, stacklevel=2)
